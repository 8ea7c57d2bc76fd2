"""Questions as users write them: labels, lists of labels, and text such as `lung | smoke=yes, xray=no`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bayescout.checks import first_repeated
from bayescout.data.table import Label
from bayescout.errors import SettingError, UnknownNameError
from bayescout.graph.dag import Dag
from bayescout.graph.labels import is_hashable

EXAMPLE = '"lung | smoke=yes, xray=no"'
EVENT = '"lung=yes | smoke=yes, xray=no"'

Values = dict[int, tuple[Any, bool]]
"""For each node its value, and True if it was written as text."""


def read_question(
    dag: Dag, targets: Any, evidence: Mapping[Label, Any] | None
) -> tuple[tuple[int, ...], Values, Values]:
    """The target nodes, the values observed, and the values set by `do(...)`.

    A string, tuple or number that is itself a label is one target; any other string is read as a
    question in text; any other sequence lists targets.
    """
    observed: Values = {}
    acts: Values = {}
    if _is_label(dag, targets):
        nodes = [dag.index(targets)]
    elif isinstance(targets, str):
        names, pairs, acted = parse(targets)
        nodes = [label_of_text(dag, name) for name in names]
        for some, into in ((pairs, observed), (acted, acts)):
            for name, value in some:
                _observe(dag, into, label_of_text(dag, name), value, True)
    elif isinstance(targets, Sequence):
        nodes = [dag.index(label) for label in targets]
    else:
        raise UnknownNameError("node", targets, dag.nodes, "the network")
    for label, value in (evidence or {}).items():
        _observe(dag, observed, dag.index(label), value, False)
    if not nodes:
        raise SettingError(f"a query needs at least one target, as in {EXAMPLE}")
    twice = first_repeated(nodes)
    if twice is not None:
        raise SettingError(f"target {dag.nodes[nodes[twice]]!r} is asked for twice; name each target once")
    return tuple(nodes), observed, acts


def read_event(dag: Dag, event: Any, evidence: Mapping[Label, Any] | None) -> tuple[Values, Values, Values]:
    """The values asked for, observed, and set by `do(...)`, of `lung=yes | xray=yes` or of a mapping."""
    asked: Values = {}
    observed: Values = {}
    acts: Values = {}
    if isinstance(event, str):
        for some, into in zip(parse_event(event), (asked, observed, acts), strict=True):
            for name, value in some:
                _observe(dag, into, label_of_text(dag, name), value, True)
    elif isinstance(event, Mapping):
        for label, value in event.items():
            _observe(dag, asked, dag.index(label), value, False)
    if not asked:
        raise SettingError(
            f"the event is text such as {EVENT} or a mapping such as {{'lung': 'yes'}}, not {event!r}"
        )
    for label, value in (evidence or {}).items():
        _observe(dag, observed, dag.index(label), value, False)
    return asked, observed, acts


def _is_label(dag: Dag, value: Any) -> bool:
    return is_hashable(value) and value in dag._positions


def _observe(dag: Dag, observed: Values, node: int, value: Any, text: bool) -> None:
    if node in observed and str(observed[node][0]) != str(value):
        raise SettingError(
            f"the question gives {dag.nodes[node]!r} two values, {observed[node][0]!r} and {value!r}; "
            f"give one"
        )
    observed[node] = (value, text)


def label_of_text(dag: Dag, name: str) -> int:
    """The node whose label is, or is written as, `name`."""
    return match_text("node", name, dag.nodes, "the network")


def match_text(kind: str, text: str, known: Sequence[Label], where: str) -> int:
    """The position of the value that is, or else whose `str()` is, the text."""
    for i, value in enumerate(known):
        if isinstance(value, str) and value == text:
            return i
    alike = [i for i, value in enumerate(known) if str(value) == text]
    if not alike:
        raise UnknownNameError(kind, text, known, where)
    if len(alike) > 1:
        raise SettingError(
            f"{kind} {text!r} in {where} could be {known[alike[0]]!r} or {known[alike[1]]!r}; "
            f"pass the value itself rather than text"
        )
    return alike[0]


# ---- the text

_QUOTED = r'\s*"(?P<quoted>(?:[^"\\]|\\.)*)"\s*'
NAME = re.compile(rf"(?:{_QUOTED}|(?P<bare>[^,|=]*))(?P<mark>[,|=]|$)", re.DOTALL)
VALUE = re.compile(rf"(?:{_QUOTED}|(?P<bare>[^,|]*))(?P<mark>[,|]|$)", re.DOTALL)
SET_VALUE = re.compile(rf"(?:{_QUOTED}|(?P<bare>[^,|)]*))(?P<mark>[,|)]|$)", re.DOTALL)
OPENING = re.compile(r"\s*do\s*\(")
AFTER = re.compile(r"\s*(?P<mark>[,|]|$)")

Pairs = list[tuple[str, str]]


def parse(text: str) -> tuple[list[str], Pairs, Pairs]:
    """`a, b | do(e=z), c=x, "d e"=y` as target names, and (name, value) pairs observed and set.

    Names and values end at a comma, a bar or (names) an equals sign, and are stripped of blanks;
    in double quotes anything is allowed, with a backslash before a quote or a backslash. All of it may stand
    in `P(...)`, as answers are headed.
    """
    text = _within_p(text)
    targets: list[str] = []
    mark, position = ",", 0
    while mark == ",":
        name, mark, position = _word(NAME, text, position)
        targets.append(name)
    if mark == "=":
        raise SettingError(f"target {targets[-1]!r} in question {text!r} has a value; write it as {EXAMPLE}")
    return (targets, *_given(text, mark, position))


def parse_event(text: str) -> tuple[Pairs, Pairs, Pairs]:
    """`a=u, b=v | do(e=z), c=x` as (name, value) pairs asked for, observed and set; also in `P(...)`."""
    text = _within_p(text)
    asked: Pairs = []
    mark, position = ",", 0
    while mark == ",":
        name, mark, position = _word(NAME, text, position)
        if mark != "=":
            raise SettingError(f"target {name!r} in event {text!r} has no value; write it as {EVENT}")
        value, mark, position = _word(VALUE, text, position)
        asked.append((name, value))
    return (asked, *_given(text, mark, position))


def _within_p(text: str) -> str:
    """What stands within `P(...)`, if the whole text is that; else the text."""
    found = re.fullmatch(r"\s*P\s*\((.*)\)\s*", text, re.DOTALL)
    if found is None:
        return text
    depth = 0
    for character in re.sub(r'"(?:[^"\\]|\\.)*"', "", found[1], flags=re.DOTALL):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:  # the bracket at the end closes another one
            return text
    return text if depth else found[1]


def _given(text: str, mark: str, position: int) -> tuple[Pairs, Pairs]:
    """What is observed and what is set, after the bar of a question."""
    pairs: Pairs = []
    acts: Pairs = []
    more = mark == "|" and text[position:].strip() != ""
    while more:
        opening = OPENING.match(text, position)
        if opening is None:
            pair, mark, position = _pair(text, position, VALUE)
            pairs.append(pair)
        else:
            some, mark, position = _set_pairs(text, opening.end())
            acts += some
        if mark == "|":
            raise SettingError(f"question {text!r} has more than one '|'; write it as {EXAMPLE}")
        more = mark == ","
    return pairs, acts


def _pair(text: str, position: int, pattern: re.Pattern[str]) -> tuple[tuple[str, str], str, int]:
    """The next name=value, the mark that ends it, and the start of what follows."""
    name, mark, position = _word(NAME, text, position)
    if mark != "=":
        raise SettingError(f"evidence {name!r} in question {text!r} has no '='; write it as {EXAMPLE}")
    value, mark, position = _word(pattern, text, position)
    return (name, value), mark, position


def _set_pairs(text: str, position: int) -> tuple[Pairs, str, int]:
    """What stands within do(...), the mark after it, and the start of what follows."""
    pairs, mark = [], ","
    while mark == ",":
        pair, mark, position = _pair(text, position, SET_VALUE)
        pairs.append(pair)
    after = AFTER.match(text, position)
    if mark != ")" or after is None:
        raise SettingError(
            f"do( in question {text!r} is not closed by a bracket that a comma or the end follows; write it "
            f'as "lung | do(smoke=yes), age=old", with double quotes around values that hold brackets'
        )
    return pairs, after["mark"], after.end()


def _word(pattern: re.Pattern[str], text: str, position: int) -> tuple[str, str, int]:
    """The next name or value, the mark that ends it, and the start of the one after."""
    found = pattern.match(text, position)
    if found is None or (found["bare"] or "").lstrip().startswith('"'):
        raise SettingError(
            f"question {text!r} has a double quote that does not enclose one whole name or value"
        )
    if found["quoted"] is not None:
        word = re.sub(r"\\(.)", r"\1", found["quoted"], flags=re.DOTALL)
    else:
        word = found["bare"].strip()
        if not word:
            raise SettingError(f"question {text!r} has an empty name or value; write it as {EXAMPLE}")
    return word, found["mark"], found.end()
