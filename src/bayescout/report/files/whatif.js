// What if: bars of all marginals. A click observes a state, Shift acts (do), Alt rules it out; once more takes it back.

import { button, check, choice, counted, drawn, element, figure, percent, segments } from "./core.js";
import { densityShapes, fourDigits, reachOf } from "./density.js";

const MOST_SHOWN = 60;
const MOST_IN_BOX = 7;
const HOW = { observed: "observed", done: "set (do)", ruled: "ruled out" };

/** A question about nothing yet; maps and sets are never changed in place. States go by position, numbers as they are.
 *  `base` is another question, whose answer this one is compared with; null is what was learned. */
export function noQuestion() {
  return { observe: new Map(), act: new Map(), rule: new Map(), target: null, base: null };
}

/** The question after a click on a state with the given intent: observe, act or rule. */
export function asked(question, node, state, intent) {
  const next = { ...question, observe: new Map(question.observe), act: new Map(question.act), rule: new Map(question.rule) };
  const had = kindOf(question, node, state);
  if (intent === "rule") {
    const states = new Set(next.rule.get(node) || []);
    if (states.has(state)) states.delete(state);
    else states.add(state);
    cleared(next, node);
    if (states.size) next.rule.set(node, states);
    return next;
  }
  cleared(next, node);
  if (intent === "act" && had !== "done") next.act.set(node, state);
  if (intent === "observe" && had !== "observed") next.observe.set(node, state);
  return next;
}

function cleared(question, node) {
  for (const part of [question.observe, question.act, question.rule]) part.delete(node);
}

function kindOf(question, node, state) {
  if (question.observe.get(node) === state) return "observed";
  if (question.act.get(node) === state) return "done";
  return question.rule.get(node)?.has(state) ? "ruled" : null;
}

/** The kind of evidence of each node that has some. */
export function evidenceOf(question) {
  const found = new Map();
  for (const node of question.rule.keys()) found.set(node, "ruled");
  for (const node of question.observe.keys()) found.set(node, "observed");
  for (const node of question.act.keys()) found.set(node, "done");
  return found;
}

export class WhatIf {
  constructor(holder, app) {
    this.holder = holder;
    this.app = app;
    this.filter = "";
    this.turn = 0;
    this.lift = false;
  }

  /** Ask the source, then draw; an older answer never overtakes a newer one. */
  async refresh() {
    const { source, store } = this.app, turn = ++this.turn, { question } = store.state;
    if (!source.asks || !this.app.net) {
      store.set({ answer: null });
      this.draw(null);
      return;
    }
    let answer;
    try {
      answer = await source.ask(question);
    } catch (error) {
      answer = { problem: error.message };
    }
    if (turn !== this.turn) return;
    store.set({ answer });
    this.draw(answer);
  }

  ask(node, state, event) {
    const intent = event.shiftKey ? "act" : event.altKey ? "rule" : "observe";
    this.app.question(asked(this.app.store.state.question, node, state, intent));
  }

  draw(answer) {
    const { source, net, store } = this.app, kept = this.holder.scrollTop, focus = this.focused();
    const head = element("h3", {}, "What if");
    if (!net || !source.asks) {
      this.holder.replaceChildren(head, element("p", { class: "note" }, source.whyNot || "The page by itself answers for networks of states, or of numbers, that are small enough. For this one use bayescout serve, or model.query in Python."));
      return;
    }
    const content = [head], { replay, compared } = store.state;
    if (replay || compared) content.push(element("p", { class: "note" }, source.aside()));
    if (source.asks === "base") content.push(element("p", { class: "note" }, "The probabilities as learned. This network is too large to ask in the page: bayescout serve, or model.query in Python, answers."));
    else content.push(...this.controls(answer));
    if (source.uniform) content.push(element("p", { class: "note" }, `${counted(source.uniform, "row")} of the tables that the data never showed ${source.uniform === 1 ? "counts" : "count"} as uniform.`));
    if (answer.problem) content.push(element("p", { class: "warning", role: "alert" }, answer.problem));
    else if (!answer.marginals) content.push(element("p", { class: "warning", role: "alert" }, "This cannot happen: the network gives these findings together the probability 0."));
    else content.push(...this.told(answer), this.bars(answer));
    this.holder.replaceChildren(...content);
    this.holder.scrollTop = kept;
    if (focus) this.holder.querySelector(focus)?.focus({ preventScroll: true });
  }

  /** The place of the focus, to find it again after drawing. */
  focused() {
    const now = this.holder.getRootNode().activeElement;
    if (!now || !this.holder.contains(now)) return null;
    const { variable, state } = now.dataset;
    return variable !== undefined ? `[data-variable="${variable}"][data-state="${state}"]` : now.id ? `#${now.id}` : null;
  }

  controls(answer) {
    const { store, net } = this.app, { question } = store.state;
    const evidence = [...evidenceOf(question)], targets = [["", "none"], ...net.names.map((name, i) => [i, name])];
    const chips = evidence.map(([node, kind]) => this.chip(node, kind, question));
    const { base } = question, based = base ? [...evidenceOf(base)].map(([node, kind]) => this.said(node, kind, base)).join(", ") : "";
    const set = (value) => this.app.question({ ...question, target: value === "" ? null : Number(value) });
    return [
      element("p", { class: "note hint" }, "Click a state, or a density, or press Enter: observed. With Shift: set from outside (do). With Alt: ruled out."),
      element("div", { class: "chips", "aria-label": "Evidence" }, ...chips, evidence.length ? button("Clear", () => this.app.question({ ...noQuestion(), base }), { id: "clear-evidence" }) : null,
        evidence.length && answer.marginals ? button("As base", () => this.app.question({ ...question, base: { ...question, target: null, base: null } }), { id: "as-base", title: "Compare what comes next with how things stand now" }) : null),
      base ? element("div", { class: "chips", id: "base" }, element("small", { class: "note" }, "Compared with"), button(`${based} ×`, () => this.app.question({ ...question, base: null }), { class: "chip", "aria-label": `compare with what was learned, not with ${based}` })) : null,
      element("div", { class: "row" }, element("label", {}, "Target ", choice(targets, question.target ?? "", set, { id: "target" })), this.says(answer)),
      (evidence.length || base) && answer.marginals?.some(Array.isArray) ? this.besides() : null,
    ].filter(Boolean);
  }

  /** What stands beside the shares: by how many points they changed, or how many times as large they are. */
  besides() {
    const made = element("div", { class: "segments beside", role: "radiogroup", "aria-label": "What stands beside each share" });
    segments(made, "beside", [["difference", "Difference", "By how many points a share changed"], ["lift", "Lift", "How many times as large a share is"]], (which) => {
      this.lift = which === "lift";
      this.draw(this.app.store.state.answer);
    });
    check(made, this.lift ? "lift" : "difference");
    return made;
  }

  /** A piece of evidence in words. */
  said(node, kind, question) {
    const { net, source } = this.app, states = source.states(node) || [], name = net.names[node];
    const said = (value) => states[value] ?? fourDigits(value);
    if (kind === "ruled") return `${name}: ${[...question.rule.get(node)].map((i) => `not ${states[i]}`).join(", ")}`;
    return kind === "done" ? `do ${name} = ${said(question.act.get(node))}` : `${name} = ${said(question.observe.get(node))}`;
  }

  chip(node, kind, question) {
    const words = this.said(node, kind, question);
    const gone = () => {
      const next = { ...question, observe: new Map(question.observe), act: new Map(question.act), rule: new Map(question.rule) };
      cleared(next, node);
      this.app.question(next);
    };
    return button(`${words} ×`, gone, { class: `chip ${kind}`, "aria-label": `take back ${words}` });
  }

  says(answer) {
    const { question } = this.app.store.state;
    if (!answer.marginals || !evidenceOf(question).size) return null;
    const parts = [];
    if (question.observe.size + question.rule.size) parts.push(`${answer.density ? "density of the findings" : "P(findings)"} ${probability(answer.probability)}`);
    if (answer.estimate) parts.push("an estimate");
    return element("span", { class: "note" }, parts.join(" · "));
  }

  /** Conflict, and what tells most of the target. */
  told(answer) {
    const made = [];
    if (answer.conflict !== null && answer.conflict !== undefined && evidenceOf(this.app.store.state.question).size > 1) {
      const apart = answer.conflict > 0.0005;
      made.push(element("p", { id: "conflict", class: apart ? "down" : "note" }, `Conflict of the findings ${figure(answer.conflict)} nats: ${apart ? "they may not belong together" : "they go together"}.`));
    }
    for (const words of answer.refused || []) made.push(element("p", { class: "note" }, words));
    const { target } = this.app.store.state.question;
    if (target !== null && answer.information?.length) {
      const [best] = answer.information, most = best[1] || 1, { names } = this.app.net;
      made.push(element("h4", {}, `What tells most of ${names[target]}`));
      if (best[1] > 1e-9) made.push(element("p", { id: "next-question" }, "Ask next: ", button(names[best[0]], () => this.app.choose({ node: best[0] }, true, true), { class: "link" }), ` (${figure(best[1], 4)} nats)`));
      made.push(element("div", { class: "bars", id: "information" }, ...answer.information.filter(([, nats]) => nats >= 0.00005).slice(0, 8).map(([node, nats]) => element(
        "div", {}, element("span", { class: "state" }, names[node]), bar(nats / most, null), element("span", { class: "share" }, figure(nats, 4)),
      ))));
    }
    return made;
  }

  bars(answer) {
    const { net, store } = this.app, { question, selected } = store.state;
    const evidence = evidenceOf(question), first = selected.node;
    const order = net.names.map((_, i) => i).sort((a, b) => Number(b === first) - Number(a === first) || Number(evidence.has(b)) - Number(evidence.has(a)) || moved(answer, b) - moved(answer, a) || a - b);
    const wanted = order.filter((i) => net.names[i].toLowerCase().includes(this.filter.toLowerCase()));
    const filter = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the variables", value: this.filter });
    const list = element("div", { class: "monitors" });
    const fill = (nodes) => {
      list.replaceChildren(...nodes.slice(0, MOST_SHOWN).map((i) => this.monitor(i, answer, evidence.get(i))));
      if (nodes.length > MOST_SHOWN) list.append(element("p", { class: "note" }, `and ${figure(nodes.length - MOST_SHOWN, 0)} more: filter to see them.`));
    };
    filter.addEventListener("input", () => {
      this.filter = filter.value;
      fill(order.filter((i) => net.names[i].toLowerCase().includes(this.filter.toLowerCase())));
    });
    fill(wanted);
    return element("div", {}, net.names.length > 12 ? filter : null, list);
  }

  monitor(i, answer, kind) {
    const { net, store, source } = this.app, { question } = store.state;
    const p = answer.marginals[i], base = answer.base[i], states = source.states(i);
    const title = element("h4", {}, button(net.names[i], () => this.app.choose({ node: i }, true, true), { class: "link" }), kind ? element("small", { class: kind }, ` ${HOW[kind]}`) : null);
    if (!p) return element("div", { class: "monitor" }, title, element("p", { class: "note" }, "no states"));
    if (!Array.isArray(p)) return this.number(i, p, base, title);
    const rows = p.map((share, s) => {
      const how = kindOf(question, i, s), difference = share - base[s];
      const lift = base[s] > 0 ? share / base[s] : null, before = question.base ? "before" : "as learned";
      const about = `${net.names[i]} = ${states[s]}: ${percent(share, 2)}, ${before} ${percent(base[s], 2)}${lift === null ? "" : `, lift ${figure(lift, 2)}`}`;
      return element(
        "button", { type: "button", class: `state-row${how ? ` ${how}` : ""}`, "data-variable": i, "data-state": s, "aria-pressed": String(Boolean(how)), "aria-label": about, title: about, onclick: (event) => this.ask(i, s, event) },
        element("span", { class: "state" }, states[s]), bar(share, base[s]), element("span", { class: "share" }, percent(share)),
        element("span", { class: `difference ${difference > 0 ? "up" : "down"}` }, this.beside(difference, lift)),
      );
    });
    return element("div", { class: "monitor", "data-monitor": i }, title, ...rows);
  }

  /** The difference of a share, or its lift, in a few letters; nothing where nothing changed. */
  beside(difference, lift) {
    if (Math.abs(difference) < 0.0005) return "";
    if (!this.lift) return `${difference > 0 ? "+" : "−"}${(100 * Math.abs(difference)).toFixed(1)}`;
    return lift === null ? "new" : `×${lift < 10 ? lift.toFixed(2) : lift < 1000 ? lift.toFixed(0) : "1000+"}`;
  }

  /** A variable that is a number: its density now and as learned, and a field for a value to observe or to set. */
  number(i, now, base, title) {
    const { question } = this.app.store.state, name = this.app.net.names[i], reach = reachOf(base, now);
    const given = question.observe.get(i) ?? question.act.get(i), field = element("input", {
      type: "number", step: "any", class: "value", "aria-label": `A value of ${name}`, "data-variable": i, "data-state": "value", value: given ?? "",
      placeholder: "a value", onkeydown: (event) => { if (event.key === "Enter") put(event.shiftKey ? "act" : "observe"); },
    });
    const put = (intent) => {
      const value = Number(field.value);
      if (field.value !== "" && Number.isFinite(value)) this.app.question(asked(question, i, value, intent));
      else field.focus();
    };
    const about = `${name}: mean ${fourDigits(now.mean)}, deviation ${fourDigits(now.sd)}; ${question.base ? "before" : "as learned"} ${fourDigits(base.mean)}, ${fourDigits(base.sd)}`;
    const same = Math.abs(now.mean - base.mean) < 1e-9 * (1 + base.sd) && Math.abs(now.sd - base.sd) < 1e-9 * (1 + base.sd);
    const picture = drawn("svg", { class: "density", viewBox: "0 0 300 52", preserveAspectRatio: "none", role: "img", "aria-label": about }, drawn("title", {}, about), ...densityShapes(base, now, 300, 52));
    picture.addEventListener("click", (event) => this.app.question(asked(question, i, valueAt(event, reach), event.shiftKey ? "act" : "observe")));
    const act = (words, intent, had, title2) => button(words, () => put(intent), { "data-variable": i, "data-state": intent, "aria-pressed": String(had.has(i)), title: title2 });
    return element(
      "div", { class: "monitor number", "data-monitor": i }, title, picture,
      element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, fourDigits(reach[0])), element("span", {}, fourDigits(reach[1]))),
      element("p", { class: "moments" }, `mean ${fourDigits(now.mean)} · deviation ${fourDigits(now.sd)}`, same ? null : element("small", {}, ` ${question.base ? "before" : "as learned"} ${fourDigits(base.mean)} · ${fourDigits(base.sd)}`)),
      element("div", { class: "row" }, field, act("Observe", "observe", question.observe, "Once more takes it back (Enter)"), act("Set (do)", "act", question.act, "Set it from outside (Shift+Enter)")),
    );
  }
}

/** The value of a place on a density, in as many digits as can be told apart there. */
function valueAt(event, [low, high]) {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  const digits = Math.max(0, 2 - Math.floor(Math.log10(high - low)));
  return Number((low + (high - low) * (event.clientX - left) / width).toFixed(Math.min(12, digits)));
}

/** A bar of a share, with a tick at what it was before. */
function bar(share, base) {
  return element(
    "span", { class: "bar", "aria-hidden": "true" }, element("span", { style: `width:${(100 * Math.min(1, share)).toFixed(2)}%` }),
    base === null ? null : element("i", { style: `left:${(100 * base).toFixed(2)}%` }),
  );
}

/** How far evidence moved a variable: the most that one of its shares changed. */
function moved(answer, i) {
  const p = answer.marginals[i], base = answer.base[i];
  if (!p) return 0;
  if (!Array.isArray(p)) return base.sd > 0 ? Math.round(1e6 * Math.min(1, Math.abs(p.mean - base.mean) / base.sd)) : 0;
  return Math.round(1e6 * Math.max(...p.map((share, s) => Math.abs(share - base[s]))));
}

function probability(value) {
  if (value === undefined || value === null) return "–";
  return value === 0 || value >= 0.0001 ? value.toFixed(4) : value.toExponential(2);
}

/** How many lines the bars of a variable take in its box. */
export function linesInBox(p) {
  if (!p) return 0;
  return Array.isArray(p) ? Math.min(p.length, MOST_IN_BOX) : 3;
}

/** The states that a box shows: all, or the most probable in their order with a line left for the others. */
function likeliest(p) {
  const all = p.map((_, s) => s);
  if (p.length <= MOST_IN_BOX) return all;
  return all.sort((a, b) => p[b] - p[a] || a - b).slice(0, MOST_IN_BOX - 1).sort((a, b) => a - b);
}

/** Small bars for the boxes of a drawing, one group a node. */
export function barsInBoxes(net, answer, states, ask) {
  return net.boxes.map(([, , width], i) => {
    const p = answer.marginals?.[i], made = drawn("g", { class: "inner" });
    if (!p) return null;
    if (!Array.isArray(p)) {
      const frame = drawn("svg", { x: 8, y: 22, width: width - 16, height: 28, viewBox: `0 0 ${width - 16} 28` }, ...densityShapes(answer.base[i], p, width - 16, 28));
      made.append(frame, drawn("text", { class: "inner-state", x: 11, y: 60 }, `${fourDigits(p.mean)} ± ${fourDigits(p.sd)}`));
      return made;
    }
    const shown = likeliest(p);
    shown.forEach((s, k) => {
      const share = p[s], y = 24 + k * 15, room = width - 16;
      const row = drawn("g", { class: "inner-row" }, drawn("title", {}, `${states(i)[s]}: ${percent(share)}`),
        drawn("rect", { class: "under", x: 8, y, width: room, height: 13, rx: 2 }),
        drawn("rect", { class: "over", x: 8, y, width: Math.max(0, room * share), height: 13, rx: 2 }),
        drawn("text", { class: "inner-state", x: 11, y: y + 7 }, clipped(states(i)[s], room - 40)),
        drawn("text", { class: "inner-share", x: width - 11, y: y + 7 }, percent(share, 0)));
      row.addEventListener("click", (event) => { event.stopPropagation(); ask(i, s, event); });
      made.append(row);
    });
    if (shown.length < p.length) made.append(drawn("text", { class: "inner-state", x: 11, y: 31 + shown.length * 15 }, `and ${p.length - shown.length} less likely`));
    return made;
  });
}

function clipped(words, room) {
  const most = Math.max(2, Math.floor(room / 6.5));
  return words.length > most ? `${words.slice(0, most - 1)}…` : words;
}
