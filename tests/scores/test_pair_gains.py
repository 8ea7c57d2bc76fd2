"""The pairs of discrete columns that remain after screening: those of which an arc raises the score."""

from __future__ import annotations

import numpy as np
import pytest

from bayescout.scores import bind, family_prior, formula_named, pair_gains
from bayescout.scores.pair_gains import CountPairs
from bayescout.statistics import sieve
from bayescout.statistics.screening import screened
from tests.reference.kernels import uncompiled
from tests.scores.drawn_data import table_of

pytestmark = pytest.mark.usefixtures("fast_uncompiled")


def drawn(cards, rows, seed, weights=None):
    """Columns of which every second follows another one, more or less."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, r, rows) for r in cards]
    for i in range(1, len(cards)):
        other = codes[int(rng.integers(i))]
        chance = float(rng.choice([0.0, 0.15, 0.5]))
        codes[i] = np.where(rng.random(rows) < chance, other, codes[i]) % cards[i]
    return table_of(codes, cards, weights)


def by_definition(scorer, least):
    """The pairs by the definition, each from its own score or its own table."""
    kept, p = set(), scorer.n_variables
    for x in range(p):
        for y in range(x + 1, p):
            if least is None:
                ways = ((x, y), (y, x))
                gains = [scorer.local(child, (parent,)) - scorer.local(child, ()) for parent, child in ways]
                remains = max(gains) > 0
            else:
                counts = scorer.statistics.many([(y, (x,))]).table(0).astype(float)
                expected = counts.sum(0) * counts.sum(1)[:, None] / counts.sum()
                seen = counts > 0
                remains = (counts[seen] * np.log(counts[seen] / expected[seen])).sum() >= least
            if remains:
                kept.add((x, y))
    return kept


def pairs_of(made):
    owners = np.repeat(np.arange(made.n), np.diff(made.starts))
    return {(x, y) for x, y in zip(owners.tolist(), made.ends.tolist(), strict=True) if x < y}


CARDS = {"two states": [2] * 12, "some": [2, 3, 2, 1, 4, 3, 2, 2, 1, 5], "many": [2, 40, 3, 20, 2]}
SCORES = ["bic", "aic", "ebic", "loglik", "bdeu", "k2", "bds", "qnml"]


@pytest.mark.parametrize("kind", CARDS)
@pytest.mark.parametrize("score", SCORES)
def test_pairs_are_those_of_which_an_arc_raises_the_score(kind, score, monkeypatch):
    for seed, prior in ((0, "sparse"), (1, "uniform")):
        table = drawn(CARDS[kind], 70, seed)
        scorer = bind(score, table, 1, prior=family_prior(prior, table.names))
        expected = by_definition(scorer, None)
        for tile in (3, 64):
            monkeypatch.setattr(sieve, "BLOCK", tile)
            monkeypatch.setattr(pair_gains, "EXACT_CELLS", 8 * tile)
            assert pairs_of(screened(CountPairs(scorer), None, "a test")) == expected
    assert score in ("loglik", "aic") or 0 < len(expected) < len(table.names) ** 2 / 2


@pytest.mark.parametrize("kind", CARDS)
@pytest.mark.parametrize("least", [0.5, 2.0, 10.0])
def test_a_number_is_the_log_likelihood_that_an_arc_gains(kind, least):
    scorer = bind("bdeu", drawn(CARDS[kind], 90, 3), 1)
    assert pairs_of(screened(CountPairs(scorer, least), least, "a test")) == by_definition(scorer, least)


@pytest.mark.parametrize("weights", [np.arange(40) % 3 + 1.0, np.linspace(0.5, 2.5, 40)])
def test_rows_with_weights(weights):
    for score in ("bic", "bdeu"):
        table = drawn([2, 2, 3, 2, 4, 2], 40, 5, weights)
        scorer = bind(score, table, 1, prior=family_prior("sparse", table.names))
        assert pairs_of(screened(CountPairs(scorer), None, "a test")) == by_definition(scorer, None)


def test_the_coarse_stage_leaves_little_to_score():
    """Else it would be right however it weighs."""
    table = drawn([2] * 20 + [3] * 20, 200, 2)
    for score in ("bic", "k2", "bdeu"):
        scorer = bind(score, table, 1, prior=family_prior("sparse", table.names))
        pairs = CountPairs(scorer)
        coarse = {(x, y) for some in pairs.coarse(lambda: None) for x, y in zip(*some, strict=True)}
        assert coarse == by_definition(scorer, None)


def test_constant_columns_are_joined_to_nothing():
    codes = np.zeros((30, 50), dtype=np.uint8)
    codes[:2] = np.random.default_rng(0).integers(0, 2, (1, 50))
    table = table_of(codes, [2] * 30)
    for score in ("bic", "bdeu"):
        scorer = bind(score, table, 1, prior=family_prior("sparse", table.names))
        assert pairs_of(screened(CountPairs(scorer), None, "a test")) == {(0, 1)}


def test_more_pairs_than_there_is_room_for_at_first(monkeypatch):
    rows = np.random.default_rng(0).integers(0, 2, 100)
    table = table_of(rows ^ np.eye(100, dtype=int), [2] * 100)
    scorer = bind(formula_named("bic"), table, 2)
    assert screened(CountPairs(scorer), None, "a test").n_pairs == 4950


@pytest.mark.slow
def test_compiled_and_on_threads_they_are_the_same():
    table = drawn(np.random.default_rng(0).integers(1, 6, 300).tolist(), 150, 4)
    made = []
    for workers in (1, 2):
        scorer = bind("bic", table, workers, prior=family_prior("sparse", table.names))
        made.append(pairs_of(screened(CountPairs(scorer), None, "a test")))
    with uncompiled():
        made.append(pairs_of(screened(CountPairs(scorer), None, "a test")))
    assert made[0] == made[1] == made[2] == by_definition(scorer, None)


def test_of_columns_that_split_the_rows_alike_the_first_stands_for_all():
    """Whatever their states are called; not one that merges states, has others, or never changes."""
    a, b = np.random.default_rng(0).integers(0, 3, (2, 60))
    b = np.where(np.arange(60) < 40, a, b)
    columns = [a, b, (a + 1) % 3, np.minimum(a, 1), a, b, np.zeros(60, int), np.zeros(60, int), 2 - a]
    table = table_of(np.array(columns), [3, 3, 3, 2, 3, 3, 2, 2, 4])
    found = screened(CountPairs(bind("bic", table, 1)), None, "a test")
    ends = [set(found.ends[a:b].tolist()) for a, b in zip(found.starts, found.starts[1:], strict=False)]
    assert ends == [{1, 2, 3, 8}, {0, 3, 5, 8}, {0, 4}, {0, 1, 8}, {2}, {1}, set(), set(), {0, 1, 3}]
    assert found.alike.tolist() == [[2, 0], [4, 0], [5, 1]]


def test_columns_whose_sums_are_the_same_by_chance_are_no_copies(monkeypatch):
    table = drawn([2] * 6, 40, 3)
    expected = screened(CountPairs(bind("bic", table, 1)), None, "a test")
    every = np.array([[later, 0] for later in range(1, 6)])
    monkeypatch.setattr(pair_gains, "suspected_copies", lambda codes, cards: every)
    found = screened(CountPairs(bind("bic", table, 1)), None, "a test")
    assert pairs_of(found) == pairs_of(expected)
    assert not len(found.alike)


def test_a_thousand_copies_are_few_pairs():
    rows = np.random.default_rng(0).integers(0, 2, (20, 50))
    table = table_of(np.vstack([rows, *[rows[:1]] * 1000]), [2] * 1020)
    found = screened(CountPairs(bind("bic", table, 1)), None, "a test")
    assert len(found.alike) == 1000
    assert 1000 <= found.n_pairs < 1050
