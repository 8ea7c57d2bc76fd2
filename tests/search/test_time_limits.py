"""Every search ends in time, on every kind of table.

What is measured is the work after the last look at the clock that was in time. It is counted in processor
time of one thread, which other programs on the machine do not lengthen: a run that is in time by the clock is
in time by this count, and one that works on for long after its time is not, however the machine is loaded.
What the process held before is out of the garbage collector's sight while a run is measured: thousands of
tests leave half a million objects, and one look through them takes half a second.
"""

from __future__ import annotations

import gc
import time
import warnings
from contextlib import contextmanager
from threading import Event

import numpy as np
import pytest

import bayescout as bs
from bayescout.scores.threads import AHEAD, worked
from bayescout.search import SEARCHES
from bayescout.search.frame import watch
from bayescout.search.parent_sets import pieces
from tests.search.test_searches import order_if_needed


class Looks:
    """In place of `Watch.check`: notes processor time at each look, less that of compiling."""

    def __init__(self, monkeypatch):
        self.last, self.longest, self.in_time = self.now(), 0.0, self.now()
        check = watch.Watch.check

        def noted(own):
            self.look()
            if own.seconds < own._limit:
                self.in_time = self.last
            check(own)

        monkeypatch.setattr(watch.Watch, "check", noted)

    @staticmethod
    def now():
        return time.thread_time() - watch.compiling_seconds()

    def look(self):
        now = self.now()
        self.longest, self.last = max(self.longest, now - self.last), now


@contextmanager
def only_new_objects_collected():
    """A block in which the garbage collector looks only at objects made in it."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def late_by(monkeypatch, table, search, score, max_time):
    """Seconds of work after the last look that was in time, and the longest between two looks."""
    with warnings.catch_warnings(), monkeypatch.context() as patch:
        warnings.simplefilter("ignore")
        small = table.select([*table.names[:4], *table.names[-4:]]).take(range(300))
        knowledge = order_if_needed(search, small)
        bs.learn(small, search, score, knowledge, workers=1, max_time=1.0)  # what it compiles and loads
        knowledge = order_if_needed(search, table)
        if search == "optimal" and not table.is_discrete:  # refused where no bound stops the enumeration
            knowledge = bs.Knowledge(max_parents=1)
        with only_new_objects_collected():
            looks = Looks(patch)
            found = bs.learn(table, search, score, knowledge, workers=1, max_time=max_time)
            looks.look()
    assert found.stop_reason in ("max_time", "converged")
    return looks.last - looks.in_time if found.stop_reason == "max_time" else 0.0, looks.longest


def many_states(variables, states, rows, seed=1):
    """Noisy functions of one or two columns before them, with many states each."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(states, size=(variables, rows))
    for child in range(1, variables):
        parents = rng.choice(child, size=min(child, 2), replace=False)
        kept = rng.random(rows) < 0.7
        codes[child, kept] = codes[parents].sum(axis=0)[kept] % states
    labels = tuple(map(str, range(states)))
    names = tuple(f"v{i}" for i in range(variables))
    return bs.Table(names, (labels,) * variables, codes.astype(np.uint8), np.empty((0, rows)))


def numbers(variables, rows, seed=1):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(variables, rows))
    for child in range(1, variables):
        values[child] += values[rng.choice(child, size=min(child, 2), replace=False)].sum(axis=0)
        values[child] /= values[child].std()
    return bs.as_table({f"x{i}": column for i, column in enumerate(values)})


def both_kinds(variables, rows):
    discrete, continuous = many_states(variables // 2, 4, rows), numbers(variables - variables // 2, rows)
    columns = {name: discrete.array(name).astype(str) for name in discrete.names}
    shift = discrete.codes[0] / 2.0
    return bs.as_table(columns | {name: continuous.array(name) + shift for name in continuous.names})


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_ends_in_time_on_many_states(search, monkeypatch):
    """A set of parents has tables of 10,000 cells and more, on as few rows as that."""
    late, longest = late_by(monkeypatch, many_states(25, 22, 4000), search, "bdeu", 0.15)
    assert late <= 0.1 * 0.15 + 0.3
    assert longest <= 0.3


WIDE = {
    "mildew": (lambda: bs.load_network("mildew").sample(10_000, seed=1), "bdeu"),
    "barley": (lambda: bs.load_network("barley").sample(10_000, seed=1), "bic"),
    "link": (lambda: bs.load_network("link").sample(5_000, seed=1), "bdeu"),
    "long": (lambda: many_states(20, 3, 1_000_000), "bdeu"),
    "gaussian": (lambda: numbers(1_000, 1_000), "bic"),
    "bge": (lambda: numbers(300, 1_000), "bge"),
    "mixed": (lambda: both_kinds(60, 10_000), "cg-bic"),
    "degenerate": (lambda: both_kinds(60, 10_000), "dg-bic"),
}
MAX_TIME = 2.0


@pytest.fixture(scope="module")
def wide_table():
    made = {}
    return lambda name: made.setdefault(name, WIDE[name][0]())


TESTING = ("pc", "cpc", "imap", "imap-pruned")
"""Searches that refuse bge, whose correlations are a prior's too."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "search"),
    [(name, search) for name in WIDE for search in SEARCHES if name != "bge" or search not in TESTING],
)
def test_a_search_ends_in_time_on_large_tables(name, search, wide_table, monkeypatch):
    late, _ = late_by(monkeypatch, wide_table(name), search, WIDE[name][1], MAX_TIME)
    assert late <= 0.1 * MAX_TIME + 0.3


@pytest.mark.slow
@pytest.mark.parametrize("search", ["memetic", "optimal"])
@pytest.mark.parametrize("max_time", [5.0, 8.0])
def test_lists_of_large_parent_sets_end_in_time(search, max_time, wide_table, monkeypatch):
    """After some seconds the sets of three parents are scored, with tables of up to a million cells."""
    late, longest = late_by(monkeypatch, wide_table("mildew"), search, "bdeu", max_time)
    assert late <= 0.1 * max_time + 0.3
    assert longest <= 0.4


# ---- pieces of work


def test_pieces_are_of_bounded_work_and_hold_every_set_once(monkeypatch):
    rng = np.random.default_rng(1)
    for most in (1, 7, 10_000):
        monkeypatch.setattr(pieces, "PIECE_WORK", most)
        work = rng.integers(1, 20, size=500).astype(float)
        found = pieces.pieces_of(work, begin=3)
        places = [place for part in found for place in range(part.start, part.stop)]
        assert places == list(range(3, 503))
        for part in found:
            own = work[part.start - 3 : part.stop - 3]
            assert len(own) == 1 or own[:-1].sum() <= most + 20
            assert len(own) <= pieces.MOST_SETS
    assert pieces.pieces_of(np.empty(0)) == []


def test_a_set_with_many_cells_is_more_work_than_its_rows():
    table = many_states(6, 20, 1000)
    kernel = bs.scores.bind("bdeu", table, 1).kernel
    few, dense, sparse = pieces.work_of_sets(kernel, np.array([400.0, 4000.0, 8e6]), 20)
    assert 1000 < few < dense < sparse
    by_bic = pieces.work_of_sets(bs.scores.bind("bic", table, 1).kernel, np.array([4000.0]), 20)
    assert by_bic[0] < dense


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_no_item_is_begun_after_an_end_and_none_runs_on(workers):
    begun, ended, looks = [], [], [0]

    def work(item):
        begun.append(item)
        time.sleep(0.001)
        ended.append(item)
        return 10 * item

    def look():
        looks[0] += 1
        if looks[0] == 5:
            raise watch.StepAbandoned

    assert worked(work, range(20), workers, lambda: None) == [10 * item for item in range(20)]
    begun.clear(), ended.clear()
    with pytest.raises(watch.StepAbandoned):
        worked(work, range(100), workers, look)
    assert len(begun) <= 5 + (AHEAD + 1) * workers
    assert sorted(begun) == sorted(ended)
    time.sleep(0.01)
    assert sorted(begun) == sorted(ended)


def test_work_of_a_look_does_not_queue_behind_all_the_rest():
    """A climb that is made when a tenth of the time is over uses the same threads."""
    gate, done, met = Event(), [], []

    def work(item):
        if item >= 4 * AHEAD:
            gate.wait(10)
        done.append(item)

    def look():
        met.append(len(done))
        if len(met) == 2:
            worked(lambda item: None, range(3), 2, lambda: None)
            assert len(done) <= 4 * AHEAD
            gate.set()

    worked(work, range(50), 2, look)
    assert sorted(done) == list(range(50))
