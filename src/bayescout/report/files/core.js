"use strict";
// What the other scripts share. Every text is set as text, never as markup.

const data = JSON.parse(document.getElementById("report-data").textContent);
const graph = data.graph;

/** An HTML element with attributes and children; a string child becomes text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** The same for SVG. */
function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** 1,234.568 with a true minus sign; null is a dash. */
function figure(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const written = Math.abs(value).toLocaleString("en-US", {
    minimumFractionDigits: digits, maximumFractionDigits: digits,
  });
  return (value < 0 && Number(Math.abs(value).toFixed(digits)) > 0 ? "−" : "") + written;
}

/** Radio buttons in a row; `choose` is called with the value of the one taken. */
function segments(holder, name, choices, choose) {
  for (const [value, words] of choices) {
    const input = element("input", { type: "radio", name, value });
    input.addEventListener("change", () => choose(value));
    holder.append(element("label", {}, input, element("span", {}, words)));
  }
}

function check(holder, value) {
  for (const input of holder.querySelectorAll("input")) input.checked = input.value === value;
}
