"""Fitted parameters against plain counting and independent least squares."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.data import as_table
from bayescout.errors import (
    BayescoutWarning,
    DataError,
    GraphError,
    NetworkError,
    SettingError,
    TooLargeError,
)
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork, fit, random_network
from tests.network.drawn_networks import continuous_table, discrete_table, small_dags
from tests.reference import networks as reference


@st.composite
def discrete_families(draw):
    """A graph, cardinalities, rows and perhaps weights (zeros among them)."""
    dag = draw(small_dags(4))
    cards = [draw(st.integers(1, 3)) for _ in dag.nodes]
    row = st.tuples(*(st.integers(0, card - 1) for card in cards))
    rows = draw(st.lists(row, min_size=2, max_size=12))
    some = st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=len(rows), max_size=len(rows)).filter(any)
    weights = draw(st.none() | some)
    return dag, cards, rows, weights


@pytest.mark.parametrize("prior", ["mle", "laplace", "bdeu"])
@given(family=discrete_families(), ess=st.sampled_from([0.5, 1.0, 10.0]))
def test_tables_are_the_shares_of_an_urn(prior, family, ess):
    dag, cards, rows, weights = family
    states = [tuple(range(card)) for card in cards]
    table = discrete_table(dag.nodes, states, rows, None if weights is None else np.array(weights))
    model = fit(dag, table, prior, ess=ess)
    assert isinstance(model, DiscreteNetwork)
    for child, parents in enumerate(dag.parents):
        q = int(np.prod([cards[p] for p in parents]))
        start = {"mle": 0.0, "laplace": 1.0, "bdeu": ess / (q * cards[child])}[prior]
        for config, shares in reference.urn(rows, child, parents, cards, start, weights).items():
            assert model.undefined[child][config] == (shares is None)
            expected = [1 / cards[child]] * cards[child] if shares is None else shares
            assert model.tables[child][config] == pytest.approx(expected)


def test_undefined_rows_print_as_dashes_and_come_as_none():
    dag = Dag.from_arcs([("a", "b")])
    model = fit(dag, discrete_table("ab", [("x", "y"), (0, 1)], [[0, 0], [0, 1], [0, 1], [0, 1]]))
    assert list(model.cpt("b").rows()) == [({"a": "x"}, (0.25, 0.75)), ({"a": "y"}, None)]
    assert str(model.cpt("b")).splitlines() == [
        "P(b | a)",
        "  a       0       1",
        "  x  0.2500  0.7500",
        "  y     ---     ---",
    ]
    assert model.n_undefined == 1
    assert str(model.cpt("a")).splitlines() == ["P(a)", "       x       y", "  1.0000  0.0000"]


def test_declared_states_count_and_columns_may_come_in_any_order():
    dag = Dag.from_arcs([("a", "b")])
    frame = {"b": ["u", "v", "u"], "a": ["no", "no", "yes"]}
    model = fit(dag, frame, "laplace", states={"b": ["u", "v", "w"]})
    assert model.states == (("no", "yes"), ("u", "v", "w"))
    assert model.tables[1] == pytest.approx(np.array([[2 / 5, 2 / 5, 1 / 5], [2 / 4, 1 / 4, 1 / 4]]))


def test_a_network_or_anything_with_a_dag_gives_the_graph():
    model = random_network(nodes=3, arcs=2, seed=3)
    again = fit(model, model.sample(50))
    assert again.dag == model.dag
    with pytest.raises(GraphError, match=r"not the text 'alarm'; .*load_network"):
        fit("alarm", model.sample(50))


def test_columns_the_graph_lacks_are_named_in_a_warning_and_nodes_the_data_lack_in_an_error():
    table = discrete_table("abc", [(0, 1)] * 3, [[0, 1, 0], [1, 1, 1]])
    with pytest.warns(BayescoutWarning, match="columns 'a', 'c' of the data are left out"):
        model = fit(Dag.empty("b"), table)
    assert model.nodes == ("b",)
    with pytest.raises(NetworkError, match="no column for nodes 'x', 'y'"):
        fit(Dag.empty("axy"), table)


def test_settings_are_refused_before_the_data_are_read():
    with pytest.raises(SettingError, match="mle, laplace, bdeu"):
        fit(Dag.empty("a"), object(), "jeffreys")
    for ess in (0, -1, float("nan"), float("inf")):
        with pytest.raises(SettingError, match="ess"):
            fit(Dag.empty("a"), object(), "bdeu", ess=ess)


def test_a_continuous_parent_of_a_discrete_node_is_refused_with_the_ways_out():
    table = as_table({"a": ["x", "y", "x"], "b": [1.5, 2.5, 0.5]})
    with pytest.raises(NetworkError, match=r"'a' is discrete .* 'b' continuous; .* reverse .* bins=3"):
        fit(Dag.from_arcs([("b", "a")], "ab"), table)


def test_one_row_and_no_weight_are_refused():
    with pytest.raises(DataError, match="at least 2"):
        fit(Dag.empty("a"), discrete_table("a", [(0, 1)], [[0]]))
    with pytest.raises(DataError, match="every weight is 0"):
        fit(Dag.empty("a"), discrete_table("a", [(0, 1)], [[0], [1]], np.zeros(2)))


def test_a_table_too_large_is_refused_with_its_size():
    names = [f"p{i}" for i in range(27)] + ["child"]
    dag = Dag.from_arcs([(name, "child") for name in names[:-1]], names)
    table = discrete_table(names, [(0, 1)] * 28, [[0] * 28, [1] * 28])
    with pytest.raises(TooLargeError, match=r"'child' with its 27 parents .* 268,435,456 .* 67,108,864"):
        fit(dag, table)
    single = discrete_table(
        [f"p{i}" for i in range(65)] + ["child"], [(0,)] * 65 + [(0, 1)], [[0] * 65 + [k] for k in (0, 1)]
    )
    with pytest.raises(TooLargeError, match="limit of 63 parents"):
        fit(Dag.from_arcs([(f"p{i}", "child") for i in range(65)], single.names), single)


# ---- Gaussian


@given(data=st.data())
def test_regressions_solve_the_normal_equations(data):
    """Residuals have mean zero, are orthogonal to each parent, and their mean square is the variance."""
    dag = data.draw(small_dags(4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n = data.draw(st.integers(10, 40))
    columns = rng.normal(rng.uniform(-5, 5, (len(dag), 1)), 2.0, (len(dag), n))
    weights = data.draw(st.sampled_from([None, rng.uniform(0, 3, n)]))
    model = fit(dag, continuous_table(dag.nodes, columns, weights))
    assert isinstance(model, GaussianNetwork)
    share = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    for child, parents in enumerate(dag.parents):
        residual = (
            columns[child] - model.intercepts[child] - model.coefficients[child] @ columns[list(parents)]
        )
        assert float(share @ residual) == pytest.approx(0, abs=1e-9)
        assert columns[list(parents)] @ (share * residual) == pytest.approx(np.zeros(len(parents)), abs=1e-8)
        assert model.variances[child] == pytest.approx(float(share @ residual**2))


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    columns = rng.normal(size=(2, 6))
    weights = np.array([1.0, 3.0, 0.0, 2.0, 1.0, 1.0])
    dag = Dag.from_arcs([("a", "b")])
    weighted = fit(dag, continuous_table("ab", columns, weights))
    repeated = fit(dag, continuous_table("ab", np.repeat(columns, weights.astype(int), axis=1)))
    assert weighted.equals(repeated, tolerance=1e-12)


def test_a_far_away_mean_costs_no_accuracy():
    """Sums of squares of raw values near 1e8 keep no digit of a variance of 1e-4."""
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=200), 0.01 * rng.normal(size=200)
    dag = Dag.from_arcs([("x", "y")])
    near = fit(dag, continuous_table("xy", [x, 2 * x + noise]))
    far = fit(dag, continuous_table("xy", [x + 1e8, 2 * x + noise - 1e8]))
    assert far.coefficients[1] == pytest.approx(near.coefficients[1], rel=1e-5)
    assert far.variances == pytest.approx(near.variances, rel=1e-4)


def test_collinear_parents_are_warned_of_and_fit_as_well_as_without_the_copy():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 50))
    y = x - z + rng.normal(size=50)
    dag = Dag.from_arcs([("x", "y"), ("z", "y"), ("w", "y")], "xzwy")
    with pytest.warns(BayescoutWarning, match=r"parents 'x', 'z', 'w' of 'y' are collinear"):
        model = fit(dag, continuous_table("xzwy", [x, z, x + z, y]))
    plain = fit(Dag.from_arcs([("x", "y"), ("z", "y")], "xzy"), continuous_table("xzy", [x, z, y]))
    assert model.variances[3] == pytest.approx(plain.variances[2])
    assert np.abs(model.coefficients[3]).max() < 5


def test_a_nearly_collinear_parent_is_no_reason_to_give_up():
    rng = np.random.default_rng(3)
    x = rng.normal(size=500)
    z = x + 1e-5 * rng.normal(size=500)
    y = 3 * x - 2 * z
    dag = Dag.from_arcs([("x", "y"), ("z", "y")], "xzy")
    with pytest.warns(BayescoutWarning, match="'y' is constant or determined"):
        model = fit(dag, continuous_table("xzy", [x, z, y]))
    assert model.coefficients[2] == pytest.approx([3, -2], rel=1e-4)


@pytest.mark.parametrize(("value", "n"), [(0.0, 7), (0.1, 5), (0.3, 10), (1e20, 11)])
def test_a_constant_column_has_variance_zero_with_a_warning(value, n):
    """Sizes at which the mean of equal numbers rounds to another number."""
    columns = [np.full(n, value), np.arange(float(n))]
    with pytest.warns(BayescoutWarning, match="'a' is constant"):
        model = fit(Dag.empty("ab"), continuous_table("ab", columns))
    assert (model.intercepts[0], model.variances[0]) == (value, 0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(Dag.from_arcs([("a", "b")]), continuous_table("ab", columns))
    assert any("collinear or constant" in str(w.message) for w in caught)
    assert model.coefficients[1].tolist() == [0.0]
    assert model.variances[1] == pytest.approx((n * n - 1) / 12)


def test_a_column_that_varies_only_by_rounding_is_constant():
    """0.1 + 0.2 is not 0.3; as a parent it must not get a coefficient of 1e16."""
    columns = [[0.3, 0.1 + 0.2] * 5, np.arange(10.0)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(Dag.from_arcs([("a", "b")]), continuous_table("ab", columns))
    assert len(caught) == 2
    assert (model.variances[0], model.coefficients[1].tolist()) == (0.0, [0.0])


def test_counting_priors_are_for_discrete_data():
    table = continuous_table("a", [[0.5, 1.5, 2.5]])
    for prior in ("laplace", "bdeu"):
        with pytest.raises(SettingError, match="discrete data"):
            fit(Dag.empty("a"), table, prior)


@pytest.mark.parametrize("ess", ["a", None, True, float("nan"), float("inf"), 0, -1, [1]])
def test_an_ess_that_is_no_positive_number_is_refused(ess):
    with pytest.raises(SettingError, match="ess must be a positive number"):
        fit(Dag.empty("a"), {"a": ["x", "y"]}, "bdeu", ess=ess)
