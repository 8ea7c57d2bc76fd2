"""Hypothesis strategies for the data that scores are tested on."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bayescout.data.table import Table
from bayescout.scores import TableScorer


def table_of(codes, cards, weights=None):
    """A table of integer codes with all their states declared, occurring or not."""
    codes = np.ascontiguousarray(codes, dtype=np.uint8 if max(cards) <= 256 else np.uint16)
    return Table(
        names=tuple(f"v{i}" for i in range(len(cards))),
        states=tuple(tuple(range(r)) for r in cards),
        codes=codes,
        values=np.zeros((0, codes.shape[1])),
        weights=None if weights is None else np.asarray(weights, dtype=np.float64),
    )


def continuous_table(columns):
    columns = np.ascontiguousarray(columns, dtype=np.float64)
    p, n = columns.shape
    return Table(tuple(f"x{i}" for i in range(p)), (None,) * p, np.zeros((0, n), np.uint8), columns)


@st.composite
def discrete_tables(draw, min_variables=1, max_variables=5, max_states=4, max_rows=60):
    """Tables with one-state variables, absent states, empty configurations and noisy copies."""
    p = draw(st.integers(min_variables, max_variables))
    n = draw(st.integers(2, max_rows))
    cards = draw(st.lists(st.integers(1, max_states), min_size=p, max_size=p))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    noise = draw(st.sampled_from([0.0, 0.1, 1.0]))
    hidden = rng.random(n) ** draw(st.sampled_from([1.0, 4.0]))
    codes = [
        np.minimum((np.where(rng.random(n) < noise, rng.random(n), hidden) * r).astype(int), r - 1)
        for r in cards
    ]
    return table_of(codes, cards)


def mixed_table(codes, cards, columns, weights=None):
    """A table of discrete columns "d0", "d1", ... followed by continuous ones "x0", "x1", ..."""
    codes = np.ascontiguousarray(codes, dtype=np.uint8)
    columns = np.ascontiguousarray(columns, dtype=np.float64)
    names = [f"d{i}" for i in range(len(codes))] + [f"x{i}" for i in range(len(columns))]
    states = [tuple(range(r)) for r in cards] + [None] * len(columns)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    return Table(tuple(names), tuple(states), codes, columns, weights)


@st.composite
def mixed_tables(draw, max_rows=80, max_discrete=3, max_continuous=3, weighted=False):
    """Columns of both kinds, in any order: slopes, means and spreads differ between the states.

    Rare states, states that never occur, single-state columns and a column that is constant in some state.
    """
    d, c = draw(st.integers(1, max_discrete)), draw(st.integers(1, max_continuous))
    n = draw(st.integers(4, max_rows))
    cards = draw(st.lists(st.integers(1, 4), min_size=d, max_size=d))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    skew = draw(st.sampled_from([1.0, 4.0]))
    codes = np.array([np.minimum((rng.random(n) ** skew * r).astype(int), r - 1) for r in cards])
    columns = rng.normal(size=(c, n))
    for i in range(c):
        own, other = codes[rng.integers(d)], codes[rng.integers(d)]
        columns[i] = columns[i] * (1 + own) + 2 * rng.normal() * other
        if i:
            columns[i] += columns[i - 1] * rng.normal(size=4)[own]
        if draw(st.integers(0, 4)) == 0:
            columns[i, own == 0] = 3.5
    columns *= 10.0 ** rng.integers(-3, 4, (c, 1))
    columns[:, 0] += np.abs(columns).max(axis=1) + 1  # no column is constant
    weights = rng.integers(1, 4, n) if weighted and draw(st.booleans()) else None
    table = mixed_table(codes, cards, columns, weights)
    return table.select([table.names[i] for i in rng.permutation(d + c)])


@st.composite
def legal_families(draw, table, max_parents=4):
    """A child and parents such as a conditional Gaussian network may have."""
    child, parents = draw(families(table.n_columns, max_parents))
    if table.states[child] is not None:
        parents = tuple(p for p in parents if table.states[p] is not None)
    return child, parents


@st.composite
def families(draw, n_variables, max_parents=4):
    """A child and a set of parents."""
    child = draw(st.integers(0, n_variables - 1))
    others = [v for v in range(n_variables) if v != child]
    parents = draw(st.lists(st.sampled_from(others), unique=True, max_size=max_parents)) if others else []
    return child, tuple(sorted(parents))


def rows_of(table):
    return [tuple(row) for row in table.codes.T.tolist()]


def scorer_of(formula, table, **options):
    """The scorer of a formula on a table, with options that `bind` does not have."""
    return TableScorer(formula, formula.statistics(table), **options)
