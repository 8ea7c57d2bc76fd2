"""Cross-validation: folds that partition, held-out values by hand, and folds that lack something."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.data.table import Table
from bayescout.errors import DataError, SettingError
from bayescout.evaluate import cross_validate, held_out
from bayescout.evaluate.cross_validation import assigned
from tests.network.drawn_networks import continuous_table
from tests.strategies import discrete_table


def sample(rows=200, seed=1):
    return bs.load_network("asia").sample(rows, seed=seed)


@given(st.integers(2, 60), st.data())
def test_every_row_is_in_one_fold_and_sizes_differ_by_one_at_most(rows, data):
    folds = data.draw(st.integers(2, rows))
    numbers = assigned(rows, folds, data.draw(st.integers(0, 9)))
    sizes = np.bincount(numbers, minlength=folds)
    assert len(numbers) == rows
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1


def test_each_fold_is_learned_from_the_others():
    table = sample()
    found = cross_validate(table, "tabu", "bdeu", folds=4, seed=5)
    assert len(found) == len(found.folds) == 4
    for number, fold in enumerate(found):
        rest, own = table.take(found.assignment != number), table.take(found.assignment == number)
        result = bs.learn(rest, "tabu", "bdeu", seed=5)
        assert fold.dag == result.dag == found.graphs[number]
        assert fold.score == result.score
        assert fold.held_out == held_out(result.dag, rest, own)
    assert found.total == pytest.approx(sum(fold.held_out.total for fold in found))
    assert found.mean == float(found) == pytest.approx(found.total / 200)
    means = [fold.held_out.mean for fold in found]
    assert found.standard_error == pytest.approx(np.std(means, ddof=1) / 2)
    assert sum(fold.held_out.rows for fold in found) == 200


def test_the_seed_decides_and_workers_do_not():
    table = sample()
    one = cross_validate(table, folds=5, seed=2, workers=1, search="hill-climb", score="bic")
    assert (
        one.to_dict()
        == cross_validate(table, folds=5, seed=2, workers=2, search="hill-climb", score="bic").to_dict()
    )
    assert one.to_dict() != cross_validate(table, folds=5, seed=3, search="hill-climb", score="bic").to_dict()


def test_a_better_structure_has_a_better_held_out_likelihood():
    table = bs.load_network("child").sample(500, seed=1)
    learned = cross_validate(table, folds=5, search="hill-climb", score="bic")
    nothing = cross_validate(
        table, folds=5, knowledge=bs.Knowledge(max_parents=0), search="hill-climb", score="bic"
    )
    assert all(graph.n_arcs == 0 for graph in nothing.graphs)
    assert learned.mean > nothing.mean + 10 * learned.standard_error


def test_a_state_that_training_lacks_is_not_fatal():
    """One row alone has the state 2; the fold it is in is scored with a graph that never saw it."""
    rows = 20
    table = discrete_table([[0, 1] * (rows // 2), [0] * (rows - 1) + [2]], [2, 3])
    found = cross_validate(table, folds=rows, search="hill-climb", score="bic")
    assert math.isfinite(found.total)
    assert found.impossible_rows == 0
    plain = cross_validate(table, folds=rows, prior="mle", search="hill-climb", score="bic")
    assert plain.total == plain.mean == -math.inf
    assert plain.standard_error == math.inf
    assert plain.impossible_rows == 1
    assert "-inf ± inf" in str(plain)
    json.dumps(plain.to_dict(), allow_nan=False)


def test_constant_columns_are_certain():
    table = discrete_table([[0, 1] * 10, [0] * 20], [2, 1])
    found = cross_validate(table, folds=4, search="hill-climb", score="bic")
    alone = cross_validate(table.select(["x0"]), folds=4, search="hill-climb", score="bic")
    assert found.total == pytest.approx(alone.total)


def test_weights_are_kept_and_rows_without_weight_left_out():
    table = sample(60)
    weights = np.arange(60) % 3 * 1.5
    weighted = Table(table.names, table.states, table.codes, table.values, weights)
    found = cross_validate(weighted, folds=3, search="hill-climb", score="bic")
    assert len(found.assignment) == int((weights > 0).sum())
    assert sum(fold.held_out.weight for fold in found) == pytest.approx(weights.sum())
    assert found.mean == pytest.approx(found.total / weights.sum())


def test_gaussian_frames():
    stream = np.random.default_rng(1)
    x = stream.normal(size=100)
    frame = pd.DataFrame({"x": x, "y": 2 * x + stream.normal(size=100)})
    found = cross_validate(frame, folds=5, search="hill-climb", score="bic")
    assert all(graph.n_arcs == 1 for graph in found.graphs)
    assert math.isfinite(found.mean)
    assert found.folds[0].held_out.prior == "mle"
    with pytest.raises(SettingError, match="prior 'laplace' is for discrete data"):
        cross_validate(frame, prior="laplace", search="hill-climb", score="bic")


def test_a_fold_that_leaves_a_constant_column_is_named():
    table = continuous_table("xy", [[0.0] * 9 + [1.0], np.arange(10.0)])
    with pytest.raises(DataError, match=r"without fold \d: column 'x' is constant"):
        cross_validate(table, folds=10, search="hill-climb", score="bic")


def test_what_is_refused():
    table = sample(9)
    with pytest.raises(DataError, match=r"10 folds need at least 10 rows .* have 9; ask for fewer folds"):
        cross_validate(table, search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="folds must be a whole number of at least 2"):
        cross_validate(table, folds=1, search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="unknown prior 'flat'; choose one of mle"):
        cross_validate(table, folds=3, prior="flat", search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="seed"):
        cross_validate(table, folds=3, seed="x", search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="checkpoint is for one run"):
        cross_validate(table, folds=3, checkpoint="file", search="hill-climb", score="bic")


def test_it_reads_well():
    found = cross_validate(sample(50), folds=5, search="hill-climb", score="bic")
    lines = str(found).splitlines()
    assert lines[0].startswith("5-fold cross-validation: -")
    assert len(lines) == 7
    assert repr(found).startswith("<CrossValidation: 5 folds, -")
    as_json = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(as_json["folds"]) == 5
    assert not found.assignment.flags.writeable


def test_unseen_lookups_are_counted_over_the_folds():
    found = cross_validate(
        sample(40), folds=8, score="loglik", knowledge=bs.Knowledge(max_parents=3), search="hill-climb"
    )
    assert found.n_unseen == sum(sum(fold.held_out.unseen.values()) for fold in found) > 0
