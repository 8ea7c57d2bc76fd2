"""Checks that statistics can be made of a table."""

from __future__ import annotations

import numpy as np

from bayescout.data.absent import require_complete
from bayescout.data.table import Label, Table
from bayescout.errors import DataError
from bayescout.statistics.engine import Kind
from bayescout.wording import setting


def require_kind(table: Table, kind: Kind) -> None:
    """Refuse a table that has columns of another kind, or cells that are missing."""
    if kind == "discrete":
        _require_discrete(table)
    elif kind == "continuous":
        _require_continuous(table)
    require_complete(table)


def _require_discrete(table: Table) -> None:
    """Refuse a table with continuous columns."""
    if not table.is_discrete:
        names = [repr(n) for n, states in zip(table.names, table.states, strict=True) if states is None]
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        column, are = ("columns", "are") if len(names) > 1 else ("column", "is")
        raise DataError(
            f"{column} {shown} {are} continuous, and "
            f"counting needs discrete columns: "
            f"{setting('bins', 3)} cuts them into intervals, {setting('kinds', 'discrete')} takes each value "
            f"for a state; or use {_other_score(table, 'a Gaussian score such as bge')}"
        )


def _require_continuous(table: Table) -> None:
    """Refuse a table with discrete columns."""
    if not table.is_continuous:
        names = [repr(n) for n, states in zip(table.names, table.states, strict=True) if states is not None]
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        column, are = ("columns", "are") if len(names) > 1 else ("column", "is")
        raise DataError(
            f"{column} {shown} {are} discrete, and a "
            f"Gaussian score needs continuous columns: "
            f"{setting('kinds', 'continuous')} makes them so; or {setting('bins', 3)} and a discrete score; "
            f"or use {_other_score(table, 'a discrete score such as bdeu')}"
        )


def require_varying(table: Table) -> None:
    """Refuse a continuous column whose observed cells have no variance."""
    for name, states in zip(table.names, table.states, strict=True):
        if states is None:
            column = table.array(name)
            there = column[~np.isnan(column)]
            if len(there) < 2:
                raise undefined_score(name, "has fewer than 2 values")
            if there.min() == there.max():
                raise undefined_score(name, "is constant")


def undefined_score(name: Label, what: str) -> DataError:
    """The error for a column without variance."""
    return DataError(f"column {name!r} {what}: a Gaussian score is undefined for it; {setting('drop', name)}")


def _other_score(table: Table, of_one_kind: str) -> str:
    """The kind of score that takes the table as it is."""
    if table.is_discrete or table.is_continuous:
        return of_one_kind
    return "a score of both kinds of columns, such as bic, cg-bde or dg-bic"
