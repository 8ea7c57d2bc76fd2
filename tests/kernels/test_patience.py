"""Kernels that wait to be compiled: the same bits without compilation, and compiled when that pays."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.kernels import candidates, content, counting, insertions, moves, neighbours, reducing
from bayescout.kernels.limits import MASKED_CELLS
from bayescout.kernels.patience import patience, patient, waits
from tests.kernels.test_scoring_kernels import problems
from tests.reference.kernels import uncompiled, waiting_kernels


def same(kernel, *arguments):
    """Call a kernel compiled and uncompiled; what it returns and what it writes must be the same bits."""
    copies = copy.deepcopy(arguments)
    returned = kernel(*arguments)
    with uncompiled():
        assert waits(kernel, kernel.seconds(*copies)), "the twin must be what is called"
        assert repr(kernel(*copies)) == repr(returned)
    for one, other in zip(_arrays(arguments), _arrays(copies), strict=True):
        assert one.tobytes() == other.tobytes()
    return returned


def _arrays(value):
    if isinstance(value, tuple | list):
        return [array for item in value for array in _arrays(item)]
    return [value] if isinstance(value, np.ndarray) else []


def masks_of(sets, n):
    words = (n + 63) // 64
    return np.array(
        [[sum(1 << (v - 64 * w) for v in one if v // 64 == w) for w in range(words)] for one in sets],
        dtype=np.uint64,
    ).reshape(len(sets), words)


# ---- twins, one by one


@given(problems(), st.integers(0, 9999))
def test_twins_of_counting_write_the_same(problem, seed):
    (codes, weights, bitmaps, layout, _, _), _, _, _ = problem
    rng = np.random.default_rng(seed)
    p, n = codes.shape
    cards, first = layout
    order = rng.permutation(p)
    k = int(rng.integers(1, p + 1))
    family, others = order[:k].copy(), order[k:].copy()
    sizes = cards[family].prod() * np.append(cards[others], 1)
    gaps = np.cumsum(np.append(0, sizes + rng.integers(0, 3)))  # tables need not follow each other at once
    starts, room = gaps[:-1].copy(), int(gaps[-1])
    bitmaps = np.zeros_like(bitmaps)
    same(counting.fill_bitmaps, codes, first, bitmaps)
    if (first >= 0).all():
        same(counting.count_bits, bitmaps, first, cards, family, others, starts, np.full(room, -7))
    ids = np.empty(n, dtype=np.uint32)
    same(counting.number_cells, codes, cards, family, ids)
    r = int(cards[family[-1]])
    shape = np.array([cards[family].prod() // r, r])
    same(counting.count_scatter, codes, cards, ids, shape, others, starts, np.full(room, -7))
    for some in (rng.integers(0, 2**55, n), rng.random(n)):
        out = np.full(room, -7).astype(some.dtype)
        same(counting.count_weighted, codes, cards, ids, shape, some, others, starts, out)
    members, bounds = np.concatenate([family, order]), np.array([0, k, k + p])
    ends = np.array([0, cards[family].prod(), cards[family].prod() + cards.prod()])
    out = np.full(ends[-1], -7)
    same(counting.count_families, codes, weights, bitmaps, layout, members, bounds, ends, out)
    ends = np.array([0, cards[family].prod()])
    if len(weights) == 0 and (first[family] >= 0).all() and ends[1] <= MASKED_CELLS:
        given_bits = codes[:0], weights, bitmaps, layout, family, np.array([0, k])
        same(counting.count_families, *given_bits, ends, np.full(ends[1], -7))


@given(st.integers(0, 9999), st.integers(1, 3), st.sampled_from([1, 2, 40]))
def test_twins_of_numbering_write_the_same(seed, words, values):
    rng = np.random.default_rng(seed)
    keys = rng.integers(-(2**62), 2**62, (words, values))[:, rng.integers(0, values, 60)].copy()
    ids = np.empty(60, dtype=np.int32)
    same(counting.densify, keys, ids)
    codes = rng.integers(0, 200, (4, 60)).astype(np.uint8)
    shifts = np.array([0, 8, 54, 64])
    same(counting.pack_cells, codes, np.array([2, 0, 1, 3]), shifts, np.full((2, 60), -1))
    same(counting.append_cells, ids, codes[1], 256, np.empty(60, dtype=np.uint32))


@given(st.integers(0, 9999), st.booleans())
def test_twins_of_content_write_the_same(seed, weighted):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (3, 70)).astype(np.uint8)
    weights = rng.integers(0, 2**40, 70) if weighted else np.empty(0, dtype=np.int64)
    cards = np.array([4, 5, 6])
    same(content.column_spreads, codes, cards, weights, 2.0**-20, np.empty(3, dtype=np.int64))
    colours, rows = (rng.integers(0, 2**64, size, dtype=np.uint64) for size in (3, 70))
    same(content.mark_rows, codes, colours, rows)
    same(content.mark_columns, codes, colours, weights, rows, np.empty(3, dtype=np.uint64))


@given(st.integers(0, 9999), st.booleans())
def test_twins_of_sums_write_the_same(seed, alike):
    rng = np.random.default_rng(seed)
    states = np.full(4, 3) if alike else rng.integers(1, 5, 4)
    starts = np.append(0, np.cumsum(states * rng.integers(1, 6, 4)))
    counts = rng.integers(0, 9, starts[-1]) * rng.integers(0, 2, starts[-1])
    lookup = rng.integers(0, 2**40, counts.sum() + 1)
    grid = np.array([2.0**40, 10.0, 2.0**-30])
    same(reducing.sum_xlogx, counts, starts, states, lookup, grid, np.empty((3, 4)))
    assert reducing.log_regret.plain(57, 4) == reducing.log_regret(57, 4)


@given(st.integers(0, 9999), st.integers(1, 9), st.booleans())
def test_twins_of_moves_write_the_same(seed, n, few):
    rng = np.random.default_rng(seed)
    place = rng.permutation(n)
    adjacent = (rng.random((n, n)) < 0.4) & (place[:, None] < place)
    reach = np.empty((n, n), dtype=bool)
    same(moves.fill_reach, adjacent, reach)
    values = np.array([-np.inf, -1.0, 0.0, 1.0] if few else [-np.inf, *rng.normal(size=50)])
    gains = np.where(adjacent.T, -np.inf, rng.choice(values, (n, n)))
    removals = np.where(adjacent.T, rng.choice(values, (n, n)), -np.inf)
    banned = rng.random((n, n)) < 0.1
    graph = adjacent, gains, removals, np.zeros(n), gains.max(axis=1)
    arcs = np.flatnonzero(adjacent.T)
    same(moves.best_move, graph, arcs, reach, banned | banned.T, np.full(3, -1))
    for parent, child in np.argwhere(~reach.T & ~np.eye(n, dtype=bool))[:3].tolist():
        same(moves.add_to_reach, reach.copy(), parent, child)


@given(st.integers(0, 9999), st.sampled_from([3, 64, 70]))
def test_twins_of_lists_write_the_same(seed, n):
    rng = np.random.default_rng(seed)
    sets, starts = [], [0]
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets += [
            rng.choice(others, rng.integers(0, 3), replace=False).tolist() for _ in range(rng.integers(1, 5))
        ]
        starts.append(len(sets))
    masks, starts = masks_of(sets, n), np.array(starts)
    holders = np.empty(sum(map(len, sets)), dtype=np.int64)
    same(insertions.index_lists, masks, starts, np.empty(n * n + 1, dtype=np.int64), holders)
    lists = masks, starts, rng.normal(size=len(sets))
    same(insertions.choose_all, lists, rng.permutation(n), np.empty(n, dtype=np.int64))
    some = masks[rng.permutation(len(sets))[:12]]
    same(insertions.undominated, some, np.empty(len(some), dtype=bool))


@given(problems(), st.integers(0, 9999))
def test_fused_kernels_give_the_same(problem, seed):
    data = problem[0]
    rng = np.random.default_rng(seed)
    p = data[0].shape[0]
    adjacent = np.triu(rng.random((p, p)) < 0.4, 1)
    rules = ~np.eye(p, dtype=bool), np.zeros((p, p), dtype=bool), np.full(p, 3)
    graph = adjacent, np.zeros((p, p)), np.zeros((p, p)), np.zeros(p), np.zeros(p)
    same(neighbours.fill_rows, data, rules, graph, np.arange(p))
    limits = np.array([[16, 10**6], [10**6, 10**6]][int(rng.integers(2))])
    order = rng.permutation(p)
    for k in range(1, p):
        families = order[None, :k].copy()
        others = order[k:].copy()
        out = np.empty(p - k), np.empty(p - k, dtype=np.int64)
        same(candidates.score_grown, data, limits, families, np.array([0, p - k]), others, *out)


def test_families_of_many_cells_are_counted_by_what_occurs():
    """More configurations than there is room for, with and without bitmaps."""
    rng = np.random.default_rng(1)
    cards = np.full(9, 5)
    codes = rng.integers(0, 5, (9, 80)).astype(np.uint8)
    codes.flags.writeable = False
    first = np.full(9, -1)
    data = (codes, np.empty(0, dtype=np.int64), np.zeros((0, 2), dtype=np.uint64), np.stack([cards, first]))
    data += (None, np.array([1.0, 2.0**40, 10.0, 2.0**-30, 0.0, 1.0]))
    out = np.empty(1), np.empty(1, dtype=np.int64)
    limits = np.array([400, 10**6])
    same(candidates.score_grown, data, limits, np.arange(8)[None], np.array([0, 1]), np.array([8]), *out)
    assert out[1][0] == 80


# ---- whole runs


def answer(found):
    trace = [step._replace(seconds=0.0) for step in found.trace]
    return found.score, list(found.dag.arcs()), trace, found.counters, found.stop_reason, found.bound


def tables():
    alarm = bs.load_network("alarm").sample(300, seed=3)
    few = bs.load_network("asia").sample(20_000, seed=3)  # rows are folded into weights
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 3, 200)
    many = {f"v{i}": [f"s{c}" for c in (hidden * 9 + rng.integers(0, 25, 200))] for i in range(6)}
    return {"alarm": alarm, "folded": few, "many states": bs.as_table(many, kinds="discrete")}


@pytest.mark.parametrize("name", ["alarm", "folded", "many states"])
@pytest.mark.parametrize(
    "score", ["auto", *(pytest.param(s, marks=pytest.mark.slow) for s in ("bic", "bdeu"))]
)
def test_runs_give_the_same_answer_uncompiled(name, score):
    table = tables()[name]
    for search in ("hill-climb", "auto"):
        settings = {"search": search} if score == "auto" else {"search": search, "score": score}
        compiled = bs.learn(table, **settings)
        with uncompiled():
            plain = bs.learn(copy.deepcopy(table), **settings)
        assert repr(answer(plain)) == repr(answer(compiled))


# ---- when they are compiled


def test_a_kernel_is_compiled_when_its_patience_is_spent(monkeypatch):
    monkeypatch.setattr(patience, "on", True)
    monkeypatch.setattr("bayescout.kernels.patience._is_kept", lambda kernel: False)  # by an earlier run
    calls = []

    def instead(x):
        calls.append(x)
        return x + 1

    @patient(1.0, lambda x: x / 10, instead)
    def kernel(x):
        return x + 1

    assert [kernel(4), kernel(5), len(kernel.overloads)] == [5, 6, 0]
    assert [kernel(4), len(kernel.overloads)] == [5, 1]
    assert [kernel(1), calls] == [2, [4, 5]], "what is compiled is used"


def test_kernels_that_are_compiled_or_kept_are_used(monkeypatch):
    table = bs.load_network("asia").sample(50, seed=1)
    bs.learn(table, "hill-climb", "bic")
    monkeypatch.setattr(patience, "on", True)
    waiting = waiting_kernels()
    for kernel in (waiting["neighbours.fill_rows"], waiting["moves.best_move"]):
        assert kernel.overloads
        assert not waits(kernel, 0.0)


FIRST = """
import json, sys
import bayescout as bs
from bayescout.kernels.jit import compiling
table = bs.load_network("alarm").sample(1000, seed=1)
bs.learn(table, "hill-climb", "bic")
before = compiling.kernels
bs.learn(table)
print(json.dumps([before, compiling.kernels]))
"""


def test_the_first_run_on_a_small_table_compiles_little(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FIRST],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    climbing, default = json.loads(done.stdout)
    assert climbing == 0
    assert default <= 8
