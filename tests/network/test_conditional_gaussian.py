"""Continuous nodes with discrete parents: their checks, fits, samples, likelihoods and text."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.data.encode import as_table
from bayescout.data.table import Table
from bayescout.errors import BayescoutWarning, DataError, FormatError, NetworkError, TooLargeError
from bayescout.graph.dag import Dag
from bayescout.network import ConditionalGaussian, LinearGaussian, Network, Tabular, fit
from bayescout.network.node import CHUNK
from bayescout.plots.figures import as_drawing
from bayescout.plots.tables import cpt_table
from bayescout.report.parameters import node_parameters
from tests.network.drawn_networks import mixed_networks

DAG = Dag.from_arcs([("x", "y"), ("a", "y"), ("b", "y")], ["x", "a", "b", "y"])
COIN = Tabular(("h", "t"), [0.25, 0.75])
DIE = Tabular((1, 2, 3), [0.5, 0.25, 0.25])


def model():
    """y given x, a coin and a die; the parents of y are x, a, b, of which the last two are discrete."""
    intercepts = [[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]]
    slopes = [[[1.0], [0.0], [-1.0]], [[2.0], [0.5], [0.0]]]
    variances = [[1.0, 4.0, 0.25], [1.0, 1.0, 9.0]]
    undefined = [[False, False, True], [False, False, False]]
    node = ConditionalGaussian(intercepts, slopes, variances, undefined, (1, 2))
    return Network(DAG, [LinearGaussian(5, [], 4), COIN, DIE, node], "model")


# ---- the node


def test_a_network_with_such_a_node_is_mixed():
    network = model()
    assert network.kind == "mixed"
    assert network.is_mixed
    assert network.n_parameters == 2 + 1 + 2 + 6 * 3
    assert network.n_undefined == 1
    for again in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        assert again.equals(network)
        with pytest.raises(ValueError, match="read-only"):
            again.distributions[3].intercepts[0, 0] = 7
    node = network.distributions[3]
    near = ConditionalGaussian(
        node.intercepts + 1e-3, node.coefficients, node.variances, node.undefined, (1, 2)
    )
    other = Network(DAG, [*network.distributions[:3], near])
    assert not network.equals(other)
    assert network.equals(other, tolerance=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], np.zeros((2, 1)), [1, 1]), r"parents 1 to be discrete, and those .* are 2, 3, of 'x', 'a'"),
        (
            (np.zeros((3, 2)), np.zeros((3, 2, 1)), np.ones((3, 2)), None, (1, 2)),
            r"shape \(3, 2\); .* \(2, 3\)",
        ),
        (
            (np.zeros((2, 3)), np.zeros((2, 3, 2)), np.ones((2, 3)), None, (1, 2)),
            r"coefficients .* \(2, 3, 1\)",
        ),
        ((np.zeros((2, 3)), np.zeros((2, 3, 1)), -np.ones((2, 3)), None, (1, 2)), "negative variance, -1"),
        (
            (np.full((2, 3), np.nan), np.zeros((2, 3, 1)), np.ones((2, 3)), None, (1, 2)),
            "not a finite number",
        ),
    ],
)
def test_parameters_that_do_not_fit_the_graph_are_refused(arguments, message):
    with pytest.raises(NetworkError, match=message):
        Network(DAG, [LinearGaussian(5, [], 4), COIN, DIE, ConditionalGaussian(*arguments)])


def test_a_node_without_discrete_parents_and_a_table_with_continuous_ones_are_refused():
    dag = Dag.from_arcs([("a", "b")])
    normal = LinearGaussian(0, [], 1)
    with pytest.raises(NetworkError, match="it has none; make it a LinearGaussian"):
        Network(dag, [normal, ConditionalGaussian(0.0, [1.0], 1.0)])
    with pytest.raises(NetworkError, match="'b' has a table, and its parent 'a' is continuous"):
        Network(dag, [normal, COIN])
    with pytest.raises(
        NetworkError, match=r"'b' is linear .* 'a' is discrete; .* make it a ConditionalGaussian"
    ):
        Network(dag, [COIN, LinearGaussian(0, [1], 1)])


def normal_log(residual, variance):
    return -0.5 * (math.log(2 * math.pi * variance) + residual**2 / variance)


def test_likelihoods_by_hand():
    rows = {"x": [5.0, 7.0], "a": ["t", "h"], "b": [2, 3], "y": [13.0, -5.0]}
    by_hand = [
        normal_log(0, 4) + math.log(0.75) + math.log(0.25) + normal_log(13 - 11 - 2.5, 1),
        normal_log(2, 4) + math.log(0.25) + math.log(0.25) + normal_log(-5 - 2 + 7, 0.25),
    ]
    network = model()
    assert network.row_log_likelihood(rows) == pytest.approx(by_hand)
    found = network.log_likelihood(rows)
    assert found.total == pytest.approx(sum(by_hand))
    assert found.unseen_rows == 1
    held = bs.held_out(network, None, rows)
    assert held.total == pytest.approx(sum(by_hand))
    assert held.unseen == {"y": 1}
    first = {label: column[0] for label, column in rows.items()}
    assert network.log_probability(first) == pytest.approx(by_hand[0])
    assert network.probability(first) == pytest.approx(math.exp(by_hand[0]))


def test_samples_have_the_moments_of_each_configuration():
    with pytest.warns(
        BayescoutWarning, match="of 'y' that the data never showed; they are given the regress"
    ):
        table = model().sample(CHUNK * 4, seed=3)
    assert table.kinds == ("continuous", "discrete", "discrete", "continuous")
    (x, y), (a, b) = table.values, table.codes
    node = model().distributions[3]
    for i in range(2):
        for j in range(3):
            rows = (a == i) & (b == j)
            rest = y[rows] - node.intercepts[i, j] - node.coefficients[i, j, 0] * x[rows]
            error = math.sqrt(node.variances[i, j] / rows.sum())
            assert rest.mean() == pytest.approx(0, abs=5 * error)
            assert rest.var() == pytest.approx(node.variances[i, j], rel=0.1)


# ---- text and pages


def test_text_tables_and_drawings(capsys, tmp_path):
    from bayescout.cli.networks import _show, _table_of

    network = model()
    assert network.equation("x") == "x = 5 + N(0, 4)"
    lines = network.equation("y").splitlines()
    assert lines[0] == "a=h, b=1: y = 0 + 1 x + N(0, 1)"
    assert lines[2] == "a=h, b=3: y = 2 - 1 x + N(0, 0.25)  (no rows: the regression over all)"
    assert network.parameters("y").columns == ("a", "b", "intercept", "x", "variance")
    assert list(network.parameters("y").lines())[2:4] == [
        ("h", 3, None, None, None),
        ("t", 1, 10.0, 2.0, 1.0),
    ]
    assert network.summary().splitlines() == [
        "model: 4 nodes, 3 arcs",
        "  discrete      2 nodes of 2 to 3 states",
        "  continuous    2 nodes",
        "  parents       at most 3",
        "  parameters    23",
        "  undefined     1 parent configurations",
    ]
    assert str(network.cpt("a")).splitlines()[0] == "P(a)"
    assert cpt_table(network, "y").rows[2] == ("h", "3", "---", "---", "---")
    assert as_drawing(network, cpts=True).nodes
    assert "<svg" in network._repr_html_()
    page = node_parameters(network, network.nodes, network.nodes)
    assert page[3].title == "y, one regression per configuration of a, b"
    assert page[3].rows[3] == ["t", "1", "10", "2", "1"]
    described = _table_of(network, "y")
    assert described["rows"][2] == {"given": ["h", 3], "intercept": 2.0, "coefficients": [-1.0]} | {
        "variance": 0.25,
        "undefined": True,
    }
    _show(network, [])
    out = capsys.readouterr().out
    assert "y, given its parents" in out
    assert "-1" not in out  # of the undefined configuration
    network.save(tmp_path / "model.json")
    assert bs.read_network(tmp_path / "model.json").equals(network)
    with pytest.raises(FormatError, match="BIF holds discrete networks only; write one with continuous"):
        network.save(tmp_path / "model.bif")


# ---- fits


def by_lstsq(values, rows):
    """Intercept, slopes and mean squared residual of the last row on the others."""
    design = np.column_stack([np.ones(len(rows)), values[:-1, rows].T])
    found, *_ = np.linalg.lstsq(design, values[-1, rows], rcond=None)
    return found, float(((values[-1, rows] - design @ found) ** 2).mean())


@settings(deadline=None)
@given(data=st.data())
def test_each_configuration_has_its_own_least_squares(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n = data.draw(st.integers(4, 60))
    k = data.draw(st.integers(0, 2))
    codes = np.stack([rng.integers(0, 2, n), rng.integers(0, 3, n)]).astype(np.uint8)
    values = rng.normal(size=(k + 1, n)) * 10.0 ** data.draw(st.integers(-3, 6)) + rng.normal()
    names = ("a", "b", *(f"x{i}" for i in range(k)), "y")
    states = (("u", "v"), (0, 1, 2), *(None,) * (k + 1))
    table = Table(names, states, codes, values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        network = fit(Dag.from_arcs([(name, "y") for name in names[:-1]], names), table)
    node = network.distributions[-1]
    pooled, pooled_variance = by_lstsq(values, np.arange(n))
    for a in range(2):
        for b in range(3):
            rows = np.flatnonzero((codes[0] == a) & (codes[1] == b))
            found, variance = (pooled, pooled_variance) if len(rows) < k + 2 else by_lstsq(values, rows)
            scale = np.abs(values).max()
            assert node.undefined[a, b] == (len(rows) == 0)
            assert node.intercepts[a, b] == pytest.approx(found[0], rel=1e-6, abs=1e-6 * scale)
            assert node.coefficients[a, b] == pytest.approx(found[1:], rel=1e-5, abs=1e-6)
            assert node.variances[a, b] == pytest.approx(variance, rel=1e-6)


def test_weighted_rows_count_as_repeated_ones():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, 40)
    frame = {"a": rng.choice(["u", "v"], 40), "x": rng.normal(size=40), "y": rng.normal(size=40)}
    repeated = {name: np.repeat(column, counts) for name, column in frame.items()}
    dag = Dag.from_arcs([("a", "y"), ("x", "y"), ("a", "x")], "axy")
    weighted = fit(dag, as_table({**frame, "w": counts}, weights="w"))
    assert weighted.equals(fit(dag, repeated), tolerance=1e-12)


def test_few_rows_take_the_regression_over_all_with_a_word():
    frame = {"a": ["u"] * 6 + ["v"] * 2, "y": [1.0, 2, 3, 4, 5, 6, 10, 10.5], "x": [0.0, 1, 0, 1, 2, 2, 3, 4]}
    dag = Dag.from_arcs([("a", "y"), ("x", "y")], "axy")
    table = as_table(frame, kinds=dict.fromkeys("xy", "continuous"))
    with pytest.warns(BayescoutWarning, match="of the discrete parents of 'y' has fewer than 3 rows"):
        network = fit(dag, table)
    alone = fit(Dag.from_arcs([("x", "y")]), table.select(["x", "y"]))
    node, pooled = network.distributions[2], alone.distributions[1]
    assert node.intercepts[1] == pytest.approx(pooled.intercept)
    assert node.coefficients[1] == pytest.approx(pooled.coefficients)
    assert node.variances[1] == pytest.approx(pooled.variance)
    assert node.undefined.tolist() == [False, False]


def test_a_configuration_without_rows_is_undefined_and_has_the_regression_over_all():
    frame = {"a": ["u", "u", "u", "w", "w"], "y": [1.5, 2, 4, 8, 8.5]}
    dag = Dag.from_arcs([("a", "y")])
    network = fit(dag, frame, "laplace", states={"a": ["u", "v", "w"]})
    node = network.distributions[1]
    assert node.undefined.tolist() == [False, True, False]
    assert node.intercepts[1] == pytest.approx(4.8)
    assert node.variances[1] == pytest.approx(np.var(frame["y"]))
    with pytest.warns(BayescoutWarning, match=r"the answer .* 'y' that the data never showed"):
        assert network.query("y", {"a": "v"}).mean == pytest.approx(4.8)
    with pytest.warns(BayescoutWarning, match=r"the prediction .* 'y' that the data never showed"):
        assert network.predict({"a": ["v"]}, "y") == pytest.approx([4.8])


def test_rows_that_do_not_vary_have_the_variance_of_all():
    """Zeros in one group and numbers in the other: a variance of 0 would leave rows without a density."""
    frame = {"a": ["u"] * 4 + ["v"] * 4, "y": [0.0] * 4 + [1.0, 2.0, 3.0, 4.0]}
    with pytest.warns(BayescoutWarning, match="1 configuration .* 'y' leaves no variation"):
        network = fit(Dag.from_arcs([("a", "y")]), as_table(frame, kinds={"y": "continuous"}))
    node = network.distributions[1]
    assert node.intercepts.tolist() == [0, 2.5]
    assert node.variances == pytest.approx([np.var(frame["y"]), 1.25])
    assert np.isfinite(network.log_likelihood(frame).total)


def test_constant_and_collinear_columns_are_named():
    frame = {"a": list("uvuvuvuv"), "x": [1.0] * 8, "y": [3.0] * 8}
    dag = Dag.from_arcs([("a", "y"), ("x", "y")], "axy")
    with pytest.warns(BayescoutWarning) as caught:
        network = fit(dag, as_table(frame, kinds=dict.fromkeys("xy", "continuous")))
    said = " ".join(str(one.message) for one in caught)
    assert "'x' of 'y' are collinear or constant in the data in 2 configurations" in said
    assert "'x', 'y' are constant or determined" in said
    assert network.distributions[2].variances.tolist() == [0, 0]


def test_the_prior_is_for_tables_alone():
    frame = {"a": ["u", "u", "u", "v"], "y": [1.5, 2.0, 4.0, 3.0]}
    dag = Dag.from_arcs([("a", "y")])
    with pytest.warns(BayescoutWarning, match="fewer than 2"):
        plain, laplace = fit(dag, frame), fit(dag, frame, "laplace")
    assert laplace.distributions[0].table == pytest.approx([4 / 6, 2 / 6])
    assert plain.distributions[1].equals(laplace.distributions[1], 0)


def test_a_network_of_both_kinds_gives_kinds_and_states():
    network = model()
    with pytest.warns(BayescoutWarning):
        rows = network.sample(50, seed=2)
    frame = {label: rows.column(label) for label in rows.names} | {"x": list(range(50))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        again = fit(network, frame)
    assert again.distributions[0].states is None
    assert again.distributions[2].states == (1, 2, 3)


def test_held_out_rows_of_both_kinds():
    network = bs.random_network(nodes=6, arcs=8, kind="mixed", states=3, seed=4)
    train, test = network.sample(400, seed=1), network.sample(200, seed=2)
    found = bs.held_out(network.dag, train, test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        again = fit(network, train, "laplace")
    assert found.prior == "laplace"
    assert found.total == pytest.approx(again.log_likelihood(test).total)


def test_too_many_configurations_and_ranges_are_refused():
    names = [f"s{i}" for i in range(27)]
    table = Table(
        (*names, "y"),
        ((0, 1),) * 27 + (None,),
        np.zeros((27, 3), dtype=np.uint8),
        np.array([[1.0, 2.0, 4.0]]),
    )
    with pytest.raises(TooLargeError, match="over the limit"):
        fit(Dag.from_arcs([(name, "y") for name in names], table.names), table)
    with pytest.raises(DataError, match="rescale the column"):
        fit(Dag.empty("ay"), {"a": ["u", "v"], "y": [0.0, 1e200]})


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(mixed_networks())
def test_a_fit_to_many_samples_is_near_the_network(network):
    table = network.sample(20_000, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        again = fit(network, table)
    assert again.kind == network.kind
    own, other = network.log_likelihood(table), again.log_likelihood(table)
    assert other.total >= own.total - 1e-6 * abs(own.total)


def test_random_mixed_networks_are_legal_and_reproducible():
    network = bs.random_network(nodes=9, arcs=20, kind="mixed", states=(2, 4), variances=(0.5, 2), seed=3)
    assert network.kind == "mixed"
    assert sum(one.states is not None for one in network.distributions) == 5
    assert network.equals(
        bs.random_network(nodes=9, arcs=20, kind="mixed", states=(2, 4), variances=(0.5, 2), seed=3)
    )
    assert any(isinstance(one, ConditionalGaussian) for one in network.distributions)
