"""Acting: answers of the mutilated network against the truncated product, solved equations and samples."""

import itertools
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.errors import BayescoutError


def truncated(network, target, acts, observed):
    """P(target | do(acts), observed) by the sum over all assignments, without the factors of those set."""
    sums = np.zeros(network.sizes[target])
    for codes in itertools.product(*map(range, network.sizes)):
        if any(codes[node] != code for node, code in (*acts.items(), *observed.items())):
            continue
        weight = 1.0
        for node, parents in enumerate(network.dag.parents):
            if node not in acts:
                weight *= network.tables[node][(*(codes[p] for p in parents), codes[node])]
        sums[codes[target]] += weight
    return sums / sums.sum()


@given(st.integers(0, 10_000), st.integers(3, 6))
def test_categories_by_the_truncated_product(seed, n):
    rng = np.random.default_rng(seed)
    model = bs.random_network(
        n, density=0.5, states=rng.integers(2, 4, n).tolist(), concentration=1.0, seed=seed
    )
    roles = rng.permutation(n).tolist()
    target, acted, observed = roles[0], roles[1 : 1 + int(rng.integers(1, n - 1))], roles[-1]
    acts = {node: int(rng.integers(model.sizes[node])) for node in acted}
    seen = {} if observed in (target, *acted) else {observed: int(rng.integers(model.sizes[observed]))}

    def labelled(codes):
        return {model.nodes[node]: model.states[node][code] for node, code in codes.items()}

    expected = truncated(model, target, acts, seen)
    changed = model.do(labelled(acts))
    answer = changed.query(model.nodes[target], labelled(seen))
    assert answer.probabilities == pytest.approx(expected, abs=1e-12)
    marginals = changed.marginals(labelled(seen))[model.nodes[target]]
    assert marginals.probabilities == pytest.approx(expected, abs=1e-12)
    assert answer.done == marginals.done == tuple(labelled(acts).items())


def test_numbers_by_solved_equations():
    model = bs.random_network(6, density=0.6, kind="gaussian", seed=3)
    weights, intercepts = np.zeros((6, 6)), model.intercepts.copy()
    for child, parents in enumerate(model.dag.parents):
        weights[child, list(parents)] = model.coefficients[child]
    noise = model.variances.copy()
    node = model.dag.order_indices[2]
    weights[node], intercepts[node], noise[node] = 0.0, 1.5, 0.0
    total = np.linalg.inv(np.eye(6) - weights)
    mean, covariance = total @ intercepts, total @ np.diag(noise) @ total.T
    changed = model.do({model.nodes[node]: 1.5})
    found = changed.query(list(model.nodes))
    assert found.means == pytest.approx(mean)
    assert found.covariance == pytest.approx(covariance, abs=1e-12)


def test_mixed_networks_by_samples():
    model = bs.random_network(6, density=0.7, kind="mixed", seed=5)
    values = {
        label: 2.0 if one.states is None else one.states[-1]
        for label, one in zip(model.nodes, model.distributions, strict=True)
    }
    for label in model.nodes:
        changed = model.do({label: values[label]})
        rows = changed.sample(40_000, seed=1)
        assert set(rows.column(label)) == {values[label]}
        for other in model.nodes:
            answer = changed.query(other)
            if model.distributions[model.dag.index(other)].states is None:
                scale = answer.variance**0.5
                assert np.mean(rows.array(other)) == pytest.approx(answer.mean, abs=0.03 * scale + 1e-9)
            else:
                shares = np.bincount(rows.array(other), minlength=len(answer.probabilities)) / 40_000
                assert shares == pytest.approx(answer.probabilities, abs=0.015)


def sprinkler():
    """Rain makes the sprinkler unlikely; both make the grass wet (Pearl 2009)."""
    dag = bs.Dag.from_arcs([("rain", "sprinkler"), ("rain", "wet"), ("sprinkler", "wet")])
    states = [("yes", "no")] * 3
    tables = {
        "rain": [0.2, 0.8],
        "sprinkler": [[0.01, 0.99], [0.4, 0.6]],
        "wet": [[[0.99, 0.01], [0.8, 0.2]], [[0.9, 0.1], [0.0, 1.0]]],
    }
    return bs.DiscreteNetwork(dag, states, [tables[label] for label in dag.nodes])


def test_the_sprinkler_tells_nothing_of_rain_once_we_switch_it_on():
    model = sprinkler()
    on = model.do(sprinkler="yes")
    assert on.query("rain")["yes"] == pytest.approx(0.2)
    assert model.query("rain | sprinkler=yes")["yes"] == pytest.approx(0.002 / 0.322)
    wet = 0.2 * 0.99 + 0.8 * 0.9
    assert model.query("wet | do(sprinkler=yes)")["yes"] == pytest.approx(wet)
    assert model.query("rain | do(sprinkler=yes), wet=yes")["yes"] == pytest.approx(0.2 * 0.99 / wet)
    assert model.query("wet | do(sprinkler=yes), rain=yes")["yes"] == pytest.approx(0.99)


def test_what_was_set_is_said_and_kept():
    model = bs.load_network("asia")
    changed = model.do(smoke="yes").do({"bronc": "no"})
    assert changed.done == (("smoke", "yes"), ("bronc", "no"))
    assert "do(smoke=yes, bronc=no)" in repr(changed)
    assert "smoke=yes, bronc=no" in changed.summary()
    answer = changed.query("dysp", {"xray": "yes"})
    assert str(answer).startswith("P(dysp | do(smoke=yes, bronc=no), xray=yes)")
    assert pickle.loads(pickle.dumps(changed)).done == changed.done
    assert changed.do(smoke="no").done == (("smoke", "no"), ("bronc", "no"))
    assert model.done == ()
    assert changed.dag.parents_of("bronc") == ()


def test_acting_in_text_is_acting_by_method():
    model = bs.load_network("asia")
    expected = model.do(smoke="yes", tub="no").query("dysp", {"xray": "yes"})
    for text in (
        "dysp | do(smoke=yes), do(tub=no), xray=yes",
        "dysp | xray=yes, do(smoke=yes, tub=no)",
        'dysp|do ( "smoke" = "yes" ,tub=no ), xray=yes',
    ):
        found = model.query(text)
        assert np.array_equal(found.probabilities, expected.probabilities)
        assert found.done == expected.done


def test_a_value_with_brackets_is_quoted():
    table = bs.as_table({"a": ["x(1)", "y"] * 10, "b": ["p", "q"] * 10})
    model = bs.fit(bs.Dag.from_arcs([("a", "b")]), table, prior="laplace")
    assert model.query('b | do(a="x(1)")').done == (("a", "x(1)"),)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.do(smok="yes"), "did you mean 'smoke'"),
        (lambda m: m.do(smoke="maybe"), "unknown state 'maybe'"),
        (lambda m: m.do(), "at least one variable"),
        (lambda m: m.do("smoke"), "do takes values by name"),
        (lambda m: m.query("lung | do(smoke=yes"), "not closed"),
        (lambda m: m.query("lung | do(smoke=yes) xray=yes"), "not closed"),
        (lambda m: m.query("lung | do()"), "has no '='"),
        (lambda m: m.query("lung | do(smoke=yes, smoke=no)"), "two values"),
        (lambda m: m.query("lung | do(smoke=yes), smoke=no"), "smoke=no cannot happen"),
    ],
)
def test_actions_without_sense_are_refused(ask, message):
    with pytest.raises(BayescoutError, match=message):
        ask(bs.load_network("asia"))


def test_the_command_line_acts_too():
    done = CliRunner().invoke(app, ["query", "asia", "lung | do(smoke=yes), xray=yes", "--json"])
    assert done.exit_code == 0
    expected = bs.load_network("asia").do(smoke="yes").query("lung", {"xray": "yes"})
    found = json.loads(done.stdout)
    assert [row["probability"] for row in found["answer"]] == pytest.approx(expected.probabilities.tolist())
