"""Messages between the server and its processes: one JSON object per line, over pipes."""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from typing import Any, TypeGuard

from bayescout.data.files import NO_ROOM, refusal
from bayescout.evaluate.json_values import json_value

LONGEST = 2**28
"""The most bytes of one message."""


def encoded(message: Any) -> bytes:
    """A message as JSON on one line."""
    return json.dumps(json_value(message), separators=(",", ":"), allow_nan=False).encode()


class Channel:
    """A process's own end: lines come in by standard input and go out by what was standard output.

    Anything else that the process prints goes to standard error, so that it cannot be taken for a message.
    """

    def __init__(self) -> None:
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdin = open(os.devnull)  # noqa: SIM115
        self._lock = threading.Lock()

    def receive(self) -> dict[str, Any] | None:
        """The next message; None once the server has closed its end or is gone."""
        line = self._in.readline()
        if not line.endswith(b"\n"):
            return None
        found: dict[str, Any] = json.loads(line)
        return found

    def send(self, message: Any) -> None:
        """Send a message; nothing if the server is gone, which `receive` tells."""
        line = encoded(message) + b"\n"
        with self._lock:
            try:
                self._out.write(line)
                self._out.flush()
            except (BrokenPipeError, ValueError):
                return


def settle() -> None:
    """Have the garbage collector pass over what the process has loaded, which stays until it ends.

    A full collection looked at all of it for 0.1 s, in the middle of an answer.
    """
    gc.collect()
    gc.freeze()


def of_full_disk(error: BaseException) -> TypeGuard[OSError]:
    """Return True for an error of the system that a person can mend by making room."""
    return isinstance(error, OSError) and error.errno in NO_ROOM


def failure(error: BaseException, place: object = None) -> dict[str, Any]:
    """An error as a message: the library's own sentence, or for a bug the exception's.

    `place` is where the process writes: what the system says of a full disk may name no file.
    """
    from bayescout.errors import BayescoutError

    if of_full_disk(error):
        error = refusal(error, error.filename or place)
    known = isinstance(error, BayescoutError)
    text = str(error) if known else f"{type(error).__name__}: {error}"
    if isinstance(error, MemoryError) and not known:
        text = "there is not enough memory for this; use less data, or limit the number of parents"
    found: dict[str, Any] = {"error": text, "known": known or isinstance(error, MemoryError)}
    for name in ("cycle", "lines"):
        if getattr(error, name, None) is not None:
            found[name] = [one if isinstance(one, int) else str(one) for one in getattr(error, name)]
    return found
