"""Functions shared by commands: opening their arguments, JSON, and names in texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bayescout.cli.terminal import json_line, say
from bayescout.data.read import names_in, read_table
from bayescout.data.reading import Notes, sentence
from bayescout.data.table import Label, States, Table
from bayescout.errors import BayescoutError, NetworkError, SettingError, UnknownNameError
from bayescout.formats import open_network, open_structure
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.network import Network
from bayescout.network.encode import declarations
from bayescout.network.question import label_of_text, match_text, parse_event
from bayescout.statistics.alignment import warn_unused_columns


def open_graph(text: str) -> Network | Dag:
    """A network if the text names one, otherwise a structure."""
    try:
        return open_network(text)
    except BayescoutError:
        return open_structure(text)


def missing_facts(table: Table) -> dict[str, Any]:
    """The missing values and the policy applied to them, for JSON."""
    report = table.missing
    if not report.counts:
        return {}
    counts = [[column, count] for column, count in report.counts]
    return {"missing": {"policy": report.policy, "cells": counts, "rows_dropped": report.rows_dropped}}


def say_reading(table: Table) -> None:
    """Tell on standard error how the data were read, after the warnings that reading them gave."""
    say(sentence(table, warned=True))


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output; numbers that JSON does not have become null."""
    json_line(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)


def findings_given(model: Network, option: str, texts: Sequence[str] | None) -> dict[Any, dict[Any, float]]:
    """Numbers by state of nodes, from texts such as `smoke: yes=0.8, no=0.3`."""
    found: dict[Any, dict[Any, float]] = {}
    for text in texts or ():
        name, colon, numbers = text.partition(":")
        if not colon:
            raise SettingError(
                f'{option} {text!r} has no colon; write it as {option} "smoke: yes=0.8, no=0.3"'
            )
        label = label_named(name.strip(), model.nodes)
        states = model.distributions[model.dag.index(label)].states
        own: dict[Any, float] = {}
        for key, value in parse_event(numbers)[0]:
            try:
                number = float(value)
            except ValueError:
                raise SettingError(f"{option} {text!r}: {value!r} is not a number") from None
            state = key if states is None else states[match_text("state", key, states, f"node {label!r}")]
            own[state] = number
        found[label] = own
    return found


def evidence_given(model: Network, text: str) -> dict[Any, Any]:
    """States and numbers of nodes, from a text such as `smoke=yes, xray=no`."""
    found: dict[Any, Any] = {}
    for name, value in parse_event(text)[0]:
        label = model.nodes[label_of_text(model.dag, name)]
        node = model.distributions[model.dag.index(label)]
        code = node.encode(label, value, is_text=True)
        found[label] = code if node.states is None else node.states[code]
    return found


def label_named(text: str, names: Sequence[Any]) -> Any:
    """The label whose text this is."""
    for name in names:
        if str(name) == text:
            return name
    raise UnknownNameError("name", text, names)


def split_arc(text: str, names: Sequence[Any]) -> tuple[Any, Any]:
    """An arc written a->b; a name may itself contain the arrow, so every split is tried."""
    for place in range(len(text)):
        if text.startswith("->", place):
            parent, child = text[:place].strip(), text[place + 2 :].strip()
            known = {str(name) for name in names}
            if (parent in known and child in known) or "->" not in child:
                return label_named(parent, names), label_named(child, names)
    raise SettingError(
        f"an arc is written parent->child, in quotes that keep > from the shell, such as "
        f"'{names[0]}->{names[-1]}', not {text!r}"
    )


def split_belief(text: str, names: Sequence[Any]) -> list[Any]:
    """A belief written a->b=0.9, or a--b=0.9 for either direction, as [a, arrow, b, probability]."""
    arc, _, value = text.rpartition("=")
    number = as_setting(value.strip())
    if isinstance(number, str) or not ("->" in arc or "--" in arc):
        raise SettingError(
            f"a belief is written 'parent->child=0.9', or 'one--other=0.9' for either direction, not {text!r}"
        )
    known = {str(name) for name in names}
    for place in range(len(arc)):
        ends = arc[:place].strip(), arc[place + 2 :].strip()
        if arc.startswith("--", place) and (known.issuperset(ends) or "->" not in arc):
            return [label_named(ends[0], names), "--", label_named(ends[1], names), number]
    parent, child = split_arc(arc, names)
    return [parent, "->", child, number]


def as_setting(text: str) -> Any:
    """The value of a setting: a number, true or false, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def separator_given(text: str | None) -> str | None:
    """The separator of an option, in which a tab may be written as \\t."""
    return None if text is None else text.replace("\\t", "\t")


def rows_of_nodes(
    model: Network, path: str, separator: str | None, na: Sequence[str] | None, but: Any = None
) -> Table:
    """The columns of a file that are nodes, other than `but`, read as the network knows them.

    Without `but` the columns that are no nodes are named: nothing is made of them.
    """
    separator = separator_given(separator)
    names = names_in(path, separator)
    nodes = dict(zip(map(str, model.nodes), model.nodes, strict=True))
    known: dict[Label, States | None] = {
        name: model.distributions[model.dag.index(nodes[name])].declared
        for name in names
        if name in nodes and nodes[name] != but
    }
    if not known:
        use = "" if but is None else f" to predict {but!r} from"
        raise NetworkError(
            f"no column of {path} is a node{use}: the columns are {quoted(names)}, the nodes "
            f"{quoted(model.nodes)}; rename the columns"
        )
    if but is None:
        warn_unused_columns(model.dag, [nodes.get(name, name) for name in names])
    missing = tuple(na) if na else None
    table = read_table(path, separator=separator, missing_values=missing, **declarations(known))
    return Table(
        tuple(nodes[str(name)] for name in table.names),
        *(table.states, table.codes, table.values, table.weights, table.missing),
        Notes(strange=tuple((nodes[str(name)], cells, value) for name, cells, value in table.notes.strange)),
    )
