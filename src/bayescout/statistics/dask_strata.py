"""Columns of both kinds on a cluster: the matrices of strata, to the bit those of the same rows in memory.

Sums within a stratum are over its rows in their order, so a partition goes on with the sums of the one before
it. Sets of discrete columns are summed apart from one another: while one set is at the second partition,
another is at the first, and workers have much to do at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints, Parents
from bayescout.data.past.dask_partition import Block
from bayescout.data.past.dask_table import SUMMED_AT_ONCE, DaskTable, on_cluster, task_keys
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.occurring import Occurring, merged, occurring_in, unpacked
from bayescout.statistics.stored_covariance import Shift
from bayescout.statistics.stored_strata import Step, numbered
from bayescout.statistics.strata import (
    MEMORY_BYTES,
    MOST_BYTES,
    WHOLE_COLUMNS,
    HasBytes,
    Scatters,
    StrataMemory,
    most_numbers,
    require_room,
)

GROUPS_PER_THREAD = 2
"""Sets of discrete columns are summed in so many groups per thread of the cluster, at most."""

ASKED_BYTES = 4 * MEMORY_BYTES
"""Memory for matrices that are asked for together, and for those that are remembered."""

Made = TypeVar("Made", bound=HasBytes)

Unit = Callable[[Floats, Any], Floats]
"""A function of centred columns, (columns, rows), and of which these are."""


class Prepared(NamedTuple):
    """The rows of a partition, which stay on its worker: codes, and centred floats, (rows, columns)."""

    codes: NDArray[Any]
    rows: Floats


class Numbering(NamedTuple):
    """How the configurations of discrete columns are numbered; no steps if they are too many."""

    steps: list[Step] | None
    distinct: int


class Job(NamedTuple):
    """Sums that are asked for: by configuration of some discrete columns, of some continuous ones or all.

    numbering  if it does not depend on the configurations that occur
    """

    discrete: Parents
    columns: Ints | None
    numbering: Numbering | None


Sums = tuple[Ints, Floats, Floats]
"""Rows, weights, and sums of the columns, by configuration."""


class PreparedParts:
    """The partitions of a table with columns of both kinds, ready for sums by configuration."""

    def __init__(self, discrete: DaskTable, continuous: DaskTable, shift: Shift, unit: Unit) -> None:
        self.client = discrete.client
        self.shape = continuous.n_rows, continuous.n_columns
        self.cards: list[int] = discrete.cardinalities.tolist()
        work = partial(
            _prepared,
            codes=discrete.places(range(discrete.n_columns)),
            values=continuous.places(range(continuous.n_columns)),
            shift=shift,
            unit=unit,
        )
        used = [part for part, rows in zip(discrete.partitions, discrete.heights, strict=True) if rows]
        self.parts = self.client.map(work, used, key=task_keys("centred", len(used)), priority=1)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        self._groups = GROUPS_PER_THREAD * max(1, sum(worker["nthreads"] for worker in workers))

    @on_cluster()
    def begun(self, jobs: Sequence[Job], products: bool) -> list[tuple[list[Job], list[Any]]]:
        """The work of all jobs, in groups, and the futures of what each comes to.

        Those are the numberings and the sums, and if `products` are asked for the scatter matrices.
        """
        count = min(len(jobs), len(self.parts), self._groups)
        groups = [list(jobs[i::count]) for i in range(count)]
        numberings = [self._numbered(group) for group in groups]
        sums = self._passed("sums", _summed, groups, numberings, [[]] * count)
        found: list[list[Any]] = [numberings, sums]
        if products:
            means = self.client.map(_means, sums, key=task_keys("means", count))
            found.append(self._passed("products", _multiplied, groups, numberings, means))
        return list(zip(groups, [list(own) for own in zip(*found, strict=True)], strict=True))

    def _passed(
        self, name: str, work: Any, groups: list[list[Job]], numberings: list[Any], given: list[Any]
    ) -> list[Any]:
        """The futures of sums that go from one partition to the next, one for each group."""
        level: list[Any] = [None] * len(groups)
        for part in self.parts:
            several = [part] * len(groups)
            keys = task_keys(name, len(groups))
            level = self.client.map(work, several, groups, numberings, given, level, key=keys)
        return level

    def _numbered(self, jobs: list[Job]) -> Any:
        """The numberings of some jobs; a future, if some depend on the configurations that occur."""
        if all(job.numbering is not None for job in jobs):
            return [job.numbering for job in jobs]
        found: list[Any] = []
        for job in jobs:
            if job.numbering is not None:
                found.append(job.numbering)
                continue
            cards = [self.cards[v] for v in job.discrete]
            columns = self.shape[1] if job.columns is None else len(job.columns)
            most = MOST_BYTES // (8 * max(1, columns) ** 2)
            level = self.client.map(
                partial(_occurring, discrete=job.discrete, cards=cards, most=most),
                self.parts,
                key=task_keys("occurring", len(self.parts)),
            )
            while len(level) > 1:
                some = [level[i : i + SUMMED_AT_ONCE] for i in range(0, len(level), SUMMED_AT_ONCE)]
                level = self.client.map(partial(_merged, most=most), some, key=task_keys("sum", len(some)))
            (key,) = task_keys("sum", 1)
            numbers = most_numbers(self.shape[0])
            found.append(self.client.submit(_numbering, level[0], cards, numbers, key=key))
        (key,) = task_keys("sum", 1)
        return self.client.submit(_same, found, key=key)

    @on_cluster()
    def sums_by_state(self) -> list[Floats]:
        """By discrete column, (states, columns): the sums of the continuous columns over the rows of each."""
        jobs = [Job((v,), None, Numbering([Step(r, None)], r)) for v, r in enumerate(self.cards)]
        found: dict[Parents, Floats] = {}
        for group, (_, future) in self.begun(jobs, products=False):
            found |= {job.discrete: own[2] for job, own in zip(group, future.result(), strict=True)}
        return [found[v,] for v in range(len(self.cards))]


class DaskStrata(StrataMemory[Made]):
    """The matrices of sets of discrete variables whose rows are on a cluster.

    round_trips  how often matrices were asked for
    """

    def __init__(
        self,
        discrete: DaskTable,
        counts: DiscreteStatistics,
        rows: PreparedParts,
        make: Callable[[Scatters], Made],
    ) -> None:
        super().__init__(discrete, counts, rows, make)
        self.prepared, self.client = rows, discrete.client
        self.remembered = ASKED_BYTES
        self.round_trips = 0
        self._ready: dict[tuple[Parents, tuple[int, ...]], Made] = {}
        self._lock = threading.Lock()

    def begin(self, wanted: Iterable[tuple[Parents, Ints | None]]) -> list[tuple[list[Job], list[Any]]]:
        """Begin the matrices of several sets, as far as there is room for all together."""
        jobs: dict[Any, Job] = {}
        room = ASKED_BYTES
        for discrete, columns in wanted:
            key = discrete, None if columns is None else tuple(columns.tolist())
            if key in jobs or key in self._ready or (columns is None and discrete in self.known):
                continue
            job = self._job(discrete, columns)
            room -= self._most_bytes(job)
            if room < 0:
                break
            jobs[key] = job
        self.round_trips += bool(jobs)
        return self.prepared.begun(list(jobs.values()), products=True) if jobs else []

    @on_cluster()
    def finish(self, begun: Sequence[tuple[list[Job], list[Any]]]) -> None:
        """Wait for matrices that were begun, and keep them for `of`."""
        for (jobs, _), found in zip(begun, self.client.gather([own for _, own in begun]), strict=True):
            for i, job in enumerate(jobs):
                if found[1][i] is not None:
                    self._keep(job, self.make(self._scatters(job, *(own[i] for own in found[1:]))))

    def _keep(self, job: Job, made: Made) -> None:
        with self._lock:
            if job.columns is None:
                self._remember(job.discrete, made)
                return
            if sum(one.bytes for one in self._ready.values()) + made.bytes > ASKED_BYTES:
                self._ready = {}  # which costs a further round trip at most
            self._ready[job.discrete, tuple(job.columns.tolist())] = made

    def of(self, discrete: Parents, columns: Ints | None = None) -> Made:
        if columns is not None:
            with self._lock:
                ready = self._ready.pop((discrete, tuple(columns.tolist())), None)
            if ready is not None:
                return ready
        return super().of(discrete, columns)

    def totals(self, discrete: Parents) -> Floats:
        return self._computed(discrete, np.empty(0, dtype=np.int64)).totals

    def _all_at_once(self, discrete: Parents, families: int) -> bool:
        """Also where they are asked for once: one more round trip is dearer than the rest of the matrix."""
        columns = self.n_columns
        bound = min(self.counts.configurations(discrete), float(self.table.n_rows))
        return bool(columns <= WHOLE_COLUMNS and bound * columns * columns * 8 <= MEMORY_BYTES / 4)

    @on_cluster()
    def _computed(self, discrete: Parents, columns: Ints | None) -> Scatters:
        job = self._job(discrete, columns)
        v = self.n_columns if columns is None else len(columns)
        if job.numbering is not None:
            require_room(job.numbering.distinct, len(discrete), v, MOST_BYTES)
        self.round_trips += 1
        [(_, futures)] = self.prepared.begun([job], products=True)
        (numbering,), *found = self.client.gather(futures)
        if found[0][0] is None:
            require_room(numbering.distinct, len(discrete), v, MOST_BYTES)
        return self._scatters(job, *(own[0] for own in found))

    def _scatters(self, job: Job, sums: Sums, products: Floats) -> Scatters:
        sizes, totals, means = sums
        means, scatters = _divided(totals, means), products.copy()
        one, other = np.tril_indices(scatters.shape[1], -1)
        scatters[:, other, one] = scatters[:, one, other]
        return Scatters(job.columns, sizes, totals, means, scatters)

    def _job(self, discrete: Parents, columns: Ints | None) -> Job:
        steps, distinct = [], 1
        for v in discrete:
            steps.append(Step(self.prepared.cards[v], None))
            distinct *= steps[-1].states
            if distinct > most_numbers(self.table.n_rows):
                return Job(discrete, columns, None)
        return Job(discrete, columns, Numbering(steps, distinct))

    def _most_bytes(self, job: Job) -> int:
        bound = min(self.counts.configurations(job.discrete), float(self.table.n_rows))
        columns = self.n_columns if job.columns is None else len(job.columns)
        return int(8 * bound * max(1, columns) ** 2)


# ---- on the workers


def _prepared(
    block: Block, codes: Sequence[int], values: Sequence[int], shift: Shift, unit: Unit
) -> Prepared:
    centred = unit(shift.of(block.values[list(values)]), np.arange(len(values)))
    return Prepared(block.codes[list(codes)], np.ascontiguousarray(centred.T))


def _taken(part: Prepared, job: Job, numbering: Numbering) -> tuple[Ints, Floats]:
    """The configuration of each row, and the columns that are summed."""
    assert numbering.steps is not None
    rows = part.rows if job.columns is None else np.ascontiguousarray(part.rows[:, job.columns])
    return numbered(part.codes[list(job.discrete)], numbering.steps), rows


def _summed(
    part: Prepared,
    jobs: Sequence[Job],
    numberings: Sequence[Numbering],
    _given: Any,
    before: Sequence[Sums | None] | None,
) -> list[Sums | None]:
    """The sums of each job over the rows so far; None where configurations are too many."""
    from bayescout.kernels.strata import add_sums

    found: list[Sums | None] = []
    for i, (job, numbering) in enumerate(zip(jobs, numberings, strict=True)):
        if numbering.steps is None:
            found.append(None)
            continue
        numbers, rows = _taken(part, job, numbering)
        known = None if before is None else before[i]
        if known is None:
            q = numbering.distinct
            sums: Sums = np.zeros(q, dtype=np.int64), np.zeros(q), np.zeros((q, rows.shape[1]))
        else:  # the results of tasks stay as they are: another task may begin with them again
            sums = known[0].copy(), known[1].copy(), known[2].copy()
        add_sums(rows, numbers, np.empty(0), *sums)
        found.append(sums)
    return found


def _means(sums: Sequence[Sums | None]) -> list[Floats | None]:
    return [None if own is None else _divided(own[1], own[2]) for own in sums]


def _divided(totals: Floats, sums: Floats) -> Floats:
    means, occurring = sums.copy(), totals > 0.0
    means[occurring] /= totals[occurring, None]
    return means


def _multiplied(
    part: Prepared,
    jobs: Sequence[Job],
    numberings: Sequence[Numbering],
    means: Sequence[Floats | None],
    before: Sequence[Floats | None] | None,
) -> list[Floats | None]:
    """The sums of centred products of each job over the rows so far, in the lower triangle."""
    from bayescout.kernels.strata import add_scatters

    found: list[Floats | None] = []
    for i, (job, numbering, own) in enumerate(zip(jobs, numberings, means, strict=True)):
        if own is None:
            found.append(None)
            continue
        numbers, rows = _taken(part, job, numbering)
        known = None if before is None else before[i]
        scatters = np.zeros((*own.shape, own.shape[1])) if known is None else known.copy()
        add_scatters(rows, numbers, np.empty(0), own, scatters)
        found.append(scatters)
    return found


def _occurring(part: Prepared, discrete: Parents, cards: Sequence[int], most: int) -> Occurring | int:
    found = occurring_in(part.codes[list(discrete)], cards, 1)
    return len(found[0]) if len(found[0]) > most else found


def _merged(parts: Sequence[Occurring | int], most: int) -> Occurring | int:
    """The configurations of several partitions, or how many they are at least if too many."""
    found = parts[0]
    for more in parts[1:]:
        if isinstance(found, int) or isinstance(more, int):
            return max(own for own in (found, more) if isinstance(own, int))
        found = merged(found, more)
        if len(found[0]) > most:
            return len(found[0])
    return found


def _numbering(found: Occurring | int, cards: Sequence[int], most: int) -> Numbering:
    """How configurations are numbered, as in memory, from those that occur."""
    if isinstance(found, int):
        return Numbering(None, found)
    codes = unpacked(found[0], cards, np.dtype(np.int64))
    steps: list[Step] = []
    distinct = 1
    for place, states in enumerate(cards):
        steps.append(Step(states, None))
        distinct *= states
        if distinct > most:
            occurring = np.unique(numbered(codes[: place + 1], steps))
            distinct = len(occurring)
            steps[-1] = steps[-1]._replace(occurring=occurring)
    return Numbering(steps, distinct)


def _same(found: Any) -> Any:
    return found
