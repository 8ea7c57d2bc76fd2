"""Graphs in whatever form a user has them, as one of ours.

A `Dag`, or anything with a `.dag`; a graph of networkx or igraph; a model of pgmpy or pyAgrum; a modelstring
`[A][B|A]`, or the text of a DOT file; arcs, as pairs, as texts "a->b" or as a frame with the columns from and
to; an adjacency matrix, as an array or as a frame with the names. Other libraries are recognised by what
their objects have, and none of them is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayescout.errors import GraphError
from bayescout.graph.convert import pdag_from_networkx
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, as_pairs
from bayescout.graph.pdag import Pdag

NEEDED = (
    "a graph is needed, as a Dag, a network, a networkx or igraph graph, a modelstring such as [A][B|A], a "
    "list of arcs or an adjacency matrix"
)

ENDS = (("parent", "child"), ("from", "to"), ("source", "target"))
"""The columns of a frame of arcs."""


def as_dag(graph: Any, names: Iterable[Label] | None = None) -> Dag:
    """The graph of a `Dag`, a network, a result, or of another library's graph; see above.

    `names` are the nodes, in order, of arcs and of matrices, which may have none of their own.
    """
    found = as_graph(graph, names)
    if isinstance(found, Pdag):
        raise GraphError(
            "a directed graph is needed, and this one has undirected edges; give them directions"
        )
    return found


def as_graph(graph: Any, names: Iterable[Label] | None = None) -> Dag | Pdag:
    """As `as_dag`; a `Pdag`, or a matrix or a graph of networkx with a pair joined both ways, is a `Pdag`."""
    if isinstance(graph, Dag | Pdag):
        return graph
    own = getattr(graph, "dag", None)
    if isinstance(own, Dag | Pdag):
        return own
    if isinstance(graph, str):
        if _is_dot(graph):
            return Dag.from_dot(graph)
        if is_graph(graph) and not graph.lstrip().startswith("["):
            return _from_arcs(graph.split(","), names)
        if graph.lstrip().startswith("["):
            return Dag.from_modelstring(graph)
        raise GraphError(
            f"{NEEDED}, not the text {graph[:80]!r}; bs.read_structure reads the graph in a file, and "
            f"bs.load_network a network by its name"
        )
    if hasattr(graph, "vs") and hasattr(graph, "es"):
        return _from_igraph(graph)
    if hasattr(graph, "variable") and hasattr(graph, "arcs") and hasattr(graph, "names"):
        return _from_pyagrum(graph)
    if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
        arcs, edges, nodes = pdag_from_networkx(graph)
        return Pdag.from_arcs(arcs, edges, nodes) if edges else Dag.from_arcs(arcs, nodes)
    if hasattr(graph, "columns") and hasattr(graph, "to_numpy"):
        return _from_frame(graph, names)
    if isinstance(graph, np.ndarray) or _is_rows(graph):
        return _from_matrix(graph, names)
    if isinstance(graph, Iterable) and not isinstance(graph, Mapping | bytes | str):
        return _from_arcs(graph, names)
    raise GraphError(f"{NEEDED}, not {type(graph).__name__}")


def is_graph(graph: Any) -> bool:
    """Return True if the form is one that is read; its content may still be refused."""
    if isinstance(graph, str):
        return "->" in graph or graph.lstrip().startswith("[") or _is_dot(graph)
    if isinstance(graph, Mapping | bytes) or graph is None:
        return False
    ways = ("vs", "edges", "arcs", "columns", "__iter__")
    return isinstance(getattr(graph, "dag", graph), Dag | Pdag) or any(hasattr(graph, way) for way in ways)


def shared_names(one: Any, other: Any) -> tuple[Label, ...]:
    """The nodes of the first graph that has names of its own; of two lists of arcs, those of both."""
    for graph in (one, other):
        if not _is_nameless(graph):
            return as_graph(graph).nodes
    sizes = [len(graph) for graph in (one, other) if isinstance(graph, np.ndarray) or _is_rows(graph)]
    arcs = [graph for graph in (one, other) if not (isinstance(graph, np.ndarray) or _is_rows(graph))]
    if sizes and not arcs:
        return tuple(range(sizes[0]))
    return tuple(dict.fromkeys(label for graph in arcs for label in as_graph(graph).nodes))


def _is_dot(text: str) -> bool:
    """Return True for text in Graphviz's language."""
    return re.match(r"\s*(strict\s+)?(di)?graph\b[^{]*\{", text, flags=re.IGNORECASE) is not None


def _is_nameless(graph: Any) -> bool:
    """Return True for arcs and matrices, whose names may not be all nodes, or none."""
    if isinstance(graph, str):
        return not graph.lstrip().startswith("[") and not _is_dot(graph)
    return isinstance(graph, np.ndarray | list | tuple | set | frozenset)


def _from_arcs(arcs: Iterable[Any], names: Iterable[Label] | None) -> Dag:
    """Pairs, or texts such as "a->b"; all names are nodes, if there are any."""
    if isinstance(arcs, set | frozenset) and names is None:
        as_pairs(arcs, ordered=True)  # refuses it
    pairs = [split_arrow(arc) if isinstance(arc, str) else arc for arc in arcs]
    return Dag.from_arcs(pairs, names)


def split_arrow(text: str) -> tuple[str, str]:
    """The names of "a->b"."""
    ends = [end.strip() for end in text.split("->")]
    if len(ends) != 2 or not all(ends):
        raise GraphError(f"an arc is a pair of names or a text 'a->b', not {text!r}")
    return ends[0], ends[1]


def _is_rows(graph: Any) -> bool:
    """Return True for a list of rows of 0 and 1; a list of two pairs of names is arcs."""
    if not isinstance(graph, list | tuple) or not graph:
        return False
    return all(
        isinstance(row, list | tuple) and len(row) == len(graph) and all(_is_cell(cell) for cell in row)
        for row in graph
    )


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, int | float | np.number) and cell in (0, 1)


def _from_matrix(matrix: Any, names: Iterable[Label] | None) -> Dag | Pdag:
    cells = np.asarray(matrix)
    if names is None:
        raise GraphError(
            "an adjacency matrix has no names; give a frame with the names, or use "
            "Dag.from_adjacency(matrix, names)"
        )
    names = tuple(names)
    if cells.ndim == 2 and cells.shape[0] == cells.shape[1] and np.any((cells == 1) & (cells == 1).T):
        return Pdag.from_adjacency(cells, names)
    return Dag.from_adjacency(cells, names)


def _from_frame(frame: Any, names: Iterable[Label] | None) -> Dag | Pdag:
    """A frame with the columns from and to has one arc per row; any other is a matrix with the names."""
    columns = list(frame.columns)
    ends = next((pair for pair in ENDS if set(pair) <= set(columns)), None)
    if ends is not None:
        return _from_arcs(list(zip(frame[ends[0]].to_list(), frame[ends[1]].to_list(), strict=True)), names)
    index = list(getattr(frame, "index", columns))
    if index not in (columns, list(range(len(columns)))):
        raise GraphError(
            "an adjacency matrix has the same names for its rows as for its columns, in one order"
        )
    return _from_matrix(frame.to_numpy(), columns)


def _from_igraph(graph: Any) -> Dag:
    """The graph of igraph; without names, nodes are numbers."""
    if not graph.is_directed():
        raise GraphError("a directed graph is needed (igraph.Graph(directed=True)); this one is undirected")
    count = graph.vcount()
    names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else list(range(count))
    return Dag.from_arcs([(names[one], names[other]) for one, other in graph.get_edgelist()], names)


def _from_pyagrum(model: Any) -> Dag:
    """The graph of a model of pyAgrum, its nodes in the order of their numbers."""
    numbers = sorted(model.nodes())
    names = {number: model.variable(number).name() for number in numbers}
    arcs = sorted(model.arcs())
    return Dag.from_arcs([(names[one], names[other]) for one, other in arcs], list(names.values()))
