"""A memetic search over orders: a population that is crossed, perturbed and climbed by insertion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayescout.arrays import Family
from bayescout.checks import MOST_PERTURB, MOST_POPULATION, settle_amount, settle_count
from bayescout.graph.orders import peel_roots
from bayescout.search.frame.problem import MIN_GAIN, Generator, ParentSets, Problem, State, random_order
from bayescout.search.orders.boss import order_near
from bayescout.search.parent_sets.growing import GrowingLists
from bayescout.search.parent_sets.insertion import InsertionClimb

Order = tuple[int, ...]

SCORE_DIGITS = 6
"""Members whose scores agree to so many digits count as one: mostly they are equivalent graphs."""


@dataclass(frozen=True)
class Member:
    """An order at a local optimum, with its network."""

    order: Order
    parents: ParentSets
    score: float


@dataclass(frozen=True)
class MemeticState(State):
    """The population, best first; the graph in hand is the best so far.

    changed   True if the lists of parent sets have grown since the members were climbed
    expanded  the families around which the lists have grown
    listed    the number of sets listed; `complete` is True if no other set can be in an optimal network
    stale     generations since the score last rose
    """

    orders: tuple[Order, ...] = ()
    graphs: tuple[ParentSets, ...] = ()
    scores: tuple[float, ...] = ()
    changed: bool = False
    expanded: tuple[Family, ...] = ()
    listed: int = 0
    complete: bool = False
    generation: int = 0
    stale: int = 0

    def members(self) -> list[Member]:
        return [Member(*values) for values in zip(self.orders, self.graphs, self.scores, strict=True)]

    def visited(self) -> Sequence[tuple[float, ParentSets]]:
        return ((self.score, self.parents), *zip(self.scores, self.graphs, strict=True))

    def facts(self) -> dict[str, float]:
        return {"listed": self.listed, "complete": int(self.complete), "stale": self.stale}


@dataclass(frozen=True)
class Memetic:
    """Memetic search over orders, in the line of Lee and van Beek's MINOBS (2017).

    A population of orders, each climbed by moving one variable at a time to its best place. A generation
    makes as many new ones: half by crossing two members, half by at most `perturb` random exchanges in one;
    each from a random order of the member's graph, which opens moves that its own order hides. The best
    `population` with different scores stay. It ends after `patience` generations that do not raise the score.

    The parents of a child are the first set, in a list with the best first, within its predecessors. Where
    all sets that can be in an optimal network are enumerated in about a second, the lists hold them
    (`complete` is 1 in the trace's facts); else all sets up to a size, and in every generation more around
    the sets in use. `effort` multiplies the work that goes into the lists. The first step makes the lists and
    the first population; the others are generations.
    """

    population: int = 20
    patience: int = 30
    perturb: int = 5
    effort: float = 1.0

    state: ClassVar[type[State]] = MemeticState

    def __post_init__(self) -> None:
        settle_count(self, "population", 1, MOST_POPULATION)
        settle_count(self, "patience", 1)
        settle_count(self, "perturb", 1, MOST_PERTURB)
        settle_amount(self, "effort", 1000.0)

    def start(self, problem: Problem, rng: Generator) -> MemeticState:
        graph = problem.first_graph(rng)
        return MemeticState(graph, problem.total(graph))

    def advance(self, problem: Problem, state: MemeticState, rng: Generator) -> MemeticState:
        if state.generation == 0:
            lists = GrowingLists(problem, self.effort)
            lists.grow(enumerate(state.parents))
            orders = [problem.rules.order or tuple(peel_roots(state.parents))]
            orders += [random_order(problem.rules, rng) for _ in range(self.population - 1)]
            return self._selected(problem, state, lists, [], climbed(problem, lists, orders, rng))
        lists = problem.scratch(state, lambda: GrowingLists.around(problem, state.expanded, self.effort))
        orders = self._offspring(problem, state, rng)
        kept = state.members()
        if state.changed:
            orders, kept = [*state.orders, *orders], []
        return self._selected(problem, state, lists, kept, climbed(problem, lists, orders, rng))

    def _offspring(self, problem: Problem, state: MemeticState, rng: Generator) -> list[Order]:
        made = []
        for crosses in rng.random(self.population) < 0.5:
            one, two = (
                order_near(state.graphs[member], rng.permutation(problem.n).tolist())
                for member in rng.integers(len(state.graphs), size=2).tolist()
            )
            order = crossed(one, two, rng) if crosses else perturbed(one, self.perturb, rng)
            made.append(order_near(problem.rules.required_parents, order))
        return made

    def _selected(
        self,
        problem: Problem,
        state: MemeticState,
        lists: GrowingLists,
        kept: list[Member],
        fresh: list[Member],
    ) -> MemeticState:
        """The state after a generation: the best members with different scores."""
        distinct: dict[float, Member] = {}
        for member in sorted([*kept, *fresh], key=lambda member: (-member.score, member.order)):
            distinct.setdefault(round(member.score, SCORE_DIGITS), member)
        members = list(distinct.values())[: self.population]
        better = members[0].score > state.score + MIN_GAIN
        stale = 0 if better else state.stale + 1
        after = MemeticState(
            members[0].parents if better else state.parents,
            members[0].score if better else state.score,
            done=stale >= self.patience,
            operations=state.operations + len(fresh),
            orders=tuple(member.order for member in members),
            graphs=tuple(member.parents for member in members),
            scores=tuple(member.score for member in members),
            changed=lists.grow(family for member in members for family in enumerate(member.parents)),
            expanded=lists.expanded,
            listed=lists.total,
            complete=lists.complete,
            generation=state.generation + 1,
            stale=stale,
        )
        return problem.keep(after, lists)


def crossed(one: Sequence[int], two: Sequence[int], rng: Generator) -> Order:
    """Order-based crossover (Syswerda 1991): some variables stay in their places, the others follow `two`."""
    stay = (rng.random(len(one)) < 0.5).tolist()
    held = {variable for variable, stays in zip(one, stay, strict=True) if stays}
    others = iter([variable for variable in two if variable not in held])
    return tuple(variable if variable in held else next(others) for variable in one)


def perturbed(order: Sequence[int], most: int, rng: Generator) -> Order:
    """The order after exchanging one to `most` random pairs of places."""
    changed = list(order)
    swaps = int(rng.integers(1, most + 1))
    for a, b in rng.integers(len(order), size=(swaps, 2)).tolist():
        changed[a], changed[b] = changed[b], changed[a]
    return tuple(changed)


def climbed(problem: Problem, growing: GrowingLists, orders: Sequence[Order], rng: Generator) -> list[Member]:
    """Each order climbed by insertion to a local optimum, on all cores; one result per order."""
    lists = growing.lists
    climbs = [
        InsertionClimb(lists, np.array(order, dtype=np.int64), rng.permutation(problem.n)) for order in orders
    ]
    waiting = climbs
    while waiting:
        problem.scorer.in_parallel(InsertionClimb.advance, waiting)
        waiting = [climb for climb in waiting if not climb.done]
    return [Member(tuple(climb.order.tolist()), *lists.network(climb.chosen)) for climb in climbs]
