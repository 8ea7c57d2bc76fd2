// What is said of a view of the drawing: a sentence, and a legend.

import { drawn, element, figure } from "./core.js";

const LEGEND = {
  extra: { truth: "extra: only in the learned network", top: "only in this network", compared: "not in all: in the first" },
  reversed: { truth: "the other way round in the truth", top: "the other way round in the best", compared: "they point different ways" },
  missing: { truth: "missing: only in the truth", top: "only in the best network", compared: "not in the first" },
};
const BOTH = { truth: "in both", top: "in both", compared: "in all" };

export function noteOf(source, view) {
  if (view === "compared") return "Two or more networks in one drawing, every variable where it was.";
  if (view === "truth") return source.data.truthNote;
  if (view === "class") {
    const lines = source.lines("class", source.now?.() || source.net);
    const open = lines.filter((line) => line.open).length;
    return `Lines without an arrowhead could point either way: ${open} of ${lines.length}. The networks of a class imply the same independences, so that data alone cannot choose between them.`;
  }
  if (!view.startsWith("top-") && source.steers) return source.run || !source.net ? "" : "The variables, without arcs yet: start the search, and the network grows here.";
  if (!view.startsWith("top-")) return "Arrows lead from parents to children: the probabilities of a variable depend on its parents.";
  const rank = Number(view.slice(4)), { data } = source;
  return `Network ${rank + 1} of the best: ${data.scoreName} ${figure(data.top[rank])}, ${figure(data.score - data.top[rank])} below the best, whose details the panel shows.`;
}

function sample(kind) {
  const line = drawn("path", { class: "line", d: "M0 6H26" }), head = drawn("path", { class: "head", d: "M34 6L25 2L25 10Z" });
  return drawn("svg", { viewBox: "0 0 34 12", "aria-hidden": "true" }, drawn("g", { class: `arc ${kind}` }, line, head));
}

function sampleBox(kind) {
  const box = drawn("rect", { x: 2, y: 2, width: 28, height: 10, rx: 3 });
  return drawn("svg", { viewBox: "0 0 34 14", "aria-hidden": "true" }, drawn("g", { class: `node ${kind}` }, box));
}

/** Of two networks the legend can name the one that has an arc alone. */
function legendOfTwo({ named, first, arcs }) {
  const second = arcs.length ? Object.keys(arcs[0][2]).find((key) => key !== first) : null;
  return { same: "in both", extra: `only in ${named(first)}`, reversed: "the other way round", missing: second === null ? "" : `only in ${named(second)}` };
}

/** [kind, words] of every kind of line in a view where lines differ; none elsewhere. */
export function keysOf(view, compared = null) {
  if (compared?.of === 2) return Object.entries(legendOfTwo(compared)).filter(([, words]) => words);
  const against = view === "compared" || view === "truth" ? view : view.startsWith("top-") ? "top" : null;
  if (!against) return [];
  return [["same", BOTH[against]], ...Object.keys(LEGEND).map((kind) => [kind, LEGEND[kind][against]])];
}

export function legendOf(view, compared = null) {
  const keys = keysOf(view, compared);
  if (!keys.length) {
    return [
      "Pointing at a variable marks its",
      element("span", {}, sampleBox("parent"), "parents"), element("span", {}, sampleBox("child"), "children"),
    ];
  }
  return keys.map(([kind, words]) => element("span", {}, sample(kind), words));
}
