"""The published pages say what the program says now: their words are those of a small run, but for numbers.

The numbers of the pages come from records that are not kept here; `test_published_numbers.py` holds them
against the published tables.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bayescout.experiments import STUDIES

FOLDER = Path(__file__).parent.parent.parent / "docs" / "studies"
NETWORKS = r"\b(?:asia|cancer|alarm|water|insurance)\b"
LEAST_WORDS = 3


def clauses(text):
    """The pieces of a text between its punctuation that name neither a number nor a network."""
    plain = text.replace("\\", "").replace("&amp;", "&").replace("\n", " ")
    pieces = (piece.strip() for piece in re.split(r"[.;:,|()](?:\s|$)", plain))
    return {
        piece for piece in pieces
        if len(piece.split()) >= LEAST_WORDS and not re.search(rf"\d|{NETWORKS}", piece)
    }  # fmt: skip


def masked(text):
    return re.sub(r"[\d.,]+", "#", text)


def said(outcome, reasons):
    """What an outcome says in words; the reasons of a finding only where the page gives any."""
    yield outcome.introduction
    for finding in outcome.findings:
        yield finding.claim
        if reasons[masked(finding.claim)]:
            yield finding.reasons
    for section in outcome.sections:
        yield from (section.title, section.text)
        for table in section.tables:
            yield from (table.title, table.note, *table.columns)
        for figure in section.figures:
            yield from (figure.title, figure.note)
    if outcome.agreement is not None:
        yield from (outcome.agreement.title, outcome.agreement.note)


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_the_words_of_a_page_are_those_of_the_program(tiny_studies, name):
    study, ran, _ = tiny_studies(name)
    findings = json.loads((FOLDER / name / "findings.json").read_text(encoding="utf-8"))["findings"]
    reasons = {masked(one["claim"]): one["why"] for one in findings}
    page = (FOLDER / name / "README.md").read_text(encoding="utf-8").replace("\\", "").replace("&amp;", "&")
    words = [clause for text in said(study.outcome(ran.records), reasons) for clause in sorted(clauses(text))]
    assert len(words) > 50
    assert [clause for clause in words if clause not in page] == []
