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
from bayescout.graph.labels import counted
from bayescout.plots.style import matplotlib
from bayescout.plots.values import Cell, Figure, SummaryTable
from bayescout.report.made import version
from bayescout.report.markup import Html, grid, join, page, pairs, resource, tag, text

TABLES, FIGURES, PAGE = "tables", "figures", "index.html"
MOST_ROWS = 500
"""The most rows of a table on the page; its CSV file has all."""

_MARKUP = re.compile(r"[\\`*_\[\]|~$]")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class RunRecord(Protocol):
    """What the page asks of the record of a run."""

    @property
    def run(self) -> Mapping[str, Any]: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def reason(self) -> str | None: ...


def write_study(outcome: Outcome, folder: str | os.PathLike[str], records: Iterable[RunRecord] = ()) -> Path:
    """Write tables/*.md, tables/*.csv, figures/*.svg, figures/*.png and index.html; gives the page's path.

    `records`, those of failed runs among them, say how it was run: seeds, versions, failures. Times are left
    out, so equal outcomes and records give equal bytes on every machine. Each file appears whole or not at
    all, the page last.
    """
    _check_names(outcome)
    if any(section.figures for section in outcome.sections):
        matplotlib()
    target = Path(folder)
    _make_folders(target)
    sections = [_section(section, target, _anchor(i)) for i, section in enumerate(outcome.sections)]
    parts = {
        "title": outcome.title,
        "source": outcome.source,
        "version": version("bayescout"),
        "style": Html(resource("style.css") + resource("study.css")),
        "script_source": "none",
        "contents": _contents(outcome),
        "introduction": _prose(outcome.introduction),
        "findings": _findings(outcome.findings),
        "sections": join(sections),
        "run": _how(outcome, list(records)),
    }
    write_text(target / PAGE, page("study.html", parts))
    return target / PAGE


def _make_folders(target: Path) -> None:
    try:
        for place in (target / TABLES, target / FIGURES):
            place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"cannot hold a study: {error.strerror}; choose another folder", target) from None


def _items(outcome: Outcome) -> Iterator[SummaryTable | Figure]:
    for section in outcome.sections:
        yield from section.tables
        yield from section.figures


def _check_names(outcome: Outcome) -> None:
    """Names of tables and figures become names of files."""
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


def _anchor(place: int) -> str:
    return f"section-{place + 1}"


def _contents(outcome: Outcome) -> Html:
    links = [("findings", "What was found")] if outcome.findings else []
    links += [(_anchor(i), section.title) for i, section in enumerate(outcome.sections)]
    return join(tag("a", words, href=f"#{name}") for name, words in [*links, ("run", "How it was run")])


def _prose(text: str) -> Html:
    """Paragraphs, which blank lines part."""
    return join(tag("p", " ".join(part.split())) for part in re.split(r"\n\s*\n", text) if part.strip())


def _findings(findings: tuple[Finding, ...]) -> Html:
    if not findings:
        return Html("")
    agree = sum(finding.holds for finding in findings)
    hold = "holds" if agree == 1 else "hold"
    count = f"Of {counted(len(findings), 'finding')} of the document, {agree} {hold} here."
    cards = join(_finding(finding) for finding in findings)
    return tag("section", tag("h2", "What was found"), tag("p", count), cards, id="findings")


def _finding(finding: Finding) -> Html:
    verdict = "holds" if finding.holds else "does not hold"
    sides = [
        tag("div", tag("h3", "The document"), _prose(finding.claim)),
        tag("div", tag("h3", "Here"), _prose(finding.ours)),
    ]
    if finding.why:
        sides.append(tag("div", tag("h3", "Why"), _prose(finding.why)))
    mark = "\N{CHECK MARK}" if finding.holds else "\N{NOT EQUAL TO}"
    badge = tag("p", tag("span", mark, aria_hidden="true"), f" {verdict}", class_="verdict")
    return tag("article", badge, *sides, class_="finding " + ("holds" if finding.holds else "differs"))


def _section(section: Section, folder: Path, anchor: str) -> Html:
    parts = [tag("h2", section.title), _prose(section.text)]
    parts += [_table(table, folder) for table in section.tables]
    parts += [_figure(figure, folder) for figure in section.figures]
    return tag("section", *parts, id=anchor)


def _table(table: SummaryTable, folder: Path) -> Html:
    write_text(folder / TABLES / f"{table.name}.md", markdown(table))
    write_text(folder / TABLES / f"{table.name}.csv", as_csv(table))
    figures = [any(isinstance(row[i], (int, float)) for row in table.rows) for i in range(len(table.columns))]
    rows = [[shown(cell) for cell in row] for row in table.rows[:MOST_ROWS]]
    links = _files((f"{TABLES}/{table.name}.csv", "CSV"), (f"{TABLES}/{table.name}.md", "Markdown"))
    note = table.note
    if len(table.rows) > MOST_ROWS:
        note = f"{note} The first {MOST_ROWS} of {len(table.rows):,} rows; the CSV file has all.".strip()
    about = [tag("p", note, class_="note")] if note else []
    return tag(
        "figure", tag("figcaption", table.title, " ", links), grid(table.columns, rows, figures), *about
    )


def _figure(figure: Figure, folder: Path) -> Html:
    from bayescout.plots import save

    vector, _ = save(figure, folder / FIGURES / figure.name)
    encoded = base64.b64encode(vector.read_bytes()).decode()
    image = tag("img", alt=figure.title, src=f"data:image/svg+xml;base64,{encoded}")
    links = _files((f"{FIGURES}/{figure.name}.svg", "SVG"), (f"{FIGURES}/{figure.name}.png", "PNG"))
    about = [tag("p", figure.note, class_="note")] if figure.note else []
    drawn = tag("div", image, class_="paper", tabindex="0", role="group", aria_label=figure.title)
    return tag("figure", tag("figcaption", figure.title, " ", links), drawn, *about)


def _files(*files: tuple[str, str]) -> Html:
    """Links to what lies beside the page."""
    return tag("small", join((tag("a", words, href=path) for path, words in files), " "), class_="files")


def _how(outcome: Outcome, records: list[RunRecord]) -> Html:
    facts: list[tuple[object, object]] = [("study", tag("code", outcome.name))]
    if records:
        failed = [record for record in records if record.reason is not None]
        facts.append(("runs", f"{len(records):,}, of which {len(failed):,} failed"))
        facts += [("seeds", _seeds(records)), *_versions(records)]
        facts += [(f"failed, {count:,} of them", why) for why, count in _reasons(failed)]
    else:
        facts.append(("bayescout", version("bayescout")))
    if not outcome.source:  # a study of one's own: its file is the command
        return pairs(facts)
    how = f"bayescout experiment {outcome.name} --out {outcome.name}"
    return join(
        [pairs(facts), tag("p", "To run it at the size of the document:"), tag("pre", tag("code", how))]
    )


def _seeds(records: list[RunRecord]) -> str:
    found = sorted({s for record in records if isinstance(s := record.run.get("seed"), int)})
    if not found:
        return "none declared"
    if len(found) > 1 and found == list(range(found[0], found[-1] + 1)):
        return f"{found[0]} to {found[-1]}"
    return ", ".join(map(str, found[:20])) + (f" and {len(found) - 20} more" if len(found) > 20 else "")


def _versions(records: list[RunRecord]) -> list[tuple[object, object]]:
    """Of everything the records name, each version that was used."""
    names = dict.fromkeys(name for record in records for name in record.versions)
    return [
        (name, ", ".join(sorted({r.versions[name] for r in records if name in r.versions}))) for name in names
    ]


def _reasons(failed: list[RunRecord]) -> list[tuple[str, int]]:
    """Why runs failed, the commonest first."""
    counts: dict[str, int] = {}
    for record in failed:
        counts[str(record.reason)] = counts.get(str(record.reason), 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:20]


# ---- tables as text


def shown(cell: Cell) -> str:
    """A cell for people: five digits or the whole part, a dash for none."""
    if cell is None:
        return "\N{EN DASH}"
    if isinstance(cell, float):
        return f"{cell:.5g}" if abs(cell) < 10_000 else f"{cell:,.1f}"
    return str(cell)


def markdown(table: SummaryTable) -> str:
    """A table in Markdown, under its title and over its note."""
    lines = [f"**{escaped(table.title)}**", "", _line(table.columns), "|" + "---|" * len(table.columns)]
    lines += [_line([shown(cell) for cell in row]) for row in table.rows]
    return "\n".join([*lines, "", escaped(table.note)] if table.note else lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def escaped(words: str) -> str:
    """Text as Markdown that shows it as it is: no name of a file or a state can become markup there."""
    plain = escape(" ".join(text(words).split()), quote=False)
    return _MARKUP.sub(r"\\\g<0>", plain)


def as_csv(table: SummaryTable) -> str:
    """The same with every digit; an empty cell for none."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()
