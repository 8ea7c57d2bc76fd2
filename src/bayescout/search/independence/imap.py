"""I-map: greedy equivalence search whose graphs must have every dependency that tests find in the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import settle
from bayescout.search.bitsets import bits, mask_of
from bayescout.search.classes.ges import ClassWalk, require_equivalent
from bayescout.search.classes.operators import ClassMove
from bayescout.search.classes.patterns import class_of
from bayescout.search.frame.problem import MIN_GAIN, Edges, Generator, ParentSets, Problem, State
from bayescout.search.independence.hypotheses import (
    Hypotheses,
    blanket_questions,
    children_of,
    require_test,
)
from bayescout.statistics.dependencies import CachedTest, DependencyRecord
from bayescout.statistics.independence import Correction, Question

GROW, SHRINK, PRUNE = 0, 1, 2


@dataclass(frozen=True)
class ImapState(State):
    """A graph of the class in hand, and every hypothesis tested so far.

    `phase` is grow, shrink or prune; `pruned` is True once the arcs have been pruned; `settled` is the
    number of dependencies known when growth last ended.
    """

    phase: int = GROW
    pruned: bool = False
    settled: int = 0
    rejected: int = 0
    inconclusive: int = 0
    covered: int = 0
    made: tuple[CachedTest, ...] = ()

    answers_with_last: ClassVar[bool] = True

    def facts(self) -> dict[str, float]:
        return {
            "phase": self.phase,
            "tested": len(self.made),
            "rejected": self.rejected,
            "inconclusive": self.inconclusive,
            "covered": self.covered,
        }

    def found_class(self) -> Edges:
        return class_of(self.parents).pairs()

    def dependencies(self) -> DependencyRecord:
        entries = Hypotheses(self.made).entries([mask_of(own) for own in self.parents])
        return DependencyRecord(len(self.made), self.rejected, self.inconclusive, self.covered, entries)


@dataclass(frozen=True)
class Imap:
    """GES held to the dependencies in the data: the graph must cover those that tests find (Frigo 2009).

    First every pair is tested; after each step the two ends of the changed arc, and their neighbours, are
    tested against every variable outside their Markov blankets, given these. A graph covers a dependency when
    it d-connects the two given the others. Growth on discrete data takes the insertion that raises the score
    most, or else, while dependencies are not covered, the best that covers more; on continuous data only
    insertions that cover more. Then the best deletions follow that raise the score and lose no dependency;
    one after which a test finds a new dependency is not taken, and if the graph before it lacks that too,
    growth goes on. On continuous data arcs are then pruned whose ends are independent, or are so given all
    other variables, and growth and shrinking done once more.

    `test` is "chi2" (discrete data's default: few rows make it inconclusive, which is no dependency), "g2",
    "fisher-z" or "dg" (tables with both kinds of columns). Where knowledge forbids the arcs that it takes,
    dependencies may stay uncovered.
    """

    alpha: float = 0.05
    test: str | None = None
    correction: Correction = "none"

    state: ClassVar[type[State]] = ImapState
    needs_equivalent: ClassVar[bool] = True
    ends_pruned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle(self, alpha=require_test(self.test, self.alpha, self.correction))

    def start(self, problem: Problem, rng: Generator) -> ImapState:
        require_equivalent(problem)
        walk = _Walk(self, problem, problem.first_graph(rng), GROW, ())
        walk.ask(Question(a, b) for a in range(problem.n) for b in range(a + 1, problem.n))
        return walk.state(0)

    def advance(self, problem: Problem, state: ImapState, rng: Generator) -> ImapState:
        walk = problem.scratch(state, lambda: _Walk(self, problem, state.parents, state.phase, state.made))
        settled, pruned, phase = state.settled, state.pruned, state.phase
        while True:
            if phase == PRUNE:
                walk.prune()
                pruned = True
                return walk.state(state.operations + 1, GROW, settled, pruned, done=self.ends_pruned)
            step = walk.growing() if phase == GROW else walk.shrinking()
            if step is not None:
                if not walk.take(step):
                    continue
                return walk.state(state.operations + 1, phase, settled, pruned)
            if phase == GROW:
                phase, settled = SHRINK, walk.hypotheses.rejected
            elif walk.hypotheses.rejected > settled and not walk.covered().all():
                phase = GROW  # a deletion that was not taken brought a dependency to light
            elif walk.prunes and not pruned:
                phase = PRUNE
            else:
                return walk.state(state.operations, phase, settled, pruned, done=True)
            walk.enter(phase)


@dataclass(frozen=True)
class ImapPruned(Imap):
    """I-map that stops when its arcs have been pruned: few false arcs, but not every dependency is covered.

    Growth is that for continuous data. On discrete data few tests given all other variables are conclusive.
    """

    ends_pruned: ClassVar[bool] = True


class _Walk:
    """A walk over classes with the hypotheses tested on the way."""

    def __init__(
        self, search: Imap, problem: Problem, graph: ParentSets, phase: int, made: tuple[CachedTest, ...]
    ) -> None:
        discrete = problem.scorer.is_discrete
        test = search.test or ("chi2" if discrete else None)
        self.problem = problem
        self.hypotheses = Hypotheses(made, problem.check)
        self.tests = problem.scorer.independence_tests(test, search.alpha, search.correction)
        self.by_score = discrete and not search.ends_pruned
        self.prunes = not self.by_score
        self.classes = ClassWalk(problem, graph, min(phase, SHRINK))

    def enter(self, phase: int) -> None:
        if phase != PRUNE:
            self.classes.enter(phase)

    def ask(self, questions: Iterable[Question]) -> None:
        self.hypotheses.ask(self.tests, questions)

    def covered(self) -> NDArray[np.bool_]:
        """For each dependency found, True if the graph in hand covers it."""
        return self.hypotheses.covered(self.classes.masks)

    def growing(self) -> ClassMove | None:
        """The best insertion that raises the score, where that counts; else the best that covers more."""
        raising = self.classes.operators.best() if self.by_score else None
        if raising is not None:
            return raising
        now = self.covered()
        if now.all():
            return None
        ranked = self.classes.operators.ranked()
        more = (s for s in ranked if self.hypotheses.covered(s.member.parents).sum() > now.sum())
        return next(more, None)

    def shrinking(self) -> ClassMove | None:
        """The best deletion that raises the score, loses no dependency and reveals no new one."""
        now = self.covered()
        for step in self.classes.operators.ranked():
            if not step.gain > MIN_GAIN:
                return None
            if not (self.hypotheses.covered(step.member.parents) >= now).all():
                continue
            known = self.hypotheses.rejected
            self._ask_about(step)
            if self.hypotheses.rejected == known:
                return step
            now = self.covered()
        return None

    def take(self, step: ClassMove) -> bool:
        """Take a step and test what it changed; return False if it could not be taken."""
        taken = self.classes.take(step)
        if taken:
            self._ask_about(step)
        return taken

    def _ask_about(self, step: ClassMove) -> None:
        """Test the ends of the changed arc and their neighbours."""
        parents = step.member.parents
        children = children_of(parents)
        around = 1 << step.x | 1 << step.y
        for end in (step.x, step.y):
            around |= parents[end] | children[end]
        self.ask(blanket_questions(parents, bits(around)))

    def prune(self) -> None:
        """Remove the arcs whose ends a test finds independent, given nothing or all other variables."""
        n, graph = self.problem.n, self.classes.graph
        arcs = [(min(a, c), max(a, c)) for c, own in enumerate(graph) for a in own]
        rest = {(a, b): tuple(v for v in range(n) if v not in (a, b)) for a, b in arcs}
        self.ask(Question(a, b, given) for a, b in arcs for given in ((), rest[a, b]))
        answers = {(one.a, one.b, one.given): one.answer for one in self.hypotheses.made}
        apart = {(a, b) for a, b in arcs if "independent" in (answers[a, b, ()], answers[a, b, rest[a, b]])}
        required = self.problem.rules.required
        left = tuple(
            tuple(a for a in own if required[a, c] or (min(a, c), max(a, c)) not in apart)
            for c, own in enumerate(graph)
        )
        self.classes = ClassWalk(self.problem, left, GROW)

    def state(
        self, operations: int, phase: int = GROW, settled: int = 0, pruned: bool = False, done: bool = False
    ) -> ImapState:
        state = ImapState(
            self.classes.graph,
            self.classes.score,
            done=done,
            operations=operations,
            phase=phase,
            pruned=pruned,
            settled=settled,
            rejected=self.hypotheses.rejected,
            inconclusive=self.hypotheses.inconclusive,
            covered=int(self.covered().sum()),
            made=tuple(self.hypotheses.made),
        )
        return self.problem.keep(state, self)
