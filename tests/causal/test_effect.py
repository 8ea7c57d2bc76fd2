"""Effects from data: against formulas written out, models whose effects are known, and whole classes."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.causal import AveragedEffect, Effect, PossibleEffects
from bayescout.causal.estimating import averaged
from bayescout.causal.possible import representatives
from bayescout.causal.strata import standardised
from bayescout.errors import BayescoutError, BayescoutWarning
from bayescout.graph.dag import Dag
from bayescout.graph.equivalence import meek
from tests.graph.drawn_graphs import parent_sets
from tests.reference import graphs as reference


def confounded(rows, seed):
    """z acts on x and y, x on y; all have two states."""
    dag = Dag.from_arcs([("z", "x"), ("z", "y"), ("x", "y")])
    states = [("no", "yes")] * 3
    tables = [[0.4, 0.6], [[0.8, 0.2], [0.3, 0.7]], [[[0.9, 0.1], [0.6, 0.4]], [[0.5, 0.5], [0.2, 0.8]]]]
    model = bs.DiscreteNetwork(dag, states, tables)
    return model, model.sample(rows, seed=seed)


@given(st.integers(0, 10_000))
def test_strata_by_the_formula_written_out(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, [3, 2, 2, 3], size=(80, 4)), columns=list("xyab"))
    table = bs.as_table(frame.astype(str), states={"x": [*"012"], "y": [*"01"], "a": [*"01"], "b": [*"012"]})
    dag = Dag.from_arcs([("a", "x"), ("b", "x"), ("a", "y"), ("b", "y"), ("x", "y")])
    expected = np.zeros((3, 2))
    supported = np.zeros(3)
    for x, (_, stratum) in itertools.product(range(3), list(frame.groupby(["a", "b"]))):
        here = stratum[stratum.x == x]
        if len(here):
            supported[x] += len(stratum) / 80
            for y in range(2):
                expected[x, y] += len(stratum) / 80 * (here.y == y).mean()
    lacking = bool((supported < 1 - 1e-9).any())
    with pytest.warns(BayescoutWarning, match="support nothing") if lacking else np.errstate():
        found = bs.effect(dag, table, "x", "y")
    assert found.adjusted == ("a", "b")
    assert found.estimates == pytest.approx(expected / supported[:, None])
    assert found.unsupported == pytest.approx(1 - supported, abs=1e-12)
    assert found.estimates.sum(axis=1) == pytest.approx(np.ones(3))


def test_standard_errors_are_those_of_influence_functions_row_by_row():
    rng = np.random.default_rng(2)
    x, z, n = rng.integers(0, 2, 300), rng.integers(0, 4, 300), 300
    y = rng.normal(size=(n, 2)) + x[:, None] * [1.0, 0.0] + z[:, None]
    weights = np.ones(n)
    found = standardised(x, 2, y, z, weights)
    influence = np.zeros((n, 2, 2))
    for state in range(2):
        for i in range(n):
            cell = (z == z[i]) & (x == state)
            mean, share = y[cell].mean(axis=0), cell.sum() / (z == z[i]).sum()
            own = (y[i] - mean) / share if x[i] == state else 0.0
            influence[i, state] = own + mean - found.means[state]
    flat = influence.reshape(n, 4)
    assert found.covariance == pytest.approx(flat.T @ flat / n**2)
    twice = standardised(x, 2, y, z, 2 * weights)
    assert twice.covariance == pytest.approx(found.covariance / 2)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    model, _ = confounded(1, 0)
    truth = {s: model.do(x=s).query("y")["yes"] for s in ("no", "yes")}
    held = 0
    for seed in range(400):
        found = bs.effect(model, model.sample(400, seed=seed), "x", "y")
        low, high = found.difference("yes", "no").interval()
        held += low <= truth["yes"] - truth["no"] <= high
    assert 0.92 < held / 400 < 0.98


def test_the_truth_is_found_where_plain_shares_mislead():
    model, table = confounded(200_000, 1)
    found = bs.effect(model, table, "x", "y")
    for state in ("no", "yes"):
        exact = model.do(x=state).query("y")
        assert found.distribution(state).probabilities == pytest.approx(exact.probabilities, abs=0.006)
        assert found.distribution(state).done == exact.done
    gain = found.difference("yes", "no", outcome="yes")
    assert float(gain) == pytest.approx(0.3, abs=0.01)
    misled = model.query("y | x=yes")["yes"] - model.query("y | x=no")["yes"]
    assert misled > 0.48


def test_slopes_agree_with_least_squares_and_the_model():
    dag = Dag.from_arcs([("z", "x"), ("z", "y"), ("x", "m"), ("m", "y"), ("w", "y")])
    model = bs.random_network(dag=dag, kind="gaussian", seed=3)
    table = model.sample(5000, seed=1)
    found = bs.effect(dag, table, "x", "y")
    assert set(found.adjusted) == {"z", "w"}
    columns = {name: table.array(name) for name in dag.nodes}
    design = np.column_stack([columns["x"], np.ones(5000), *(columns[name] for name in found.adjusted)])
    coefficients, residual, *_ = np.linalg.lstsq(design, columns["y"], rcond=None)
    variance = residual[0] / (5000 - 4) * np.linalg.inv(design.T @ design)[0, 0]
    assert found.value == pytest.approx(coefficients[0], rel=1e-9)
    assert found.errors[0] == pytest.approx(variance**0.5, rel=1e-6)
    truth = (model.do(x=1.0).query("y").mean - model.do(x=0.0).query("y").mean) / 1.0
    assert abs(found.value - truth) < 5 * found.errors[0]
    assert "per unit" in str(found)
    assert found.to_pandas()["effect"].tolist() == [found.value]


def test_a_slope_is_the_same_in_other_units_and_far_from_zero():
    rng = np.random.default_rng(1)
    z = rng.normal(size=500)
    x = z + rng.normal(size=500)
    y = 2 * x - z + rng.normal(size=500)
    dag = Dag.from_arcs([("z", "x"), ("z", "y"), ("x", "y")])
    plain = bs.effect(dag, pd.DataFrame({"x": x, "y": y, "z": z}), "x", "y")
    moved = bs.effect(dag, pd.DataFrame({"x": 1e-6 * x + 1e3, "y": y, "z": 1e6 * z - 1e9}), "x", "y")
    assert moved.value == pytest.approx(1e6 * plain.value, rel=1e-5)


def test_states_of_x_and_numbers_of_y():
    rng = np.random.default_rng(4)
    z = rng.integers(0, 2, 4000)
    x = (rng.random(4000) < 0.3 + 0.4 * z).astype(int)
    u = rng.normal(size=4000)
    y = 1.0 + 2.0 * x - 3.0 * z + 0.5 * u + rng.normal(size=4000)
    frame = pd.DataFrame({"x": np.array(["a", "b"])[x], "z": np.array(["p", "q"])[z], "y": y, "u": u})
    by_strata = bs.effect(
        Dag.from_arcs([("z", "x"), ("z", "y"), ("x", "y")], ["x", "y", "z", "u"]), frame, "x", "y"
    )
    assert (by_strata.kind, by_strata.adjusted) == ("means", ("z",))
    dag = Dag.from_arcs([("z", "x"), ("z", "y"), ("x", "y"), ("u", "y")])
    regressed = bs.effect(dag, frame, "x", "y")
    assert set(regressed.adjusted) == {"z", "u"}
    for found in (by_strata, regressed):
        gain = found.difference("b", "a")
        assert abs(gain.value - 2.0) < 4 * gain.error
        assert 0 < gain.error < 0.1
        assert found.estimates == pytest.approx([1 - 3 * z.mean(), 3 - 3 * z.mean()], abs=0.15)
    assert regressed.difference("b", "a").error < by_strata.difference("b", "a").error


def test_rows_with_empty_cells_and_weights():
    model, table = confounded(2000, 2)
    frame = table.to_pandas()
    frame.loc[:99, "z"] = None
    found = bs.effect(model, frame, "x", "y")
    whole = bs.effect(model, table.to_pandas().loc[100:], "x", "y")
    assert (found.rows, found.left_out) == (1900, 100)
    assert np.array_equal(found.estimates, whole.estimates)
    counted = table.to_pandas().value_counts().reset_index(name="n")
    weighted = bs.effect(model, bs.as_table(counted, weights="n"), "x", "y")
    plain = bs.effect(model, table, "x", "y")
    assert weighted.estimates == pytest.approx(plain.estimates)
    assert weighted.errors == pytest.approx(plain.errors)


@given(parent_sets(min_nodes=2, max_nodes=5))
def test_representatives_have_every_parent_set_of_the_class_once(parents):
    n = len(parents)
    dag = Dag(tuple(range(n)), parents)
    members = reference.class_by_reversals(reference.arcs_of(parents))
    expected = sorted({tuple(sorted(a for a, b in arcs if b == 0)) for arcs in members})
    found = list(representatives(dag.cpdag(), 0))
    assert sorted(one.parents[0] for one in found) == expected
    assert all(one.equivalent(dag) for one in found)


@given(parent_sets(min_nodes=2, max_nodes=5), st.integers(0, 2**10 - 1))
def test_representatives_of_a_narrowed_class(parents, directed):
    """Some arcs of a graph are known: the parent sets of x are those of the DAGs that have these arcs."""
    dag = Dag(tuple(range(len(parents))), parents)
    arcs = [(p, c) for c, own in enumerate(dag.parents) for p in own]
    known = {arc for k, arc in enumerate(arcs) if directed >> k & 1}
    whole = dag.cpdag()
    free = tuple(e for e in whole.undirected if e not in known and e[::-1] not in known)
    narrowed = meek(bs.Pdag(dag.nodes, tuple(sorted({*whole.directed, *known})), free))
    assert narrowed.is_narrowed_class()
    members = [own for own in reference.class_by_reversals(frozenset(arcs)) if known <= own]
    expected = {frozenset(p for p, c in own if c == 0) for own in members}
    found = list(representatives(narrowed, 0))
    assert sorted(map(sorted, (set(one.parents[0]) for one in found))) == sorted(map(sorted, expected))
    assert all(known <= {(p, c) for c, own in enumerate(one.parents) for p in own} for one in found)


@given(parent_sets(min_nodes=2, max_nodes=5), st.integers(0, 99))
def test_possible_effects_are_those_of_the_members_of_the_class(parents, seed):
    n = len(parents)
    dag = Dag(tuple(range(n)), parents)
    table = bs.random_network(dag=dag, kind="gaussian", seed=seed).sample(50, seed=seed)
    found = bs.effect(dag.cpdag(), table, 0, 1)
    effects = [found] if isinstance(found, Effect) else list(found)
    members = [
        Dag.from_arcs(arcs, range(n)) for arcs in reference.class_by_reversals(reference.arcs_of(parents))
    ]
    expected = {round(bs.effect(one, table, 0, 1).value, 9) if one.has_path(0, 1) else 0.0 for one in members}
    assert {round(one.value, 9) for one in effects} == expected
    assert {one.is_zero for one in effects} == {not one.has_path(0, 1) for one in members}


def test_possible_effects_of_a_result_and_their_range():
    table = bs.load_network("asia").sample(5000, seed=1)
    result = bs.learn(table, search="ges", score="bdeu")
    found = bs.effect(result, table, "smoke", "dysp")
    assert isinstance(found, PossibleEffects)
    assert len(found) == len(list(found)) >= 2
    assert (found.low <= found.high).all()
    assert "possible effects of smoke on dysp" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["effects"][0]["kind"] == "probabilities"


def test_averages_over_resampled_graphs():
    _, table = confounded(600, 3)
    result = bs.learn(table, search="hill-climb", score="bic")
    found = bs.effect(result, table, "x", "y", bootstrap=8, seed=1)
    assert isinstance(found, AveragedEffect)
    assert (found.runs, found.estimates.shape) == (8, (2, 2))
    assert (found.low <= found.estimates + 1e-12).all()
    assert (found.estimates <= found.high + 1e-12).all()
    again = bs.effect(result, table, "x", "y", bootstrap=8, seed=1, workers=2)
    assert np.array_equal(found.estimates, again.estimates)
    assert "over 8 resamples" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["runs"] == 8


def test_no_option_of_an_average_is_passed_over():
    _, table = confounded(300, 3)
    result = bs.learn(table, search="hill-climb", score="bic")
    with pytest.raises(BayescoutError, match="each graph has a set of its own"):
        bs.effect(result, table, "x", "y", adjust=["z"], bootstrap=3)
    with pytest.raises(BayescoutError, match="unknown node 'w'"):
        bs.effect(result, table, "x", "y", latent="w", bootstrap=3)


def test_an_average_weighs_runs_alike_whatever_their_possible_effects():
    def slope(value, adjusted=()):
        return Effect("x", "y", "slope", np.array([value]), np.zeros((1, 1)), adjusted, 10)

    found = averaged([[slope(1.0)], [slope(2.0), slope(0.0, None)]])
    assert found.estimates[0] == pytest.approx(1.0)
    assert found.share == pytest.approx(0.75)
    assert (found.low[0], found.high[0]) == (0.0, 2.0)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m, t: bs.effect(m, t, "x", "x"), "on itself"),
        (lambda m, t: bs.effect(m, t, "y", "x"), "no causal path"),
        (lambda m, t: bs.effect(m, t, "x", "w"), "unknown node 'w'"),
        (lambda m, t: bs.effect(m, t.select(["x", "z"]), "x", "y"), "unknown column 'y'"),
        (lambda m, t: bs.effect(m, t, "x", "y", adjust=[]), "'z' would do"),
        (lambda m, t: bs.effect(m, t, "x", "y", latent="z"), "no set of variables"),
        (lambda m, t: bs.effect(m, t, "x", "y", bootstrap=5), "give the result"),
        (lambda m, t: bs.effect(m.dag.cpdag(), t, "x", "y", adjust=["z"]), "adjust is for a DAG"),
        (lambda m, t: bs.effect(m, t, "x", "y").value, "not one number"),
        (lambda m, t: bs.effect(m, t, "x", "y").difference("yes", "maybe"), "unknown state 'maybe'"),
        (lambda m, t: bs.effect(m, t, "x", "y").interval(2), "between 0 and 1"),
    ],
)
def test_questions_without_sense_are_refused(ask, message):
    with pytest.raises(BayescoutError, match=message):
        ask(*confounded(100, 1))


def test_what_the_data_cannot_tell_is_refused():
    rng = np.random.default_rng(1)
    dag = Dag.from_arcs([("z", "x"), ("z", "y"), ("x", "y")])
    z = rng.normal(size=50)
    twins = pd.DataFrame({"x": 2 * z, "y": rng.normal(size=50), "z": z})
    with pytest.raises(BayescoutError, match="do not tell the effect of 'x'"):
        bs.effect(dag, twins, "x", "y")
    mixed = pd.DataFrame({"x": rng.normal(size=50), "y": ["a", "b"] * 25, "z": z})
    with pytest.raises(BayescoutError, match="cut 'x' into intervals"):
        bs.effect(dag, mixed, "x", "y")
    numbers = pd.DataFrame({"x": ["p", "q"] * 25, "y": ["a", "b", "b", "a", "a"] * 10, "z": z})
    with pytest.raises(BayescoutError, match="'z' to adjust for are numbers"):
        bs.effect(dag, numbers, "x", "y")
    few = pd.DataFrame(rng.normal(size=(3, 3)), columns=["x", "y", "z"])
    with pytest.raises(BayescoutError, match="too few for a regression"):
        bs.effect(dag, bs.as_table(few, kinds="continuous"), "x", "y")
