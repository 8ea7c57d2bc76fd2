"""`bayescout experiment`: lists, runs, goes on, and says its mistakes in one line."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayescout.cli.app import app
from bayescout.cli.experiments import _progress, duration
from bayescout.errors import BayescoutError
from bayescout.experiments import STUDIES, Record
from bayescout.experiments.store import MANIFEST, RECORDS, manifest_of

SMALL = """
seeds = 2
searches = ["hill-climb", "first-ascent"]
scores = ["bic"]
[[data]]
network = "asia"
rows = 60
"""


def run(*arguments):
    done = CliRunner().invoke(app, ["experiment", *map(str, arguments)], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("--list",)])
def test_the_studies_are_listed_with_sizes_and_times(arguments):
    code, out, _ = run(*arguments)
    assert code == 0
    for name in STUDIES:
        assert f" {name} " in out
    listed = json.loads(run(*arguments, "--json")[1])["studies"]
    assert [row["name"] for row in listed] == list(STUDIES)
    assert all(row["full_runs"] > row["quick_runs"] > 0 for row in listed)
    assert all(row["full_seconds"] > row["quick_seconds"] > 0 for row in listed)


def test_a_study_leaves_its_folder(small, tmp_path):
    out = tmp_path / "out"
    code, said, notes = run(small, "--out", out, "--workers", 1)
    assert code == 0
    assert "small: 4 runs with 1 worker, about " in notes.replace("own:", "small:")
    assert f"4 runs in {out}" in said
    found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert {"records.jsonl", "records.parquet", "study.json", "index.html"} <= found
    assert {"tables/summary-1.md", "tables/summary-1.csv"} <= found
    assert {"figures/shortfall-1.svg", "figures/shortfall-1.png"} <= found
    before = (out / RECORDS).read_bytes()
    with pytest.raises(BayescoutError, match="is not empty; go on with --resume"):
        run(small, "--out", out)
    code, said, notes = run(small, "--out", out, "--resume", "--workers", 1, "--json")
    assert code == 0
    facts = json.loads(said)
    assert (facts["runs"], facts["failed"], facts["folder"]) == (4, 0, str(out))
    assert (out / RECORDS).read_bytes() == before


def test_failed_runs_are_told(small, tmp_path, monkeypatch):
    from bayescout.experiments.own import study

    learned = study.learned

    def unlucky(run):
        if run["search"] == "first-ascent":
            raise MemoryError("no room")
        return learned(run)

    monkeypatch.setattr(study, "learned", unlucky)
    code, said, notes = run(small, "--out", tmp_path / "out", "--workers", 1)
    assert code == 0
    assert "2 runs in" in said
    assert "2 runs failed, the first with:" in notes
    small.write_text(SMALL.replace('"hill-climb", ', ""))
    with pytest.raises(BayescoutError, match="all 2 runs failed; the first: "):
        run(small, "--out", tmp_path / "none", "--workers", 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lao"], "unknown study 'lao'; did you mean 'lau'"),
        (
            ["lau", "--option", "repeat=3"],
            "study 'lau' has no setting 'repeat'; did you mean 'repeats'\\? its settings: repeats",
        ),
        (["lau", "--option", "repeats"], "an option is key=value"),
        (["none.toml"], "none.toml: there is no such file"),
        (["lau", "--out", "{file}"], "is a file; give a folder with --out"),
        (["{file}", "--quick"], "--quick and --option are for the named studies"),
    ],
)
def test_mistakes_are_told(arguments, message, small):
    with pytest.raises(BayescoutError, match=message):
        run(*(word.format(file=small) for word in arguments))


def test_a_study_that_goes_on_keeps_its_size(tmp_path, monkeypatch):
    """Resumed without a size, it is the study that was begun and not the full one."""
    import bayescout.cli.experiments as commands

    seen = []

    def stop(study, *_):
        seen.append(study)
        raise BayescoutError("stop")

    monkeypatch.setattr(commands, "_ran", stop)
    (tmp_path / MANIFEST).write_text(json.dumps(manifest_of(STUDIES["lau"].of_size("quick"))))
    for more in ([], ["--quick"], ["--option", "repeats=3"]):
        with pytest.raises(BayescoutError, match="stop"):
            run("lau", "--out", tmp_path, "--resume", *more)
    quick = STUDIES["lau"].of_size("quick")
    assert seen == [quick, quick, STUDIES["lau"](repeats=3)]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [[MANIFEST], [RECORDS], [MANIFEST, RECORDS], []])
def test_the_way_out_of_half_a_folder_is_one(small, tmp_path, kept):
    """What the command says of a folder that a kill or a hand left, done as it says, ends in the study."""
    whole, half = tmp_path / "whole", tmp_path / "half"
    assert run(small, "--out", whole, "--workers", 1)[0] == 0
    half.mkdir()
    for name in kept:
        (half / name).write_bytes((whole / name).read_bytes())
    if kept:
        with pytest.raises(BayescoutError, match="is not empty; go on with --resume, or choose another"):
            run(small, "--out", half, "--workers", 1)
        assert run(small, "--out", half, "--workers", 1, "--resume")[0] == 0
    else:
        with pytest.raises(BayescoutError, match="no study to go on with; leave out --resume to begin one"):
            run(small, "--out", half, "--workers", 1, "--resume")
        assert run(small, "--out", half, "--workers", 1)[0] == 0
    assert (half / MANIFEST).read_bytes() == (whole / MANIFEST).read_bytes()
    assert (half / RECORDS).read_bytes().count(b"\n") == 4
    if RECORDS in kept:
        assert (half / RECORDS).read_bytes() == (whole / RECORDS).read_bytes()


def test_a_study_whose_size_is_lost_says_at_which_it_goes_on(tmp_path, monkeypatch):
    import bayescout.cli.experiments as commands

    seen = []
    monkeypatch.setattr(commands, "_ran", lambda study, *_: seen.append(study) or sys.exit(7))
    (tmp_path / RECORDS).write_bytes(b"")
    code, _, notes = run("lau", "--out", tmp_path, "--resume")
    assert (code, seen) == (7, [STUDIES["lau"]()])
    assert "study.json is missing: lau goes on at its full size; give --quick or --option if not" in notes


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(small, tmp_path):
    out = tmp_path / "out"
    small.write_text(SMALL.replace("seeds = 2", "seeds = 3000"))
    log = tmp_path / "log"
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from bayescout.cli import main; main()"
    )
    with open(log, "w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", code, "experiment", small, "--out", out, "--workers", "1"],
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    while not (Path(out) / RECORDS).exists() or (out / RECORDS).read_bytes().count(b"\n") < 5:
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 130
    said = log.read_text()
    assert "Traceback" not in said
    assert f"runs are kept in {out}; go on with: bayescout experiment {small} --out {out} --resume" in said
    lines = (out / RECORDS).read_bytes().split(b"\n")
    assert lines[-1] == b""
    assert all(json.loads(line)["measures"]["stop_reason"] != "interrupted" for line in lines[:-1])


def test_progress_tells_the_time_left_on_a_terminal_only(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    with _progress(10.0) as advance:
        assert advance is None
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with _progress(10.0) as advance:
        advance(Record("a", "s", {}), 4.0)
        advance(Record("b", "s", {}, reason="broke"), 1.0)
    shown = terminal.getvalue()
    assert "2 runs, 1 failed" in shown
    assert "left" in shown


def test_times_are_told_in_the_unit_that_suits():
    assert [duration(s) for s in (5, 59, 90, 7200)] == ["5 s", "59 s", "1.5 min", "2.0 h"]


@pytest.mark.slow
def test_temporary_files_that_a_kill_left_go_with_the_next_run(small, tmp_path):
    """In another process: each looks for them once in a folder."""
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "bayescout",
        "experiment",
        str(small),
        "--out",
        str(out),
        "--workers",
        "1",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    left = [out / folder / ".bayescout-0123456789abcdef.tmp" for folder in ("", "tables", "figures")]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    subprocess.run([*command, "--resume"], check=True, capture_output=True, timeout=120)
    assert not [path for path in left if path.exists()]


@pytest.mark.slow
def test_verdicts_are_shown_with_their_size_and_reasons(capsys, tiny_studies, tmp_path):
    """What is said of a smaller study: its size, each verdict with it, the reason beside it; and as JSON."""
    from bayescout.cli.experiments import _facts, _show

    study, ran, _ = tiny_studies("lau")
    outcome = study.outcome(ran.records)
    _show(ran, outcome, tmp_path, tmp_path / "index.html")
    said = capsys.readouterr().out
    assert "These verdicts are of a smaller size than the document's, and may differ there: repeats 2" in said
    for finding in outcome.findings:
        assert f"  {finding.judgement} at this smaller size: {finding.claim}" in said
        assert f"Here: {finding.ours}" in said
        assert not finding.reasons or f"Why: {finding.reasons}" in said
    facts = _facts(study, ran, outcome, tmp_path)
    assert facts["summary"] == outcome.summary
    for one, finding in zip(facts["findings"], outcome.findings, strict=True):
        assert (one["verdict"], one["why"]) == (finding.verdict, finding.reasons)
        if finding.cells is not None:
            assert one["cells"] == {"passed": finding.cells.passed, "of": finding.cells.of}
