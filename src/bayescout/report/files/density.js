// Densities of numbers: mixtures of normal distributions as [weight, mean, deviation], now and as learned.

import { drawn } from "./core.js";

const POINTS = 90;
const REACH = 3.5;
const TALLEST = 3;

/** The values to show: where the learned distribution has its weight, and where the new one has its middle.
 *  @returns {[number, number]} */
export function reachOf(base, now) {
  const ends = [...base.parts.filter(([weight]) => weight > 0.005).flatMap(([, mean, sd]) => [mean - REACH * sd, mean + REACH * sd]), now.mean];
  const low = Math.min(...ends), high = Math.max(...ends);
  return high > low ? [low, high] : [low - 1, high + 1];
}

/** The picture of a variable that is a number, in a frame of this size: what was learned, and what holds now. */
export function densityShapes(base, now, width, height) {
  const [low, high] = reachOf(base, now), x = (value) => width * (value - low) / (high - low);
  const grid = Array.from({ length: POINTS + 1 }, (_, k) => low + (high - low) * k / POINTS);
  const values = (one) => [...grid, ...one.parts.map(([, mean]) => mean)].filter((v) => v >= low && v <= high).sort((a, b) => a - b);
  const learned = values(base).map((v) => [v, densityAt(base, v)]), most = Math.max(...learned.map(([, d]) => d), 1e-300);
  if (!(now.sd > 0)) {
    return [outline(learned, "density-base", x, height, most), drawn("line", { class: "density-at", x1: x(now.mean), x2: x(now.mean), y1: 0, y2: height })];
  }
  const found = values(now).map((v) => [v, densityAt(now, v)]);
  const top = Math.max(most, Math.min(TALLEST * most, ...[Math.max(...found.map(([, d]) => d))]));
  return [outline(found, "density-now", x, height, top), outline(learned, "density-base", x, height, top)];
}

function densityAt({ parts }, value) {
  return parts.reduce((sum, [weight, mean, sd]) => sum + (sd > 0 ? weight * Math.exp(-(((value - mean) / sd) ** 2) / 2) / sd : 0), 0) / Math.sqrt(2 * Math.PI);
}

function outline(points, kind, x, height, top) {
  const y = (density) => height * (1 - 0.94 * Math.min(1.06, density / top));
  const path = points.map(([value, density]) => `${x(value).toFixed(2)} ${y(density).toFixed(2)}`);
  const [first, last] = [x(points[0][0]), x(points.at(-1)[0])].map((v) => v.toFixed(2));
  return drawn("path", { class: kind, d: `M${first} ${height}L${path.join("L")}L${last} ${height}` });
}

/** A number in as many digits as four, with a true minus sign. */
export function fourDigits(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value), written = size !== 0 && (size >= 1e7 || size < 1e-4) ? size.toExponential(3) : size.toLocaleString("en-US", { maximumSignificantDigits: 4 });
  return (value < 0 ? "−" : "") + written;
}
