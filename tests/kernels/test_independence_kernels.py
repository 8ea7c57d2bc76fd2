"""Partial correlations against the residuals of least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout.kernels import independence
from tests.reference.kernels import both, partial_correlation

FLOOR = 1e-8


@settings(max_examples=60)
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
    assert out.tolist() == pytest.approx(expected, abs=1e-6)
