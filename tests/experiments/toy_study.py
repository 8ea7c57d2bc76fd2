"""A study of no consequence, quick enough to be killed in the middle many times.

Run as a script it does the study in a folder, as a process of its own that can be killed:
python -m tests.experiments.toy_study FOLDER WORKERS NAP
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayescout.errors import DataError
from bayescout.experiments import Study, grid, run_study
from bayescout.experiments.summary import Finding, Outcome


@dataclass(frozen=True)
class Toy(Study):
    """Random walks."""

    name: ClassVar[str] = "toy"
    title: ClassVar[str] = "Random walks"
    source: ClassVar[str] = "Nobody (2000)"
    quick: ClassVar = {"repeats": 3}
    tiny: ClassVar = {"repeats": 2}
    limit: ClassVar = 60.0

    repeats: int = 10
    steps: tuple[int, ...] = (5, 50)
    nap: float = 0.0
    wrong: tuple[int, ...] = ()
    slow: tuple[int, ...] = ()
    deadly: tuple[int, ...] = ()

    def seconds_allowed(self):
        return 0.3 if self.slow else self.limit

    def runs(self):
        # How long and how well a run goes is no part of what it is: the keys stay the same.
        return grid(data=[{"steps": n} for n in self.steps], seed=range(self.repeats))

    def measure(self, run):
        seed = run["seed"]
        time.sleep(30 if seed in self.slow else self.nap)
        if seed in self.wrong:
            raise DataError(f"seed {seed} is wrong")
        if seed in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        walk = np.random.default_rng(seed).normal(size=run["data"]["steps"]).cumsum()
        return {"end": walk[-1], "steps": len(walk), "walk": walk, "sign": "up" if walk[-1] > 0 else "down"}

    def cost(self, run):
        return 0.01

    def outcome(self, records):
        up = sum(value == "up" for value in records.values("sign"))
        finding = Finding(
            "Half go up.", f"{up} of {len(records)} do.", 4 * abs(2 * up - len(records)) < len(records)
        )
        return Outcome("toy", self.title, self.source, "Walks.", (finding,), ())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ran = run_study(
        Toy(nap=float(sys.argv[3])),
        sys.argv[1],
        resume=True,
        workers=int(sys.argv[2]),
        say=lambda note: sys.stdout.write(note + "\n"),
    )
    sys.stdout.write(f"{len(ran.records)} done, {ran.missing} missing, interrupted {ran.interrupted}\n")
    sys.exit(130 if ran.interrupted else 0)
