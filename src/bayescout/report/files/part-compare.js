// Compare: two or more runs, and a known truth, in one drawing with every variable where it was.

import { button, choice, element, figure } from "./core.js";
import { SIGNS } from "./edges.js";
import { section } from "./part-begin.js";

export class ComparePart {
  constructor(served) {
    this.served = served;
    this.source = served.source;
    this.picked = new Set();
    this.truth = choice([], "", () => this.show(), { id: "truth", "aria-label": "A known truth" });
    this.truths();
    const endings = (this.source.project.formats || []).map(({ ending }) => ending).filter((ending) => !/html|svg|png|pdf/.test(ending));
    const file = element("input", { type: "file", accept: endings.join(","), class: "unseen", id: "truth-file", "aria-label": "A network file to compare with" });
    file.addEventListener("change", async () => { if (file.files.length) await this.load(file.files[0]); file.value = ""; });
    this.go = button("Compare", () => this.show(), { id: "compare" });
    this.end = button("End", () => this.finish(), { id: "compare-end", hidden: true });
    this.result = element("div", { id: "compared" });
    this.holder = section("compare", "Compare", false, element("p", { class: "note" }, "Tick runs in the list above, or choose a truth: an example's, or a network file of your own."), this.truth, element("div", { class: "row" }, this.go, this.end, element("label", { class: "as-button", for: "truth-file" }, "Load a network", file)), this.result);
  }

  /** The networks that a run can be compared with: files that were loaded, then the examples. */
  truths() {
    const { networks = [], examples = [] } = this.source.project, before = this.truth.value;
    const names = [["", "no known truth"], ...networks.map((name) => [name, name]), ...examples.map(({ name }) => [name, name])];
    this.truth.replaceChildren(...names.map(([value, words]) => element("option", { value }, words)));
    this.truth.value = before;
  }

  /** Keep a network file and compare with it. */
  async load(file) {
    const found = await this.served.attempt(() => this.source.call("PUT", `/api/networks?${new URLSearchParams({ name: file.name })}`, file));
    if (!found) return;
    this.source.project.networks = found.networks;
    this.truths();
    this.truth.value = found.name;
    await this.show();
  }

  pick(id, on) {
    if (on) this.picked.add(id);
    else this.picked.delete(id);
    if (this.picked.size >= 2) { this.holder.open = true; this.show(); }
  }

  async show() {
    const { run } = this.source, runs = this.picked.size ? [...this.picked] : run ? [run.id] : [];
    if (this.truth.value === "" && runs.length < 2) { this.finish("Tick two runs, or choose a truth."); return; }
    const query = new URLSearchParams({ runs: runs.join(",") });
    if (this.truth.value) query.set("truth", this.truth.value);
    const found = await this.served.attempt(() => this.source.get(`/api/compare?${query}`));
    if (!found) return;
    this.served.hushed();
    const named = (key) => (key === "truth" ? `truth (${this.truth.value})` : this.served.runs.find((one) => String(one.id) === String(key))?.name || key);
    const of = runs.length + (this.truth.value ? 1 : 0);
    this.served.app.store.set({ compared: { ...found, of, first: String(runs[0]), named } });
    this.end.hidden = false;
    this.tables(found, named, of);
  }

  tables({ measures, arcs }, named, of) {
    const head = ["score", "SHD", "precision", "recall"];
    const rows = (measures || []).flatMap((one) => [
      element("tr", {}, element("th", { scope: "rowgroup", colspan: head.length }, named(one.run))),
      element("tr", {}, ...[figure(one.score, 1), figure(one.shd, 0), figure(one.precision), figure(one.recall)].map((cell) => element("td", { class: "number" }, cell))),
    ]);
    const differ = arcs.filter(([, , who]) => Object.values(who).filter(Boolean).length < of || new Set(Object.values(who)).size > 1);
    const told = ([a, b, who]) => {
      const words = Object.entries(who).map(([key, way]) => (way ? `${named(key)}: ${a} ${SIGNS[way]} ${b}` : `${named(key)}: no arc`)).join("; ");
      const { index } = this.served.app.net;
      return element("li", {}, button(`${a} – ${b}`, () => this.served.app.choose({ pair: [index.get(a), index.get(b)] }, true), { class: "link", title: words }), element("small", {}, ` ${words}`));
    };
    this.result.replaceChildren(
      element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...head.map((words) => element("th", { scope: "col", class: "number" }, words)))), element("tbody", {}, ...rows))),
      element("h4", {}, `${differ.length} of ${arcs.length} arcs differ`), element("ul", { class: "plain" }, ...differ.slice(0, 100).map(told)),
    );
  }

  finish(words = "") {
    this.end.hidden = true;
    this.result.replaceChildren(element("p", { class: "note" }, words));
    this.served.app.store.set({ compared: null });
  }
}
