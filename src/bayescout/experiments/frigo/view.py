"""The records of both studies as the document presents them: by rows, by nodes, and side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bayescout.experiments.frigo.runs import COLLIDER, KNOWN, RANDOM
from bayescout.experiments.frigo.scores import TITLES
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
    """Records of random and of known networks, with the sizes that were run; `score` if none is named."""

    records: Records
    nodes: tuple[int, ...]
    rows: tuple[int, ...]
    network_rows: tuple[int, ...]
    score: str

    @cached_property
    def _random(self) -> dict[tuple[str, int, int], Records]:
        some = self.records.where(part=RANDOM)
        return {(s, n, r): own for (s, n, r), own in some.groups("score", "nodes", "rows")}

    def random(self, score: str | None = None, nodes: int | None = None, rows: int | None = None) -> Records:
        """Records of random networks of a score; of one size, or of all."""
        chosen = (score or self.score, nodes, rows)
        groups = (
            own
            for key, own in self._random.items()
            if all(want in (None, have) for want, have in zip(chosen, key, strict=True))
        )
        return Records(record for own in groups for record in own)

    def known(self, network: str, rows: int, score: str | None = None) -> Records:
        return self.records.where(part=KNOWN, network=network, rows=rows, score=score or self.score)

    def mean(
        self, measure: Measure, score: str | None = None, nodes: int | None = None, rows: int | None = None
    ) -> float | None:
        return mean(numbers(self.random(score, nodes, rows), measure))

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
        note = "Thin: one line for each number of nodes, named at its end."
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
        note = "Thin: one line for each number of rows, named at its end."
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
            (f"{label}\n{rows:,} rows", numbers(self.known(network, rows), measure))
            for rows in self.network_rows
            for label, measure in searches.items()
        )
        note = "Every pair has a scale of its own, as in the document."
        return Boxes(name, title, y_label, groups, note=note, per_panel=len(searches))

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
        scores: Sequence[str],
        digits: int,
    ) -> SummaryTable:
        """Our means beside the document's printed ones, for the sizes that both have, by score."""
        body: list[tuple[Cell, ...]] = []
        columns = [n for n in self.nodes if any(n in row for row in printed.values())]
        for rows in self.rows:
            if rows in printed:
                body.append((f"{rows:,}", "printed", *(f"{printed[rows][n]:.{digits}f}" for n in columns)))
                for score in scores:
                    own = [self.mean(measure, score, nodes=n, rows=rows) for n in columns]
                    body.append((f"{rows:,}", TITLES[score], *(shown(value, digits) for value in own)))
        heads = ("rows", "", *(f"{n} nodes" for n in columns))
        return SummaryTable(name, title, heads, tuple(body))

    def pairs(
        self, printed: Mapping[int, Mapping[int, float]], measure: Measure, score: str
    ) -> dict[str, tuple[float, float]]:
        """The pair (printed, ours) of every cell that both have, by its title."""
        found = {}
        for rows in self.rows:
            for nodes in self.nodes:
                own = self.mean(measure, score, nodes=nodes, rows=rows)
                if own is not None and nodes in printed.get(rows, {}):
                    found[cell(nodes, rows)] = (printed[rows][nodes], own)
        return found

    def gains_at(self, rows: int, score: str, search: str = "imap") -> dict[int, float]:
        """The mean gain in adjacency F of a search at a number of rows, by nodes."""
        found = {n: self.mean(gain(search, "f"), score, nodes=n, rows=rows) for n in self.nodes}
        return {nodes: value for nodes, value in found.items() if value is not None}

    def cells(self, measure: Measure, score: str | None = None) -> dict[str, float]:
        """The mean of every size, by its title."""
        means = {
            cell(n, r): self.mean(measure, score, nodes=n, rows=r) for n in self.nodes for r in self.rows
        }
        return {title: value for title, value in means.items() if value is not None}


def cell(nodes: int, rows: int) -> str:
    return f"{nodes} nodes, {rows:,} rows"


def numbers(records: Records, measure: Measure) -> tuple[float, ...]:
    values = (measure(record) for record in records)
    return tuple(float(value) for value in values if value is not None)


def line(label: str, places: Sequence[int], values: Sequence[float | None], faint: bool = False) -> Series:
    known = [(float(x), y) for x, y in zip(places, values, strict=True) if y is not None]
    return Series(label, tuple(x for x, _ in known), tuple(y for _, y in known), faint=faint)


def shown(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


# ---- the collider


def shares(sizes: Sequence[int], records: Records, search: str, score: str) -> dict[int, float]:
    """The share of data sets with the right adjacencies, by rows."""
    found = {}
    for rows in sizes:
        some = records.where(part=COLLIDER, rows=rows, score=score)
        sets = sum(some.numbers("sets"))
        right = sum(record.measures["right"][search] for record in some)
        if sets:
            found[rows] = right / sets
    return found


def collider_gains(sizes: Sequence[int], records: Records, score: str) -> dict[int, float]:
    """The gain of I-map in that share, by rows."""
    ges, imap = (shares(sizes, records, search, score) for search in ("ges", "imap"))
    return {rows: imap[rows] - ges[rows] for rows in ges}


def spread(pairs: Mapping[str, tuple[float, float]]) -> float | None:
    """The mean of |ln ours - ln printed|; 0.69 is a factor of 2."""
    return mean([abs(math.log(own / said)) for said, own in pairs.values() if own > 0])
