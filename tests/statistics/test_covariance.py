"""Gaussian statistics of columns of any magnitude, against exact arithmetic in fractions."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, DataError
from bayescout.scores import SCORES, bind
from bayescout.statistics.covariance import Covariance, collinear_columns
from tests.scores.drawn_data import continuous_table

GAUSSIAN = [name for name, formula in SCORES.items() if formula.kinds != "discrete"]


def exact_scatter(one, other, weights):
    """The weighted sum of products about the means, without rounding."""
    one, other, weights = ([Fraction(float(v)) for v in values] for values in (one, other, weights))
    total = sum(weights)
    mean = sum(w * v for w, v in zip(weights, one, strict=True)) / total
    return sum(w * (a - mean) * b for w, a, b in zip(weights, one, other, strict=True))


def log_of(fraction):
    return math.log(fraction.numerator) - math.log(fraction.denominator)


def exact_log_likelihood(table, child, parent=None):
    """The maximised log-likelihood of a family of one parent at most."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    y = table.values[child]
    residual = exact_scatter(y, y, weights)
    if parent is not None:
        x = table.values[parent]
        residual -= exact_scatter(x, y, weights) ** 2 / exact_scatter(x, x, weights)
    n = float(sum(weights))
    return -n / 2 * (log_of(residual / sum(map(Fraction, weights))) + math.log(2 * math.pi) + 1)


def with_weights(table, weights):
    return bs.Table(table.names, table.states, table.codes, table.values, weights)


@given(
    seed=st.integers(0, 10**6),
    exponents=st.tuples(st.integers(-1060, 1021), st.integers(-1060, 1021)),
    offset=st.sampled_from([0.0, 1.0, 1e8, 1e12]),
    weighted=st.booleans(),
)
def test_scores_are_those_of_exact_arithmetic_at_any_magnitude(seed, exponents, offset, weighted):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(2, 30))
    columns[1] += columns[0]
    columns = np.array(
        [np.ldexp((c + offset) / max(offset, 8.0), e) for c, e in zip(columns, exponents, strict=True)]
    )
    if any(column.min() == column.max() for column in columns):
        return  # nothing but one denormal number is left of it
    table = continuous_table(columns)
    if weighted:
        table = with_weights(table, rng.integers(0, 4, 30) + 0.5)
    if any(len(set(column.tolist())) < 20 for column in columns):
        return  # so few denormal numbers that the columns may be collinear
    score = bind("loglik", table)
    for family in ((0, None), (1, None), (0, 1), (1, 0)):
        expected = exact_log_likelihood(table, *family)
        found = score.local(family[0], () if family[1] is None else (family[1],))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-6)


def magnitudes():
    """Numbers from the smallest denormal to the largest float, of one size a column or of many."""
    number = st.builds(
        lambda m, e: math.ldexp(m, e), st.floats(-0.99, 0.99, allow_nan=False), st.integers(-1073, 1024)
    )
    near = st.builds(
        lambda base, steps: [base * (1 + s * 2**-52) for s in steps],
        st.sampled_from([1e12, 1e-300, 1e300, 1.0, -5e-324, 8e307]),
        st.lists(st.integers(-3, 3), min_size=6, max_size=6),
    )
    ends = st.lists(st.sampled_from([1.7e308, -1.7e308, 1e-320, 0.0, 1.0]), min_size=6, max_size=6)
    return st.one_of(st.lists(number, min_size=6, max_size=6), near, ends)


def bound_or_refused(name, table):
    """The score, or None where the table is refused; only a constant column may be called constant."""
    constant = [i for i, column in enumerate(table.values) if column.min() == column.max()]
    try:
        return bind(name, table)
    except DataError as error:
        said = str(error)
    assert ("is constant" in said) <= any(said.startswith(f"column 'x{i}' is constant") for i in constant)
    return None


@pytest.mark.parametrize("name", GAUSSIAN)
@example(columns=[[0.0] * 5 + [0.5], [1.8e157, 0.0, 0.0, 0.0, 0.5, 0.0]], weights=True)
@given(columns=st.lists(magnitudes(), min_size=2, max_size=4), weights=st.booleans())
def test_no_magnitude_gives_a_score_that_is_not_a_number(name, columns, weights):
    table = continuous_table(columns)
    if weights:
        table = with_weights(table, np.array([0.0, 1.0, 3.0, 1e-12, 1e9, 1e-310]))
    p = len(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", BayescoutWarning)
        score = bound_or_refused(name, table)
        if score is None:
            return
        families = [
            (c, tuple(q for q in range(p) if q != c and q <= most)) for c in range(p) for most in range(p)
        ]
        found = score.many(families).tolist()
        found += [v for c in range(p) for v in score.extensions(c, (), [q for q in range(p) if q != c])]
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    "column",
    [
        1e12 + np.array([1.0, -1.0] * 5),
        np.linspace(-1, 1, 10) * 1e200,
        np.array([1.7e308, -1.7e308] * 5),
        np.array([1.0] * 9 + [1 + 2**-52]),
        np.linspace(1, 9, 10) * 1e-320,
    ],
)
def test_only_a_constant_column_is_called_constant(column):
    other = np.arange(10.0) ** 2
    table = continuous_table([column, other])
    assert bind("bic", table).local(0, ()) == pytest.approx(
        exact_log_likelihood(table, 0) - math.log(10), abs=1e-6
    )


def test_a_column_that_varies_only_where_no_weight_is():
    table = with_weights(
        continuous_table([[1.0, 1.0, 1.0, 2.0], [1.0, 2.0, 3.0, 4.0]]), np.array([1.0, 1, 1, 0])
    )
    with pytest.raises(DataError, match="'x0' varies only in rows whose weights are 0"):
        Covariance(table)


def test_bge_refuses_what_it_cannot_square_and_says_the_way_out():
    table = continuous_table([[1e200, -1e200, 3e199], [1.0, 2.0, 4.0]])
    with pytest.raises(DataError, match=r"'x0' goes from -1e\+200 to 1e\+200.*rescale the column"):
        bind("bge", table)


@pytest.mark.parametrize("size", [1e200, 1.7e308, 1e-200])
def test_a_network_is_not_fitted_to_variances_that_no_float_holds(size):
    data = {"a": np.array([-1.0, 0.5, 1.0]) * size, "b": [1.0, 2.0, 4.5]}
    with pytest.raises(DataError, match=r"'a' goes from .* rescale the column"):
        bs.fit(bs.Dag.from_arcs([("a", "b")]), data)


# ---- columns that are functions of others


def test_collinear_columns_are_named_once_for_a_table_and_what_is_taken_from_it():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 80))
    table = bs.as_table({"a": a, "b": b, "sum": a + b, "twice": 2 * a, "own": rng.normal(size=80)})
    said = "linear functions of others.*'sum' of 'a', 'b'; 'twice' of 'a'; as a parent"
    with pytest.warns(BayescoutWarning, match=said):
        bind("bic", table)
    bind("aic", table)  # warnings are errors here
    Covariance(table.select(["twice", "b", "a"]))
    Covariance(table.take(np.arange(50)))


def test_learning_says_that_columns_are_collinear():
    a = np.random.default_rng(1).normal(size=60)
    with pytest.warns(BayescoutWarning, match="linear functions of others") as caught:
        bs.learn(
            {"a": a, "b": 3 * a + 1, "c": np.random.default_rng(2).normal(size=60)},
            search="hill-climb",
            score="bic",
        )
    assert len(caught) == 1


def test_resampling_says_it_once():
    a = np.random.default_rng(1).normal(size=60)
    data = {"a": a, "b": 3 * a + 1, "c": np.random.default_rng(2).normal(size=60)}
    with pytest.warns(BayescoutWarning, match="linear functions of others") as caught:
        bs.bootstrap(data, runs=6, search="hill-climb", workers=1, score="bic")
    assert len(caught) == 1


def test_ordinary_columns_and_more_columns_than_rows_are_not_called_collinear():
    rng = np.random.default_rng(3)
    Covariance(continuous_table(rng.normal(size=(5, 40))))
    Covariance(continuous_table(rng.normal(size=(50, 20))))
    assert collinear_columns(np.array([[1.0, 0.9999999], [0.9999999, 1.0]]), 100) == []
    assert collinear_columns(np.ones((30, 30)), 20) == [(i, [0]) for i in range(1, 30)]


def test_kmeans_of_values_whose_sums_overflow_is_refused():
    values = [1e308, 1.1e308, 1.2e308, 1.3e308, -1e307] * 4
    with pytest.raises(DataError, match="too far apart for kmeans"):
        bs.discretise({"a": values}, "kmeans")


def test_weights_that_no_sum_can_hold_are_refused():
    with pytest.raises(DataError, match="the weights sum to inf"):
        bs.as_table({"a": [1.0, 2.0, 3.0]}, weights=[1e308, 1e308, 1e308])
