"""Scans that are killed, interrupted or short of disk leave nothing that a second run cannot use."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bayescout.data import as_table
from bayescout.data.past import cache, scan
from bayescout.data.past.stored import StoredTable
from bayescout.errors import FormatError, TooLargeError

pytestmark = pytest.mark.slow

ROWS, FILES = 20_000, 12

RUN = """
import sys, time
from bayescout.data.past import scan
scan.CELL, scan.NOTED_EVERY = 1 << 50, 0.0
note, read, what = scan.Journal.note, scan.Files.read, sys.argv[2]
seen = []

def noted(self, units, last):
    note(self, units, last)
    print("unit", units, flush=True)
    if what == "slow":
        time.sleep(0.1)

def counted(self, unit, columns):
    seen.append(unit)
    return read(self, unit, columns)

scan.Journal.note, scan.Files.read = noted, counted
if what == "full":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
import bayescout as bs
table = bs.as_table(sys.argv[1], memory="64 GB")
print("scanned", len(seen), table.fingerprint, flush=True)
if what == "learn":
    print(table.folder.path, flush=True)
    def told(step):
        print("step", flush=True)
        time.sleep(2)

    result = bs.learn(table, "hill-climb", "bic", callback=told)
    print("stopped:", result.stop_reason, flush=True)
if what == "fuller":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    bs.learn(table.select(table.names[:6]), "hill-climb", "bic")
"""


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A folder of files, and the cells in them."""
    monkeypatch.setenv("BAYESCOUT_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    folder = tmp_path / "rows"
    folder.mkdir()
    frames = []
    for number in range(FILES):
        cells = {f"x{i}": rng.choice([f"s{k}" for k in range(2 + i + number // 6)], ROWS) for i in range(6)}
        frames.append(pl.DataFrame(cells | {"n": rng.integers(0, 9, ROWS), "f": rng.normal(size=ROWS)}))
        frames[-1].write_parquet(folder / f"{number:02d}.parquet")
    return folder, as_table(pl.concat(frames)).fingerprint


def started(folder, what):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder), what],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line_of(process, begin):
    """Wait for a line that begins so."""
    for line in process.stdout:
        if line.startswith(begin):
            return line.split()
    raise AssertionError(process.stderr.read())


def join_files(folder):
    """Put the cells of all files into one, but for the measurements."""
    joined = pl.read_parquet(folder / "*.parquet").drop("f")
    for path in folder.iterdir():
        path.unlink()
    joined.write_parquet(folder / "00.parquet")


def folders():
    return sorted(path.name for path in cache.root().iterdir())


def units_read(folder):
    """The units that another run reads, and what it finds."""
    process = started(folder, "whole")
    said = line_of(process, "scanned")
    assert process.wait(60) == 0
    process.stdout.close()
    process.stderr.close()
    return int(said[1]), said[2]


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGINT])
def test_a_scan_that_was_ended_goes_on_where_it_was(rows, way):
    folder, fingerprint = rows
    process = started(folder, "slow")
    while int(line_of(process, "unit")[1]) < 7:
        pass
    process.send_signal(way)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (-way if way == signal.SIGKILL else process.returncode) != 0
    assert len(folders()) == 1
    if way == signal.SIGINT:
        assert "the same call goes on from there" in said
    read, found = units_read(folder)
    assert read <= 2 * FILES - 7
    assert found == fingerprint
    assert not folders()


def test_a_scan_killed_again_and_again_comes_to_the_same(rows):
    folder, fingerprint = rows
    for units in (1, 5, 6, 15, 23):
        process = started(folder, "slow")
        while int(line_of(process, "unit")[1]) < units:
            pass
        time.sleep(0.05)
        process.kill()
        process.communicate(timeout=60)
    assert units_read(folder) == (1, fingerprint) or units_read(folder)[1] == fingerprint
    assert not folders()


def test_files_that_changed_are_scanned_anew(rows):
    folder, fingerprint = rows
    process = started(folder, "slow")
    while int(line_of(process, "unit")[1]) < 9:
        pass
    process.kill()
    process.communicate(timeout=60)
    path = folder / "00.parquet"
    frame = pl.read_parquet(path)
    frame[::-1].write_parquet(path)
    read, found = units_read(folder)
    assert (read, found != fingerprint) == (2 * FILES, True)
    frame.write_parquet(path)


@pytest.mark.parametrize("damage", ["cut", "gone", "journal", "boot"])
def test_a_folder_that_was_damaged_is_not_gone_on_with(rows, damage):
    folder, fingerprint = rows
    process = started(folder, "slow")
    while int(line_of(process, "unit")[1]) < 9:
        pass
    process.kill()
    process.communicate(timeout=60)
    (left,) = cache.root().iterdir()
    cells = max(left.glob("column-*"), key=lambda path: path.stat().st_size)
    journal = left / "journal.json"
    if damage == "cut":
        os.truncate(cells, 10)
    elif damage == "gone":
        cells.unlink()
    elif damage == "journal":
        journal.write_text(journal.read_text()[:-20])
    else:
        journal.write_text(json.dumps(json.loads(journal.read_text()) | {"boot": "another"}))
    assert units_read(folder) == (2 * FILES, fingerprint)
    assert not folders()


def test_a_run_killed_while_learning_leaves_what_the_next_removes(rows):
    folder, _ = rows
    join_files(folder)
    process = started(folder, "learn")
    path = Path(line_of(process, str(cache.root()))[0])
    line_of(process, "step")
    assert path.is_dir()
    process.kill()
    process.communicate(timeout=60)
    assert path.is_dir()
    units_read(folder)
    assert not folders()


def test_ctrl_c_while_learning_is_an_answer_and_leaves_nothing(rows):
    folder, _ = rows
    join_files(folder)
    process = started(folder, "learn")
    line_of(process, "step")
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "stopped: interrupted" in out
    assert not folders()


@pytest.mark.parametrize("when", ["full", "fuller"])
def test_a_full_disk_is_one_error_and_leaves_nothing(rows, when):
    folder, _ = rows
    process = started(folder, when)
    out, said = process.communicate(timeout=60)
    assert ("scanned" in out) == (when == "fuller")
    assert "TooLargeError" in said
    assert "cannot be written (File too large): make room" in said
    assert not folders()


def test_a_damaged_file_ends_the_scan_and_leaves_nothing(rows, monkeypatch):
    folder, _ = rows
    monkeypatch.setattr(scan, "CELL", 1 << 50)
    path = folder / "07.parquet"
    content = bytearray(path.read_bytes())
    content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
    path.write_bytes(content)
    with pytest.raises((FormatError, TooLargeError), match=r"07\.parquet"):
        as_table(folder, memory="64 GB")
    assert not folders()


def test_two_runs_at_once_do_not_share_a_folder(rows):
    folder, fingerprint = rows
    first = started(folder, "slow")
    line_of(first, "unit")
    assert units_read(folder)[1] == fingerprint
    out, said = first.communicate(timeout=60)
    assert fingerprint in out, said
    assert not folders()


def test_a_limit_holds_as_seen_from_outside(tmp_path, monkeypatch):
    """Rows that would take more than the limit in memory are scanned and counted within it.

    `ru_maxrss` of a process would be that of these tests, where it was larger: it outlives the fork.
    """
    monkeypatch.setenv("BAYESCOUT_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    folder = tmp_path / "rows"
    folder.mkdir()
    for number in range(3):
        cells = {f"x{i}": rng.integers(0, 4, 1_000_000).astype(np.int8) for i in range(40)}
        pl.DataFrame(cells).write_parquet(folder / f"{number}.parquet", row_group_size=200_000)
    code = (
        "import sys, resource, bayescout as bs\n"
        "table = bs.as_table(sys.argv[1], memory='600 MB')\n"
        "result = bs.learn(table, 'hill-climb', 'bic', max_steps=2, workers=1)\n"
        "own = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(type(table).__name__, own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=500, check=True
    )
    kind, own, child = done.stdout.split()
    assert kind == StoredTable.__name__
    assert 1024 * (int(own) + int(child)) < 600e6
