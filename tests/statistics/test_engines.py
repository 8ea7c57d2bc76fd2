"""A third engine, written without touching scores or searches: it counts from a list of chunks of rows."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import bayescout as bs
from bayescout.errors import SettingError, UnknownNameError
from bayescout.scores import SCORES, bind
from bayescout.search import SEARCHES
from bayescout.statistics import discrete, engines
from bayescout.statistics.counts import Counts
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engines import ENGINES, engine_of, in_memory
from tests.search.drawn_problems import entangled, gaussian
from tests.search.test_session import search_of


class ChunkedCounts(DiscreteStatistics):
    """Counts summed over chunks of rows, by the configurations that occur in each."""

    def __init__(self, table, kind, prior=None):
        assert (kind, prior) == ("discrete", None)
        self.chunks = [
            (
                table.codes[:, begin : begin + 37],
                None if table.weights is None else table.weights[begin : begin + 37],
            )
            for begin in range(0, table.n_rows, 37)
        ]
        self.counted = 0
        weights = table.weights
        whole = weights is None or bool((weights == np.floor(weights)).all())
        super().__init__(table.names, table.cardinalities, table.total_weight, table.n_rows, whole)

    def count(self, child, parents):
        self.counted += 1
        found = {}
        for codes, weights in self.chunks:
            for i, row in enumerate(codes.T.tolist()):
                key = tuple(row[v] for v in parents)
                cells = found.setdefault(key, [0] * self.cards[child])
                cells[row[child]] += 1 if weights is None else weights[i]
        if self.is_dense(child, parents):
            shape = [self.cards[v] for v in parents]
            rows = [found.get(key, [0] * self.cards[child]) for key in np.ndindex(*shape)]
        elif len(found) * self.cards[child] > self.most_cells:
            raise self.too_large(child, parents, len(found))
        else:
            rows = list(found.values())
        return np.array(rows, dtype=np.int64 if self.whole else np.float64)


DISCRETE = [name for name in SCORES if name != "bge" and not name.startswith("dg-")]


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("weights", [None, "whole"])
def test_every_score_is_the_same_to_the_bit_from_chunks(name, weights):
    table = entangled(5, 130, 2, states=3)
    if weights:
        table = bs.Table(table.names, table.states, table.codes, table.values, np.arange(1.0, 131.0) % 4 + 1)
    mine, theirs = bind(name, table, engine=ChunkedCounts), bind(name, table)
    families = [(0, ()), (1, (0,)), (2, (0, 1)), (3, (0, 1, 2)), (4, (0, 1, 2, 3))]
    assert mine.many(families).tolist() == theirs.many(families).tolist()
    candidates = np.array([2, 3, 4])
    assert mine.extensions(0, (1,), candidates).tolist() == theirs.extensions(0, (1,), candidates).tolist()
    assert mine.statistics.counted > 0
    assert mine.kernel is None


def test_an_engine_that_makes_other_statistics_than_asked_for_is_refused():
    """An engine that looks at no kind would else give the discrete score under the name of another."""

    def careless(table, kind, prior=None):
        return ChunkedCounts(table, "discrete", prior)

    table = entangled(4, 60, 1)
    assert bind("bic", table, engine=careless).local(0, (1,)) == bind("bic", table).local(0, (1,))
    with pytest.raises(SettingError, match=r"made discrete statistics, and DgBic needs degenerate"):
        bind("dg-bic", table, engine=careless)


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_gives_the_same_answer_from_chunks(name):
    table = entangled(5, 120, 3, states=2, noise=0.3)
    knowledge = bs.Knowledge(max_parents=3, order=table.names if name == "k2" else None)
    for score in ("bdeu",) if name == "memetic" else ("bic", "bdeu"):
        whole = bs.learn(table, search_of(name), score, knowledge, seed=2, max_steps=8)
        chunks = bs.learn(table, search_of(name), score, knowledge, seed=2, max_steps=8, engine=ChunkedCounts)
        assert (chunks.dag, chunks.score, chunks.bound) == (whole.dag, whole.score, whole.bound)
        if name not in ("optimal", "memetic"):  # compiled code enumerates parent sets in other steps
            assert [s._replace(seconds=0) for s in chunks.trace] == [
                s._replace(seconds=0) for s in whole.trace
            ]
        session = bs.Session(
            table, search_of(name), score, knowledge, seed=2, max_steps=8, engine=ChunkedCounts
        )
        assert session.run().dag == whole.dag


def test_configurations_that_do_not_occur_may_be_left_out(monkeypatch):
    monkeypatch.setattr(discrete, "DENSE_FLOOR", 4)
    monkeypatch.setattr(discrete, "DENSE_CELLS_PER_ROW", 0)
    table = entangled(5, 60, 2, states=3)
    for name in DISCRETE:
        families = [(0, ()), (3, (0, 1, 2)), (4, (0, 1, 2, 3))]
        mine, theirs = bind(name, table, engine=ChunkedCounts), bind(name, table)
        assert mine.many(families).tolist() == theirs.many(families).tolist()


def test_engines_by_name_and_what_is_refused():
    table = entangled(4, 60)
    assert engine_of(None) is in_memory is ENGINES["memory"]
    assert (
        bs.learn(table, engine="memory", search="hill-climb", score="bic").dag
        == bs.learn(table, search="hill-climb", score="bic").dag
    )
    with pytest.raises(UnknownNameError, match="memory"):
        bs.learn(table, engine="memroy", search="hill-climb", score="bic")
    with pytest.raises(UnknownNameError, match="known: memory, gpu"):
        bs.learn(table, engine="cluster", search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="engine='gpu' sorts out pairs for searches on screened pairs"):
        engine_of("gpu")
    with pytest.raises(SettingError, match="an engine is a name"):
        bs.learn(table, engine=3, search="hill-climb", score="bic")
    with pytest.raises(bs.BayescoutError, match="continuous"):
        bs.learn(gaussian(4), score="bdeu", engine=ChunkedCounts, search="hill-climb")


def test_counts_of_small_tables_are_made_once_and_kept_as_long_as_the_table(monkeypatch):
    table = entangled(4, 200, 3)
    counts = in_memory(table, "discrete")
    assert in_memory(table, "discrete") is counts
    assert in_memory(table.take(np.arange(200)), "discrete") is not counts
    made = weakref.ref(counts)
    del counts, table
    gc.collect()
    assert made() is None
    monkeypatch.setattr(engines, "KEPT_CELLS", 799)
    table = entangled(4, 200, 3)
    assert in_memory(table, "discrete") is not in_memory(table, "discrete")


class FarCounts(DiscreteStatistics):
    """Counts as of rows that are elsewhere: each call takes a round trip."""

    far = True

    def __init__(self, table, kind, prior=None):
        self.inner = Counts(table)
        self.round_trips = 0
        super().__init__(table.names, table.cardinalities, table.total_weight, table.n_rows)

    def count(self, child, parents):
        return self.many([(child, parents)]).table(0)

    def many(self, families):
        self.round_trips += 1
        return self.inner.many(families)


@pytest.mark.parametrize("search", ["hill-climb", "tabu", "ges", "first-ascent"])
def test_a_step_over_rows_that_are_far_takes_one_round_trip(search):
    table = bs.load_network("insurance").sample(300, seed=2)
    made = []

    def engine(*given):
        made.append(FarCounts(*given))
        return made[0]

    there = bs.learn(table, search, "bdeu", engine=engine, max_steps=40)
    here = bs.learn(table, search, "bdeu", max_steps=40)
    assert (there.dag, there.score) == (here.dag, here.score)
    assert there.counters.evaluations == here.counters.evaluations
    assert there.counters.iterations >= 20
    assert made[0].round_trips <= there.counters.iterations + 3


def test_far_families_that_are_too_large_are_left_out_as_they_are_near(monkeypatch):
    monkeypatch.setattr(discrete, "DENSE_CEILING", 60)
    monkeypatch.setattr(discrete, "DENSE_FLOOR", 60)
    table = bs.load_network("asia").sample(200, seed=2)
    rng = np.random.default_rng(0)
    wide = bs.Table(
        (*table.names, "wide"),
        (*table.states, tuple(range(50))),
        np.concatenate([table.codes, rng.integers(0, 50, (1, 200)).astype(np.uint8)]),
        np.empty((0, 200)),
    )
    with pytest.warns(UserWarning, match="left out"):
        here = bs.learn(wide, "hill-climb", "aic")
    with pytest.warns(UserWarning, match="left out"):
        there = bs.learn(wide, "hill-climb", "aic", engine=FarCounts)
    assert (there.dag, there.score) == (here.dag, here.score)
