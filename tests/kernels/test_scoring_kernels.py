"""Scores of neighbouring families, from rows looked at one by one."""

from __future__ import annotations

from math import ldexp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout.kernels import candidates, counting, limits, neighbours, reducing
from tests.reference import scores
from tests.reference.kernels import both
from tests.strategies import examples

SHIFT, DIGITS = 40, 30
GRID = [ldexp(1.0, SHIFT), float(SHIFT - DIGITS), ldexp(1.0, -DIGITS)]
TERMS = {
    "likelihood": [limits.LIKELIHOOD, *GRID, 0.0, 0.0],
    "penalised": [limits.LIKELIHOOD, *GRID, 1.5, 0.0],
    "cell": [limits.DIRICHLET, *GRID, 0.5, 0.0],
    "spread": [limits.DIRICHLET, *GRID, 0.0, 2.0],
}
CLOSE = {"rel": 1e-7, "abs": 1e-6}


@st.composite
def problems(draw):
    """(data as the kernels take it, rows with each as often as it weighs, states, name of the score).

    One-state variables, absent states and single rows occur; some variables have no bitmaps.
    """
    p, n = draw(st.integers(2, 5)), draw(st.sampled_from([1, 2, 5, 63, 64, 65]))
    cards = np.array(draw(st.lists(st.integers(1, 4), min_size=p, max_size=p)), dtype=np.int64)
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    codes = np.array([rng.integers(0, draw(st.integers(1, int(r))), n) for r in cards]).astype(np.uint8)
    codes.flags.writeable = False
    weights = np.empty(0, dtype=np.int64)
    if draw(st.booleans()):
        weights = rng.integers(0, 4, n)
        weights[0] += 1
    first = np.where(rng.random(p) < 0.8, np.cumsum(cards) - cards, -1)
    bitmaps = np.zeros((int(cards.sum()), (n + 63) // 64), dtype=np.uint64)
    counting.fill_bitmaps(codes, first, bitmaps)
    times = weights if len(weights) else np.ones(n, dtype=np.int64)
    counts = np.arange(int(times.sum()) + 1, dtype=np.float64)
    counts[1:] *= np.log(counts[1:])
    lookup = np.floor(np.ldexp(counts, SHIFT) + 0.5).astype(np.int64)
    name = draw(st.sampled_from(sorted(TERMS)))
    data = (
        codes,
        weights,
        bitmaps,
        np.stack([cards, first]),
        lookup if TERMS[name][0] == limits.LIKELIHOOD else None,
        np.array(TERMS[name], dtype=np.float64),
    )
    return data, np.repeat(codes.T, times, axis=0).tolist(), cards.tolist(), name


def local(rows, cards, name, child, parents):
    """The score of one family from the definitions."""
    r = cards[child]
    if name in ("likelihood", "penalised"):
        charge = TERMS[name][4] * scores.parameters(cards, child, parents)
        return scores.log_likelihood(rows, child, parents) - charge
    cells = r * int(np.prod([cards[p] for p in parents]))
    prior = TERMS[name][4] if name == "cell" else TERMS[name][5] / cells
    return scores.dirichlet(rows, child, parents, r, prior)


@given(problems(), st.data())
def test_rows_of_gains_are_differences_of_scores(problem, more):
    data, rows, cards, name = problem
    n = len(cards)
    order = more.draw(st.permutations(range(n)))
    adjacent, required = np.zeros((n, n), dtype=bool), np.zeros((n, n), dtype=bool)
    allowed = ~np.eye(n, dtype=bool)
    for a in range(n):
        for b in range(n):
            if order.index(a) < order.index(b):
                adjacent[a, b] = more.draw(st.booleans())
                required[a, b] = adjacent[a, b] and more.draw(st.integers(0, 3)) == 0
            allowed[a, b] &= adjacent[a, b] or more.draw(st.integers(0, 3)) > 0
    most = np.array([more.draw(st.integers(int(own), n)) for own in adjacent.sum(axis=0)], dtype=np.int64)
    children = np.array(sorted(more.draw(st.sets(st.integers(0, n - 1), min_size=1))), dtype=np.int64)
    gains, removals = np.full((n, n), 7.0), np.full((n, n), 7.0)
    graph = (adjacent, gains, removals, np.full(n, 7.0), np.full(n, 7.0))
    asked = both(
        neighbours, "fill_rows", data, (allowed, required, most), graph, children, inside=(counting, reducing)
    )
    expected = 0
    for child in range(n):
        if child not in children:
            assert gains[child].tolist() == removals[child].tolist() == [7.0] * n
            continue
        parents = [p for p in range(n) if adjacent[p, child]]
        own = local(rows, cards, name, child, parents)
        added, removed = np.full(n, -np.inf), np.full(n, -np.inf)
        for p in range(n):
            if p in parents:
                expected += 1
                if not required[p, child]:
                    removed[p] = local(rows, cards, name, child, [q for q in parents if q != p]) - own
            elif allowed[p, child] and len(parents) < most[child]:
                expected += 1
                added[p] = local(rows, cards, name, child, sorted([*parents, p])) - own
        expected += 1
        assert graph[3][child] == pytest.approx(own, **CLOSE)
        assert gains[child].tolist() == pytest.approx(added.tolist(), **CLOSE)
        assert removals[child].tolist() == pytest.approx(removed.tolist(), **CLOSE)
        assert graph[4][child] == gains[child].max()
    assert asked == expected


@settings(max_examples=examples(200))
@given(problems(), st.data())
def test_grown_families_are_scored_from_whole_tables_and_from_what_occurs(problem, more):
    data, rows, cards, name = problem
    n = len(cards)
    size = more.draw(st.integers(0, n - 2))
    bases, starts, added = [], [0], []
    for _ in range(more.draw(st.integers(1, 3))):
        child, *others = more.draw(st.permutations(range(n)))
        bases.append([*sorted(others[:size]), child])
        added += others[size : more.draw(st.sampled_from([size, *range(size + 1, n), n - 1, n - 1]))]
        starts.append(len(added))
    limits = np.array(
        more.draw(st.sampled_from([(1, 4), (4, 8), (16, 16), (64, 4), (1, 4096), (4096, 4096)]))
    )
    found, occupied = np.full(len(added), 7.0), np.full(len(added), -7, dtype=np.int64)
    both(
        candidates, "score_grown", data, limits,
        *(np.array(some, dtype=np.int64) for some in (bases, starts, added)),
        found, occupied, inside=(counting, reducing),
    )  # fmt: skip
    for base, (*parents, child) in enumerate(bases):
        for c in range(starts[base], starts[base + 1]):
            family = sorted([*parents, added[c]])
            cells, _ = scores.counted(rows, child, family)
            whole = int(np.prod([cards[v] for v in (*family, child)]))
            kept = {tuple(data[0][v, row] for v in family) for row in range(data[0].shape[1])}
            members = [*parents, child, *added[starts[base] : starts[base + 1]]]
            masked = not len(data[1]) and (data[3][1][members] >= 0).all()
            if not masked and cards[added[c]] > 1 and len(kept) * cards[child] > limits.max():
                assert found[c] == -np.inf
            if found[c] == -np.inf:
                assert whole > limits[0]
                assert len(kept) * cards[child] > limits[1]
                assert occupied[c] <= max(len(kept), len(cells))
                continue
            assert found[c] == pytest.approx(local(rows, cards, name, child, family), **CLOSE)
            if name in ("cell", "spread"):
                assert occupied[c] == len(cells)


@pytest.mark.parametrize("weighted", [False, True])
def test_more_configurations_than_memory_has_cells_are_numbered_by_what_occurs(weighted):
    p, n = 42, 65
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((p, n)) < 0.02, 1, 0).astype(np.uint8)
    weights = rng.integers(1, 4, n) if weighted else np.empty(0, dtype=np.int64)
    rows = np.repeat(codes.T, weights if weighted else 1, axis=0).tolist()
    counts = np.arange(len(rows) + 1, dtype=np.float64)
    counts[1:] *= np.log(counts[1:])
    lookup = np.floor(np.ldexp(counts, SHIFT) + 0.5).astype(np.int64)
    layout = np.stack([np.full(p, 2), np.full(p, -1)])
    data = (codes, weights, np.empty((0, 2), dtype=np.uint64), layout, lookup, np.array(TERMS["likelihood"]))
    found, occupied = np.full(1, 7.0), np.full(1, -7, dtype=np.int64)
    asked = (np.array([range(p - 1)]), np.array([0, 1]), np.array([p - 1]))
    both(
        candidates,
        "score_grown",
        data,
        np.array([64, 4096]),
        *asked,
        found,
        occupied,
        inside=(counting, reducing),
    )
    parents = [*range(p - 2), p - 1]
    assert found[0] == pytest.approx(scores.log_likelihood(rows, p - 2, parents), **CLOSE)
