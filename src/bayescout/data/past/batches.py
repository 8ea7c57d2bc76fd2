"""Frames, queries and datasets as batches of rows: all of a batch's columns are read in one go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any

from bayescout.checks import first_repeated
from bayescout.data.cells import add_source
from bayescout.data.columns import Column
from bayescout.data.past.sources import Unit
from bayescout.data.pieces import is_exact, polars_piece
from bayescout.data.seal import Seal
from bayescout.errors import BayescoutError, DataError, MissingExtraError, TooLargeError

BATCH_ROWS = 1 << 16
MOST_SAID = 300
"""Characters of a library's own words that an error has."""


@contextmanager
def evaluating(source: str, way: str) -> Iterator[None]:
    """Turn the errors of the library that evaluates a source into one line with its own words.

    way  how the library evaluates it by itself
    """
    import polars as pl

    try:
        yield
    except BayescoutError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        said = " ".join(str(error).partition("\n\n")[0].split())[:MOST_SAID] or type(error).__name__
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
            raise TooLargeError(
                f"{source} takes more memory than there is: {said}; ask it for fewer columns or rows"
            ) from error
        raise DataError(f"{source} cannot be read: {said}; correct it, so that {way} works") from error


class Batches:
    """Rows that come as frames of some rows each: a lazy frame, a query of DuckDB, or an Arrow dataset.

    name  what errors call it
    way   how its own library evaluates it
    """

    key: str | None = None
    cell: int = 24
    name: str
    way: str

    def __init__(self, data: Any) -> None:
        self.data = data

    @cached_property
    def types(self) -> dict[Any, str]:
        with self._evaluating():
            schema = list(self._schema())
        twice = first_repeated([name for name, _ in schema])
        if twice is not None:
            raise DataError(
                f"column name {schema[twice][0]!r} occurs more than once; rename one of the columns"
            )
        return dict(schema)

    @cached_property
    def rows(self) -> int:
        with self._evaluating():
            return self._count()

    @contextmanager
    def opened(self) -> Iterator[Batches]:
        yield self

    def seal(self) -> Seal | None:
        return None

    def units(self, places: Sequence[int]) -> list[Unit]:
        return [Unit(0, tuple(places))]

    def read(self, unit: Unit, columns: Sequence[Column]) -> Iterator[int]:
        names = [column.name for column in columns]
        with closing(self._frames(names)) as frames:
            while True:
                with self._evaluating():
                    frame = next(frames, None)
                if frame is None:
                    return
                for column in columns:
                    _add(column, frame[column.name])
                yield len(frame)

    def whole(self) -> Any:
        """All rows as a frame in memory."""
        with self._evaluating():
            return self._whole()

    def _evaluating(self) -> Any:
        return evaluating(self.name, self.way)

    def _schema(self) -> Iterable[tuple[Any, str]]:
        raise NotImplementedError

    def _count(self) -> int:
        raise NotImplementedError

    def _frames(self, names: Sequence[Any]) -> Any:
        raise NotImplementedError

    def _whole(self) -> Any:
        raise NotImplementedError


class LazyRows(Batches):
    """A lazy frame of polars."""

    name, way = "the lazy frame of Polars", "its .collect()"

    def _schema(self) -> Iterable[tuple[Any, str]]:
        return ((name, str(kind)) for name, kind in self.data.collect_schema().items())

    def _count(self) -> int:
        import polars as pl

        return int(self.data.select(pl.len()).collect(engine="streaming").item())

    def _frames(self, names: Sequence[Any]) -> Iterator[Any]:
        yield from self.data.select(names).collect_batches(
            chunk_size=BATCH_ROWS, maintain_order=True, lazy=True
        )

    def _whole(self) -> Any:
        return self.data.collect()


class DuckRows(Batches):
    """A relation of DuckDB: a table, a view or a query."""

    name, way = "the DuckDB relation", "its .fetchall()"

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        alias = str(data.alias)
        if not alias.startswith("unnamed_relation_"):
            self.name = f"the DuckDB relation {alias!r}"

    def _schema(self) -> Iterable[tuple[Any, str]]:
        return ((n, str(t)) for n, t in zip(self.data.columns, self.data.types, strict=True))

    def _count(self) -> int:
        return int(self.data.aggregate("count(*) as n").fetchall()[0][0])

    def _frames(self, names: Sequence[Any]) -> Iterator[Any]:
        quoted = ", ".join('"' + str(name).replace('"', '""') + '"' for name in names)
        reader = self.data.project(quoted)
        fetch = getattr(reader, "to_arrow_reader", None) or reader.fetch_arrow_reader
        for batch in fetch(BATCH_ROWS):
            yield _ArrowFrame(batch)

    def _whole(self) -> Any:
        fetch = getattr(self.data, "to_arrow_table", None) or self.data.fetch_arrow_table
        return fetch()


class DatasetRows(Batches):
    """An Arrow dataset."""

    name, way = "the Arrow dataset", "its .to_table()"

    def _schema(self) -> Iterable[tuple[Any, str]]:
        return ((field.name, str(field.type)) for field in self.data.schema)

    def _count(self) -> int:
        return int(self.data.count_rows())

    def _frames(self, names: Sequence[Any]) -> Iterator[Any]:
        batches = self.data.to_batches(
            columns=list(names), batch_size=BATCH_ROWS, batch_readahead=1, fragment_readahead=1
        )
        yield from map(_ArrowFrame, batches)

    def _whole(self) -> Any:
        return self.data.to_table()


def _add(column: Column, cells: Any) -> None:
    """Add the cells of one batch; times are settled once all are known, not batch by batch."""
    import polars as pl

    if not isinstance(cells, pl.Series):
        import pyarrow.types as kinds

        if not kinds.is_temporal(cells.type) or kinds.is_interval(cells.type):
            add_source(column, cells)
            return
        cells = pl.Series(pl.from_arrow(cells))
    known = [value for value in column.values if isinstance(value, str)]
    polars_piece(cells, is_exact(column), known).add_to(column)


class _ArrowFrame:
    """A batch of Arrow, whose columns are found by name."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __getitem__(self, name: Any) -> Any:
        return self.batch.column(self.batch.schema.get_field_index(name))

    def __len__(self) -> int:
        return int(self.batch.num_rows)


def batches_in(data: Any) -> Batches | None:
    """Rows that are read in batches; None for data of any other kind."""
    module, name = _kind_of(data)
    if module == "narwhals" and name == "LazyFrame":
        data = data.to_native()
        module, name = _kind_of(data)
    if module == "polars" and name == "LazyFrame":
        return LazyRows(data)
    if module in ("duckdb", "_duckdb") and name == "DuckDBPyRelation":
        _require_pyarrow()
        return DuckRows(data)
    if module == "pyarrow" and all(hasattr(data, own) for own in ("to_batches", "count_rows", "schema")):
        return DatasetRows(data)
    return None


def _kind_of(data: Any) -> tuple[str, str]:
    return type(data).__module__.split(".")[0], type(data).__name__


def _require_pyarrow() -> None:
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "duckdb")
