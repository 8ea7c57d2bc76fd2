"""What is compiled beforehand is not compiled again, and what is said of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import bayescout as bs
from bayescout import warming
from bayescout.kernels.jit import compiling
from bayescout.scores import SCORES
from bayescout.search import SEARCHES

CHECK = """
import bayescout as bs
from bayescout.kernels.jit import compiling

tables = {name: bs.load_network(name).sample(rows, seed=1) for name, rows in (("asia", 3000), ("alarm", 500))}
for name, table in tables.items():
    for score in ("bic", "bdeu"):
        for search in ("hill-climb", "tabu", "ges", "boss", "memetic", "optimal", "pc", "umda"):
            before = compiling.kernels
            bs.learn(table, search, score, bs.Knowledge(max_parents=2), max_time=5)
            assert compiling.kernels == before, (name, score, search)
"""


def called(*words, cache):
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_jobs_name_searches_and_scores_that_there_are():
    for job in warming.JOBS:
        assert job.score in SCORES
        assert set(job.searches) <= set(SEARCHES)


def test_each_job_is_told_and_leaves_nothing_to_do(monkeypatch):
    monkeypatch.setattr(warming, "JOBS", warming.JOBS[:1])
    told = compiling.told
    seen = []
    first = bs.warm_up(workers=1, callback=seen.append)
    assert seen == [warming.Done(warming.JOBS[0], 1, first)]
    assert compiling.told == told
    assert bs.warm_up(workers=1) == 0


def test_other_compiled_code_is_not_ours_to_count():
    import numba

    before, seconds, told = compiling.kernels, compiling.seconds, compiling.told
    assert numba.njit(lambda x: x + 1)(1) == 2
    assert (compiling.kernels, compiling.seconds, compiling.told) == (before, seconds, told)


@pytest.mark.slow
def test_after_warming_up_nothing_is_compiled(tmp_path):
    printed, said = called("-m", "bayescout", "warm-up", cache=tmp_path)
    assert printed.startswith("ready: ")
    assert "compiling for" in said.splitlines()[0]
    assert f"{len(warming.JOBS)} of {len(warming.JOBS)} ready" in said.splitlines()[-1]
    assert called("-c", CHECK, cache=tmp_path) == ("", "")
    assert called("-m", "bayescout", "warm-up", cache=tmp_path)[0] == (
        "nothing to do: everything was compiled before\n"
    )
    assert json.loads(called("-m", "bayescout", "warm-up", "--json", cache=tmp_path)[0])["kernels"] == 0
