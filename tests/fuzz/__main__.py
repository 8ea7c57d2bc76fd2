"""Fuzz what reads what users give: python -m tests.fuzz [TARGET ...] --inputs N --seed S [--seconds T].

Without targets, all of them; the inputs are shared out by weight. Every input is a function of target, seed
and number, so that what was found is found again with --only NUMBER. The exit code is 1 if anything was.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from tests.fuzz.campaign import input_of, run, run_one, shared_out, table
from tests.fuzz.targets import TARGETS
from tests.fuzz.worker import Finding, Settings


def main() -> int:
    given = _arguments()
    names = given.targets or list(TARGETS)
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    settings = Settings(given.seed, given.limit, given.memory << 20, given.keep)
    if given.only is not None:
        return _one(names, given.only, settings)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    counts = dict.fromkeys(names, given.each) if given.each else shared_out(given.inputs, names)
    report = run(counts, settings, given.workers, given.seconds)
    sys.stdout.write(table(report))
    return 0 if report.clean else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default"
    )
    parser.add_argument("--inputs", type=int, default=20_000, help="how many in all, by weight")
    parser.add_argument("--each", type=int, help="how many of each target instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, help="stop after so long, with the same share for each target"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=2.0, help="CPU seconds one input may take")
    parser.add_argument("--memory", type=int, default=3072, help="megabytes one input may take")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="where to write inputs in which something was found"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one input of one target, shown")
    given = parser.parse_args()
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"unknown target {unknown[0]}; known: {', '.join(TARGETS)}")
    return given


def _one(names: list[str], number: int, settings: Settings) -> int:
    """Show one input and what comes of it."""
    for name in names:
        sys.stdout.write(f"{name} {number}: {input_of(name, settings.seed, number)!r}\n")
        sys.stdout.flush()
        found = run_one(name, number, settings)
        if isinstance(found, Finding):
            sys.stdout.write(f"{found.kind}\n{found.detail}\n")
            return 1
        sys.stdout.write(f"{found}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
