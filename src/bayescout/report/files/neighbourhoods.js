// The page of a wide graph: names are searched, and the neighbourhood of one variable is drawn.

import { check, counted, drawn, element, figure, segments, shortened } from "./core.js";

const MOST_HITS = 40, MOST_BOXES = 120, MOST_LISTED = 200, MOST_LETTERS = 22;
const HEIGHT = 26, GAP = 16, DOWN = 72, WIDEST = 1500, MARGIN = 18;

/** Numbers from words of 32 bits, the lowest byte first, in base 64. */
function words(text) {
  const bytes = octets(text), view = new DataView(bytes.buffer), found = new Uint32Array(bytes.length / 4);
  for (let i = 0; i < found.length; i++) found[i] = view.getUint32(4 * i, true);
  return found;
}

function octets(text) {
  const binary = atob(text), found = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) found[i] = binary.charCodeAt(i);
  return found;
}

/** A graph of many variables, its arcs in flat lists by child and by parent. */
export class WideGraph {
  constructor(data) {
    this.names = data.names;
    this.starts = words(data.starts);
    this.flat = words(data.parents);
    this.open = octets(data.either);
    const n = this.names.length;
    this.ends = new Uint32Array(n + 1);
    for (const parent of this.flat) this.ends[parent + 1]++;
    for (let i = 0; i < n; i++) this.ends[i + 1] += this.ends[i];
    this.below = new Uint32Array(this.flat.length);
    const at = this.ends.slice();
    for (let child = 0; child < n; child++) {
      for (let k = this.starts[child]; k < this.starts[child + 1]; k++) this.below[at[this.flat[k]]++] = child;
    }
  }

  parents(i) { return [...this.flat.subarray(this.starts[i], this.starts[i + 1])]; }
  children(i) { return [...this.below.subarray(this.ends[i], this.ends[i + 1])]; }

  /** Whether an arc could point either way. */
  either(parent, child) {
    for (let k = this.starts[child]; k < this.starts[child + 1]; k++) if (this.flat[k] === parent) return this.open[k] === 1;
    return false;
  }

  /** The other parents of its children. */
  partners(i) {
    const near = new Set([i, ...this.parents(i), ...this.children(i)]);
    return [...new Set(this.children(i).flatMap((child) => this.parents(child)))].filter((other) => !near.has(other));
  }

  /** The variables of a neighbourhood, the nearest first; at most so many, and how many there are. */
  around(i, extent, most) {
    const found = new Set([i]);
    let edge = [i], all = 1;
    const take = (variables) => {
      const fresh = [...new Set(variables)].filter((one) => !seen.has(one));
      for (const one of fresh) { seen.add(one); if (found.size < most) found.add(one); }
      all += fresh.length;
      return fresh;
    };
    const seen = new Set([i]);
    if (extent === "blanket") {
      take(this.parents(i)); take(this.children(i)); take(this.partners(i));
    } else {
      for (let step = 0; step < Number(extent) && seen.size < 100_000; step++) {
        edge = take(edge.flatMap((one) => [...this.parents(one), ...this.children(one)]));
      }
    }
    return { shown: [...found], all };
  }

  /** The first variables with a text in their names: those that begin with it come first. */
  search(text, most) {
    const wanted = text.toLowerCase(), first = [], later = [];
    let all = 0;
    for (let i = 0; i < this.names.length; i++) {
      const at = this.names[i].toLowerCase().indexOf(wanted);
      if (at < 0) continue;
      all++;
      if (at === 0 && first.length < most) first.push(i);
      else if (later.length < most) later.push(i);
    }
    const exact = first.filter((i) => this.names[i].length === text.length);
    return { hits: [...new Set([...exact, ...first, ...later])].slice(0, most), all };
  }
}

/** Rows of variables, parents above children. */
function rows(graph, members) {
  const inside = new Set(members), layer = new Map();
  const parents = new Map(members.map((one) => [one, graph.parents(one).filter((other) => inside.has(other))]));
  const depth = (one) => {
    if (!layer.has(one)) {
      layer.set(one, 0);  // arcs have no cycles
      layer.set(one, Math.max(-1, ...parents.get(one).map(depth)) + 1);
    }
    return layer.get(one);
  };
  members.forEach(depth);
  const children = new Map(members.map((one) => [one, []]));
  for (const [child, own] of parents) for (const parent of own) children.get(parent).push(child);
  for (const one of [...members].sort((a, b) => layer.get(b) - layer.get(a))) {
    const below = children.get(one).map((child) => layer.get(child));
    if (!parents.get(one).length && below.length) layer.set(one, Math.min(...below) - 1);
  }
  const found = [];
  for (const one of members) (found[layer.get(one)] ||= []).push(one);
  const kept = found.filter((row) => row && row.length), place = new Map();
  const number = (row) => row.forEach((one, at) => place.set(one, at - row.length / 2));
  kept.forEach(number);
  for (let sweep = 0; sweep < 8; sweep++) {
    for (const row of sweep % 2 ? [...kept].reverse() : kept) {
      const near = (one) => [...parents.get(one), ...children.get(one)];
      const middle = new Map(row.map((one) => {
        const all = near(one).map((other) => place.get(other));
        return [one, all.length ? all.reduce((a, b) => a + b, 0) / all.length : place.get(one)];
      }));
      row.sort((a, b) => middle.get(a) - middle.get(b) || a - b);
      number(row);
    }
  }
  return { rows: kept, parents };
}

const cut = (name) => shortened(name, MOST_LETTERS);
const wide = (name) => 18 + 7.6 * Math.max(2, cut(name).length);

/** Boxes of rows, a row that is too wide cut into several. */
function boxes(graph, all) {
  const lines = [];
  for (const row of all) {
    let line = [], width = 0;
    for (const one of row) {
      const own = wide(graph.names[one]);
      if (line.length && width + own > WIDEST) { lines.push(line); line = []; width = 0; }
      line.push(one);
      width += own + GAP;
    }
    lines.push(line);
  }
  const widths = lines.map((line) => line.reduce((sum, one) => sum + wide(graph.names[one]) + GAP, -GAP));
  const width = Math.max(...widths) + 2 * MARGIN, found = new Map();
  lines.forEach((line, level) => {
    let x = (width - widths[level]) / 2;
    for (const one of line) {
      const own = wide(graph.names[one]);
      found.set(one, { x, y: MARGIN + level * DOWN, width: own, middle: x + own / 2 });
      x += own + GAP;
    }
  });
  return { found, width, height: 2 * MARGIN + (lines.length - 1) * DOWN + HEIGHT };
}

/** The page. */
export class Page {
  constructor(graph, first) {
    this.graph = graph;
    this.first = first;
    this.extent = "blanket";
    this.at = (id) => document.getElementById(id);
    segments(this.at("extent"), "extent", [
      ["blanket", "Markov blanket", "Parents, children, and the children's other parents"],
      ["1", "1 step", "Parents and children"], ["2", "2 steps", "All within two arcs"], ["3", "3 steps", "All within three arcs"],
    ], (extent) => { this.extent = extent; this.draw(); });
    check(this.at("extent"), this.extent);
    this.at("find").addEventListener("input", () => this.search());
    this.at("find").addEventListener("keydown", (event) => this.keys(event));
    this.at("hits").addEventListener("keydown", (event) => this.keys(event));
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-variable]"))) {
      one.addEventListener("click", () => { this.choose(Number(one.dataset.variable)); this.at("around-title").scrollIntoView(); });
    }
    addEventListener("hashchange", () => this.read());
    this.read();
  }

  /** The variable that the address names, by its position. */
  read() {
    const asked = Number(location.hash.slice(1) || "NaN");
    this.chosen = Number.isInteger(asked) && asked < this.graph.names.length ? asked : this.first;
    this.draw();
  }

  choose(i) {
    this.at("hits").replaceChildren();
    this.at("found").textContent = "";
    if (location.hash === `#${i}`) this.draw();
    else location.hash = `${i}`;
  }

  search() {
    const text = /** @type {HTMLInputElement} */ (this.at("find")).value.trim(), list = this.at("hits");
    if (!text) { list.replaceChildren(); this.at("found").textContent = ""; return; }
    const { hits, all } = this.graph.search(text, MOST_HITS);
    list.replaceChildren(...hits.map((i) => element("li", {}, this.link(i, null))));
    this.at("found").textContent = all > hits.length ? `the first ${hits.length} of ${figure(all, 0)}` : all ? `${figure(all, 0)} found` : "no name has this in it";
  }

  keys(event) {
    const links = [...this.at("hits").querySelectorAll("button")], at = links.findIndex((one) => one === document.activeElement);
    if (event.key === "Escape") { this.at("hits").replaceChildren(); this.at("find").focus(); }
    else if (event.key === "Enter" && at < 0 && links.length) links[0].click();
    else if (event.key === "ArrowDown" && links.length) links[Math.min(at + 1, links.length - 1)].focus();
    else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] || this.at("find")).focus();
    else return;
    event.preventDefault();
  }

  link(i, kind = "link") {
    return element("button", { type: "button", class: kind, onclick: () => this.choose(i) }, this.graph.names[i]);
  }

  draw() {
    const { graph, chosen } = this, { shown, all } = graph.around(chosen, this.extent, MOST_BOXES);
    const what = this.extent === "blanket" ? "its Markov blanket" : `what lies within ${counted(Number(this.extent), "step")}`;
    const left = all > shown.length ? `; the ${shown.length} nearest of ${all >= 100_000 ? "more than " : ""}${figure(all, 0)} variables are drawn` : `: ${counted(all - 1, "other variable")}`;
    this.at("told").replaceChildren(element("strong", {}, graph.names[chosen]), ` and ${what}${left}.`);
    const drawing = this.at("drawing");
    drawing.replaceChildren(this.svg(shown));
    const box = drawing.querySelector(".chosen rect");
    drawing.scrollLeft = Number(box.getAttribute("x")) + Number(box.getAttribute("width")) / 2 - drawing.clientWidth / 2;
    drawing.scrollTop = Number(box.getAttribute("y")) + HEIGHT / 2 - drawing.clientHeight / 2;
    this.at("relatives").replaceChildren(
      ...this.list("Parents", graph.parents(chosen), (i) => graph.either(i, chosen)),
      ...this.list("Children", graph.children(chosen), (i) => graph.either(chosen, i)),
      ...this.list("Share a child", graph.partners(chosen), () => false),
    );
  }

  list(title, variables, either) {
    const rest = variables.length - MOST_LISTED;
    return [
      element("h3", {}, `${title} (${figure(variables.length, 0)})`),
      element("ul", {},
        ...variables.slice(0, MOST_LISTED).map((i) => element("li", {}, this.link(i), either(i) && element("small", {}, " either way"))),
        rest > 0 && element("li", {}, `and ${figure(rest, 0)} more`)),
    ];
  }

  svg(members) {
    const { graph, chosen } = this, laid = rows(graph, members), { found, width, height } = boxes(graph, laid.rows);
    const made = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const arcs = [...laid.parents].flatMap(([child, own]) => own.map((parent) => [parent, child]));
    const isOwn = ([parent, child]) => parent === chosen || child === chosen;
    for (const [last, kind] of [[false, ""], [true, " own"]]) {
      for (const [parent, child] of arcs.filter((arc) => isOwn(arc) === last)) {
        const from = found.get(parent), to = found.get(child);
        const y1 = from.y + HEIGHT, y2 = to.y - 7, bend = Math.max(18, (y2 - y1) / 2);
        const dashed = graph.either(parent, child) ? " either" : "";
        made.append(
          drawn("path", { class: `arc${kind}${dashed}`, "data-arc": `${parent},${child}`, d: `M${from.middle} ${y1}C${from.middle} ${y1 + bend} ${to.middle} ${y2 - bend} ${to.middle} ${y2}` }),
          drawn("path", { class: `head${kind}`, d: `M${to.middle} ${y2 + 7}l-4.5 -8h9z` }),
        );
      }
    }
    for (const [one, box] of found) {
      const name = graph.names[one], title = drawn("title", {}, name);
      const text = drawn("text", { x: box.middle, y: box.y + HEIGHT / 2 }, cut(name));
      const group = drawn("g", { class: one === chosen ? "box chosen" : "box", tabindex: 0, role: "button", "aria-label": name, "data-node": one },
        title, drawn("rect", { x: box.x, y: box.y, width: box.width, height: HEIGHT, rx: 5 }), text);
      group.addEventListener("click", () => this.choose(one));
      group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.choose(one); } });
      made.append(group);
    }
    return made;
  }
}

const data = JSON.parse(document.getElementById("page-data").textContent);
window.page = new Page(new WideGraph(data), data.first);
