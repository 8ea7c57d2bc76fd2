"""The studies in docs/studies, run at the size said there: whole, small, and with the findings that hold."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from bayescout.experiments import STUDIES

FOLDER = Path(__file__).parent.parent.parent / "docs" / "studies"
PUBLISHED = sorted(path.parent for path in FOLDER.glob("*/findings.json"))

LARGEST_FILE, LARGEST_FOLDER = 400_000, 4_000_000

HELD = {
    "lau": [
        "On A all 100 runs end in the same 3 structures.",
        "The genetic algorithm takes much longer than a first ascent.",
        "The best of 16 first ascents has a high probability",
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

IN_MOST = {
    "lau": [
        "The search finds networks of A that score higher",
        "B has substantially more local maxima than A.",
        "The number of iterations varies more from random starts than from the unconnected one",
        "On A random starts need more iterations and operations than unconnected ones",
        "On B random starts need more iterations and operations than unconnected ones",
        "On A the mean score from the unconnected start begins lower and catches up",
        "On B the mean score from the unconnected start begins lower and catches up",
        "With BIC the search ends in fewer iterations than with BD",
        "BD finds networks with a higher log-likelihood than BIC.",
    ],
}
"""Those that they bear out in most data sets."""


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


def mark(one):
    """The mark of a published finding: what holds in part has one by the share of its cells."""
    if one["verdict"] != "holds in part":
        return {"holds": "✓", "does not hold": "≠", "cannot be tested": "?"}[one["verdict"]]
    passed, of = one["cells"]["passed"], one["cells"]["of"]
    return "◕" if 3 * passed >= 2 * of else "◑" if 3 * passed >= of else "◔"


def test_the_page_of_all_studies_counts_the_verdicts_of_each():
    assert {path.name for path in PUBLISHED} == set(STUDIES)
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    parts = "◕ in most of its cells | ◑ in about half of its cells | ◔ in few of its cells"
    assert (
        f"| study | ✓ holds | {parts} | ≠ does not hold | ? cannot be tested | apart, not counted |" in page
    )
    for folder in PUBLISHED:
        found = Counter("apart" if one["apart"] else mark(one) for one in said(folder)["findings"])
        counts = " | ".join(str(found[one] or "–") for one in (*"✓◕◑◔≠?", "apart"))
        assert f"| [`{folder.name}`]({folder.name}/README.md) | {counts} |" in page


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_every_finding_begins_with_its_verdict_and_the_mark_of_it(folder):
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"{sign} " in page.partition("| verdict |")[0] for sign in "✓◕◑◔≠?")
    for one in said(folder)["findings"]:
        claim = re.escape(one["claim"].replace("|", "\\|"))
        begin = rf"{re.escape(mark(one))} \*\*{one['verdict']}"
        assert re.search(rf"^\| {begin}[^|]*\*\* \| {claim} \| ", page, re.MULTILINE)


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


@pytest.mark.parametrize("name", sorted(IN_MOST))
def test_the_findings_that_hold_in_most_cells_do(name):
    findings = said(FOLDER / name)["findings"]
    for beginning in IN_MOST[name]:
        (one,) = [one for one in findings if one["claim"].startswith(beginning)]
        assert mark(one) == "◕", one["claim"]


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
