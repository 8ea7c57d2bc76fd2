"""The steps of a search, as a value that shows itself as a table of some of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from bayescout.display import Grid, Shown
from bayescout.graph.labels import counted
from bayescout.search.frame.outcome import Step

MOST_STEPS = 20
"""The most steps that are shown."""


class Trace(Shown, tuple[Step, ...]):
    """One `Step` per step: a tuple that prints as a table of the steps at which the best score rose."""

    def _grid(self) -> Grid:
        shown = self._steps_shown()
        rows = tuple(
            (f"{one.step:,}", f"{one.seconds:.3g}", str(one.arcs), f"{one.score:,.3f}", f"{one.best:,.3f}")
            for one in shown
        )
        rest = len(self) - len(shown)
        notes = (f"{counted(rest, 'other step')}; result.plot('trace') draws all",) if rest else ()
        title = f"{counted(len(self) - 1, 'step')} of a search" if self else "no steps of a search"
        return Grid(title, ("step", "seconds", "arcs", "score", "best"), rows, numbers=5, notes=notes)

    def _steps_shown(self) -> list[Step]:
        """The first step, the last, and in between, evenly, those at which the best score rose."""
        if len(self) <= MOST_STEPS:
            return list(self)
        better = [i for i in range(1, len(self) - 1) if self[i].best > self[i - 1].best]
        if len(better) > MOST_STEPS - 2:
            apart = (len(better) - 1) / (MOST_STEPS - 3)
            better = [better[round(i * apart)] for i in range(MOST_STEPS - 2)]
        return [self[i] for i in (0, *better, len(self) - 1)]

    def _columns(self) -> Mapping[Hashable, Sequence[Any]]:
        return {name: [getattr(step, name) for step in self] for name in Step._fields if name != "facts"}
