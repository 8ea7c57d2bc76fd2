"""Ctrl-C noted rather than raised."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class CtrlC:
    """Ctrl-C noted rather than raised: the step in hand ends at its next check; a second Ctrl-C is raised.

    An exception thrown anywhere into running code can be lost in a destructor. A handler of the user's own,
    and threads other than the main one, are left alone.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._installed = False

    def __enter__(self) -> CtrlC:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._installed = True
        return self

    @contextmanager
    def released(self) -> Iterator[None]:
        """Let another one note Ctrl-C meanwhile."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def _note(self, number: int, frame: Any) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False
