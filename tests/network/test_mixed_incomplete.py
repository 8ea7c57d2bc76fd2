"""Rows with empty cells in networks of both kinds: sums and integrals over what is not there."""

from __future__ import annotations

import numpy as np
import pytest

import bayescout as bs
from bayescout.data.table import MissingReport, Table
from bayescout.errors import DataError
from bayescout.network import Network


def drawn(seed: int, share: float, rows: int = 40) -> tuple[Network, Table, Table]:
    network = bs.random_network(nodes=6, arcs=8, states=3, kind="mixed", seed=seed)
    full = network.sample(rows, seed=seed)
    rng = np.random.default_rng([seed, 5])
    codes, values = full.codes.copy(), full.values.copy()
    codes[rng.random(codes.shape) < share] = 3
    values[rng.random(values.shape) < share] = np.nan
    return network, full, Table(full.names, full.states, codes, values, None, MissingReport("keep"))


def evidence(table: Table, row: int) -> dict[object, object]:
    """The cells of a row that are there."""
    found: dict[object, object] = {}
    for name, states in zip(table.names, table.states, strict=True):
        if not table.missing_cells(name)[row]:
            cell = table.array(name)[row]
            found[name] = float(cell) if states is None else states[cell]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_predictions_are_those_of_queries_with_the_cells_that_are_there(seed: int) -> None:
    network, _, table = drawn(seed, 0.3)
    for target, states in zip(table.names, table.states, strict=True):
        found = network.predict(table, target) if states is None else network.predict_proba(table, target)
        for row in range(0, table.n_rows, 7):
            given = {name: value for name, value in evidence(table, row).items() if name != target}
            answer = network.query(target, given)
            if states is None:
                assert found[row] == pytest.approx(answer.mean)
            else:
                assert found[row] == pytest.approx(answer.probabilities)


@pytest.mark.parametrize("seed", range(6))
def test_the_likelihood_of_a_row_is_the_sum_over_a_missing_state(seed: int) -> None:
    network, full, _ = drawn(seed, 0.0)
    name = next(n for n, states in zip(full.names, full.states, strict=True) if states is not None)
    slot = [n for n, states in zip(full.names, full.states, strict=True) if states is not None].index(name)
    each = []
    for state in range(3):
        codes = full.codes.copy()
        codes[slot] = state
        each.append(network.row_log_likelihood(Table(full.names, full.states, codes, full.values)))
    codes = full.codes.copy()
    codes[slot] = 3
    holed = Table(full.names, full.states, codes, full.values, None, MissingReport("keep"))
    assert network.row_log_likelihood(holed) == pytest.approx(np.logaddexp.reduce(each, axis=0))


@pytest.mark.parametrize("seed", range(4))
def test_the_likelihood_of_a_row_is_the_integral_over_a_missing_number(seed: int) -> None:
    network, full, _ = drawn(seed, 0.0, rows=5)
    slot = len(full.values) - 1
    grid = np.linspace(-60, 60, 24_001)
    total = []
    for row in range(full.n_rows):
        one = full.take(np.full(len(grid), row))
        values = one.values.copy()
        values[slot] = grid
        logs = network.row_log_likelihood(Table(one.names, one.states, one.codes, values))
        total.append(np.log(np.trapezoid(np.exp(logs), grid)))
    values = full.values.copy()
    values[slot] = np.nan
    holed = Table(full.names, full.states, full.codes, values, None, MissingReport("keep"))
    assert network.row_log_likelihood(holed) == pytest.approx(np.array(total), abs=1e-6)


def test_filled_cells_are_most_probable_or_drawn_and_the_others_stay() -> None:
    network, _, table = drawn(1, 0.3)
    best = network.impute(table)
    several = network.impute(table, method="sample", n=3, seed=2)
    for made in (best, *several):
        assert not made.has_missing
        for name in table.names:
            here = ~table.missing_cells(name)
            assert (made.array(name)[here] == table.array(name)[here]).all()
    assert any((several[0].array(n) != several[1].array(n)).any() for n in table.names)
    for row in range(0, table.n_rows, 9):
        expected = network.most_probable(evidence(table, row))
        for name, states in zip(table.names, table.states, strict=True):
            cell = best.array(name)[row]
            assert (float(cell) if states is None else states[cell]) == pytest.approx(expected[name])


def test_parameters_fitted_to_incomplete_rows_come_near_those_of_all_rows() -> None:
    network, full, table = drawn(3, 0.2, rows=3000)
    fitted = bs.fit(network.dag, table, prior="bdeu")
    available = bs.fit(network.dag, table, prior="bdeu", missing="available")
    test = network.sample(4000, seed=77)
    likelihoods = [model.log_likelihood(test).mean for model in (network, fitted, available)]
    assert likelihoods[1] > likelihoods[0] - 0.05
    assert likelihoods[2] > likelihoods[0] - 0.1
    assert bs.fit(network.dag, table, prior="bdeu").equals(fitted)
    whole = Table(full.names, full.states, full.codes, full.values, None, MissingReport("keep"))
    assert bs.fit(network.dag, whole, missing="em").equals(bs.fit(network.dag, full))


def test_a_configuration_of_one_row_stays_one_row_when_rows_are_drawn_several_times() -> None:
    """An empty cell in another row must not turn it into a configuration with rows enough for a fit."""
    rng = np.random.default_rng(0)
    g = ["a", "b"] * 30 + ["r"]
    x = rng.normal(size=61) + np.array([3.0 * (one == "b") for one in g])
    cells = {"g": g, "x": x.tolist(), "y": (x + rng.normal(size=61)).tolist()}
    dag = bs.Dag(("g", "x", "y"), ((), (0,), (0, 1)))
    with pytest.warns(bs.BayescoutWarning, match="has fewer than"):
        whole = bs.fit(dag, cells)
    cells["y"][3] = None
    with pytest.warns(bs.BayescoutWarning, match="has fewer than"):
        model = bs.fit(dag, cells)
    for field in ("intercepts", "coefficients", "variances"):
        found, expected = (getattr(one.distributions[1], field) for one in (model, whole))
        assert found == pytest.approx(expected)
        found, expected = (getattr(one.distributions[2], field)[2] for one in (model, whole))
        assert found == pytest.approx(expected, abs=0.1)  # of the rows of all configurations


def test_columns_that_are_never_there_together_can_be_fitted() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=60), rng.normal(3.0, size=60)
    a[30:], b[:30] = np.nan, np.nan
    dag = bs.Dag(("a", "b", "g"), ((1, 2), (), ()))
    data = {"a": a, "b": b, "g": ["u", "v"] * 30}
    model = bs.fit(dag, data)
    assert model.query("b").mean == pytest.approx(np.nanmean(b), abs=0.2)
    with pytest.raises(DataError, match="fewer than 2 rows have 'a' and its parents 'b', 'g' together"):
        bs.fit(dag, data, missing="available")
