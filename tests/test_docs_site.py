"""Docstrings, plain text with lists of names, become what the documentation site can show."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
converted = runpy.run_path(str(DOCS / "_ext" / "docstrings.py"))["converted"]


def lines(text):
    return converted(text.strip("\n").split("\n"))


def test_a_list_of_names_becomes_definitions():
    text = """
a, b       two names; see `Table`
           and a second line
dependency one space, as the name is long
a_name_that_is_longer  than the column
           of the texts
alone, with_another
           on the next line
"""
    assert lines(text) == [
        *("``a``, ``b``", "    two names; see `Table`", "    and a second line"),
        *("``dependency``", "    one space, as the name is long"),
        *("``a_name_that_is_longer``", "    than the column", "    of the texts"),
        *("``alone``, ``with_another``", "    on the next line", ""),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Prose with one\nspace stays prose.", ["Prose with one", "space stays prose.", ""]),
        ("First.\nname  text", ["First.", "", "``name``", "    text", ""]),
        ("    x = 1\n    y = 2", [".. code-block:: python", "", "    x = 1", "    y = 2", ""]),
        ("$$ a_b\n   + 1 $$", [".. math::", "", "   a_b + 1", ""]),
        ("for $N_j$ rows", ["for :math:`N_j` rows", ""]),
        ("**options and P(a | b), x_", [r"\*\*options and P(a \| b), x\_", ""]),
        ('`"mle"` and `.dag` and `Dag`', ['``"mle"`` and ``.dag`` and `Dag`', ""]),
        ("- `a`: one\n- b\n  goes on", ["- `a`: one", "- b", "  goes on", ""]),
    ],
)
def test_paragraphs(text, expected):
    assert lines(text) == expected
