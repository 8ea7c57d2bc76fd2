"""PC and conservative PC: a graph from tests of independence; the score serves only to report its worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import ClassVar

import numpy as np

from bayescout.checks import settle, settle_count
from bayescout.graph.equivalence import is_covered
from bayescout.search.bitsets import bits
from bayescout.search.classes.patterns import (
    Extension,
    Pattern,
    Triple,
    class_of,
    direct_by_rules,
    directable,
    extension_of,
)
from bayescout.search.frame.problem import MIN_GAIN, Edges, Generator, Pairs, ParentSets, Problem, State
from bayescout.search.independence.hypotheses import require_test
from bayescout.statistics.dependencies import CachedTest, DependencyRecord
from bayescout.statistics.independence import (
    Finding,
    IndependenceTests,
    Question,
)

SETS_AT_A_TIME = 256
"""The most sets tested for a pair before checking whether more are needed."""

STEP_EDGES = (2000, 500)
"""Edges tested per step: given nothing, and given others."""


@dataclass(frozen=True)
class PcState(State):
    """The edges left and the tests that separated the other pairs, with so many variables given so far.

    Until the last step there is no graph: `parents` holds the required arcs. The last step has the class in
    `directed` and `undirected`. In the next level, `tested` edges are done of those present when it
    began, `before`.
    """

    edges: Pairs = ()
    separators: tuple[CachedTest, ...] = ()
    level: int = 0
    tested: int = 0
    before: Pairs = ()
    rejected: int = 0
    inconclusive: int = 0
    conflicts: int = 0
    ambiguous: int = 0
    directed: Pairs = ()
    undirected: Pairs = ()

    answers_with_last: ClassVar[bool] = True

    def found_class(self) -> Edges:
        return self.directed, self.undirected

    def dependencies(self) -> DependencyRecord:
        kept = tuple(CachedTest(*one) for one in self.separators)
        return DependencyRecord(self.operations, self.rejected, self.inconclusive, None, kept)

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

    Tests are made from the statistics of the score's table: `test` is "g2" (discrete data's default), "chi2",
    "fisher-z" or "dg" (tables with both kinds of columns). `max_given` is the most variables given in a test.
    `operations` counts tests.
    """

    alpha: float = 0.05
    test: str | None = None
    max_given: int | None = None

    state: ClassVar[type[State]] = PcState
    conservative: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle(self, alpha=require_test(self.test, self.alpha))
        if self.max_given is not None:
            settle_count(self, "max_given")

    def start(self, problem: Problem, rng: Generator) -> PcState:
        self._tests(problem)
        either = problem.rules.allowed | problem.rules.allowed.T
        edges = tuple((a, b) for a, b in np.argwhere(np.triu(either, 1)).tolist())
        parents = problem.rules.required_parents
        return PcState(parents, problem.total(parents), edges=edges, level=-1)

    def advance(self, problem: Problem, state: PcState, rng: Generator) -> PcState:
        level, tests = state.level + 1, self._tests(problem)
        before = state.before if state.tested else state.edges
        around = neighbours(problem.n, before)
        if not state.tested and not self._tests_at(problem, before, around, level):
            return self._directed(problem, state, tests, self.conservative)
        end = min(len(before), state.tested + STEP_EDGES[level > 0])
        asked = Asked(tests)
        found = asked.separators(
            [
                (a, b, given_sets(around, a, b, level))
                for a, b in before[state.tested : end]
                if self._may_go(problem, a, b)
            ]
        )
        parted = {(one.a, one.b) for one in found}
        through = end == len(before)
        return replace(
            state,
            operations=state.operations + asked.count,
            edges=tuple(edge for edge in state.edges if edge not in parted),
            separators=(*state.separators, *found),
            level=level if through else state.level,
            tested=0 if through else end,
            before=() if through else before,
            rejected=state.rejected + asked.rejected,
            inconclusive=state.inconclusive + asked.inconclusive,
        )

    def conclude(self, problem: Problem, state: PcState) -> PcState:
        """The graph of the edges that are left, when the run is stopped before its end.

        Before the first tests these are all possible edges, which says nothing: then the required arcs. The
        colliders are PC's: with many edges left, conservative ones take more tests than the run itself.
        """
        if state.level < 0:
            return replace(state, directed=_required(problem))
        return self._directed(problem, state, self._tests(problem), conservative=False)

    def _tests_at(self, problem: Problem, edges: Pairs, around: list[int], level: int) -> bool:
        """Return True if any removable edge has so many neighbours to condition on."""
        if self.max_given is not None and level > self.max_given:
            return False
        return any(
            self._may_go(problem, a, b) and next(given_sets(around, a, b, level), None) is not None
            for a, b in edges
        )

    @staticmethod
    def _may_go(problem: Problem, a: int, b: int) -> bool:
        required = problem.rules.required
        return not (required[a, b] or required[b, a])

    def _tests(self, problem: Problem) -> IndependenceTests:
        return problem.scorer.independence_tests(self.test, self.alpha, "none")

    # ---- directing

    def _directed(
        self, problem: Problem, state: PcState, tests: IndependenceTests, conservative: bool
    ) -> PcState:
        asked = Asked(tests)
        colliders, ambiguous = self._colliders(problem.n, state, asked, conservative)
        pattern, conflicts = oriented(problem, state.edges, colliders)
        direct_by_rules(pattern, ambiguous, problem.check)
        dag = extension_of(pattern) or forced_extension(pattern, problem.check)
        fitted = dag.parent_sets()
        parents = within_limits(problem, fitted)
        # If the limits on parents cost arcs, the class is that of the remaining graph.
        directed, undirected = (pattern if parents == fitted else class_of(parents)).pairs()
        if problem.scorer.telling is not None:
            parents = turned_by_score(problem, parents)
        return replace(
            state,
            parents=parents,
            score=problem.total(parents),
            done=True,
            operations=state.operations + asked.count,
            rejected=state.rejected + asked.rejected,
            inconclusive=state.inconclusive + asked.inconclusive,
            conflicts=conflicts,
            ambiguous=len(ambiguous),
            directed=directed,
            undirected=undirected,
        )

    def _colliders(
        self, n: int, state: PcState, asked: Asked, conservative: bool
    ) -> tuple[list[Triple], set[Triple]]:
        """The colliders (a, c, b), by c, a, b, and the ambiguous triples."""
        around = neighbours(n, state.edges)
        known = {(one[0], one[1]): one[2] for one in state.separators}
        triples = [
            (a, c, b)
            for c in range(n)
            for a, b in combinations(bits(around[c]), 2)
            if not around[a] >> b & 1 and (a, b) in known
        ]
        if not conservative:
            return [(a, c, b) for a, c, b in triples if c not in known[a, b]], set()
        colliders, ambiguous = [], set()
        for a, c, b in triples:
            inside, outside = asked.parted_by(a, b, c, self._sets_around(around, a, b))
            if outside and not inside:
                colliders.append((a, c, b))
            elif not inside or outside:
                ambiguous.add((a, c, b))
        return colliders, ambiguous

    def _sets_around(self, around: list[int], a: int, b: int) -> Iterator[tuple[int, ...]]:
        most = max((around[a] & ~(1 << b)).bit_count(), (around[b] & ~(1 << a)).bit_count())
        if self.max_given is not None:
            most = min(most, self.max_given)
        for size in range(most + 1):
            yield from given_sets(around, a, b, size)


@dataclass(frozen=True)
class Cpc(Pc):
    """PC with conservative colliders (Ramsey, Zhang & Spirtes 2006).

    An unshielded a - c - b is a collider when c is in none of the sets of neighbours that separate a and b,
    not one when it is in all, and else ambiguous: nothing is directed by it.
    """

    conservative: ClassVar[bool] = True


class Asked:
    """Questions put to tests, with a count."""

    def __init__(self, tests: IndependenceTests) -> None:
        self.tests = tests
        self.count = 0
        self.rejected = 0
        self.inconclusive = 0

    def _asked(self, questions: Sequence[Question]) -> list[Finding]:
        found = self.tests.many(questions)
        self.count += len(found)
        self.rejected += sum(one.answer == "dependent" for one in found)
        self.inconclusive += sum(one.answer == "inconclusive" for one in found)
        return found

    def separators(
        self, waiting: Sequence[tuple[int, int, Iterator[tuple[int, ...]]]]
    ) -> tuple[CachedTest, ...]:
        """The first test that separates each pair, for the pairs that are separated.

        Asked in rounds over all pairs, of one set per pair, then two, four and so on: few tests are wasted.
        """
        parted: dict[tuple[int, int], CachedTest] = {}
        size = 1
        while waiting:
            questions, left = [], []
            for a, b, sets in waiting:
                some = [Question(a, b, given) for given in islice(sets, size)]
                questions += some
                if len(some) == size:
                    left.append((a, b, sets))
            for (a, b, given), found in zip(questions, self._asked(questions), strict=True):
                if found.answer == "independent":
                    parted.setdefault((a, b), CachedTest(a, b, given, found.p_value, found.answer))
            waiting = [one for one in left if (one[0], one[1]) not in parted]
            size = min(2 * size, SETS_AT_A_TIME)
        return tuple(parted[pair] for pair in sorted(parted))

    def parted_by(self, a: int, b: int, c: int, sets: Iterator[tuple[int, ...]]) -> tuple[bool, bool]:
        """True if a set with c separates a and b; True if one without c does; asked until both are known."""
        inside = outside = False
        while not (inside and outside):
            some = list(islice(sets, SETS_AT_A_TIME))
            if not some:
                break
            found = self._asked([Question(a, b, given) for given in some])
            apart = [
                c in given for given, one in zip(some, found, strict=True) if one.answer == "independent"
            ]
            inside, outside = inside or any(apart), outside or not all(apart)
        return inside, outside


def neighbours(n: int, edges: Pairs) -> list[int]:
    around = [0] * n
    for a, b in edges:
        around[a] |= 1 << b
        around[b] |= 1 << a
    return around


def given_sets(around: list[int], a: int, b: int, size: int) -> Iterator[tuple[int, ...]]:
    """The sets of so many neighbours of a, then those of b that are not also sets of a."""
    of_a, of_b = around[a] & ~(1 << b), around[b] & ~(1 << a)
    yield from combinations(bits(of_a), size)
    for given in combinations(bits(of_b), size):
        if any(not of_a >> node & 1 for node in given):
            yield given


def oriented(
    problem: Problem, edges: Pairs, colliders: Sequence[tuple[int, int, int]]
) -> tuple[Pattern, int]:
    """The edges directed by the knowledge and then by the colliders, and the number that did not fit."""
    pattern = Pattern.of_pairs(problem.n, (), edges)
    conflicts = _direct_by_knowledge(pattern, problem, edges)
    for a, c, b in colliders:
        problem.check()
        if not (directable(pattern, a, c) and directable(pattern, b, c)):
            conflicts += 1
            continue
        pattern.direct(a, c)
        pattern.direct(b, c)
    return pattern, conflicts


def _direct_by_knowledge(pattern: Pattern, problem: Problem, edges: Pairs) -> int:
    """Direct the edges that may point one way only; cut those that would close a cycle, and count them."""
    rules = problem.rules
    arcs = [arc for edge in edges for arc in (edge, edge[::-1])]
    for a, b in arcs:
        if rules.required[a, b]:
            pattern.direct(a, b)
    cut = 0
    for a, b in arcs:
        if not rules.allowed[b, a] and not rules.required[a, b]:
            if directable(pattern, a, b):
                pattern.direct(a, b)
            else:
                pattern.cut(a, b)
                cut += 1
    return cut


def turned_by_score(problem: Problem, parents: ParentSets) -> ParentSets:
    """Of the graphs of one class, one whose arcs between variables that the data tell apart point as they do.

    Tests do not see interventions, but the score does: while an arc that can be turned within the class
    (a covered one) and that knowledge lets turn gains by it, the one that gains most is turned.
    """
    rules, telling = problem.rules, problem.scorer.telling
    assert telling is not None
    while True:
        problem.check()
        best, after = MIN_GAIN, None
        for child, own in enumerate(parents):
            for parent in own:
                above = parents[parent]
                free = rules.allowed[child, parent] and not rules.required[parent, child]
                room = len(above) < rules.max_parents[parent]
                if not (telling[parent, child] and free and room and is_covered(parents, parent, child)):
                    continue
                turned = {parent: tuple(sorted((*above, child))), child: above}
                values = problem.scorer.many([*turned.items(), (parent, above), (child, own)])
                gain = float(values[0] + values[1] - values[2] - values[3])
                if gain > best:
                    best, after = gain, turned
        if after is None:
            return parents
        parents = tuple(after.get(node, own) for node, own in enumerate(parents))


def forced_extension(pattern: Pattern, check: Callable[[], None] = lambda: None) -> Extension:
    """An acyclic graph that keeps the arcs and makes few new colliders, where some are unavoidable.

    As Dor & Tarsi's, but the next sink is the node without children that makes the fewest new colliders.
    """
    left = pattern.adjacent()
    parents, removed = [0] * len(left), []
    waiting = list(range(len(left)))
    while waiting:
        check()
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
    undirected = bits(pattern.undirected[node] & around)
    return sum((around & ~left[neighbour] & ~(1 << neighbour)).bit_count() for neighbour in undirected)


def _required(problem: Problem) -> Pairs:
    return tuple((int(a), int(b)) for a, b in zip(*problem.rules.required.nonzero(), strict=True))


def within_limits(problem: Problem, parents: ParentSets) -> ParentSets:
    """The graph within the limits: surplus parents are left out, those with the least loss of score first."""
    kept = []
    for child, own in enumerate(parents):
        while len(own) > problem.rules.max_parents[child]:
            loose = [p for p in own if p not in problem.rules.required_parents[child]]
            without = [tuple(q for q in own if q != p) for p in loose]
            own = without[int(problem.scorer.many([(child, some) for some in without]).argmax())]
        kept.append(own)
    return tuple(kept)
