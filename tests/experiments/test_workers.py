"""Worker processes end with the process that runs the study, however early it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import joblib
import pytest
from joblib._parallel_backends import ThreadingBackend

import bayescout as bs
from bayescout.evaluate.workers import first_of_all, in_parallel
from bayescout.kernels.jit import compiling

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills are of POSIX systems")

KILLED_AT_LAUNCH = """
import os, signal, sys
from joblib.externals.loky.backend.popen_loky_posix import Popen

launch, launched = Popen._launch, []

def launch_and_die(self, process):
    launch(self, process)
    launched.append(self.pid)
    if len(launched) == int(sys.argv[1]):
        os.write(1, b"launched\\n")
        os.kill(os.getpid(), signal.SIGKILL)

Popen._launch = launch_and_die
"""

STUDY = """
from bayescout.experiments import run_study
from tests.experiments.toy_study import Toy
run_study(Toy(nap=0.2), sys.argv[2], workers=3)
"""

BOOTSTRAP = """
import bayescout as bs
from bayescout.evaluate import resampling
resampling.WORTH_PROCESSES = 0
bs.bootstrap(bs.load_network("asia").sample(100, seed=1), runs=9, workers=3)
"""

KILLED_AT_WORK = """
import os, signal, sys
from bayescout.experiments import run_study
from tests.experiments.toy_study import Toy

def die(record, cost):
    os.write(1, b"launched\\n")
    os.kill(os.getpid(), signal.SIGKILL)

run_study(Toy(nap=float(sys.argv[2])), sys.argv[1], workers=2, advance=die)
"""


def killed(code, *arguments):
    """Everything that a process which kills itself wrote, once nobody holds its standard output.

    Only then does the pipe end: a worker that lives on keeps it open, and the wait is cut short.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=30)
        return process.returncode, said
    finally:
        with suppress(ProcessLookupError):  # nobody is left
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()


@pytest.mark.parametrize(
    ("launched", "work"),
    [
        (1, STUDY),
        pytest.param(3, STUDY, marks=pytest.mark.slow),
        pytest.param(2, BOOTSTRAP, marks=pytest.mark.slow),
    ],
)
def test_killed_while_its_workers_start_it_leaves_none_alive(tmp_path, launched, work):
    """They wait for their first run for minutes, and nobody is there to give them one."""
    code, said = killed(KILLED_AT_LAUNCH + work, launched, tmp_path / "toy")
    assert code == -signal.SIGKILL
    assert b"launched" in said


@pytest.mark.slow
def test_killed_while_its_workers_work_it_leaves_none_alive(tmp_path):
    code, said = killed(KILLED_AT_WORK, tmp_path / "toy", 0.1)
    assert code == -signal.SIGKILL
    assert b"launched" in said


@pytest.mark.parametrize("told", [False, True])
def test_workers_say_once_with_their_parent_that_kernels_are_compiled(told, monkeypatch):
    monkeypatch.setattr(compiling, "told", told)
    assert first_of_all()["initargs"] == (os.getpid(), told)


class AllAtOnce(ThreadingBackend):
    """A backend that answers once all of its tasks are done, as joblib's Ray does."""

    supports_return_generator = False


def test_a_backend_that_answers_at_the_end_is_given_tasks_in_rounds(monkeypatch):
    joblib.register_parallel_backend("all-at-once", AllAtOnce)
    handed = []

    def tasks():
        for number in range(21):
            handed.append(number)
            yield joblib.delayed(abs)(-number)

    data = bs.load_network("asia").sample(200, seed=1)
    known = bs.bootstrap(data, 5, "hill-climb", "bic", workers=1)
    monkeypatch.setattr("bayescout.evaluate.resampling.WORTH_PROCESSES", 0.0)
    with joblib.parallel_config(backend="all-at-once", n_jobs=2):
        found = in_parallel(tasks(), None)
        assert next(found) == 0
        assert handed == list(range(8))
        assert list(found) == list(range(1, 21))
        assert bs.bootstrap(data, 5, "hill-climb", "bic", workers=2).table() == known.table()
