"""Declarations: the grid, keys, plain values and the sizes of a study."""

from __future__ import annotations

import json
import math
from textwrap import dedent

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.experiments import STUDIES, Study, expected_seconds, grid, study_named
from bayescout.experiments.runner import keyed
from bayescout.experiments.study import canonical, key_of, strict_json
from tests.experiments.toy_study import Toy

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def shuffled(value, reverse):
    """An equal value whose mappings are in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(item, reverse)) for key, item in value.items()]
        return dict(reversed(items) if reverse else items)
    return [shuffled(item, reverse) for item in value] if isinstance(value, list) else value


def test_the_last_axis_varies_fastest():
    found = list(grid(a=[1, 2], b="xy"))
    assert found == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"}]


@given(PLAIN)
def test_plain_values_stay_as_they_are_through_a_file(value):
    assert strict_json(value) == value
    assert json.loads(canonical(value)) == value


def test_text_that_no_file_can_hold_is_refused():
    """As the name of a file is on the command line when its bytes are not UTF-8."""
    with pytest.raises(
        SettingError, match=r"data\.file is 'a\\udcff\.csv', which is not valid text; rename it"
    ):
        strict_json({"data": {"file": "a\udcff.csv"}})


@given(PLAIN, PLAIN)
def test_keys_are_equal_when_declarations_are(one, two):
    assert key_of("s", {"x": one}) == key_of("s", {"x": shuffled(one, reverse=True)})
    same = canonical(one) == canonical(two)
    assert (key_of("s", {"x": one}) == key_of("s", {"x": two})) == same
    assert key_of("s", {"x": one}) != key_of("t", {"x": one})


def test_a_key_is_the_same_for_ever():
    """A changed key would lose every record there is."""
    assert key_of("toy", {"data": {"steps": 5}, "seed": 0}) == "828353e2371763bb30e3"


def test_arrays_and_scalars_become_plain():
    value = {"a": np.arange(3), "b": np.float64(0.5), "c": (np.int8(1), np.bool_(True)), "d": range(2)}
    assert strict_json(value) == {"a": [0, 1, 2], "b": 0.5, "c": [1, True], "d": [0, 1]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {"b": math.nan}}, r"a\.b is nan"),
        ({"a": [0.0, math.inf]}, r"a\[1\] is inf"),
        ({"a": np.array([-np.inf])}, r"a\[0\] is -inf"),
        ({"a": {1: 2}}, "a has the key 1"),
        ({"a": {1, 2}}, "a is a set"),
        ({"a": object()}, "a is a object"),
    ],
)
def test_what_a_record_cannot_hold_is_named(value, message):
    with pytest.raises(SettingError, match=message):
        strict_json(value)


def test_sizes_and_settings():
    assert Toy.of_size().repeats == 10
    assert Toy.of_size("quick").repeats == 3
    assert Toy.of_size("quick", repeats=7, steps=[1, 2]) == Toy(repeats=7, steps=(1, 2))
    with pytest.raises(
        SettingError, match="has no setting 'repeat'; did you mean 'repeats'\\? its settings: repeats, steps"
    ):
        Toy.of_size(repeat=3)
    again = Toy.of_size(**json.loads(json.dumps(Toy(steps=(3,)).settings())))
    assert again == Toy(steps=(3,))


def test_a_run_declared_twice_is_refused():
    with pytest.raises(SettingError, match="declares the same run twice"):
        keyed(Toy(steps=(5, 5)))
    with pytest.raises(SettingError, match="has no runs"):
        keyed(Toy(steps=()))


def test_expected_time_is_that_of_the_longest_run_at_least():
    start = expected_seconds(Toy(repeats=1, steps=(5,)), 1) - 0.01
    assert expected_seconds(Toy(), 1) == pytest.approx(start + 20 * 0.01)
    assert expected_seconds(Toy(), 4) == pytest.approx(start + 20 * 0.01 / 4)
    assert expected_seconds(Toy(), 1000) == pytest.approx(start + 0.01)


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("size", ["full", "quick", "tiny"])
def test_every_study_declares_plain_runs_and_their_costs(name, size):
    study = study_named(name, size)
    assert isinstance(study, Study)
    assert study.name == name
    runs = list(keyed(study).values())
    assert all(0 < study.cost(run) < 24 * 3600 for run in runs)
    assert json.loads(canonical(runs)) == runs
    assert study_named(name, **json.loads(canonical(study.settings()))) == study
    assert (type(study).__doc__ or "").strip()


def test_the_study_of_the_documentation_works(tmp_path):
    """The one that `experiments.study` shows to those who add a study."""
    from bayescout.experiments import study, tools

    text = study.__doc__.split("`STUDIES` (`experiments/__init__.py`):")[1].split("A run is declared")[0]
    names = {**vars(study), **vars(tools), "compare": bs.compare, "__name__": study.__name__}
    exec(compile("from __future__ import annotations\n" + dedent(text), "study.py", "exec"), names)
    climbers = names["Climbers"].of_size("tiny")
    runs = list(keyed(climbers).values())
    assert len(runs) == 4
    assert names["Climbers"]().repeats == 50
    measured = climbers.measure(runs[-1])
    assert measured["shd"] >= 0
    assert strict_json(measured)["trace"]["best"][-1] == measured["score"]
    assert climbers.cost(runs[0]) > 0


def test_smaller_sizes_are_smaller():
    for name in STUDIES:
        full, quick, tiny = (expected_seconds(study_named(name, size)) for size in ("full", "quick", "tiny"))
        assert tiny < quick < full


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("suhas", {"nodes": 1.5}, "nodes must be a list"),
        ("suhas", {"nodes": [1]}, "at least 3"),
        ("lau", {"repeats": 10**400}, "repeats must be a whole number of at most"),
        ("frigo-gaussian", {"graphs": 10**400}, "at most"),
        ("lau", {"data_a": 5}, "data_a must be text"),
        ("blanco", {"networks": 5}, "networks must be a list"),
        ("blanco", {"networks": [5]}, "networks must be text"),
    ],
)
def test_settings_of_a_study_are_of_the_kind_of_their_defaults(name, settings, said):
    with pytest.raises(SettingError, match=said):
        study_named(name, **settings)
