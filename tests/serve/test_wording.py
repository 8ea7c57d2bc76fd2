"""What messages of the page call a setting."""

from __future__ import annotations

import pytest

from bayescout.serve.wording import in_page
from bayescout.wording import setting, worded_by


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("missing", "drop", "missing cells as “their rows left out”"),
        ("kinds", {"age": "continuous"}, "the kind “continuous” of 'age'"),
        ("kinds", "discrete", "the kind “discrete”"),
        ("drop", "age", "leave 'age' out"),
        ("score", "bic", "the score “bic”"),
        ("max_parents", 3, "most parents 3"),
        ("missing_values", (), "in Python as_table(data, missing_values=())"),
    ],
)
def test_a_setting_is_called_what_its_control_is(name, value, said):
    with worded_by(in_page):
        assert setting(name, value) == said
