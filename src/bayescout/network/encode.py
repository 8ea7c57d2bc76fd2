"""Data matched to a network: columns to nodes by name, values to states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.acting import refuse_interventions
from bayescout.data.declared import OPEN_NUMBERS, RawStates
from bayescout.data.encode import as_table, column_names, same_states
from bayescout.data.intervals import cut, interval_of
from bayescout.data.past.stored import StoredTable
from bayescout.data.states import StateFinder
from bayescout.data.table import MAX_STATES, Kind, Label, OpenStates, States, Table, narrowest
from bayescout.errors import NetworkError, about, warn
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.statistics.alignment import refuse_missing_nodes, warn_unused_columns
from bayescout.wording import setting

if TYPE_CHECKING:
    from bayescout.network.network import Network

BYTES_OF_ROW = 96
"""Memory that a likelihood or a prediction takes per row beside the cells, about."""


@dataclass(frozen=True)
class Matched:
    """Data matched to nodes: the codes or numbers of each node that has a column.

    An empty cell is the code after the node's last state, or NaN, as in a table, unless the node has a state
    for it. So is a value that is no state of its node; `warn_unknown` has counted those.
    """

    columns: dict[int, NDArray[Any]]
    weights: NDArray[np.float64] | None
    n_rows: int
    empty: NDArray[np.bool_] | None = None
    """For each row, True if a cell is empty; None if none is."""
    acted: Mapping[int, NDArray[np.bool_]] | None = None
    """For each node that was set from outside in some row, the rows in which it was; None if none was."""

    def rows(self, chosen: NDArray[Any]) -> dict[int, NDArray[Any]]:
        """The columns of some rows."""
        return {node: column[chosen] for node, column in self.columns.items()}

    def taken(self, chosen: NDArray[Any]) -> Matched:
        """Some rows by themselves."""
        weights = None if self.weights is None else self.weights[chosen]
        empty = None if self.empty is None else self.empty[chosen]
        return Matched(self.rows(chosen), weights, len(chosen), empty)

    def by_pattern(self, network: Network) -> Iterator[tuple[NDArray[np.intp], dict[int, NDArray[Any]]]]:
        """Rows that lack the same cells, and their columns without those; all rows if no cell is empty."""
        if self.empty is None:
            yield np.arange(self.n_rows), self.columns
            return
        sizes = {node: network.distributions[node].states for node in self.columns}
        lacking = {
            node: np.isnan(column) if (own := sizes[node]) is None else column == len(own)
            for node, column in self.columns.items()
        }
        _, number = patterns(np.array(list(lacking.values())).T)
        order = np.argsort(number, kind="stable")
        for rows in np.split(order, np.cumsum(np.bincount(number))[:-1]):
            some = {n: column[rows] for n, column in self.columns.items() if not lacking[n][rows[0]]}
            yield rows, some


def patterns(empty: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each pattern of empty (n, p) cells, ascending, and the pattern of each row."""
    packed = np.packbits(empty, axis=1)
    whole = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.intp)
    number[order] = np.arange(len(order))
    return first[order], number[inverse.ravel()]


def match_nodes(dag: Dag, data: Any, states: Sequence[States | None]) -> Matched:
    """Every node's column: codes of its states or, if these are None, numbers."""
    refuse_missing_nodes(dag, column_names(data))
    with about(data):
        found = _matched(dag, data, states, dag.nodes)
    if not isinstance(data, Table) or data.interventions is None:
        return found
    if found.empty is not None:
        refuse_interventions(data, "summing out empty cells", "leave out the rows with empty cells")
    names = [name for name in data.interventions.set_anywhere if name in set(dag.nodes)]
    return replace(found, acted={dag.index(name): data.interventions.acted(name) for name in names})


def match_present(dag: Dag, data: Any, states: Sequence[States | None]) -> Matched:
    """As `match_nodes`, but a node without a column is empty in every row, with a warning; not all may be."""
    known = set(column_names(data))
    absent = [label for label in dag.nodes if label not in known]
    if not absent or len(absent) == len(dag):
        return match_nodes(dag, data, states)
    if isinstance(data, Table):
        refuse_interventions(data, "summing out nodes without a column", "add the columns")
    warn(
        f"no column in the data for {'nodes' if len(absent) > 1 else 'node'} {quoted(absent)}, which "
        f"count{'' if len(absent) > 1 else 's'} as missing in every row: the likelihood is of the others"
    )
    found = _matched(dag, data, states, [label for label in dag.nodes if label in known])
    columns = dict(found.columns)
    for label in absent:
        own = states[node := dag.index(label)]
        empty = np.full(found.n_rows, np.nan if own is None else len(own))
        columns[node] = empty if own is None else _narrow(empty, len(own))
    return replace(found, columns=dict(sorted(columns.items())), empty=np.ones(found.n_rows, dtype=bool))


def match_evidence(dag: Dag, data: Any, states: Sequence[States | None], target: int | None) -> Matched:
    """The columns of the nodes other than the target, if there is one; with none nothing can be predicted."""
    _refuse_acted(data)
    names = column_names(data)
    known = set(names)
    found = [label for node, label in enumerate(dag.nodes) if node != target and label in known]
    if not found:
        whom = "others" if target is None else repr(dag.nodes[target])
        raise NetworkError(
            f"no column of the data is a node to predict {whom} from: the columns are "
            f"{quoted(names)}, the nodes {quoted(dag.nodes)}; rename the columns, or use query()"
        )
    with about(data):
        warn_unused_columns(dag, names)
        return _matched(dag, data, states, found)


def match_some(dag: Dag, data: Any, states: Sequence[States | None]) -> Matched:
    """The columns that are nodes, in the order of the data."""
    _refuse_acted(data)
    names = column_names(data)
    known = set(dag.nodes)
    found = [label for label in names if label in known]
    if not found:
        raise NetworkError(
            f"no column of the data is a node: the columns are {quoted(names)}, the nodes "
            f"{quoted(dag.nodes)}; rename the columns"
        )
    with about(data):
        warn_unused_columns(dag, names)
        return _matched(dag, data, states, found)


def _refuse_acted(data: Any) -> None:
    if isinstance(data, Table):
        refuse_interventions(data, "predicting", "ask model.do(...), for each action, about its rows")


def _matched(dag: Dag, data: Any, states: Sequence[States | None], labels: Sequence[Label]) -> Matched:
    """The columns of the given nodes, empty cells and unknown values included."""
    known = {label: states[dag.index(label)] for label in labels}
    table = _table_of(data, known)
    columns: dict[int, NDArray[Any]] = {}
    unknown: dict[Label, tuple[int, Label]] = {}
    strange_numbers = {label: (cells, value) for label, cells, value in table.notes.strange}
    gaps = np.zeros(table.n_rows, dtype=bool)
    for label, own in known.items():
        if own is None:
            column = _numbers(table, label)
            missing = np.isnan(column)
            if label in strange_numbers:
                unknown[label] = strange_numbers[label]
                _refuse_without_numbers(label, unknown[label], missing)
        else:
            column, strange = _recoded(table, label, own)
            column = _with_state_of_empty(table, label, own, column)
            missing = column == len(own)
            if strange is not None:
                unknown[label] = strange
        columns[dag.index(label)] = column
        gaps |= missing
    warn_unknown(unknown, table.n_rows, frozenset(strange_numbers))
    return Matched(columns, table.weights, table.n_rows, gaps if gaps.any() else None)


def warn_unknown(
    unknown: Mapping[Label, tuple[int, Label]], n_rows: int, numbers: frozenset[Label] = frozenset()
) -> None:
    """Warn once of values that their nodes cannot have: how many of each column, and an example.

    Those of the nodes `numbers` are no numbers, the others no states.
    """
    if unknown:
        what = "no state" if not numbers else "no number" if numbers >= set(unknown) else "no state or number"
        shown = ", ".join(
            f"{label!r} ({count:,}, such as {value!r})" for label, (count, value) in list(unknown.items())[:8]
        )
        more = f" and {len(unknown) - 8} more columns" if len(unknown) > 8 else ""
        warn(
            f"values that are {what} of their node count as missing: {shown}{more} of {n_rows:,} rows; "
            f"correct them{'' if what == 'no number' else ', or fit with states that hold them'}"
        )


def _table_of(data: Any, known: Mapping[Label, States | None]) -> Table:
    """A table as it is; other data with the kinds and states known to the network declared."""
    if isinstance(data, StoredTable):
        data.select(list(known)).require_room(BYTES_OF_ROW)
    return data if isinstance(data, Table) else as_table(data, **declarations(known))


def declarations(known: Mapping[Label, States | None]) -> dict[str, Any]:
    """Arguments of `as_table` for the columns of nodes: kinds, and states that other values may be beside."""
    declared = {label: _opened(own) for label, own in known.items() if own is not None}
    kinds: dict[Any, Kind] = {label: OPEN_NUMBERS for label, own in known.items() if own is None}
    return {"kinds": kinds or None, "states": declared or None, "columns": list(known), "missing": "keep"}


def _opened(states: States) -> States:
    """Declared states that other values may stand beside, to be counted as unknown."""
    return states.opened() if isinstance(states, RawStates) else OpenStates(states)


def _numbers(table: Table, label: Label) -> NDArray[Any]:
    if table.states[table.index(label)] is not None:
        raise NetworkError(
            f"column {label!r} is discrete but its node is Gaussian; "
            f"{setting('kinds', {label: 'continuous'})} declares it continuous"
        )
    return table.array(label)


def _refuse_without_numbers(label: Label, strange: tuple[int, Label], missing: NDArray[np.bool_]) -> None:
    """Refuse a column none of whose values is a number: it is a mistake rather than a gap."""
    if missing.all():
        raise NetworkError(
            f"column {label!r} has no number, but such as {strange[1]!r}, and its node is continuous: "
            f"convert the column to numbers, or leave it out"
        )


def _recoded(table: Table, label: Label, states: States) -> tuple[NDArray[Any], tuple[int, Label] | None]:
    """The column's codes in the order of the network's states, those of empty cells and unknown values last.

    Also the number of unknown values and the first of them, if there are any.
    """
    own = table.states[table.index(label)]
    codes = table.array(label)
    cuts = states.cuts if isinstance(states, RawStates) else None
    if own is None and cuts is not None:
        found = cut(cuts, codes)
        found[np.isnan(codes)] = len(states)
        return _narrow(found, len(states)), None
    if own is None:
        raise NetworkError(
            f"column {label!r} is continuous but its node has the states {quoted(states)}; "
            f"discretise the column"
        )
    if same_states(own, states):
        return codes, None
    known = StateFinder(states, f"node {label!r}")
    places = [known.find(state) for state in own]
    if cuts is not None:
        places = [
            interval_of(cuts, state) if place is None else place
            for place, state in zip(places, own, strict=True)
        ]
    lookup = np.array([*(-1 if place is None else place for place in places), len(states)], dtype=np.int64)
    found = lookup[codes]
    outside = np.flatnonzero(found < 0)
    strange = (len(outside), own[codes[outside[0]]]) if len(outside) else None
    if strange is not None and (found < 0).sum() == (found < len(states)).sum():
        _refuse_other_type(label, strange[1], int(outside[0]), states)
    found[outside] = len(states)
    return _narrow(found, len(states)), strange


def _with_state_of_empty(table: Table, label: Label, states: States, codes: NDArray[Any]) -> NDArray[Any]:
    """The codes with the state that the node has for empty cells in these, if it has one."""
    empty = states.empty if isinstance(states, RawStates) else None
    if empty is None or not table.has_missing:
        return codes
    return np.where(table.missing_cells(label), states.index(empty), codes).astype(codes.dtype)


def _narrow(codes: NDArray[Any], states: int) -> NDArray[Any]:
    """Codes in the narrowest type that holds the states and an empty cell."""
    return np.asarray(codes, dtype=narrowest(states + 1) if states < MAX_STATES else np.int32)


def _type_of(value: Any) -> type:
    return float if type(value) is not bool and isinstance(value, Real) else type(value)


def _refuse_other_type(label: Label, value: Label, row: int, states: States) -> None:
    """Refuse a column none of whose values is a state if it is not even of a type that states have.

    All numbers are of one type here: 5.5 among cylinders is a value that was never seen, as 5 is.
    """
    if _type_of(value) not in {_type_of(state) for state in states}:
        raise NetworkError(
            f"column {label!r} has the value {value!r} ({type(value).__name__}) in row {row} (counting from "
            f"0), which is not a state of its node: {quoted(states)}; no value of the column is one: "
            f"convert the column to the type of the states"
        )
