"""The files that a command writes: they are checked before any work is done, and none may be an input."""

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
    """A file that a command is asked to write: the option that names it, and the check of its ending."""

    option: str
    path: str | None
    check_ending: Callable[[str], object]


def check_outputs(outputs: Sequence[Output], reads: Sequence[str | None] = ()) -> None:
    """Refuse outputs that could not be written, that are the same file, or that are an input.

    Files are the same by their resolved path or by device and number, so links of both kinds count. An
    input may also be the name of a shipped network or a modelstring, which are not files.
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
    """Return True if two paths lead to the same file, existing or not; a device is not a file."""
    try:
        if os.path.exists(one) and not os.path.isfile(one):
            return False
        if os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(two)):
            return True
        return os.path.samefile(one, two)
    except (OSError, ValueError):
        return False


def check_folder_writable(folder: Path) -> None:
    """Refuse a folder in which nothing can be written; it and its parents may still have to be made."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise SettingError(f"{folder} cannot be a folder, since {there} is a file; choose another with --out")
    check_writable(there / "records.jsonl")


# ---- endings


def network_ending(path: str) -> None:
    """Check for a format that keeps parameters."""
    if format_of(path).holds == "structure":
        raise FormatError("a format without parameters; write .bif or .json", path)


def page_ending(path: str) -> None:
    _check_ending(path.lower().removesuffix(".gz"), (".html", ".htm"), "a page", path)


def csv_ending(path: str) -> None:
    _check_ending(path, (".csv",), "a csv file", path)


def any_ending(path: str) -> None:
    """Accept any ending, for a file that only bayescout reads: its name is the user's choice."""


GRAPH_ENDING: Callable[[str], object] = format_of
"""A format of networks or structures."""

TABLE_ENDING: Callable[[str], object] = written_as
"""A format of data."""


def _check_ending(name: str, endings: tuple[str, ...], what: str, path: str) -> None:
    """Refuse a file whose ending does not match its content; a pipe or a terminal has no ending."""
    if Path(name).suffix.lower() in endings or (os.path.exists(path) and not os.path.isfile(path)):
        return
    raise FormatError(f"{what} is written, whose name ends in {' or '.join(endings)}; rename it", path)


# ---- after the work


@dataclass
class LastSteps:
    """The steps after there is a result: one that fails, or is interrupted, does not prevent the others.

    Ctrl-C ends only the step in hand, and `close` reports it.
    """

    interrupted: list[str] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)

    def do(self, step: Callable[[], Made], lost: str) -> Made | None:
        """The step's result; None, and `lost` is remembered, if Ctrl-C ended it."""
        try:
            return step()
        except KeyboardInterrupt:
            self.interrupted.append(lost)
        except (BayescoutError, OSError, MemoryError) as error:
            self.failed.append(error)
        return None

    def write(self, path: str | None, step: Callable[[str], object]) -> str | None:
        """The path that the step wrote; None if it did not, or nothing was asked for."""
        if path is None:
            return None

        def written() -> str:
            step(path)
            return path

        return self.do(written, f"{path} was not written")

    def close(self) -> None:
        """End the command with an error, with 130, or normally, depending on what happened."""
        if self.interrupted:
            say(f"interrupted; {'; '.join(self.interrupted)}")
        if self.failed:
            for error in self.failed[1:]:
                say(f"error: {error}")
            raise self.failed[0]
        if self.interrupted:
            raise typer.Exit(130)
