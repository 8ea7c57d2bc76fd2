// The page as a report: one file, its data within, tables below the drawing.

import { App, themeButton } from "./app.js";
import { check, element, segments } from "./core.js";
import { FileSource } from "./source-file.js";
import { Trace } from "./trace.js";

const found = (id) => document.getElementById(id);

/** @returns {HTMLElement[]} */
const all = (selector) => [...document.querySelectorAll(selector)];

/** What the page says of a variable elsewhere, under a heading of its own. */
function copied(id, title, head) {
  const source = found(id);
  if (!source) return [];
  const copy = /** @type {HTMLElement} */ (source.cloneNode(true)), own = copy.querySelector(head);
  const words = title || own.textContent;
  own.remove();
  return [element("h4", {}, words), ...copy.childNodes];
}

export function startReport() {
  const data = JSON.parse(found("report-data").textContent);
  const app = new App(found("workbench"), new FileSource(data));
  app.rail.append(found("summary"));
  app.describesNode = (i) => [...copied(`column-${i}`, "In the data", "h4"), ...copied(`parameters-${i}`, null, "summary")];
  app.picked = (what) => {
    for (const row of document.querySelectorAll("tr.seen")) row.classList.remove("seen");
    if (what.arc) found("arcs").querySelector(`[data-arc="${what.arc}"]`)?.closest("tr").classList.add("seen");
  };
  const there = () => found("network").scrollIntoView();
  for (const one of all("[data-arc]")) {
    one.addEventListener("click", () => {
      app.view("dag");
      app.choose({ arc: one.dataset.arc.split(",").map(Number) }, true);
      there();
    });
  }
  for (const one of all("[data-top]")) {
    one.addEventListener("click", () => {
      app.view(`top-${one.dataset.top}`);
      there();
    });
  }
  chart(data);
  found("theme").replaceWith(themeButton());
  document.addEventListener("theme", () => app.drawing.resized());
  printable();
  return app;
}

function chart(data) {
  if (!data.trace.step.length) return;
  const close = /** @type {HTMLInputElement} */ (found("trace-close"));
  const trace = new Trace(found("trace"), found("trace-value"), data.trace);
  segments(found("trace-axis"), "axis", [["step", "Steps"], ["seconds", "Seconds"]], (axis) => { trace.axis = axis; trace.draw(); });
  check(found("trace-axis"), "step");
  close.addEventListener("change", () => { trace.close = close.checked; trace.draw(); });
}

/** A folded table cannot be printed. */
function printable() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    for (const part of folded) part.setAttribute("open", "");
  });
  addEventListener("afterprint", () => { for (const part of folded) part.removeAttribute("open"); });
}

window.workbench = startReport();
