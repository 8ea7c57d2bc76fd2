// Exact answers of a discrete network in the page: a tree of clusters, calibrated by messages there and back.
//
// A model is {states: [[..]], parents: [[..]], tables: [[..]]}: tables run over the parents in order, then the node's
// own states, the last fastest. Questions go by position; `likelihoods` weigh states, `actions` set nodes from outside.

export class Inference {
  constructor(model) {
    this.model = model;
    this.sizes = model.states.map((states) => states.length);
    this.clusters = clustersOf(this.sizes, model.parents);
    this.base = this.ask().marginals;
  }

  /** Marginals of every node, and the logarithm of the evidence's probability. */
  ask(likelihoods = new Map(), actions = new Map()) {
    const tables = this.clusters.map((cluster) => this.potential(cluster, likelihoods, actions));
    const up = [];
    let log = 0;
    this.clusters.forEach((cluster, k) => {
      const message = summed(tables[k], cluster.toParent, cluster.parentSize);
      const total = message.reduce((sum, v) => sum + v, 0);
      log += Math.log(total);
      for (let i = 0; i < message.length; i += 1) message[i] /= total || 1;
      up.push(message);
      if (cluster.parent !== null) times(tables[cluster.parent], message, cluster.inParent);
    });
    if (!Number.isFinite(log)) return { marginals: null, log: -Infinity };
    for (let k = this.clusters.length - 1; k >= 0; k -= 1) {
      const { parent, inParent, toParent, parentSize } = this.clusters[k];
      if (parent === null) continue;
      const down = summed(tables[parent], inParent, parentSize);
      for (let i = 0; i < down.length; i += 1) down[i] = up[k][i] ? down[i] / up[k][i] : 0;
      times(tables[k], down, toParent);
    }
    const marginals = [];
    this.clusters.forEach((cluster, k) => {
      const found = summed(tables[k], cluster.toOwn, this.sizes[cluster.node]);
      const total = found.reduce((sum, v) => sum + v, 0);
      marginals[cluster.node] = Array.from(found, (v) => v / total);
    });
    return { marginals, log };
  }

  potential(cluster, likelihoods, actions) {
    const table = new Float64Array(cluster.size).fill(1);
    for (const [node, map] of cluster.families) {
      if (!actions.has(node)) times(table, this.model.tables[node], map);
    }
    const own = likelihoods.get(cluster.node);
    if (own) times(table, own, cluster.toOwn);
    if (actions.has(cluster.node)) {
      const set = new Float64Array(this.sizes[cluster.node]);
      set[actions.get(cluster.node)] = 1;
      times(table, set, cluster.toOwn);
    }
    return table;
  }

  /** Log of the product of the findings' probabilities over that of all together; null without two findings. */
  conflict(likelihoods, actions) {
    if (likelihoods.size < 2) return null;
    const apart = this.ask(new Map(), actions).marginals, together = this.ask(likelihoods, actions).log;
    let sum = 0;
    for (const [node, weights] of likelihoods) {
      sum += Math.log(apart[node].reduce((total, p, i) => total + p * weights[i], 0));
    }
    return sum - together;
  }

  /** What each other node would tell about a target, in nats: [node, nats], the most first. */
  information(target, likelihoods, actions) {
    const now = this.ask(likelihoods, actions).marginals;
    if (!now) return [];
    const told = now.map(() => 0);
    now[target].forEach((p, state) => {
      if (p <= 0) return;
      const weights = (likelihoods.get(target) || now[target].map(() => 1)).map((v, i) => (i === state ? v : 0));
      const then = this.ask(new Map([...likelihoods, [target, weights]]), actions).marginals;
      then.forEach((own, node) => own.forEach((q, i) => { if (q > 0) told[node] += p * q * Math.log(q / now[node][i]); }));
    });
    const free = told.map((nats, node) => [node, Math.max(0, nats)]).filter(([node]) => {
      return node !== target && !actions.has(node) && !single(likelihoods.get(node));
    });
    return free.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  }
}

const single = (weights) => weights && weights.filter((v) => v > 0).length === 1;

/** table[i] *= factor[map[i]] */
function times(table, factor, map) {
  for (let i = 0; i < table.length; i += 1) table[i] *= factor[map[i]];
}

function summed(table, map, size) {
  const found = new Float64Array(size);
  for (let i = 0; i < table.length; i += 1) found[map[i]] += table[i];
  return found;
}

/** The clusters of an elimination order, each after those below it; the least next table first, of equals the lowest. */
function clustersOf(sizes, parents) {
  const near = sizes.map(() => new Set());
  parents.forEach((own, node) => {
    const family = [...own, node];
    for (const a of family) for (const b of family) if (a !== b) near[a].add(b);
  });
  const left = new Set(sizes.keys()), place = [], clusters = [];
  while (left.size) {
    let best = null, least = Infinity;
    for (const node of left) {
      let weight = sizes[node];
      for (const other of near[node]) weight *= sizes[other];
      if (weight < least) [best, least] = [node, weight];
    }
    const others = [...near[best]].sort((a, b) => a - b);
    for (const a of others) {
      near[a].delete(best);
      for (const b of others) if (a !== b) near[a].add(b);
    }
    left.delete(best);
    place[best] = clusters.length;
    clusters.push({ node: best, scope: [best, ...others], families: [], size: 0, parent: null, parentSize: 1, toParent: null, inParent: null, toOwn: null });
  }
  parents.forEach((own, node) => {
    const family = [...own, node], first = family.reduce((a, b) => (place[a] < place[b] ? a : b));
    const cluster = clusters[place[first]];
    cluster.families.push([node, mapOf(cluster.scope, family, sizes)]);
  });
  for (const cluster of clusters) {
    const others = cluster.scope.slice(1);
    cluster.size = product(cluster.scope, sizes);
    cluster.parent = others.length ? Math.min(...others.map((node) => place[node])) : null;
    cluster.parentSize = product(others, sizes);
    cluster.toParent = mapOf(cluster.scope, others, sizes);
    cluster.inParent = cluster.parent === null ? null : mapOf(clusters[cluster.parent].scope, others, sizes);
    cluster.toOwn = mapOf(cluster.scope, [cluster.node], sizes);
  }
  return clusters;
}

const product = (scope, sizes) => scope.reduce((total, node) => total * sizes[node], 1);

/** For every cell of a table over `scope`, the cell of one over `part` that agrees with it. */
function mapOf(scope, part, sizes) {
  const strides = new Map();
  let stride = 1;
  for (let k = part.length - 1; k >= 0; k -= 1) {
    strides.set(part[k], stride);
    stride *= sizes[part[k]];
  }
  const map = new Int32Array(product(scope, sizes)), state = scope.map(() => 0);
  let at = 0;
  for (let i = 0; i < map.length; i += 1) {
    map[i] = at;
    for (let k = scope.length - 1; k >= 0; k -= 1) {
      const step = strides.get(scope[k]) || 0;
      state[k] += 1;
      at += step;
      if (state[k] < sizes[scope[k]]) break;
      at -= step * sizes[scope[k]];
      state[k] = 0;
    }
  }
  return map;
}
