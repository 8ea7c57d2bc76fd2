"""The process of one run: a `Session` that is played, paused, stepped, taken back and changed by messages.

Nothing of a run is in this process alone for long: the checkpoint and the file of its steps lie in the run's
folder, and another process goes on from there.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from bayescout.errors import BayescoutError, SettingError
from bayescout.graph.dag import Dag
from bayescout.search import SEARCHES, Knowledge
from bayescout.serve.nearest import nearest_dag
from bayescout.serve.subject import checked_table, named_in
from bayescout.serve.traces import TRACE, Arcs, TraceWriter
from bayescout.serve.wire import Channel, failure, settle
from bayescout.session import Session
from bayescout.settings import make_named

SHOWN_EVERY = 0.05
"""Seconds between two messages about a run that goes on."""

PATIENCE = 2.0
"""Seconds that a step has to end after `pause`; then it is given up."""

ENDS_A_STEP = ("pause", "back", "change")

SAVED_EVERY, PAUSE = 1.0, 10.0
"""Seconds between two checkpoints, and the same as a multiple of the time that the last one took."""


class Runner:
    """Takes messages, and steps in between while the run is played."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self.work: Work | None = None
        self.playing = False
        self.pace: float | None = None
        self._giving_up: threading.Timer | None = None

    def serve(self) -> None:
        """Until the server says so, or is gone."""
        import bayescout.kernels.counting
        import bayescout.kernels.moves
        import bayescout.kernels.neighbours  # noqa: F401 - ready before they are needed

        settle()
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            message = self._next()
            if message == {}:
                self._advance()
            elif message is None:
                break
            else:
                self._do(message)
        if self.work is not None:
            self.work.save()

    def _listen(self) -> None:
        """Pass messages on; those that end the playing also bound how long the step in hand may take."""
        while (message := self.channel.receive()) is not None:
            if message["job"] in ENDS_A_STEP:
                self._bound(PATIENCE)
            self.messages.put(message)
        self.messages.put(None)
        self._bound(0.1)
        time.sleep(5)
        os._exit(1)

    def _bound(self, seconds: float) -> None:
        def give_up() -> None:
            if self.work is not None and self.work.stepping:
                self.work.session.interrupt()

        timer = threading.Timer(seconds, give_up)
        timer.daemon = True
        timer.start()
        self._giving_up = timer

    def _next(self) -> dict[str, Any] | None:
        """The next message; an empty one if it is time for a step."""
        if not self.playing:
            return self.messages.get()
        try:
            return self.messages.get(timeout=self.pace) if self.pace else self.messages.get_nowait()
        except Empty:
            return {}

    def _do(self, message: dict[str, Any]) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()  # the step in hand has ended
        try:
            done = self._done(message)
        except Exception as error:
            self.channel.send({"id": message["id"], **self._failure(error)})
        else:
            self.channel.send({"id": message["id"], "done": done})

    def _done(self, message: dict[str, Any]) -> Any:
        job = message["job"]
        if job == "open":
            self.work = Work(message["config"])
            return self.work.about()
        if self.work is None:
            raise SettingError("the run has not been opened")
        if job == "play":
            self.playing, self.pace = True, message.get("pace")
            self.work.every = message.get("every", SHOWN_EVERY)
            self._tell("running")
            return None
        if job in ("result", "save"):
            self.work.write_result() if job == "result" else self.work.save()
            return None
        self.playing = False
        if job in ("begin", "step"):
            self._steps(message.get("steps", 1) if job == "step" else 1 - self.work.begun)
            return None
        if job == "back":
            self.work.back(message.get("steps", 1))
        elif job == "change":
            self.work.change(message)
        self._rest()
        return self.work.about()

    def _steps(self, steps: int) -> None:
        assert self.work is not None
        for _ in range(steps):
            if not self.work.step() or not self.messages.empty():
                break
            if self.work.due():
                self._tell("running")
        self._rest()

    def _advance(self) -> None:
        assert self.work is not None
        try:
            on = self.work.step()
            if not on:
                self.playing = False
                self._rest()
            elif self.work.due():
                self._tell("running")
        except (BayescoutError, OSError) as error:  # of the disk: what was not written is, once there is room
            self.playing = False
            self.channel.send({"event": "failed", **self._failure(error)})

    def _failure(self, error: Exception) -> dict[str, Any]:
        return failure(error, None if self.work is None else self.work.folder / TRACE)

    def _rest(self) -> None:
        """Save, and say where the run stands now that it does not go on."""
        assert self.work is not None
        self.work.save()
        if self.work.ended:
            self.work.conclude()
            self._tell("ended")
        else:
            self._tell("paused")

    def _tell(self, state: str) -> None:
        assert self.work is not None
        self.work.trace.flush()
        self.channel.send({"event": "state", "state": state, **self.work.standing()})


class Work:
    """A session with its folder: what it does is written there.

    A run whose score, beliefs or graph were changed consists of several sessions, one after the other; `base`
    counts the steps of the earlier ones.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.folder = Path(config["folder"])
        self.table = checked_table(config["table"], config["fingerprint"])
        self.names = [str(name) for name in self.table.names]
        self.base, self.base_seconds = config.get("base", 0), config.get("base_seconds", 0.0)
        self.stepping = self.begun = self.ended = False
        self.every = SHOWN_EVERY
        self.answer: tuple[Arcs, float] | None = None
        self._shown = self._saved = self._took = 0.0
        self.trace = TraceWriter(self.folder / TRACE)
        self.session = self._session(self._checkpoint if self._checkpoint.exists() else None)
        if self._checkpoint.exists():
            self._resume()

    @property
    def _checkpoint(self) -> Path:
        return self.folder / f"checkpoint-{self.base}"

    def _resume(self) -> None:
        """Bring the file of steps back to where the checkpoint stands."""
        snapshot = self.session.snapshot()
        self.begun, self.ended = True, bool(snapshot.stop_reason)
        self.trace.cut(self.base + snapshot.step + 1)
        self.trace.now(_arcs(snapshot.dag))

    def _session(self, checkpoint: Path | None = None) -> Session:
        config = self.config
        given = config.get("start")
        start = given if given is None or isinstance(given, str) else self._dag(given)
        return Session(
            self.table,
            make_named("search", SEARCHES, config["search"], config.get("settings") or {}),
            config.get("score") or "auto",
            self._knowledge(config.get("knowledge") or ""),
            start,
            config.get("seed", 0),
            config.get("max_time"),
            config.get("max_steps"),
            workers=config.get("workers"),
            checkpoint=checkpoint,
            missing=config.get("missing") or "em",
            structure_prior=config.get("structure_prior"),
        )

    def _knowledge(self, text: str) -> Knowledge:
        return Knowledge.parse(text, named_in(self.table.names))

    def _dag(self, arcs: Iterable[Sequence[int]]) -> Dag:
        parents: list[list[int]] = [[] for _ in self.names]
        for a, b in arcs:
            parents[b].append(a)
        return Dag(self.table.names, tuple(tuple(sorted(own)) for own in parents))

    # ---- steps

    def step(self) -> bool:
        """Take a step; False once there is none to take, or if it was given up."""
        self.stepping, self.answer = True, None
        try:
            snapshot = self.session.step()
        finally:
            self.stepping = False
        stopped = self.session.stop_reason
        if snapshot is not None and stopped != "interrupted":
            self.begun = True
            self._record(snapshot)
            stopped = snapshot.stop_reason
            if time.monotonic() - self._saved > max(SAVED_EVERY, PAUSE * self._took):
                self.save()
        self.ended = stopped not in ("", "interrupted")
        return not stopped

    def _record(self, snapshot: Any) -> None:
        arcs = _arcs(snapshot.dag)
        seconds = self.base_seconds + snapshot.seconds
        self.trace.add(self.base + snapshot.step, seconds, snapshot.score, snapshot.best, arcs)

    def due(self) -> bool:
        """Return True if it is time for another message about a run that goes on."""
        return time.monotonic() - self._shown >= self.every

    def save(self) -> None:
        if not self.begun:
            return
        begin = time.monotonic()
        self.trace.flush()
        self.session.save(self._checkpoint)
        self._saved = time.monotonic()
        self._took = self._saved - begin

    def standing(self) -> dict[str, Any]:
        """The numbers of the run and the graph that is shown: the one in hand, at the end the answer."""
        self._shown = time.monotonic()
        if not self.begun:
            return {"step": self.base, "arcs": self.config.get("start") or []}
        now = self.session.snapshot()
        arcs, score = self.answer or (_arcs(now.dag), now.score)
        return {
            "step": self.base + now.step,
            "score": score,
            "best": now.best,
            "bound": now.bound,
            "seconds": self.base_seconds + now.seconds,
            "stop_reason": now.stop_reason if self.ended else "",
            "arcs": sorted(arcs),
        }

    def conclude(self) -> None:
        """Write the result of a run that has ended; its graph is the answer."""
        result = self.write_result()
        self.answer = (_arcs(result.dag), result.score)

    def write_result(self) -> Any:
        result = self.session.result()
        result.save(self.folder / "result.json")
        return result

    # ---- steering

    def back(self, steps: int) -> None:
        """Go back; before where the session's memory begins, by repeating the run from its start."""
        now = self.session.snapshot().step
        target = max(0, now - steps)
        if self.session.back(min(steps, now)).step > target:
            self.session = self._session()
            while self.session.snapshot().step < target and self.session.step() is not None:
                pass
        snapshot = self.session.snapshot()
        self.answer, self.ended = None, False
        self.trace.cut(self.base + snapshot.step + 1)
        self.trace.now(_arcs(snapshot.dag))

    def change(self, message: dict[str, Any]) -> None:
        """Go on under other knowledge, with another score or from another graph: as another session.

        A score comes with its structure prior, the usual one if none is named. The first graph is the one in
        hand, or the nearest one that keeps the knowledge.
        """
        knowledge, score, arcs = message.get("knowledge"), message.get("score"), message.get("arcs")
        if not self.begun:
            self.step()
        seconds, step = self.session.snapshot().seconds, self.session.snapshot().step
        start = sorted(_arcs(self.session.snapshot().dag)) if arcs is None else arcs
        changed: dict[str, Any] = {"base": self.base + step + 1, "base_seconds": self.base_seconds + seconds}
        if knowledge is not None:
            near = nearest_dag(
                self._dag(start),
                self._knowledge(knowledge),
                self.table,
                self.session.settings.made_score(),
                self.config.get("missing") or "em",
            )
            start = sorted(_arcs(near))
            changed["knowledge"] = knowledge
        if score is not None:
            changed |= {"score": score, "structure_prior": message.get("structure_prior")}
        before = self.config, self.session, self.base, self.base_seconds
        self.config = {**self.config, **changed, "start": start}
        self.base, self.base_seconds = changed["base"], changed["base_seconds"]
        try:
            self.session = self._session()
            snapshot = self.session.snapshot()
        except BaseException:  # as knowledge that the score cannot keep: all is as it was
            self.config, self.session, self.base, self.base_seconds = before
            raise
        self.answer, self.ended = None, bool(snapshot.stop_reason)
        self.trace.cut(self.base)
        self._record(snapshot)

    def about(self) -> dict[str, Any]:
        """What the server keeps of the run's settings."""
        settings = self.session.settings
        return {
            "config": self.config,
            "settings": settings.to_json(),
            "score_name": settings.score,
            "prior": settings.prior_told or "uniform",
            "nodes": self.names,
        }


def _arcs(dag: Dag) -> Arcs:
    return frozenset((p, child) for child, own in enumerate(dag.parents) for p in own)
