// Exact answers of a network of linear regressions in the page: one joint normal distribution, conditioned on one
// finding after another.
//
// A model is {parents: [[..]], regressions: [[intercept, [coefficients], variance]]}. Questions go by position;
// `findings` and `actions` give numbers to nodes.

export class GaussianInference {
  constructor(model) {
    this.model = model;
    this.order = parentsFirst(model.parents);
    this.base = this.ask().marginals;
  }

  /** Means and covariances of all nodes, where some are set from outside: these vary with nothing. */
  joint(actions) {
    const { parents, regressions } = this.model, n = parents.length, before = [];
    const mean = new Float64Array(n), covariance = parents.map(() => new Float64Array(n));
    for (const node of this.order) {
      if (actions.has(node)) { mean[node] = actions.get(node); continue; }
      const [intercept, weights, variance] = regressions[node], own = parents[node];
      mean[node] = own.reduce((sum, parent, k) => sum + weights[k] * mean[parent], intercept);
      for (const other of before) {
        covariance[node][other] = own.reduce((sum, parent, k) => sum + weights[k] * covariance[parent][other], 0);
        covariance[other][node] = covariance[node][other];
      }
      covariance[node][node] = own.reduce((sum, parent, k) => sum + weights[k] * covariance[node][parent], variance);
      before.push(node);
    }
    return { mean, covariance };
  }

  /** The joint distribution given the findings, and the logarithm of their density. */
  given(findings, actions) {
    const { mean, covariance } = this.joint(actions);
    let log = 0;
    for (const [node, value] of findings) {
      const variance = covariance[node][node], off = value - mean[node];
      if (!(variance > 0)) return { mean, covariance, log: -Infinity };
      log -= (Math.log(2 * Math.PI * variance) + off * off / variance) / 2;
      const row = covariance[node].slice();
      covariance.forEach((own, i) => {
        const share = row[i] / variance;
        mean[i] += share * off;
        for (let j = 0; j < own.length; j += 1) own[j] -= share * row[j];
      });
      mean[node] = value;
      covariance[node].fill(0);
      for (const own of covariance) own[node] = 0;
    }
    return { mean, covariance, log };
  }

  /** The distribution of every node as {mean, sd, parts}, and the logarithm of the findings' density. */
  ask(findings = new Map(), actions = new Map()) {
    const { mean, covariance, log } = this.given(findings, actions);
    if (!Number.isFinite(log)) return { marginals: null, log };
    const marginals = covariance.map((own, i) => normal(mean[i], Math.sqrt(Math.max(0, own[i]))));
    return { marginals, log };
  }

  /** Log of the product of the findings' densities over that of all together; null without two findings. */
  conflict(findings, actions) {
    if (findings.size < 2) return null;
    const apart = [...findings].reduce((sum, one) => sum + this.given([one], actions).log, 0);
    return apart - this.given(findings, actions).log;
  }

  /** What each other node would tell about a target, in nats: [node, nats], the most first. */
  information(target, findings, actions) {
    const { covariance } = this.given(findings, actions), own = covariance[target];
    const told = covariance.map((row, node) => {
      const both = row[node] * own[target];
      return [node, both > 0 ? -Math.log(1 - Math.min(1 - 1e-15, own[node] * own[node] / both)) / 2 : 0];
    });
    const free = told.filter(([node]) => node !== target && !actions.has(node) && !findings.has(node));
    return free.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  }
}

function normal(mean, sd) {
  return { mean, sd, parts: [[1, mean, sd]] };
}

function parentsFirst(parents) {
  const order = [], placed = new Set();
  const place = (node) => {
    if (placed.has(node)) return;
    placed.add(node);
    parents[node].forEach(place);
    order.push(node);
  };
  parents.forEach((_, node) => place(node));
  return order;
}
