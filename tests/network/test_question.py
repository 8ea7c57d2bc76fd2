"""Questions as text, labels and lists."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import BayescoutError, SettingError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork
from bayescout.network.question import parse, parse_event
from tests.network.asia_network import asia


def quoted(word):
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(
    targets=st.lists(st.text(), min_size=1, max_size=3),
    pairs=st.lists(st.tuples(st.text(), st.text()), max_size=3),
    acts=st.lists(st.tuples(st.text(), st.text()), max_size=3),
    blank=st.sampled_from(["", " ", "\t "]),
)
def test_quoted_names_of_any_kind_come_back(targets, pairs, acts, blank):
    def joined(some):
        return ",".join(f"{blank}{quoted(name)}{blank}={blank}{quoted(value)}{blank}" for name, value in some)

    text = f"{blank},{blank}".join(quoted(t) for t in targets)
    given = [f"{blank}do{blank}({joined(acts)}){blank}"] if acts else []
    given += [joined(pairs)] if pairs else []
    if given:
        text += f"{blank}|{','.join(given)}"
    assert parse(text) == (targets, pairs, acts)


@given(st.text(alphabet='abdo(),|="\\ \n', max_size=12))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        targets, _, _ = parse(text)
        assert targets
    except SettingError as error:
        message = str(error)
        assert "\n" not in message


@given(st.text(max_size=20))
def test_no_text_raises_anything_but_our_errors(text):
    with suppress(BayescoutError):
        asia().query(text)


def test_bare_names_lose_their_blanks_and_values_may_hold_an_equals_sign():
    assert parse(" a b , c |d = >=5, e=x y") == (["a b", "c"], [("d", ">=5"), ("e", "x y")], [])
    assert parse("a |  ") == (["a"], [], [])
    assert parse("a | do(b=x y), do=1, c=f(x)") == (["a"], [("do", "1"), ("c", "f(x)")], [("b", "x y")])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty name"),
        ("a=1", "has a value"),
        ("a | b", "no '='"),
        ("a | b=1 | c", "more than one"),
        ('"a', "double quote"),
        ('"a"b', "double quote"),
        ("a,", "empty name"),
        ("a | b=", "empty name"),
        ("a | b=1,", "empty name"),
    ],
)
def test_text_that_is_no_question_is_refused(text, words):
    with pytest.raises(SettingError, match=words):
        parse(text)


def odd(nodes, states):
    dag = Dag.empty(nodes)
    return DiscreteNetwork(dag, states, tuple(np.full(len(s), 1 / len(s)) for s in states))


def test_labels_and_states_of_any_type_are_matched_as_they_print():
    model = odd((1, ("a", "b"), "x | y"), ((True, False), (0, 1, 2), (None, "None2")))
    assert model.query(1)[True] == 0.5
    assert model.query(("a", "b")).variables == (("a", "b"),)
    assert model.query((1, "x | y")).variables == (1, "x | y")
    assert model.query("x | y").variables == ("x | y",)
    assert model.query("1 | \"('a', 'b')\"=2, \"x | y\"=None").evidence == ((("a", "b"), 2), ("x | y", None))


def test_a_name_that_could_be_two_is_refused():
    model = odd((1, "1", 2, 2.5), ((0, "0"), ("a",), (False, 0.5), ("b",)))
    assert model.query("1").variables == ("1",)
    assert model.query("2.5 | 1=a").variables == (2.5,)
    twins = odd((Twin(), Twin(), "b"), (("a",), ("a",), ("a",)))
    with pytest.raises(SettingError, match="could be"):
        twins.query("b | twin=a")


class Twin:
    def __str__(self):
        return "twin"


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("P(lung | xray=yes)", "lung | xray=yes"),
        (" P( lung, bronc|do(smoke=yes) ) ", "lung, bronc | do(smoke=yes)"),
        ('P(lung | xray="a)")', 'lung | xray="a)"'),
    ],
)
def test_a_question_may_be_written_as_answers_are_headed(text, inner):
    assert parse(text) == parse(inner)
    event = text.replace("lung", "lung=yes").replace(", bronc", "")
    assert parse_event(event) == parse_event(inner.replace("lung", "lung=yes").replace(", bronc", ""))


def test_brackets_of_names_are_no_heading():
    assert parse("P(a) | c=P(b)") == (["P(a)"], [("c", "P(b)")], [])
    assert parse("P(a), P(b)")[0] == ["P(a)", "P(b)"]
