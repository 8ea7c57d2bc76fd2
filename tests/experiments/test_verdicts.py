"""Verdicts on tables where the right verdict is known, and how they are summed up and shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.experiments.blanco import columns, findings, printed
from bayescout.experiments.study import Study
from bayescout.experiments.summary import VERDICTS, Finding, Outcome, Reason, summed
from bayescout.experiments.verdicts import by_cell, judged, set_apart, true_in, untested, verdict_of
from bayescout.plots.values import PointPanel, Points


@given(st.lists(st.booleans(), max_size=12))
def test_the_verdict_follows_from_the_cells(cells):
    passed = cells.count(True)
    if not cells:
        expected = "cannot be tested"
    elif passed == 0:
        expected = "does not hold"
    else:
        expected = "holds" if passed == len(cells) else "holds in part"
    assert verdict_of(cells) == expected
    found = judged("c", "o", {str(i): cell for i, cell in enumerate(cells)}, why=(Reason("r"),))
    assert found.verdict == expected
    assert found.holds is (expected == "holds")
    assert bool(found.why) is (expected != "holds")
    if cells:
        assert (found.cells.passed, found.cells.of) == (passed, len(cells))
        assert found.cells.failing == tuple(str(i) for i, cell in enumerate(cells) if not cell)


def test_the_mark_tells_the_share_of_the_cells():
    def mark(passed, of):
        return judged("c", "o", {str(k): k < passed for k in range(of)}).mark

    assert [mark(passed, 6) for passed in range(7)] == ["≠", "◔", "◑", "◑", "◕", "◕", "✓"]
    assert [judged("c", "o", own).mark for own in (True, False)] == ["✓", "≠"]
    assert untested("c", "o", ()).mark == "?"


def test_a_single_truth_is_no_tally():
    assert judged("c", "o", True).judgement == "holds"
    assert judged("c", "o", False).judgement == "does not hold"


def test_the_judgement_names_our_cells_and_the_document_s():
    cells = by_cell(range(9), lambda k: k < 4, lambda k: f"column {k}")
    found = judged("c", true_in(cells, "columns"), cells, {"a": True, "b": False}, "columns")
    assert found.judgement == "holds in part (in 4 of 9 columns; in the document's own tables 1 of 2)"
    assert found.ours == ("True in 4 of 9 columns (not column 4, column 5, column 6, column 7, column 8).")


def test_a_reason_names_its_run_or_is_a_conjecture():
    shown = judged("c", "o", False, rule="more is 2.", why=(Reason("A.", "run 1"), Reason("B."))).reasons
    assert shown == "Our test: more is 2. A. (Shown by: run 1.) Conjecture: B."


def test_the_summary_counts_what_counts():
    some = (
        judged("a", "o", True),
        judged("b", "o", {"x": True, "y": False}),
        judged("c", "o", {"x": False}),
        untested("d", "o", (Reason("r"),)),
        set_apart(judged("e", "o", False), "units"),
    )
    panel = PointPanel("F", (("GES", ((0.5, 0.6), (1.0, 1.1))),))
    outcome = Outcome("n", "t", "s", "i", some, (), Points("p", "t", (panel,)), "Smaller.")
    assert [one.claim for one in outcome.counted] == ["a", "b", "c", "d"]
    assert outcome.summary == (
        "Of 4 findings of the document, 1 holds, 1 holds in part, 1 does not hold, 1 cannot be tested. "
        "1 more on units and definitions stands apart, not counted. Median difference from the printed "
        "values: F 15% (2 cells). Smaller."
    )
    two = PointPanel("F", (("GES", ((0.5, 0.6),)), ("GES, corrected", ((0.5, 0.5),))))
    summary = replace(outcome, agreement=Points("p", "t", (two,))).summary
    assert "values: F: GES 20%, GES corrected 0% (1 cell each). Smaller." in summary
    assert summed([]) == "Of 0 findings of the document, none was tested."
    assert len(VERDICTS) == 4


def test_a_smaller_size_is_said():
    from bayescout.experiments import STUDIES

    for kind in STUDIES.values():
        full, quick = kind(), kind.of_size("quick")
        assert full.size() == ""
        assert quick.size().startswith("These verdicts are of a smaller size than the document's"), kind.name
        for name, value in kind.quick.items():
            assert name in quick.size()
            assert str(value if isinstance(value, int) else value[-1]) in quick.size()
    assert issubclass(kind, Study)


# ---- tests on the document's own tables, whose right answers can be read there


KNOWN = {
    # Water with BIC: PBIL at -63030.1, below the GA at -62429.3.
    ("given", columns.ga_is_behind): 8,
    # Table 1, BIC: -9890.05 < -9889.26; table 2, BIC: -49466.2 < -49433.5; table 3, BIC and K2 likewise.
    ("given", columns.reaches_targets): 5,
    # Water with BIC: 167.3 and 178.9 against 77.6; with entropy 45.9 against 45.44.
    ("given", columns.fewer_generations): 7,
    ("none", columns.umda_is_best): 9,
    # Of asia, the GA has fewer with BIC and K2, and UMDA with entropy.
    ("none", columns.pbil_is_fastest): 6,
    # Alarm with K2: -48271.0 with a dagger against -47083.3.
    ("none", columns.pbil_is_as_good): 8,
    ("none", columns.beats_random_orders): 9,
}


@pytest.mark.parametrize(("order", "test"), KNOWN, ids=lambda value: getattr(value, "__name__", value))
def test_each_test_on_the_document_s_tables_gives_what_one_reads_there(order, test):
    found = [columns.document(network, by, order) for network in printed.REFERENCES for by in printed.SCORES]
    assert sum(map(test, found)) == KNOWN[order, test]


def test_a_column_of_the_document_is_what_is_printed():
    column = columns.document("alarm", "k2", "none")
    assert column.scores == {"GA": -47744.4, "UMDA": -47083.3, "PBIL": -48271.0}
    assert column.differs == {"GA": True, "UMDA": False, "PBIL": True}
    assert column.generations == {"GA": 272.2, "UMDA": 183.8, "PBIL": 117.7}
    assert (column.k2, column.reference) == (-49193.4, -47086.57)
    assert column.pbil_below_umda
    assert columns.document("cancer", "k2", "none") is None
    assert columns.document("alarm", "bic", "none") is None


def test_every_test_can_say_both():
    """A column in which all is as the document claims, and one in which nothing is."""
    good = columns.Column(
        "n", "k2", "none", {"GA": -9.0, "UMDA": -1.0, "PBIL": -1.5},
        {"GA": True, "UMDA": False, "PBIL": False},
        {"GA": 90.0, "UMDA": 50.0, "PBIL": 30.0}, -2.0, -1.5, False,
    )  # fmt: skip
    bad = columns.Column(
        "n", "k2", "none", {"GA": -1.0, "UMDA": -9.0, "PBIL": -9.5},
        {"GA": False, "UMDA": True, "PBIL": True},
        {"GA": 10.0, "UMDA": 50.0, "PBIL": 60.0}, -2.0, -1.5, True,
    )  # fmt: skip
    for _, test in KNOWN:
        assert test(good), test
        assert not test(bad), test


def test_findings_are_finding_values():
    assert all(isinstance(one, Finding) for one in (judged("c", "o", True), untested("c", "o", ())))
    assert findings.EXCEPTED in {(n, by) for n in printed.REFERENCES for by in printed.SCORES}
