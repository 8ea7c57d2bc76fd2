"""Reading pages back, and results to write them from."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import bayescout as bs
from bayescout.statistics.dependencies import CachedTest, DependencyRecord

VOID = {"meta", "link", "input", "br", "img", "hr"}
NASTY = (
    "<script>window.hacked=1</script>",
    "</script><b>bold</b>",
    "<img src=x onerror=window.hacked=1>",
    '" onmouseover="window.hacked=1',
    "a & b -> c",
    "{{title}} ${graph} `x`",
    "line\nend\ttab\0nul",
    "<!--",
    "\ud800half",
)


class Page(HTMLParser):
    """The tags of a page in order, the words of each element by id, and its embedded data."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.open: list[str] = []
        self.ids: dict[str, list[str]] = {}
        self._inside: list[tuple[int, str]] = []
        self.words: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.attributes.append(dict(attrs))
        if tag in VOID:
            return
        self.open.append(tag)
        if dict(attrs).get("id"):
            self._inside.append((len(self.open), dict(attrs)["id"]))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a beginning"
        assert self.open[-1] == tag, f"</{tag}> inside <{self.open[-1]}>"
        if self._inside and self._inside[-1][0] == len(self.open):
            self._inside.pop()
        self.open.pop()
        self.tags.append(("/" + tag, ()))

    def handle_data(self, data):
        self.words.append(data)
        for _, name in self._inside:
            self.ids.setdefault(name, []).append(data)

    def text(self, name) -> str:
        return "".join(self.ids[name])

    @property
    def data(self):
        return json.loads(self.text("report-data"))


def read(path) -> Page:
    page = Page(path.read_text(encoding="utf-8"))
    assert not page.open
    return page


def asia(rows=800, **options):
    """A run with setbacks, and a list of networks that differ in every way."""
    usual = {"search": bs.search.Tabu(restarts=2, perturb=4), "top": 10}
    if "score" not in options:
        usual |= {"score": bs.scores.BDeu(ess=3.0), "structure_prior": "sparse"}
    return bs.learn(bs.load_network("asia").sample(rows, seed=4), **(usual | options))


def with_tests(result):
    """The same result as if tests had been made."""
    entries = (
        CachedTest("dysp", "asia", (), 0.001, "dependent", covered=False),
        CachedTest("asia", "dysp", ("tub", "lung"), 0.25, "independent"),
        CachedTest("tub", "lung", (), 0.02, "dependent", covered=True),
    )
    return replace(result, dependencies=DependencyRecord(3, 2, 0, 1, entries))


def nasty():
    """A result in which every label and state is out to break the page."""
    source = bs.random_network(nodes=len(NASTY), arcs=10, states=3, seed=2).sample(300, seed=1)
    columns = {
        NASTY[i]: [f"{NASTY[(i + 1) % len(NASTY)]}{value}" for value in source.column(name)]
        for i, name in enumerate(source.names)
    }
    table = bs.as_table(columns)
    known = bs.Knowledge(forbidden=[(NASTY[0], NASTY[1])], tiers=[NASTY[:4], NASTY[4:]])
    return bs.learn(table, knowledge=known, top=3, search="hill-climb", score="bic")


def plain_twin():
    """The same with labels that break nothing."""
    names = [f"v{i}" for i in range(len(NASTY))]
    source = bs.random_network(nodes=len(NASTY), arcs=10, states=3, seed=2).sample(300, seed=1)
    columns = {
        names[i]: [f"{names[(i + 1) % len(NASTY)]}{value}" for value in source.column(name)]
        for i, name in enumerate(source.names)
    }
    known = bs.Knowledge(forbidden=[(names[0], names[1])], tiers=[names[:4], names[4:]])
    return bs.learn(bs.as_table(columns), knowledge=known, top=3, search="hill-climb", score="bic")
