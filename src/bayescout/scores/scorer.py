"""The scorer: a formula with the statistics of a table; a search sees nothing else of either.

It remembers computed scores, counts the families asked for, splits work over threads, and opens the
compiled path if the rows are in memory and the formula is of a form that kernels know. A structure prior is
part of it: every score that it gives has the prior in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Bools, Family, Floats, Ints, Parents
from bayescout.errors import SettingError, TooLargeError
from bayescout.kernels.limits import LIKELIHOOD
from bayescout.scores.cache import DEFAULT_BYTES, ScoreCache
from bayescout.scores.family_prior import FamilyPrior
from bayescout.scores.formula import Terms
from bayescout.scores.superset_bounds import SupersetBound
from bayescout.scores.threads import worked
from bayescout.statistics.independence import Correction, IndependenceTests

PLANNED_ROWS = 10_000
"""The least number of rows that scoring a family counts for when steps are planned: with fewer, the time
goes to work other than counting."""


@runtime_checkable
class Score(Protocol):
    """Local scores of one data set: nats, larger is better. A user's own score needs only `local`."""

    def local(self, child: int, parents: Parents) -> float: ...


def _nothing() -> None:
    pass


def _raised(error: TooLargeError) -> None:
    raise error


@dataclass
class Hooks:
    """Callbacks that a run sets on its scorer; they do nothing outside of a run.

    between    called between pieces of work that take some hundredths of a second each; may raise to end it
    too_large  called with a family whose table is too large to be counted: raises, or returns if such a
               family is to count as minus infinity
    """

    between: Callable[[], None] = _nothing
    too_large: Callable[[TooLargeError], None] = _raised


class KernelPath(NamedTuple):
    """Everything that compiled code needs to score families: a `KernelView` and the formula.

    terms    the formula as an array; `formula` is the same with names
    """

    codes: NDArray[Any]
    weights: Ints
    bitmaps: NDArray[Any]
    layout: Ints
    lookup: Ints
    terms: Floats
    formula: Terms
    dense_limit: int
    most_cells: int

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The argument `data` of `kernels.neighbours`."""
        lookup = self.lookup if self.formula.form == LIKELIHOOD else None
        return (self.codes, self.weights, self.bitmaps, self.layout, lookup, self.terms)

    @property
    def cards(self) -> Ints:
        """The number of states of each variable."""
        cards: Ints = self.layout[0]
        return cards

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])


class Scorer:
    """Local scores of one data set under one score, remembered and metered.

    Values are remembered within a byte limit, by child and parent set, and do not depend on the number of
    workers, the order of asking or what is remembered. `asked` counts the families asked for, from memory
    or not: a function of the search alone. `computed` counts those computed, `compiled` of them by kernels on
    their own, `hits` those remembered.
    """

    equivalent: bool | None = None
    """True if Markov equivalent graphs score the same, but for what `telling` says; None if not known."""

    name = "of your own"
    """The name of the score in messages."""

    workers = 1

    def __init__(
        self, n_variables: int, cache_bytes: int = DEFAULT_BYTES, prior: FamilyPrior | None = None
    ) -> None:
        self.n_variables = n_variables
        self.prior = prior
        self.hooks = Hooks()
        self.asked = 0
        self.compiled = 0
        self._cache = ScoreCache(cache_bytes, n_variables)

    # ---- scores

    def local(self, child: int, parents: Parents) -> float:
        """The score of one family, in nats; larger is better."""
        return float(self.many([(child, parents)])[0])

    def many(self, families: Sequence[Family]) -> Floats:
        """The scores of many families; repeated ones are computed once."""
        self.asked += len(families)
        return self._cache.fetch(families, self._with_prior)

    def log_priors(self, families: Sequence[Family]) -> Floats:
        """The part of the structure prior in the score of each family."""
        return np.zeros(len(families)) if self.prior is None else self.prior.many(families)

    def _with_prior(self, fresh: Sequence[Family]) -> Floats:
        found = self._computed(fresh)
        return found if self.prior is None else found + self.prior.many(fresh)

    def extensions(self, child: int, parents: Parents, candidates: Ints | Sequence[int]) -> Floats:
        """The score of (child, parents + candidate) for each candidate."""
        raise NotImplementedError

    def together(
        self, families: Sequence[Family], rows: Sequence[tuple[int, Parents, Ints]]
    ) -> tuple[Floats, list[Floats]]:
        """`many` of families and `extensions` of (child, parents, candidates), in one go if rows are far."""
        found = self.many(families) if families else np.empty(0)
        return found, [self.extensions(*row) for row in rows]

    def extensions_once(self, child: int, parents: Parents, candidates: Ints) -> Floats:
        """As `extensions`, but without remembering a row as long as there are variables."""
        return self.extensions(child, parents, candidates)

    def extensions_of_each(self, families: Sequence[Family], bounds: Ints, candidates: Ints) -> Floats:
        """The score of each family with each of its candidates, one after the other, not remembered.

        bounds  (families + 1,) where the candidates of each family begin
        """
        rows = [
            (child, parents, candidates[begin:end])
            for (child, parents), (begin, end) in zip(families, pairwise(bounds.tolist()), strict=True)
            if end > begin
        ]
        found = self.together([], rows)[1] if self.far else [self.extensions_once(*row) for row in rows]
        return np.concatenate([np.empty(0), *found])

    def gaining(
        self, families: Sequence[Family], open_to: Callable[[int], Bools], least: Floats
    ) -> Iterator[tuple[int, Ints]]:
        """The further parents with which families score more than `least`, for each child that has some.

        open_to  which variables are asked about, for a child: (n,) bool
        least    (n,) by child
        """
        for child, parents in families:
            self.hooks.between()
            others = np.flatnonzero(open_to(child))
            if len(others):
                more = others[self.extensions_once(child, parents, others) > least[child]]
                if len(more):
                    yield child, more

    def fleeting(self, families: Sequence[Family]) -> Floats:
        """As `many`, but without remembering the scores if computing them again costs less."""
        return self.many(families)

    def all_extensions(self, families: Sequence[Family], able: Bools) -> Floats:
        """The score of each family with each further parent that it may take; -inf for the others.

        able  (families, n) bool
        """
        values = np.full(able.shape, -np.inf)
        asked = [
            (place, (child, parents, np.flatnonzero(candidates)))
            for place, ((child, parents), candidates) in enumerate(zip(families, able, strict=True))
            if candidates.any()
        ]
        found = self.together([], [row for _, row in asked])[1] if self.far else None
        for i, (place, row) in enumerate(asked):
            values[place, row[2]] = self.extensions(*row) if found is None else found[i]
        return values

    def _computed(self, fresh: Sequence[Family]) -> Floats:
        """The scores of families, without the prior."""
        raise NotImplementedError

    def _settle_equivalence(self, own: bool | None) -> None:
        """Store that the whole score is equivalent if the score without the prior is, and the prior."""
        both = (own, True if self.prior is None else self.prior.equivalent)
        self.equivalent = False if False in both else None if None in both else True

    # ---- further facts

    @property
    def kernel(self) -> KernelPath | None:
        """The compiled path, without the prior; None if there is none, and the methods above are all.

        Whoever calls it adds `prior` to what it gives.
        """
        return None

    def superset_bounds(self, allowed: Bools) -> list[SupersetBound]:
        """For each child an upper bound on the scores of a parent set's supersets.

        allowed  (n, n) bool   [parent, child]: the parents that a child may have
        """
        return [SupersetBound() for _ in range(self.n_variables)]

    def independence_tests(self, test: str | None, alpha: float, correction: Correction) -> IndependenceTests:
        """Tests of independence on the data behind the score."""
        raise SettingError(
            "this search tests the data behind the score, and a score of your own has none; use bic or bdeu"
        )

    def wide_arrays(self) -> tuple[Any, Any]:
        """`Columns` and `Terms` of `kernels`, for compiled searches on candidates; None if it asks `many`."""
        return None, None

    @property
    def is_discrete(self) -> bool:
        """True if the data behind the score are counts."""
        return False

    @property
    def far(self) -> bool:
        """True if every call takes a round trip to the rows, so that few calls should ask for much."""
        return False

    @property
    def legal(self) -> Bools | None:
        """(n, n) bool [parent, child], the arcs that the score's model can have; None if it can have all."""
        return None

    @property
    def telling(self) -> Bools | None:
        """(n, n) bool, symmetric: the pairs that the data tell one from the other; None if there are none.

        They do if some row has one of the two set from outside and not the other. An arc between the two
        then has the same direction in all graphs that an equivalent score cannot tell apart.
        """
        return None

    @property
    def planned_rows(self) -> int:
        """The rows that scoring one family counts for when the work of a step is planned."""
        return PLANNED_ROWS

    def too_large(self, child: int, parents: Parents, distinct: int) -> None:
        """Report a family that compiled code found too large to be counted."""
        raise NotImplementedError

    # ---- metering and threads

    @property
    def computed(self) -> int:
        return self._cache.evaluations + self.compiled

    @property
    def hits(self) -> int:
        return self._cache.hits

    def meter(self, asked: int, computed: int = 0) -> None:
        """Count families that were scored by compiled code."""
        self.asked += asked
        self.compiled += computed

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Keep `asked` unchanged while a search's scratch is rebuilt."""
        before = self.asked
        try:
            yield
        finally:
            self.asked = before

    def in_parallel(self, work: Callable[[Any], Any], parts: Sequence[Any]) -> None:
        """Do the work on each part, on all cores if there are several; the run may be ended between two."""
        worked(work, parts, self.workers, self.hooks.between)
