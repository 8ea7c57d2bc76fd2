"""A formula bound to a table: counting, batching, caching and threads for every score."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from bayescout.data.table import Table
from bayescout.errors import SettingError, TooLargeError
from bayescout.scores.base import (
    Formula,
    Hooks,
    Parents,
    check_candidates,
    check_families,
    require_rows,
    require_weight,
)
from bayescout.scores.cache import DEFAULT_BYTES, ScoreCache
from bayescout.statistics.counts import Counts
from bayescout.statistics.families import Family, Floats, Ints

BATCH_CELLS = 1 << 20
"""Cells counted before they are turned into scores: 8 MB, however many families are asked for."""

SPLIT_ROWS = 40_000_000
"""Rows times families below which a batch is not worth handing to threads."""

PIECE_ROWS, SPARSE_COST = 400_000_000, 50
"""Rows times families that one piece of work has at most, and what a row counts for in a large table: a
tenth of a second or so."""


class TableScore:
    """Local scores of one table under one formula.

    Every value asked for is remembered, within a byte limit, by child and parent set. `evaluations`
    counts families computed, `hits` those answered from memory. Values do not depend on the number of
    workers, the order of asking or what the cache holds.
    """

    def __init__(
        self,
        formula: Formula,
        table: Table,
        workers: int | None = None,
        cache_bytes: int = DEFAULT_BYTES,
    ) -> None:
        require_rows(table)
        require_weight(table)
        self.formula = formula
        self.statistics = formula.statistics(table)
        self.n_variables = self.statistics.n_variables
        self.workers = check_workers(workers)
        self.hooks = Hooks()
        self._cache = ScoreCache(cache_bytes, self.n_variables)
        self._rows = table.n_rows

    @property
    def evaluations(self) -> int:
        return self._cache.evaluations

    @property
    def hits(self) -> int:
        return self._cache.hits

    def for_kernel(self) -> tuple[Any, ...] | None:
        """Everything `kernels.neighbours` needs to score families by itself, or None where it cannot."""
        if not isinstance(self.statistics, Counts):
            return None
        data = self.statistics.for_kernel()
        terms = self.formula.kernel_terms(self.statistics.total, self.n_variables, self.statistics.grid)
        return None if data is None or terms is None else (*data, np.array(terms))

    def local(self, child: int, parents: Parents) -> float:
        """The score of one family, in nats; larger is better."""
        return float(self.many([(child, parents)])[0])

    def extensions(self, child: int, parents: Parents, candidates: Ints | Sequence[int]) -> Floats:
        """The score of (child, parents + candidate) for each candidate, counted in one pass."""
        candidates = np.asarray(candidates, dtype=np.int64)
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
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _evaluated_extensions(self, child: int, parents: Parents, candidates: Ints) -> Floats:
        try:
            return self.formula.evaluate(self.statistics.extensions(child, parents, candidates))
        except TooLargeError:
            more = [(child, tuple(sorted((*parents, candidate)))) for candidate in candidates.tolist()]
            return self._one_by_one(more)

    def many(self, families: Sequence[Family]) -> Floats:
        """The scores of many families; repeated ones are computed once."""
        return self._cache.fetch(families, self._computed)

    def _computed(self, fresh: Sequence[Family]) -> Floats:
        return np.concatenate(self._run(self._evaluated, self._batches(fresh)))

    def _evaluated(self, families: Sequence[Family]) -> Floats:
        try:
            return self.formula.evaluate(self.statistics.many(families))
        except TooLargeError:
            return self._one_by_one(families)

    def _one_by_one(self, families: Sequence[Family]) -> Floats:
        """The scores of families among which some are too large to be counted: minus infinity in a search."""
        scores = np.full(len(families), -np.inf)
        for i, family in enumerate(families):
            try:
                scores[i] = self.formula.evaluate(self.statistics.many([family]))[0]
            except TooLargeError as error:
                self.hooks.too_large(error)
        return scores

    # ---- splitting work

    def _slices(self, child: int, parents: Parents, candidates: Ints) -> list[Ints]:
        """Candidates in slices of bounded memory, at least one a worker where the work is large."""
        cells = self._cells(child, parents)
        most = max(1, min(BATCH_CELLS // (4 * cells), self._piece(cells)))
        if self._rows * len(candidates) > SPLIT_ROWS:
            most = min(most, -(-len(candidates) // self.workers))
        return [candidates[begin : begin + most] for begin in range(0, len(candidates), most)]

    def _batches(self, families: Sequence[Family]) -> list[Sequence[Family]]:
        """Families in batches of bounded memory, several a worker where the work is large."""
        most = len(families)
        if self._rows * len(families) > SPLIT_ROWS:
            most = -(-len(families) // (4 * self.workers))
        batches: list[Sequence[Family]] = []
        begin, cells, work = 0, 0, 0.0
        for i, (child, parents) in enumerate(families):
            size = self._cells(child, parents)
            share = 1 / self._piece(size)
            if i > begin and (cells + size > BATCH_CELLS or i - begin >= most or work + share > 1):
                batches.append(families[begin:i])
                begin, cells, work = i, 0, 0.0
            cells += size
            work += share
        return [*batches, families[begin:]]

    def _piece(self, cells: int) -> int:
        """How many families with tables of about this size make one piece of work."""
        return max(1, PIECE_ROWS // (self._rows * (SPARSE_COST if cells > self._rows else 1)))

    def _cells(self, child: int, parents: Parents) -> int:
        """Cells of the family's table, as far as they matter for the size of a batch."""
        return min(self.statistics.cells(child, parents), BATCH_CELLS)

    def _run(self, work: Callable[[Any], Floats], items: list[Any]) -> list[Floats]:
        """The work on each item, on all cores; between two of them the run may be ended."""
        found = []
        if len(items) == 1 or self.workers == 1:
            for item in items:
                self.hooks.between()
                found.append(work(item))
            return found
        waiting = [_pool(self.workers).submit(work, item) for item in items]
        try:
            for one in waiting:
                found.append(one.result())
                self.hooks.between()
        finally:
            for one in waiting:
                one.cancel()
        return found


def check_workers(workers: int | None) -> int:
    """The number of threads: every core this process may use unless said otherwise."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if workers < 1:
        raise SettingError(f"workers must be at least 1, not {workers}")
    return workers


@lru_cache(maxsize=4)
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="bayescout")


if hasattr(os, "register_at_fork"):
    # A forked process inherits the pool but not its threads, and would wait for them for ever.
    os.register_at_fork(after_in_child=_pool.cache_clear)
