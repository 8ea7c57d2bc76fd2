"""The distribution of every node, as one answer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from bayescout.data.table import Label
from bayescout.display import Grid, Interval, Shown, probability_text
from bayescout.network.distribution import Distribution
from bayescout.network.headings import Evidence, heading


class Marginals(Shown, dict[Label, Any]):
    """A dict from each node to its distribution, which shows itself as one table."""

    def __init__(self, answers: Any = (), evidence: Evidence = (), done: Evidence = ()) -> None:
        super().__init__(answers)
        self.evidence = evidence
        self.done = done

    __repr__ = Shown.__repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), self.evidence, self.done)

    def _lines(self) -> list[tuple[Label, Any, float | None, float | None, float | None]]:
        """(node, state, probability, mean, variance), None where a node has no such thing."""
        found: list[tuple[Label, Any, float | None, float | None, float | None]] = []
        for label, one in self.items():
            if isinstance(one, Distribution):
                found += [(label, state, p, None, None) for (state,), p in one.rows()]
            else:
                found.append((label, None, None, one.mean, one.variance))
        return found

    def _grid(self) -> Grid:
        rows, bars = [], []
        before: list[Label] = []
        for label, state, p, mean, variance in self._lines():
            bar: Interval = (0.0, 0.0 if p is None else p)
            number = f"N({mean:.6g}, {variance:.6g})" if p is None else probability_text(p)
            if p is None and len(getattr(self[label], "weights", "1")) > 1:
                number = f"mean {mean:.6g}, variance {variance:.6g}"
            rows.append(("" if before == [label] else str(label), "" if p is None else str(state), number))
            bars.append(bar)
            before = [label]
        title = heading(("each node",), self.evidence, self.done)
        return Grid(title, ("", "", ""), tuple(rows), 1, tuple(bars))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        lines = self._lines()
        names = ("node", "state", "probability", "mean", "variance")
        found: dict[Hashable, Sequence[Any]] = {
            name: [line[i] for line in lines] for i, name in enumerate(names)
        }
        return {
            name: cells
            for name, cells in found.items()
            if any(cell is not None for cell in cells) or not cells
        }
