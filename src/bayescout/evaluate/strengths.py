"""How often each arc is in a set of graphs, and the network they agree on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import BayescoutWarning, GraphError, SettingError
from bayescout.evaluate.plain import plain_label
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Arc, Label, check_same_nodes, counted
from bayescout.graph.orders import reach
from bayescout.graph.pdag import Pdag

Ints = NDArray[np.int64]


class ArcStrength(NamedTuple):
    """One arc: the share of graphs with the edge, and the share of those that have it this way round."""

    parent: Label
    child: Label
    strength: float
    direction: float


@dataclass(frozen=True, eq=False, repr=False)
class ArcStrengths:
    """The strength and direction of every arc over a set of graphs.

    nodes   the labels
    runs    how many graphs
    votes   (p, p) twice the number of graphs that have the arc row -> column; an undirected edge counts
            half each way
    graphs  the graphs themselves
    """

    nodes: tuple[Label, ...]
    runs: int
    votes: Ints
    graphs: tuple[Dag | Pdag, ...] = field(default=())

    @classmethod
    def of_graphs(cls, graphs: Sequence[Any]) -> ArcStrengths:
        """From graphs over the same labels: `Dag`, `Pdag`, or anything with a `dag`."""
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
        i, j = self._pair(a, b)
        return float(self.votes[i, j] + self.votes[j, i]) / (2 * self.runs)

    def direction(self, parent: Label, child: Label) -> float:
        """Of the graphs in which the two are adjacent, the share with this direction; 0 without any."""
        i, j = self._pair(parent, child)
        both = int(self.votes[i, j] + self.votes[j, i])
        return int(self.votes[i, j]) / both if both else 0.0

    def _pair(self, a: Label, b: Label) -> tuple[int, int]:
        graph = self.graphs[0]
        i, j = graph.index(a), graph.index(b)
        if i == j:
            raise GraphError(f"an arc joins two variables, not {a!r} with itself")
        return i, j

    # ---- all of them

    def table(self, threshold: float = 0.0) -> list[ArcStrength]:
        """Every arc found, both ways round, of a strength above the threshold; the strongest first.

        Of equals those with the larger direction come first, then those of the earlier parent and child.
        """
        least = _checked(threshold)
        rows = [self._row(i, j) for i, j in np.argwhere(self._edges() > 0).tolist()]
        kept = [row for row in rows if row.strength > least]
        return sorted(kept, key=lambda row: (-row.strength, -row.direction))

    def threshold(self) -> float:
        r"""The significance threshold of Scutari & Nagarajan (2013): arcs above it are kept.

        With the empirical distribution F of the strengths of all pairs, t minimises
        $\int_0^1 |F(x) - t| dx$, the distance to strengths that are all 0 or 1, and the threshold is
        $F^{-1}(t)$. As F never falls, its median over [0, 1] is F(1/2): the threshold is the largest
        strength of at most one half. Of several t that are as good the largest is taken.
        """
        pairs = self._edges()[np.triu_indices(len(self.nodes), 1)]
        below = pairs[pairs <= self.runs]
        return float(below.max(initial=0)) / (2 * self.runs)

    def averaged(self, threshold: float | Literal["estimated"] = "estimated") -> Dag:
        """The network of the arcs stronger than the threshold, each in its more frequent direction.

        Arcs go in by falling strength, and one that would close a cycle is left out: a warning lists those,
        as `left_out` does. Where both directions are as frequent the parent is the node listed first, unless
        only the other way round closes no cycle.
        """
        dag, skipped = self._average(threshold)
        if skipped:
            arcs = [f"{parent} -> {child}" for parent, child in skipped]
            warnings.warn(
                f"{counted(len(arcs), 'arc')} above the threshold would close a cycle with stronger ones and "
                f"{'are' if len(arcs) > 1 else 'is'} left out: {', '.join(arcs[:8])}"
                f"{f' and {len(arcs) - 8} more' if len(arcs) > 8 else ''}",
                BayescoutWarning,
                stacklevel=2,
            )
        return dag

    def left_out(self, threshold: float | Literal["estimated"] = "estimated") -> tuple[Arc, ...]:
        """The arcs above the threshold that `averaged` leaves out, as they would close a cycle."""
        return self._average(threshold)[1]

    def _average(self, threshold: float | str) -> tuple[Dag, tuple[Arc, ...]]:
        least = self.threshold() if threshold == "estimated" else _checked(threshold)
        edges = np.triu(self._edges())
        order = sorted(
            (pair for pair in np.argwhere(edges > 0).tolist() if edges[tuple(pair)] > least * 2 * self.runs),
            key=lambda pair: (-int(edges[tuple(pair)]), -self._leaning(*pair), pair),
        )
        parents: list[list[int]] = [[] for _ in self.nodes]
        skipped = []
        for i, j in order:
            turned = self.votes[j, i] > self.votes[i, j]
            ways = [(j, i) if turned else (i, j)]
            if self.votes[i, j] == self.votes[j, i]:
                ways.append((j, i))
            free = [(a, b) for a, b in ways if not reach(parents, [a])[b]]
            if free:
                parents[free[0][1]].append(free[0][0])
            else:
                skipped.append((self.nodes[ways[0][0]], self.nodes[ways[0][1]]))
        return Dag(self.nodes, tuple(tuple(own) for own in parents)), tuple(skipped)

    def _edges(self) -> Ints:
        """Twice the number of graphs with each edge."""
        return self.votes + self.votes.T

    def _leaning(self, i: int, j: int) -> int:
        """How one-sided the votes of a pair are."""
        return abs(int(self.votes[i, j] - self.votes[j, i]))

    def _row(self, i: int, j: int) -> ArcStrength:
        both = int(self.votes[i, j] + self.votes[j, i])
        return ArcStrength(self.nodes[i], self.nodes[j], both / (2 * self.runs), int(self.votes[i, j]) / both)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: the arcs found, as [parent, child, strength, direction]."""
        arcs = [[plain_label(row.parent), plain_label(row.child), *row[2:]] for row in self.table()]
        return {
            "nodes": [plain_label(label) for label in self.nodes],
            "runs": self.runs,
            "threshold": self.threshold(),
            "arcs": arcs,
        }

    def __len__(self) -> int:
        """The pairs that are adjacent in at least one graph."""
        return int((np.triu(self._edges()) > 0).sum())

    def __str__(self) -> str:
        rows = [row for row in self.table() if row.direction >= 0.5]
        lines = [f"arc strengths over {counted(self.runs, 'graph')}; threshold {self.threshold():.3f}"]
        width = max((len(f"{row.parent} -> {row.child}") for row in rows[:20]), default=0)
        for row in rows[:20]:
            arc = f"{row.parent} -> {row.child}"
            lines.append(f"  {arc:<{width}}  strength {row.strength:.3f}  direction {row.direction:.3f}")
        if len(rows) > 20:
            lines.append(f"  ... {len(rows) - 20:,} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        kept = sum(row.strength > self.threshold() for row in self.table()) // 2
        return (
            f"<ArcStrengths: {counted(self.runs, 'graph')}, {counted(len(self), 'edge')} found, "
            f"{kept} above {self.threshold():.3f}>"
        )


def _as_graph(source: Any) -> Dag | Pdag:
    graph = source if isinstance(source, Dag | Pdag) else getattr(source, "dag", None)
    if isinstance(graph, Dag | Pdag):
        return graph
    raise GraphError(f"a graph is a Dag, a Pdag, or has a `dag`; {type(source).__name__} is none of these")


def _worths(graph: Dag | Pdag) -> list[tuple[int, int, int]]:
    """(parent, child, votes) of every arc."""
    if isinstance(graph, Dag):
        return [(p, child, 2) for child, parents in enumerate(graph.parents) for p in parents]
    both = [arc for a, b in graph.undirected for arc in ((a, b, 1), (b, a, 1))]
    return [(p, child, 2) for p, child in graph.directed] + both


def _checked(threshold: Any) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise SettingError(f'threshold must be from 0 to 1, or "estimated", not {threshold!r}')
    return float(threshold)
