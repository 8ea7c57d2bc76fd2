// Share: one file that works without the data, drawings, formats of other programs, and the lines that repeat the run.

import { button, choice, download, element } from "./core.js";
import { section } from "./part-begin.js";

const DRAWN = ["svg", "png", "pdf"];

export class SharePart {
  constructor(served) {
    this.served = served;
    this.source = served.source;
    const page = button("One HTML file", () => this.save("html"), { id: "share-html", class: "primary", title: "The whole page: it works offline, and does not hold the data" });
    const drawings = DRAWN.map((name) => button(name.toUpperCase(), () => this.save(name), { id: `share-${name}`, title: "The drawing as it is shown" }));
    const others = (this.source.project.formats || []).filter(({ name }) => !["html", ...DRAWN].includes(name));
    const format = choice([["", "as a network …"], ...others.map(({ name, summary }) => [name, `${name}: ${summary}`])], "", (name) => { if (name) this.save(name); format.value = ""; }, { id: "share-format", "aria-label": "A format of networks" });
    this.commands = element("div", { class: "commands" });
    const repeat = element("details", { class: "more", id: "commands", ontoggle: () => this.lines() }, element("summary", {}, "The lines that repeat the run"), this.commands);
    this.holder = section("share", "Share", false, element("div", { class: "row" }, page, ...drawings), format, repeat);
  }

  async save(format) {
    const { run } = this.source;
    if (!run) { this.served.say("There is no network yet to share."); return; }
    await this.served.attempt(async () => {
      const seen = DRAWN.includes(format) ? { method: "POST", body: JSON.stringify(this.served.app.picture()), headers: { "content-type": "application/json" } } : {};
      const answer = await fetch(`/api/runs/${run.id}/export?format=${encodeURIComponent(format)}`, { credentials: "same-origin", ...seen });
      if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || `the server answered ${answer.status}`);
      const named = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") || "");
      download(named?.[1] || `${run.name || "network"}.${format}`, await answer.blob());
    });
  }

  lines() {
    const { run } = this.source, commands = run?.commands || {};
    this.commands.replaceChildren(...[["In Python", commands.python], ["On the command line", commands.shell]].filter(([, words]) => words).map(([title, words]) => element(
      "div", {}, element("h4", {}, title), element("pre", {}, element("code", {}, words)),
      button("Copy", (event) => navigator.clipboard?.writeText(words).then(() => { event.target.textContent = "Copied"; }), {}),
    )));
    if (commands.notes?.length) this.commands.append(element("p", { class: "note" }, commands.notes.join(" ")));
    if (!this.commands.children.length) this.commands.append(element("p", { class: "note" }, "No run yet."));
  }
}
