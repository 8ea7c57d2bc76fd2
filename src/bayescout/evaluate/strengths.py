"""The frequency of each arc in a set of graphs, and the averaged network."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.display import Grid, Shown
from bayescout.errors import GraphError, SettingError, UnknownNameError, warn
from bayescout.evaluate.json_values import json_label
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Arc, Label, check_same_nodes, counted
from bayescout.graph.orders import peel_roots, reach
from bayescout.graph.pdag import Pdag

Ints = NDArray[np.int64]

MOST_ARCS = 20
"""The most arcs that are shown; `table()` has all."""


class ArcStrength(NamedTuple):
    """One arc: the share of graphs with the edge, and the share of those that have this direction."""

    parent: Label
    child: Label
    strength: float
    direction: float


@dataclass(frozen=True, eq=False, repr=False)
class ArcStrengths(Shown):
    """The strength and direction of every arc over a set of graphs.

    nodes   the labels
    runs    the number of graphs
    votes   (p, p) twice the number of graphs that have the arc row -> column; an undirected edge counts
            half in each direction
    graphs  the graphs themselves
    """

    nodes: tuple[Label, ...]
    runs: int
    votes: Ints
    graphs: tuple[Dag | Pdag, ...] = field(default=())

    @classmethod
    def of_graphs(cls, graphs: Sequence[Any]) -> ArcStrengths:
        """Count the arcs of graphs over the same labels: `Dag`, `Pdag`, or anything with a `dag`."""
        found = [_as_graph(graph) for graph in graphs]
        if not found:
            raise GraphError("strengths need at least one graph")
        nodes = found[0].nodes
        votes = np.zeros((len(nodes), len(nodes)), dtype=np.int64)
        for graph in found:
            check_same_nodes(graph.nodes, nodes, "a graph", "the first one")
        kept = tuple(graph.reordered(nodes) for graph in found)
        for graph in kept:
            for parent, child, worth in _worths(graph):
                votes[parent, child] += worth
        votes.flags.writeable = False
        return cls(nodes, len(kept), votes, kept)

    # ---- one pair

    def strength(self, a: Label, b: Label) -> float:
        """The share of graphs in which the two are adjacent."""
        return self._share(*self._pair(a, b))

    def direction(self, parent: Label, child: Label) -> float:
        """The share with this direction of the graphs in which the two are adjacent; 0 if there are none."""
        i, j = self._pair(parent, child)
        both = int(self.votes[i, j] + self.votes[j, i])
        return int(self.votes[i, j]) / both if both else 0.0

    def _pair(self, a: Label, b: Label) -> tuple[int, int]:
        if a == b:
            raise GraphError(f"an arc joins two variables, not {a!r} with itself")
        for label in (a, b):
            if label not in self.nodes:
                raise UnknownNameError("node", label, self.nodes, "the graphs")
        return self.nodes.index(a), self.nodes.index(b)

    # ---- all of them

    def table(self, threshold: float = 0.0) -> list[ArcStrength]:
        """Every arc found, in both directions, with strength above the threshold (or 1); the strongest first.

        Ties are ordered by larger direction, then by earlier parent and child.
        """
        least = _checked(threshold)
        rows = [self._row(i, j) for i, j in np.argwhere(self._edges() > 0).tolist()]
        kept = [row for row in rows if _is_above(row.strength, least)]
        return sorted(kept, key=lambda row: (-row.strength, -row.direction))

    def threshold(self) -> float:
        r"""The significance threshold of Scutari & Nagarajan (2013): arcs above it are kept.

        With the empirical distribution F of the strengths of all pairs, t minimises
        $\int_0^1 |F(x) - t| dx$, the distance to strengths that are all 0 or 1, and the threshold is
        $F^{-1}(t)$. As F never falls, its median over [0, 1] is F(1/2): the threshold is the largest
        strength of at most one half. Of several equally good t the largest is taken.
        """
        pairs = self._edges()[np.triu_indices(len(self.nodes), 1)]
        below = pairs[pairs <= self.runs]
        return float(below.max(initial=0)) / (2 * self.runs)

    def averaged(self, threshold: float | Literal["estimated"] = "estimated") -> Dag:
        """The network of the arcs stronger than the threshold, each in its more frequent direction.

        An arc that is in every graph is always in it, as in R bnlearn.
        Arcs are added by falling strength, and one that would close a cycle is left out: a warning lists
        those, as does `left_out`. Edges with evenly split directions are then directed so that they add no
        collider or, if that is impossible, along an order of the others. Arcs that were required or forbidden
        when the graphs were learned are so here too; a limit on the number of parents is not applied.
        """
        dag, skipped = self._average(threshold)
        if skipped:
            arcs = [f"{parent} -> {child}" for parent, child in skipped]
            warn(
                f"{counted(len(arcs), 'arc')} above the threshold would close a cycle with stronger ones and "
                f"{'are' if len(arcs) > 1 else 'is'} left out: {', '.join(arcs[:8])}"
                f"{f' and {len(arcs) - 8} more' if len(arcs) > 8 else ''}"
            )
        return dag

    def left_out(self, threshold: float | Literal["estimated"] = "estimated") -> tuple[Arc, ...]:
        """The arcs above the threshold that `averaged` leaves out, as they would close a cycle."""
        return self._average(threshold)[1]

    def _average(self, threshold: float | str) -> tuple[Dag, tuple[Arc, ...]]:
        least = self.threshold() if threshold == "estimated" else _checked(threshold)
        edges = np.triu(self._edges())
        found = [(i, j) for i, j in np.argwhere(edges > 0).tolist() if _is_above(self._share(i, j), least)]
        order = sorted(found, key=lambda pair: (-int(edges[pair]), -self._leaning(*pair), pair))
        parents: list[list[int]] = [[] for _ in self.nodes]
        even, skipped = [], []
        for i, j in order:
            if self.votes[i, j] == self.votes[j, i]:
                even.append((i, j))
                continue
            parent, child = (i, j) if self.votes[i, j] > self.votes[j, i] else (j, i)
            if reach(parents, [parent])[child]:
                skipped.append((self.nodes[parent], self.nodes[child]))
            else:
                parents[child].append(parent)
        return _oriented(self.nodes, parents, even), tuple(skipped)

    def _edges(self) -> Ints:
        """Twice the number of graphs with each edge."""
        return self.votes + self.votes.T

    def _leaning(self, i: int, j: int) -> int:
        """The difference between the votes for the two directions of a pair."""
        return abs(int(self.votes[i, j] - self.votes[j, i]))

    def _share(self, i: int, j: int) -> float:
        return int(self.votes[i, j] + self.votes[j, i]) / (2 * self.runs)

    def _row(self, i: int, j: int) -> ArcStrength:
        both = int(self.votes[i, j] + self.votes[j, i])
        return ArcStrength(self.nodes[i], self.nodes[j], self._share(i, j), int(self.votes[i, j]) / both)

    def to_dict(self) -> dict[str, Any]:
        """The values for JSON: the arcs found, as [parent, child, strength, direction]."""
        arcs = [[json_label(row.parent), json_label(row.child), *row[2:]] for row in self.table()]
        return {
            "nodes": [json_label(label) for label in self.nodes],
            "runs": self.runs,
            "threshold": self.threshold(),
            "arcs": arcs,
        }

    def __len__(self) -> int:
        """The number of pairs that are adjacent in at least one graph."""
        return int((np.triu(self._edges()) > 0).sum())

    def _grid(self) -> Grid:
        found, threshold = self.table(), self.threshold()
        rows = [row for row in found if row.direction > 0.5]
        rows += [row for row in found if row.direction == 0.5 and self._is_first(row)]
        rows.sort(key=lambda row: (-row.strength, -row.direction))
        shown = rows[:MOST_ARCS]
        cells = tuple(
            (
                f"{row.parent} {'->' if row.direction > 0.5 else '- '} {row.child}",
                f"{row.strength:.3f}",
                f"{row.direction:.3f}",
            )
            for row in shown
        )
        kept = sum(_is_above(row.strength, threshold) for row in rows)
        title = (
            f"arc strengths over {counted(self.runs, 'graph')}: {counted(len(self), 'edge')} found, {kept} "
            f"above the threshold of {threshold:.3f}"
        )
        bars = tuple((0.0, row.strength) for row in shown)
        return Grid(title, ("", "strength", "direction"), cells, 2, bars, more=len(rows) - len(shown))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        rows = self.table()
        return {name: [getattr(row, name) for row in rows] for name in ArcStrength._fields}

    def _is_first(self, row: ArcStrength) -> bool:
        return self.nodes.index(row.parent) < self.nodes.index(row.child)


def _as_graph(source: Any) -> Dag | Pdag:
    graph = source if isinstance(source, Dag | Pdag) else getattr(source, "dag", None)
    if isinstance(graph, Dag | Pdag):
        return graph
    raise GraphError(f"a graph is a Dag, a Pdag, or has a `dag`; {type(source).__name__} is none of these")


def _worths(graph: Dag | Pdag) -> list[tuple[int, int, int]]:
    """The (parent, child, votes) of every arc."""
    if isinstance(graph, Dag):
        return [(p, child, 2) for child, parents in enumerate(graph.parents) for p in parents]
    both = [arc for a, b in graph.undirected for arc in ((a, b, 1), (b, a, 1))]
    return [(p, child, 2) for p, child in graph.directed] + both


def _oriented(nodes: tuple[Label, ...], parents: list[list[int]], even: list[tuple[int, int]]) -> Dag:
    """The graph with its even edges directed: without a new collider if possible, never in a cycle."""
    arcs = tuple((parent, child) for child, own in enumerate(parents) for parent in own)
    try:
        return Pdag(nodes, arcs, tuple(even)).to_dag()
    except GraphError:
        place = {node: at for at, node in enumerate(peel_roots(parents))}
        for pair in even:
            parent, child = sorted(pair, key=place.__getitem__)
            parents[child].append(parent)
        return Dag(nodes, tuple(tuple(own) for own in parents))


def _is_above(strength: float, threshold: float) -> bool:
    return strength > threshold or strength == 1


def _checked(threshold: Any) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise SettingError(f'threshold must be from 0 to 1, or "estimated", not {threshold!r}')
    return float(threshold)
