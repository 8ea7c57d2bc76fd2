"""Hypothesis strategies: rows with empty cells, of drawn networks."""

import numpy as np
from hypothesis import strategies as st

from bayescout.data.table import MissingReport, Table


@st.composite
def gappy_rows(draw, network, least=1, most=8, share=None):
    """Rows of codes, None where empty; few distinct patterns or many, rows of nothing among them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(least, most))
    gone = draw(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])) if share is None else share
    sizes = [len(states) for states in network.states]
    return [[None if rng.random() < gone else int(rng.integers(size)) for size in sizes] for _ in range(n)]


def gappy_table(network, rows, weights=None):
    """A table of a discrete network's columns that holds the rows' gaps."""
    sizes = [len(states) for states in network.states]
    codes = [[size if row[i] is None else row[i] for row in rows] for i, size in enumerate(sizes)]
    return Table(
        network.nodes,
        network.states,
        np.array(codes, dtype=np.uint8).reshape(len(sizes), len(rows)),
        np.empty((0, len(rows))),
        None if weights is None else np.array(weights, dtype=float),
        MissingReport("keep"),
    )


def number_table(network, rows, weights=None):
    """A table of a Gaussian network's columns, None where a cell is empty."""
    values = np.array([[np.nan if cell is None else cell for cell in row] for row in rows], dtype=float)
    return Table(
        network.nodes,
        (None,) * len(network.nodes),
        np.empty((0, len(rows)), dtype=np.uint8),
        np.ascontiguousarray(values.reshape(len(rows), len(network.nodes)).T),
        None if weights is None else np.array(weights, dtype=float),
        MissingReport("keep"),
    )


@st.composite
def gappy_numbers(draw, network, least=1, most=8):
    """Rows of numbers, None where empty."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(least, most))
    gone = draw(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]))
    p = len(network.nodes)
    return [[None if rng.random() < gone else float(rng.normal(0, 3)) for _ in range(p)] for _ in range(n)]
