"""Small tables with a class, drawn so that features copy the class and one another, with gaps and weights."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bayescout.classify import Training
from bayescout.data.table import MissingReport, Table


@st.composite
def drawn(draw, gaps=True, weighted=True, most_features=5, most_states=3):
    """(rows, weights, sizes): rows of codes with None for a missing cell, the class last."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    p, k = draw(st.integers(1, most_features)), draw(st.integers(2, 3))
    n = draw(st.integers(2, 30))
    sizes = [*(int(rng.integers(1, most_states + 1)) for _ in range(p)), k]
    classes = rng.integers(0, k, n)
    columns = []
    for v in range(p):
        source = classes if v == 0 or rng.random() < 0.5 else columns[int(rng.integers(v))]
        noise = rng.integers(0, sizes[v], n)
        columns.append(np.where(rng.random(n) < 0.6, source, noise) % sizes[v])
    share = 0.3 if gaps and draw(st.booleans()) else 0.0
    cells = [[None if rng.random() < share else int(x) for x in column] for column in columns]
    weights = [int(w) for w in rng.integers(1, 4, n)] if weighted and draw(st.booleans()) else [1] * n
    return list(zip(*cells, classes.tolist(), strict=True)), weights, sizes


def training_of(rows, weights, sizes, order=None):
    """The training table, and for each of its features the position in the rows."""
    order = list(range(len(sizes) - 1)) if order is None else order
    codes = np.array(
        [[sizes[v] if row[v] is None else row[v] for row in rows] for v in order], dtype=np.uint8
    ).reshape(len(order), len(rows))
    states = tuple(tuple(f"s{i}" for i in range(sizes[v])) for v in order)
    names = tuple(f"f{v}" for v in order)
    features = Table(
        names, states, codes, np.empty((0, len(rows))), np.array(weights, float), MissingReport("keep")
    )
    classes = tuple(f"c{i}" for i in range(sizes[-1]))
    made = Training.of(features, "class", classes, np.array([row[-1] for row in rows]))
    return made, [int(str(name)[1:]) for name in made.table.names[:-1]]


def codes_of(queries, sizes, places):
    """(p, n) codes of queries, in the order of a training table."""
    cells = [[sizes[v] if query[v] is None else query[v] for query in queries] for v in places]
    return np.array(cells, dtype=np.intp).reshape(len(places), len(queries))


def in_rows(structure, places):
    """A structure over the training table as one over the rows."""
    where = [*places, len(places)]
    found = {where[child]: tuple(where[p] for p in own) for child, own in enumerate(structure)}
    return tuple(found[v] for v in range(len(where)))
