"""Read which variables were set from outside in each row: from a column, or as given beside the data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.absent import MISSING, is_missing
from bayescout.data.interventions import Interventions, distinct
from bayescout.data.table import Label, Table
from bayescout.errors import DataError, SettingError, UnknownNameError
from bayescout.graph.labels import is_hashable

SEPARATORS_OF_NAMES = re.compile(r"[,;+|&]")
"""What may stand between names in one text cell."""


def refuse_interventions(table: Table, what: str, way: str) -> None:
    """Refuse rows of interventions where they would be taken for rows in which nobody acted."""
    if table.interventions is not None:
        raise DataError(
            f"{what} does not take rows in which variables were set from outside, and the data have "
            f"{table.interventions.told}; {way}"
        )


def is_column(given: Any, names: Sequence[Label]) -> bool:
    """Return True if interventions are given as the name of a column."""
    if is_hashable(given) and given in set(names):
        return True
    if isinstance(given, str):
        raise UnknownNameError("column of interventions", given, names, "the data")
    return False


def of_values(
    values: Sequence[Any], codes: NDArray[Any], names: Sequence[Label], where: str
) -> Interventions | None:
    """Interventions from cells, as codes into distinct values; None if nothing was set in any row."""
    targets = []
    for code, value in enumerate(values):
        try:
            targets.append(_targets_in(value, names))
        except UnknownNameError as error:
            rows = np.flatnonzero(codes == code)
            at = f", row {rows[0]} (counting from 0)" if len(rows) else ""
            raise DataError(
                f"{where}{at}: {error}; a cell names the variable that was set, or several separated by "
                f"commas, and is empty where none was"
            ) from None
    return distinct(targets, codes)


def of_rows(given: Any, n_rows: int, names: Sequence[Label]) -> Interventions | None:
    """Interventions given beside the data: one entry per row, or for each variable set its rows."""
    if isinstance(given, Mapping):
        return _of_masks(given, n_rows, names)
    try:
        entries = list(given)
    except TypeError:
        raise SettingError(
            f"interventions are the name of a column, one entry per row, or {{variable: rows}}, not {given!r}"
        ) from None
    if len(entries) != n_rows:
        raise DataError(f"{len(entries):,} interventions for {n_rows:,} rows: give one entry per row")
    values: list[Any] = []
    place: dict[Any, int] = {}
    codes = np.empty(n_rows, dtype=np.int32)
    for row, entry in enumerate(entries):
        key = entry if is_hashable(entry) and entry == entry else repr(entry)
        if key not in place:
            place[key] = len(values)
            values.append(entry)
        codes[row] = place[key]
    return of_values(values, codes, names, "interventions")


def _of_masks(given: Mapping[Any, Any], n_rows: int, names: Sequence[Label]) -> Interventions | None:
    """Interventions from {variable: one truth value per row, or row numbers}."""
    known = [_named(name, names) for name in given]
    acted = np.zeros((len(known), n_rows), dtype=np.bool_)
    for row, (name, rows) in zip(acted, given.items(), strict=True):
        chosen = np.asarray(rows)
        if chosen.dtype == np.bool_ and chosen.shape != (n_rows,):
            raise DataError(f"interventions on {name!r}: {chosen.size:,} truth values for {n_rows:,} rows")
        try:
            row[chosen if chosen.size else []] = True
        except IndexError:
            raise DataError(
                f"interventions on {name!r} must be row numbers from 0 to {n_rows - 1:,}, or one truth value "
                f"per row"
            ) from None
    sets, codes = np.unique(acted.T, axis=0, return_inverse=True)
    wanted = [[name for name, there in zip(known, own, strict=True) if there] for own in sets.tolist()]
    return distinct(wanted, codes.ravel().astype(np.int32))


def _targets_in(value: Any, names: Sequence[Label]) -> list[Label]:
    """The variables that a cell names, in the order of the names."""
    if value is MISSING or (is_hashable(value) and is_missing(value)):
        return []
    if is_hashable(value) and value in set(names):
        return [value]
    if isinstance(value, list | tuple | set | frozenset):
        parts: list[Any] = list(value)
    elif isinstance(value, str):
        alike = [name for name in names if str(name) == value.strip()]
        parts = alike or [part.strip() for part in SEPARATORS_OF_NAMES.split(value) if part.strip()]
    else:
        parts = [value]
    found = {_named(part, names) for part in parts}
    return [name for name in names if name in found]


def _named(part: Any, names: Sequence[Label]) -> Label:
    same = [name for name in names if is_hashable(part) and name == part]
    alike = same or [name for name in names if str(name) == str(part)]
    if len(alike) == 1:
        return alike[0]
    raise UnknownNameError("variable", part, names, "the data")
