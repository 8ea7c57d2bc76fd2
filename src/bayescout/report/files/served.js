// The page with a server: the parts around the drawing, and what they do when something happens.

import { App, themeButton } from "./app.js";
import { BeginPart } from "./part-begin.js";
import { ComparePart } from "./part-compare.js";
import { KnowledgePart } from "./part-knowledge.js";
import { LivePart } from "./part-live.js";
import { SearchPart } from "./part-search.js";
import { SharePart } from "./part-share.js";
import { StrengthPart } from "./part-strength.js";
import { button, counted, drawn, element, figure, segments, sentence } from "./core.js";
import { withArcs, withBoxes } from "./network.js";
import { ServerSource } from "./source-server.js";
import { noQuestion } from "./whatif.js";

const KEYS = [
  ["/", "find a variable"], ["V, R, F, B", "what dragging does: move, require, forbid, believe"], ["Space", "play or pause the search"], [". and ,", "one step on, one step back"],
  ["T", "turn the arc that is picked out within its class"], ["W", "what if, or details"], ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["arrows, + − 0", "in the drawing: move about, zoom, show all"], ["Shift+arrows", "move the variable that is picked out"], ["Enter, Shift+Enter, Alt+Enter", "on a state: observe it, set it (do), rule it out"],
  ["↑ ↓", "on a variable among the tiers: to the tier before or after"], ["Esc", "put away what lies over the drawing"], ["?", "these keys"],
];

const TOOLS = [["select", "Move", "Move variables (V)"], ["require", "Require", "Draw arcs that must be (R)"], ["forbid", "Forbid", "Draw arcs that must not be (F)"], ["believe", "Believe", "Draw arcs that are likely, or not (B)"]];

/** Why nothing is heard of the server. */
const LOST = { away: "The server does not answer …", refused: "The server was started anew: open the address that it printed." };

/** What the browser keeps for the next time, where it may. */
const remembered = {
  get theme() { try { return localStorage.getItem("bayescout-theme"); } catch { return null; } },
  set theme(name) { try { localStorage.setItem("bayescout-theme", name); } catch { /* it is forgotten */ } },
};

class Served {
  constructor(root, source, project) {
    this.source = source;
    source.project = project;
    source.places = project.layout?.positions || {};
    this.app = new App(root, source);
    source.squeeze = (net) => this.app.drawing.squeeze(net);
    source.unkept = (error) => this.say(error.message);
    this.runs = project.runs;
    this.top();
    this.parts = {};
    const kinds = { begin: BeginPart, search: SearchPart, knowledge: KnowledgePart, strength: StrengthPart, compare: ComparePart, share: SharePart, live: LivePart };
    for (const [name, Part] of Object.entries(kinds)) this.parts[name] = new Part(this);
    this.app.rail.append(...Object.values(this.parts).map((part) => part.holder).filter(Boolean));
    this.app.actions = {
      require: (a, b) => this.parts.knowledge.add("required", a, b),
      forbid: (a, b) => this.parts.knowledge.add("forbidden", a, b),
      believe: (a, b) => this.parts.knowledge.add("beliefs", a, b),
      turn: (a, b) => this.turn(a, b),
    };
    this.app.describesNode = (i) => this.describe(i);
    this.keys();
    this.data(project.data);
    source.listen((event) => this.heard(event), (lost) => this.line(lost));
    this.latest();
  }

  /** A run is of other rows than the project has now: it can be seen, and not asked. */
  isForeign(run) {
    return Boolean(run.data) && run.data !== this.source.project.data?.fingerprint;
  }

  /** Show the last run of the data of now; without one, the variables. */
  latest() {
    const run = this.runs.findLast((one) => !this.isForeign(one)) || (this.source.project.data ? null : this.runs.at(-1));
    if (run) { this.select(run.id); return; }
    this.source.run = null;
    this.app.store.set({ selected: {}, question: noQuestion(), replay: null, compared: null, strengths: null, averaged: null, focus: null });
    this.app.drawing.select({});
    if (this.source.project.data) this.empty();
    this.parts.search.list();
    this.parts.live.show();
  }

  // ---- the head of the page

  top() {
    const { app } = this, { project } = this.source;
    this.about = element("span", { class: "about" });
    this.status = element("span", { class: "status", role: "status" });
    this.undo = button("Undo", () => app.history.undo(), { disabled: true, title: "Ctrl+Z" });
    this.redo = button("Redo", () => app.history.redo(), { disabled: true, title: "Ctrl+Shift+Z" });
    app.hear("history", () => {
      this.undo.disabled = !app.history.past.length;
      this.redo.disabled = !app.history.future.length;
    });
    const bar = element(
      "header", { class: "topbar" }, element("h1", {}, "bayescout"), element("span", { class: "name" }, project.name || ""), this.about, this.status,
      element("span", { class: "right" }, app.searchHolder, this.undo, this.redo, this.folding("rail", "left"), this.folding("side", "right"), this.help(), themeButton()),
    );
    bar.addEventListener("theme", () => {
      app.drawing.resized();
      remembered.theme = document.documentElement.dataset.theme;
    });
    app.root.prepend(bar);
    const tools = element("div", { class: "segments", role: "radiogroup", "aria-label": "What dragging does" });
    segments(tools, "tool", TOOLS, (tool) => this.tool(tool));
    tools.querySelector("input").checked = true;
    app.tools.prepend(
      tools,
      button("Tidy", () => this.tidy(true), { id: "tidy", title: "Lay the network out anew, and forget what was moved by hand" }),
    );
  }

  /** The button of the board that lists the keys. */
  help() {
    this.helpButton = button("?", () => this.keyBoard(), { id: "keys-button", class: "icon", "aria-label": "Keys", title: "Keys (?)" });
    const rows = KEYS.map(([key, words]) => element("div", {}, element("dt", {}, key), element("dd", {}, words)));
    this.helpBoard = element("div", { class: "board keys", id: "keys", role: "dialog", "aria-label": "Keys", hidden: true }, element("div", { class: "board-head" }, element("h2", {}, "Keys"), button("Close", () => this.keyBoard(), { id: "keys-close" })), element("dl", {}, ...rows));
    this.app.stage.querySelector(".sheet").append(this.helpBoard);
    return this.helpButton;
  }

  keyBoard() {
    this.helpBoard.hidden = !this.helpBoard.hidden;
    if (this.helpBoard.hidden) this.helpButton.focus();
    else this.helpBoard.querySelector("button").focus();
  }

  /** A switch that puts a side of the page away. */
  folding(name, where) {
    const filled = drawn("rect", { x: where === "left" ? 1 : 10, y: 1, width: 5, height: 12, fill: "currentColor" });
    const icon = drawn("svg", { viewBox: "0 0 16 14", width: 16, height: 14, "aria-hidden": "true" }, drawn("rect", { x: 1, y: 1, width: 14, height: 12, rx: 1, fill: "none", stroke: "currentColor" }), filled);
    const about = `Show or hide the ${where} side`, made = button(icon, () => {
      const away = this.app.root.classList.toggle(`no-${name}`);
      made.setAttribute("aria-pressed", String(!away));
    }, { id: `fold-${name}`, class: "icon", "aria-pressed": "true", "aria-label": about, title: about });
    return made;
  }

  tool(tool) {
    const { app } = this;
    app.drawing.tool = tool;
    app.graph.classList.toggle("drawing", tool !== "select");
    app.tools.querySelector(`input[value="${tool}"]`).checked = true;
    app.store.set({ tool });
  }

  keys() {
    const { live } = this.parts;
    this.app.keys = {
      v: () => this.tool("select"), r: () => this.tool("require"), f: () => this.tool("forbid"), b: () => this.tool("believe"),
      " ": () => live.toggle(), ".": () => live.act("step", { steps: 1 }), ",": () => live.act("back", { steps: 1 }),
      t: () => { const { arc } = this.app.store.state.selected; if (arc) this.app.act("turn", ...arc); },
      "?": () => this.keyBoard(),
      w: () => this.app.store.set({ tab: this.app.store.state.tab === "whatif" ? "details" : "whatif" }),
    };
    this.app.stage.addEventListener("keydown", (event) => { if (event.key === "Escape") this.closeBoards(); });
  }

  /** Put away what lies over the drawing; the focus goes to what opened it. */
  closeBoards() {
    const { begin, knowledge } = this.parts;
    if (!begin.board.hidden) { begin.columns(false); begin.look.focus(); }
    if (!knowledge.board.hidden) { knowledge.bands(false); knowledge.tiersButton.focus(); }
    if (!this.helpBoard.hidden) this.keyBoard();
  }

  /** The line to the server was lost, or is there again; what was said last is let be. */
  line(lost) {
    this.lost = lost;
    if (!this.hush) this.told();
  }

  told() {
    const words = this.lost ? LOST[this.lost] : "";
    if (this.status.textContent !== words) this.status.textContent = words;
    this.status.classList.toggle("down", Boolean(words));
  }

  /** Do something; what the server says against it is shown. */
  async attempt(act) {
    try {
      return await act();
    } catch (error) {
      this.say(error.message);
      return null;
    }
  }

  say(words) {
    this.status.textContent = sentence(words);
    this.status.classList.add("down");
    clearTimeout(this.hush);
    this.hush = setTimeout(() => this.hushed(), 12_000);
  }

  /** What was said holds no longer. */
  hushed() {
    if (!this.hush) return;
    clearTimeout(this.hush);
    this.hush = null;
    this.told();
  }

  // ---- what happens

  heard(event) {
    if (event.type === "hello") this.hello(event.project);
    else if (event.type === "run") this.moved(event);
    else if (event.type === "data") this.data(event.data);
    else if (event.type === "deleted" || (event.type === "gone" && event.id)) this.gone(event.id);
    else if (event.type === "knowledge") this.parts.knowledge.load();
    else if (event.type === "strengths") this.parts.strength.progress(event);
  }

  hello(project) {
    if (!project) return;
    if (project.folder !== this.source.project.folder) { location.reload(); return; } // another server at this address
    this.source.project = { ...this.source.project, ...project };
    this.runs = project.runs;
    this.data(project.data);
    this.parts.search.list();
    this.parts.compare.truths();
    const { run } = this.source;
    if (run && this.runs.some((one) => one.id === run.id)) this.refetch();
  }

  data(data) {
    if (!data) { this.parts.begin.show(null); return; }
    const others = this.fingerprint !== undefined && this.fingerprint !== data.fingerprint;
    this.fingerprint = data.fingerprint;
    this.source.project.data = data;
    this.source.columns = new Map(data.columns.map((column) => [column.name, column]));
    this.about.textContent = `${data.source} · ${counted(data.rows, "row")} · ${counted(data.columns.filter((c) => c.kind !== "left out").length, "variable")}`;
    this.parts.begin.show(data);
    this.parts.knowledge.load();
    this.parts.search.estimateLater?.();
    if (others) { this.app.history.clear(); this.latest(); } else if (!this.source.run) this.empty();
  }

  /** Before the first search the variables stand without arcs. */
  empty() {
    const { data } = this.source.project;
    const nodes = data.columns.filter((column) => column.kind !== "left out").map((column) => column.name);
    this.source.net = this.source.netOf({ nodes, arcs: [], positions: {} });
    this.app.first(this.source.net);
    this.app.describe();
    this.app.panel.show({});
  }

  gone(id) {
    this.runs = this.runs.filter((run) => run.id !== id);
    if (this.source.run?.id === id) this.source.run = null;
    this.parts.search.list();
    if (!this.source.run) this.latest();
    this.parts.live.show();
  }

  /** A run went on: its record, the arcs that came and went, a point of its curve. */
  moved(event) {
    const { run, diff, point, version } = event;
    const place = this.runs.findIndex((one) => one.id === run.id);
    if (place < 0) this.runs = [...this.runs, run];
    else this.runs = this.runs.map((one) => (one.id === run.id ? run : one));
    this.parts.search.list();
    const { source } = this;
    if (source.run?.id !== run.id || !source.net) return;
    const before = source.run;
    this.late?.push(event);
    if (version <= before.version) return; // what was fetched is newer
    source.run = { ...before, ...run, version };
    if (run.state !== "running" || run.step < before.step || version !== before.version + 1) {
      this.parts.live.show();
      this.refetch();
      return;
    }
    if (diff) this.grow(diff);
    if (point && before.trace) {
      while (before.trace.length && before.trace.at(-1)[0] >= point[0]) before.trace.pop();
      before.trace.push(point);
    }
    this.parts.live.show();
    this.layoutLater();
  }

  grow(diff) {
    const { source, app } = this, { index } = source.net;
    const at = ([a, b]) => [index.get(a), index.get(b)];
    const arcs = new Map(source.net.dag.map((arc) => [String(arc), arc])), fresh = new Set();
    for (const pair of diff.removed || []) arcs.delete(String(at(pair)));
    for (const pair of diff.turned || []) arcs.delete(String(at(pair).reverse()));
    for (const pair of [...(diff.added || []), ...(diff.turned || [])]) {
      arcs.set(String(at(pair)), at(pair));
      fresh.add(String(at(pair)));
    }
    if (!fresh.size && arcs.size === source.net.dag.length) return;
    source.net = withArcs(source.net, [...arcs.values()]);
    if (!app.drawing.gliding) app.drawing.net = source.net;
    app.store.set({ net: source.net, fresh, boxes: false });
  }

  /** Fetch the selected run again, once however often it is asked for at the same time. */
  refetch() {
    if (this.fetching) { this.again = true; return this.fetching; }
    this.fetching = this.fetchRun().finally(() => {
      this.fetching = null;
      if (this.again) { this.again = false; this.refetch(); }
    });
    return this.fetching;
  }

  async fetchRun() {
    const { source, app } = this, { id } = source.run || {};
    if (!id) return;
    const had = app.net, late = this.late = [];
    const found = await this.attempt(() => source.open(id));
    if (!found) return;
    if (had && had.names.length === source.net.names.length && had.names.every((name, i) => name === source.net.names[i])) source.net.names = had.names;
    app.drawing.list = [];
    app.store.set({ net: source.net, fresh: null, replay: null });
    app.drawing.list = app.lines();
    app.glide(source.net);
    app.describe();
    this.parts.live.show();
    this.parts.strength.loadFor(source.run);
    this.parts.knowledge.list();
    app.panel.show(app.store.state.selected);
    if (app.store.state.tab === "whatif" || app.store.state.boxes) app.whatif.refresh();
    this.late = null;
    for (const event of late) this.moved(event);
  }

  /** While a small network grows it is laid out anew now and then. */
  layoutLater() {
    const { length } = this.source.net.names;
    if (this.laying || length > 150) return;
    this.laying = setTimeout(() => { this.laying = null; if (this.source.run?.state === "running") this.tidy(false); }, length <= 60 ? 1200 : 3000);
  }

  async tidy(forget) {
    const { source, app } = this, { run } = source;
    if (!run || !source.net) return;
    const before = { places: source.places, net: source.net };
    if (forget) await source.forget();
    const found = await this.attempt(() => source.post("/api/layout", { run: run.id }));
    if (!found?.positions || source.run?.id !== run.id) return;
    const { names, dag } = source.net;
    const laid = source.netOf({ nodes: names, arcs: dag.map(([a, b]) => [names[a], names[b], source.kinds.get(`${a},${b}`)]), ...found });
    source.net = { ...laid, names };
    app.store.set({ net: source.net });
    app.glide(source.net);
    const after = { places: source.places, net: source.net };
    if (forget) app.history.made("tidy", () => this.placed(before), () => this.placed(after));
  }

  /** Put the variables where they were. */
  placed({ places, net }) {
    const { source, app } = this;
    source.put(places);
    source.net = withBoxes(source.net, net.boxes, net.routes);
    app.store.set({ net: source.net });
    app.glide(source.net);
  }

  async select(id) {
    const { source, app } = this;
    source.run = this.runs.find((run) => run.id === id) || null;
    if (!source.run) return;
    app.store.set({ selected: {}, question: noQuestion(), replay: null, compared: null, strengths: null, focus: null });
    app.drawing.select({});
    this.parts.search.list();
    this.parts.live.show(); // it can be steered before its drawing is there
    await this.refetch();
    this.parts.search.list();
  }

  async turn(a, b) {
    const { names } = this.source.net, { id } = this.source.run;
    const turnOnce = async (from, to) => {
      if (this.source.run?.id !== id) await this.select(id);
      await this.source.post(`/api/runs/${this.source.run.id}/turn`, { from, to });
      await this.refetch();
      this.app.choose({ arc: [this.source.net.index.get(to), this.source.net.index.get(from)] });
    };
    await turnOnce(names[a], names[b]);
    this.app.history.made("turn", () => this.attempt(() => turnOnce(names[b], names[a])), () => this.attempt(() => turnOnce(names[a], names[b])));
  }

  /** What the data and the parameters say of a variable. */
  async describe(i) {
    const name = this.source.net.names[i], column = this.source.columns?.get(name), made = [];
    if (column) made.push(element("h4", {}, "In the data"), ...this.parts.begin.picture(column), element("p", { class: "note" }, column.reading || ""));
    const { run } = this.source;
    if (!run || run.state === "running" || !this.source.net.dag.length) return made;
    const found = await this.source.get(`/api/runs/${run.id}/node?${new URLSearchParams({ name })}`).catch(() => null);
    if (found?.cpt) made.push(element("h4", {}, found.title || "Probabilities"), tableOf(found.cpt));
    if (found?.note) made.push(element("p", { class: "note" }, found.note));
    return made;
  }
}

function tableOf({ columns, rows, figures }) {
  const numeric = (k) => (Array.isArray(figures) ? figures.includes(k) : k >= (figures || 0));
  const cell = (value, k) => element("td", { class: numeric(k) ? "number" : null }, typeof value === "number" ? figure(value, 4) : String(value));
  return element(
    "div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...columns.map((name, k) => element("th", { scope: "col", class: numeric(k) ? "number" : null }, name)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))))),
  );
}

async function startServed() {
  const root = document.getElementById("workbench"), source = new ServerSource();
  if (remembered.theme) document.documentElement.dataset.theme = remembered.theme;
  try {
    history.replaceState(null, "", "/");
    const project = await source.get("/api/project");
    return new Served(root, source, project);
  } catch (error) {
    root.append(element("p", { class: "warning", role: "alert" }, error.message));
    return null;
  }
}

window.workbench = startServed().then((served) => { window.served = served; return served; });
