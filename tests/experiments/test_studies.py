"""Every study, at its smallest size: complete, from its records alone, and the same after a kill."""

from __future__ import annotations

import pytest

from bayescout.experiments import STUDIES, Records, run_study
from bayescout.experiments.store import PARQUET, RECORDS, parse
from tests.experiments.outcome_checks import check_outcome, figures_of, tables_of


@pytest.fixture(scope="module", params=list(STUDIES))
def finished(request, tiny_studies):
    """(study, what was run, its folder)."""
    return tiny_studies(request.param)


def test_every_run_succeeds(finished):
    _, ran, folder = finished
    assert [failure.reason for failure in ran.failures] == []
    assert ran.missing == 0
    assert (folder / PARQUET).exists()


def test_the_outcome_is_complete(finished):
    study, ran, _ = finished
    outcome = study.outcome(ran.records)
    assert (outcome.name, outcome.title) == (study.name, study.title)
    assert outcome.findings
    check_outcome(outcome)


def test_the_outcome_comes_from_the_records_in_the_folder_alone(finished):
    study, ran, folder = finished
    lines = (folder / RECORDS).read_bytes().split(b"\n")[:-1]
    read = {record.key: record for record in map(parse, lines)}
    again = study.outcome(Records(read[record.key] for record in ran.records))
    assert again == study.outcome(ran.records)


def test_after_a_kill_the_records_are_the_same(finished, tmp_path):
    """What a kill leaves: some whole records, not always in the order of the grid, and a piece of one."""
    study, ran, folder = finished
    lines = (folder / RECORDS).read_bytes().splitlines(keepends=True)
    kept = [line for i, line in enumerate(lines) if i % 8]
    (tmp_path / "study.json").write_bytes((folder / "study.json").read_bytes())
    (tmp_path / RECORDS).write_bytes(b"".join(reversed(kept)) + lines[0][:-20])
    again = run_study(study, tmp_path, resume=True, workers=1)
    assert [r.timeless() for r in again.records] == [r.timeless() for r in ran.records]


EXPECTED = {
    "lau": (
        {"references", "effort", "scores", "complexity", "genetic", "maxima-a-bic-laplace", "maxima-b-k2"},
        {
            *(f"{what}-{data}" for data in "ab" for what in ("iterations", "operations", "parameters")),
            *(f"log-likelihood-{data}" for data in "ab"),
            *(
                f"{what}-{data}-{score}"
                for data in "ab"
                for score in ("bic-laplace", "k2")
                for what in ("final-score", "score-by-iteration", "drawn")
            ),
        },
    ),
    "suhas": (
        {"fitness", "alpha", "extensions", "rows"},
        {
            *(
                f"{what}-fitness-{form}"
                for what in ("mean", "maximum")
                for form in ("mi-bic", "mi-normalised")
            ),
            "precision-recall",
            "precision-recall-nodes",
            "extensions-fitness-mi-bic",
            "sample",
        },
    ),
}


EXPECTED["frigo-discrete"] = (
    {"collider", "table-4-8", "f-gain-bdeu", "f-gain-bic", "kld-gain-bdeu", "kld-gain-bic", "fdr"},
    {
        "figure-4-1",
        *(
            f"figure-{n}-{axis}"
            for n in ("4-2-bdeu", "4-4-bdeu-chickering", "4-5-bic", "4-7-bic-double", "4-9", "4-10")
            for axis in ("rows", "nodes")
        ),
        "figure-kld-asia",
        "figure-f-asia",
    },
)
EXPECTED["frigo-gaussian"] = (
    {"table-5-8", "f-gain-pruned-bic", "f-gain-pruned-bic-quarter", "f-gain-imap", "kld-gain-imap"},
    {
        *(
            f"figure-{n}-{axis}"
            for n in ("5-2", "5-3", "5-4-bic", "5-6", "5-10")
            for axis in ("rows", "nodes")
        ),
        *(f"figure-5-{n}" for n in (9, 11, 12, 13, 14, 16, 18, 20)),
    },
)


def test_every_table_and_figure_of_the_document_is_there(finished):
    study, ran, _ = finished
    tables, figures = EXPECTED.get(study.name, (set(), set()))
    outcome = study.outcome(ran.records)
    assert tables <= set(tables_of(outcome))
    assert figures <= set(figures_of(outcome))
