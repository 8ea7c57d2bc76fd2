"""Some runs of every published study done again, at the document's size: their cells are those on the pages.

The pages were made from records that are too many to keep here; these runs take seconds and show that the
records, and the program that made them, are still what the pages say.
"""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path

import pytest

from bayescout.experiments import Records, study_named
from bayescout.experiments.attempt import attempt
from bayescout.experiments.blanco import tables as blanco_tables
from bayescout.experiments.blanco.findings import _weak_arc
from bayescout.experiments.blanco.genetic import first_generation, last_generation
from bayescout.experiments.blanco.names import FITTED, HALF, SAMPLES, SPARSE
from bayescout.experiments.blanco.view import View as BlancoView
from bayescout.experiments.parts import plus_minus
from bayescout.experiments.records import mean
from bayescout.report.study import as_csv

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent.parent.parent / "docs" / "studies"


def again(name, chosen):
    """The records of the runs of a full study that are chosen."""
    study = study_named(name)
    found = Records(attempt(study, run, os.getpid()) for run in study.runs() if chosen(run))
    assert found
    assert not found.failures
    return study, found


def cell(study, table, column, **own):
    with (FOLDER / study / f"{table}.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = [row for row in csv.DictReader(stream) if all(row[k] == v for k, v in own.items())]
    return row[column]


def test_the_table_of_asia_again():
    """All of table 1 of blanco, byte for byte."""

    def chosen(run):
        if run["data"]["network"] != "asia":
            return False
        fitted = run["settings"] == "corrected" and run["search"]["correction"] == FITTED
        return run["settings"] == "document" or fitted

    study, records = again("blanco", chosen)
    table = blanco_tables.results(BlancoView(study, records), "asia")
    assert as_csv(table) == (FOLDER / "blanco" / "results-asia.csv").read_text(encoding="utf-8")


def test_no_limit_on_parents_again():
    """The arcs that entropy gives without one; alarm takes longest."""
    page = (FOLDER / "blanco" / "README.md").read_text(encoding="utf-8")
    _, records = again(
        "blanco", lambda run: run["settings"] == "unbounded" and run["data"]["network"] != "alarm"
    )
    for record in records:
        nodes = record.run["nodes"]
        most = nodes * (nodes - 1) // 2
        assert f"{record.run['data']['network']} {record.measures['arcs']} of {most}" in page


def test_the_other_first_generations_of_asia_again():
    """Sparse and half-full ones: their best, and where the GA with the order ends."""
    page = (FOLDER / "blanco" / "README.md").read_text(encoding="utf-8")
    settings = (SPARSE, HALF)
    study, records = again(
        "blanco", lambda run: run["data"]["network"] == "asia" and run["settings"] in settings
    )
    view = BlancoView(study, records)
    for own in settings:
        first, last = first_generation(view, "asia", "k2", own), last_generation(view, "asia", own)
        assert f"asia {first:+,.0f} and {last:+,.0f};" in page


def test_other_samples_of_asia_again():
    """The reason on its weak arc."""
    page = (FOLDER / "blanco" / "README.md").read_text(encoding="utf-8")
    study, records = again("blanco", lambda run: run["settings"] == SAMPLES)
    assert str(_weak_arc(BlancoView(study, records))) in page


def gains(records, score, searches, measure, sign=1):
    values = [
        sign * (record.measures[searches[0]][measure] - record.measures[searches[1]][measure])
        for record in records
        if record.run["score"] == score
    ]
    return mean(values)


def test_the_smallest_random_networks_of_frigo_again():
    """Gains at 100 rows with 4 nodes, under every score, in both chapters."""
    _, records = again(
        "frigo-discrete", lambda run: run["part"] == "random" and (run["nodes"], run["rows"]) == (4, 100)
    )
    assert len(records) == 120
    for score in ("bdeu", "bdeu-chickering", "bic", "bic-double"):
        for name, measure, sign, digits in (("f-gain", "f", 1, 3), ("kld-gain", "kld", -1, 4)):
            own = gains(records, score, ("imap", "ges"), measure, sign)
            said = cell("frigo-discrete", f"{name}-{score}", "4 nodes", rows="100")
            assert f"{own:.{digits}f}" == said
    _, records = again(
        "frigo-gaussian", lambda run: run["part"] == "random" and (run["nodes"], run["rows"]) == (4, 100)
    )
    assert len(records) == 60
    for score in ("bic", "bic-quarter"):
        own = gains(records, score, ("imap-pruned", "ges"), "f")
        assert f"{own:.3f}" == cell("frigo-gaussian", f"f-gain-pruned-{score}", "4 nodes", rows="100")


def test_a_size_of_the_collider_again():
    study, records = again(
        "frigo-discrete",
        lambda run: run["part"] == "collider" and (run["rows"], run["score"]) == (100, "bdeu"),
    )
    for search, column in (("ges", "GES"), ("imap", "I-map")):
        right = sum(record.measures["right"][search] for record in records) / study.sets
        assert f"{right:.3f}" == cell("frigo-discrete", "collider", column, score="BDeu", rows="100")
    _, records = again("frigo-discrete", lambda run: run["part"] == "believed")
    right = sum(record.measures["right"]["imap"] for record in records)
    page = (FOLDER / "frigo-discrete" / "README.md").read_text(encoding="utf-8")
    assert f"With G², believed whatever the counts, it is right on {right}." in page


def test_first_ascents_on_b_again():
    _, records = again(
        "lau",
        lambda run: (
            run["method"] == "first-ascent" and (run["data"]["name"], run["score"]) == ("B", "bic-laplace")
        ),
    )
    for start, title in (("empty", "unconnected"), ("random", "random"), ("full", "full")):
        some = records.where(start=start)
        own = plus_minus([score / math.log(2) for score in some.numbers("score")])
        assert own == cell("lau", "scores", "final score", data="B", score="BIC, corrected", start=title)
        assert plus_minus(some.numbers("iterations")) == cell(
            "lau", "effort", "iterations", data="B", start=title
        )


def test_order_climbing_on_insurance_again():
    _, records = again(
        "maua",
        lambda run: (
            (run["data"]["name"], run["data"]["train"]["rows"]) == ("insurance", 1000)
            and run["approach"] == "order climbing"
        ),
    )
    for measure, column in (("train", "BIC of the best"), ("test", "test log-likelihood of the best")):
        own = plus_minus([record.measures[measure][0] for record in records], 1, "†")
        assert own == cell("maua", "compared-insurance-1000", column, network="order climbing")


def test_precision_and_recall_at_a_large_charge_again():
    """The trade of suhas with the order known, 5 nodes and α = 20."""
    _, records = again(
        "suhas",
        lambda run: (
            run["part"] == "alpha"
            and (run["nodes"], run["order"], run["score"]) == (5, "known", {"name": "mi-bic", "alpha": 20.0})
        ),
    )
    assert len(records) == 60
    where = {"nodes": "5", "fitness": "N·MI − α·ln N·size", "order": "known", "α": "20.0"}
    for measure, column in (
        ("population_precision", "precision"),
        ("population_recall", "recall"),
        ("precision", "best network's precision"),
        ("recall", "best network's recall"),
    ):
        own = records.mean(measure)
        assert own == pytest.approx(float(cell("suhas", "alpha", column, **where)), rel=1e-12)
