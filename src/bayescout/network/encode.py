"""Data at a network's door: columns matched to nodes by name, values to states."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, States, Table
from bayescout.errors import BayescoutWarning, NetworkError, UnknownNameError
from bayescout.graph.dag import Dag


def named(labels: Sequence[Label], limit: int = 8) -> str:
    """The labels as a short list for a message."""
    shown = ", ".join(repr(label) for label in labels[:limit])
    return shown + (f" and {len(labels) - limit} more" if len(labels) > limit else "")


def refuse_missing_nodes(dag: Dag, columns: Iterable[Label]) -> None:
    """Every node needs a column."""
    present = set(columns)
    absent = [label for label in dag.nodes if label not in present]
    if absent:
        raise NetworkError(
            f"the data have no column for {'nodes' if len(absent) > 1 else 'node'} {named(absent)}; "
            f"rename or add the columns, or take the nodes out of the graph"
        )


def warn_unused_columns(dag: Dag, columns: Iterable[Label]) -> None:
    """Columns that no node uses are left out, and said so."""
    known = set(dag.nodes)
    unused = [name for name in columns if name not in known]
    if unused:
        warnings.warn(
            f"{'columns' if len(unused) > 1 else 'column'} {named(unused)} of the data are left out: "
            f"the graph has no such node",
            BayescoutWarning,
            stacklevel=2,
        )


def column_names(data: Any) -> list[Label] | None:
    """The columns of a mapping, a frame or a table; None where only reading would tell."""
    if isinstance(data, Table):
        return list(data.names)
    if isinstance(data, Mapping):
        return list(data)
    if hasattr(data, "collect"):
        return None  # a lazy frame would have to be run
    names = getattr(data, "column_names", None)
    names = getattr(data, "columns", None) if names is None else names
    return None if names is None or callable(names) else list(names)


def only(data: Any, names: Sequence[Label]) -> Any:
    """The named columns of data whose columns are known.

    What the network does not use need not make sense: an identifier, a column with gaps.
    """
    if isinstance(data, Mapping):
        return {name: data[name] for name in names}
    return data.select(list(names)) if hasattr(data, "column_names") else data[list(names)]


def discrete_columns(
    dag: Dag, states: Sequence[States], data: Any, skip: int | None = None
) -> tuple[dict[int, NDArray[Any]], Table]:
    """For each node but `skip` that has a column, its codes in the network's states; and the table."""
    declared = {label: states[node] for node, label in enumerate(dag.nodes) if node != skip}
    table = _declared_table(data, "states", declared)
    present = set(table.names)
    columns: dict[int, NDArray[Any]] = {}
    for node, label in enumerate(dag.nodes):
        if label in present and node != skip:
            columns[node] = _recoded(table, label, states[node])
    return columns, table


def continuous_columns(
    dag: Dag, data: Any, skip: int | None = None
) -> tuple[dict[int, NDArray[np.float64]], Table]:
    """For each node but `skip` that has a column, its numbers; and the table."""
    declared = {label: "continuous" for node, label in enumerate(dag.nodes) if node != skip}
    table = _declared_table(data, "kinds", declared)
    present = set(table.names)
    columns: dict[int, NDArray[np.float64]] = {}
    for node, label in enumerate(dag.nodes):
        if label not in present or node == skip:
            continue
        if table.states[table.index(label)] is not None:
            raise NetworkError(
                f"column {label!r} is discrete but its node is Gaussian; "
                f"declare kinds={{{label!r}: 'continuous'}}"
            )
        columns[node] = table.array(label)
    return columns, table


def _declared_table(data: Any, what: str, declared: dict[Label, Any]) -> Table:
    """The data as a table, with what the network knows declared for the columns there are."""
    if isinstance(data, Table):
        return data
    from bayescout.data import as_table

    left = dict(declared)
    known = column_names(data)
    if known is not None and any(name in left for name in known):
        data = only(data, [name for name in known if name in left])
    while True:
        try:
            return as_table(data, states=left) if what == "states" else as_table(data, kinds=left)
        except UnknownNameError as error:
            # A node without a column: the caller decides whether that matters.
            if error.name not in left:
                raise
            del left[error.name]


def _recoded(table: Table, label: Label, states: States) -> NDArray[Any]:
    """The column's codes in the order of the network's states; a value outside them is refused."""
    own = table.states[table.index(label)]
    codes = table.array(label)
    if own is None:
        raise NetworkError(
            f"column {label!r} is continuous but its node has the states {named(states)}; "
            f"discretise the column"
        )
    if own == states:
        return codes
    position = {state: code for code, state in enumerate(states)}
    lookup = np.array([position.get(state, -1) for state in own], dtype=np.int64)
    found = lookup[codes]
    outside = np.flatnonzero(found < 0)
    if len(outside):
        row = int(outside[0])
        raise NetworkError(
            f"column {label!r} has the value {own[codes[row]]!r} in row {row} (counting from 0), which is "
            f"not a state of its node: {named(states)}; correct the value, or fit with states that hold it"
        )
    return np.asarray(found, dtype=np.uint8 if len(states) <= 256 else np.uint16)
