"""Parquet and Arrow files: damage of any kind is one clear error, and what we wrote comes back."""

from __future__ import annotations

import datetime
import os
import resource
import subprocess
import sys
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescout.data import as_table, columnar, read_table
from bayescout.data.read import names_in
from bayescout.data.seal import MARK, read_seal
from bayescout.errors import BayescoutError, FormatError, TooLargeError
from tests.strategies import examples

ENDINGS = ("parquet", "arrow")


def small_frame(rows=60):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "s": [f"s{i}" for i in rng.integers(0, 4, rows)],
            "i": rng.integers(0, 3, rows),
            "f": rng.normal(size=rows),
            "b": rng.random(rows) < 0.5,
        }
    )


def write_frame(frame, path):
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_ipc(path)


def no_child(said, *_):
    raise AssertionError("a file of our own that is whole is read in this process")


# ---- our own files


@pytest.mark.parametrize("ending", ENDINGS)
def test_our_own_files_are_read_here_and_by_others(tmp_path, monkeypatch, ending):
    path = tmp_path / f"d.{ending}"
    table = as_table(small_frame())
    table.save(path)
    others = pl.read_parquet(path) if ending == "parquet" else pl.read_ipc(path)
    assert as_table(others).fingerprint == table.fingerprint
    monkeypatch.setattr(columnar, "child_process", no_child)
    assert read_table(path).fingerprint == table.fingerprint
    assert names_in(path) == ["s", "i", "f", "b"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_pyarrow_reads_our_files(tmp_path, ending):
    import pyarrow.feather
    import pyarrow.parquet

    path = tmp_path / f"d.{ending}"
    frame = small_frame()
    as_table(frame).save(path)
    read = pyarrow.parquet.read_table if ending == "parquet" else pyarrow.feather.read_table
    assert read(path).column("f").to_pylist() == frame["f"].to_list()


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_in_a_file_of_ours_is_found(tmp_path, ending, data):
    """Save in the mark itself and in the tail that leads to it: then the file counts as one of others."""
    path = tmp_path / f"d.{ending}"
    as_table(small_frame()).save(path)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 11))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    if MARK in content:
        with pytest.raises(FormatError, match="is damaged: its content does not match the digest"):
            read_seal(path)
    else:
        assert read_seal(path) is None


@pytest.mark.parametrize("ending", ENDINGS)
def test_discrete_decimals_come_back_discrete(tmp_path, ending):
    states = [Decimal("1.5"), Decimal("2.25")] * 4
    table = as_table({"d": states, "x": ["a", "b"] * 4}, kinds="discrete")
    assert table.kinds == ("discrete", "discrete")
    table.save(tmp_path / f"d.{ending}")
    back = read_table(tmp_path / f"d.{ending}")
    assert back.kinds == ("discrete", "discrete")
    assert back.column("d") == states
    assert read_table(tmp_path / f"d.{ending}", kinds={"d": "continuous"}).kinds[0] == "continuous"
    write_frame(pl.DataFrame({"d": states}), tmp_path / f"o.{ending}")
    assert read_table(tmp_path / f"o.{ending}").kinds == ("continuous",)  # as ever, of others' files


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("own", [True, False])
def test_nanoseconds_come_back_from_files(tmp_path, monkeypatch, ending, own):
    monkeypatch.setattr(columnar, "BATCH_ROWS", 3)
    numbers = [1000, 2000, 1000, 1, 2, 1000, 1001]
    frame = pl.DataFrame(
        {"t": pl.Series(numbers).cast(pl.Datetime("ns")), "d": pl.Series(numbers).cast(pl.Duration("ns"))}
    )
    path = tmp_path / f"d.{ending}"
    as_table(frame, kinds="discrete").save(path) if own else write_frame(frame, path)
    table = read_table(path, columns=None if own else ["t", "d"], kinds=None if own else {"d": "discrete"})
    assert [value.astype(np.int64) for value in table.column("t")] == numbers
    assert [value.astype(np.int64) for value in table.column("d")] == numbers
    assert len(table.states[0]) == len(table.states[1]) == 5


def test_times_that_python_holds_stay_python_s(tmp_path):
    times = [datetime.datetime(2020, 1, 1, 1, 2, 3, 4), datetime.datetime(2021, 1, 1)] * 3
    pl.DataFrame({"t": pl.Series(times, dtype=pl.Datetime("ns"))}).write_parquet(tmp_path / "d.parquet")
    assert read_table(tmp_path / "d.parquet", columns=["t"]).column("t") == times


# ---- files of others


def test_texts_are_not_kept_once_they_are_more_than_a_column_can_have(monkeypatch):
    """The reader would otherwise grow with every row of a column of names, and slow down as it grows."""
    monkeypatch.setattr(columnar, "MAX_STATES", 5)
    known, asked = columnar._with_texts, []

    def noted(texts, values):
        asked.append(len(texts))
        return known(texts, values)

    monkeypatch.setattr(columnar, "_with_texts", noted)
    texts = [f"t{i % 8 if i < 40 else i}" for i in range(80)]
    frame = pl.LazyFrame({"x": texts, "y": ["a", "b"] * 40})
    found = [pieces for _, pieces in columnar.batches_of(frame, [0, 1], [False, False], 4)]
    assert [piece.values[code] for piece, _ in found for code in piece.codes] == texts
    assert max(asked) <= 5


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_reader_that_dies_is_an_error_and_not_the_end(tmp_path, monkeypatch, ending):
    path = tmp_path / f"d.{ending}"
    write_frame(small_frame(), path)
    dying = columnar._CHILD.replace("serve()\n", "import os; os.abort()\n")
    monkeypatch.setattr(columnar, "_CHILD", dying)
    for read in (read_table, names_in):
        with pytest.raises(FormatError, match="its reader ended with code -6; the file is damaged"):
            read(path)


def test_a_reader_without_memory_says_so(tmp_path, monkeypatch):
    write_frame(small_frame(), tmp_path / "d.parquet")
    dying = "import os; os.write(2, b'memory allocation of 99 bytes failed'); os.abort()"
    monkeypatch.setattr(columnar, "_CHILD", dying)
    with pytest.raises(TooLargeError, match="takes more memory than there is"):
        read_table(tmp_path / "d.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_damaged_files_of_others(tmp_path, ending):
    """A few dozen, since each takes a process; nothing but a table or one clear line may come."""
    path = tmp_path / f"d.{ending}"
    write_frame(small_frame(), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(8):
        content = bytearray(whole)
        for at in rng.integers(0, len(content), 3):
            content[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
        path.write_bytes(content[: rng.integers(len(content) // 2, 2 * len(content))])
        with suppress(BayescoutError):
            read_table(path, missing="drop")


def test_rows_that_the_engine_drops_are_missed(tmp_path):
    """An Arrow file with a type that polars fails at in a thread of its own: its batches just end."""
    import pyarrow as pa
    import pyarrow.ipc

    cells = pa.array([Decimal("1.5"), Decimal("2.5")], pa.decimal256(50, 2))
    path = tmp_path / "d.arrow"
    with pa.ipc.new_file(path, pa.schema({"x": cells.type})) as sink:
        sink.write_table(pa.table({"x": cells}))
    with pytest.raises(FormatError, match=r"cannot be read as arrow"):
        read_table(path)


def test_a_child_does_not_outlive_an_error(tmp_path, monkeypatch):
    started = []
    popen = subprocess.Popen

    def kept(*arguments, **settings):
        started.append(popen(*arguments, **settings))
        return started[-1]

    monkeypatch.setattr(columnar.subprocess, "Popen", kept)
    write_frame(small_frame(), tmp_path / "d.parquet")
    with pytest.raises(BayescoutError):
        read_table(tmp_path / "d.parquet", columns=["nobody"])
    assert [process.poll() is not None for process in started] == [True]


# ---- limits


LIMITED = """
import sys, resource
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]) << 20,) * 2)
from bayescout.data.read import read_table
from bayescout.errors import BayescoutError
try:
    print(read_table(sys.argv[1]).fingerprint)
except BayescoutError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="address limits as Linux has them")
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
@pytest.mark.parametrize("megabytes", [300, 1000])
def test_a_limited_address_space_gives_a_table_or_one_line(tmp_path, ending, megabytes):
    rng = np.random.default_rng(0)
    table = as_table({f"c{i}": rng.integers(0, 3, 200_000) for i in range(12)})
    path = tmp_path / f"d.{ending}"
    table.save(path)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(megabytes)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    said = done.stdout.strip()
    assert (
        said == table.fingerprint if megabytes == 1000 else said.startswith(("TooLargeError", "FormatError"))
    )


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_a_file_that_finds_no_room_is_one_error_and_leaves_nothing(tmp_path, ending):
    """A limit on the size of files stands for a full disk: both fail at a write in the middle."""
    import signal

    rng = np.random.default_rng(0)
    table = as_table({"x": rng.normal(size=20_000)})
    path = tmp_path / f"d.{ending}"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(FormatError, match="cannot be written: File too large"):
            table.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(tmp_path.iterdir()) == []
