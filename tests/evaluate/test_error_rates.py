"""Rates of tests against answers that are known."""

import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import GraphError, SettingError, UnknownNameError
from bayescout.evaluate import ErrorRates, adjacency_f, arc_ratio, error_rates
from bayescout.graph.dag import Dag
from bayescout.statistics.independence import Finding, Question, independence_tests
from tests.network.drawn_networks import small_dags
from tests.reference.independence import Oracle

CHAIN = Dag.from_arcs([("a", "b"), ("b", "c")])
ANSWERS = ("dependent", "independent", "inconclusive")


def finding(answer):
    return Finding(0.0, 1.0, 0.5, answer)


def all_questions(n):
    """Every pair given every set of at most two others."""
    return [
        Question(a, b, given)
        for a, b in combinations(range(n), 2)
        for size in range(3)
        for given in combinations([v for v in range(n) if v not in (a, b)], size)
    ]


@given(dag=small_dags(5))
def test_an_oracle_makes_no_error(dag):
    questions = all_questions(len(dag))
    rates = error_rates(questions, Oracle(dag).many(questions), dag)
    assert rates.false_dependences == rates.false_independences == 0
    assert rates.asked == len(questions)
    assert (rates.false_discovery_rate, rates.false_acceptance_rate, rates.type_one_rate) == (0.0, 0.0, 0.0)


@given(data=st.data(), dag=small_dags(4))
def test_every_answer_is_in_its_cell(data, dag):
    questions = all_questions(len(dag))
    answers = data.draw(st.lists(st.sampled_from(ANSWERS), min_size=len(questions), max_size=len(questions)))
    rates = error_rates(questions, [finding(answer) for answer in answers], dag)
    truth = [
        dag.d_separated(dag.nodes[a], dag.nodes[b], [dag.nodes[v] for v in given])
        for a, b, given in questions
    ]
    cells = {(apart, answer): 0 for apart in (True, False) for answer in ANSWERS}
    for apart, answer in zip(truth, answers, strict=True):
        cells[apart, answer] += 1
    assert rates == ErrorRates(
        true_dependences=cells[False, "dependent"],
        false_dependences=cells[True, "dependent"],
        true_independences=cells[True, "independent"],
        false_independences=cells[False, "independent"],
        undecided_dependent=cells[False, "inconclusive"],
        undecided_independent=cells[True, "inconclusive"],
    )


def test_the_rates_by_hand():
    rates = ErrorRates(6, 2, 18, 3, undecided_dependent=1, undecided_independent=5)
    assert rates.asked == 35
    assert rates.false_discovery_rate == 2 / 8
    assert rates.type_one_rate == 2 / 20
    assert rates.false_acceptance_rate == 3 / 9
    assert rates.missed_rate == 4 / 10
    assert rates + rates == ErrorRates(12, 4, 36, 6, 2, 10)
    assert str(rates) == "35 tests: false discovery rate 0.2500, false acceptance rate 0.3333, 6 undecided"
    assert repr(rates) == f"<ErrorRates: {rates}>"
    assert json.loads(json.dumps(rates.to_dict()))["missed_rate"] == 0.4


def test_nothing_asked_is_no_error():
    rates = error_rates([], [], CHAIN)
    assert rates.asked == 0
    assert rates.false_discovery_rate == rates.missed_rate == 0.0


def test_positions_are_those_of_the_columns_named():
    """Columns c, a, b: question 0-1 given 2 is c and a given b, which the chain separates."""
    questions = [Question(0, 1, (2,)), Question(0, 1)]
    found = error_rates(questions, [finding("independent"), finding("dependent")], CHAIN, names="cab")
    assert (found.true_independences, found.true_dependences) == (1, 1)
    with pytest.raises(UnknownNameError):
        error_rates(questions, [finding("dependent")] * 2, CHAIN, names="cax")


def test_what_is_not_a_question_is_refused():
    with pytest.raises(SettingError, match="1 questions but 2 findings"):
        error_rates([Question(0, 1)], [finding("dependent")] * 2, CHAIN)
    for wrong in (
        Question(0, 0),
        Question(0, 3),
        Question(0, 1, (1,)),
        Question(-1, 1),
        Question(0, 1, (2, 2)),
    ):
        with pytest.raises(GraphError, match="different positions from 0 to 2"):
            error_rates([wrong], [finding("dependent")], CHAIN)


def test_a_test_on_data_errs_about_as_often_as_its_level_says():
    truth = bs.random_network(nodes=6, arcs=5, states=2, seed=3)
    rates = ErrorRates(0, 0, 0, 0)
    for seed in range(30):
        table = truth.sample(400, seed=seed)
        questions = all_questions(6)
        rates += error_rates(questions, independence_tests(table, alpha=0.05).many(questions), truth)
    assert 0.01 < rates.type_one_rate < 0.1
    assert 0 < rates.false_acceptance_rate < 1


def test_measures_of_structure_by_hand():
    """Learned b -> a, c -> d; true a -> b, b -> c, c -> d, a -> d: two adjacencies right of two and four."""
    truth = Dag.from_arcs([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    learned = Dag.from_arcs([("b", "a"), ("c", "d")], "dcba")
    assert adjacency_f(learned, truth) == pytest.approx(2 * 2 / (2 * 2 + 0 + 2))
    assert arc_ratio(learned, truth) == 0.5
    assert adjacency_f(Dag.empty("ab"), Dag.empty("ab")) == 1.0
