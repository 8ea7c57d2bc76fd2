"""Tables of an answer's numbers: as text with bars, as HTML in a notebook, and as frames.

A class that derives from `Shown` says in `_grid` what its table is; `repr`, `print` and notebooks show that,
and `to_pandas` and `to_polars` give the numbers themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from bayescout.errors import MissingExtraError, printable

if TYPE_CHECKING:
    import polars as pl

BAR_WIDTH = 20
"""Characters of a whole bar in text."""

MOST_LINES, MOST_HTML_ROWS = 64, 200
"""The most rows of a table that are shown; the others are counted."""

EIGHTHS = " ▏▎▍▌▋▊▉"
FULL = "█"
BAR_COLOUR = "#0072B2"

Interval = tuple[float, float]
"""Where a bar begins and ends, as shares of its column."""


@dataclass(frozen=True)
class Grid:
    """A table to be shown.

    columns  headings, which may be empty
    rows     one text per column
    numbers  how many of the last columns are figures, aligned right
    bars     for each row a bar, drawn after its last column
    notes    lines below the table
    more     how many rows were left out of `rows`, and are counted with those that are not shown
    shades   for each row the share by which each figure is shaded in HTML; None for not at all
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 0
    bars: tuple[Interval, ...] | None = None
    notes: tuple[str, ...] = ()
    more: int = 0
    shades: tuple[tuple[float | None, ...], ...] | None = None

    def text(self) -> str:
        """The title, the table two blanks in, and the notes."""
        shown = [tuple(printable(cell) for cell in row) for row in self.rows[:MOST_LINES]]
        lines = [tuple(printable(name) for name in self.columns), *shown]
        if not any(self.columns):
            del lines[0]
        widths = [max((len(line[i]) for line in lines), default=0) for i in range(len(self.columns))]
        bars = ["" if self.bars is None else bar(*one) for one in (self.bars or [(0, 0)] * len(shown))]
        bars = bars[: len(shown)]
        drawn = [*([""] * (len(lines) - len(shown))), *bars]
        text = [self._line(line, widths, end) for line, end in zip(lines, drawn, strict=True)]
        return "\n".join([printable(self.title), *text, *self._more(MOST_LINES), *self._noted()])

    def _line(self, line: Sequence[str], widths: Sequence[int], end: str) -> str:
        first = len(widths) - self.numbers
        cells = [
            cell.ljust(width) if i < first else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        return ("  " + "  ".join([*cells, end])).rstrip()

    def _more(self, most: int) -> list[str]:
        rest = max(len(self.rows) - most, 0) + self.more
        return [f"  ... {rest:,} more rows"] if rest > 0 else []

    def _noted(self) -> list[str]:
        return [f"  {printable(note)}" for note in self.notes]

    def html(self) -> str:
        """The same as one HTML table; nothing in a label becomes markup."""
        head = "".join(_cell("th", name, i >= self._first) for i, name in enumerate(self.columns))
        head = f"<thead><tr>{head}</tr></thead>" if any(self.columns) else ""
        body = "".join(self._html_row(i) for i in range(min(len(self.rows), MOST_HTML_ROWS)))
        below = [*self._more(MOST_HTML_ROWS), *self._noted()]
        notes = "".join(
            f'<div style="padding:0 6px">{escape(printable(note.strip()))}</div>' for note in below
        )
        title = f'<div style="font-weight:bold;padding:1px 6px">{escape(printable(self.title))}</div>'
        return f"<div>{title}{TABLE}{head}<tbody>{body}</tbody></table>{notes}</div>"

    @property
    def _plain(self) -> list[None]:
        return [None] * self._first

    @property
    def _first(self) -> int:
        """The first column of figures."""
        return len(self.columns) - self.numbers

    def _html_row(self, i: int) -> str:
        shades = [None] * len(self.columns) if self.shades is None else [*self._plain, *self.shades[i]]
        cells = "".join(
            _cell("td", cell, j >= self._first, shade)
            for j, (cell, shade) in enumerate(zip(self.rows[i], shades, strict=True))
        )
        return f"<tr>{cells}{'' if self.bars is None else _html_bar(*self.bars[i])}</tr>"


TABLE = '<table style="border-collapse:collapse">'


def _cell(tag: str, text: str, is_number: bool, shade: float | None = None) -> str:
    side = "right;font-variant-numeric:tabular-nums" if is_number else "left"
    ground = "" if shade is None else f";background:rgba(0,114,178,{0.6 * shade:.3f})"
    return f'<{tag} style="text-align:{side};padding:1px 6px{ground}">{escape(printable(text))}</{tag}>'


def _html_bar(begin: float, end: float) -> str:
    place = f"margin-left:{100 * begin:.2f}%;width:{100 * max(0.0, end - begin):.2f}%"
    least = "min-width:1px;" if end > begin else ""
    return (
        f'<td style="width:12em;min-width:12em;padding:1px 6px;text-align:left">'
        f'<div style="{place};{least}height:0.75em;background:{BAR_COLOUR}"></div></td>'
    )


def bar(begin: float, end: float) -> str:
    """A bar in text; one that is not empty has at least a thin line.

    Where standard output cannot show blocks, of number signs.
    """
    if not end > begin:
        return ""
    left = min(BAR_WIDTH - 1, int(begin * BAR_WIDTH))
    eighths = max(1, round(8 * BAR_WIDTH * (end - begin)))
    if not _has_blocks():
        return " " * left + "#" * max(1, round(eighths / 8))
    return " " * left + FULL * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _has_blocks() -> bool:
    try:
        FULL.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return False
    return True


def probability_text(value: float) -> str:
    """Six digits; a smaller one that is not zero with its exponent."""
    return f"{value:.6f}" if value == 0 or value >= 1e-6 else f"{value:.2e}"


# ---- what shows itself


class Shown:
    """A value whose `repr`, text and notebook display are its table."""

    def _grid(self) -> Grid:
        raise NotImplementedError

    def _columns(self) -> Mapping[Hashable, Sequence[Any]]:
        """The numbers and their labels, by column, for frames."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self._grid().text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._grid().html()

    def to_pandas(self) -> Any:
        """The numbers as a pandas frame, one row per line of the table."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("pandas", "pandas") from None
        columns = self._columns()
        found = pd.DataFrame({i: _pandas_column(pd, cells) for i, cells in enumerate(columns.values())})
        found.columns = pd.Index(list(columns), tupleize_cols=False)
        return found

    def to_polars(self) -> pl.DataFrame:
        """The numbers as a polars frame; labels that polars cannot hold together become text."""
        import polars as pl

        return pl.DataFrame([_polars_series(str(name), cells) for name, cells in self._columns().items()])


class ShownText:
    """A value whose `repr` and notebook display are its text."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f'<pre style="font-family:monospace;white-space:pre-wrap">{escape(str(self))}</pre>'


class Lines(str):
    """Text of several lines, which a prompt shows as they are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _pandas_column(pd: Any, cells: Sequence[Any]) -> Any:
    return pd.Series(list(cells), dtype=None if _is_plain(cells) else object)


def _polars_series(name: str, cells: Sequence[Any]) -> Any:
    import polars as pl

    large = any(type(cell) is int and not -(2**63) <= cell < 2**63 for cell in cells)
    if _is_plain(cells) and not large:
        return pl.Series(name, list(cells))
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], dtype=pl.String)


def _is_plain(cells: Sequence[Any]) -> bool:
    """Return True if all cells are of one plain type, None apart."""
    kinds = {type(cell) for cell in cells if cell is not None}
    return len(kinds) <= 1 and kinds <= {str, int, float, bool}


def own_name(wanted: str, taken: Sequence[Hashable]) -> str:
    """A column name that no label has."""
    names = set(map(str, taken))
    while wanted in names:
        wanted += "_"
    return wanted
