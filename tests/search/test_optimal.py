"""Exact search equals brute force by both methods, its bounds hold, and it resumes like any search."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import SettingError, TooLargeError
from bayescout.graph.orders import peel_roots
from bayescout.scores import bind
from bayescout.search import (
    SEARCHES,
    HillClimb,
    Knowledge,
    Optimal,
    OrderClimb,
    Problem,
)
from bayescout.search.optimal import dynamic, solver
from bayescout.search.optimal import program as program_module
from bayescout.search.optimal import search as search_module
from bayescout.search.optimal.block_bounds import Blocks, group
from bayescout.search.optimal.components import components_of, groups
from bayescout.search.optimal.cuts import Cut, Weighted, cycle_cuts, violated_cuts
from bayescout.search.optimal.program import Program
from bayescout.search.parent_sets import enumeration as sets_module
from bayescout.search.parent_sets import expansion as refinement
from bayescout.search.parent_sets.enumeration import candidate_sets
from tests.scores.drawn_data import table_of
from tests.search.drawn_problems import entangled, gaussian, knowledge_for
from tests.search.test_candidates import every_set, problem_of

METHODS = ["dynamic", "program"]


def best_of_all_orders(problem):
    """The best total, by trying every order with every parent set."""
    scores = [every_set(problem, child) for child in range(problem.n)]
    best = -math.inf
    for order in itertools.permutations(range(problem.n)):
        total = 0.0
        for place, child in enumerate(order):
            before = set(order[:place])
            total += max((s for own, s in scores[child].items() if before.issuperset(own)), default=-math.inf)
        best = max(best, total)
    return best


def best_of_all_graphs(problem):
    """The best total, by trying every graph: one parent set for each variable, where that has no cycle."""
    scores = [every_set(problem, child) for child in range(problem.n)]
    return max(
        sum(scores[child][own] for child, own in enumerate(graph))
        for graph in itertools.product(*scores)
        if len(peel_roots(graph)) == problem.n
    )


def drawn(seed, n=5):
    rng = np.random.default_rng(seed)
    if seed % 4 == 3:
        return gaussian(n, rows=int(rng.choice([20, 100, 400])), seed=seed)
    noise = float(rng.choice([0.05, 0.2, 0.5]))
    return entangled(n, rows=int(rng.choice([15, 60, 400])), seed=seed, states=2 + seed % 2, noise=noise)


@pytest.mark.parametrize("method", METHODS)
@given(data=st.data())
def test_both_methods_find_the_best_of_all_orders_under_any_knowledge(method, data):
    table = drawn(data.draw(st.integers(0, 10_000)))
    knowledge = data.draw(knowledge_for(table.names))
    scores = ["bic", "bge", "aic"] if table.is_continuous else ["bic", "bdeu", "k2", "fnml"]
    score = data.draw(st.sampled_from(scores))
    result = bs.learn(table, Optimal(method), score, knowledge)
    best = best_of_all_orders(problem_of(table, score, knowledge))
    assert result.score == pytest.approx(best, abs=1e-6)
    assert result.bound >= best - 1e-6
    assert result.gap == 0
    assert result.stop_reason == "converged"


@pytest.mark.parametrize("method", METHODS)
def test_both_methods_find_the_best_of_all_graphs(method):
    for seed in range(12):
        table = drawn(seed, n=4)
        result = bs.learn(table, Optimal(method), "bic")
        assert result.score == pytest.approx(best_of_all_graphs(problem_of(table)), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_seven_variables_by_all_orders(score):
    for seed in range(6):
        table = entangled(7, rows=200, seed=seed, states=2, noise=0.3)
        best = best_of_all_orders(problem_of(table, score, Knowledge(max_parents=3)))
        for method in METHODS:
            result = bs.learn(table, Optimal(method), score, Knowledge(max_parents=3))
            assert (result.score, result.gap) == (pytest.approx(best, abs=1e-6), 0)


def random_scores(seed, n, spread=30.0):
    """A table and a score of its own: any number for any parent set, which tempts into every cycle."""

    class Own:
        def local(self, child, parents):
            key = [seed, child, *parents]
            return float(np.random.default_rng(key).normal() * spread + 8 * len(parents))

    return table_of(np.random.default_rng(seed).integers(0, 2, (n, 4)), [2] * n), Own()


@pytest.mark.parametrize("n", [4, 5, 6])
def test_arbitrary_scores_are_solved_by_both_methods(n, monkeypatch):
    """The branching, the blocks and the forgetting of cuts are all met with."""
    monkeypatch.setattr(program_module, "block_size", lambda n: 3)
    monkeypatch.setattr(program_module, "STEP_NODES", 3)
    for seed in range(10 if n < 6 else 4):
        table, own = random_scores(seed, n)
        best = best_of_all_orders(problem_of(table, own))
        for method in METHODS:
            result = bs.learn(table, Optimal(method), own)
            assert result.score == pytest.approx(best, abs=1e-9)
            assert result.gap == 0
            assert min(step.facts.get("bound", math.inf) for step in result.trace) >= best - 1e-9


@pytest.mark.slow
def test_parts_with_parents_in_earlier_parts_are_solved():
    """Two tiers: sets of the second that differ only in the first stand for each other."""
    for seed in range(8):
        table, own = random_scores(seed, 6, spread=10.0)
        knowledge = Knowledge(tiers=(("v0", "v1"), ("v2", "v3", "v4", "v5")))
        problem = problem_of(table, own, knowledge)
        assert max(len(part) for part in groups(candidate_sets(problem))) <= 4
        best = best_of_all_orders(problem)
        parts = components_of(candidate_sets(problem))
        apart = sum(part.lists.scores[dynamic.solve_dynamic(part)].sum() for part in parts)
        assert apart == pytest.approx(best, abs=1e-9)
        for method in METHODS:
            assert bs.learn(table, Optimal(method), own, knowledge).score == pytest.approx(best, abs=1e-9)


def test_a_program_finds_the_best_from_a_poor_network_and_without_climbing(monkeypatch):
    """Only what bounds rule out may be closed: here the best known score is far from the best for long."""
    from bayescout.kernels import insertions
    from bayescout.search.parent_sets.insertion import InsertionClimb

    monkeypatch.setattr(InsertionClimb, "finish", lambda climb, check: None)
    monkeypatch.setattr(program_module, "block_size", lambda n: 4)
    monkeypatch.setattr(program_module, "PATIENCE", 1)
    for seed in range(25):
        table, own = random_scores(seed, 7, spread=6.0)
        for part in components_of(candidate_sets(problem_of(table, own, Knowledge(max_parents=3)))):
            if part.n < 5:
                continue
            chosen = np.empty(part.n, dtype=np.int64)
            insertions.choose_all(part.lists.arrays, np.arange(part.n), chosen)
            program = Program(part, chosen)
            while not program.done:
                program.advance()
            best = part.lists.scores[dynamic.solve_dynamic(part)].sum()
            assert program.score == pytest.approx(best, abs=1e-9)
            assert program.bound >= best - 1e-9


@pytest.mark.parametrize("network", ["asia", "insurance"])
def test_methods_agree_and_no_search_is_better_on_real_networks(network):
    table = bs.load_network(network).sample(300, seed=2)
    known = Knowledge(max_parents=2)
    if network == "asia":
        results = [bs.learn(table, Optimal(method), "bdeu", known) for method in METHODS]
    else:
        results = [bs.learn(table, Optimal(), "bdeu", known)]
    assert len({result.score for result in results}) == 1
    assert all(result.gap == 0 for result in results)
    for other in (HillClimb(restarts=5), OrderClimb(restarts=2), SEARCHES["tabu"](restarts=3)):
        assert bs.learn(table, other, "bdeu", known).score <= results[0].score


def test_every_bound_on_the_way_holds(monkeypatch):
    """Whatever the budget, the bound is at least the best score and falls to it."""
    monkeypatch.setattr(program_module, "STEP_NODES", 1)
    monkeypatch.setattr(sets_module, "STEP_ROWS", 1000)
    monkeypatch.setattr(sets_module, "SUBSET_VARIABLES", 0)
    table = bs.load_network("child").sample(200, seed=1).select(bs.load_network("child").dag.nodes[:12])
    whole = bs.learn(table, Optimal("program"), "bdeu", Knowledge(max_parents=2))
    bounds = [step.facts["bound"] for step in whole.trace if "bound" in step.facts]
    assert len(bounds) > 5
    assert min(bounds) == whole.score
    assert bounds == sorted(bounds, reverse=True)
    for steps in range(0, len(whole.trace), 3):
        short = bs.learn(table, Optimal("program"), "bdeu", Knowledge(max_parents=2), max_steps=steps)
        assert short.bound is None or short.bound >= whole.score
        assert short.score <= whole.score


def test_a_long_enumeration_does_not_wait_to_climb_over_orders(monkeypatch):
    """Sets of one and two parents are known after a few steps, and much better networks of them."""
    monkeypatch.setattr(sets_module, "STEP_ROWS", 1_000_000)
    monkeypatch.setattr(search_module, "RESTARTS", 0)
    table = bs.load_network("insurance").sample(500, seed=1)
    early, later = (bs.learn(table, "optimal", "bdeu", max_steps=steps) for steps in (3, 6))
    assert later.score > early.score + 10
    assert later.stop_reason == "max_steps"


@pytest.mark.parametrize(
    "deep", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["by size", "depth first"]
)
@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_run_goes_the_same_way(method, deep, tmp_path, monkeypatch):
    if deep:
        monkeypatch.setattr(sets_module, "BEGIN_SIZE", 1)
        monkeypatch.setattr(refinement, "STEP_SETS", 25)
        monkeypatch.setattr(refinement, "STEP_ROWS", 1)
    monkeypatch.setattr(program_module, "STEP_NODES", 2)
    monkeypatch.setattr(sets_module, "STEP_ROWS", 1000)
    monkeypatch.setattr(sets_module, "SUBSET_VARIABLES", 0)
    table = bs.load_network("child").sample(150, seed=3).select(bs.load_network("child").dag.nodes[:10])
    whole = bs.learn(table, Optimal(method), "bdeu", Knowledge(max_parents=3))
    assert len(whole.trace) > 6
    for stop in range(1, len(whole.trace) - 1, 3):
        path = tmp_path / f"{stop}.json"
        bs.learn(table, Optimal(method), "bdeu", Knowledge(max_parents=3), max_steps=stop, checkpoint=path)
        resumed = bs.learn(table, Optimal(method), "bdeu", Knowledge(max_parents=3), checkpoint=path)
        assert [step._replace(seconds=0) for step in resumed.trace] == [
            step._replace(seconds=0) for step in whole.trace
        ]
        assert (resumed.dag, resumed.score, resumed.bound) == (whole.dag, whole.score, whole.bound)


def test_scipy_solves_what_highspy_solves(monkeypatch):
    tables = [entangled(6, rows=200, seed=seed, states=3) for seed in range(4)]
    fast = [bs.learn(table, Optimal("program"), "bdeu") for table in tables]
    monkeypatch.setattr(solver, "has_highspy", lambda: False)
    for table, expected in zip(tables, fast, strict=True):
        slow = bs.learn(table, Optimal("program"), "bdeu")
        assert (slow.score, slow.gap) == (expected.score, 0)


def test_what_is_too_large_is_refused_or_bounded(monkeypatch):
    table = entangled(6, rows=100, seed=1)
    monkeypatch.setattr(dynamic, "MOST_BYTES", 8 * (5 * 16 + 32))
    with pytest.raises(TooLargeError, match=r"6 variables.*2,048 bytes.*enough for 5"):
        bs.learn(table, Optimal("dynamic"), "bdeu")
    assert bs.learn(table, Optimal(), "bdeu").gap == 0
    best = best_of_all_orders(problem_of(table, "bdeu"))
    monkeypatch.setattr(sets_module, "MOST_SETS", 60)
    monkeypatch.setattr(sets_module, "SUBSET_VARIABLES", 0)
    broken_off = bs.learn(table, Optimal(), "bdeu")
    assert broken_off.stop_reason == "converged"
    assert broken_off.bound >= best
    assert broken_off.gap > 0
    with pytest.raises(SettingError, match="method must be one of"):
        Optimal("fast")


def test_families_that_cannot_be_scored():
    """Nothing scorable at all: an answer without a bound; in part: the best of what can be scored."""

    class Never:
        def local(self, child, parents):
            return -math.inf

    class Chain:
        def local(self, child, parents):
            return -1.0 if parents == tuple(range(max(0, child - 1), child)) else -math.inf

    table = entangled(4)
    for method in METHODS:
        nothing = bs.learn(table, Optimal(method), Never())
        assert (nothing.score, nothing.bound) == (-math.inf, None)
        chain = bs.learn(table, Optimal(method), Chain())
        assert (chain.score, chain.gap) == (-4.0, 0)


# ---- the parts of it


def test_parts_are_what_reaches_each_other():
    for seed in range(8):
        table = entangled(6, rows=40, seed=seed, noise=0.7)
        found = candidate_sets(problem_of(table, "bic"))
        arcs = {
            (parent, child)
            for child in range(6)
            for place in range(len(found.scores_of(child)))
            for parent in found.parents(child, place)
        }
        reach = {(v, v) for v in range(6)} | arcs
        for _ in range(6):
            reach |= {(a, d) for a, b in reach for c, d in reach if b == c}
        parts = groups(found)
        assert sorted(v for part in parts for v in part) == list(range(6))
        for i, part in enumerate(parts):
            for a, b in itertools.product(part, range(6)):
                assert ((a, b) in reach and (b, a) in reach) == (b in part)
            assert not any((late, v) in arcs for other in parts[i + 1 :] for late in other for v in part)


def acyclic_choices(solution_sets):
    """Every choice of one parent set a variable that has no cycle, from the definition."""
    for graph in itertools.product(*solution_sets):
        if len(peel_roots([tuple(np.flatnonzero(own)) for own in graph])) == len(graph):
            yield graph


def test_cuts_are_violated_by_cycles_and_by_no_network():
    rng = np.random.default_rng(5)
    n = 4
    every = [
        [np.array(own) for own in itertools.product([False, True], repeat=n) if not own[child]]
        for child in range(n)
    ]
    found = set()
    for _ in range(150):
        children, inside, values = [], [], []
        for child in range(n):
            picked = rng.choice(len(every[child]), size=int(rng.integers(1, 4)), replace=False)
            share = rng.dirichlet(np.ones(len(picked)))
            for place, value in zip(picked, share, strict=True):
                children.append(child)
                inside.append(every[child][place])
                values.append(value)
        solution = Weighted(np.array(children), np.array(inside), np.array(values))
        for cut in [*violated_cuts(solution, 1), *violated_cuts(solution, 2), *cycle_cuts(solution)]:
            assert solution.violation(cut) > 0
            found.add(cut)
    assert len(found) > 8
    assert {cut.k for cut in found} == {1, 2}
    for graph in acyclic_choices(every):
        whole = Weighted(np.arange(n), np.array(graph), np.ones(n))
        assert all(whole.violation(cut) <= 0 for cut in found)


def test_cycles_of_whole_solutions_are_always_cut():
    ring = np.zeros((5, 5), dtype=bool)
    for v in range(5):
        ring[v, (v + 1) % 5] = True
    (cut,) = cycle_cuts(Weighted(np.arange(5), ring, np.ones(5)))
    assert cut == Cut((0, 1, 2, 3, 4))
    ring[0] = False
    assert cycle_cuts(Weighted(np.arange(5), ring, np.ones(5))) == []


def test_blocks_bound_every_column_by_what_brute_force_gets():
    """With cycles ruled out within blocks only, by trying every choice of columns."""
    rng = np.random.default_rng(2)
    for _ in range(6):
        table, own = random_scores(int(rng.integers(1000)), 4)
        (part,) = [p for p in components_of(candidate_sets(problem_of(table, own))) if p.n == 4] or [None]
        if part is None:
            continue
        program = Program(part, None)
        worth, children = program.losses, program.children
        groups = [(0, 2), (1, 3)]
        tops = np.zeros(4)
        total, reach = Blocks(groups, children, program.inside).bound(worth, tops)
        best = np.full(len(worth), -np.inf)
        for choice in itertools.product(*[np.flatnonzero(children == v) for v in range(4)]):
            inside = program.inside[list(choice)]
            if any(inside[a, b] and inside[b, a] for a, b in groups):
                continue
            best[list(choice)] = np.maximum(best[list(choice)], worth[list(choice)].sum())
        np.testing.assert_allclose(reach, best, atol=1e-9)
        assert total == pytest.approx(best.max(), abs=1e-9)
        assert Blocks(groups, children, program.inside).choose(worth, tops)[0] == pytest.approx(total)


def test_groups_are_no_larger_than_they_may_be_and_join_what_belongs_together():
    affinity = np.zeros((6, 6))
    for a, b, value in ((0, 3, 5.0), (3, 5, 4.0), (1, 2, 3.0), (0, 1, 0.5)):
        affinity[a, b] = affinity[b, a] = value
    assert group(affinity, 3) == [(0, 3, 5), (1, 2), (4,)]
    assert group(affinity, 6) == [(0, 1, 2, 3, 5), (4,)]


# ---- the gap of any result


def test_the_gap_of_a_result():
    table = bs.load_network("asia").sample(300, seed=1)
    poor = bs.learn(table, HillClimb(), "bdeu", max_steps=2)
    found = bs.gap(poor)
    best = bs.learn(table, "optimal", "bdeu")
    assert found.bound == best.score
    assert found.better == (best.score, best.dag)
    assert found.gap == pytest.approx(best.score - poor.score)
    assert "and was found" in str(found)
    assert not found.proven
    assert found.to_dict()["percent"] == pytest.approx(100 * found.gap / -poor.score)
    proven = bs.gap(best)
    assert proven.proven
    assert str(proven).startswith("optimal")
    assert bs.gap(bs.learn(table, Optimal("program"), "bdeu", start=best.dag, max_steps=0)).proven


def test_the_gap_keeps_the_knowledge_and_the_score():
    table = entangled(5, rows=200, seed=4)
    knowledge = Knowledge(max_parents=1, forbidden=[("v0", "v1")])
    result = bs.learn(table, OrderClimb(), bs.scores.BDeu(ess=7), knowledge)
    best = best_of_all_orders(problem_of(table, bs.scores.BDeu(ess=7), knowledge))
    assert bs.gap(result).bound == pytest.approx(best, abs=1e-9)

    class Own:
        def local(self, child, parents):
            return -float(len(parents)) if parents != (4,) else 2.0

    assert bs.gap(bs.learn(table, HillClimb(), Own())).proven


def test_the_gap_of_a_result_from_a_file_needs_its_data(tmp_path):
    table = bs.load_network("asia").sample(200, seed=1)
    bs.learn(table, "hill-climb", "bdeu").save(tmp_path / "r.json")
    loaded = bs.Result.load(tmp_path / "r.json")
    with pytest.raises(SettingError, match="no data"):
        bs.gap(loaded)
    assert bs.gap(loaded, table).bound == bs.learn(table, "optimal", "bdeu").score
    bs.learn(table, "hill-climb", bs.scores.BDeu(ess=3)).save(tmp_path / "s.json")
    again = bs.gap(bs.Result.load(tmp_path / "s.json"), table)
    assert again.bound == bs.learn(table, "optimal", bs.scores.BDeu(ess=3)).score
    bs.learn(table, "hill-climb", lambda counts: -float(counts.shape[0])).save(tmp_path / "t.json")
    with pytest.raises(SettingError, match="cannot be made again"):
        bs.gap(bs.Result.load(tmp_path / "t.json"), table)


def test_a_share_is_never_shown_smaller_than_it_is():
    from bayescout.optimality import Gap

    assert "within 0.031% of" in str(Gap(-1000.0, -999.695, None, 1.0))
    assert "within 12% of" in str(Gap(-100.0, -88.5, None, 1.0))
    assert "at most 11.500 nats" in str(Gap(-100.0, -88.5, None, 1.0))


def test_problem_objects_are_not_changed():
    table = entangled(5)
    problem = Problem(bind("bic", table), Knowledge().compile(table.names))
    before = problem.rules.allowed.copy()
    candidate_sets(problem)
    assert (problem.rules.allowed == before).all()


def test_a_gap_on_other_data_scores_the_network_anew(tmp_path):
    asia = bs.load_network("asia")
    rows, others = asia.sample(500, seed=3), asia.sample(2000, seed=1)
    result = bs.learn(rows, "pc", score="bic")
    found = bs.gap(result, data=others)
    assert found.score == pytest.approx(bs.score(result.dag, others, "bic"))
    assert found.bound == pytest.approx(bs.learn(others, "optimal", score="bic").score)
    assert not found.proven
    result.save(tmp_path / "r.json")
    again = bs.gap(bs.Result.load(tmp_path / "r.json"), data=others)
    assert (again.score, again.bound) == (found.score, found.bound)
    with pytest.raises(SettingError, match="a result of learn"):
        bs.gap(result.dag)


def test_a_bound_that_says_nothing_says_so():
    from bayescout.optimality import Gap

    assert "no useful bound" in str(Gap(-100.0, -10.0, None, 3.0))
    assert "max_parents" in str(Gap(-100.0, -10.0, None, 3.0))
    assert "within 1.0% of optimal" in str(Gap(-100.0, -99.0, None, 3.0))
    learned = bs.learn(bs.load_network("asia").sample(100, seed=1), search="hill-climb", score="bic")
    words = [
        replace(learned, bound=bound).optimality for bound in (None, learned.score, learned.score + 2, 0.0)
    ]
    assert words == [None, "proven optimal", "at most 2.000 nats below the best", "no useful bound yet"]
    assert "no useful bound yet" in repr(replace(learned, bound=0.0))
