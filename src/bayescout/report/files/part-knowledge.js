// Knowledge by drawing: arcs that must or must not be, beliefs, tiers, limits, the text of it all, and what each costs.

import { button, counted, download, element, figure, sentence } from "./core.js";
import { section } from "./part-begin.js";

const EMPTY = { text: "", tiers: [], required: [], forbidden: [], beliefs: [], max_parents: null };
const PIECES = { tiers: "the tiers", order: "the order", max_parents: "the most parents" };
const WORDS = { required: "must be", forbidden: "must not be", beliefs: "is believed" };

export class KnowledgePart {
  constructor(served) {
    this.served = served;
    this.source = served.source;
    this.now = EMPTY;
    this.problem = element("div", { class: "problem", role: "alert" });
    this.items = element("div", { class: "items", id: "knowledge-items" });
    this.limit = element("input", { type: "number", min: 0, step: 1, id: "max-parents", placeholder: "no limit" });
    this.limit.addEventListener("change", () => this.put({ ...this.fields(), max_parents: this.limit.value === "" ? null : Number(this.limit.value) }));
    this.tiersButton = button("Tiers", () => this.bands(this.board.hidden), { id: "tiers" });
    this.priceButton = button("Prices", () => this.price(), { id: "prices", title: "What holding to each item costs in score" });
    this.useButton = button("Use in this run", () => this.use(), { id: "use-knowledge", title: "The run goes on under what is known now" });
    this.text = element("textarea", { rows: 7, spellcheck: "false", id: "knowledge-text", "aria-label": "Knowledge as text" });
    const file = element("input", { type: "file", accept: ".txt,.json", class: "unseen", id: "knowledge-file", "aria-label": "A file of knowledge" });
    file.addEventListener("change", async () => { if (file.files.length) await this.put({ text: await file.files[0].text() }); file.value = ""; });
    const asText = element(
      "details", { class: "more", id: "knowledge-as-text" }, element("summary", {}, "As text"), this.text,
      element("div", { class: "row" }, button("Apply", () => this.put({ text: this.text.value }), { id: "apply-text" }), button("Save", () => download("knowledge.txt", this.text.value, "text/plain"), {}), element("label", { class: "as-button", for: "knowledge-file" }, "Load", file)),
      element("p", { class: "note" }, "The same file that --knowledge takes."),
    );
    this.hint = element("p", { class: "note" }, "Choose Require, Forbid or Believe above the drawing and draw from one variable to another.");
    this.holder = section("knowledge", "Knowledge", false, this.hint, this.problem, this.items, element("label", { class: "field" }, element("span", {}, "Most parents"), this.limit),
      element("div", { class: "row" }, this.tiersButton, this.priceButton, this.useButton), asText);
    this.board = element("div", { class: "board bands", id: "bands", role: "dialog", "aria-label": "Tiers", hidden: true });
    this.board.addEventListener("keydown", (event) => this.slash(event));
    served.app.stage.querySelector(".sheet").append(this.board);
    if (this.source.project.data) this.load();
  }

  fields() {
    const { tiers, required, forbidden, beliefs, max_parents, order = null, forbid_within = false } = this.now;
    return { tiers, required, forbidden, beliefs, max_parents, order, forbid_within };
  }

  async load() {
    const found = await this.source.get("/api/knowledge").catch(() => null);
    if (!found || JSON.stringify(found) === this.loaded) return; // what is drawn already stays under the pointer
    this.loaded = JSON.stringify(found);
    this.show({ ...EMPTY, ...found });
  }

  /** Say what is known now; a contradiction is shown and nothing is changed. */
  async put(next, undoable = true) {
    const before = { text: this.now.text };
    try {
      const found = await this.source.call("PUT", "/api/knowledge", next);
      this.problem.replaceChildren();
      this.served.app.store.set({ cycle: null });
      this.loaded = JSON.stringify(found);
      this.show({ ...EMPTY, ...found });
      if (undoable && found.text !== before.text) {
        this.served.app.history.made("knowledge", () => this.put(before, false), () => this.put({ text: found.text }, false));
      }
      return true;
    } catch (error) {
      this.contradiction(error, next);
      return false;
    }
  }

  show(knowledge) {
    this.now = knowledge;
    this.text.value = knowledge.text || "";
    this.limit.value = typeof knowledge.max_parents === "number" ? knowledge.max_parents : "";
    this.limit.placeholder = knowledge.max_parents && typeof knowledge.max_parents === "object" ? "by variable" : "no limit";
    this.served.app.store.set({ knowledge });
    this.unfit(knowledge.error);
    this.list();
    if (!this.board.hidden) this.bands(true);
    this.served.parts.search?.estimateLater();
  }

  /** What is known does not go with the data of now: say so, and offer to keep the rest. */
  unfit(error) {
    if (!error && !this.unfitting) return;
    this.unfitting = Boolean(error);
    if (!error) { this.problem.replaceChildren(); return; }
    const keep = button("Keep what fits", () => this.put(this.fitting()), { id: "keep-fitting", title: "Leave out what names a variable that the data do not have" });
    this.problem.replaceChildren(element("p", { class: "warning", id: "unfit" }, `What is known does not go with these data: ${error}`), keep);
    this.holder.open = true;
  }

  /** The fields without what names a variable that is not among the data's. */
  fitting() {
    const fields = this.fields(), { data } = this.source.project, { max_parents, order } = fields;
    const names = new Set(data.columns.filter(({ kind }) => kind !== "left out").map(({ name }) => name));
    const both = ([a, b]) => names.has(a) && names.has(b);
    return {
      ...fields, required: fields.required.filter(both), forbidden: fields.forbidden.filter(both), beliefs: fields.beliefs.filter(both),
      ...tiersOf(fields, fields.tiers.map((tier) => tier.filter((name) => names.has(name)))),
      order: order && order.filter((name) => names.has(name)),
      max_parents: Array.isArray(max_parents) ? max_parents.filter(([name]) => names.has(name)) : max_parents,
    };
  }

  /** The cycle lights up in the drawing, with the line that was drawn last. */
  contradiction(error, wanted) {
    const { app } = this.served;
    this.holder.open = true;
    const named = error.cycle || [], cycle = named.length ? named.filter((name, i) => named.indexOf(name) === i) : null;
    if (wanted.required) app.store.set({ knowledge: { ...this.now, ...wanted } });
    app.store.set({ cycle });
    const end = () => { this.problem.replaceChildren(); app.store.set({ cycle: null, knowledge: this.now }); };
    this.problem.replaceChildren(element("p", { class: "warning", id: "contradiction" }, sentence(error.message.replaceAll(" -> ", " → "))), cycle && !error.message.includes("cycle") ? element("p", { class: "note" }, `The contradiction: ${[...cycle, cycle[0]].join(" → ")}.`) : "", button("Take it back", end, { id: "take-back" }));
    this.problem.scrollIntoView({ block: "nearest" });
    if (cycle && app.net) app.drawing.reveal(cycle.map((name) => app.net.index.get(name)).filter((i) => i !== undefined));
  }

  add(kind, a, b) {
    const { names } = this.source.net, pair = [names[a], names[b]], same = ([x, y]) => x === pair[0] && y === pair[1];
    this.holder.open = true;
    const fields = this.fields(), rest = {};
    for (const key of ["required", "forbidden", "beliefs"]) rest[key] = fields[key].filter((one) => !same(one));
    rest[kind] = [...rest[kind], kind === "beliefs" ? [...pair, 0.8, "->"] : pair];
    return this.put({ ...fields, ...rest });
  }

  // ---- the list

  list() {
    const made = [];
    for (const kind of ["required", "forbidden", "beliefs"]) {
      for (const item of this.now[kind] || []) made.push(this.item(kind, item));
    }
    if (this.now.tiers?.length) made.push(element("p", { class: "note" }, `${counted(this.now.tiers.length, "tier")}, of ${this.now.tiers.map((tier) => figure(tier.length, 0)).join(", ")} variables.`));
    const whole = this.priced.filter(({ kind }) => !(kind in WORDS));
    made.push(...whole.map((one) => element("div", { class: "item" }, element("span", {}, PIECES[one.kind] || one.item), element("small", { class: "price" }, priceIn(one)))));
    if (this.prices && !made.length) made.push(element("p", { class: "note" }, "Nothing is known, so nothing costs."));
    this.items.replaceChildren(...made);
    this.hint.hidden = made.length > 0;
  }

  item(kind, item) {
    const [a, b, share, way] = item, sign = way === "--" ? "–" : "→", words = `${a} ${sign} ${b} ${WORDS[kind]}`;
    const gone = button("×", () => this.put({ ...this.fields(), [kind]: this.now[kind].filter((one) => one !== item) }), { class: "quiet", "aria-label": `take back: ${words}` });
    const link = button(`${a} ${sign} ${b}`, () => {
      const { index } = this.served.app.net;
      this.served.app.choose({ pair: [index.get(a), index.get(b)] }, true);
    }, { class: "link" });
    const price = element("small", { class: "price" }, this.priceOf(a, b, kind));
    const row = element("div", { class: `item ${kind}`, "data-item": `${a}->${b}` }, element("span", { class: `mark ${kind}`, title: WORDS[kind], "aria-label": WORDS[kind], role: "img" }), link, price, gone);
    if (kind !== "beliefs") return row;
    const value = element("output", {}, share.toFixed(2));
    const slider = element("input", { type: "range", min: 0.02, max: 0.98, step: 0.02, value: share, "aria-label": `How likely is ${a} → ${b}` });
    slider.addEventListener("input", () => { value.textContent = Number(slider.value).toFixed(2); });
    slider.addEventListener("change", () => this.put({ ...this.fields(), beliefs: this.now.beliefs.map((one) => (one === item ? [a, b, Number(slider.value), way || "->"] : one)) }));
    return element("div", {}, row, element("div", { class: "row belief" }, slider, value));
  }

  /** The prices, as long as they are of what is known and shown now. */
  get priced() {
    const { run } = this.source;
    return this.prices && run && this.prices.of === this.costsOf(run) ? this.prices.found : [];
  }

  costsOf(run) {
    return JSON.stringify([run.id, run.step, run.score, this.now.text]);
  }

  priceOf(a, b, kind) {
    const found = this.priced.find(({ pair, kind: other }) => other === kind && pair.includes(a) && pair.includes(b));
    return found ? priceIn(found) : "";
  }

  async price() {
    const { run } = this.source;
    if (!run) { this.served.say("Search first: the price is what holding to an item costs that network's score."); return; }
    const of = this.costsOf(run);
    this.pricing(true);
    const found = await this.served.attempt(() => this.source.post("/api/knowledge/prices", { run: run.id }));
    this.pricing(false);
    if (!found) return;
    this.prices = { of, found };
    this.list();
  }

  /** Say that prices are worked out: that takes a climb or two for each item. */
  pricing(goes) {
    this.priceButton.disabled = goes;
    this.priceButton.textContent = goes ? "Pricing …" : "Prices";
  }

  async use() {
    const { run } = this.source;
    if (!run) { this.served.say("There is no run yet; a new one takes what is known."); return; }
    const done = await this.served.attempt(() => this.source.post(`/api/runs/${run.id}/change`, { knowledge: this.now.text }));
    if (done) await this.served.refetch();
  }

  // ---- bands of tiers

  bands(open) {
    this.board.hidden = !open;
    this.tiersButton.setAttribute("aria-pressed", String(open));
    if (!open) { this.board.replaceChildren(); return; }
    if (!this.board.children.length) this.boardHead();
    this.fill();
  }

  /** What stays while variables move: the words, the field that finds a variable, and what it found. */
  boardHead() {
    this.bandsHolder = element("div");
    this.finder = element("input", { type: "search", id: "bands-search", placeholder: "a variable", autocomplete: "off" });
    this.finder.addEventListener("input", () => this.fill());
    this.finder.addEventListener("keydown", (event) => { if (event.key === "Enter") this.board.querySelector(".variable")?.focus(); });
    this.foundNote = element("p", { class: "note", id: "bands-found", role: "status" });
    this.board.replaceChildren(
      element("div", { class: "board-head" }, element("h2", {}, "Tiers"), element("label", { class: "search" }, "Find ", this.finder), element("p", { class: "note" }, "No arc leads from a later tier to an earlier one. Drag variables, or pick one and press the arrow keys."),
        button("No tiers", () => this.put({ ...this.fields(), tiers: [] })), button("Close", () => this.bands(false), { id: "bands-close" })), this.foundNote, this.bandsHolder,
    );
  }

  /** The bands, with the variables that are looked for. */
  fill() {
    const names = this.source.net?.names || [], { tiers } = this.now, placed = new Set(tiers.flat());
    const bands = [...tiers.map((tier, k) => this.band(`Tier ${k + 1}`, tier, k)), this.band("A new tier: drop variables here", [], tiers.length), this.band("In no tier", names.filter((name) => !placed.has(name)), null)];
    this.bandsHolder.replaceChildren(...bands);
    const wanted = this.finder.value.trim(), found = this.bandsHolder.querySelectorAll(".variable").length;
    this.foundNote.textContent = !wanted ? "" : found ? `${figure(found, 0)} of ${counted(new Set([...names, ...placed]).size, "variable")}` : `No variable is named like “${wanted}”.`;
    this.foundNote.hidden = !wanted;
  }

  /** The key that finds a variable finds it here while the board is open. */
  slash(event) {
    if (event.key !== "/" || event.target === this.finder) return;
    event.preventDefault();
    event.stopPropagation();
    this.finder.focus();
  }

  band(title, names, place) {
    const wanted = this.finder.value.trim().toLowerCase();
    const chips = names.filter((name) => name.toLowerCase().includes(wanted)).map((name) => this.chip(name, place));
    return element("div", { class: `band${place === null ? " free" : ""}`, "data-band": place === null ? "free" : place }, element("h3", {}, title), element("div", { class: "chips" }, ...chips));
  }

  chip(name, place) {
    const made = element("button", { type: "button", class: "chip variable", "data-name": name }, name);
    made.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const last = this.now.tiers.length, at = place === null ? last + 1 : place;
      const to = Math.max(0, Math.min(last + 1, at + by));
      this.put(this.moved([name], to > last ? null : to)).then(() => this.board.querySelector(`[data-name="${CSS.escape(name)}"]`)?.focus());
    });
    made.addEventListener("pointerdown", (event) => this.lift(event, made, name));
    return made;
  }

  lift(event, chip, name) {
    const start = [event.clientX, event.clientY];
    chip.setPointerCapture(event.pointerId);
    let over = null;
    const move = (now) => {
      const [dx, dy] = [now.clientX - start[0], now.clientY - start[1]];
      chip.style.transform = `translate(${dx}px, ${dy}px)`;
      chip.classList.add("lifted");
      const under = this.board.getRootNode().elementsFromPoint(now.clientX, now.clientY).map((one) => one.closest(".band")).find(Boolean);
      if (under !== over) {
        over?.classList.remove("over");
        under?.classList.add("over");
        over = under;
      }
    };
    const end = () => {
      chip.removeEventListener("pointermove", move);
      chip.style.transform = "";
      chip.classList.remove("lifted");
      over?.classList.remove("over");
      if (over) this.put(this.moved([name], over.dataset.band === "free" ? null : Number(over.dataset.band)));
    };
    chip.addEventListener("pointermove", move);
    chip.addEventListener("pointerup", end, { once: true });
    chip.addEventListener("pointercancel", end, { once: true });
  }

  /** The fields after some variables moved to a tier, or to none; empty tiers go. */
  moved(names, place) {
    const tiers = this.now.tiers.map((tier) => tier.filter((name) => !names.includes(name)));
    if (place !== null) {
      while (tiers.length <= place) tiers.push([]);
      tiers[place] = [...tiers[place], ...names];
    }
    const fields = this.fields();
    return { ...fields, ...tiersOf(fields, tiers) };
  }
}

/** Tiers without the empty ones; those within which no arc may be keep that under their new numbers. */
function tiersOf({ forbid_within }, tiers) {
  const left = tiers.map((tier, k) => [tier, k + 1]).filter(([tier]) => tier.length);
  const closed = Array.isArray(forbid_within) ? left.flatMap(([, k], at) => (forbid_within.includes(k) ? [at + 1] : [])) : forbid_within;
  return { tiers: left.map(([tier]) => tier), forbid_within: left.length ? closed : false };
}

function priceIn({ price }) {
  if (price === null) return "not worked out";
  return Math.abs(price) < 0.0005 ? "free" : `costs ${figure(price, 2)}`;
}
