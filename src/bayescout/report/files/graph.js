// The drawing: boxes and curves from the layout, one set of arcs a view, and moving about in it.

const KINDS = ["same", "extra", "reversed", "missing"];
const HEAD = 9;

/** Curves of the layout by pair, so that an arc is drawn the same way in every view. */
const routes = new Map();
for (const [from, to, points] of graph.routes) routes.set(`${from},${to}`, points);

/** The points of the curve from one box to another: the layout's, its reverse, or a bow between the two. */
function curve(from, to) {
  const there = routes.get(`${from},${to}`);
  if (there) return there;
  const back = routes.get(`${to},${from}`);
  if (!back) return bow(from, to);
  const turned = [];
  for (let i = back.length - 2; i >= 0; i -= 2) turned.push(back[i], back[i + 1]);
  return turned;
}

/** Of curves that swing out more and more to either side, the first that runs through the fewest boxes. */
function bow(from, to) {
  let best = null, fewest = Infinity;
  for (const swing of [0, 50, -50, 100, -100, 160, -160, 240, -240, 340, -340]) {
    const points = swung(graph.boxes[from], graph.boxes[to], swing);
    const hit = boxesHit(points, from, to);
    if (hit < fewest) [best, fewest] = [points, hit];
  }
  return best;
}

function swung([ax, ay, , ah], [bx, by, , bh], swing) {
  if (Math.abs(ay - by) > (ah + bh) / 2) {
    const down = by > ay ? 1 : -1;
    const y1 = ay + down * ah / 2, y2 = by - down * bh / 2, half = (y2 - y1) / 2;
    return [ax, y1, ax + swing, y1 + half, bx + swing, y2 - half, bx, y2];
  }
  // Side by side: over the top or below, so that it does not run through what stands between.
  const side = swing < 0 ? 1 : -1, far = side * (30 + Math.abs(swing) / 2);
  return [ax, ay + side * ah / 2, ax, ay + far, bx, by + far, bx, by + side * bh / 2];
}

function boxesHit(points, from, to) {
  const hit = new Set();
  for (let k = 1; k < 30; k += 1) {
    const t = k / 30, u = 1 - t, w = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
    const x = w.reduce((sum, v, i) => sum + v * points[2 * i], 0);
    const y = w.reduce((sum, v, i) => sum + v * points[2 * i + 1], 0);
    graph.boxes.forEach(([bx, by, bw, bh], i) => {
      if (i !== from && i !== to && Math.abs(x - bx) < bw / 2 + 4 && Math.abs(y - by) < bh / 2 + 4) hit.add(i);
    });
  }
  return hit.size;
}

/** A path through the points that stops short of an arrowhead at its end. */
function pathOf(points, short) {
  const p = points.slice(), n = p.length;
  const [dx, dy] = direction(p);
  p[n - 2] -= dx * short;
  p[n - 1] -= dy * short;
  let path = `M${p[0]} ${p[1]}`;
  for (let i = 2; i < n; i += 6) path += `C${p.slice(i, i + 6).join(" ")}`;
  return path;
}

/** The direction in which a curve arrives; of length one. */
function direction(points) {
  const n = points.length;
  let dx = points[n - 2] - points[n - 4], dy = points[n - 1] - points[n - 3];
  if (!dx && !dy) { dx = points[n - 2] - points[0]; dy = points[n - 1] - points[1]; }
  const length = Math.hypot(dx, dy) || 1;
  return [dx / length, dy / length];
}

function headOf(points) {
  const n = points.length, x = points[n - 2], y = points[n - 1];
  const [dx, dy] = direction(points);
  const bx = x - dx * HEAD, by = y - dy * HEAD, w = HEAD * 0.42;
  return `M${x} ${y}L${bx - dy * w} ${by + dx * w}L${bx + dy * w} ${by - dx * w}Z`;
}

/** The edges of a view: [parent, child, undirected, kind]. */
function edgesOf(view) {
  if (view === "class") return graph.class.map(([a, b, undirected]) => [a, b, undirected, 0]);
  if (view === "truth") return graph.truth;
  if (!view.startsWith("top-")) return graph.dag.map(([a, b]) => [a, b, 0, 0]);
  const [extra, reversed, missing] = graph.top[Number(view.slice(4))];
  const changed = new Set([...missing, ...reversed.map(([a, b]) => [b, a])].map(String));
  return [
    ...graph.dag.filter((arc) => !changed.has(String(arc))).map(([a, b]) => [a, b, 0, 0]),
    ...extra.map(([a, b]) => [a, b, 0, 1]),
    ...reversed.map(([a, b]) => [a, b, 0, 2]),
    ...missing.map(([a, b]) => [a, b, 0, 3]),
  ];
}

class Drawing {
  /** `chosen(what)` is called with {node}, {arc: [a, b]} or {pair: [a, b]} when something is clicked. */
  constructor(holder, chosen) {
    this.holder = holder;
    this.tell = chosen;
    this.view = "dag";
    this.place = { x: 0, y: 0, scale: 1 };
    this.selected = {};
    this.arcs = drawn("g");
    this.boxes = drawn("g");
    this.world = drawn("g", {}, this.arcs, this.boxes);
    this.svg = drawn("svg", {}, this.world);
    holder.append(this.svg);
    this.nodes = graph.boxes.map((box, i) => this.box(box, i));
    this.listen();
    this.show("dag");
    this.fit();
  }

  box([x, y, width, height], i) {
    const made = drawn(
      "g", { class: "node", "data-node": i },
      drawn("title", {}, graph.names[i]),
      drawn("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 6 }),
      drawn("text", { x, y }, graph.labels[i]),
    );
    made.addEventListener("pointerenter", () => this.highlight(i));
    made.addEventListener("pointerleave", () => this.highlight(null));
    this.boxes.append(made);
    return made;
  }

  /** Draw the arcs of a view. */
  show(view) {
    this.view = view;
    this.edges = edgesOf(view);
    this.arcs.replaceChildren(...this.edges.map((edge) => this.arc(edge)));
    this.mark();
  }

  arc([a, b, undirected, kind]) {
    const points = curve(a, b);
    const sign = undirected ? "–" : "→";
    const parts = [
      drawn("title", {}, `${graph.names[a]} ${sign} ${graph.names[b]}${kind ? ` (${KINDS[kind]})` : ""}`),
      drawn("path", { class: "reach", d: pathOf(points, 0) }),
      drawn("path", { class: "line", d: pathOf(points, undirected ? 0 : HEAD - 1) }),
    ];
    if (!undirected) parts.push(drawn("path", { class: "head", d: headOf(points) }));
    return drawn("g", { class: `arc ${KINDS[kind]}`, "data-parent": a, "data-child": b }, ...parts);
  }

  // ---- what is picked out

  /** Dim all but a node with its parents and children; null ends it. */
  highlight(node) {
    this.world.classList.toggle("dim", node !== null);
    for (const box of this.nodes) box.classList.remove("near", "parent", "child");
    for (const arc of this.arcs.children) arc.classList.remove("near");
    if (node === null) return;
    this.nodes[node].classList.add("near");
    this.edges.forEach(([a, b, undirected], i) => {
      if (a !== node && b !== node) return;
      this.arcs.children[i].classList.add("near");
      const other = this.nodes[a === node ? b : a];
      other.classList.add("near");
      if (!undirected) other.classList.add(a === node ? "child" : "parent");
    });
  }

  select(what) {
    this.selected = what;
    this.mark();
  }

  mark() {
    const { node, arc, pair } = this.selected;
    const ends = arc || pair || [node];
    this.nodes.forEach((box, i) => box.classList.toggle("chosen", ends.includes(i)));
    this.edges.forEach(([a, b], i) => {
      const hit = arc && arc.includes(a) && arc.includes(b);
      this.arcs.children[i].classList.toggle("chosen", Boolean(hit));
    });
  }

  // ---- moving about

  put(x, y, scale) {
    this.place = { x, y, scale };
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  }

  fit() {
    const { width, height } = this.holder.getBoundingClientRect();
    const [w, h] = graph.size;
    const scale = Math.min(1.6, (width - 4) / w, (height - 4) / h);
    this.put((width - w * scale) / 2, (height - h * scale) / 2, scale);
  }

  /** Zoom about a point of the holder; its middle unless given. */
  zoom(factor, at) {
    const { width, height } = this.holder.getBoundingClientRect();
    const [px, py] = at || [width / 2, height / 2];
    const { x, y, scale } = this.place;
    const next = Math.min(6, Math.max(0.04, scale * factor));
    this.put(px - (px - x) * next / scale, py - (py - y) * next / scale, next);
  }

  move(dx, dy) {
    this.put(this.place.x + dx, this.place.y + dy, this.place.scale);
  }

  /** Bring nodes to the middle, large enough to read, unless they can be read where they are. */
  reveal(nodes) {
    const { width, height } = this.holder.getBoundingClientRect();
    const boxes = nodes.map((i) => graph.boxes[i]), now = this.place;
    const left = Math.min(...boxes.map(([x, , w]) => x - w / 2)), right = Math.max(...boxes.map(([x, , w]) => x + w / 2));
    const top = Math.min(...boxes.map(([, y, , h]) => y - h / 2)), bottom = Math.max(...boxes.map(([, y, , h]) => y + h / 2));
    const seen = now.x + left * now.scale >= 0 && now.x + right * now.scale <= width
      && now.y + top * now.scale >= 0 && now.y + bottom * now.scale <= height;
    if (seen && now.scale > 0.65) return;
    const room = Math.min(width / (right - left + 60), height / (bottom - top + 60));
    const scale = Math.min(room, Math.max(0.8, now.scale));
    this.put(width / 2 - (left + right) / 2 * scale, height / 2 - (top + bottom) / 2 * scale, scale);
  }

  listen() {
    const holder = this.holder;
    let scrolled = -1000;
    addEventListener("scroll", () => { scrolled = performance.now(); }, { passive: true });
    holder.addEventListener("wheel", (event) => {
      // A page that is being scrolled past the drawing goes on scrolling.
      if (performance.now() - scrolled < 250 && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), this.at(event));
    }, { passive: false });
    holder.addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.fit());
    addEventListener("beforeprint", () => this.fit());
    addEventListener("afterprint", () => this.fit());
    this.pointers();
  }

  at(event) {
    const { left, top } = this.holder.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  key(event) {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (moves[event.key]) this.move(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  /** One pointer drags, two pinch; one that hardly moved is a click. */
  pointers() {
    const down = new Map();
    let travelled = 0;
    const spread = () => {
      const [a, b] = [...down.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    };
    this.holder.addEventListener("pointerdown", (event) => {
      if (!down.size) travelled = 0;
      down.set(event.pointerId, this.at(event));
    });
    addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (!before) return;
      const now = this.at(event), was = down.size === 2 ? spread() : 0;
      down.set(event.pointerId, now);
      travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (down.size === 2) this.zoom(spread() / Math.max(1, was), now);
      else if (travelled > 4) this.move(now[0] - before[0], now[1] - before[1]);
      this.holder.classList.toggle("dragging", travelled > 4);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      addEventListener(end, (event) => {
        down.delete(event.pointerId);
        this.holder.classList.remove("dragging");
      });
    }
    this.holder.addEventListener("click", (event) => {
      if (travelled <= 4) this.clicked(event);
    });
  }

  clicked(event) {
    const box = event.target.closest("[data-node]");
    const arc = event.target.closest("[data-parent]");
    if (box) {
      const node = Number(box.dataset.node), first = this.selected.node;
      const pair = event.shiftKey && first !== undefined && first !== node;
      this.tell(pair ? { pair: [first, node] } : { node });
    } else if (arc) {
      this.tell({ arc: [Number(arc.dataset.parent), Number(arc.dataset.child)] });
    } else {
      this.tell({});
    }
  }
}
