"""What pairs of columns have in common, beside sums over the rows one by one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from bayescout.data.table import MissingReport, Table
from bayescout.statistics.pairs import pair_gains


def drawn(seed: int, rows: int, cards: list[int], numbers: int, share: float, weighted: bool) -> Table:
    """Dependent columns of both kinds with cells removed."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal(rows)
    codes = np.zeros((len(cards), rows), dtype=np.uint8)
    for i, card in enumerate(cards):
        edges = np.quantile(hidden, np.linspace(0, 1, card + 1)[1:-1])
        codes[i] = np.searchsorted(edges, hidden + 0.7 * rng.standard_normal(rows))
        codes[i, rng.random(rows) < share] = card
    values = hidden * rng.standard_normal((numbers, 1)) + rng.standard_normal((numbers, rows)) + 100
    values[rng.random(values.shape) < share] = np.nan
    names = tuple(f"v{i}" for i in range(len(cards) + numbers))
    states = tuple(tuple(f"s{k}" for k in range(card)) for card in cards) + (None,) * numbers
    weights = rng.integers(1, 4, rows).astype(float) if weighted else None
    return Table(names, states, codes, values, weights, MissingReport("keep"))


def slow_gain(table: Table, one: str, two: str) -> tuple[float, float]:
    """Nats per row and rows, by dictionaries and lists of the rows in which both cells are there."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    here = ~(table.missing_cells(one) | table.missing_cells(two))
    a, b, w = table.array(one)[here].tolist(), table.array(two)[here].tolist(), weights[here].tolist()
    n = sum(w)
    kinds = [table.states[table.index(name)] is not None for name in (one, two)]
    if n == 0:
        return 0.0, 0.0
    if all(kinds):
        joint: Counter[tuple[int, int]] = Counter()
        left: Counter[int] = Counter()
        right: Counter[int] = Counter()
        for x, y, weight in zip(a, b, w, strict=True):
            joint[x, y] += weight
            left[x] += weight
            right[y] += weight
        return sum(c / n * math.log(c * n / (left[x] * right[y])) for (x, y), c in joint.items()), n
    if not any(kinds):
        r = np.cov(a, b, aweights=w, ddof=0)
        return -0.5 * math.log(1 - r[0, 1] ** 2 / (r[0, 0] * r[1, 1])), n
    states, numbers = (np.array(a), np.array(b)) if kinds[0] else (np.array(b), np.array(a))
    weight = np.array(w)

    def scatter(rows: np.ndarray) -> float:
        mean = np.average(numbers[rows], weights=weight[rows])
        return float((weight[rows] * (numbers[rows] - mean) ** 2).sum())

    within = sum(scatter(states == state) for state in set(states.tolist()))
    return 0.5 * math.log(scatter(np.ones(len(states), dtype=bool)) / within), n


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("cards", "numbers"), [([2, 3, 4], 0), ([], 3), ([2, 5], 2), ([3], 1), ([2], 0), ([], 1), ([17, 2], 1)]
)
def test_gains_equal_those_of_the_rows_one_by_one(cards: list[int], numbers: int, weighted: bool) -> None:
    table = drawn(len(cards) + numbers, 300, cards, numbers, 0.25, weighted)
    found = pair_gains(table)
    for i, one in enumerate(table.names):
        for j, two in enumerate(table.names):
            if i != j:
                gain, rows = slow_gain(table, one, two)
                assert found.gains[i, j] == pytest.approx(gain, abs=2e-6)
                assert found.rows[i, j] == rows


def test_gains_do_not_depend_on_the_order_of_the_rows() -> None:
    table = drawn(5, 5000, [2, 3], 3, 0.2, False)
    shuffled = table.take(np.random.default_rng(1).permutation(table.n_rows))
    assert (pair_gains(table).gains == pair_gains(shuffled).gains).all()


def test_columns_that_are_never_there_together_have_nothing_in_common() -> None:
    codes = np.array([[0, 1, 2, 2], [2, 2, 0, 1]], dtype=np.uint8)
    values = np.array([[1.0, 2.0, np.nan, np.nan], [np.nan, np.nan, 5.0, 6.0]])
    names, states = ("a", "b", "x", "y"), (("n", "y"), ("n", "y"), None, None)
    found = pair_gains(Table(names, states, codes, values, None, MissingReport("keep")))
    assert found.rows[0, 1] == found.rows[2, 3] == found.rows[0, 3] == 0
    assert found.charged()[0, 1] == found.charged()[2, 3] == -np.inf


def test_a_copy_and_a_constant_give_finite_gains() -> None:
    codes = np.array([[0, 1, 0, 1], [0, 1, 0, 1]], dtype=np.uint8)
    values = np.array([[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0], [7.0, 7.0, 7.0, 7.0]])
    found = pair_gains(Table(tuple("abxyz"), (("n", "y"), ("n", "y"), None, None, None), codes, values))
    assert np.isfinite(found.gains).all()
    assert found.gains[4].tolist() == [0.0] * 5


def test_columns_of_many_states_have_the_gains_of_the_rows_one_by_one() -> None:
    """Their tables are larger than is held whole: the states that occur have to be told apart."""
    rng = np.random.default_rng(3)
    one, two = rng.permutation(np.arange(400) % 80), rng.permutation(np.arange(400) % 120)
    codes = np.array([one, two, np.arange(400) % 100], dtype=np.uint8)
    codes[0, :10], codes[1, 5:15] = 80, 120
    states = tuple(tuple(f"s{k}" for k in range(card)) for card in (80, 120, 130))
    table = Table(("a", "b", "c"), states, codes, np.empty((0, 400)), None, MissingReport("keep"))
    found = pair_gains(table)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        gain, rows = slow_gain(table, table.names[i], table.names[j])
        assert found.gains[i, j] == found.gains[j, i] == pytest.approx(gain, abs=2e-6)
        assert found.rows[i, j] == rows
