"""The library's own JSON, for networks of every kind and for structures.

    {"format": "bayescout", "version": 1, "kind": "discrete", "name": "...", "nodes": [
      {"name": "rain", "parents": [], "states": ["no", "yes"], "table": [[0.8, 0.2]]}]}

A discrete node has one row of its table per configuration of its parents, the last
parent fastest, and lists in `undefined` the rows that had no data, in `cuts` the cut points
if its states are intervals of a number, and in `missing_state` the state that stands for missing cells, if
one does; a Gaussian one has an intercept, one coefficient per parent and a variance. In a network of kind
"mixed" each node has a
"kind" of its own, and a "conditional-gaussian" one has intercepts, coefficients and variances, one
of each per configuration of its discrete parents. Numbers are written so that they are
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

from bayescout.data.table import States
from bayescout.errors import BayescoutError, FormatError
from bayescout.formats import linear_gaussian_json
from bayescout.formats.json_document import Part, load
from bayescout.formats.labels import encode_label
from bayescout.formats.text import check_number_of_nodes, cycles_of
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label
from bayescout.network import (
    ConditionalGaussian,
    DiscreteNetwork,
    GaussianNetwork,
    LinearGaussian,
    Network,
    NodeDistribution,
    Tabular,
)
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
        "mixed": _read_mixed,
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
    states = [_read_states(node) for node in nodes]
    tables, masks = [], []
    for node, own, given in zip(nodes, states, parents, strict=True):
        table, mask = _read_tabular(node, own, given, [states[parent] for parent in given])
        tables.append(table)
        masks.append(mask)
    found = {label: _read_cuts(node) for label, node in zip(dag.nodes, nodes, strict=True)}
    cuts = {label: points for label, points in found.items() if points is not None}
    empty = {label: _read_missing_state(node) for label, node in zip(dag.nodes, nodes, strict=True)}
    return _checked(
        lambda: DiscreteNetwork(
            dag,
            states,
            tuple(tables),
            tuple(masks),
            name,
            cuts,
            {label: state for label, state in empty.items() if state is not None},
        ),
        path,
    )


def _read_cuts(node: Part) -> tuple[float, ...] | None:
    """The cut points of a node whose states are intervals; the network checks that they fit the states."""
    if "cuts" not in node.members():
        return None
    listed = node.get("cuts")
    return tuple(listed.numbers(listed.length()))


def _read_missing_state(node: Part) -> Label | None:
    """The state that stands for missing cells; the network checks that it is one."""
    return node.get("missing_state").label() if "missing_state" in node.members() else None


def _read_states(node: Part) -> States:
    states = node.get("states").labels()
    if not states:
        node.get("states").fail("must list at least one state")
    return states


def _read_tabular(
    node: Part, own: States, given: list[int], states: list[States]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The table and its mask, with the axes of the parents as in the graph."""
    _refuse_parents(node, len(given))
    shape = tuple(len(of_parent) for of_parent in states)
    axes = np.argsort(given, kind="stable").tolist()
    table = _read_table(node, math.prod(shape), len(own)).reshape(*shape, len(own))
    mask = _read_undefined(node, math.prod(shape)).reshape(shape)
    return (
        np.array(table.transpose(*axes, len(axes)), order="C"),
        np.array(mask.transpose(axes), order="C"),
    )


def _refuse_parents(node: Part, count: int) -> None:
    if count > MAX_PARENTS:
        raise FormatError(too_many_parents(node.get("name").label(), count), node.file)


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


def _read_mixed(nodes: list[Part], name: str, path: str) -> Network:
    """A network in which each node says its kind."""
    dag, parents = _graph(nodes, path)
    for node in nodes:
        if node.get("kind").value not in tuple(MEMBERS):
            node.get("kind").fail(f"must be one of {', '.join(MEMBERS)}")
    kinds = [node.value["kind"] for node in nodes]
    states = [
        _read_states(node) if kind == Tabular.kind else None for node, kind in zip(nodes, kinds, strict=True)
    ]

    def build() -> Network:
        made = [_read_node(node, given, states) for node, given in zip(nodes, parents, strict=True)]
        return Network(dag, tuple(made), name)

    return _checked(build, path)


def _read_node(node: Part, given: list[int], states: list[States | None]) -> NodeDistribution:
    """One node of a mixed network; `given` are its parents in the order the file gives them."""
    kind, of_parents = node.value["kind"], [states[parent] for parent in given]
    if kind == Tabular.kind:
        if None in of_parents:
            place = of_parents.index(None)
            Part(node.value["parents"][place], node.file, node.get("parents"), place).fail(
                "is continuous, and a discrete node has discrete parents only"
            )
        known = [own for own in of_parents if own is not None]
        own = _read_states(node)
        return Tabular(
            own, *_read_tabular(node, own, given, known), _read_cuts(node), _read_missing_state(node)
        )
    numbers = [parent for parent, own in zip(given, of_parents, strict=True) if own is None]
    if kind == LinearGaussian.kind:
        weights = np.array(node.get("coefficients").numbers(len(given)), dtype=np.float64)
        ordered = weights[np.argsort(given, kind="stable")]
        return LinearGaussian(node.get("intercept").number(), ordered, node.get("variance").number())
    chosen = [parent for parent, own in zip(given, of_parents, strict=True) if own is not None]
    _refuse_parents(node, len(chosen))
    shape = tuple(len(own) for own in of_parents if own is not None)
    return _read_conditional(node, shape, (chosen, numbers), sorted(given))


def _read_conditional(
    node: Part, shape: tuple[int, ...], parents: tuple[list[int], list[int]], ordered: list[int]
) -> ConditionalGaussian:
    """Regressions with the axes of the discrete parents, and the coefficients, as in the graph."""
    chosen, numbers = parents
    rows = math.prod(shape)
    axes = np.argsort(chosen, kind="stable").tolist()
    weights = node.get("coefficients")
    if weights.length() != rows:
        weights.fail(f"has {weights.length()} rows; the parents' states ask for {rows}")
    found = np.array([row.numbers(len(numbers)) for row in weights.items()], dtype=np.float64)
    coefficients = found.reshape(*shape, len(numbers))[..., np.argsort(numbers, kind="stable")]
    arrays = [np.array(node.get(key).numbers(rows)).reshape(shape) for key in ("intercepts", "variances")]
    mask = _read_undefined(node, rows).reshape(shape)
    return ConditionalGaussian(
        arrays[0].transpose(axes),
        coefficients.transpose(*axes, len(axes)),
        arrays[1].transpose(axes),
        mask.transpose(axes),
        tuple(ordered.index(parent) for parent in sorted(chosen)),
    )


def _checked(build: Callable[[], Built], path: str) -> Built:
    """Build a network; errors of its constructor name the file."""
    try:
        return build()
    except FormatError:
        raise
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
    nodes = _structure_nodes(network.dag)
    for label, node, distribution in zip(network.nodes, nodes, network.distributions, strict=True):
        if distribution.kind not in MEMBERS:
            raise FormatError(
                f"node {label!r} is of the kind {distribution.kind!r}, which cannot be kept in a file, only "
                f"{', '.join(MEMBERS)}; pickle the network, or write its graph alone"
            )
        if network.kind == "mixed":
            node["kind"] = distribution.kind
        node |= MEMBERS[distribution.kind](distribution)
    return nodes


def _tabular_members(node: Tabular) -> dict[str, Any]:
    members: dict[str, Any] = {
        "states": [encode_label(state) for state in node.states],
        "table": node.table.reshape(-1, node.table.shape[-1]).tolist(),
    }
    if node.undefined.any():
        members["undefined"] = np.flatnonzero(node.undefined).tolist()
    if node.cuts is not None:
        members["cuts"] = list(node.cuts)
    if node.missing_state is not None:
        members["missing_state"] = encode_label(node.missing_state)
    return members


def _linear_gaussian_members(node: LinearGaussian) -> dict[str, Any]:
    coefficients = node.coefficients.tolist()
    return {"intercept": node.intercept, "coefficients": coefficients, "variance": node.variance}


def _conditional_members(node: ConditionalGaussian) -> dict[str, Any]:
    members: dict[str, Any] = {
        "intercepts": node.intercepts.ravel().tolist(),
        "coefficients": node.by_configuration.tolist(),
        "variances": node.variances.ravel().tolist(),
    }
    if node.undefined.any():
        members["undefined"] = np.flatnonzero(node.undefined).tolist()
    return members


MEMBERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    Tabular.kind: _tabular_members,
    LinearGaussian.kind: _linear_gaussian_members,
    ConditionalGaussian.kind: _conditional_members,
}
"""The members that a file keeps of a node, by its kind; `read` has the reader of each kind."""
