"""Resampled rows: what is drawn, that the answer does not depend on who draws, and odd data."""

import json
import multiprocessing
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.checks import generator
from bayescout.data.table import Table
from bayescout.errors import BayescoutWarning, DataError, SettingError, TooLargeError
from bayescout.evaluate import bootstrap, resampling
from bayescout.evaluate.bootstrapping import resampled
from bayescout.scores import bind
from tests.network.drawn_networks import continuous_table
from tests.strategies import discrete_table


def rng(seed):
    return np.random.Generator(np.random.PCG64(seed))


def sample(rows=300, seed=1):
    return bs.load_network("asia").sample(rows, seed=seed)


def test_as_many_rows_each_as_likely():
    table = discrete_table([np.arange(50), np.arange(50) % 2], [50, 2])
    drawn = np.zeros(50)
    for seed in range(400):
        rows = resampled(table, 50, rng(seed))
        assert rows.n_rows == 50
        assert rows.states == table.states
        assert np.array_equal(rows.codes[0] % 2, rows.codes[1])  # rows stay together
        drawn += np.bincount(rows.codes[0], minlength=50)
    assert drawn.sum() == 20_000
    assert np.abs(drawn - 400).max() < 5 * 20  # five standard deviations of a count of mean 400


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12).filter(any), st.integers(0, 99))
def test_a_weighted_table_is_resampled_as_the_table_it_stands_for(weights, seed):
    n, total = len(weights), sum(weights)
    weighted = discrete_table([np.arange(n)], [n], np.array(weights, dtype=float))
    copied = discrete_table([np.repeat(np.arange(n), weights)], [n])
    drawn = resampled(weighted, total, rng(seed))
    assert drawn.weights is None
    assert np.array_equal(drawn.codes, resampled(copied, total, rng(seed)).codes)


def test_weights_and_copies_learn_the_same():
    table = sample(60)
    counts = np.arange(60) % 4
    weighted = Table(table.names, table.states, table.codes, table.values, counts.astype(float))
    copied = table.take(np.repeat(np.arange(60), counts))
    one, two = (
        bootstrap(weighted, runs=5, search="hill-climb", score="bic"),
        bootstrap(copied, runs=5, search="hill-climb", score="bic"),
    )
    assert np.array_equal(one.votes, two.votes)
    assert one.graphs == two.graphs


@given(st.integers(0, 99))
@settings(max_examples=10)
def test_a_resample_scores_as_the_counts_of_its_rows(seed):
    """Copies of rows and rows weighted by their counts are the same data to every score."""
    table = sample(40)
    numbered = Table(
        ("row", *table.names),
        (tuple(range(40)), *table.states),
        np.vstack([np.arange(40, dtype=np.uint8)[None], table.codes]),
        table.values,
    )
    drawn = resampled(numbered, 40, rng(seed))
    counts = np.bincount(drawn.codes[0], minlength=40).astype(float)
    weighted = Table(table.names, table.states, table.codes, table.values, counts)
    families = [(0, ()), (1, (0,)), (5, (1, 3)), (7, (4, 6))]
    for name in ("bic", "bdeu", "k2", "qnml"):
        found = bind(name, drawn.select(table.names)).many(families)
        assert np.array_equal(found, bind(name, weighted).many(families)), name


def test_strengths_of_rows_drawn_are_those_of_learning_from_them():
    table = sample()
    found = bootstrap(table, runs=4, search="tabu", score="bdeu", seed=7)
    assert found.runs == 4
    for run in range(4):
        stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence((7, run))))
        rows = resampled(table, 300, stream)
        assert bs.learn(rows, "tabu", "bdeu").cpdag == found.graphs[run]


def test_seeds_decide_and_further_runs_leave_the_first_as_they_are():
    table = sample()
    ten = bootstrap(table, runs=10, seed=3, search="hill-climb", score="bic")
    assert ten.graphs == bootstrap(table, runs=10, seed=3, search="hill-climb", score="bic").graphs
    assert ten.graphs[:6] == bootstrap(table, runs=6, seed=3, search="hill-climb", score="bic").graphs
    assert ten.graphs != bootstrap(table, runs=10, seed=4, search="hill-climb", score="bic").graphs
    assert len(set(ten.graphs)) > 1


def test_processes_give_the_same_answer(monkeypatch):
    table = sample(100)
    expected = bootstrap(table, runs=6, workers=1, search="hill-climb", score="bic")
    monkeypatch.setattr(resampling, "WORTH_PROCESSES", 0.0)
    calls = []
    spread_out = resampling._rest
    monkeypatch.setattr(resampling, "_rest", lambda *given: calls.append(given[2]) or spread_out(*given))
    from joblib import parallel_config

    with parallel_config("threading"):
        found = bootstrap(table, runs=6, workers=2, search="hill-climb", score="bic")
    assert calls == [2]
    assert found.graphs == expected.graphs


@pytest.mark.slow
def test_other_processes_give_the_same_answer(monkeypatch):
    table = sample(100)
    expected = bootstrap(
        table, runs=6, score=lambda counts: float(np.sum(counts**2)), workers=1, search="hill-climb"
    )
    monkeypatch.setattr(resampling, "WORTH_PROCESSES", 0.0)
    found = bootstrap(
        table, runs=6, score=lambda counts: float(np.sum(counts**2)), workers=2, search="hill-climb"
    )
    assert found.graphs == expected.graphs


def in_processes_of_its_own():
    resampling.WORTH_PROCESSES = 0.0
    bootstrap(sample(100), runs=4, workers=2, search="hill-climb", score="bic")


@pytest.mark.slow
def test_a_process_of_multiprocessing_ends_with_its_work():
    """It waits for the processes that it started, and idle ones stay for five minutes."""
    own = multiprocessing.get_context("spawn").Process(target=in_processes_of_its_own)
    own.start()
    own.join(100)
    try:
        assert own.exitcode == 0
    finally:
        own.kill()


def test_reversible_edges_count_half_unless_graphs_are_counted():
    table = discrete_table([[0, 1] * 40, [0, 1] * 40], [2, 2])
    classes, graphs = (
        bootstrap(table, runs=5, search="hill-climb", score="bic"),
        bootstrap(table, runs=5, cpdag=False, search="hill-climb", score="bic"),
    )
    assert classes.strength("x0", "x1") == graphs.strength("x0", "x1") == 1.0
    assert classes.direction("x0", "x1") == 0.5
    assert graphs.direction("x0", "x1") in (0.0, 1.0)


def test_knowledge_holds_in_every_direction():
    table = discrete_table([[0, 1] * 40, [0, 1] * 40], [2, 2])
    found = bootstrap(
        table, runs=5, knowledge=bs.Knowledge(forbidden=[("x0", "x1")]), search="hill-climb", score="bic"
    )
    assert found.direction("x1", "x0") == 1.0
    assert list(found.averaged().arcs()) == [("x1", "x0")]
    required = bootstrap(
        sample(),
        runs=5,
        knowledge=bs.Knowledge(required=[("xray", "asia")]),
        search="hill-climb",
        score="bic",
    )
    assert required.averaged().has_arc("xray", "asia")


def test_frames_and_gaussian_data():
    stream = np.random.default_rng(1)
    x, noise, z = np.linalg.qr(stream.normal(size=(200, 3)))[0].T  # uncorrelated in the sample
    frame = pd.DataFrame({"x": x, "y": x + 0.5 * noise, "z": z})
    found = bootstrap(frame, runs=20, search="hill-climb", score="bic")
    assert found.strength("x", "y") == 1.0
    assert found.strength("x", "z") < 0.5
    assert found.averaged().skeleton() == (("x", "y"),)
    json.dumps(found.to_dict(), allow_nan=False)


def test_fewer_rows_can_be_drawn():
    table = sample()
    assert (
        bootstrap(table, runs=3, rows=30, search="hill-climb", score="bic").graphs
        != bootstrap(table, runs=3, search="hill-climb", score="bic").graphs
    )


def test_states_that_are_never_drawn_and_constant_columns_do_no_harm():
    rare = discrete_table([[0] * 39 + [1], [0] * 40, [0, 1] * 20], [3, 1, 2])
    found = bootstrap(rare, runs=10, search="hill-climb", score="bic")
    assert found.runs == 10
    assert found.strength("x0", "x1") == 0.0


def test_a_resample_with_a_constant_number_is_learned_without_it():
    """Twin: the graph of the same rows without the column, which is a node without arcs."""
    stream = np.random.default_rng(1)
    x, rare = stream.normal(size=40), np.where(np.arange(40) < 1, 2.5, 0.0)
    codes = stream.integers(2, size=40)
    table = bs.as_table(
        {"x": x, "rare": rare, "y": x + stream.normal(size=40), "k": [*map("ab".__getitem__, codes)]},
        kinds={"rare": "continuous"},
    )
    for names in (("x", "rare", "y"), ("x", "rare", "y", "k"), ("rare", "k")):
        some, constant, checked = table.select(names), 0, 0
        with pytest.warns(BayescoutWarning, match=r"'rare' is constant in some resamples \(\d+ of 20\)"):
            found = bootstrap(some, runs=20, search="hill-climb", score="bic", cpdag=False)
        for run, graph in enumerate(found.graphs):
            drawn = resampled(some, 40, generator(0, run))
            assert graph.nodes == names
            if drawn.limits("rare") == (0.0, 0.0):
                constant += 1
                left = drawn.select([name for name in names if name != "rare"])
                alone = bs.learn(left, "hill-climb", "bic")
                assert set(graph.arcs()) == set(alone.dag.arcs())
            else:
                checked += 1
        assert constant >= 2
        assert checked >= 2


def test_constant_numbers_are_told_of_once_whatever_is_constant_where():
    stream = np.random.default_rng(1)
    rare = {f"r{i}": np.where(np.arange(40) == i, 2.5, 0.0) for i in range(3)}
    table = bs.as_table({"x": stream.normal(size=40), **rare}, kinds="continuous")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        bootstrap(table, runs=10, search="hill-climb", score="bic", workers=1)
    (told,) = [str(one.message) for one in said if one.category is BayescoutWarning]
    assert told.startswith("'r0', 'r1', 'r2' are constant in some resamples (")


def test_a_constant_number_with_missing_cells_is_a_state_with_missing_cells():
    table = bs.as_table({"x": [1.5, None, 1.5, 1.5], "y": [0.5, 1.5, 2.5, 3.75], "k": list("abab")},
                        kinds={"x": "continuous", "y": "continuous"})  # fmt: skip
    assert resampling.constants_in(table) == {"x": 1.5}
    found = resampling.as_states(table, {"x": 1.5})
    assert found.states == ((1.5,), None, ("a", "b"))
    assert found.column("x") == [1.5, None, 1.5, 1.5]
    assert found.column("y") == table.column("y")
    assert found.column("k") == table.column("k")


def test_a_resample_that_cannot_be_scored_is_named():
    table = continuous_table("xy", [[0.0] * 9 + [1.0], np.arange(10.0)])
    with pytest.raises(DataError, match=r"resample \d+ of 100: column 'x' is constant"):
        bootstrap(table, runs=100, search="hill-climb", score="bge")


def test_what_is_refused():
    table = sample(30)
    with pytest.raises(SettingError, match="runs must be a whole number of at least 1"):
        bootstrap(table, runs=0, search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="rows must be"):
        bootstrap(table, rows=0, search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="seed must be"):
        bootstrap(table, seed=-1, search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="workers"):
        bootstrap(table, workers=0, search="hill-climb", score="bic")
    for name in ("checkpoint", "callback"):
        with pytest.raises(SettingError, match=f"{name} is for one run of learn"):
            bootstrap(table, **{name: None})
    with pytest.raises(SettingError, match="speaks of one table and cannot follow"):
        bootstrap(table, score=bind("bic", table), search="hill-climb")
    with pytest.raises(DataError, match="no rows"):
        bootstrap(table.take(np.arange(0)), search="hill-climb", score="bic")
    heavy = Table(table.names, table.states, table.codes, table.values, np.full(30, 1e12))
    with pytest.raises(TooLargeError, match="rescale the row weights"):
        bootstrap(heavy, search="hill-climb", score="bic")


def test_an_interrupted_run_ends_the_whole(monkeypatch):
    class Interrupted:
        stop_reason = "interrupted"

    monkeypatch.setattr(resampling, "learn", lambda *given, **more: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        bootstrap(sample(30), runs=3, search="hill-climb", score="bic")


def test_progress_is_shown_on_standard_error_only(capsys):
    bootstrap(sample(30), runs=3, progress=True, search="hill-climb", score="bic")
    assert capsys.readouterr().out == ""
