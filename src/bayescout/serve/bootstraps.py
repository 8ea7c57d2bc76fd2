"""Bootstraps of runs: each in a process of its own, kept beside the run when it is done."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from bayescout.data.files import atomic_write
from bayescout.errors import BayescoutError, SettingError
from bayescout.serve.processes import Child
from bayescout.serve.runs import Run, same_search
from bayescout.serve.wire import encoded

if TYPE_CHECKING:
    from bayescout.serve.workbench import Workbench

MOST_AT_ONCE = 2


class Strengths:
    """The bootstraps that go on, and those that are done."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self._going: dict[str, Child] = {}
        self._standing: dict[str, dict[str, Any]] = {}

    def _file(self, run: Run) -> Any:
        return self.bench.project.run_folder(run.id) / "strengths.json"

    def found(self, run: Run) -> dict[str, Any] | None:
        """The strengths of the graph that a run shows now; None if there are none."""
        known = self._standing.get(run.id)
        if known is None and self._file(run).exists():
            known = self._standing[run.id] = json.loads(self._file(run).read_text(encoding="utf-8"))
        if known is None or known.get("arcs") is None or not same_search(known.get("settings"), run.plan):
            return None
        return known

    def shown(self, run: Run) -> dict[str, Any]:
        """The strengths, or how far they have come."""
        nothing = {"arcs": [], "done": 0, "of": 0}
        standing = self._standing.get(run.id, {})
        known = self.found(run) or ({} if "arcs" in standing else standing)
        return nothing | {name: value for name, value in known.items() if name != "settings"}

    async def averaged(self, run: Run, threshold: Any) -> dict[str, Any]:
        """The network of the arcs above a threshold, and the arcs that would close a cycle in it."""
        if self.found(run) is None:
            raise SettingError("there are no strengths of this run yet: bootstrap it first")
        values = {"strengths": str(self._file(run)), "nodes": run.nodes, "threshold": threshold}
        found: dict[str, Any] = await self.bench.quick.call("averaged", **values)
        return found

    async def begin(self, run: Run, runs: int, max_time: float | None) -> dict[str, Any]:
        """Start a bootstrap; events tell how far it has come."""
        if run.id in self._going:
            raise SettingError("the bootstrap of this run is going on already")
        if len(self._going) >= MOST_AT_ONCE:
            raise SettingError(f"{MOST_AT_ONCE} bootstraps are going on; wait for one of them")
        subject = self.bench.subject(run)
        if isinstance(runs, bool) or not isinstance(runs, int) or not 1 <= runs <= 1000:
            raise SettingError(f"runs is a whole number from 1 to 1,000, not {runs!r}")
        child = self._going[run.id] = await Child.start("run-answers")
        self._standing[run.id] = {"done": 0, "of": runs}
        self.bench.task(self._work(run, child, subject, runs, max_time))
        return self.shown(run)

    async def _work(
        self, run: Run, child: Child, subject: dict[str, Any], runs: int, max_time: float | None
    ) -> None:
        def heard(event: dict[str, Any]) -> None:
            self._standing[run.id] = {"done": event["done"], "of": event["of"]}
            self._tell(run)

        try:
            found = await child.call("strengths", heard, **subject, runs=runs, max_time=max_time)
            found["settings"] = subject["settings"]
            if self.bench.project.run_folder(run.id).exists():
                with atomic_write(self._file(run)) as stream:
                    stream.write(encoded(found))
            self._standing[run.id] = found
            run.strengths = same_search(found["settings"], run.plan)
            self.bench.runs.save(run)
            self.bench.runs.changed(run)
        except BayescoutError as error:  # of the process, or of a disk that is full
            self._standing[run.id] = {"done": 0, "of": runs, "error": str(error)}
        finally:
            self._going.pop(run.id, None)
            await child.close(0.5)
        self._tell(run)

    def _tell(self, run: Run) -> None:
        def event() -> dict[str, Any]:
            now = self._standing.get(run.id, {})
            told: dict[str, Any] = {name: now[name] for name in ("done", "of", "error") if name in now}
            return {"type": "strengths", "id": run.id, "ready": "arcs" in now, **told}

        self.bench.hub.soon(("strengths", run.id), event)

    async def forget(self, run: Run) -> None:
        """End the bootstrap of a run that is deleted."""
        self._standing.pop(run.id, None)
        if run.id in self._going:
            await self._going[run.id].close(0.2)

    async def close(self) -> None:
        await asyncio.gather(*(child.close(0.2) for child in list(self._going.values())))
