// Curves between boxes. A box is [x, y, width, height] about its middle; points are x0, y0, x1, y1, ...

const HEAD = 9;
const SWINGS = [0, 50, -50, 100, -100, 160, -160, 240, -240, 340, -340];
const MOST_CHECKED = 150;
const BEYOND = 12; // what a curve may reach beyond the boxes: the margin of a drawing that fits its frame
const OUTSIDE = 20; // to leave the frame is as bad as to run through so many boxes

/** The points of the curve from one box to another: the layout's, its reverse, or a bow between the two. */
export function curve(net, from, to) {
  const there = net.routes.get(`${from},${to}`);
  if (there) return there;
  const back = net.routes.get(`${to},${from}`);
  if (!back) return bow(net.boxes, from, to);
  const turned = [];
  for (let i = back.length - 2; i >= 0; i -= 2) turned.push(back[i], back[i + 1]);
  return turned;
}

/** Of curves that swing out more and more to either side, the first that runs through the fewest boxes and stays among them. */
function bow(boxes, from, to) {
  if (boxes.length > MOST_CHECKED) return swung(boxes[from], boxes[to], 0);
  let best = null, least = Infinity;
  for (const swing of SWINGS) {
    const points = swung(boxes[from], boxes[to], swing);
    const cost = boxesHit(boxes, points, from, to) + (leaves(boxes, points) ? OUTSIDE : 0);
    if (cost < least) [best, least] = [points, cost];
    if (!cost) break;
  }
  return best;
}

/** Does a curve lead out of what the boxes lie in, and so out of sight? */
function leaves(boxes, points) {
  const [left, top, right, bottom] = holding(boxes);
  for (let k = 1; k < 10; k += 1) {
    const [x, y] = pointAt(points, k / 10);
    if (x < left - BEYOND || x > right + BEYOND || y < top - BEYOND || y > bottom + BEYOND) return true;
  }
  return false;
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

/** The point of the first cubic of a curve at t. */
export function pointAt(points, t) {
  const u = 1 - t, w = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  return [0, 1].map((k) => w.reduce((sum, v, i) => sum + v * points[2 * i + k], 0));
}

function boxesHit(boxes, points, from, to) {
  const hit = new Set();
  for (let k = 1; k < 30; k += 1) {
    const [x, y] = pointAt(points, k / 30);
    boxes.forEach(([bx, by, bw, bh], i) => {
      if (i !== from && i !== to && Math.abs(x - bx) < bw / 2 + 4 && Math.abs(y - by) < bh / 2 + 4) hit.add(i);
    });
  }
  return hit.size;
}

/** How long the arrowhead of a line is: it is to be seen on a wide line too. */
export function headLength(width = 0) {
  return HEAD + 1.6 * Math.max(0, width - 2);
}

/** A path through the points that stops short of an arrowhead at its end. */
export function pathOf(points, short) {
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

export function headOf(points, width = 0) {
  const n = points.length, x = points[n - 2], y = points[n - 1], long = headLength(width);
  const [dx, dy] = direction(points);
  const bx = x - dx * long, by = y - dy * long, w = long * 0.42;
  return `M${x} ${y}L${bx - dy * w} ${by + dx * w}L${bx + dy * w} ${by - dx * w}Z`;
}

/** What holds all boxes and curves of a net: [left, top, right, bottom]. */
export function extent(net) {
  const found = holding(net.boxes);
  for (const points of net.routes.values()) {
    for (let i = 0; i < points.length; i += 2) grow(found, points[i], points[i + 1], points[i], points[i + 1]);
  }
  return net.boxes.length ? found : [0, 0, 100, 100];
}

function holding(boxes) {
  const found = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y, w, h] of boxes) grow(found, x - w / 2, y - h / 2, x + w / 2, y + h / 2);
  return found;
}

function grow(box, left, top, right, bottom) {
  if (left < box[0]) box[0] = left;
  if (top < box[1]) box[1] = top;
  if (right > box[2]) box[2] = right;
  if (bottom > box[3]) box[3] = bottom;
}
