"""Reduce the counts of families to the sums that scores are made of.

Every sum is kept in whole units of 2**-shift: each term is rounded once, and integers add
exactly, so a sum does not depend on the order of cells, the engine that counted them, or the
number of threads. See docs/decisions/exact-scores.md.
"""

import math

import numpy as np

from bayescout.kernels import plain
from bayescout.kernels.jit import kernel
from bayescout.kernels.limits import LOOKUP_SIZE
from bayescout.kernels.patience import part, patient

HALF_LOG_TWO_PI = 0.9189385332046727


@part
def _fixed(value, scale):
    return np.int64(math.floor(value * scale + 0.5))


@part
def _on_grid(units, drop, unit):
    """A sum of units as nats: rounded to the grid, which is 2**drop units wide."""
    return ((units + (np.int64(1) << (drop - 1))) >> drop) * unit


def _adding(counts, starts, states, lookup, grid, out):
    """The seconds of `sum_xlogx` uncompiled: only where every count is in the table."""
    if counts.dtype != np.int64 or not 0 < lookup.shape[0] < LOOKUP_SIZE:
        return math.inf
    return 3e-5 + 1e-8 * counts.shape[0] + (0.0 if (states == states[0]).all() else 3e-5 * states.shape[0])


@patient(0.3, _adding, plain.sum_xlogx)
def sum_xlogx(counts, starts, states, lookup, grid, out):
    """The sums of N log N over the cells, configurations and child margin of each table.

    counts  flat int64|float64   tables of (configurations, states), one after the other
    starts  (k + 1,) int64
    states  (k,) int64           child states of each table
    lookup  (m,) int64           N log N in units for N < m; empty for fractional counts
    grid    (3,) float64         units per nat; log2 of the units per grid step; the step
    out     (3, k) float64       overwritten: cells, configurations, child margin, in nats
    """
    scale, drop, step = grid[0], np.int64(grid[1]), grid[2]
    for t in range(starts.shape[0] - 1):
        r = states[t]
        table = counts[starts[t] : starts[t + 1]]
        cells = np.int64(0)
        configs = np.int64(0)
        margin = np.zeros(r, dtype=counts.dtype)
        for begin in range(0, table.shape[0], r):
            total = table[begin] - table[begin]
            for k in range(r):
                count = table[begin + k]
                total += count
                margin[k] += count
                cells += _xlogx(count, lookup, scale)
            configs += _xlogx(total, lookup, scale)
        child = np.int64(0)
        for k in range(r):
            child += _xlogx(margin[k], lookup, scale)
        out[0, t] = _on_grid(cells, drop, step)
        out[1, t] = _on_grid(configs, drop, step)
        out[2, t] = _on_grid(child, drop, step)


@part
def _xlogx(count, lookup, scale):
    if count < lookup.shape[0]:
        return lookup[np.int64(count)]
    return _fixed(count * math.log(count), scale) if count > 0 else np.int64(0)


@kernel
def sum_corrected(counts, starts, states, grid, out):
    """The sums of N log(N + 1) over cells and N log(N + r) over configurations of each table.

    Arguments as in sum_xlogx; out is (2, k).
    """
    scale, drop, step = grid[0], np.int64(grid[1]), grid[2]
    for t in range(starts.shape[0] - 1):
        r = states[t]
        table = counts[starts[t] : starts[t + 1]]
        cells = np.int64(0)
        configs = np.int64(0)
        for begin in range(0, table.shape[0], r):
            total = table[begin] - table[begin]
            for k in range(r):
                count = table[begin + k]
                total += count
                cells += _fixed(count * math.log(count + 1.0), scale)
            configs += _fixed(total * math.log(total + float(r)), scale)
        out[0, t] = _on_grid(cells, drop, step)
        out[1, t] = _on_grid(configs, drop, step)


@kernel
def sum_gamma(counts, starts, states, priors, grid, out):
    """The Dirichlet terms of the cells and of the configurations of each table.

    A term is log Γ(N + a) - log Γ(a), with the prior count a of the cell or configuration.

    priors  (2, k) float64   a of a cell and of a configuration
    out     (2, k) float64   overwritten: cells, configurations, in nats
    """
    scale, drop, step = grid[0], np.int64(grid[1]), grid[2]
    for t in range(starts.shape[0] - 1):
        r = states[t]
        table = counts[starts[t] : starts[t + 1]]
        a, b = priors[0, t], priors[1, t]
        log_gamma_a, log_gamma_b = log_gamma(a), log_gamma(b)
        cells = np.int64(0)
        configs = np.int64(0)
        for begin in range(0, table.shape[0], r):
            total = table[begin] - table[begin]
            for k in range(r):
                count = table[begin + k]
                if count > 0:
                    total += count
                    cells += _fixed(_rise(count, a, log_gamma_a), scale)
            if total > 0:
                configs += _fixed(_rise(total, b, log_gamma_b), scale)
        out[0, t] = _on_grid(cells, drop, step)
        out[1, t] = _on_grid(configs, drop, step)


@kernel
def _rise(count, a, log_gamma_a):
    """log Γ(count + a) - log Γ(a): by a product for small whole counts, otherwise by log Γ."""
    if count <= 12 and count == math.floor(count):
        product = a
        for i in range(1, np.int64(count)):
            product *= a + i
        return math.log(product)
    return log_gamma(count + a) - log_gamma_a


@kernel
def log_gamma(x):
    """log Γ(x) for x > 0: Stirling's series above 8, reached by the recurrence below it."""
    product = 1.0
    while x < 8.0:
        product *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 156.0
    series = 1.0 / 12.0 - y * (
        1.0 / 360.0
        - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * (1.0 / 1188.0 - y * (691.0 / 360360.0 - y * series))))
    )
    value = (x - 0.5) * math.log(x) - x + HALF_LOG_TWO_PI + series / x
    return value - math.log(product) if product != 1.0 else value


@kernel
def observed_configurations(counts, starts, states, out):
    """The number of parent configurations that occur in each table; out (k,) int64."""
    for t in range(starts.shape[0] - 1):
        r = states[t]
        seen = 0
        for begin in range(starts[t], starts[t + 1], r):
            for k in range(r):
                if counts[begin + k] > 0:
                    seen += 1
                    break
        out[t] = seen


@kernel
def sum_regret(counts, starts, states, grid, out):
    """The sum of log C(N, r) over the configurations of each table; out (k,) float64, in nats."""
    scale, drop, step = grid[0], np.int64(grid[1]), grid[2]
    for t in range(starts.shape[0] - 1):
        r = states[t]
        units = np.int64(0)
        for begin in range(starts[t], starts[t + 1], r):
            total = np.int64(0)
            for k in range(r):
                total += counts[begin + k]
            units += _fixed(log_regret(total, r), scale)
        out[t] = _on_grid(units, drop, step)


@patient(0.1, lambda n, outcomes: 2e-6 * (math.sqrt(n) + outcomes))
def log_regret(n, outcomes):
    """log C(n, K): the parametric complexity of a multinomial with K outcomes and n draws.

    C(n, 1) = 1; C(n, 2) = sum of n!/((n-k)! n^k), of which about sqrt(n) terms matter;
    C(n, K + 2) = C(n, K + 1) + n/K C(n, K) (Kontkanen & Myllymaki 2007), here as a recurrence
    of the ratio C(n, K + 1) / C(n, K), which cannot overflow.
    """
    if n == 0 or outcomes == 1:
        return 0.0
    ratio, term = 0.0, 1.0
    for k in range(n + 1):
        ratio += term
        term *= (n - k) / n
        if term < 1e-18 * ratio:
            break
    value, product = 0.0, ratio
    for k in range(1, outcomes - 1):
        ratio = 1.0 + n / (k * ratio)
        product *= ratio
        if product > 1e200:
            value += math.log(product)
            product = 1.0
    return value + math.log(product)
