"""Output to the terminal: one place for every line, with control characters escaped and no byte lost."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any

from bayescout.errors import UNPRINTABLE, printable


def line(text: object) -> None:
    """Print one line on standard output; control characters in a name or a path are shown, not obeyed."""
    sys.stdout.write(printable(text) + "\n")


def say(text: object) -> None:
    """Print one line of the program itself on standard error; if that is full, nothing can be reported."""
    try:
        sys.stderr.write(f"bayescout: {printable(text)}\n")
        sys.stderr.flush()
    except OSError:  # nor to be asked again when the process ends
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def json_line(value: Any) -> None:
    """Print one line of JSON on standard output; characters that a terminal would obey are escaped."""
    text = json.dumps(value, ensure_ascii=not _holds_all(sys.stdout), allow_nan=False)
    sys.stdout.write(UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def _holds_all(stream: Any) -> bool:
    """Return True if the stream's encoding has every character."""
    return str(getattr(stream, "encoding", None) or "").lower().startswith("utf")


def open_streams() -> None:
    """Make the standard streams reliable.

    Unbuffered (python -u, PYTHONUNBUFFERED), Python's standard output treats a write that was cut short, as
    by a disk that fills up, as a complete one. A buffer in between writes the rest, or raises. A character
    that the terminal's encoding lacks is shown as an escape. Streams that were closed discard what they get.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - there is no one to tell
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return
    given: Any = sys.stdout
    buffer = getattr(given, "buffer", None)
    if isinstance(getattr(buffer, "raw", buffer), io.FileIO):  # the console of Windows is something else
        at_once = given.line_buffering or given.write_through
        content = io.BufferedWriter(_StandardOutput(given.fileno(), "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(content, given.encoding, "backslashreplace", line_buffering=at_once)


class _StandardOutput(io.FileIO):
    """Standard output whose errors name it."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "standard output") from None
