"""Read tables from files, batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.data.about_rows import AboutRows
from bayescout.data.absent import USUAL_MARKS, Marks
from bayescout.data.assemble import assemble, check_policy
from bayescout.data.blocks import (
    STANDARD_INPUT,
    Block,
    TextFormat,
    check_file,
    parse_block,
    quoted_cells,
    read_blocks,
    read_header,
)
from bayescout.data.columnar import Columns, open_columnar
from bayescout.data.columns import Column, check_declarations
from bayescout.data.declared import DeclaredStates, Kinds, chosen, listed
from bayescout.data.matrix import Numbers, numbers_in, require_room, table_of
from bayescout.data.memory import prepare_to_parse
from bayescout.data.pieces import Floats, add_array, is_exact, settle_times
from bayescout.data.plain_numbers import add_batch
from bayescout.data.seal import Seal
from bayescout.data.separators import with_found_separator
from bayescout.data.table import Kind, MissingPolicy, States, Table
from bayescout.data.text import ReadAgain, TextColumn
from bayescout.errors import DataError, FormatError, SettingError, TooLargeError, did_you_mean, is_numeral
from bayescout.wording import setting

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

SEPARATORS = {".csv": ",", ".tsv": "\t"}
DATA_FILES = (".dat", ".data", ".txt")
COLUMNAR = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
ARRAY = ".npy"
HEADER_BYTES = 1 << 16
HEAD_ROWS = 200
"""Rows that are read before the kind of a column is told, where `HEAD_BLOCKS` hold them."""

HEAD_BLOCKS = 16
AS_WRITTEN = "as the file was written"


def read_table(
    path: str | os.PathLike[str],
    kinds: Kinds | None = None,
    states: DeclaredStates | None = None,
    missing: MissingPolicy = "keep",
    weights: Any = None,
    missing_values: Sequence[Any] | None = None,
    separator: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    interventions: Any = None,
    memory: int | float | str | None = None,
) -> Table:
    """Read the table in a file, in the format given by its extension.

    csv, tsv        names in the first line; may be compressed (.csv.gz). Cells are separated by
                    `separator`, or else by commas (tabs), unless these do not fit the first two lines and
                    semicolons, tabs, commas or bars do: `Table.reading` tells
    parquet (pq)    typed columns
    arrow           (feather, ipc) typed columns
    npy             an array of NumPy, one row a sample: columns are named 0, 1, 2, ...; never Python objects
    dat, data, txt  a line of node names, then one line of values per sample, separated by white space
                    or, if the first line has a comma, by commas

    The path "-" is csv from standard input. In text the empty cell and the cells NA, N/A, n/a, #N/A, NaN,
    nan, null, NULL and ? are missing, with a warning of how many; `missing_values` declares others in place
    of those texts, and `missing_values=()` keeps them as states. In quotes they are texts, unless the rest of
    the column are numbers. None is a text like any other. A column of numbers becomes numbers, any other
    text: TRUE and 01 stay as they are. A column whose cells are in quotes is text whatever they look like,
    unless the whole file, names included, is in quotes. The other arguments are those of `as_table`;
    columns that are left out cost only the reading of their text. A line of text has at most 16 MB, and a
    text file at most 100,000 columns. A folder or a pattern such as "rows/*.parquet" is one table in several
    Parquet or Arrow files; those, or one such file if `memory` is given, are kept on disk if they do not fit.
    """
    from bayescout.data.past.scan import is_past, read_past

    check_policy(missing)
    if is_past(path, memory):
        return read_past(
            path, kinds, states, missing, weights, missing_values, columns, drop, interventions, memory
        )
    if memory is not None:
        raise SettingError(
            f"{path}: memory= is for Parquet and Arrow files, and text is read into memory: write it as "
            f"Parquet, with bayescout.write_table or polars"
        )
    path, form = _opened(path, separator)
    usual = USUAL_MARKS if missing_values is None and form is not None else ()
    marks = Marks(listed(missing_values), usual, asked=missing_values is not None)
    declared = _Declared(kinds, states, weights, interventions, marks, columns, drop)
    try:
        if form is not None:
            plan, read = _read_text(form, declared)
        else:
            found = (_read_array if path.suffix.lower() == ARRAY else _read_columnar)(path, declared, missing)
            if isinstance(found, Table):
                return found
            plan, read = found
        table = assemble(read, missing, plan.about)
    except DataError as error:
        raise type(error)(f"{path}: {error}{_maybe_blanks(form)}") from None
    except TooLargeError:
        raise
    except MemoryError:
        raise TooLargeError(
            f"{path}: there is not enough memory for its table: read fewer columns, or raise the limit"
        ) from None
    declared.marks.warn()
    return replace(table, notes=replace(table.notes, separator=plan.separator)) if plan.separator else table


def _opened(path: str | os.PathLike[str], separator: str | None) -> tuple[Path, TextFormat | None]:
    """The path, and its layout if it is a text file; "-" is csv from standard input."""
    if os.fspath(path) == "-":
        form = _text_format(Path("standard input.csv"), separator)
        assert form is not None
        return STANDARD_INPUT, replace(form, path=STANDARD_INPUT)
    path = Path(path)
    check_file(path)
    return path, _text_format(path, separator)


def names_in(path: str | os.PathLike[str], separator: str | None = None) -> list[Any]:
    """The names of the columns of a file, without reading its rows."""
    path = _first_of_many(path)
    path, form = _opened(path, separator)
    if form is None and path.suffix.lower() == ARRAY:
        return list(range(open_array(path).shape[1]))
    if form is None:
        with open_columnar(path) as source:
            return source.names
    with closing(read_blocks(form, HEADER_BYTES)) as blocks:
        return _read_names(form, next(blocks, None))[1]


def _first_of_many(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The first file of a folder or a pattern; a single file is itself."""
    from bayescout.data.past.sources import paths_of

    found = paths_of(path)
    return path if found is None else found[0]


@dataclass(frozen=True)
class _Declared:
    """The user's declarations about the columns."""

    kinds: Any
    states: Any
    weights: Any
    interventions: Any
    marks: Marks
    columns: Sequence[str] | None
    drop: Sequence[str] | None

    @property
    def is_nothing(self) -> bool:
        said = (self.kinds, self.states, self.weights, self.interventions, self.columns, self.drop)
        return all(one is None for one in said) and not self.marks.asked


class _Plan:
    """The columns to read from a file and their declarations, once its names are known."""

    def __init__(self, names: Sequence[Any], declared: _Declared, separator: str = "") -> None:
        self.separator = separator
        self.about = AboutRows.of(declared.weights, declared.interventions, names)
        self.kinds, self.states = check_declarations(names, declared.kinds, declared.states, self.about)
        self.names: list[Any] = [
            n if type(n) is int else str(n)
            for n in chosen(names, declared.columns, self.about.columns, declared.drop)
        ]
        self.marks = declared.marks
        self.chosen = declared.columns is not None
        self.noted: set[str] = set()

    def note(self, seal: Seal | None) -> None:
        """Take the note in a file of our own as declared, for columns that the user does not declare."""
        if seal is None:
            return
        noted: dict[str, Kind] = dict.fromkeys(seal.discrete, "discrete")
        for name, kind in (noted | dict.fromkeys(seal.continuous, "continuous")).items():
            if name in self.names and name not in self.kinds and name not in self.states:
                self.kinds[name] = kind
                self.noted.add(name)

    def of_column(self, name: Any) -> tuple[Kind | None, States | None, Marks]:
        return self.kinds.get(name), self.states.get(name), self.marks

    def mark(self, columns: Iterable[Column]) -> None:
        """Note in the columns that they were asked for, or that the file itself gives their kind."""
        for column in columns:
            column.chosen = self.chosen
            if column.name in self.noted:
                column.origin = AS_WRITTEN


def _text_format(path: Path, separator: str | None) -> TextFormat | None:
    """The layout of a text file, or None for a columnar file."""
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\n\r'):
        raise SettingError(
            f"separator must be one character other than a quote or a line end, not {separator!r}"
        )
    suffix = path.suffix.lower()
    if suffix == ".gz":
        suffix = Path(path.stem).suffix.lower()
        if suffix in COLUMNAR:
            suffix += ".gz"
    if suffix in SEPARATORS:
        return TextFormat(path, separator or SEPARATORS[suffix], open=separator is None)
    if suffix in DATA_FILES:
        return TextFormat(path, separator or "\t", quotes=False, loose=True)
    if suffix in COLUMNAR or suffix == ARRAY:
        return None
    raise unknown_extension(path)


SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
"""Files that are not read, with an error that says what to do."""


def unknown_extension(path: Path) -> FormatError:
    """The error for a file whose extension is not a known format."""
    known = [*SEPARATORS, *COLUMNAR, ARRAY, *DATA_FILES]
    hint = did_you_mean(path.suffix, known)
    if path.suffix.lower() in SPREADSHEETS:
        hint = "save the sheet as CSV, or read it with pandas.read_excel(path) and give the frame; "
    said = f"unknown extension {path.suffix!r}; {hint}known: {', '.join(known)}, and .csv.gz, .tsv.gz"
    return FormatError(said, path=path)


def _read_text(form: TextFormat, declared: _Declared) -> tuple[_Plan, list[Column]]:
    """The columns of a text file; reading restarts if a column taken for numbers turns out to be text."""
    prepare_to_parse(form.path)
    as_text: set[str] = set()
    while True:
        with closing(read_blocks(form)) as blocks:
            form, names, header, first = _read_names(form, next(blocks, None))
            as_text |= _kept_as_text(names, header, quoted_cells(form, first.lines))
            plan = _Plan(names, declared, form.separator if form.found else "")
            columns = {
                n: TextColumn(n, *plan.of_column(n), as_text=n in as_text, commas=form.separator != ",")
                for n in plan.names
            }
            if "" in columns:
                columns[""].unnamed = True
            plan.mark(columns.values())
            if not all((*header, *quoted_cells(form, first.lines))):  # then quotes mark text
                form = replace(form, protected=plan.marks.usual)
            try:
                _fill(form, [columns.get(name) for name in names], first, blocks)
            except ReadAgain as again:
                as_text.add(str(again.name))
                continue
        return plan, list(columns.values())


def _read_names(form: TextFormat, first: Block | None) -> tuple[TextFormat, list[str], list[bool], Block]:
    """The names in the first line and which of them are quoted, and the block without it."""
    if first is None:
        raise form.error("is empty; a line of names and at least one row are needed")
    form = with_found_separator(_with_commas(form, first), first)
    quoted = quoted_cells(form, first.lines)
    names, rest = read_header(form, first)
    _check_header(form, names, any(quoted))
    return form, names, quoted, rest


def _maybe_blanks(form: TextFormat | None) -> str:
    """A hint for an error of a file with one column, if its first two lines have equally many words."""
    if form is None or form.loose or form.path == STANDARD_INPUT:
        return ""
    with closing(read_blocks(form)) as blocks:
        first = next(blocks, None)
    lines = [] if first is None else first.lines.split(b"\n")[:2]
    words = {len(line.split()) for line in lines}
    cells = {line.count(separator) for line in lines for separator in (b",", b";", b"\t", b"|")}
    if len(lines) < 2 or len(words) != 1 or words == {1} or cells != {0}:
        return ""
    return "; if blanks separate the cells, name the file .txt"


def _kept_as_text(names: Sequence[str], header: Sequence[bool], record: Sequence[bool]) -> set[str]:
    """The columns whose cells are in quotes: quotes mark text, unless the whole file is in quotes."""
    if all(header) and all(record):
        return set()
    return {name for name, quoted in zip(names, record, strict=False) if quoted}


def _with_commas(form: TextFormat, first: Block) -> TextFormat:
    """The format of a data file, separated by commas if its first line has one."""
    line = first.lines.lstrip().partition(b"\n")[0]
    if form.loose and form.separator == "\t" and b"," in line:
        return TextFormat(form.path, ",", quotes=False, loose=True)
    return form


def _check_header(form: TextFormat, names: Sequence[str], quoted: bool) -> None:
    if not names:
        raise form.error("the first line is blank, and must hold the names: delete the blank line", 1)
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name and (position > 1 or len(names) == 1 or form.loose):
            raise form.error(f"column {position} of {len(names)} has no name: name it, or delete it", 1)
        if name in seen:
            way = "; rename one of the columns"
            if is_numeral(name):
                way += ", or put a line of names above the first row if there is none"
            raise form.error(f"column name {name!r} occurs more than once{way}", 1)
        seen.add(name)
    if len(names) == 1 and not form.loose and not quoted:
        for other in ";\t,|":
            if other in names[0] and other != form.separator:
                raise form.error(
                    f"only one column, named {names[0]!r}; is it {setting('separator', other)}?", 1
                )


def _fill(
    form: TextFormat, columns: Sequence[TextColumn | None], first: Block, blocks: Iterator[Block]
) -> None:
    """Add every row; None stands for a column that is skipped."""
    import polars as pl

    frames = (parse_block(form, block, len(columns)) for block in _chain(first, blocks))
    head = _head(frames)
    rows = sum(frame.height for frame in head)
    if rows:
        together = pl.concat(head, rechunk=True)
        add_batch(columns, together.get_columns(), whole=rows < HEAD_ROWS and len(head) < HEAD_BLOCKS)
    for frame in frames:
        rows += frame.height
        add_batch(columns, frame.get_columns(), whole=False)
    if not rows:
        raise form.error("has a line of names and no rows; at least one row is needed")
    for column in columns:
        if column is not None:
            column.settle()


def _head(frames: Iterator[pl.DataFrame]) -> list[pl.DataFrame]:
    """The first frames: so many that their rows tell the kinds of most columns, or all."""
    taken: list[pl.DataFrame] = []
    for frame in islice(frames, HEAD_BLOCKS):
        taken.append(frame)
        if sum(one.height for one in taken) >= HEAD_ROWS:
            break
    return taken


def _chain(first: Block, blocks: Iterator[Block]) -> Iterator[Block]:
    if first.lines:
        yield first
    yield from blocks


def _read_array(
    path: Path, declared: _Declared, missing: MissingPolicy
) -> Table | tuple[_Plan, list[Column]]:
    """The columns of an array in a file of NumPy, named 0, 1, 2, ..."""
    cells = open_array(path)
    if declared.is_nothing:
        numbers = numbers_in(cells)
        table = None if numbers is None else table_of(numbers, missing)
        if table is not None:
            return table
    names: Any = range(cells.shape[1])
    plan = _Plan(names, declared)
    columns = [Column(name, *plan.of_column(name)) for name in plan.names]
    plan.mark(columns)
    for column in columns:
        add_array(column, cells[:, names.index(column.name)])
    return plan, columns


def open_array(path: Path) -> NDArray[Any]:
    """The array in a file of NumPy, mapped and not yet read; never one of Python objects."""
    try:
        cells = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError, SyntaxError, TypeError, OverflowError) as error:
        said = str(error)
        if any(word in said for word in ("pickle", "Object arrays", "Python objects")):
            said = "it holds no array of numbers; Python objects are not read"
        raise FormatError(f"cannot be read as an array of NumPy: {said}", path=path) from None
    if not isinstance(cells, np.ndarray) or cells.ndim != 2 or cells.dtype.kind not in "fiub":
        shape = getattr(cells, "shape", None)
        raise FormatError(
            f"holds {'no array' if shape is None else f'an array of shape {shape} of {cells.dtype}'}; "
            f"needed are two dimensions, one row a sample and one column a variable, of numbers",
            path=path,
        )
    if not cells.size:
        raise FormatError(f"has {cells.shape[0]} rows and {cells.shape[1]} columns; it is empty", path=path)
    return cells


def _all_floats(
    path: Path, source: Columns, declared: _Declared, missing: MissingPolicy
) -> Table | list[Column] | None:
    """The table of a file of many floats about which nothing is declared; columns if cells are missing."""
    noted = source.seal is None or len(source.seal.continuous) == len(source.names)
    if not (source.floats and declared.is_nothing and noted):
        return None
    p = len(source.names)
    kind = np.float32 if source.floats == "float32" else np.float64
    require_room(p, source.rows, kind)
    cells = np.empty((p, source.rows), dtype=kind)
    ends = [0] * p
    for start, pieces in source.batches(range(p), [False] * p, narrow=True):
        for place, piece in enumerate(pieces, start):
            assert isinstance(piece, Floats)
            end = ends[place] + len(piece.array)
            cells[place, ends[place] : end] = piece.array
            ends[place] = end
    numbers = Numbers(source.names, source.rows, kind, whole=cells)
    table = table_of(numbers, missing, "" if source.seal is None else AS_WRITTEN)
    if table is not None:
        return table
    columns = [Column(name) for name in source.names]
    for column, own in zip(columns, cells, strict=True):
        add_array(column, own)
    return columns


def _read_columnar(
    path: Path, declared: _Declared, missing: MissingPolicy
) -> Table | tuple[_Plan, list[Column]]:
    with open_columnar(path) as source:
        names = source.names
        if not names:
            raise FormatError("has no columns", path=path)
        plan = _Plan(names, declared)
        found = _all_floats(path, source, declared, missing) if source.rows else None
        if isinstance(found, Table):
            return found
        if found is not None:
            plan.mark(found)
            return plan, found
        plan.note(source.seal)
        columns = [Column(name, *plan.of_column(name)) for name in plan.names]
        plan.mark(columns)
        position = {name: place for place, name in enumerate(names)}
        places = [position[name] for name in plan.names]
        for start, pieces in source.batches(places, [is_exact(column) for column in columns]):
            for column, piece in zip(columns[start:], pieces, strict=False):
                piece.add_to(column)
    for column in columns:
        settle_times(column)
    if columns and not columns[0].n_rows:
        raise FormatError("has no rows; at least one row is needed", path=path)
    return plan, columns


def read_cells(path: str | os.PathLike[str], separator: str | None = None) -> pl.DataFrame:
    """Every column of a file as it stands there: verbatim text, or typed where the file has types."""
    import polars as pl

    path, form = _opened(path, separator)
    if form is None and path.suffix.lower() == ARRAY:
        cells = open_array(path)
        return pl.DataFrame({str(i): np.ascontiguousarray(cells[:, i]) for i in range(cells.shape[1])})
    if form is None:
        parquet = path.suffix.lower() in (".parquet", ".pq")
        return pl.read_parquet(path) if parquet else pl.read_ipc(path)
    with closing(read_blocks(form)) as blocks:
        form, names, _, first = _read_names(form, next(blocks, None))
        parts = [parse_block(form, block, len(names)) for block in _chain(first, blocks)]
    frame = pl.concat(parts)
    frame.columns = names
    return frame
