"""The best network of an order: of a known one (K2), and of random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from bayescout.arrays import Parents
from bayescout.checks import MOST_COUNT, require_count, settle, settle_count, shown
from bayescout.errors import KnowledgeError, SettingError
from bayescout.search.bitsets import words_of_sets
from bayescout.search.frame.problem import Generator, ParentSets, Problem, State, random_order
from bayescout.search.parent_sets.greedy import greedy_parents
from bayescout.search.parent_sets.lists import all_sets
from bayescout.wording import setting

Chosen = tuple[Parents, float]


class Chooser(Protocol):
    """The best parents of a child among its predecessors, and their score."""

    def __call__(self, child: int, before: Sequence[int]) -> Chosen: ...


def chooser(problem: Problem, parents: str | int) -> Chooser:
    """The chooser of this name: greedy, or exhaustive up to a number of parents."""
    if parents == "greedy":
        return lambda child, before: greedy_parents(problem, child, before)
    lists = all_sets(problem, int(parents))
    return lambda child, before: lists.best(child, words_of_sets([before], problem.n)[0])


def require_parents(parents: str | int) -> str | int:
    if isinstance(parents, str):
        if parents != "greedy":
            raise SettingError(f'parents must be "greedy" or a number of parents, not {shown(parents)}')
        return parents
    return require_count("parents", parents, 1, most=MOST_COUNT)


@dataclass(frozen=True)
class OrderState(State):
    """The order in hand and the number of orders tried (in K2, of its nodes)."""

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
        gained = score - problem.scorer.local(child, state.parents[child])
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
        return problem.keep(OrderState(graph, problem.total(graph)), chooser(problem, self.parents))

    def advance(self, problem: Problem, state: OrderState, rng: Generator) -> OrderState:
        choose = problem.scratch(state, lambda: chooser(problem, self.parents))
        order = random_order(problem.rules, rng)
        graph, scores = best_network(problem, order, choose)
        tried = state.tried + 1
        after = OrderState(
            graph,
            float(np.sum(scores)),
            done=tried == (self.orders or 10 * problem.n),
            operations=state.operations + problem.n,
            order=order,
            tried=tried,
        )
        return problem.keep(after, choose)


@dataclass(frozen=True)
class K2Random(OrderSample):
    """The K2 algorithm on random orders, ten times as many as variables (Blanco, Inza & Larrañaga 2003)."""

    parents: ClassVar[str] = "greedy"  # type: ignore[misc]


def best_network(problem: Problem, order: Sequence[int], choose: Chooser) -> tuple[ParentSets, list[float]]:
    """The best parents of every node among its predecessors, and their scores."""
    graph: list[tuple[int, ...]] = [()] * problem.n
    scores = [0.0] * problem.n
    for place, child in enumerate(order):
        graph[child], scores[child] = choose(child, order[:place])
    return tuple(graph), scores
