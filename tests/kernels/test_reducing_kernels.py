"""Sums over tables: compiled and interpreted alike, and as exact summation gives them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from bayescout.kernels import reducing
from bayescout.statistics.families import Grid, xlogx_lookup
from tests.reference.kernels import log_complexity, plain
from tests.strategies import examples


@st.composite
def batches(draw, whole=True):
    """Tables of one and more states, empty configurations, counts of one and of millions."""
    shapes = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=3))
    count = st.sampled_from([0, 0, 1, 2, 11, 12, 13, 500, 70_000, 3_000_000])
    if not whole:
        count = st.one_of(st.just(0.0), st.floats(1e-6, 1e5), st.sampled_from([1.0, 12.0, 12.5]))
    tables = [
        np.array(draw(st.lists(count, min_size=q * r, max_size=q * r)), dtype=np.int64 if whole else float)
        for q, r in shapes
    ]
    starts = np.concatenate(([0], np.cumsum([len(t) for t in tables]))).astype(np.int64)
    return np.concatenate(tables), starts, np.array([r for _, r in shapes], dtype=np.int64)


def tables_of(counts, starts, states):
    return [
        counts[a:b].reshape(-1, r).tolist()
        for a, b, r in zip(starts[:-1], starts[1:], states.tolist(), strict=True)
    ]


def grid_for(counts, nats=0.0):
    total = max(2.0, float(counts.sum()))
    return Grid.for_rows(total, math.log(total + 1) + nats, math.log(total + 1) + nats)


def both(kernel, *arguments, out):
    compiled, interpreted = np.full_like(out, -7), np.full_like(out, -7)
    getattr(reducing, kernel)(*arguments, compiled)
    with plain(reducing) as slow:
        getattr(slow, kernel)(*arguments, interpreted)
    assert compiled == pytest.approx(interpreted, rel=1e-14, abs=1e-300)
    return compiled


def within(found, expected, grid, terms):
    """One step of the grid, and half an ulp of each term."""
    error = grid.for_kernel[2] + 4e-16 * sum(abs(t) for t in terms)
    assert abs(found - expected) <= error


def xlogx(x):
    return x * math.log(x) if x > 0 else 0.0


NO_LOOKUP = np.empty(0, dtype=np.int64)


@pytest.mark.parametrize("whole", [True, False])
@given(data=st.data())
def test_sums_of_xlogx(whole, data):
    counts, starts, states = data.draw(batches(whole))
    grid = grid_for(counts)
    found = both(
        "sum_xlogx", counts, starts, states, NO_LOOKUP, grid.for_kernel, out=np.empty((3, len(states)))
    )
    for t, table in enumerate(tables_of(counts, starts, states)):
        terms = [
            [xlogx(c) for row in table for c in row],
            [xlogx(sum(row)) for row in table],
            [xlogx(sum(column)) for column in zip(*table, strict=True)],
        ]
        for i in range(3):
            within(found[i, t], math.fsum(terms[i]), grid, terms[i])


@given(data=st.data())
def test_the_lookup_gives_what_it_replaces(data):
    counts, starts, states = data.draw(batches())
    grid = grid_for(counts)
    lookup = xlogx_lookup(int(counts.sum()) + 1, grid.shift)
    with_lookup, without = np.empty((2, 3, len(states)))
    reducing.sum_xlogx(counts, starts, states, lookup, grid.for_kernel, with_lookup)
    reducing.sum_xlogx(counts, starts, states, NO_LOOKUP, grid.for_kernel, without)
    assert with_lookup == pytest.approx(without, rel=1e-15, abs=2 * grid.for_kernel[2])


@pytest.mark.parametrize("whole", [True, False])
@given(data=st.data())
def test_corrected_sums(whole, data):
    counts, starts, states = data.draw(batches(whole))
    grid = grid_for(counts, 2.0)
    found = both("sum_corrected", counts, starts, states, grid.for_kernel, out=np.empty((2, len(states))))
    for t, table in enumerate(tables_of(counts, starts, states)):
        cells = [c * math.log(c + 1) for row in table for c in row]
        configs = [sum(row) * math.log(sum(row) + len(row)) for row in table]
        within(found[0, t], math.fsum(cells), grid, cells)
        within(found[1, t], math.fsum(configs), grid, configs)


@pytest.mark.parametrize("whole", [True, False])
@settings(max_examples=examples(40))
@given(data=st.data(), prior=st.sampled_from([1e-9, 1e-3, 0.25, 1.0, 3.5, 40.0]))
def test_gamma_sums(whole, data, prior):
    counts, starts, states = data.draw(batches(whole))
    grid = grid_for(counts, 30.0)
    priors = np.stack([np.full(len(states), prior), prior * states])
    found = both("sum_gamma", counts, starts, states, priors, grid.for_kernel, out=np.empty((2, len(states))))
    for t, table in enumerate(tables_of(counts, starts, states)):
        for i, values in enumerate(([c for row in table for c in row], [sum(row) for row in table])):
            a = priors[i, t]
            terms = [float(gammaln(v + a) - gammaln(a)) for v in values]
            size = [2 * abs(float(gammaln(v + a))) + 2 * abs(float(gammaln(a))) + 1 for v in values]
            within(found[i, t], math.fsum(terms), grid, size)


@given(data=st.data())
def test_occurring_configurations(data):
    counts, starts, states = data.draw(batches())
    found = both("observed_configurations", counts, starts, states, out=np.empty(len(states), dtype=np.int64))
    assert found.tolist() == [sum(any(row) for row in table) for table in tables_of(counts, starts, states)]


# ---- log gamma and the parametric complexity


def test_log_gamma_to_the_last_digits():
    x = np.concatenate(
        [np.geomspace(1e-12, 1e8, 4001), np.arange(1, 200), np.arange(1, 80) / 4, [8.0, 7.9999]]
    )
    found = np.array([reducing.log_gamma(float(v)) for v in x])
    expected = gammaln(x)
    assert np.all(np.abs(found - expected) <= 1e-14 * np.maximum(np.abs(expected), 1.0))
    assert found.tolist() == [reducing.log_gamma.py_func(float(v)) for v in x]


@pytest.mark.parametrize("a", [1e-300, 1e-9, 0.3, 1.0, 7.5, 100.0])
@pytest.mark.parametrize("count", [1, 2, 11, 12, 13, 14, 300])
def test_rising_factorials_are_sums_of_logs(a, count):
    """12 is where a product gives way to log gamma."""
    expected = math.fsum(math.log(a + i) for i in range(count))
    for rise in (reducing._rise, reducing._rise.py_func):
        assert rise(count, a, reducing.log_gamma(a)) == pytest.approx(expected, rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 57, 200, 1000])
@pytest.mark.parametrize("outcomes", [1, 2, 3, 4, 10, 100, 3000])
def test_parametric_complexity_is_the_exact_rational_sum(n, outcomes):
    expected = log_complexity(n, outcomes)
    for kernel in (reducing.log_regret, reducing.log_regret.py_func):
        assert kernel(n, outcomes) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(data=st.data())
def test_sums_of_regret(data):
    counts, starts, states = data.draw(batches())
    counts = np.minimum(counts, 60)
    grid = grid_for(counts, 2.0)
    found = both("sum_regret", counts, starts, states, grid.for_kernel, out=np.empty(len(states)))
    for t, table in enumerate(tables_of(counts, starts, states)):
        terms = [log_complexity(sum(row), len(row)) for row in table]
        within(found[t], math.fsum(terms), grid, [10 * term for term in terms])


# ---- many rows


@pytest.mark.parametrize("total", [10_000_000, 2**31 - 1, 2**31, 2**33, 10**12])
def test_sums_at_the_largest_row_counts(total):
    """A table of thousands of cells and one of a single cell, at the size where a sum could overflow."""
    rng = np.random.default_rng(0)
    spread = rng.multinomial(total, rng.dirichlet(np.full(4096, 0.1)))
    counts = np.concatenate([spread, [total, 0]]).astype(np.int64)
    starts, states = np.array([0, 4096, 4098]), np.array([4, 2])
    grid = grid_for(np.array([total]))
    out = np.empty((3, 2))
    reducing.sum_xlogx(counts, starts, states, NO_LOOKUP, grid.for_kernel, out)
    for t, table in enumerate(tables_of(counts, starts, states)):
        terms = [xlogx(c) for row in table for c in row]
        within(out[0, t], math.fsum(terms), grid, terms)
        terms = [xlogx(sum(row)) for row in table]
        within(out[1, t], math.fsum(terms), grid, terms)


@pytest.mark.parametrize("total", [10_000_000, 2**33])
def test_dirichlet_sums_at_the_largest_row_counts(total):
    rng = np.random.default_rng(0)
    counts = rng.multinomial(total, rng.dirichlet(np.full(4096, 0.1))).astype(np.int64)
    grid = Grid.for_rows(float(total), math.log(total + 1) + 64, math.log(total + 1) + 750)
    for a in (1e-300, 1 / 4096, 1.0):
        priors = np.array([[a], [4 * a]])
        out = np.empty((2, 1))
        reducing.sum_gamma(counts, np.array([0, 4096]), np.array([4]), priors, grid.for_kernel, out)
        for i, values in enumerate((counts[counts > 0], counts.reshape(-1, 4).sum(axis=1))):
            terms = gammaln(values[values > 0] + priors[i, 0]) - gammaln(priors[i, 0])
            within(out[i, 0], math.fsum(terms), grid, 2 * (np.abs(terms) + abs(float(gammaln(priors[i, 0])))))


@pytest.mark.parametrize("sign", [1, -1])
def test_units_are_rounded_to_the_nearest_step(sign):
    for units in (0, 1, 7, 8, 9, 1023, 2**60 + 8):
        for kernel in (reducing._on_grid, reducing._on_grid.py_func):
            found = kernel(np.int64(sign * units), 4, 1.0)
            assert found == math.floor((sign * units + 8) / 16) or abs(units) > 2**53
            assert abs(found * 16 - sign * units) <= 8
