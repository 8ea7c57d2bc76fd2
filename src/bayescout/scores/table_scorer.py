"""The scorer of a formula over the statistics of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from bayescout.arrays import Bools, Family, Floats, Ints, Parents
from bayescout.errors import TooLargeError
from bayescout.scores.cache import DEFAULT_BYTES
from bayescout.scores.checks import check_candidates, check_families
from bayescout.scores.family_prior import FamilyPrior
from bayescout.scores.formula import Formula, FunctionFormula
from bayescout.scores.prior_bounds import PriorBound
from bayescout.scores.scorer import PLANNED_ROWS, KernelPath, Scorer
from bayescout.scores.superset_bounds import SupersetBound, looked_after
from bayescout.scores.threads import check_workers, worked
from bayescout.statistics.engine import REGRESSION_WORK, Statistics
from bayescout.statistics.independence import Correction, IndependenceTests, independence_tests

BATCH_CELLS = 1 << 20
"""Cells counted before they are turned into scores: 8 MB, however many families are asked for."""

SPLIT_ROWS = 40_000_000
"""Rows times families below which a batch is not worth splitting over threads."""

PIECE_ROWS = 200_000_000
"""The most work of a piece, in rows that are counted: a tenth of a second or so."""


class TableScorer(Scorer):
    """A formula over the statistics of a table."""

    def __init__(
        self,
        formula: Formula,
        statistics: Statistics,
        workers: int | None = None,
        cache_bytes: int = DEFAULT_BYTES,
        prior: FamilyPrior | None = None,
    ) -> None:
        super().__init__(statistics.n_variables, cache_bytes, prior)
        self.formula = formula
        self.statistics = statistics
        self.name = type(formula).__name__
        self.workers = check_workers(workers)
        self._settle_equivalence(None if isinstance(formula, FunctionFormula) else formula.equivalent)
        self._rows = 1 if self.far else statistics.n_rows or REGRESSION_WORK

    def extensions(self, child: int, parents: Parents, candidates: Ints | Sequence[int]) -> Floats:
        """The score of (child, parents + candidate) for each candidate, counted in one pass."""
        candidates = np.asarray(candidates, dtype=np.int64)
        self.asked += len(candidates)
        parents = tuple(sorted(parents))
        row = self._cache.row(child, parents)
        if row is None:
            found = self._extended(child, parents, candidates)
            self._cache.store_row(child, parents, candidates, found)
            return found
        missing = candidates[np.isnan(row[candidates])]
        self._cache.hits += len(candidates) - len(missing)
        if len(missing):
            row[missing] = self._extended(child, parents, missing)
        return row[candidates]

    def together(
        self, families: Sequence[Family], rows: Sequence[tuple[int, Parents, Ints]]
    ) -> tuple[Floats, list[Floats]]:
        if not self.far:
            return super().together(families, rows)
        ask = getattr(self.statistics, "ask", None) if self.statistics.kind == "mixed" else None
        if ask is not None:  # sums of floats depend on their order, so rows stay rows
            ask(families, rows)
            return super().together(families, rows)
        extended = [
            (child, tuple(sorted((*parents, more))))
            for child, parents, candidates in rows
            for more in candidates.tolist()
        ]
        if not families and not extended:
            return np.empty(0), [np.empty(0) for _ in rows]
        found = self.many([*families, *extended])
        ends = np.cumsum([len(families), *(len(candidates) for _, _, candidates in rows)])
        return found[: len(families)], [found[a:b] for a, b in pairwise(ends.tolist())]

    def extensions_once(self, child: int, parents: Parents, candidates: Ints) -> Floats:
        self.asked += len(candidates)
        return self._extended(child, tuple(sorted(parents)), candidates)

    def _extended(self, child: int, parents: Parents, candidates: Ints) -> Floats:
        if not len(candidates):
            return np.empty(0)
        check_families([(child, parents)], self.n_variables)
        check_candidates(child, parents, candidates, self.n_variables)
        self._cache.evaluations += len(candidates)
        parts = self._run(
            lambda some: self._evaluated_extensions(child, parents, some),
            self._slices(child, parents, candidates),
        )
        found = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return found if self.prior is None else found + self.prior.extensions(child, parents, candidates)

    def _evaluated_extensions(self, child: int, parents: Parents, candidates: Ints) -> Floats:
        if not isinstance(self.formula, FunctionFormula):
            with suppress(TooLargeError):
                return self.formula.evaluate(self.statistics.extensions(child, parents, candidates))
        # A user's function may add up the rows of its table, so they come in one order, parents rising.
        return self._evaluated(
            [(child, tuple(sorted((*parents, candidate)))) for candidate in candidates.tolist()]
        )

    def _computed(self, fresh: Sequence[Family]) -> Floats:
        return np.concatenate(self._run(self._evaluated, self._batches(fresh)))

    def _evaluated(self, families: Sequence[Family]) -> Floats:
        try:
            return self.formula.evaluate(self.statistics.many(families))
        except TooLargeError:
            return self._in_halves(families) if self.far else self._one_by_one(families)

    def _one_by_one(self, families: Sequence[Family]) -> Floats:
        """The scores of families of which some are too large to be counted: minus infinity in a search."""
        scores = np.full(len(families), -np.inf)
        for i, family in enumerate(families):
            try:
                scores[i] = self.formula.evaluate(self.statistics.many([family]))[0]
            except TooLargeError as error:
                self.hooks.too_large(error)
        return scores

    def _in_halves(self, families: Sequence[Family]) -> Floats:
        """As `_one_by_one`, in fewer calls where few families are too large."""
        if len(families) == 1:
            return self._one_by_one(families)
        middle = len(families) // 2
        return np.concatenate([self._evaluated(families[:middle]), self._evaluated(families[middle:])])

    def fleeting(self, families: Sequence[Family]) -> Floats:
        if not self.statistics.batches_all or not families:
            return super().fleeting(families)
        self.meter(len(families), len(families))
        found = np.concatenate(self._run(self._evaluated, self._batches(families)))
        return found if self.prior is None else found + self.prior.many(families)

    def all_extensions(self, families: Sequence[Family], able: Bools) -> Floats:
        if not self.statistics.batches_all:
            return super().all_extensions(families, able)
        parts = self._run(
            lambda some: self.formula.evaluate(self.statistics.all_extensions(some)),
            self._batches(families, self.n_variables),
        )
        values = np.concatenate(parts).reshape(able.shape)
        if self.prior is not None:
            values += self.prior.all_extensions(families)
        self.meter(int(able.sum()), values.size)
        values[~able] = -np.inf
        return values

    # ---- further facts

    @cached_property
    def kernel(self) -> KernelPath | None:
        view = self.statistics.kernel_view()
        if view is None:
            return None
        if not defined_with(self.formula, "kernel_terms", "evaluate", "cell_prior", "configuration_prior"):
            return None
        terms = self.formula.kernel_terms(self.statistics)  # type: ignore[arg-type]
        return None if terms is None else KernelPath(*view[:5], np.array(terms), terms, *view[5:])

    def superset_bounds(self, allowed: Bools) -> list[SupersetBound]:
        if not defined_with(self.formula, "superset_bounds", "evaluate"):
            return super().superset_bounds(allowed)
        with looked_after(lambda: self.hooks.between()):
            found = self.formula.superset_bounds(self.statistics, allowed)
        if self.prior is None:
            return found
        return [PriorBound(one, self.prior, child, allowed) for child, one in enumerate(found)]

    def independence_tests(self, test: str | None, alpha: float, correction: Correction) -> IndependenceTests:
        return independence_tests(self.statistics, test, alpha, correction, lambda: self.hooks.between())

    @property
    def is_discrete(self) -> bool:
        return self.statistics.kind == "discrete"

    @property
    def far(self) -> bool:
        return bool(getattr(self.statistics, "far", False))  # an engine of the user's own may not say

    @property
    def legal(self) -> Bools | None:
        found: Bools | None = getattr(self.statistics, "legal", None)
        return found

    @property
    def planned_rows(self) -> int:
        own = getattr(self.statistics, "planned_rows", self.statistics.n_rows)  # rows may be folded
        return max(PLANNED_ROWS, int(own))

    def too_large(self, child: int, parents: Parents, distinct: int) -> None:
        self.hooks.too_large(self.statistics.too_large(child, parents, distinct))

    # ---- splitting work

    def _slices(self, child: int, parents: Parents, candidates: Ints) -> list[Ints]:
        """Candidates in slices of bounded memory, at least one per worker if the work is large."""
        cells = self._cells(child, parents)
        most = max(1, min(BATCH_CELLS // (4 * cells), PIECE_ROWS // self.statistics.work(child, parents)))
        if self._rows * len(candidates) > SPLIT_ROWS:
            most = min(most, -(-len(candidates) // self.workers))
        return [candidates[begin : begin + most] for begin in range(0, len(candidates), most)]

    def _batches(self, families: Sequence[Family], times: int = 1) -> list[Sequence[Family]]:
        """Families in batches of bounded memory and work, several per worker if the work is large.

        times  as much of both if each family stands for so many
        """
        most = len(families)
        if self._rows * len(families) * times > SPLIT_ROWS:
            most = -(-len(families) // (4 * self.workers))
        batches: list[Sequence[Family]] = []
        begin, cells, work = 0, 0, 0
        for i, (child, parents) in enumerate(families):
            size, more = times * self._cells(child, parents), times * self.statistics.work(child, parents)
            full = cells + size > BATCH_CELLS or i - begin >= most or work + more > PIECE_ROWS
            if i > begin and full:
                batches.append(families[begin:i])
                begin, cells, work = i, 0, 0
            cells += size
            work += more
        return [*batches, families[begin:]]

    def _cells(self, child: int, parents: Parents) -> int:
        """Cells of the family's table, as far as they matter for the size of a batch."""
        return min(self.statistics.cells(child, parents), BATCH_CELLS)

    def _run(self, work: Callable[[Any], Floats], items: list[Any]) -> list[Floats]:
        """Do the work on each item, on all cores; the run may be ended between two of them."""
        return worked(work, items, self.workers, self.hooks.between)


def defined_with(formula: Formula, method: str, *parts: str) -> bool:
    """Return True if a formula's method belongs to the class that says its mathematics, or to one below it.

    A class that changes what a score is, but not the short cuts that it inherits, would else be given those
    of another score.
    """
    order = type(formula).__mro__

    def place(name: str) -> int:
        return next((i for i, kind in enumerate(order) if name in vars(kind)), len(order))

    return all(place(method) <= place(part) for part in parts)
