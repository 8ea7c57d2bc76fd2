"""Draw docs/images/workbench-*.png: what the README and the docs show of the page with a server.

python scripts/page_pictures.py            # needs Chromium, as the tests of the page do
"""

from __future__ import annotations

import base64
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.report.browser import Browser  # noqa: E402
from tests.workbench.serving import Person, Serving  # noqa: E402

WIDTH, HEIGHT = 1440, 900
SETTLED = 0.6
"""Seconds that what glides into its place has."""

CHOOSE = """
const {index} = served.app.net, [kind, ...names] = arguments;
return served.app.choose({[kind]: names.map(name => index.get(name))}, true);
"""
ASK = """
const {net, store} = served.app, i = (name) => net.index.get(name);
const state = (name, words) => served.source.states(i(name)).indexOf(words), q = store.state.question;
const act = new Map([[i("INTUBATION"), state("INTUBATION", "ESOPHAGEAL")]]);
served.app.question({...q, target: i("LVFAILURE"), act,
  observe: new Map([[i("HRBP"), state("HRBP", "HIGH")], [i("BP"), state("BP", "LOW")]])});
"""


def searched(person: Person, search: str, score: str) -> None:
    person.search(search, score)
    person.ended()
    person.choose("#search-name", search)
    person.choose("#score-name", score)
    person.until("/ s[:;]/.test(document.querySelector('#estimate').textContent)")


def search(person: Person) -> None:
    person.search("tabu", "bdeu", pace="0.12")
    person.until("served.source.run.step >= 40")
    person.click("#play")
    person.until("served.source.run.state === 'paused'")


def knowledge(person: Person) -> None:
    searched(person, "tabu", "bdeu")
    person.run("document.querySelector('#part-search').open = false")
    text = "require VENTTUBE -> PRESS\nrequire HR -> CO\nforbid SAO2 -> PVSAT\nbelief TPR -> CATECHOL = 0.8\n"
    person.run("return served.parts.knowledge.put({text: arguments[0]})", text)
    person.unfold("knowledge")
    person.click("#prices")
    person.until("/costs|free/.test(document.querySelector('#knowledge-items').textContent)")
    pairs = "HR -> CO", "CO -> BP", "BP -> HR"
    person.run("return served.parts.knowledge.put({...served.parts.knowledge.fields(), "
               "required: arguments[0].map(pair => pair.split(' -> '))})", pairs)  # fmt: skip
    person.until("document.querySelector('#contradiction')")
    person.run("served.app.drawing.fit()")


def arc(person: Person) -> None:
    person.click("#take-back")
    person.run("return served.parts.knowledge.put({text: ''})")
    person.run("document.querySelector('#part-knowledge').open = false")
    person.unfold("strength")
    person.put("#bootstrap-runs", "30")
    person.click("#bootstrap")
    person.until("Boolean(served.app.store.state.strengths)")
    person.run(
        CHOOSE, "arc", "VENTTUBE", "VENTLUNG" if "VENTLUNG" in children(person, "VENTTUBE") else "PRESS"
    )
    person.until("/Counts/.test(document.querySelector('#panel').textContent)")


def children(person: Person, name: str) -> set[str]:
    return {child for parent, child in person.arcs() if parent == name}


def what_if(person: Person) -> None:
    person.click("#ink")
    person.run("document.querySelector('#part-strength').open = false")
    person.unfold("search")
    person.run("served.app.choose({}); served.app.store.set({tab: 'whatif'})")
    person.until("document.querySelectorAll('.monitor').length > 1")
    person.run(ASK)
    person.until("document.querySelector('#next-question')")


def compare(person: Person) -> None:
    person.browser.theme("dark")
    person.run(
        "served.app.question({...served.app.store.state.question, observe: new Map(), act: new Map()})"
    )
    person.run("served.app.store.set({tab: 'details'})")
    person.run("document.querySelector('#part-search').open = false")
    person.unfold("compare")
    person.choose("#truth", "alarm")
    person.until("Boolean(served.app.store.state.compared)")


def munin(person: Person) -> None:
    person.browser.theme("light")
    searched(person, "hill-climb", "bic")
    person.run(
        CHOOSE.replace("names.map(name => index.get(name))", "index.get(names[0])"),
        "node",
        "DIFFN_M_SEV_DIST",
    )
    person.choose("#focus", "blanket")


def main() -> None:
    alarm: list[Callable[[Person], None]] = [search, knowledge, arc, what_if, compare]
    with Browser() as browser:
        for name, rows, views in (("alarm", "5000", alarm), ("munin", "1000", [munin])):
            with tempfile.TemporaryDirectory() as folder:
                own = Path(folder) / name
                own.mkdir()
                with Serving(own, "--example", name, "--rows", rows, project=f"{name}.bayescout") as serving:
                    person = Person(browser, serving, WIDTH, HEIGHT)
                    for view in views:
                        view(person)
                        time.sleep(SETTLED)
                        save(browser, view.__name__.replace("_", "-"))


def save(browser: Browser, name: str) -> None:
    taken = browser.devtools("Page.captureScreenshot", format="png")["data"]
    path = ROOT / "docs" / "images" / f"workbench-{name}.png"
    path.write_bytes(base64.b64decode(taken))
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
