"""Write the summary of a finished study as one Markdown page with small figures, for docs/studies.

    python scripts/publish_study.py FOLDER docs/studies/NAME

FOLDER is what `bayescout experiment NAME --out FOLDER` made. Records stay there: they are large, and the
seeds and versions on the page make them again. `findings.json` is what the tests read.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from bayescout.experiments import run_study, study_named
from bayescout.plots import draw
from bayescout.report.study import as_csv, escaped, markdown

DOTS = 72
"""An inch of a figure: small files."""

MOST_ROWS = 40
"""Of a table on the page; its CSV file has all."""


def main(folder: str, target: str) -> None:
    source, out = Path(folder), Path(target)
    declared = json.loads((source / "study.json").read_text(encoding="utf-8"))
    study = study_named(declared["study"], **declared["settings"])
    ran = run_study(study, source, resume=True, workers=1)
    outcome = study.outcome(ran.records)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    lines = [f"# {escaped(outcome.title)}", "", f"After {escaped(outcome.source)}.", ""]
    lines += prose(outcome.introduction)
    lines += findings(outcome)
    for section in outcome.sections:
        lines += [f"## {escaped(section.title)}", "", *prose(section.text)]
        for table in section.tables:
            (out / f"{table.name}.csv").write_text(as_csv(table), encoding="utf-8")
            lines += [f"### {escaped(table.title)}", "", *shortened(markdown(table), f"{table.name}.csv"), ""]
        for figure in section.figures:
            drawn = draw(figure)
            drawn.savefig(out / f"{figure.name}.png", dpi=DOTS, metadata={"Software": None})
            lines += [f"![{escaped(figure.title)}]({figure.name}.png)", ""]
            lines += [escaped(figure.note), ""] if figure.note else []
    lines += how(declared, ran)
    (out / "README.md").write_text("\n".join(lines), encoding="utf-8")
    said = {finding.claim: finding.holds for finding in outcome.findings}
    (out / "findings.json").write_text(
        json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def prose(text):
    """Paragraphs, which blank lines part."""
    return [line for part in text.split("\n\n") if part.strip() for line in (escaped(part), "")]


def findings(outcome):
    held = sum(finding.holds for finding in outcome.findings)
    lines = [
        "## What was found",
        "",
        f"Of {len(outcome.findings)} findings of the document, {held} hold here.",
        "",
    ]
    lines += ["| the document | here | |", "|---|---|---|"]
    for finding in outcome.findings:
        verdict = "holds" if finding.holds else f"does not hold. {finding.why}"
        lines.append(
            "| " + " | ".join(x.replace("|", "\\|") for x in (finding.claim, finding.ours, verdict)) + " |"
        )
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


def how(declared, ran):
    versions = sorted({json.dumps(record.versions, sort_keys=True) for record in ran.records})
    settings = ", ".join(f"{name} = {value}" for name, value in declared["settings"].items())
    cpu = sum(record.cpu_seconds for record in ran.records)
    return [
        "## How it was run",
        "",
        f"    bayescout experiment {declared['study']}",
        "",
        f"{len(ran.records):,} runs, {len(ran.failures)} failed; {cpu / 60:.0f} minutes of processor time. "
        f"Settings: {settings}.",
        "",
        *(f"- {', '.join(f'{name} {value}' for name, value in json.loads(one).items())}" for one in versions),
        "",
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
