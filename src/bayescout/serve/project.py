"""A project: a folder of plain files that holds everything, so that nothing is lost when the server ends.

project.json     the data it is about, and the kinds of columns that a person chose
data/            uploaded files, examples, and the table as it was read
knowledge.txt    what is known, in the form that `--knowledge` takes
layout.json      where a person put the nodes
networks/        network files to compare with
runs/ID/         run.json, trace.jsonl, checkpoints, result.json, strengths.json
"""

from __future__ import annotations

import json
import os
import re
import reprlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from bayescout.data.files import atomic_write, lock
from bayescout.errors import FormatError, SettingError
from bayescout.serve.wire import encoded

VERSION = 1
OWN = ("table.arrow", "table.new.arrow")
"""Names in the folder of data that no upload gets."""

RECORD = "run.json"
"""The file that says what a run is, in its folder."""

MOST_PLACES = 100_000
"""The most variables whose places are kept, also those of earlier data."""

FARTHEST = 1e7
"""How far from the corner of the drawing a variable may be put."""

UPLOAD_LIMIT = 2**29
"""The most bytes of an uploaded file, unless the server is told otherwise."""


class Project:
    """The files of a project; one server at a time has it open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        try:
            for part in ("data", "runs"):
                (self.folder / part).mkdir(parents=True, exist_ok=True)
            self._lock = self._locked()
        except OSError as error:
            raise SettingError(
                f"the project {self.folder} cannot be written: {error.strerror}; choose another folder "
                f"(--project)"
            ) from None
        try:
            self._take_up()
        except BaseException:
            self.close()
            raise

    def _take_up(self) -> None:
        """Read what there is."""
        for cut_short in (self.folder / "data").glob(".incoming-*"):
            shutil.rmtree(cut_short, ignore_errors=True)
        self.about: dict[str, Any] = {
            "version": VERSION,
            "name": self.folder.name.removesuffix(".bayescout"),
            "source": None,
            "kinds": {},
            "missing": "em",
            "data": None,
        } | self._read("project.json", {})
        if self.about["version"] != VERSION:
            raise FormatError("is a project of another version of bayescout", self.folder)
        try:
            self.layout = checked_layout(self._read("layout.json", {"positions": {}}))
        except SettingError as error:
            raise FormatError(f"{error}; repair it or move it away", self.folder / "layout.json") from None

    def _locked(self) -> IO[bytes]:
        file = open(self.folder / ".lock", "ab")  # noqa: SIM115 - held until the end
        try:
            lock(file.fileno())
        except BlockingIOError:
            file.close()
            raise SettingError(
                f"another server has the project {self.folder} open; use its page, or another folder "
                f"(--project)"
            ) from None
        except OSError:  # a file system without locks
            pass
        return file

    def close(self) -> None:
        self._lock.close()

    def _read(self, name: str, default: dict[str, Any]) -> dict[str, Any]:
        path = self.folder / name
        if not path.exists():
            return default
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(found, dict):
                raise TypeError
        except (ValueError, TypeError, OSError) as error:
            raise FormatError(f"cannot be read: {error}; repair it or move it away", path) from None
        return found

    def save(self) -> None:
        self._write("project.json", self.about)

    def write_layout(self, layout: dict[str, Any]) -> None:
        self._write("layout.json", layout)
        self.layout = layout

    def _write(self, name: str, content: dict[str, Any]) -> None:
        with atomic_write(self.folder / name) as stream:
            stream.write(encoded(content) + b"\n")

    # ---- paths

    def inside(self, text: str) -> Path:
        """A path within the folder; any other is refused, also one that leads out by a link."""
        try:
            found = (self.folder / text).resolve()
            there = found.is_relative_to(self.folder) and found.is_file()
        except (OSError, ValueError):
            there = False
        if not there:
            raise SettingError(f"{text!r} is no file in the project's folder; upload it, or put it there")
        return found

    @contextmanager
    def incoming(self, name: str) -> Iterator[Path]:
        """Where an uploaded file goes until it has been read, by a name that is safe to have."""
        safe = re.sub(r"[^\w.\- ()]", "_", Path(name.replace("\\", "/")).name).lstrip(".") or "data.csv"
        with TemporaryDirectory(prefix=".incoming-", dir=self.folder / "data") as folder:
            yield Path(folder) / safe[-120:]

    def keep(self, incoming: Path) -> Path:
        """Give an uploaded file that could be read its place, where it may replace an earlier one."""
        name = incoming.name
        found = self.folder / "data" / (f"uploaded-{name}" if name in OWN else name)
        return incoming.replace(found)

    def keep_network(self, incoming: Path) -> Path:
        """Give a network file that could be read its place, likewise."""
        folder = self.folder / "networks"
        folder.mkdir(exist_ok=True)
        return incoming.replace(folder / incoming.name)

    def networks(self) -> dict[str, Path]:
        """The network files to compare with, by name."""
        found = sorted((self.folder / "networks").glob("[!.]*"))
        return {path.name: path for path in found if path.is_file()}

    @property
    def table(self) -> Path:
        """The table as it was read."""
        return self.folder / "data" / OWN[0]

    def shown(self, path: str | Path) -> str:
        """A path as the command lines have it: from where the server was started, if it is below there."""
        try:
            return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else str(path)
        except (OSError, ValueError):
            return str(path)

    # ---- knowledge and runs

    @property
    def knowledge(self) -> str:
        path = self.folder / "knowledge.txt"
        try:
            return path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(f"cannot be read: {error}", path) from None

    def write_knowledge(self, text: str) -> None:
        with atomic_write(self.folder / "knowledge.txt", text=True) as stream:
            stream.write(text)

    def run_folder(self, number: str) -> Path:
        return self.folder / "runs" / number

    def new_run(self) -> str:
        """The number and the folder of another run; numbers are not used again."""
        known = [int(one.name) for one in (self.folder / "runs").iterdir() if one.name.isdecimal()]
        number = max([*known, self.about.get("last_run", 0)], default=0) + 1
        self.about["last_run"] = number
        self.save()
        self.run_folder(str(number)).mkdir()
        return str(number)

    def saved_runs(self) -> dict[str, dict[str, Any]]:
        """The record of every run, in order; folders without one are left alone."""
        found = {}
        for one in sorted((self.folder / "runs").iterdir(), key=lambda path: (len(path.name), path.name)):
            if one.name.isdecimal() and (one / RECORD).exists():
                found[one.name] = self._read(f"runs/{one.name}/{RECORD}", {})
        return found

    def save_run(self, number: str, content: dict[str, Any]) -> None:
        self._write(f"runs/{number}/{RECORD}", content)

    def copy_run(self, number: str, other: str) -> Path:
        """Copy the files of a run into the folder of another; all of them, or it is not there.

        Not its record, which names the run: that of the other is written by `save_run`.
        """
        folder = self.run_folder(other)
        try:
            for one in self.run_folder(number).glob("[!.]*"):  # not what is being written
                if one.name != RECORD:
                    shutil.copyfile(one, folder / one.name)
        except OSError:  # as on a full disk: half a run would be taken for one
            self.delete_run(other)
            raise
        return folder

    def delete_run(self, number: str) -> None:
        shutil.rmtree(self.run_folder(number), ignore_errors=True)


def checked_layout(given: dict[str, Any]) -> dict[str, Any]:
    """The places of variables, {"positions": {name: [x, y]}}; anything else is refused."""
    positions = given.get("positions")
    if not isinstance(positions, dict) or len(given) > 1:
        told = reprlib.repr(list(given))
        raise SettingError(f"a layout is {{'positions': {{variable: [x, y]}}}}, not an object with {told}")
    if len(positions) > MOST_PLACES:
        raise SettingError(
            f"a layout has {len(positions):,} places, more than the {MOST_PLACES:,} that are kept; leave out "
            f"variables that the data do not have"
        )
    for name, place in positions.items():
        if not (isinstance(place, list) and len(place) == 2 and all(map(_is_near, place))):
            raise SettingError(
                f"the place of {reprlib.repr(name)} in a layout is two numbers from {-FARTHEST:,.0f} to "
                f"{FARTHEST:,.0f}, not {reprlib.repr(place)}"
            )
    return {"positions": positions}


def _is_near(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and -FARTHEST <= value <= FARTHEST
