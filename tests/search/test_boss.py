"""Best order score search: its trees against growing anew, its moves by definition, its promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.checks import generator
from bayescout.errors import SettingError
from bayescout.scores import bind
from bayescout.search import Boss, HillClimb, Knowledge
from bayescout.search.frame.problem import random_order
from bayescout.search.orders import trees
from bayescout.search.orders.boss import MOVING, order_near, reach
from bayescout.search.orders.trees import Trees
from tests.reference.orders import best_total, network_of, shifts
from tests.search.drawn_problems import (
    OneParent,
    degenerate_tables,
    entangled,
    gaussian,
    knowledge_for,
    problem_of,
    problems,
)
from tests.search.test_ges import missed
from tests.search.test_searches import keeps, untimed
from tests.strategies import examples

PROBLEMS = problems(rows=(3, 6, 40, 300), continuous=("bic", "aic", "bge"))


# ---- trees


@given(problem=PROBLEMS, seed=st.integers(0, 1000))
def test_trees_answer_what_growing_and_shrinking_anew_does(problem, seed):
    """Several orders in turn, so that what is remembered is walked again."""
    remembered, rng = Trees(problem), generator(seed)
    for _ in range(4):
        order = random_order(problem.rules, rng)
        parents, local = remembered.network(order)
        expected, score = network_of(problem.scorer.local, problem.rules, order)
        assert parents == expected
        assert local.sum() == pytest.approx(score, abs=1e-6)


@given(problem=PROBLEMS, seed=st.integers(0, 1000), data=st.data())
def test_every_place_has_the_score_of_the_order_laid_out_anew(problem, seed, data):
    order = list(random_order(problem.rules, generator(seed)))
    grown = Trees(problem)
    _, local = grown.network(order)
    place = data.draw(st.integers(0, problem.n - 1))
    lowest, highest = reach(problem.rules, order, place)
    here = float(local.sum())
    best, gains, _ = grown.places(np.array(order), np.array((place, lowest, highest)), local, here)
    found = gains[lowest : highest + 1]
    expected = np.array(
        [
            network_of(problem.scorer.local, problem.rules, other)[1]
            for other in shifts(problem.rules, order, order[place])
        ]
    )
    scored = expected > -np.inf
    assert ((found > -np.inf) == scored).all()
    # Without a score here, gains are those over one number, the same in all places.
    base = here if here > -np.inf else float((expected[scored] - found[scored])[:1].sum())
    assert found[scored] == pytest.approx(expected[scored] - base, abs=1e-6)
    assert (gains[:lowest] == -np.inf).all()
    assert (gains[highest + 1 :] == -np.inf).all()
    better = scored.any() if here == -np.inf else (found > 1e-6).any()
    assert best == (np.argmax(gains) if better else -1)


def test_what_trees_answer_and_count_does_not_depend_on_what_they_remember(monkeypatch):
    for table in (entangled(6, seed=3, states=3), gaussian(6, seed=3)):
        expected = bs.learn(table, Boss(restarts=2), seed=1, score="bic")
        with monkeypatch.context() as patched:
            patched.setattr(trees, "TREE_BYTES", 0)
            found = bs.learn(table, Boss(restarts=2), seed=1, score="bic")
        assert untimed(found) == untimed(expected)


def test_batches_of_regressions_are_the_single_ones():
    table = gaussian(6, seed=2)
    bound = bind("bic", table)
    families = [(0, ()), (3, (1, 5)), (2, (0, 1, 3, 4, 5)), (5, (0,))]
    values = bound.formula.evaluate(bound.statistics.all_extensions(families)).reshape(4, 6)
    for row, (child, parents) in zip(values, families, strict=True):
        others = [v for v in range(6) if v != child and v not in parents]
        assert row[others].tolist() == bound.extensions(child, parents, np.array(others, dtype=int)).tolist()


# ---- moves


@settings(max_examples=examples(40))
@given(problem=PROBLEMS, seed=st.integers(0, 100))
def test_each_variable_in_turn_goes_to_its_best_place_until_none_has_a_better_one(problem, seed):
    """The whole run of moves, by definition: every place of every variable laid out anew."""
    search, rng = Boss(), generator(seed)
    state = search.advance(problem, search.start(problem, rng), rng)
    order, still, turn = list(state.order), 0, 0
    local, rules = problem.scorer.local, problem.rules
    while still < problem.n:
        here = network_of(local, rules, order)[1]
        best = max(shifts(rules, order, turn), key=lambda other: network_of(local, rules, other)[1])
        turn, still = (turn + 1) % problem.n, still + 1
        if network_of(local, rules, best)[1] > here + 1e-6:
            state = search.advance(problem, state, rng)
            order, still = best, 0
            assert list(state.order) == order
            assert (state.parents, state.phase) == (network_of(local, rules, order)[0], MOVING)
    after = search.advance(problem, state, rng)
    assert after.done or after.phase != MOVING or after.tried == 2


def test_an_order_near_another_follows_it_where_the_graph_leaves_a_choice():
    assert order_near(((), (2,), (), (0,)), (3, 1, 0, 2)) == (0, 3, 2, 1)
    assert order_near(((), (), ()), (2, 0, 1)) == (2, 0, 1)


# ---- the truth


@pytest.mark.slow
def test_the_true_class_is_found_from_the_population():
    assert not [seed for seed in range(60) if missed(seed, Boss()) is not None]


def test_random_models_are_found_where_hill_climbing_fails():
    for seed in (1, 2, 3):
        network = bs.random_network(15, arcs=30, kind="gaussian", coefficients=(0.3, 1.0), seed=seed)
        table = network.sample(1000, seed=seed)
        found = bs.learn(table, "boss", score="bic")
        assert found.score >= bs.score(network.dag, table) - 1e-6
        climbed = bs.learn(table, HillClimb(), score="bic")
        assert found.score > climbed.score
        distances = [bs.compare(dag, network.dag).shd_cpdag for dag in (found.dag, climbed.dag)]
        assert 3 * distances[0] < distances[1]


def test_never_above_the_optimum_and_mostly_at_it():
    at_optimum = []
    for seed in range(24):
        if seed % 2:
            table, score = gaussian(6, rows=150, seed=seed), "bic"
        else:
            net = bs.random_network(6, arcs=8, states=2, concentration=0.5, seed=seed)
            table, score = net.sample(200, seed=seed), ("bdeu", "bic")[seed % 4 // 2]
        problem = problem_of(table, score)
        best = best_total(problem.scorer.local, problem.rules)
        found = bs.learn(table, Boss(restarts=2), score).score
        assert found <= best + 1e-6
        at_optimum.append(found > best - 1e-6)
    assert sum(at_optimum) >= 21


# ---- promises


@settings(max_examples=25)
@given(data=st.data())
def test_graphs_keep_the_knowledge(data):
    rows, seed = data.draw(st.sampled_from([20, 300])), data.draw(st.integers(0, 5))
    table = data.draw(st.sampled_from([entangled, gaussian]))(6, rows, seed)
    knowledge = data.draw(knowledge_for(table.names))
    start = data.draw(st.sampled_from(["empty", "random"]))
    score = data.draw(st.sampled_from(["bic", "aic"]))
    result = bs.learn(table, Boss(restarts=1), score, knowledge, start=start, seed=1, top=5)
    for dag in [result.dag, *(entry.dag for entry in result.top)]:
        assert keeps(dag, knowledge)
    assert result.score == pytest.approx(bs.score(result.dag, table, score), abs=1e-6)


def test_a_resumed_run_is_the_run_that_was_never_stopped(tmp_path):
    """At every step: while moving, while deleting and after a restart."""
    table = bs.random_network(8, arcs=16, states=2, concentration=0.5, seed=10).sample(150, seed=1)
    search = Boss(restarts=3)
    options = {"score": "aic", "top": 3, "knowledge": Knowledge(forbidden=[("X1", "X2")]), "seed": 2}
    whole = bs.learn(table, search, **options)
    assert {step.facts["phase"] for step in whole.trace} == {0, 1, 2}
    assert whole.trace[-1].facts["tried"] > 4  # an order from deletions besides the four begun with
    for stop in range(len(whole.trace)):
        path = tmp_path / f"{stop}.json"
        bs.learn(table, search, **options, max_steps=stop, checkpoint=path)
        assert untimed(bs.learn(table, search, **options, checkpoint=path)) == untimed(whole)


def test_columns_rows_and_workers_of_continuous_data_do_not_matter():
    table = bs.random_network(12, arcs=24, kind="gaussian", seed=4).sample(500, seed=1)
    expected = bs.learn(table, "boss", score="bic")
    rng = np.random.default_rng(0)
    columns = [table.names[i] for i in rng.permutation(table.n_columns)]
    found = bs.learn(
        table.take(rng.permutation(table.n_rows)).select(columns), "boss", workers=3, score="bic"
    )
    assert set(found.dag.arcs()) == set(expected.dag.arcs())
    assert found.counters == expected.counters


def test_a_start_graph_is_never_lost():
    table = entangled(6, seed=4)
    best = bs.learn(table, Boss(restarts=5), score="bic").dag
    again = bs.learn(table, Boss(), start=best, score="bic")
    assert again.trace[0].score == pytest.approx(bs.score(best, table), abs=1e-6)
    assert again.score >= again.trace[0].score


def test_more_restarts_are_never_worse():
    table = bs.load_network("asia").sample(300, seed=2)
    scores = [bs.learn(table, Boss(restarts=r), seed=1, score="bic").score for r in (0, 1, 4)]
    assert scores == sorted(scores)


@pytest.mark.filterwarnings("ignore:columns that are linear functions of others")
def test_degenerate_tables():
    for table in degenerate_tables():
        result = bs.learn(table, Boss(restarts=1), score="bic")
        assert np.isfinite(result.score)
        assert result.score >= bs.score(bs.Dag.empty(table.names), table) - 1e-6


def test_a_users_own_score_is_used_and_families_that_cannot_be_scored_are_never_entered():
    result = bs.learn(entangled(4), Boss(), OneParent())
    assert (result.dag.n_arcs, max(map(len, result.dag.parents))) == (3, 1)


def test_settings_are_checked():
    for wrong in (-1, 1.5, True, "2"):
        with pytest.raises(SettingError, match="restarts"):
            Boss(restarts=wrong)
