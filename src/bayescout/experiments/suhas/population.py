"""The last generation of a run, and the correctness of its networks' arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.experiments.study import Measures
from bayescout.graph.dag import Dag
from bayescout.search.frame.problem import Generator, Problem, Search, State, as_matrix
from bayescout.search.population.generation import living_of

if TYPE_CHECKING:
    from bayescout.result import Result


class Watched:
    """A population search that keeps its current state, since a result keeps the best networks only."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.state = search.state
        self.problem: Any = None
        self.last: Any = None

    def start(self, problem: Problem, rng: Generator) -> State:
        self.problem = problem
        state = self.last = self.search.start(problem, rng)
        return state

    def advance(self, problem: Problem, state: State, rng: Generator) -> State:
        state = self.last = self.search.advance(problem, state, rng)
        return state


def arc_rates(watched: Watched, result: Result, truth: Dag) -> Measures:
    """Precision and recall of the best network, and their means over the last generation.

    For directed arcs, TP / (TP + FP) and TP / (TP + FN), FN being arcs absent in the learned and present in
    the reference network (the document prints another condition); and for adjacencies, in either direction.
    A network without arcs has no precision: it is None, and the means are over the others.
    """
    assert result.table is not None
    real = as_matrix(truth.reordered(result.table.names).parents, len(truth))
    living = living_of(watched.problem, watched.last)
    own = np.asarray(living.genome.matrices(living.genes), dtype=bool)
    best = as_matrix(result.dag.reordered(result.table.names).parents, len(truth))[None]
    found: Measures = {}
    for prefix, some in (("", best), ("population_", own)):
        found[f"{prefix}precision"], found[f"{prefix}recall"] = rates(some, real)
        joined = rates(_undirected(some), _undirected(real))
        found[f"{prefix}adjacency_precision"], found[f"{prefix}adjacency_recall"] = joined
    return found


def rates(graphs: NDArray[np.bool_], truth: NDArray[np.bool_]) -> tuple[float | None, float | None]:
    """Mean precision of the graphs that have arcs, and mean recall of all; None if undefined."""
    right = (graphs & truth).sum(axis=(1, 2))
    claimed = graphs.sum(axis=(1, 2))
    some = claimed > 0
    precision = float(np.mean(right[some] / claimed[some])) if some.any() else None
    recall = float(np.mean(right / truth.sum())) if truth.any() else None
    return precision, recall


def _undirected(graphs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The adjacent pairs, each once."""
    return np.triu(graphs | np.swapaxes(graphs, -1, -2))
