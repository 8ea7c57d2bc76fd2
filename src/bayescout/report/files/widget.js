// The page in a notebook: the same drawing, panel and questions in the space of a cell.

import { App, themeButton } from "./app.js";
import { element } from "./core.js";
import { FileSource } from "./source-file.js";

/** Show the result that the widget's model holds; the style stays within. */
export function showWidget({ model, el }) {
  const root = el.attachShadow({ mode: "open" }), bench = element("div", { class: "in-notebook" });
  const host = element("div", { class: "host" }, bench);
  root.append(element("style", {}, model.get("style")), host);
  const app = new App(bench, new FileSource(model.get("data")));
  const tiles = model.get("tiles").map(([name, value, about]) => element("div", {}, element("dt", {}, name), element("dd", {}, element("span", { class: "figure" }, value), element("span", { class: "about" }, about))));
  app.rail.append(themeButton(el), element("dl", { class: "tiles" }, ...tiles));
  const size = () => { bench.style.height = `${model.get("height")}px`; };
  size();
  model.on("change:height", size);
  el.workbench = app;
  return () => el.replaceChildren();
}
