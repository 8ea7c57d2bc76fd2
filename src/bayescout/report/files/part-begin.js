// Begin: drop a file or choose an example, see how every column was read, and change it there.

import { button, choice, counted, element, figure, percent, sentence } from "./core.js";
import { fourDigits } from "./density.js";

const COLUMN_KINDS = [["discrete", "discrete"], ["continuous", "continuous"], ["left out", "left out"]];
const AS_READ = ["as read", "as it was read"];
const MOST_COLUMNS = 200;
const MISSING = [["em", "drawn given the rest"], ["state", "a state of their own"], ["drop", "their rows left out"], ["error", "refused"]];
const FIRST_EXAMPLES = ["asia", "alarm", "hailfinder", "munin"];

/** A part of the rail under a title that folds away. */
export function section(name, title, open, ...content) {
  return element("details", { class: "part", id: `part-${name}`, open }, element("summary", {}, title), ...content);
}

export class BeginPart {
  constructor(served) {
    this.served = served;
    this.source = served.source;
    this.chosen = element("input", { type: "file", accept: ".csv,.tsv,.txt,.parquet,.arrow,.feather", class: "unseen", id: "file", "aria-label": "A file of data" });
    this.chosen.addEventListener("change", () => { if (this.chosen.files.length) this.upload(this.chosen.files[0]); });
    const pick = element("label", { class: "drop", for: "file" }, element("b", {}, "Drop a csv or Parquet file"), " or choose one", this.chosen);
    const examples = [["", "… or an example"], ...(this.source.project.examples || []).map(({ name, nodes, arcs }) => [name, `${name} (${nodes} variables, ${arcs} arcs)`])];
    this.example = choice(examples, "", (name) => { if (name) this.open({ example: name, rows: 5000 }); }, { id: "example", "aria-label": "An example" });
    this.state = element("p", { class: "note", "aria-live": "polite" });
    this.look = button("Columns", () => this.columns(this.board.hidden), { id: "columns-button", hidden: true });
    this.holder = section("begin", "Data", true, pick, this.example, this.state, this.look);
    this.board = element("div", { class: "board", id: "columns", role: "dialog", "aria-label": "How the columns were read", hidden: true });
    this.welcomed = element("p", { class: "note", "aria-hidden": "true" });
    this.welcome = this.welcoming();
    served.app.stage.querySelector(".sheet").append(this.welcome, this.board);
    this.drops(served.app.root, [pick, this.welcome]);
  }

  /** What stands where the network will be, while there are no data. */
  welcoming() {
    const known = (this.source.project.examples || []).map(({ name }) => name), some = FIRST_EXAMPLES.filter((name) => known.includes(name));
    return element(
      "div", { class: "welcome", id: "welcome", hidden: true },
      element("h2", {}, "Drop a table here"),
      element("p", {}, "A csv, Parquet or Arrow file: one row per case, one column per variable. It stays on the computer that serves this page."),
      element("label", { class: "as-button primary", for: "file" }, "Choose a file"), this.welcomed,
      element("p", { class: "note" }, "Or rows drawn from a network of the literature:"),
      element("div", { class: "row" }, ...some.map((name) => button(name, () => this.open({ example: name, rows: 5000 }), { "data-example": name }))),
    );
  }

  drops(root, targets) {
    const over = (on) => targets.forEach((target) => target.classList.toggle("over", on));
    root.addEventListener("dragover", (event) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      over(true);
    });
    root.addEventListener("dragleave", () => over(false));
    root.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      over(false);
      this.upload(event.dataTransfer.files[0]);
    });
  }

  async upload(file) {
    const limit = this.source.project.uploads?.limit;
    if (limit && file.size > limit) {
      this.holder.open = true;
      this.told(`${file.name} has ${figure(file.size, 0)} bytes, and uploads may have ${figure(limit, 0)}: give it on the command line instead, bayescout serve ${file.name}.`, true);
      return;
    }
    await this.reading(file.name, () => this.source.call("PUT", `/api/data?${new URLSearchParams({ name: file.name })}`, file));
    this.chosen.value = "";
  }

  open(what) {
    return this.reading(what.example, () => this.source.post("/api/data", what));
  }

  async reading(name, act) {
    this.holder.open = true; // a file can be dropped anywhere: how that goes is to be seen
    this.told(`Reading ${name} …`);
    try {
      this.served.data(await act());
      this.columns(true);
    } catch (error) {
      this.told(error.message, true);
    }
  }

  /** Say how it stands, also where a file was dropped first. */
  told(words, bad = false) {
    for (const place of [this.state, this.welcomed]) {
      place.textContent = words;
      place.className = bad ? "warning" : "note";
    }
    this.state.setAttribute("role", bad ? "alert" : "status");
  }

  show(data) {
    this.data = data;
    this.look.hidden = !data;
    this.welcome.hidden = Boolean(data);
    if (!data) { this.told(""); return; }
    const missing = data.columns.reduce((sum, column) => sum + (column.missing || 0), 0);
    this.told(`${data.source}: ${counted(data.rows, "row")}, ${counted(data.columns.length, "column")}${missing ? `, ${counted(missing, "cell")} missing, ${MISSING.find(([value]) => value === data.missing)?.[1] || data.missing}` : ""}.`);
    this.look.textContent = this.board.hidden ? "How the columns were read" : "Hide the columns";
    if (!this.board.hidden) this.columns(true);
    if (this.served.runs.length && !this.folded) this.holder.open = !(this.folded = true);
  }

  // ---- the columns as read

  /** Show the board of columns, or put it away. */
  columns(open) {
    this.board.hidden = !open;
    this.look.textContent = open ? "Hide the columns" : "How the columns were read";
    if (!open) { this.board.replaceChildren(); return; }
    const { notes } = this.data, out = this.data.columns.filter(({ kind }) => kind === "left out"), many = this.data.columns.length > MOST_COLUMNS;
    const columns = many ? [...out, ...this.data.columns.filter(({ kind }) => kind !== "left out")] : this.data.columns, filter = element("input", { type: "search", placeholder: "Find a column", "aria-label": "Find a column" });
    const rows = element("div", { class: "column-cards" });
    const fill = () => {
      const wanted = columns.filter(({ name }) => name.toLowerCase().includes(filter.value.toLowerCase()));
      rows.replaceChildren(...wanted.slice(0, MOST_COLUMNS).map((column) => this.card(column)));
      if (wanted.length > MOST_COLUMNS) rows.append(element("p", { class: "note" }, `and ${wanted.length - MOST_COLUMNS} more: find them by name.`));
    };
    filter.addEventListener("input", fill);
    fill();
    const missing = element("label", { class: "missing" }, "Missing cells ", choice(MISSING, this.data.missing, (value) => this.change({ missing: value }), { id: "missing", "aria-label": "What to do with missing cells" }));
    this.board.replaceChildren(
      element("div", { class: "board-head" }, element("h2", {}, "How the columns were read"), filter, columns.some((c) => c.missing) ? missing : null, button("Close", () => this.columns(false), { id: "columns-close" })),
      out.length ? element("p", { class: "note", id: "left-out" }, `${counted(out.length, "column")} left out, ${many ? "first" : "at the end"}: choose a kind to keep one.`) : "",
      ...(notes || []).map((words) => element("p", { class: "note" }, sentence(words))), rows,
    );
  }

  card(column) {
    const kinds = this.data.chosen?.includes(column.name) ? [...COLUMN_KINDS, AS_READ] : COLUMN_KINDS;
    const kind = choice(kinds, column.kind, (value) => this.change({ kinds: { [column.name]: value } }), { "aria-label": `The kind of ${column.name}`, "data-column": column.name });
    const states = column.states?.length ? counted(column.states.length, "state") : "", missing = column.missing ? `${figure(column.missing, 0)} missing` : "";
    const about = [states, missing, column.reading].filter(Boolean).join(" · ");
    return element(
      "div", { class: `column-card${column.kind === "left out" ? " out" : ""}` }, element("div", { class: "row" }, element("h3", {}, column.name), kind),
      ...this.picture(column), element("p", { class: "note" }, about),
    );
  }

  /** A small picture of a column's values: bars of states, or a histogram. */
  picture(column) {
    const { histogram, states } = column;
    if (!histogram?.counts?.length) return [];
    const total = histogram.counts.reduce((a, b) => a + b, 0) || 1, most = Math.max(...histogram.counts) || 1;
    if (histogram.edges || !states) {
      const bars = histogram.counts.map((count, i) => element("span", { style: `height:${(100 * count / most).toFixed(1)}%`, title: `${histogram.edges ? `from ${histogram.edges[i]}: ` : ""}${figure(count, 0)} rows` }));
      const ends = histogram.edges ? [element("div", { class: "ends" }, element("span", {}, fourDigits(histogram.edges[0])), element("span", {}, fourDigits(histogram.edges.at(-1))))] : [];
      return [element("div", { class: "histogram", "aria-hidden": "true" }, ...bars), ...ends];
    }
    return [element("div", { class: "bars" }, ...histogram.counts.slice(0, 6).map((count, i) => element(
      "div", {}, element("span", { class: "state" }, states[i] ?? "the rest"),
      element("span", { class: "bar", "aria-hidden": "true" }, element("span", { style: `width:${(100 * count / total).toFixed(2)}%` })),
      element("span", { class: "share" }, percent(count / total)),
    )))];
  }

  async change(changes) {
    this.told("Reading again …");
    try {
      this.served.data(await this.source.call("PATCH", "/api/data", changes));
    } catch (error) {
      this.told(error.message, true);
    }
  }
}
