// Paints a drawing of up to some 150 variables as SVG, each variable and each arc an element of its own.

import { drawn } from "./core.js";
import { curve, headLength, headOf, pathOf } from "./geometry.js";

export class SvgPainter {
  constructor(drawing) {
    this.drawing = drawing;
    this.arcs = drawn("g");
    this.known = drawn("g");
    this.boxes = drawn("g");
    this.pen = drawn("path", { class: "pen" });
    this.world = drawn("g", {}, this.arcs, this.boxes, this.known, this.pen);
    this.view = drawn("svg", { class: "paper" }, this.world);
    this.nodes = [];
    this.places = [];
  }

  // ---- boxes

  net(net) {
    if (this.names !== net.names || this.nodes.length !== net.names.length) {
      this.names = net.names;
      this.nodes = net.names.map((_, i) => this.box(net, i));
      this.boxes.replaceChildren(...this.nodes);
    }
    net.boxes.forEach((box, i) => this.put(i, box));
    this.places = net.boxes;
  }

  box(net, i) {
    const made = drawn("g", { class: "node", "data-node": i }, drawn("title", {}, net.names[i]), drawn("rect", { rx: 6 }), drawn("text", {}, net.labels[i]));
    made.addEventListener("pointerenter", () => this.drawing.hover(i));
    made.addEventListener("pointerleave", () => this.drawing.hover(null));
    return made;
  }

  put(i, [x, y, width, height]) {
    const [, rect, text] = this.nodes[i].children;
    const values = { x: x - width / 2, y: y - height / 2, width, height };
    for (const [key, value] of Object.entries(values)) rect.setAttribute(key, value);
    text.setAttribute("x", x);
    text.setAttribute("y", this.bars?.[i] ? y - height / 2 + 13 : y);
    this.bars?.[i]?.setAttribute("transform", `translate(${x - width / 2} ${y - height / 2})`);
  }

  /** Small bars inside the boxes, one holder a node. */
  fill(bars) {
    this.nodes.forEach((node, i) => {
      while (node.children.length > 3) node.lastChild.remove();
      if (bars?.[i]) node.append(bars[i]);
    });
    this.bars = bars;
    this.places.forEach((box, i) => this.put(i, box));
  }

  // ---- lines

  lines(net, lines) {
    this.arcs.replaceChildren(...lines.map((line) => this.arc(net, line)));
  }

  arc(net, line) {
    const { a, b, open, kind, width, faint, fresh, title } = line;
    const points = curve(net, a, b);
    const words = title || `${net.names[a]} ${open ? "–" : "→"} ${net.names[b]}${kind === "same" ? "" : ` (${kind})`}`;
    const parts = [
      drawn("title", {}, words),
      drawn("path", { class: "reach", d: pathOf(points, 0) }),
      drawn("path", { class: "line", d: pathOf(points, open ? 0 : headLength(width) - 1), ...(width ? { style: `stroke-width:${width.toFixed(2)}` } : {}) }),
    ];
    if (!open) parts.push(drawn("path", { class: "head", d: headOf(points, width) }));
    const extra = `${faint ? " faint" : ""}${fresh ? " fresh" : ""}`;
    return drawn("g", { class: `arc ${kind}${extra}`, "data-parent": a, "data-child": b }, ...parts);
  }

  /** What is known, drawn over the arcs: [from, to] that must or must not be. */
  knowledge(net, lines) {
    this.known.replaceChildren(...lines.map(({ a, b, kind }) => {
      const points = curve(net, a, b);
      const parts = [drawn("title", {}, `${net.names[a]} → ${net.names[b]} (${kind})`), drawn("path", { class: "line", d: pathOf(points, headLength() - 1) }), drawn("path", { class: "head", d: headOf(points) })];
      return drawn("g", { class: `known ${kind}`, "data-from": a, "data-to": b }, ...parts);
    }));
  }

  /** The line that is being drawn by hand, or none. */
  stroke(points) {
    this.pen.setAttribute("d", points ? `M${points.join("L")}` : "");
  }

  // ---- what is picked out

  highlight(node, lines) {
    this.world.classList.toggle("dim", node !== null);
    for (const box of this.nodes) box.classList.remove("near", "parent", "child");
    for (const arc of this.arcs.children) arc.classList.remove("near");
    if (node === null) return;
    this.nodes[node].classList.add("near");
    lines.forEach(({ a, b, open }, i) => {
      if (a !== node && b !== node) return;
      this.arcs.children[i].classList.add("near");
      const other = this.nodes[a === node ? b : a];
      other.classList.add("near");
      if (!open) other.classList.add(a === node ? "child" : "parent");
    });
  }

  mark(marks, lines) {
    this.nodes.forEach((box, i) => {
      box.classList.toggle("chosen", marks.chosen.includes(i));
      box.classList.toggle("away", Boolean(marks.focus && !marks.focus.has(i)));
      box.classList.toggle("cycle", marks.cycle.includes(i));
      for (const kind of ["observed", "done", "ruled"]) box.classList.toggle(kind, marks.evidence.get(i) === kind);
    });
    lines.forEach(({ a, b }, i) => {
      const classes = this.arcs.children[i].classList;
      classes.toggle("chosen", Boolean(marks.arc && marks.arc.includes(a) && marks.arc.includes(b)));
      classes.toggle("away", Boolean(marks.focus && !(marks.focus.has(a) && marks.focus.has(b))));
      const k = marks.cycle.indexOf(a);
      classes.toggle("cycle", k >= 0 && marks.cycle[(k + 1) % marks.cycle.length] === b);
    });
    for (const line of this.known.children) {
      const k = marks.cycle.indexOf(Number(line.dataset.from));
      line.classList.toggle("cycle", k >= 0 && marks.cycle[(k + 1) % marks.cycle.length] === Number(line.dataset.to));
    }
  }

  place({ x, y, scale }) {
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  }

  /** What lies under a pointer. */
  pick(event) {
    const target = event.target.closest?.("[data-node], [data-parent]");
    if (!target) return {};
    if (target.dataset.node !== undefined) return { node: Number(target.dataset.node) };
    return { arc: [Number(target.dataset.parent), Number(target.dataset.child)] };
  }

  /** The node under a point of the screen. */
  nodeAt(x, y) {
    const node = this.view.getRootNode().elementsFromPoint(x, y).map((found) => found.closest("[data-node]")).find(Boolean);
    return node ? Number(node.dataset.node) : null;
  }

  resize() {}
}
