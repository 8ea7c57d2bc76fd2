// What is picked out: a variable, an arc, or a pair that no arc joins.

import { button, choice, element, figure, percent } from "./core.js";
import { fourDigits } from "./density.js";

/** "falls by 12.345", coloured; a change too small to see is none. */
function change(value) {
  if (Math.abs(value) < 0.0005) return element("span", {}, "stays the same");
  const rises = value > 0;
  return element("span", { class: rises ? "up" : "down" }, `${rises ? "rises" : "falls"} by ${figure(Math.abs(value))}`);
}

/** The prior's part of a change of the score; nothing where the prior is uniform. */
function weighed(worth, name) {
  const value = worth.prior?.[name];
  if (!value || Math.abs(value) < 0.0005) return "";
  return ` (by the prior alone ${value < 0 ? "−" : "+"}${figure(Math.abs(value))})`;
}

/** What decides the direction of an arc, by the name that it has in Python. */
const DECIDED = {
  required: "The arc was required beforehand.",
  independences: "Its direction is decided: every network that implies the same independences has the arc this way round.",
  model: "Its direction is decided by the score's model: a discrete variable has no continuous parents.",
  knowledge: "Its direction is decided by what was known beforehand: the arc must not be the other way round.",
  acted: "Its direction is told by the rows in which somebody acted on one of the two.",
  others: "Its direction is decided by those of other arcs, which what was known beforehand, the score's model or actions decide.",
};

export class Panel {
  /** `app` has net, source, choose(what, look), and act(name, ...) for what a card can do. */
  constructor(holder, app) {
    this.holder = holder;
    this.app = app;
    this.asked = 0;
  }

  get net() { return this.app.net; }

  /** Show what is known at once; what has to be worked out takes its place when it is there. */
  async show(what) {
    const asked = ++this.asked;
    const put = (content) => { if (asked === this.asked) this.holder.replaceChildren(...content); };
    const failed = (error) => element("p", { class: "warning", role: "alert" }, error.message);
    this.holder.scrollTop = 0;
    if (what.node !== undefined) {
      const later = element("div", { "aria-busy": "true" });
      put(this.node(what.node, later));
      later.replaceChildren(...await this.app.about(what.node).catch((error) => [failed(error)]));
      later.removeAttribute("aria-busy");
    } else if (what.arc || what.pair) {
      const pair = what.arc || what.pair, head = this.title(...pair, what.arc ? "→" : "and");
      const slow = setTimeout(() => put([head, element("p", { class: "note", "aria-busy": "true" }, "Working it out …")]), 150);
      const content = await this.joined(...pair).catch((error) => [head, failed(error)]);
      clearTimeout(slow);
      put(content);
    } else put(this.hint());
  }

  hint() {
    if (!this.net) return [element("h3", {}, "Details"), element("p", { class: "note" }, "Open some data and start a search. Click a variable or an arc then: what lies behind it is shown here.")];
    const most = this.net.names.map((_, i) => i).filter((i) => this.degree(i)).sort((a, b) => this.degree(b) - this.degree(a) || a - b).slice(0, 6);
    return [
      element("h3", {}, "Details"),
      element("p", {}, "Click a variable for its neighbours, its probabilities and its data. Click an arc for what it is worth."),
      ...(most.length ? [element("h4", {}, "Variables with most arcs"), this.list(most, (i) => ({ node: i }))] : []),
    ];
  }

  degree(i) {
    return this.net.parents[i].length + this.net.children[i].length;
  }

  /** A button that shows something else. */
  link(words, what) {
    return button(words, () => this.app.choose(what, true), { class: "link" });
  }

  list(nodes, what) {
    if (!nodes.length) return element("p", { class: "note" }, "none");
    return element("ul", {}, ...nodes.map((i) => element("li", {}, this.link(this.net.names[i], what(i)))));
  }

  // ---- a variable

  node(i, later) {
    const { parents, children, names } = this.net;
    return [
      element("h3", {}, names[i]),
      this.focuses(i),
      element("h4", {}, `Parents (${parents[i].length})`),
      this.list(parents[i], (p) => ({ arc: [p, i] })),
      element("h4", {}, `Children (${children[i].length})`),
      this.list(children[i], (c) => ({ arc: [i, c] })),
      later,
      ...this.asker(i),
    ];
  }

  /** Show only what is around the node. */
  focuses(i) {
    const kinds = [["", "all"], ["blanket", "Markov blanket"], ["ancestors", "ancestors"], ["descendants", "descendants"], ["neighbours", "neighbours"]];
    const { focus } = this.app.store.state;
    const now = focus && focus.node === i ? focus.kind : "";
    return element("div", { class: "row focus" }, element("label", {}, "Show ", choice(kinds, now, (kind) => this.app.focus(i, kind), { id: "focus" })));
  }

  /** Ask about this node and any other. */
  asker(i) {
    if (!this.app.source.hasData) return [];
    const others = this.net.names.map((name, k) => [k, name]).filter(([k]) => k !== i);
    if (!others.length) return [];
    const other = choice(others, null, null, { "aria-label": "another variable" });
    const ask = button("Explain", () => this.app.choose({ pair: [i, Number(other.value)] }, true));
    return [element("h4", {}, "With another variable"), element("div", { class: "row" }, other, ask)];
  }

  // ---- two variables

  async joined(a, b) {
    const card = await this.app.source.card(a, b), { replay, compared } = this.app.store.state;
    const aside = replay || compared ? [element("p", { class: "note", id: "aside" }, this.app.source.aside())] : [];
    const [head, ...rest] = card.present ? this.arc(card) : this.pair(card);
    return [head, ...aside, ...rest];
  }

  arc(card) {
    const { a, b } = card, head = this.title(a, b, "→");
    if (card.unknown) return [head, ...this.noData(), ...this.tests(card.tests)];
    const without = card.remove === null
      ? element("p", {}, card.refused?.remove || "It cannot be left out.")
      : element("p", {}, "Without this arc the score ", change(card.remove), weighed(card, "remove"), ".");
    const turned = element("p", {}, "Turned round alone, ");
    if (card.cycle) turned.append(`it would close the cycle ${card.cycle.join(" → ")}.`);
    else if (card.reverse === null) turned.append(card.refused?.reverse || "it is not possible.");
    else turned.append("the score ", change(card.reverse), weighed(card, "reverse"), ".");
    const direction = element("p", {}, this.directionOf(card));
    return [
      head, without, turned, direction, ...this.actions(card), ...this.strength(card.strength), ...this.rival(card),
      ...this.knowledge(card.knowledge), ...this.tests(card.tests), ...this.counts(card.counts), ...this.numbers(card),
    ];
  }

  directionOf(card) {
    return DECIDED[card.decided] || "Its direction is open: another network that implies the same independences has the arc turned round.";
  }

  /** What can be done with an arc: turn it within its class, require it, forbid it. */
  actions(card) {
    const { a, b } = card, made = [];
    if (card.turn) made.push(button("Turn it round", () => this.app.act("turn", a, b), { title: "Another network of the same class, which implies the same independences (T, or a double click on the arc)" }));
    if (this.app.steers) {
      made.push(...this.steer(a, b));
    }
    return made.length ? [element("div", { class: "row" }, ...made)] : [];
  }

  /** What a person can say of an arc from a to b. */
  steer(a, b) {
    const about = `${this.net.names[a]} → ${this.net.names[b]}`;
    return [["require", "Require", "must be"], ["forbid", "Forbid", "must not be"], ["believe", "Believe", "is likely, or not"]].map(([name, words, told]) => button(words, () => this.app.act(name, a, b), { title: `${about} ${told}` }));
  }

  strength(strength) {
    if (!strength) return [];
    const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("span", { style: `width:${(100 * strength.adjacent).toFixed(1)}%` }));
    const words = `Joined in ${percent(strength.adjacent, 0)} of the bootstrap runs; this way round in ${percent(strength.direction, 0)} of those.`;
    return [element("h4", {}, "Strength"), element("p", { class: "strength" }, words), element("div", { class: "bars" }, bar)];
  }

  rival(card) {
    if (!card.rival) return [];
    const child = this.net.names[card.b], { parents, loss } = card.rival;
    const set = parents.length ? `{${parents.join(", ")}}` : "no parents at all";
    return [element("h4", {}, "The best rival"), element("p", {}, `Of the parent sets of ${child} one change away, the best is ${set}: with it the score `, change(-loss), ".")];
  }

  knowledge(sentences) {
    if (!sentences?.length) return [];
    return [element("h4", {}, "What is known of it"), ...sentences.map((words) => element("p", { class: "note" }, words))];
  }

  title(a, b, sign) {
    return element("h3", {}, this.link(this.net.names[a], { node: a }), ` ${sign} `, this.link(this.net.names[b], { node: b }));
  }

  noData() {
    return [element("p", { class: "note" }, "The result was read from a file, without its data, so what the arc is worth is not known here.")];
  }

  // ---- a pair without an arc

  pair(card) {
    const { a, b } = card, head = this.title(a, b, "and");
    if (card.unknown) return [head, ...this.noData(), ...this.tests(card.tests)];
    const none = element("p", {}, "No arc joins them.");
    if (card.left) {
      const ask = "This pair is among those left out of the page; result.explain(a, b) in Python gives it.";
      return [head, none, element("p", { class: "note" }, ask), ...this.tests(card.tests)];
    }
    const steer = this.app.steers ? [element("div", { class: "row" }, ...this.steer(a, b))] : [];
    return [head, none, ...card.ways.map((way) => this.added(way)), ...steer, ...this.knowledge(card.knowledge), ...this.tests(card.tests), ...this.counts(card.counts), ...this.numbers(card)];
  }

  /** What the search's own tests of independence said of a pair. */
  tests(made) {
    if (!made?.length) return [];
    return [element("h4", {}, "Tests of independence"), ...made.map((words) => element("p", { class: "note" }, words))];
  }

  added({ a, b, gain, cycle, allowed, refused }) {
    const line = element("p", {}, `With ${this.net.names[a]} → ${this.net.names[b]} added `);
    if (cycle) line.append(`there would be a cycle: ${cycle.join(" → ")}.`);
    else if (gain === null) line.append(refused ? `nothing can be scored: ${refused}` : "the network cannot be scored.");
    else line.append("the score ", change(gain), ".");
    if (!allowed) line.append(" What was known beforehand rules it out.");
    return line;
  }

  // ---- counts

  /** What the data show where a variable is a number: its moments by the other's state, or the correlation. */
  numbers({ groups, correlation }) {
    if (correlation !== null && correlation !== undefined) return [element("h4", {}, "In the data"), element("p", {}, `Correlation ${figure(correlation)}.`)];
    if (!groups?.length) return [];
    const rows = groups.map(([state, count, mean, deviation]) => element("tr", {}, element("th", { scope: "row" }, state), ...[figure(count, count % 1 ? 2 : 0), mean === null ? "–" : fourDigits(mean), deviation === null ? "–" : fourDigits(deviation)].map((words) => element("td", { class: "number" }, words))));
    return [
      element("h4", {}, "In the data"), element("p", { class: "note" }, "The rows with each state of the one, and the numbers of the other there."),
      element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, element("th", {}), ...["rows", "mean", "deviation"].map((words) => element("th", { scope: "col", class: "number" }, words)))), element("tbody", {}, ...rows))),
    ];
  }

  /** Counts of the second variable by the states of the first, with the share in the row as shade. */
  counts(counts) {
    if (!counts) return [];
    const { parent, child, rows, columns, table } = counts;
    if (!table) {
      const note = `The table, ${rows.length} by ${columns.length} states, is left out here: result.explain(...).counts in Python has it.`;
      return [element("h4", {}, "Counts"), element("p", { class: "note" }, note)];
    }
    const head = element("tr", {}, element("th", {}), ...columns.map((s) => element("th", { scope: "col" }, s)));
    const body = table.map((row, i) => {
      const sum = row.reduce((x, y) => x + y, 0);
      const cells = row.map((count) => {
        const share = sum ? count / sum : 0;
        return element(
          "td", { style: `background: rgba(var(--shade), ${(share * 0.55).toFixed(3)})` },
          figure(count, count % 1 ? 2 : 0), element("span", { class: "share" }, sum ? percent(share) : "–"),
        );
      });
      return element("tr", {}, element("th", { scope: "row" }, rows[i]), ...cells);
    });
    return [
      element("h4", {}, "Counts"),
      element("p", { class: "note" }, `Rows: ${parent}. Columns: ${child}, with its share in the row.`),
      element("div", { class: "scroll" }, element("table", { class: "counts" }, element("thead", {}, head), element("tbody", {}, ...body))),
    ];
  }
}
