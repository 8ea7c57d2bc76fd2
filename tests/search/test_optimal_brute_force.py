"""Exact search against every DAG of five variables and every order of up to eight; bounds at every step."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

import bayescout as bs
from bayescout.search import SEARCHES, Optimal
from bayescout.search.parent_sets import enumeration as candidates
from tests.search.drawn_problems import entangled, gaussian
from tests.search.test_candidates import problem_of
from tests.search.test_refinement import drawn as odd_table

METHODS = ["dynamic", "program"]


@functools.cache
def all_graphs(n):
    """Every DAG, one row each: the parents of each variable as bits."""
    own = [[mask for mask in range(2**n) if not mask >> child & 1] for child in range(n)]
    graphs = np.stack([axis.ravel() for axis in np.meshgrid(*own, indexing="ij")], axis=1)
    left = np.full(len(graphs), 2**n - 1)
    for _ in range(n):  # take away the variables without parents among those left
        free = sum(((graphs[:, v] & left) == 0).astype(np.int64) << v for v in range(n))
        left = left & ~free
    return graphs[left == 0]


@functools.cache
def all_orders(n):
    """Every order, and at each place what comes before it, as bits."""
    orders = np.array(list(itertools.permutations(range(n))))
    return orders, np.cumsum(1 << orders, axis=1) - (1 << orders)


def local_scores(problem):
    """Every local score, at [child, parents as bits]; minus infinity where the child is a parent."""
    n = problem.n
    scores = np.full((n, 2**n), -math.inf)
    for child, mask in itertools.product(range(n), range(2**n)):
        if not mask >> child & 1:
            parents = tuple(v for v in range(n) if mask >> v & 1)
            scores[child, mask] = problem.scorer.local(child, parents)
    return scores


def best_graph(scores):
    n = len(scores)
    return float(max(scores[np.arange(n), all_graphs(n)].sum(axis=1)))


def best_order(scores):
    n = len(scores)
    best = scores.copy()
    for v in range(n):  # the best of the subsets, one variable after the other
        has = np.flatnonzero(np.arange(2**n) >> v & 1)
        best[:, has] = np.maximum(best[:, has], best[:, has ^ (1 << v)])
    orders, before = all_orders(n)
    return float(best[orders, before].sum(axis=1).max())


def drawn(seed, n):
    """A table and a score that suits it."""
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([15, 60, 400]))
    if seed % 4 == 0:
        return gaussian(n, rows=rows, seed=seed), ["bic", "bge"][seed // 4 % 2]
    score = ["bic", "bdeu", "aic", "k2", "bdeu"][seed % 5]
    if seed % 4 == 1:
        return odd_table(seed, n), score
    noise = float(rng.choice([0.05, 0.2, 0.5]))
    return entangled(n, rows=rows, seed=seed, states=2 + seed % 2, noise=noise), score


def check(seed, n, best_of):
    """Both methods find the best and prove it, and no step's bound was below it."""
    table, score = drawn(seed, n)
    best = best_of(local_scores(problem_of(table, score)))
    for method in METHODS:
        result = bs.learn(table, Optimal(method), score)
        assert result.score == pytest.approx(best, abs=1e-6)
        assert result.gap == 0
        bounds = [step.facts["bound"] for step in result.trace if "bound" in step.facts]
        assert bounds
        assert min(bounds) >= best - 1e-6


def test_there_are_29281_graphs_of_five_variables():
    assert [len(all_graphs(n)) for n in (1, 2, 3, 4, 5)] == [1, 3, 25, 543, 29281]


def test_the_best_of_all_graphs_of_five_variables():
    for seed in range(12):
        check(seed, 5, best_graph)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(12, 212, 50))
def test_the_best_of_all_graphs_of_five_variables_many_times(first):
    for seed in range(first, first + 50):
        check(seed, 5, best_graph)


def test_graphs_and_orders_have_the_same_best():
    for seed in range(6):
        scores = local_scores(problem_of(*drawn(seed, 4)))
        assert best_graph(scores) == pytest.approx(best_order(scores), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 7, 8])
def test_the_best_of_all_orders(n):
    for seed in range(12):
        check(seed, n, best_order)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", METHODS)
def test_larger_sets_depth_first_give_the_best_of_all_graphs(method, seeds, monkeypatch):
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    monkeypatch.setattr(candidates, "BEGIN_SIZE", 1)
    for seed in seeds:
        table = odd_table(seed, 5)
        best = best_graph(local_scores(problem_of(table, "bdeu")))
        result = bs.learn(table, Optimal(method), "bdeu")
        assert (result.score, result.gap) == (pytest.approx(best, abs=1e-6), 0)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_bound_is_never_below_a_score_at_any_step(method, monkeypatch):
    """With many small steps, and broken off after each of them."""
    monkeypatch.setattr(candidates, "STEP_ROWS", 200)
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    monkeypatch.setattr(candidates, "BEGIN_SIZE", 1)
    for seed in (1, 2, 3):
        table = entangled(5, rows=60, seed=seed, states=2, noise=0.3)
        best = best_graph(local_scores(problem_of(table, "bdeu")))
        result = bs.learn(table, Optimal(method), "bdeu")
        assert len(result.trace) > 8
        for steps in range(len(result.trace)):
            broken = bs.learn(table, Optimal(method), "bdeu", max_steps=steps)
            assert broken.score <= best + 1e-9
            assert broken.bound is None or broken.bound >= best - 1e-9


@pytest.mark.parametrize("name", ["hill-climb", "tabu", "ges", "memetic", "boss"])
def test_no_search_beats_the_proven_best(name):
    assert name in SEARCHES
    for seed in (1, 2, 3):
        table, _ = drawn(seed, 5)
        best = bs.learn(table, Optimal(), "bdeu")
        assert bs.learn(table, name, "bdeu").score <= best.score + 1e-9
