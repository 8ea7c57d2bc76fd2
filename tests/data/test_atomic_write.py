"""The old file or the whole new one, and nothing beside it."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from bayescout.data import atomic_write, files
from bayescout.data.files import NO_ROOM
from bayescout.errors import BayescoutError, FormatError


def fail_half_way(path, error):
    with atomic_write(path, text=True) as stream:
        stream.write("half")
        raise error


def test_text_is_utf8_with_plain_line_ends(tmp_path):
    path = tmp_path / "x.txt"
    with atomic_write(path, text=True) as stream:
        stream.write("ü\n")
    assert path.read_bytes() == "ü\n".encode()
    assert os.listdir(tmp_path) == ["x.txt"]


def test_the_file_appears_only_when_the_block_ends(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    with atomic_write(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(type(error)):
        fail_half_way(path, error)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.txt"]


def test_a_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(FormatError, match=r"folder .*nowhere.* does not exist"),
        atomic_write(tmp_path / "nowhere" / "x"),
    ):
        pass


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(FormatError, match="it is a folder"), atomic_write(tmp_path):
        pass


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BayescoutError, match="cannot be written"), atomic_write(tmp_path / "file" / "y"):
        pass


def test_an_error_of_the_system_is_one_clear_line(tmp_path):
    with pytest.raises(FormatError, match="No space left"):
        fail_half_way(tmp_path / "x", OSError(28, "No space left on device"))
    assert os.listdir(tmp_path) == []


def test_text_that_is_not_unicode_is_refused(tmp_path):
    with pytest.raises(FormatError, match="UTF-8"), atomic_write(tmp_path / "x", text=True) as stream:
        stream.write("\ud800")
    assert os.listdir(tmp_path) == []


def test_a_link_is_followed_and_permissions_are_kept(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    with atomic_write(link, text=True) as stream:
        stream.write("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_a_device_is_written_and_not_replaced():
    before = os.stat("/dev/null").st_rdev
    with atomic_write("/dev/null", text=True) as stream:
        stream.write("gone")
    assert os.stat("/dev/null").st_rdev == before


def test_a_read_only_file_is_refused_though_its_folder_is_not(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(FormatError, match=r"x\.txt: cannot be written: it is read-only"), atomic_write(path):
        pass
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.txt"]


def test_a_pipe_whose_reader_goes_away_breaks_as_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    def write():
        with atomic_write(pipe, text=True) as stream:
            os.close(reader)
            stream.write("x")

    with pytest.raises(BrokenPipeError):
        write()
    assert os.listdir(tmp_path) == ["pipe"]


# ---- what a kill leaves


WRITER = """
import sys
from bayescout.data import atomic_write

with atomic_write(sys.argv[1], text=True) as stream:
    stream.write("whole")
    stream.flush()
    print("ready", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def forgetful():
    """As in a new process, which has not looked for temporary files yet."""
    files._remove_abandoned.cache_clear()
    return files._remove_abandoned.cache_clear


def writing(path):
    """A process in the middle of writing a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def write(path, content):
    with atomic_write(path, text=True) as stream:
        stream.write(content)


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path, forgetful):
    with writing(tmp_path / "killed") as killed, writing(tmp_path / "living") as living:
        write(tmp_path / "other", "x")
        assert len(os.listdir(tmp_path)) == 3
        killed.kill()
        assert killed.wait() == -signal.SIGKILL
        assert len(os.listdir(tmp_path)) == 3
        forgetful()
        write(tmp_path / "killed", "again")
        assert len(os.listdir(tmp_path)) == 3
        living.communicate("go on\n", timeout=60)
        assert living.returncode == 0
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "other": "x",
        "killed": "again",
        "living": "whole",
    }


def test_only_our_own_files_are_removed(tmp_path, forgetful):
    target = tmp_path / "kept"
    target.write_text("kept")
    (tmp_path / ".bayescout-link.tmp").symlink_to(target)
    (tmp_path / ".bayescout-folder.tmp").mkdir()
    (tmp_path / ".bayescout-left.tmp").write_text("left")
    for name in (".bayescout-notes", "x.tmp", ".other-1.tmp"):
        (tmp_path / name).write_text("kept")
    write(tmp_path / "new", "x")
    assert target.read_text() == "kept"
    links = {".bayescout-link.tmp", ".bayescout-folder.tmp"}
    assert set(os.listdir(tmp_path)) == links | {"kept", "new", ".bayescout-notes", "x.tmp", ".other-1.tmp"}


def test_two_writers_in_one_process_do_not_disturb_each_other(tmp_path, forgetful):
    with atomic_write(tmp_path / "x", text=True) as stream:
        forgetful()
        write(tmp_path / "x", "inner")
        forgetful()
        write(tmp_path / "y", "inner")
        stream.write("outer")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "outer", "y": "inner"}


@pytest.mark.parametrize("moment", ["before the lock", "at the lock"])
def test_a_file_taken_for_abandoned_before_it_was_locked_is_made_again(
    moment, tmp_path, monkeypatch, forgetful
):
    """Another process looks between the making of a file and its lock."""
    lock, calls = files.lock, []

    def late(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            if moment == "at the lock":
                raise BlockingIOError
            for path in tmp_path.iterdir():
                files._remove_if_abandoned(path)
        lock(descriptor)

    monkeypatch.setattr(files, "lock", late)
    write(tmp_path / "x", "whole")
    assert (tmp_path / "x").read_text() == "whole"
    assert len(calls) > 1


def test_a_file_is_not_abandoned_until_it_has_taken_its_place(tmp_path, monkeypatch, forgetful):
    replace = os.replace

    def late(*paths):
        forgetful()
        files._remove_abandoned(str(tmp_path))
        replace(*paths)

    monkeypatch.setattr(os, "replace", late)
    write(tmp_path / "x", "whole")
    assert (tmp_path / "x").read_text() == "whole"


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch, forgetful):
    def refuse(descriptor):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(files, "lock", refuse)
    (tmp_path / ".bayescout-left.tmp").write_text("left")
    write(tmp_path / "x", "whole")
    assert sorted(os.listdir(tmp_path)) == [".bayescout-left.tmp", "x"]


def test_a_folder_that_cannot_be_listed_is_written_to(tmp_path, monkeypatch, forgetful):
    def refuse(folder):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    write(tmp_path / "x", "whole")
    assert (tmp_path / "x").read_text() == "whole"


@pytest.mark.parametrize("number", NO_ROOM)
def test_a_full_disk_is_told_with_where_and_the_way_out(tmp_path, monkeypatch, number):
    def full(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(
            FormatError, match=rf"x\.txt: cannot be written: .*; make room on the disk of {tmp_path}$"
        ),
        atomic_write(tmp_path / "x.txt", text=True) as stream,
    ):
        stream.write("text")
    assert list(tmp_path.iterdir()) == []
