// The drawing: a net in a frame that is moved, zoomed, picked from, drawn on and dragged about in.

import { button, eachFrame, element } from "./core.js";
import { curve, extent } from "./geometry.js";
import { withBoxes } from "./network.js";
import { CanvasPainter } from "./painter-canvas.js";
import { SvgPainter } from "./painter-svg.js";

const MOST_IN_SVG = 150;
const MOST_WITHOUT_MAP = 60;
const LEAST_HIGH = 0.58, MOST_HIGH = 2.5, LARGEST = 1.6;
const FOR_ARC = 14; // between two boxes, so that the arc and its head can be seen

export class Drawing {
  /** `on` holds chosen(what), moved(before, after), linked(from, to), turned(from, to), and may lack any. */
  constructor(holder, on) {
    this.holder = holder;
    this.on = on;
    this.tool = "select";
    this.movable = true;
    this.place = { x: 0, y: 0, scale: 1 };
    this.list = [];
    this.known = [];
    this.marks = { chosen: [], arc: null, focus: null, cycle: [], evidence: new Map() };
    this.selected = {};
    this.map = element("canvas", { class: "minimap", width: 180, height: 110, "aria-hidden": "true", hidden: true });
    this.mapLater = eachFrame(() => this.drawMap());
    this.fitted = true;
    this.roomy = false; // boxes that hold bars
    this.listen();
  }

  // ---- what is drawn

  /** Draw a net; `keep` leaves the frame where it is. */
  show(net, keep = false) {
    this.gliding = null;
    const Painter = net.names.length > MOST_IN_SVG ? CanvasPainter : SvgPainter;
    if (!(this.painter instanceof Painter)) {
      this.painter = new Painter(this);
      this.holder.replaceChildren(this.painter.view);
      this.painter.resize();
    }
    this.net = net;
    this.painter.net(net);
    this.redraw();
    if (!keep || this.fitted) this.fit();
  }

  redraw() {
    if (!this.painter) return;
    this.painter.lines(this.net, this.list);
    this.painter.knowledge(this.net, this.known);
    this.mark();
    this.mapLater();
  }

  lines(list) {
    this.list = list;
    if (!this.net) return;
    this.painter.lines(this.net, list);
    this.mark();
    this.mapLater();
  }

  knowledge(lines) {
    this.known = lines;
    if (!this.net) return;
    this.painter.knowledge(this.net, lines);
    this.mark();
  }

  /** Let the boxes glide to new places. */
  glide(net) {
    const from = this.net, began = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || net.names.length > MOST_IN_SVG;
    if (still || !from || from.names !== net.names) { this.show(net, true); return; }
    const whole = this.fitted, own = {};
    this.gliding = own;
    const step = (now) => {
      if (this.gliding !== own) return;
      const t = Math.min(1, (now - began) / 350), s = t * t * (3 - 2 * t);
      if (t === 1) { this.show(net, true); return; }
      const boxes = net.boxes.map((box, i) => box.map((v, k) => from.boxes[i][k] + (v - from.boxes[i][k]) * s));
      this.net = withBoxes(net, boxes, new Map());
      this.painter.net(this.net);
      this.redraw();
      if (whole) this.fit();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  /** Dim all but a node with its parents and children; null ends it. */
  hover(node) {
    if (this.dragging) return;
    this.painter.highlight(node, this.list);
  }

  select(what) {
    this.selected = what;
    const { node, arc, pair } = what;
    this.marks = { ...this.marks, arc: arc || null, chosen: arc || pair || (node === undefined ? [] : [node]) };
    this.mark();
  }

  /** Other marks: focus (a set or null), cycle (nodes), evidence (node to kind). */
  set(marks) {
    this.marks = { ...this.marks, ...marks };
    this.mark();
  }

  mark() {
    if (this.painter && this.net) this.painter.mark(this.marks, this.list);
  }

  // ---- moving about

  room() {
    return this.holder.getBoundingClientRect();
  }

  toWorld(px, py) {
    const { x, y, scale } = this.place;
    return [(px - x) / scale, (py - y) / scale];
  }

  put(x, y, scale) {
    this.place = { x, y, scale };
    this.painter.place(this.place);
    this.mapLater();
  }

  fit() {
    if (!this.net) return;
    const { width, height } = this.room();
    if (!width || !height) return;
    const [left, top, right, bottom] = extent(this.net), margin = Math.min(12, width / 40);
    const w = right - left + 2 * margin, h = bottom - top + 2 * margin;
    const scale = Math.min(LARGEST, (width - 4) / w, (height - 4) / h);
    this.put((width - (right + left) * scale) / 2, (height - (bottom + top) * scale) / 2, scale);
    this.fitted = true;
  }

  /**
   * By how much a net should be less high, so that its words are larger where the frame is wide, as far as that makes them
   * larger and leaves room for the arcs; a large wide one is drawn out.
   */
  squeeze(net) {
    const { width, height } = this.room(), [left, top, right, bottom] = extent(net);
    if (!width || !height || bottom <= top) return 1;
    const wanted = Math.max((right - left) / width, 1 / LARGEST) * height / (bottom - top);
    if (net.names.length > MOST_IN_SVG) return Math.max(1, Math.min(MOST_HIGH, 0.94 * wanted));
    return Math.min(1, Math.max(LEAST_HIGH, wanted, ...net.dag.map(([a, b]) => leastFor(net.boxes[a], net.boxes[b]))));
  }

  /** The smallest scale: that of the whole, or half of it. */
  least() {
    const [left, top, right, bottom] = extent(this.net), { width, height } = this.room();
    return Math.min(0.2, 0.5 * Math.min(width / (right - left + 1), height / (bottom - top + 1)));
  }

  /** Zoom about a point of the holder; its middle unless given. */
  zoom(factor, at) {
    const { width, height } = this.room();
    const [px, py] = at || [width / 2, height / 2];
    const { x, y, scale } = this.place;
    const next = Math.min(6, Math.max(this.least(), scale * factor));
    this.put(px - (px - x) * next / scale, py - (py - y) * next / scale, next);
    this.fitted = false;
  }

  move(dx, dy) {
    this.put(this.place.x + dx, this.place.y + dy, this.place.scale);
    this.fitted = false;
  }

  /** Bring nodes to the middle, beside the small map, large enough to read, unless they can be read where they are; `all` of them must be seen. */
  reveal(nodes, all = false) {
    const { width, height } = this.room(), free = this.hasMap && width > 3 * this.map.width ? width - this.map.width - 20 : width;
    const boxes = nodes.map((i) => this.net.boxes[i]), now = this.place;
    const left = Math.min(...boxes.map(([x, , w]) => x - w / 2)), right = Math.max(...boxes.map(([x, , w]) => x + w / 2));
    const top = Math.min(...boxes.map(([, y, , h]) => y - h / 2)), bottom = Math.max(...boxes.map(([, y, , h]) => y + h / 2));
    const seen = now.x + left * now.scale >= 0 && now.x + right * now.scale <= free
      && now.y + top * now.scale >= 0 && now.y + bottom * now.scale <= height;
    if (seen && (all || now.scale > 0.65)) return;
    const room = Math.min(free / (right - left + 60), height / (bottom - top + 60));
    const scale = Math.min(room, Math.max(0.8, now.scale));
    this.put(free / 2 - (left + right) / 2 * scale, height / 2 - (top + bottom) / 2 * scale, scale);
    this.fitted = false;
  }

  /** Bring a node to the middle at a scale, as far as the drawing reaches there. */
  look(node, scale) {
    const { width, height } = this.room(), [left, top, right, bottom] = extent(this.net), [x, y] = this.net.boxes[node];
    const within = (at, room, from, to) => {
      const [least, most] = [room - (to + 12) * scale, -(from - 12) * scale];
      return least > most ? (least + most) / 2 : Math.min(most, Math.max(least, at));
    };
    this.put(within(width / 2 - x * scale, width, left, right), within(height / 2 - y * scale, height, top, bottom), scale);
    this.fitted = false;
  }

  resized() {
    if (!this.net) return;
    this.painter.resize();
    if (this.fitted) this.fit();
    else this.mapLater();
  }

  // ---- hands

  listen() {
    const holder = this.holder;
    let scrolled = -1000;
    addEventListener("scroll", () => { scrolled = performance.now(); }, { passive: true });
    holder.addEventListener("wheel", (event) => {
      // A page that is being scrolled past the drawing goes on scrolling.
      if (performance.now() - scrolled < 250 && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), this.at(event));
    }, { passive: false });
    holder.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resized()).observe(holder);
    for (const moment of ["beforeprint", "afterprint"]) addEventListener(moment, () => this.fit());
    this.pointers();
    this.map.addEventListener("pointerdown", (event) => this.toMap(event));
    this.map.addEventListener("pointermove", (event) => { if (event.buttons) this.toMap(event); });
  }

  at(event) {
    const { left, top } = this.room();
    return [event.clientX - left, event.clientY - top];
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (moves[event.key] && event.shiftKey && this.selected.node !== undefined && this.movable) this.nudge(this.selected.node, ...moves[event.key]);
    else if (moves[event.key]) this.move(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.on.chosen?.({});
    else return;
    event.preventDefault();
  }

  /** Move a box a little, by the keyboard. */
  nudge(node, dx, dy) {
    const from = this.net, boxes = from.boxes.slice(), [x, y, w, h] = boxes[node];
    boxes[node] = [x - dx / 5, y - dy / 5, w, h];
    this.fitted = false;
    this.on.moved?.(from, withBoxes(from, boxes));
  }

  /** One pointer drags the frame, a box or a new line, two pinch; one that hardly moved is a click. */
  pointers() {
    const down = new Map();
    let travelled = 0;
    const spread = () => {
      const [a, b] = [...down.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    };
    this.holder.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      if (!down.size) travelled = 0;
      down.set(event.pointerId, this.at(event));
      const { node } = this.painter ? this.painter.pick(event) : {};
      const holds = this.tool !== "select" || this.movable;
      this.dragging = node !== undefined && down.size === 1 && holds ? this.grab(node, this.at(event)) : null;
    });
    addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (!before) return;
      const now = this.at(event), was = down.size === 2 ? spread() : 0;
      down.set(event.pointerId, now);
      travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (down.size === 2) this.zoom(spread() / Math.max(1, was), now);
      else if (travelled > 4 && this.dragging) this.drag(now);
      else if (travelled > 4) this.move(now[0] - before[0], now[1] - before[1]);
      this.holder.classList.toggle("dragging", travelled > 4);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      addEventListener(end, (/** @type {PointerEvent} */ event) => {
        if (!down.delete(event.pointerId)) return;
        this.holder.classList.remove("dragging");
        if (this.dragging && travelled > 4) this.drop(event);
        this.dragging = null;
      });
    }
    this.holder.addEventListener("click", (event) => {
      if (travelled <= 4 && this.painter) this.clicked(event);
    });
    this.holder.addEventListener("dblclick", (event) => {
      const { arc } = travelled <= 4 && this.painter ? this.painter.pick(event) : {};
      if (arc) this.on.turned?.(...arc);
    });
  }

  grab(node, at) {
    return { node, from: this.net, start: this.toWorld(...at) };
  }

  drag(now) {
    const { node, from, start } = this.dragging, [x, y] = this.toWorld(...now);
    if (this.tool !== "select") {
      const [bx, by] = from.boxes[node];
      this.painter.stroke([[bx, by], [x, y]]);
      return;
    }
    const boxes = from.boxes.slice();
    const [bx, by, w, h] = boxes[node];
    boxes[node] = [bx + x - start[0], by + y - start[1], w, h];
    this.net = withBoxes(from, boxes);
    this.painter.net(this.net);
    this.redraw();
  }

  drop(event) {
    const { node, from } = this.dragging;
    if (this.tool === "select") {
      this.fitted = false;
      this.on.moved?.(from, this.net);
      return;
    }
    this.painter.stroke(null);
    const to = this.painter.nodeAt(event.clientX, event.clientY);
    if (to !== null && to !== node) this.on.linked?.(node, to);
  }

  clicked(event) {
    const found = this.painter.pick(event);
    if (found.node === undefined) { this.on.chosen?.(found); return; }
    const first = this.selected.node;
    const pair = event.shiftKey && first !== undefined && first !== found.node;
    this.on.chosen?.(pair ? { pair: [first, found.node] } : found);
  }

  // ---- the small map

  mapScale() {
    const [left, top, right, bottom] = extent(this.net);
    const scale = Math.min(this.map.width / (right - left), this.map.height / (bottom - top));
    return { scale, x: (this.map.width - (right + left) * scale) / 2, y: (this.map.height - (bottom + top) * scale) / 2 };
  }

  /** Too large to be read as a whole. */
  get isLarge() {
    return this.painter instanceof CanvasPainter;
  }

  get hasMap() {
    return this.net.names.length > MOST_WITHOUT_MAP || this.roomy;
  }

  /** A map of a large drawing, while some of it is out of sight. */
  drawMap() {
    this.map.hidden = this.fitted || !this.net || !this.hasMap;
    if (this.map.hidden || !this.net || !this.map.isConnected) return;
    const pen = this.map.getContext("2d"), style = getComputedStyle(this.map);
    const { scale, x, y } = this.mapScale();
    pen.clearRect(0, 0, this.map.width, this.map.height);
    pen.fillStyle = style.getPropertyValue("--node-line");
    for (const [bx, by, w, h] of this.net.boxes) {
      pen.fillRect(x + (bx - w / 2) * scale, y + (by - h / 2) * scale, Math.max(1.5, w * scale), Math.max(1.5, h * scale));
    }
    const { width, height } = this.room(), [left, top] = this.toWorld(0, 0), [right, bottom] = this.toWorld(width, height);
    pen.strokeStyle = style.getPropertyValue("--vermillion");
    pen.lineWidth = 2;
    pen.strokeRect(x + left * scale, y + top * scale, (right - left) * scale, (bottom - top) * scale);
  }

  toMap(event) {
    const { left, top } = this.map.getBoundingClientRect(), { scale, x, y } = this.mapScale(), { width, height } = this.room();
    const [wx, wy] = [(event.clientX - left - x) / scale, (event.clientY - top - y) / scale];
    this.put(width / 2 - wx * this.place.scale, height / 2 - wy * this.place.scale, this.place.scale);
    this.fitted = false;
  }

  // ---- as a file

  /** What is drawn, by names: from it the server writes pictures. */
  pictured(net, legend) {
    const { names, boxes } = net, at = (v) => Math.round(10 * v) / 10;
    return {
      boxes: Object.fromEntries(names.map((name, i) => [name, boxes[i].map(at)])),
      lines: this.list.map(({ a, b, kind, open, width, faint }) => ({ a: names[a], b: names[b], kind, open, width, faint, points: curve(net, a, b).map(at) })),
      legend,
    };
  }
}

/** By how much the way between two boxes can shrink and still leave room for an arc. */
function leastFor([, ay, , ah], [, by, , bh]) {
  const between = Math.abs(by - ay), boxes = (ah + bh) / 2;
  return between > boxes ? (boxes + FOR_ARC) / between : 0;
}

/** Buttons that move about in a drawing. */
export function zoomButtons(drawing) {
  return element(
    "div", { class: "buttons" },
    button("−", () => drawing.zoom(0.8), { id: "zoom-out", "aria-label": "Zoom out" }),
    button("+", () => drawing.zoom(1.25), { id: "zoom-in", "aria-label": "Zoom in" }),
    button("Fit", () => drawing.fit(), { id: "fit", title: "The whole drawing (0)" }),
  );
}
