"""The command that runs studies: experiment."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescout.cli.common import print_json
from bayescout.cli.options import Json, flag, settings_given, switch
from bayescout.cli.terminal import line, say
from bayescout.errors import BayescoutError, SettingError

if TYPE_CHECKING:
    from bayescout.experiments import Ran, Study
    from bayescout.experiments.runner import Advance
    from bayescout.experiments.summary import Finding, Outcome


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """The size of a study, and how and where it is run."""

    quick: bool = switch("--quick", "A smaller size; --list tells how long either takes.")
    out: str | None = flag("The folder for records, tables and figures; experiment-NAME by default.")
    resume: bool = switch("--resume", "Go on in the folder: do only the runs that are missing.")
    workers: int | None = flag("Processes; all cores by default.", min=1)
    option: list[str] | None = flag(
        "A setting of the study, such as repeats=3; may be repeated.", "KEY=VALUE"
    )
    retry: bool = switch("--retry", "With --resume, do failed runs again.")

    def folder(self, name: str) -> Path:
        return Path(self.out or f"experiment-{Path(name).stem}{'-quick' * self.quick}")

    def again(self, name: str, workers: int) -> str:
        """The command line that continues the study."""
        words = ["bayescout", "experiment", name, *(["--quick"] if self.quick else [])]
        words += ["--out", str(self.folder(name)), "--resume", "--workers", str(workers)]
        for pair in self.option or ():
            words += ["--option", pair]
        return shlex.join(words)


def experiment(
    name: Annotated[
        str | None, typer.Argument(help="A study, or a file such as my-study.toml; none to list the studies.")
    ] = None,
    *,
    run: StudyOptions,
    listed: Annotated[
        bool,
        typer.Option("--list", help="List the studies, their runs and about how long they take, and stop."),
    ] = False,
    json: Json = False,
) -> None:
    """Run a study: a whole grid of runs, its records, tables, figures and findings in one folder."""
    if listed or name is None:
        _list(json)
        return
    from bayescout.cli.outputs import check_folder_writable
    from bayescout.experiments.store import check_folder
    from bayescout.plots.style import matplotlib
    from bayescout.report.study import write_study

    matplotlib()  # which draws the figures: say now that it is missing, not after the runs
    folder = run.folder(name)
    check_folder(folder, run.resume)
    check_folder_writable(folder)
    study = _study(name, run)
    _check_reads(study, name, folder)
    workers = run.workers or _cores()
    ran = _ran(study, folder, run, workers)
    if ran.interrupted:
        done = len(ran.records) + len(ran.failures)
        kept = f"{done:,} of {done + ran.missing:,} runs are kept in {folder}"
        say(f"interrupted; {kept}; go on with: {run.again(name, workers)}")
        raise typer.Exit(130)
    outcome = _outcome(study, ran)
    page = write_study(outcome, folder, [*ran.records, *ran.failures])
    if json:
        print_json(_facts(study, ran, outcome, folder))
    else:
        _show(ran, outcome, folder, page)


COMMANDS = (experiment,)


def _list(json: bool) -> None:
    from bayescout.cli.render import console, grid
    from bayescout.experiments import STUDIES, expected_seconds
    from bayescout.experiments.runner import keyed

    cores = _cores()
    rows: list[dict[str, Any]] = []
    for name, kind in STUDIES.items():
        row: dict[str, Any] = {"name": name, "summary": (kind.__doc__ or "").splitlines()[0]}
        for size in ("full", "quick"):
            study = kind.of_size(size)
            row |= {f"{size}_runs": len(keyed(study)), f"{size}_seconds": expected_seconds(study, cores)}
        rows.append(row)
    if json:
        print_json({"workers": cores, "studies": rows})
        return
    shown = [
        (
            row["name"],
            row["summary"],
            f"{row['quick_runs']:,} in {duration(row['quick_seconds'])}",
            f"{row['full_runs']:,} in {duration(row['full_seconds'])}",
        )
        for row in rows
    ]
    title = f"Studies; runs and about how long they take with {cores} workers"
    console().print(grid(title, ["name", "what it shows", "--quick", "full size"], shown, numbers=2))


def _study(name: str, run: StudyOptions) -> Study:
    """The study by its name; a continued one keeps its settings unless others are given."""
    from bayescout.experiments import study_named
    from bayescout.experiments.store import MANIFEST, holds_study, read_manifest

    settings, folder = settings_given(run.option), run.folder(name)
    changed = run.quick or bool(settings)
    if name.endswith(".toml"):
        from bayescout.experiments.own import read_study

        if changed:
            raise SettingError("--quick and --option are for the named studies; say it in the file")
        return read_study(name)
    if run.resume and not changed:
        saved = read_manifest(folder)
        if saved is not None and saved["study"] == name:
            return study_named(name, **saved["settings"])
        if saved is None and holds_study(folder):
            say(
                f"{folder / MANIFEST} is missing: {name} goes on at its full size; "
                f"give --quick or --option if not"
            )
    return study_named(name, "quick" if run.quick else "full", **settings)


def _check_reads(study: Study, name: str, folder: Path) -> None:
    """Refuse a user's study file that the study itself would overwrite."""
    from bayescout.cli.outputs import is_same_file
    from bayescout.experiments.store import LOCK, MANIFEST, PARQUET, RECORDS
    from bayescout.report.study import FIGURES, PAGE, TABLES

    for read in (name, *getattr(study, "files", list)()):
        there = Path(read).resolve()
        inside = any(there.is_relative_to((folder / part).resolve()) for part in (TABLES, FIGURES))
        written = (LOCK, MANIFEST, PARQUET, RECORDS, PAGE)
        if inside or any(is_same_file(str(folder / part), read) for part in written):
            raise SettingError(
                f"the study in {folder} would overwrite {read}, which it reads; move that file"
            )


def _ran(study: Study, folder: Path, run: StudyOptions, workers: int) -> Ran:
    from bayescout.experiments import expected_seconds, run_study
    from bayescout.experiments.runner import left_to_do
    from bayescout.experiments.store import holds_study

    if run.resume and not holds_study(folder):
        raise SettingError(f"{folder} has no study to go on with; leave out --resume to begin one there")
    left = left_to_do(study, folder)
    if left:
        time = duration(expected_seconds(study, workers, left))
        many = f"{workers} worker{'s' * (workers != 1)}"
        say(f"{study.name}: {len(left):,} runs with {many}, about {time}; records go to {folder}")
    with _progress(sum(map(study.cost, left))) as advance:
        return run_study(study, folder, run.resume, workers, run.retry, advance, say)


def _outcome(study: Study, ran: Ran) -> Outcome:
    if not ran.records:
        raise SettingError(f"all {len(ran.failures):,} runs failed; the first: {ran.failures[0].reason}")
    try:
        return study.outcome(ran.records)
    except Exception as error:
        if not ran.failures or isinstance(error, BayescoutError):
            raise
        raise SettingError(
            f"{len(ran.failures):,} runs failed, too many for a summary; the first: "
            f"{ran.failures[0].reason}; --resume --retry does them again"
        ) from error


def _show(ran: Ran, outcome: Outcome, folder: Path, page: Path) -> None:
    line(outcome.title)
    if outcome.summary:
        line(f"  {outcome.summary}")
    smaller = " at this smaller size" if "a smaller size" in outcome.size else " with these settings"
    size = smaller if outcome.size else ""
    for finding in outcome.findings:
        apart = " [apart, not counted]" if finding.apart else ""
        line(f"  {finding.judgement}{size}{apart}: {finding.claim}")
        line(f"      Here: {finding.ours}")
        if finding.reasons:
            line(f"      Why: {finding.reasons}")
    if ran.failures:
        first = ran.failures[0]
        say(
            f"{len(ran.failures):,} runs failed, the first with: {first.reason}; --resume --retry tries again"
        )
    line(f"{len(ran.records):,} runs in {folder}; read {page}")


def _facts(study: Study, ran: Ran, outcome: Outcome, folder: Path) -> dict[str, Any]:
    return {
        "study": study.name,
        "settings": study.settings(),
        "runs": len(ran.records),
        "failed": len(ran.failures),
        "folder": str(folder),
        "summary": outcome.summary,
        "size": outcome.size,
        "findings": [finding_facts(finding) for finding in outcome.findings],
    }


def finding_facts(finding: Finding) -> dict[str, Any]:
    """A finding in plain values."""
    cells = {"cells": finding.cells, "document": finding.printed}
    return {
        "claim": finding.claim,
        "ours": finding.ours,
        "holds": finding.holds,
        "verdict": finding.verdict,
        **{name: own and {"passed": own.passed, "of": own.of} for name, own in cells.items()},
        "why": finding.reasons,
        "apart": finding.apart,
    }


@contextmanager
def _progress(total: float) -> Iterator[Advance | None]:
    """A line with the time left, on a terminal only; progress is measured by the expected cost of runs."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=total)
        done = failed = 0

        def advance(record: Any, cost: float) -> None:
            nonlocal done, failed
            done, failed = done + 1, failed + record.failed
            said = f"{done:,} runs" + (f", {failed:,} failed" if failed else "")
            bar.update(task, advance=cost, description=said)

        yield advance


def duration(seconds: float) -> str:
    """A time in a suitable unit."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def _cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())
