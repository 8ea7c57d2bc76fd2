"""Do the runs of a study: each once, in any number of processes, whatever interruptions there are.

    ran = run_study(study_named("lau", size="quick"), "lau-quick", workers=2)
    outcome = study.outcome(ran.records)

Records are the same, except for times, with any number of workers and after any kill. Without `workers` the
runs go where `joblib.parallel_config` sends them, so the same study runs on a cluster:

    from dask.distributed import Client                      # pip install 'bayescout[dask]'
    with Client("scheduler:8786"), joblib.parallel_config(backend="dask"):
        run_study(study, "lau-full", resume=True)
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayescout.errors import SettingError
from bayescout.evaluate.workers import be_a_worker, in_parallel
from bayescout.experiments.attempt import attempt, versions
from bayescout.experiments.records import Record, Records
from bayescout.experiments.store import PARQUET, RECORDS, Say, Store, export_parquet, read_records
from bayescout.experiments.study import Declared, Study, key_of, strict_json
from bayescout.experiments.tools import with_digests

START_SECONDS = 5.0
"""Approximate time to start processes and load compiled code."""

Advance = Callable[[Record, float], None]
"""Callback for every new record and the seconds it was expected to cost."""


@dataclass(frozen=True)
class Ran:
    """The state of a study after running it; `records` are those that succeeded, in the grid's order."""

    records: Records
    failures: tuple[Record, ...]
    missing: int
    interrupted: bool = False


def run_study(
    study: Study,
    folder: str | os.PathLike[str],
    resume: bool = False,
    workers: int | None = None,
    retry: bool = False,
    advance: Advance | None = None,
    say: Say | None = None,
) -> Ran:
    """Do the runs of a study that its folder lacks.

    resume   continue in a folder that has records; otherwise it must be new or empty
    workers  processes; None for what `joblib.parallel_config` sets, or one process if it sets nothing
    retry    do failed runs again
    advance  called after every run
    say      called with each message: a record cut short, a worker that died

    Ctrl-C stops the study; finished runs are kept, and `interrupted` is True.
    """
    if workers is not None and workers < 1:
        raise SettingError(f"workers must be at least 1, not {workers}")
    say = say or (lambda note: None)
    runs = keyed(study)
    interrupted = False
    with Store(folder, study, resume, say) as store:
        _note_versions(store, runs, say)
        _note_others(store, runs, say)
        pending = [
            run for key, run in runs.items() if key not in store.found or (retry and store.found[key].failed)
        ]
        with stoppable() as stopped:
            try:
                for record in _records(study, pending, workers, say):
                    if stopped():
                        # Checked before the record is kept: an interrupted search has not finished.
                        raise KeyboardInterrupt
                    store.append(record)
                    if advance is not None:
                        advance(record, study.cost(record.run))
            except KeyboardInterrupt:
                interrupted = True
        found = Records(store.found[key] for key in runs if key in store.found)
        if not interrupted:
            export_parquet(found, Path(folder) / PARQUET)
    return Ran(found.done, found.failures, len(runs) - len(found), interrupted)


def keyed(study: Study) -> dict[str, Declared]:
    """The runs of a study by their keys, in the order of the grid."""
    found: dict[str, Declared] = {}
    digests: dict[str, str | None] = {}
    for declared in study.runs():
        run = with_digests(strict_json(declared), digests)
        key = key_of(study.name, run)
        if key in found:
            raise SettingError(f"study {study.name!r} declares the same run twice: {run}")
        found[key] = run
    if not found:
        raise SettingError(f"study {study.name!r} has no runs; nothing to do")
    return found


def expected_seconds(study: Study, workers: int = 1, runs: Sequence[Declared] | None = None) -> float:
    """The approximate time of a study, from the measured cost of its kinds of runs."""
    costs = [study.cost(run) for run in (keyed(study).values() if runs is None else runs)]
    return START_SECONDS + max([sum(costs) / workers, *costs])


def left_to_do(study: Study, folder: str | os.PathLike[str]) -> list[Declared]:
    """The runs that a folder lacks; all of them if there is no folder."""
    there, _ = read_records(Path(folder) / RECORDS, study.name)
    return [run for key, run in keyed(study).items() if key not in there]


# ---- in processes


def _records(study: Study, pending: Sequence[Declared], workers: int | None, say: Say) -> Iterator[Record]:
    """The records of runs as they finish; a run whose process dies is identified and recorded."""
    left = {key_of(study.name, run): run for run in pending}
    while left:
        handed: list[Declared] = []
        try:
            for record in _in_processes(study, list(left.values()), workers, handed):
                del left[record.key]
                yield record
        except _worker_deaths():
            suspects = [run for run in handed if key_of(study.name, run) in left]
            say(f"a worker process died; the {len(suspects)} runs it may have had are done one by one")
            for run in suspects:
                record = _alone(study, run)
                del left[record.key]
                yield record


def _in_processes(
    study: Study, runs: Sequence[Declared], workers: int | None, handed: list[Declared]
) -> Iterator[Record]:
    """Records in the order in which they finish; `handed` collects the runs given out so far."""
    from joblib import delayed

    def tasks() -> Iterator[Any]:
        for run in runs:
            handed.append(run)
            yield delayed(attempt)(study, run, os.getpid())

    yield from in_parallel(tasks(), workers, ordered=False)


def _alone(study: Study, run: Declared) -> Record:
    """Do one run in a process of its own, so that a crash affects no other run."""
    from joblib import Parallel, delayed

    home = os.getpid()
    try:
        # Two jobs, one of them idle: joblib would run a single job in this process.
        alone = Parallel(n_jobs=2, backend="loky", initializer=be_a_worker, initargs=(home,))
        (record,) = alone([delayed(attempt)(study, run, home)])
    except _worker_deaths():
        key = key_of(study.name, run)
        reason = "its process died, perhaps for want of memory"
        return Record(key, study.name, run, reason=reason, versions=versions())
    found: Record = record
    return found


def _worker_deaths() -> tuple[type[BaseException], ...]:
    from concurrent.futures.process import BrokenProcessPool

    from joblib.externals.loky.process_executor import BrokenProcessPool as Broken

    return BrokenProcessPool, Broken


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Raise on Ctrl-C within the block, and remember it in case a destructor loses the exception.

    The handler is not Python's own, so a search in this process does not handle the first Ctrl-C itself.
    """
    pressed = False

    def stop(number: int, frame: Any) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    numbers = [signal.SIGINT, signal.SIGTERM] if threading.current_thread() is threading.main_thread() else []
    mine = [n for n in numbers if signal.getsignal(n) is signal.default_int_handler]
    for number in mine:
        signal.signal(number, stop)
    try:
        yield lambda: pressed
    finally:
        for number in mine:
            signal.signal(number, signal.default_int_handler)


def _note_others(store: Store, runs: dict[str, Declared], say: Say) -> None:
    """Report records of runs that the study, as declared now, does not have."""
    others = sum(key not in runs for key in store.found)
    if others:
        say(f"{others:,} records are of runs that the study no longer declares; they are kept and not used")


def _note_versions(store: Store, runs: dict[str, Declared], say: Say) -> None:
    """Report if a study continues under other versions than it was begun with."""
    now = versions()
    others = {
        f"{name} {then.get(name)}"
        for then in (record.versions for key, record in store.found.items() if key in runs)
        for name in now
        if then.get(name) != now[name]
    }
    if others:
        say(f"some records were made with {', '.join(sorted(others))}; now it is {now}")
