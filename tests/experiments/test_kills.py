"""The named studies, killed again and again, end in the records and the outcome of whole ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from bayescout.experiments import STUDIES, Records, run_study
from bayescout.experiments.store import MANIFEST, PARQUET, RECORDS, manifest_of, parse

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills are of POSIX systems")


def begun(study, folder):
    """The command that runs a study at its smallest size, which its folder says as after an early kill."""
    folder.mkdir()
    (folder / MANIFEST).write_text(json.dumps(manifest_of(study)))
    return [
        *(sys.executable, "-m", "bayescout", "experiment", study.name),
        *("--out", str(folder), "--resume", "--workers", "2"),
    ]


def lines(folder):
    path = folder / RECORDS
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def killed(command, reached):
    """Run the command until `reached` says so and kill it; every worker is gone when this returns."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        for _ in range(6000):
            if reached() or process.poll() is not None:
                break
            time.sleep(0.01)
        process.kill()
        said, _ = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL, said.decode()
        assert b"Traceback" not in said
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()


def summary(study, records):
    """The outcome without the times."""
    return study.outcome(Records(replace(record, seconds=1.0, cpu_seconds=1.0) for record in records))


def kill_at(command, folder, kills):
    """Kill the command after so many records each time; 0 is as soon as the folder is locked."""
    for count in kills:
        before = [line for line in lines(folder) if line.endswith(b"\n")]
        reached = (folder / ".lock").exists if count == 0 else lambda n=count: len(lines(folder)) >= n
        killed(command, reached)
        assert lines(folder)[: len(before)] == before


def check_same(study, ran, folder):
    """The records in the folder, and what they come to, are those of the whole study."""
    found = {record.key: record for record in map(parse, lines(folder))}
    assert len(found) == len(lines(folder)) == len(ran.records)
    again = [found[record.key] for record in ran.records]
    assert [record.timeless() for record in again] == [record.timeless() for record in ran.records]
    assert summary(study, again) == summary(study, ran.records)


@pytest.mark.slow
def test_a_study_killed_twice_ends_as_one_that_was_not(tiny_studies, tmp_path):
    study, ran, _ = tiny_studies("maua")
    folder = tmp_path / "killed"
    kill_at(begun(study, folder), folder, [2, 9])
    run_study(study, folder, resume=True, workers=1)
    check_same(study, ran, folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_killed_at_every_stage_ends_as_one_that_was_not(tiny_studies, tmp_path, name):
    """While it starts, at the first record, in the middle twice, and while its page is written."""
    study, ran, _ = tiny_studies(name)
    size, folder = len(ran.records), tmp_path / "killed"
    command = begun(study, folder)
    kill_at(command, folder, [0, 1, size // 3, 2 * size // 3, size])
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    check_same(study, ran, folder)
    assert (folder / PARQUET).exists()
    assert (folder / "index.html").exists()
