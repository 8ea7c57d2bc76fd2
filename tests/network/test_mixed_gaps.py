"""Rows with empty cells of mixed networks, worked on together: against enumeration and pattern by pattern."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.data.table import MissingReport, Table
from bayescout.errors import BayescoutWarning, NetworkError
from bayescout.graph.dag import Dag
from bayescout.network import ConditionalGaussian, LinearGaussian, Network, Tabular, mixed_gaps
from bayescout.network.encode import Matched
from tests.network.drawn_networks import mixed_networks
from tests.reference import networks as reference
from tests.strategies import examples


@contextmanager
def pattern_by_pattern():
    """No row is worked on together with rows of other patterns."""
    with patch.object(mixed_gaps, "MOST_CELLS", 0):
        yield


@st.composite
def holed_rows(draw, network, most=12):
    """Rows with whole numbers and states in about half of their cells."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.1, 0.5, 0.9]))
    sizes = [None if one.states is None else len(one.states) for one in network.distributions]
    cells = [rng.integers(-4, 5, n).astype(float) if r is None else rng.integers(0, r, n) for r in sizes]
    for cell, r in zip(cells, sizes, strict=True):
        cell[rng.random(n) < share] = np.nan if r is None else r
    return table(network, cells)


def table(network, cells):
    discrete = [cell for cell, one in zip(cells, network.distributions, strict=True) if one.states]
    numbers = [cell for cell, one in zip(cells, network.distributions, strict=True) if not one.states]
    n = len(cells[0])
    return Table(
        network.nodes,
        tuple(one.states for one in network.distributions),
        np.array(discrete, dtype=np.uint8).reshape(len(discrete), n),
        np.array(numbers, dtype=float).reshape(len(numbers), n),
        None,
        MissingReport("keep"),
    )


def answers(network, rows):
    """Everything that is asked of rows: predictions of every node, and likelihoods if there is a density."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        for label, one in zip(network.nodes, network.distributions, strict=True):
            ask = network.predict if one.states is None else network.predict_proba
            found[label] = np.asarray(ask(rows, label))
        try:
            found["likelihood"] = network.row_log_likelihood(rows)
        except NetworkError:
            found["likelihood"] = np.array([np.nan])
    return found


def assert_close(found, expected, tolerance=1e-9):
    assert found.keys() == expected.keys()
    for key, one in found.items():
        assert one == pytest.approx(expected[key], rel=tolerance, abs=tolerance, nan_ok=True)


def observed(network, columns, row):
    """{node: code or number} of the cells that are there."""
    sizes = [None if one.states is None else len(one.states) for one in network.distributions]
    cells = {node: column[row].item() for node, column in columns.items()}
    return {node: cell for node, cell in cells.items() if cell == cell and cell != sizes[node]}


def sharpened(network, exponents):
    """The network with the noise of each node made smaller by a power of ten."""
    made = []
    for one, exponent in zip(network.distributions, exponents, strict=True):
        share = 10.0**-exponent
        if isinstance(one, ConditionalGaussian):
            one = ConditionalGaussian(
                one.intercepts, one.coefficients, one.variances * share, discrete=one.discrete
            )
        elif isinstance(one, LinearGaussian):
            one = LinearGaussian(one.intercept, one.coefficients, one.variance * share)
        made.append(one)
    return Network(network.dag, made)


# ---- laws


@settings(deadline=None, max_examples=examples(150))
@given(data=st.data())
def test_likelihoods_and_means_are_those_of_enumeration(data):
    """Configurations one by one, and matrix algebra on the joint normal of each."""
    network = data.draw(mixed_networks())
    rows = data.draw(holed_rows(network, most=4))
    matched = network.matched(rows)
    settled = 0
    for targets in ((), tuple(range(len(network.dag)))):
        for cells in mixed_gaps.gap_cells(network, targets, matched):
            assert cells.settled.all()
            settled += len(cells.rows)
            for place, row in enumerate(cells.rows.tolist()):
                evidence = observed(network, matched.columns, row)
                known = reference.mixed_posterior(network, evidence)
                whole = sum(p for _, p, *_ in known)
                assert np.exp(cells.log_totals()[place]) == pytest.approx(whole, rel=1e-7, abs=1e-300)
                for node in cells.means if targets and whole > 1e-250 else ():
                    mean = sum(p * m[nodes.index(node)] for _, p, nodes, m, _ in known) / whole
                    found = cells.expected([cells.means[node]])[0][place, 0]
                    assert found == pytest.approx(mean, rel=1e-7, abs=1e-7)
    assert settled == 2 * (0 if matched.empty is None else matched.empty.sum())


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(150))
@given(data=st.data())
def test_rows_are_answered_as_pattern_by_pattern(data):
    network = data.draw(mixed_networks(degenerate=data.draw(st.booleans())))
    if data.draw(st.booleans()):
        exponents = data.draw(
            st.lists(st.integers(0, 14), min_size=len(network.dag), max_size=len(network.dag))
        )
        network = sharpened(network, exponents)
    rows = data.draw(holed_rows(network))
    with pattern_by_pattern():
        expected = answers(network, rows)
    assert_close(answers(network, rows), expected)


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_an_answer_does_not_depend_on_the_rows_beside_it(data):
    """To the bit: in another order, alone, and with a few cells at a time."""
    network = data.draw(mixed_networks(degenerate=data.draw(st.booleans())))
    rows = data.draw(holed_rows(network))
    order = np.array(data.draw(st.permutations(range(rows.n_rows))))
    whole = answers(network, rows)
    moved = answers(network, rows.take(order))
    singles = [answers(network, rows.take(np.array([row]))) for row in range(rows.n_rows)]
    with patch.object(mixed_gaps, "BATCH_NUMBERS", 1):
        few = answers(network, rows)
    for key, found in whole.items():
        if key != "likelihood" or not np.isnan(found).any():
            assert np.array_equal(found[order], moved[key])
            assert np.array_equal(found, np.concatenate([one[key] for one in singles]))
        assert np.array_equal(found, few[key], equal_nan=True)


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_filled_cells_have_the_largest_density(data):
    """Of the states; and numbers are the means given these."""
    network = data.draw(mixed_networks())
    rows = data.draw(holed_rows(network, most=5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        found = network.impute(rows)
    for row in range(rows.n_rows):
        codes = observed(network, network.matched(rows).columns, row)
        known = reference.mixed_posterior(network, codes)
        if len(codes) == len(rows.names) or sum(p for _, p, *_ in known) < 1e-250:
            continue
        mine = {network.dag.index(name): found.array(name)[row] for name in rows.names}
        chosen = [one for one in known if all(mine[node] == code for node, code in one[0].items())]
        assert chosen[0][1] == pytest.approx(max(p for _, p, *_ in known), rel=1e-7)
        for node, mean in zip(chosen[0][2], chosen[0][3], strict=True):
            assert mine[node] == pytest.approx(mean, rel=1e-7, abs=1e-7)


# ---- cases


def chain(noise, n=5):
    """A class, and numbers each of which is the one before it and noise."""
    names = [f"x{i}" for i in range(n)]
    arcs = [("c", name) for name in names] + list(pairwise(names))
    dag = Dag.from_arcs(arcs, ["c", *names])
    first = ConditionalGaussian([0.0, 1.0], np.zeros((2, 0)), [1.0, 2.0])
    other = ConditionalGaussian([0.0, 0.5], np.ones((2, 1)), [noise, 2 * noise])
    return Network(dag, [Tabular("uv", [0.4, 0.6]), first, *(other for _ in names[1:])])


@pytest.mark.parametrize("noise", [1.0, 1e-4, 1e-9, 1e-16, 0.0])
def test_nearly_determined_numbers_are_as_pattern_by_pattern(noise):
    network = chain(noise)
    full = network.sample(60, seed=1)
    values = full.values.copy()
    values[np.random.default_rng(0).random(values.shape) < 0.4] = np.nan
    rows = Table(full.names, full.states, full.codes, values, None, MissingReport("keep"))
    with pattern_by_pattern():
        expected = answers(network, rows)
    assert_close(answers(network, rows), expected)


@pytest.mark.slow
def test_rows_with_too_many_cells_are_left_to_their_patterns():
    network = bs.random_network(nodes=9, arcs=14, states=3, kind="mixed", seed=3)
    full = network.sample(30, seed=1)
    rng = np.random.default_rng(5)
    codes, values = full.codes.copy(), full.values.copy()
    codes[rng.random(codes.shape) < 0.6] = 3
    values[rng.random(values.shape) < 0.3] = np.nan
    rows = Table(full.names, full.states, codes, values, None, MissingReport("keep"))
    expected = answers(network, rows)
    for most in (0, 3, 9, 27):
        with patch.object(mixed_gaps, "MOST_CELLS", most):
            met = sum(len(c.rows) for c in mixed_gaps.gap_cells(network, (), network.matched(rows)))
            assert (met > 0) == (most > 0)
            assert_close(answers(network, rows), expected)


def test_evidence_beyond_numbers_is_refused_and_far_evidence_is_not():
    network = chain(1.0)
    with pytest.raises(NetworkError, match="rescale"):
        network.predict_proba({"x0": [1e300, 1.0], "x1": [None, 1.0], "x2": [0.0, None]}, "c")
    far = {"x0": [1e6, 1.0], "x1": [None, 1.0], "x2": [0.0, None]}
    found = network.predict_proba(far, "c")
    with pattern_by_pattern():
        assert found == pytest.approx(network.predict_proba(far, "c"), rel=1e-9)


def test_undefined_configurations_warn_where_they_bear_on_a_row():
    rows = {"a": ["u", "u", "v", "v"] * 5, "b": ["s", "t", "s", "s"] * 5, "x": np.arange(20.0) % 7}
    dag = Dag.from_arcs([("a", "x"), ("b", "x")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = bs.fit(dag, rows)
    with pytest.warns(BayescoutWarning, match="'x' that the data never showed"):
        network.predict({"b": ["t", None], "x": [1.0, 2.0]}, "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network.predict({"b": ["t", None], "x": [None, None]}, "a")  # x bears on nothing here


def test_impossible_rows_get_the_answer_without_evidence():
    dag = Dag.from_arcs([("a", "b"), ("a", "x"), ("a", "y")])
    level = ConditionalGaussian([0.0, 1.0], np.zeros((2, 0)), [1.0, 1.0])
    nodes = {"a": Tabular("uv", [0.3, 0.7]), "b": Tabular("stw", [[0.5, 0.5, 0], [0.5, 0.5, 0]])}
    network = Network(dag, [nodes.get(label, level) for label in dag.nodes])
    rows = {"b": ["w", "s"], "x": [None, 0.5], "y": [1.0, None]}
    with pytest.warns(BayescoutWarning, match="1 of 2 rows have evidence of probability zero"):
        found = network.predict_proba(rows, "a")
    assert found[0] == pytest.approx([0.3, 0.7])
    table = {"a": ["u", "u"], **rows}
    with pytest.warns(BayescoutWarning, match="probability zero"):
        assert np.isneginf(network.log_likelihood(table).total)


def test_a_row_of_probability_zero_with_a_determined_number_is_refused_as_ever():
    dag = Dag.from_arcs([("a", "x"), ("a", "y")])
    point = ConditionalGaussian([0.0, 2.0], np.zeros((2, 0)), [0.0, 0.0])
    network = Network(dag, [Tabular("uv", [0.0, 1.0]), point, point])
    rows = {"a": ["u", "v"], "x": [0.0, None], "y": [None, None]}
    for most in (0, mixed_gaps.MOST_CELLS):
        with (
            patch.object(mixed_gaps, "MOST_CELLS", most),
            pytest.raises(NetworkError, match="variance 0"),
        ):
            network.row_log_likelihood(rows)


def test_rows_without_empty_cells_are_not_worked_on_here():
    network = chain(1.0)
    full = network.sample(5, seed=1)
    assert not list(mixed_gaps.gap_cells(network, (), network.matched(full)))
    assert not list(mixed_gaps.gap_cells(network, (), Matched({}, None, 5)))
