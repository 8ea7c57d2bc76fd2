"""Single-arc moves against every graph one arc away."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayescout.kernels import moves
from tests.reference.graphs import ancestors, is_acyclic
from tests.reference.kernels import both
from tests.reference.moves import after, gain_of, legal_moves

NONE = -np.inf


@st.composite
def graphs(draw):
    """A DAG of up to six nodes, in any order of them, as arcs and as a matrix [parent, child]."""
    n = draw(st.integers(1, 6))
    order = draw(st.permutations(range(n)))
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    arcs = frozenset(pair for pair in pairs if draw(st.booleans()))
    adjacent = np.zeros((n, n), dtype=bool)
    for arc in arcs:
        adjacent[arc] = True
    return n, arcs, adjacent


def closure(n, arcs):
    return [[i == j or i in ancestors(arcs, j) for j in range(n)] for i in range(n)]


def reached(n, arcs):
    return np.array(closure(n, arcs), dtype=bool).reshape(n, n)


@given(graphs(), st.data())
def test_reach_is_being_an_ancestor(graph, data):
    n, arcs, adjacent = graph
    reach = np.ones((n, n), dtype=bool)
    both(moves, "fill_reach", adjacent, reach)
    assert reach.tolist() == closure(n, arcs)
    absent = [(a, b) for a in range(n) for b in range(n) if a != b and is_acyclic(n, arcs | {(a, b)})]
    if absent:
        arc = data.draw(st.sampled_from(absent))
        both(moves, "add_to_reach", reach, *arc)
        assert reach.tolist() == closure(n, arcs | {arc})


@given(graphs())
def test_an_arc_can_be_reversed_where_that_leaves_no_cycle(graph):
    n, arcs, adjacent = graph
    for parent, child in arcs:
        expected = is_acyclic(n, after(arcs, moves.REVERSE, child, parent))
        assert both(moves, "is_reversible", adjacent, reached(n, arcs), parent, child) == expected


@st.composite
def scored_graphs(draw):
    """A graph with the gains of additions and removals; few values, so that gains tie."""
    n, arcs, adjacent = draw(graphs())
    few = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, NONE])
    gains = np.array(draw(st.lists(few, min_size=n * n, max_size=n * n))).reshape(n, n)
    removals = np.array(draw(st.lists(few, min_size=n * n, max_size=n * n))).reshape(n, n)
    gains[np.eye(n, dtype=bool) | adjacent.T] = NONE
    removals[~adjacent.T] = NONE
    graph = (adjacent, gains, removals, np.zeros(n), gains.max(axis=1))
    return n, arcs, graph


@given(scored_graphs(), st.data())
def test_the_best_move_is_the_best_of_all_that_leave_no_cycle(scored, data):
    n, arcs, graph = scored
    banned = np.zeros((n, n), dtype=bool)
    for one in data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3)):
        banned[one] = banned[one[::-1]] = True
    numbers = np.array(sorted(child * n + parent for parent, child in arcs), dtype=np.int64)
    out = np.full(3, -7, dtype=np.int64)
    found = both(moves, "best_move", graph, numbers, reached(n, arcs), banned, out)
    legal = {
        move: gain
        for move, gain in legal_moves(n, arcs, graph[1], graph[2]).items()
        if not banned[move[1], move[2]]
    }
    assert found == max(legal.values(), default=NONE)
    if legal:
        assert tuple(out.tolist()) == max(legal, key=legal.__getitem__)


@given(scored_graphs(), st.data())
def test_the_first_improving_move_is_the_first_of_those_asked(scored, data):
    n, arcs, graph = scored
    asked = data.draw(st.permutations(range(3 * n * n)))[: data.draw(st.integers(0, 3 * n * n))]
    least = data.draw(st.sampled_from([-1.0, 0.0, 1.0]))
    legal = legal_moves(n, arcs, graph[1], graph[2])
    operators = [(number // (n * n), number // n % n, number % n) for number in asked]
    expected = next((i for i, move in enumerate(operators) if legal.get(move, NONE) > least), -1)
    found = both(moves, "first_improving", graph, reached(n, arcs), np.array(asked, dtype=np.int64), least)
    assert found == expected
    assert found < 0 or gain_of(graph[1], graph[2], *operators[found]) > least
