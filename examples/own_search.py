"""A search of your own: random graphs, each climbed greedily; with knowledge and a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import bayescout as bs
from bayescout.search import HillClimb, Problem, State
from bayescout.search.frame.problem import Generator, ParentSets, random_graph


@dataclass(frozen=True)
class ManyClimbsState(State):
    """The graph of the last climb, and how many climbs were made."""

    climbs: int = 0

    def facts(self) -> dict[str, float]:
        return {"climbs": self.climbs}


@dataclass(frozen=True)
class ManyClimbs:
    """Climb greedily from random graphs. A step is a climb; the run keeps the best of all."""

    climbs: int = 20

    state: ClassVar[type[State]] = ManyClimbsState

    def start(self, problem: Problem, rng: Generator) -> ManyClimbsState:
        graph = problem.first_graph(rng)
        return ManyClimbsState(graph, problem.total(graph))

    def advance(self, problem: Problem, state: ManyClimbsState, rng: Generator) -> ManyClimbsState:
        graph, score, moves = climbed(problem, random_graph(problem.rules, rng), rng)
        made = state.climbs + 1
        return ManyClimbsState(graph, score, made == self.climbs, state.operations + moves, made)


def climbed(problem: Problem, graph: ParentSets, rng: Generator) -> tuple[ParentSets, float, int]:
    """The optimum that greedy climbing from a graph ends in, its score, and the moves it took."""
    climb = HillClimb()
    from_here = Problem(problem.scorer, problem.rules, graph, problem.watch)
    state = climb.start(from_here, rng)
    while not state.done:
        state = climb.advance(from_here, state, rng)
    return state.parents, state.score, state.operations


def main() -> None:
    truth = bs.load_network("asia")
    data = truth.sample(5_000, seed=1)
    known = bs.Knowledge(forbidden=[("dysp", "smoke")], max_parents=3)
    for search in ("hill-climb", ManyClimbs()):
        print(bs.learn(data, search, "bdeu", known, seed=3))
    session = bs.Session(data, ManyClimbs(climbs=5), "bdeu", known, seed=3)
    for snapshot in session:
        print(f"climb {snapshot.facts['climbs']:.0f}: {snapshot.score:,.3f}, best {snapshot.best:,.3f}")


if __name__ == "__main__":
    main()
