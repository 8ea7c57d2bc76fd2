"""The summary of a user's own study: a comparison of the searches for each data and score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayescout.experiments.comparisons import daggers
from bayescout.experiments.own.names import data_label, label_of
from bayescout.experiments.parts import mean_series, plus_minus, share
from bayescout.experiments.records import Record, Records
from bayescout.experiments.study import canonical
from bayescout.experiments.summary import Outcome, Section
from bayescout.plots.values import Boxes, Cell, Lines, Panel, Series, SummaryTable

EQUAL = 1e-6
NOTE = (
    "Mean ± standard deviation. † differs from the smallest mean shortfall by the Mann-Whitney test at 5%; "
    "runs of a search that does not depend on the seed count once for each data set."
)
COLUMNS = (
    "search", "start", "runs", "score", "best", "short of the best known", "at the best known", "CPU seconds",
    "steps", "arcs", "SHD", "SHD of the classes", "F of arcs", "F of adjacencies",
)  # fmt: skip


def outcome(title: str, records: Records) -> Outcome:
    """The outcome, with one section for each data and score."""
    introduction = (
        "Scores are in nats, larger is better. The best known of a data set is the best that any run of this "
        "study met. † differs from the smallest mean shortfall by the Mann-Whitney test at 5%."
    )
    short = _shortfalls(records)
    sections = tuple(
        _section(number, data, score, some, short)
        for number, (data, score, some) in enumerate(_cells(records), start=1)
    )
    return Outcome("own", title, "", introduction, (), sections)


def _cells(records: Records) -> Iterator[tuple[str, Any, Records]]:
    """Records by data, with samples of one size together, and by score; each data has a unique label."""
    sources: dict[str, list[Record]] = {}
    for record in records:
        data = record.run["data"]
        unseeded = canonical({name: value for name, value in data.items() if name != "seed"})
        sources.setdefault(unseeded, []).append(record)
    labels: list[str] = []
    for own in sources.values():
        labels.append(data_label(own[0].run["data"]))
        again = labels.count(labels[-1])  # equal file names in two folders, or one file read in two ways
        label = labels[-1] if again == 1 else f"{labels[-1]} ({again})"
        for (score,), some in Records(own).groups("score"):
            yield label, score, some


def _shortfalls(records: Records) -> dict[str, float]:
    """The shortfall of each run, by key, from the best score known on the same rows with the same score."""
    found: dict[str, float] = {}
    for _, some in records.groups("data", "score"):
        best = max(some.numbers("score"))
        found |= {record.key: best - record.measures["score"] for record in some}
    return found


def _section(number: int, data: str, score: Any, some: Records, short: dict[str, float]) -> Section:
    groups = [own for _, own in some.groups("search", "start")]
    missing = [[short[record.key] for record in own] for own in groups]
    marks = daggers([_apart(own, short) for own in groups], larger=False)
    rows = [_row(own, below, mark) for own, below, mark in zip(groups, missing, marks, strict=True)]
    table = SummaryTable(f"summary-{number}", f"{data}: {label_of(score)}", COLUMNS, tuple(rows), NOTE)
    best = min(zip(missing, groups, strict=True), key=lambda pair: sum(pair[0]) / len(pair[0]))[1]
    text = f"The smallest mean shortfall is that of {_name(best)}."
    boxes = Boxes(
        f"shortfall-{number}",
        f"Short of the best known: {data}, {label_of(score)}",
        "nats below the best known",
        tuple((_name(own), tuple(below)) for own, below in zip(groups, missing, strict=True)),
    )
    return Section(
        f"{data}, {label_of(score)}", text, (table,), (boxes, _progress(number, data, score, groups))
    )


def _apart(own: Records, short: dict[str, float]) -> list[float]:
    """Shortfalls to test; one per data set if seeds change nothing, as in a deterministic search."""
    found: list[float] = []
    for _, some in own.groups("data"):
        values = [short[record.key] for record in some]
        found += values[:1] if max(values) - min(values) < EQUAL else values
    return found


def _name(own: Records) -> str:
    start = own[0].run["start"]
    return label_of(own[0].run["search"]) + (" from random" if start == "random" else "")


def _row(own: Records, below: list[float], mark: str) -> tuple[Cell, ...]:
    truth = "shd" in own[0].measures
    compared = [
        plus_minus(own.numbers(name), digits) if truth else None
        for name, digits in (("shd", 1), ("shd_cpdag", 1), ("f1", 3), ("adjacency_f1", 3))
    ]
    return (
        label_of(own[0].run["search"]),
        own[0].run["start"],
        len(own),
        plus_minus(own.numbers("score")),
        max(own.numbers("score")),
        plus_minus(below, mark=mark),
        share(sum(x < EQUAL for x in below), len(below)),
        plus_minus(own.numbers("cpu_seconds"), 4),
        plus_minus(own.numbers("iterations"), 1),
        plus_minus(own.numbers("arcs"), 1),
        *compared,
    )


def _progress(number: int, data: str, score: Any, groups: list[Records]) -> Lines:
    """The best score by step, on the first data set, one panel per kind of start."""
    first = canonical(groups[0][0].run["data"])
    panels: dict[str, list[Series]] = {}
    for own in groups:
        traces = [r.measures["trace"]["best"] for r in own if canonical(r.run["data"]) == first]
        if traces:
            line = mean_series(label_of(own[0].run["search"]), traces)
            panels.setdefault(own[0].run["start"], []).append(line)
    return Lines(
        f"progress-{number}",
        f"Best score by step: {data}, {label_of(score)}",
        "step",
        "score",
        tuple(Panel(f"from {start}", tuple(lines)) for start, lines in panels.items()),
        "Means of the runs on the first sample.",
    )
