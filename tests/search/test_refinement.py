"""BDeu's larger parent sets depth first: the bound holds for every superset, and nothing is lost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescout.kernels.refining import _begin, _ceiling, _score
from bayescout.scores import BDeu, bind
from bayescout.search import Knowledge, candidates, refinement
from bayescout.search.candidates import candidate_sets
from bayescout.search.refinement import _suffix_classes, _xlogx, refines
from tests.scores.drawn_data import table_of
from tests.search.drawn_problems import entangled, knowledge_for
from tests.search.test_candidates import every_set, listed, problem_of, undominated


def drawn(seed, n=6):
    """Skewed, deterministic, copied, shattering, constant and independent columns, few or many rows."""
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([2, 5, 12, 30, 80, 300]))
    cards = rng.integers(1, 5, n)
    columns = []
    for i, states in enumerate(cards.tolist()):
        kind = rng.integers(0, 5)
        if kind == 0 or i == 0:
            column = rng.integers(0, states, rows)
        elif kind == 1:
            column = (rng.random(rows) < rng.choice([0.02, 0.2])).astype(int) * (states - 1)
        elif kind == 2:
            column = columns[int(rng.integers(i))] % states
        elif kind == 3:
            column = (columns[int(rng.integers(i))] + columns[int(rng.integers(i))]) % states
        else:
            noise = rng.random(rows) < rng.choice([0.05, 0.3])
            column = np.where(noise, rng.integers(0, states, rows), columns[int(rng.integers(i))] % states)
        columns.append(column)
    return table_of(columns, cards.tolist())


def grouped(data, members):
    """The rows grouped by some variables, as the kernels hold them."""
    codes, cards = data[0], data[3][0]
    n = codes.shape[1]
    rows, starts = np.empty((1, n), dtype=np.int32), np.empty((1, n // 2 + 2), dtype=np.int32)
    sizes, configurations = np.zeros((1, 3), dtype=np.int64), np.ones(1)
    _begin(codes, cards, np.array(members, dtype=np.int64), rows, starts, sizes, configurations)
    return (rows[0], starts[0], sizes[0]), configurations[0]


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_the_bound_holds_for_every_superset(first):
    """Of every set and everything that may still be added to it, by trying all."""
    tight = 0
    for seed in range(first, first + 40):
        table = drawn(seed, n=5)
        bound = bind(BDeu(ess=[0.1, 1.0, 10.0, 200.0][seed % 4]), table)
        data, child = bound.for_kernel(), seed % 5
        if not refines(data, 5):  # equal rows were merged, and have weights
            continue
        xlogx = _xlogx(data[0].shape[1])
        others = [v for v in range(5) if v != child]
        scores = {own: bound.local(child, own) for k in range(5) for own in itertools.combinations(others, k)}
        for own, known in scores.items():
            groups, configurations = grouped(data, own)
            score, _ = _score(data, child, groups, configurations)
            assert score == known
            free = [v for v in others if v not in own]
            for size in range(1, len(free) + 1):
                for rest in itertools.combinations(free, size):
                    order = np.array(rest, dtype=np.int64)
                    classes = _suffix_classes(data[0], data[3][0], order)[0]
                    fewest = configurations * int(data[3][0][order].min())
                    counts = np.zeros(data[0].shape[1] * int(data[3][0][child]), dtype=np.int64)
                    top = _ceiling(data, child, groups, fewest, classes, xlogx, counts)
                    within = [s for some, s in scores.items() if set(own) < set(some) <= {*own, *rest}]
                    assert top >= max(within) - 1e-7
                    assert not counts.any()
                    tight += top < max(within) + 3
    assert tight > 100


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_depth_first_finds_exactly_the_undominated_sets(data, monkeypatch):
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    monkeypatch.setattr(candidates, "BEGIN_SIZE", data.draw(st.sampled_from([1, 2, 3])))
    monkeypatch.setattr(refinement, "SIZES", data.draw(st.sampled_from([1, 2, 5])))
    monkeypatch.setattr(refinement, "TOGETHER", data.draw(st.sampled_from([1, 3, 16])))
    monkeypatch.setattr(refinement, "ROOM", data.draw(st.sampled_from([1, 1000])))
    table = drawn(data.draw(st.integers(0, 100_000)))
    knowledge = data.draw(st.one_of(st.just(Knowledge()), knowledge_for(table.names)))
    problem = problem_of(table, BDeu(ess=data.draw(st.sampled_from([0.3, 1.0, 12.0]))), knowledge)
    found = candidate_sets(problem)
    for child in range(problem.n):
        own, expected = listed(found, child), undominated(every_set(problem, child))
        assert own.items() <= expected.items()
        for parents in expected.keys() - own.keys():  # better than a subset by rounding alone
            assert any(
                set(some) < set(parents) and score >= expected[parents] - 1e-9 for some, score in own.items()
            )
        assert (np.diff(found.scores[child]) <= 0).all()


def test_ties_workers_and_counters(monkeypatch):
    """The same lists in the same order as all subsets at once give, for any number of threads."""
    table = entangled(8, rows=40, seed=3, states=2, noise=0.3)
    whole = candidate_sets(problem_of(table, "bdeu"))
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    monkeypatch.setattr(candidates, "BEGIN_SIZE", 1)
    for workers in (1, 3):
        problem = problem_of(table, "bdeu", workers=workers)
        found = candidate_sets(problem)
        for child in range(8):
            assert (found.masks[child] == whole.masks[child]).all()
            assert (found.scores[child] == whole.scores[child]).all()
        assert 8 * 8 < found.scored < 8 * 2**7
        assert problem.score.asked == found.scored + 8


def test_only_bdeu_on_plain_rows_and_one_word_of_variables():
    columns = np.random.default_rng(0).integers(0, 2, (3, 20))
    plain, weighted = table_of(columns, [2] * 3), table_of(columns, [2] * 3, weights=np.arange(20.0))
    assert refines(bind("bdeu", plain).for_kernel(), 3)
    assert not refines(bind("bdeu", plain).for_kernel(), 65)
    assert not refines(bind("bdeu", weighted).for_kernel(), 3)
    assert not refines(bind("k2", plain).for_kernel(), 3)
    assert not refines(bind("bic", plain).for_kernel(), 3)
    assert not refines(None, 3)
