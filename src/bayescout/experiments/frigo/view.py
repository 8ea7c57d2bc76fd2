"""The records of both studies as the document presents them: by rows, by nodes, and side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bayescout.experiments.frigo.runs import KNOWN, RANDOM
from bayescout.experiments.records import Record, Records, mean
from bayescout.plots.values import Boxes, Cell, Lines, Panel, Series, SummaryTable

Measure = Callable[[Record], float | None]


def of(search: str, name: str) -> Measure:
    """A measure of one search."""
    return lambda record: record.measures[search][name]


def overall(name: str) -> Measure:
    """A measure of the run as a whole."""
    return lambda record: record.measures[name]


def gain(search: str, name: str, over: str = "ges", smaller: bool = False) -> Measure:
    """The difference of a measure between two searches, positive if the first is better."""

    def found(record: Record) -> float | None:
        one, other = record.measures[search][name], record.measures[over][name]
        if one is None or other is None:
            return None
        return float(other - one if smaller else one - other)

    return found


@dataclass(frozen=True, eq=False)
class View:
    """Records of random and of known networks, with the sizes that were run."""

    records: Records
    nodes: tuple[int, ...]
    rows: tuple[int, ...]
    network_rows: tuple[int, ...]

    def random(self, score: str | None = None, **chosen: int) -> Records:
        some = self.records.where(part=RANDOM, **chosen)
        return some if score is None else some.where(score=score)

    def known(self, network: str, rows: int) -> Records:
        return self.records.where(part=KNOWN, network=network, rows=rows)

    def mean(self, measure: Measure, score: str | None = None, **chosen: int) -> float | None:
        return mean(numbers(self.random(score, **chosen), measure))

    # ---- figures

    def by_rows(
        self, name: str, title: str, y_label: str, measure: Measure, score: str | None = None
    ) -> Lines:
        """One line per number of nodes, and their mean, against rows."""
        series = [
            line(
                f"{n} nodes", self.rows, [self.mean(measure, score, nodes=n, rows=r) for r in self.rows], True
            )
            for n in self.nodes
        ]
        middle = [self.mean(measure, score, rows=r) for r in self.rows]
        series.append(line("mean over all sizes", self.rows, middle))
        note = "Thin: one line for each number of nodes."
        return Lines(name, title, "rows", y_label, (Panel("", tuple(series)),), note, log_x=True)

    def by_nodes(
        self, name: str, title: str, y_label: str, measure: Measure, score: str | None = None
    ) -> Lines:
        """One line per number of rows, and their mean, against nodes."""
        series = [
            line(
                f"{r:,} rows",
                self.nodes,
                [self.mean(measure, score, nodes=n, rows=r) for n in self.nodes],
                True,
            )
            for r in self.rows
        ]
        middle = [self.mean(measure, score, nodes=n) for n in self.nodes]
        series.append(line("mean over all samples", self.nodes, middle))
        note = "Thin: one line for each number of rows."
        return Lines(name, title, "nodes", y_label, (Panel("", tuple(series)),), note)

    def both(
        self, name: str, title: str, y_label: str, measure: Measure, score: str | None = None
    ) -> tuple[Lines, Lines]:
        """Both figures, against rows and against nodes, for the surfaces that the document draws."""
        return (
            self.by_rows(f"{name}-rows", f"{title}, by rows", y_label, measure, score),
            self.by_nodes(f"{name}-nodes", f"{title}, by nodes", y_label, measure, score),
        )

    def boxes(
        self, name: str, title: str, y_label: str, network: str, searches: Mapping[str, Measure]
    ) -> Boxes:
        """A box for each search at each number of rows."""
        groups = tuple(
            (f"{label}\n{rows:,}", numbers(self.known(network, rows), measure))
            for rows in self.network_rows
            for label, measure in searches.items()
        )
        return Boxes(name, title, y_label, groups, note="Under each box the search and the rows of data.")

    # ---- tables

    def matrix(
        self,
        name: str,
        title: str,
        measure: Measure,
        score: str | None = None,
        digits: int = 3,
        note: str = "",
    ) -> SummaryTable:
        """Means by rows and nodes."""
        body: list[tuple[Cell, ...]] = []
        for rows in self.rows:
            cells = [self.mean(measure, score, nodes=nodes, rows=rows) for nodes in self.nodes]
            body.append((f"{rows:,}", *(shown(cell, digits) for cell in cells)))
        return SummaryTable(name, title, ("rows", *(f"{n} nodes" for n in self.nodes)), tuple(body), note)

    def beside_printed(
        self,
        name: str,
        title: str,
        printed: Mapping[int, Mapping[int, float]],
        measure: Measure,
        score: str,
        digits: int,
    ) -> SummaryTable:
        """Our means beside the document's printed ones, for the sizes that both have."""
        body: list[tuple[Cell, ...]] = []
        columns = [n for n in self.nodes if any(n in row for row in printed.values())]
        for rows in self.rows:
            if rows in printed:
                own = [self.mean(measure, score, nodes=n, rows=rows) for n in columns]
                cells = [
                    f"{shown(value, digits)} / {printed[rows][n]:.{digits}f}"
                    for n, value in zip(columns, own, strict=True)
                ]
                body.append((f"{rows:,}", *cells))
        heads = ("rows", *(f"{n} nodes" for n in columns))
        return SummaryTable(name, title, heads, tuple(body), "Ours / printed in the document.")

    def pairs(
        self, printed: Mapping[int, Mapping[int, float]], measure: Measure, score: str
    ) -> list[tuple[float, float]]:
        """The pair (ours, printed) for every cell that both have."""
        found = []
        for rows in self.rows:
            for nodes in self.nodes:
                own = self.mean(measure, score, nodes=nodes, rows=rows)
                if own is not None and nodes in printed.get(rows, {}):
                    found.append((own, printed[rows][nodes]))
        return found


def numbers(records: Records, measure: Measure) -> tuple[float, ...]:
    values = (measure(record) for record in records)
    return tuple(float(value) for value in values if value is not None)


def line(label: str, places: Sequence[int], values: Sequence[float | None], faint: bool = False) -> Series:
    known = [(float(x), y) for x, y in zip(places, values, strict=True) if y is not None]
    return Series(label, tuple(x for x, _ in known), tuple(y for _, y in known), faint=faint)


def shown(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
