"""The native JSON: its schema, its errors, and the linear-Gaussian JSON of benchmark files."""

from __future__ import annotations

import copy
import json
from importlib.resources import files

import numpy as np
import pytest
from format_strategies import dags, discrete_networks, gaussian_networks, mixed_networks, same_network
from hypothesis import given, settings

from bayescout.errors import CycleError, FormatError
from bayescout.formats import native_json
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork

SCHEMA = json.loads((files("bayescout.formats") / "network.schema.json").read_text(encoding="utf-8"))
TYPES = {
    "string": lambda v: isinstance(v, str),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}
KNOWN = {
    "$schema",
    "$ref",
    "$defs",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "required",
    "properties",
} | {
    "items",
    "minItems",
    "minimum",
    "oneOf",
    "additionalProperties",
}


def satisfies(value, schema):
    """The part of JSON Schema that our schema uses; another keyword fails the test."""
    assert set(schema) <= KNOWN
    if "$ref" in schema and not satisfies(value, SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]):
        return False
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(TYPES[kind](value) for kind in kinds):
        return False
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        return False
    if "minimum" in schema and value < schema["minimum"]:
        return False
    if "oneOf" in schema and sum(satisfies(value, option) for option in schema["oneOf"]) != 1:
        return False
    if isinstance(value, list):
        return len(value) >= schema.get("minItems", 0) and all(
            satisfies(v, schema.get("items", {})) for v in value
        )
    if isinstance(value, dict):
        known = schema.get("properties", {})
        if schema.get("additionalProperties") is False and set(value) - set(known):
            return False
        return set(schema.get("required", ())) <= set(value) and all(
            satisfies(value[key], part) for key, part in known.items() if key in value
        )
    return True


@settings(deadline=None)
@given(discrete_networks() | gaussian_networks() | mixed_networks() | dags(min_size=0))
def test_what_is_written_satisfies_the_schema(value):
    assert satisfies(json.loads(native_json.write(value)), SCHEMA)


RAIN = {
    "format": "bayescout",
    "version": 1,
    "kind": "discrete",
    "name": "rain",
    "nodes": [
        {"name": "grass", "parents": ["sun", "rain"], "states": ["dry", "wet"]},
        {"name": "rain", "parents": [], "states": [False, True], "table": [[0.75, 0.25]]},
        {"name": "sun", "parents": [], "states": [0, 1, 2], "table": [[0.5, 0.25, 0.25]], "undefined": [0]},
    ],
}
RAIN["nodes"][0]["table"] = [[i / 8, 1 - i / 8] for i in range(6)]


def read(document):
    return native_json.read(document if isinstance(document, str) else json.dumps(document), "x.json")


def changed(way, value):
    """RAIN with one part replaced, or (value ...) taken away."""
    document = copy.deepcopy(RAIN)
    *parts, last = way
    part = document
    for step in parts:
        part = part[step]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return document


def test_rows_follow_the_parents_listed_and_axes_the_graph():
    network = read(RAIN)
    assert satisfies(RAIN, SCHEMA)
    assert network.dag.parents[0] == (1, 2)
    assert network.tables[0].shape == (2, 3, 2)
    for rain in range(2):
        for sun in range(3):
            assert network.tables[0][rain, sun, 0] == (2 * sun + rain) / 8
    assert network.undefined[2].tolist() is True
    assert not network.undefined[0].any()
    assert network.states[1] == (False, True)
    assert network.name == "rain"


def test_coefficients_follow_the_parents_listed():
    numbers = {"intercept": 0, "variance": 1}
    nodes = [
        {"name": "a", "parents": [], "coefficients": []} | numbers,
        {"name": "b", "parents": [], "coefficients": []} | numbers,
        {"name": "c", "parents": ["b", "a"], "coefficients": [2, 1]} | numbers,
    ]
    network = read({"format": "bayescout", "version": 1, "kind": "gaussian", "nodes": nodes})
    assert network.dag.parents[2] == (0, 1)
    assert network.coefficients[2].tolist() == [1, 2]
    assert network.name == ""


BAD = {
    "a list": ([], "the document must be an object"),
    "no format": (changed(["format"], ...), "the document has no 'format'"),
    "format": (changed(["format"], "other"), 'format must be "bayescout"'),
    "version": (changed(["version"], 2), "version is not 1"),
    "kind": (changed(["kind"], "other"), "kind must be one of discrete, gaussian, mixed, structure"),
    "no node kind": (changed(["kind"], "mixed"), r"nodes\[0\] has no 'kind'"),
    "kind list": (changed(["kind"], []), "kind must be one of"),
    "name": (changed(["name"], 3), "name must be text"),
    "nodes": (changed(["nodes"], {}), "nodes must be a list"),
    "node": (changed(["nodes", 1], 3), r"nodes\[1\] must be an object"),
    "no parents": (changed(["nodes", 1, "parents"], ...), r"nodes\[1\] has no 'parents'"),
    "label": (
        changed(["nodes", 1, "name"], {"set": []}),
        r"nodes\[1\].name is an object where a label belongs",
    ),
    "same node": (changed(["nodes", 1, "name"], "sun"), r"nodes\[2\].name repeats 'sun'"),
    "parent": (
        changed(["nodes", 0, "parents", 1], "snow"),
        r"nodes\[0\].parents\[1\] names 'snow', which is not",
    ),
    "same parent": (changed(["nodes", 0, "parents", 1], "sun"), r"nodes\[0\].parents\[1\] repeats 'sun'"),
    "same state": (changed(["nodes", 2, "states"], [0, 1, 1.0]), r"nodes\[2\].states\[2\] repeats 1.0"),
    "no states": (changed(["nodes", 1, "states"], []), r"nodes\[1\].states must list at least one"),
    "rows": (changed(["nodes", 0, "table"], [[0.5, 0.5]]), r"nodes\[0\].table has 1 rows; .* ask for 6"),
    "row": (changed(["nodes", 0, "table", 2], [1.0]), r"nodes\[0\].table\[2\] must be a list of 2 numbers"),
    "text": (changed(["nodes", 0, "table", 2], [0.5, "0.5"]), r"nodes\[0\].table\[2\]\[1\] must be a number"),
    "boolean": (changed(["nodes", 0, "table", 2], [0, True]), r"nodes\[0\].table\[2\]\[1\] must be a number"),
    "sum": (changed(["nodes", 0, "table", 2], [0.5, 0.6]), r"P\(grass \| rain=False, sun=1\) sums to 1.1"),
    "negative": (changed(["nodes", 0, "table", 2], [-0.5, 1.5]), "negative"),
    "undefined": (changed(["nodes", 2, "undefined"], [1]), r"nodes\[2\].undefined\[0\] must be .* 0 to 0"),
    "undefined bool": (
        changed(["nodes", 2, "undefined"], [False]),
        r"undefined\[0\] must be the number of a row",
    ),
    "gaussian": (changed(["kind"], "gaussian"), r"nodes\[0\] has no 'intercept'"),
    "large": (json.dumps(RAIN).replace("0.75", "1e999"), r"nodes\[0\].table\[2\]\[1\] is too large a number"),
    "huge": (
        json.dumps(RAIN).replace("0.75", "1" + "0" * 400),
        r"nodes\[0\].table\[2\]\[1\] is too large a number",
    ),
    "nan": (json.dumps(RAIN).replace("0.75", "NaN"), "NaN is not a number"),
    "infinity": (json.dumps(RAIN).replace("0.75", "-Infinity"), "-Infinity is not a number"),
    "twice": (json.dumps(RAIN).replace('"version"', '"kind"', 1), "the key 'kind' occurs twice"),
    "deep": ("[" * 200_000, "nested too deeply"),
    "digits": (json.dumps(RAIN).replace("0.75", "1" * 5000), "is not JSON this library can read"),
}


@pytest.mark.parametrize(("document", "words"), BAD.values(), ids=BAD)
def test_each_error_says_where_and_what(document, words):
    with pytest.raises(FormatError, match=words) as caught:
        read(document)
    assert str(caught.value).startswith("x.json: ")


CLG = {
    "format": "bayescout",
    "version": 1,
    "kind": "mixed",
    "nodes": [
        {
            "name": "y",
            "kind": "conditional-gaussian",
            "parents": ["v", "b", "u", "a"],
            "intercepts": [1, 2, 3, 4, 5, 6],
            "coefficients": [[10 * i, i] for i in range(1, 7)],
            "variances": [0, 1, 2, 3, 4, 5],
            "undefined": [4],
        },
        {"name": "a", "kind": "discrete", "parents": [], "states": [0, 1], "table": [[0.5, 0.5]]},
        {"name": "u", "kind": "gaussian", "parents": [], "intercept": 0, "coefficients": [], "variance": 1},
        {"name": "b", "kind": "discrete", "parents": [], "states": [0, 1, 2], "table": [[0.5, 0.25, 0.25]]},
        {"name": "v", "kind": "gaussian", "parents": ["u"], "intercept": 0}
        | {"coefficients": [2], "variance": 1},
    ],
}


def test_regressions_follow_the_parents_listed_and_axes_the_graph():
    """y lists v, b, u, a; the graph has a, u, b, v, so rows move from (b, a) to (a, b)."""
    network = read(CLG)
    assert satisfies(CLG, SCHEMA)
    assert network.dag.parents[0] == (1, 2, 3, 4)
    node = network.distributions[0]
    assert node.discrete == (0, 2)
    for a in range(2):
        for b in range(3):
            row = 2 * b + a
            assert node.intercepts[a, b] == row + 1
            assert node.coefficients[a, b].tolist() == [row + 1, 10 * (row + 1)]
            assert node.variances[a, b] == row
            assert node.undefined[a, b] == (row == 4)


def clg(way, value):
    document = copy.deepcopy(CLG)
    *parts, last = way
    part = document
    for step in parts:
        part = part[step]
    part[last] = value
    return document


BAD_CLG = {
    "kind": (clg(["nodes", 2, "kind"], "poisson"), r"nodes\[2\].kind must be one of discrete, gauss"),
    "list": (clg(["nodes", 2, "kind"], []), r"nodes\[2\].kind must be one of"),
    "parent": (clg(["nodes", 1, "parents"], ["u"]), r"nodes\[1\].parents\[0\] is continuous, and a discrete"),
    "discrete parent": (clg(["nodes", 2, "parents"], ["a"]), r"nodes\[2\].coefficients must be a list of 1"),
    "rows": (clg(["nodes", 0, "coefficients"], [[1, 2]]), r"nodes\[0\].coefficients has 1 rows; .* for 6"),
    "row": (clg(["nodes", 0, "coefficients", 3], [1]), r"nodes\[0\].coefficients\[3\] must be a list of 2"),
    "intercepts": (clg(["nodes", 0, "intercepts"], [1]), r"nodes\[0\].intercepts must be a list of 6"),
    "variances": (clg(["nodes", 0, "variances", 1], -1), "'y' has a negative variance, -1"),
    "undefined": (clg(["nodes", 0, "undefined"], [6]), r"nodes\[0\].undefined\[0\] must be .* 0 to 5"),
    "no parents": (
        clg(["nodes", 0], {"name": "y", "kind": "conditional-gaussian", "parents": []}
            | {"intercepts": [1], "coefficients": [[]], "variances": [1]}),
        "has none; make it a LinearGaussian",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("document", "words"), BAD_CLG.values(), ids=BAD_CLG)
def test_each_error_of_a_mixed_network_says_where_and_what(document, words):
    with pytest.raises(FormatError, match=words) as caught:
        read(document)
    assert str(caught.value).startswith("x.json: ")


@pytest.mark.parametrize(
    "text", ["", "{", '{"format":\n "bayescout",\n "ver', "hello", json.dumps(RAIN)[:-1]]
)
def test_truncated_json_names_the_line(text):
    with pytest.raises(FormatError, match=f"x.json, line {text.count(chr(10)) + 1}: is not JSON"):
        read(text)


def test_a_cycle_is_named_with_the_file():
    with pytest.raises(CycleError, match=r"x.json.*rain.* -> "):
        read(changed(["nodes", 1, "parents"], ["grass"]))


def test_rows_are_not_touched():
    """Native files are exact: a row a little off one is kept, not normalised."""
    network = DiscreteNetwork(Dag.empty(["a"]), (("x", "y", "z"),), (np.array([0.3333333] * 3),))
    same_network(read(native_json.write(network)), network)


# ---- the linear-Gaussian JSON of benchmark files

SEM = {
    "nodes": ["y", "x", "z"],
    "arcs": [["x", "y"], ["z", "y"]],
    "cpds": {
        "x": {"coefficients": {"(Intercept)": [1.5]}, "variance": [4], "parents": []},
        "y": {
            "coefficients": {"(Intercept)": [1], "z": [3.0], "x": [-2.0]},
            "variance": 0.25,
            "parents": ["z", "x"],
        },
        "z": {"coefficients": {"(Intercept)": [0.0]}, "variance": [1.0], "parents": []},
    },
}


def test_linear_gaussian_json():
    network = read(SEM)
    assert network.dag == Dag(("y", "x", "z"), ((1, 2), (), ()))
    assert network.intercepts.tolist() == [1, 1.5, 0]
    assert network.variances.tolist() == [0.25, 4, 1]
    assert [c.tolist() for c in network.coefficients] == [[-2, 3], [], []]


def sem(change):
    document = copy.deepcopy(SEM)
    change(document)
    return document


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["cpds"].pop("x"), "cpds has no 'x'"),
        (lambda d: d["cpds"].update(w=d["cpds"]["x"]), "cpds.w is not of a node"),
        (lambda d: d["arcs"].pop(), "arcs do not agree with the parents"),
        (lambda d: d["cpds"]["y"]["parents"].pop(), "cpds.y.coefficients must have"),
        (lambda d: d["cpds"]["y"]["parents"].append("q"), r"cpds.y.parents\[2\] names 'q'"),
        (lambda d: d["cpds"]["y"]["coefficients"].pop("(Intercept)"), "cpds.y.coefficients must have"),
        (lambda d: d["cpds"]["x"].update(variance=[1, 2]), "cpds.x.variance must be a list of 1 number"),
        (lambda d: d["cpds"]["x"].update(variance=[-1]), "negative variance"),
        (lambda d: d["cpds"]["x"].update(variance="1"), "cpds.x.variance must be a number"),
        (lambda d: d.update(cpds=[]), "cpds must be an object"),
        (lambda d: d.update(nodes=3), "nodes must be a list"),
    ],
)
def test_linear_gaussian_errors(change, words):
    with pytest.raises(FormatError, match=words):
        read(sem(change))


def test_linear_gaussian_cycle():
    def close(document):
        document["arcs"].append(["y", "x"])
        document["cpds"]["x"]["parents"].append("y")
        document["cpds"]["x"]["coefficients"]["y"] = [1]

    with pytest.raises(CycleError, match=r"x.json"):
        read(sem(close))
