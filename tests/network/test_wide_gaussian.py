"""Few nodes of a wide Gaussian network: the answers of the whole joint distribution, which is not made."""

from __future__ import annotations

import tracemalloc
from unittest import mock

import numpy as np
import pytest

import bayescout as bs
from bayescout.data import memory
from bayescout.errors import NetworkError, TooLargeError
from bayescout.graph.dag import Dag
from bayescout.network import GaussianNetwork, conditioning
from tests.reference import networks as reference

SEEDS = range(25)
WIDTHS = [0, 5, conditioning.MOST_TOGETHER]


def drawn(seed, most=25):
    """A random network, some nodes of it, values of others, and a generator."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, most))
    model = bs.random_network(p, arcs=min(2 * p, p * (p - 1) // 2), kind="gaussian", seed=seed)
    order = rng.permutation(p)
    targets, seen = np.split(order[: int(rng.integers(2, p + 1))], [int(rng.integers(1, 3))])
    return (
        model,
        targets.tolist(),
        dict(zip(seen.tolist(), rng.normal(size=len(seen)).tolist(), strict=True)),
        rng,
    )


def whole(model, acts):
    """The mean and the covariance of all nodes where some are set, by inversion."""
    arcs, noise, shift = np.zeros((len(model.dag),) * 2), model.variances.copy(), model.intercepts.copy()
    for child, parents in enumerate(model.dag.parents):
        arcs[child, list(parents)] = model.coefficients[child]
    for node, value in acts.items():
        arcs[node], noise[node], shift[node] = 0.0, 0.0, value
    spread = np.linalg.inv(np.eye(len(noise)) - arcs)
    return spread @ shift, spread @ np.diag(noise) @ spread.T


def given(mean, covariance, targets, evidence):
    """The mean and the covariance of the targets given evidence, from those of all."""
    t, e = list(targets), list(evidence)
    gain = np.linalg.solve(covariance[np.ix_(e, e)], covariance[np.ix_(e, t)]).T
    away = np.array(list(evidence.values())) - mean[e]
    return mean[t] + gain @ away, covariance[np.ix_(t, t)] - gain @ covariance[np.ix_(e, t)]


def near(found, expected):
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("width", WIDTHS)
def test_questions_are_answered_as_by_the_whole_joint(width):
    for seed in SEEDS:
        model, targets, evidence, _ = drawn(seed)
        labels = [model.nodes[t] for t in targets]
        said = {model.nodes[n]: value for n, value in evidence.items()}
        mean, covariance = given(*whole(model, {}), range(len(model.dag)), evidence)
        with (
            mock.patch.object(conditioning, "MOST_TOGETHER", width),
            mock.patch.object(conditioning, "AT_ONCE", 2),
        ):
            answer = model.query(labels, said)
            marginals = model.marginals(said)
            few = model.marginals(said, labels)
            likely = model.most_probable(said)
            told = model.information(labels[0], said)
        near(answer.means, mean[targets])
        near(answer.covariance, covariance[np.ix_(targets, targets)])
        near([marginals[label].mean for label in model.nodes], mean)
        near([marginals[label].variance for label in model.nodes], np.diagonal(covariance))
        near([few[label].variance for label in labels], np.diagonal(covariance)[targets])
        assert list(few) == labels
        near([likely[label] for label in model.nodes], mean)
        assert all(likely[label] == value for label, value in said.items())
        t = targets[0]
        for n, label in enumerate(model.nodes):
            if n != t and n not in evidence:
                correlation = covariance[t, n] ** 2 / (covariance[t, t] * covariance[n, n])
                near(told[label], -0.5 * np.log1p(-correlation))


@pytest.mark.parametrize("width", WIDTHS)
def test_acting_is_answered_as_by_the_whole_joint(width):
    for seed in SEEDS:
        model, targets, evidence, rng = drawn(seed)
        free = [n for n in range(len(model.dag)) if n not in evidence]
        acts = dict.fromkeys(rng.choice(free, size=min(2, len(free)), replace=False).tolist(), 1.5)
        mean, covariance = given(*whole(model, acts), targets, evidence)
        with mock.patch.object(conditioning, "MOST_TOGETHER", width):
            acted = model.do({model.nodes[n]: value for n, value in acts.items()})
            answer = acted.query(
                [model.nodes[t] for t in targets], {model.nodes[n]: value for n, value in evidence.items()}
            )
        near(answer.means, mean)
        near(answer.covariance, covariance)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")  # nodes without a column
def test_rows_with_cells_of_few_nodes_are_answered_as_by_the_whole_joint(width):
    for seed in SEEDS:
        model, _, _, rng = drawn(seed)
        p = len(model.dag)
        there = rng.permutation(p)[: int(rng.integers(2, p))].tolist()
        cells = rng.normal(size=(6, len(there)))
        cells[rng.random(cells.shape) < 0.3] = np.nan
        cells[0, :], cells[1:, 0] = np.nan, 1.0
        names = [model.nodes[n] for n in there]
        rows = bs.as_table(dict(zip(names, cells.T, strict=True)), kinds="continuous")
        target = next(n for n in range(p) if n not in there)
        with mock.patch.object(conditioning, "MOST_TOGETHER", width):
            densities = model.row_log_likelihood(rows)
            predicted = model.predict(rows, model.nodes[target])
            found = model.posteriors(rows)
        mean, covariance = whole(model, {})
        for row, own in enumerate(cells):
            evidence = {n: x for n, x in zip(there, own.tolist(), strict=True) if not np.isnan(x)}
            means, variances = given(mean, covariance, range(p), evidence)
            near(predicted[row], means[target])
            near([found[label][row, 0] for label in model.nodes], means)
            near([found[label][row, 1] for label in model.nodes], np.diagonal(variances))
            e = list(evidence)
            away = np.array(list(evidence.values())) - mean[e]
            within = covariance[np.ix_(e, e)]
            square = away @ np.linalg.solve(within, away) if e else 0.0
            near(densities[row], -0.5 * (square + np.linalg.slogdet(2 * np.pi * within)[1]))


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")  # nodes without a column
def test_cells_missing_here_and_there_are_answered_by_a_sparse_precision():
    for seed in SEEDS:
        model, _, _, rng = drawn(seed)
        cells = model.sample(8, seed).values.T.copy()
        cells[rng.random(cells.shape) < 0.2] = np.nan
        rows = bs.as_table(dict(zip(model.nodes, cells.T, strict=True)), kinds="continuous")
        found = []
        for width in (conditioning.MOST_TOGETHER, 0):
            with mock.patch.object(conditioning, "MOST_TOGETHER", width):
                found.append((model.row_log_likelihood(rows), model.impute(rows).values))
        near(found[0][0], found[1][0])
        near(found[0][1], found[1][1])


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")  # nodes without a column
def test_no_matrix_of_all_pairs_is_made():
    p = 3000
    model = bs.random_network(p, arcs=4 * p, kind="gaussian", seed=1)
    rows = model.sample(3, seed=1)
    last = model.dag.order()[-9:]
    said = dict.fromkeys(last[:3], 0.5)
    few = rows.select(list(said))
    questions = (
        lambda: model.query(last[4], said),
        lambda: model.do({last[0]: 1.0}).query(last[4:]),
        lambda: model.query(last[0], {label: 0.5 for label in model.nodes if label != last[0]}),
        lambda: model.marginals(said, last[4:]),
        lambda: model.information(last[4], said, last[5:]),
        lambda: model.row_log_likelihood(few),
        lambda: model.predict(few, last[4]),
        lambda: model.posteriors(few, last[4:]),
    )
    assert len(conditioning.ancestral(model, [model.dag.index(label) for label in last])) > 1000
    for ask in questions:
        tracemalloc.start()
        ask()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < p * p


def test_evidence_that_the_target_depends_on_is_told_from_the_rest():
    """Of a chain whose nodes are all observed, only the two beside the target count."""
    p = conditioning.MOST_TOGETHER + 10
    dag = Dag(tuple(range(p)), ((), *((i - 1,) for i in range(1, p))))
    weights = (np.empty(0), *(np.array([0.5]) for _ in range(p - 1)))
    model = GaussianNetwork(dag, np.zeros(p), weights, np.ones(p))
    evidence = {i: float(i % 3) for i in range(p) if i != 700}
    found = conditioning.condition(model, (700,), list(evidence))
    assert [list(evidence)[i] for i in np.flatnonzero(found.weights[0])] == [699, 701]
    near(model.query(700, evidence).mean, 0.5 * (evidence[699] + evidence[701]) / 1.25)
    acted = model.do({3: 1.0})
    assert acted.query(5, {3: 1.0, 900: 0.0}).variance == pytest.approx(1.25)
    with pytest.raises(NetworkError, match="density zero: 3=2, 900=0 cannot happen together"):
        acted.query(5, {3: 2.0, 900: 0.0})


def test_what_is_too_large_is_refused(monkeypatch):
    model = bs.random_network(20, arcs=40, kind="gaussian", seed=1)
    monkeypatch.setattr(conditioning, "MOST_TOGETHER", 0)
    monkeypatch.setattr(memory, "free", lambda: 100.0)
    last = model.dag.order()[-1]
    with pytest.raises(TooLargeError, match=r"1 node with .* ancestors takes about .*: ask for fewer nodes"):
        model.query(last)
    rows = model.sample(5, seed=1)
    with pytest.raises(TooLargeError, match=r"a row with .* empty cells takes about"):
        model.impute(rows.select(list(model.nodes[:10])))


def test_the_reference_of_these_tests_is_that_of_others():
    model, *_ = drawn(3)
    for one, other in zip(whole(model, {}), reference.gaussian_joint(model), strict=True):
        near(one, other)
