"""The studies in docs/studies, run at the size said there: whole, small, and with the findings that hold."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from bayescout.experiments import STUDIES
from bayescout.experiments.summary import MARKS

FOLDER = Path(__file__).parent.parent.parent / "docs" / "studies"
PUBLISHED = sorted(path.parent for path in FOLDER.glob("*/findings.json"))

LARGEST_FILE, LARGEST_FOLDER = 400_000, 4_000_000

HELD = {
    "lau": [
        "On A all 100 runs end in the same 3 structures.",
        "B has substantially more local maxima than A.",
        "The number of iterations varies more from random starts than from the unconnected one",
        "On B random starts need more iterations and operations than unconnected ones",
        "Operations per iteration",
        "With BIC the search ends in fewer iterations than with BD",
        "BD finds networks with a higher log-likelihood than BIC.",
        "The genetic algorithm takes much longer than a first ascent.",
    ],
    "suhas": [
        "The maximum fitness never falls.",
        "The networks approach the fitness of the reference network",
        "In some runs the fittest network is at least as fit as the reference.",
    ],
    "frigo-discrete": [
        "On the collider the difference is very small from 1,800 rows on.",
        "With BDeu I-map raises the adjacency F of GES most on small samples",
        "With BDeu the two converge by 8,000 rows.",
        "With BDeu the improvement of F does not depend on the number of nodes.",
        "With BDeu the improvement in divergence is greatest on small samples",
        "With BIC the improvement in divergence is greatest on small samples",
        "With BIC I-map raises the adjacency F of GES by more than 0.1",
        "The more data, the weaker the dependencies that GES misses.",
        "On alarm and insurance the two have nearly the same F",
    ],
    "frigo-gaussian": [
        "I-map pruned has the better adjacency F on graphs of 9 nodes and more",
        "I-map pruned gives about the right number of arcs, too few at 100 and 200 rows.",
        "I-map's graphs have fewer arcs than those of GES.",
        "I-map pays a relatively small penalty in BIC for its simpler graphs.",
        "False acceptance falls as rows grow; false discovery stays low.",
        "On the graphs of alarm and insurance I-map pruned has the better adjacency F at every size.",
        "On the graphs of alarm and insurance I-map has the better adjacency F at every size but one.",
        "On the graphs of alarm and insurance the BIC of I-map pruned is below that of GES.",
        "On the graphs of alarm and insurance the BIC of I-map is similar to that of GES.",
    ],
    "blanco": [
        "With the order UMDA and PBIL need fewer generations than the GA",
        "Without an order UMDA has the best scores, or does not differ from the best.",
        "Without an order UMDA and PBIL are better in the mean than the K2 algorithm with random orders.",
    ],
    "maua": [
        "Multiple restarts improve on a single climb.",
        "Results can be improved",
        "Networks with a better training score generalise better",
    ],
}
"""The beginnings of findings of the documents that our runs bear out; the pages say which they do not."""


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_a_page_is_whole_and_small(folder):
    assert folder.name in STUDIES
    page = (folder / "README.md").read_text(encoding="utf-8")
    for heading in ("## What was found", "## How it was run"):
        assert heading in page
    shown = re.findall(r"\]\(([^)#]+)\)", page)
    assert any(name.endswith(".svg") for name in shown)
    assert all((folder / name).exists() for name in shown)
    sizes = [path.stat().st_size for path in folder.iterdir()]
    assert max(sizes) <= LARGEST_FILE
    assert sum(sizes) <= LARGEST_FOLDER


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_figures_are_vectors_of_at_least_800_pixels(folder):
    for path in folder.glob("*.svg"):
        points = float(re.search(r'<svg[^>]* width="([0-9.]+)pt"', path.read_text(encoding="utf-8"))[1])
        assert points * 96 / 72 >= 800, path.name


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_every_verdict_on_a_page_follows_from_its_cells(folder):
    page = (folder / "README.md").read_text(encoding="utf-8")
    for one in said(folder)["findings"]:
        assert one["claim"].replace("|", "\\|") in page
        assert one["ours"].replace("|", "\\|") in page
        assert one["verdict"] in ("holds", "holds in part", "does not hold", "cannot be tested")
        assert one["holds"] is (one["verdict"] == "holds")
        cells = one["cells"]
        if cells is not None and one["verdict"] != "cannot be tested":
            part = "holds" if cells["passed"] == cells["of"] else "holds in part"
            assert one["verdict"] == (part if cells["passed"] else "does not hold")
            assert f"in {cells['passed']:,} of {cells['of']:,} " in page
        if one["document"] is not None:
            assert f"tables {one['document']['passed']:,} of {one['document']['of']:,}" in page


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_the_summary_counts_the_verdicts(folder):
    own = said(folder)
    counted = Counter(one["verdict"] for one in own["findings"] if not one["apart"])
    words = {"holds": "holds?", "holds in part": "holds? in part", "does not hold": "do(es)? not hold"}
    assert f"Of {counted.total()} findings" in own["summary"]
    for verdict, number in counted.items():
        pattern = rf"\b{number} {words.get(verdict, verdict)}[,.]"
        assert re.search(pattern, own["summary"]), (verdict, own["summary"])
    for place in (folder / "README.md", FOLDER / "README.md"):
        assert own["summary"].split(".")[0] in place.read_text(encoding="utf-8")


def test_the_page_of_all_studies_counts_the_verdicts_of_each():
    assert {path.name for path in PUBLISHED} == set(STUDIES)
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    heads = ("holds", "holds in part", "does not hold", "cannot be tested")
    assert f"| study | {' | '.join(f'{MARKS[one]} {one}' for one in heads)} | apart, not counted |" in page
    for folder in PUBLISHED:
        findings = said(folder)["findings"]
        found = Counter("apart" if one["apart"] else one["verdict"] for one in findings)
        counts = " | ".join(str(found[one] or "–") for one in (*heads, "apart"))
        assert f"| [`{folder.name}`]({folder.name}/README.md) | {counts} |" in page


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_every_finding_begins_with_its_verdict_and_the_mark_of_it(folder):
    page = (folder / "README.md").read_text(encoding="utf-8")
    for one in said(folder)["findings"]:
        claim = re.escape(one["claim"].replace("|", "\\|"))
        mark = re.escape(MARKS[one["verdict"]])
        assert re.search(rf"^\| {mark} \*\*{one['verdict']}[^|]*\*\* \| {claim} \| ", page, re.MULTILINE)


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_the_median_differences_are_those_of_the_picture(folder):
    """Of each panel and group, but for panels of differences from a score, which may be zero."""
    own = said(folder)
    off = {}
    for title, scale, label, printed, ours in own["agreement"]:
        if scale != "symlog" and printed:
            off.setdefault((title, label.replace(", ", " ")), []).append(abs(ours / printed - 1))
    _, _, told = own["summary"].partition("Median difference from the printed values: ")
    assert len(re.findall(r"\d%", told)) == len(off)
    for (title, label), some in off.items():
        panel = told[told.index(title) :]
        assert f"{label} {100 * median(some):.0f}%" in panel.partition(";")[0]


def said(folder):
    return json.loads((folder / "findings.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [path.name for path in PUBLISHED if path.name in HELD])
def test_the_findings_that_hold_do(name):
    findings = said(FOLDER / name)["findings"]
    for beginning in HELD[name]:
        (one,) = [one for one in findings if one["claim"].startswith(beginning)]
        assert one["holds"], one["claim"]


def test_what_does_not_simply_hold_has_a_reason():
    """Not only the test that it was judged by."""
    for folder in PUBLISHED:
        for one in said(folder)["findings"]:
            if one["verdict"] != "holds":
                assert "Shown by:" in one["why"] or "Conjecture:" in one["why"], one["claim"]


def test_no_reason_is_a_guess_in_disguise():
    for folder in PUBLISHED:
        for one in said(folder)["findings"]:
            assert "Perhaps" not in one["why"]
            for part in one["why"].split("Conjecture: ")[:1]:
                assert not part or part.startswith("Our test:") or "Shown by:" in part
