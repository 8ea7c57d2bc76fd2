"""Scores of tables with columns of both kinds, against their definitions, and the laws of the theory."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, DataError, TooLargeError
from bayescout.scores import SCORES, bind, formula_named
from bayescout.statistics.mixed import ConditionalGaussian
from tests.reference import mixed as twin
from tests.reference import scores as plain_twin
from tests.scores.drawn_data import (
    continuous_table,
    discrete_tables,
    families,
    legal_families,
    mixed_table,
    mixed_tables,
)
from tests.strategies import examples

CG, DG = ("cg-loglik", "cg-aic", "cg-bic", "cg-ebic"), ("dg-loglik", "dg-aic", "dg-bic", "dg-ebic")
pytestmark = pytest.mark.filterwarnings("ignore:columns that are linear functions")


def is_discrete(table, variable):
    return table.states[variable] is not None


def expected_likelihood(table, child, parents):
    if not is_discrete(table, child):
        return twin.conditional_gaussian(table, child, parents)
    rows = list(zip(*(table.array(name).tolist() for name in table.names), strict=True))
    weights = [1] * table.n_rows if table.weights is None else table.weights.astype(int).tolist()
    rows = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    return plain_twin.log_likelihood(rows, child, parents)


def expected_size(table, child, parents):
    q = math.prod(len(table.states[p]) for p in parents if is_discrete(table, p))
    if is_discrete(table, child):
        return q * (len(table.states[child]) - 1)
    return q * (sum(not is_discrete(table, p) for p in parents) + 2)


@given(data=st.data())
def test_conditional_gaussian_scores_equal_their_definition(data):
    table = data.draw(mixed_tables(weighted=True))
    child, parents = data.draw(legal_families(table))
    likelihood = expected_likelihood(table, child, parents)
    assume(likelihood is not None)
    n, p = table.total_weight, table.n_columns
    charges = {"loglik": 0.0, "aic": 1.0, "bic": math.log(n) / 2, "ebic": math.log(n) / 2 + math.log(p) / 2}
    for name, charge in charges.items():
        expected = likelihood - charge * expected_size(table, child, parents)
        assert bind(f"cg-{name}", table).local(child, parents) == pytest.approx(expected, abs=2e-6, rel=1e-8)
        assert bind(name, table).local(child, parents) == bind(f"cg-{name}", table).local(child, parents)


@given(data=st.data())
def test_degenerate_gaussian_scores_equal_their_definition(data):
    table = data.draw(mixed_tables(weighted=True))
    child, parents = data.draw(families(table.n_columns))
    found = bind("dg-loglik", table).local(child, parents)
    if not math.isfinite(found):
        return  # as many columns as rows
    matrix, _ = twin.indicator_matrix(table)
    scale = np.sqrt(np.diag(matrix))
    assume(np.linalg.eigvalsh(matrix / np.outer(scale, scale)).min() > 1e-5)
    likelihood, size = twin.degenerate_gaussian(table, child, parents)
    assert found == pytest.approx(likelihood, abs=1e-5, rel=1e-8)
    charged = likelihood - size * math.log(table.total_weight) / 2
    assert bind("dg-bic", table).local(child, parents) == pytest.approx(charged, abs=1e-5, rel=1e-8)


@settings(max_examples=examples(40))
@given(data=st.data())
def test_degenerate_parameters_are_those_published_and_one_mean_per_column_of_the_child(data):
    """Andrews, Ramsey & Cooper: a (a + 1) / 2 - b (b + 1) / 2; the difference is the same for every graph."""
    table = data.draw(mixed_tables())
    child, parents = data.draw(families(table.n_columns))
    _, owners = twin.indicator_matrix(table)
    own, given_columns = int((owners == child).sum()), int(np.isin(owners, parents).sum())
    both = own + given_columns
    published = (both * (both + 1) - given_columns * (given_columns + 1)) / 2
    found = bind("dg-bic", table).statistics.many([(child, parents)]).parameters()
    assert found.tolist() == [published + own]


@pytest.mark.parametrize("name", [*CG, "dg-loglik", "dg-bic"])
@given(data=st.data())
def test_extensions_many_and_local_agree(name, data):
    table = data.draw(mixed_tables())
    child, parents = data.draw(families(table.n_columns, max_parents=3))
    others = [v for v in range(table.n_columns) if v != child and v not in parents]
    assume(others)
    extended = [(child, tuple(sorted((*parents, x)))) for x in others]
    by_extension = bind(name, table).extensions(child, parents, others)
    by_many = bind(name, table).many(extended)
    one_by_one = [bind(name, table).local(*family) for family in extended]
    assert by_many.tolist() == one_by_one
    assert not np.isnan(by_extension).any()
    same = by_extension == by_many  # also where both are infinite
    assert np.allclose(by_extension[~same], by_many[~same], rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", [*CG, *DG])
@given(data=st.data())
def test_covered_arc_reversal_leaves_the_total_unchanged(name, data):
    table = data.draw(mixed_tables(weighted=True))
    assume(table.n_columns >= 2)
    a, b, *rest = data.draw(st.permutations(range(table.n_columns)))
    shared = tuple(sorted(data.draw(st.lists(st.sampled_from(rest), unique=True)) if rest else ()))
    if name in CG:
        assume(is_discrete(table, a) == is_discrete(table, b))
        if is_discrete(table, a):
            shared = tuple(p for p in shared if is_discrete(table, p))
    score = bind(name, table)

    def parts(x, y):
        return score.local(x, shared), score.local(y, tuple(sorted((x, *shared))))

    forward, backward = sum(parts(a, b)), sum(parts(b, a))
    if math.isinf(forward) or math.isinf(backward):
        assert forward == backward
    else:
        assert forward == pytest.approx(backward, abs=1e-3 if degenerate(table, (a, b, *shared)) else 1e-6)


def degenerate(table, members):
    """Whether variables determine each other nearly, anywhere: logarithms of rounding are then left."""
    matrix, owners = twin.indicator_matrix(table)
    where = np.isin(owners, members)
    own = matrix[np.ix_(where, where)]
    scale = np.sqrt(np.diag(own))
    if len(own) and np.linalg.eigvalsh(own / np.outer(scale, scale)).min() < 1e-4:
        return True
    continuous = [m for m in members if not is_discrete(table, m)]
    for rows in twin.rows_by_configuration(table, members):
        values = np.array([table.array(table.names[m])[rows] for m in continuous])
        spread = values.std(axis=1, keepdims=True) if len(values) else values
        several = len(values) > 1 and len(rows) >= 10 and (spread > 0).all()
        if several and np.linalg.eigvalsh(np.corrcoef(values)).min() < 1e-4:
            return True
    return False


def test_single_arcs_between_columns_of_a_kind_gain_the_same_to_the_bit():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (3, 500))
    x = rng.normal(size=(3, 500)) + codes
    table = mixed_table(codes, [3, 3, 3], x)
    for name in ("cg-bic", "dg-bic"):
        score = bind(name, table)
        for one, other in itertools.combinations(range(6), 2):
            if name == "dg-bic" or (one < 3) == (other < 3):
                forth = score.local(other, (one,)) - score.local(other, ())
                back = score.local(one, (other,)) - score.local(one, ())
                assert forth == back
        given_d = score.local(4, (0, 3)) - score.local(4, (0,))
        assert given_d == score.local(3, (0, 4)) - score.local(3, (0,))


# ---- the laws that tie mixed scores to those of one kind


@pytest.mark.parametrize("name", CG)
@settings(max_examples=20)
@given(data=st.data())
def test_without_continuous_columns_cg_is_the_discrete_score_to_the_bit(name, data):
    table = data.draw(discrete_tables(min_variables=2))
    family = data.draw(families(table.n_columns))
    assert bind(name, table).local(*family) == bind(name[3:], table).local(*family)


@pytest.mark.parametrize("name", [*CG, *DG])
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), rows=st.integers(3, 50), data=st.data())
def test_without_discrete_columns_cg_and_dg_are_the_gaussian_score_to_the_bit(name, seed, rows, data):
    table = continuous_table(np.random.default_rng(seed).normal(size=(4, rows)))
    family = data.draw(families(4))
    assert bind(name, table).local(*family) == bind(name[3:], table).local(*family)


@pytest.mark.parametrize("name", ["loglik", "aic", "bic"])
@settings(max_examples=30)
@given(data=st.data())
def test_families_of_one_kind_score_as_in_a_table_of_that_kind_to_the_bit(name, data):
    table = data.draw(mixed_tables(weighted=True))
    for kind in (True, False):
        names = [n for i, n in enumerate(table.names) if is_discrete(table, i) == kind]
        part = table.select(names)
        child, parents = data.draw(families(part.n_columns))
        family = table.index(names[child]), tuple(sorted(table.index(names[p]) for p in parents))
        assert bind(name, table).local(*family) == bind(name, part).local(child, parents)


@settings(max_examples=examples(40))
@given(data=st.data())
def test_rows_columns_and_states_may_come_in_any_order(data):
    table = data.draw(mixed_tables())
    child, parents = data.draw(legal_families(table))
    rng = np.random.default_rng(1)
    columns = rng.permutation(table.n_columns)
    moved = table.take(rng.permutation(table.n_rows)).select([table.names[i] for i in columns])
    codes = [
        rng.permutation(len(s))[c] for s, c in zip((s for s in moved.states if s), moved.codes, strict=True)
    ]
    moved = bs.Table(moved.names, moved.states, np.array(codes, dtype=np.uint8), moved.values)
    at = {name: i for i, name in enumerate(moved.names)}
    family = at[table.names[child]], tuple(sorted(at[table.names[p]] for p in parents))
    for name in ("cg-bic", "dg-bic"):
        expected, found = bind(name, table).local(child, parents), bind(name, moved).local(*family)
        if math.isinf(expected):
            assert found == expected
        else:
            assert found == pytest.approx(
                expected, abs=1e-3 if degenerate(table, (child, *parents)) else 1e-6
            )


@settings(max_examples=examples(40))
@given(data=st.data())
def test_whole_row_weights_are_repeated_rows(data):
    table = data.draw(mixed_tables())
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=table.n_rows, max_size=table.n_rows)))
    heavy = bs.Table(table.names, table.states, table.codes, table.values, weights.astype(float))
    long = table.take(np.repeat(np.arange(table.n_rows), weights))
    child, parents = data.draw(legal_families(table, max_parents=2))
    for name in ("cg-bic", "dg-bic"):
        one, other = (bind(name, each).local(child, parents) for each in (heavy, long))
        if math.isfinite(one) and math.isfinite(other):  # fewer rows are sooner saturated
            assert one == pytest.approx(other, abs=1e-3 if degenerate(table, (child, *parents)) else 1e-6)


# ---- few rows, constant columns and other traps


def test_a_rare_row_does_not_bar_an_arc_and_gains_little_by_itself():
    rng = np.random.default_rng(0)
    codes = np.concatenate([rng.integers(0, 2, 400), [2]])
    x = rng.normal(size=401) + 5 * (codes == 1)
    score = bind("bic", mixed_table([codes], [3], [x, rng.normal(size=401)]))
    assert score.local(1, (0,)) > score.local(1, ()) + 100
    assert math.isfinite(score.local(1, (0, 2)))
    alone = bind("loglik", mixed_table([np.r_[np.zeros(400, int), 1]], [2], [rng.normal(size=401)]))
    assert 0 < alone.local(1, (0,)) - alone.local(1, ()) < 10


def test_a_column_that_is_constant_in_a_configuration_scores_finitely():
    rng = np.random.default_rng(0)
    off = rng.integers(0, 2, 200)
    x = np.where(off == 1, 0.0, rng.normal(size=200))
    score = bind("loglik", mixed_table([off], [2], [x, rng.normal(size=200)]))
    gained = score.local(1, (0,)) - score.local(1, ())
    n = int(off.sum())
    assert 0 < gained < n / 2 * math.log(n + 1) + 200
    assert score.local(1, (0, 2)) >= score.local(1, (0,))


def test_few_and_enough_rows_meet_without_a_leap():
    """The shrunk log-likelihood is a real one: never above the maximum, and near it."""
    rng = np.random.default_rng(3)
    for rows in range(2, 14):
        codes = np.r_[np.zeros(100, int), np.ones(rows, int)]
        x = rng.normal(size=100 + rows)
        found = bind("loglik", mixed_table([codes], [2], [x])).local(1, (0,))
        exact = sum(-len(part) / 2 * (math.log(2 * math.pi * part.var()) + 1) for part in (x[:100], x[100:]))
        assert exact - 12 < found <= exact + 1e-6
        assert rows < 10 or found == pytest.approx(exact, abs=1e-6)


def test_a_continuous_parent_of_a_discrete_child_cannot_be_scored_under_cg_but_under_dg():
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    table = mixed_table([(x > 0).astype(int)], [2], [x])
    assert bind("cg-bic", table).local(0, (1,)) == -math.inf
    assert bind("cg-bic", table).extensions(0, (), [1]).tolist() == [-math.inf]
    assert bind("dg-bic", table).local(0, (1,)) > bind("dg-bic", table).local(0, ()) + 50
    assert bind("cg-bic", table).legal.tolist() == [[True, True], [False, True]]
    assert bind("dg-bic", table).legal is None


def test_a_saturated_regression_cannot_be_scored():
    rng = np.random.default_rng(2)
    table = mixed_table([np.repeat([0, 1], [12, 30])], [2], rng.normal(size=(13, 42)))
    score = bind("loglik", table)
    assert math.isfinite(score.local(1, (0, *range(2, 12))))
    assert score.local(1, (0, *range(2, 13))) == -math.inf


def test_many_continuous_columns_are_scored_in_pieces(monkeypatch):
    import bayescout.statistics.strata as module

    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (2, 120))
    table = mixed_table(codes, [3, 3], rng.normal(size=(9, 120)) + codes[0])
    whole = bind("bic", table).extensions(4, (0, 2), [1, 3, 5, 6, 7, 8, 9, 10])
    monkeypatch.setattr(module, "WHOLE_COLUMNS", 3)
    monkeypatch.setattr(module, "CHUNK", 2)
    pieces = bind("bic", table).extensions(4, (0, 2), [1, 3, 5, 6, 7, 8, 9, 10])
    assert pieces.tolist() == whole.tolist()
    monkeypatch.setattr(module, "MEMORY_BYTES", 1)
    monkeypatch.setattr(module, "WHOLE_COLUMNS", 64)
    assert bind("bic", table).extensions(4, (0, 2), [1, 3]).tolist() == whole[:2].tolist()
    monkeypatch.undo()
    statistics = bind("bic", table).statistics
    twice = [statistics.many([(4, (0, 1, 2))]).log_likelihoods()[0] for _ in range(3)]
    assert len(set(twice)) == 1
    assert (0, 1) in statistics.strata.known


def test_configurations_too_many_to_hold_are_an_error_of_their_own(monkeypatch):
    import bayescout.statistics.strata as module

    monkeypatch.setattr(module, "MOST_BYTES", 64)
    rng = np.random.default_rng(5)
    table = mixed_table(rng.integers(0, 4, (2, 60)), [4, 4], rng.normal(size=(1, 60)))
    with pytest.raises(bs.errors.TooLargeError, match="limit the"):
        ConditionalGaussian(table).many([(2, (0, 1))])


def test_indicators_of_variables_that_determine_each_other_never_give_nan():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 200)
    table = mixed_table(
        [a, a, (a == 0).astype(int), np.zeros(200, int)], [3, 3, 2, 2], [a + 0.0, rng.normal(size=200)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        score = bind("dg-bic", table)
        everyone = [
            score.local(child, parents)
            for child in range(6)
            for size in range(6)
            for parents in itertools.combinations([v for v in range(6) if v != child], size)
        ]
    assert np.isfinite(everyone).all()
    assert score.local(3, (0,)) == score.local(3, ()) == 0.0
    for one, other in ((0, 1), (0, 2), (1, 2), (0, 4)):
        forward = score.local(one, ()) + score.local(other, (one,))
        assert forward == pytest.approx(score.local(other, ()) + score.local(one, (other,)), abs=1e-3)


def test_too_many_indicators_are_refused_with_the_way_out(monkeypatch):
    import bayescout.statistics.degenerate as module

    monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    with pytest.raises(DataError, match="merge states"):
        bind("dg-bic", mixed_table([[0, 1, 2, 3, 4]], [5], [[1.0, 2, 3, 5, 8]]))


def test_a_constant_continuous_column_is_refused():
    for name in ("bic", "dg-bic"):
        with pytest.raises(DataError, match="constant"):
            bind(name, mixed_table([[0, 1, 0, 1]], [2], [[1.0, 1, 1, 1]]))


@pytest.mark.parametrize("name", [*CG, *DG])
def test_registered_names_and_settings(name):
    assert SCORES[name].equivalent
    assert SCORES[name].kinds == "both"
    assert formula_named(name) == formula_named(name)


@settings(max_examples=examples(40))
@given(data=st.data(), name=st.sampled_from(["loglik", "aic", "bic", "dg-loglik", "dg-aic", "dg-bic"]))
def test_superset_bounds_hold(data, name):
    table = data.draw(mixed_tables(max_rows=60))
    score = bind(name, table)
    n = table.n_columns
    allowed = ~np.eye(n, dtype=bool) if score.legal is None else score.legal & ~np.eye(n, dtype=bool)
    bounds = score.superset_bounds(allowed)
    for child in range(n):
        able = np.flatnonzero(allowed[:, child]).tolist()
        sets = [s for k in range(len(able) + 1) for s in itertools.combinations(able, k)]
        values = dict(zip(sets, score.many([(child, s) for s in sets]).tolist(), strict=True))
        for own, value in values.items():
            above = max((v for s, v in values.items() if set(s) > set(own)), default=-math.inf)
            top = bounds[child].above(
                (), np.array([own], dtype=np.int64).reshape(1, -1), np.array([value]), None
            )
            assert above <= top[0]


def test_a_pair_of_columns_whose_table_is_too_large_leaves_the_bounds_of_the_others():
    rng = np.random.default_rng(2)
    n = 9000
    first = rng.integers(0, 2, n)
    codes = [rng.permutation(n) % 4500, rng.permutation(n) % 4400, first, first ^ (rng.random(n) < 0.1)]
    rows = {f"d{i}": code for i, code in enumerate(codes)} | {"x": rng.normal(size=n)}
    table = bs.as_table(rows, kinds=dict.fromkeys(list(rows)[:4], "discrete"))
    score = bind("bic", table)
    allowed = score.legal & ~np.eye(5, dtype=bool)
    bounds = score.superset_bounds(allowed)
    with pytest.raises(TooLargeError, match="more than the 16,777,216"):
        score.many([(0, (1,))])
    for child in range(4):
        own, both = score.many([(child, ()), (child, (3 if child == 2 else 2,))])
        top = bounds[child].above((), np.empty((1, 0), dtype=np.int64), np.array([own]), None)
        assert both <= top[0]


def test_collinear_columns_are_named_once():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    table = mixed_table([rng.integers(0, 2, 50)], [2], [x, 2 * x])
    with pytest.warns(BayescoutWarning, match="linear functions") as caught:
        bind("cg-bic", table)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind("dg-bic", table)
