"""Partial correlations against the residuals of least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.kernels import independence
from tests.reference.kernels import both, partial_correlation

FLOOR = 1e-8


@given(data=st.data())
def test_partial_correlations_are_those_of_what_regression_leaves(data):
    """Some columns are copies or sums of others, so that members are determined by those before them."""
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    p = data.draw(st.integers(2, 7))
    columns = rng.normal(size=(p, data.draw(st.integers(12, 30))))
    for _ in range(data.draw(st.integers(0, 2))):
        to, one, two = (data.draw(st.integers(0, p - 1)) for _ in range(3))
        columns[to] = columns[one] if one == two else columns[one] - 2 * columns[two]
    columns -= columns.mean(axis=1, keepdims=True)
    columns /= np.sqrt((columns**2).sum(axis=1, keepdims=True))
    groups = [
        data.draw(st.permutations(range(p)))[: data.draw(st.integers(2, p))]
        for _ in range(data.draw(st.integers(0, 4)))
    ]
    bounds = np.concatenate(([0], np.cumsum([len(group) for group in groups]))).astype(np.int64)
    members = np.array([v for group in groups for v in group], dtype=np.int64)
    out = np.full(len(groups), 7.0)
    factor = np.full((p, p), np.nan)
    both(independence, "partial_correlations", columns @ columns.T, members, bounds, FLOOR, factor, out)
    expected = [partial_correlation(columns, group[-2], group[-1], group[:-2]) for group in groups]
    for found, value, group in zip(out.tolist(), expected, groups, strict=True):
        # a column that the others determine is left the floor, which counts where little else is left
        assert found == pytest.approx(value, abs=1e-6 + FLOOR / max(left_of(columns, group), FLOOR))


def left_of(columns, group):
    """The variance of the last member that is left by regression on all but the one before it."""
    given = columns[list(group[:-2])].T
    rest = columns[group[-1]] - given @ np.linalg.lstsq(given, columns[group[-1]], rcond=None)[0]
    return float(rest @ rest)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("share", "counts"), [(0.5, False), (1.5, False), (3.0, True)])
def test_a_variable_that_the_given_ones_determine_is_correlated_with_nothing(share, counts, place):
    """What is left of one of the two is that share of the floor; twice the floor is the least that counts."""
    floor = 1e-3
    given, left, more = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 3)))[0].T
    tiny = np.sqrt(share * floor) * left + np.sqrt(1 - share * floor) * given
    other = 0.6 * given + 0.64 * left + 0.48 * more
    pair = [tiny, other] if place == 0 else [other, tiny]
    columns = np.array([given, *pair])
    out = np.full(1, 7.0)
    arguments = (np.arange(3), np.array([0, 3]), floor, np.full((3, 3), np.nan), out)
    both(independence, "partial_correlations", columns @ columns.T, *arguments)
    assert out[0] == pytest.approx(partial_correlation(columns, 1, 2, [0]) if counts else 0.0, abs=1e-9)
