"""The runs of a project: each a record, and while it is worked on a process."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bayescout.errors import BayescoutError
from bayescout.serve.events import EVERY, Hub
from bayescout.serve.processes import Child, Died, Refused
from bayescout.serve.project import Project
from bayescout.serve.traces import TRACE, TraceReader

MOST_LIVE = 24
"""The most runs that have a process at once; others wait, or are taken up again when they are asked for."""

IDLE = 600.0
"""Seconds after which the process of a run that does not go on is closed; the run can still go on."""

ANSWERED_IN = 0.1
"""Seconds after which a click is answered with what is known; the stream of events tells the rest."""

SAVED_EVERY = 2.0
"""Seconds between two records of a run that goes on."""

SHARED = ("id", "name", "search", "score_name", "prior", "settings", "seed", "state", "step", "score",
          "best", "bound", "gap", "seconds", "stop_reason", "error", "knowledge", "commands",
          "strengths", "data")  # fmt: skip


def same_search(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Return True if the settings differ in the first graph at most, which a bootstrap does not use."""
    if one is None or other is None:
        return False
    return {**one, "start": None} == {**other, "start": None}


class NotThereError(BayescoutError):
    """A run, or a part of one, that is not there."""

    status = 404


@dataclass
class Run:
    """A run as the project keeps it.

    config    the arguments of its session; `plan` the settings as a result has them, once they are known
    prior     the structure prior in words, with the number of beliefs; empty until it is known
    arcs      of the graph that is shown, as positions of `nodes`
    strengths  True if there was a bootstrap of it, with the settings that it has now
    proven    a bound on the score of any network under these settings that was asked for; None if it was not
    epoch     counts how often steps were taken back: what was read of the steps before holds no longer
    data      the fingerprint of the data; no other rows answer for it
    """

    id: str
    name: str
    search: str
    score_name: str
    settings: dict[str, Any]
    seed: int
    knowledge: str
    config: dict[str, Any]
    data: str
    prior: str = ""
    state: str = "waiting"
    step: int = 0
    score: float | None = None
    best: float | None = None
    bound: float | None = None
    gap: float | None = None
    seconds: float = 0.0
    stop_reason: str = ""
    error: str | None = None
    commands: dict[str, str] = field(default_factory=lambda: {"python": "", "shell": ""})
    plan: dict[str, Any] | None = None
    nodes: list[str] = field(default_factory=list)
    arcs: list[list[int]] = field(default_factory=list)
    epoch: int = 0
    turned: bool = False
    strengths: bool = False
    proven: float | None = None

    def shown(self) -> dict[str, Any]:
        """RUN, as the page has it."""
        return {name: getattr(self, name) for name in SHARED}

    def bounded(self, found: float | None) -> None:
        """Take the lower of two bounds: one that the search found, and one that was asked for."""
        known = [bound for bound in (found, self.proven) if bound is not None]
        self.bound = min(known, default=None)
        self.gap = None
        if self.bound is not None and self.best is not None:
            self.gap = max(0.0, self.bound - self.best)

    @property
    def pairs(self) -> set[tuple[int, int]]:
        return {(a, b) for a, b in self.arcs}


def recover(run: Run, steps: Path) -> None:
    """Bring a run whose server ended without a word to the last step that was written."""
    run.state = "paused"
    run.error = "the server ended while this run went on; play goes on from its last checkpoint"
    reader = TraceReader(steps)
    points = reader.points()
    found = reader.at(int(points[-1][0])) if points else None
    if found is None:
        return
    (step, run.seconds, run.score, run.best), arcs = found
    run.step, run.arcs = int(step), [list(arc) for arc in sorted(arcs)]
    run.bounded(None)


class Runs:
    """All runs of a project, in order."""

    def __init__(self, project: Project, hub: Hub) -> None:
        self.project = project
        self.hub = hub
        self.all: dict[str, Run] = {}
        self.on_described: Callable[[Run], None] = lambda run: None
        self._live: dict[str, Live] = {}
        self._spare: asyncio.Task[Child] | None = None
        self._queue: list[tuple[str, float | None]] = []
        self._sent: dict[str, set[tuple[int, int]]] = {}
        self._versions: dict[str, int] = {}
        self._unsaved: dict[str, str] = {}
        for number, kept in project.saved_runs().items():
            known = {name: value for name, value in kept.items() if name in Run.__dataclass_fields__}
            run = self.all[number] = Run(**known)
            if run.state in ("running", "waiting"):
                recover(run, project.run_folder(number) / TRACE)
            self._sent[number] = run.pairs

    def get(self, number: str) -> Run:
        if number not in self.all:
            raise NotThereError(f"there is no run {number!r}")
        return self.all[number]

    async def warm(self) -> None:
        """Start a process that is ready for the next run."""
        if self._spare is None:
            self._spare = asyncio.create_task(Child.start("run"))

    async def _process(self) -> Child:
        spare, self._spare = self._spare, None
        child = await spare if spare is not None else await Child.start("run")
        if not child.alive:
            child = await Child.start("run")
        await self.warm()
        return child

    # ---- making and removing

    def create(self, config: dict[str, Any], name: str, nodes: list[str]) -> Run:
        """A run that waits to be begun."""
        number = self.project.new_run()
        run = Run(
            id=number,
            name=name or f"{config['search']} {number}",
            search=config["search"],
            score_name=config.get("score") or "auto",
            settings=config.get("settings") or {},
            seed=config.get("seed", 0),
            knowledge=config.get("knowledge") or "",
            config=config | {"folder": str(self.project.run_folder(number))},
            data=config["fingerprint"],
            nodes=nodes,
        )
        self.all[number] = run
        self.save(run)
        return run

    async def fork(self, run: Run) -> Run:
        """A copy of a run as it stands, which goes its own way."""
        live = self._live.get(run.id)
        if live is not None and run.state == "running":
            await live.child.call("save")
        number = self.project.new_run()
        folder = self.project.copy_run(run.id, number)
        kept = asdict(run) | {"id": number, "name": f"{run.name}, forked", "error": None}
        kept["config"] = run.config | {"folder": str(folder)}
        if run.state in ("running", "waiting"):
            kept["state"] = "paused"
        made = self.all[number] = Run(**kept)
        self._sent[number] = made.pairs
        self.save(made)
        self.hub.send({"type": "run", "run": made.shown()})
        return made

    async def delete(self, run: Run) -> None:
        self._queue = [one for one in self._queue if one[0] != run.id]
        await self._close(run.id)
        self.all.pop(run.id, None)
        self._sent.pop(run.id, None)
        await asyncio.to_thread(self.project.delete_run, run.id)

    # ---- acting

    async def act(self, run: Run, action: str, **values: Any) -> None:
        """Have the run's process do something; returns when it has, or soon."""
        if run.state == "waiting" and action == "pause":
            self._queue = [one for one in self._queue if one[0] != run.id]
        work = asyncio.create_task(self._acted(run, action, values))
        work.add_done_callback(_retrieved)
        done, _ = await asyncio.wait({work}, timeout=ANSWERED_IN)
        if done:
            work.result()

    async def finish(self, run: Run, action: str, **values: Any) -> Any:
        """As `act`, to its end."""
        return await self._acted(run, action, values)

    async def _acted(self, run: Run, action: str, values: dict[str, Any]) -> Any:
        if action == "pause" and run.id not in self._live:
            run.state = "paused" if run.state in ("waiting", "running") else run.state
            self.changed(run)
            return None
        try:
            live = await self._opened(run)
            if live is None:
                return None
            if run.turned and action in ("play", "step"):
                await live.do("change", {"arcs": run.arcs})
                run.turned = False
            if action == "play":
                values = values | {"every": self._every()}
            return await live.do(action, values)
        except Died:
            raise
        except Refused as error:
            if run.state == "waiting":
                self.fail(run, str(error))
            else:
                run.error = str(error)
                self.changed(run)
            raise

    def _every(self) -> float:
        """Seconds between two messages of a run: more of them if many go on."""
        return EVERY * max(1.0, self.going() / 4)

    async def _opened(self, run: Run) -> Live | None:
        """The run's process; None if it has to wait for one."""
        live = self._live.get(run.id)
        if live is None:
            if "table" not in run.config:
                raise Refused("this result was learned elsewhere and cannot go on; start a run from it")
            if len(self._live) >= MOST_LIVE and not await self._made_room():
                run.state = "waiting"
                self._queue.append((run.id, None))
                self.changed(run)
                return None
            live = self._live[run.id] = Live(self, run)
        await live.ready()
        live.used = time.monotonic()
        return live

    async def _made_room(self) -> bool:
        """Close the process that has been idle longest; False if all are at work."""
        idle = [live for live in self._live.values() if live.run.state in ("paused", "ended", "failed")]
        if not idle:
            return False
        oldest = min(idle, key=lambda live: live.used)
        await self._close(oldest.run.id)
        return True

    async def _close(self, number: str) -> None:
        live = self._live.pop(number, None)
        if live is not None and live.child is not None:
            await live.child.close()

    # ---- what processes tell

    def told(self, run: Run, message: dict[str, Any]) -> None:
        """A message from a run's process."""
        if message["event"] == "failed":
            self.fail(run, message["error"])
            return
        for name in ("state", "step", "score", "best", "seconds", "stop_reason", "arcs"):
            if name in message:
                setattr(run, name, message[name])
        run.bounded(message.get("bound"))
        run.error = self._unsaved.get(run.id)
        self.changed(run)
        if run.state != "running":
            self.save(run)
            self.on_described(run)
            self._next_in_queue()

    def fail(self, run: Run, why: str) -> None:
        run.state, run.error = "failed", why
        self.changed(run)
        self.save(run)
        self._next_in_queue()

    def ended(self, live: Live, why: str) -> None:
        """A run's process is gone, and nobody had asked it to."""
        if self._live.get(live.run.id) is live:
            del self._live[live.run.id]
            run = live.run
            run.error = f"the process of this run ended: {why}; play goes on from its last checkpoint"
            self.fail(run, run.error)

    def _next_in_queue(self) -> None:
        if self._queue and (
            len(self._live) < MOST_LIVE or any(live.run.state != "running" for live in self._live.values())
        ):
            number, pace = self._queue.pop(0)
            if number in self.all:
                task = asyncio.create_task(self._acted(self.all[number], "play", {"pace": pace}))
                task.add_done_callback(_retrieved)

    def changed(self, run: Run) -> None:
        """Tell every page, soon and once for all changes until then."""
        live = self._live.get(run.id)
        self.hub.soon(("run", run.id), lambda: self._event(run))
        if live is not None and time.monotonic() - live.saved > SAVED_EVERY:
            live.saved = time.monotonic()
            self.save(run)

    def version(self, run: Run) -> int:
        """The number of events about a run so far, after one that tells where it stands now.

        What a page fetches with this number and the events with larger ones fit together.
        """
        self.hub.now(("run", run.id))
        return self._versions.get(run.id, 0)

    def _event(self, run: Run) -> dict[str, Any] | None:
        """How a run differs from what the pages were told last."""
        if run.id not in self.all:
            return None
        version = self._versions[run.id] = self._versions.get(run.id, 0) + 1
        now, before = run.pairs, self._sent.get(run.id, set())
        self._sent[run.id] = now
        added, removed = now - before, before - now
        turned = {(a, b) for a, b in added if (b, a) in removed}

        def named(pairs: set[tuple[int, int]]) -> list[list[str]]:
            return [[run.nodes[a], run.nodes[b]] for a, b in sorted(pairs)]

        diff = {
            "added": named(added - turned),
            "removed": named({(a, b) for a, b in removed if (b, a) not in turned}),
            "turned": named(turned),
        }
        point = [run.step, run.seconds, run.score, run.best]
        return {"type": "run", "run": run.shown(), "version": version, "diff": diff, "point": point}

    def save(self, run: Run) -> None:
        """Write the record of a run; where that fails, as on a full disk, the run goes on and says so."""
        if run.id not in self.all:
            return
        before = self._unsaved.pop(run.id, None)
        if run.error == before:
            run.error = None
        try:
            self.project.save_run(run.id, asdict(run))
        except (BayescoutError, OSError) as error:
            self._unsaved[run.id] = f"the run goes on, and cannot be kept: {error}"
            run.error = run.error or self._unsaved[run.id]

    async def tidy(self) -> None:
        """Close processes that have been idle for long, again and again."""
        while True:
            await asyncio.sleep(IDLE / 10)
            late = time.monotonic() - IDLE
            for number, live in list(self._live.items()):
                if live.used < late and live.run.state not in ("running", "waiting"):
                    await self._close(number)

    async def close(self) -> None:
        """Let every process save what it has and end."""
        if self._spare is not None:
            child = await self._spare
            await child.close(0.5)
        await asyncio.gather(*(self._close(number) for number in list(self._live)))
        for run in self.all.values():
            if run.state in ("running", "waiting"):
                run.state = "paused"
            self.save(run)

    def workers(self) -> int:
        """Threads for another run: all cores for a run by itself."""
        return max(1, (os.cpu_count() or 1) // (1 + self.going()))

    def going(self) -> int:
        """How many runs go on."""
        return sum(run.state == "running" for run in self.all.values())


class Live:
    """A run's process."""

    def __init__(self, runs: Runs, run: Run) -> None:
        self.runs = runs
        self.run = run
        self.child: Any = None
        self.used = time.monotonic()
        self.saved = 0.0
        self._opening = asyncio.Lock()

    async def ready(self) -> None:
        """Open the run in its process, once."""
        async with self._opening:
            if self.child is not None:
                return
            child = await self.runs._process()
            child.on_event = lambda event: self.runs.told(self.run, event)
            child.on_end = lambda why: self.runs.ended(self, why)
            self.child = child
            try:
                config = self.run.config | {"fingerprint": self.run.data}
                self.about(await child.call("open", config=config))
                self.run.epoch += 1  # steps after the checkpoint were taken off
            except Refused:
                self.runs._live.pop(self.run.id, None)
                asyncio.create_task(child.close()).add_done_callback(_retrieved)
                raise

    def about(self, found: dict[str, Any]) -> None:
        run = self.run
        if run.plan is not None and not same_search(run.plan, found["settings"]):
            run.strengths, run.proven = False, None
        run.config, run.plan, run.nodes = found["config"], found["settings"], found["nodes"]
        run.score_name, run.prior = found["score_name"], found["prior"]
        run.knowledge = run.config.get("knowledge") or ""
        self.runs.save(run)
        self.runs.on_described(run)

    async def do(self, action: str, values: dict[str, Any]) -> Any:
        try:
            found = await self.child.call(action, **values)
        finally:  # not before: what is read while the steps are taken off must not count as read after that
            if action in ("back", "change"):
                self.run.epoch += 1
        if action in ("back", "change"):
            self.about(found)
        return found


def _retrieved(task: asyncio.Task[Any]) -> None:
    """Errors that came after a click was answered have been told by an event."""
    if not task.cancelled():
        task.exception()
