import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import bayescout as bs
from bayescout.errors import BayescoutError


def stratified(frame, x, y, given, method):
    """The sum over strata of scipy's statistic for a two-way table, zero rows and columns left out."""
    total = 0.0
    groups = [frame] if not given else [part for _, part in frame.groupby(list(given))]
    for part in groups:
        table = pd.crosstab(part[x], part[y])
        if min(table.shape) > 1:
            total += stats.chi2_contingency(table, correction=False, lambda_=method).statistic
    return total


@given(st.integers(0, 10_000), st.integers(0, 2))
def test_categories_agree_with_scipy(seed, n_given):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, [2, 3, 2, 3], size=(60, 4)), columns=list("xyab")).astype(str)
    frame.loc[rng.random(60) < 0.3, "y"] = frame["x"]
    table = bs.as_table(frame, states={"x": [*"01"], "y": [*"012"], "a": [*"01"], "b": [*"012"]})
    others = ["a", "b"][:n_given]
    for test, method in (("g2", "log-likelihood"), ("chi2", "pearson")):
        found = bs.independence_test(table, "x", "y", given=others, test=test)
        expected = stratified(frame, "x", "y", others, method)
        assert found.statistic == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert found.degrees == 2 * math.prod([2, 3][:n_given])
        assert found.p_value == pytest.approx(stats.chi2.sf(expected, found.degrees), rel=1e-9)
        assert found.rows == 60


@given(st.integers(0, 10_000), st.integers(0, 3))
def test_numbers_agree_with_the_correlation_of_residuals(seed, n_given):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5))
    frame = pd.DataFrame(values, columns=list("xyabc"))
    others = list("abc")[:n_given]
    design = np.column_stack([np.ones(40), frame[others]])
    x, y = (frame[name] - design @ np.linalg.lstsq(design, frame[name], rcond=None)[0] for name in ("x", "y"))
    z = math.sqrt(40 - n_given - 3) * math.atanh(np.corrcoef(x, y)[0, 1])
    found = bs.independence_test(frame, "x", "y", given=others)
    assert found.test == "fisher-z"
    assert found.statistic == pytest.approx(z, rel=1e-6, abs=1e-8)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-6, abs=1e-12)


def test_columns_of_both_kinds_are_tested_as_analysis_of_variance():
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, 200)
    frame = pd.DataFrame({"group": np.array(list("abc"))[group], "value": rng.normal(size=200) + 0.3 * group})
    found = bs.independence_test(frame, "group", "value")
    parts = [frame.value[group == k] for k in range(3)]
    within = sum(((part - part.mean()) ** 2).sum() for part in parts)
    ratio = 200 * math.log(((frame.value - frame.value.mean()) ** 2).sum() / within)
    assert (found.test, found.degrees) == ("dg", 2.0)
    assert found.statistic == pytest.approx(ratio, rel=1e-6)


def test_incomplete_rows_of_the_columns_asked_about_are_left_out_and_said():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 2, size=(100, 3)), columns=list("xyz")).replace({0: "no", 1: "yes"})
    holed = frame.copy()
    holed.loc[:9, "y"] = None
    holed.loc[50:, "z"] = None
    found = bs.independence_test(holed, "x", "y")
    whole = bs.independence_test(frame.loc[10:], "x", "y")
    assert (found.rows, found.left_out) == (90, 10)
    assert (found.statistic, found.p_value) == (whole.statistic, whole.p_value)
    assert "10 incomplete left out" in str(found)


def test_what_a_mixed_table_holds_besides_does_not_matter():
    frame = pd.DataFrame(
        {"x": list("abab") * 20, "y": list("aabb") * 20, "z": np.random.default_rng(1).normal(size=80)}
    )
    assert bs.independence_test(frame, "x", "y").test == "g2"
    assert bs.independence_test(frame, "x", "y", given="z").test == "dg"


def test_an_answer_reads_well_and_goes_into_json():
    table = bs.load_network("asia").sample(1000, seed=1)
    found = bs.independence_test(table, "smoke", "xray", given=["either"])
    assert str(found).startswith("smoke and xray given either: g2 = ")
    assert "independence is not rejected at 0.05 (1,000 rows)" in repr(found)
    assert json.loads(json.dumps(found.to_dict()))["given"] == ["either"]
    few = bs.independence_test(table, "smoke", "xray", given=["lung", "tub"], test="chi2")
    assert (few.answer, "too few rows" in str(few)) == ("inconclusive", True)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("smoke", "smoke"), "named twice"),
        (("smoke", "lung", ["smoke"]), "named twice"),
        (("smoke", "lun"), "did you mean 'lung'"),
        (("smoke", "lung", "xra"), "did you mean 'xray'"),
        (("smoke", "lung", (), "fisher-z"), "use g2 or chi2"),
        (("smoke", "lung", (), "t"), "must be one of"),
        (("smoke", "lung", (), None, 1.5), "alpha must be between"),
    ],
)
def test_questions_without_sense_are_refused(asked, message):
    with pytest.raises(BayescoutError, match=message):
        bs.independence_test(bs.load_network("asia").sample(50, seed=1), *asked)


def test_no_complete_row_is_refused():
    frame = pd.DataFrame({"x": ["a", "b", None, None] * 5, "y": [None, None, "a", "b"] * 5})
    with pytest.raises(BayescoutError, match="no row has a value in all of"):
        bs.independence_test(frame, "x", "y")
