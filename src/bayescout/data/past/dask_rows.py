"""Rows on a Dask cluster: each partition is encoded once, by the worker that has it, and stays there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.about_rows import NOTHING_SAID
from bayescout.data.absent import MISSING
from bayescout.data.assemble import Settled, assemble, check_policy
from bayescout.data.columns import Column, check_declarations
from bayescout.data.declared import DeclaredStates, Kinds, chosen
from bayescout.data.kinds import Numbers, Present
from bayescout.data.past import dask_partition as there
from bayescout.data.past.batches import evaluating
from bayescout.data.past.budget import Budget
from bayescout.data.past.dask_table import DaskTable, is_of_cluster, on_cluster, submitted, task_keys
from bayescout.data.past.files import check_same
from bayescout.data.past.sources import (
    COLUMNAR,
    one_file,
    partly_floats,
    paths_of,
    refuse_repeated,
    tell_of_folders,
)
from bayescout.data.past.stored import StoredColumn
from bayescout.data.pieces import settle_times
from bayescout.data.table import Label, MissingPolicy
from bayescout.errors import DataError, FormatError, MissingExtraError, MissingValueError, SettingError
from bayescout.graph.labels import quoted
from bayescout.wording import setting

if TYPE_CHECKING:
    from bayescout.arrays import Floats, Ints


def is_dask(data: Any) -> bool:
    """Return True for a Dask dataframe."""
    module = type(data).__module__.split(".")[0]
    return module in ("dask", "dask_expr") and hasattr(data, "to_delayed") and hasattr(data, "_meta")


def dask_names(data: Any) -> list[Label]:
    """The names of the columns of a Dask dataframe."""
    return list(data._meta.columns.tolist())


@on_cluster()
def read_dask(
    data: Any,
    client: Any = None,
    kinds: Kinds | None = None,
    states: DeclaredStates | None = None,
    missing: MissingPolicy = "keep",
    columns: Sequence[Any] | None = None,
    drop: Sequence[Any] | None = None,
) -> DaskTable:
    """The table of a Dask dataframe, or of files that the workers can read; its rows stay on the workers."""
    check_policy(missing)
    client = client if client is not None else _client()
    sources, names, paths = _sources(data, client)
    checked_kinds, checked = check_declarations(names, kinds, states, NOTHING_SAID)
    wanted = chosen(names, columns, (), drop)
    reading = Reading(
        client, sources, there.Asked(wanted, checked_kinds, checked, columns is not None), paths
    )
    merged = [
        Merged(reading, place, name, checked_kinds.get(name), checked.get(name))
        for place, name in enumerate(wanted)
    ]
    return assemble(merged, missing, NOTHING_SAID, reading.table, reading.kept)  # type: ignore[return-value]


def _client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        raise MissingExtraError("distributed", "dask") from None
    try:
        return get_client()
    except ValueError:
        raise SettingError(
            "rows on Dask are counted by the workers of a cluster, and none is connected: "
            "client = distributed.Client(...) first, or engine=bs.DaskEngine(client)"
        ) from None


def _sources(data: Any, client: Any) -> tuple[list[Any], list[Any], list[Path]]:
    """One source per partition, the names of the columns, and the paths if the sources are files."""
    if is_dask(data):
        return list(client.compute(data.to_delayed())), dask_names(data), []
    paths = paths_of(data) or one_file(data)
    if paths is None:
        if isinstance(data, str | os.PathLike):
            raise FormatError(
                f"workers read files of these kinds: {', '.join(COLUMNAR)}; this is none, or is not there: "
                f"write text as Parquet with bayescout.write_table",
                path=data,
            )
        raise DataError(f"a {type(data).__name__} has no partitions: give a Dask dataframe, or Parquet files")
    tell_of_folders(data, paths)
    refuse_repeated(paths)
    types = submitted(client, "types", _types_of, paths[0]).result()
    return list(paths), list(types), paths


def _types_of(path: Path) -> dict[str, str]:
    return there.read_file(path, [Column("", None)], frozenset())


class Reading:
    """Partitions as their workers have encoded them.

    cells   of each, as a future
    facts   what is known of each
    files   True if partitions are files
    """

    def __init__(
        self, client: Any, sources: Sequence[Any], asked: there.Asked, paths: Sequence[Path]
    ) -> None:
        self.client, self.asked, self.files = client, asked, bool(paths)
        self.cells = [
            client.submit(there.encoded, one, i, asked, key=key)
            for i, (one, key) in enumerate(zip(sources, task_keys("encode", len(sources)), strict=True))
        ]
        told = nullcontext() if paths else evaluating("the Dask dataframe", "its .compute()")
        with told, on_cluster():
            self.facts: list[there.Facts] = self._gathered(there.facts_of, self.cells)
        for path, own in zip(paths, self.facts, strict=False):
            check_same(paths[0], self.facts[0].types, path, own.types)
        self._make_floats(sources)

    def _make_floats(self, sources: Sequence[Any]) -> None:
        """Read partitions again in which a column has whole numbers that has floats in others."""
        floats = partly_floats([own.types for own in self.facts]) & set(self.asked.names)
        for i, own in enumerate(self.facts):
            some = frozenset(name for name in floats if not own.types[name].startswith("Float"))
            if some:
                asked = self.asked._replace(floats=some)
                (key,) = task_keys("encode", 1)
                self.cells[i] = self.client.submit(there.encoded, sources[i], i, asked, key=key)
                self.facts[i] = submitted(self.client, "facts", there.facts_of, self.cells[i]).result()

    def _gathered(self, work: Callable[..., Any], cells: Sequence[Any]) -> list[Any]:
        asked = [submitted(self.client, "facts", work, one) for one in cells]
        try:
            found: list[Any] = self.client.gather(asked)
        except Exception as error:
            if not is_of_cluster(error):  # of several partitions, the first is told of, not the quickest
                for one in asked:
                    one.result()
            raise
        return found

    def are_consecutive(self, column: Merged, low: float) -> bool:
        """Return True if the whole numbers of a column are those from `low` on, each once."""
        rows = [own.rows - column.missing_in(i) for i, own in enumerate(self.facts)]
        begins = np.cumsum([low, *rows]).tolist()
        marks = [
            submitted(self.client, "facts", there.numbering_of, one, column.place, lookup, begin)
            for one, lookup, begin in zip(self.cells, column.lookups(None), begins, strict=False)
        ]
        return not np.sum(self.client.gather(marks), axis=0, dtype=np.uint64).any()

    def kept(self, columns: Sequence[Any]) -> Kept:
        """The rows that have all cells of these columns."""
        masks = [
            submitted(
                self.client, "complete", there.complete, one, [(own.place, own.gone(i)) for own in columns]
            )
            for i, one in enumerate(self.cells)
        ]
        return Kept(masks, self._gathered(there.counts_of, masks))

    def table(self, settled: Settled) -> DaskTable:
        """The table of settled columns; partitions get their final codes where they are."""
        _refuse_missing(settled)
        kept: Kept | None = settled.keep
        heights = [own.rows for own in self.facts] if kept is None else kept.rows
        dtype = np.dtype(settled.code_type).str
        stored, finish, places = [], [], [0, 0]
        for place, column in enumerate(settled.columns):
            assert isinstance(column, Merged)
            numbers = settled.states[place] is None
            lookups = column.lookups(None if numbers else settled.lookup(place))
            finish.append([there.Finish(column.place, numbers, one) for one in lookups])
            counts = None if numbers else column.final_counts(settled, place, lookups)
            kind = np.dtype(np.float64).str if numbers else dtype
            stored.append(StoredColumn(Path(), kind, counts, place=places[numbers]))
            places[numbers] += 1
        keys = task_keys("codes", len(self.cells))
        masks = [None] * len(self.cells) if kept is None else kept.masks
        parts = [
            self.client.submit(
                there.finished, one, mask, list(own), dtype, i, self.facts[i].digest, key=keys[i]
            )
            for i, (one, mask, own) in enumerate(
                zip(self.cells, masks, zip(*finish, strict=True), strict=True)
            )
        ]
        table = object.__new__(DaskTable)
        table.__dict__.update(
            interventions=None, weights=None, copies=1,
            names=tuple(column.name for column in settled.columns), states=tuple(settled.states),
            missing=settled.report, notes=settled.notes, stored=tuple(stored), budget=Budget.of(None),
            stored_rows=settled.n_rows, client=self.client, partitions=tuple(parts), heights=tuple(heights),
        )  # fmt: skip
        return self._with_limits(table, kept)

    def _with_limits(self, table: DaskTable, kept: Kept | None) -> DaskTable:
        """The table with the limits of its continuous columns, which must be finite."""
        low, high, bad = table.limits_there()
        names = [name for name, own in zip(table.names, table.states, strict=True) if own is None]
        if bad:
            row, place = min(bad, key=lambda one: (one[1], one[0]))
            raise DataError(
                f"column {names[place]!r} has a value that is not finite, first in row "
                f"{self._row_given(row, kept)} (counting from 0): continuous values must be finite; clip it, "
                f"or leave the row out"
            )
        stored = [
            one if one.counts is not None else one._replace(low=low[one.place], high=high[one.place])
            for one in table.stored
        ]
        table.__dict__["stored"] = tuple(stored)
        return table

    def _row_given(self, row: int, kept: Kept | None) -> int:
        """The number that a row of the table has among all rows, of which some may be left out."""
        if kept is None:
            return row
        ends = np.cumsum([0, *kept.rows])
        part = int(np.searchsorted(ends, row, side="right")) - 1
        own = submitted(self.client, "rows", there.nth_kept, kept.masks[part], row - int(ends[part]))
        return sum(one.rows for one in self.facts[:part]) + int(own.result())


def _refuse_missing(settled: Settled) -> None:
    found = settled.report.counts
    if settled.policy == "keep" and found:
        raise MissingValueError(
            f"columns with missing cells: {quoted([name for name, _ in found], 6)}; drawing them needs all "
            f"rows in one place: {setting('missing', 'drop')} leaves such rows out, "
            f"{setting('missing', 'state')} gives missing cells of discrete columns a state"
        )


class Kept:
    """The rows without missing cells, as masks on the workers.

    rows    how many, in each partition
    counts  of the provisional codes of each column, in each partition
    """

    def __init__(self, masks: list[Any], found: Sequence[tuple[int, list[Ints]]]) -> None:
        self.masks = masks
        self.rows = [rows for rows, _ in found]
        self.counts = [counts for _, counts in found]

    def sum(self) -> int:
        return sum(self.rows)


class Merged(Column):
    """A column known by how many rows have each value, partition by partition.

    `chunks` has the codes of a partition's distinct values, or `floats` these as numbers; none where they are
    too many to list.
    """

    def __init__(self, reading: Reading, place: int, *given: Any) -> None:
        super().__init__(*given)
        self.reading, self.place = reading, place
        self.chosen = reading.asked.chosen
        self.facts = [own.columns[place] for own in reading.facts]
        self._rows = sum(own.rows for own in reading.facts)
        if not reading.files and any(
            own.states is None and part.rows for own, part in zip(self.facts, reading.facts, strict=True)
        ):  # values that are no categories in some partition are not declared by those of others
            self.facts = [own._replace(states=None) for own in self.facts]
        for own in self.facts:
            self._add(own)
        settle_times(self)

    def _add(self, own: there.ColumnFacts) -> None:
        if own.states is not None:
            self.take_states(own.states)
        if own.abandoned and not self.abandoned:
            self.values = [*self.values, *own.values][:100]
            self.abandon()
        if self.abandoned:
            return
        if own.numbers:
            self.add_floats(np.array(own.values, dtype=np.float64))
            self.durations |= own.durations
        else:
            self.add_coded(own.values, np.arange(len(own.values)))

    @property
    def n_rows(self) -> int:
        return self._rows

    def count_missing(self) -> int:
        return 0 if self.abandoned else sum(map(self.missing_in, range(len(self.facts))))

    def missing_in(self, partition: int) -> int:
        """The missing cells of one partition."""
        own = self.facts[partition]
        return own.wide.missing if own.wide is not None else int(own.counts[self._gone(partition)].sum())

    def _gone(self, partition: int) -> NDArray[np.bool_]:
        """Which of the distinct values of a partition mean missing."""
        if self.floats is not None:
            return np.isnan(self.floats[partition])
        return np.asarray(self.chunks[partition] == self._index.get(MISSING, -1))

    def gone(self, partition: int) -> Ints:
        """The provisional codes of a partition that mean missing."""
        return np.flatnonzero(self._gone(partition))

    def numbers(self) -> Numbers:
        return Spread(self)

    def occurring(self, keep: Any) -> list[Any]:
        seen = np.zeros(len(self.values), dtype=np.bool_)
        for chunk, counts in zip(self.chunks, keep.counts, strict=True):
            seen[chunk[counts[self.place] > 0]] = True
        return [value for value, hit in zip(self.values, seen.tolist(), strict=True) if hit]

    def lookups(self, final: NDArray[Any] | None) -> list[NDArray[Any] | None]:
        """What each provisional code of each partition becomes; None for floats that stay."""
        if final is not None:
            return [final[chunk] for chunk in self.chunks]
        assert self.floats is not None
        pairs = zip(self.facts, self.floats, strict=True)
        return [None if own.numbers else floats for own, floats in pairs]

    def final_counts(self, settled: Settled, place: int, lookups: Sequence[Any]) -> Ints:
        """How many rows have each state."""
        found = np.zeros(len(settled.states[place] or ()), dtype=np.int64)
        for i, codes in enumerate(lookups):
            sizes = self.facts[i].counts if settled.keep is None else settled.keep.counts[i][self.place]
            np.add.at(found, codes, sizes)
        return found


class Spread:
    """The numbers of a column, from what each worker says of its own."""

    def __init__(self, column: Merged) -> None:
        self.column = column
        self.wide = [own.wide for own in column.facts if own.wide is not None]
        self.listed = Present(column.floats or ())
        self.rows = column.n_rows - column.count_missing()

    def have_decimals(self) -> bool:
        return any(own.decimals for own in self.wide) or self.listed.have_decimals()

    def distinct(self, most: int) -> Floats | None:
        return None if self.wide else self.listed.distinct(most)

    def limits(self) -> tuple[float, float]:
        found = [(own.low, own.high) for own in self.wide]
        if self.listed.rows:
            found.append(self.listed.limits())
        return min(low for low, _ in found), max(high for _, high in found)

    def far_nines(self) -> float | None:
        return None if self.wide else self.listed.far_nines()

    def are_consecutive(self, low: float) -> bool:
        return self.column.reading.are_consecutive(self.column, low)
