"""A study's tables as files: Markdown to read, CSV to compute with, and one page that holds all."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from bayescout.data.files import atomic_write
from bayescout.experiments.summary import Cell, Outcome, SummaryTable

PAGE, TABLES = "summary.md", "tables"


def write_tables(outcome: Outcome, folder: Path) -> None:
    """Every table as Markdown and CSV, and the findings with all tables as one page."""
    (folder / TABLES).mkdir(exist_ok=True)
    for section in outcome.sections:
        for table in section.tables:
            _write(folder / TABLES / f"{table.name}.md", markdown(table))
            _write(folder / TABLES / f"{table.name}.csv", as_csv(table))
    _write(folder / PAGE, page(outcome))


def page(outcome: Outcome) -> str:
    """The whole study in Markdown."""
    parts = [f"# {outcome.title}", outcome.source, outcome.introduction]
    if outcome.findings:
        parts.append("## What was found")
    for finding in outcome.findings:
        said = f"- **{'holds' if finding.holds else 'does not hold'}**: {finding.claim} Here: {finding.ours}"
        parts.append(f"{said} {finding.why}".rstrip())
    for section in outcome.sections:
        parts += [f"## {section.title}", section.text, *map(markdown, section.tables)]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown(table: SummaryTable) -> str:
    """A table in Markdown, under its title and over its note."""
    lines = [f"**{table.title}**", "", _line(table.columns), "|" + "---|" * len(table.columns)]
    lines += [_line([shown(cell) for cell in row]) for row in table.rows]
    return "\n".join([*lines, "", table.note] if table.note else lines) + "\n"


def as_csv(table: SummaryTable) -> str:
    """The same with every digit; an empty cell for none."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()


def shown(cell: Cell) -> str:
    """A cell for people: five digits or the whole part, a dash for none."""
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.5g}" if abs(cell) < 10_000 else f"{cell:,.1f}"
    return str(cell)


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _write(path: Path, text: str) -> None:
    with atomic_write(path, text=True) as stream:
        stream.write(text)
