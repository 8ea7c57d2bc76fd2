"""Independence tests against their definitions, scipy's tables, and what they promise about errors."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.statistics import independence
from bayescout.statistics.counts import Counts
from bayescout.statistics.covariance import Covariance
from bayescout.statistics.independence import (
    CORRECTIONS,
    ChiSquared,
    Finding,
    FisherZ,
    GSquared,
    Question,
    corrected,
    independence_tests,
)
from tests.reference.independence import Oracle
from tests.scores.drawn_data import continuous_table, discrete_tables, table_of


def strata_by_rows(table, question):
    """The counts of every stratum that occurs, from the rows one by one."""
    a, b, given = question
    found = {}
    for row in range(table.n_rows):
        key = tuple(int(table.codes[z, row]) for z in given)
        cell = (int(table.codes[a, row]), int(table.codes[b, row]))
        weight = 1.0 if table.weights is None else float(table.weights[row])
        found.setdefault(key, Counter())[cell] += weight
    return found


def by_definition(table, question):
    """Both statistics, the degrees of freedom and the least expected count, in plain loops."""
    a, b, given = question
    sizes = table.cardinalities.tolist()
    chi, ratio, least = 0.0, 0.0, math.inf
    strata = strata_by_rows(table, question)
    for cells in strata.values():
        total = sum(cells.values())
        for i, j in itertools.product(range(sizes[a]), range(sizes[b])):
            rows = sum(count for (k, _), count in cells.items() if k == i)
            columns = sum(count for (_, k), count in cells.items() if k == j)
            expected = rows * columns / total
            least = min(least, expected)
            if expected:
                chi += (cells[i, j] - expected) ** 2 / expected
            if cells[i, j]:
                ratio += 2 * cells[i, j] * math.log(cells[i, j] / expected)
    if len(strata) < math.prod(sizes[z] for z in given):
        least = 0.0
    degrees = (sizes[a] - 1) * (sizes[b] - 1) * math.prod(sizes[z] for z in given)
    return chi, ratio, degrees, least


@st.composite
def questions_of(draw, n):
    order = draw(st.permutations(range(n)))
    return Question(order[0], order[1], tuple(order[2 : 2 + draw(st.integers(0, n - 2))]))


@given(data=st.data())
def test_discrete_tests_are_their_definitions(data):
    table = data.draw(discrete_tables(min_variables=2, max_rows=120))
    question = data.draw(questions_of(table.n_columns))
    chi, ratio, degrees, least = by_definition(table, question)
    counts = Counts(table)
    for test, statistic in ((ChiSquared(counts), chi), (GSquared(counts), ratio)):
        found = test.one(question)
        assert found.statistic == pytest.approx(statistic, abs=1e-7)
        assert found.degrees == degrees
        p_value = scipy.stats.chi2.sf(found.statistic, degrees) if degrees else 1.0
        assert found.p_value == pytest.approx(p_value, abs=1e-9)
        decided = "dependent" if found.p_value <= 0.05 else "independent"
        doubtful = isinstance(test, ChiSquared) and least < 5 and degrees > 0
        assert found.answer == ("inconclusive" if doubtful else decided)
        swapped = test.one(Question(question.b, question.a, question.given[::-1]))
        assert (swapped.statistic, swapped.answer) == (pytest.approx(found.statistic, abs=1e-7), found.answer)


def test_a_table_too_large_to_hold_is_inconclusive_and_not_counted():
    rng = np.random.default_rng(0)
    table = table_of(rng.integers(0, 4, (12, 500)), [4] * 12)
    found = ChiSquared(Counts(table)).many([Question(0, 1, tuple(range(2, 12))), Question(0, 1)])
    assert found[0].answer == "inconclusive"
    assert (found[0].statistic, found[0].degrees) == (0.0, 9.0 * 4**10)
    assert found[1] == ChiSquared(Counts(table)).one(Question(0, 1))


def test_chi_squared_agrees_with_scipy_in_each_stratum():
    table = bs.load_network("asia").sample(5000, seed=1)
    smoke, lung, bronc = (table.index(name) for name in ("smoke", "lung", "bronc"))
    found = ChiSquared(Counts(table)).one(Question(smoke, lung, (bronc,)))
    total = 0.0
    for stratum in (0, 1):
        rows = table.codes[bronc] == stratum
        counts = np.zeros((2, 2))
        np.add.at(counts, (table.codes[smoke, rows], table.codes[lung, rows]), 1)
        total += scipy.stats.chi2_contingency(counts, correction=False).statistic
    assert found.statistic == pytest.approx(total)
    assert (found.degrees, found.answer) == (2.0, "dependent")


def test_the_least_expected_count_decides_whether_chi_squared_is_believed():
    """2 x 2, uniform: 20 rows expect exactly 5 a cell, 19 rows less."""
    cells = np.array(list(itertools.product((0, 1), (0, 1))) * 5).T
    assert ChiSquared(Counts(table_of(cells, [2, 2]))).one(Question(0, 1)).answer == "independent"
    assert ChiSquared(Counts(table_of(cells[:, 1:], [2, 2]))).one(Question(0, 1)).answer == "inconclusive"
    assert ChiSquared(Counts(table_of(cells, [2, 3]))).one(Question(0, 1)).answer == "inconclusive"
    assert GSquared(Counts(table_of(cells, [2, 3]))).one(Question(0, 1)).answer == "independent"


def test_a_stratum_that_never_occurs_makes_chi_squared_inconclusive():
    """25 rows are expected in each cell of the two strata of three."""
    cells = np.array(list(itertools.product((0, 1), (0, 1), (0, 1))) * 25).T
    for states, answer in ((2, "independent"), (3, "inconclusive")):
        counts = Counts(table_of(cells, [2, 2, states]))
        assert ChiSquared(counts).one(Question(0, 1, (2,))).answer == answer


def test_a_constant_column_is_independent_of_everything():
    table = table_of([np.zeros(10, int), np.arange(10) % 2], [1, 2])
    for name in ("chi2", "g2"):
        assert independence_tests(table, name).one(Question(0, 1)) == Finding(0.0, 0.0, 1.0, "independent")


def test_row_weights_count():
    table = table_of([[0, 0, 1, 1], [0, 1, 0, 1]], [2, 2], weights=[30, 10, 10, 30])
    long = table_of(np.repeat([[0, 0, 1, 1], [0, 1, 0, 1]], [30, 10, 10, 30], axis=1), [2, 2])
    for name in ("chi2", "g2"):
        one, other = (independence_tests(t, name).one(Question(0, 1)) for t in (table, long))
        assert one.statistic == pytest.approx(other.statistic)
        assert one.answer == other.answer == "dependent"


# ---- Gaussian


@given(seed=st.integers(0, 2**32 - 1), data=st.data())
def test_fisher_z_is_the_correlation_of_residuals(seed, data):
    rng = np.random.default_rng(seed)
    p, n = data.draw(st.integers(2, 6)), data.draw(st.integers(12, 60))
    columns = rng.normal(size=(p, p)) @ rng.normal(size=(p, n))
    question = data.draw(questions_of(p))
    a, b, given = question
    design = np.vstack([np.ones(n), columns[list(given)]]).T
    left, right = (columns[i] - design @ np.linalg.lstsq(design, columns[i], rcond=None)[0] for i in (a, b))
    r = np.corrcoef(left, right)[0, 1]
    found = FisherZ(Covariance(continuous_table(columns))).one(question)
    assert np.tanh(found.statistic / math.sqrt(found.degrees)) == pytest.approx(r, abs=1e-5)
    assert found.degrees == n - len(given) - 3
    assert found.p_value == pytest.approx(2 * scipy.stats.norm.sf(abs(found.statistic)), abs=1e-12)
    assert found.answer == ("dependent" if found.p_value <= 0.05 else "independent")
    again = FisherZ(Covariance(continuous_table(columns))).one(Question(b, a, given[::-1]))
    assert again == found


def test_fisher_z_without_degrees_of_freedom_is_inconclusive():
    columns = np.random.default_rng(0).normal(size=(4, 5))
    tests = FisherZ(Covariance(continuous_table(columns)))
    assert tests.one(Question(0, 1, (2,))).answer != "inconclusive"
    assert tests.one(Question(0, 1, (2, 3))) == Finding(0.0, 0.0, 1.0, "inconclusive")


def test_what_the_given_variables_determine_is_independent_and_copies_are_not():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 100))
    with pytest.warns(bs.BayescoutWarning, match="'x2' of 'x0', 'x1'; 'x3' of 'x0'"):
        tests = FisherZ(Covariance(continuous_table([x, y, x + y, x])))
    assert tests.one(Question(0, 3)).answer == "dependent"
    assert tests.one(Question(0, 1, (2,))).answer == "dependent"
    for case in ((2, 3, (0, 1)), (0, 2, (3, 1)), (2, 0, (3, 1)), (0, 1, (3,)), (1, 0, (3,))):
        assert tests.one(Question(*case)).answer == "independent"


def test_rounding_is_not_taken_for_dependence_however_many_the_rows():
    """Two variables that the given ones determine, each row standing for a hundred million."""
    for seed in range(20):
        x, y = np.random.default_rng(seed).normal(size=(2, 50))
        table = continuous_table([x, y, x + 2 * y, x - y, x + 1e-3 * y])
        weighted = bs.Table(table.names, table.states, table.codes, table.values, weights=np.full(50, 1e8))
        with pytest.warns(bs.BayescoutWarning, match="linear functions"):
            tests = FisherZ(Covariance(weighted))
        assert {tests.one(Question(a, b, (0, 1))).answer for a, b in ((2, 3), (3, 4), (4, 2))} == {
            "independent"
        }


# ---- many at once


@pytest.mark.parametrize("name", ["chi2", "g2", "fisher-z"])
def test_many_are_the_same_as_one_by_one(name, monkeypatch):
    if name == "fisher-z":
        table = continuous_table(np.random.default_rng(3).normal(size=(5, 50)))
    else:
        table = bs.load_network("asia").sample(400, seed=2)
    tests = independence_tests(table, name)
    questions = [
        Question(a, b, given)
        for a, b in itertools.permutations(range(5), 2)
        for k in range(3)
        for given in itertools.combinations([v for v in range(5) if v not in (a, b)], k)
    ]
    expected = [tests.one(question) for question in questions]
    assert tests.many(questions) == expected
    monkeypatch.setattr(independence, "BATCH_CELLS", 20)
    assert tests.many(questions) == expected
    assert tests.many([]) == []


@given(st.lists(st.floats(0, 1), max_size=12), st.sampled_from(CORRECTIONS))
def test_corrections_are_their_step_rules(p_values, how):
    """Rejecting where the adjusted value is at most alpha is the published rule at every alpha."""
    values = np.array(p_values)
    adjusted = corrected(values, how)
    m = len(values)
    for alpha in (0.01, 0.05, 0.3):
        if how == "none":
            expected = values <= alpha
        elif how == "bonferroni":
            expected = np.minimum(values * m, 1) <= alpha
        else:
            ranked = np.sort(values)
            passing = [j for j in range(m) if ranked[j] * m / (j + 1) <= alpha]
            expected = values <= (ranked[passing[-1]] if passing else -1.0)
        assert (adjusted <= alpha).tolist() == expected.tolist()
    assert adjusted.tolist() == pytest.approx(
        scipy.stats.false_discovery_control(values).tolist() if how.startswith("benjamini") and m else
        adjusted.tolist()
    )  # fmt: skip


def test_corrections_are_over_the_believed_questions_asked_together():
    rng = np.random.default_rng(5)
    table = continuous_table(rng.normal(size=(12, 100)))
    questions = [Question(a, b) for a, b in itertools.combinations(range(12), 2)]
    counts = {
        how: sum(
            t.answer == "dependent"
            for t in independence_tests(table, alpha=0.2, correction=how).many(questions)
        )
        for how in CORRECTIONS
    }
    assert counts["none"] >= 5
    assert counts["bonferroni"] <= counts["benjamini-hochberg"] < counts["none"]
    cells = np.array(list(itertools.product((0, 1), (0, 1))) * 8).T
    cells[1, :12] = cells[0, :12]
    rare = np.arange(32) == 0
    table = table_of([*cells, rare], [2, 2, 2])
    asked = [Question(0, 1), Question(0, 2), Question(1, 2)]
    tests = ChiSquared(Counts(table), correction="bonferroni")
    alone, together = tests.one(asked[0]), tests.many(asked)
    assert [t.answer for t in together[1:]] == ["inconclusive", "inconclusive"]
    assert 0.05 / 3 < alone.p_value <= 0.05
    assert together[0] == alone


def test_false_rejections_are_as_rare_as_promised():
    rng = np.random.default_rng(7)
    rejected = {"g2": 0, "chi2": 0, "fisher-z": 0}
    for _ in range(200):
        discrete = table_of(rng.integers(0, 3, size=(3, 300)), [3, 3, 3])
        continuous = continuous_table(rng.normal(size=(3, 300)))
        for name in rejected:
            table = continuous if name == "fisher-z" else discrete
            rejected[name] += independence_tests(table, name).one(Question(0, 1, (2,))).answer == "dependent"
    assert all(2 <= count <= 24 for count in rejected.values())


def test_the_oracle_is_d_separation():
    dag = bs.Dag.from_arcs([("a", "c"), ("b", "c"), ("c", "d")])
    oracle = Oracle(dag)
    a, b, c, d = (dag.index(x) for x in "abcd")
    answers = [t.answer for t in oracle.many([Question(a, b), Question(a, b, (d,)), Question(a, d, (c,))])]
    assert answers == ["independent", "dependent", "independent"]


def test_wrong_settings_are_refused():
    discrete, continuous = bs.load_network("asia").sample(50, seed=1), continuous_table(np.eye(3))
    for make in (
        lambda: independence_tests(discrete, alpha=0),
        lambda: independence_tests(discrete, alpha=1.0),
        lambda: independence_tests(discrete, correction="holm"),
        lambda: independence_tests(discrete, "t"),
        lambda: independence_tests(discrete, "fisher-z"),
        lambda: independence_tests(continuous, "g2"),
        lambda: independence_tests(Covariance(continuous, prior=1.0)),
    ):
        with pytest.raises(SettingError):
            make()
