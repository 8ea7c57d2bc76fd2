// The progress of a search: the score of the network in hand and the best so far.

import { drawn, figure } from "./core.js";

export class Trace {
  /** `trace` holds columns step, seconds, score, best, and may hold arcs and facts; `chosen(i)` is told of clicks. */
  constructor(holder, output, trace, { height = 300, chosen = null } = {}) {
    this.holder = holder;
    this.output = output;
    this.trace = trace;
    this.axis = "step";
    this.close = false;
    this.height = height;
    this.at = trace.step.length - 1;
    new ResizeObserver(() => this.draw()).observe(holder);
    holder.addEventListener("pointermove", (event) => this.point(event));
    holder.addEventListener("click", () => chosen?.(this.at));
    holder.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      this.mark(Math.min(this.xs.length - 1, Math.max(0, this.at + by)));
      chosen?.(this.at);
    });
    this.draw();
  }

  /** Show another trace, or the same with more points; the mark follows the end. */
  show(trace) {
    this.trace = trace;
    this.at = trace.step.length - 1;
    this.draw();
  }

  draw() {
    const trace = this.trace, low = this.height < 200;
    if (!trace.step.length) { this.holder.replaceChildren(); return; }
    this.xs = this.axis === "step" ? trace.step : trace.seconds;
    this.width = Math.max(280, this.holder.clientWidth);
    this.frame = { left: low ? 84 : 96, right: this.width - 16, top: low ? 6 : 12, bottom: this.height - (low ? 22 : 44) };
    const [least, most] = this.range();
    const last = this.xs[this.xs.length - 1], { left, right, top, bottom } = this.frame;
    this.x = (value) => left + (right - left) * (last ? value / last : 0);
    this.y = (value) => bottom - (bottom - top) * (most > least ? (value - least) / (most - least) : 0.5);
    this.cross = drawn("g");
    // A frame of its own cuts the curves: a nested picture needs no name that another chart could share.
    const room = drawn("svg", { x: left - 2, y: top - 2, width: right - left + 4, height: bottom - top + 4, viewBox: `${left - 2} ${top - 2} ${right - left + 4} ${bottom - top + 4}` });
    room.append(drawn("path", { class: "now", d: this.line(trace.score) }), drawn("path", { class: "best", d: this.steps(trace.best) }));
    const svg = drawn("svg", { viewBox: `0 0 ${this.width} ${this.height}`, style: `height:${this.height}px` });
    svg.append(...this.grid(least, most, last), room, this.cross);
    this.holder.replaceChildren(svg);
    this.mark(Math.max(0, Math.min(this.at, this.xs.length - 1)));
  }

  /** What is shown of the scores: all, or the last fiftieth of the way that the best so far has come. */
  range() {
    const finite = (values) => values.filter((v) => v !== null && v !== undefined);
    const best = finite(this.trace.best), all = [...finite(this.trace.score), ...best];
    if (!all.length) return [0, 1];
    const high = all.reduce((a, b) => Math.max(a, b), -Infinity);
    const whole = all.reduce((a, b) => Math.min(a, b), Infinity), near = best[0] + 0.98 * (high - best[0]);
    const low = this.close && high > near ? near : whole;
    return [low, high + 0.04 * (high - low)];
  }

  /** A path through what is finite. */
  line(values) {
    let path = "", pen = "M";
    values.forEach((value, i) => {
      if (value === null) { pen = "M"; return; }
      path += `${pen}${this.x(this.xs[i]).toFixed(1)} ${this.y(value).toFixed(1)}`;
      pen = "L";
    });
    return path;
  }

  steps(values) {
    let path = "";
    values.forEach((value, i) => {
      if (value === null) return;
      const x = this.x(this.xs[i]).toFixed(1), y = this.y(value).toFixed(1);
      path += path ? `H${x}V${y}` : `M${x} ${y}`;
    });
    return path;
  }

  grid(low, high, last) {
    const { left, right, top, bottom } = this.frame, parts = [], small = this.height < 200;
    for (const value of ticks(low, high, small ? 3 : 5)) {
      const y = this.y(value);
      parts.push(drawn("line", { class: "axis", x1: left, x2: right, y1: y, y2: y }));
      parts.push(drawn("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, figure(value, digitsOf(low, high))));
    }
    const marks = ticks(0, last, this.width < 560 ? 4 : 8);
    for (const value of marks.filter((v) => this.axis !== "step" || Number.isInteger(v))) {
      const x = this.x(value);
      parts.push(drawn("line", { class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 5 }));
      parts.push(drawn("text", { x, y: bottom + (small ? 16 : 20), "text-anchor": "middle" }, figure(value, this.axis === "step" ? 0 : digitsOf(0, last))));
    }
    const under = this.axis === "step" ? "step" : "seconds";
    if (!small) parts.push(drawn("text", { x: (left + right) / 2, y: this.height - 4, "text-anchor": "middle" }, under));
    parts.push(drawn("line", { class: "axis", x1: left, x2: left, y1: top, y2: bottom }));
    return parts;
  }

  point(event) {
    if (!this.xs?.length) return;
    const { left, width } = this.holder.getBoundingClientRect();
    const wanted = (event.clientX - left) * this.width / width;
    let nearest = 0;
    this.xs.forEach((value, i) => {
      if (Math.abs(this.x(value) - wanted) < Math.abs(this.x(this.xs[nearest]) - wanted)) nearest = i;
    });
    this.mark(nearest);
  }

  /** Say the values of one point. */
  mark(i) {
    this.at = i;
    const trace = this.trace, { top, bottom } = this.frame;
    const x = this.x(this.xs[i]), y = this.y(trace.best[i] ?? trace.score[i] ?? 0);
    this.cross.replaceChildren(
      drawn("line", { class: "cross", x1: x, x2: x, y1: top, y2: bottom }),
      drawn("circle", { class: "dot", cx: x, cy: Math.min(bottom, Math.max(top, y)), r: 4 }),
    );
    if (!this.output) return;
    this.output.textContent = [
      `Step ${figure(trace.step[i], 0)}`, `${figure(trace.seconds[i])} s`, `score ${figure(trace.score[i])}`,
      `best so far ${figure(trace.best[i])}`, ...(trace.arcs ? [`${figure(trace.arcs[i], 0)} arcs`] : []), ...(trace.facts?.[i] || []),
    ].join(" · ");
  }
}

/** Round values between two others, about as many as asked for. */
function ticks(low, high, wanted) {
  if (!(high > low)) return [low];
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12) + 1e-12 && found.length < 20; k += 1) found.push(k * step);
  return found;
}

/** As many digits as tell such ticks apart. */
function digitsOf(low, high) {
  const span = high - low;
  return span > 0 ? Math.min(6, Math.max(0, Math.ceil(1 - Math.log10(span / 4)))) : 0;
}
