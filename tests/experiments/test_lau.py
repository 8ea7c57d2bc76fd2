"""The lau study: its data, its runs against plain calls, and findings that follow the records."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from statistics import mean

import pytest

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.experiments import Records
from bayescout.experiments.lau import Lau, findings
from bayescout.experiments.lau import data as sets
from bayescout.experiments.lau.names import BEST_OF_16, CLIMB, EQUAL_WORK
from bayescout.experiments.lau.study import ASCENTS, best_ascent
from bayescout.experiments.lau.view import CORRECTED, View
from bayescout.experiments.runner import keyed
from tests.experiments.changed_records import changed
from tests.experiments.outcome_checks import check_outcome, tables_of


@pytest.fixture(scope="module")
def records(tiny_studies):
    return tiny_studies("lau")[1].records


def test_the_robot_has_the_bits_of_the_document():
    """Entropy by definition, over the joint; the document's 100 rows have 189.563 bits."""
    robot = sets.robot()
    assert {node: robot.dag.parents_of(node) for node in "GBML"} == {
        "G": ("B",),
        "B": (),
        "M": ("B", "L"),
        "L": (),
    }
    assert robot.n_parameters == 8
    states = ("true", "false")
    joint = [
        robot.probability(dict(zip("GBML", values, strict=True))) for values in product(states, repeat=4)
    ]
    bits = -sum(p * math.log2(p) for p in joint if p)
    assert sum(joint) == pytest.approx(1)
    assert bits == pytest.approx(1.857, abs=5e-4)


def test_the_seed_is_the_first_that_lacks_a_configuration():
    lacking = [
        bs.fit(sets.robot().dag, sets.robot().sample(100, seed=seed)).n_undefined > 0 for seed in range(2)
    ]
    assert lacking.index(True) == sets.SEED_A


def test_the_penalties_are_the_document_s(records):
    table = tables_of(Lau().outcome(records))["references"]
    rows = {row[0]: row for row in table.rows}
    own = rows["A (block-lifting robot, 100 rows)"]
    assert own[table.columns.index("penalty")] == pytest.approx(rows["the document's A"][3], abs=5e-4)
    assert 8 * math.log2(100) / 2 == pytest.approx(26.575, abs=5e-4)
    robot = sets.robot()
    score = bs.score(robot.dag, robot.sample(100, seed=sets.SEED_A), "bic")
    assert own[table.columns.index("BIC")] == pytest.approx(score / math.log(2))


def test_a_climb_is_what_learn_gives(records):
    record = records.where(method=CLIMB, start="random", score="k2", seed=1)[0]
    result = bs.learn(sets.table_of(record.run["data"]), "first-ascent", "k2", start="random", seed=1)
    assert record.dag == result.dag
    assert record.measures["score"] == result.score
    assert record.measures["iterations"] == result.counters.iterations
    assert record.measures["operations"] == result.counters.operations
    assert record.measures["trace"]["score"] == [step.score for step in result.trace]
    parts = bs.score_parts(result.dag, sets.table_of(record.run["data"]), "bic")
    assert record.measures["parameters"] == parts.parameters
    assert record.measures["log_likelihood"] == pytest.approx(parts.log_likelihood)


def test_the_best_of_sixteen_begins_as_the_genetic_population_does():
    run = next(r for r in keyed(Lau.of_size("tiny")).values() if r["method"] == BEST_OF_16)
    table = sets.table_of(run["data"])
    results = [
        bs.learn(table, "first-ascent", run["score"], start="random" if i else "empty", seed=1_000_000 + i)
        for i in range(ASCENTS)
    ]
    result, facts = best_ascent(run, 0)
    assert result.score == max(r.score for r in results)
    assert facts["operations"] == sum(r.counters.operations for r in results)
    assert facts["ascents"] == ASCENTS


def test_equal_work_considers_as_many_operations_as_the_genetic_algorithm(records):
    for record in records.where(method=EQUAL_WORK):
        (gene,) = records.where(
            method="genetic-greedy",
            data=record.run["data"],
            score=record.run["score"],
            seed=record.run["seed"],
        )
        assert record.measures["operations"] >= gene.measures["operations"]


def test_an_effort_table_is_the_mean_of_the_runs(records):
    table = tables_of(Lau().outcome(records))["effort"]
    climbs = [
        record
        for record in records
        if record.run["method"] == CLIMB
        and record.run["data"]["name"] == "B"
        and record.run["start"] == "random"
        and record.run["score"] == CORRECTED
    ]
    row = next(row for row in table.rows if row[:2] == ("B", "random"))
    iterations = [record.measures["iterations"] for record in climbs]
    assert row[2] == 25.94
    assert row[3].startswith(f"{mean(iterations):.2f} ±")
    operations = sum(record.measures["operations"] for record in climbs)
    assert row[7] == pytest.approx(operations / sum(iterations))


def test_local_maxima_are_counted_by_start(records):
    found = View(records).maxima("A", "k2")
    climbs = View(records).climbs("A", "k2")
    assert sum(one.unconnected + one.random for one in found) == len(climbs)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert len({one.dag for one in found}) == len(found)


# ---- findings follow the records


CHANGES = [
    ("faster_with_bic", "iterations", {"score": "k2"}, 1000, 0),
    ("simpler_with_bic", "parameters", {"score": "k2"}, 1000, 0),
    ("fits_better_with_bd", "log_likelihood", {"score": "k2"}, 0.0, -1e9),
    ("genetic_is_slower", "operations", {"method": "genetic-greedy"}, 1e6, 0),
    ("best_of_sixteen", "score", {"method": BEST_OF_16}, 0.0, -1e9),
    ("genetic_finds_the_best", "score", {"method": "genetic-greedy"}, 0.0, -1e9),
]


@pytest.mark.parametrize(
    ("name", "measure", "declared", "yes", "no"), CHANGES, ids=lambda value: str(value)[:20]
)
def test_a_finding_is_what_the_records_say(records, name, measure, declared, yes, no):
    for value, holds in ((yes, True), (no, False)):
        view = View(changed(records, lambda _, value=value: {measure: value}, **declared))
        finding = getattr(findings, name)(view)
        assert finding.holds is holds
        assert bool(finding.why) is not holds


def test_which_start_is_better_is_what_the_records_say(records):
    for start in ("empty", "random"):
        view = View(changed(records, lambda _: {"score": 0.0}, method=CLIMB, start=start, score=CORRECTED))
        assert findings.better_start(view, "A", "empty").holds is (start == "empty")
        assert findings.better_start(view, "A", "random").holds is (start == "random")


@pytest.mark.slow
def test_catching_up_is_what_the_traces_say(records):
    def first(scores):
        return lambda record: {"trace": {**record.measures["trace"], "score": scores}}

    late = changed(records, first([-9.0, -8.0, -7.0, -1.0]), method=CLIMB, start="empty", score=CORRECTED)
    late = changed(late, first([-5.0, -4.0, -3.0, -2.0]), method=CLIMB, start="random", score=CORRECTED)
    finding = findings.catches_up(View(late), "A", 3)
    assert finding.holds
    assert "begins lower and has caught up at iteration 3" in finding.ours
    never = changed(late, first([-9.0] * 4), method=CLIMB, start="empty", score=CORRECTED)
    assert "has not caught up" in findings.catches_up(View(never), "A", 3).ours
    assert not findings.catches_up(View(never), "A", 3).holds


# ---- own files


@pytest.mark.parametrize("structure", [False, True])
def test_own_files_take_the_place_of_the_data(records, tmp_path, structure):
    robot = sets.robot()
    robot.sample(100, seed=sets.SEED_A).save(tmp_path / "own.csv")
    robot.save(tmp_path / "own.json")
    truth = str(tmp_path / "own.json") if structure else ""
    study = Lau(repeats=2, data_a=str(tmp_path / "own.csv"), truth_a=truth)
    run = next(iter(keyed(study).values()))
    assert study.measure(run)["score"] == records[0].measures["score"]
    own = Records(
        replace(record, run={**record.run, "data": run["data"]})
        if record.run["data"]["name"] == "A"
        else record
        for record in records
    )
    outcome = study.outcome(own)
    check_outcome(outcome)
    shown = [str(row[0]) for row in tables_of(outcome)["references"].rows]
    assert [name for name in shown if name.startswith("A (")] == [f"A ({tmp_path / 'own.csv'})"] * structure
    assert any("one given with the data" in finding.claim for finding in outcome.findings) is structure


@pytest.mark.parametrize("settings", [{"repeats": 1}, {"rows_a": 0}, {"rows_b": "many"}, {"repeats": True}])
def test_impossible_sizes_are_refused(settings):
    with pytest.raises(SettingError, match="must be a whole number of at least 2"):
        Lau(**settings)


# ---- B, and starts from full graphs


def test_a_full_graph_has_every_arc_of_an_order():
    nodes = tuple("abcdef")
    graphs = {sets.full_graph(nodes, seed) for seed in range(8)}
    assert len(graphs) > 1
    for dag in graphs:
        assert dag.nodes == nodes
        assert dag.n_arcs == 15
        order = dag.order()
        assert {(a, b) for i, a in enumerate(order) for b in order[i + 1 :]} == set(dag.arcs())


def test_full_starts_are_run_from_full_graphs(records):
    for record in records.where(method=CLIMB, start="full", score="k2"):
        table = sets.table_of(record.run["data"])
        start = sets.full_graph(table.names, record.run["seed"])
        own = bs.score(start, table, "k2")
        assert record.measures["trace"]["score"][0] == pytest.approx(own)


@pytest.mark.slow
def test_b_is_the_nearest_network_of_those_looked_at():
    """Best networks by exact search; where the generating one is far below, so is the best."""
    found = {}
    for seed in range(400):
        network = bs.random_network(**{**sets.NETWORK_B, "seed": seed})
        table = network.sample(5000, seed=sets.SEED_B)
        if abs(bs.score(network.dag, table, "bic-laplace") / math.log(2) - sets.SCORE_B) > 400:
            continue
        best = bs.learn(table, "optimal", "bic-laplace")
        parts = bs.score_parts(best.dag, table, "bic")
        if parts.parameters in sets.PARAMETERS_B:
            found[seed] = abs(best.score / math.log(2) - sets.SCORE_B)
    assert min(found, key=found.__getitem__) == sets.NETWORK_B["seed"]
