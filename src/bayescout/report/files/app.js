// The page: what it is made of, and the one state from which every part is drawn.

import { button, check, counted, element, figure, segments } from "./core.js";
import { linesByStrength, linesCompared, linesOfKnowledge } from "./edges.js";
import { Drawing, zoomButtons } from "./graph.js";
import { around, gathered, squeezed, withBoxes, withRoom } from "./network.js";
import { Panel } from "./panel.js";
import { History, createStore } from "./store.js";
import { keysOf, legendOf, noteOf } from "./words.js";
import { WhatIf, barsInBoxes, evidenceOf, linesInBox, noQuestion } from "./whatif.js";

const MOST_WITH_BARS = 60, MOST_GATHERED = 120;
const SPACE_IS_THEIRS = /^(BUTTON|INPUT|SUMMARY)$/; // pressed, ticked or unfolded by it
const LEAST_TO_READ = 0.6, WELL_READ = 0.8; // scales of a drawing

export class App {
  constructor(root, source) {
    this.root = root;
    this.source = source;
    this.actions = {}; // what can be done to an arc, by name
    this.keys = {}; // what a key does
    this.listening = {};
    this.describesNode = null;
    this.picked = null;
    this.store = createStore({
      net: source.net || null, view: "dag", selected: {}, question: noQuestion(), answer: null, focus: null, tab: "details",
      tool: "select", knowledge: null, cycle: null, strengths: null, threshold: 0.5, averaged: null, compared: null, replay: null, boxes: false, note: "",
    });
    this.history = new History(() => this.said("history"));
    this.build();
    this.subscribe();
    if (source.net) this.first(source.net);
    this.redraw();
    this.panel.show({});
  }

  get net() { return this.store.state.net; }

  get steers() { return Boolean(this.source.steers); }

  /** The first drawing, in the shape of the frame. */
  first(net) {
    this.source.net = squeezed(net, this.drawing.squeeze(net));
    this.store.set({ net: this.source.net, focus: null, selected: {}, question: noQuestion() });
    this.others();
  }

  // ---- the parts

  build() {
    this.graph = element("div", { id: "graph", tabindex: 0, role: "img", "aria-label": "The network", "aria-describedby": "graph-help" });
    this.views = element("div", { class: "segments", role: "radiogroup", "aria-label": "What is drawn", id: "views" });
    this.tools = element("div", { class: "tools", role: "toolbar", "aria-label": "Drawing tools" });
    this.note = element("p", { id: "view-note", class: "note", "aria-live": "polite" });
    this.legend = element("p", { id: "legend", class: "legend" });
    this.drawing = new Drawing(this.graph, {
      chosen: (what) => this.choose(what),
      moved: (before, after) => this.moved(before, after),
      linked: (from, to) => this.act(this.store.state.tool, from, to),
      turned: (from, to) => this.act("turn", from, to),
    });
    const bar = element("div", { class: "toolbar", role: "toolbar", "aria-label": "The drawing" }, this.views, this.tools, this.search());
    this.stage = element("div", { class: "stage" }, bar, this.note, element("div", { class: "sheet" }, this.graph, this.drawing.map), element("div", { class: "under" }, this.legend, zoomButtons(this.drawing)));
    this.panelHolder = element("div", { id: "panel", role: "tabpanel", "aria-live": "polite", "aria-label": "Details", tabindex: -1 });
    this.whatifHolder = element("div", { id: "whatif", role: "tabpanel", "aria-label": "What if", hidden: true, tabindex: -1 });
    this.tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "What the panel shows" }, ...[["details", "Details"], ["whatif", "What if"]].map(([key, words]) => element(
      "button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": key === "details" ? "panel" : key, "aria-selected": String(key === "details"), onclick: () => this.store.set({ tab: key }) }, words,
    )));
    this.tabs.addEventListener("keydown", (event) => { if (/^Arrow(Left|Right)$/.test(event.key)) this.otherTab(); });
    this.side = element("aside", { class: "side", "aria-label": "What is picked out" }, this.tabs, this.panelHolder, this.whatifHolder);
    this.rail = element("aside", { class: "rail", "aria-label": "This network" });
    this.strip = element("div", { class: "strip", hidden: true });
    this.root.classList.add("bench");
    this.root.append(this.rail, this.stage, this.side, this.strip);
    this.panel = new Panel(this.panelHolder, this);
    this.whatif = new WhatIf(this.whatifHolder, this);
    segments(this.views, "view", this.source.views(), (view) => this.view(view));
    this.barsButton = button("Bars", () => this.bars(), { id: "bars", "aria-pressed": "false", title: "Show the probabilities in the boxes" });
    this.tools.append(this.barsButton);
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  /** The field that finds a variable. */
  search() {
    this.names = element("datalist", { id: "names" });
    this.finder = element("input", { id: "search", type: "search", list: "names", autocomplete: "off", placeholder: "a variable" });
    this.finder.addEventListener("input", () => {
      const exact = this.net?.index.get(this.finder.value);
      if (exact !== undefined) this.choose({ node: exact }, true);
    });
    this.finder.addEventListener("keydown", (event) => { if (event.key === "Enter") this.find(this.finder.value.trim().toLowerCase()); });
    this.searchHolder = element("label", { class: "search" }, "Find ", this.finder, this.names);
    return this.searchHolder;
  }

  find(wanted) {
    const names = (this.net?.names || []).map((name) => name.toLowerCase());
    const tries = [names.indexOf(wanted), names.findIndex((n) => n.startsWith(wanted)), names.findIndex((n) => n.includes(wanted))];
    const found = tries.find((i) => i >= 0);
    if (wanted && found !== undefined) this.choose({ node: found }, true);
    else this.tell(wanted ? `No variable is named like “${this.finder.value.trim()}”.` : "");
  }

  // ---- from the state to the page

  subscribe() {
    const { store } = this;
    store.on(["net"], () => this.others());
    store.on(["view", "strengths", "threshold", "averaged", "compared", "replay", "net", "fresh"], () => this.redraw());
    store.on(["knowledge", "net", "tool"], () => this.redrawKnowledge());
    store.on(["view", "compared"], () => this.describe());
    store.on(["net"], () => this.named());
    store.on(["tab"], () => this.tabbed());
    store.on(["focus", "net"], () => this.focused());
    store.on(["cycle"], ({ cycle }) => this.drawing.set({ cycle: (cycle || []).map((name) => this.net?.index.get(name)).filter((i) => i !== undefined) }));
    store.on(["question"], ({ question }) => this.drawing.set({ evidence: evidenceOf(question) }));
    store.on(["question", "net", "selected"], () => { if (store.state.tab === "whatif" || store.state.boxes) this.whatif.refresh(); });
    store.on(["answer", "boxes", "net"], () => this.inBoxes());
    this.describe();
    this.named();
  }

  /** Where the variables are others, nothing of the old drawing holds. */
  others() {
    const { drawing, net } = this;
    if (!net || drawing.net?.names === net.names) return;
    this.history.clear();
    Object.assign(drawing, { list: [], known: [], fitted: true });
    drawing.set({ focus: null, cycle: [], chosen: [], arc: null, evidence: new Map() });
    drawing.show(net);
  }

  lines() {
    const { net, view, compared, strengths, threshold, averaged, replay, fresh } = this.store.state;
    if (!net) return [];
    if (compared) return linesCompared(compared, net.index);
    let lines = replay ? replay.lines : this.source.lines(view, net);
    if (strengths) lines = linesByStrength(lines, strengths, threshold, averaged, net.index);
    return fresh?.size ? lines.map((line) => (fresh.has(`${line.a},${line.b}`) ? { ...line, fresh: true } : line)) : lines;
  }

  redraw() {
    this.drawing.lines(this.lines());
  }

  redrawKnowledge() {
    const { knowledge, net } = this.store.state;
    this.drawing.knowledge(knowledge && net ? linesOfKnowledge(knowledge, net.index) : []);
  }

  describe() {
    const { view, compared, note } = this.store.state;
    check(this.views, view);
    this.tell(note || noteOf(this.source, compared ? "compared" : view));
    this.legend.replaceChildren(...legendOf(compared ? "compared" : view, compared));
  }

  named() {
    const { net } = this;
    if (net && net.names !== this.listed) {
      this.listed = net.names;
      this.names.replaceChildren(...net.names.map((name) => element("option", { value: name })));
    }
    if (net) this.graph.setAttribute("aria-label", `The learned network: ${figure(net.names.length, 0)} nodes, ${figure(net.dag.length, 0)} arcs`);
  }

  /** What is drawn, for a picture of it; boxes that hold bars are drawn as they are without. */
  picture() {
    const { view, compared } = this.store.state;
    return this.drawing.pictured(this.net, keysOf(compared ? "compared" : view, compared));
  }

  tell(words) {
    this.note.textContent = words;
    this.note.hidden = !words;
  }

  tabbed() {
    const { tab } = this.store.state;
    for (const one of this.tabs.children) one.setAttribute("aria-selected", String(one.id === `tab-${tab}`));
    this.panelHolder.hidden = tab !== "details";
    this.whatifHolder.hidden = tab !== "whatif";
    if (tab === "whatif") this.whatif.refresh();
  }

  otherTab() {
    const tab = this.store.state.tab === "details" ? "whatif" : "details";
    this.store.set({ tab });
    this.tabs.querySelector(`#tab-${tab}`).focus();
  }

  focused() {
    const { focus, net } = this.store.state, { drawing } = this;
    const kept = focus && net && focus.node < net.names.length ? around(net, focus.node, focus.kind) : null;
    drawing.set({ focus: kept });
    const gathers = Boolean(kept) && drawing.isLarge && kept.size <= MOST_GATHERED, before = this.gathers;
    this.gathers = gathers;
    if (!gathers && !before) return;
    drawing.movable = !gathers;
    if (gathers) this.tell(`${counted(kept.size, "variable")} around ${net.names[focus.node]}, moved together; “all” brings the others back.`);
    else this.describe();
    drawing.show(gathers ? gathered(net, kept, drawing.room()) : net);
    drawing.fit();
    if (gathers && drawing.place.scale < LEAST_TO_READ) drawing.look(focus.node, WELL_READ); // as of a long line of ancestors
  }

  /** Bars of the marginals in the boxes themselves, which grow to hold them. */
  inBoxes() {
    const { boxes, answer } = this.store.state, { drawing, net } = this;
    this.barsButton.setAttribute("aria-pressed", String(boxes));
    if (!drawing.painter || !net) return;
    const on = boxes && answer?.marginals && net.names.length <= MOST_WITH_BARS;
    drawing.movable = !on;
    drawing.roomy = Boolean(on);
    if (on && this.roomy !== net) this.roomier(withRoom(net, (i) => linesInBox(answer.marginals[i])));
    if (!on && this.roomy) {
      drawing.show(net, true);
      drawing.fit();
    }
    this.roomy = on ? net : null;
    drawing.painter.fill(on ? barsInBoxes(drawing.net, answer, (i) => this.source.states(i), (...about) => this.whatif.ask(...about)) : null);
  }

  /** Show boxes with room for bars: all of them, or near the one picked out as large as can be read. */
  roomier(net) {
    const { drawing } = this, { selected, question } = this.store.state, first = !this.roomy;
    drawing.show(net, !first);
    if (!first) return;
    drawing.fit();
    if (drawing.place.scale >= LEAST_TO_READ) return;
    const near = selected.node ?? selected.arc?.[1] ?? evidenceOf(question).keys().next().value ?? 0;
    drawing.look(near, WELL_READ);
  }

  /** Let the drawing glide to new places, unless its boxes hold bars. */
  glide(net) {
    this.roomy = null;
    if (this.store.state.boxes) this.inBoxes();
    if (this.gathers) this.focused();
    else if (!this.roomy) this.drawing.glide(net);
  }

  // ---- what a person does

  /** Pick something out; `look` brings it into sight, `stay` leaves the panel as it is. */
  choose(what, look = false, stay = false) {
    const { focus: kept } = this.drawing.marks;
    if (this.gathers && [what.node, ...(what.arc || what.pair || [])].some((i) => i !== undefined && !kept.has(i))) this.store.set({ focus: null });
    this.drawing.select(what);
    this.store.set({ selected: what });
    if (!stay && (what.arc || what.pair)) this.store.set({ tab: "details" });
    const shown = this.panel.show(what);
    this.picked?.(what);
    if (look && this.net) this.drawing.reveal(what.arc || what.pair || [what.node]);
    return shown;
  }

  view(view) {
    this.store.set({ view, compared: null, note: "" });
    this.describe();
  }

  /** Bars of the probabilities in the boxes, or not. */
  bars() {
    const boxes = !this.store.state.boxes;
    if (boxes && !this.source.asks) { this.tell(this.source.whyNot || "This network cannot be asked in the page."); return; }
    if (boxes && this.net.names.length > MOST_WITH_BARS) { this.tell(`Bars in the boxes are for networks of at most ${MOST_WITH_BARS} variables; the panel has them all.`); return; }
    this.store.set({ boxes });
    if (boxes && !this.store.state.answer) this.whatif.refresh();
  }

  focus(node, kind) {
    this.store.set({ focus: kind ? { node, kind } : null });
    if (kind && !this.gathers) this.drawing.reveal([...around(this.net, node, kind)], true);
  }

  /** Ask another question; it can be undone. */
  question(next) {
    const before = this.store.state.question;
    const put = (question) => { this.store.set({ question }); this.whatif.refresh(); };
    put(next);
    this.history.made("evidence", () => put(before), () => put(next));
  }

  moved(before, after) {
    const put = (net) => {
      const now = withBoxes(this.net, net.boxes, net.routes);
      this.store.set({ net: now });
      this.drawing.show(now, true);
      this.source.remember?.(now);
    };
    put(after);
    this.history.made("move", () => put(before), () => put(after));
  }

  /** Do something to an arc or a pair: the parts that can are told by name. */
  async act(name, a, b) {
    try {
      await this.actions[name]?.(a, b);
    } catch (error) {
      this.tell(error.message);
    }
  }

  /** What the panel says of a variable besides its neighbours. */
  async about(i) {
    return this.describesNode ? this.describesNode(i) : [];
  }

  /** Tell the parts that registered for a kind of news. */
  said(kind) {
    for (const act of this.listening[kind] || []) act(this);
  }

  hear(kind, act) {
    (this.listening[kind] ||= []).push(act);
  }

  key(event) {
    const target = event.composedPath()[0];
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !["radio", "checkbox", "range", "button"].includes(target.type);
    if ((event.ctrlKey || event.metaKey) && !typing && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) this.history.redo();
      else this.history.undo();
    } else if ((event.ctrlKey || event.metaKey) && !typing && event.key.toLowerCase() === "y") {
      event.preventDefault();
      this.history.redo();
    } else if (event.key === "/" && !typing) {
      event.preventDefault();
      this.finder.focus();
    } else if (!typing && !event.ctrlKey && !event.metaKey && this.keys[event.key] && !(event.key === " " && SPACE_IS_THEIRS.test(target.tagName))) {
      event.preventDefault();
      this.keys[event.key]();
    }
  }
}

/** A switch between light and dark; `host` is what carries the choice. */
export function themeButton(host = document.documentElement, attributes = { id: "theme" }) {
  const dark = () => (host.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const made = button(dark() ? "Light" : "Dark", () => {
    host.dataset.theme = dark() ? "light" : "dark";
    made.textContent = dark() ? "Light" : "Dark";
    made.dispatchEvent(new CustomEvent("theme", { bubbles: true, composed: true }));
  }, attributes);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { made.textContent = dark() ? "Light" : "Dark"; });
  return made;
}
