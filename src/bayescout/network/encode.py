"""Data matched to a network: columns to nodes by name, values to states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.absent import require_complete
from bayescout.data.encode import as_table, column_names, same_states
from bayescout.data.states import StateFinder
from bayescout.data.table import Kind, Label, States, Table, narrowest
from bayescout.errors import NetworkError
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.statistics.alignment import refuse_missing_nodes, warn_unused_columns
from bayescout.wording import setting


@dataclass(frozen=True)
class Matched:
    """Data matched to nodes: the codes or numbers of each node that has a column."""

    columns: dict[int, NDArray[Any]]
    weights: NDArray[np.float64] | None
    n_rows: int


def match_nodes(dag: Dag, data: Any, states: Sequence[States | None]) -> Matched:
    """Every node's column: codes of its states or, if these are None, numbers."""
    refuse_missing_nodes(dag, column_names(data))
    return _matched(dag, data, states, dag.nodes)


def match_evidence(dag: Dag, data: Any, states: Sequence[States | None], target: int) -> Matched:
    """The columns of the nodes other than the target; with none there is nothing to predict from."""
    names = column_names(data)
    known = set(names)
    found = [label for node, label in enumerate(dag.nodes) if node != target and label in known]
    if not found:
        raise NetworkError(
            f"no column of the data is a node to predict {dag.nodes[target]!r} from: the columns are "
            f"{quoted(names)}, the nodes {quoted(dag.nodes)}; rename the columns, or use query()"
        )
    warn_unused_columns(dag, names)
    return _matched(dag, data, states, found)


def _matched(dag: Dag, data: Any, states: Sequence[States | None], labels: Sequence[Label]) -> Matched:
    """Match these labels only; columns that the network does not use may be identifiers, or have gaps."""
    known = {label: states[dag.index(label)] for label in labels}
    table = _table_of(data, known)
    require_complete(table, labels)
    columns = {
        dag.index(label): _numbers(table, label) if own is None else _recoded(table, label, own)
        for label, own in known.items()
    }
    return Matched(columns, table.weights, table.n_rows)


def _table_of(data: Any, known: Mapping[Label, States | None]) -> Table:
    """A table as it is; other data with the kinds and states known to the network declared."""
    if isinstance(data, Table):
        return data
    declared = {label: own for label, own in known.items() if own is not None}
    kinds: dict[Any, Kind] = {label: "continuous" for label, own in known.items() if own is None}
    return as_table(data, kinds=kinds or None, states=declared or None, columns=list(known))


def _numbers(table: Table, label: Label) -> NDArray[Any]:
    if table.states[table.index(label)] is not None:
        raise NetworkError(
            f"column {label!r} is discrete but its node is Gaussian; "
            f"{setting('kinds', {label: 'continuous'})} declares it continuous"
        )
    return table.array(label)


def _recoded(table: Table, label: Label, states: States) -> NDArray[Any]:
    """The column's codes in the order of the network's states; a value outside them is refused."""
    own = table.states[table.index(label)]
    codes = table.array(label)
    if own is None:
        raise NetworkError(
            f"column {label!r} is continuous but its node has the states {quoted(states)}; "
            f"discretise the column"
        )
    if same_states(own, states):
        return codes
    known = StateFinder(states, f"node {label!r}")
    places = [known.find(state) for state in own]
    lookup = np.array([-1 if place is None else place for place in places], dtype=np.int64)
    found = lookup[codes]
    outside = np.flatnonzero(found < 0)
    if len(outside):
        row = int(outside[0])
        value = own[codes[row]]
        raise NetworkError(
            f"column {label!r} has the value {value!r} ({type(value).__name__}) in row {row} (counting from "
            f"0), which is not a state of its node: {quoted(states)}; correct the value, or fit with states "
            f"that hold it"
        )
    return np.asarray(found, dtype=narrowest(len(states)))
