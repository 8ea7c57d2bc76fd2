// A network as the page holds it: positions of variables, their neighbours, and walks along arcs.

import { shortened } from "./core.js";

const FONT = '12px "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif';
let measure = null;

/** A net from names and boxes by position; routes are [from, to, points]. */
export function makeNet({ names, labels = null, boxes, routes = [], dag = [] }) {
  const net = { names, labels: labels || names.map((name) => shortened(name)), boxes, routes: new Map(), index: new Map() };
  names.forEach((name, i) => net.index.set(name, i));
  for (const [from, to, points] of routes) net.routes.set(`${from},${to}`, points);
  return withArcs(net, dag);
}

/** The same places with other arcs: [from, to] by position. */
export function withArcs(net, dag) {
  const parents = net.names.map(() => []), children = net.names.map(() => []);
  for (const [a, b] of dag) {
    children[a].push(b);
    parents[b].push(a);
  }
  return { ...net, dag, parents, children };
}

/** The same net with boxes elsewhere; the curves of boxes that moved are drawn anew. */
export function withBoxes(net, boxes, routes = null) {
  const kept = routes || new Map([...net.routes].filter(([key]) => {
    return key.split(",").every((i) => boxes[i][0] === net.boxes[i][0] && boxes[i][1] === net.boxes[i][1]);
  }));
  return { ...net, boxes, routes: kept };
}

/** The same net less high: boxes keep their size, what lies between them shrinks; curves still end at their boxes. */
export function squeezed(net, by) {
  if (by === 1) return net;
  const boxes = net.boxes.map(([x, y, w, h]) => [x, y * by, w, h]), routes = new Map();
  for (const [key, points] of net.routes) {
    const [from, to] = key.split(",").map(Number), down = net.boxes[to][1] >= net.boxes[from][1] ? 1 : -1;
    const p = points.map((v, i) => (i % 2 ? v * by : v)), n = p.length;
    const [start, end] = [down * net.boxes[from][3] * (1 - by) / 2, down * net.boxes[to][3] * (1 - by) / 2];
    for (const i of [1, 3]) p[i] += start;
    for (const i of [n - 1, n - 3]) p[i] -= end;
    routes.set(key, p);
  }
  return { ...net, boxes, routes };
}

const ROW = 15, GAP = 22, BESIDE = 12, SPREAD = 1.25;

/** The same net with boxes that have room for bars of their states: rows further apart, and within a row no further than needed. */
export function withRoom(net, lines) {
  const sizes = net.boxes.map(([, , w], i) => (lines(i) ? [Math.max(w, 132), 27 + ROW * lines(i)] : [w, 26]));
  const order = net.names.map((_, i) => i).sort((a, b) => net.boxes[a][1] - net.boxes[b][1] || net.boxes[a][0] - net.boxes[b][0]);
  const rows = [];
  for (const i of order) {
    const last = rows.at(-1);
    if (last && Math.abs(net.boxes[last[0]][1] - net.boxes[i][1]) < 14) last.push(i);
    else rows.push([i]);
  }
  const boxes = [];
  let y = 0;
  for (const row of rows) {
    row.sort((a, b) => net.boxes[a][0] - net.boxes[b][0] || a - b);
    const high = Math.max(...row.map((i) => sizes[i][1]));
    const middles = apart(row.map((i) => net.boxes[i][0] * SPREAD), row.map((i) => sizes[i][0] + BESIDE));
    row.forEach((i, k) => { boxes[i] = [middles[k], y + high / 2, ...sizes[i]]; });
    y += high + GAP;
  }
  return { ...net, boxes, routes: new Map() };
}

/** The places nearest to those wanted, which rise, at which things of these widths do not overlap. */
function apart(wanted, widths) {
  const before = [0];
  widths.slice(1).forEach((w, k) => before.push(before[k] + (w + widths[k]) / 2));
  const blocks = []; // least squares: neighbours that would overlap move as one
  wanted.forEach((x, k) => {
    blocks.push({ sum: x - before[k], count: 1 });
    while (blocks.length > 1 && blocks.at(-1).sum / blocks.at(-1).count < blocks.at(-2).sum / blocks.at(-2).count) {
      const { sum, count } = blocks.pop(), last = blocks.at(-1);
      last.sum += sum;
      last.count += count;
    }
  });
  return blocks.flatMap(({ sum, count }) => Array(count).fill(sum / count)).map((x, k) => x + before[k]);
}

const BETWEEN = 16, ROOM_FOR_ROW = 42, BELOW = [8, 44];

/** The same net with some variables moved together in rows that fill a room, parents above children; the others have no size. */
export function gathered(net, kept, { width, height }) {
  const own = (list) => list.filter((i) => kept.has(i)), depth = new Map();
  const under = (i) => {
    if (!depth.has(i)) depth.set(i, Math.max(0, ...own(net.parents[i]).map((p) => 1 + under(p))));
    return depth.get(i);
  };
  for (const i of kept) under(i);
  for (const i of kept) { // one without parents stands above its first child
    if (!own(net.parents[i]).length && own(net.children[i]).length) depth.set(i, Math.min(...own(net.children[i]).map((c) => depth.get(c))) - 1);
  }
  const layers = [];
  for (const layer of [...new Set(depth.values())].sort((a, b) => a - b)) {
    const nodes = [...kept].filter((i) => depth.get(i) === layer).sort((a, b) => net.boxes[a][0] - net.boxes[b][0] || a - b), rows = [];
    let x = Infinity;
    for (const i of nodes) {
      const [, , w] = net.boxes[i];
      if (x + w > width) { rows.push([]); x = 0; }
      rows.at(-1).push([i, x + w / 2]);
      x += w + BETWEEN;
    }
    layers.push(rows);
  }
  const free = (height - ROOM_FOR_ROW * layers.flat().length) / layers.length, below = Math.min(BELOW[1], Math.max(BELOW[0], free)), boxes = [];
  let y = 0;
  for (const rows of layers) {
    for (const row of rows) {
      const [last, right] = row.at(-1), whole = right + net.boxes[last][2] / 2;
      for (const [i, at] of row) boxes[i] = [at - whole / 2, y, net.boxes[i][2], net.boxes[i][3]];
      y += ROOM_FOR_ROW;
    }
    y += below;
  }
  return { ...net, boxes: net.boxes.map((_, i) => boxes[i] || [0, 0, 0, 0]), routes: new Map() };
}

/** A box's size for a label that has none from the layout. */
export function boxSize(label) {
  measure ||= document.createElement("canvas").getContext("2d");
  measure.font = FONT;
  return [Math.ceil(measure.measureText(label).width) + 22, 26];
}

/** Rows of boxes, for variables that no layout has placed yet. */
export function rowsOf(names) {
  const sizes = names.map((name) => boxSize(shortened(name))), wide = Math.max(300, Math.sqrt(1.5 * 74 * sizes.reduce((sum, [w]) => sum + w + 26, 0)));
  const boxes = [];
  let x = 0, y = 20;
  for (const [w, h] of sizes) {
    if (x && x + w > wide) { x = 0; y += 74; }
    boxes.push([x + w / 2, y, w, h]);
    x += w + 26;
  }
  return boxes;
}

/** A directed path between two nodes, both ends included, or null. */
export function pathBetween(net, from, to) {
  const before = new Map([[from, null]]);
  const waiting = [from];
  for (const node of waiting) {
    if (node === to) {
      const path = [];
      for (let at = to; at !== null; at = before.get(at)) path.unshift(at);
      return path;
    }
    for (const child of net.children[node]) {
      if (!before.has(child)) {
        before.set(child, node);
        waiting.push(child);
      }
    }
  }
  return null;
}

/** What a focus keeps: a node with its Markov blanket, ancestors, descendants or neighbours. */
export function around(net, node, kind) {
  if (kind === "ancestors") return closure(node, net.parents);
  if (kind === "descendants") return closure(node, net.children);
  const kept = new Set([node, ...net.parents[node], ...net.children[node]]);
  if (kind === "blanket") for (const child of net.children[node]) for (const other of net.parents[child]) kept.add(other);
  return kept;
}

function closure(node, next) {
  const kept = new Set([node]);
  for (const at of kept) for (const other of next[at]) kept.add(other);
  return kept;
}
