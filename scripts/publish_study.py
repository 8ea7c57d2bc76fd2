"""Write the summary of a finished study as one Markdown page with its figures, for docs/studies.

    python scripts/publish_study.py FOLDER docs/studies/NAME

FOLDER is what `bayescout experiment NAME --out FOLDER` made. Records stay there: they are large, and the
seeds and versions on the page make them again. `findings.json` is what the tests read.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from bayescout.cli.experiments import finding_facts
from bayescout.experiments import run_study, study_named
from bayescout.experiments.summary import HOLDS, MARKS, NOT, PARTS, UNTESTED, mark_of
from bayescout.plots import draw
from bayescout.plots.style import svg_text
from bayescout.plots.values import PointPanel, Points
from bayescout.report.study import as_csv, escaped, markdown

MOST_ROWS = 40
"""Of a table on the page; its CSV file has all."""

HEADS = {
    MARKS[HOLDS]: HOLDS,
    **{mark: f"{words} of its cells" for _, mark, words in PARTS},
    MARKS[NOT]: NOT,
    MARKS[UNTESTED]: UNTESTED,
}
"""Marks of verdicts and what they mean."""

MEANINGS = (
    "✓ true in all its cells; ◕ in at least two thirds of them, ◑ in at least one third, ◔ in fewer; ≠ in "
    "none; ? cannot be tested."
)

BEGIN, END = "<!-- agreement: written by scripts/publish_study.py -->", "<!-- end -->"


def main(folder: str, target: str) -> None:
    source, out = Path(folder), Path(target)
    declared = json.loads((source / "study.json").read_text(encoding="utf-8"))
    study = study_named(declared["study"], **declared["settings"])
    ran = run_study(study, source, resume=True, workers=1)
    outcome = study.outcome(ran.records)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    lines = [f"# {escaped(outcome.title)}", "", f"After {escaped(outcome.source)}.", ""]
    lines += [f"**{escaped(outcome.summary)}**", ""]
    if outcome.agreement is not None:
        lines += pictured(outcome.agreement, out)
    lines += prose(outcome.introduction)
    lines += findings(outcome)
    for section in outcome.sections:
        lines += [f"## {escaped(section.title)}", "", *prose(section.text)]
        for table in section.tables:
            (out / f"{table.name}.csv").write_text(as_csv(table), encoding="utf-8")
            lines += [f"### {escaped(table.title)}", "", *shortened(markdown(table), f"{table.name}.csv"), ""]
        for figure in section.figures:
            lines += pictured(figure, out)
    lines += how(declared, ran)
    (out / "README.md").write_text("\n".join(lines), encoding="utf-8")
    said = {
        "summary": outcome.summary,
        "findings": [finding_facts(finding) for finding in outcome.findings],
        "agreement": agreement(outcome.agreement),
    }
    (out / "findings.json").write_text(
        json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    overview(out.parent)


def pictured(figure, out):
    """The lines that show a figure, whose file is written."""
    (out / f"{figure.name}.svg").write_text(svg_text(draw(figure)), encoding="utf-8")
    note = [escaped(figure.note), ""] if figure.note else []
    return [f"![{escaped(figure.title)}]({figure.name}.svg)", "", *note]


def agreement(points):
    """The points of the picture as plain values: panel, scale, group, printed, ours."""
    return [
        [panel.title, panel.scale, label, printed, ours]
        for panel in (points.panels if points else ())
        for label, own in panel.groups
        for printed, ours in own
    ]


def overview(folder):
    """Put the summary lines of all studies and one picture of agreement into the README of docs/studies."""
    lines, counts, panels = [], [], []
    for path in sorted(folder.glob("*/findings.json")):
        said = json.loads(path.read_text(encoding="utf-8"))
        name = path.parent.name
        lines.append(f"- [`{name}`]({name}/README.md): {said['summary']}")
        counts.append(verdicts(name, said["findings"]))
        groups = {}
        for title, scale, label, printed, ours in said["agreement"]:
            groups.setdefault((title, scale), {}).setdefault(label, []).append((printed, ours))
        panels += [
            PointPanel(f"{name}: {title}", tuple((one, tuple(own)) for one, own in labels.items()), scale)
            for (title, scale), labels in groups.items()
        ][:1]
    title = "Ours against the values that the documents print, one point per cell"
    picture = Points("agreement", title, tuple(panels))
    (folder / "agreement.svg").write_text(svg_text(draw(picture)), encoding="utf-8")
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8")
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    heads = ["study", *(f"{mark} {words}" for mark, words in HEADS.items()), "apart, not counted"]
    table = [f"| {' | '.join(heads)} |", "|---|" + "--:|" * (len(heads) - 1), *counts]
    shown = ["", "", *table, "", f"![{title}](agreement.svg)", "", *lines, "", ""]
    readme.write_text(text[:begin] + "\n".join(shown) + text[end:], encoding="utf-8")


def verdicts(name, findings):
    """How many findings of a study have each verdict, as a row of a table."""
    marks = ["" if one["apart"] else marked(one) for one in findings]
    counts = " | ".join(str(marks.count(mark) or "–") for mark in (*HEADS, ""))
    return f"| [`{name}`]({name}/README.md) | {counts} |"


def marked(finding):
    cells = finding["cells"] or {"passed": 0, "of": 1}
    return mark_of(finding["verdict"], cells["passed"], cells["of"])


def prose(text):
    """Paragraphs, which blank lines part."""
    return [line for part in text.split("\n\n") if part.strip() for line in (escaped(part), "")]


def findings(outcome):
    lines = ["## What was found", "", MEANINGS, "", *rows(outcome.counted)]
    if outcome.apart:
        lines += ["### Apart: on units and definitions, not counted", "", *rows(outcome.apart)]
    return lines


def rows(some):
    lines = ["| verdict | the document | here | reasons |", "|---|---|---|---|"]
    for one in some:
        reasons = f"{one.reasons} Not counted: {one.apart}." if one.apart else one.reasons
        cells = (f"{one.mark} **{one.judgement}**", one.claim, one.ours, reasons)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return [*lines, ""]


def shortened(text, file):
    """A Markdown table without its title, cut after some rows."""
    rows = text.strip().split("\n")
    begin = next(i for i, row in enumerate(rows) if row.startswith("|"))
    body = rows[begin:]
    end = next((i for i, row in enumerate(body) if not row.startswith("|")), len(body))
    rest = [row for row in body[end:] if row.strip()]
    cut = [*body[: MOST_ROWS + 2], "", f"All {end - 2} rows are in [{file}]({file})."]
    shown = body[:end] if end <= MOST_ROWS + 2 else cut
    return [*shown, "", *rest]


def spent(seconds):
    """Processor time in words: seconds up to three minutes."""
    return f"{seconds:.0f} seconds" if seconds < 180 else f"{seconds / 60:.0f} minutes"


def how(declared, ran):
    versions = sorted({json.dumps(record.versions, sort_keys=True) for record in ran.records})
    settings = ", ".join(f"{name} = {value}" for name, value in declared["settings"].items() if value != "")
    cpu = sum(record.cpu_seconds for record in ran.records)
    return [
        "## How it was run",
        "",
        f"    bayescout experiment {declared['study']}",
        "",
        f"{len(ran.records):,} runs, {len(ran.failures)} failed; {spent(cpu)} of processor time. "
        f"Settings: {settings}.",
        "",
        *(f"- {', '.join(f'{name} {value}' for name, value in json.loads(one).items())}" for one in versions),
        "",
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
