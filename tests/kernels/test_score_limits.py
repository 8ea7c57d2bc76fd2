"""Scores at the limits of what stands under them: words, batches, grids, weights and the cache."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from bayescout.scores import BDeu, Bge, Bic, LaplaceBic, bind
from bayescout.scores import table_scorer as engine
from bayescout.scores.nml import log_complexity as our_complexity
from bayescout.statistics.counts import Counts
from tests.reference.kernels import log_complexity
from tests.scores.drawn_data import continuous_table, scorer_of, table_of


def drawn(cards, rows, seed=0):
    rng = np.random.default_rng(seed)
    return table_of([rng.integers(0, r, rows) for r in cards], cards)


# ---- counting


@pytest.mark.parametrize("states", [2, 5, 8, 17, 300])
def test_no_parent_is_lost_where_a_key_goes_on_in_the_next_word(states):
    """Two rows that differ in one parent only are two configurations, wherever its bits are."""
    for odd in range(1, 70):
        codes = np.zeros((71, 2), dtype=int)
        codes[odd, 1] = states - 1
        found = Counts(table_of(codes, [states] * 71)).many([(0, tuple(range(1, 71)))])
        assert len(found.table(0)) == 2


def test_sums_of_fractional_weights_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(0, 2, (3, 400)), rng.random(400)
    expected = Counts(table_of(codes, [2] * 3, weights)).many([(0, (1, 2))]).counts.tolist()
    for _ in range(20):
        order = rng.permutation(400)
        shuffled = table_of(codes[:, order], [2] * 3, weights[order])
        assert Counts(shuffled).many([(0, (1, 2))]).counts.tolist() == expected


# ---- numbers that could leave their range


def test_a_child_of_one_state_costs_nothing_with_any_number_of_parents():
    table = drawn([1] + [2] * 1100, 30)
    assert bind("bic", table).local(0, tuple(range(1, 1101))) == 0.0


@pytest.mark.parametrize("ess", [1e-300, 1e-30, 0.5, 1e4])
def test_bdeu_with_hardly_any_prior(ess):
    table = drawn([2] * 11, 3000)
    parents = tuple(range(1, 11))
    cells = Counter(map(tuple, table.codes.T.tolist()))
    configs = Counter(map(tuple, table.codes[1:].T.tolist()))

    def risen(counts, a):
        return math.fsum(math.log(a + i) for count in counts.values() for i in range(count))

    expected = risen(cells, ess / 2**11) - risen(configs, ess / 2**10)
    assert bind(BDeu(ess=ess), table).local(0, parents) == pytest.approx(expected, rel=1e-12)


def test_a_thousand_cells_with_hardly_any_prior_are_summed_in_range():
    """Every cell costs 690 nats and the one configuration as much: only the sum of cells is large."""
    a = 1e-300 / 1000
    expected = 1000 * math.log(a) - math.log(1e-300) - math.fsum(math.log(i) for i in range(1, 1000))
    table = table_of([np.arange(1000), np.zeros(1000, dtype=int)], [1000, 2])
    assert bind(BDeu(ess=1e-300), table).local(0, ()) == pytest.approx(expected, rel=1e-12)


def test_corrected_bic_of_two_rows_and_65536_states():
    table = table_of([[0, 1], [0, 1]], [65_536, 2])
    expected = 2 * (math.log(2) - math.log(2 + 65_536))
    assert bind(LaplaceBic(penalty=0), table).local(0, ()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [2, 20, 100, 400])
@pytest.mark.parametrize("outcomes", [101, 999, 10_000, 10_001, 50_000, 1_000_000])
def test_complexity_is_exact_up_to_the_asymptotic_form_and_close_beyond(n, outcomes):
    error = 1e-9 if outcomes <= 10_000 else 1e-5
    assert our_complexity(n, float(outcomes)) == pytest.approx(log_complexity(n, outcomes), abs=error)


# ---- exact ties


@pytest.mark.parametrize("ess", [0.1, 0.7, 1.0, 10.0])
def test_bdeu_of_equivalent_graphs_is_equal_to_the_bit(ess):
    for seed in range(25):
        score = bind(BDeu(ess=ess), drawn([3, 5, 7], 3000, seed))
        forward = score.local(0, (2,)) + score.local(1, (0, 2))
        assert forward == score.local(1, (2,)) + score.local(0, (1, 2))


def test_a_gaussian_arc_gains_the_same_in_both_directions_to_the_bit():
    for seed in range(40):
        a, b = np.random.default_rng(seed).normal(size=(2, 200)) * [[3.0], [0.2]]
        score = bind("bic", continuous_table([a, a + b]))
        assert score.local(1, (0,)) - score.local(1, ()) == score.local(0, (1,)) - score.local(0, ())


# ---- Gaussian row weights


@pytest.mark.parametrize("formula", [Bic(), Bge()], ids=str)
def test_whole_gaussian_weights_are_repeated_rows(formula):
    from bayescout.data.table import Table

    rng = np.random.default_rng(0)
    x, weights = rng.normal(5, 2, size=(3, 40)), rng.integers(0, 5, 40)
    x[1] += x[0]
    repeated = continuous_table(np.repeat(x, weights, axis=1))
    weighted = Table(repeated.names, repeated.states, np.zeros((0, 40), np.uint8), x, weights.astype(float))
    for family in ((0, ()), (1, (0,)), (2, (0, 1))):
        assert bind(formula, weighted).local(*family) == pytest.approx(
            bind(formula, repeated).local(*family), abs=1e-6
        )


# ---- batches and the cache


def test_parents_are_a_set_in_whatever_order_they_are_given():
    score = scorer_of(BDeu(), drawn([3] * 5, 100))
    value = score.local(0, (1, 2, 3))
    assert score.many([(0, (3, 1, 2)), (0, (2, 3, 1))]).tolist() == [value, value]
    row = score.extensions(0, (2, 1), [3, 4]).tolist()
    assert score.extensions(0, (1, 2), [3, 4]).tolist() == row
    assert (row[0], score.computed, score.hits) == (value, 3, 4)


def test_an_extension_answers_for_its_family():
    score = scorer_of(BDeu(), drawn([3] * 5, 100))
    row = score.extensions(0, (1,), [2, 3])
    assert score.many([(0, (1, 2)), (0, (1, 3))]).tolist() == row.tolist()
    assert score.computed == 2


def test_batches_keep_to_their_cells(monkeypatch):
    monkeypatch.setattr(engine, "BATCH_CELLS", 100)
    table = drawn([3] * 6, 100)
    score, sizes = scorer_of(Bic(), table), []
    counted = score.statistics.many
    monkeypatch.setattr(
        score.statistics,
        "many",
        lambda some: sizes.append(sum(3 ** len(p) * 3 for _, p in some)) or counted(some),
    )
    asked = [(c, tuple(p for p in range(6) if p != c)[:k]) for c in range(6) for k in range(4)]
    assert score.many(asked).tolist() == [bind("bic", table).local(*family) for family in asked]
    assert len(sizes) > 1
    assert max(sizes) <= 100


def test_more_workers_than_candidates(monkeypatch):
    table = drawn([3] * 6, 100)
    expected = scorer_of(Bic(), table, workers=1).extensions(0, (1,), [2, 3, 4]).tolist()
    monkeypatch.setattr(engine, "SPLIT_ROWS", 0)
    assert scorer_of(Bic(), table, workers=5).extensions(0, (1,), [2, 3, 4]).tolist() == expected


def test_a_users_function_that_cannot_score_a_family_gives_minus_infinity():
    score = bind(lambda counts: math.nan if len(counts) > 3 else 1.0, drawn([3] * 3, 100))
    assert score.many([(0, (1,)), (0, (1, 2))]).tolist() == [1.0, -math.inf]
