"""Where a command writes: its outputs are looked at before any work is done, and none may be an input."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import typer

from bayescout.cli.terminal import say
from bayescout.data.files import check_writable
from bayescout.data.write import written_as
from bayescout.errors import BayescoutError, FormatError, SettingError
from bayescout.formats import format_of

Made = TypeVar("Made")


@dataclass(frozen=True)
class Output:
    """A file that a command is asked to write: the option that names it, and what its ending must allow."""

    option: str
    path: str | None
    check_ending: Callable[[str], object]


def check_outputs(outputs: Sequence[Output], reads: Sequence[str | None] = ()) -> None:
    """Refuse outputs that could not be written, that are one file, or that are a file which is read.

    Files are the same by their resolved path or by device and number, so links of both kinds count. What
    is read may also be the name of a shipped network or a modelstring, which are no files.
    """
    given = [(output, output.path) for output in outputs if output.path is not None]
    for output, path in given:
        if not path:
            raise SettingError(f"{output.option} names no file; give a path, or leave the option out")
        for other in filter(None, reads):
            if is_same_file(path, other):
                raise SettingError(
                    f"{output.option} {path} would overwrite {other}, which is read; choose another name"
                )
    for (one, path), (two, other) in combinations(given, 2):
        if is_same_file(path, other):
            raise SettingError(
                f"{one.option} {path} and {two.option} {other} are one file; give each a name of its own"
            )
    for output, path in given:
        output.check_ending(path)
        check_writable(path)


def is_same_file(one: str, two: str) -> bool:
    """Return True if two paths lead to one file, there already or not; a device is not a file."""
    try:
        if os.path.exists(one) and not os.path.isfile(one):
            return False
        if os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(two)):
            return True
        return os.path.samefile(one, two)
    except (OSError, ValueError):
        return False


def check_folder_writable(folder: Path) -> None:
    """Refuse a folder, or one that will be made with those above it, in which nothing can be written."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise SettingError(f"{folder} cannot be a folder, since {there} is a file; choose another with --out")
    check_writable(there / "records.jsonl")


# ---- endings


def network_ending(path: str) -> None:
    """A format that keeps parameters."""
    if format_of(path).holds == "structure":
        raise FormatError("a format without parameters; write .bif or .json", path)


def page_ending(path: str) -> None:
    _check_ending(path.lower().removesuffix(".gz"), (".html", ".htm"), "a page", path)


def csv_ending(path: str) -> None:
    _check_ending(path, (".csv",), "a csv file", path)


def any_ending(path: str) -> None:
    """A file of our own, that nothing else reads: its name is the user's choice."""


GRAPH_ENDING: Callable[[str], object] = format_of
"""A format of networks or structures."""

TABLE_ENDING: Callable[[str], object] = written_as
"""A format of data."""


def _check_ending(name: str, endings: tuple[str, ...], what: str, path: str) -> None:
    """A file ends as its content says; a pipe or a terminal has no ending."""
    if Path(name).suffix.lower() in endings or (os.path.exists(path) and not os.path.isfile(path)):
        return
    raise FormatError(f"{what} is written, whose name ends in {' or '.join(endings)}; rename it", path)


# ---- after the work


@dataclass
class LastSteps:
    """What is done once there is a result: a step that fails, or is interrupted, costs none of the others.

    Ctrl-C ends the step in hand only, and `close` tells of it.
    """

    interrupted: list[str] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)

    def do(self, step: Callable[[], Made], lost: str) -> Made | None:
        """The step's result; None, and `lost` remembered, where Ctrl-C ended it."""
        try:
            return step()
        except KeyboardInterrupt:
            self.interrupted.append(lost)
        except (BayescoutError, OSError, MemoryError) as error:
            self.failed.append(error)
        return None

    def write(self, path: str | None, step: Callable[[str], object]) -> str | None:
        """The path where the step wrote it; None where it did not, or nothing was asked for."""
        if path is None:
            return None

        def written() -> str:
            step(path)
            return path

        return self.do(written, f"{path} was not written")

    def close(self) -> None:
        """End the command as what happened asks for: an error, 130, or nothing special."""
        if self.interrupted:
            say(f"interrupted; {'; '.join(self.interrupted)}")
        if self.failed:
            for error in self.failed[1:]:
                say(f"error: {error}")
            raise self.failed[0]
        if self.interrupted:
            raise typer.Exit(130)
