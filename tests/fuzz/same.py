"""Whether two values are the same: equal in every bit and of the same type, with no NaN in them."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from bayescout.data.table import Table
from bayescout.graph.dag import Dag
from bayescout.network import Network
from tests.fuzz.target import hold


def typed(label: Any) -> Any:
    """A label with its type, all the way down; -0.0 is not 0.0, but 1.10 is 1.1 of a decimal."""
    if isinstance(label, (tuple, list)):
        return type(label), tuple(typed(part) for part in label)
    return type(label), repr(label.normalize() if isinstance(label, Decimal) else label)


def parts(value: Any) -> Any:
    """A graph or a network as values that can be compared."""
    if isinstance(value, Dag):
        return "graph", typed(value.nodes), value.parents
    numbers = _numbers(value)
    states = typed(
        tuple((node.states or (), getattr(node, "missing_state", None)) for node in value.distributions)
    )
    kinds = tuple((node.kind, getattr(node, "discrete", ())) for node in value.distributions)
    return (
        value.kind, kinds, value.name, parts(value.dag), states,
        tuple((array.dtype, array.shape, array.tobytes()) for array in numbers),
    )  # fmt: skip


def check_no_nan(value: Any) -> None:
    if isinstance(value, Dag):
        return
    finite = all(bool((array * 0 == 0).all()) for array in _numbers(value))
    hold("numbers of a network are finite", finite)


def _numbers(network: Network) -> list[Any]:
    """The parameters of all nodes, and the masks of what is undefined."""
    fields = (
        "table",
        "intercept",
        "intercepts",
        "coefficients",
        "variance",
        "variances",
        "undefined",
        "cuts",
    )
    return [
        np.asarray(getattr(node, field))
        for node in network.distributions
        for field in fields
        if getattr(node, field, None) is not None
    ]


def cells(table: Table) -> Any:
    """The cells of a table with their types, by column; kinds and weights with them."""
    return [
        (typed(name), kind, [typed(cell) for cell in table.column(name)])
        for name, kind in zip(table.names, table.kinds, strict=True)
    ]


def check_cells(table: Table) -> None:
    """Codes are within states, states distinct, numbers finite."""
    for name, states in zip(table.names, table.states, strict=True):
        if states is None:
            hold("continuous cells are finite", all(map(math.isfinite, table.column(name))), name)
        else:
            hold("states are distinct", len(set(map(typed, states))) == len(states), (name, states))
