"""The library's own JSON, for networks of either kind and for structures.

    {"format": "bayescout", "version": 1, "kind": "discrete", "name": "...", "nodes": [
      {"name": "rain", "parents": [], "states": ["no", "yes"], "table": [[0.8, 0.2]]}]}

A discrete node has one row of its table per configuration of its parents, the last
parent fastest, and lists in `undefined` the rows that had no data; a Gaussian one has an
intercept, one coefficient per parent and a variance. Numbers are written so that they are
read back exactly. `network.schema.json`, beside this file, is the full description; labels
that are not text are written as described in `labels.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import BayescoutError, FormatError
from bayescout.formats import linear_gaussian_json
from bayescout.formats.json_document import Part, load
from bayescout.formats.labels import encode_label
from bayescout.formats.text import check_number_of_nodes, cycles_of
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label
from bayescout.network import DiscreteNetwork, GaussianNetwork, LinearGaussian, Network, Tabular
from bayescout.network.tabular import MAX_PARENTS, too_many_parents

Built = TypeVar("Built")

VERSION = 1


# ---- reading


def read(text: str, path: str) -> Network | Dag:
    """The network or structure in a JSON text."""
    document = Part(load(text, path), path)
    if "format" not in document.members() and "cpds" in document.members():
        return linear_gaussian_json.read_document(document)
    if document.get("format").value != "bayescout":
        document.get("format").fail('must be "bayescout"')
    if document.get("version").value != VERSION:
        document.get("version").fail(f"is not {VERSION}, the version this library reads; update the library")
    kind = document.get("kind")
    readers: dict[str, Callable[[list[Part], str, str], Network | Dag]] = {
        "discrete": _read_discrete,
        "gaussian": _read_gaussian,
        "structure": _read_structure,
    }
    if not isinstance(kind.value, str) or kind.value not in readers:
        kind.fail(f"must be one of {', '.join(readers)}")
    name = document.get("name").text() if "name" in document.members() else ""
    nodes = document.get("nodes")
    check_number_of_nodes(nodes.length(), path)
    return readers[kind.value](list(nodes.items()), name, path)


def _graph(nodes: list[Part], path: str) -> tuple[Dag, list[list[int]]]:
    """The graph, and each node's parents as positions in the order the file gives them."""
    positions: dict[Label, int] = {}
    for node in nodes:
        label = node.get("name").label()
        if label in positions:
            node.get("name").fail(f"repeats {label!r}")
        positions[label] = len(positions)
    parents = []
    for node in nodes:
        listed = node.get("parents")
        for label, item in zip(listed.labels(), listed.items(), strict=True):
            if label not in positions:
                item.fail(f"names {label!r}, which is not a node")
        parents.append([positions[label] for label in listed.labels()])
    with cycles_of(f"{path}: the network"):
        return Dag(tuple(positions), tuple(map(tuple, parents))), parents


def _read_structure(nodes: list[Part], name: str, path: str) -> Dag:
    return _graph(nodes, path)[0]


def _read_discrete(nodes: list[Part], name: str, path: str) -> Network:
    dag, parents = _graph(nodes, path)
    states = tuple(node.get("states").labels() for node in nodes)
    for node, labels in zip(nodes, states, strict=True):
        if not labels:
            node.get("states").fail("must list at least one state")
    tables, masks = [], []
    for label, node, own, given in zip(dag.nodes, nodes, states, parents, strict=True):
        if len(given) > MAX_PARENTS:
            raise FormatError(too_many_parents(label, len(given)), path)
        shape = tuple(len(states[parent]) for parent in given)
        axes = np.argsort(given, kind="stable").tolist()
        table = _read_table(node, math.prod(shape), len(own)).reshape(*shape, len(own))
        tables.append(np.array(table.transpose(*axes, len(axes)), order="C"))
        mask = _read_undefined(node, math.prod(shape)).reshape(shape)
        masks.append(np.array(mask.transpose(axes), order="C"))
    return _checked(lambda: DiscreteNetwork(dag, states, tuple(tables), tuple(masks), name), path)


def _read_table(node: Part, rows: int, states: int) -> NDArray[np.float64]:
    table = node.get("table")
    if table.length() != rows:
        table.fail(f"has {table.length()} rows; the parents' states ask for {rows}")
    return np.array([row.numbers(states) for row in table.items()], dtype=np.float64)


def _read_undefined(node: Part, rows: int) -> NDArray[np.bool_]:
    mask = np.zeros(rows, dtype=bool)
    if "undefined" in node.members():
        for item in node.get("undefined").items():
            if type(item.value) is not int or not 0 <= item.value < rows:
                item.fail(f"must be the number of a row, 0 to {rows - 1}")
            mask[item.value] = True
    return mask


def _read_gaussian(nodes: list[Part], name: str, path: str) -> Network:
    dag, parents = _graph(nodes, path)
    intercepts = np.array([node.get("intercept").number() for node in nodes], dtype=np.float64)
    variances = np.array([node.get("variance").number() for node in nodes], dtype=np.float64)
    coefficients = []
    for node, given in zip(nodes, parents, strict=True):
        weights = np.array(node.get("coefficients").numbers(len(given)), dtype=np.float64)
        coefficients.append(weights[np.argsort(given, kind="stable")])
    return _checked(lambda: GaussianNetwork(dag, intercepts, tuple(coefficients), variances, name), path)


def _checked(build: Callable[[], Built], path: str) -> Built:
    """Build a network; errors of its constructor name the file."""
    try:
        return build()
    except BayescoutError as error:
        raise FormatError(str(error), path) from None


# ---- writing


def write(value: object) -> str:
    """The JSON text of a network or structure, one node per line."""
    if isinstance(value, Network):
        kind, name, nodes = value.kind, value.name, _network_nodes(value)
    elif isinstance(value, Dag):
        kind, name, nodes = "structure", "", _structure_nodes(value)
    else:
        raise FormatError(f"a {type(value).__name__} is not a network or structure; it cannot be written")
    head = {"format": "bayescout", "version": VERSION, "kind": kind, "name": name}
    lines = ",\n".join(f"    {_dump(node)}" for node in nodes)
    return f'{_dump(head)[:-1]}, "nodes": [\n{lines}\n]}}\n'


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _structure_nodes(dag: Dag) -> list[dict[str, Any]]:
    return [
        {"name": encode_label(label), "parents": [encode_label(dag.nodes[parent]) for parent in parents]}
        for label, parents in zip(dag.nodes, dag.parents, strict=True)
    ]


def _network_nodes(network: Network) -> list[dict[str, Any]]:
    """The nodes with their parameters; kinds that no reader would know are refused."""
    if network.kind not in MEMBERS:
        raise FormatError(
            f"a network of kind {network.kind!r} cannot be kept in a file, only one whose nodes are all "
            f"{' or all '.join(MEMBERS)}; pickle it, or write its graph alone"
        )
    nodes = _structure_nodes(network.dag)
    for node, distribution in zip(nodes, network.distributions, strict=True):
        node |= MEMBERS[network.kind](distribution)
    return nodes


def _tabular_members(node: Tabular) -> dict[str, Any]:
    members: dict[str, Any] = {
        "states": [encode_label(state) for state in node.states],
        "table": node.table.reshape(-1, node.table.shape[-1]).tolist(),
    }
    if node.undefined.any():
        members["undefined"] = np.flatnonzero(node.undefined).tolist()
    return members


def _linear_gaussian_members(node: LinearGaussian) -> dict[str, Any]:
    coefficients = node.coefficients.tolist()
    return {"intercept": node.intercept, "coefficients": coefficients, "variance": node.variance}


MEMBERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    Tabular.kind: _tabular_members,
    LinearGaussian.kind: _linear_gaussian_members,
}
"""The members that a file keeps of a node, by the kind of the network; `read` has the reader of each kind."""
