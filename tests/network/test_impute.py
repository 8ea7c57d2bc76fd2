"""Empty cells filled: most probable values, means and draws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, NetworkError, SettingError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, junction
from bayescout.network.impute import complete, gibbs
from bayescout.network.junction import row_codes
from tests.network.drawn_networks import discrete_networks, gaussian_networks
from tests.network.drawn_rows import gappy_numbers, gappy_rows, gappy_table, number_table
from tests.reference import incomplete as reference

quiet = pytest.mark.filterwarnings("ignore:.*rows have probability zero")


@quiet
@given(st.data())
def test_the_most_probable_values_are_so_together(data):
    network = data.draw(discrete_networks())
    rows = data.draw(gappy_rows(network))
    filled = network.impute(gappy_table(network, rows))
    assert not filled.has_missing
    for row, cells in zip(rows, filled.codes.T.tolist(), strict=True):
        assert all(code is None or code == cell for code, cell in zip(row, cells, strict=True))
        ways = dict(reference.completions(network, row))
        assert ways[tuple(cells)] == pytest.approx(max(ways.values()))


@quiet
@given(st.data())
def test_draws_are_possible_and_leave_what_is_there(data):
    network = data.draw(discrete_networks())
    rows = data.draw(gappy_rows(network))
    weights = [data.draw(st.sampled_from([1.0, 2.0])) for _ in rows]
    table = gappy_table(network, rows, weights)
    drawn = network.impute(table, "sample", n=3, seed=5)
    again = network.impute(table, "sample", n=3, seed=5)
    assert [one.fingerprint for one in drawn] == [one.fingerprint for one in again]
    for one in drawn:
        assert one.weights.tolist() == weights
        for row, cells in zip(rows, one.codes.T.tolist(), strict=True):
            assert all(code is None or code == cell for code, cell in zip(row, cells, strict=True))
            ways = reference.posterior(network, row)
            assert not ways or tuple(cells) in ways


@quiet
@given(st.data())
def test_several_draws_of_a_table_stand_under_one_another(data):
    network = data.draw(discrete_networks())
    rows = data.draw(gappy_rows(network))
    table = gappy_table(network, rows, [2.0] * len(rows))
    found = complete(network, table, np.random.default_rng(1), draws=3)
    assert found.n_rows == 3 * len(rows)
    assert found.weights.tolist() == [2.0] * found.n_rows
    assert found.states == network.states
    for i, cells in enumerate(found.codes.T.tolist()):
        row = rows[i % len(rows)]
        assert all(code is None or code == cell for code, cell in zip(row, cells, strict=True))


def test_completing_a_complete_table_changes_nothing():
    network = bs.load_network("asia")
    table = network.sample(20, seed=1)
    assert complete(network, table, np.random.default_rng(0)).fingerprint == table.fingerprint
    assert network.impute(table).fingerprint == table.fingerprint


def test_draws_of_a_network_have_its_distribution():
    """Rows of nothing, completed, are a sample: shares of each family agree with the tables."""
    network = bs.load_network("asia")
    n = 20_000
    table = gappy_table(network, [[None] * 8] * n)
    found = complete(network, table, np.random.default_rng(2))
    for label, marginal in network.marginals().items():
        share = np.bincount(found.array(label), minlength=2) / n
        p = marginal.probabilities
        assert (np.abs(share - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-12).all()
    assert network.log_likelihood(found).impossible_rows == 0


@given(st.integers(0, 10**6))
def test_gibbs_sampling_has_the_posterior(seed):
    network = bs.load_network("cancer")
    rng = np.random.default_rng(seed)
    row = [None if rng.random() < 0.5 else int(rng.integers(2)) for _ in range(5)]
    codes = row_codes(network, {i: np.array([2 if c is None else c]) for i, c in enumerate(row)}, 1)
    many = gibbs(network, np.repeat(codes, 4000, axis=0), rng, 1)[0]
    expected = reference.posterior(network, row)
    for cells, p in expected.items():
        share = float((many == np.array(cells)).all(axis=1).mean())
        assert abs(share - p) < 6 * math.sqrt(p * (1 - p) / 4000) + 1e-3


def test_rows_that_are_too_costly_are_drawn_by_gibbs_sampling(monkeypatch):
    network = bs.load_network("cancer")
    table = gappy_table(network, [[None] * 5] * 4000)
    monkeypatch.setattr(junction, "MAX_ENTRIES", 3)
    found = complete(network, table, np.random.default_rng(0))
    for label, marginal in network.marginals().items():
        share = np.bincount(found.array(label), minlength=2) / 4000
        assert share == pytest.approx(marginal.probabilities, abs=0.05)


def test_rows_of_probability_zero_are_filled_with_a_warning():
    network = DiscreteNetwork(
        Dag.from_arcs([("a", "b"), ("b", "c")]),
        (("x", "y"), ("u", "v"), ("s", "t")),
        ([1.0, 0.0], [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]),
    )
    data = {"a": ["y", "x"], "b": [None, None], "c": ["s", "t"]}
    for method in ("most-probable", "sample"):
        with pytest.warns(
            BayescoutWarning, match="1 of 2 rows have probability zero in the network, the first is"
        ):
            found = network.impute(data, method)
        assert not found.has_missing
        assert found.column("a") == ["y", "x"]


@given(st.data())
def test_numbers_are_filled_with_their_means(data):
    network = data.draw(gaussian_networks())
    rows = data.draw(gappy_numbers(network))
    table = number_table(network, rows)
    filled = network.impute(table)
    assert network.impute(table, "mean").fingerprint == filled.fingerprint
    for row, cells in zip(rows, filled.values.T.tolist(), strict=True):
        means = iter(reference.gaussian_conditional(network, row)[1])
        for cell, found in zip(row, cells, strict=True):
            assert found == (cell if cell is not None else pytest.approx(next(means), abs=1e-8))


@given(st.data())
def test_numbers_are_drawn_from_their_joint_distribution(data):
    network = data.draw(gaussian_networks(most=4))
    (row,) = data.draw(gappy_numbers(network, most=1))
    n = 4000
    drawn = complete(network, number_table(network, [row] * n), np.random.default_rng(3)).values
    empty = [i for i, cell in enumerate(row) if cell is None]
    if not empty:
        return
    _, means, covariance = reference.gaussian_conditional(network, row)
    scale = np.sqrt(np.diagonal(covariance))
    assert np.abs((drawn[empty].mean(axis=1) - means) / scale).max() < 6 / math.sqrt(n)
    found = np.atleast_2d(np.cov(drawn[empty]))
    assert np.abs((found - covariance) / np.outer(scale, scale)).max() < 0.15


def test_the_callers_columns_come_back():
    network = bs.load_network("asia")
    data = {"smoke": ["yes", None], "note": ["p", "q"], "asia": [None, "no"]}
    with pytest.warns(BayescoutWarning, match="column 'note' of the data is left out"):
        found = network.impute(data)
    assert found.names == ("smoke", "asia")
    assert found.column("smoke")[0] == "yes"
    assert found.column("asia")[1] == "no"
    with pytest.raises(NetworkError, match="no column of the data is a node"):
        network.impute({"note": ["p", "q"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "method must be one of most-probable, sample, mean, not 'guess'"),
        ({"method": "mean"}, "means are for networks of numbers, and this one is discrete"),
        ({"n": 2}, "method 'most-probable' has one answer, not 2"),
        ({"n": 0, "method": "sample"}, "the number of imputed tables"),
    ],
)
def test_settings_are_checked(options, message):
    with pytest.raises(SettingError, match=message):
        bs.load_network("asia").impute({"smoke": ["yes", None]}, **options)
