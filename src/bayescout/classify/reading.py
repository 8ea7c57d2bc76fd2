"""Raw columns to the codes of a classifier: read and cut once, new rows in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints
from bayescout.data.declared import RawStates
from bayescout.data.description_length import mdl_cuts
from bayescout.data.discretise import Choice, Discretiser, cut_by
from bayescout.data.intervals import cut
from bayescout.data.table import Label, States, Table
from bayescout.network import Network
from bayescout.network.encode import warn_unknown

BY_CLASS = "mdl"
"""Cuts that tell about the class, as many as save description length (Fayyad & Irani 1993)."""

Columns = Mapping[Any, Any]
"""Columns by name, each an array, a series or a list."""


def cut_features(table: Table, codes: Ints, choice: Choice = BY_CLASS) -> Table:
    """The table with numbers cut by a choice as in `bayescout.learn`, so that all columns are discrete.

    codes  the class of each row, which "mdl" cuts for; a column that tells nothing about it is one interval
    """
    empty = {name: () for name in table.names if not _values(table, name).any()}
    numbers = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind == "continuous"]
    if choice == BY_CLASS:
        cuts = {name: _cuts_for(table, name, codes) for name in numbers}
        return Discretiser(tuple(cuts.items())).apply(table) if cuts else table
    if empty:
        table = Discretiser(tuple(empty.items())).apply(table)
    return cut_by(table, choice) if set(numbers) - set(empty) else table


def _values(table: Table, name: Label) -> NDArray[np.bool_]:
    """The rows that have a value of a column."""
    return ~table.missing_cells(name) if table.has_missing else np.ones(table.n_rows, dtype=np.bool_)


def _cuts_for(table: Table, name: Label, codes: Ints) -> tuple[float, ...]:
    """The cuts of a column of numbers that tell about the class."""
    values = table.array(name)
    weights = np.ones(len(values)) if table.weights is None else table.weights
    order = np.argsort(values, kind="stable")
    order = order[_values(table, name)[order] & (weights[order] > 0)]
    found, _ = mdl_cuts(values[order], codes[order].astype(np.int64), weights[order])
    return tuple(found)


def read_rows(network: Network, columns: Columns) -> NDArray[np.intp]:
    """(p, n) codes of every node but the last, the code after the last state for a missing cell.

    A value that is no state of its column counts as missing, with a warning. Columns that are no nodes
    were left out when the network was learned.
    """
    names = network.nodes[:-1]
    used = {name: columns[name] for name in names}
    if all(isinstance(own, np.ndarray) and own.dtype.kind in "biuf" for own in used.values()):
        quick = _numbers(network, used)
        if quick is not None:
            return quick
    matched = network.matched(used, len(names))
    codes = np.empty((len(names), matched.n_rows), dtype=np.intp)
    for node, own in matched.columns.items():
        codes[node] = own
    return codes


def _numbers(network: Network, columns: Columns) -> NDArray[np.intp] | None:
    """The same of arrays of numbers, without a table; None if a node has states that are no numbers."""
    codes = np.empty((len(columns), len(next(iter(columns.values())))), dtype=np.intp)
    unknown: dict[Label, tuple[int, Label]] = {}
    for row, (name, values), node in zip(codes, columns.items(), network.distributions, strict=False):
        declared = node.declared
        if isinstance(declared, RawStates) and declared.cuts is not None:
            row[:] = cut(declared.cuts, values.astype(np.float64))
            continue
        known = _as_numbers(declared or ())
        if known is None:
            return None
        numbers = values.astype(np.float64)
        strange = _find(known, numbers, row)
        if strange.any():
            unknown[name] = int(strange.sum()), values[np.argmax(strange)].item()
    warn_unknown(unknown, codes.shape[1])
    return codes


def _as_numbers(states: States) -> Floats | None:
    """States that are all numbers as ascending floats, in their own order; None for any others."""
    if not all(isinstance(state, bool | int | float) for state in states):
        return None
    found = np.array(states, dtype=np.float64)
    return found if np.all(found[1:] > found[:-1]) and np.all(np.abs(found) < 2.0**53) else None


def _find(known: Floats, numbers: Floats, out: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Fill out with the place of each number among the known ones; the numbers that are not among them."""
    place = np.searchsorted(known, numbers)
    place[place == len(known)] = 0
    there = known[place] == numbers
    out[:] = np.where(there, place, len(known))
    return np.asarray(~there & ~np.isnan(numbers))
