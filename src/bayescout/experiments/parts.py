"""Common parts of the tables and figures of several studies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from bayescout.experiments.records import deviation, mean
from bayescout.graph.dag import Dag
from bayescout.plots.values import Cell, Drawn, Series, SummaryTable

if TYPE_CHECKING:
    from bayescout.data.table import Table

UNDEFINED = "---"
"""Text for a probability that the data do not determine."""


def plus_minus(numbers: Sequence[float], digits: int = 2, mark: str = "") -> str:
    """Mean ± standard deviation, as tables print it; a dash if there are no numbers."""
    middle, spread = mean(numbers), deviation(numbers)
    if middle is None:
        return "-"
    shown = f"{middle:,.{digits}f}"
    return shown + ("" if spread is None else f" ± {spread:,.{digits}f}") + mark


def share(count: int, of: int) -> str:
    """A count with its percentage."""
    return f"{count:,} of {of:,} ({100 * count / of:.0f}%)" if of else "none"


def held(traces: Iterable[Sequence[float]]) -> list[list[float]]:
    """Traces extended to the length of the longest: a finished run keeps its last value."""
    own = [list(trace) for trace in traces]
    longest = max(map(len, own), default=0)
    return [trace + trace[-1:] * (longest - len(trace)) for trace in own]


def mean_series(label: str, traces: Iterable[Sequence[float]], band: bool = False) -> Series:
    """The mean of traces at each step; with `band`, one standard deviation to either side."""
    steps = list(zip(*held(traces), strict=True))
    middle = tuple(float(mean(values) or 0.0) for values in steps)
    places = tuple(float(i) for i in range(len(steps)))
    if not band:
        return Series(label, places, middle)
    spread = [deviation(values) or 0.0 for values in steps]
    low = tuple(m - s for m, s in zip(middle, spread, strict=True))
    high = tuple(m + s for m, s in zip(middle, spread, strict=True))
    return Series(label, places, middle, low, high)


def run_series(traces: Iterable[Sequence[float]]) -> tuple[Series, ...]:
    """Every trace as a faint line of its own."""
    return tuple(
        Series(
            f"run {number}", tuple(float(i) for i in range(len(trace))), tuple(map(float, trace)), faint=True
        )
        for number, trace in enumerate(traces, start=1)
    )


def drawn(caption: str, dag: Dag, table: Table | None = None, truth: Dag | None = None) -> Drawn:
    """A graph to be drawn; with a table, its maximum-likelihood probabilities beside it."""
    return Drawn(caption, dag, truth, () if table is None else cpt_tables(dag, table))


def cpt_tables(dag: Dag, table: Table) -> tuple[tuple[Any, SummaryTable], ...]:
    """P(node | parents) of every node, fitted by maximum likelihood; entries without data are `---`."""
    from bayescout.network import fit

    network = fit(dag, table, prior="mle")
    found = []
    for node in dag.nodes:
        cpt = network.cpt(node)
        rows: list[tuple[Cell, ...]] = []
        for assignment, row in cpt.rows():
            cells = [UNDEFINED] * len(cpt.states) if row is None else [f"{p:.3f}" for p in row]
            rows.append((*map(str, assignment.values()), *cells))
        columns = (*map(str, cpt.parents), *map(str, cpt.states))
        found.append((node, SummaryTable(f"cpt-{node}", cpt.title, columns, tuple(rows))))
    return tuple(found)
