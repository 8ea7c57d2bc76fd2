"""The stream of events to every open page: changes of a run merged, slow readers not waited for."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from bayescout.serve.wire import encoded

EVERY = 0.05
"""Seconds between two events about one run."""

MOST_WAITING = 200
"""Events that wait for a slow page; then it is told everything anew."""

ALIVE = 15.0
"""Seconds without an event after which a line is sent that keeps the connection."""


class Page:
    """One open page and the events that it has not been sent."""

    def __init__(self) -> None:
        self.waiting: deque[bytes] = deque()
        self.ready = asyncio.Event()
        self.behind = False

    def put(self, line: bytes) -> None:
        if len(self.waiting) >= MOST_WAITING:
            self.waiting.clear()
            self.behind = True
        self.waiting.append(line)
        self.ready.set()


class Hub:
    """Sends events to all pages; `pending` are those about runs, merged until it is time for them."""

    def __init__(self, hello: Callable[[], dict[str, Any]]) -> None:
        self.hello = hello
        self.pages: set[Page] = set()
        self.closed = False
        self._pending: dict[Any, Callable[[], dict[str, Any] | None]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def send(self, event: dict[str, Any]) -> None:
        """Send an event at once."""
        line = b"data: " + encoded(event) + b"\n\n"
        for page in self.pages:
            page.put(line)

    def soon(self, key: Any, make: Callable[[], dict[str, Any] | None]) -> None:
        """Send what `make` gives then, at most once in so long; a later call takes the place of this one."""
        self._pending[key] = make
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(EVERY, self._flush)

    def now(self, key: Any) -> None:
        """Send what waits under a key at once."""
        make = self._pending.pop(key, None)
        event = None if make is None else make()
        if event is not None:
            self.send(event)

    def _flush(self) -> None:
        self._timer = None
        pending, self._pending = self._pending, {}
        for make in pending.values():
            event = make()
            if event is not None:
                self.send(event)

    async def stream(self) -> AsyncIterator[bytes]:
        """The events of one page, which begins with everything."""
        page = Page()
        self.pages.add(page)
        try:
            yield b"retry: 1000\n\n"
            yield b"data: " + encoded(self.hello()) + b"\n\n"
            while not self.closed or page.waiting:
                if page.behind:
                    page.behind = False
                    page.waiting.clear()
                    yield b"data: " + encoded(self.hello()) + b"\n\n"
                while page.waiting:
                    yield page.waiting.popleft()
                page.ready.clear()
                if self.closed:
                    break
                try:
                    await asyncio.wait_for(page.ready.wait(), ALIVE)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.pages.discard(page)

    def close(self) -> None:
        """Tell every page that the server ends, and end their streams."""
        self.closed = True
        self.send({"type": "gone"})
