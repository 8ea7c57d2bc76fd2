// Paints a large drawing on a canvas: only what can be seen, words only where they can be read.

import { curve, headLength, headOf, pathOf } from "./geometry.js";
import { eachFrame, element } from "./core.js";

const READABLE = 0.55;
const CELL = 240;
const WHOLE = 0.1;
const STYLES = ["paper", "ink", "quiet", "node", "node-line", "arc", "blue", "vermillion", "green", "purple", "wash"];

const LOOKS = {
  extra: { colour: "vermillion", width: 2.4, dash: "" },
  missing: { colour: "blue", width: 2.2, dash: "7,5" },
  reversed: { colour: "purple", width: 2.4, dash: "10,3,2,3" },
  required: { colour: "green", width: 3, dash: "" },
  forbidden: { colour: "vermillion", width: 2.4, dash: "3,5" },
  belief: { colour: "purple", width: 3, dash: "1,4" },
};

const BOXES = {
  parent: { colour: "blue", dash: [] },
  child: { colour: "vermillion", dash: [5, 2] },
  observed: { colour: "blue", dash: [] },
  done: { colour: "purple", dash: [10, 3, 2, 3] },
  ruled: { colour: "vermillion", dash: [2, 2] },
};

export class CanvasPainter {
  constructor(drawing) {
    this.drawing = drawing;
    this.view = element("canvas", { class: "paper" });
    this.context = this.view.getContext("2d");
    this.at = { x: 0, y: 0, scale: 1 };
    this.shapes = [];
    this.known = [];
    this.marks = { chosen: [], cycle: [], evidence: new Map() };
    this.near = null;
    this.frame = eachFrame(() => this.paint());
    this.view.addEventListener("pointermove", (event) => drawing.hover(this.nodeAt(event.clientX, event.clientY)));
    this.view.addEventListener("pointerleave", () => drawing.hover(null));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.colours());
    this.painted = 0;
  }

  colours() {
    const style = getComputedStyle(this.view);
    this.colour = Object.fromEntries(STYLES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.frame();
  }

  resize() {
    const { width, height } = this.drawing.room(), dots = devicePixelRatio || 1;
    this.view.width = Math.max(1, Math.round(width * dots));
    this.view.height = Math.max(1, Math.round(height * dots));
    this.colours();
  }

  net(net) {
    this.whole = net;
    this.cells = new Map();
    net.boxes.forEach(([x, y, w], i) => {
      if (!w) return; // what has no size is not shown
      const key = `${Math.floor(x / CELL)},${Math.floor(y / CELL)}`;
      if (!this.cells.has(key)) this.cells.set(key, []);
      this.cells.get(key).push(i);
    });
    this.frame();
  }

  lines(net, lines) {
    this.shapes = drawable(net, lines).map((line) => shapeOf(net, line));
    this.frame();
  }

  knowledge(net, lines) {
    this.known = drawable(net, lines).map((line) => shapeOf(net, line));
    this.frame();
  }

  fill() {}

  stroke(points) {
    this.penned = points;
    this.frame();
  }

  highlight(node, lines) {
    if (this.near?.node === (node ?? undefined) && (node !== null || !this.near)) return;
    this.near = null;
    if (node !== null) {
      const kinds = new Map([[node, "near"]]);
      for (const { a, b } of lines) {
        if (a === node) kinds.set(b, "child");
        if (b === node) kinds.set(a, "parent");
      }
      this.near = { node, kinds };
    }
    this.frame();
  }

  mark(marks) {
    this.marks = marks;
    this.frame();
  }

  place(at) {
    this.at = at;
    this.frame();
  }

  // ---- painting

  paint() {
    if (!this.colour || !this.whole || !this.view.isConnected) return;
    const began = performance.now(), pen = this.context, dots = devicePixelRatio || 1;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.view.width, this.view.height);
    const { x, y, scale } = this.at;
    pen.setTransform(dots * scale, 0, 0, dots * scale, dots * x, dots * y);
    const width = this.view.width / dots, height = this.view.height / dots;
    this.seen = [-x / scale, -y / scale, (width - x) / scale, (height - y) / scale];
    this.paintLines(pen, scale);
    this.paintBoxes(pen, scale);
    if (this.penned) this.paintPen(pen, scale);
    this.painted += 1;
    this.took = performance.now() - began;
  }

  paintLines(pen, scale) {
    for (const { look, lines, heads } of this.groups(scale)) {
      pen.globalAlpha = look.alpha;
      pen.strokeStyle = pen.fillStyle = look.colour;
      pen.lineWidth = look.width;
      pen.setLineDash(look.dash ? look.dash.split(",").map(Number) : []);
      pen.stroke(lines);
      pen.setLineDash([]);
      if (scale > 0.12) pen.fill(heads);
    }
    pen.globalAlpha = 1;
  }

  /** The lines that can be seen, by their look; far out that is all of them, and they are kept while nothing changes. */
  groups(scale) {
    const [left, top, right, bottom] = this.seen, all = scale < WHOLE, found = new Map();
    const { kept } = this, now = [this.shapes, this.known, this.marks, this.near, this.colour, scale];
    if (all && kept && kept.now.every((one, i) => one === now[i])) return kept.groups;
    for (const shape of [...this.shapes, ...this.known]) {
      const [l, t, r, b] = shape.box;
      if (!all && (r < left || l > right || b < top || t > bottom)) continue;
      const look = this.look(shape, scale), key = Object.values(look).join(" ");
      if (!found.has(key)) found.set(key, { look, lines: new Path2D(), heads: new Path2D() });
      const group = found.get(key);
      group.lines.addPath(shape.line);
      if (shape.head) group.heads.addPath(shape.head);
    }
    const groups = [...found.values()];
    this.kept = all ? { now, groups } : null;
    return groups;
  }

  /** Colour, width and dashes of a line; far away lines are thin, but never thinner than a screen shows. */
  look({ a, b, kind, width, faint }, scale) {
    const { marks, near, colour } = this;
    const thin = Math.max(0.5 / scale, Math.min(1.4, 1.4 / Math.sqrt(scale)));
    let found = { colour: colour.arc, width: Math.max(width || 0, thin), dash: "", alpha: scale < 0.2 ? 0.75 : 0.9 };
    const told = LOOKS[kind];
    if (told) found = { colour: colour[told.colour], width: Math.max(told.width, 1 / scale), dash: scale > 0.25 ? told.dash : "", alpha: 0.9 };
    const bold = Math.max(3.4, 1.6 / scale);
    const away = marks.focus && !(marks.focus.has(a) && marks.focus.has(b));
    if (faint || away) found.alpha = 0.1;
    if (near && !away) {
      if (near.node === a) found = { ...found, colour: colour.vermillion, width: bold, alpha: 1 };
      else if (near.node === b) found = { ...found, colour: colour.blue, width: bold, alpha: 1 };
      else found.alpha *= 0.3;
    }
    if (marks.arc && marks.arc.includes(a) && marks.arc.includes(b)) found = { ...found, colour: colour.ink, width: bold, alpha: 1 };
    return found;
  }

  paintBoxes(pen, scale) {
    const [left, top, right, bottom] = this.seen, { marks, near, colour } = this;
    const words = scale >= READABLE, least = 3 / scale;
    pen.font = '12px "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif';
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    this.whole.boxes.forEach(([x, y, w, h], i) => {
      if (!w || x + w < left || x - w > right || y + h < top || y - h > bottom) return;
      const kind = near?.kinds.get(i), chosen = marks.chosen.includes(i), evidence = marks.evidence.get(i);
      pen.globalAlpha = (marks.focus && !marks.focus.has(i)) || (near && !kind && scale > 0.2) ? 0.25 : 1;
      const wide = Math.max(w, least), high = Math.max(h, least);
      const told = BOXES[evidence] || BOXES[kind], cycle = marks.cycle.includes(i), marked = kind || chosen || evidence || cycle;
      const plain = evidence ? colour.wash : colour.node, dot = BOXES[evidence] ? colour[BOXES[evidence].colour] : colour["node-line"];
      pen.fillStyle = chosen ? colour.ink : words ? plain : dot;
      pen.strokeStyle = cycle ? colour.vermillion : told ? colour[told.colour] : marked ? colour.ink : colour["node-line"];
      pen.lineWidth = marked ? Math.max(2.6, 2 / scale) : 1.2;
      pen.setLineDash(words && told && !cycle ? told.dash : []);
      pen.beginPath();
      if (words) pen.roundRect(x - wide / 2, y - high / 2, wide, high, 6);
      else pen.rect(x - wide / 2, y - high / 2, wide, high);
      pen.fill();
      if (words || marked) pen.stroke();
      if (words) {
        pen.fillStyle = chosen ? colour.paper : colour.ink;
        pen.fillText(this.whole.labels[i], x, y);
      }
    });
    pen.globalAlpha = 1;
    pen.setLineDash([]);
  }

  paintPen(pen, scale) {
    pen.strokeStyle = this.colour.green;
    pen.lineWidth = 2.5 / scale;
    pen.beginPath();
    this.penned.forEach(([x, y], i) => { if (i) pen.lineTo(x, y); else pen.moveTo(x, y); });
    pen.stroke();
  }

  // ---- what lies under a pointer

  pick(event) {
    const node = this.nodeAt(event.clientX, event.clientY);
    if (node !== null) return { node };
    const pen = this.context;
    const { left, top } = this.view.getBoundingClientRect(), dots = devicePixelRatio || 1;
    pen.lineWidth = 12 / this.at.scale;
    const [x, y] = this.drawing.toWorld(event.clientX - left, event.clientY - top);
    const px = (x * this.at.scale + this.at.x) * dots, py = (y * this.at.scale + this.at.y) * dots;
    const hit = this.shapes.find(({ box: [l, t, r, b], line }) => {
      return x > l - 8 && x < r + 8 && y > t - 8 && y < b + 8 && pen.isPointInStroke(line, px, py);
    });
    return hit ? { arc: [hit.a, hit.b] } : {};
  }

  nodeAt(clientX, clientY) {
    const { left, top } = this.view.getBoundingClientRect();
    const [x, y] = this.drawing.toWorld(clientX - left, clientY - top), least = 4 / this.at.scale;
    const [column, row] = [Math.floor(x / CELL), Math.floor(y / CELL)];
    for (let i = column - 1; i <= column + 1; i += 1) {
      for (let j = row - 1; j <= row + 1; j += 1) {
        const hit = (this.cells?.get(`${i},${j}`) || []).find((k) => {
          const [bx, by, w, h] = this.whole.boxes[k];
          return Math.abs(x - bx) <= Math.max(w / 2, least) && Math.abs(y - by) <= Math.max(h / 2, least);
        });
        if (hit !== undefined) return hit;
      }
    }
    return null;
  }
}

/** The lines between variables that are shown. */
function drawable({ boxes }, lines) {
  return lines.filter(({ a, b }) => boxes[a][2] && boxes[b][2]);
}

/** A line as shapes that a canvas strokes and fills, with what they lie in. */
function shapeOf(net, line) {
  const points = curve(net, line.a, line.b), box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    box[0] = Math.min(box[0], points[i]);
    box[1] = Math.min(box[1], points[i + 1]);
    box[2] = Math.max(box[2], points[i]);
    box[3] = Math.max(box[3], points[i + 1]);
  }
  const own = new Path2D(pathOf(points, line.open ? 0 : headLength(line.width) - 1));
  return { ...line, box, line: own, head: line.open ? null : new Path2D(headOf(points, line.width)) };
}
