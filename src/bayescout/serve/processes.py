"""The server's end of its processes: started, spoken to, and noticed when they die."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from bayescout.errors import BayescoutError
from bayescout.serve.wire import LONGEST, encoded

OnEvent = Callable[[dict[str, Any]], None]
LAST_WORDS = 20
"""Lines of standard error that are kept of a process."""


class Refused(BayescoutError):
    """An error of a process, in its own words; `more` has what else it said."""

    def __init__(self, message: str, more: dict[str, Any] | None = None, known: bool = True) -> None:
        super().__init__(message)
        self.more = more or {}
        self.known = known


class Died(Refused):
    """The process ended before it answered."""


class Child:
    """A process that answers calls; what it says by itself goes to `on_event`, its end to `on_end`."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.on_event: OnEvent = lambda event: None
        self.on_end: Callable[[str], None] = lambda why: None
        self.closing = False
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._heard: dict[int, OnEvent] = {}
        self._last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []

    @classmethod
    async def start(cls, kind: str) -> Child:
        """A new process: `run`, `answer` or `run-answers`, in a group that Ctrl-C does not reach.

        Not in a session of its own: Linux gives every session the same share of the processors, so that
        a run would get as much as what answers clicks, however it is niced.
        """
        made = cls(kind)
        made._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bayescout.serve.child",
            kind,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST,
            process_group=0,
        )
        made._readers = [asyncio.create_task(made._listen()), asyncio.create_task(made._complaints())]
        return made

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None and not self.closing

    async def call(self, job: str, heard: OnEvent | None = None, **values: Any) -> Any:
        """Ask the process to do something and wait for its answer; `heard` gets the progress."""
        number = next(self._numbers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        if heard is not None:
            self._heard[number] = heard
        try:
            self._send({"id": number, "job": job, **values})
            return await future
        finally:
            self._waiting.pop(number, None)
            self._heard.pop(number, None)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        if not self.alive:
            raise Died(f"the process has ended: {self._why()}")
        self._process.stdin.write(encoded(message) + b"\n")

    async def _listen(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        with suppress(ValueError, ConnectionError):
            while line := await self._process.stdout.readline():
                self._hear(json.loads(line))
        await self._process.wait()
        why = self._why()
        self._give_up(f"the process ended before it was done: {why}")
        if not self.closing:
            self.on_end(why)

    def _give_up(self, why: str) -> None:
        """Tell those who wait for an answer that there will be none."""
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Died(why))

    def _hear(self, message: dict[str, Any]) -> None:
        number = message.get("id", 0)
        if "event" in message:
            self._heard.get(number, self.on_event)(message)
            return
        future = self._waiting.get(number)
        if future is None or future.done():
            return
        if "error" in message:
            more: dict[str, Any] = {key: message[key] for key in ("cycle", "lines") if key in message}
            future.set_exception(Refused(message["error"], more, message.get("known", True)))
        else:
            future.set_result(message["done"])

    async def _complaints(self) -> None:
        """Keep the last lines of standard error, which tell why a process died."""
        assert self._process is not None
        assert self._process.stderr is not None
        with suppress(ValueError, ConnectionError):
            while line := await self._process.stderr.readline():
                self._last_words.append(line.decode(errors="replace").rstrip())

    def _why(self) -> str:
        code = self._process.returncode if self._process is not None else None
        if code is not None and code < 0:
            with suppress(ValueError):
                name = signal.Signals(-code).name
                memory = ", as by the system when memory runs out" if name == "SIGKILL" else ""
                return f"it was ended by {name}{memory}"
        words = [line for line in self._last_words if line.strip()]
        return words[-1] if words else f"exit code {code}"

    async def close(self, patience: float = 5.0) -> None:
        """Let it save and end; kill it if it takes longer than that."""
        self.closing = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), patience)
        except TimeoutError:
            with suppress(ProcessLookupError, PermissionError):  # with what it started itself
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
            await process.wait()
        for task in self._readers:
            task.cancel()
        self._give_up("the process was ended before it was done")


class Lane:
    """A process that answers, started when it is needed and again if it died."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    async def ready(self) -> Child:
        """The process; starting it does not wait until it listens."""
        async with self._starting:
            if self._closed:
                raise Refused("the server is ending")
            if self._child is None or not self._child.alive:
                self._child = await Child.start("answer")
            return self._child

    async def call(self, job: str, heard: OnEvent | None = None, **values: Any) -> Any:
        child = await self.ready()
        return await child.call(job, heard, **values)

    async def close(self) -> None:
        self._closed = True
        if self._child is not None:
            await self._child.close(1.0)
