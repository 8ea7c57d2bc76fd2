// Replays of searches: a slider and buttons that show the graph after each step.
"use strict";

const WIDTH = 560, TOP = 8, BOTTOM = 46, LEFT = 60, RIGHT = 500, PAUSE = 900;
const PICTURE = "http://www.w3.org/2000/svg";

/** An element of a picture with these attributes. */
function drawn(name, attributes) {
  const made = document.createElementNS(PICTURE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** A score with two digits, its sign a minus. */
const number = (score) => score.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }).replace("-", "−");

class Replay {
  constructor(holder) {
    this.holder = holder;
    const told = JSON.parse(holder.querySelector("script").textContent);
    this.lines = told.lines;
    this.frames = told.frames.map(([step, score, there]) => ({ step, score, there: new Set(there) }));
    this.paths = [...holder.querySelectorAll(".replay-lines path")];
    this.range = holder.querySelector("input");
    this.timer = 0;
    this.heads();
    this.chart();
    this.range.addEventListener("input", () => { this.stop(); this.show(Number(this.range.value)); });
    for (const button of holder.querySelectorAll("button")) button.addEventListener("click", () => this.go(button.dataset.go));
    this.show(this.frames.length - 1);
  }

  /** The head of each arc, at the end of its line and in its direction. */
  heads() {
    const group = this.holder.querySelector(".replay-heads");
    this.tips = this.paths.map((path) => {
      if (!path.classList.contains("arc")) return null;
      const long = path.getTotalLength(), end = path.getPointAtLength(long), before = path.getPointAtLength(long - 6);
      const turn = (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI;
      const tip = drawn("path", { d: "M4 0L-5 -4.5L-5 4.5Z", transform: `translate(${end.x} ${end.y}) rotate(${turn})` });
      group.append(tip);
      return tip;
    });
  }

  /** The score after each step. */
  chart() {
    const group = this.holder.querySelector(".replay-chart"), scores = this.frames.map((f) => f.score).filter((s) => s !== null);
    this.scored = scores.length;
    const low = Math.min(...scores), high = Math.max(...scores), last = Math.max(1, this.frames.length - 1);
    this.x = (i) => LEFT + ((RIGHT - LEFT) * i) / last;
    this.y = (score) => (high > low ? BOTTOM - ((BOTTOM - TOP) * (score - low)) / (high - low) : BOTTOM);
    this.dot = drawn("circle", { r: 4 });
    if (scores.length < 2) { group.append(this.dot); return; }
    const points = this.frames.flatMap((f, i) => (f.score === null ? [] : [`${this.x(i).toFixed(1)},${this.y(f.score).toFixed(1)}`]));
    const label = drawn("text", { x: LEFT - 8, y: (TOP + BOTTOM) / 2 + 4, "text-anchor": "end" });
    label.textContent = "score";
    group.append(drawn("polyline", { points: points.join(" ") }), label, this.dot);
  }

  go(where) {
    const last = this.frames.length - 1;
    if (where === "play") {
      if (this.timer) { this.stop(); return; }
      if (this.at === last) this.show(0);
      this.timer = setInterval(() => { this.show(this.at + 1); if (this.at === last) this.stop(); }, PAUSE);
      this.named("❚❚ pause", "Pause");
      return;
    }
    this.stop();
    this.show({ first: 0, back: Math.max(0, this.at - 1), on: Math.min(last, this.at + 1) }[where]);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.named("▶ play", "Play");
  }

  named(text, label) {
    const button = this.holder.querySelector('[data-go="play"]');
    button.textContent = text;
    button.setAttribute("aria-label", label);
  }

  show(at) {
    this.at = at;
    const now = this.frames[at], before = at ? this.frames[at - 1].there : now.there;
    const added = [], removed = [];
    this.paths.forEach((path, i) => {
      const here = now.there.has(i), was = before.has(i);
      const state = here ? (was ? "there" : "new") : was ? "gone" : "away";
      if (state === "new") added.push(this.lines[i]);
      if (state === "gone") removed.push(this.lines[i]);
      path.setAttribute("class", this.tips[i] ? `${state} arc` : state);
      this.tips[i]?.setAttribute("class", state);
    });
    this.range.value = String(at);
    const score = now.score === null ? "" : `, score ${number(now.score)}`;
    const changes = [added.length ? `In: ${added.join(", ")}.` : "", removed.length ? `Out: ${removed.join(", ")}.` : ""].filter(Boolean);
    this.holder.querySelector(".replay-told").textContent =
      `Step ${now.step} of ${this.frames.at(-1).step}${score}. ${changes.join(" ")}`;
    this.range.setAttribute("aria-valuetext", `step ${now.step}`);
    this.dot.setAttribute("cx", this.x(at));
    this.dot.setAttribute("cy", now.score === null ? BOTTOM : this.y(now.score));
    this.dot.setAttribute("visibility", now.score === null || this.scored < 2 ? "hidden" : "visible");
  }
}

for (const holder of document.querySelectorAll(".replay")) new Replay(holder);
