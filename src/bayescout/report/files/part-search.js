// Search: what to search with and what it will cost, and the list of runs.

import { button, choice, element, field, figure, sentence } from "./core.js";
import { section } from "./part-begin.js";

const STATES = { waiting: "waits", running: "runs", paused: "paused", ended: "ended", failed: "failed" };

export class SearchPart {
  constructor(served) {
    this.served = served;
    this.source = served.source;
    const { searches, scores, priors } = this.source.project;
    const words = (list) => (list || []).map(({ name }) => [name, name]);
    this.search = choice(words(searches), "auto", () => this.changed(), { id: "search-name" });
    this.score = choice([["", "default"], ...words(scores)], "", () => this.changed(), { id: "score-name" });
    this.prior = choice([["", "default"], ...words(priors)], "", () => this.changed(), { id: "prior-name" });
    this.time = number({ id: "max-time", min: 0, step: "any", placeholder: "time, s", "aria-label": "Most seconds" });
    this.steps = number({ id: "max-steps", min: 0, step: 1, placeholder: "steps", "aria-label": "Most steps" });
    this.seed = number({ id: "seed", min: 0, step: 1, value: 0 });
    this.begin = choice([["", "the empty network"], ["run", "the network shown"]], "", null, { id: "start-from" });
    this.more = element("details", { class: "more" }, element("summary", {}, "More settings"));
    this.estimate = element("p", { class: "note", id: "estimate", "aria-live": "polite" });
    this.start = button("Start the search", () => this.go(), { class: "primary", id: "start" });
    this.use = button("Use in this run", () => this.rescore(), { id: "use-score", title: "The run shown goes on from its graph under this score and prior" });
    this.runs = element("div", { class: "runs", id: "runs", role: "list", "aria-label": "Runs" });
    const fields = element(
      "div", { class: "fields" }, field("Search", this.search), field("Score", this.score), field("Prior", this.prior),
      field("Limits", element("span", { class: "pair" }, this.time, this.steps), "The search ends after so many seconds, or steps"),
    );
    this.holder = section("search", "Search", true, fields, this.more, this.estimate, element("div", { class: "row" }, this.start, this.use), element("h4", {}, "Runs"), this.runs);
    this.changed();
    this.list();
  }

  get chosen() {
    return (this.source.project.searches || []).find(({ name }) => name === this.search.value);
  }

  changed() {
    const { chosen } = this;
    this.search.title = chosen?.summary || "";
    const usual = this.source.project.prior[this.score.value ? "named" : "automatic"];
    this.prior.options[0].textContent = `default: ${usual}`;
    if (this.listed !== chosen) {
      this.listed = chosen;
      this.inputs = new Map();
      const made = (chosen?.settings || []).map((setting) => this.setting(setting)).filter(Boolean);
      this.more.replaceChildren(element("summary", {}, "More settings"), element("div", { class: "fields" }, field("Seed", this.seed), field("From", this.begin), ...made));
    }
    this.estimateLater();
  }

  setting({ name, value, about }) {
    let control;
    if (typeof value === "boolean") control = element("input", { type: "checkbox", checked: value });
    else if (typeof value === "number") control = number({ step: "any", value });
    else if (value === null || typeof value === "string") control = element("input", { type: "text", value: value ?? "", placeholder: value === null ? "none" : "" });
    else return null;
    this.inputs.set(name, [control, value]);
    return field(name.replaceAll("_", " "), control, about);
  }

  settings() {
    const found = {};
    for (const [name, [control, usual]] of this.inputs) {
      let value = control.type === "checkbox" ? control.checked : control.value;
      if (typeof usual === "number") value = value === "" ? usual : Number(value);
      else if (usual === null) value = value === "" ? null : Number.isNaN(Number(value)) ? value : Number(value);
      if (value !== usual) found[name] = value;
    }
    return found;
  }

  asked() {
    const some = (input) => (input.value === "" ? null : Number(input.value));
    return {
      search: this.search.value, settings: this.settings(), score: this.score.value || null, structure_prior: this.prior.value || null,
      seed: some(this.seed) || 0, max_time: some(this.time), max_steps: some(this.steps), knowledge: null,
    }; // what is null is not sent on: the library's own default holds
  }

  /** Soon ask what the search will cost; the last question counts. */
  estimateLater() {
    clearTimeout(this.waiting);
    if (!this.source.project.data) { this.estimate.textContent = ""; return; }
    this.waiting = setTimeout(async () => {
      try {
        const found = await this.source.post("/api/estimate", this.asked());
        const about = found.seconds === null || found.seconds === undefined ? "" : found.seconds < 0.1 ? "Less than 0.1 s: " : `About ${inTime(found.seconds)}: `;
        this.estimate.textContent = sentence(about + (found.why || ""));
      } catch (error) {
        this.estimate.textContent = error.status === 404 ? "" : error.message;
      }
    }, 350);
  }

  async go() {
    const { served } = this, start = this.begin.value === "run" ? this.source.run?.id ?? null : null;
    this.start.disabled = true;
    served.parts.begin.columns(false);
    served.parts.begin.holder.open = false; // the runs are to be seen
    const { pace } = served.parts.live;
    const run = await served.attempt(() => this.source.post("/api/runs", { ...this.asked(), start, play: true, pace }));
    this.start.disabled = false;
    if (!run) return;
    if (!served.runs.some((one) => one.id === run.id)) served.runs = [...served.runs, run];
    await served.select(run.id);
  }

  /** The run shown goes on from the graph in hand under the score and the prior that are chosen. */
  async rescore() {
    const { run } = this.source;
    if (!run) return;
    const changed = { score: this.score.value || "auto", structure_prior: this.prior.value || null };
    if (await this.served.attempt(() => this.source.post(`/api/runs/${run.id}/change`, changed))) await this.served.refetch();
  }

  // ---- the runs

  list() {
    this.use.hidden = !this.source.run;
    const { served } = this, now = this.source.run?.id, picked = served.parts.compare?.picked || new Set();
    const made = served.runs.slice().reverse().map((run) => this.row(run, run.id === now, picked.has(run.id)));
    this.runs.replaceChildren(...made);
    if (!made.length) this.runs.append(element("p", { class: "note" }, "None yet."));
  }

  /** Delete a run for good, once a second click says so. */
  async delete(run) {
    clearTimeout(this.sparing);
    if (this.going === run.id) {
      this.going = null;
      await this.served.attempt(async () => { await this.source.call("DELETE", `/api/runs/${run.id}`); this.served.gone(run.id); });
      return;
    }
    this.going = run.id;
    this.sparing = setTimeout(() => { this.going = null; this.list(); }, 5000);
    this.list();
    this.runs.querySelector(`[data-delete="${run.id}"]`)?.focus();
  }

  row(run, now, picked) {
    const { served } = this;
    const score = run.best ?? run.score;
    const gap = run.gap === null || run.gap === undefined ? "" : run.gap <= 0 ? " · proven best" : ` · gap ${figure(run.gap)}`;
    const open = element(
      "button", { type: "button", class: "run", "aria-current": now ? "true" : null, "data-run": run.id, title: run.name, onclick: () => this.served.select(run.id) },
      element("span", { class: `dot ${run.state}`, "aria-hidden": "true" }), element("b", {}, run.name || `run ${run.id}`),
      element("small", {}, [STATES[run.state] || run.state, run.score_name, run.prior && run.prior !== "uniform" ? `prior ${run.prior}` : "", served.isForeign(run) ? "of other data" : ""].filter(Boolean).join(" · ")), element("small", { class: "score" }, `${score === null || score === undefined ? "–" : figure(score, 2)}${gap}`),
    );
    const compare = element("input", { type: "checkbox", "aria-label": `Compare ${run.name || run.id}`, title: "Compare", onchange: (event) => this.served.parts.compare.pick(run.id, event.target.checked) });
    compare.checked = picked;
    const gone = button(this.going === run.id ? "Delete?" : "×", () => this.delete(run), { "aria-label": `${this.going === run.id ? "Yes, delete" : "Delete"} ${run.name || run.id}`, class: "quiet", "data-delete": run.id });
    return element("div", { class: "run-row", role: "listitem" }, open, compare, gone);
  }
}

/** A length of time in the unit that people use for it. */
function inTime(seconds) {
  const units = [{ unit: "s", size: 1, most: 120 }, { unit: "min", size: 60, most: 120 }, { unit: "h", size: 3600, most: 48 }];
  const { unit, size } = units.find((one) => seconds < one.size * one.most) || { unit: "days", size: 86_400 };
  return `${figure(seconds / size, seconds < 10 * size ? 1 : 0)} ${unit}`;
}

function number(attributes) {
  return element("input", { type: "number", ...attributes });
}
