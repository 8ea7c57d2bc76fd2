"""The worth of every arc, and of the absent ones, as far as a page can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Table
from bayescout.explain import Explanation
from bayescout.graph.dag import Dag
from bayescout.result import Result
from bayescout.scores import FunctionFormula, Scorer, TableScorer
from bayescout.statistics.counts import dense_counts

MOST_PAIRS = 1500
"""The most absent pairs that are explained."""

MOST_CELLS = 400
"""The most cells of one table of counts."""

MOST_CELLS_IN_ALL = 150_000

MOST_COUNTED = 100_000_000
"""Rows counted for the tables of absent pairs: about a second."""

MOST_ROWS = 4_000_000_000
"""Rows times families beyond which absent arcs are not scored: a few seconds."""

MOST_OWN = 2500
"""The most families asked of a user's own score, which may be slow."""


@dataclass(frozen=True)
class Worth:
    """Explanations by position in the graph, ready for JSON.

    arcs      one entry per arc: p, c, remove, reverse, prior, cycle, compelled, decided, barred, counts,
              groups, correlation
    pairs     the absent pairs that raise the score most, or lower it least: a, b, forth, back, counts;
              `forth` is the change of the score for a -> b, None if that would close a cycle
    left_out  the number of absent pairs that are not listed
    why       the reason, if the number alone does not give it
    """

    arcs: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    left_out: int
    why: str = ""


def worth(result: Result) -> Worth:
    """The explanations of a result that has its data."""
    assert result.scored_table is not None
    assert result.scores is not None
    tables = Counted(result.scored_table)
    dag = result.dag
    rules = result._rules
    arcs = []
    for child, parents in enumerate(dag.parents):
        for parent in parents:
            said = result.explain(dag.nodes[parent], dag.nodes[child])
            arcs.append(
                {
                    "p": parent,
                    "c": child,
                    "remove": said.remove,
                    "reverse": said.reverse,
                    "prior": said.prior,
                    "cycle": [dag.index(label) for label in said.cycle],
                    "compelled": said.compelled,
                    "decided": said.decided,
                    "barred": said.barred,
                    "counts": tables.told(said),
                    **moments(said),
                }
            )
    absent = len(dag) * (len(dag) - 1) // 2 - dag.n_arcs
    if not _feasible(result):
        why = "scoring them all would take too long"
        return Worth(arcs, [], absent, why)
    pairs = _absent(dag, gains(result), rules.allowed, tables)
    return Worth(arcs, pairs, absent - len(pairs))


def moments(said: Explanation) -> dict[str, Any]:
    """What the data show of a pair with a continuous variable: its moments by state, or the correlation."""
    groups = [[str(state), *values] for state, values in said.groups.items()][:MOST_CELLS]
    return {"groups": groups, "correlation": said.correlation}


class Counted:
    """Tables of counts, as long as there is room for them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.cells = MOST_CELLS_IN_ALL
        self.rows = MOST_COUNTED

    def _takes(self, cells: int) -> bool:
        """Return True, and reserve the room, if there is room for a table of so many cells."""
        if not 0 < cells <= min(MOST_CELLS, self.cells):
            return False
        self.cells -= cells
        return True

    def told(self, said: Explanation) -> list[list[float]] | None:
        """The counts that an explanation already has; None if there are none or no room."""
        rows = [list(row.values()) for row in said.counts.values()]
        return rows if self._takes(sum(map(len, rows))) else None

    def of(self, parent: Any, child: Any) -> list[list[float]] | None:
        """The counts of the child's states by the parent's; None if there are none or no room."""
        sizes = self.table.cardinalities
        cells = int(sizes[self.table.index(parent)] * sizes[self.table.index(child)])
        if self.table.n_rows > self.rows or not self._takes(cells):
            return None
        self.rows -= self.table.n_rows
        rows = self.table.unset(child) or self.table
        counts: list[list[float]] = dense_counts(rows.select((parent, child)), 1, (0,)).tolist()
        return counts


def gains(result: Result) -> NDArray[np.float64]:
    """gains[parent, child]: the change of the score by that arc alone; NaN for adjacent pairs and loops."""
    table, scores, dag = result.scored_table, result.scores, result.dag
    assert table is not None
    assert scores is not None
    place = [table.index(label) for label in dag.nodes]
    found = np.full((len(dag), len(dag)), np.nan)
    for child, own in enumerate(dag.parents):
        adjacent = {child, *own, *dag.children[child]}
        candidates = [node for node in range(len(dag)) if node not in adjacent]
        parents = tuple(sorted(place[p] for p in own))
        with_one = scores.extensions(
            place[child], parents, np.array([place[c] for c in candidates], np.int64)
        )
        with np.errstate(invalid="ignore"):
            found[candidates, child] = with_one - scores.local(place[child], parents)
    return found


def _feasible(result: Result) -> bool:
    assert result.scored_table is not None
    families = len(result.dag) ** 2
    if _own(result.scores):
        return families <= MOST_OWN
    return families * result.scored_table.n_rows <= MOST_ROWS


def _own(scores: Scorer | None) -> bool:
    """Return True if the score is a user's function or object, asked for one family at a time."""
    return not isinstance(scores, TableScorer) or isinstance(scores.formula, FunctionFormula)


def _absent(
    dag: Dag, found: NDArray[np.float64], allowed: NDArray[np.bool_], tables: Counted
) -> list[dict[str, Any]]:
    """The absent pairs of largest gain in a direction that closes no cycle; ties go to the lower index."""
    legal = np.where(_reaches(dag).T, np.nan, found)
    best = np.fmax(legal, legal.T)
    first, second = np.nonzero(np.triu(~np.isnan(best), 1))
    ranked = np.argsort(-best[first, second], kind="stable")[:MOST_PAIRS]
    pairs = []
    for a, b in zip(first[ranked].tolist(), second[ranked].tolist(), strict=True):
        pairs.append(
            {
                "a": a,
                "b": b,
                "forth": _value(legal[a, b]),
                "back": _value(legal[b, a]),
                "allowed": [bool(allowed[a, b]), bool(allowed[b, a])],
                "counts": tables.of(dag.nodes[a], dag.nodes[b]),
            }
        )
    return pairs


def _value(gain: float) -> float | None:
    return None if np.isnan(gain) else float(gain)


def _reaches(dag: Dag) -> NDArray[np.bool_]:
    """reaches[a, b]: True if a directed path leads from a to b."""
    found = np.zeros((len(dag), len(dag)), dtype=bool)
    for node in reversed(dag.order_indices):
        for child in dag.children[node]:
            found[node] |= found[child]
            found[node, child] = True
    return found
