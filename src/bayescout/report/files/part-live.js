// The strip: the curve of the score, play and pause, steps there and back, and any earlier step on a slider.

import { button, choice, element, figure, sentence } from "./core.js";
import { Trace } from "./trace.js";

const MOST_POINTS = 1500;

export class LivePart {
  constructor(served) {
    this.served = served;
    this.source = served.source;
    this.play = button("Play", () => this.toggle(), { id: "play", class: "primary", title: "Space" });
    this.back = button("Back", () => this.act("back", { steps: 1 }), { id: "back", title: "One step back (,)" });
    this.step = button("Step", () => this.act("step", { steps: 1 }), { id: "step", title: "One step (.)" });
    this.fork = button("Fork", () => this.forked(), { id: "fork", title: "Go another way from here, in a run of its own" });
    this.prove = button("Bound", () => this.bound(), { id: "prove", title: "How far is it from the best network at most? An exact search looks for 20 seconds" });
    this.speed = choice([["", "full speed"], ["0.5", "2 a second"], ["0.12", "8 a second"], ["0.03", "30 a second"]], "", null, { id: "play-pace", "aria-label": "Steps a second", title: "How fast the search goes, to watch it" });
    this.told = null; // what was said of a run at a step, as of its bound
    this.proving = null;
    this.facts = element("dl", { class: "numbers", id: "numbers", "aria-live": "off" });
    this.state = element("p", { class: "note", id: "run-state", "aria-live": "polite" });
    this.slider = element("input", { type: "range", id: "replay", min: 0, max: 0, value: 0, "aria-label": "Replay: a step of the search", disabled: true });
    this.slider.addEventListener("input", () => this.replay(Number(this.slider.value)));
    this.words = element("output", { id: "replay-value", for: "replay" });
    this.film = button("Replay", () => this.roll(), { id: "film", title: "Watch the search again" });
    this.chart = element("div", { class: "trace", id: "strip-trace", tabindex: 0, role: "img", "aria-label": "Score by step of the search" });
    const left = element("div", { class: "controls" }, element("div", { class: "row" }, this.back, this.play, this.step, this.fork, this.prove, this.speed), this.facts, this.state);
    const right = element("div", { class: "curve" }, this.chart, element("div", { class: "replay" }, this.film, this.slider, this.words));
    served.app.strip.append(left, right);
    served.app.strip.hidden = false;
    this.show();
  }

  get run() { return this.source.run; }

  /** Seconds between two steps; null as fast as it goes. */
  get pace() { return this.speed.value ? Number(this.speed.value) : null; }

  show() {
    const { run } = this, going = run?.state === "running";
    for (const one of [this.back, this.step]) one.disabled = !run || going;
    this.play.disabled = !run || run.state === "ended";
    this.fork.disabled = !run;
    this.prove.disabled = !run || going || run.state === "waiting" || this.proving === run.id;
    this.prove.hidden = !run || run.gap === 0;
    this.play.textContent = going ? "Pause" : "Play";
    this.numbers(run);
    const trace = run?.trace || [];
    this.slider.disabled = this.film.disabled = !trace.length || going;
    if (trace.length) this.slider.max = trace.at(-1)[0];
    if (trace.length && !this.served.app.store.state.replay) this.slider.value = trace.at(-1)[0];
    this.said();
    const columns = { step: [], seconds: [], score: [], best: [] }, by = Math.max(1, Math.ceil(trace.length / MOST_POINTS));
    trace.forEach(([step, seconds, score, best], i) => {
      if (i % by && i !== trace.length - 1) return;
      columns.step.push(step);
      columns.seconds.push(seconds);
      columns.score.push(score);
      columns.best.push(best);
    });
    if (this.trace) this.trace.show(columns);
    else this.trace = new Trace(this.chart, null, columns, { height: 80, chosen: (i) => { if (this.run?.state !== "running" && this.trace.xs) this.replay(this.trace.trace.step[i]); } });
  }

  numbers(run) {
    const facts = run ? [["step", figure(run.step, 0)], ["score", figure(run.score, 2)], ["best", figure(run.best, 2)], ["gap", gapOf(run)], ["time", timeOf(run.seconds)]] : [];
    this.facts.replaceChildren(...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", { "data-fact": name }, value))));
    const words = { waiting: "The run waits for its turn.", running: "The search runs.", paused: "Paused: step, go back, change what is known, and go on.", failed: "The run failed." };
    const told = run && this.told?.id === run.id && this.told.step === run.step ? this.told.words : "";
    this.state.textContent = !run ? "No run yet." : sentence(run.error || "") || told || words[run.state] || ended(run);
    this.state.classList.toggle("down", Boolean(run?.error));
  }

  said() {
    const { replay } = this.served.app.store.state;
    if (replay && this.trace?.xs) this.trace.mark(nearest(this.trace.trace.step, replay.step));
    this.words.textContent = replay ? `step ${figure(replay.step, 0)}: ${figure(replay.score, 2)}` : "";
  }

  toggle() {
    const { run } = this;
    if (!run || run.state === "ended") return;
    if (run.state === "running") this.act("pause");
    else this.act("play", { pace: this.pace });
  }

  async act(action, body = {}) {
    if (!this.run) return;
    this.served.app.store.set({ replay: null });
    const run = await this.served.attempt(() => this.source.post(`/api/runs/${this.run.id}/${action}`, body));
    if (!run || run.id !== this.run?.id) return;
    this.source.run = { ...this.source.run, ...run };
    this.show();
    if (run.state !== "running") await this.served.refetch();
  }

  /** Look for a bound on the score of any network, and say what came of it. */
  async bound() {
    const { run } = this, told = (words) => { this.told = { id: run.id, step: run.step, words }; };
    this.proving = run.id;
    told("An exact search looks for a bound, for at most 20 s …");
    this.show();
    const found = await this.served.attempt(() => this.source.post(`/api/runs/${run.id}/prove`));
    this.proving = null;
    told(found ? `${sentence(found.told)}.` : "");
    if (found && this.run?.id === run.id) this.source.run = { ...this.source.run, bound: found.bound, gap: found.gap };
    this.show();
  }

  async forked() {
    const run = await this.served.attempt(() => this.source.post(`/api/runs/${this.run.id}/fork`));
    if (!run) return;
    if (!this.served.runs.some((one) => one.id === run.id)) this.served.runs = [...this.served.runs, run];
    await this.served.select(run.id);
  }

  // ---- earlier steps

  /** Draw the network of a step; the last of many quick calls counts. */
  async replay(step) {
    const { app } = this.served, { run } = this, last = run.trace.at(-1)[0];
    this.slider.value = step;
    this.wanted = step;
    if (this.asking) return;
    this.asking = true;
    try {
      while (this.wanted !== null) {
        const now = this.wanted;
        this.wanted = null;
        if (now >= last) { app.store.set({ replay: null }); continue; }
        const found = await this.source.get(`/api/runs/${run.id}/at/${now}`);
        const { index } = this.source.net;
        const lines = found.arcs.map(([a, b]) => ({ a: index.get(a), b: index.get(b), kind: "same", open: false }));
        app.store.set({ replay: { ...found, lines } });
      }
    } catch (error) {
      this.served.say(error.message);
    } finally {
      this.asking = false;
    }
    this.said();
  }

  /** Watch the whole search again, in some seconds. */
  async roll() {
    if (this.rolling) { this.rolling = false; return; }
    const { run } = this, steps = run.trace.map(([step]) => step), by = Math.max(1, Math.round(steps.length / 120));
    this.rolling = true;
    this.film.textContent = "Stop";
    for (let k = 0; k < steps.length && this.rolling && this.run?.id === run.id; k += by) {
      await this.replay(steps[k]);
      await new Promise((done) => setTimeout(done, Math.min(250, 6000 * by / steps.length)));
    }
    if (this.rolling && this.run?.id === run.id) await this.replay(steps.at(-1));
    this.rolling = false;
    this.film.textContent = "Replay";
  }
}

/** The place of the last number that is not above a value, in a list that rises. */
function nearest(numbers, value) {
  const after = numbers.findIndex((one) => one > value);
  return Math.max(0, (after < 0 ? numbers.length : after) - 1);
}

function timeOf(seconds) {
  if (seconds < 1) return `${figure(1000 * seconds, 0)} ms`;
  return seconds < 120 ? `${figure(seconds, 1)} s` : `${figure(seconds / 60, 1)} min`;
}

function gapOf(run) {
  if (run.gap === null || run.gap === undefined) return "–";
  return run.gap <= 0 ? "0, proven" : figure(run.gap, 2);
}

function ended(run) {
  const why = { converged: "It came to its own end.", max_time: "The time was over.", max_steps: "The steps were over.", interrupted: "It was interrupted.", optimal: "Proven: no network scores higher." };
  return `Ended. ${why[run.stop_reason] || run.stop_reason || ""}`;
}
