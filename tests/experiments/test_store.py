"""The store: records outlive kills, torn ends and full disks, and no two processes write at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import polars as pl
import pytest

from bayescout.errors import FormatError, SettingError
from bayescout.experiments.records import Record, Records
from bayescout.experiments.store import MANIFEST, RECORDS, Store, export_parquet, parse
from bayescout.experiments.study import canonical, key_of
from tests.experiments.toy_study import Toy


def record(seed, **measures):
    run = {"data": {"steps": 5}, "seed": seed}
    return Record(key_of("toy", run), "toy", run, measures or {"end": seed / 3}, versions={"python": "3"})


def opened(folder, resume=True, notes=None):
    return Store(folder, Toy(), resume, (notes if notes is not None else []).append)


@pytest.fixture
def filled(tmp_path):
    """A folder with three records."""
    with opened(tmp_path / "toy") as store:
        for seed in range(3):
            store.append(record(seed))
    return tmp_path / "toy"


def test_records_come_back_equal(filled):
    with opened(filled) as store:
        assert list(store.found.values()) == [record(seed) for seed in range(3)]


def test_the_last_record_of_a_key_counts(filled):
    with opened(filled) as store:
        store.append(record(1, end=9.0))
    with opened(filled) as store:
        assert store.found[record(1).key].measures == {"end": 9.0}
        assert len(store.found) == 3


def test_an_end_cut_at_any_byte_is_dropped_and_the_rest_kept(filled):
    path = filled / RECORDS
    whole = path.read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    for length in [last, last + 1, *range(last + 2, len(whole) - 1, 11), len(whole) - 1]:
        path.write_bytes(whole[:length])
        notes = []
        with opened(filled, notes=notes) as store:
            assert list(store.found.values()) == [record(0), record(1)]
            assert path.read_bytes() == whole[:last]
            store.append(record(2))
        assert path.read_bytes() == whole
        assert len(notes) == (length > last)
        assert all("cut short" in note for note in notes)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\0\0\0\0",
        b"[]",
        b"3",
        b"nonsense",
        b'{"key": "x"}',
        b'{"key": "x", "study": "toy", "run": {}}',
        b"[" * 100_000,
        b"\xff\xfe",
        canonical(record(0).to_json()).replace('"seed":0', '"seed":7').encode(),
        canonical({**record(5).to_json(), "study": "other"}).encode(),
    ],
)
def test_a_line_that_is_no_record_is_left_out_and_said(filled, line):
    path = filled / RECORDS
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(first + b"\n" + line + b"\n" + rest)
    notes = []
    with opened(filled, notes=notes) as store:
        assert list(store.found.values()) == [record(seed) for seed in range(3)]
    assert len(notes) == 1
    assert "line 2" in notes[0]


def test_a_changed_record_is_not_believed():
    text = canonical(record(0).to_json())
    assert parse(text.encode()) == record(0)
    assert parse(text.replace('"steps":5', '"steps":6').encode()) is None


def test_a_full_disk_leaves_whole_records(filled, monkeypatch):
    """A write that stops half way is undone, and what was there stays."""
    before = (filled / RECORDS).read_bytes()
    write = os.write
    with opened(filled) as store:
        monkeypatch.setattr(os, "write", lambda file, line: write(file, line[: len(line) // 2]))
        with pytest.raises(FormatError, match="the disk is full; make room and go on with --resume"):
            store.append(record(7))
        assert (filled / RECORDS).read_bytes() == before
        monkeypatch.setattr(os, "write", write)
        store.append(record(7))
    with opened(filled) as store:
        assert len(store.found) == 4


def test_a_folder_in_use_is_refused_unless_it_goes_on(filled, tmp_path):
    with (
        pytest.raises(SettingError, match="is not empty; go on with --resume, or choose another folder"),
        opened(filled, resume=False),
    ):
        pass
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(SettingError, match="holds no study"), opened(tmp_path / "mine"):
        pass
    with (
        pytest.raises(SettingError, match="is a file; give a folder"),
        opened(tmp_path / "mine" / "letter.txt"),
    ):
        pass
    assert os.listdir(tmp_path / "mine") == ["letter.txt"]


def test_an_empty_folder_is_as_good_as_none(tmp_path):
    with opened(tmp_path, resume=False) as store:
        store.append(record(0))
    assert json.loads((tmp_path / MANIFEST).read_text())["study"] == "toy"


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"format": "x"}', '{"format": "bayescout-study", "version": 1}']
)
def test_a_broken_manifest_is_named(filled, text):
    (filled / MANIFEST).write_text(text)
    with pytest.raises(FormatError, match="is not a study of this version"), opened(filled):
        pass


def test_another_study_is_refused(filled):
    class Other(Toy):
        name = "other"

    with (
        pytest.raises(SettingError, match="holds the study 'toy', not 'other'"),
        Store(filled, Other(), True, print),
    ):
        pass


def test_a_second_process_is_kept_out_until_the_first_ends(filled):
    code = (
        "import sys; from tests.experiments.test_store import opened\n"
        "with opened(sys.argv[1]): sys.stdout.write('in\\n'); sys.stdout.flush(); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, filled], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "in\n"
        with pytest.raises(SettingError, match="another process is running the study"), opened(filled):
            pass
        other.kill()
        other.wait(timeout=30)
        with opened(filled) as store:
            assert len(store.found) == 3


def test_exported_records_have_a_column_for_each_value(tmp_path):
    some = [
        record(0, end=1.5, n=1, flag=True, walk=[1.0, 2.0]),
        record(1, end=2, n=None, flag=False, walk=[]),
        Record("k", "toy", {"seed": 2}, reason="it broke"),
    ]
    export_parquet(Records(some), tmp_path / "r.parquet")
    frame = pl.read_parquet(tmp_path / "r.parquet")
    assert frame["end"].to_list() == [1.5, 2.0, None]
    assert frame["n"].to_list() == [1, None, None]
    assert frame["flag"].to_list() == [True, False, None]
    assert [None if x is None else json.loads(x) for x in frame["walk"]] == [[1.0, 2.0], [], None]
    assert frame["run.seed"].to_list() == [0, 1, 2]
    assert json.loads(frame["run.data"][0]) == {"steps": 5}
    assert frame["reason"].to_list() == [None, None, "it broke"]
    assert {"seconds", "cpu_seconds", "version.python"} <= set(frame.columns)
