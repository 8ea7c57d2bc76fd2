"""Hypotheses of independence, tested on the data behind a score, each one once.

A graph is the parents of each node, as sets of bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import as_plain, require_choice, shown
from bayescout.errors import SettingError
from bayescout.search.bitsets import bits
from bayescout.statistics.dependencies import CachedTest
from bayescout.statistics.independence import (
    CORRECTIONS,
    TESTS,
    Correction,
    IndependenceTests,
    Question,
)

Item = TypeVar("Item")

LOOK_AT, CONNECTED = 4096, 5_000_000
"""Questions between two checks of the clock; and nodes and arcs that trails pass between two checks."""


def require_test(test: str | None, alpha: float, correction: Correction = "none") -> float:
    """Refuse settings of tests that are wrong whatever the data; return alpha as a plain number."""
    level = as_plain(alpha)
    if level is None or not 0 < level < 1:
        raise SettingError(f"alpha must be between 0 and 1, not {shown(alpha)}; 0.05 is usual")
    if test is not None:
        require_choice("test", test, TESTS)
    require_choice("correction", correction, CORRECTIONS)
    return level


def blanket(parents: Sequence[int], children: Sequence[int], node: int) -> int:
    """The Markov blanket: parents, children, and the children's other parents, as a set of bits."""
    found = parents[node] | children[node]
    for child in bits(children[node]):
        found |= parents[child]
    return found & ~(1 << node)


def children_of(parents: Sequence[int]) -> list[int]:
    children = [0] * len(parents)
    for child, own in enumerate(parents):
        for parent in bits(own):
            children[parent] |= 1 << child
    return children


def blanket_questions(parents: Sequence[int], nodes: Iterable[int]) -> list[Question]:
    """The questions whether each node is independent of all others outside its Markov blanket, given that."""
    children = children_of(parents)
    questions = []
    for node in nodes:
        given = blanket(parents, children, node)
        outside = ~(given | 1 << node) & ((1 << len(parents)) - 1)
        known = tuple(bits(given))
        questions += [Question(min(node, other), max(node, other), known) for other in bits(outside)]
    return questions


class Hypotheses:
    """Every hypothesis tested, each one once, and the dependencies found that a graph covers."""

    def __init__(self, made: Iterable[CachedTest] = (), check: Callable[[], None] = lambda: None) -> None:
        self._check = check
        self.made: list[CachedTest] = []
        self.inconclusive = 0
        self._known: set[Question] = set()
        self._groups: dict[tuple[int, tuple[int, ...]], int] = {}
        self._found: list[tuple[int, int]] = []  # of each dependency its group and its other end
        self._arrays: tuple[NDArray[np.int64], ...] | None = None  # of groups and dependencies, for `covered`
        for one in made:
            self._keep(CachedTest(*one))

    @property
    def rejected(self) -> int:
        """The number of dependencies found."""
        return len(self._found)

    def ask(self, tests: IndependenceTests, questions: Iterable[Question]) -> None:
        """Test the questions that have not been tested yet."""
        new: dict[Question, None] = {}
        for question in self._looking(questions):
            if question not in self._known:
                new[question] = None
        asked = list(new)
        for question, found in self._looking(zip(asked, tests.many(asked), strict=True)):
            self._keep(CachedTest(*question, found.p_value, found.answer))

    def _looking(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, with a check of the clock now and then."""
        for i, item in enumerate(items):
            if i % LOOK_AT == 0:
                self._check()
            yield item

    def _keep(self, one: CachedTest) -> None:
        self.made.append(one)
        self._known.add(Question(one.a, one.b, one.given))
        self.inconclusive += one.answer == "inconclusive"
        if one.answer == "dependent":
            group = self._groups.setdefault((one.a, one.given), len(self._groups))
            self._found.append((group, one.b))
            self._arrays = None

    def covered(self, parents: Sequence[int]) -> NDArray[np.bool_]:
        """For each dependency found, True if the graph has it too: its ends are d-connected."""
        if not self._found:
            return np.zeros(0, dtype=bool)
        from bayescout.kernels.separation import connect

        if self._arrays is None:
            sources = np.array([source for source, _ in self._groups], dtype=np.int64)
            members, begins = _joined([known for _, known in self._groups])
            self._arrays = (sources, members, begins, *np.array(self._found, dtype=np.int64).T)
        sources, members, begins, group, other = self._arrays
        reached = np.zeros((len(sources), len(parents)), dtype=np.bool_)
        graph = (*_lists(parents), *_lists(children_of(parents)))
        some = max(1, CONNECTED // max(1, len(graph[0]) + len(parents)))
        for begin in range(0, len(sources), some):
            self._check()
            part = slice(begin, begin + some)
            connect(*graph, sources[part], members, begins[begin : begin + some + 1], reached[part])
        found: NDArray[np.bool_] = reached[group, other]
        return found

    def entries(self, parents: Sequence[int]) -> tuple[CachedTest, ...]:
        """Every test, sorted; `covered` says of each dependency if the graph has it."""
        covered = iter(self.covered(parents).tolist())
        told = [
            one._replace(covered=next(covered) if one.answer == "dependent" else None) for one in self.made
        ]
        return tuple(sorted(told, key=lambda one: one[:3]))


def _lists(masks: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return _joined([bits(mask) for mask in masks])


def _joined(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lists end to end, and the start of each."""
    begins = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return np.array([item for own in lists for item in own], dtype=np.int64), begins
