// What the other modules share. Every text is set as text, never as markup.

/** An HTML element. A string child becomes text, `onclick` and the like are listeners, null and false are left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** The same for SVG. */
export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function button(words, act, attributes = {}) {
  return element("button", { type: "button", onclick: act, ...attributes }, words);
}

/** 1,234.568 with a true minus sign; null is a dash. */
export function figure(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const written = Math.abs(value).toLocaleString("en-US", {
    minimumFractionDigits: digits, maximumFractionDigits: digits,
  });
  return (value < 0 && Number(Math.abs(value).toFixed(digits)) > 0 ? "−" : "") + written;
}

export function percent(share, digits = 1) {
  return `${(100 * share).toFixed(digits)}%`;
}

/** "1 arc", "1,234 arcs". */
export function counted(number, word) {
  return `${figure(number, 0)} ${word}${number === 1 ? "" : "s"}`;
}

/** Words that begin as a sentence does, unless with a name. */
export function sentence(words) {
  return /^[a-z]+ /.test(words) ? words[0].toUpperCase() + words.slice(1) : words;
}

/** A name as its box shows it: a long one without its middle, like `shortened` of the layout in Python. */
export function shortened(name, most = 24) {
  const letters = [...name].map((letter) => (/\s/.test(letter) ? " " : /\p{Cc}|\p{Cs}/u.test(letter) ? "\ufffd" : letter));
  if (letters.length <= most) return letters.join("");
  const tail = Math.floor((most - 1) / 3);
  return [...letters.slice(0, most - 1 - tail), "…", ...letters.slice(-tail)].join("");
}

/** Radio buttons in a row; `choose` is called with the value of the one taken. */
export function segments(holder, name, choices, choose) {
  for (const [value, words, about] of choices) {
    const input = element("input", { type: "radio", name, value, onchange: () => choose(value) });
    holder.append(element("label", { title: about }, input, element("span", {}, words)));
  }
}

export function check(holder, value) {
  for (const input of holder.querySelectorAll("input")) input.checked = input.value === value;
}

/** A labelled field. */
export function field(words, control, about) {
  return element("label", { class: "field", title: about }, element("span", {}, words), control);
}

/** A list to choose from; choices are [value, words]. */
export function choice(choices, chosen, change, attributes = {}) {
  const made = element("select", attributes, ...choices.map(([value, words]) => element("option", { value }, words)));
  if (chosen !== null && chosen !== undefined) made.value = chosen;
  if (change) made.addEventListener("change", () => change(made.value));
  return made;
}

/** Calls at most once a frame, with what was given last. */
export function eachFrame(act) {
  let waiting = false, last = [];
  return (...values) => {
    last = values;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; act(...last); });
  };
}

/** Hands a file to the person. */
export function download(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
