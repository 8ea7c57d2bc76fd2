"""The contract of every setting of every search and score: it works, or it is refused in one sentence."""

from __future__ import annotations

import math
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import bayescout as bs
from bayescout.checks import (
    as_plain,
    first_repeated,
    require_amount,
    require_choice,
    require_count,
    require_flag,
    require_share,
    shown,
)
from bayescout.errors import SettingError
from bayescout.scores import SCORES, formula_named
from bayescout.search import SEARCHES, search_named

ODD = [
    *(10**5000, 10**400, -(10**400), 2**63, 2**31, -1, 0, 1, 2, 3),
    *(1.5, 0.25, 1e308, 1e-308, 5e-324, math.inf, -math.inf, math.nan),
    *("x", "", "1", "x" * 1000, b"x", None, True, False),
    *(np.int64(3), np.uint8(2), np.float64(0.5), np.float32(0.5), np.float16(0.5), np.float64(math.nan)),
    *(np.bool_(True), np.array(2), np.arange(2000), np.longdouble("1e400")),
    *(
        Fraction(1, 2),
        Fraction(10**400),
        Fraction(1, 10**400),
        Decimal("0.5"),
        Decimal("nan"),
        Decimal("sNaN"),
    ),
    *(1 + 2j, [1], (), {}, object(), lambda rows: 10**400, lambda rows: math.nan, lambda rows: "x"),
]

RNG = np.random.default_rng(0)
DISCRETE = bs.as_table({name: RNG.integers(0, 2, 40) for name in "abc"}, kinds="discrete")
CONTINUOUS = bs.as_table({name: RNG.normal(size=40) for name in "abc"}, kinds="continuous")
GRAPH = bs.Dag.from_arcs([("a", "b"), ("c", "b")], "abc")


def settings_of(registry):
    return [(name, field.name) for name, made in registry.items() for field in fields(made)]


def check_message(error):
    message = str(error)
    assert message
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize(("name", "setting"), settings_of(SEARCHES))
def test_a_setting_of_a_search_works_or_is_refused(tmp_path, name, setting):
    for value in ODD:
        try:
            search = search_named(name, **{setting: value})
        except SettingError as error:
            check_message(error)
            continue
        bs.learn(DISCRETE, search=search, score="bic", max_steps=2, checkpoint=tmp_path / "saved")
        (tmp_path / "saved").unlink()


@pytest.mark.parametrize(("name", "setting"), settings_of(SCORES))
def test_a_setting_of_a_score_works_or_is_refused(name, setting):
    for value in ODD:
        try:
            formula = formula_named(name, **{setting: value})
            tables = [DISCRETE] * (formula.kinds != "continuous") + [CONTINUOUS] * (
                formula.kinds != "discrete"
            )
            for table in tables:
                assert not math.isnan(bs.score(GRAPH, table, formula))
                bs.learn(table, score=formula, search="annealing", max_steps=1)
        except SettingError as error:
            check_message(error)


@pytest.mark.parametrize(
    ("made", "setting", "value", "stored"),
    [
        ("annealing", "hot", Fraction(61, 2), 30.5),
        ("annealing", "proposals", np.int64(7), 7),
        ("holland", "growth", np.float32(0.5), 0.5),
        ("pc", "alpha", np.float64(0.25), 0.25),
        ("order-climb", "parents", np.uint8(2), 2),
        ("umda", "population", np.int16(20), 20),
    ],
)
def test_numbers_of_any_type_are_stored_as_plain_ones(made, setting, value, stored):
    """So that they are computed with, compared, shown and saved as such."""
    search = search_named(made, **{setting: value})
    assert getattr(search, setting) == stored
    assert type(getattr(search, setting)) is type(stored)
    assert search == search_named(made, **{setting: stored})


def test_a_fraction_is_a_prior_count():
    half = formula_named("bdeu", ess=Fraction(1, 2))
    assert half == formula_named("bdeu", ess=0.5)
    assert bs.score(GRAPH, DISCRETE, half) == bs.score(GRAPH, DISCRETE, formula_named("bdeu", ess=0.5))


def test_whole_numbers_stay_whole():
    """A setting is shown as it was given."""
    assert repr(formula_named("bdeu", ess=10)) == "BDeu(ess=10)"
    assert search_named("annealing", hot=30).hot == 30


@pytest.mark.parametrize("check", [require_count, require_share, require_amount, require_flag])
def test_a_value_that_cannot_be_shown_whole_is_refused_all_the_same(check):
    for value in (10**5000, -(10**5000), np.arange(5000), "a\nb", object()):
        with pytest.raises(SettingError) as caught:
            check("size", value)
        check_message(caught.value)


def test_one_of_some_words():
    assert require_choice("method", "b", ("a", "b")) == "b"
    for value in ("c", None, ["a"], np.array(["a", "b"])):
        with pytest.raises(SettingError, match="method must be one of a, b, not "):
            require_choice("method", value, ("a", "b"))


def test_plain_numbers():
    assert as_plain(3) == 3
    assert type(as_plain(np.int8(3))) is int
    assert type(as_plain(np.float32(3))) is float
    for value in (10**400, math.nan, math.inf, True, "1", None, 1j, Decimal(1), Fraction(10**400)):
        assert as_plain(value) is None


def test_what_is_shown_of_a_value():
    assert shown("a\nb") == repr("a\nb")
    assert shown(10**5000) == "a value of type int"
    assert len(shown("x" * 1000)) == 60


def test_the_first_repeat():
    assert first_repeated([]) is None
    assert first_repeated([3, None, 2]) is None
    assert first_repeated([3, None, 2, None, 3]) == 3


@pytest.mark.parametrize("value", [10**400, -1, "x", None, math.nan])
def test_other_numbers_of_over_308_digits_are_refused(value):
    with pytest.raises(SettingError):
        bs.random_dag(5, density=value if value is not None else "none")
    with pytest.raises(SettingError):
        bs.fit(GRAPH, DISCRETE, prior="bdeu", ess=value)
    if value is not None:
        with pytest.raises(SettingError):
            bs.random_network(nodes=3, concentration=value)


def test_counts_that_cannot_be_written_are_refused():
    for call in (
        lambda: bs.random_dag(5, arcs=10**5000),
        lambda: bs.random_network(nodes=3, seed=1).sample(10**5000),
        lambda: bs.random_network(nodes=3, seed=10**5000),
        lambda: bs.learn(DISCRETE, max_steps=10**5000, search="hill-climb", score="bic"),
    ):
        with pytest.raises(
            SettingError, match=r"must be a whole number of at most .* digits, not a value of"
        ):
            call()
