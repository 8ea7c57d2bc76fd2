"""What a project keeps of what a page sends: places of variables, in the form that the page takes back."""

from __future__ import annotations

import json

import pytest

from bayescout.errors import FormatError, SettingError
from bayescout.serve.project import FARTHEST, MOST_PLACES, Project, checked_layout

GOOD = [{}, {"a": [1, 2.5]}, {"<b>": [-FARTHEST, FARTHEST], "a": [0, -0.0]}]
BAD = [
    ({}, "not an object with"),
    ({"positions": []}, "not an object with .*positions"),
    ({"positions": {}, "more": 1}, "not an object with .*more"),
    ({"positions": {"a": [1]}}, r"the place of 'a' .*, not \[1\]"),
    ({"positions": {"a": [1, 2, 3]}}, r"not \[1, 2, 3\]"),
    ({"positions": {"a": {"x": 1}}}, "not {'x': 1}"),
    ({"positions": {"a": [1, "2"]}}, "not .*'2'"),
    ({"positions": {"a": [1, True]}}, "not .*True"),
    ({"positions": {"a": [1, None]}}, "not .*None"),
    ({"positions": {"a": [1, float("nan")]}}, "not .*nan"),
    ({"positions": {"a": [1, 2 * FARTHEST]}}, r"from -10,000,000 to 10,000,000"),
    ({"positions": {"a": [1, 10**400]}}, "two numbers"),
]


@pytest.mark.parametrize("positions", GOOD)
def test_places_are_kept_as_they_come(tmp_path, positions):
    project = Project(tmp_path)
    project.write_layout(checked_layout({"positions": positions}))
    project.close()
    again = Project(tmp_path)
    again.close()
    assert again.layout == {"positions": positions}


@pytest.mark.parametrize(("given", "why"), BAD)
def test_any_other_layout_is_refused_in_a_line(given, why):
    with pytest.raises(SettingError, match=why) as refused:
        checked_layout(given)
    assert len(str(refused.value)) < 300


def test_a_layout_has_a_size():
    places = {str(i): [i, 0] for i in range(MOST_PLACES + 1)}
    with pytest.raises(SettingError, match="100,001 places, more than the 100,000 that are kept; leave out"):
        checked_layout({"positions": places})
    deep = []
    for _ in range(80):
        deep = [deep]
    with pytest.raises(SettingError, match=r"the place of 'a+\.\.\.a+' in") as refused:
        checked_layout({"positions": {"a" * 10**6: [deep] * 10**5}})
    assert len(str(refused.value)) < 300


def test_a_layout_that_somebody_broke_is_named(tmp_path):
    (tmp_path / "layout.json").write_text(json.dumps({"positions": {"a": "left"}}))
    with pytest.raises(FormatError, match=r"layout\.json: the place of 'a' .*; repair it or move it away"):
        Project(tmp_path)
