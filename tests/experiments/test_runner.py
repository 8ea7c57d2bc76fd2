"""The runner: the same records for any number of workers, after any kill, with failures told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import joblib
import polars as pl
import pytest

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.experiments import run_study
from bayescout.experiments.attempt import versions
from bayescout.experiments.runner import left_to_do
from bayescout.experiments.store import PARQUET, RECORDS, parse
from bayescout.experiments.tools import data_of, learned
from tests.experiments.toy_study import Toy

KEYS = [f"{steps}-{seed}" for steps in (5, 50) for seed in range(10)]


def timeless(records):
    return [record.timeless() for record in records]


def in_file(folder):
    return [parse(line) for line in (folder / RECORDS).read_bytes().split(b"\n")[:-1]]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The records of one uninterrupted run in one process."""
    ran = run_study(Toy(), tmp_path_factory.mktemp("toy"), workers=1)
    assert (ran.missing, ran.failures, ran.interrupted) == (0, (), False)
    return timeless(ran.records)


def start(folder, workers, nap):
    """The study as a process of its own; its output goes to a file, which its workers may hold open."""
    with open(folder.parent / "log", "w") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.experiments.toy_study", folder, str(workers), str(nap)],
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_for_records(folder, count):
    """Until so many records are in the file."""
    path = folder / RECORDS
    for _ in range(3000):
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
    raise AssertionError("no records came")


def test_records_are_in_the_order_of_the_grid(expected):
    assert [f"{r['run']['data']['steps']}-{r['run']['seed']}" for r in expected] == KEYS
    versions = expected[0]["versions"]
    assert set(versions) == {"bayescout", "numpy", "numba", "python"}
    assert all(versions.values())


def test_two_workers_make_the_same_records(tmp_path, expected):
    ran = run_study(Toy(), tmp_path, workers=2)
    assert timeless(ran.records) == expected
    assert sorted(r.key for r in in_file(tmp_path)) == sorted(r["key"] for r in expected)


@dataclass(frozen=True)
class Deaf(Toy):
    """A study that asks who would get Ctrl-C."""

    home: int = 0

    def measure(self, run):
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        return {"ignored": ignored, "worker": os.getpid() != self.home}


def test_ctrl_c_is_left_to_the_process_that_runs_the_study(tmp_path):
    """A terminal sends it to every process; a worker that took it would fail its run."""
    for workers in (1, 2):
        ran = run_study(Deaf(home=os.getpid()), tmp_path / str(workers), workers=workers)
        assert ran.failures == ()
        assert set(ran.records.values("worker")) == {workers > 1}
        assert set(ran.records.values("ignored")) == {workers > 1}


def test_other_backends_make_the_same_records(tmp_path, expected):
    with joblib.parallel_config(backend="threading", n_jobs=3):
        ran = run_study(Toy(), tmp_path)
    assert timeless(ran.records) == expected


def test_nothing_is_done_twice_and_a_grown_grid_only_adds(tmp_path):
    run_study(Toy(repeats=3), tmp_path, workers=1)
    before = (tmp_path / RECORDS).read_bytes()
    assert left_to_do(Toy(repeats=3), tmp_path) == []
    run_study(Toy(repeats=3), tmp_path, resume=True, workers=1)
    assert (tmp_path / RECORDS).read_bytes() == before
    assert len(left_to_do(Toy(repeats=4), tmp_path)) == 2
    ran = run_study(Toy(repeats=4), tmp_path, resume=True, workers=1)
    after = (tmp_path / RECORDS).read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == 8
    assert [r.run["seed"] for r in ran.records] == [0, 1, 2, 3] * 2
    # A smaller grid reads its own records alone, and says so.
    notes = []
    ran = run_study(Toy(repeats=2), tmp_path, resume=True, workers=1, say=notes.append)
    assert len(ran.records) == 4
    assert notes == ["4 records are of runs that the study no longer declares; they are kept and not used"]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_killed_in_the_middle_it_goes_on_to_the_same_records(tmp_path, expected, workers):
    folder = tmp_path / "toy"
    for count in (2, 9)[-workers:]:
        process = start(folder, workers, 0.05)
        wait_for_records(folder, count)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
    kept = in_file(folder)
    assert 9 <= len(kept) < 20
    with open(folder / RECORDS, "ab") as stream:
        stream.write(b'{"key": "torn')
    notes = []
    ran = run_study(Toy(), folder, resume=True, workers=1, say=notes.append)
    assert timeless(ran.records) == expected
    assert [r.timeless() for r in in_file(folder)[: len(kept)]] == timeless(kept)
    assert ["cut short" in note for note in notes] == [True]
    assert len(in_file(folder)) == 20


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_keeps_what_is_finished(tmp_path, expected, workers):
    folder = tmp_path / "toy"
    process = start(folder, workers, 0.1)
    wait_for_records(folder, 3)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) == 130
    out = (tmp_path / "log").read_text()
    assert "interrupted True" in out
    assert "Traceback" not in out
    kept = in_file(folder)
    assert 3 <= len(kept) < 20
    assert None not in kept
    ran = run_study(Toy(), folder, resume=True, workers=1)
    assert timeless(ran.records) == expected


@dataclass(frozen=True)
class Pressed(Toy):
    """A study in whose third run somebody presses Ctrl-C, in the middle of a search that keeps it."""

    by_hand: bool = False

    def measure(self, run):
        def press(step):
            if run["seed"] == 2 and step.step == 1:
                signal.raise_signal(signal.SIGINT)

        declared = {"data": {"network": "asia", "rows": 50}, "search": "hill-climb", "score": "bic"}
        if self.by_hand:
            result = bs.learn(
                data_of(declared["data"]), workers=1, callback=press, search="hill-climb", score="bic"
            )
        else:
            result = learned(declared, callback=press)
        return {"steps": result.counters.iterations}


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_search_cut_short_by_ctrl_c_is_not_taken_for_a_result(tmp_path, by_hand):
    ran = run_study(Pressed(by_hand=by_hand), tmp_path, workers=1)
    assert ran.interrupted
    assert [record.run["seed"] for record in in_file(tmp_path)] == [0, 1]
    assert (len(ran.records), ran.missing) == (2, 18)
    assert not (tmp_path / PARQUET).exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_that_fails_is_a_record_with_its_reason(tmp_path, expected):
    ran = run_study(Toy(wrong=(3,)), tmp_path, workers=1)
    assert len(ran.records) == 18
    assert [(f.run["seed"], f.reason) for f in ran.failures] == [(3, "seed 3 is wrong")] * 2
    assert ran.failures[0].measures == {}
    frame = pl.read_parquet(tmp_path / PARQUET)
    assert frame["reason"].drop_nulls().to_list() == ["seed 3 is wrong"] * 2
    # A failure is a record: it is done again only when that is asked for.
    assert len(run_study(Toy(), tmp_path, resume=True, workers=1).failures) == 2
    again = run_study(Toy(), tmp_path, resume=True, retry=True, workers=1)
    assert timeless(again.records) == expected


def test_an_error_of_any_kind_is_told_in_one_line(tmp_path, monkeypatch):
    def broken(self, run):
        raise ZeroDivisionError("over\nnothing")

    monkeypatch.setattr(Toy, "measure", broken)
    ran = run_study(Toy(repeats=1), tmp_path, workers=1)
    assert {f.reason for f in ran.failures} == {"ZeroDivisionError: over nothing"}
    monkeypatch.setattr(Toy, "measure", lambda self, run: {"x": float("nan")})
    ran = run_study(Toy(repeats=1), tmp_path, resume=True, retry=True, workers=1)
    assert {f.reason for f in ran.failures} == {"x is nan; records hold finite numbers or None"}


def test_a_run_over_its_limit_is_stopped_and_recorded(tmp_path):
    ran = run_study(Toy(repeats=2, steps=(5,), slow=(1,)), tmp_path, workers=1)
    assert [f.reason for f in ran.failures] == ["over the limit of 0.3 s a run"]
    assert 0.2 < ran.failures[0].seconds < 20
    assert len(ran.records) == 1


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_own_run_only(tmp_path, expected):
    notes = []
    ran = run_study(Toy(deadly=(4,), steps=(5,)), tmp_path, workers=2, say=notes.append)
    assert [(f.run["seed"], f.reason) for f in ran.failures] == [
        (4, "its process died, perhaps for want of memory")
    ]
    assert timeless(ran.records) == [r for r in expected if r["run"]["seed"] != 4][:9]
    assert any("a worker process died" in note for note in notes)


def test_each_record_is_told_as_it_comes(tmp_path):
    told = []
    run_study(
        Toy(repeats=2), tmp_path, workers=1, advance=lambda record, cost: told.append((record.key, cost))
    )
    assert [key for key, _ in told] == [r.key for r in in_file(tmp_path)]
    assert {cost for _, cost in told} == {0.01}


def test_other_versions_are_told(tmp_path, monkeypatch):
    then = {**versions(), "numpy": "0.1"}
    monkeypatch.setattr("bayescout.experiments.attempt.versions", lambda: then)
    run_study(Toy(repeats=1), tmp_path, workers=1)
    monkeypatch.undo()
    notes = []
    run_study(Toy(repeats=1), tmp_path, resume=True, workers=1, say=notes.append)
    assert len(notes) == 1
    assert "numpy 0." in notes[0]


def test_no_workers_are_refused(tmp_path):
    with pytest.raises(SettingError, match="workers must be at least 1"):
        run_study(Toy(), tmp_path, workers=0)
