"""Where compiled kernels are kept when the usual folders cannot be written, and what is said of it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import bayescout
from bayescout.kernels import jit

USE = """
import numpy as np
{before}
from bayescout.kernels.orders import first_within
print(first_within(np.ones((3, 1), dtype=np.uint64), np.ones(1, dtype=np.uint64)))
"""


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A copy of the kernels beside which nothing can be kept, even by the superuser: a file is in the way."""
    home = tmp_path_factory.mktemp("sealed")
    package = home / "bayescout"
    kernels = Path(bayescout.__file__).parent / "kernels"
    shutil.copytree(kernels, package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text("")
    (package / "kernels" / "__pycache__").write_text("")
    return home


def run(home, temporary, before="", **more):
    """Use a kernel in a process that can write neither its home nor its cache folder; (printed, said)."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {
        "PYTHONPATH": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": os.devnull,
        "XDG_CACHE_HOME": os.devnull,
        "TMPDIR": str(temporary),
    }
    done = subprocess.run(
        [sys.executable, "-c", USE.format(before=before)],
        env=environment | more,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


def test_kernels_are_kept_in_a_temporary_folder_of_our_own(sealed, tmp_path):
    tmp_path.chmod(0o700)
    printed, said = run(sealed, tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith(f"bayescout-{os.getuid()}-")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.rglob("*.nbc"))
    assert printed == "0"
    assert f"once as long as {folder} is there" in said
    assert "NUMBA_CACHE_DIR" in said
    assert len(said.splitlines()) == 1
    assert run(sealed, tmp_path) == ("0", ""), "the second process compiles nothing"


@pytest.mark.slow
def test_the_folder_that_is_asked_for_is_used(sealed, tmp_path):
    asked = tmp_path / "asked"
    assert f"({jit.TAKES}, once; `bayescout warm-up`" in run(sealed, tmp_path, NUMBA_CACHE_DIR=str(asked))[1]
    assert run(sealed, tmp_path, NUMBA_CACHE_DIR=str(asked)) == ("0", "")
    assert [path.name for path in tmp_path.iterdir()] == ["asked"]


@pytest.mark.slow
def test_a_full_disk_is_no_reason_to_fail(sealed, tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    printed, said = run(sealed, tmp_path, limit, NUMBA_CACHE_DIR=str(tmp_path / "asked"))
    assert printed == "0"
    assert "could not be kept in" in said
    assert "the next process compiles them again; set NUMBA_CACHE_DIR" in said


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    jit.own_folder.cache_clear()
    yield tmp_path
    jit.own_folder.cache_clear()


def found_anew():
    jit.own_folder.cache_clear()
    return jit.own_folder()


def test_only_a_folder_of_our_own_is_safe(temporary, monkeypatch):
    folder = found_anew()
    assert folder is not None
    assert found_anew() == folder
    for mode in (0o777, 0o750, 0o701, 0o500):
        folder.chmod(mode)
        assert found_anew() is None
    folder.chmod(0o700)
    temporary.chmod(0o777)
    assert found_anew() is None, "anyone could put another folder in its place"
    temporary.chmod(0o1777)
    assert found_anew() == folder
    monkeypatch.setattr(jit, "_is_safe", lambda folder: False)
    assert found_anew() is None


def test_a_link_or_a_file_in_its_place_is_not_used(temporary):
    folder = found_anew()
    folder.rmdir()
    (temporary / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(temporary / "elsewhere")
    assert found_anew() is None
    folder.unlink()
    folder.write_text("")
    assert found_anew() is None


def test_another_users_folder_is_not_used(temporary, monkeypatch):
    folder = found_anew()
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    folder.rename(temporary / folder.name.replace(str(own), str(own + 1), 1))
    assert found_anew() is None


def test_without_a_temporary_folder_there_is_none(monkeypatch):
    def none_usable():
        raise FileNotFoundError("no usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none_usable)
    assert found_anew() is None
    jit.own_folder.cache_clear()


def test_a_temporary_folder_that_others_could_write_is_not_used(sealed, temporary):
    found_anew().chmod(0o770)
    printed, said = run(sealed, temporary)
    assert printed == "0"
    assert ", in every process, because neither" in said
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in said
    assert "once" not in said
