"""Memetic search over orders: its kernels and lists by definition, the optimum, its promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.checks import generator
from bayescout.errors import SettingError
from bayescout.kernels.insertions import choose_all, climb_order, index_lists, undominated
from bayescout.search import HillClimb, Knowledge, Memetic
from bayescout.search.bitsets import members_of, words_of_sets
from bayescout.search.frame.problem import random_order
from bayescout.search.orders.memetic import crossed, perturbed
from bayescout.search.parent_sets import growing as listing
from bayescout.search.parent_sets.growing import GrowingLists
from tests.reference.orders import best_parents, best_total, shifts
from tests.search.drawn_problems import (
    OneParent,
    degenerate_tables,
    entangled,
    gaussian,
    knowledge_for,
    problem_of,
    problems,
)
from tests.search.test_searches import keeps, untimed
from tests.strategies import examples

QUICK = Memetic(population=4, patience=3)


def order_total(problem, order):
    """The best score of an order, trying every allowed parent set; None where a variable has none."""
    local, rules = problem.scorer.local, problem.rules
    found = [best_parents(local, rules, child, order[:place]) for place, child in enumerate(order)]
    return None if None in found else sum(found)


# ---- kernels


def drawn_lists(rng, n, sets):
    """Random lists of parent sets, the empty set last, by falling scores."""
    masks, scores, starts = [], [], [0]
    for child in range(n):
        others = [v for v in range(n) if v != child]
        own = {tuple(sorted(rng.choice(others, size=min(len(others), rng.integers(1, 4)), replace=False)))
               for _ in range(sets)} if others else set()  # fmt: skip
        own = [*sorted(own), ()]
        masks.append(words_of_sets(own, n))
        scores += np.sort(rng.integers(-50, 0, len(own)).astype(float))[::-1].tolist()
        starts.append(starts[-1] + len(own))
    masks, starts, scores = np.concatenate(masks), np.array(starts), np.array(scores)
    begins = np.empty(n * n + 1, dtype=np.int64)
    holders = np.empty(int(np.bitwise_count(masks).sum()), dtype=np.int64)
    index_lists(masks, starts, begins, holders)
    return masks, starts, scores, begins, holders


def total_of(lists, order):
    masks, starts, scores = lists[:3]
    total = 0.0
    for place, child in enumerate(order):
        rows = range(starts[child], starts[child + 1])
        total += scores[next(r for r in rows if set(members_of(masks[r])) <= set(order[:place]))]
    return total


@given(seed=st.integers(0, 10_000), n=st.sampled_from([1, 2, 5, 9, 70]), sets=st.integers(1, 30))
def test_the_index_lists_the_rows_that_hold_each_variable(seed, n, sets):
    masks, starts, _, begins, holders = drawn_lists(np.random.default_rng(seed), n, sets)
    for child, v in itertools.islice(itertools.product(range(n), range(n)), 200):
        rows = [r for r in range(starts[child], starts[child + 1]) if v in members_of(masks[r])]
        assert holders[begins[child * n + v] : begins[child * n + v + 1]].tolist() == rows


@given(
    seed=st.integers(0, 10_000),
    n=st.sampled_from([1, 2, 5, 8, 67]),
    sets=st.integers(1, 30),
    pieces=st.sampled_from([1, 3, 10**9]),
)
def test_climbing_ends_where_no_insertion_helps_and_says_what_it_chose(seed, n, sets, pieces):
    rng = np.random.default_rng(seed)
    lists = drawn_lists(rng, n, sets)
    order, chosen, again = rng.permutation(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    before = total_of(lists, order.tolist())
    turns, progress = rng.permutation(n), np.zeros(2, dtype=np.int64)
    choose_all(lists[:3], order, chosen)
    while not climb_order(lists, turns, 1e-6, pieces, order, chosen, progress):
        pass
    choose_all(lists[:3], order, again)
    assert chosen.tolist() == again.tolist()
    found = total_of(lists, order.tolist())
    assert found == lists[2][chosen].sum() >= before
    for variable in range(min(n, 8)):
        rest = [v for v in order.tolist() if v != variable]
        places = range(n) if n < 10 else range(0, n, 13)
        assert all(total_of(lists, [*rest[:p], variable, *rest[p:]]) <= found for p in places)


@given(seed=st.integers(0, 1000), n=st.sampled_from([4, 66]))
def test_sets_beaten_by_a_subset_are_found(seed, n):
    rng = np.random.default_rng(seed)
    sets = [tuple(sorted(rng.choice(n, size=rng.integers(0, 4), replace=False))) for _ in range(25)]
    keep = np.empty(25, dtype=bool)
    undominated(words_of_sets(sets, n), keep)
    expected = [not any(set(sets[j]) <= set(own) for j in range(i)) for i, own in enumerate(sets)]
    assert keep.tolist() == expected


# ---- lists


@settings(max_examples=examples(40))
@given(problem=problems(), seed=st.integers(0, 1000))
def test_complete_lists_give_every_order_its_best_network(problem, seed):
    lists = GrowingLists(problem)
    assert lists.complete
    order = random_order(problem.rules, generator(seed))
    chosen = np.empty(problem.n, dtype=np.int64)
    choose_all(lists.lists.arrays, np.array(order), chosen)
    graph, score = lists.lists.network(chosen)
    expected = order_total(problem, order)
    assert score == pytest.approx(expected, abs=1e-6) or score == expected
    assert problem.rules.broken_by(graph) is None


@settings(max_examples=25)
@given(problem=problems())
def test_lists_grown_to_their_end_find_what_single_steps_can_find(problem):
    """Growing goes on until nothing is left to expand; what is listed is right, sorted and not beaten."""
    rules = problem.rules
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listing, "LISTED_WORK", 0)
        lists = GrowingLists(problem)
    while not lists.complete and lists.grow([]):
        pass
    masks, starts, scores = lists.lists.arrays
    for child, (begin, end) in enumerate(itertools.pairwise(starts.tolist())):
        own = [members_of(mask) for mask in masks[begin:end]]
        assert scores[begin:end].tolist() == [problem.scorer.local(child, s) for s in own]
        assert (np.diff(scores[begin:end]) <= 0).all()
        assert not any(set(a) <= set(b) for a, b in itertools.combinations(own, 2))
        assert all(
            rules.allowed[list(s), child].all()
            and set(rules.required_parents[child]) <= set(s)
            and len(s) <= max(rules.max_parents[child], len(rules.required_parents[child]))
            for s in own
        )
        best = best_parents(problem.scorer.local, rules, child, [v for v in range(rules.n) if v != child])
        assert scores[begin] <= best + 1e-9 or best == -np.inf


# ---- the optimum


@pytest.mark.parametrize("work", [listing.LISTED_WORK, 0], ids=["complete", "grown"])
def test_never_above_the_optimum_and_mostly_at_it(work, monkeypatch):
    monkeypatch.setattr(listing, "LISTED_WORK", work)
    at_optimum = []
    for seed in range(24):
        if seed % 2:
            table, score = gaussian(6, rows=150, seed=seed), "bic"
        else:
            net = bs.random_network(6, arcs=10, states=2, concentration=0.5, seed=seed)
            table, score = net.sample(200, seed=seed), ("bdeu", "bic")[seed % 4 // 2]
        problem = problem_of(table, score, Knowledge(max_parents=4))
        best = best_total(problem.scorer.local, problem.rules)
        found = bs.learn(table, QUICK, score, Knowledge(max_parents=4))
        assert found.trace[-1].facts["complete"] == (work > 0)
        assert found.score <= best + 1e-6
        at_optimum.append(found.score > best - 1e-6)
    assert sum(at_optimum) >= (24 if work else 22)


def test_every_member_is_where_no_insertion_helps():
    problem = problem_of(bs.random_network(6, arcs=9, states=2, seed=1).sample(100, seed=1), "bdeu")
    rng = generator(1)
    state = QUICK.start(problem, rng)
    while not state.done:
        state = QUICK.advance(problem, state, rng)
        for order, graph, score in zip(state.orders, state.graphs, state.scores, strict=True):
            assert problem.total(graph) == pytest.approx(score, abs=1e-6)
            assert order_total(problem, order) == pytest.approx(score, abs=1e-6)
            others = (shifts(problem.rules, order, variable) for variable in range(6))
            assert all(order_total(problem, o) <= score + 1e-6 for o in itertools.chain(*others))
    assert state.score == max(state.scores)


def test_orders_are_crossed_and_perturbed():
    rng = np.random.default_rng(1)
    one, two = tuple(range(40)), tuple(reversed(range(40)))
    for _ in range(50):
        child = crossed(one, two, rng)
        assert sorted(child) == list(one)
        stayed = [v for place, v in enumerate(child) if v == one[place]]
        moved = [v for place, v in enumerate(child) if v != one[place]]
        assert 5 < len(stayed) < 35
        assert moved == sorted(moved, reverse=True)
        changed = perturbed(one, 3, rng)
        assert sorted(changed) == list(one)
        assert sum(a != b for a, b in zip(one, changed, strict=True)) <= 6
    assert {sum(a != b for a, b in zip(one, perturbed(one, 3, rng), strict=True)) for _ in range(200)} > {
        2,
        6,
    }


def test_better_than_hill_climbing_where_that_is_caught():
    table = bs.load_network("insurance").sample(500, seed=1)
    found = bs.learn(table, QUICK, score="bic")
    assert found.score > bs.learn(table, HillClimb(restarts=5), score="bic").score


# ---- promises


@settings(max_examples=20)
@given(data=st.data())
def test_graphs_keep_the_knowledge_with_complete_and_with_grown_lists(data):
    rows, seed = data.draw(st.sampled_from([20, 300])), data.draw(st.integers(0, 5))
    table = data.draw(st.sampled_from([entangled, gaussian]))(6, rows, seed)
    knowledge = data.draw(knowledge_for(table.names))
    start = data.draw(st.sampled_from(["empty", "random"]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listing, "LISTED_WORK", data.draw(st.sampled_from([0, listing.LISTED_WORK])))
        result = bs.learn(table, QUICK, "aic", knowledge, start=start, seed=1, top=5)
    for dag in [result.dag, *(entry.dag for entry in result.top)]:
        assert keeps(dag, knowledge)
    assert result.score == pytest.approx(bs.score(result.dag, table, "aic"), abs=1e-6)


@pytest.mark.parametrize("work", [listing.LISTED_WORK, 0], ids=["complete", "grown"])
def test_a_resumed_run_is_the_run_that_was_never_stopped(work, tmp_path, monkeypatch):
    monkeypatch.setattr(listing, "LISTED_WORK", work)
    monkeypatch.setattr(listing, "GROWTH_WORK", 8 * 10_000 * 2)  # two sets at a time
    table = bs.random_network(8, arcs=16, states=2, concentration=0.5, seed=10).sample(150, seed=1)
    options = {"score": "aic", "top": 3, "knowledge": Knowledge(forbidden=[("X1", "X2")]), "seed": 2}
    whole = bs.learn(table, QUICK, **options)
    assert len(whole.trace) >= 5
    for stop in range(len(whole.trace)):
        path = tmp_path / f"{stop}.json"
        bs.learn(table, QUICK, **options, max_steps=stop, checkpoint=path)
        assert untimed(bs.learn(table, QUICK, **options, checkpoint=path)) == untimed(whole)


def test_columns_rows_and_workers_do_not_matter(monkeypatch):
    monkeypatch.setattr(listing, "LISTED_WORK", 0)
    for kind in ("discrete", "gaussian"):
        table = bs.random_network(10, arcs=20, kind=kind, seed=4).sample(300, seed=1)
        expected = bs.learn(table, QUICK, seed=1, workers=1, score="bic")
        rng = np.random.default_rng(0)
        columns = [table.names[i] for i in rng.permutation(table.n_columns)]
        shuffled = table.take(rng.permutation(table.n_rows)).select(columns)
        found = bs.learn(shuffled, QUICK, seed=1, workers=3, score="bic")
        assert set(found.dag.arcs()) == set(expected.dag.arcs())
        assert (found.score, found.counters) == (expected.score, expected.counters)


def test_a_start_graph_is_never_lost():
    table = entangled(6, seed=4)
    best = bs.learn(table, Memetic(), score="bic").dag
    again = bs.learn(table, QUICK, start=best, score="bic")
    assert again.score >= again.trace[0].score == pytest.approx(bs.score(best, table), abs=1e-6)


@pytest.mark.filterwarnings("ignore:columns that are linear functions of others")
def test_degenerate_tables():
    for table in degenerate_tables():
        result = bs.learn(table, QUICK, score="bic")
        assert np.isfinite(result.score)
        assert result.score >= bs.score(bs.Dag.empty(table.names), table) - 1e-6


def test_families_that_cannot_be_scored_are_never_entered():
    result = bs.learn(entangled(4), QUICK, OneParent())
    assert (result.dag.n_arcs, max(map(len, result.dag.parents))) == (3, 1)


def test_a_required_family_that_cannot_be_scored_leaves_the_rest_searched():
    class Own:
        def local(self, child, parents):
            return -np.inf if child == 0 else float(len(parents) == 1)

    table = entangled(4)
    result = bs.learn(table, QUICK, Own(), Knowledge(required=[("v1", "v0")]))
    assert result.score == -np.inf
    assert ("v1", "v0") in set(result.dag.arcs())


def test_settings_are_checked():
    for name in ("population", "patience", "perturb"):
        for wrong in (0, 1.5, True, "2"):
            with pytest.raises(SettingError, match=name):
                Memetic(**{name: wrong})


@pytest.mark.parametrize("score", ["bge", "bic"])
def test_many_variables_under_a_score_without_a_bound_are_no_trouble(score):
    """All their parent sets could never be enumerated: the lists hold those up to a size, and grow."""
    table = bs.random_network(40, arcs=60, kind="gaussian", seed=1).sample(300, seed=1)
    result = bs.learn(table, Memetic(population=3, patience=1), score)
    assert result.trace[-1].facts["complete"] == 0
    assert result.score > bs.learn(table, "hill-climb", score, max_steps=20).score
