"""Rows with empty cells: likelihoods and predictions against every way of filling them."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, NetworkError, TooLargeError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork, LinearGaussian, Network, Tabular, junction
from bayescout.network.junction import JunctionTree, junction_tree, row_codes, shared_out
from tests.network.drawn_networks import discrete_networks, gaussian_networks
from tests.network.drawn_rows import gappy_numbers, gappy_rows, gappy_table, number_table
from tests.reference import incomplete as reference
from tests.test_completion import holed

quiet = pytest.mark.filterwarnings("ignore:.*rows have probability zero", "ignore:.*evidence of probability")


def as_codes(network, rows):
    table = gappy_table(network, rows)
    columns = {i: table.array(label) for i, label in enumerate(network.nodes)}
    return row_codes(network, columns, len(rows))


# ---- the tree


@given(st.data())
def test_every_use_of_a_tree_is_enumeration(data):
    """Likelihoods, expected counts, most probable values: one tree for all rows."""
    network = data.draw(discrete_networks())
    rows = data.draw(gappy_rows(network))
    weights = np.array([data.draw(st.sampled_from([0.0, 1.0, 2.5])) for _ in rows])
    codes = as_codes(network, rows)
    empty = [v for v in range(len(network.dag)) if (codes[:, v] < 0).any()]
    tree = junction_tree(network, range(len(network.dag)), empty)
    expected = [reference.log_likelihood(network, row) for row in rows]
    assert tree.likelihoods(codes) == pytest.approx(expected, abs=1e-9)
    counts, totals = tree.expected_counts(codes, weights)
    assert totals.tolist() == tree.likelihoods(codes).tolist()
    for node, table in tree.by_node(counts, network).items():
        assert table == pytest.approx(reference.expected_counts(network, rows, weights)[node], abs=1e-9)
    (best,), scores = tree.filled(codes, None)
    for row, filled, score in zip(rows, best.tolist(), scores, strict=True):
        ways = dict(reference.completions(network, row))
        most = max(ways.values())
        assert math.exp(score) == pytest.approx(most, abs=1e-12)
        assert not most or ways[tuple(filled)] == pytest.approx(most)


@given(st.data())
def test_draws_have_the_posterior_of_all_empty_cells_together(data):
    """Draws over an even grid of numbers for one cell; never a filling of probability zero."""
    network = data.draw(discrete_networks(most=4))
    rows = data.draw(gappy_rows(network, most=2))
    codes = as_codes(network, rows)
    tree = junction_tree(network, range(len(network.dag)), range(len(network.dag)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    draws = 2000
    made, _ = tree.filled(codes, rng.random((draws, tree.n_empty(codes))))
    for i, row in enumerate(rows):
        expected = reference.posterior(network, row)
        found = {tuple(cells): 0 for cells in made[:, i].tolist()}
        for cells in made[:, i].tolist():
            found[tuple(cells)] += 1
        if not expected:
            assert (made[:, i] == codes[i]).all()  # what is impossible is left empty
            continue
        assert set(found) <= set(expected)
        for cells, p in expected.items():
            assert abs(found.get(cells, 0) / draws - p) < 6 * math.sqrt(p * (1 - p) / draws) + 2 / draws


def test_rows_are_shared_out_by_cost(monkeypatch):
    """Trees of their own for costly patterns give what the common tree gives."""
    network = bs.load_network("asia")
    rng = np.random.default_rng(3)
    rows = [[None if rng.random() < 0.4 else int(rng.integers(2)) for _ in network.nodes] for _ in range(60)]
    codes = as_codes(network, rows)
    common = [share.tree.likelihoods(codes[share.rows]) for share in shared_out(network, codes)]
    assert len(common) == 1
    monkeypatch.setattr(junction, "PATTERN_COST", 2)
    shares = shared_out(network, codes, prune=True)
    assert len(shares) > 1
    found = np.empty(len(rows))
    for share in shares:
        found[share.rows] = share.tree.likelihoods(codes[share.rows])
    assert found == pytest.approx(common[0], abs=1e-12)


def test_the_cost_of_a_row_is_that_of_its_empty_cells():
    network = bs.load_network("asia")
    codes = as_codes(network, [[0] * 8, [None] * 8, [None] + [0] * 7])
    whole, nothing, one = shared_out(network, codes)[0].tree.entries(codes).tolist()
    assert whole == 8
    assert one < whole + 8 < nothing


def test_rows_that_are_too_costly_are_refused(monkeypatch):
    network = bs.load_network("asia")
    monkeypatch.setattr(junction, "MAX_ENTRIES", 9)
    table = gappy_table(network, [[0] * 8, [None] * 4 + [0] * 4])
    with pytest.raises(
        TooLargeError, match="the likelihood of a row with 4 empty cells needs tables of more"
    ):
        network.log_likelihood(table)
    with pytest.raises(TooLargeError, match="the prediction of 'lung' of a row with"):
        network.predict(table, "lung")
    with pytest.raises(TooLargeError, match="the most probable values of a row with 4"):
        network.impute(table)
    assert network.impute(table, "sample").n_rows == 2


# ---- likelihoods


@quiet
@given(st.data())
def test_the_likelihood_of_a_row_sums_over_its_empty_cells(data):
    network = data.draw(discrete_networks())
    rows = data.draw(gappy_rows(network))
    table = gappy_table(network, rows)
    expected = [reference.log_likelihood(network, row) for row in rows]
    assert network.row_log_likelihood(table) == pytest.approx(expected, abs=1e-9)
    weights = [data.draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in rows]
    total = network.log_likelihood(gappy_table(network, rows, weights))
    assert total.impossible_rows == expected.count(-math.inf)
    finite = [w * e for w, e in zip(weights, expected, strict=True) if e > -math.inf]
    assert total.finite_total == pytest.approx(math.fsum(finite), abs=1e-9)
    if -math.inf in expected:
        assert float(total) == -math.inf


@quiet
@given(st.data())
def test_rows_without_empty_cells_have_the_same_bits_beside_others(data):
    network = data.draw(discrete_networks())
    rows = data.draw(gappy_rows(network, share=0.0))
    alone = gappy_table(network, rows)
    assert not alone.has_missing
    mixed = gappy_table(network, [*rows, [None] * len(network.dag)])
    assert network.row_log_likelihood(mixed)[:-1].tolist() == network.row_log_likelihood(alone).tolist()
    target = data.draw(st.sampled_from(network.nodes))
    if len(network.dag) > 1:
        found = network.predict_proba(mixed, target)[:-1]
        assert found.tolist() == network.predict_proba(alone, target).tolist()


@given(st.data())
def test_the_density_of_a_row_is_that_of_its_observed_cells(data):
    network = data.draw(gaussian_networks())
    rows = data.draw(gappy_numbers(network))
    expected = [reference.gaussian_conditional(network, row)[0] for row in rows]
    found = network.row_log_likelihood(number_table(network, rows))
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_nodes_without_noise_have_no_density():
    network = GaussianNetwork(Dag.from_arcs([("x", "y")]), [0.0, 0.0], ([], [1.0]), [1.0, 0.0])
    with pytest.raises(NetworkError, match="variance 0"):
        network.log_likelihood({"x": [1.0, None], "y": [1.0, 2.0]})


def test_unseen_parents_are_counted_where_they_agree_with_a_row():
    dag = Dag.from_arcs([("a", "b")])
    undefined = (np.array(False), np.array([False, True]))
    network = DiscreteNetwork(
        dag, (("x", "y"), ("u", "v")), ([0.5, 0.5], [[0.2, 0.8], [0.5, 0.5]]), undefined
    )
    found = network.log_likelihood({"a": ["x", "y", None, "x"], "b": ["u", None, "u", None]})
    assert found.unseen_rows == 2
    with pytest.warns(BayescoutWarning, match="the prediction uses parent configurations of 'b'"):
        network.predict_proba({"a": [None, "x"]}, "b")


def test_a_missing_state_beside_a_number_is_summed_out():
    mixed = Network(Dag.empty(["a", "x"]), (Tabular(("u", "v"), [0.5, 0.5]), LinearGaussian(0.0, [], 1.0)))
    whole = mixed.row_log_likelihood({"a": ["u", "v"], "x": [0.5, 1.5]})
    found = mixed.row_log_likelihood({"a": ["u", None], "x": [0.5, 1.5]})
    assert found == pytest.approx(whole + np.array([0, math.log(2)]))


# ---- predictions


@quiet
@given(st.data())
def test_predictions_sum_over_the_empty_cells(data):
    network = data.draw(discrete_networks())
    if len(network.dag) == 1:
        return
    rows = data.draw(gappy_rows(network))
    target = data.draw(st.integers(0, len(network.dag) - 1))
    hidden = [[None if v == target else code for v, code in enumerate(row)] for row in rows]
    found = network.predict_proba(gappy_table(network, rows), network.nodes[target])
    for row, answer in zip(hidden, found, strict=True):
        expected = reference.marginal(network, row, target)
        if expected is None:  # only evidence that affects the target is checked, as for complete rows
            assert answer.sum() == pytest.approx(1)
        else:
            assert answer == pytest.approx(expected, abs=1e-9)


def test_impossible_evidence_falls_back_with_a_warning():
    network = DiscreteNetwork(
        Dag.from_arcs([("a", "b"), ("c", "b")]),
        (("x", "y"), ("u", "v"), ("s", "t")),
        ([0.3, 0.7], [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.5, 0.5]]], [0.4, 0.6]),
    )
    data = {"a": [None, "x"], "b": ["v", "v"], "c": ["s", None]}
    with pytest.warns(
        BayescoutWarning, match="1 of 2 rows have evidence of probability zero, the first is row 0"
    ):
        answers = network.predict_proba(
            {k: v[:1] * 2 if k != "c" else ["s", "t"] for k, v in data.items()}, "a"
        )
    assert answers[0].tolist() == [0.3, 0.7]
    assert answers[1].tolist() == [0.0, 1.0]
    with pytest.warns(BayescoutWarning, match="2 of 2 rows have probability zero, so the log-likelihood is"):
        assert float(network.log_likelihood(data)) == -math.inf


@given(st.data())
def test_means_are_predicted_from_the_observed_cells(data):
    network = data.draw(gaussian_networks())
    if len(network.dag) == 1:
        return
    rows = data.draw(gappy_numbers(network))
    target = data.draw(st.integers(0, len(network.dag) - 1))
    found = network.predict(number_table(network, rows), network.nodes[target])
    for row, answer in zip(rows, found, strict=True):
        hidden = [None if v == target else cell for v, cell in enumerate(row)]
        place = [v for v, cell in enumerate(hidden) if cell is None].index(target)
        assert answer == pytest.approx(reference.gaussian_conditional(network, hidden)[1][place], abs=1e-8)


def test_means_where_variables_determine_others():
    dag = Dag.from_arcs([("x", "y"), ("y", "z")])
    network = GaussianNetwork(dag, [0.0, 0.0, 0.0], ([], [2.0], [1.0]), [1.0, 0.0, 1.0])
    assert network.predict({"x": [None, 1.0], "y": [4.0, None]}, "z").tolist() == pytest.approx([4.0, 2.0])
    with pytest.warns(BayescoutWarning, match="1 of 2 rows have density zero"):
        network.predict({"x": [1.0, 1.0], "y": [4.0, 2.0], "z": [None, 1.0]}, "z")
    filled = network.impute({"x": [1.0, None], "y": [None, 4.0], "z": [None, None]}, "sample")
    assert filled.array("y").tolist() == pytest.approx([2.0, 4.0])
    assert filled.array("x").tolist() == pytest.approx([1.0, 2.0])


# ---- values that are no states


@pytest.mark.parametrize(
    "call", ["log_likelihood", "row_log_likelihood", "predict", "predict_proba", "impute"]
)
def test_a_value_never_seen_counts_as_missing_with_one_warning(call):
    network = bs.load_network("asia")
    rows = network.sample(4, seed=1).to_dict()
    gone = {**rows, "smoke": ["maybe", *rows["smoke"][1:]], "tub": [*rows["tub"][:2], "often", "x"]}
    empty = {**rows, "smoke": [None, *rows["smoke"][1:]], "tub": [*rows["tub"][:2], None, None]}

    def asked(data):
        if call.startswith("predict"):
            return getattr(network, call)(data, "lung")
        return getattr(network, call)(data)

    expected = asked(empty)
    states = dict(zip(network.nodes, network.states, strict=True))
    more = {**states, "smoke": ["maybe", *states["smoke"]], "tub": ["often", *states["tub"], "x"]}
    for data in (gone, bs.as_table(gone, states=more)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = asked(data)
        told = [str(one.message) for one in said]
        assert len(told) == 1
        assert "'smoke' (1, such as 'maybe'), 'tub' (2, such as 'often') of 4 rows" in told[0] or (
            "'tub' (2, such as 'often'), 'smoke' (1, such as 'maybe') of 4 rows" in told[0]
        )
        if call == "impute":
            assert found.to_dict() == expected.to_dict()
        else:
            assert np.array_equal(np.asarray(found), np.asarray(expected))


def test_evidence_of_a_query_is_still_refused():
    with pytest.raises(bs.errors.UnknownNameError, match="maybe"):
        bs.load_network("asia").query("lung", {"smoke": "maybe"})


def test_a_tree_may_have_no_empty_variables():
    network = bs.load_network("asia")
    tree = junction_tree(network, range(8), ())
    assert isinstance(tree, JunctionTree)
    codes = as_codes(network, [[0] * 8, [1] * 8])
    table = gappy_table(network, [[0] * 8, [1] * 8])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert tree.likelihoods(codes) == pytest.approx(network.row_log_likelihood(table))


@pytest.mark.slow
@pytest.mark.parametrize("name", [one.name for one in bs.networks() if one.kind == "discrete"])
def test_rows_of_shipped_networks_are_not_too_costly(name):
    """200 rows without 20% of their cells, at random: docs/decisions/incomplete-rows.md says so."""
    network = bs.load_network(name)
    table = holed(network.sample(200, seed=1), 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        assert network.log_likelihood(table).finite_total < 0
