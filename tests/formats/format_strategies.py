"""Networks and graphs with every label a file may have to carry, and equality to the last bit."""

from __future__ import annotations

from datetime import UTC

import numpy as np
from hypothesis import strategies as st

from bayescout.data.intervals import interval_labels
from bayescout.graph.dag import Dag
from bayescout.network import (
    ConditionalGaussian,
    DiscreteNetwork,
    GaussianNetwork,
    LinearGaussian,
    Network,
    Tabular,
)

NASTY = [
    "",
    " ",
    "a b",
    "<5",
    ">=3",
    "0-5",
    "50%",
    "12+",
    "Asy/Patch",
    "a//b",
    "a/*b",
    "*/",
    "#a",
    "a,b",
    "{",
    "}",
    "[x]",
    "(y|z)",
    "a|b:c",
    ";",
    '"',
    "\\",
    '\\"',
    "\\n",
    "\n",
    "\r\n",
    "\t",
    "ü",
    "日本",
    "\u2028",
    "\ufeff",
    "\x00",
    "\x85",
    "property",
    "table",
    "default",
    "unknown",
    "network",
    "node",
    "digraph",
    "None",
    "True",
    "1",
    "1.0",
    "nan",
    "N0_7muVerMo",
    "=",
    "a=b",
]
texts = st.sampled_from(NASTY) | st.text(max_size=6)
scalars = (
    texts
    | st.integers(-(2**70), 2**70)
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False)
    | st.dates()
    | st.datetimes(timezones=st.none() | st.just(UTC)).map(lambda moment: moment.replace(fold=0))
)
labels = scalars | st.tuples(scalars, scalars) | st.just(())
names = st.from_regex(r"[A-Za-z_ü][A-Za-z0-9_. -]{0,5}[a-z0-9]", fullmatch=True)


@st.composite
def dags(draw, labels=labels, min_size=1):
    """Any graph on up to five nodes; the node order is not a topological one."""
    nodes = draw(st.lists(labels, min_size=min_size, max_size=5, unique=True))
    order = draw(st.permutations(range(len(nodes))))
    parents = [()] * len(nodes)
    for place, child in enumerate(order):
        parents[child] = tuple(p for p in order[:place][-3:] if draw(st.booleans()))
    return Dag(tuple(nodes), tuple(parents))


@st.composite
def states_and_cuts(draw, labels):
    """States of any labels, or of intervals with the cut points between them, or a state after these."""
    if draw(st.integers(0, 2)):
        return tuple(draw(st.lists(labels, min_size=1, max_size=3, unique=True))), None
    finite = st.floats(allow_nan=False, allow_infinity=False)
    cuts = tuple(sorted(draw(st.lists(finite, max_size=2, unique=True))))
    return (*interval_labels(cuts), *(["missing"] if draw(st.booleans()) else [])), cuts


@st.composite
def discrete_networks(draw, labels=labels):
    """Tables with zeros, ones, ugly floats, rows a little off one, undefined rows, and intervals."""
    dag = draw(dags(labels))
    drawn = [draw(states_and_cuts(labels)) for _ in dag.nodes]
    states = tuple(own for own, _ in drawn)
    cuts = {label: own for label, (_, own) in zip(dag.nodes, drawn, strict=True) if own is not None}
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sharpness = draw(st.sampled_from([0.05, 1.0, 50.0]))
    off = draw(st.sampled_from([0.0, 1e-16, 4e-13, 6e-13, 9e-13, 1e-8, 9e-7]))
    tables, masks = [], []
    for child, parents in enumerate(dag.parents):
        shape = tuple(len(states[p]) for p in parents)
        table = rng.dirichlet(np.full(len(states[child]), sharpness), size=shape) * (1 - off)
        mask = rng.random(shape) < draw(st.sampled_from([0.0, 0.3]))
        table[mask] = 1 / len(states[child])
        tables.append(table)
        masks.append(np.asarray(mask, dtype=bool))
    empty = {label: own[-1] for label, own in zip(dag.nodes, states, strict=True) if draw(st.booleans())}
    return DiscreteNetwork(dag, states, tuple(tables), tuple(masks), draw(texts), cuts, empty)


@st.composite
def gaussian_networks(draw, labels=labels):
    dag = draw(dags(labels))
    number = st.floats(allow_nan=False, allow_infinity=False)
    positive = st.floats(0, 1e300)
    return GaussianNetwork(
        dag,
        np.array([draw(number) for _ in dag.nodes]),
        tuple(np.array([draw(number) for _ in parents], dtype=float) for parents in dag.parents),
        np.array([draw(positive) for _ in dag.nodes]),
        name=draw(texts),
    )


@st.composite
def mixed_networks(draw, labels=labels):
    """Nodes of all three kinds; whatever comes after a continuous node along the arcs is continuous too."""
    dag = draw(dags(labels).filter(len))
    states, cuts = {}, {}
    for node in dag.order_indices:
        if all(parent in states for parent in dag.parents[node]) and draw(st.booleans()):
            states[node], cuts[node] = draw(states_and_cuts(labels))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    made = []
    for child, parents in enumerate(dag.parents):
        shape = tuple(len(states[p]) for p in parents if p in states)
        mask = np.asarray(rng.random(shape) < draw(st.sampled_from([0.0, 0.3])), dtype=bool)
        if child in states:
            size = len(states[child])
            table = rng.dirichlet(np.ones(size), size=shape)
            table[mask] = 1 / size
            empty = draw(st.sampled_from([None, *states[child]]))
            made.append(Tabular(states[child], table, mask, cuts[child], empty))
            continue
        exponent = draw(st.sampled_from([0.0, 300.0, -300.0]))
        numbers = [
            rng.standard_normal(shape) * 10**exponent,
            rng.standard_normal((*shape, len(parents) - len(shape))),
            rng.random(shape) * rng.integers(0, 2, shape),
        ]
        where = tuple(place for place, p in enumerate(parents) if p in states)
        made.append(ConditionalGaussian(*numbers, mask, where) if shape else LinearGaussian(*numbers))
    return Network(dag, made, draw(texts))


def typed(label):
    """A label with its type, all the way down; -0.0 is not 0.0."""
    if isinstance(label, tuple):
        return tuple, tuple(typed(part) for part in label)
    return type(label), repr(label)


def same_dag(one, other):
    assert list(map(typed, one.nodes)) == list(map(typed, other.nodes))
    assert one.parents == other.parents


def same_network(one, other):
    """Equal in every bit and type."""
    assert one.kind == other.kind
    assert type(one) is type(other) or Network in (type(one), type(other))
    assert one.name == other.name
    same_dag(one.dag, other.dag)
    if one.kind == "mixed":
        for mine, theirs in zip(one.distributions, other.distributions, strict=True):
            same_node(mine, theirs)
        return
    if isinstance(one, GaussianNetwork):
        assert one.intercepts.tobytes() == other.intercepts.tobytes()
        assert one.variances.tobytes() == other.variances.tobytes()
        assert [c.tobytes() for c in one.coefficients] == [c.tobytes() for c in other.coefficients]
        return
    assert repr(one.cuts) == repr(other.cuts)
    assert repr(one.missing_states) == repr(other.missing_states)
    assert [list(map(typed, s)) for s in one.states] == [list(map(typed, s)) for s in other.states]
    for mine, theirs in zip((*one.tables, *one.undefined), (*other.tables, *other.undefined), strict=True):
        assert (mine.dtype, mine.shape, mine.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())


def same_node(one, other):
    assert type(one) is type(other)
    assert list(map(typed, one.states or ())) == list(map(typed, other.states or ()))
    for field in ("table", "intercepts", "coefficients", "variances", "undefined"):
        if hasattr(one, field):
            mine, theirs = getattr(one, field), getattr(other, field)
            assert (mine.dtype, mine.shape, mine.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())
    for field in ("intercept", "variance", "discrete", "cuts", "missing_state"):
        assert repr(getattr(one, field, None)) == repr(getattr(other, field, None))
