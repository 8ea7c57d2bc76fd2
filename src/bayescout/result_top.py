"""The best networks that a search met, as a value that shows itself as a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayescout.display import Grid, Shown
from bayescout.graph.dag import Dag

MOST_NAMED = 3
"""The most arcs named that a network has and the best one has not, or the other way round."""


@dataclass(frozen=True)
class Scored:
    """One network and its score."""

    score: float
    dag: Dag


def unlike(dag: Dag, other: Dag) -> tuple[str, str]:
    """The arcs that a graph has and another has not, and the reverse; the first of them by name."""
    one, two = (
        [f"{a} -> {b}" for a, b in these.arcs() if not those.has_arc(a, b)]
        for these, those in ((dag, other), (other, dag))
    )
    return _named(one), _named(two)


def _named(arcs: list[str]) -> str:
    rest = [f"{len(arcs) - MOST_NAMED} more"] if len(arcs) > MOST_NAMED else []
    return ", ".join([*arcs[:MOST_NAMED], *rest])


class Top(Shown, tuple[Scored, ...]):
    """Networks with their scores, best first: a tuple that prints as a table beside the best of them."""

    def _grid(self) -> Grid:
        rows = tuple(
            (*unlike(one.dag, self[0].dag), str(one.dag.n_arcs), f"{one.score:,.3f}", f"{below:,.3f}")
            for one in self
            for below in [self[0].score - one.score]
        )
        title = f"the best {len(self)} networks" if len(self) > 1 else "the best network"
        return Grid(title, ("with", "without", "arcs", "score", "below"), rows, numbers=3)

    def _columns(self) -> Mapping[Hashable, Sequence[Any]]:
        scores = [one.score for one in self]
        return {
            "rank": list(range(1, len(self) + 1)),
            "score": scores,
            "below": [scores[0] - score for score in scores],
            "arcs": [one.dag.n_arcs for one in self],
        }
