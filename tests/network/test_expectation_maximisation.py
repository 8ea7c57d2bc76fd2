"""Fitting tables with empty cells: expectation maximisation and available rows, against their definitions."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, DataError, SettingError
from bayescout.graph.dag import Dag
from bayescout.network import em, junction
from bayescout.network.em import em_discrete
from bayescout.network.em_gaussian import LEAST_VARIANCE, em_gaussian
from tests.network.drawn_networks import discrete_networks, gaussian_networks
from tests.network.drawn_rows import gappy_rows, gappy_table, number_table
from tests.reference import incomplete as reference
from tests.reference.networks import gaussian_joint

PRIORS = [("mle", 0.0), ("laplace", 1.0), ("bdeu", None)]


def observed_score(network, rows, weights, pseudo):
    """log P(observed cells) of all rows, with the log of the prior, by enumeration."""
    total = sum(w * reference.log_likelihood(network, row) for row, w in zip(rows, weights, strict=True) if w)
    for table in network.tables:
        weight = 1 / table.size if pseudo is None else pseudo
        total += weight * np.log(table).sum() if weight else 0.0
    return total


@st.composite
def incomplete_data(draw, most=4):
    """A network for its graph and states, rows with gaps and their weights."""
    network = draw(discrete_networks(most=most))
    rows = draw(gappy_rows(network, least=2, most=8))
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(rows), max_size=len(rows)))
    return network, rows, weights


# ---- laws


@pytest.mark.parametrize(("prior", "pseudo"), PRIORS)
@given(incomplete_data())
def test_the_likelihood_never_falls(prior, pseudo, drawn):
    network, rows, weights = drawn
    table = gappy_table(network, rows, weights)
    fitted = em_discrete(network.dag, table, prior, 1.0, tolerance=0.0, iterations=12)
    steps = np.diff([*fitted.trace, observed_score(fitted.network, rows, weights, pseudo)])
    assert steps.min() >= -1e-8


@pytest.mark.parametrize(("prior", "pseudo"), PRIORS)
@given(incomplete_data(most=3))
def test_an_iteration_estimates_from_enumerated_expectations(prior, pseudo, drawn):
    """Two iterations, the second from the first's network; the trace is the score of where each began."""
    network, rows, weights = drawn
    table = gappy_table(network, rows, weights)
    one = em_discrete(network.dag, table, prior, 1.0, tolerance=-np.inf, iterations=1).network
    two = em_discrete(network.dag, table, prior, 1.0, tolerance=-np.inf, iterations=2)
    assert two.trace[1] == pytest.approx(observed_score(one, rows, weights, pseudo), abs=1e-8)
    for counts, found, undefined in zip(
        reference.expected_counts(one, rows, weights), two.network.tables, two.network.undefined, strict=True
    ):
        cells = counts + (1 / counts.size if pseudo is None else pseudo)
        totals = cells.sum(axis=-1, keepdims=True)
        shares = np.divide(cells, totals, out=np.full(cells.shape, 1 / cells.shape[-1]), where=totals > 0)
        assert np.array_equal(undefined, totals[..., 0] == 0)
        big = totals[..., 0] > 1e-6  # of nothing but rounding there is no share to compare
        assert found[big] == pytest.approx(shares[big], abs=1e-6)


@pytest.mark.parametrize("missing", ["em", "available", "keep"])
@given(st.data())
def test_without_empty_cells_it_is_the_complete_fit_to_the_bit(missing, data):
    network = data.draw(discrete_networks())
    rows = data.draw(gappy_rows(network, least=2, share=0.0))
    table = gappy_table(network, rows)
    prior = data.draw(st.sampled_from(["mle", "laplace", "bdeu"]))
    assert bs.fit(network, table, prior, missing=missing).equals(
        bs.fit(network, table, prior, missing="error")
    )


@given(st.data())
def test_rows_that_are_empty_change_nothing_but_rounding(data):
    """A row without a cell tells nothing: the fit is that of the other rows."""
    network = data.draw(discrete_networks(most=4))
    rows = data.draw(gappy_rows(network, least=2, share=0.0))
    empty = [None] * len(network.dag)
    found = em_discrete(network.dag, gappy_table(network, [*rows, empty]), "mle", 1.0, tolerance=0.0).network
    whole = bs.fit(network, gappy_table(network, rows), missing="error")
    for a, b, mask in zip(found.tables, whole.tables, whole.undefined, strict=True):
        assert a[~mask] == pytest.approx(b[~mask], abs=1e-3)


def test_available_rows_are_counted_for_each_family():
    dag = Dag.from_arcs([("a", "b")])
    data = {"a": ["x", "x", None, "y", "y"], "b": ["u", "v", "u", None, "u"]}
    found = bs.fit(dag, data, missing="available")
    assert found.tables[0].tolist() == [0.5, 0.5]  # four rows have a
    assert found.tables[1].tolist() == [[0.5, 0.5], [1.0, 0.0]]  # three have both


def test_a_configuration_without_expected_counts_is_undefined():
    dag = Dag.from_arcs([("a", "b")])
    states = {"a": ["x", "y", "z"], "b": ["u", "v"]}
    found = bs.fit(dag, {"a": ["x", "y", "x"], "b": ["u", None, "v"]}, states=states)
    assert found.undefined[1].tolist() == [False, False, True]
    assert found.tables[1][1].tolist() == pytest.approx([0.5, 0.5])


def test_a_known_answer():
    """The textbook case: a table of two by two with some cells of one margin alone.

    With b missing at random given a, the likelihood factors: P(a) from all rows, P(b | a) from those with b.
    """
    dag = Dag.from_arcs([("a", "b")])
    a = ["x"] * 40 + ["y"] * 60
    b = [*(["u"] * 10 + ["v"] * 10 + [None] * 20), *(["u"] * 45 + ["v"] * 5 + [None] * 10)]
    found = bs.fit(dag, {"a": a, "b": b})
    assert found.tables[0] == pytest.approx(np.array([0.4, 0.6]), abs=1e-9)
    assert found.tables[1] == pytest.approx(np.array([[0.5, 0.5], [0.9, 0.1]]), abs=1e-3)


def test_the_maximum_is_found():
    """No small change of any parameter raises the likelihood of the observed cells."""
    network = bs.load_network("asia")
    rng = np.random.default_rng(4)
    sample = network.sample(300, seed=4)
    rows = [[None if rng.random() < 0.3 else int(code) for code in row] for row in sample.codes.T]
    table = gappy_table(network, rows)
    found = em_discrete(network.dag, table, "laplace", 1.0, tolerance=1e-14, iterations=5000).network
    best = observed_prior(found, table)
    for node, own in enumerate(found.tables):
        for change in (0.999, 1.001):
            moved = own.copy()
            moved[..., 0] = np.minimum(moved[..., 0] * change, 1.0)
            moved /= moved.sum(axis=-1, keepdims=True)
            tables = [*found.tables[:node], moved, *found.tables[node + 1 :]]
            other = bs.DiscreteNetwork(network.dag, network.states, tables)
            assert observed_prior(other, table) <= best + 1e-9


def observed_prior(network, table):
    return float(network.log_likelihood(table)) + sum(np.log(one).sum() for one in network.tables)


def test_what_has_not_converged_says_so(monkeypatch):
    monkeypatch.setattr(em, "ITERATIONS", 2)
    fitted = em_discrete(DAG, bs.as_table(GAPS, missing="keep"), "mle", 1.0, tolerance=0.0, iterations=2)
    assert not fitted.converged
    with pytest.warns(BayescoutWarning, match="has not converged in 2 iterations: the last raised"):
        em.warn_unconverged(fitted)


DAG = Dag.from_arcs([("a", "b"), ("b", "c")])
GAPS = {
    "a": ["x", None, "y", "x", "y", "x", None, "y"],
    "b": ["u", "v", None, None, "u", "u", None, "v"],
    "c": [None, "s", "t", "s", None, "s", "t", "t"],
}


@pytest.mark.slow
def test_rows_with_too_many_empty_cells_are_sampled_and_said_to_be(monkeypatch):
    exact = bs.fit(DAG, GAPS, "laplace")
    monkeypatch.setattr(junction, "MAX_ENTRIES", 5)
    monkeypatch.setattr(em, "SAMPLED_DRAWS", 400)
    with pytest.warns(
        BayescoutWarning, match=r"of 8 rows have too many empty cells for an exact expectation"
    ):
        found = bs.fit(DAG, GAPS, "laplace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert bs.fit(DAG, GAPS, "laplace").equals(found)  # seeded
    for a, b in zip(found.tables, exact.tables, strict=True):
        assert a == pytest.approx(b, abs=0.05)


def test_an_unknown_way_is_refused():
    with pytest.raises(SettingError, match="missing must be one of em, available, drop, state, error, keep"):
        bs.fit(DAG, GAPS, missing="guess")


@pytest.mark.filterwarnings("ignore:.*rows are left out")
@pytest.mark.parametrize("missing", ["drop", "state"])
def test_policies_of_tables_are_as_before(missing):
    assert bs.fit(DAG, GAPS, missing=missing).equals(bs.fit(DAG, bs.as_table(GAPS, missing=missing)))


# ---- Gaussian


@given(st.data())
def test_the_density_never_falls(data):
    network = data.draw(gaussian_networks(most=5))
    sample = network.sample(40, seed=data.draw(st.integers(0, 99)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    gone = data.draw(st.sampled_from([0.1, 0.4]))
    rows = [[None if rng.random() < gone else float(x) for x in row] for row in sample.values.T]
    table = number_table(network, rows)
    fitted = em_gaussian(network.dag, table, tolerance=0.0, iterations=10)
    if (fitted.network.variances == 0).any():
        return
    last = sum(reference.gaussian_conditional(fitted.network, row)[0] for row in rows)
    steps = np.diff([*fitted.trace, last])
    assert steps.min() >= -1e-7 * (1 + abs(last))


def saturated_em(rows, weights, iterations):
    """Mean and covariance of a normal by expectation maximisation, row by row, without a network."""
    p = rows.shape[1]
    mean, covariance = np.nanmean(rows, axis=0), np.diag(np.nanvar(rows, axis=0))
    for _ in range(iterations):
        whole, extra = rows.copy(), np.zeros((p, p))
        for i, row in enumerate(rows):
            m, o = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
            gain = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
            whole[i, m] = mean[m] + gain @ (row[o] - mean[o])
            extra[np.ix_(m, m)] += weights[i] * (covariance[np.ix_(m, m)] - gain @ covariance[np.ix_(o, m)])
        mean = weights @ whole / weights.sum()
        away = whole - mean
        covariance = ((away * weights[:, None]).T @ away + extra) / weights.sum()
    return mean, covariance


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_a_complete_graph_gives_the_maximum_of_the_normal(weighted):
    """A graph with every arc does not constrain the covariance, so any normal's EM must agree."""
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal([1, -2, 3], [[2, 1, 0.5], [1, 3, -1], [0.5, -1, 2]], size=120)
    rows[rng.random(rows.shape) < 0.25] = np.nan
    rows = rows[~np.isnan(rows).all(axis=1)]
    weights = rng.integers(1, 4, len(rows)).astype(float) if weighted else np.ones(len(rows))
    dag = Dag.from_arcs([("a", "b"), ("a", "c"), ("b", "c")])
    table = bs.as_table(dict(zip("abc", rows.T, strict=True)), missing="keep", weights=weights)
    found = em_gaussian(dag, table, tolerance=1e-15, iterations=3000).network
    mean, covariance = saturated_em(rows, weights, 1000)
    assert found.joint()[0] == pytest.approx(mean, abs=1e-5)
    assert found.joint()[1] == pytest.approx(covariance, abs=1e-5)
    assert gaussian_joint(bs.fit(dag, table))[1] == pytest.approx(covariance, abs=2e-2)


@given(st.data())
def test_numbers_without_empty_cells_have_the_complete_fit_to_the_bit(data):
    network = data.draw(gaussian_networks())
    table = network.sample(20, seed=data.draw(st.integers(0, 99)))
    kept = number_table(network, table.values.T.tolist())
    whole = bs.fit(network, table, missing="error")
    for missing in ("em", "available"):
        assert bs.fit(network, kept, missing=missing).equals(whole)


@given(st.data())
def test_available_numbers_are_those_of_the_rows_that_have_the_family(data):
    network = data.draw(gaussian_networks(most=4))
    table = network.sample(60, seed=data.draw(st.integers(0, 99)))
    values = table.values.copy()
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    values[rng.random(values.shape) < 0.2] = np.nan
    found = bs.fit(network.dag, dict(zip(network.nodes, values, strict=True)), missing="available")
    for child, parents in enumerate(network.dag.parents):
        family = values[[*parents, child]]
        held = family[:, ~np.isnan(family).any(axis=0)]
        design = np.column_stack([np.ones(held.shape[1]), *held[:-1]])
        answer, *_ = np.linalg.lstsq(design, held[-1], rcond=None)
        assert found.intercepts[child] == pytest.approx(answer[0], abs=1e-8)
        assert found.coefficients[child] == pytest.approx(answer[1:], abs=1e-8)
        assert found.variances[child] == pytest.approx(np.mean((held[-1] - design @ answer) ** 2), abs=1e-8)


def test_the_units_of_columns_do_not_matter():
    network = bs.load_network("ecoli70")
    values = network.sample(60, seed=2).values[:6].copy()
    values[np.random.default_rng(2).random(values.shape) < 0.2] = np.nan
    dag = Dag(tuple("abcdef"), ((), (0,), (0, 1), (2,), (), (3, 4)))
    plain = bs.fit(dag, dict(zip("abcdef", values, strict=True)))
    scales, shifts = [1e-6, 1e6, 1.0, 30.0, 1e-3, 1e4], [1e3, -5.0, 0.0, 1e5, 2.0, 0.0]
    moved = {c: v * s + t for c, v, s, t in zip("abcdef", values, scales, shifts, strict=True)}
    found = bs.fit(dag, moved)
    assert found.joint()[1] / np.outer(scales, scales) == pytest.approx(plain.joint()[1], rel=1e-5)


def test_a_determined_node_has_variance_zero_as_in_complete_data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = np.where(rng.random(200) < 0.2, np.nan, 3 * x + 1)
    with pytest.warns(BayescoutWarning, match="'y' is constant or determined"):
        found = bs.fit(Dag.from_arcs([("x", "y")]), {"x": x, "y": y})
    assert found.variances[1] == 0
    assert found.coefficients[1].tolist() == pytest.approx([3.0], abs=1e-6)
    assert LEAST_VARIANCE < 1e-8


def test_columns_without_anything_are_refused():
    dag = Dag.from_arcs([("x", "y")])
    with pytest.raises(DataError, match="column 'y' has no values to fit from, all 3 are missing"):
        bs.fit(
            dag, bs.as_table({"x": [1.0, 2.0, 3.0], "y": [np.nan] * 3}, missing="keep", kinds="continuous")
        )
    with pytest.raises(DataError, match="fewer than 2 rows have 'y' and its parents 'x' together"):
        bs.fit(dag, {"x": [1.5, np.nan, 3.0], "y": [1.0, 2.5, np.nan]}, missing="available")
