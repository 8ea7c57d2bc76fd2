"""What every outcome must be: complete, finite, and ready to be drawn and written."""

from __future__ import annotations

import math
import re

from bayescout.experiments.summary import Outcome
from bayescout.plots.values import Boxes, Drawings, Histograms, Lines


def tables_of(outcome: Outcome):
    return {table.name: table for section in outcome.sections for table in section.tables}


def figures_of(outcome: Outcome):
    return {figure.name: figure for section in outcome.sections for figure in section.figures}


def check_outcome(outcome: Outcome) -> None:
    items = [item for section in outcome.sections for item in (*section.tables, *section.figures)]
    names = [item.name for item in items]
    assert names
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) for name in names)
    assert all(item.title.strip() for item in items)
    assert outcome.introduction.strip()
    for section in outcome.sections:
        assert section.title.strip()
        assert section.text.strip()
        assert section.tables or section.figures
    for finding in outcome.findings:
        assert finding.claim.strip()
        assert finding.ours.strip()
        assert "nan" not in finding.ours.split()
        assert finding.holds in (True, False)
        assert not (finding.holds and finding.why)
    for table in tables_of(outcome).values():
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert_finite([cell for row in table.rows for cell in row if isinstance(cell, (int, float))])
    for figure in figures_of(outcome).values():
        check_figure(figure)


def check_figure(figure) -> None:
    if isinstance(figure, Lines):
        assert figure.panels
        for panel in figure.panels:
            assert panel.series
            assert_finite([value for _, value in panel.references])
            for series in panel.series:
                assert series.x
                assert len(series.x) == len(series.y)
                assert_finite([*series.x, *series.y, *(series.low or ()), *(series.high or ())])
    elif isinstance(figure, Histograms):
        assert all(values for _, values in figure.panels)
        assert_finite([x for _, values in figure.panels for x in values])
    elif isinstance(figure, Boxes):
        assert any(values for _, values in figure.groups)
        assert_finite([x for _, values in figure.groups for x in values])
    else:
        assert isinstance(figure, Drawings)
        assert figure.graphs


def assert_finite(numbers) -> None:
    assert all(math.isfinite(x) for x in numbers)
