"""The blanco study: units, the cells of the tables, and findings that follow the records."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy.stats import mannwhitneyu

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.experiments import Records
from bayescout.experiments.blanco import Blanco, definitions, figures, findings, genetic, printed, tables
from bayescout.experiments.blanco.study import (
    ALGORITHMS,
    APART,
    CORRECTED,
    CORRECTIONS,
    DOCUMENT,
    FITTED,
    K2,
    ORDERS,
    SCORES,
    UNBOUNDED,
    VARIANTS,
    score_declared,
)
from bayescout.experiments.blanco.view import View, reached, shown
from bayescout.experiments.tools import data_of, score_of
from bayescout.report.study import markdown
from tests.experiments.changed_records import changed

TINY = Blanco.of_size("tiny")


@pytest.fixture(scope="module")
def records(tiny_studies):
    return tiny_studies("blanco")[1].records


@pytest.fixture(scope="module")
def view(records):
    return View(TINY, records)


def seen(records, change, **declared):
    """A view of the records with other measures where they were declared so."""
    return View(TINY, changed(records, change, **declared))


# ---- what is run


def test_the_grid_is_the_documents():
    runs = list(Blanco(networks=("alarm",)).runs())
    document = [run for run in runs if run["settings"] == DOCUMENT]
    assert len(document) == 2 * 4 * (3 * 10 + 1)
    assert {run["search"]["population"] for run in runs if run["algorithm"] in ALGORITHMS} == {370}
    orders = {str(run["search"]) for run in document if run["algorithm"] == K2}
    assert orders == {"k2", str({"name": "k2-random", "orders": 370})}
    assert {run["data"]["rows"] for run in runs} == {10_000}
    assert len({run["data"]["seed"] for run in runs}) == 1
    assert all((run["max_parents"] == 4) == (run["by"] == "entropy") for run in document)
    grid = [run for run in runs if run["settings"] == CORRECTED]
    assert {run["search"]["correction"] for run in grid} == set(CORRECTIONS)
    assert {run["algorithm"] for run in grid} == {"UMDA"}
    fitted = [run for run in grid if run["search"]["correction"] == FITTED]
    assert len(fitted) == 2 * 3 * 10
    apart = [run for run in runs if run["settings"] == APART]
    assert {run["by"] for run in apart} == {"k2"}
    for run in apart:
        own = {k: v for k, v in run["search"].items() if k not in ("name", "population")}
        assert own == VARIANTS[run["algorithm"]][run["variant"]]
    assert len([run for run in runs if run["settings"] == UNBOUNDED]) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"repeats": 0}, {"rows": 2.5}, {"individuals": True}, {"networks": ()}, {"networks": "asia"},
        {"other": 1},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(settings):
    with pytest.raises(SettingError):
        Blanco.of_size("full", **settings)


def test_the_printed_bic_is_base_ten_with_a_charge_in_bits():
    network = bs.load_network("asia")
    table = network.sample(500, seed=3)
    likelihood = bs.score(network.dag, table, "loglik") / math.log(10)
    found = bs.score(network.dag, table, score_of(score_declared("bic-printed", 500)))
    assert shown("bic-printed", found) == pytest.approx(likelihood - 18 * math.log2(500) / 2)
    assert shown("entropy", -2.5) == -2.5


def test_a_run_is_what_learn_gives(records):
    for order in ORDERS:
        record = records.where(algorithm="UMDA", by="k2", order=order, settings=APART, variant="all")[1]
        truth = bs.load_network(record.run["data"]["network"]).dag
        knowledge = bs.Knowledge(order=truth.order()) if order == "given" else None
        search = bs.search.Umda(population=16, correction=FITTED, distinct=True, patience=10)
        result = bs.learn(
            data_of(record.run["data"]), search, "k2", knowledge=knowledge, seed=record.run["seed"]
        )
        assert record.dag == result.dag
        assert record.measures["score"] == result.score
        assert record.measures["hamming"] == bs.compare(result.dag, truth).hamming
        own = record.measures["course"]
        assert own["best"][-1] == result.score
        assert own["networks"][-1] == result.counters.operations
        assert all(b >= a for a, b in zip(own["best"], own["best"][1:], strict=False))


def test_the_order_and_the_limit_are_kept(records):
    for record in records:
        dag = record.dag
        if record.run["order"] == "given":
            order = bs.load_network(record.run["data"]["network"]).dag.order()
            place = {node: i for i, node in enumerate(order)}
            assert all(place[parent] < place[child] for parent, child in dag.arcs())
        if record.run["max_parents"]:
            assert max(map(len, dag.parents)) <= record.run["max_parents"]


def test_every_random_order_of_k2_is_recorded(records):
    for record in records.where(algorithm=K2, order="none"):
        assert len(record.measures["orders"]) == 2 * record.run["nodes"]
        assert max(record.measures["orders"]) == record.measures["score"]
    for record in records.where(algorithm=K2, order="given"):
        assert record.measures["orders"] == [record.measures["score"]]


# ---- what it comes to


def test_printed_cells_are_read():
    assert printed.cell("alarm", "none", "UMDA", "k2") == ("-47083.3 ± 10.43", "183.8 ± 26.17†")
    assert printed.cell("alarm", "none", "UMDA", "bic") == ("", "")
    assert printed.cell("cancer", "none", "UMDA", "k2") == ("", "")
    assert printed.mean_of("-10947.1 ± 13.6†") == -10947.1
    assert printed.mean_of("") is None
    assert printed.gap("alarm", "none", "UMDA", "k2") == pytest.approx(3.27)
    assert set(printed.TABLES) == {
        (network, order, algorithm)
        for network in printed.REFERENCES
        for order in ORDERS
        for algorithm in (*ALGORITHMS, K2)
    }
    assert all(len(row) == 6 for row in printed.TABLES.values())


def test_the_outcome_is_whole(records):
    outcome = TINY.outcome(records)
    names = {item.name for section in outcome.sections for item in (*section.tables, *section.figures)}
    assert {
        "references",
        "structures",
        "corrections",
        "settings",
        "course-given-k2",
        "course-none-k2",
    } <= names
    for network in TINY.networks:
        assert {f"results-{network}", f"drawn-{network}"} <= names
    for section in outcome.sections:
        for table in section.tables:
            assert all(len(row) == len(table.columns) for row in table.rows)
            assert "nan" not in markdown(table).split()
    assert all(finding.claim and finding.ours for finding in outcome.findings)


def test_a_row_of_the_results_is_computed_from_the_runs(view):
    table = tables.results(view, "asia")
    (row,) = [row for row in table.rows if row[:3] == ("no order", "K2", "UMDA")]
    scores = [x / math.log(10) for x in view.of("asia", "k2", "none", "UMDA").numbers("score")]
    truth = bs.load_network("asia")
    reference = bs.score(truth.dag, truth.sample(300, seed=0), "k2") / math.log(10)
    assert row[3] == "-9684.36 ± 343.36"
    assert row[4].startswith(f"{sum(scores) / 2:,.1f} ± ")
    assert row[6] == f"{sum(scores) / 2 - reference:+,.1f}"
    assert len(table.rows) == len(ORDERS) * (len(SCORES) * (len(ALGORITHMS) + 1) + 3)
    (row,) = [row for row in table.rows if row[:3] == ("no order", "K2", "UMDA, corrected")]
    fitted = [x / math.log(10) for x in view.corrected("asia", "k2", "none").numbers("score")]
    assert row[6] == f"{sum(fitted) / 2 - reference:+,.1f}"


def test_daggers_are_those_of_the_mann_whitney_test(records):
    """With the GA far below and 2 runs nothing is significant; with 8 it is."""
    some = list(records.where(settings=DOCUMENT))
    many = []
    for record in some:
        copies = range(1) if record.run["algorithm"] == K2 else range(4)
        for i in copies:
            lower = 50.0 if record.run["algorithm"] == "GA" else 0.0
            own = {**record.measures, "score": record.measures["reference"] - lower - i}
            own["iterations"] = 20 + i if record.run["algorithm"] == "UMDA" else 90 + i
            many.append(replace(record, key=f"{record.key}{i}", measures=own))
    table = tables.results(View(TINY, Records(many)), "asia")
    ga = [row[4] for row in table.rows if row[2] == "GA"]
    others = [row[4] for row in table.rows if row[2] in ("UMDA", "PBIL")]
    assert all(cell.endswith("†") for cell in ga)
    assert not any(cell.endswith("†") for cell in others)
    assert all(row[8].endswith("†") == (row[2] != "UMDA") for row in table.rows if row[2] != K2)
    eight = [x for i in range(4) for x in (i, i)]
    assert mannwhitneyu(eight, [x - 50 for x in eight]).pvalue < 0.05


def test_reaching_is_up_to_rounding(records):
    record = records[0]
    for score, expected in ((-100.0, True), (-100.0 - 1e-9, True), (-100.1, False), (-99.0, True)):
        own = replace(record, measures={**record.measures, "reference": -100.0, "score": score})
        assert reached(own) is expected


def test_the_typical_run_is_the_one_in_the_middle(records):
    group = records.where(algorithm="GA", by="k2", order="none", settings=DOCUMENT)[:1]
    runs = [replace(group[0], measures={"score": score}) for score in (3.0, 1.0, 2.0)]
    assert figures.typical(Records(runs)).measures["score"] == 2.0


@pytest.mark.slow
def test_findings_follow_the_records(records):
    def at(distance):
        return lambda record: {"score": record.measures["reference"] + distance}

    low, high = (seen(records, at(d)) for d in (-5.0, 5.0))
    assert findings.always_reach(low).verdict == "does not hold"
    assert findings.always_reach(high).holds
    assert "16 of 16 (100%)" in findings.always_reach(high).ours
    assert not findings.umda_ends_there(low).holds
    assert findings.umda_ends_there(high).holds
    mixed = seen(records, at(5.0), order="given")
    assert findings.always_reach(mixed).verdict == "holds in part"
    slow = seen(records, lambda r: {"iterations": 500}, algorithm="PBIL", order="none")
    quick = seen(records, lambda r: {"iterations": 1}, algorithm="PBIL", order="none")
    assert not findings.pbil_is_fastest(slow).holds
    assert findings.pbil_is_fastest(quick).holds
    behind = seen(records, lambda r: {"iterations": 500}, algorithm="GA", order="given")
    assert findings.fewer_generations_with_order(behind).holds
    better = genetic.ga_prefers_no_order(seen(records, at(100.0), algorithm="GA", order="none"))
    assert better.verdict == "cannot be tested"
    assert "true in 4 of 4 columns." in better.ours
    worse = genetic.ga_prefers_no_order(seen(records, at(100.0), algorithm="GA", order="given"))
    assert "true in 0 of 4 columns" in worse.ours
    assert not definitions.entropy_has_no_charge(View(TINY, records)).holds
    assert definitions.entropy_has_no_charge(View(TINY, records)).apart
    sparse = seen(records, lambda r: {"arcs": 3}, settings=UNBOUNDED)
    assert definitions.entropy_has_no_charge(sparse).holds
    near = seen(records, lambda r: {"hamming": 0 if r.run["order"] == "given" else 9})
    assert findings.closer_with_order(near).holds
    assert not findings.closer_with_order(seen(records, lambda r: {"hamming": 4})).holds


def test_a_best_network_is_the_closest_of_equals(records):
    same = seen(records, lambda r: {"score": -1.0, "hamming": 3 + r.run["seed"]})
    assert same.best("asia", "k2", "given").measures["hamming"] == 3


def test_scores_of_the_document_are_not_held_against_other_rows(view):
    assert definitions.units_of_bic(view) is None


def test_expected_time_is_finite_and_grows_with_the_population():
    def costs(**settings):
        study = Blanco(networks=("alarm",), repeats=1, **settings)
        return sum(study.cost(run) for run in study.runs())

    assert 0 < costs(individuals=2) < costs(individuals=10) < math.inf


def test_a_reference_far_from_all_scores_is_a_note_and_squashes_no_box():
    line, note = figures._line_at_zero([-2.0, 1.0])
    assert line == (("generating network", 0.0),)
    assert not note
    assert figures._line_at_zero([10.0, 20.0])[0]
    line, note = figures._line_at_zero([61_640.0, 64_500.0])
    assert not line
    assert "every score is 61,640 or more above" in note
    assert "every score is 61,640 or more below" in figures._line_at_zero([-64_500.0, -61_640.0])[1]
