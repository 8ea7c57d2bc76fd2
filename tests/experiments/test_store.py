"""The store: records outlive kills, torn ends and full disks, and no two processes write at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import polars as pl
import pytest

from bayescout.errors import FormatError, SettingError
from bayescout.experiments import store as storing
from bayescout.experiments.records import Record, Records
from bayescout.experiments.store import MANIFEST, RECORDS, Store, export_parquet, parse, sealed
from bayescout.experiments.study import canonical, key_of
from tests.experiments.toy_study import Toy


def record(seed, **measures):
    run = {"data": {"steps": 5}, "seed": seed}
    return Record(key_of("toy", run), "toy", run, measures or {"end": seed / 3}, versions={"python": "3"})


def line_of(one):
    """A record as a line of the file."""
    return canonical(sealed(one.to_json())).encode()


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


def test_a_failed_run_may_be_done_again_and_its_last_record_counts(filled):
    failed = replace(record(7), reason="it broke", measures={})
    with opened(filled) as store:
        store.append(failed)
        store.append(failed)
        store.append(record(7, end=9.0))
    with opened(filled) as store:
        assert store.found[record(7).key].measures == {"end": 9.0}
        assert len(store.found) == 4


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


def changed(**values):
    """A record with other values, and the digest of what it was."""
    return canonical({**sealed(record(0).to_json()), **values}).encode()


def without(name):
    return canonical({k: v for k, v in sealed(record(0).to_json()).items() if k != name}).encode()


DAMAGED = [
    b"",
    b"\0\0\0\0",
    b"[]",
    b"3",
    b"null",
    b'"digest"',
    b"nonsense",
    b"{}",
    b'{"digest": null}',
    b'{"key": "x"}',
    b'{"key": "x", "study": "toy", "run": {}}',
    b"[" * 100_000,
    b'{"digest":' * 100_000,
    b"\xff\xfe",
    line_of(record(0)).replace(b'"seed":0', b'"seed":7'),
    line_of(record(0)).replace(b'"end":0.0', b'"end":NaN'),
    line_of(record(0)).replace(b'"end":0.0', b'"end":' + b"9" * 5000),
    line_of(record(0)).replace(b'"end":0.0', b'"end":"\\ud800"'),
    *(without(name) for name in ("digest", "key", "measures", "reason", "seconds", "versions")),
    changed(more=1),
    changed(measures={"end": 1e9}),
    changed(measures=[]),
    changed(reason="it broke"),
    changed(reason=0),
    changed(seconds="long"),
    changed(versions=None),
    changed(study="other"),
    changed(digest=""),
    changed(digest=7),
    *(
        canonical(sealed({**record(0).to_json(), **wrong})).encode()
        for wrong in (
            {"measures": []},
            {"reason": 3},
            {"versions": "3"},
            {"key": "x"},
            {"run": {}},
            {"more": 1},
        )
    ),
]


@pytest.mark.parametrize("line", DAMAGED)
def test_a_line_that_is_no_record_as_it_was_written_is_refused(filled, line):
    """Whatever it says, it does not become part of an outcome; without the line the study goes on."""
    path = filled / RECORDS
    whole = path.read_bytes()
    first, rest = whole.split(b"\n", 1)
    path.write_bytes(first + b"\n" + line + b"\n" + rest)
    message = r"records.jsonl, line 2: is not a record as it was written; delete the line, and --resume does"
    with pytest.raises(FormatError, match=message), opened(filled):
        pass
    assert path.read_bytes().split(b"\n")[1] == line
    path.write_bytes(whole)
    with opened(filled) as store:
        assert list(store.found.values()) == [record(seed) for seed in range(3)]


def test_many_damaged_lines_are_named_together(filled):
    path = filled / RECORDS
    path.write_bytes(path.read_bytes() + b"x\n" * 20)
    message = r"line 4: is not .*, nor are 19 more lines \(5, 6, .*13, \.\.\.\); delete these lines"
    with pytest.raises(FormatError, match=message), opened(filled):
        pass


def test_no_changed_byte_of_a_record_is_believed(filled):
    """Any letter changed, dropped or doubled: refused, or the very same record."""
    line = line_of(record(1))
    for place in range(len(line)):
        for damaged in (
            line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :],
            line[:place] + line[place + 1 :],
            line[:place] + line[place : place + 1] + line[place:],
        ):
            assert parse(damaged) in (None, record(1)), damaged


def test_a_record_of_another_study_is_refused(filled):
    other = record(5).run
    line = line_of(Record(key_of("other", other), "other", other))
    with open(filled / RECORDS, "ab") as stream:
        stream.write(line + b"\n")
    message = "line 4: is a record of the study 'other', not of 'toy'; delete the line"
    with pytest.raises(FormatError, match=message), opened(filled):
        pass


@pytest.mark.parametrize("second", [record(1), record(1, end=7.0), replace(record(1), reason="it broke")])
def test_a_second_record_of_a_run_is_refused(filled, second):
    with open(filled / RECORDS, "ab") as stream:
        stream.write(line_of(second) + b"\n")
    message = "line 4: is a second record of the run of line 2; delete one of the two lines"
    with pytest.raises(FormatError, match=message), opened(filled):
        pass


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
    "text",
    [
        "", "{}", "[]", "{", '{"format": "x"}', '{"format": "bayescout-study", "version": 1}', "\0" * 50,
        "[" * 100_000, '{"format":"bayescout-study","settings":{"repeats":3},"study":"toy","version":1}',
    ],
)  # fmt: skip
def test_a_broken_manifest_is_named_and_can_be_done_without(filled, text):
    before = (filled / MANIFEST).read_text()
    (filled / MANIFEST).write_text(text)
    with (
        pytest.raises(
            FormatError, match=r"study.json: is damaged, or of an earlier version .* or delete it and"
        ),
        opened(filled),
    ):
        pass
    (filled / MANIFEST).unlink()
    with opened(filled) as store:
        assert len(store.found) == 3
    assert (filled / MANIFEST).read_text() == before


def test_a_changed_manifest_is_not_believed(filled):
    path = filled / MANIFEST
    path.write_text(path.read_text().replace('"repeats": 10', '"repeats": 11'))
    with pytest.raises(FormatError, match="is damaged"), opened(filled):
        pass


def test_a_manifest_of_another_version_is_told(filled):
    content = {"format": storing.FORMAT, "version": 99, "study": "toy", "settings": {}}
    (filled / MANIFEST).write_text(json.dumps(sealed(content)))
    with (
        pytest.raises(FormatError, match="is of another version of bayescout; choose another"),
        opened(filled),
    ):
        pass


LEFT = {
    "the description alone": [MANIFEST],
    "the description and an empty file": [MANIFEST, (RECORDS, b"")],
    "the description and a piece of a record": [MANIFEST, (RECORDS, b'{"key')],
    "the records alone": [RECORDS],
    "an empty file of records": [(RECORDS, b"")],
    "half of a description": [(".bayescout-0123456789abcdef.tmp", b'{"format')],
    "a lock": [(".lock", b"")],
}
"""What a kill, a power cut or a hand may leave of a folder."""


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_whatever_is_left_of_a_study_can_be_gone_on_with(filled, tmp_path, left):
    folder = tmp_path / "left"
    folder.mkdir()
    for item in left:
        name, content = item if isinstance(item, tuple) else (item, (filled / item).read_bytes())
        (folder / name).write_bytes(content)
    with opened(folder) as store:
        kept = len(store.found)
        for seed in range(kept, 3):
            store.append(record(seed))
    assert kept == (3 if RECORDS in left else 0)
    for name in (MANIFEST, RECORDS):
        assert (folder / name).read_bytes() == (filled / name).read_bytes()


@pytest.mark.parametrize("name", [".lock", ".bayescout-0123456789abcdef.tmp"])
def test_a_folder_in_which_nothing_was_begun_is_as_good_as_an_empty_one(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with opened(tmp_path, resume=False) as store:
        store.append(record(0))


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
