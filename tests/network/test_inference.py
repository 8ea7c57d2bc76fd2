"""Exact inference against enumeration, and its refusals."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, NetworkError, SettingError, TooLargeError, UnknownNameError
from bayescout.graph.dag import Dag
from bayescout.graph.random import random_dag
from bayescout.network import DiscreteNetwork, elimination, inference, random_network
from tests.network.asia_network import asia
from tests.network.drawn_networks import (
    discrete_networks,
    discrete_table,
    labelled,
    observations,
    small_dags,
)
from tests.reference import networks as reference


@given(data=st.data())
def test_a_query_is_the_enumerated_conditional(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    targets = data.draw(st.lists(st.integers(0, len(network.dag) - 1), unique=True, min_size=1, max_size=3))
    expected = reference.conditional(network, targets, evidence)
    labels = [network.nodes[t] for t in targets]
    if expected is None:
        with pytest.raises(NetworkError, match="probability zero"):
            network.query(labels, labelled(network, evidence))
        return
    answer = network.query(labels, labelled(network, evidence))
    assert answer.variables == tuple(labels)
    assert answer.probabilities.sum() == pytest.approx(1)
    for cell, p in expected.items():
        assert answer.probabilities[cell] == pytest.approx(p, abs=1e-12)


@given(data=st.data())
def test_marginals_are_the_queries_of_every_node(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    if reference.conditional(network, [0], evidence) is None:
        with pytest.raises(NetworkError, match="probability zero"):
            network.marginals(labelled(network, evidence))
        return
    found = network.marginals(labelled(network, evidence))
    assert list(found) == list(network.nodes)
    for node, label in enumerate(network.nodes):
        expected = reference.conditional(network, [node], evidence)
        assert found[label].probabilities == pytest.approx([expected[(k,)] for k in range(len(expected))])


@given(data=st.data())
def test_logarithms_give_what_products_give(data):
    """The path for products that could underflow, on networks where both are exact."""
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "LOWEST_LOG", 1.0)
        for label in network.nodes:
            expected = reference.conditional(network, [network.dag.index(label)], evidence)
            if expected is None:
                with pytest.raises(NetworkError):
                    network.query([label], labelled(network, evidence))
            else:
                answer = network.query([label], labelled(network, evidence))
                assert answer.probabilities == pytest.approx(list(expected.values()), abs=1e-12)


@given(data=st.data())
def test_the_most_probable_assignment_is_possible_agrees_and_is_not_beaten(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    best = reference.largest_probability(network, evidence)
    if best == 0:
        with pytest.raises(NetworkError, match="probability zero"):
            network.most_probable(labelled(network, evidence))
        return
    found = network.most_probable(labelled(network, evidence))
    assert found.items() >= labelled(network, evidence).items()
    assert network.probability(found) == pytest.approx(best)


@given(data=st.data())
def test_the_conflict_named_is_impossible_and_no_part_of_it_is(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    if reference.conditional(network, [0], evidence) is not None:
        return
    message = str(inference.impossible(network, evidence))
    named = {n: c for n, c in evidence.items() if f"{network.nodes[n]}={network.states[n][c]}" in message}
    assert reference.conditional(network, [0], named) is None
    for node in named:
        part = {n: code for n, code in named.items() if n != node}
        assert reference.conditional(network, [0], part) is not None


@given(dag=small_dags(7), seed=st.integers(0, 99))
def test_an_elimination_order_makes_the_tables_it_says(dag, seed):
    """The plan's sizes are those of a plain simulation on scopes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, len(dag)).tolist()
    keep = tuple(sorted(rng.choice(len(dag), size=int(rng.integers(0, len(dag))), replace=False).tolist()))
    scopes = [tuple(sorted((*parents, child))) for child, parents in enumerate(dag.parents)]
    for cost in (elimination._weight, elimination._fill):
        plan = elimination._greedy(scopes, sizes, keep, cost)
        assert sorted((*plan.order, *keep)) == list(range(len(dag)))
        left, made = [set(s) for s in scopes], [int(np.prod([sizes[v] for v in keep]))]
        for variable in plan.order:
            cluster = set().union(*(s for s in left if variable in s))
            made.append(int(np.prod([sizes[v] for v in cluster])))
            left = [s for s in left if variable not in s] + [cluster - {variable}]
        assert (plan.peak, plan.total) == (max(made), sum(made))


# ---- known figures


def test_asia_gives_the_known_posteriors():
    """Worked out by hand from the tables of the paper."""
    model = asia()
    tub = 0.01 * 0.05 + 0.99 * 0.01
    lung = 0.5 * 0.1 + 0.5 * 0.01
    either = tub + lung - tub * lung
    assert model.query("lung")["yes"] == pytest.approx(lung)
    assert model.query("either")["yes"] == pytest.approx(either)
    assert model.query("lung | xray=yes")["yes"] == pytest.approx(
        lung * 0.98 / (either * 0.98 + (1 - either) * 0.05)
    )
    assert model.query("lung | smoke=yes, either=yes, tub=no")["yes"] == pytest.approx(1)
    assert model.query("smoke | lung=yes")["yes"] == pytest.approx(0.1 * 0.5 / lung)


def test_a_posterior_is_read_by_state_and_printed():
    answer = asia().query(["lung", "smoke"], {"xray": "no"})
    assert answer["yes", "no"] == pytest.approx(answer.to_dict()["yes", "no"])
    assert sum(answer.to_dict().values()) == pytest.approx(1)
    assert answer.most_probable() == ("no", "no")
    text = str(asia().query("lung | smoke=yes"))
    assert text.splitlines() == [
        "P(lung | smoke=yes)",
        "  yes  0.100000  ██",
        "  no   0.900000  ██████████████████",
    ]


def test_an_observed_target_has_all_its_mass_on_its_state():
    answer = asia().query(["smoke", "lung"], {"smoke": "no"})
    assert answer.probabilities == pytest.approx(np.array([[0, 0], [0.01, 0.99]]))


def test_impossible_evidence_is_named_even_when_it_does_not_bear_on_the_target():
    with pytest.raises(NetworkError, match="tub=yes, either=no cannot happen together"):
        asia().query("smoke | tub=yes, either=no, dysp=yes, lung=no")
    with pytest.raises(NetworkError, match="tub=yes, either=no"):
        asia().query("smoke", {"tub": "yes", "either": "no", "lung": "no", "bronc": "yes"})


@pytest.mark.parametrize(
    ("targets", "evidence", "error", "words"),
    [
        ("lug", None, UnknownNameError, "lung"),
        (["lung", "nothing"], None, UnknownNameError, "nothing"),
        ("lung", {"smok": "yes"}, UnknownNameError, "smoke"),
        ("lung", {"smoke": "maybe"}, UnknownNameError, "state 'maybe'"),
        ("lung", {"smoke": ["yes"]}, UnknownNameError, "state"),
        ("lung | smoke=maybe", None, UnknownNameError, "state 'maybe'"),
        (["lung", "lung"], None, SettingError, "twice"),
        ([], None, SettingError, "at least one target"),
        (7, None, UnknownNameError, "7"),
        ("lung | smoke=yes", {"smoke": "no"}, SettingError, "two values"),
    ],
)
def test_a_bad_question_is_refused_with_the_way_out(targets, evidence, error, words):
    with pytest.raises(error, match=words):
        asia().query(targets, evidence)


def test_the_same_value_in_text_and_mapping_is_one_observation():
    assert asia().query("lung | smoke=yes", {"smoke": "yes"})["yes"] == pytest.approx(0.1)


def test_a_query_too_large_is_refused_before_any_work():
    n = 40
    names = [f"p{i}" for i in range(n)]
    dag = Dag.from_arcs(
        [(a, f"c{a}{b}") for a in names for b in names if a < b]
        + [(b, f"c{a}{b}") for a in names for b in names if a < b]
    )
    model = random_network(dag=dag, seed=1)
    evidence = {label: "s0" for label in model.nodes if label.startswith("c")}
    message = r"needs .* of memory .* entries in all, .* limit of 137,438,953,472 entries; .* method='sample'"
    with pytest.raises(TooLargeError, match=message):
        model.query("p0", evidence, exact=True, memory=2**30)
    with pytest.raises(TooLargeError, match=message):
        model.marginals(evidence, exact=True, memory=2**30)
    with pytest.raises(TooLargeError, match=r"over the limit of 1.0 MiB; .* memory=\.\.\."):
        bs.load_network("barley").marginals(exact=True, memory=2**20)
    with pytest.raises(TooLargeError, match="fewer targets"):
        random_network(nodes=27, arcs=0).query([f"X{i}" for i in range(1, 28)], exact=True, memory=2**30)
    with pytest.raises(TooLargeError, match="at most 64 targets"):
        random_network(nodes=65, arcs=0, states=1).query([f"X{i}" for i in range(1, 66)])


def test_a_thousand_observations_neither_underflow_nor_lose_the_smaller_side():
    """600 children for one class, then 600 as strongly for the other: even, though each half alone
    is far below the smallest double."""
    for_a, for_b = np.array([[0.999, 0.001], [0.001, 0.999]]), np.array([[0.001, 0.999], [0.999, 0.001]])
    n = 1200
    dag = Dag.from_arcs([("class", f"f{i}") for i in range(n)])
    model = DiscreteNetwork(
        dag, (("a", "b"),) * (n + 1), (np.array([0.25, 0.75]), *([for_a] * 600), *([for_b] * 600))
    )
    evidence = {f"f{i}": "a" for i in range(n)}
    assert model.query("class", evidence)["a"] == pytest.approx(0.25)
    assert model.marginals(evidence)["class"]["a"] == pytest.approx(0.25)
    names = tuple(evidence)
    rows = [[0] * n, [1] * n, [0] * (n - 1) + [1], [1] + [0] * (n - 1)]
    table = discrete_table(names, [("a", "b")] * n, rows)
    more, less = 0.25 * 999**2 / (0.25 * 999**2 + 0.75), 0.25 / (0.25 + 0.75 * 999**2)
    expected = [0.25, 0.25, more, less]
    assert model.predict_proba(table, "class")[:, 0] == pytest.approx(expected)


def test_a_hidden_variable_below_the_range_of_doubles_is_summed_out():
    """class -> hidden -> 1000 children: each term of the sum over hidden is below exp(-6000)."""
    n = 1000
    dag = Dag.from_arcs([("class", "hidden"), *(("hidden", f"f{i}") for i in range(n))])
    flat = np.array([[0.001, 0.999], [0.001, 0.999]])
    link = np.array([[0.9, 0.1], [0.2, 0.8]])
    model = DiscreteNetwork(dag, ((0, 1),) * (n + 2), (np.array([0.5, 0.5]), link, *([flat] * n)))
    assert model.query("class", {f"f{i}": 0 for i in range(n)})[0] == pytest.approx(0.5)
    sharp = np.array([[0.001, 0.999], [0.002, 0.998]])
    model = DiscreteNetwork(dag, ((0, 1),) * (n + 2), (np.array([0.5, 0.5]), link, *([sharp] * n)))
    assert model.query("class", {f"f{i}": 0 for i in range(n)})[0] == pytest.approx(1 / 9)


@pytest.mark.parametrize("seed", range(4))
def test_marginals_keep_small_probabilities(seed):
    model = random_network(nodes=9, arcs=14, states=3, concentration=0.1, seed=seed)
    row = model.sample(1, seed=seed)
    evidence = {name: row.column(name)[0] for name in model.nodes[:3]}
    for label, found in model.marginals(evidence).items():
        assert found.probabilities == pytest.approx(model.query([label], evidence).probabilities, rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_better_of_two_orders_is_taken(seed):
    dag = random_dag(25, arcs=45, seed=seed)
    scopes = [tuple(sorted((*parents, child))) for child, parents in enumerate(dag.parents)]
    sizes = [2 + i % 3 for i in range(len(dag))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "TRY_FILL_ABOVE", 0)
        peak = elimination.plan(scopes, sizes, ()).peak
    peaks = [elimination._greedy(scopes, sizes, (), c).peak for c in (elimination._weight, elimination._fill)]
    assert peak == min(peaks)


# ---- rows that maximum likelihood left undefined


def with_undefined():
    dag = Dag.from_arcs([("a", "b"), ("b", "c")])
    half = np.array([0.5, 0.5])
    rows = np.array([[0.9, 0.1], [0.5, 0.5]])
    mask = (np.array(False), np.array([False, True]), np.array([False, False]))
    return DiscreteNetwork(dag, ((0, 1),) * 3, (half, rows, rows), mask)


def test_undefined_rows_warn_only_where_they_take_part():
    model = with_undefined()
    with pytest.warns(BayescoutWarning, match=r"configurations of 'b' .*prior='laplace'"):
        model.query("c")
    with pytest.warns(BayescoutWarning, match="of 'b' "):
        model.predict(discrete_table("a", [(0, 1)], [[1]]), "c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.query("a")[0] == 0.5
        assert model.query("c", {"a": 0})[0] == pytest.approx(0.9 * 0.9 + 0.1 * 0.5)
        model.predict(discrete_table("a", [(0, 1)], [[0]]), "c")


# ---- prediction


@given(data=st.data())
def test_a_prediction_is_the_query_of_the_row(data):
    network = data.draw(discrete_networks().filter(lambda network: len(network.dag) > 1))
    target = data.draw(st.integers(0, len(network.dag) - 1))
    others = [n for n in range(len(network.dag)) if n != target]
    seen = data.draw(st.lists(st.sampled_from(others), unique=True, min_size=1))
    seen = [*seen, target] if data.draw(st.booleans()) else seen
    rows = [
        [data.draw(st.integers(0, len(network.states[n]) - 1)) for n in seen]
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    table = discrete_table([network.nodes[n] for n in seen], [network.states[n] for n in seen], rows)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "BATCH_ENTRIES", data.draw(st.sampled_from([1, 2, 2**21])))
        warnings.simplefilter("ignore", BayescoutWarning)
        answers = network.predict_proba(table, network.nodes[target])
        states = network.predict(table, network.nodes[target])
    for row, answer, state in zip(rows, answers, states, strict=True):
        evidence = {n: code for n, code in zip(seen, row, strict=True) if n != target}
        expected = reference.conditional(network, [target], evidence)
        assert answer.sum() == pytest.approx(1)
        assert state == network.states[target][int(np.argmax(answer))]
        if expected is not None:
            assert answer == pytest.approx(list(expected.values()), abs=1e-12)


def test_rows_of_impossible_evidence_get_the_prior_and_are_counted():
    model = asia()
    table = discrete_table(("tub", "either"), [("yes", "no")] * 2, [[1, 1], [0, 1], [0, 0], [0, 1]])
    with pytest.warns(BayescoutWarning, match=r"2 of 4 rows .* first is row 1 "):
        answers = model.predict_proba(table, "lung")
    assert answers[:, 0] == pytest.approx([0.0, 0.055, 0.055, 0.055])


def test_a_contradiction_that_does_not_bear_on_the_target_leaves_the_prediction_alone():
    model = asia()
    table = discrete_table(("tub", "either"), [("yes", "no")] * 2, [[0, 1], [1, 1]])
    answers = model.predict_proba(table, "xray")
    assert answers[:, 0] == pytest.approx([0.05, 0.05])


def test_equal_probabilities_predict_the_state_listed_first():
    dag = Dag.empty(("a", "b"))
    model = DiscreteNetwork(dag, (("x", "y", "z"), (0,)), (np.array([0.2, 0.4, 0.4]), np.array([1.0])))
    assert model.predict(discrete_table("b", [(0,)], [[0], [0]]), "a") == ["y", "y"]


def test_prediction_reads_states_by_value_not_by_position():
    model = asia()
    straight = discrete_table(("xray",), [("yes", "no")], [[0], [1]])
    swapped = discrete_table(("xray",), [("no", "yes")], [[1], [0]])
    assert np.array_equal(model.predict_proba(straight, "lung"), model.predict_proba(swapped, "lung"))
    wrong = discrete_table(("xray",), [("yes", "perhaps")], [[0], [1]])
    with pytest.warns(BayescoutWarning, match=r"count as missing: 'xray' \(1, such as 'perhaps'\) of 2 rows"):
        found = model.predict_proba(wrong, "lung")
    assert np.array_equal(found[0], model.predict_proba(straight, "lung")[0])
    assert found[1] == pytest.approx(model.query("lung").probabilities)
