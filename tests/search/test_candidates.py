"""Candidate parent sets: exactly those that no subset matches, by trying every set; and refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescout.errors import TooLargeError
from bayescout.scores import BDeu, Bic
from bayescout.search import Knowledge
from bayescout.search.bitsets import members_of, words_of_sets
from bayescout.search.parent_sets import enumeration as candidates
from bayescout.search.parent_sets.enumeration import Enumeration, candidate_sets
from tests.scores.drawn_data import table_of
from tests.search.drawn_problems import entangled, gaussian, knowledge_for, problem_of

DISCRETE = ["bic", "aic", "ebic", "loglik", "bdeu", "bds", "k2", "bic-laplace", "mi-bic", "fnml", "entropy"]


def every_set(problem, child):
    """Every parent set that keeps the rules, with its score."""
    rules, required = problem.rules, problem.rules.required_parents[child]
    free = [v for v in range(problem.n) if rules.allowed[v, child] and v not in required]
    sets = [
        tuple(sorted((*required, *some)))
        for size in range(int(rules.max_parents[child]) - len(required) + 1)
        for some in itertools.combinations(free, size)
    ]
    return {own: problem.scorer.local(child, own) for own in sets}


def undominated(scores):
    """The sets that score more than each of their proper subsets."""
    return {
        own: score
        for own, score in scores.items()
        if all(
            score > scores[less]
            for size in range(len(own))
            for less in itertools.combinations(own, size)
            if less in scores
        )
    }


def listed(found, child):
    return {found.parents(child, i): float(s) for i, s in enumerate(found.scores_of(child))}


def drawn_table(seed):
    """Noisy copies or independent columns, few or many rows, constant columns and unused states."""
    rng = np.random.default_rng(seed)
    if seed % 3:
        rows, noise = int(rng.choice([12, 60, 400])), float(rng.choice([0.02, 0.2, 0.6]))
        return entangled(5, rows=rows, seed=seed, states=2 + seed % 2, noise=noise)
    cards = rng.integers(1, 5, 5)
    rows = int(rng.integers(2, 80))
    return table_of([rng.integers(0, max(1, r - seed % 2), rows) for r in cards], cards.tolist())


@pytest.mark.parametrize("score", DISCRETE)
@settings(max_examples=25)
@given(data=st.data())
def test_candidates_are_exactly_the_undominated_sets(score, data):
    table = drawn_table(data.draw(st.integers(0, 10_000)))
    problem = problem_of(table, score, data.draw(knowledge_for(table.names)))
    found = candidate_sets(problem)
    for child in range(problem.n):
        assert listed(found, child) == undominated(every_set(problem, child))
        assert (np.diff(found.scores_of(child)) <= 0).all()


@pytest.mark.parametrize("score", ["bic", "aic", "bge"])
def test_gaussian_candidates_are_exactly_the_undominated_sets(score):
    for seed in range(6):
        table = gaussian(5, rows=int([9, 60, 400][seed % 3]), seed=seed)
        problem = problem_of(table, score, Knowledge(max_parents=2 + seed % 3))
        found = candidate_sets(problem)
        for child in range(problem.n):
            assert listed(found, child) == undominated(every_set(problem, child))


def test_bounds_cut_on_real_problems_and_large_tables_are_counted_by_what_occurs():
    """Tables far larger than the rows, where a set has more cells than are held whole."""
    rng = np.random.default_rng(1)
    hidden = rng.integers(0, 12, 300)
    table = table_of([np.where(rng.random(300) < 0.1, 0, hidden % r) for r in (12, 11, 12, 10, 9)],
                     [12, 11, 12, 10, 9])  # fmt: skip
    for score in ("loglik", "bdeu", Bic(penalty=0.01), BDeu(ess=50)):
        problem = problem_of(table, score)
        found = candidate_sets(problem)
        for child in range(problem.n):
            assert listed(found, child) == undominated(every_set(problem, child))


def test_more_than_64_variables_and_weights():
    rng = np.random.default_rng(3)
    columns = rng.integers(0, 2, (70, 40))
    columns[69] = columns[66] ^ columns[1]
    table = table_of(columns, [2] * 70)
    problem = problem_of(table, "bdeu", Knowledge(max_parents=2))
    found = candidate_sets(problem)
    assert listed(found, 69) == undominated(every_set(problem, 69))
    assert found.sets_of(0).shape[1] == 2
    assert (1, 66) in listed(found, 69)
    weighted = table_of(columns[:5], [2] * 5, weights=rng.integers(0, 4, 40).astype(float))
    fractional = table_of(columns[:5], [2] * 5, weights=rng.uniform(0.2, 1.5, 40))
    for some, score in itertools.product((weighted, fractional), ("bic", "bdeu")):
        problem = problem_of(some, score)
        found = candidate_sets(problem)
        for child in range(5):
            assert listed(found, child) == undominated(every_set(problem, child))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_all_subsets_at_once_give_what_sizes_one_by_one_give(data, monkeypatch):
    table = drawn_table(data.draw(st.integers(0, 10_000)))
    knowledge = data.draw(knowledge_for(table.names))
    problem = problem_of(table, BDeu(ess=data.draw(st.sampled_from([0.3, 1.0, 12.0]))), knowledge)
    found = []
    for most in (0, 20):
        monkeypatch.setattr(candidates, "SUBSET_VARIABLES", most)
        found.append(candidate_sets(problem))
    for child in range(problem.n):
        assert (found[0].sets_of(child) == found[1].sets_of(child)).all()
        assert (found[0].scores_of(child) == found[1].scores_of(child)).all()


def test_a_limit_holds_besides_the_rules_and_workers_do_not_matter():
    table = entangled(6, seed=2)
    one, three = (candidate_sets(problem_of(table, "bdeu", workers=w), 2) for w in (1, 3))
    for child in range(6):
        assert listed(one, child) == listed(three, child)
        assert max(map(len, listed(one, child))) <= 2


def test_the_best_set_within_some_variables():
    table = entangled(6, seed=5)
    problem = problem_of(table, "aic")
    found = candidate_sets(problem)
    for child in range(6):
        scores = every_set(problem, child)
        for before in itertools.combinations([v for v in range(6) if v != child], 3):
            own, score = found.best(child, words_of_sets([before], 6)[0])
            assert score == max(s for some, s in scores.items() if set(some) <= set(before))
            assert scores[own] == score


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2", "fnml"])
def test_the_bound_of_a_broken_off_enumeration_holds(score, monkeypatch):
    """At every point the bound is at least the sum of the best sets, and at the end exactly that."""
    monkeypatch.setattr(candidates, "STEP_ROWS", 100)
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    for seed in range(4):
        problem = problem_of(entangled(5, rows=80, seed=seed, states=3), score)
        best = sum(max(every_set(problem, child).values()) for child in range(5))
        enumeration = Enumeration(problem)
        assert enumeration.upper_bound() >= best
        bounds = [enumeration.upper_bound() for _ in enumeration.steps()]
        assert len(bounds) > 5
        assert min(bounds) >= best - 1e-9
        assert enumeration.upper_bound() == pytest.approx(best, abs=1e-9)


def test_what_does_not_fit_is_refused_with_its_size(monkeypatch):
    table = gaussian(6)
    monkeypatch.setattr(candidates, "MOST_SCORED", 100)
    with pytest.raises(TooLargeError, match=r"192 parent sets.*max_parents to 2"):
        candidate_sets(problem_of(table, "bge"))
    assert candidate_sets(problem_of(table, "bge", Knowledge(max_parents=2))).starts[-1] > 6
    monkeypatch.setattr(candidates, "MOST_SETS", 40)
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    with pytest.raises(TooLargeError, match=r"parent sets of 2 parents.*max_parents to 1"):
        candidate_sets(problem_of(entangled(6), "bdeu"))


def test_masks_hold_their_members():
    sets = [(), (0,), (63,), (64,), (3, 64, 129)]
    assert [members_of(mask) for mask in words_of_sets(sets, 130)] == sets
    assert math.isclose(float(words_of_sets([(1, 2)], 4)[0, 0]), 6)


@pytest.mark.parametrize("score", ["bdeu", "k2", "bic", "loglik", "mi-bic"])
def test_a_child_with_one_state_is_asked_for_nothing_but_its_required_parents(score):
    """All its sets score zero: a bound with a margin would have every one of them looked at."""
    table = table_of(
        [np.zeros(40, dtype=int), *np.random.default_rng(0).integers(0, 2, (7, 40))], [1, *[2] * 7]
    )
    enumeration = Enumeration(problem_of(table, score))
    next(enumeration.steps())
    assert [len(frontier.members) for frontier in enumeration._frontiers] == [0, *[1] * 7]
    assert listed(candidate_sets(problem_of(table, score)), 0) == {(): 0.0}
