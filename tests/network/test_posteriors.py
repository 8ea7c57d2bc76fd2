"""Posteriors of all nodes for many rows, against enumeration and against one question per row."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, NetworkError
from bayescout.network import inference
from tests.network.drawn_networks import discrete_networks
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
