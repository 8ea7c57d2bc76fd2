"""Scan rows past memory: every cell is read once, into codes that stay on disk where memory is too small."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayescout.data.about_rows import AboutRows
from bayescout.data.absent import Marks
from bayescout.data.assemble import assemble, check_policy
from bayescout.data.cells import add_source
from bayescout.data.columnar import open_columnar
from bayescout.data.columns import Column, check_declarations
from bayescout.data.declared import DeclaredStates, Kinds, chosen, listed
from bayescout.data.past import cache
from bayescout.data.past.batches import Batches, batches_in
from bayescout.data.past.budget import Budget, in_units
from bayescout.data.past.sources import (
    READER_SHARE,
    Files,
    Source,
    one_file,
    paths_of,
    refuse_repeated,
    tell_of_folders,
)
from bayescout.data.past.spill import NotPlain, SpilledColumn
from bayescout.data.past.stored import CELL, FLOAT, StoredTable
from bayescout.data.pieces import settle_times
from bayescout.data.table import MissingPolicy, Table
from bayescout.errors import DataError, SettingError

FORM = 1
"""The form of the journal; another form is not read."""

NOTED_EVERY = 2.0
"""Seconds between two entries in the journal."""

ON_DISK, FLOAT_ON_DISK = 3, 17
"""Bytes on disk of a code and of a float: as read, in its final form, and in bitmaps."""


@dataclass(frozen=True)
class Declared:
    """The user's declarations, with which `as_table` was called."""

    kinds: Any = None
    states: Any = None
    missing: MissingPolicy = "keep"
    weights: Any = None
    missing_values: Any = None
    columns: Sequence[Any] | None = None
    drop: Sequence[Any] | None = None
    interventions: Any = None

    @property
    def key(self) -> str:
        """What of them decides how cells are read."""
        return repr((self.kinds, self.states, self.columns, self.drop))


def is_past(data: Any, memory: Any = None) -> bool:
    """Return True for data that this module reads: several files, or rows that come in batches.

    A single Parquet or Arrow file is, too, if it says how much memory may be taken.
    """
    if paths_of(data) is not None or batches_in(data) is not None:
        return True
    return memory is not None and one_file(data) is not None


def names_past(data: Any) -> list[Any] | None:
    """The column names of data that this module reads; None for other data."""
    batches = batches_in(data)
    if batches is not None:
        return list(batches.types)
    paths = paths_of(data)
    if paths is None:
        return None
    with open_columnar(paths[0]) as source:
        return list(source.names)


def read_past(
    data: Any,
    kinds: Kinds | None = None,
    states: DeclaredStates | None = None,
    missing: MissingPolicy = "keep",
    weights: Any = None,
    missing_values: Sequence[Any] | None = None,
    columns: Sequence[Any] | None = None,
    drop: Sequence[Any] | None = None,
    interventions: Any = None,
    memory: int | float | str | None = None,
) -> Table:
    """The table of rows that may be past memory; the arguments are those of `as_table`.

    memory  the most that this process and its reader may have resident: bytes, or a text such as "2 GB"; by
            default what it holds and half of what is free. Cells that fit are in memory, others on disk
    """
    check_policy(missing)
    declared = Declared(kinds, states, missing, weights, missing_values, columns, drop, interventions)
    budget = Budget.of(memory)
    paths = paths_of(data) or one_file(data)
    if paths is None:
        source = batches_in(data)
        assert source is not None
        return _read(source, declared, budget)
    tell_of_folders(data, paths)
    refuse_repeated(paths)
    with Files(paths, int(budget.spare * READER_SHARE)).opened() as files:
        return _read(files, declared, budget)


def _read(source: Files | Batches, declared: Declared, budget: Budget) -> Table:
    """The table of a source, in memory or on disk."""
    plan = Plan(source, declared)
    if not source.rows:
        raise DataError("the data have no rows: at least one is needed")
    if plan.bytes_in_memory <= budget.spare // 2:
        if isinstance(source, Batches):
            return _whole(plan, source)
        return _scanned(plan, [Column(name, *plan.of_column(name)) for name in plan.names])
    plan.require_disk(budget)
    return _on_disk(plan, budget)


class Plan:
    """The columns to read from a source and their declarations."""

    def __init__(self, source: Source, declared: Declared) -> None:
        self.source, self.declared = source, declared
        names = list(source.types)
        self.about = AboutRows.of(declared.weights, declared.interventions, names)
        self.kinds, self.states = check_declarations(names, declared.kinds, declared.states, self.about)
        self.names = chosen(names, declared.columns, self.about.columns, declared.drop)
        self.marks = Marks(listed(declared.missing_values), asked=declared.missing_values is not None)
        self.noted: set[Any] = set()
        seal = source.seal()
        for kind, noted in (
            () if seal is None else (("discrete", seal.discrete), ("continuous", seal.continuous))
        ):
            for name in noted:
                if name in self.names and name not in self.kinds and name not in self.states:
                    self.kinds[name] = kind  # type: ignore[assignment]
                    self.noted.add(name)

    def of_column(self, name: Any) -> tuple[Any, Any, Marks]:
        return self.kinds.get(name), self.states.get(name), self.marks

    def mark(self, columns: Sequence[Column]) -> None:
        """Note in the columns that they were asked for, or that the file itself gives their kind."""
        for column in columns:
            column.chosen = self.declared.columns is not None
            if column.name in self.noted:
                column.origin = "as the file was written"

    @property
    def _floats(self) -> int:
        kinds = [self.source.types[name].lower() for name in self.names]
        return sum(kind.startswith(("float", "double", "real", "decimal")) for kind in kinds)

    @property
    def bytes_in_memory(self) -> int:
        """About the memory of reading, ordering and counting the whole."""
        cells = CELL * (len(self.names) - self._floats) + FLOAT * self._floats
        return self.source.rows * (cells + self.source.cell * len(self.source.types))

    def require_disk(self, budget: Budget) -> None:
        """Refuse, before the scan, what cannot be kept on disk."""
        said = f"{self.source.rows:,} rows by {len(self.names):,} columns, past memory"
        if self.declared.weights is not None or self.declared.interventions is not None:
            what = "weights" if self.declared.weights is not None else "interventions"
            raise SettingError(
                f"{said} ({in_units(self.bytes_in_memory)} for {in_units(budget.spare)}), cannot have "
                f"{what}: leave them out, or give more memory="
            )
        cells = ON_DISK * (len(self.names) - self._floats) + FLOAT_ON_DISK * self._floats
        cache.require_room(self.source.rows * cells, said)


def _whole(plan: Plan, source: Batches) -> Table:
    """The table of rows that come in batches, read as one frame."""
    frame = source.whole()
    columns = [Column(name, *plan.of_column(name)) for name in plan.names]
    plan.mark(columns)
    for column in columns:
        add_source(column, frame[column.name])
    table = assemble(columns, plan.declared.missing, plan.about)
    plan.marks.warn()
    return table


def _scanned(plan: Plan, columns: Sequence[Column]) -> Table:
    """Read every unit of a source into columns in memory, and assemble them."""
    plan.mark(columns)
    for unit in plan.source.units(range(len(columns))):
        for _ in plan.source.read(unit, [columns[place] for place in unit.columns]):
            pass
    for column in columns:
        settle_times(column)
    table = assemble(columns, plan.declared.missing, plan.about)
    plan.marks.warn()
    return table


def _on_disk(plan: Plan, budget: Budget) -> StoredTable:
    """Scan into files of a folder, going on from where a killed or interrupted scan was."""
    source, key = plan.source, None
    if source.key is not None and not plan.marks.declared:
        key = hashlib.sha256(f"{FORM}{source.key}{plan.declared.key}".encode()).hexdigest()[:24]
    folder = cache.opened(key)
    columns = [SpilledColumn(folder, i, name, *plan.of_column(name)) for i, name in enumerate(plan.names)]
    journal = Journal(folder, columns, key is not None)
    try:
        plan.mark(columns)
        units = source.units(range(len(columns)))
        for number in range(journal.resumed(), len(units)):
            for _ in source.read(units[number], [columns[place] for place in units[number].columns]):
                pass
            journal.note(number + 1, last=number + 1 == len(units))
        for column in columns:
            settle_times(column)
        table = assemble(
            columns,
            plan.declared.missing,
            plan.about,
            lambda settled: _finished(settled, folder, budget),
        )
    except KeyboardInterrupt:
        folder.keep = journal.able
        size = in_units(folder.size)
        folder.release()
        kept = f"; the same call goes on from there ({size} in {folder.path})" if folder.keep else ""
        raise KeyboardInterrupt(f"stopped while scanning rows{kept}") from None
    except BaseException:
        folder.release()
        raise
    plan.marks.warn()
    assert isinstance(table, StoredTable)
    return table


def _finished(settled: Any, folder: cache.Folder, budget: Budget) -> StoredTable:
    """The final form of the columns; from here on the journal is of no use, since their cells are moved."""
    (folder.path / cache.JOURNAL).unlink(missing_ok=True)
    return StoredTable.made(settled, folder, budget)


class Journal:
    """What has been scanned, in a file beside the cells: the units that are done, and the columns then.

    able  True if the scan can be taken up: its source can be read from any unit on
    """

    def __init__(self, folder: cache.Folder, columns: Sequence[SpilledColumn], able: bool) -> None:
        self.folder, self.columns, self.able = folder, columns, able
        self.path = folder.path / cache.JOURNAL
        self._last = time.monotonic()

    def resumed(self) -> int:
        """The number of units that are done, with the columns as they were then; 0 to begin anew."""
        try:
            said: Any = json.loads(self.path.read_text(encoding="utf-8")) if self.able else None
            whole = said is not None and said["boot"] == _boot()
            if whole and all(SpilledColumn.is_whole(self.folder, own) for own in said["columns"]):
                for column, own in zip(self.columns, said["columns"], strict=True):
                    column.resume(own)
                return int(said["units"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        self._begin()
        return 0

    def _begin(self) -> None:
        """Remove what cannot be gone on with."""
        for path in self.folder.path.iterdir():
            if path.name != cache.LOCK:
                path.unlink(missing_ok=True)
        for column in self.columns:
            column.restart()

    def note(self, units: int, last: bool) -> None:
        """Note that so many units are done, every now and then."""
        if not self.able or (not last and time.monotonic() - self._last < NOTED_EVERY):
            return
        try:
            said = {"boot": _boot(), "units": units, "columns": [column.to_json() for column in self.columns]}
        except NotPlain:
            self.able = False
            self.path.unlink(missing_ok=True)
            return
        beside = self.path.with_suffix(".new")
        try:
            beside.write_text(json.dumps(said), encoding="utf-8")
            os.replace(beside, self.path)
        except OSError as error:
            raise cache.disk_full(self.path, error) from error
        self._last = time.monotonic()


def _boot() -> str:
    """Tells one run of the machine from the next: what was not on the disk yet is lost with the power."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""
