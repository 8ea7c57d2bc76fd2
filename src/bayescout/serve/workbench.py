"""What the page can ask for: the project, its data, knowledge and runs, and answers about them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from bayescout.errors import BayescoutError, SettingError
from bayescout.formats import networks
from bayescout.search import SEARCHES, Knowledge
from bayescout.search.frame.contradiction import contradiction
from bayescout.serve.bootstraps import Strengths
from bayescout.serve.events import Hub
from bayescout.serve.known import shown_knowledge, text_of
from bayescout.serve.offers import formats, offered
from bayescout.serve.processes import Child, Lane, Refused
from bayescout.serve.project import UPLOAD_LIMIT, Project, checked_layout
from bayescout.serve.runs import Run, Runs, same_search
from bayescout.serve.sharing import ending
from bayescout.serve.traces import TRACE

AS_READ = "as read"
"""The choice of a column's kind that takes back what was chosen before."""

SETTINGS = ("search", "settings", "score", "structure_prior", "seed", "max_time", "max_steps")


class Workbench:
    """A project with the processes that work for it; everything here is quick, or waits for a process."""

    def __init__(self, project: Project, upload_limit: int = UPLOAD_LIMIT) -> None:
        self.project = project
        self.upload_limit = upload_limit
        self.hub = Hub(lambda: {"type": "hello", "project": self.described()})
        self.runs = Runs(project, self.hub)
        self.quick, self.drawing, self.slow = Lane(), Lane(), Lane()
        self.runs.on_described = self._described
        self._reading = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._proving: dict[str, Child] = {}
        self.strong = Strengths(self)

    async def start(self) -> None:
        await asyncio.gather(self.runs.warm(), self.quick.ready(), self.drawing.ready())
        self.task(self.runs.tidy())
        self.task(self._warm())

    async def _warm(self) -> None:
        with suppress(BayescoutError):  # of a server that ends at once
            await asyncio.gather(self.drawing.call("warm"), self.quick.call("warm"))

    async def close(self) -> None:
        self.hub.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(self.runs.close(), self.end_answers(), self.strong.close())
        with suppress(BayescoutError):  # as on a full disk; every change was saved when it was made
            self.project.save()
        self.project.close()

    async def end_answers(self) -> None:
        """End the processes that answer; who waits for one is told."""
        bounds = [child.close(0.2) for child in self._proving.values()]
        await asyncio.gather(self.quick.close(), self.drawing.close(), self.slow.close(), *bounds)

    # ---- the project

    def described(self) -> dict[str, Any]:
        return {
            "name": self.project.about["name"],
            "folder": str(self.project.folder),
            "data": self.data,
            "knowledge": self.knowledge(),
            "runs": [run.shown() for run in self.runs.all.values()],
            "layout": self.project.layout,
            "networks": list(self.project.networks()),
            "uploads": {"limit": self.upload_limit},
            **offered(),
        }

    @property
    def data(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.project.about["data"]
        return found

    def require_data(self) -> dict[str, Any]:
        if self.data is None:
            raise SettingError("there are no data yet: open a file or choose an example first")
        return self.data

    def names(self) -> list[str]:
        """The variables."""
        columns = self.require_data()["columns"]
        return [column["name"] for column in columns if column["kind"] != "left out"]

    # ---- data

    async def open_example(self, name: str, rows: int = 5000) -> dict[str, Any]:
        path = self.project.folder / "data" / f"{name}.parquet"
        known = [info.name for info in networks()]
        if name not in known:
            raise SettingError(f"there is no example {name!r}; choose one of {', '.join(known)}")
        await self.slow.call("example", name=name, rows=rows, path=str(path))
        return await self.open_file(path, {"example": name, "rows": rows})

    async def open_file(self, path: Path, source: dict[str, Any] | None = None) -> dict[str, Any]:
        about = {"path": str(path), **(source or {})}
        return await self._read(about, {}, self.project.about["missing"])

    async def open_upload(self, incoming: Path) -> dict[str, Any]:
        """Open an uploaded file; one that cannot be read leaves everything as it was."""
        try:
            return await self._read({"path": str(incoming)}, {}, self.project.about["missing"], keep=True)
        except Refused as error:
            raise _named(error, incoming) from None

    async def change_data(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Read the data again with kinds that a person chose, or chose no longer."""
        source = self.project.about["source"]
        if source is None:
            raise SettingError("there are no data yet: open a file or choose an example first")
        kinds = {**self.project.about["kinds"], **(changes.get("kinds") or {})}
        for name in changes.get("leave_out") or []:
            kinds[name] = "left out"
        kinds = {name: kind for name, kind in kinds.items() if kind != AS_READ}
        missing = changes.get("missing") or self.project.about["missing"]
        return await self._read(source, kinds, missing)

    async def _read(
        self, source: dict[str, Any], kinds: dict[str, str], missing: Any, keep: bool = False
    ) -> dict[str, Any]:
        if missing not in ("em", "drop", "state", "error"):
            raise SettingError(f"missing is em, drop, state or error, not {missing!r}")
        async with self._reading:
            fresh = self.project.table.with_suffix(".new.arrow")
            found = await self.slow.call("read", path=source["path"], kinds=kinds, table=str(fresh))
            fresh.replace(self.project.table)
            if keep:
                source = source | {"path": str(self.project.keep(Path(source["path"])))}
            shown = Path(source["path"]).name
            data = {"source": source.get("example") or shown, "missing": missing, **found}
            data["chosen"] = sorted(kinds)
            self.project.about |= {"source": source, "kinds": kinds, "missing": missing, "data": data}
            self.project.save()
        self.hub.send({"type": "data", "data": data})
        return data

    # ---- runs

    async def create(self, asked: dict[str, Any]) -> Run:
        config = self.config(asked)
        run = self.runs.create(config, str(asked.get("name") or ""), self.names())
        self.hub.send({"type": "run", "run": run.shown()})
        await self.runs.act(run, "play" if asked.get("play", True) else "begin", pace=asked.get("pace"))
        return run

    async def open_averaged(self, run: Run, threshold: Any) -> Run:
        """The averaged network of a bootstrap as a run that has ended with it, scored as the run is."""
        found = await self.strong.averaged(run, threshold)
        place = {name: i for i, name in enumerate(run.nodes)}
        arcs = [[place[a], place[b]] for a, b in found["averaged"]]
        asked: dict[str, Any] = {"search": "hill-climb", "max_steps": 0, "knowledge": run.knowledge}
        asked |= {one: run.config.get(one) for one in ("score", "structure_prior", "seed")}
        config = self.config(asked) | {"start": arcs}
        if config["fingerprint"] != run.data:
            raise SettingError("the project has other data now than this run was learned from")
        made = self.runs.create(config, f"averaged {run.name} at {threshold:g}", self.names())
        self.hub.send({"type": "run", "run": made.shown()})
        await self.runs.act(made, "play")
        return made

    def config(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The settings of a run, checked as far as can be without its data."""
        search = asked.get("search") or "auto"
        if not isinstance(search, str) or search not in SEARCHES:
            raise SettingError(f"there is no search {search!r}; choose one of {', '.join(SEARCHES)}")
        known = {name: asked.get(name) for name in SETTINGS if asked.get(name) is not None}
        text = asked.get("knowledge")
        start = asked.get("start")
        begun: Any = start
        if start is not None and start not in ("empty", "random"):
            begun = self._begun(self.runs.get(str(start)))
        return known | {
            "search": search,
            "seed": asked.get("seed") or 0,
            "knowledge": self.project.knowledge if text is None else text,
            "start": begun,
            "table": str(self.project.table),
            "fingerprint": self.require_data()["fingerprint"],
            "missing": self.project.about["missing"],
            "workers": self.runs.workers(),
        }

    def _begun(self, run: Run) -> list[list[int]]:
        """The graph of a run as the start of another one over the data of now."""
        names = self.names()
        if set(names) != set(run.nodes):
            raise SettingError(f"run {run.id} has other variables than the data have now; begin without it")
        place = [names.index(node) for node in run.nodes]
        return [[place[a], place[b]] for a, b in run.arcs]

    def subject(self, run: Run) -> dict[str, Any]:
        """The graph of a run as answers need it."""
        if run.plan is None:
            raise SettingError("the run has not begun yet")
        data = self.data
        if run.data and (data is None or data["fingerprint"] != run.data):
            raise SettingError(
                "this run was learned from other data than the project has now; open those again to ask this"
            )
        return self._graph(run, str(self.project.table) if run.data else None)

    def _graph(self, run: Run, table: str | None) -> dict[str, Any]:
        graph = {"settings": run.plan, "nodes": run.nodes, "arcs": run.arcs}
        return {"table": table, "fingerprint": run.data, **graph}

    def steps(self, run: Run) -> dict[str, Any]:
        return {"trace": str(self.project.run_folder(run.id) / TRACE), "epoch": run.epoch}

    async def detail(self, run: Run) -> dict[str, Any]:
        """A run with its graph, as it stands now: the answer may take a while, and the run goes on."""
        shown = {"version": self.runs.version(run), **run.shown()}
        if run.plan is None:
            arcs = [[run.nodes[a], run.nodes[b], "reversible"] for a, b in run.arcs]
            return shown | {"nodes": run.nodes, "arcs": arcs, "trace": [], "positions": {}}
        data = self.data
        foreign = bool(run.data) and (data is None or data["fingerprint"] != run.data)
        graph = self._graph(run, None) if foreign else self.subject(run)  # a graph of other data can be seen
        going, busy = run.state == "running", self.runs.going() > 0
        found = await self.drawing.call("detail", **graph, **self.steps(run), running=going, busy=busy)
        return {**shown, **found}

    async def at(self, run: Run, step: int) -> Any:
        return await self.drawing.call("at", step=step, nodes=run.nodes, **self.steps(run))

    async def about(self, job: str, run: Run, **values: Any) -> Any:
        """An answer about the graph of a run."""
        return await self.quick.call(job, **self.subject(run), **values)

    async def card(self, run: Run, one: str, two: str) -> dict[str, Any]:
        """The card of an arc, with its share in the bootstrap if there was one."""
        found: dict[str, Any] = await self.about("card", run, **{"from": one, "to": two})
        known = self.strong.found(run)
        shares = {(a, b): (share, way) for a, b, share, way in known["arcs"]} if known else {}
        share, way = shares.get(tuple(found["direction"]), (0.0, 0.0))
        return found | {"strength": {"adjacent": share, "direction": way} if known else None}

    async def compare(self, numbers: list[str], truth: str | None) -> Any:
        """Graphs of two or more runs beside one another."""
        chosen = [self.runs.get(number) for number in numbers]
        if not chosen:
            raise SettingError("name the runs to compare: ?runs=1,2")
        runs = {run.id: self.subject(run) for run in chosen}
        scores = {run.id: run.score for run in chosen}
        file = self.project.networks().get(truth or "")
        path = None if file is None else str(file)
        return await self.slow.call("compare", runs=runs, truth=truth, truth_file=path, scores=scores)

    async def keep_network(self, incoming: Path) -> dict[str, Any]:
        """Keep an uploaded network file to compare with; one that cannot be read is refused."""
        try:
            size: dict[str, Any] = await self.slow.call("network", path=str(incoming))
        except Refused as error:
            raise _named(error, incoming) from None
        name = self.project.keep_network(incoming).name
        return size | {"name": name, "networks": list(self.project.networks())}

    async def export(self, run: Run, form: str, seen: dict[str, Any] | None = None) -> Path:
        """A file of the graph that is shown; the caller removes it."""
        if form not in {one["name"] for one in formats()}:
            raise SettingError(f"there is no format {form!r}")
        if form == "html" and run.state in ("running", "paused") and not run.turned:
            await self.runs.finish(run, "result")
        folder = self.project.run_folder(run.id)
        name = re.sub(r"[^\w.-]+", "-", f"{self.project.about['name']}-{run.id}")
        path = folder / f"{name}{ending(form)}"
        values: dict[str, Any] = {"format": form, "path": str(path), "result": str(folder / "result.json")}
        of = self.data if run.data and self.project.about["source"] else None
        title = f"Network learned from {of['source']}" if of else None
        values |= {"bound": run.bound, "seen": seen, "title": title}
        try:
            await self.slow.call("export", **self.subject(run), **values)
        except Refused as error:
            raise _named(error, path) from None
        return path

    # ---- the lines that repeat a run

    def _described(self, run: Run) -> None:
        if run.plan is not None and run.data and self.data and self.data["fingerprint"] == run.data:
            self.task(self._commands(run))

    def task(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something that nobody waits for."""
        made = asyncio.create_task(work)
        self._tasks.add(made)
        made.add_done_callback(self._tasks.discard)

    async def _commands(self, run: Run) -> None:
        source, folder = self.project.about["source"] or {}, self.project.run_folder(run.id)
        try:
            found = await self.quick.call(
                "commands",
                **self.subject(run),
                steps=run.step - run.config.get("base", 0),
                ended=run.state == "ended" and run.stop_reason == "converged",
                data=self.project.shown(source.get("path", "data.csv")),
                kinds=self.project.about["kinds"],
                start=run.config.get("start"),
                folder=str(folder),
                shown=self.project.shown(folder),
                turned=run.turned,
            )
        except BayescoutError:
            return
        if found != run.commands:
            run.commands = found
            self.runs.save(run)
            self.runs.changed(run)

    # ---- knowledge

    def knowledge(self) -> dict[str, Any]:
        """The project's knowledge, as text and as fields; `error` says why it does not go with the data."""
        text = self.project.knowledge
        try:
            known = Knowledge.parse(text)
        except BayescoutError as error:  # a file that somebody edited
            return shown_knowledge(Knowledge()) | {"text": text, "error": str(error)}
        shown = shown_knowledge(known)
        try:
            if self.data is not None and not known.is_empty:
                known.compile(self.names())
        except BayescoutError as error:  # of variables that the data of now do not have
            shown["error"] = str(error)
        return shown

    def write_knowledge(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Keep another knowledge if it can hold; else say what contradicts."""
        text = asked["text"] if "text" in asked else text_of(asked)
        if not isinstance(text, str):
            raise SettingError("the knowledge is a text, or has fields")
        found = contradiction(text, self.names() if self.data is not None else None)
        if found is not None:
            more = {"cycle": list(found.cycle) or None, "lines": list(found.lines), "text": text}
            raise Refused(found.message, more)
        self.project.write_knowledge(text)
        known = self.knowledge()
        self.hub.send({"type": "knowledge", "knowledge": known})
        return known

    async def prices(self, run: Run) -> Any:
        text = self.project.knowledge
        return await self.slow.call("prices", **self.subject(run), knowledge=text)

    async def prove(self, run: Run, max_time: Any) -> dict[str, Any]:
        """A bound on what any network could score under the settings of a run, which from then on has it."""
        if isinstance(max_time, bool) or not isinstance(max_time, int | float) or not 0 < max_time <= 3600:
            raise SettingError(f"max_time is a number of seconds, at most 3,600, not {max_time!r}")
        if run.id in self._proving:
            raise SettingError("a bound for this run is looked for already")
        subject = self.subject(run)
        self._proving[run.id] = child = await Child.start("run-answers")
        try:
            found: dict[str, Any] = await child.call(
                "prove", **subject, max_time=max_time, workers=self.runs.workers()
            )
        finally:
            del self._proving[run.id]
            await child.close(0.5)
        if found["bound"] is not None and same_search(subject["settings"], run.plan):
            run.proven = min(found["bound"], found["bound"] if run.proven is None else run.proven)
            run.bounded(run.bound)
            self.runs.changed(run)
            self.runs.save(run)
        return {"told": found["told"], "bound": run.bound, "gap": run.gap}

    async def estimate(self, asked: dict[str, Any]) -> Any:
        found = self.require_data()["fingerprint"]
        return await self.slow.call("estimate", config=self.config(asked), fingerprint=found)

    async def layout(self, asked: dict[str, Any]) -> Any:
        """A computed layout of a run's graph."""
        return await self.drawing.call("layout", **self.subject(self.runs.get(str(asked.get("run")))))

    def write_layout(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Keep where a person put the nodes."""
        self.project.write_layout(checked_layout(asked))
        return self.project.layout

    async def turn(self, run: Run, one: str, two: str) -> dict[str, Any]:
        """Turn an arc within its class; the run goes on from there if it is played again."""
        if run.state == "running":
            raise SettingError("pause the run to turn an arc")
        before = run.state, run.step, run.arcs
        found = await self.about("turn", run, **{"from": one, "to": two})
        if before != (run.state, run.step, run.arcs):
            raise SettingError("the run went on in the meantime: turn the arc in the graph that it has now")
        run.arcs, run.turned, run.score = found["arcs"], True, found["score"]
        self.runs.changed(run)
        self.runs.save(run)
        self._described(run)
        return await self.detail(run)


def _named(error: Refused, path: Path) -> Refused:
    """What was said against a file, with its name as the person knows it and not where it lies."""
    told = str(error).replace(f"{path.parent}{os.sep}", "")
    return Refused(told, error.more, error.known)
