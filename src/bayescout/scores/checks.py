"""Checks before any work: tables too short or with unusable weights, and invalid families."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq

from bayescout.arrays import Family, Ints, Parents
from bayescout.data.table import Table
from bayescout.errors import DataError, GraphError

MOST_WEIGHT = 2.0**53
"""Upper limit for the sum of row weights: beyond it, counts are not exact."""


def require_rows(table: Table, least: int = 2) -> None:
    """Refuse a table too short to learn anything from."""
    if table.n_rows < least:
        raise DataError(
            f"the table has {table.n_rows} row{'s' * (table.n_rows != 1)}; scoring needs at least {least}"
        )


def require_weight(table: Table) -> None:
    """Refuse row weights that do not count rows: a charge of log N makes no sense below two."""
    total = table.total_weight
    if not 2 <= total < MOST_WEIGHT:
        raise DataError(
            f"the row weights sum to {total:g}; they count rows, and scoring needs a sum from 2 to 2**53: "
            f"rescale them, to sum to the number of rows for instance"
        )


def check_families(families: Sequence[Family], n_variables: int) -> None:
    """Refuse an invalid family; parents must be sorted."""
    for child, parents in families:
        inside = 0 <= child < n_variables and (not parents or (parents[0] >= 0 and parents[-1] < n_variables))
        if not inside or child in parents or any(map(eq, parents, parents[1:])):
            raise GraphError(
                f"({child}, {parents}) is not a family of {n_variables} variables: a child and parents other "
                f"than itself, each once, by position from 0"
            )


def check_candidates(child: int, parents: Parents, candidates: Ints, n_variables: int) -> None:
    """Refuse candidates that are outside the table, the child itself or parents already."""
    least, most = int(candidates.min()), int(candidates.max())
    taken = {child, *parents}
    if least < 0 or most >= n_variables or not taken.isdisjoint(candidates.tolist()):
        raise GraphError(
            f"candidates must be among the {n_variables} variables and neither {child} nor a parent of it"
        )
