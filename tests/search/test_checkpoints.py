"""Checkpoints: a killed run goes on to the bit, damage is refused, and one process works on a file."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, FormatError, SettingError
from bayescout.search import SEARCHES, State
from bayescout.search.frame import checkpoint, watch
from bayescout.search.frame.checkpoint import Checkpoint
from tests.search.drawn_problems import entangled
from tests.search.test_searches import order_if_needed, quick, untimed
from tests.strategies import examples


@pytest.fixture
def every_step(monkeypatch):
    """A record after every step, however long that takes."""
    monkeypatch.setattr(checkpoint, "PAUSE", 0.0)


def options_for(name, table):
    return {"search": quick(name), "knowledge": order_if_needed(name, table), "seed": 5, "top": 3}


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


def loaded(path):
    """What a checkpoint holds, whoever's it is."""
    identity = json.loads(path.read_bytes().split(b"\n")[0].rpartition(b" ")[0])["identity"]
    with Checkpoint(path, identity) as file:
        return file.load()


def signed(contents):
    """Lines with their digests, as somebody would make them who forges a checkpoint."""
    lines, chain = [], b""
    for content in contents:
        chain = blake2b(content, digest_size=16, key=chain).hexdigest().encode()
        lines.append(content + b" " + chain + b"\n")
    return b"".join(lines)


def forged(path, change):
    """The file with its last record changed and all digests right."""
    contents = [line[:-1].rpartition(b" ")[0] for line in lines_of(path)]
    record = json.loads(contents[-1])
    change(record)
    return signed([*contents[:-1], json.dumps(record).encode()])


# ---- kills


@pytest.mark.parametrize("name", SEARCHES)
def test_a_file_cut_anywhere_gives_the_run_that_was_never_stopped(name, tmp_path, every_step):
    """A kill leaves whole records and at most a piece of one."""
    table = entangled(n_variables=5, seed=4)
    options = options_for(name, table)
    whole = untimed(bs.learn(table, **options))
    path, cut = tmp_path / "whole", tmp_path / "cut"
    assert untimed(bs.learn(table, **options, checkpoint=path)) == whole
    lines = lines_of(path)
    assert len(lines) == 1 + len(whole[2])
    rng = random.Random(name)
    for kept in sorted({0, 1, 2, 3, len(lines) - 2, len(lines) - 1, rng.randrange(len(lines))} - {-1}):
        start, piece = b"".join(lines[:kept]), lines[kept]
        for torn in (b"", piece[: rng.randrange(1, len(piece))], piece[:-1]):
            cut.write_bytes(start + torn)
            assert untimed(bs.learn(table, **options, checkpoint=cut)) == whole
            assert len(loaded(cut)["trace"]) == len(whole[2])


KILLED = ["k2", "k2-random", "order-sample", "first-ascent", "cpc", "imap-pruned", "hill-climb", "genetic"]
KILLER = """
import json, os, signal, sys
import bayescout as bs
from bayescout.search.frame import checkpoint
from tests.search.drawn_problems import entangled
from tests.search.test_checkpoints import options_for

checkpoint.PAUSE = 0.0
table = entangled(n_variables=5, seed=4)
kills = json.loads(sys.argv[1])
for name in dict.fromkeys(name for name, _ in kills):  # loads its kernels, once for all children
    bs.learn(table, **options_for(name, table), workers=1)
for name, step in kills:
    child = os.fork()
    if child == 0:
        bs.learn(
            table, **options_for(name, table), workers=1, checkpoint=f"{name}-{step}",
            callback=lambda seen: seen.step == step and os.kill(os.getpid(), signal.SIGKILL),
        )
        os._exit(0)
    print(os.waitpid(child, 0)[1])
"""


@pytest.mark.slow
def test_killed_searches_go_on_to_the_bit(tmp_path):
    table = entangled(n_variables=5, seed=4)
    wholes = {name: untimed(bs.learn(table, **options_for(name, table))) for name in KILLED}
    kills = [(name, step) for name in KILLED for step in (1, len(wholes[name][2]) // 2)]
    done = subprocess.run(
        [sys.executable, "-c", KILLER, json.dumps(kills)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in (os.getcwd(), *sys.path) if p)},
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert done.stdout.split() == [str(int(signal.SIGKILL))] * len(kills)
    assert sorted(os.listdir(tmp_path)) == sorted(f"{name}-{step}" for name, step in kills)
    for name, step in kills:
        path = tmp_path / f"{name}-{step}"
        assert len(loaded(path)["trace"]) == step + 1
        assert untimed(bs.learn(table, **options_for(name, table), checkpoint=path)) == wholes[name]


# ---- damage


def damaged(lines, rng):
    """The lines of a file after one mishap, never a mere cut at its end."""
    whole = b"".join(lines)
    kind = rng.choice(["flip", "swap", "drop", "repeat", "insert", "delete", "foreign"])
    line, place = rng.randrange(len(lines) - 1), rng.randrange(len(whole) - 1)
    if kind == "flip":
        return whole[:place] + bytes([whole[place] ^ rng.randrange(1, 256)]) + whole[place + 1 :]
    if kind == "insert":
        return whole[:place] + rng.randbytes(rng.randrange(1, 9)) + whole[place:]
    if kind == "delete":
        return whole[:place] + whole[min(len(whole) - 1, place + rng.randrange(1, 99)) :]
    if kind == "foreign":
        return b"".join([*lines[: line + 1], rng.choice([b"\n", b"{}\n", lines[0]]), *lines[line + 1 :]])
    changed = {
        "swap": [*lines[:line], lines[line + 1], lines[line], *lines[line + 2 :]],
        "drop": [*lines[:line], *lines[line + 1 :]],
        "repeat": [*lines[: line + 1], *lines[line:]],
    }
    return b"".join(changed[kind])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The lines of a file with a record of every step."""
    path = tmp_path_factory.mktemp("recorded") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "PAUSE", 0.0)
        bs.learn(entangled(n_variables=5, seed=4), "tabu", checkpoint=path, top=3, score="bic")
    return lines_of(path)


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9))
def test_what_is_read_is_what_was_written(recorded, tmp_path, seed):
    """Either the damage is refused, or it was a cut, and what was written before it is read."""
    path = tmp_path / "run"
    path.write_bytes(damaged(recorded, random.Random(seed)))
    identity = json.loads(recorded[0].rpartition(b" ")[0])["identity"]
    refused, found = "", None
    with Checkpoint(path, identity) as file:
        try:
            found = file.load()
        except FormatError as error:
            refused = str(error)
    if refused:
        assert "damaged" in refused or "not a checkpoint" in refused
        assert "use another path" in refused
        return
    cut = tmp_path / "cut"
    steps = 0 if found is None else len(found["trace"])
    cut.write_bytes(b"".join(recorded[: 1 + steps]))
    assert found == loaded(cut)


def set_first(record, name, value):
    record["state"][name][0] = value


def set_first_of_first(record, name, value):
    record["state"][name][0][0] = value


MISTAKES = [
    ("boss", lambda record: set_first(record, "order", 10**8)),
    ("boss", lambda record: set_first(record, "parents", [10**8])),
    ("imap", lambda record: set_first_of_first(record, "made", 10**8)),
    ("tabu", lambda record: record["top"].__setitem__(0, [1.0, record["state"]["parents"]])),
    ("tabu", lambda record: record.update(asked=0)),
    ("genetic", lambda record: record["random"]["state"].update(state=1)),
    ("optimal", lambda record: record["state"].update(score=0.0)),
]


@pytest.mark.parametrize(("name", "change"), MISTAKES)
def test_a_changed_value_is_refused(name, change, tmp_path, every_step):
    table, path = entangled(n_variables=5, seed=4), tmp_path / "run"
    bs.learn(table, **options_for(name, table), checkpoint=path, max_steps=4)
    lines = lines_of(path)
    content, _, digest = lines[-1][:-1].rpartition(b" ")
    record = json.loads(content)
    change(record)
    path.write_bytes(b"".join([*lines[:-1], json.dumps(record).encode(), b" ", digest, b"\n"]))
    before = path.read_bytes()
    with pytest.raises(FormatError, match=rf"run, line {len(lines)}: .*damaged.*delete it"):
        bs.learn(table, **options_for(name, table), checkpoint=path)
    assert path.read_bytes() == before


FORGERIES = {
    "a parent that is no variable": lambda record: set_first(record, "parents", [10**8]),
    "a negative parent": lambda record: set_first(record, "parents", [-1]),
    "a cycle": lambda record: record["state"].update(parents=[[1], [0], [], [], []]),
    "a variable too many": lambda record: record["state"]["parents"].append([]),
    "parents that are words": lambda record: set_first(record, "parents", ["a"]),
    "a cycle in the best": lambda record: record.update(top=[[0.0, [[1], [0], [], [], []]]]),
    "a best that is a number": lambda record: record.update(top=[0.5]),
    "an entry that never was": lambda record: record.update(top=[99]),
    "no state": lambda record: record.pop("state"),
    "another state": lambda record: record.update(state={"speed": 1}),
    "a list for a state": lambda record: record.update(state=[]),
    "no random numbers": lambda record: record.update(random={}),
    "words for random numbers": lambda record: record["random"]["state"].update(state="x"),
    "no steps": lambda record: record.pop("steps"),
    "steps that are numbers": lambda record: record.update(steps=[1]),
    "steps of no time": lambda record: record["steps"][-1].__setitem__(6, None),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_record_of_no_run_is_refused(change, tmp_path, every_step):
    table, path = entangled(n_variables=5, seed=4), tmp_path / "run"
    bs.learn(table, "tabu", checkpoint=path, max_steps=4, score="bic")
    path.write_bytes(forged(path, change))
    with pytest.raises(FormatError, match="does not hold a run of this search; delete it"):
        bs.learn(table, "tabu", checkpoint=path, score="bic")


@pytest.mark.parametrize("place", [b'"state":', b'"identity":'])
def test_deep_nesting_is_refused(place, tmp_path):
    table, path = entangled(n_variables=5, seed=4), tmp_path / "run"
    bs.learn(table, checkpoint=path, max_steps=1, search="hill-climb", score="bic")
    deep = place + b"[" * 100_000
    whole = path.read_bytes()
    path.write_bytes(whole.replace(place, deep))
    with pytest.raises(FormatError, match="damaged"):
        bs.learn(table, checkpoint=path, search="hill-climb", score="bic")
    path.write_bytes(signed(line.rpartition(b" ")[0].replace(place, deep) for line in whole.splitlines()))
    with pytest.raises(FormatError, match="deeply nested"):
        bs.learn(table, checkpoint=path, search="hill-climb", score="bic")


def test_other_files_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "file"
    for content, said in (
        (b'{"format": "bayescout-checkpoint", "version": 1, "identity": {}}', "version 1, which is not read"),
        (b'{"format":"bayescout-checkpoint","version":2,"identity":{}} 00', "version 2, which is not read"),
        (
            b'{"format":"bayescout-checkpoint","version":4,"identity":{}} 00\n',
            "not a checkpoint of this version",
        ),
        (b"a,b\n1,2\n", "not a checkpoint of this version"),
        (b"\x00" * 5000, "not a checkpoint of this version"),
        (b"[" * 100_000, "not a checkpoint of this version"),
    ):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=said):
            bs.learn(entangled(), checkpoint=path, search="hill-climb", score="bic")
        assert path.read_bytes() == content


@pytest.mark.parametrize("where", [".", "nowhere/run", "/dev/null"])
def test_a_place_for_no_file_is_refused_before_the_run(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match="cannot be"):
        bs.learn(entangled(), Untouched(), checkpoint=where, score="bic")
    assert os.listdir(tmp_path) == []


# ---- what a run leaves


@dataclass(frozen=True)
class Untouched:
    """A search that nobody may begin."""

    state: ClassVar[type[State]] = State

    def start(self, problem, rng):
        raise AssertionError

    advance = start


@dataclass(frozen=True)
class DrawnState(State):
    drawn: tuple[float, ...] = ()


@dataclass(frozen=True)
class Draws:
    """A search that draws numbers, `steps` times, with a state of `size` numbers."""

    steps: int = 20
    size: int = 1
    state: ClassVar[type[State]] = DrawnState

    def start(self, problem, rng):
        graph = problem.first_graph(rng)
        return DrawnState(graph, problem.total(graph))

    def advance(self, problem, state, rng):
        made = state.operations + 1
        drawn = tuple(rng.random(self.size).tolist())
        return DrawnState(state.parents, state.score + drawn[0], made == self.steps, made, drawn=drawn)


class Interrupted(Draws):
    """Interrupted once, in the middle of a step, after a number was drawn and before it is used."""

    left: ClassVar[int] = 0

    def advance(self, problem, state, rng):
        if state.operations == 7 and Interrupted.left:
            Interrupted.left -= 1
            rng.random()
            raise KeyboardInterrupt
        return super().advance(problem, state, rng)


def test_a_step_that_was_interrupted_is_done_again(tmp_path):
    table, path = entangled(), tmp_path / "run"
    whole = bs.learn(table, Interrupted(), score="bic")
    Interrupted.left = 1
    first = bs.learn(table, Interrupted(), checkpoint=path, score="bic")
    assert (first.stop_reason, len(first.trace)) == ("interrupted", 8)
    assert untimed(bs.learn(table, Interrupted(), checkpoint=path, score="bic")) == untimed(whole)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("the callback's own")])
def test_the_last_record_is_written_whatever_ends_the_run(error, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "PAUSE", 1e9)
    table, path = entangled(), tmp_path / "run"

    def stop(step):
        if step.step == 9:
            raise error

    with nullcontext() if error is KeyboardInterrupt else pytest.raises(RuntimeError, match="callback's own"):
        bs.learn(table, Draws(), checkpoint=path, callback=stop, score="bic")
    assert len(loaded(path)["trace"]) == 10
    assert len(lines_of(path)) == 4
    for end in ({"callback": lambda step: step.step == 12}, {"max_steps": 14}):
        bs.learn(table, Draws(), "bic", checkpoint=path, **end)
        assert len(loaded(path)["trace"]) in (13, 15)
    bs.learn(table, Draws(), checkpoint=path, max_time=1e-9, score="bic")
    assert len(loaded(path)["trace"]) == 15
    assert untimed(bs.learn(table, Draws(), checkpoint=path, score="bic")) == untimed(
        bs.learn(table, Draws(), score="bic")
    )


def test_a_run_that_never_began_leaves_nothing(tmp_path):
    for prepared in (False, True):
        path = tmp_path / "run"
        if prepared:
            path.touch()
        with pytest.raises(AssertionError):
            bs.learn(entangled(), Untouched(), checkpoint=path, score="bic")
        assert path.exists() == prepared
    bs.learn(entangled(), checkpoint=path, search="hill-climb", score="bic")
    assert loaded(path)["trace"]


def test_records_wait_ten_times_what_the_last_one_took(tmp_path, monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(checkpoint, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    trace = []

    def saved():
        clock.now += 2.0  # what a record takes
        trace.append(len(trace))
        return {"top": [], "trace": trace}

    with Checkpoint(tmp_path / "run", {}) as file:
        assert file.due()
        file.save(saved)
        assert file.due()  # the file itself is made once, and says nothing of what records take
        file.save(saved)
        for seconds, due in ((0.0, False), (19.9, False), (0.2, True)):
            clock.now += seconds
            assert file.due() == due


def test_a_run_is_written_once(tmp_path, every_step):
    """Twice the steps make a file of twice the size, and not of four times."""
    sizes = []
    for steps in (200, 400):
        bs.learn(entangled(), Draws(steps), checkpoint=tmp_path / str(steps), top=4, score="bic")
        sizes.append((tmp_path / str(steps)).stat().st_size)
    assert sizes[1] < 2.1 * sizes[0]


def test_a_file_does_not_grow_without_bound(tmp_path, monkeypatch, every_step):
    monkeypatch.setattr(checkpoint, "SMALL", 0)
    path, sizes = tmp_path / "run", []

    def look(step):
        sizes.append(path.stat().st_size)
        return step.step == 250

    search = Draws(steps=300, size=1000)
    bs.learn(entangled(), search, checkpoint=path, callback=look, score="bic")
    once = max(map(len, lines_of(path)))
    assert max(sizes) < (checkpoint.GROWTH + 2) * once
    assert any(after < before for before, after in itertools.pairwise(sizes))
    assert untimed(bs.learn(entangled(), search, checkpoint=path, score="bic")) == untimed(
        bs.learn(entangled(), search, score="bic")
    )
    assert os.listdir(tmp_path) == ["run"]


@pytest.mark.parametrize("fails", ["_append", "_write_anew"])
def test_a_full_disk_is_said_once_and_costs_nothing_else(fails, tmp_path, monkeypatch, every_step):
    table, path = entangled(), tmp_path / "run"
    bs.learn(table, Draws(), checkpoint=path, max_steps=5, score="bic")
    write = os.write

    def full(file, content):
        write(file, content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    def no_room(*_, **__):
        raise FormatError("cannot be written: No space left on device", path)

    monkeypatch.setattr(
        *((checkpoint, "_write", full) if fails == "_append" else (checkpoint, "atomic_write", no_room))
    )
    with pytest.warns(BayescoutWarning, match=r"No space left .*the run goes on") as said:
        result = bs.learn(table, Draws(), checkpoint=path, score="bic")
    assert len(said) == 1
    assert untimed(result) == untimed(bs.learn(table, Draws(), score="bic"))
    monkeypatch.undo()
    assert len(loaded(path)["trace"]) == (7 if fails == "_append" else 6)
    assert untimed(bs.learn(table, Draws(), checkpoint=path, score="bic")) == untimed(result)


def test_a_file_that_was_removed_is_made_again(tmp_path, every_step):
    path = tmp_path / "run"
    bs.learn(
        entangled(),
        Draws(),
        checkpoint=path,
        callback=lambda step: step.step == 5 and path.unlink(),
        score="bic",
    )
    assert len(loaded(path)["trace"]) == 21


def test_a_file_that_took_its_place_is_left_alone(tmp_path, every_step):
    path, other = tmp_path / "run", tmp_path / "other"
    other.write_text("other")
    with pytest.warns(BayescoutWarning, match="another file has taken its place"):
        bs.learn(
            entangled(),
            Draws(),
            checkpoint=path,
            callback=lambda step: step.step == 5 and os.replace(other, path),
            score="bic",
        )
    assert path.read_text() == "other"


def test_a_link_and_a_changed_folder_are_followed(tmp_path, monkeypatch, every_step):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    os.symlink("real", "link")
    bs.learn(
        entangled(),
        Draws(),
        checkpoint="link",
        callback=lambda step: os.chdir(tmp_path / "elsewhere"),
        score="bic",
    )
    assert (tmp_path / "link").is_symlink()
    assert len(loaded(tmp_path / "real")["trace"]) == 21
    assert os.listdir(tmp_path / "elsewhere") == []


def test_compiling_counts_for_no_budget_of_a_resumed_run(tmp_path, monkeypatch):
    clock = SimpleNamespace(now=0.0, compiled=0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(watch, "compiling_seconds", lambda: clock.compiled)
    path = tmp_path / "run"

    def compile_long(step):
        clock.now += 100.0
        clock.compiled += 99.0
        return step.step == 3

    first = bs.learn(entangled(), Draws(), checkpoint=path, max_time=50, callback=compile_long, score="bic")
    assert first.stop_reason == "callback"
    assert [step.seconds for step in first.trace] == [0.0, 1.0, 2.0, 3.0]
    assert first.seconds == 4.0
    clock.compiled = 0.0  # in another process
    assert (
        bs.learn(entangled(), Draws(), checkpoint=path, max_time=50, score="bic").stop_reason == "converged"
    )


# ---- two at once


HOLDER = """
import sys
import bayescout as bs
from bayescout.search.frame import checkpoint
from tests.search.drawn_problems import entangled
from tests.search.test_checkpoints import Draws

def wait(step):
    if step.step == 3:
        print("ready", flush=True)
        sys.stdin.read()

checkpoint.PAUSE = 0.0
bs.learn(entangled(), Draws(), "bic", checkpoint=sys.argv[1], callback=wait)
"""


def test_a_second_process_is_told_and_a_kill_frees_the_file(tmp_path):
    path = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in (os.getcwd(), *sys.path) if p)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout.readline() == "ready\n"
            with pytest.raises(
                SettingError, match=rf"in use: another process, {process.pid} .*use another path"
            ):
                bs.learn(entangled(), Draws(), checkpoint=path, score="bic")
        finally:
            process.kill()
    assert len(loaded(path)["trace"]) == 4
    assert untimed(bs.learn(entangled(), Draws(), checkpoint=path, score="bic")) == untimed(
        bs.learn(entangled(), Draws(), score="bic")
    )


@pytest.mark.parametrize("step", [0, 5, 30])
def test_a_second_run_of_one_process_is_told(step, tmp_path, monkeypatch, every_step):
    """Before the first record, after some, and when the file was written anew."""
    monkeypatch.setattr(checkpoint, "SMALL", 0)
    path, search = tmp_path / "run", Draws(steps=40, size=100)

    def again(seen):
        if seen.step == step:
            with pytest.raises(SettingError, match=r"in use: another run of this process"):
                bs.learn(entangled(), search, checkpoint=path, score="bic")

    assert (
        bs.learn(entangled(), search, checkpoint=path, callback=again, score="bic").stop_reason == "converged"
    )


def test_a_first_step_in_progress_has_the_file(tmp_path):
    path = tmp_path / "run"
    told = pytest.raises(SettingError, match="in use: another process works")
    with Checkpoint(path, {}), told, Checkpoint(path, {}):
        pass
    assert os.listdir(tmp_path) == []


def test_a_file_system_without_locks_is_used_without(tmp_path, monkeypatch):
    import fcntl

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    path = tmp_path / "run"
    bs.learn(entangled(), Draws(), checkpoint=path, max_steps=5, score="bic")
    assert untimed(bs.learn(entangled(), Draws(), checkpoint=path, score="bic")) == untimed(
        bs.learn(entangled(), Draws(), score="bic")
    )


def test_where_open_files_cannot_be_replaced_and_fcntl_is_missing(tmp_path, monkeypatch, every_step):
    """As on Windows, whose locks are stood in for."""
    import fcntl

    from bayescout.data import files

    def locking(file, mode, count):
        assert (os.lseek(file, 0, os.SEEK_CUR), count) == (files.FAR, 1)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    for module in (files, checkpoint):
        monkeypatch.setattr(module, "REPLACES_OPEN_FILES", False)
    path = tmp_path / "run"

    def again(seen):
        with pytest.raises(SettingError, match="in use"):
            bs.learn(entangled(), Draws(), checkpoint=path, score="bic")
        return seen.step == 8

    bs.learn(entangled(), Draws(), checkpoint=path, callback=again, score="bic")
    assert untimed(bs.learn(entangled(), Draws(), checkpoint=path, score="bic")) == untimed(
        bs.learn(entangled(), Draws(), score="bic")
    )
    assert os.listdir(tmp_path) == ["run"]


def test_a_score_of_ones_own_is_known_by_its_code_and_its_arrays(tmp_path):
    from bayescout.scores import SCORES, Penalised
    from bayescout.settings import Named

    @dataclass(frozen=True)
    class Held:
        weights: np.ndarray

    one, two = (lambda counts: -float(len(counts))), (lambda counts: -2.0 * len(counts))
    assert Named.of(one, SCORES) != Named.of(two, SCORES)
    assert "0x" not in repr(Named.of(Penalised(lambda n: n), SCORES))
    assert Named.of(Penalised(lambda n: n), SCORES) == Named.of(Penalised(lambda n: n), SCORES)
    many, others = np.zeros(5000), np.zeros(5000)
    others[2500] = 1.0
    assert Named.of(Held(many), SCORES) != Named.of(Held(others), SCORES)
    table, path = entangled(5), tmp_path / "run"
    bs.learn(table, "tabu", one, checkpoint=path, max_steps=2)
    with pytest.raises(SettingError, match="another run"):
        bs.learn(table, "tabu", two, checkpoint=path)
    assert bs.learn(table, "tabu", one, checkpoint=path).dag == bs.learn(table, "tabu", one).dag
