"""Write tables to files so that reading gives the same table; refuse what would not."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayescout.data.absent import USUAL_MARKS
from bayescout.data.acting import SEPARATORS_OF_NAMES
from bayescout.data.columns import Column
from bayescout.data.files import atomic_write
from bayescout.data.kinds import counts_the_rows, kind_of_floats, kind_of_whole
from bayescout.data.numerals import typed
from bayescout.data.pieces import add_polars
from bayescout.data.read import COLUMNAR, DATA_FILES, SEPARATORS, unknown_extension
from bayescout.data.seal import Seal, write_sealed
from bayescout.data.table import Label, States, Table, narrowest
from bayescout.errors import DataError

if TYPE_CHECKING:
    import polars as pl

ROWS_AT_ONCE = 100_000


def write_table(
    table: Table,
    path: str | os.PathLike[str],
    weights: str | None = None,
    interventions: str | None = None,
) -> None:
    """Write a table as csv, tsv, parquet, arrow or a data file, by its extension.

    Reading the file gives the same names, kinds and values; what the format cannot hold is refused before
    anything is written: in text the empty string, values other than text, integers and booleans, numbers
    that would be read as of the other kind, a missing cell in a data file or of the only column. In text
    booleans become the texts True and False, by which they are found. A text column that identifies rows,
    or holds dates, must be declared to be read. States that do not occur, and the order of states, are kept
    only for the text states of parquet and arrow. `weights` names the column for the row weights, if there
    are any, and `interventions` that for the variables that were set from outside. The file appears whole or
    not at all.
    """
    path = Path(path)
    suffix, compressed = written_as(path)
    table = _with_interventions(_with_weights(table, weights), interventions)
    for name in table.names:
        if not isinstance(name, str) or not name:
            raise DataError(
                f"column name {name!r} is not a non-empty string, which a file needs: rename the column"
            )
    if suffix in COLUMNAR:
        _write_columnar(table, path, parquet=suffix in (".parquet", ".pq"))
    elif suffix in SEPARATORS:
        _check_text(table, loose=False, weights=weights)
        _write_text(table, path, SEPARATORS[suffix], compressed, loose=False)
    else:
        _check_text(table, loose=True, weights=weights)
        _write_text(table, path, " ", compressed=False, loose=True)


def written_as(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """The extension of a file that a table can be written to, and True if it is to be compressed."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".gz" and Path(path.stem).suffix.lower() in SEPARATORS:
        return Path(path.stem).suffix.lower(), True
    if suffix in SEPARATORS or suffix in COLUMNAR or suffix in DATA_FILES:
        return suffix, False
    raise unknown_extension(path)


def _with_weights(table: Table, name: str | None) -> Table:
    """The table with its weights as one more continuous column, so that they are not lost."""
    if table.weights is None:
        return table
    if name is None:
        raise DataError("the table has row weights: name the column to write them to, weights='weight'")
    values = np.vstack([table.doubles(), table.weights])
    return Table(
        (*table.names, name),
        (*table.states, None),
        table.codes,
        values,
        missing=table.missing,
        interventions=table.interventions,
    )


def _with_interventions(table: Table, name: str | None) -> Table:
    """The table with one more column that names what was set from outside in each row."""
    acted = table.interventions
    if acted is None:
        return table
    if name is None:
        raise DataError(
            "the table has rows of interventions: name the column to write them to, interventions='set'"
        )
    for own in acted.targets:
        odd = [label for label in own if len(own) > 1 and SEPARATORS_OF_NAMES.search(str(label))]
        if odd:
            raise DataError(
                f"{odd[0]!r} was set together with others, and its name separates names: rename it"
            )
    texts = [",".join(map(str, own)) for own in acted.targets]
    states = tuple(text for text in texts if text)
    place = {text: code for code, text in enumerate(states)} | {"": len(states)}
    lookup = np.array([place[text] for text in texts])
    widest = max(int(table.cardinalities.max(initial=0)), len(states)) + 1
    cells = np.vstack([table.codes, lookup[acted.of_row][None, :]]).astype(narrowest(widest))
    return Table(
        (*table.names, name),
        (*table.states, states),
        cells,
        table.values,
        missing=replace(table.missing, policy="keep"),
    )


def occurring(states: States, codes: NDArray[Any]) -> list[Any]:
    """The states that occur in at least one row."""
    seen = np.bincount(codes, minlength=len(states))[: len(states)] > 0
    return [state for state, hit in zip(states, seen.tolist(), strict=True) if hit]


def _check_text(table: Table, loose: bool, weights: str | None = None) -> None:
    """Refuse what would be read back from text as something else; weights are declared when they are read."""
    if str(table.names[0]).startswith("\ufeff"):
        raise DataError(f"column name {table.names[0]!r} starts with a byte order mark, which a reader drops")
    for name, states in zip(table.names, table.states, strict=True):
        _check_cell(name, str(name), loose)
        if loose and "," in str(name):
            raise DataError(
                f"column name {name!r} has a comma, which separates names in a data file: write csv"
            )
        if table.has_missing:
            _check_present(table, name, loose)
        if states is None:
            if name != weights:
                _check_continuous(table, name)
            continue
        found = occurring(states, table.array(name))
        texts = [_text(name, state) for state in found]
        for text in texts:
            _check_cell(name, text, loose)
        if not loose and all(type(state) is str for state in found):
            continue  # written in quotes if the plain texts would be read as something else
        if loose and any(text in USUAL_MARKS for text in texts):
            raise DataError(
                f"column {name!r} has a state such as {next(t for t in texts if t in USUAL_MARKS)!r}, which "
                f"means missing in a data file: write csv"
            )
        if all(type(state) is bool for state in found):
            continue
        _check_same(name, found, typed(texts))
        if type(found[0]) is int:
            _check_integers(table, name, found)
    if not loose and all(
        _is_quoted(str(n)) and _needs_quotes(s) for n, s in zip(table.names, table.states, strict=True)
    ):
        raise DataError(
            "every name and every state would stand in quotes, and quotes would say nothing: write parquet"
        )


def _needs_quotes(states: States | None) -> bool:
    """Return True if a state might be read as a number or as missing, so that the column needs quotes."""
    if states is None or not all(type(state) is str for state in states):
        return False
    return any(type(typed([str(state)])[0]) is not str or state in USUAL_MARKS for state in states)


def _text(name: Label, state: Any) -> str:
    if type(state) in (bool, int):
        return str(state)
    if type(state) is str:
        return state
    raise DataError(
        f"column {name!r} has the state {state!r} ({type(state).__name__}): text holds strings, "
        f"integers and booleans only; convert the states, or write parquet"
    )


def _check_cell(name: Label, text: str, loose: bool) -> None:
    reason = ""
    if not text:
        reason = "an empty cell means a missing value"
    elif "\r" in text or "\0" in text:
        reason = "text files hold no carriage return or zero character"
    elif loose and any(c.isspace() for c in text):
        reason = "white space separates the cells of a data file; write csv"
    else:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            reason = "it is not valid UTF-8"
    if reason:
        raise DataError(f"column {name!r}: {text!r} cannot be written as text, since {reason}")


def _check_same(name: Label, found: Sequence[Any], back: Sequence[Any]) -> None:
    """Raise unless a reader of the file would get the same states."""
    for state, other in zip(found, back, strict=True):
        if type(state) is not type(other) or state != other:
            raise DataError(
                f"column {name!r}: the state {state!r} ({type(state).__name__}) would be read back as "
                f"{other!r} ({type(other).__name__}): convert the states, or write parquet"
            )


def _check_integers(table: Table, name: Label, found: Sequence[Any]) -> None:
    """Raise if integer states would be read back as measurements, or as the numbers of the rows."""
    rows = table.n_rows - int(table.missing_cells(name).sum())
    row_numbers = counts_the_rows(min(found), max(found), len(found), rows)
    if row_numbers or kind_of_whole(found, rows).kind == "continuous":
        told = "the numbers of the rows" if row_numbers else "continuous"
        raise DataError(
            f"column {name!r} has {len(found)} integer states in {rows:,} rows and would be read back as "
            f"{told}: turn the states into strings, or write parquet"
        )


def _check_continuous(table: Table, name: Label) -> None:
    """Raise if a continuous column would be read back as states, or as the numbers of the rows."""
    verdict, _, row_numbers = kind_of_floats([table.array(name)])
    if row_numbers or verdict.kind == "discrete":
        told = "the numbers of the rows" if row_numbers else "categorical"
        raise DataError(
            f"column {name!r} is continuous and would be read back as {told}, with its {verdict.reason}: "
            f"write parquet"
        )


def _check_present(table: Table, name: Label, loose: bool) -> None:
    """Refuse missing cells that would be lost in text."""
    missing = table.missing_cells(name)
    reason = ""
    if loose and missing.any():
        reason = "white space separates the cells of a data file, which cannot be empty; write csv"
    elif table.n_columns == 1 and missing.any():
        reason = "an empty cell of the only column is a blank line; write parquet"
    elif missing.all():
        reason = "a column of empty cells has no kind; leave it out, or write parquet"
    if reason:
        raise DataError(f"column {name!r} has missing values that cannot be written as text: {reason}")


def _write_text(table: Table, path: Path, separator: str, compressed: bool, loose: bool) -> None:
    with atomic_write(path) as raw:
        if compressed:
            # No name and no time in the header, so that equal tables give equal files.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
                _write_rows(table, cast(IO[bytes], stream), separator, loose)
        else:
            _write_rows(table, raw, separator, loose)


def write_csv(table: Table, stream: IO[bytes]) -> None:
    """Write the table as csv to an open stream, as `write_table` writes it to a file."""
    _check_text(table, loose=False)
    _write_rows(table, stream, ",", loose=False)


def _write_rows(table: Table, stream: IO[bytes], separator: str, loose: bool) -> None:
    import polars as pl

    stream.write(separator.join(_quoted(str(name), loose) for name in table.names).encode() + b"\n")
    texts = [
        None if states is None else pl.Series(_cells(states, separator, loose), dtype=pl.String)
        for states in table.states
    ]
    for start in range(0, table.n_rows, ROWS_AT_ONCE):
        columns = []
        for name, of_column in zip(table.names, texts, strict=True):
            cells = table.array(name)[start : start + ROWS_AT_ONCE]
            if of_column is None:
                numbers = ["" if cell != cell else repr(cell) for cell in cells.tolist()]
                columns.append(pl.Series(str(name), numbers, dtype=pl.String))
            else:
                columns.append(of_column.gather(cells).alias(str(name)))
        # Make the text first: polars would turn a broken pipe into an error of its own.
        text = io.BytesIO()
        pl.DataFrame(columns).write_csv(text, include_header=False, separator=separator, quote_style="never")
        stream.write(text.getbuffer())


def _cells(states: States, separator: str, loose: bool) -> list[str]:
    """The states as written, in quotes where these are required or prevent reading them as numbers.

    The last item is the text of a missing cell: also in quotes, since the cells of the first row decide.
    """
    texts = [str(state) for state in states]
    if loose:
        return texts
    quote = _needs_quotes(states)
    marks = (separator, '"', "\n")
    return [_in_quotes(t) if quote or any(c in t for c in marks) else t for t in (*texts, "")]


def _is_quoted(name: str) -> bool:
    """Return True if a name is put in quotes, which also tell a reader that ';' is no separator."""
    return not all(c.isalnum() or c in "_-. " for c in name)


def _quoted(name: str, loose: bool) -> str:
    return _in_quotes(name) if _is_quoted(name) and not loose else name


def _in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _write_columnar(table: Table, path: Path, parquet: bool) -> None:
    for name, states in zip(table.names, table.states, strict=True):
        if states is not None and table.has_missing and table.missing_cells(name).all():
            raise DataError(
                f"column {name!r} has no values, and a file would not give back its states: leave it out"
            )
        if states is not None and not all(type(state) is str for state in states):
            _check_same(name, states, _through_polars(name, states))
    frame = table.to_polars()
    # To memory first, for the digest, and since polars would turn a full disk into an error of its own.
    content = io.BytesIO()
    if parquet:
        frame.write_parquet(content)
    else:
        frame.write_ipc(content)
    # Without a note, numbers and dates might be read as of the other kind, or left out.
    pairs = list(zip(table.names, table.states, strict=True))
    categories = _with_categories(frame)
    discrete = [str(name) for name, own in pairs if own is not None and str(name) not in categories]
    seal = Seal(tuple(discrete), tuple(str(name) for name, own in pairs if own is None))
    with atomic_write(path) as stream:
        write_sealed(content.getbuffer(), seal, stream)


def _with_categories(frame: pl.DataFrame) -> set[str]:
    """The columns whose type names their states."""
    import polars as pl

    return {name for name, kind in frame.schema.items() if isinstance(kind, pl.Enum)}


def _through_polars(name: Label, found: Sequence[Any]) -> list[Any]:
    """The states that a reader of the file gets."""
    import polars as pl

    series = _series(found)
    if series is None or series.dtype.is_float() or series.dtype.is_nested() or series.dtype == pl.Object:
        raise DataError(
            f"column {name!r} has states such as {found[0]!r} that a file would not give back as discrete "
            f"states of the same type: convert them to strings"
        )
    return _values(series)


def _series(values: Sequence[Any]) -> pl.Series | None:
    """The values as polars holds them, or None where it cannot."""
    import polars as pl

    try:
        if values and all(isinstance(value, np.datetime64 | np.timedelta64) for value in values):
            return pl.Series(np.array(values))
        return pl.Series(list(values), strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return None


def _values(series: pl.Series) -> list[Any]:
    """The distinct values of a series as states, in its order."""
    if not series.dtype.is_temporal():
        return series.to_list()
    column = Column(series.name, "discrete")
    add_polars(column, series)
    return [column.values[code] for chunk in column.chunks for code in chunk.tolist()]


def to_polars(table: Table) -> pl.DataFrame:
    """The table as a polars frame: text states as an Enum, which keeps their order and absent states."""
    import polars as pl

    columns = {}
    for name, states in zip(table.names, table.states, strict=True):
        if not isinstance(name, str):
            raise DataError(f"column name {name!r} is not a string, as polars needs: rename the column")
        array = table.array(name)
        if states is None:
            columns[name] = pl.Series(array, nan_to_null=table.has_missing)
        elif all(type(state) is str for state in states):
            found = pl.Series(states, dtype=pl.Enum([str(state) for state in states]))
            columns[name] = found.extend_constant(None, 1).gather(array)
        else:
            columns[name] = _plain_series(name, states, table)
    return pl.DataFrame(columns)


def _plain_series(name: str, states: States, table: Table) -> pl.Series:
    import polars as pl

    series = _series(states)
    if series is not None and not series.dtype.is_nested():
        same = [(type(v), v) for v in _values(series)] == [(type(v), v) for v in states]
        if same:
            return series.alias(name).extend_constant(None, 1).gather(table.array(name))
    # Values of mixed or unknown types are held as Python objects.
    return pl.Series(name, table.column(name), dtype=pl.Object)


def to_pandas(table: Table) -> Any:
    """The table as a pandas frame: discrete columns as categoricals with every state, in order."""
    from bayescout.errors import MissingExtraError

    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("pandas", "pandas") from None
    columns = {}
    for position, (name, states) in enumerate(zip(table.names, table.states, strict=True)):
        if states is None:
            columns[position] = pd.Series(table.array(name).copy())
            continue
        one_type = len({type(state) for state in states}) == 1 and type(states[0]) in (str, int, bool, float)
        codes = table.signed_codes(name).astype(np.int32)
        index = pd.Index(list(states), dtype=None if one_type else object, tupleize_cols=False)
        columns[position] = pd.Series(pd.Categorical.from_codes(codes, categories=index))
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index(list(table.names), tupleize_cols=False)
    return frame
