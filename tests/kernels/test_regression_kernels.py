"""Residuals by Cholesky and Schur: compiled and interpreted alike, and as least squares gives them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout.kernels import regression
from tests.reference.kernels import plain
from tests.strategies import examples

FLOOR = 1e-10


@st.composite
def scatters(draw):
    """Centred columns and their scatter matrix; columns differ in scale."""
    p, n = draw(st.integers(1, 6)), draw(st.integers(8, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.normal(size=(p, n)) * 10.0 ** rng.integers(-2, 3, (p, 1))
    x[-1] += x[0] * draw(st.sampled_from([0.0, 1.0]))
    x -= x.mean(axis=1, keepdims=True)
    return x, x @ x.T


def both(kernel, *arguments, out):
    compiled, interpreted = np.full_like(out, np.nan), np.full_like(out, np.nan)
    getattr(regression, kernel)(*arguments, compiled)
    with plain(regression) as slow:
        getattr(slow, kernel)(*arguments, interpreted)
    assert compiled == pytest.approx(interpreted, rel=1e-9, abs=1e-12)
    return compiled


def residual(x, child, parents):
    if not parents:
        return float(x[child] @ x[child])
    design = x[list(parents)].T
    left = x[child] - design @ np.linalg.lstsq(design, x[child], rcond=None)[0]
    return float(left @ left)


def log_det(matrix, parents):
    return float(np.linalg.slogdet(matrix[np.ix_(parents, parents)])[1]) if parents else 0.0


@settings(max_examples=examples(40))
@given(data=st.data())
def test_families_and_extensions_are_least_squares(data):
    x, matrix = data.draw(scatters())
    order = data.draw(st.permutations(range(len(x))))
    size = data.draw(st.integers(1, len(x)))
    child, parents, rest = order[0], list(order[1:size]), list(order[size:])
    family = np.array([*parents, child], dtype=np.int64)
    members, bounds = np.append(family, child), np.array([0, len(family), len(family) + 1])
    found = both("regress_families", matrix, members, bounds, FLOOR * np.diag(matrix), out=np.empty((2, 2)))
    assert found[0, 0] == pytest.approx(residual(x, child, parents), rel=1e-6)
    assert found[0, 1] == pytest.approx(log_det(matrix, parents), abs=1e-6)
    assert found[1].tolist() == [matrix[child, child], 0.0]
    candidates = np.array(rest, dtype=np.int64)
    found = both(
        "regress_extensions",
        matrix,
        family,
        candidates,
        FLOOR * np.diag(matrix),
        out=np.empty((len(rest), 2)),
    )
    for row, candidate in zip(found, rest, strict=True):
        assert row[0] == pytest.approx(residual(x, child, [*parents, candidate]), rel=1e-6)
        assert row[1] == pytest.approx(log_det(matrix, [*parents, candidate]), abs=1e-6)


def test_a_parent_that_others_determine_adds_nothing_and_counts_at_the_floor():
    rng = np.random.default_rng(0)
    a, b, y = rng.normal(size=(3, 50))
    x = np.stack([a, b, a + b, y + a])
    x -= x.mean(axis=1, keepdims=True)
    matrix = x @ x.T
    expected = residual(x, 3, [0, 1])
    floored = log_det(matrix, [0, 1]) + np.log(FLOOR * matrix[2, 2])
    members = np.array([0, 1, 2, 3])
    one = both(
        "regress_families", matrix, members, np.array([0, 4]), FLOOR * np.diag(matrix), out=np.empty((1, 2))
    )
    other = both(
        "regress_extensions",
        matrix,
        np.array([0, 1, 3]),
        np.array([2]),
        FLOOR * np.diag(matrix),
        out=np.empty((1, 2)),
    )
    for found in (one, other):
        assert found[0] == pytest.approx([expected, floored], rel=1e-9)


def test_a_child_that_its_parents_determine_is_left_the_floor():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50))
    x = np.stack([a, b, 2 * a - b])
    x -= x.mean(axis=1, keepdims=True)
    matrix = x @ x.T
    one = both(
        "regress_families",
        matrix,
        np.array([0, 1, 2]),
        np.array([0, 3]),
        FLOOR * np.diag(matrix),
        out=np.empty((1, 2)),
    )
    other = both(
        "regress_extensions",
        matrix,
        np.array([0, 2]),
        np.array([1]),
        FLOOR * np.diag(matrix),
        out=np.empty((1, 2)),
    )
    assert one[0, 0] == other[0, 0] == FLOOR * matrix[2, 2]
