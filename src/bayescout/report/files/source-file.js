// The page without a server: everything is in the data that came with it.

import { linesOf } from "./edges.js";
import { GaussianInference } from "./inference-gaussian.js";
import { Inference } from "./inference.js";
import { makeNet, pathBetween } from "./network.js";

export class FileSource {
  constructor(data) {
    this.data = data;
    this.kind = "file";
    this.graph = data.graph;
    const { names, labels, boxes, routes, dag } = data.graph;
    this.net = makeNet({ names, labels, boxes, routes, dag });
    this.arcWorth = new Map(data.arcs.map((arc) => [`${arc.p},${arc.c}`, arc]));
    this.pairWorth = new Map(data.pairs.map((pair) => [`${pair.a},${pair.b}`, pair]));
    this.hasData = data.hasData;
    this.inference = null; // made when something is asked
    this.uniform = data.model?.uniform || 0;
  }

  views() {
    const found = [["dag", "Network"], ["class", "Equivalence class"]];
    if (this.graph.truth) found.push(["truth", "Against the truth"]);
    return found;
  }

  lines(view) {
    return linesOf(this.graph, view);
  }

  // ---- an arc or a pair

  async card(a, b) {
    const { net, data } = this;
    if (!net.children[a].includes(b) && net.children[b].includes(a)) return this.card(b, a);
    const tests = data.tests[`${Math.min(a, b)},${Math.max(a, b)}`] || [];
    return net.children[a].includes(b) ? this.arc(a, b, tests) : this.pair(a, b, tests);
  }

  arc(a, b, tests) {
    const worth = this.arcWorth.get(`${a},${b}`), base = { present: true, a, b, tests };
    if (!worth) return { ...base, unknown: true };
    return {
      ...base, ...worth, cycle: worth.cycle.length ? worth.cycle.map((i) => this.net.names[i]) : null,
      refused: worth.barred ? { reverse: "it is not possible: a discrete variable has no continuous parents under this score." } : null,
      counts: this.counts(worth.counts, a, b), strength: null, rival: null, knowledge: [], turn: false,
    };
  }

  pair(a, b, tests) {
    const base = { present: false, a, b, tests };
    if (!this.hasData) return { ...base, unknown: true };
    const [low, high] = a < b ? [a, b] : [b, a];
    const worth = this.pairWorth.get(`${low},${high}`);
    if (!worth) return { ...base, left: true };
    const forth = a < b ? 0 : 1, gains = [worth.forth, worth.back];
    const way = (from, to, k) => {
      const path = pathBetween(this.net, to, from), cycle = path ? [...path, to].map((i) => this.net.names[i]) : null;
      return { a: from, b: to, gain: gains[k], cycle, allowed: worth.allowed[k] };
    };
    return { ...base, ways: [way(a, b, forth), way(b, a, 1 - forth)], counts: this.counts(worth.counts, low, high), knowledge: [] };
  }

  counts(table, a, b) {
    const [rows, columns] = [this.data.states[a], this.data.states[b]];
    if (!rows || !columns) return null;
    return { parent: this.net.names[a], child: this.net.names[b], rows, columns, table };
  }

  // ---- questions

  get asks() {
    const { model } = this.data;
    return model ? (model.tables || model.regressions ? "all" : "base") : null;
  }

  /** What is asked is of the network itself while the drawing shows something else. */
  aside() {
    return "The answers are of the learned network.";
  }

  /** Answers {marginals, log, conflict, information}; see `whatif.js` for the question. */
  async ask(question) {
    const { model } = this.data;
    if (model.regressions) return this.askNumbers(question);
    if (!model.tables) return { marginals: model.base, base: model.base, conflict: null, information: [] };
    this.inference ||= new Inference(model);
    const [likelihoods, actions] = this.given(question), { base, target } = question;
    const found = this.inference.ask(likelihoods, actions);
    return {
      ...found, base: base ? this.inference.ask(...this.given(base)).marginals : this.inference.base,
      probability: Math.exp(found.log),
      conflict: found.marginals ? this.inference.conflict(likelihoods, actions) : null,
      information: target === null || !found.marginals ? [] : this.inference.information(target, likelihoods, actions),
    };
  }

  /** The likelihoods of states, and what is set from outside. */
  given({ observe, act, rule }) {
    const { states } = this.data.model, likelihoods = new Map();
    for (const [node, state] of observe) likelihoods.set(node, states[node].map((_, i) => (i === state ? 1 : 0)));
    for (const [node, out] of rule) likelihoods.set(node, states[node].map((_, i) => (out.has(i) ? 0 : 1)));
    return [likelihoods, new Map(act)];
  }

  /** The same of a network of numbers. */
  askNumbers({ observe, act, target, base }) {
    this.inference ||= new GaussianInference(this.data.model);
    const found = this.inference.ask(observe, act);
    return {
      ...found, base: base ? this.inference.ask(base.observe, base.act).marginals : this.inference.base, density: observe.size > 0, probability: Math.exp(found.log),
      conflict: found.marginals ? this.inference.conflict(observe, act) : null,
      information: target === null || observe.has(target) || act.has(target) || !found.marginals ? [] : this.inference.information(target, observe, act),
    };
  }

  states(node) {
    return this.data.model?.states?.[node] || null;
  }
}
