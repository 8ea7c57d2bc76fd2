"""The addresses of the server, each a few lines over the workbench."""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from bayescout.data.files import refusal
from bayescout.errors import BayescoutError
from bayescout.serve.guard import Guard
from bayescout.serve.processes import Refused
from bayescout.serve.runs import Run
from bayescout.serve.wire import encoded, of_full_disk
from bayescout.serve.workbench import Workbench

FILES = files("bayescout.report") / "files"

INSUFFICIENT_STORAGE = 507

LONGEST_BODY = 2**24
"""The most bytes of a request that is not an upload."""

PROVED_IN = 20.0
"""Seconds in which a bound is looked for, if no time is named."""

BARE = """<!doctype html><meta charset="utf-8"><title>bayescout</title>
<p>The server runs; the page itself is not there yet.</p>"""

Handler = Callable[[Request], Awaitable[Response]]


class Json(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encoded(content)


def make_app(bench: Workbench, token: str, port: int, host: str = "127.0.0.1") -> Starlette:
    """The application over one project."""

    async def unwritten(_: Request, error: Exception) -> Response:
        """Say of a full disk which it is; any other error of the system is a bug."""
        if not of_full_disk(error):
            raise error
        told = refusal(error, error.filename or bench.project.folder / "data")
        return Json({"error": str(told)}, INSUFFICIENT_STORAGE)

    return Starlette(
        routes=Addresses(bench).routes(),
        middleware=[Middleware(Guard, token=token, port=port, host=host)],
        exception_handlers={
            HTTPException: _not_there,
            Refused: _refused,
            BayescoutError: _refused,
            OSError: unwritten,
            Exception: _failed,
        },
    )


async def _not_there(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Json({"error": str(error.detail)}, error.status_code)


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, Refused) and not error.known:
        return Json({"error": str(error)}, 500)
    return Json({"error": str(error), **getattr(error, "more", {})}, getattr(error, "status", 400))


async def _failed(_: Request, error: Exception) -> Response:
    return Json({"error": f"{type(error).__name__}: {error}"}, 500)


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request; an empty one if there is none."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LONGEST_BODY:
            raise HTTPException(413, f"a request has at most {LONGEST_BODY:,} bytes")
        parts.append(part)
    if not size:
        return {}
    try:
        found = json.loads(b"".join(parts))
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the request is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "the request is not a JSON object")
    return found


class Addresses:
    """The handlers, by address."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    def routes(self) -> list[Route]:
        run = "/api/runs/{id}"
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/", self.page),
            ("GET", "/files/{name}", self.file),
            ("GET", "/api/project", self.project),
            ("GET", "/api/events", self.events),
            ("GET", "/api/formats", self.formats),
            ("PUT", "/api/data", self.upload),
            ("POST", "/api/data", self.open_data),
            ("PATCH", "/api/data", self.change_data),
            ("POST", "/api/estimate", self.estimate),
            ("GET", "/api/knowledge", self.knowledge),
            ("PUT", "/api/knowledge", self.write_knowledge),
            ("POST", "/api/knowledge/prices", self.prices),
            ("GET", "/api/compare", self.compare),
            ("PUT", "/api/networks", self.upload_network),
            ("PUT", "/api/layout", self.write_layout),
            ("POST", "/api/layout", self.layout),
            ("POST", "/api/runs", self.create),
            ("GET", run, self.detail),
            ("DELETE", run, self.delete),
            ("GET", run + "/at/{step:int}", self.at),
            ("GET", run + "/arc", self.card),
            ("GET", run + "/node", self.node),
            ("POST", run + "/turn", self.turn),
            ("POST", run + "/strengths", self.begin_strengths),
            ("GET", run + "/strengths", self.strengths),
            ("GET", run + "/averaged", self.averaged),
            ("POST", run + "/averaged", self.open_averaged),
            ("GET", run + "/export", self.export),
            ("POST", run + "/export", self.export_seen),
            ("POST", run + "/ask", self.ask),
            ("POST", run + "/{action}", self.act),
        ]
        return [Route(path, handler, methods=[method]) for method, path, handler in table]

    def run(self, request: Request) -> Run:
        return self.bench.runs.get(request.path_params["id"])

    # ---- the page

    async def page(self, _: Request) -> Response:
        index = FILES / "index.html"
        return HTMLResponse(index.read_text(encoding="utf-8") if index.is_file() else BARE)

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = FILES / name
        if not re.fullmatch(r"\w[\w.-]{0,80}", name) or not path.is_file():
            raise HTTPException(404, f"there is no file {name!r}")
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        kind = "text/javascript" if name.endswith(".js") else kind
        return Response(path.read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})

    async def project(self, _: Request) -> Response:
        return Json(self.bench.described())

    async def events(self, _: Request) -> Response:
        return StreamingResponse(self.bench.hub.stream(), media_type="text/event-stream")

    async def formats(self, _: Request) -> Response:
        return Json(self.bench.described()["formats"])

    # ---- data

    async def upload(self, request: Request) -> Response:
        async with self.received(request, "data.csv") as path:
            return Json(await self.bench.open_upload(path))

    async def upload_network(self, request: Request) -> Response:
        """A network in a file, to compare with."""
        async with self.received(request, "network.bif") as path:
            return Json(await self.bench.keep_network(path))

    @asynccontextmanager
    async def received(self, request: Request, usual: str) -> AsyncIterator[Path]:
        """Write an uploaded file as it comes, so that none is held in memory."""
        limit = self.bench.upload_limit
        over = f"the file has more than {limit:,} bytes, the limit for uploads; give it on the command line, "
        over += "bayescout serve FILE, or start the server with a larger --upload-limit"
        if int(request.headers.get("content-length", 0)) > limit:
            raise HTTPException(413, over)
        with self.bench.project.incoming(request.query_params.get("name", usual)) as path:
            size = 0
            try:
                with open(path, "wb") as stream:
                    async for part in request.stream():
                        size += len(part)
                        if size > limit:
                            raise HTTPException(413, over)
                        stream.write(part)
            except ClientDisconnect:
                raise HTTPException(400, "the upload was cut short") from None
            yield path

    async def open_data(self, request: Request) -> Response:
        asked = await body_of(request)
        if "example" in asked:
            return Json(await self.bench.open_example(str(asked["example"]), asked.get("rows") or 5000))
        return Json(await self.bench.open_file(self.bench.project.inside(str(asked.get("path", "")))))

    async def change_data(self, request: Request) -> Response:
        return Json(await self.bench.change_data(await body_of(request)))

    # ---- knowledge, layout, comparison

    async def knowledge(self, _: Request) -> Response:
        return Json(self.bench.knowledge())

    async def write_knowledge(self, request: Request) -> Response:
        return Json(self.bench.write_knowledge(await body_of(request)))

    async def prices(self, request: Request) -> Response:
        asked = await body_of(request)
        return Json(await self.bench.prices(self.bench.runs.get(str(asked.get("run")))))

    async def estimate(self, request: Request) -> Response:
        return Json(await self.bench.estimate(await body_of(request)))

    async def compare(self, request: Request) -> Response:
        query = request.query_params
        numbers = [one for one in query.get("runs", "").split(",") if one]
        return Json(await self.bench.compare(numbers, query.get("truth") or None))

    async def write_layout(self, request: Request) -> Response:
        return Json(self.bench.write_layout(await body_of(request)))

    async def layout(self, request: Request) -> Response:
        return Json(await self.bench.layout(await body_of(request)))

    # ---- runs

    async def create(self, request: Request) -> Response:
        return Json((await self.bench.create(await body_of(request))).shown())

    async def detail(self, request: Request) -> Response:
        return Json(await self.bench.detail(self.run(request)))

    async def delete(self, request: Request) -> Response:
        run = self.run(request)
        await self.bench.strong.forget(run)
        await self.bench.runs.delete(run)
        self.bench.hub.send({"type": "deleted", "id": run.id})
        return Json({"deleted": run.id})

    async def at(self, request: Request) -> Response:
        return Json(await self.bench.at(self.run(request), request.path_params["step"]))

    async def act(self, request: Request) -> Response:
        run, action, asked = self.run(request), request.path_params["action"], await body_of(request)
        runs = self.bench.runs
        if action == "fork":
            return Json((await runs.fork(run)).shown())
        if action == "play":
            await runs.act(run, "play", pace=asked.get("pace"))
        elif action == "pause":
            await runs.act(run, "pause")
        elif action in ("step", "back"):
            await runs.act(run, action, steps=_steps(asked))
        elif action == "prove":
            return Json(await self.bench.prove(run, asked.get("max_time", PROVED_IN)))
        elif action == "change":
            changed = {name: asked.get(name) for name in ("knowledge", "score", "structure_prior")}
            await runs.finish(run, "change", **changed)
        else:
            raise HTTPException(404, f"a run has no action {action!r}")
        return Json(run.shown())

    async def card(self, request: Request) -> Response:
        ends = [request.query_params.get(end, "") for end in ("from", "to")]
        return Json(await self.bench.card(self.run(request), *ends))

    async def begin_strengths(self, request: Request) -> Response:
        asked = await body_of(request)
        strong = self.bench.strong
        return Json(await strong.begin(self.run(request), asked.get("runs", 50), asked.get("max_time")))

    async def strengths(self, request: Request) -> Response:
        return Json(self.bench.strong.shown(self.run(request)))

    async def averaged(self, request: Request) -> Response:
        return Json(await self.bench.strong.averaged(self.run(request), _threshold(request.query_params)))

    async def open_averaged(self, request: Request) -> Response:
        asked = await body_of(request)
        return Json((await self.bench.open_averaged(self.run(request), asked.get("threshold"))).shown())

    async def export(self, request: Request) -> Response:
        path = await self.bench.export(self.run(request), request.query_params.get("format", "html"))
        return FileResponse(path, filename=path.name, background=BackgroundTask(path.unlink, True))

    async def export_seen(self, request: Request) -> Response:
        """A picture of what the page shows, which comes with the request."""
        seen = await body_of(request)
        path = await self.bench.export(self.run(request), request.query_params.get("format", "svg"), seen)
        return FileResponse(path, filename=path.name, background=BackgroundTask(path.unlink, True))

    async def node(self, request: Request) -> Response:
        return Json(await self.bench.about("node", self.run(request), **dict(request.query_params)))

    async def turn(self, request: Request) -> Response:
        asked = await body_of(request)
        return Json(await self.bench.turn(self.run(request), str(asked.get("from")), str(asked.get("to"))))

    async def ask(self, request: Request) -> Response:
        asked = await body_of(request)
        known = ("evidence", "soft", "do", "not", "target", "base")
        return Json(
            await self.bench.about("ask", self.run(request), **{key: asked.get(key) for key in known})
        )


def _threshold(query: QueryParams) -> float:
    text = query.get("threshold", "")
    try:
        return float(text)
    except ValueError:
        raise HTTPException(400, f"threshold is a number from 0 to 1, not {text!r}") from None


def _steps(asked: dict[str, Any]) -> int:
    steps = asked.get("steps", 1)
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 1_000_000:
        raise HTTPException(400, f"steps is a whole number from 1 to 1,000,000, not {steps!r}")
    return steps
