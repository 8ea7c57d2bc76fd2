// The page with a server: what it asks for and what it is told.

import { shortened } from "./core.js";
import { boxSize, makeNet, rowsOf, squeezed, withBoxes } from "./network.js";

const AGAIN = 3000; // milliseconds

/** What the server refused, in its own words. */
export class Refusal extends Error {
  constructor(answer, status) {
    super(answer.error || `the server answered ${status}`);
    this.status = status;
    this.cycle = answer.cycle || null;
    this.lines = answer.lines || [];
  }
}

export class ServerSource {
  constructor() {
    this.kind = "server";
    this.steers = true;
    this.hasData = true;
    this.project = null;
    this.run = null;
    this.net = null;
    this.columns = null; // as they were read, by name
    this.kinds = new Map();
    this.places = {};
    this.squeeze = (/** @type {any} */ _) => 1;
    this.unkept = (/** @type {Error} */ _) => {}; // told when places cannot be kept
  }

  async call(method, path, body) {
    const options = /** @type {RequestInit & { headers: Record<string, string> }} */ ({ method, headers: {}, credentials: "same-origin" });
    if (body instanceof Blob) options.body = body;
    else if (body !== undefined) {
      options.body = JSON.stringify(body);
      options.headers["content-type"] = "application/json";
    }
    let answer;
    try {
      answer = await fetch(path, options);
    } catch {
      throw new Refusal({ error: "The server does not answer. If it was ended, start bayescout serve again: nothing is lost." }, 0);
    }
    const said = answer.headers.get("content-type")?.includes("json") ? await answer.json() : {};
    if (!answer.ok) throw new Refusal(said, answer.status);
    return said;
  }

  get(path) { return this.call("GET", path); }

  post(path, body = {}) { return this.call("POST", path, body); }

  /**
   * Hear of everything that happens, and of the line being lost ("away", or "refused" by a server that was started anew)
   * and found (null); a page that nobody sees lets go.
   */
  listen(tell, lost) {
    let later = 0;
    const open = () => {
      if (document.hidden || this.stream) return;
      const stream = this.stream = new EventSource("/api/events");
      stream.onmessage = (event) => { lost(null); tell(JSON.parse(event.data)); };
      stream.onerror = () => {
        if (stream.readyState !== EventSource.CLOSED) { lost("away"); return; } // the browser tries again by itself
        lost("refused");
        close();
        later = setTimeout(open, AGAIN); // once the new page is open, its cookie lets this one in too
      };
    };
    const close = () => { clearTimeout(later); this.stream?.close(); this.stream = null; };
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    addEventListener("pagehide", close);
    open();
  }

  views() {
    return [["dag", "Network"], ["class", "Class", "The equivalence class: lines that could point either way have no arrowhead"]];
  }

  // ---- a run

  /** Fetch a run and make its net; positions that a person chose are kept. */
  async open(id) {
    const detail = await this.get(`/api/runs/${id}`);
    if (this.run?.id !== id) return null; // another run was chosen meanwhile
    this.run = detail;
    this.net = this.netOf(detail);
    return detail;
  }

  /** The net of a graph in names, in the shape of the frame; variables without a place stand in rows. */
  netOf(detail) {
    const names = detail.nodes, index = new Map(names.map((name, i) => [name, i])), { positions } = detail;
    const placed = names.every((name) => positions?.[name]), rows = placed ? null : rowsOf(names);
    const boxes = rows || names.map((name) => [...positions[name], ...(detail.sizes?.[name] || boxSize(shortened(name)))]);
    const routes = placed ? (detail.routes || []).map(([a, b, points]) => [index.get(a), index.get(b), points]) : [];
    this.kinds = new Map(detail.arcs.map(([a, b, kind]) => [`${index.get(a)},${index.get(b)}`, kind]));
    const laid = makeNet({ names, boxes, routes, dag: detail.arcs.map(([a, b]) => [index.get(a), index.get(b)]) });
    const found = placed ? squeezed(laid, this.squeeze(laid)) : laid;
    const own = found.boxes.map((box, i) => (this.places[names[i]] ? [...this.places[names[i]], box[2], box[3]] : box));
    return withBoxes(found, own);
  }

  now() { return this.net; }

  lines(view, net) {
    if (!net) return [];
    return net.dag.map(([a, b]) => ({ a, b, kind: "same", open: view === "class" && this.kinds.get(`${a},${b}`) === "reversible" }));
  }

  /** Keep where a person put variables. */
  remember(net) {
    net.boxes.forEach(([x, y], i) => {
      const [ox, oy] = this.net.boxes[i] || [];
      if (x !== ox || y !== oy || net.names[i] in this.places) this.places[net.names[i]] = [x, y];
    });
    this.net = net;
    this.put(this.places);
  }

  forget() { return this.put({}); }

  /** Keep other places than those so far. */
  put(places) {
    this.places = places;
    return this.call("PUT", "/api/layout", { positions: places }).catch((error) => this.unkept(error));
  }

  // ---- an arc or a pair

  async card(a, b) {
    const { names } = this.net, there = await this.worth(names[a], names[b]);
    const at = (name) => this.net.index.get(name);
    const knowledge = there.knowledge || [];
    if (there.present) {
      const [parent, child] = Array.isArray(there.direction) ? there.direction.map(at) : [a, b];
      const { worth } = there;
      const strength = Array.isArray(there.strength) ? { adjacent: there.strength[0], direction: there.strength[1] } : there.strength;
      return {
        present: true, a: parent, b: child, tests: [], remove: worth.remove, reverse: worth.reverse, prior: there.prior,
        refused: { remove: worth.refused, reverse: worth.refused && `it is not possible: ${worth.refused}.` }, cycle: null,
        decided: there.decided, turn: there.turn,
        counts: countsOf(there.counts, names[parent], names[child]), groups: there.groups, correlation: there.correlation, strength, rival: there.rival, knowledge,
      };
    }
    const back = await this.worth(names[b], names[a]);
    const way = (from, to, { worth }) => ({ a: from, b: to, gain: worth.add ?? null, cycle: null, allowed: true, refused: worth.refused });
    return { present: false, a, b, tests: [], ways: [way(a, b, there), way(b, a, back)], counts: countsOf(there.counts, names[a], names[b]), groups: there.groups, correlation: there.correlation, knowledge };
  }

  worth(from, to) {
    return this.get(`/api/runs/${this.run.id}/arc?${new URLSearchParams({ from, to })}`);
  }

  // ---- questions

  get asks() {
    return this.run && this.run.state !== "running" && this.run.state !== "waiting" && this.net?.dag.length ? "all" : null;
  }

  get whyNot() {
    if (!this.run) return "Start a search: questions are asked of the network that it finds.";
    return this.asks ? "" : "Pause the search, or let it end, to ask its network.";
  }

  /** What cards and answers are of while the drawing shows something else. */
  aside() {
    return `This is of the network of ${this.run.name || `run ${this.run.id}`} as it stands at step ${this.run.step}, not of what is drawn.`;
  }

  states(node) {
    return this.columns?.get(this.net.names[node])?.states || null;
  }

  async ask(question) {
    const { names, index } = this.net, state = (node, s) => this.states(node)?.[s] ?? s;
    const named = (map) => Object.fromEntries([...map].map(([node, s]) => [names[node], state(node, s)]));
    const said = ({ observe, act, rule }) => ({
      evidence: named(observe), do: named(act), soft: {},
      not: Object.fromEntries([...rule].map(([node, set]) => [names[node], [...set].map((s) => state(node, s))])),
    });
    const { base, target } = question;
    const found = await this.post(`/api/runs/${this.run.id}/ask`, {
      ...said(question), target: target === null ? null : names[target], base: base && said(base),
    });
    const share = (key) => names.map((name) => {
      const one = found.marginals[name];
      if (one.p) return key === "base" ? one.base : one.p;
      return one[key === "base" ? "base" : "now"];
    });
    for (const [name, one] of Object.entries(found.marginals)) {
      const column = this.columns?.get(name);
      if (column && one.states) column.states = one.states;
    }
    return {
      marginals: share("p"), base: share("base"), probability: found.p_evidence, conflict: found.conflict, estimate: found.estimate, density: found.density,
      refused: [found.conflict_refused, found.information_refused, leftOut(found.left_out)].filter(Boolean),
      information: (found.information || []).map(([name, nats]) => [index.get(name), nats]),
    };
  }
}

function leftOut(names) {
  return names?.length ? `What a number tells of another is not worked out in a network of both kinds: ${names.join(", ")}.` : null;
}

function countsOf(counts, parent, child) {
  if (!counts) return null;
  return { parent, child, rows: counts.parents, columns: counts.states, table: counts.table };
}
