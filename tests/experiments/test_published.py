"""The studies in docs/studies, run at the size said there: whole, small, and with the findings that hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bayescout.experiments import STUDIES

FOLDER = Path(__file__).parent.parent.parent / "docs" / "studies"
PUBLISHED = sorted(path.parent for path in FOLDER.glob("*/README.md"))
LARGEST_FILE, LARGEST_FOLDER = 400_000, 3_000_000

HELD = {
    "lau": [
        "On A all 100 runs end in the same 3 structures.",
        "B has substantially more local maxima than A.",
        "The number of iterations varies more from random starts than from the unconnected one",
        "With BIC the search ends in fewer iterations than with BD",
        "BD finds networks with a higher log-likelihood than BIC.",
        "The genetic algorithm takes much longer than a first ascent.",
    ],
    "suhas": [
        "The average fitness rises with the generations",
        "The maximum fitness never falls.",
        "The networks approach the fitness of the reference network",
        "In some runs the fittest network is at least as fit as the reference.",
    ],
    "frigo-discrete": [
        "From 100 to 500 rows the gain is 20 to 30 points.",
        "With BDeu the two converge by 8,000 rows.",
        "GES with BIC comes close to the true distribution (table 4.8).",
        "The more data, the weaker the dependencies that GES misses.",
        "The false discovery rate stays below the significance level of 5%.",
    ],
    "frigo-gaussian": [
        "Adjacency F of GES as printed in table 5.8.",
        "I-map pruned gives about the right number of arcs, too few at 100 and 200 rows.",
        "I-map's adjacency F is little different from that of GES.",
        "False acceptance falls as rows grow; false discovery stays low.",
    ],
    "blanco": [
        "Without an order PBIL's scores are not significantly below UMDA's",
        "With a less strict stopping rule the GA could do better with the order",
        "With the order the best networks are closer to the generating one than without.",
    ],
    "maua": [
        "Multiple restarts improve on a single climb.",
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
    assert any(name.endswith(".png") for name in shown)
    assert all((folder / name).exists() for name in shown)
    sizes = [path.stat().st_size for path in folder.iterdir()]
    assert max(sizes) <= LARGEST_FILE
    assert sum(sizes) <= LARGEST_FOLDER


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_every_finding_is_stated_on_its_page(folder):
    page = (folder / "README.md").read_text(encoding="utf-8")
    findings = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    assert findings
    assert f"Of {len(findings)} findings of the document, {sum(findings.values())} hold here." in page
    for claim in findings:
        assert claim.replace("|", "\\|") in page


@pytest.mark.parametrize("name", HELD)
def test_the_findings_that_hold_do(name):
    findings = json.loads((FOLDER / name / "findings.json").read_text(encoding="utf-8"))
    for beginning in HELD[name]:
        (claim,) = [claim for claim in findings if claim.startswith(beginning)]
        assert findings[claim], claim
