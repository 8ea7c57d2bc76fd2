"""The server as a person starts it: a project, an address with its token, and an end by Ctrl-C."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import uvicorn

from bayescout.errors import SettingError
from bayescout.serve.app import make_app
from bayescout.serve.project import UPLOAD_LIMIT, Project
from bayescout.serve.workbench import Workbench

PORT = 8642
"""The port that is tried first, if none is given."""

NEXT_PORTS = 20


@dataclass(frozen=True)
class Start:
    """What a server begins with.

    folder   the project's
    data     a file to open, or `example` the name of a shipped network to draw rows from
    with_parent  end when standard input is closed, as when the process that started this one ends
    """

    folder: Path
    data: Path | None = None
    example: str | None = None
    rows: int = 5000
    host: str = "127.0.0.1"
    port: int | None = None
    upload_limit: int = UPLOAD_LIMIT
    with_parent: bool = False


def run_server(start: Start, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; `ready` is told the address, with its token, once it can be opened."""
    with listening(start.host, start.port) as listener:
        asyncio.run(_served(start, listener, ready))


async def _served(start: Start, listener: socket.socket, ready: Callable[[str], None]) -> None:
    fresh, opened = not start.folder.exists(), False
    bench = Workbench(Project(start.folder), start.upload_limit)
    token, port = secrets.token_urlsafe(24), listener.getsockname()[1]
    try:
        await bench.start()
        if start.example is not None:
            await bench.open_example(start.example, start.rows)
        elif start.data is not None:
            await bench.open_file(start.data)
        opened = True
        app = make_app(bench, token, port, start.host)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            lifespan="off",
        )
        shown = f"[{start.host}]" if ":" in start.host else start.host
        ready(f"http://{shown}:{port}/?token={token}")
        server = Server(config, bench)
        if start.with_parent:
            threading.Thread(target=server.follow, args=(sys.stdin,), daemon=True).start()
        await server.serve(sockets=[listener])
    finally:
        await bench.close()
        if fresh and not opened:  # nothing is in it: the data could not be read
            shutil.rmtree(start.folder, ignore_errors=True)


class Server(uvicorn.Server):
    """Ends in order on Ctrl-C or a request to terminate: first the streams of events, then everything."""

    def __init__(self, config: uvicorn.Config, bench: Workbench) -> None:
        super().__init__(config)
        self.bench = bench

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def follow(self, stream: IO[str]) -> None:
        """End when the stream does."""
        while stream.read(4096):
            pass
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.bench.hub.close()
        await self.bench.end_answers()  # else requests that wait for a long one would be cut off
        await super().shutdown(sockets)


def listening(host: str, port: int | None) -> socket.socket:
    """A socket at the port; without one given, at the first that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = range(PORT, PORT + NEXT_PORTS) if port is None else (port,)
    for one in (*wanted, *((0,) if port is None else ())):
        # Named as TCP, so that asyncio sends the parts of an answer at once: else one waits 40 ms.
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, one))
            found.listen(128)
        except OSError as error:
            found.close()
            if port is not None:
                raise SettingError(
                    f"port {port} of {host} cannot be used: {error.strerror}; give another one, --port 0 "
                    f"takes any that is free"
                ) from None
            continue
        return found
    raise SettingError(f"no port of {host} is free")
