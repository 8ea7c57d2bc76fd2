"""The compiled rows of gains are those of the score's own methods, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout.scores import BDeu, Bic, bind
from bayescout.scores.gain_rows import GainRows, Gains
from bayescout.search import Knowledge
from bayescout.search.frame.problem import as_matrix
from tests.scores.drawn_data import table_of

COMPILED = ["loglik", "aic", Bic(penalty=2.0), "ebic", "k2", "bd", BDeu(ess=10)]


def rows_of(table, score, rules, parents, compiled):
    rows = GainRows(bind(score, table), rules)
    if not compiled:
        rows._kernel = None
    n = table.n_columns
    gains = Gains(as_matrix(parents, n), *(np.full(shape, np.nan) for shape in ((n, n), (n, n), n, n)))
    rows.fill(parents, gains)
    return rows, gains


@pytest.mark.parametrize("score", COMPILED, ids=str)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["plain", "weights", "wide", "folded"]))
def test_compiled_rows_equal_asked_ones(score, seed, kind):
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 5, 5) if kind != "wide" else np.array([2, 3, 20, 17, 40])
    rows = {"plain": 150, "weights": 60, "wide": 400, "folded": 60_000}[kind]
    cards = np.minimum(cards, 2) if kind == "folded" else cards
    weights = rng.integers(0, 4, rows) + (np.arange(rows) < 2) if kind == "weights" else None
    table = table_of([rng.integers(0, r, rows) * (rng.random(rows) < 0.7) for r in cards], cards, weights)
    names = table.names
    knowledge = Knowledge(required=[(names[0], names[1])], forbidden=[(names[3], names[1])], max_parents=3)
    rules = knowledge.compile(names)
    parents = ((), (0, 2), (), (0, 1, 2), (1,))
    fast, compiled = rows_of(table, score, rules, parents, compiled=True)
    slow, asked = rows_of(table, score, rules, parents, compiled=False)
    assert fast.scorer.compiled > 0
    assert slow.scorer.compiled == 0
    for one, other in zip(compiled.arrays, asked.arrays, strict=True):
        assert np.array_equal(one, other)
    assert fast.scorer.asked == slow.scorer.asked


def test_families_too_large_for_a_dense_table_are_asked_for():
    rng = np.random.default_rng(0)
    table = table_of(rng.integers(0, 30, (6, 50)), [30] * 6)
    rules = Knowledge().compile(table.names)
    rows, gains = rows_of(table, "k2", rules, ((), (0, 2, 3), (), (), (), ()), compiled=True)
    assert rows.scorer.compiled == 5 * 6
    score = bind("k2", table)
    assert gains.locals[1] == score.local(1, (0, 2, 3))
    assert gains.added[1, 4] == score.local(1, (0, 2, 3, 4)) - score.local(1, (0, 2, 3))
    assert gains.removed[1, 0] == score.local(1, (2, 3)) - score.local(1, (0, 2, 3))


def test_rows_are_remembered_and_may_be_forgotten(monkeypatch):
    from bayescout.scores import gain_rows as module

    table = table_of(np.random.default_rng(0).integers(0, 2, (4, 80)), [2] * 4)
    rules = Knowledge().compile(table.names)
    empty = ((),) * 4
    for limit in (1 << 20, 0):
        monkeypatch.setattr(module, "ROW_BYTES", limit)
        rows, gains = rows_of(table, "bic", rules, empty, compiled=True)
        once = rows.scorer.compiled
        before = [part.copy() for part in gains.arrays]
        rows.fill(empty, gains)
        assert rows.scorer.compiled == once
        assert all(np.array_equal(a, b) for a, b in zip(before, gains.arrays, strict=True))
    rows._memory.clear()
    rows.fill(empty, gains, remember=False)
    rows.fill(empty, gains, remember=False)
    assert rows.scorer.compiled == 3 * once
