"""The command that opens the page: serve."""

from __future__ import annotations

import sys
import threading
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from bayescout.cli.options import flag, switch
from bayescout.cli.terminal import line, say
from bayescout.errors import MissingExtraError, SettingError

LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class Served:
    """What is served."""

    example: str | None = flag(
        "A shipped network to draw rows from, in place of data; `networks` lists them.", "NAME"
    )
    rows: int = flag("How many rows to draw from it.", default=5000, min=1)
    project: str | None = flag(
        "The folder that keeps the project: made if it is not there, taken up again if it is. By default one "
        "named after the data, in the current folder.",
        "FOLDER",
    )


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where it is served."""

    port: int | None = flag(
        "The port; by default the first free one from 8642, 0 takes any.", min=0, max=65535
    )
    no_open: bool = switch("--no-open", "Do not open the browser.")
    upload_limit: int = flag("The most megabytes of an uploaded file.", default=512, min=1)
    host: str = flag(
        "The address to listen at; any but this computer's own needs --allow-network.", default="127.0.0.1"
    )
    with_parent: bool = field(
        default=False,
        metadata={
            "typer": typer.Option(
                False, "--with-parent", hidden=True, help="End with the process that started it."
            )
        },
    )
    allow_network: bool = switch(
        "--allow-network",
        "Let other computers in: whoever has the token can see the data and run searches, and the connection "
        "is not encrypted.",
    )


def serve(
    data: Annotated[
        str | None,
        typer.Argument(help="A data file: csv, tsv, parquet, arrow, or white-space separated."),
    ] = None,
    *,
    served: Served,
    address: Address,
) -> None:
    """Open a page in the browser: see a search work, draw what is known, ask, compare and share."""
    if data is not None and served.example is not None:
        raise SettingError("give a data file or --example, not both")
    if address.host not in LOCAL and not address.allow_network:
        raise SettingError(
            f"--host {address.host} lets other computers in: whoever has the token can see the data and run "
            f"searches, and the connection is not encrypted; say --allow-network if that is meant"
        )
    try:
        from bayescout.serve.server import Start, run_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise MissingExtraError("the page with a server", "serve") from None

    file = None if data is None else Path(data)
    if file is not None and not file.is_file():
        raise SettingError(f"{data}: there is no such file")
    folder = Path(served.project) if served.project else named_after(file, served.example)
    start = Start(
        folder=folder,
        data=None if file is None else file.resolve(),
        example=served.example,
        rows=served.rows,
        host=address.host,
        port=address.port,
        upload_limit=address.upload_limit * 2**20,
        with_parent=address.with_parent,
    )

    def ready(found: str) -> None:
        line(found)
        sys.stdout.flush()
        say(f"the project is kept in {folder}; Ctrl-C ends the server, and nothing is lost")
        if not address.no_open:
            threading.Thread(target=webbrowser.open, args=(found,), daemon=True).start()

    run_server(start, ready)


def named_after(data: Path | None, example: str | None) -> Path:
    """The folder of the project of some data."""
    name = example or (data.stem.removesuffix(".csv") if data is not None else "project")
    return Path(f"{name}.bayescout")


COMMANDS = (serve,)
