"""A study as a folder: tables, figures, and one page that reads like a results section."""

from __future__ import annotations

import base64
import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Protocol

from bayescout.errors import FormatError, SettingError
from bayescout.experiments.summary import Finding, Outcome, Section
from bayescout.formats.text import write_text
from bayescout.plots.style import matplotlib
from bayescout.plots.values import Cell, Figure, SummaryTable
from bayescout.report.provenance import version
from bayescout.report.render import rendered
from bayescout.report.wording import text

TABLES, FIGURES, PAGE = "tables", "figures", "index.html"
ENDINGS = {"CSV": "csv", "Markdown": "md", "SVG": "svg", "PNG": "png"}
MOST_ROWS = 500
"""The most rows of a table on the page; its CSV file has all."""

KINDS = {"holds": "holds", "holds in part": "part", "does not hold": "differs", "cannot be tested": "open"}
"""Classes of findings on the page, by verdict."""

_MARKUP = re.compile(r"[\\`*_\[\]|~$]")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class RunRecord(Protocol):
    """The fields that the page needs from the record of a run."""

    @property
    def run(self) -> Mapping[str, Any]: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def reason(self) -> str | None: ...


def write_study(outcome: Outcome, folder: str | os.PathLike[str], records: Iterable[RunRecord] = ()) -> Path:
    """Write tables/*.md, tables/*.csv, figures/*.svg, figures/*.png and index.html; return the page's path.

    `records`, including those of failed runs, describe the runs: seeds, versions, failures. Times are left
    out, so equal outcomes and records give equal bytes on every machine. Each file appears whole or not at
    all, the page last.
    """
    _check_names(outcome)
    if outcome.agreement is not None or any(section.figures for section in outcome.sections):
        matplotlib()
    target = Path(folder)
    _make_folders(target)
    values = {
        "name": outcome.name,
        "title": outcome.title,
        "source": outcome.source,
        "version": version("bayescout"),
        "script_source": "none",
        "introduction": _paragraphs(outcome.introduction),
        "summary": outcome.summary,
        "agreement": None if outcome.agreement is None else _figure(outcome.agreement, target),
        "findings": [_finding(finding) for finding in outcome.counted],
        "apart": [_finding(finding) for finding in outcome.apart],
        "sections": [_section(section, target) for section in outcome.sections],
        "run": _how(list(records)),
    }
    write_text(target / PAGE, rendered("study.html", values))
    return target / PAGE


def _make_folders(target: Path) -> None:
    try:
        for place in (target / TABLES, target / FIGURES):
            place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"cannot hold a study: {error.strerror}; choose another folder", target) from None


def _items(outcome: Outcome) -> Iterator[SummaryTable | Figure]:
    if outcome.agreement is not None:
        yield outcome.agreement
    for section in outcome.sections:
        yield from section.tables
        yield from section.figures


def _check_names(outcome: Outcome) -> None:
    """Refuse names of tables and figures that cannot be names of files."""
    seen: set[str] = set()
    for item in _items(outcome):
        if not _NAME.fullmatch(item.name):
            raise SettingError(
                f"{item.name!r} cannot be the name of a file: use letters, digits, dots, - and _"
            )
        if item.name.lower() in seen:
            raise SettingError(f"the study has two tables or figures named {item.name!r}; rename one")
        seen.add(item.name.lower())


# ---- parts of the page


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, separated by blank lines."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def _finding(finding: Finding) -> dict[str, Any]:
    sides = {name: _paragraphs(getattr(finding, name)) for name in ("claim", "ours", "reasons", "apart")}
    kind = KINDS[finding.verdict]
    return {"kind": kind, "mark": finding.mark, "judgement": finding.judgement, **sides}


def _section(section: Section, folder: Path) -> dict[str, Any]:
    return {
        "title": section.title,
        "text": _paragraphs(section.text),
        "tables": [_table(table, folder) for table in section.tables],
        "figures": [_figure(figure, folder) for figure in section.figures],
    }


def _table(table: SummaryTable, folder: Path) -> dict[str, Any]:
    """A table in the form that the page shows; its files are written."""
    write_text(folder / TABLES / f"{table.name}.md", markdown(table))
    write_text(folder / TABLES / f"{table.name}.csv", as_csv(table))
    cells = enumerate(zip(*table.rows, strict=True))
    note = table.note
    if len(table.rows) > MOST_ROWS:
        note = f"{note} The first {MOST_ROWS} of {len(table.rows):,} rows; the CSV file has all.".strip()
    return {
        "title": table.title,
        "files": _files(TABLES, table.name, "CSV", "Markdown"),
        "columns": table.columns,
        "rows": row_texts(table, MOST_ROWS),
        "figures": [i for i, column in cells if any(isinstance(cell, (int, float)) for cell in column)],
        "note": note,
    }


def _figure(figure: Figure, folder: Path) -> dict[str, Any]:
    """A figure in the form that the page shows; its files are written."""
    from bayescout.plots import save

    vector, _ = save(figure, folder / FIGURES / figure.name)
    return {
        "title": figure.title,
        "files": _files(FIGURES, figure.name, "SVG", "PNG"),
        "image": base64.b64encode(vector.read_bytes()).decode(),
        "note": figure.note,
    }


def _files(folder: str, name: str, *formats: str) -> list[tuple[str, str]]:
    """Links to the files beside the page, with their texts."""
    return [(f"{folder}/{name}.{ENDINGS[words]}", words) for words in formats]


def _how(records: list[RunRecord]) -> list[tuple[str, str]]:
    if not records:
        return [("bayescout", version("bayescout"))]
    failed = [record for record in records if record.reason is not None]
    return [
        ("runs", f"{len(records):,}, of which {len(failed):,} failed"),
        ("seeds", _seeds(records)),
        *_versions(records),
        *((f"failed, {count:,} of them", why) for why, count in _reasons(failed)),
    ]


def _seeds(records: list[RunRecord]) -> str:
    found = sorted({s for record in records if isinstance(s := record.run.get("seed"), int)})
    if not found:
        return "none declared"
    if len(found) > 1 and found == list(range(found[0], found[-1] + 1)):
        return f"{found[0]} to {found[-1]}"
    return ", ".join(map(str, found[:20])) + (f" and {len(found) - 20} more" if len(found) > 20 else "")


def _versions(records: list[RunRecord]) -> list[tuple[str, str]]:
    """Each version used of every package that the records name."""
    names = dict.fromkeys(name for record in records for name in record.versions)
    return [
        (name, ", ".join(sorted({r.versions[name] for r in records if name in r.versions}))) for name in names
    ]


def _reasons(failed: list[RunRecord]) -> list[tuple[str, int]]:
    """The reasons why runs failed, the most common first."""
    counts: dict[str, int] = {}
    for record in failed:
        counts[str(record.reason)] = counts.get(str(record.reason), 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:20]


# ---- tables as text


def cell_text(cell: Cell, digits: int | None = None) -> str:
    """A cell for people: so many decimals, or five digits or the whole part; a dash for None."""
    if cell is None:
        return "\N{EN DASH}"
    if isinstance(cell, float):
        if digits is not None:
            return f"{cell:,.{digits}f}"
        return f"{cell:,.5g}" if abs(cell) < 10_000 else f"{cell:,.1f}"
    return str(cell)


def row_texts(table: SummaryTable, most: int | None = None) -> list[list[str]]:
    """The cells for people, of the first rows or of all."""
    named = dict(table.digits)
    digits = [named.get(column) for column in table.columns]
    return [[*map(cell_text, row, digits)] for row in table.rows[:most]]


def markdown(table: SummaryTable) -> str:
    """A table in Markdown, under its title and over its note."""
    lines = [f"**{escaped(table.title)}**", "", _line(table.columns), "|" + "---|" * len(table.columns)]
    lines += map(_line, row_texts(table))
    return "\n".join([*lines, "", escaped(table.note)] if table.note else lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def escaped(words: str) -> str:
    """Text escaped for Markdown, so that no name of a file or a state can become markup there."""
    one_line = escape(" ".join(text(words).split()), quote=False)
    return _MARKUP.sub(r"\\\g<0>", one_line)


def as_csv(table: SummaryTable) -> str:
    """The table as CSV with every digit; an empty cell for None."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()
