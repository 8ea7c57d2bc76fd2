"""Moves between candidates against every graph one arc away, along walks whose gains tie."""

from __future__ import annotations

import numpy as np
import pytest

from bayescout.kernels import climbing
from bayescout.kernels.moves import ADD, REVERSE
from tests.reference.kernels import uncompiled
from tests.reference.moves import after, legal_moves

NONE = -np.inf
FEW = [-2.0, -1.0, 1.0, 2.0, 3.0, NONE]


def laid_out(n, pairs, watches):
    """An empty graph between these candidates."""
    others = [sorted({a + b - v for a, b in pairs if v in (a, b)}) for v in range(n)]
    starts = np.cumsum([0, *map(len, others)])
    ends = np.array([v for own in others for v in own], dtype=np.int32)
    m = len(ends)
    owners, mirrors = np.empty(m, np.int32), np.empty(m, np.int32)
    climbing.find_mirrors(starts, ends, owners, mirrors)
    return climbing.Climb(
        starts, ends, owners, mirrors, np.zeros(m, bool), np.full(m, NONE), np.full(m, NONE),
        np.zeros(m, np.int8), np.zeros(m, np.int8),
        np.full(max(2, 1 << max(0, m - 1).bit_length()), -1, np.int32),
        np.full(m, -1, np.int32), np.full(m, -1, np.int32), np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.full(n, -1, np.int64), np.empty(watches, np.int64), np.empty(watches, np.int64),
        np.zeros((2, n), np.int64), np.zeros((2, n), np.int32), np.zeros((2, n), np.int32),
        np.array([0, 0, -1, 0]),
    )  # fmt: skip


def expected_moves(n, climb, arcs):
    """The legal moves between candidates and their gains, from matrices of all pairs."""
    added, removed = np.full((n, n), NONE), np.full((n, n), NONE)
    for child, parent, joined, gain in zip(climb.owners, climb.ends, climb.joined, climb.gains, strict=True):
        (removed if joined else added)[child, parent] = gain
    return legal_moves(n, arcs, added, removed)


def walk(seed, steps):
    """Take random and best moves, and compare the best legal one, and all reversals, at each graph."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    pairs = [(a, b) for b in range(n) for a in range(b) if rng.random() < 0.8]
    climb, arcs, out, full = laid_out(n, pairs, 4), frozenset(), np.empty(2, dtype=np.int64), 0
    m = len(climb.ends)
    climb.gains[:] = rng.choice(FEW, m)
    climbing.settle(climb, np.arange(n))
    for _ in range(steps):
        banned = np.flatnonzero(rng.random(m) < 0.1)
        banned = np.unique(np.concatenate([banned, climb.mirrors[banned]])).astype(np.int64)
        legal = expected_moves(n, climb, arcs)
        free = {
            move: gain
            for move, gain in legal.items()
            if not any((climb.owners[e], climb.ends[e]) == move[1:] for e in banned)
        }
        gain = climbing.best_entry(climb, banned, out)
        while out[0] == climbing.MORE_WATCHES:
            full += 1
            nexts, watchers = (np.concatenate([some, some]) for some in (climb.nexts, climb.watchers))
            climb = climb._replace(nexts=nexts, watchers=watchers)
            gain = climbing.best_entry(climb, banned, out)
        assert gain == max(free.values(), default=NONE)
        if free:
            found = int(out[0]), int(climb.owners[out[1]]), int(climb.ends[out[1]])
            assert found == max(free, key=free.__getitem__)
        flags = np.empty(m, dtype=bool)
        climbing.legal_reversals(climb, flags)
        reversals = {(REVERSE, int(climb.owners[e]), int(climb.ends[e])) for e in np.flatnonzero(flags)}
        assert reversals == {move for move in legal if move[0] == REVERSE}
        if not legal:
            break
        # Additions are preferred, so that graphs are full and many moves would close a cycle.
        ways = sorted(legal, key=lambda move: (move[0] != ADD and rng.random() < 0.7, rng.random()))
        kind, child, parent = ways[0]
        arcs = after(arcs, kind, child, parent)
        entry = next(e for e in range(m) if (climb.owners[e], climb.ends[e]) == (child, parent))
        climbing.make_move(climb, kind, entry)
        changed = [child, parent] if kind == REVERSE else [child]
        for one in changed:
            where = slice(*climb.starts[one : one + 2])
            climb.gains[where] = rng.choice(FEW, len(climb.gains[where]))
        climbing.settle(climb, np.array(changed))
    return full


def test_the_best_move_between_candidates_is_the_best_of_all_that_leave_no_cycle():
    with uncompiled():
        assert sum(walk(seed, 25) for seed in range(40)) > 5


@pytest.mark.slow
def test_the_same_compiled():
    for seed in range(400):
        walk(seed, 40)
