// The lines of a view: {a, b, open (no direction), kind, width, title}.

export const KINDS = ["same", "extra", "reversed", "missing"];

const line = (a, b, open = false, kind = "same") => ({ a, b, open, kind });

/** The lines of a result's graphs as positions: its own, its class, against the truth, one of the best. */
export function linesOf(graph, view) {
  if (view === "class") return graph.class.map(([a, b, open]) => line(a, b, Boolean(open)));
  if (view === "truth") return graph.truth.map(([a, b, open, kind]) => line(a, b, Boolean(open), KINDS[kind]));
  if (!view.startsWith("top-")) return graph.dag.map(([a, b]) => line(a, b));
  const [extra, reversed, missing] = graph.top[Number(view.slice(4))];
  const changed = new Set([...missing, ...reversed.map(([a, b]) => [b, a])].map(String));
  return [
    ...graph.dag.filter((arc) => !changed.has(String(arc))).map(([a, b]) => line(a, b)),
    ...extra.map(([a, b]) => line(a, b, false, "extra")),
    ...reversed.map(([a, b]) => line(a, b, false, "reversed")),
    ...missing.map(([a, b]) => line(a, b, false, "missing")),
  ];
}

/** The lines of two or more graphs in one drawing: what all have, what only some have, what points both ways. */
export function linesCompared(compared, index) {
  return compared.arcs.map(([from, to, who]) => {
    const ways = Object.entries(who).filter(([, way]) => way), all = ways.length === compared.of;
    const turned = new Set(ways.map(([, way]) => way)).size > 1;
    const first = ways.find(([key]) => key === compared.first);
    const kind = turned ? "reversed" : all ? "same" : first ? "extra" : "missing";
    const way = (first || ways[0])[1];
    const [a, b] = way === "<-" ? [to, from] : [from, to];
    const title = ways.map(([key, one]) => `${compared.named(key)}: ${from} ${SIGNS[one]} ${to}`).join("\n");
    return { ...line(index.get(a), index.get(b), way === "--", kind), title };
  });
}

export const SIGNS = { "->": "→", "<-": "←", "--": "–" };

/** Strong enough for a threshold: what every graph has always is. */
export const isAbove = (share, threshold) => share > threshold || share === 1;

/** Lines as wide as their strength, faint below the threshold; or those of the averaged network. */
export function linesByStrength(lines, strengths, threshold, averaged, index) {
  const shares = new Map(strengths.arcs.map(([a, b, adjacent]) => [`${index.get(a)},${index.get(b)}`, adjacent]));
  const shown = averaged ? averaged.map(([a, b]) => line(index.get(a), index.get(b))) : lines;
  return shown.map((one) => {
    const share = shares.get(`${one.a},${one.b}`) || 0;
    return { ...one, share, width: 0.6 + 3 * share ** 1.5, faint: !isAbove(share, threshold) };
  });
}

/** Knowledge drawn: arcs that must be are thick and green, those that must not be are crossed out. */
export function linesOfKnowledge(knowledge, index) {
  const at = (pairs, kind) => (pairs || []).map(([a, b]) => ({ ...line(index.get(a), index.get(b), false, kind) }))
    .filter(({ a, b }) => a !== undefined && b !== undefined);
  return [...at(knowledge.forbidden, "forbidden"), ...at(knowledge.required, "required"), ...at(knowledge.beliefs, "belief")];
}
