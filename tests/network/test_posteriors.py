"""Posteriors of all nodes for many rows, against enumeration and against one question per row."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, NetworkError, TooLargeError
from bayescout.network import inference
from tests.network.drawn_networks import discrete_networks, gaussian_networks, mixed_networks
from tests.reference import networks as reference


@given(data=st.data())
def test_posteriors_of_rows_are_enumerated_conditionals(data):
    """Any cells observed in each row, zeros in the tables, single states, batches of any size."""
    network = data.draw(discrete_networks(5))
    p = len(network.dag)
    rows = [
        [data.draw(st.sampled_from([None, *states])) for states in network.states]
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    columns = {network.nodes[i]: [row[i] for row in rows] for i in range(p)}
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "BATCH_ENTRIES", data.draw(st.sampled_from([1, 2**21])))
        warnings.simplefilter("ignore", BayescoutWarning)
        found = network.posteriors(columns)
    for i, row in enumerate(rows):
        evidence = {n: network.states[n].index(cell) for n, cell in enumerate(row) if cell is not None}
        for node, label in enumerate(network.nodes):
            expected = reference.conditional(network, [node], evidence)
            if expected is None:
                assert np.isnan(found[label][i]).all()
            else:
                assert found[label][i] == pytest.approx(list(expected.values()), abs=1e-12)


def test_rows_are_answered_as_one_by_one():
    model = bs.load_network("alarm")
    rows = model.sample(30, seed=3)
    names = model.nodes[::4]
    found = model.posteriors(rows.select(names))
    for i in range(30):
        evidence = {name: rows.column(name)[i] for name in names}
        for label, one in model.marginals(evidence).items():
            assert np.allclose(found[label][i], one.probabilities, rtol=1e-9, atol=1e-12)
    some = model.posteriors(rows.select(names), nodes=["BP", "CVP"])
    assert list(some) == ["BP", "CVP"]
    assert np.allclose(some["BP"], found["BP"])


def test_impossible_rows_are_counted_and_empty():
    model = bs.load_network("asia")
    with pytest.warns(BayescoutWarning, match=r"1 of 2 rows have evidence of probability zero, .* row 1 "):
        found = model.posteriors({"tub": ["no", "yes"], "either": ["no", "no"]})
    assert np.isnan(found["smoke"][1]).all()
    assert not np.isnan(found["smoke"][0]).any()


def test_data_without_a_node_is_refused():
    with pytest.raises(NetworkError, match="no column of the data is a node to predict others from"):
        bs.load_network("asia").posteriors({"other": ["yes"]})


@given(data=st.data())
def test_numbers_have_the_mean_and_variance_of_one_question_per_row(data):
    network = data.draw(st.one_of(gaussian_networks(5), mixed_networks(5)))
    rows = network.sample(data.draw(st.integers(1, 4)), seed=data.draw(st.integers(0, 99)))
    columns = {}
    for name in network.nodes:
        gone = [data.draw(st.booleans()) for _ in range(rows.n_rows)]
        columns[name] = [None if out else cell for out, cell in zip(gone, rows.column(name), strict=True)]
    states = {n: one.states for n, one in zip(network.nodes, network.distributions, strict=True)}
    kinds = {name: "continuous" for name, own in states.items() if own is None}
    declared = {name: own for name, own in states.items() if own is not None}
    table = bs.as_table(columns, kinds=kinds, states=declared or None, columns=list(columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        found = network.posteriors(table)
        for i in range(rows.n_rows):
            evidence = {name: cells[i] for name, cells in columns.items() if cells[i] is not None}
            for name, one in network.marginals(evidence).items():
                if columns[name][i] is not None and name in kinds:
                    assert found[name][i].tolist() == [columns[name][i], 0.0]
                elif name in kinds:
                    assert found[name][i] == pytest.approx([one.mean, one.variance], rel=1e-6, abs=1e-9)
                else:
                    assert found[name][i] == pytest.approx(list(one.probabilities), abs=1e-9)


def test_rows_too_large_for_an_exact_answer_are_estimated(monkeypatch):
    model, asked = bs.load_network("alarm"), ["CVP", "CO"]
    rows = model.sample(3, seed=1).select(["BP", "HRBP"])
    exact = model.posteriors(rows, nodes=asked)
    drawn = model.posteriors(rows, nodes=asked, method="sample")
    monkeypatch.setattr(inference, "ALWAYS", 0)
    with pytest.raises(TooLargeError, match="over the limit"):
        model.posteriors(rows, nodes=asked, memory=1, exact=True)
    with pytest.warns(BayescoutWarning, match="3 of 3 rows are estimates"):
        rough = model.posteriors(rows, nodes=asked, memory=1)
    for name in asked:
        assert np.abs(rough[name] - exact[name]).max() < 0.05
        assert (drawn[name] == rough[name]).all()
