"""PC and conservative PC: a graph from tests of independence; the score only says what it is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from bayescout.errors import SettingError
from bayescout.search.classes import Extension, Pairs, Pattern, bits, extension_of, semi_directed_path
from bayescout.search.problem import Generator, ParentSets, Problem, State
from bayescout.statistics.counts import Counts
from bayescout.statistics.covariance import Covariance
from bayescout.statistics.independence import TESTS, IndependenceTests, Question, independence_tests

Separators = tuple[tuple[int, int, tuple[int, ...]], ...]


@dataclass
class PcState(State):
    """The edges left and the sets that separated the others, with so many variables given so far.

    Until the last step there is no graph to speak of: `parents` holds the required arcs, not scored.
    """

    edges: Pairs = ()
    separators: Separators = ()
    level: int = 0
    inconclusive: int = 0
    conflicts: int = 0
    ambiguous: int = 0

    def facts(self) -> dict[str, float]:
        return {
            "level": self.level,
            "edges": len(self.edges),
            "inconclusive": self.inconclusive,
            "conflicts": self.conflicts,
            "ambiguous": self.ambiguous,
        }


@dataclass(frozen=True)
class Pc:
    """Remove the edges that a test says are not needed, then direct what the tests direct.

    Spirtes & Glymour's PC in its order-independent form (Colombo & Maathuis 2014): step k tests each edge
    left given every k neighbours of one of its ends, the neighbours being those before the step. Only the
    answer "independent" removes an edge. An unshielded a - c - b is a collider when c was not in the set that
    separated a and b; Meek's rules do the rest. A collider that contradicts what is known or an earlier one
    is left out (`conflicts` in the trace); where no graph fits the rest, few further colliders are made.

    Tests are made from the statistics of the score's table: `test` is "g2" (discrete data's default), "chi2"
    or "fisher-z". `max_given` is the most variables given in a test. `operations` counts tests.
    """

    alpha: float = 0.05
    test: str | None = None
    max_given: int | None = None

    state: ClassVar[type[State]] = PcState
    conservative: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise SettingError(f"alpha must be between 0 and 1, not {self.alpha!r}; 0.05 is usual")
        if self.test is not None and self.test not in TESTS:
            raise SettingError(f"test must be one of {', '.join(TESTS)}, not {self.test!r}")
        most = self.max_given
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
            raise SettingError(f"max_given must be None or a whole number of at least 0, not {most!r}")

    def start(self, problem: Problem, rng: Generator) -> PcState:
        self._tests(problem)
        either = problem.rules.allowed | problem.rules.allowed.T
        edges = tuple((a, b) for a, b in combinations(range(problem.n), 2) if either[a, b])
        return PcState(problem.rules.required_parents, -np.inf, edges=edges, level=-1)

    def advance(self, problem: Problem, state: PcState, rng: Generator) -> PcState:
        level, tests = state.level + 1, self._tests(problem)
        waiting = self._to_test(problem, state.edges, level)
        if not waiting:
            return self._directed(problem, state, tests)
        asked = Asked(tests)
        found = asked.separators(waiting)
        parted = {(a, b) for a, b, _ in found}
        return PcState(
            state.parents,
            state.score,
            operations=state.operations + asked.count,
            edges=tuple(edge for edge in state.edges if edge not in parted),
            separators=(*state.separators, *found),
            level=level,
            inconclusive=state.inconclusive + asked.inconclusive,
        )

    def _tests(self, problem: Problem) -> IndependenceTests:
        """The tests of the score's statistics, or those statistics where they are tests themselves."""
        statistics = getattr(problem.score.score, "statistics", None)
        if isinstance(statistics, Counts | Covariance):
            return independence_tests(statistics, self.test, self.alpha)
        if statistics is not None and hasattr(statistics, "one"):
            tests: IndependenceTests = statistics
            return tests
        raise SettingError(
            "pc tests the data behind the score, and a score of your own has none; use bic or bdeu"
        )

    def _to_test(
        self, problem: Problem, edges: Pairs, level: int
    ) -> list[tuple[int, int, list[tuple[int, ...]]]]:
        """The edges that may go and the sets to give for each: of neighbours of one end, then the other."""
        if self.max_given is not None and level > self.max_given:
            return []
        around = neighbours(problem.n, edges)
        required = problem.rules.required
        found = []
        for a, b in edges:
            if not (required[a, b] or required[b, a]):
                sets = list(given_sets(around, a, b, level))
                if sets:
                    found.append((a, b, sets))
        return found

    # ---- directing

    def _directed(self, problem: Problem, state: PcState, tests: IndependenceTests) -> PcState:
        asked = Asked(tests)
        colliders, ambiguous = self._colliders(problem.n, state, asked)
        pattern, conflicts = oriented(problem, state.edges, colliders)
        dag = extension_of(pattern) or forced_extension(pattern)
        parents = within_limits(problem, dag.parent_sets())
        return PcState(
            parents,
            problem.total(parents),
            done=True,
            operations=state.operations + asked.count,
            edges=state.edges,
            separators=state.separators,
            level=state.level,
            inconclusive=state.inconclusive + asked.inconclusive,
            conflicts=conflicts,
            ambiguous=ambiguous,
        )

    def _colliders(self, n: int, state: PcState, asked: Asked) -> tuple[list[tuple[int, int, int]], int]:
        """The colliders (a, c, b), by c, a, b, and how many triples are neither one nor not."""
        around = neighbours(n, state.edges)
        known = {(a, b): given for a, b, given in state.separators}
        triples = [
            (a, c, b)
            for c in range(n)
            for a, b in combinations(bits(around[c]), 2)
            if not around[a] >> b & 1 and (a, b) in known
        ]
        if not self.conservative:
            return [(a, c, b) for a, c, b in triples if c not in known[a, b]], 0
        colliders, ambiguous = [], 0
        for a, c, b in triples:
            sets = asked.all_separators(a, b, self._sets_around(around, a, b))
            inside = sum(c in given for given in sets)
            if sets and not inside:
                colliders.append((a, c, b))
            elif inside < len(sets) or not sets:
                ambiguous += 1
        return colliders, ambiguous

    def _sets_around(self, around: list[int], a: int, b: int) -> list[tuple[int, ...]]:
        most = max((around[a] & ~(1 << b)).bit_count(), (around[b] & ~(1 << a)).bit_count())
        if self.max_given is not None:
            most = min(most, self.max_given)
        return [given for size in range(most + 1) for given in given_sets(around, a, b, size)]


@dataclass(frozen=True)
class Cpc(Pc):
    """PC with conservative colliders (Ramsey, Zhang & Spirtes 2006).

    An unshielded a - c - b is a collider when c is in none of the sets of neighbours that separate a and b,
    not one when it is in all, and else ambiguous: nothing is directed by it.
    """

    conservative: ClassVar[bool] = True


class Asked:
    """Questions put to tests, counted."""

    def __init__(self, tests: IndependenceTests) -> None:
        self.tests = tests
        self.count = 0
        self.inconclusive = 0

    def _independent(self, questions: Sequence[Question]) -> list[bool]:
        found = self.tests.many(questions)
        self.count += len(found)
        self.inconclusive += sum(one.answer == "inconclusive" for one in found)
        return [one.answer == "independent" for one in found]

    def separators(self, waiting: Sequence[tuple[int, int, list[tuple[int, ...]]]]) -> Separators:
        """The first set that separates each pair, for those that one does.

        Asked in rounds over all pairs, of one set each, then two, four and so on: few are asked in vain.
        """
        found: dict[tuple[int, int], tuple[int, ...]] = {}
        begin, size = 0, 1
        while waiting:
            questions = [
                Question(a, b, given) for a, b, sets in waiting for given in sets[begin : begin + size]
            ]
            for (a, b, given), apart in zip(questions, self._independent(questions), strict=True):
                if apart:
                    found.setdefault((a, b), given)
            begin, size = begin + size, 2 * size
            waiting = [w for w in waiting if (w[0], w[1]) not in found and len(w[2]) > begin]
        return tuple((a, b, given) for (a, b), given in sorted(found.items()))

    def all_separators(self, a: int, b: int, sets: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        apart = self._independent([Question(a, b, given) for given in sets])
        return [given for given, ok in zip(sets, apart, strict=True) if ok]


def neighbours(n: int, edges: Pairs) -> list[int]:
    around = [0] * n
    for a, b in edges:
        around[a] |= 1 << b
        around[b] |= 1 << a
    return around


def given_sets(around: list[int], a: int, b: int, size: int) -> Iterator[tuple[int, ...]]:
    """The sets of so many neighbours of a, then those of b that are not of a."""
    of_a, of_b = around[a] & ~(1 << b), around[b] & ~(1 << a)
    yield from combinations(bits(of_a), size)
    for given in combinations(bits(of_b), size):
        if any(not of_a >> node & 1 for node in given):
            yield given


def oriented(
    problem: Problem, edges: Pairs, colliders: Sequence[tuple[int, int, int]]
) -> tuple[Pattern, int]:
    """The edges directed by what is known and then by the colliders, and how many of those did not fit."""
    pattern = Pattern.of_pairs(problem.n, (), edges)
    rules = problem.rules
    for a, b in [arc for edge in edges for arc in (edge, edge[::-1])]:
        if rules.required[a, b] or not rules.allowed[b, a]:
            pattern.direct(a, b)
    conflicts = 0
    for a, c, b in colliders:
        if not (_directable(pattern, a, c) and _directable(pattern, b, c)):
            conflicts += 1
            continue
        pattern.direct(a, c)
        pattern.direct(b, c)
    return pattern, conflicts


def _directable(pattern: Pattern, a: int, b: int) -> bool:
    """Whether a -> b is there, or can be made without a directed cycle."""
    arcs = Pattern(pattern.parents, pattern.children, [0] * len(pattern.parents))
    return bool(pattern.parents[b] >> a & 1) or not semi_directed_path(arcs, b, a, 0)


def forced_extension(pattern: Pattern) -> Extension:
    """An acyclic graph that keeps the arcs and makes few new colliders, where none makes none.

    As Dor & Tarsi's, but the next sink is the node without children that would make fewest.
    """
    left = pattern.adjacent()
    parents, removed = [0] * len(left), []
    waiting = list(range(len(left)))
    while waiting:
        node = min(
            (node for node in waiting if not pattern.children[node] & left[node]),
            key=lambda node: _new_colliders(pattern, left, node),
        )
        waiting.remove(node)
        removed.append(node)
        parents[node] = left[node]
        for neighbour in bits(left[node]):
            left[neighbour] ^= 1 << node
    return Extension(parents, removed)


def _new_colliders(pattern: Pattern, left: list[int], node: int) -> int:
    around = left[node]
    friends = bits(pattern.friends[node] & around)
    return sum((around & ~left[friend] & ~(1 << friend)).bit_count() for friend in friends)


def within_limits(problem: Problem, parents: ParentSets) -> ParentSets:
    """The graph with parents left out, those the score misses least first, until the limits are kept."""
    kept = []
    for child, own in enumerate(parents):
        while len(own) > problem.rules.max_parents[child]:
            loose = [p for p in own if p not in problem.rules.required_parents[child]]
            without = [tuple(q for q in own if q != p) for p in loose]
            own = without[int(problem.score.many([(child, some) for some in without]).argmax())]
        kept.append(own)
    return tuple(kept)
