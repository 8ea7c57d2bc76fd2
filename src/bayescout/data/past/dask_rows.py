"""Rows on a Dask cluster: each partition is encoded once, by the worker that has it, and stays there."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.data.about_rows import NOTHING_SAID
from bayescout.data.assemble import Settled, assemble, check_policy
from bayescout.data.cells import add_source
from bayescout.data.columns import CATEGORICAL, Column, check_declarations, code_type
from bayescout.data.declared import DeclaredStates, Kinds, chosen
from bayescout.data.past.budget import Budget
from bayescout.data.past.files import check_same
from bayescout.data.past.sources import Files, paths_of
from bayescout.data.past.stored import StoredColumn, StoredTable, cell_counts
from bayescout.data.pieces import settle_times
from bayescout.data.table import Label, MissingPolicy
from bayescout.errors import DataError, MissingExtraError, MissingValueError, SettingError
from bayescout.graph.labels import quoted
from bayescout.wording import setting

READER_BYTES = 1 << 30
"""Memory of the process that reads a file for a worker, at most."""


class Facts(NamedTuple):
    """What a worker says of one partition.

    values  of each column, in order of their provisional codes, and `counts` how many rows have each
    states  of each column, if its own type lists them
    types   of the columns of a file, to be compared
    """

    rows: int
    values: list[list[Any]]
    counts: list[NDArray[np.int64]]
    states: list[Any]
    floats: list[Label]
    types: dict[str, str]


@dataclass(frozen=True)
class Cells:
    """The provisional codes of one partition, which stay on its worker."""

    codes: NDArray[Any]
    facts: Facts


# ---- on the workers


def encoded(source: Any, names: Sequence[Label], kinds: dict[Any, Any], states: dict[Any, Any]) -> Cells:
    """The codes of one partition: a frame, or the path of a file."""
    columns = [Column(name, kinds.get(name), states.get(name)) for name in names]
    types: dict[str, str] = {}
    if isinstance(source, Path):
        types = _read_file(source, columns)
    else:
        for column in columns:
            add_source(column, source[column.name])
    values, codes, counts = [], [], []
    floats = [column.name for column in columns if column.floats is not None]
    for column in columns:
        settle_times(column)
        own = np.concatenate([*column.chunks, np.empty(0, dtype=np.uint8)])
        values.append(list(column.values))
        codes.append(own if column.floats is None else np.empty(0, dtype=np.uint8))
        counts.append(np.bincount(own.astype(np.int64), minlength=len(column.values)))
    listed = [column.states if column.origin == CATEGORICAL else None for column in columns]
    rows = columns[0].n_rows
    facts = Facts(rows, values, counts, listed, floats, types)
    kind = code_type(max((len(own) for own in values), default=0))
    whole = np.zeros((len(columns), rows), dtype=kind)
    for out, own in zip(whole, codes, strict=True):
        if len(own):
            out[:] = own
    return Cells(whole, facts)


def _read_file(path: Path, columns: Sequence[Column]) -> dict[str, str]:
    """Add the cells of a file to the columns; the types of all its columns."""
    with Files([path], READER_BYTES, may_be_empty=True).opened() as files:
        missing = [column.name for column in columns if column.name not in files.types]
        if not missing:
            for unit in files.units(range(len(columns))):
                for _ in files.read(unit, [columns[place] for place in unit.columns]):
                    pass
        return dict(files.types)


def facts_of(cells: Cells) -> Facts:
    return cells.facts


def finished(cells: Cells, lookups: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The final codes of one partition."""
    found = np.empty(cells.codes.shape, dtype=lookups[0].dtype)
    for out, lookup, own in zip(found, lookups, cells.codes, strict=True):
        out[:] = lookup[own] if len(lookup) else 0
    return found


def some_columns(codes: NDArray[Any], places: Sequence[int]) -> NDArray[Any]:
    return np.ascontiguousarray(codes[list(places)])


def _family_of(codes: NDArray[Any], places: Sequence[int], cards: Sequence[int]) -> NDArray[np.int64]:
    return cell_counts(codes[list(places)], cards)


def _total(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.asarray(np.sum(parts, axis=0), dtype=np.int64)


# ---- here


class DaskTable(StoredTable):
    """A table whose rows are on the workers of a cluster.

    parts  the client, and the codes of each partition as futures
    """

    parts: tuple[Any, tuple[Any, ...]]

    @property
    def client(self) -> Any:
        return self.parts[0]

    @property
    def partitions(self) -> tuple[Any, ...]:
        return self.parts[1]

    def array(self, name: Label) -> NDArray[Any]:
        return np.concatenate([block[0] for block in self.blocks([self.index(name)])])

    def _loaded(self, kind: str) -> NDArray[Any]:
        self.require_room()
        places = [i for i, own in enumerate(self.kinds) if own == kind]
        if not places:
            return np.empty((0, self.n_rows))
        return np.concatenate(list(self.blocks(places)), axis=1)

    def blocks(self, places: Sequence[int], rows: int = 0) -> Generator[NDArray[Any]]:
        """The cells of some columns, fetched from one partition after the other."""
        own = [self.stored[place].place for place in places]
        for part in self.partitions:
            block = self.client.submit(some_columns, part, own, pure=False).result()
            if block.shape[1]:
                yield block

    def family_counts(self, child: int, parents: Sequence[int]) -> NDArray[np.int64]:
        family = [*parents, child]
        cards = [int(self.cardinalities[v]) for v in family]
        own = [self.stored[place].place for place in family]
        parts = [self.client.submit(_family_of, part, own, cards, pure=False) for part in self.partitions]
        return np.asarray(self.client.submit(_total, parts, pure=False).result()).reshape(-1, cards[-1])

    def __reduce__(self) -> Any:
        raise SettingError("rows on a cluster cannot be pickled; save the result, or its network")


class _Histogram(Column):
    """A column known by how many rows have each value, partition by partition."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.sizes: list[NDArray[np.int64]] = []

    @property
    def n_rows(self) -> int:
        return int(sum(own.sum() for own in self.sizes))

    def count_missing(self) -> int:
        from bayescout.data.absent import MISSING

        if self.floats is not None or MISSING not in self._index:
            return 0
        code = self._index[MISSING]
        return int(sum(own[chunk == code].sum() for chunk, own in zip(self.chunks, self.sizes, strict=True)))


def is_dask(data: Any) -> bool:
    """Return True for a Dask dataframe."""
    module = type(data).__module__.split(".")[0]
    return module in ("dask", "dask_expr") and hasattr(data, "to_delayed") and hasattr(data, "_meta")


def dask_names(data: Any) -> list[Label]:
    """The names of the columns of a Dask dataframe."""
    return list(data._meta.columns.tolist())


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
    if missing == "drop":
        raise SettingError(
            "rows on a cluster with missing cells are left out there: frame.dropna() before learning"
        )
    sources, names, paths = _sources(data, client, kinds, states)
    checked_kinds, checked = check_declarations(names, kinds, states, NOTHING_SAID)
    wanted = chosen(names, columns, (), drop)
    cells = [
        client.submit(encoded, one, wanted, checked_kinds, checked, key=f"bayescout-encode-{_run()}-{i}")
        for i, one in enumerate(sources)
    ]
    facts: list[Facts] = client.gather([client.submit(facts_of, one, pure=False) for one in cells])
    _check_files(paths, facts)
    _refuse_numbers(facts)
    merged = [_merged(name, i, facts, checked_kinds, checked) for i, name in enumerate(wanted)]
    for column in merged:
        column.chosen = columns is not None
    order = {name: i for i, name in enumerate(wanted)}
    return assemble(merged, missing, NOTHING_SAID, lambda s: _table(s, client, cells, order))  # type: ignore[return-value]


def _run(made: list[int] = []) -> str:  # noqa: B006 - counts the calls of this process
    made.append(0)
    return f"{os.getpid()}-{len(made)}"


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


def _sources(data: Any, client: Any, kinds: Any, states: Any) -> tuple[list[Any], list[Any], list[Path]]:
    """One source per partition, the names of the columns, and the paths if the sources are files."""
    if is_dask(data):
        frames = client.compute(data.to_delayed())
        return list(frames), data._meta.columns.tolist(), []
    paths = paths_of(data)
    if paths is None:
        raise DataError(f"a {type(data).__name__} has no partitions: give a Dask dataframe, or Parquet files")
    types = client.submit(_types_of, paths[0], pure=False).result()
    return list(paths), list(types), paths


def _types_of(path: Path) -> dict[str, str]:
    return _read_file(path, [Column("", None)])


def _check_files(paths: Sequence[Path], facts: Sequence[Facts]) -> None:
    for path, own in zip(paths, facts, strict=False):
        check_same(paths[0], facts[0].types, path, own.types)


def _refuse_numbers(facts: Sequence[Facts]) -> None:
    """Refuse columns of numbers that are not declared: their reading needs all cells in one place."""
    found = list(dict.fromkeys(name for own in facts for name in own.floats))
    if found:
        raise DataError(
            f"columns of numbers on a cluster: {quoted(found, 6)}; its rows are counted as categories: "
            f"{setting('kinds', {found[0]: 'discrete'})} takes each value for a state, or cut them there"
        )


def _merged(name: Label, place: int, facts: Sequence[Facts], kinds: Any, states: Any) -> _Histogram:
    """One column of all partitions."""
    column = _Histogram(name, kinds.get(name), states.get(name))
    for own in facts:
        if own.states[place] is not None:
            column.take_states(own.states[place])
        values = own.values[place]
        column.sizes.append(own.counts[place])
        column.add_coded(values, np.arange(len(values)))
    settle_times(column)
    return column


def _table(settled: Settled, client: Any, cells: Sequence[Any], order: dict[Any, int]) -> DaskTable:
    """The table of settled columns; partitions get their final codes where they are."""
    found = settled.report.counts
    if settled.policy == "keep" and found:
        raise MissingValueError(
            f"columns with missing cells: {quoted([name for name, _ in found], 6)}; drawing them needs all "
            f"in one place: {setting('missing', 'state')} gives them a state, or frame.dropna() first"
        )
    numbers = [c.name for c, own in zip(settled.columns, settled.states, strict=True) if own is None]
    if numbers:
        raise DataError(
            f"columns read as numbers: {quoted(numbers, 6)}; rows on a cluster are counted as categories: "
            f"{setting('kinds', {numbers[0]: 'discrete'})} takes each value for a state, or cut them there"
        )
    stored, lookups = [], []
    for place, column in enumerate(settled.columns):
        assert isinstance(column, _Histogram)
        final = settled.lookup(place)
        own = [final[chunk] for chunk in column.chunks]
        counts = np.zeros(len(settled.states[place] or ()), dtype=np.int64)
        for codes, sizes in zip(own, column.sizes, strict=True):
            np.add.at(counts, codes, sizes)
        lookups.append(own)
        stored.append(StoredColumn(Path(), np.dtype(settled.code_type).str, counts, place=place))
    places = [order[column.name] for column in settled.columns]
    run = _run()
    parts = tuple(
        client.submit(
            _finished_some, one, places, [own[i] for own in lookups], key=f"bayescout-codes-{run}-{i}"
        )
        for i, one in enumerate(cells)
    )
    table = object.__new__(DaskTable)
    table.__dict__.update(
        interventions=None, weights=None, copies=1,
        names=tuple(column.name for column in settled.columns), states=tuple(settled.states),
        missing=settled.report, notes=settled.notes, stored=tuple(stored),
        budget=Budget.of(None), stored_rows=settled.n_rows, parts=(client, parts),
    )  # fmt: skip
    return table


def _finished_some(cells: Cells, places: Sequence[int], lookups: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return finished(Cells(cells.codes[list(places)], cells.facts), lookups)
