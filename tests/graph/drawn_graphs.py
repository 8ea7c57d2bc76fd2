"""Graphs for hypothesis: any DAG up to a size, with labels of any kind."""

from __future__ import annotations

from hypothesis import strategies as st

from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag

LABELS = (
    "smoke",
    "b c",
    "",
    "1",
    1,
    2.5,
    -3,
    ("a", 1),
    ("smoke",),
    frozenset({"x"}),
    None,
    "é",
    b"raw",
    "[x|y]",
)
"""Odd on purpose: a tuple that holds another label, a number and its text, None, the empty string."""


@st.composite
def parent_sets(draw, min_nodes=0, max_nodes=6):
    n = draw(st.integers(min_nodes, max_nodes))
    order = draw(st.permutations(range(n)))
    parents = [()] * n
    for place, child in enumerate(order):
        bits = draw(st.integers(0, 2**place - 1))
        parents[child] = tuple(order[k] for k in range(place) if bits >> k & 1)
    return tuple(parents)


@st.composite
def dags(draw, min_nodes=0, max_nodes=6, labels=None):
    """A DAG; labels are drawn from the odd ones unless given as a strategy of unique labels."""
    parents = draw(parent_sets(min_nodes, max_nodes))
    pool = draw(st.permutations(LABELS)) if labels is None else draw(labels(len(parents)))
    return Dag(tuple(pool[: len(parents)]), parents)


@st.composite
def pdags(draw, min_nodes=0, max_nodes=5):
    """A DAG with some of its arcs undirected: often not a CPDAG, sometimes without an extension."""
    dag = draw(dags(min_nodes, max_nodes))
    arcs = [(p, child) for child, ps in enumerate(dag.parents) for p in ps]
    keep = draw(st.lists(st.booleans(), min_size=len(arcs), max_size=len(arcs)))
    directed = tuple(arc for arc, kept in zip(arcs, keep, strict=True) if kept)
    undirected = tuple(arc for arc, kept in zip(arcs, keep, strict=True) if not kept)
    return Pdag(dag.nodes, directed, undirected)
