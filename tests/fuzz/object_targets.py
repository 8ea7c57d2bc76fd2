"""Frames, arrays and dicts that are given to `as_table`: columns of every type, however they are held.

An input is a plan in plain values, from which the objects are made, so that it can be written down. The rows
of what comes out are compared with what the library itself says that it holds.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import bayescout as bs
from bayescout.data import Table
from tests.fuzz.damage import CONTROLS
from tests.fuzz.same import cells, check_cells
from tests.fuzz.target import Target, hold, must, written

Cells = list[Any]

MOMENTS = (
    datetime(2020, 1, 31, 12, 0, 0, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2020, 1, 31, 12),
    datetime(1, 1, 2),
)
VALUES: dict[str, tuple[Any, ...]] = {
    "texts": ("a", "b", "", " ", "1", "nan", "None", "ü", "日本", "e\u0301", "\u00e9", *CONTROLS),
    "integers": (0, 1, -1, 2, 127, 100),
    "wide integers": (0, 1, 2**31, -(2**63), 2**63 - 1, 2**53, 2**53 + 1),
    "ticks": (0, 1, 999, 1000, -1, 10**18, 10**18 + 1),
    "huge integers": (0, 2**64, -(2**70), 10**25, 2**64 + 1),
    "floats": (0.0, -0.0, 1.0, 0.1, 0.1 + 2e-17, 5e-324, 1.7e308, -1.7e308, 2.0**53, 1e-9),
    "odd floats": (0.0, math.nan, math.inf, -math.inf, 1.5),
    "booleans": (True, False),
    "decimals": tuple(map(decimal.Decimal, ("0", "1", "1.10", "1.1", "-2.5", "123456789.01"))),
    "dates": (date(2020, 1, 31), date(1969, 12, 31), date(1, 1, 1), date(9999, 12, 31)),
    "moments": MOMENTS,
    "times": (time(0), time(23, 59, 59, 999999), time(12, 30)),
    "spans": (timedelta(0), timedelta(days=-1, microseconds=1), timedelta(days=365),
    timedelta(microseconds=1)),
    "bytes": (b"", b"a", b"\x00\xff", b"ab"),
    "lists": ([], [1], [1, 2], [None]),
    "mixed": ("1", 1, 1.0, True, None, (1, 2), b"1", decimal.Decimal(1)),
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """One column: what it holds and how the library is to hold it."""

    values: str
    cells: tuple[int, ...]
    """Positions in VALUES, -1 for a missing cell."""
    way: str
    cut: int
    """Where a column is cut into chunks, or from where it is taken as a slice."""

    @property
    def listed(self) -> Cells:
        return [None if code < 0 else VALUES[self.values][code] for code in self.cells]


@dataclass(frozen=True)
class Given:
    """What is given to `as_table`."""

    library: str
    columns: tuple[Plan, ...]
    names: tuple[Any, ...]
    missing: str
    kinds: str | None


# ---- drawing

WAYS = {
    "pyarrow": (
        "plain", "chunked", "sliced", "empty chunk", "dictionary", "repeated dictionary", "run-end",
        "chunked dictionaries", "large", "view", "nanoseconds", "zone", "time ns", "span ns", "seconds",
        "struct", "map", "fixed list", "extension", "union", "half", "unsigned", "decimal256", "interval",
        "null", "binary",
    ),
    "polars": (
        "plain", "chunked", "sliced", "categorical", "enum", "nanoseconds", "span ns", "time", "milliseconds",
        "struct", "array", "object", "decimal", "int128", "float32", "unsigned",
    ),
    "pandas": (
        "plain", "category", "nullable", "nanoseconds", "object", "arrow", "interval", "period", "sparse",
        "zone", "string", "repeated index",
    ),
    "numpy": (
        "plain", "object", "float32", "float16", "int8", "uint64", "text", "bytes", "datetime ns",
        "datetime D", "masked", "strided", "complex", "longdouble", "reversed bytes",
    ),
    "dict": ("plain", "tuple", "array", "range", "generator"),
}  # fmt: skip
NAMES = ("a", "b", "", "a b", 1, None, ("a", 1), "1", "\x1b[2J", False, 2.5)


def _draw(rng: Random) -> Given:
    library = rng.choice(list(WAYS))
    rows = rng.choice((0, 1, 2, 3, 5, 8))
    columns = tuple(_plan(rng, library, rows) for _ in range(rng.choice((1, 1, 2, 3))))
    text_only = library in ("pyarrow", "polars", "numpy")
    choices = [name for name in NAMES if isinstance(name, str)] if text_only else list(NAMES)
    names = tuple(rng.sample(choices, len(columns)))
    kinds = rng.choice((None, None, None, "discrete", "continuous"))
    return Given(library, columns, names, rng.choice(("error", "error", "drop", "state")), kinds)


def _plan(rng: Random, library: str, rows: int) -> Plan:
    values = rng.choice(list(VALUES))
    gaps = rng.choice((0.0, 0.0, 0.2))
    size = len(VALUES[values])
    codes = tuple(-1 if rng.random() < gaps else rng.randrange(size) for _ in range(rows))
    return Plan(values, codes, rng.choice(("plain", *WAYS[library])), rng.randrange(rows + 1))


# ---- making


DAY = 24 * 3600 * 10**9
"""In nanoseconds."""


class CannotBeMadeError(Exception):
    """The library has no such column."""


def _made(given: Given) -> tuple[Any, dict[Any, Cells]]:
    """The object, and what its library says that each column holds."""
    try:
        columns = [MAKERS[given.library](plan) for plan in given.columns]
        held = {
            name: READERS[given.library](column) for name, column in zip(given.names, columns, strict=True)
        }
        return FRAMES[given.library](given.names, columns), held
    except RecursionError:
        raise
    except Exception as error:
        raise CannotBeMadeError(str(error)) from None


def _arrow(plan: Plan) -> Any:
    import pyarrow as pa

    whole = pa.array(plan.listed)
    way = plan.way
    if way == "map":
        pairs = [None if cell is None else [(str(cell), 1)] for cell in plan.listed]
        whole = pa.array(pairs, type=pa.map_(pa.string(), pa.int64()))
    elif way == "time ns" and not all(cell is None or 0 <= cell < DAY for cell in plan.listed):
        raise CannotBeMadeError
    elif way in ARROW_TYPES:
        whole = pa.array(plan.listed, type=ARROW_TYPES[way]())
    elif way == "repeated dictionary":
        return pa.chunked_array([_repeated(plan)])
    elif way in ("dictionary", "chunked dictionaries"):
        whole = whole.dictionary_encode()
    elif way == "run-end":
        import pyarrow.compute as pc

        whole = pc.run_end_encode(whole)
    elif way == "struct":
        whole = pa.StructArray.from_arrays([whole, whole], ["x", "y"])
    elif way == "fixed list":
        whole = pa.FixedSizeListArray.from_arrays(pa.array(plan.listed * 2), 2)
    elif way == "extension":
        whole = pa.ExtensionArray.from_storage(_extension(whole.type), whole)
    elif way == "union":
        types = pa.array([0] * len(whole), type=pa.int8())
        whole = pa.UnionArray.from_sparse(types, [whole])
    return _in_chunks(plan, whole)


def _in_chunks(plan: Plan, whole: Any) -> Any:
    import pyarrow as pa

    head, tail = whole.slice(0, plan.cut), whole.slice(plan.cut)
    if plan.way == "chunked dictionaries":
        pieces = [
            pa.array(piece.to_pylist(), type=whole.type.value_type).dictionary_encode()
            for piece in (head, tail)
        ]
        return pa.chunked_array(pieces)
    if plan.way in ("chunked", "empty chunk"):
        return pa.chunked_array([head, whole.slice(0, 0), tail], type=whole.type)
    if plan.way == "sliced":
        return pa.chunked_array([pa.concat_arrays([whole, whole]).slice(plan.cut, len(whole))])
    return pa.chunked_array([whole])


def _repeated(plan: Plan) -> Any:
    """A dictionary in which every value stands twice."""
    import pyarrow as pa

    values = list(dict.fromkeys(value for value in plan.listed if value is not None))
    places = [
        None if cell is None else values.index(cell) + len(values) * (row % 2)
        for row, cell in enumerate(plan.listed)
    ]
    return pa.DictionaryArray.from_arrays(pa.array(places, type=pa.int32()), pa.array(values * 2))


def _extension(storage: Any) -> Any:
    import pyarrow as pa

    class Own(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(storage, "fuzz.own")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

    return Own()


def _of(name: str, *arguments: Any) -> Callable[[], Any]:
    def made() -> Any:
        import pyarrow as pa

        return getattr(pa, name)(
            *[getattr(pa, a)() if isinstance(a, str) and hasattr(pa, a) else a for a in arguments]
        )

    return made


ARROW_TYPES: dict[str, Callable[[], Any]] = {
    "large": _of("large_string"), "view": _of("string_view"), "nanoseconds": _of("timestamp", "ns"),
    "zone": _of("timestamp", "us", "+02:00"),
    "seconds": _of("timestamp", "s"), "time ns": _of("time64", "ns"), "span ns": _of("duration", "ns"),
     "half": _of("float16"),
    "unsigned": _of("uint64"),
    "decimal256": _of("decimal256", 40, 3), "interval": _of("month_day_nano_interval"),
    "null": _of("null"), "binary": _of("large_binary"),
}  # fmt: skip


def _polars(plan: Plan) -> Any:
    import polars as pl

    types: dict[str, Callable[[], Any]] = {
        "categorical": lambda: pl.Categorical,
        "enum": lambda: pl.Enum(sorted({cell for cell in plan.listed if cell is not None})),
        "nanoseconds": lambda: pl.Datetime("ns"),
        "span ns": lambda: pl.Duration("ns"),
        "time": lambda: pl.Time,
        "milliseconds": lambda: pl.Duration("ms"),
        "decimal": lambda: pl.Decimal(38, 4),
        "int128": lambda: pl.Int128,
        "float32": lambda: pl.Float32,
        "unsigned": lambda: pl.UInt64,
        "object": lambda: pl.Object,
    }
    whole = pl.Series("x", plan.listed, dtype=types[plan.way]() if plan.way in types else None)
    if plan.way == "struct":
        return pl.DataFrame({"p": whole, "q": whole}).to_struct("x")
    if plan.way == "array":
        return pl.Series("x", [[cell, cell] for cell in plan.listed], dtype=pl.Array(whole.dtype, 2))
    if plan.way == "chunked":
        return whole[: plan.cut].append(whole[plan.cut :])
    return pl.concat([whole, whole])[plan.cut : plan.cut + len(whole)] if plan.way == "sliced" else whole


def _pandas(plan: Plan) -> Any:
    import pandas as pd

    if plan.way == "arrow":
        return pd.Series(
            pd.array(_arrow(Plan(plan.values, plan.cells, "plain", plan.cut)), dtype=None)
        ).astype(_pandas_arrow(plan))
    if plan.way == "repeated index":
        return pd.Series(plan.listed, index=[0] * len(plan.cells))
    made = pd.Series(plan.listed, dtype="object" if plan.way == "object" else None)
    ways: dict[str, Callable[[], Any]] = {
        "category": lambda: made.astype("category"),
        "nullable": lambda: made.convert_dtypes(),
        "nanoseconds": lambda: made.astype("M8[ns]"),
        "interval": lambda: pd.Series(
            pd.arrays.IntervalArray.from_tuples([None if c is None else (c, c) for c in plan.listed])
        ),
        "period": lambda: made.dt.to_period("D"),
        "sparse": lambda: made.astype(pd.SparseDtype(made.dtype)),
        "zone": lambda: made.dt.tz_localize("Europe/Vienna", ambiguous="NaT", nonexistent="NaT"),
        "string": lambda: made.astype("string"),
    }
    return ways[plan.way]() if plan.way in ways else made


def _pandas_arrow(plan: Plan) -> Any:
    import pandas as pd
    import pyarrow as pa

    return pd.ArrowDtype(pa.array(plan.listed).type)


def _numpy(plan: Plan) -> Any:
    listed = plan.listed
    types = {
        "object": object, "float32": np.float32, "float16": np.float16, "int8": np.int8,
        "uint64": np.uint64, "text": "U", "bytes": "S",
        "datetime ns": "M8[ns]", "datetime D": "M8[D]", "complex": complex, "longdouble": np.longdouble,
        "reversed bytes": ">f8",
    }  # fmt: skip
    if plan.way == "masked":
        filled = [VALUES[plan.values][0] if cell is None else cell for cell in listed]
        return np.ma.MaskedArray(np.array(filled), mask=[cell is None for cell in listed])
    if plan.way in types:
        made = np.empty(len(listed), dtype=object) if plan.way == "object" else None
        if made is not None:
            made[:] = listed
            return made
        return np.array(listed, dtype=types[plan.way])
    if plan.way == "strided":
        return np.repeat(np.array(listed), 2)[::2]
    return np.array(listed)


def _plain(plan: Plan) -> Any:
    ways: dict[str, Callable[[], Any]] = {
        "tuple": lambda: tuple(plan.listed),
        "array": lambda: np.array(plan.listed, dtype=object),
        "range": lambda: range(len(plan.cells)),
        "generator": lambda: dict.fromkeys(plan.listed).keys(),
    }
    return ways.get(plan.way, lambda: plan.listed)()


def _polars_frame(names: tuple[Any, ...], columns: list[Any]) -> Any:
    import polars as pl

    return pl.DataFrame(dict(zip(names, columns, strict=True)))


def _arrow_frame(names: tuple[Any, ...], columns: list[Any]) -> Any:
    import pyarrow as pa

    return pa.table(columns, names=list(names))


def _pandas_frame(names: tuple[Any, ...], columns: list[Any]) -> Any:
    import pandas as pd

    made = pd.concat([column.reset_index(drop=True) for column in columns], axis=1)
    made.columns = pd.Index(list(names), dtype=object)
    return (
        made
        if len(columns[0].index) == 0 or columns[0].index.is_unique
        else made.set_index(np.zeros(len(made)))
    )


def _numpy_frame(names: tuple[Any, ...], columns: list[Any]) -> Any:
    return dict(zip(names, columns, strict=True))


MAKERS: dict[str, Callable[[Plan], Any]] = {
    "pyarrow": _arrow,
    "polars": _polars,
    "pandas": _pandas,
    "numpy": _numpy,
    "dict": _plain,
}
FRAMES: dict[str, Callable[[tuple[Any, ...], list[Any]], Any]] = {
    "pyarrow": _arrow_frame, "polars": _polars_frame, "pandas": _pandas_frame, "numpy": _numpy_frame,
    "dict": _numpy_frame,
}  # fmt: skip
READERS: dict[str, Callable[[Any], Cells]] = {
    "pyarrow": lambda column: _ticks(_whole_numbers(column).to_pylist()),
    "polars": lambda column: _ticks(
        (column.to_physical() if column.dtype.is_temporal() else column).to_list()
    ),
    "pandas": lambda column: list(column.tolist()),
    "numpy": lambda column: list(column.tolist() if column.dtype.kind not in "mM" else column),
    "dict": lambda column: list(column),
}


def _whole_numbers(column: Any) -> Any:
    """Times as the numbers that they are held as, since Python's own are not as fine."""
    import pyarrow as pa

    fine = pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type)
    return column.cast(pa.int64()) if fine or pa.types.is_duration(column.type) else column


def _ticks(listed: Cells) -> Cells:
    """The cells; the number that means no time in some libraries and a time in others is left alone."""
    if -(2**63) in listed:
        raise CannotBeMadeError
    return listed


# ---- checking


def _check(given: Given, folder: Path) -> None:
    """Accepted: cells that differ, differ; cells that are the same, are; a file keeps them."""
    try:
        data, held = _made(given)
    except CannotBeMadeError:
        data, held = _made(Given("dict", (Plan("integers", (0, 1), "plain", 0),), ("a",), "error", None))
    table = bs.as_table(
        data, missing=given.missing, **({} if given.kinds is None else {"kinds": given.kinds})
    )
    check_cells(table)
    hold(
        "labels stay as they are",
        [(type(n), n) for n in table.names] == [(type(n), n) for n in held],
        (table.names, list(held)),
    )
    rows = _kept_rows(held, given.missing)
    for name, listed in held.items():
        _check_column(table, name, [listed[row] for row in rows])
    again = must("the same is taken twice", lambda: bs.as_table(table))
    hold("a table of a table is the same", again.fingerprint == table.fingerprint)
    _check_file(table, folder / "x.parquet", given.kinds)


LEFT_ALONE = (str, bool, int, bytes, decimal.Decimal)
"""Types of which every library has the values that Python has."""


def _kept_rows(held: dict[Any, Cells], missing: str) -> list[int]:
    """The rows that a table has."""
    count = len(next(iter(held.values())))
    gone = {row for listed in held.values() for row, cell in enumerate(listed) if _is_missing(cell)}
    hold("missing cells are refused", missing != "error" or not gone, held)
    return [row for row in range(count) if missing != "drop" or row not in gone]


def _is_missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return False


def _as_number(cell: Any) -> float:
    """A number; of a length of time its seconds."""
    if isinstance(cell, np.timedelta64):
        return float(cell / np.timedelta64(1, "s"))
    return cell.total_seconds() if isinstance(cell, timedelta) else float(cell)


def _check_column(table: Table, name: Any, held: Cells) -> None:
    cells_ = table.column(name)
    hold("there are as many rows", len(cells_) == len(held), (len(cells_), held))
    if table.states[table.index(name)] is None:
        wanted = [_as_number(cell) for cell in held]
        hold("numbers stay as they are", cells_ == wanted, (cells_, wanted))
        return
    codes = table.array(name).tolist()
    for row, cell in enumerate(held):
        if type(cell) in LEFT_ALONE and type(cells_[row]) in LEFT_ALONE:
            same = type(cell) is type(cells_[row]) and cell == cells_[row]
            hold("values stay as they are", same, (name, cell, cells_[row]))
        for other in range(row):
            law = "cells are the same state exactly where they are the same"
            hold(law, _alike(cell, held[other]) == (codes[row] == codes[other]), (name, cell, held[other]))


def _alike(one: Any, other: Any) -> bool:
    """Whether two cells of one column are one value; two missing ones are."""
    if _is_missing(one) or _is_missing(other):
        return _is_missing(one) and _is_missing(other)
    if type(one) is not type(other):
        return False
    try:
        return bool(one == other)
    except (TypeError, ValueError):
        return repr(one) == repr(other)


def _check_file(table: Table, path: Path, kinds: Any) -> None:
    """What Parquet keeps of a table is the table, where the same is said of its kinds."""
    if not all(isinstance(name, str) for name in table.names):
        return
    written(lambda: bs.write_table(table, path))
    if path.exists():
        back = must("what was written is read", lambda: bs.read_table(path, kinds, missing="state"))
        hold("what was written is read as it was", cells(back) == cells(table), (cells(back), cells(table)))


@cache
def _seeds() -> tuple[Given, ...]:
    plan = Plan("texts", (0, 1, 0), "plain", 1)
    numbers = Plan("floats", (2, 3, 4), "plain", 1)
    return tuple(Given(library, (plan, numbers), ("a", "b"), "error", None) for library in WAYS)


OBJECT_TARGETS = (Target("objects", 8, _seeds, _draw, _check),)
