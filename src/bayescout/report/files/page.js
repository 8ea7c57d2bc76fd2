// Puts the parts together.

const LEGEND = {
  extra: { truth: "extra: only in the learned network", top: "only in this network" },
  reversed: { truth: "the other way round in the truth", top: "the other way round in the best" },
  missing: { truth: "missing: only in the truth", top: "only in the best network" },
};

const page = (id) => document.getElementById(id);

function choose(what, look = false) {
  drawing.select(what);
  panel.show(what);
  for (const row of document.querySelectorAll("tr.seen")) row.classList.remove("seen");
  if (what.arc) page("arcs").querySelector(`[data-arc="${what.arc}"]`)?.closest("tr").classList.add("seen");
  if (look) drawing.reveal(what.arc || what.pair || [what.node]);
}

const drawing = new Drawing(page("graph"), choose);
const panel = new Panel(page("panel"), choose);

/** Show another graph: "dag", "class", "truth" or "top-3". */
function view(name) {
  drawing.show(name);
  check(page("views"), name);
  page("view-note").textContent = noteOf(name);
  page("legend").replaceChildren(...legendOf(name));
}

function noteOf(name) {
  if (name === "truth") return data.truthNote;
  if (name === "class") {
    const open = graph.class.filter((edge) => edge[2]).length;
    return `Lines without an arrowhead could point either way: ${open} of ${graph.class.length}. The networks of a class imply the same independences, so that data alone cannot choose between them.`;
  }
  if (!name.startsWith("top-")) return "Arrows lead from parents to children: the probabilities of a variable depend on its parents.";
  const rank = Number(name.slice(4));
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

function legendOf(name) {
  const against = name === "truth" ? "truth" : name.startsWith("top-") ? "top" : null;
  if (!against) {
    return [
      "Pointing at a variable marks its",
      element("span", {}, sampleBox("parent"), "parents"), element("span", {}, sampleBox("child"), "children"),
    ];
  }
  const kinds = ["same", ...Object.keys(LEGEND)];
  return kinds.map((kind) => element("span", {}, sample(kind), kind === "same" ? "in both" : LEGEND[kind][against]));
}

const choices = [["dag", "Network"], ["class", "Equivalence class"]];
if (graph.truth) choices.push(["truth", "Against the truth"]);
segments(page("views"), "view", choices, view);
view("dag");

page("zoom-in").addEventListener("click", () => drawing.zoom(1.25));
page("zoom-out").addEventListener("click", () => drawing.zoom(0.8));
page("fit").addEventListener("click", () => drawing.fit());

for (const button of document.querySelectorAll("[data-arc]")) {
  button.addEventListener("click", () => {
    view("dag");
    choose({ arc: button.dataset.arc.split(",").map(Number) }, true);
    page("network").scrollIntoView();
  });
}
for (const button of document.querySelectorAll("[data-top]")) {
  button.addEventListener("click", () => {
    view(`top-${button.dataset.top}`);
    page("network").scrollIntoView();
  });
}

// ---- finding a variable

page("names").append(...graph.names.map((name) => element("option", { value: name })));
page("search").addEventListener("input", () => {
  const exact = graph.names.indexOf(page("search").value);
  if (exact >= 0) choose({ node: exact }, true);
});
page("search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const wanted = page("search").value.trim().toLowerCase();
  const names = graph.names.map((name) => name.toLowerCase());
  const found = [names.indexOf(wanted), names.findIndex((n) => n.startsWith(wanted)), names.findIndex((n) => n.includes(wanted))].find((i) => i >= 0);
  if (wanted && found !== undefined) choose({ node: found }, true);
  else page("view-note").textContent = wanted ? `No variable is named like “${wanted}”.` : "";
});

// ---- the chart

if (data.trace.step.length) {
  const trace = new Trace(page("trace"), page("trace-value"));
  segments(page("trace-axis"), "axis", [["step", "Steps"], ["seconds", "Seconds"]], (axis) => { trace.axis = axis; trace.draw(); });
  check(page("trace-axis"), "step");
  page("trace-close").addEventListener("change", (event) => { trace.close = event.target.checked; trace.draw(); });
}

// ---- light and dark

const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const theme = page("theme");
theme.hidden = false;
theme.textContent = dark() ? "Light" : "Dark";
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
  theme.textContent = dark() ? "Light" : "Dark";
});

// A folded table cannot be printed.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => { for (const part of folded) part.open = false; });
