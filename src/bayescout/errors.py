"""Every error and warning bayescout raises, as one tree.

A message says where, what, the limit, and the way out, in one line, so that the
command line can print it unchanged. Catch `BayescoutError` to catch them all.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff]")
"""Control characters, line ends, marks that change the direction of the text, and halves of characters."""


def printable(text: object) -> str:
    """The text with characters that a terminal would obey or could not show escaped, such as \\x1b.

    Labels and paths come from other people's files: a terminal must show them and not obey them.
    """
    return UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text))


class BayescoutError(Exception):
    """The base class: anything the user can correct. Bugs raise other exceptions."""

    def __init__(self, *args: object) -> None:
        # One line, and safe to print, whatever the labels and paths in it.
        super().__init__(*(printable(arg) if isinstance(arg, str) else arg for arg in args))

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled from its text: the constructors below take the parts of the text instead.
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(
    kind: type[BayescoutError], args: tuple[Any, ...], attributes: Mapping[str, Any]
) -> BayescoutError:
    error = Exception.__new__(kind, *args)
    super(BayescoutError, error).__init__(*args)  # that of the built-in parent, which keeps the text
    error.__dict__.update(attributes)
    return error


NUMERAL = re.compile(r"[+-]?(?:[0-9][0-9_,]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""A text that is a number."""

MAX_COMPARED, MAX_CHOICES = 100, 10_000
"""The longest names, and the most of them, that are compared for a hint: the time grows with the square of
their length, and a file may contain a name of a megabyte."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most likely meant; case, blanks, hyphens and underscores are ignored."""
    if len(name) > MAX_COMPARED:
        return None
    folded: dict[str, str] = {}
    for choice in islice(known, MAX_CHOICES):
        if len(choice) <= MAX_COMPARED:
            folded.setdefault(_folded(choice), choice)
    found = get_close_matches(_folded(name), folded, n=1)
    return folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question to put before a list of known names, or nothing if no name is near."""
    near = nearest(name, known)
    return "" if near is None else f"did you mean {near!r}? "


def _folded(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in "-_ ")


class SettingError(BayescoutError, ValueError):
    """A setting, option or argument outside the allowed values."""


class DataError(BayescoutError, ValueError):
    """A table that cannot be used as it is."""


class MissingValueError(DataError):
    """Missing values where the policy is to refuse them."""


class GraphError(BayescoutError, ValueError):
    """A graph that is not what it must be."""


class CycleError(GraphError):
    """A directed cycle where none is allowed; `cycle` holds its labels, first = last."""

    def __init__(self, cycle: Sequence[Hashable], where: str = "the graph") -> None:
        self.cycle = tuple(cycle)
        path = " -> ".join(str(label) for label in self.cycle)
        super().__init__(f"{where} has a directed cycle: {path}; remove or reverse one of these arcs")


def is_numeral(text: str) -> bool:
    """Return True for a text that is a number: one number is no misspelling of another."""
    return NUMERAL.fullmatch(text.strip()) is not None


class UnknownNameError(BayescoutError, KeyError):
    """A name that is not known; the message offers the nearest known one."""

    def __init__(self, kind: str, name: Hashable, known: Iterable[Hashable], where: str = "") -> None:
        self.name = name
        choices = [str(label) for label in known]
        near = None if is_numeral(str(name)) else nearest(str(name), choices)
        shown = ", ".join(choices[:12]) + (f", ... ({len(choices)} in all)" if len(choices) > 12 else "")
        hint = f"did you mean {near!r}?" if near is not None else f"known: {shown or 'none'}"
        super().__init__(f"unknown {kind} {name!r}{' in ' + where if where else ''}; {hint}")

    def __str__(self) -> str:
        return str(self.args[0])


class KnowledgeError(BayescoutError, ValueError):
    """Prior knowledge that contradicts itself, the table, or a start graph."""


class NetworkError(BayescoutError, ValueError):
    """A network that is inconsistent, or does not match the data or the question."""


class WrongKindError(NetworkError, AttributeError):
    """An attribute of networks of one kind, asked for on a network of another kind."""


class TooLargeError(BayescoutError, MemoryError):
    """A table or factor that would not fit; the message gives its size and the limit."""


class FormatError(BayescoutError, ValueError):
    """A file that does not follow its format; the message starts with file and line."""

    def __init__(self, message: str, path: object = None, line: int | None = None) -> None:
        self.path = path
        self.line = line
        where = "" if path is None else str(path) + (f", line {line}" if line else "") + ": "
        if path is None and line:
            where = f"line {line}: "
        super().__init__(where + message)


class MissingExtraError(BayescoutError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}, which is not installed: pip install 'bayescout[{extra}]'")


class BayescoutWarning(UserWarning):
    """Something allowed that the user should know: a constant column, an unused column."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(printable(arg) if isinstance(arg, str) else arg for arg in args))


PACKAGE = str(Path(__file__).parent) + os.sep
"""The folder of the package: a warning is of the line outside it that made the call."""


def warn(message: str) -> None:
    """Warn of something, with the user's line that led to it, and never a line of the package.

    Within `about` it is said once of the same data.
    """
    told = _about.get()
    if told is not None and message in told:
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, BayescoutWarning, stacklevel=level)
    if told is not None:
        told.add(message)


_about: ContextVar[set[str] | None] = ContextVar("about", default=None)

_told: dict[object, set[str]] = {}
"""What was said of each value that is still alive, by its id, and of each version of a file."""

MOST_TOLD = 1000
"""The most values of which this is remembered."""


@contextmanager
def about(data: object, again: bool = False) -> Iterator[None]:
    """Within, warnings are about these data: one that was given before is not repeated, unless `again`."""
    token = _about.set(set() if (told := _told_of(data)) is None or again else told)
    try:
        yield
    finally:
        if again and told is not None:
            told |= _about.get() or set()
        _about.reset(token)


def is_told(left_out: Hashable) -> bool:
    """Return True if a warning about these data said that this column is left out; now one does."""
    told, topic = _about.get(), f"left out: {left_out!r}"
    if told is None or topic in told:
        return told is not None
    told.add(topic)
    return False


def from_outside() -> bool:
    """Return True if the function that asks was called by code outside the package."""
    caller = sys._getframe(1).f_back
    return caller is None or not caller.f_code.co_filename.startswith(PACKAGE)


def _told_of(data: object) -> set[str] | None:
    """What was said of these data; None for data that nothing can be remembered of, such as a dict."""
    key: object = id(data)
    if key in _told:
        return _told[key]
    if isinstance(data, str | os.PathLike):
        try:
            state = os.stat(data)
        except (OSError, ValueError):
            return None
        key = (os.path.abspath(data), state.st_mtime_ns, state.st_size)
    else:
        try:
            weakref.finalize(data, _told.pop, key, None).atexit = False
        except TypeError:
            return None
    if len(_told) >= MOST_TOLD:
        _told.clear()
    return _told.setdefault(key, set())


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a job of many runs; `done` has the results of the finished runs, in order."""

    def __init__(self, done: Iterable[Any], count: int, noun: str) -> None:
        self.done = tuple(done)
        super().__init__(f"interrupted after {len(self.done):,} of {count:,} {noun}")
