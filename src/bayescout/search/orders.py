"""Searches over orders: the best network of an order, random orders, and climbing over orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np

from bayescout.checks import MOST_COUNT, require_count, settle, settle_count, settle_flag, shown
from bayescout.errors import KnowledgeError, SettingError
from bayescout.search.hill_climb import MIN_GAIN
from bayescout.search.parents import ParentLists, greedy_parents
from bayescout.search.problem import Generator, ParentSets, Problem, State, random_order
from bayescout.wording import setting

Chosen = tuple[tuple[int, ...], float]


class Chooser(Protocol):
    """The best parents of a child among its predecessors, and their score."""

    def __call__(self, child: int, before: Sequence[int]) -> Chosen: ...


def chooser(problem: Problem, parents: str | int) -> Chooser:
    """Greedy, or exhaustive up to a number of parents."""
    if parents == "greedy":
        return lambda child, before: greedy_parents(problem, child, before)
    lists = ParentLists(problem, int(parents))

    def choose(child: int, before: Sequence[int]) -> Chosen:
        mask = np.zeros(lists.words, dtype=np.uint64)
        for v in before:
            mask[v >> 6] |= np.uint64(1 << (v & 63))
        return lists.best(child, mask)

    return choose


def require_parents(parents: str | int) -> str | int:
    if isinstance(parents, str):
        if parents != "greedy":
            raise SettingError(f'parents must be "greedy" or a number of parents, not {shown(parents)}')
        return parents
    return require_count("parents", parents, 1, most=MOST_COUNT)


@dataclass
class OrderState(State):
    """The order in hand and how many were tried (nodes of the order, in K2)."""

    order: tuple[int, ...] = ()
    tried: int = 0

    def facts(self) -> dict[str, float]:
        return {"tried": self.tried}


@dataclass(frozen=True)
class K2:
    """Cooper and Herskovits's algorithm: the greedy parents of each node in a known order (1992).

    A step is a node. The order is `Knowledge.order`.
    """

    state: ClassVar[type[State]] = OrderState

    def start(self, problem: Problem, rng: Generator) -> OrderState:
        order = problem.rules.order
        if order is None:
            raise KnowledgeError(
                f"k2 needs an order of all variables: give {setting('order', ...)}, or use k2-random"
            )
        graph = problem.rules.required_parents
        return OrderState(graph, problem.total(graph), order=order, done=not order)

    def advance(self, problem: Problem, state: OrderState, rng: Generator) -> OrderState:
        child = state.order[state.tried]
        before = state.order[: state.tried]
        parents, score = greedy_parents(problem, child, before)
        gained = score - problem.score.local(child, state.parents[child])
        graph = (*state.parents[:child], parents, *state.parents[child + 1 :])
        tried = state.tried + 1
        return OrderState(
            graph,
            state.score + gained,
            done=tried == problem.n,
            operations=state.operations + 1,
            order=state.order,
            tried=tried,
        )


@dataclass(frozen=True)
class OrderSample:
    """Draw orders uniformly (Fisher-Yates) and keep the best network of each (Mauá 2015).

    `orders` is how many, 0 for ten times the number of variables. `parents` is "greedy", or the size up to
    which all parent sets are tried. A step is an order.
    """

    orders: int = 0
    parents: str | int = "greedy"

    state: ClassVar[type[State]] = OrderState

    def __post_init__(self) -> None:
        settle_count(self, "orders")
        if require_parents(self.parents) != "greedy":
            settle(self, parents=require_parents(self.parents))

    def start(self, problem: Problem, rng: Generator) -> OrderState:
        graph = problem.rules.required_parents
        return OrderState(graph, problem.total(graph), work=chooser(problem, self.parents))

    def advance(self, problem: Problem, state: OrderState, rng: Generator) -> OrderState:
        if state.work is None:
            with problem.score.suspended():
                state.work = chooser(problem, self.parents)
        choose = state.work
        order = random_order(problem.rules, rng)
        graph, scores = best_network(problem, order, choose)
        tried = state.tried + 1
        return OrderState(
            graph,
            float(np.sum(scores)),
            done=tried == (self.orders or 10 * problem.n),
            operations=state.operations + problem.n,
            work=choose,
            order=order,
            tried=tried,
        )


@dataclass(frozen=True)
class K2Random(OrderSample):
    """The K2 algorithm on random orders, ten times as many as variables (Blanco, Inza & Larrañaga 2003)."""

    parents: ClassVar[str] = "greedy"  # type: ignore[misc]


@dataclass
class OrderWork:
    """Scratch of a climb over orders: how parents are chosen, and what each node has."""

    choose: Chooser
    graph: list[tuple[int, ...]]
    scores: list[float]
    swaps: dict[int, float] = field(default_factory=dict)


@dataclass
class OrderClimbState(OrderState):
    """A climb over orders: the best optimum so far, restarts left, and the gains of swaps known so far."""

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
        work = self._work_of(problem, state)
        order = list(state.order)
        gain, source, target = self._best_shift(problem, order, work)
        if gain <= MIN_GAIN:
            return self._at_optimum(problem, state, work, rng)
        for place in _swaps_between(source, target):
            _swap(problem, order, place, work)
        return _order_state(state, work, order, state.tried)

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
        return _order_state(state, work, order, state.tried + 1)

    def _work_of(self, problem: Problem, state: OrderClimbState) -> OrderWork:
        if state.work is None:
            with problem.score.suspended():
                choose = chooser(problem, self.parents)
                graph, scores = best_network(problem, state.order, choose)
            state.work = OrderWork(choose, list(graph), list(scores), dict(state.swaps))
        work: OrderWork = state.work
        return work


def _order_state(
    state: OrderClimbState, work: OrderWork, order: Sequence[int], tried: int
) -> OrderClimbState:
    return OrderClimbState(
        tuple(work.graph),
        float(np.sum(work.scores)),
        operations=state.operations + 1,
        work=work,
        order=tuple(order),
        tried=tried,
        best_parents=state.best_parents,
        best_score=state.best_score,
        restarts_left=state.restarts_left,
        swaps=tuple(work.swaps.items()),
    )


def best_network(problem: Problem, order: Sequence[int], choose: Chooser) -> tuple[ParentSets, list[float]]:
    """The best parents of every node among its predecessors, and their scores."""
    graph: list[tuple[int, ...]] = [()] * problem.n
    scores = [0.0] * problem.n
    for place, child in enumerate(order):
        graph[child], scores[child] = choose(child, order[:place])
    return tuple(graph), scores


def _swap_choices(order: Sequence[int], place: int, work: OrderWork) -> tuple[Chosen, Chosen]:
    """What the two nodes at place and place + 1 would have after changing places."""
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
    """Change the places of two neighbours; the gains of the swaps around them are forgotten."""
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
