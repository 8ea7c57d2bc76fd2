"""BDeu's larger parent sets depth first: the bound holds for every superset, and nothing is lost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescout.kernels.dividing import at_depth, divide_rows, group_rows, new_stack
from bayescout.kernels.refining import _ceilings, _count_cells, _reaches, _score, _shared, _tallies
from bayescout.scores import BDeu, bind
from bayescout.search import Knowledge
from bayescout.search.parent_sets import enumeration as candidates
from bayescout.search.parent_sets import expansion as refinement
from bayescout.search.parent_sets.enumeration import Enumeration, candidate_sets
from bayescout.search.parent_sets.expansion import Expansion, expands, narrow, sorted_rows, what_may_be_added
from bayescout.search.parent_sets.frontier import first_frontiers
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


def grouped(data, members, alike):
    """The rows grouped by some variables, as the kernels hold them; and how many states these have."""
    stack = new_stack(2, data[0].shape[1])
    members = np.array(members, dtype=np.int64)
    _, configurations = group_rows(data[0], data[3][0], members, alike, stack)
    return stack, configurations


def mask_of(members):
    return np.uint64(sum(1 << v for v in members))


def cells_of(data, variables):
    """How many of the variables' joint states occur."""
    return len(np.unique(data[0][list(variables)], axis=1).T)


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(5, 240, 5))])
def test_the_bounds_hold_for_every_superset(first):
    """Of every set and everything that may still be added to it, by trying all."""
    tight = 0
    for seed in range(first, first + 5):
        table = drawn(seed, n=5)
        bound = bind(BDeu(ess=[0.1, 1.0, 10.0, 200.0][seed % 4]), table)
        data, child = bound.kernel, seed % 5
        if not expands(data, 5):  # equal rows were merged, and have weights
            continue
        others = [v for v in range(5) if v != child]
        scores = {own: bound.local(child, own) for k in range(5) for own in itertools.combinations(others, k)}
        for own in scores:
            free = [v for v in others if v not in own]
            for order in (some for k in range(1, len(free) + 1) for some in itertools.permutations(free, k)):
                tight += check_bounds(data.arrays, child, own, order, scores)
    assert tight > 25


def check_bounds(data, child, own, order, scores):
    """The bounds of a set, and of it with the first of some variables, where all of them may be added."""
    cards, log_r = data[3][0], np.log(data[3][0][child])
    places = np.array(order, dtype=np.int64)
    data = (sorted_rows(data[0], places), *data[1:])
    rest = what_may_be_added(data[0], cards, places, child)
    alike = rest[0][0], rest[5], cards[child]
    stack, configurations = grouped(data, own, alike)
    prior, first = data[5][5] / configurations, int(cards[order[0]])
    fewest = min([int(cards[v]) for v in order[1:]], default=1)
    columns = rest[0][0], rest[1][0], rest[5], cards[child]
    priors = prior / first, prior / first / fewest
    groups, tallies = at_depth(stack, 0), _tallies(cards.max(), cards[child])
    cells = np.zeros(len(order) + 1, dtype=np.int64)
    _count_cells(groups, rest[2], rest[3], 0, cells)
    assert cells.tolist() == [
        *(cells_of(data, (child, *own, v)) for v in order),
        cells_of(data, (child, *own)),
    ]
    here, top = _ceilings(groups, columns, cells[0], priors, rest[4], tallies, -np.inf)
    of_child = rest[5], cards[child], prior / min(first, fewest if len(order) > 1 else first)
    shared = _shared(groups, rest[0][0], of_child, rest[4], tallies, -np.inf)
    within = {some: s for some, s in scores.items() if set(own) <= set(some) <= {*own, *order}}
    from_first = {some: s for some, s in within.items() if order[0] in some}
    with_it = tuple(sorted((*own, order[0])))
    assert here >= max(from_first.values()) - 1e-7
    assert top >= max([s for some, s in from_first.items() if some != with_it], default=-np.inf) - 1e-7
    above = max(s for some, s in within.items() if some != own)
    assert shared - log_r * cells[-1] >= above - 1e-7
    for v, known in zip(
        order, cells.tolist(), strict=False
    ):  # what is known of a set, and cells with one more
        most = max(s for some, s in within.items() if v in some)
        assert shared - log_r * known >= most - 1e-7
    divide_rows(data[0][order[0]], cards[order[0]], alike, stack, 0)
    assert _score(data, child, mask_of(with_it)) == scores[with_it]
    groups = at_depth(stack, 1)
    assert groups[1][: groups[3][0]].sum() <= data[0].shape[1]
    assert _reaches(data, child, groups, configurations * first, scores[with_it] - 1e-7)
    return here < max(from_first.values()) + 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_depth_first_finds_exactly_the_undominated_sets(data, monkeypatch):
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    monkeypatch.setattr(candidates, "BEGIN_SIZE", data.draw(st.sampled_from([1, 2, 3])))
    monkeypatch.setattr(refinement, "STEP_SETS", data.draw(st.sampled_from([1, 3, 50])))
    monkeypatch.setattr(refinement, "STEP_ROWS", data.draw(st.sampled_from([1, 10_000_000])))
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
        assert (np.diff(found.scores_of(child)) <= 0).all()


def test_ties_workers_and_counters(monkeypatch):
    """The same lists in the same order as all subsets at once give, for any number of threads."""
    table = entangled(8, rows=40, seed=3, states=2, noise=0.3)
    whole = candidate_sets(problem_of(table, "bdeu"))
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    monkeypatch.setattr(candidates, "BEGIN_SIZE", 1)
    monkeypatch.setattr(refinement, "STEP_ROWS", 1)
    steps = []
    for workers in (1, 3):
        steps.append(len(list(Enumeration(problem_of(table, "bdeu", workers=workers)).steps())))
        problem = problem_of(table, "bdeu", workers=workers)
        enumeration = Enumeration(problem)
        list(enumeration.steps())
        found = enumeration.found()
        for child in range(8):
            assert (found.sets_of(child) == whole.sets_of(child)).all()
            assert (found.scores_of(child) == whole.scores_of(child)).all()
        assert 8 * 8 < enumeration.scored < 8 * 2**7
        assert problem.scorer.asked == enumeration.scored + 8
    assert steps[0] == steps[1]  # a run resumes by its steps


def test_only_bdeu_on_plain_rows_and_one_word_of_variables():
    columns = np.random.default_rng(0).integers(0, 2, (3, 20))
    plain, weighted = table_of(columns, [2] * 3), table_of(columns, [2] * 3, weights=np.arange(20.0))
    assert expands(bind("bdeu", plain).kernel, 3)
    assert not expands(bind("bdeu", plain).kernel, 65)
    assert not expands(bind("bdeu", weighted).kernel, 3)
    assert not expands(bind("k2", plain).kernel, 3)
    assert not expands(bind("bic", plain).kernel, 3)
    assert not expands(None, 3)


@pytest.mark.parametrize("wide", [1, 8, 512])
@pytest.mark.parametrize("held", [0, 2**30])
def test_wide_variables_and_little_room_lose_nothing(wide, held, monkeypatch):
    """Cells that are not counted ahead, children that wait for room, and children left to the sizes."""
    monkeypatch.setattr(candidates, "SUBSET_VARIABLES", 0)
    monkeypatch.setattr(candidates, "BEGIN_SIZE", 1)
    monkeypatch.setattr(candidates, "HELD_BYTES", held)
    monkeypatch.setattr(refinement, "WIDE", wide)
    for seed in range(12):
        monkeypatch.setattr(refinement, "MOST_PARTS", [2**22, 6][seed % 2])
        problem = problem_of(drawn(seed, n=5), "bdeu")
        found = candidate_sets(problem)
        for child in range(5):
            assert listed(found, child) == undominated(every_set(problem, child))


def test_a_variable_of_many_states_has_no_field_and_a_pair_of_them_is_left_to_the_sizes():
    rows = 3000
    columns = [np.arange(rows), np.arange(rows) % 2, np.arange(rows) % 3, np.arange(rows)]
    problem = problem_of(table_of(columns, [rows, 2, 3, rows]), "bdeu")
    data, levels = problem.scorer.kernel, first_frontiers(problem, None)
    assert [narrow(data, level) for level in levels] == [False, True, True, False]
    for level in levels:
        level.masks, level.scores = [np.zeros((1, 1), dtype=np.uint64)], [np.zeros(1)]
    assert Expansion(data, levels[1]).held < 100 * rows


def test_classes_are_numbered_as_they_follow_and_marked_where_they_have_one_state():
    codes = np.array([[0, 1, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]], dtype=np.uint8)
    together = what_may_be_added(codes, np.array([2, 2, 2]), np.array([1, 2]), 0)[0]
    assert together.tolist() == [[0, 0, -2, -3, -3], [0, 0, 1, 1, 1]]
