"""A small table inside a node's box: its conditional probabilities, or other values from a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from bayescout.plots.text import one_line, shortened, text_width

TABLE_FONT = 9.0
ROW_HEIGHT = 13.0
CELL_GAP = 9.0
TABLE_PADDING = 8.0
MAX_ROWS = 9
MAX_CELL = 14


@dataclass(frozen=True)
class NodeTable:
    """Column heads, rows of text, the number of rows not shown; `leading` columns are aligned left."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    leading: int = 0
    more: int = 0

    @classmethod
    def of(cls, columns: Sequence[object], rows: Sequence[Sequence[object]], leading: int = 0) -> NodeTable:
        """Make a table from any values; numbers get three digits, None is a dash, long tables are cut."""
        shown = tuple(tuple(_cell(value) for value in row) for row in rows[:MAX_ROWS])
        more = max(0, len(rows) - MAX_ROWS)
        return cls(tuple(_cell(column) for column in columns), shown, leading, more)

    @property
    def widths(self) -> tuple[float, ...]:
        lines = [self.columns, *self.rows]
        return tuple(max(text_width(line[k], TABLE_FONT) for line in lines) for k in range(len(self.columns)))

    @property
    def lines(self) -> int:
        """The number of lines of the table, including heads and the count of further rows."""
        return 1 + len(self.rows) + bool(self.more)

    @property
    def more_text(self) -> str:
        return f"… {self.more:,} more"

    def box_size(self, width: float, height: float) -> tuple[float, float]:
        """The size of a box that holds a label of this width and height with the table under it."""
        own = sum(self.widths) + CELL_GAP * max(0, len(self.columns) - 1)
        own = max(own, text_width(self.more_text, TABLE_FONT) if self.more else 0.0)
        return max(width, own + 2 * TABLE_PADDING), height + self.lines * ROW_HEIGHT + 6


def _cell(value: object) -> str:
    if value is None:
        return "---"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) >= 1 or value == 0 else f"{value:.3f}"
    return shortened(one_line(value), MAX_CELL)


def cpt_table(model: Any, node: object) -> NodeTable:
    """The parameters of one node: conditional probabilities, or a regression."""
    found = model.parameters(node)
    rows = list(islice(found.lines(), MAX_ROWS))
    shown = NodeTable.of(found.columns, rows, found.leading)
    return replace(shown, more=found.n_rows - len(rows))
