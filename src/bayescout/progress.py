"""One line that tells how far work is: on standard error, or in a notebook as the output of its cell."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

BETWEEN = 0.2
"""Least seconds between two changes of the line in a notebook."""

WIDTH = 100


def progress_line(*columns: ProgressColumn) -> Progress | NotebookLine:
    """A line with these columns of rich's; in a terminal it is gone when the work is done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return (
        NotebookLine(*columns) if console.is_jupyter else Progress(*columns, console=console, transient=True)
    )


class NotebookLine:
    """The line in a notebook. It needs no widgets, and its last state stays in the cell's output."""

    def __init__(self, *columns: ProgressColumn) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._page = io.StringIO()
        console = Console(file=self._page, width=WIDTH, force_jupyter=False, force_terminal=False)
        self._line = Progress(*columns, console=console, auto_refresh=False)
        self._shown: Any = None
        self._last = 0.0

    def start(self) -> None:
        from IPython import display

        show: Any = display.display
        self._shown = show(self._drawn(), raw=True, display_id=True)

    def add_task(self, description: str, total: float | None) -> TaskID:
        return self._line.add_task(description, total=total)

    def update(self, task: TaskID, **changes: Any) -> None:
        self._line.update(task, **changes)
        self._show()

    def advance(self, task: TaskID) -> None:
        self._line.advance(task)
        self._show()

    def stop(self) -> None:
        for task in self._line.tasks:
            self._line.stop_task(task.id)
        self._show(at_once=True)

    def _show(self, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self._last >= BETWEEN:
            self._last = now
            self._shown.update(self._drawn(), raw=True)

    def _drawn(self) -> dict[str, str]:
        """The line as text, by the type under which notebooks know it."""
        self._page.seek(0)
        self._page.truncate()
        self._line.console.print(self._line.get_renderable())
        return {"text/plain": self._page.getvalue().rstrip()}
