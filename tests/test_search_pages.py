"""The pages of searches and scores list what the registries have: every name, setting and default."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
from pathlib import Path

import pytest

import bayescout as bs
from bayescout.scores import PRIORS, SCORES
from bayescout.scores.formula import Formula
from bayescout.search import SEARCHES

DOCS = Path(__file__).resolve().parent.parent / "docs"
KINDS = {"discrete": "categories", "continuous": "numbers", "both": "both"}
NAMED = re.compile(r"<!-- settings: (\S+) -->")


def rows(text: str) -> list[list[str]]:
    """The cells of the first table in a text, without its two lines of headings."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("|"):
            found.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif found:
            break
    return found[2:]


def settings(named: type) -> list[str]:
    return [f"`{field.name}={field.default!r}`" for field in dataclasses.fields(named)]


def described() -> dict[str, tuple[Path, str]]:
    """By search: its page, and the text after the mark of its settings up to the next heading or mark."""
    found: dict[str, tuple[Path, str]] = {}
    for path in sorted((DOCS / "searches").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for mark in NAMED.finditer(text):
            assert mark[1] not in found, f"{mark[1]} has settings on two pages"
            rest = re.split(r"^## |<!-- settings", text[mark.end() :], maxsplit=1, flags=re.MULTILINE)[0]
            found[mark[1]] = (path, rest)
    return found


def test_every_search_has_a_page_and_no_other_has() -> None:
    assert sorted(described()) == sorted(SEARCHES)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_table_of_a_search_lists_its_settings_in_order(name: str) -> None:
    _, text = described()[name]
    shown = [f"{cells[0][:-1]}={cells[1].strip('`')}`" for cells in rows(text)]
    assert shown == settings(SEARCHES[name])
    assert all(cells[2] for cells in rows(text))
    if not shown:
        assert f"`{name}` has no settings." in text


@pytest.mark.parametrize("name", SEARCHES)
def test_the_page_of_a_search_has_every_part(name: str) -> None:
    path, _ = described()[name]
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert [heading.rstrip("s") for heading in headings] == [
        "Paper", "Setting", "When to use it, and when not", "A replay",
    ]  # fmt: skip
    assert f'`search="{name}"`' in text
    replay = text[text.index("## A replay") :]
    assert f"<!-- replay: {name} -->" in replay
    assert "```python" in replay
    assert "```text" in replay


REPLAY = runpy.run_path(str(DOCS / "_ext" / "replay.py"))


@pytest.mark.parametrize("name", ["hill-climb", "ges", "pc", "tabu"])
def test_a_replay_begins_with_nothing_known_and_ends_with_the_answer(name: str) -> None:
    shown = REPLAY["frames"](name)
    assert 2 < len(shown) <= REPLAY["MOST"]
    assert len(shown[0].lines) == (28 if name == "pc" else 0)
    found = bs.learn(REPLAY["rows"](), name, "bic", seed=1, max_steps=REPLAY["STEPS"])
    as_class = name in REPLAY["CLASSES"]
    arcs = found.cpdag.arcs() if as_class else found.dag.arcs()
    ends = {(a, b, True) for a, b in arcs}
    ends |= {(*sorted(edge, key=REPLAY["CIRCLE"].index), False) for edge in found.cpdag.edges() if as_class}
    assert shown[-1].lines == ends


def test_a_replay_holds_its_steps_and_shows_the_last_without_a_script() -> None:
    page = REPLAY["picture"]("<a>", REPLAY["frames"]("hill-climb"))
    told = json.loads(re.findall(r'<script type="application/json">(.*)</script>', page)[0])
    assert "<a>" not in page
    assert "\n\n" not in page  # a blank line would end the markup
    assert len(told["lines"]) == len(re.findall("<path ", page))
    step, score, there = told["frames"][-1]
    assert (step, score) == (10, pytest.approx(-2255.27, abs=0.01))
    assert len(there) == len(re.findall('<path class="there', page))


def test_the_overview_links_every_search_to_its_page() -> None:
    index = (DOCS / "searches" / "index.md").read_text(encoding="utf-8")
    assert f"All {len(SEARCHES)} searches" in index
    for name, (path, _) in described().items():
        assert f"[`{name}`]({path.name})" in index
        assert f" <{path.stem}>\n" in index


def table_after(mark: str) -> list[list[str]]:
    text = (DOCS / "scores.md").read_text(encoding="utf-8")
    return rows(text[text.index(f"<!-- {mark} -->") :])


def test_the_table_of_scores_has_every_score_and_what_its_class_says() -> None:
    shown = {cells[0]: cells[1:] for cells in table_after("scores")}
    assert list(shown) == [f"`{name}`" for name in SCORES]
    for name, made in SCORES.items():
        formula, kinds, parameters, equivalent, bound = shown[f"`{name}`"]
        assert formula
        assert kinds == KINDS[made.kinds], name
        assert parameters == ", ".join(settings(made)), name
        assert (equivalent == "yes") == made.equivalent, name
        assert (bound != "no") == (made.superset_bounds is not Formula.superset_bounds), name


def test_the_table_of_priors_has_every_prior() -> None:
    shown = {cells[0]: cells[2] for cells in table_after("priors")}
    assert shown == {f"`{name}`": ", ".join(settings(made)) for name, made in PRIORS.items()}
