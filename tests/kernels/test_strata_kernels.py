"""Regressions within strata: compiled and interpreted alike, and as least squares gives them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout.kernels import regression, strata
from tests.reference.kernels import plain
from tests.strategies import examples

FLOOR = 1e-10


def both(module, name, *arguments, outs):
    """The outputs of a kernel, compiled and interpreted, which must agree."""
    compiled, slow = ([np.zeros_like(out) for out in outs] for _ in range(2))
    getattr(module, name)(*arguments, *compiled)
    with plain(module) as interpreted:
        getattr(interpreted, name)(*arguments, *slow)
    for one, other in zip(compiled, slow, strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    return compiled


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    v=st.integers(1, 4),
    q=st.integers(1, 4),
    weighted=st.booleans(),
)
def test_scatters_and_what_they_explain(seed, n, v, q, weighted):
    rng = np.random.default_rng(seed)
    rows, of_row = rng.normal(size=(n, v)), rng.integers(0, q, n)
    weights = rng.random(n) + 0.5 if weighted else np.empty(0)
    outs = (np.empty(q, dtype=np.int64), np.empty(q), np.empty((q, v)), np.empty((q, v, v)))
    sizes, totals, means, scatters = both(strata, "scatter_rows", rows, of_row, weights, outs=outs)
    used = weights if weighted else np.ones(n)
    for stratum in range(q):
        own, w = rows[of_row == stratum], used[of_row == stratum]
        assert sizes[stratum] == len(own)
        assert totals[stratum] == pytest.approx(w.sum())
        expected = np.zeros((v, v))
        if len(own):
            assert means[stratum] == pytest.approx(np.average(own, axis=0, weights=w))
            expected = np.cov(own.T, aweights=w, bias=True).reshape(v, v) * w.sum()
        assert scatters[stratum] == pytest.approx(expected, abs=1e-9)
    few = rng.random(q) < 0.5
    matrices, variances = np.empty((q, v, v)), rng.random((q, v)) + 0.5
    for stratum in range(q):
        mixing = rng.normal(size=(v, 2 * v))
        matrices[stratum] = np.corrcoef(mixing).reshape(v, v)
    order = rng.permutation(v)
    family, candidates = order[: rng.integers(1, v + 1)].astype(np.int64), np.array([-1])
    rest = order[len(family) :]
    candidates = np.append(rest, -1).astype(np.int64)
    data = (sizes, totals, few, matrices, variances)
    found = both(
        strata,
        "explained_in_strata",
        data,
        family,
        candidates,
        (FLOOR, 1.0),
        outs=[np.empty(len(candidates))],
    )[0]
    for value, candidate in zip(found, candidates, strict=True):
        parents = [*family[:-1], *([candidate] if candidate >= 0 else [])]
        assert value == pytest.approx(explained(data, parents, family[-1]), rel=1e-9, abs=1e-9)


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), v=st.integers(1, 5), q=st.integers(1, 4), degrees=st.floats(1, 9))
def test_weighted_determinants_of_blocks(seed, v, q, degrees):
    rng = np.random.default_rng(seed)
    totals = rng.random(q) * 9 + 0.5
    mixing = rng.normal(size=(q, v, v + 3))
    matrices = mixing @ mixing.transpose(0, 2, 1) + 0.1 * np.eye(v)
    data = totals, matrices, np.full(v, 0.05), degrees
    order = rng.permutation(v).astype(np.int64)
    family = order[: rng.integers(1, v + 1)]
    rest = order[len(family) :]

    def weighted(members):
        blocks = matrices[:, members][:, :, members]
        return float((totals + degrees + len(members)) / 2 @ np.log(np.linalg.det(blocks)))

    for candidates in (rest[:0], rest):
        outs = [np.empty((max(1, len(candidates)), 2))]
        found = both(strata, "determinants_in_strata", data, family, candidates, outs=outs)[0]
        for values, more in zip(found, candidates if len(candidates) else [None], strict=True):
            parents = [*family[:-1], *([] if more is None else [more])]
            assert values[0] == pytest.approx(weighted([*parents, family[-1]]), abs=1e-8)
            assert values[1] == pytest.approx(weighted(parents), abs=1e-8)


def explained(data, parents, child):
    """From inverse matrices: a residual is the reciprocal of the child's entry in the inverse."""
    total = 0.0
    for size, weight, few, matrix, variances in zip(*data, strict=True):
        if weight == 0:
            continue
        if not few and size <= len(parents) + 1:
            return -math.inf
        members = [*parents, child]
        total -= weight / 2 * math.log(1 / np.linalg.inv(matrix[np.ix_(members, members)])[-1, -1])
        if few:
            scale = np.sqrt(variances)
            covariance = matrix * np.outer(scale, scale)
            with_child = np.trace(np.linalg.inv(covariance[np.ix_(members, members)]))
            without = np.trace(np.linalg.inv(covariance[np.ix_(parents, parents)])) if parents else 0.0
            total += (with_child - without - 1 / variances[child]) / 2
    return total


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), widths=st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_blocks_are_differences_of_determinants(seed, widths):
    rng = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(widths))).astype(np.int64)
    m = int(starts[-1])
    matrix = np.corrcoef(rng.normal(size=(m, 3 * m + 3))).reshape(m, m) if m else np.empty((0, 0))
    floors = np.full(m, FLOOR)
    order = rng.permutation(len(widths)).astype(np.int64)
    family = order[: rng.integers(1, len(widths) + 1)]
    rest = order[len(family) :]

    def log_det(variables):
        columns = [c for v in variables for c in range(starts[v], starts[v + 1])]
        return np.linalg.slogdet(matrix[np.ix_(columns, columns)])[1] if columns else 0.0

    bounds = np.array([0, len(family)])
    found = both(regression, "regress_blocks", matrix, starts, family, bounds, floors, outs=[np.empty(1)])[0]
    assert found[0] == pytest.approx(log_det(family) - log_det(family[:-1]), abs=1e-9)
    outs = [np.empty(len(rest))]
    extended = both(regression, "extend_blocks", matrix, starts, family, rest, floors, outs=outs)[0]
    outs = [np.empty(len(widths))]
    all_of = both(regression, "extend_all_blocks", matrix, starts, family, bounds, floors, outs=outs)[0]
    for value, more in zip(extended, rest, strict=True):
        given_all = [*family[:-1], more]
        assert value == pytest.approx(log_det([*given_all, family[-1]]) - log_det(given_all), abs=1e-9)
        assert all_of[more] == value


def test_columns_that_others_determine_count_at_the_floor():
    one = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    starts, floors = np.array([0, 1, 3]), np.full(3, FLOOR)
    found = both(
        regression,
        "regress_blocks",
        one,
        starts,
        np.array([0, 1]),
        np.array([0, 2]),
        floors,
        outs=[np.empty(1)],
    )[0]
    assert found[0] == math.log(FLOOR)
    found = both(
        regression, "extend_blocks", one, starts, np.array([1]), np.array([0]), floors, outs=[np.empty(1)]
    )[0]
    assert found[0] == math.log(FLOOR)


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    noise=st.sampled_from([0.0, 1e-7, 3e-6, 1e-5, 3e-5, 1e-3, 1e-2]),
    own=st.sampled_from([1.0, 1e-4, 3e-5]),
)
def test_what_nearly_collinear_parents_explain_does_not_depend_on_their_order(seed, noise, own):
    """A parent may be a function of the others but for the last digits of its cells, near the floor.

    So may the child: its small residual is then rounding in part.
    """
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(3, 6))[:, rng.integers(0, 6, 60)]
    parents = np.array([*base, base.sum(axis=0) + noise * rng.normal(size=60), rng.normal(size=60)])
    child = parents[0] + parents[3] + own * rng.normal(size=60)
    matrix = np.corrcoef([*parents, child])
    matrix = np.ldexp(np.rint(np.ldexp(matrix, 42)), -42)
    data = (np.array([60]), np.array([60.0]), np.array([False]), matrix[None], np.ones((1, 6)))
    values = []
    for _ in range(8):
        order = rng.permutation(5)
        whole = (np.append(order, 5), np.array([-1]))
        extended = (np.append(order[:-1], 5), order[-1:])
        for family, candidates in (whole, extended):
            outs = [np.empty(1)]
            values += both(strata, "explained_in_strata", data, family, candidates, (FLOOR, 1.0), outs=outs)[
                0
            ].tolist()
    assert values == pytest.approx([values[0]] * len(values), abs=1e-6)
