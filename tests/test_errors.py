"""Errors are one line, and come back whole from another process."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import bayescout as bs
from bayescout import errors
from bayescout.errors import (
    BayescoutError,
    CycleError,
    DataError,
    FormatError,
    MissingExtraError,
    UnknownNameError,
    nearest,
)
from bayescout.experiments import study_named
from bayescout.search import search_named

MADE = {
    CycleError: CycleError(["a", ("b", 1), "a"], "net.bif: the network"),
    UnknownNameError: UnknownNameError("node", ("x", 2), ["y", 3], "the graph"),
    FormatError: FormatError("a ragged row", "data.csv", 3),
    MissingExtraError: MissingExtraError("pandas", "pandas"),
}
CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, BayescoutError | errors.BayescoutWarning)
]


@pytest.mark.parametrize(
    "again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy], ids=["pickle", "copy"]
)
@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_survives_pickling(kind, again):
    error = MADE.get(kind) or kind("where: what; the way out")
    back = again(error)
    assert type(back) is kind
    assert (str(back), back.args, vars(back)) == (str(error), error.args, vars(error))
    assert repr(back) == repr(error)
    assert getattr(back, "msg", None) == getattr(error, "msg", None)


def test_notes_are_kept():
    error = DataError("what")
    error.add_note("seen while reading")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["seen while reading"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\x0b", "\x85", "\u2028", "\x1b[2J", "\x9b", "\u202e", "\x7f"])
def test_messages_are_one_line_whatever_the_labels(end):
    odd = f"a{end}b"
    made = [
        CycleError([odd, "c", odd], f"{odd}.bif"),
        UnknownNameError("node", odd, [odd + "longer", "z"], odd),
        UnknownNameError("node", 7, [odd, "z"]),
        FormatError("what", f"{odd}.csv", 2),
        *(kind(f"column {odd}") for kind in CLASSES if kind not in MADE),
    ]
    for error in made:
        assert len(str(error).splitlines()) == 1, str(error)
        assert end not in str(error)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("GES", "ges"), ("BDEU", "bdeu"), ("hillclimb", "hill-climb"), ("Hill_Climb", "hill-climb"),
        ("hil climb", "hill-climb"), ("K2-random", "k2-random"), ("optimum", "optimal"), ("xyz", None),
    ],
)  # fmt: skip
def test_names_that_differ_in_case_or_hyphens_are_recognised(typed, meant):
    known = ["hill-climb", "k2", "k2-random", "ges", "bdeu", "optimal"]
    assert nearest(typed, known) == meant
    said = str(UnknownNameError("search", typed, known))
    assert (f"did you mean {meant!r}?" if meant else "known: hill-climb, k2,") in said


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: bs.learn(np.eye(2, dtype=int), search="GES", score="bic"), "ges"),
        (lambda: bs.learn(np.eye(2, dtype=int), score="BDEU", search="hill-climb"), "bdeu"),
        (lambda: bs.load_network("ALARM"), "alarm"),
        (lambda: study_named("FrigoDiscrete"), "frigo-discrete"),
        (lambda: study_named("lau", Repeat=3), "repeats"),
        (lambda: search_named("tabu", legnth=3), "length"),
        (lambda: bs.scores.formula_named("bdeu", ES=3), "ess"),
        (lambda: bs.read_network("x.biff"), ".bif"),
        (lambda: bs.load_network("asia").sample(3, seed=1).save("x.cvs"), ".csv"),
    ],
)
def test_every_door_offers_the_name_that_was_meant(call, meant):
    with pytest.raises(BayescoutError) as caught:
        call()
    assert f"did you mean {meant!r}?" in str(caught.value)


def warnings_of(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    return told


@pytest.mark.parametrize(
    "call",
    [
        lambda: bs.as_table({"a": ["x", "y"] * 10, "day": ["2024-01-01", "2024-01-02"] * 10}),
        lambda: bs.load_network("asia").predict({"smoke": ["yes"], "other": [1]}, "lung"),
        lambda: bs.load_network("asia").predict({"smoke": ["perhaps"]}, "lung"),
    ],
)
def test_a_warning_is_of_the_line_that_made_the_call(call):
    """A line of the package says nothing to a user, and hides which of two calls is meant."""
    told = warnings_of(call)
    assert told
    assert {one.filename for one in told} == {__file__}
