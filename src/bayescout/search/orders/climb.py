"""Climbing over orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from bayescout.arrays import Parents
from bayescout.checks import settle, settle_count, settle_flag
from bayescout.search.frame.problem import MIN_GAIN, Generator, ParentSets, Problem, State, random_order
from bayescout.search.orders.k2 import Chooser, Chosen, OrderState, best_network, chooser, require_parents


@dataclass
class OrderWork:
    """Scratch of a climb over orders: the function that chooses parents, and its choice for each node."""

    choose: Chooser
    graph: list[Parents]
    scores: list[float]
    swaps: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class OrderClimbState(OrderState):
    """A climb over orders: the best optimum so far, the restarts left, and the known gains of swaps."""

    best_parents: ParentSets = ()
    best_score: float = float("-inf")
    restarts_left: int = 0
    swaps: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class OrderClimb:
    """Greedy search over orders: the best swap of neighbours first (Teyssier & Koller 2005; Mauá 2015).

    Only the two nodes a swap touches are scored again. With `insertion` a node may move to any place, which
    finds much better orders for more work. At an optimum, `restarts` times, begin again at a random order.
    """

    parents: str | int = "greedy"
    insertion: bool = False
    restarts: int = 0

    state: ClassVar[type[State]] = OrderClimbState

    def __post_init__(self) -> None:
        settle_count(self, "restarts")
        settle_flag(self, "insertion")
        settle(self, parents=require_parents(self.parents))

    def start(self, problem: Problem, rng: Generator) -> OrderClimbState:
        work = OrderWork(chooser(problem, self.parents), [], [])
        return self._begin(problem, work, rng, OrderClimbState((), 0.0, restarts_left=self.restarts))

    def advance(self, problem: Problem, state: OrderClimbState, rng: Generator) -> OrderClimbState:
        work = problem.scratch(state, lambda: self._rebuilt(problem, state))
        order = list(state.order)
        gain, source, target = self._best_shift(problem, order, work)
        if gain <= MIN_GAIN:
            return self._at_optimum(problem, state, work, rng)
        for place in _swaps_between(source, target):
            _swap(problem, order, place, work)
        return problem.keep(_order_state(state, work, order, state.tried), work)

    def _best_shift(self, problem: Problem, order: list[int], work: OrderWork) -> tuple[float, int, int]:
        """The gain, source and target of the best legal shift; neighbours only, unless `insertion`."""
        best = (0.0, 0, 0)
        for place in range(len(order) - 1):
            gain = work.swaps.get(place)
            if gain is None:
                gain = work.swaps[place] = _swap_gain(problem, order, place, work)
            if gain > best[0]:
                best = (gain, place, place + 1)
        if self.insertion:
            for source in range(len(order)):
                best = max(
                    best, self._best_insertion(problem, order, source, work), key=lambda shift: shift[0]
                )
        return best

    def _best_insertion(
        self, problem: Problem, order: list[int], source: int, work: OrderWork
    ) -> tuple[float, int, int]:
        """The best place for one node, walking it left and then right by swaps."""
        best = (0.0, source, source)
        for step in (-1, 1):
            trial = OrderWork(work.choose, list(work.graph), list(work.scores))
            moved, place, total = list(order), source, 0.0
            while 0 <= place + step < len(order):
                left = min(place, place + step)
                gain = _swap_gain(problem, moved, left, trial)
                if gain == -np.inf:
                    break
                _swap(problem, moved, left, trial)
                total += gain
                place += step
                if total > best[0]:
                    best = (total, source, place)
        return best

    def _at_optimum(
        self, problem: Problem, state: OrderClimbState, work: OrderWork, rng: Generator
    ) -> OrderClimbState:
        if state.score >= state.best_score:
            state = replace(state, best_parents=state.parents, best_score=state.score)
        if state.restarts_left == 0:
            return OrderClimbState(
                state.best_parents,
                state.best_score,
                True,
                state.operations,
                order=state.order,
                tried=state.tried,
            )
        state = replace(state, restarts_left=state.restarts_left - 1)
        return self._begin(problem, work, rng, state)

    def _begin(
        self, problem: Problem, work: OrderWork, rng: Generator, state: OrderClimbState
    ) -> OrderClimbState:
        order = list(random_order(problem.rules, rng))
        graph, scores = best_network(problem, order, work.choose)
        work = OrderWork(work.choose, list(graph), list(scores))
        return problem.keep(_order_state(state, work, order, state.tried + 1), work)

    def _rebuilt(self, problem: Problem, state: OrderClimbState) -> OrderWork:
        choose = chooser(problem, self.parents)
        graph, scores = best_network(problem, state.order, choose)
        return OrderWork(choose, list(graph), list(scores), dict(state.swaps))


def _order_state(
    state: OrderClimbState, work: OrderWork, order: Sequence[int], tried: int
) -> OrderClimbState:
    return OrderClimbState(
        tuple(work.graph),
        float(np.sum(work.scores)),
        operations=state.operations + 1,
        order=tuple(order),
        tried=tried,
        best_parents=state.best_parents,
        best_score=state.best_score,
        restarts_left=state.restarts_left,
        swaps=tuple(work.swaps.items()),
    )


def _swap_choices(order: Sequence[int], place: int, work: OrderWork) -> tuple[Chosen, Chosen]:
    """The choices for the two nodes at place and place + 1 after swapping them."""
    first, second = order[place], order[place + 1]
    before = list(order[:place])
    return work.choose(first, [*before, second]), work.choose(second, before)


def _swap_gain(problem: Problem, order: Sequence[int], place: int, work: OrderWork) -> float:
    first, second = order[place], order[place + 1]
    if problem.rules.required[first, second] or problem.rules.order is not None:
        return float("-inf")
    one, other = _swap_choices(order, place, work)
    return one[1] + other[1] - work.scores[first] - work.scores[second]


def _swap(problem: Problem, order: list[int], place: int, work: OrderWork) -> None:
    """Swap two neighbours and forget the gains of the swaps around them."""
    first, second = order[place], order[place + 1]
    one, other = _swap_choices(order, place, work)
    work.graph[first], work.scores[first] = one
    work.graph[second], work.scores[second] = other
    order[place], order[place + 1] = second, first
    for near in (place - 1, place, place + 1):
        work.swaps.pop(near, None)


def _swaps_between(source: int, target: int) -> range:
    """The neighbour swaps that bring the node at `source` to `target`."""
    return range(source, target) if target > source else range(source - 1, target - 1, -1)
