"""The old file or the whole new one, and nothing beside it."""

from __future__ import annotations

import os
import stat

import pytest

from bayescout.data import atomic_write
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
