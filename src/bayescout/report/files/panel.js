// The panel beside the drawing: a variable, an arc, or a pair that no arc joins.

const children = graph.names.map(() => []);
const parents = graph.names.map(() => []);
for (const [a, b] of graph.dag) {
  children[a].push(b);
  parents[b].push(a);
}
const arcWorth = new Map(data.arcs.map((arc) => [`${arc.p},${arc.c}`, arc]));
const pairWorth = new Map(data.pairs.map((pair) => [`${pair.a},${pair.b}`, pair]));

/** A directed path between two nodes of the learned network, both ends included, or null. */
function pathBetween(from, to) {
  const before = new Map([[from, null]]);
  const waiting = [from];
  for (const node of waiting) {
    if (node === to) {
      const path = [];
      for (let at = to; at !== null; at = before.get(at)) path.unshift(at);
      return path;
    }
    for (const child of children[node]) {
      if (!before.has(child)) {
        before.set(child, node);
        waiting.push(child);
      }
    }
  }
  return null;
}

const said = (path) => path.map((i) => graph.names[i]).join(" → ");

/** "falls by 12.345", coloured; a change too small to see is none. */
function change(value) {
  if (Math.abs(value) < 0.0005) return element("span", {}, "stays the same");
  const rises = value > 0;
  return element("span", { class: rises ? "up" : "down" }, `${rises ? "rises" : "falls"} by ${figure(Math.abs(value))}`);
}

/** The prior's part of a change of the score; nothing where the prior is uniform. */
function weighed(worth, name) {
  if (!worth.prior) return "";
  const value = worth.prior[name];
  return ` (by the prior alone ${value < 0 ? "-" : "+"}${figure(Math.abs(value))})`;
}

class Panel {
  constructor(holder, choose) {
    this.holder = holder;
    this.choose = choose;
    this.show({});
  }

  show(what) {
    let content;
    if (what.node !== undefined) content = this.node(what.node);
    else if (what.arc) content = this.arc(...what.arc);
    else if (what.pair) content = this.pair(...what.pair);
    else content = this.hint();
    this.holder.replaceChildren(...content);
    this.holder.scrollTop = 0;
  }

  hint() {
    const most = graph.names.map((_, i) => i).sort((a, b) => this.degree(b) - this.degree(a) || a - b).slice(0, 6);
    return [
      element("h3", {}, "Details"),
      element("p", {}, "Click a variable for its neighbours, its probabilities and its data. Click an arc for what it is worth."),
      element("h4", {}, "Variables with most arcs"),
      this.list(most, (i) => ({ node: i })),
    ];
  }

  degree(i) {
    return parents[i].length + children[i].length;
  }

  /** A button that shows something else. */
  link(words, what) {
    const made = element("button", { type: "button", class: "link" }, words);
    made.addEventListener("click", () => this.choose(what, true));
    return made;
  }

  list(nodes, what) {
    if (!nodes.length) return element("p", { class: "note" }, "none");
    return element("ul", {}, ...nodes.map((i) => element("li", {}, this.link(graph.names[i], what(i)))));
  }

  // ---- a variable

  node(i) {
    return [
      element("h3", {}, graph.names[i]),
      element("h4", {}, `Parents (${parents[i].length})`),
      this.list(parents[i], (p) => ({ arc: [p, i] })),
      element("h4", {}, `Children (${children[i].length})`),
      this.list(children[i], (c) => ({ arc: [i, c] })),
      ...this.copied(`column-${i}`, "In the data", "h4"),
      ...this.copied(`parameters-${i}`, null, "summary"),
      ...this.asker(i),
    ];
  }

  /** What the page says of the node elsewhere, under a heading of its own. */
  copied(id, title, head) {
    const source = document.getElementById(id);
    if (!source) return [];
    const copy = source.cloneNode(true);
    const own = copy.querySelector(head);
    const words = title || own.textContent;
    own.remove();
    return [element("h4", {}, words), ...copy.childNodes];
  }

  /** Ask about this node and any other. */
  asker(i) {
    if (!data.hasData) return [];
    const choice = element("select", { "aria-label": "another variable" });
    graph.names.forEach((name, k) => { if (k !== i) choice.append(element("option", { value: k }, name)); });
    const button = element("button", { type: "button" }, "Explain");
    button.addEventListener("click", () => this.choose({ pair: [i, Number(choice.value)] }, true));
    if (!choice.options.length) return [];
    return [element("h4", {}, "With another variable"), element("div", { class: "row" }, choice, button)];
  }

  // ---- an arc

  arc(a, b) {
    if (!children[a].includes(b)) return this.pair(a, b);
    const worth = arcWorth.get(`${a},${b}`);
    const head = this.title(a, b, "→");
    if (!worth) return [head, ...this.noData(), ...this.tests(a, b)];
    const without = element("p", {}, "Without this arc the score ", change(worth.remove), weighed(worth, "remove"), ".");
    const turned = element("p", {}, "Turned round, ");
    if (worth.reverse === null) turned.append(`it would close the cycle ${said(worth.cycle)}.`);
    else turned.append("the score ", change(worth.reverse), weighed(worth, "reverse"), ".");
    const direction = element("p", {}, this.directionOf(worth));
    return [head, without, turned, direction, ...this.tests(a, b), ...this.counts(worth.counts, a, b)];
  }

  directionOf(worth) {
    if (worth.required) return "The arc was required beforehand.";
    if (worth.compelled && worth.fixed) return "What was known beforehand, and the rest of the network, decide its direction.";
    if (worth.compelled) return "Its direction is decided: every network that implies the same independences has the arc this way round.";
    return "Its direction is open: another network that implies the same independences has the arc turned round.";
  }

  title(a, b, sign) {
    return element("h3", {}, this.link(graph.names[a], { node: a }), ` ${sign} `, this.link(graph.names[b], { node: b }));
  }

  noData() {
    return [element("p", { class: "note" }, "The result was read from a file, without its data, so what the arc is worth is not known here.")];
  }

  // ---- a pair without an arc

  pair(a, b) {
    if (children[a].includes(b)) return this.arc(a, b);
    if (children[b].includes(a)) return this.arc(b, a);
    const head = this.title(a, b, "and");
    if (!data.hasData) return [head, ...this.noData(), ...this.tests(a, b)];
    const [low, high] = a < b ? [a, b] : [b, a];
    const worth = pairWorth.get(`${low},${high}`);
    const none = element("p", {}, "No arc joins them.");
    if (!worth) {
      const ask = "This pair is among those left out of the page; result.explain(a, b) in Python gives it.";
      return [head, none, element("p", { class: "note" }, ask), ...this.tests(a, b)];
    }
    const forth = a < b ? 0 : 1, gains = [worth.forth, worth.back];
    return [
      head, none,
      this.added(a, b, gains[forth], worth.allowed[forth]),
      this.added(b, a, gains[1 - forth], worth.allowed[1 - forth]),
      ...this.tests(a, b), ...this.counts(worth.counts, low, high),
    ];
  }

  /** What the search's own tests of independence said of a pair. */
  tests(a, b) {
    const made = data.tests[`${Math.min(a, b)},${Math.max(a, b)}`];
    if (!made) return [];
    return [element("h4", {}, "Tests of independence"), ...made.map((words) => element("p", { class: "note" }, words))];
  }

  added(a, b, gain, allowed) {
    const line = element("p", {}, `With ${graph.names[a]} → ${graph.names[b]} added `);
    const path = pathBetween(b, a);
    if (path) line.append(`there would be a cycle: ${said([...path, b])}.`);
    else if (gain === null) line.append("the network cannot be scored.");
    else line.append("the score ", change(gain), ".");
    if (!allowed) line.append(" What was known beforehand rules it out.");
    return line;
  }

  // ---- counts

  /** Counts of the second variable by the states of the first, with the share in the row as shade. */
  counts(counts, a, b) {
    const [rows, columns] = [data.states[a], data.states[b]];
    if (!rows || !columns) return [];
    if (!counts) {
      const note = `The table, ${rows.length} by ${columns.length} states, is left out here: result.explain(...).counts in Python has it.`;
      return [element("h4", {}, "Counts"), element("p", { class: "note" }, note)];
    }
    const head = element("tr", {}, element("th", {}), ...columns.map((s) => element("th", { scope: "col" }, s)));
    const body = counts.map((row, i) => {
      const sum = row.reduce((x, y) => x + y, 0);
      const cells = row.map((count) => {
        const share = sum ? count / sum : 0;
        return element(
          "td", { style: `background: rgba(var(--shade), ${(share * 0.55).toFixed(3)})` },
          figure(count, count % 1 ? 2 : 0), element("span", { class: "share" }, sum ? `${(100 * share).toFixed(1)}%` : "–"),
        );
      });
      return element("tr", {}, element("th", { scope: "row" }, rows[i]), ...cells);
    });
    const table = element("table", { class: "counts" }, element("thead", {}, head), element("tbody", {}, ...body));
    return [
      element("h4", {}, "Counts"),
      element("p", { class: "note" }, `Rows: ${graph.names[a]}. Columns: ${graph.names[b]}, with its share in the row.`),
      element("div", { class: "scroll" }, table),
    ];
  }
}
