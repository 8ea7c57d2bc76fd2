"""Dynamic programming over subsets (Silander & Myllymäki 2006)."""

from __future__ import annotations

import numpy as np

from bayescout.arrays import Ints
from bayescout.errors import TooLargeError
from bayescout.search.optimal.block_bounds import Check, nothing
from bayescout.search.optimal.components import Component
from bayescout.wording import setting

MOST_BYTES = 1 << 30
"""Memory limit for the tables of dynamic programming: 23 variables."""

SUBSETS = 1 << 20
"""Subsets whose best totals are found between two checks of the clock."""


def bytes_needed(n: int) -> int:
    """The bytes of a best score per variable and subset of the others, and a total per subset."""
    return 8 * (n * (1 << max(0, n - 1)) + (1 << n))


def fits(n: int) -> bool:
    return bytes_needed(n) <= MOST_BYTES


def require_fit(n: int) -> None:
    if not fits(n):
        most = max(k for k in range(n) if fits(k))
        raise TooLargeError(
            f"dynamic programming over {n} variables that can be each other's ancestors needs "
            f"{bytes_needed(n):,} bytes, more than {MOST_BYTES:,}, which is enough for {most}; "
            f"use {setting('method', 'program')}, or forbid arcs"
        )


def solve_dynamic(component: Component, check: Check = nothing) -> Ints | None:
    """The sets of a best network, as indices into the component's lists; None if no network has a score.

    check  called between pieces of work; it may raise
    """
    from bayescout.kernels.insertions import choose_all
    from bayescout.kernels.optimal import best_sinks, best_within, last_first

    lists, n = component.lists, component.n
    require_fit(n)
    best = np.empty((n, 2 ** (n - 1)))
    for child in range(n):
        check()
        sets = lists.sets_of(child)[:, 0].astype(np.int64)
        best_within(sets, lists.scores_of(child), child, best[child])
    totals = np.empty(2**n)
    for begin in range(0, len(totals), SUBSETS):
        check()
        best_sinks(best, begin, min(begin + SUBSETS, len(totals)), totals)
    if not np.isfinite(totals[-1]):
        return None
    order = np.empty(n, dtype=np.int64)
    last_first(best, totals, order)
    chosen = np.empty(n, dtype=np.int64)
    choose_all(lists.arrays, order, chosen)
    return chosen
