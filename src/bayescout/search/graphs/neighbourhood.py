"""The neighbourhood that climbing searches see: of all pairs, or of the candidates of a wide table."""

from __future__ import annotations

from dataclasses import dataclass

from bayescout.search.frame.problem import Pairs, ParentSets, Problem, State
from bayescout.search.graphs.candidate_moves import CandidateMoves
from bayescout.search.graphs.moves import Moves

Neighbours = Moves | CandidateMoves


@dataclass(frozen=True)
class ClimbingState(State):
    """A graph in hand, and what has become of the candidates where pairs were screened.

    joined     pairs that became candidates of each other during the search
    looked_at  the graph for which all pairs were last looked at; empty if they were not yet
    """

    joined: Pairs = ()
    looked_at: ParentSets = ()


def neighbours_from(
    problem: Problem,
    graph: ParentSets,
    remember: bool = True,
    joined: Pairs = (),
    looked_at: ParentSets = (),
) -> Neighbours:
    """The neighbourhood of a graph; set `remember` for a search that may come back to a parent set."""
    if problem.screening is None:
        return Moves(problem, graph, remember)
    return CandidateMoves(problem, graph, remember, joined, looked_at)


def neighbours_of(problem: Problem, state: ClimbingState, remember: bool = True) -> Neighbours:
    """The neighbourhood of a state's graph, for the next state to change."""

    def rebuild() -> Neighbours:
        return neighbours_from(problem, state.parents, remember, state.joined, state.looked_at)

    return problem.scratch(state, rebuild)
