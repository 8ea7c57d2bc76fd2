"""One result on a page: a project of its own, served by a process that ends with this one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from bayescout.data import write_table
from bayescout.data.table import Table
from bayescout.errors import MissingExtraError, SettingError
from bayescout.formats.text import write_text
from bayescout.report.neighbourhoods import MOST_DRAWN
from bayescout.result import Result
from bayescout.serve.columns import described
from bayescout.serve.project import RECORD
from bayescout.serve.traces import TRACE
from bayescout.serve.wire import encoded

PATIENCE = 10.0
"""Seconds that the server has to end."""


class Opened:
    """The page of a result: its address, until it is closed."""

    def __init__(self, address: str, process: subprocess.Popen[str], temporary: Path | None) -> None:
        self.address = address
        self._process = process
        self._temporary = temporary

    def __repr__(self) -> str:
        return f"<page at {self.address}>"

    def wait(self) -> None:
        """Until the server ends; Ctrl-C ends it."""
        with suppress(KeyboardInterrupt):
            self._process.wait()
        self.close()

    def close(self) -> None:
        """End the server; without a folder of its own, what was done in the page goes with it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_result(
    result: Result, project: str | PathLike[str] | None, browser: bool, block: bool | None
) -> Opened | OpenedFile:
    """Serve a result; see `Result.open`."""
    if len(result.dag) > MOST_DRAWN:
        return _page_of_neighbourhoods(result, project, browser)
    if any(find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise MissingExtraError("the page with a server", "serve")
    temporary = Path(tempfile.mkdtemp(prefix="bayescout-")) if project is None else None
    folder = temporary / "result" if temporary is not None else Path(str(project))
    if (folder / "project.json").exists():
        raise SettingError(f"{folder} has a project already; serve it, or give another folder")
    lay_out(result, folder)
    process = subprocess.Popen(
        [sys.executable, "-m", "bayescout", "serve", "--project", str(folder), "--no-open", "--with-parent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    if not address:
        raise SettingError(f"the server did not start, exit code {process.wait()}; its message is above")
    opened = Opened(address, process, temporary)
    if browser:
        webbrowser.open(address)
    if not _is_interactive() if block is None else block:
        opened.wait()
    return opened


class OpenedFile:
    """The page of a result that is a file, and needs no server: its address, until it is closed."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.address = path.as_uri()
        self._folder = folder

    def __repr__(self) -> str:
        return f"<page at {self.address}>"

    def close(self) -> None:
        """Delete the file; it stays otherwise, since the browser may read it at any time."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> OpenedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _page_of_neighbourhoods(result: Result, project: str | PathLike[str] | None, browser: bool) -> OpenedFile:
    """The page of a graph too wide for the one with a server, which draws all variables."""
    if project is not None:
        raise SettingError(
            f"a project draws all variables of a graph, and {len(result.dag):,} are too many: leave out the "
            f"project to open a page of neighbourhoods, or write it to a file with result.report(path)"
        )
    folder = Path(tempfile.mkdtemp(prefix="bayescout-"))
    path = folder / "result.html"
    result.report(path)
    if browser:
        webbrowser.open(path.as_uri())
    return OpenedFile(folder, path)


def _is_interactive() -> bool:
    """Return True at a prompt or in a notebook, where the process goes on by itself."""
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules or bool(sys.flags.interactive)


def lay_out(result: Result, folder: Path) -> None:
    """Write the project of one result, whose only run has ended with it."""
    names = [str(node) for node in result.dag.nodes]
    odd = [node for node in result.dag.nodes if not isinstance(node, str)]
    if odd:
        raise SettingError(f"variable {odd[0]!r} is not a text, which the page needs: rename the columns")
    (folder / "data").mkdir(parents=True, exist_ok=True)
    run = folder / "runs" / "1"
    run.mkdir(parents=True)
    table, data = _table(result), None
    if table is not None:
        write_table(table, folder / "data" / "table.arrow")
        data = {"source": "the data of the result", "missing": result.settings.missing, "notes": []}
        data |= described(table, []) | {"fingerprint": table.fingerprint}
    about = {"version": 1, "name": "result", "source": None, "data": data, "last_run": 1}
    about["missing"] = result.settings.missing
    write_text(folder / "project.json", encoded(about).decode())
    write_text(folder / "knowledge.txt", result.settings.knowledge.to_text())
    result.save(run / "result.json")
    lines = [json.dumps([one.step, one.seconds, one.score, one.best]) for one in result.trace]
    write_text(run / TRACE, "".join(f"{line}\n" for line in lines))
    record = _record(result, names, "" if data is None else data["fingerprint"])
    write_text(run / RECORD, encoded(record).decode())


def _table(result: Result) -> Table | None:
    """The data in the order of the graph's nodes; None if a file cannot hold what belongs to them."""
    table = result.table
    if table is None or table.weights is not None or table.interventions is not None:
        return None
    return table.select(result.dag.nodes)


def _record(result: Result, names: list[str], fingerprint: Any) -> dict[str, Any]:
    settings = result.settings
    text = settings.knowledge.to_text()
    config = {"search": settings.search, "settings": settings.search_settings, "seed": settings.seed}
    own = {"score": settings.score_name, "knowledge": text, "missing": settings.missing}
    arcs = [[p, c] for c, own_parents in enumerate(result.dag.parents) for p in own_parents]
    return {
        "id": "1",
        "name": settings.search,
        "search": settings.search,
        "score_name": settings.score,
        "prior": settings.prior_told or "uniform",
        "settings": settings.search_settings,
        "seed": settings.seed,
        "knowledge": text,
        "config": {**config, **own},
        "data": fingerprint,
        "state": "ended",
        "step": result.counters.iterations,
        "score": result.score,
        "best": result.score,
        "bound": result.bound,
        "gap": result.gap,
        "seconds": result.seconds,
        "stop_reason": result.stop_reason,
        "plan": settings.to_json(),
        "nodes": names,
        "arcs": arcs,
    }
