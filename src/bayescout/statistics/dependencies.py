"""The tests of independence that a search made, kept with their answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from bayescout.statistics.independence import Answer


class CachedTest(NamedTuple):
    """A test of whether `a` is independent of `b` given the others: the answer, and if the graph agrees.

    For the answer "dependent", `covered` is True if the graph joins a and b given the others
    (d-connection); for other answers it is None. Positions internally, labels in a result.
    """

    a: Any
    b: Any
    given: tuple[Any, ...]
    p_value: float
    answer: Answer
    covered: bool | None = None

    def told(self, given: str) -> str:
        """The finding, in a few words; `given` names the others."""
        answer = "inconclusive for want of rows" if self.answer == "inconclusive" else self.answer
        agrees = {None: "", True: ", in the graph too", False: ", not in the graph"}[self.covered]
        return f"{answer}{f' given {given}' if given else ''} (p = {self.p_value:.2g}{agrees})"


@dataclass(frozen=True)
class DependencyRecord:
    """The numbers of hypotheses of independence tested, rejected (dependencies found) and inconclusive.

    `covered` counts the dependencies found that the graph entails, and is None for a search that keeps no
    account of them. `entries` are the tests that are kept, sorted: all of them by `imap`; by `pc` those that
    separated a pair.
    """

    tested: int
    rejected: int
    inconclusive: int
    covered: int | None
    entries: tuple[CachedTest, ...] = ()

    def about(self, a: Hashable, b: Hashable) -> tuple[CachedTest, ...]:
        """The tests of this pair that are kept."""
        return tuple(one for one in self.entries if {one.a, one.b} == {a, b})

    def labelled(self, label: Callable[[int], Any]) -> DependencyRecord:
        """The same with labels in place of positions."""
        named = tuple(
            one._replace(a=label(one.a), b=label(one.b), given=tuple(label(v) for v in one.given))
            for one in self.entries
        )
        return replace(self, entries=named)

    def __str__(self) -> str:
        covered = "" if self.covered is None else f", {self.covered:,} of these covered by the graph"
        return (
            f"{self.tested:,} hypotheses of independence tested: {self.rejected:,} rejected{covered}; "
            f"{self.inconclusive:,} inconclusive"
        )
