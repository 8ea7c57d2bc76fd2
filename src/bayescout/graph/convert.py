"""Graphs in other forms: adjacency matrices, networkx graphs, modelstrings.

Readers return plain nodes and parents or pairs; `Dag` and `Pdag` make graphs of them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import FormatError, GraphError, MissingExtraError
from bayescout.graph.labels import Arc, Label, check_nodes

if TYPE_CHECKING:
    from bayescout.graph.dag import Dag
    from bayescout.graph.pdag import Pdag

Nodes = tuple[Label, ...]
Families = tuple[Nodes, tuple[tuple[int, ...], ...]]
"""Nodes and the parents of each."""
Pairs = tuple[tuple[int, int], ...]

# ---- adjacency matrices


def dag_adjacency(dag: Dag) -> NDArray[np.int8]:
    """The adjacency matrix: a[i, j] = 1 for every arc i -> j."""
    matrix = np.zeros((len(dag), len(dag)), dtype=np.int8)
    for child, parents in enumerate(dag.parents):
        matrix[list(parents), child] = 1
    return matrix


def dag_from_adjacency(matrix: object, nodes: Iterable[Label]) -> Families:
    """The nodes and parents of an adjacency matrix."""
    labels = check_nodes(nodes)
    cells = _as_cells(matrix, labels)
    return labels, tuple(tuple(np.flatnonzero(column).tolist()) for column in cells.T)


def pdag_adjacency(pdag: Pdag) -> NDArray[np.int8]:
    """The adjacency matrix: a[i, j] = 1 for an arc i -> j, a[i, j] = a[j, i] = 1 for an undirected edge."""
    matrix = np.zeros((len(pdag), len(pdag)), dtype=np.int8)
    for i, j in pdag.directed:
        matrix[i, j] = 1
    for i, j in pdag.undirected:
        matrix[i, j] = matrix[j, i] = 1
    return matrix


def pdag_from_adjacency(matrix: object, nodes: Iterable[Label]) -> tuple[Nodes, Pairs, Pairs]:
    """The nodes, directed pairs and undirected pairs of an adjacency matrix."""
    labels = check_nodes(nodes)
    cells = _as_cells(matrix, labels)
    directed = np.argwhere(cells & ~cells.T).tolist()
    undirected = np.argwhere(np.triu(cells & cells.T)).tolist()
    return labels, tuple((i, j) for i, j in directed), tuple((i, j) for i, j in undirected)


def _as_cells(matrix: object, labels: Nodes) -> NDArray[np.bool_]:
    try:
        cells = np.asarray(matrix)
    except ValueError:
        raise GraphError("an adjacency matrix needs rows of the same length") from None
    size = len(labels)
    if cells.size == size == 0:
        return np.zeros((0, 0), dtype=bool)
    if cells.shape != (size, size):
        raise GraphError(
            f"the adjacency matrix of {size} nodes must have shape ({size}, {size}), not {cells.shape}"
        )
    off = np.argwhere(~((cells == 0) | (cells == 1)))
    if len(off):
        i, j = off[0].tolist()
        found = cells[i, j : j + 1].tolist()[0]
        raise GraphError(f"cell [{i}, {j}] of the adjacency matrix is {found!r}; it must be 0 or 1")
    return np.asarray(cells == 1)


# ---- networkx


def from_networkx(graph: Any) -> tuple[list[Arc], list[Label]]:
    """The arcs and nodes of a directed networkx graph, in its own node order."""
    try:
        directed, nodes, arcs = graph.is_directed(), list(graph.nodes), [(e[0], e[1]) for e in graph.edges]
    except AttributeError:
        raise GraphError(f"from_networkx needs a networkx graph, not a {type(graph).__name__}") from None
    if not directed:
        raise GraphError("from_networkx needs a directed graph (networkx.DiGraph); this one is undirected")
    return arcs, nodes


def pdag_from_networkx(graph: Any) -> tuple[list[Arc], list[Arc], list[Label]]:
    """The arcs, undirected edges and nodes of a directed networkx graph; a pair both ways is undirected."""
    arcs, nodes = from_networkx(graph)
    found = dict.fromkeys(arcs)
    directed = [(a, b) for a, b in found if a == b or (b, a) not in found]
    place = {node: i for i, node in enumerate(nodes)}
    undirected = [(a, b) for a, b in found if place[a] < place[b] and (b, a) in found]
    return directed, undirected, nodes


def to_networkx(graph: Dag | Pdag) -> Any:
    """Convert to a networkx.DiGraph; networkx is imported here because nothing else needs it."""
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("networkx", "networkx") from None
    if None in graph.nodes:
        raise GraphError("networkx cannot hold a node labelled None; rename that node first")
    made = networkx.DiGraph()
    made.add_nodes_from(graph.nodes)
    made.add_edges_from(graph.arcs())
    return made


def pdag_to_networkx(pdag: Pdag) -> Any:
    """The same of a graph with undirected edges, each of which is two arcs."""
    made = to_networkx(pdag)
    made.add_edges_from(pair for a, b in pdag.edges() for pair in ((a, b), (b, a)))
    return made


# ---- modelstrings

_RESERVED = re.compile(r"[\[\]|:]")
_BLANKS = re.compile(r"\s*+")
_BLOCK = re.compile(r"\[([^\[\]|:]+)(?:\|([^\[\]|]*))?\]")


def to_modelstring(dag: Dag) -> str:
    """Write bnlearn's `[A][B|A][C|A:B]`: nodes in topological order, parents in node order.

    Names are written as they are, so a name with a bracket, bar or colon is refused.
    """
    for label in dag.nodes:
        if not isinstance(label, str):
            raise GraphError(
                f"a modelstring holds only names that are strings; node {label!r} is not one: give the "
                f"columns names, as a frame has, before learning"
            )
        if not label or _RESERVED.search(label):
            raise GraphError(
                f"node {label!r} cannot be written in a modelstring: a name has no '[', ']', '|' or ':'"
            )
    return "".join(_block(dag, child) for child in dag.order_indices)


def _block(dag: Dag, child: int) -> str:
    parents = ":".join(str(dag.nodes[p]) for p in dag.parents[child])
    return f"[{dag.nodes[child]}|{parents}]" if parents else f"[{dag.nodes[child]}]"


def from_modelstring(text: str) -> Families:
    """Read `[A][B|A][C|A:B]`; only white space may come between the brackets.

    Inside them every character counts, including blanks, so that all names are read as they were written.
    """
    if not isinstance(text, str):
        raise FormatError(f"a modelstring is text such as [A][B|A], not a {type(text).__name__}")
    families: dict[str, list[str]] = {}
    where: dict[str, int] = {}
    place = _skip_blanks(text, 0)
    while place < len(text):
        block = _BLOCK.match(text, place)
        if block is None:
            raise _error(
                place, f"expected [node] or [node|parent:parent], found {text[place : place + 20]!r}"
            )
        name, listed = block.groups()
        if name in families:
            raise _error(place, f"node {name!r} is declared more than once")
        families[name] = [] if listed is None else listed.split(":")
        where[name] = place
        place = _skip_blanks(text, block.end())
    for name, parents in families.items():
        _check_parents(name, parents, families, where[name])
    position = {name: i for i, name in enumerate(families)}
    return tuple(families), tuple(tuple(position[p] for p in ps) for ps in families.values())


def _check_parents(name: str, parents: list[str], known: Container[str], place: int) -> None:
    seen: set[str] = set()
    for parent in parents:
        if not parent:
            raise _error(
                place, f"node {name!r} has an empty parent name; write [{name}] for a node without parents"
            )
        if parent in seen:
            raise _error(place, f"node {name!r} lists parent {parent!r} more than once")
        if parent not in known:
            raise _error(place, f"parent {parent!r} of {name!r} is not declared; add [{parent}]")
        seen.add(parent)


def _skip_blanks(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return blanks.end() if blanks else place


def _error(place: int, message: str) -> FormatError:
    return FormatError(f"modelstring, character {place + 1}: {message}")
