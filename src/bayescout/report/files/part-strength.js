// Strengths as ink: how often bootstrap runs find each arc, its width, and a threshold.

import { button, element, figure } from "./core.js";
import { isAbove } from "./edges.js";
import { section } from "./part-begin.js";

export class StrengthPart {
  constructor(served) {
    this.served = served;
    this.source = served.source;
    this.runs = element("input", { type: "number", min: 2, max: 1000, step: 1, value: 50, id: "bootstrap-runs", "aria-label": "Bootstrap runs" });
    this.go = button("Bootstrap", () => this.start(), { id: "bootstrap" });
    this.state = element("p", { class: "note", "aria-live": "polite", id: "bootstrap-state" }, "Learn again from resampled rows: arcs that come back each time are sure.");
    this.bar = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "Bootstrap runs done" });
    this.threshold = element("input", { type: "range", min: 0, max: 1, step: 0.01, value: 0.5, id: "threshold", "aria-label": "Threshold of strength" });
    this.value = element("output", { for: "threshold", id: "threshold-value" }, "0.50");
    this.threshold.addEventListener("input", () => {
      this.value.textContent = Number(this.threshold.value).toFixed(2);
      served.app.store.set({ threshold: Number(this.threshold.value) });
      this.average();
    });
    this.averaged = element("input", { type: "checkbox", id: "averaged" });
    this.averaged.addEventListener("change", () => this.average());
    this.open = button("Open it as a run", () => this.kept(), { id: "open-averaged", hidden: true, title: "To score, ask and export the averaged network" });
    this.ink = element("input", { type: "checkbox", id: "ink" });
    this.ink.checked = true;
    this.ink.addEventListener("change", () => served.app.store.set({ strengths: this.ink.checked ? this.found : null }));
    this.controls = element(
      "div", { hidden: true }, element("label", { class: "check" }, this.ink, "Strength as width"),
      element("label", { class: "field" }, element("span", {}, "Threshold"), this.threshold, this.value),
      element("label", { class: "check" }, this.averaged, "The averaged network"), this.open, element("p", { class: "note", id: "threshold-note" }),
    );
    this.holder = section("strength", "Strength of arcs", false, element("div", { class: "row" }, this.runs, this.go), this.bar, this.state, this.controls);
  }

  async start() {
    const { run } = this.source;
    if (!run) { this.state.textContent = "Search first."; return; }
    this.bar.hidden = false;
    this.bar.value = 0;
    this.go.disabled = true;
    const found = await this.served.attempt(() => this.source.post(`/api/runs/${run.id}/strengths`, { runs: Number(this.runs.value) || 50 }));
    if (!found) { this.bar.hidden = true; this.go.disabled = false; }
  }

  progress({ id, done, of, error, ready }) {
    if (String(id) !== String(this.source.run?.id)) return;
    if (error) { this.state.textContent = error; this.bar.hidden = true; this.go.disabled = false; return; }
    this.bar.hidden = ready;
    this.bar.value = of ? done / of : 0;
    this.state.textContent = `${figure(done, 0)} of ${figure(of, 0)} bootstrap runs.`;
    this.go.disabled = !ready;
    if (ready) this.load();
  }

  /** Show what a run has already, when it is opened. */
  loadFor(run) {
    if (this.shown === run.id && this.found?.step === run.step) return;
    this.shown = run.id;
    this.found = null;
    this.controls.hidden = true;
    this.go.disabled = false;
    this.bar.hidden = true;
    this.averaged.checked = false;
    this.open.hidden = true;
    this.served.app.store.set({ strengths: null, averaged: null });
    if (run.strengths) this.load();
  }

  async load() {
    const { run } = this.source;
    const found = await this.served.attempt(() => this.source.get(`/api/runs/${run.id}/strengths`));
    if (!found?.arcs || this.source.run?.id !== run.id) return;
    this.found = { ...found, step: run.step };
    this.controls.hidden = false;
    this.go.disabled = false;
    this.bar.hidden = true;
    this.ink.checked = true;
    this.served.app.store.set({ strengths: this.found });
    this.said();
  }

  /** Fetch the averaged network of the threshold, if it is to be drawn; the last of many quick calls counts. */
  async average() {
    const { store } = this.served.app, { run } = this.source;
    this.open.hidden = !this.averaged.checked;
    if (!this.averaged.checked) {
      store.set({ averaged: null });
      this.said();
      return;
    }
    this.wanted = store.state.threshold;
    if (this.averaging) return;
    this.averaging = true;
    try {
      while (this.wanted !== null && this.averaged.checked) {
        const threshold = this.wanted;
        this.wanted = null;
        const found = await this.source.get(`/api/runs/${run.id}/averaged?${new URLSearchParams({ threshold })}`);
        if (this.source.run?.id !== run.id) return;
        store.set({ averaged: found.averaged });
        this.said(found.left_out);
      }
    } catch (error) {
      this.served.say(error.message);
    } finally {
      this.averaging = false;
    }
  }

  /** The averaged network as a run of its own: to be scored, asked and exported. */
  async kept() {
    const { run } = this.source, { threshold } = this.served.app.store.state, { parts } = this.served;
    const made = await this.served.attempt(() => this.source.post(`/api/runs/${run.id}/averaged`, { threshold }));
    if (!made) return;
    if (!this.served.runs.some((one) => one.id === made.id)) this.served.runs = [...this.served.runs, made];
    parts.search.holder.open = true;
    await this.served.select(made.id);
  }

  said(leftOut = []) {
    const { strengths, threshold, averaged } = this.served.app.store.state;
    if (!strengths) return;
    const found = strengths.arcs.filter(([a, b, , way]) => way > 0.5 || (way === 0.5 && a < b));
    const sure = found.filter(([, , adjacent]) => isAbove(adjacent, threshold)).length;
    const words = [`${sure} of ${found.length} joined pairs are above ${threshold.toFixed(2)}, or in every run.`];
    if (averaged && leftOut.length) words.push(`Left out, as they would close a cycle: ${leftOut.map(([a, b]) => `${a} → ${b}`).join(", ")}.`);
    this.controls.querySelector("#threshold-note").textContent = words.join(" ");
  }
}
