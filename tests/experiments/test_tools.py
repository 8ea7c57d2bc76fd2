"""What runs are made of, what records say, and how groups are compared."""

from __future__ import annotations

import math
import os
import signal
import statistics
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import DataError, SettingError, UnknownNameError
from bayescout.experiments import STUDIES, tools
from bayescout.experiments.comparisons import best_of, daggers, mann_whitney
from bayescout.experiments.parts import cpt_tables, held, mean_series, plus_minus, share
from bayescout.experiments.records import Record, Records, deviation, mean
from bayescout.experiments.runner import keyed
from bayescout.experiments.tools import (
    data_of,
    facts_of,
    file_data,
    learned,
    network_of,
    parameters_of,
    scored,
    structure_of,
    truth_of,
    with_digests,
)

ASIA = {"network": "asia", "rows": 200, "seed": 4}
NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


# ---- runs


def test_declared_data_are_sampled_as_said():
    assert data_of(ASIA).fingerprint == bs.load_network("asia").sample(200, seed=4).fingerprint
    random = {"random": {"nodes": 4, "arcs": 3, "seed": 5}, "rows": 50, "seed": 2}
    network = bs.random_network(nodes=4, arcs=3, seed=5)
    assert network_of(random).dag == network.dag
    assert data_of(random).fingerprint == network.sample(50, seed=2).fingerprint
    assert truth_of({"data": random}) == network.dag


def test_a_file_that_has_changed_is_refused(tmp_path):
    path = tmp_path / "d.csv"
    data_of(ASIA).save(path)
    declared = file_data(str(path))
    assert data_of(declared).n_rows == 200
    assert truth_of({"data": declared}) is None
    data_of({**ASIA, "seed": 5}).save(path)
    assert file_data(str(path)) != declared
    from bayescout.experiments.tools import _table

    _table.cache_clear()
    with pytest.raises(DataError, match="has changed since the study was declared"):
        data_of(declared)


@pytest.mark.parametrize("name", ["network", "truth", "handcrafted"])
def test_the_files_of_networks_are_declared_by_their_content(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bs.load_network("asia").save("n.bif")
    (tmp_path / "asia").write_text("")  # a shipped network's name wins over a file
    run = {"data": {"inner": {name: "n.bif", "rows": 5}}, "seed": 1}
    declared = with_digests(run)
    assert declared == {"data": {"inner": {**run["data"]["inner"], f"{name}_digest": ANY}}, "seed": 1}
    assert with_digests(declared) == declared
    for other in ("asia", "none.bif", "[a][b|a]", None, 3):
        assert with_digests({name: other}) == {name: other}
    inner = declared["data"]["inner"]
    assert structure_of(inner, name) == network_of(inner, name).dag == bs.load_network("asia").dag
    before = (tmp_path / "n.bif").stat()
    bs.load_network("cancer").save("n.bif")
    os.utime("n.bif", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert with_digests(run) != declared
    tools._network_file.cache_clear()
    tools._structure_file.cache_clear()
    for opened in (network_of, structure_of):
        with pytest.raises(DataError, match=r"n.bif has changed since the study was declared"):
            opened(inner, name)


def test_every_study_that_names_a_file_has_other_runs_when_it_changes(tmp_path):
    path, data = tmp_path / "n.bif", str(tmp_path / "d.csv")
    bs.load_network("survey").sample(30, seed=1).save(data)
    studies = [
        STUDIES["lau"].of_size("tiny", others=0, data_a=data, truth_a=str(path)),
        STUDIES["maua"].of_size("tiny", train=data, test=data, handcrafted=str(path)),
        STUDIES["maua"].of_size("tiny", networks=(str(path),)),
        STUDIES["blanco"].of_size("tiny", networks=(str(path),)),
    ]
    bs.load_network("survey").save(path)
    before = [set(keyed(study)) for study in studies]
    assert before == [set(keyed(study)) for study in studies]
    bs.load_network("cancer").save(path)
    after = [set(keyed(study)) for study in studies]
    assert [len(old & new) for old, new in zip(before, after, strict=True)] == [len(before[0]) // 2, 0, 0, 0]


def test_learning_as_declared_is_learning():
    run = {
        "data": ASIA,
        "search": {"name": "tabu", "length": 7},
        "score": {"name": "bdeu", "ess": 3},
        "start": "random",
        "seed": 6,
        "knowledge": {"max_parents": 2, "forbidden": [["smoke", "lung"]]},
        "max_steps": 9,
    }
    result = learned(run)
    same = bs.learn(
        data_of(ASIA),
        bs.search.Tabu(length=7),
        bs.scores.BDeu(ess=3),
        bs.Knowledge(max_parents=2, forbidden=[("smoke", "lung")]),
        start="random",
        seed=6,
        max_steps=9,
    )
    assert (result.dag, result.score, result.trace[-1].step) == (same.dag, same.score, 9)
    facts = facts_of(result, trace=("best", "evaluations"))
    assert Record("k", "s", {}, facts).dag == result.dag
    assert facts["trace"]["best"] == [step.best for step in result.trace]
    assert facts["score"] == result.score
    with pytest.raises(SettingError, match="no column 'seconds'; it has step, score, best"):
        facts_of(result, trace=("seconds",))


def test_an_interrupted_search_is_an_interrupted_run():
    """The search keeps Ctrl-C to itself and gives its best so far, which is not what was declared."""
    run = {"data": ASIA, "search": "hill-climb", "score": "bic"}
    with pytest.raises(KeyboardInterrupt):
        learned(run, callback=lambda step: signal.raise_signal(signal.SIGINT) if step.step == 1 else None)


def test_scores_and_parameters_are_those_of_the_library():
    dag = bs.load_network("asia").dag
    table = data_of(ASIA)
    assert scored(dag, table, {"name": "bdeu", "ess": 2}) == bs.score(dag, table, bs.scores.BDeu(ess=2))
    assert parameters_of(dag, table) == bs.score_parts(dag, table).parameters == 18


# ---- records


def records_of(values):
    return Records(
        Record(str(i), "s", {"a": {"n": i % 2}, "b": i % 3}, {"x": value}, seconds=1.0)
        for i, value in enumerate(values)
    )


def test_records_are_chosen_by_what_was_declared():
    records = records_of([float(i) for i in range(12)])
    assert records.where(a={"n": 1}, b=2).values("x") == (5.0, 11.0)
    assert records.where(c=1).values("x") == ()
    groups = list(records.groups("b", "a"))
    assert [values for values, _ in groups][:2] == [(0, {"n": 0}), (1, {"n": 1})]
    assert sum(len(some) for _, some in groups) == 12
    assert records[2:4].values("x") == (2.0, 3.0)
    assert records.values("seconds") == (1.0,) * 12
    with pytest.raises(UnknownNameError, match="unknown measure 'y'"):
        records.values("y")


@given(st.lists(st.none() | st.floats(-1e6, 1e6), max_size=8))
def test_means_and_deviations_leave_out_what_is_not_there(values):
    numbers = [value for value in values if value is not None]
    middle, spread = records_of(values).mean_sd("x")
    assert middle == (pytest.approx(statistics.fmean(numbers), abs=1e-6) if numbers else None)
    assert spread == (pytest.approx(statistics.stdev(numbers), abs=1e-6) if len(numbers) > 1 else None)
    assert (mean(numbers), deviation(numbers)) == (middle, spread)


def test_failures_are_apart():
    records = Records([Record("a", "s", {}), Record("b", "s", {}, reason="broke")])
    assert [record.key for record in records.done] == ["a"]
    assert [record.key for record in records.failures] == ["b"]


# ---- comparing


def by_counting(one, two):
    """The two-sided exact p-value: the share of all splits of the values at least as far apart."""
    from itertools import combinations

    values = [*one, *two]

    def statistic(chosen):
        first = [values[i] for i in chosen]
        second = [values[i] for i in range(len(values)) if i not in chosen]
        return sum((a > b) + 0.5 * (a == b) for a in first for b in second)

    middle = len(one) * len(two) / 2
    observed = abs(statistic(range(len(one))) - middle)
    splits = [abs(statistic(set(chosen)) - middle) for chosen in combinations(range(len(values)), len(one))]
    return sum(found >= observed - 1e-9 for found in splits) / len(splits)


@given(st.permutations(range(7)), st.integers(1, 6))
def test_the_test_of_mann_and_whitney_counts_splits(order, cut):
    one, two = [float(x) for x in order[:cut]], [float(x) for x in order[cut:]]
    assert mann_whitney(one, two) == pytest.approx(by_counting(one, two))


@given(NUMBERS, NUMBERS)
def test_p_values_are_probabilities_and_symmetric(one, two):
    found = mann_whitney(one, two)
    assert 0 <= found <= 1
    assert found == pytest.approx(mann_whitney(two, one))


def test_nothing_speaks_against_what_is_equal_or_not_there():
    assert mann_whitney([1.0] * 5, [1.0] * 9) == 1
    assert mann_whitney([], [1.0]) == 1


def test_daggers_mark_what_differs_from_the_best():
    low, high = [float(i) for i in range(10)], [float(i) for i in range(100, 110)]
    near = [float(i) + 0.5 for i in range(100, 110)]
    assert daggers([low, high, near]) == ["†", "", ""]
    assert daggers([low, high, near], larger=False) == ["", "†", "†"]
    assert daggers([[], low]) == ["", ""]
    assert best_of([[1.0], [2.0], [2.0]]) == 1
    assert best_of([[], []]) == 0


# ---- parts


def test_shown_numbers():
    assert plus_minus([1.0, 3.0]) == "2.00 ± 1.41"
    assert plus_minus([1234.5], 1, "†") == "1,234.5†"
    assert plus_minus([]) == "-"
    assert share(1, 8) == "1 of 8 (12%)"
    assert share(0, 0) == "none"


def test_a_run_that_has_ended_stays_where_it_ended():
    assert held([[1.0], [2.0, 3.0, 4.0]]) == [[1.0, 1.0, 1.0], [2.0, 3.0, 4.0]]
    series = mean_series("m", [[1.0], [3.0, 5.0]], band=True)
    assert series.x == (0.0, 1.0)
    assert series.y == (2.0, 3.0)
    assert series.high[0] - series.y[0] == pytest.approx(math.sqrt(2))
    assert held([]) == []


def test_probabilities_that_the_data_do_not_tell_are_shown_as_such():
    table = bs.as_table({"a": ["x", "x", "y"], "b": ["u", "v", "u"]}, states={"a": ["x", "y", "z"]})
    tables = dict(cpt_tables(bs.Dag.from_arcs([("a", "b")], nodes=["a", "b"]), table))
    assert tables["b"].columns == ("a", "u", "v")
    assert tables["b"].rows == (("x", "0.500", "0.500"), ("y", "1.000", "0.000"), ("z", "---", "---"))
