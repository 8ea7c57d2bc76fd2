"""How much further parents would explain of children, all variables at once: estimates by matrix products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayescout.arrays import Family, Floats
from bayescout.statistics.columns import ColumnCovariance

PIECE_BYTES = 64 << 20
"""Memory for the correlations of some variables with all."""

BLOCK = 1024
"""Columns multiplied at a time."""

NEARLY_DETERMINED = 1e-6
"""A share of variance below which estimates are not trusted."""


def explained(columns: ColumnCovariance, families: Sequence[Family]) -> Iterator[Floats]:
    """Of each family, the share of the child's residual variance that each variable would explain: (p,).

    Rounded, and 1 where rounding may matter: variables that the parents determine nearly, or a child.
    """
    most = max(8, PIECE_BYTES // (8 * columns.n_variables))
    begin = 0
    while begin < len(families):
        members: set[int] = set()
        end = begin
        while end < len(families):
            child, parents = families[end]
            wider = members | {child, *parents}
            if members and len(wider) > most:
                break
            members, end = wider, end + 1
        yield from _explained(columns, families[begin:end], sorted(members))
        begin = end


def _explained(columns: ColumnCovariance, families: Sequence[Family], members: list[int]) -> Iterator[Floats]:
    correlations = _correlations(columns, members)
    place = {variable: i for i, variable in enumerate(members)}
    for child, parents in families:
        own, residual = correlations[place[child]], 1.0
        others = np.ones(columns.n_variables)
        if parents:
            some = [place[parent] for parent in parents]
            try:
                factor = np.linalg.cholesky(correlations[np.ix_(some, parents)])
            except np.linalg.LinAlgError:
                yield others
                continue
            if factor.diagonal().min() ** 2 < NEARLY_DETERMINED:
                yield others
                continue
            inside = np.linalg.solve(factor, correlations[some])
            own = own - inside[:, child] @ inside
            residual = 1.0 - float(np.square(inside[:, child]).sum())
            others -= np.einsum("ij,ij->j", inside, inside)
        unsure = others < NEARLY_DETERMINED
        others[unsure] = 1.0
        found = np.square(own) / (others * max(residual, NEARLY_DETERMINED))
        found[unsure | (residual < NEARLY_DETERMINED)] = 1.0
        yield np.minimum(found, 1.0)


def _correlations(columns: ColumnCovariance, members: list[int]) -> Floats:
    """The correlations of some variables with all, (k, p)."""
    p, unit = columns.n_variables, columns.unit
    ours = np.concatenate([unit.doubles(v, v + 1) for v in members])
    found = np.empty((len(members), p))
    for begin in range(0, p, BLOCK):
        end = min(p, begin + BLOCK)
        np.matmul(ours, unit.doubles(begin, end).T, out=found[:, begin:end])
    return found
