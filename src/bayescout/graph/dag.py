"""Directed acyclic graphs: integers inside, labels in the interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import index as as_index
from typing import TYPE_CHECKING, Any, cast

from bayescout.errors import CycleError, GraphError, UnknownNameError
from bayescout.graph import equivalence, paths, separation
from bayescout.graph.labels import (
    MAX_SHOWN,
    Arc,
    Label,
    as_pairs,
    check_nodes,
    check_same_nodes,
    graph_size,
    shown,
)
from bayescout.graph.orders import ParentSets, find_cycle, invert, peel_roots, reach
from bayescout.graph.pdag import Pdag

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Arc", "Dag", "Label"]


@dataclass(frozen=True, repr=False)
class Dag:
    """A directed acyclic graph over labelled nodes.

    `nodes` are the labels; `parents[i]` is the sorted tuple of the indices of node i's
    parents. Searches use only the integers. A cycle is refused and named. Two graphs are
    equal when they list the same nodes in the same order and have the same arcs.
    """

    nodes: tuple[Label, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", check_nodes(self.nodes))
        sets = tuple(_as_indices(parents) for parents in self.parents)
        object.__setattr__(self, "parents", sets)
        _check_parents(self.nodes, sets)
        if len(peel_roots(sets)) < len(self.nodes):
            raise CycleError([self.nodes[i] for i in find_cycle(sets)])

    @classmethod
    def empty(cls, nodes: Iterable[Label]) -> Dag:
        """The unconnected graph."""
        nodes = check_nodes(nodes)
        return cls(nodes, ((),) * len(nodes))

    @classmethod
    def from_arcs(cls, arcs: Iterable[Arc], nodes: Iterable[Label] | None = None) -> Dag:
        """Make a graph from (parent, child) label pairs; without `nodes`, in order of appearance."""
        pairs = as_pairs(arcs, ordered=nodes is None)
        labels = check_nodes(dict.fromkeys(end for pair in pairs for end in pair) if nodes is None else nodes)
        position = {label: i for i, label in enumerate(labels)}
        parents: list[list[int]] = [[] for _ in labels]
        for parent, child in pairs:
            for end in (parent, child):
                if end not in position:
                    raise UnknownNameError("node", end, labels, f"arc {parent} -> {child}")
            parents[position[child]].append(position[parent])
        return cls(labels, tuple(tuple(p) for p in parents))

    @classmethod
    def from_adjacency(cls, matrix: object, nodes: Iterable[Label]) -> Dag:
        """Make a graph from a square matrix of 0 and 1: a[i, j] = 1 is an arc from node i to node j."""
        from bayescout.graph.convert import dag_from_adjacency

        return cls(*dag_from_adjacency(matrix, nodes))

    @classmethod
    def from_networkx(cls, graph: Any) -> Dag:
        """Make a graph from a directed networkx graph; attributes are ignored."""
        from bayescout.graph.convert import from_networkx

        return cls.from_arcs(*from_networkx(graph))

    @classmethod
    def from_modelstring(cls, text: str) -> Dag:
        """Read a graph from `[A][B|A][C|A:B]`; nodes in order of appearance, parents may come later."""
        from bayescout.graph.convert import from_modelstring

        return cls(*from_modelstring(text))

    @classmethod
    def from_dot(cls, text: str) -> Dag:
        """Read a graph from text in Graphviz's language; attributes are ignored."""
        from bayescout.formats.dot import read

        return read(text, "the DOT text")

    # ---- size and names

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def n_arcs(self) -> int:
        return sum(len(parents) for parents in self.parents)

    @cached_property
    def _positions(self) -> dict[Label, int]:
        return {label: i for i, label in enumerate(self.nodes)}

    def index(self, label: Label) -> int:
        """The position of a node, by its label."""
        try:
            return self._positions[label]
        except (KeyError, TypeError):
            raise UnknownNameError("node", label, self.nodes, "the graph") from None

    def indices(self, which: Label | Iterable[Label]) -> tuple[int, ...]:
        """The positions of one node or of a collection; a tuple that is itself a label is one node."""
        if isinstance(which, Iterable) and not isinstance(which, str | bytes) and not self._is_label(which):
            return tuple(self.index(label) for label in which)
        return (self.index(cast("Label", which)),)

    def _is_label(self, value: object) -> bool:
        try:
            return value in self._positions
        except TypeError:
            return False

    def arcs(self) -> Iterator[Arc]:
        """(parent, child) label pairs, by child then parent."""
        return ((self.nodes[p], self.nodes[child]) for child, ps in enumerate(self.parents) for p in ps)

    def has_arc(self, parent: Label, child: Label) -> bool:
        """Return True if the graph has the arc parent -> child."""
        return self.index(parent) in self.parents[self.index(child)]

    def __repr__(self) -> str:
        n_arcs = self.n_arcs
        first = [f"{parent} -> {child}" for parent, child in islice(self.arcs(), MAX_SHOWN)]
        return f"<Dag: {graph_size(len(self), n_arcs)}{shown(first, n_arcs)}>"

    # ---- structure, as integers

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The sorted indices of the children of each node."""
        return tuple(tuple(c) for c in invert(self.parents))

    @cached_property
    def order_indices(self) -> tuple[int, ...]:
        """A topological order: roots are removed one after the other, lowest index first."""
        return tuple(peel_roots(self.parents))

    # ---- structure, by label, in node order

    def order(self) -> tuple[Label, ...]:
        """A topological order of the labels, parents before children."""
        return tuple(self.nodes[i] for i in self.order_indices)

    def _labels(self, indices: Iterable[int]) -> tuple[Label, ...]:
        return tuple(self.nodes[i] for i in sorted(indices))

    def parents_of(self, node: Label) -> tuple[Label, ...]:
        """The nodes with an arc to this one."""
        return self._labels(self.parents[self.index(node)])

    def children_of(self, node: Label) -> tuple[Label, ...]:
        """The nodes with an arc from this one."""
        return self._labels(self.children[self.index(node)])

    def spouses_of(self, node: Label) -> tuple[Label, ...]:
        """The other parents of the node's children, adjacent to it or not."""
        i = self.index(node)
        return self._labels({p for child in self.children[i] for p in self.parents[child]} - {i})

    def neighbours_of(self, node: Label) -> tuple[Label, ...]:
        """The adjacent nodes: parents and children."""
        i = self.index(node)
        return self._labels({*self.parents[i], *self.children[i]})

    def markov_blanket(self, node: Label) -> tuple[Label, ...]:
        """Parents, children and spouses: given these, the node is separated from all others."""
        near = {*self.neighbours_of(node), *self.spouses_of(node)}
        return self._labels(self.index(label) for label in near)

    def ancestors(self, node: Label) -> tuple[Label, ...]:
        """The other nodes with a directed path to this one."""
        return self._reached(self.parents, self.index(node))

    def descendants(self, node: Label) -> tuple[Label, ...]:
        """The other nodes with a directed path from this one."""
        return self._reached(self.children, self.index(node))

    def _reached(self, neighbours: ParentSets, start: int) -> tuple[Label, ...]:
        seen = reach(neighbours, [start])
        return self._labels(i for i, reached in enumerate(seen) if reached and i != start)

    def has_path(self, a: Label, b: Label) -> bool:
        """Return True if a directed path of one or more arcs leads from a to b."""
        start, end = self.index(a), self.index(b)
        return start != end and reach(self.children, [start])[end]

    def d_separated(
        self, a: Label | Iterable[Label], b: Label | Iterable[Label], given: Label | Iterable[Label] = ()
    ) -> bool:
        """Return True if `given` blocks every trail between a and b; each is one node or a collection."""
        return separation.d_separated(self, self.indices(a), self.indices(b), self.indices(given))

    def paths(
        self,
        a: Label,
        b: Label,
        *,
        directed: bool = False,
        given: Label | Iterable[Label] | None = None,
    ) -> Iterator[tuple[Label, ...]]:
        """Each path between two nodes that visits no node twice, as its labels; there may be very many.

        With `directed`, only those along the arcs from a to b. With `given`, only those that are active
        when these nodes are observed: none if, and only if, they separate a from b.
        """
        if directed and given is not None:
            raise GraphError("paths along the arcs and paths active given some nodes are asked for apart")
        ends = self.index(a), self.index(b)
        if ends[0] == ends[1]:
            raise GraphError(f"a path has two ends, and {a!r} is one node")
        observed = None if given is None else self.indices(given)
        if observed is not None and not set(ends).isdisjoint(observed):
            raise GraphError("the ends of a path must not be among the given nodes")
        found = paths.directed_paths(self, *ends) if directed else paths.trails(self, *ends, observed)
        return (tuple(self.nodes[i] for i in path) for path in found)

    # ---- equivalence

    def is_covered(self, parent: Label, child: Label) -> bool:
        """Return True if the child's parents are the parent and the parent's own parents."""
        return equivalence.is_covered(self.parents, *self._arc(parent, child))

    def covered_arcs(self) -> tuple[Arc, ...]:
        """The arcs that can be reversed without leaving the equivalence class, by child then parent."""
        return tuple(arc for arc in self.arcs() if self.is_covered(*arc))

    def v_structures(self) -> tuple[tuple[Label, Label, Label], ...]:
        """The unshielded colliders (a, child, b): a -> child <- b, a and b not adjacent."""
        found = equivalence.v_structures(self.parents)
        return tuple((self.nodes[a], self.nodes[c], self.nodes[b]) for a, c, b in found)

    def shielded_colliders(self) -> tuple[tuple[Label, Label, Label], ...]:
        """The colliders (a, child, b) whose parents a and b are adjacent: a -> child <- b, by child."""
        found = equivalence.shielded_colliders(self.parents)
        return tuple((self.nodes[a], self.nodes[c], self.nodes[b]) for a, c, b in found)

    def skeleton(self) -> tuple[Arc, ...]:
        """The adjacent pairs, each in node order."""
        return tuple((self.nodes[a], self.nodes[b]) for a, b in equivalence.skeleton(self.parents))

    def moral(self) -> tuple[Arc, ...]:
        """The edges of the moral graph: adjacent pairs and pairs that share a child."""
        return tuple((self.nodes[a], self.nodes[b]) for a, b in equivalence.moral(self.parents))

    def cpdag(self) -> Pdag:
        """The equivalence class: directed where all its members agree, undirected elsewhere."""
        return Pdag(self.nodes, *equivalence.cpdag(self))

    def equivalent(self, other: Dag) -> bool:
        """Return True if both graphs, over the same labels, imply the same independences."""
        check_same_nodes(other.nodes, self.nodes, "the other graph", "this one")
        return equivalence.equivalent(self.parents, other.reordered(self.nodes).parents)

    # ---- new graphs from this one

    def with_parents(self, child: Label, parents: Iterable[Label]) -> Dag:
        """The graph in which `child` has exactly these parents."""
        where = self.index(child)
        new = tuple(self.index(parent) for parent in parents)
        return Dag(self.nodes, (*self.parents[:where], new, *self.parents[where + 1 :]))

    def add_arc(self, parent: Label, child: Label) -> Dag:
        """The graph with one more arc; refuses a cycle, or an arc that is already there."""
        if self.has_arc(parent, child):
            raise GraphError(f"the graph has an arc {parent} -> {child} already")
        return self._with_arcs([*self.arcs(), (parent, child)], f"the graph with {parent} -> {child}")

    def remove_arc(self, parent: Label, child: Label) -> Dag:
        """The graph with one arc less."""
        start, end = self._arc(parent, child)
        left = tuple(p for p in self.parents[end] if p != start)
        return Dag(self.nodes, (*self.parents[:end], left, *self.parents[end + 1 :]))

    def reverse(self, parent: Label, child: Label) -> Dag:
        """The graph with one arc reversed; a cycle is refused and named."""
        arcs = self.remove_arc(parent, child).arcs()
        return self._with_arcs([*arcs, (child, parent)], f"the graph with {parent} -> {child} reversed")

    def reverse_covered(self, parent: Label, child: Label) -> Dag:
        """Reverse a covered arc, which keeps the equivalence class; any other arc is refused."""
        if not self.is_covered(parent, child):
            raise GraphError(
                f"{parent} -> {child} is not covered: apart from {parent}, the two must have "
                f"the same parents; `reverse` turns any arc"
            )
        return self.reverse(parent, child)

    def reordered(self, nodes: Sequence[Label]) -> Dag:
        """The same graph with its nodes listed in another order."""
        if len(nodes) != len(self.nodes) or set(nodes) != set(self.nodes):
            raise GraphError("the new order must list every node of the graph once")
        return Dag.from_arcs(self.arcs(), nodes)

    def _arc(self, parent: Label, child: Label) -> tuple[int, int]:
        start, end = self.index(parent), self.index(child)
        if start not in self.parents[end]:
            raise GraphError(f"the graph has no arc {parent} -> {child}")
        return start, end

    def _with_arcs(self, arcs: list[Arc], where: str) -> Dag:
        try:
            return Dag.from_arcs(arcs, self.nodes)
        except CycleError as error:
            raise CycleError(error.cycle, where) from None

    # ---- other forms

    def adjacency(self) -> NDArray[np.int8]:
        """The adjacency matrix, of 0 and 1: a[i, j] = 1 is an arc from node i to node j."""
        from bayescout.graph.convert import dag_adjacency

        return dag_adjacency(self)

    def to_networkx(self) -> Any:
        """Convert to a networkx DiGraph with the same nodes, in order, and the same arcs."""
        from bayescout.graph.convert import to_networkx

        return to_networkx(self)

    def to_igraph(self) -> Any:
        """Convert to a directed igraph.Graph whose vertices have the labels as names."""
        from bayescout.formats.neighbours import to_igraph

        return to_igraph(self)

    def to_dot(self) -> str:
        """The graph in Graphviz's language."""
        from bayescout.formats.dot import write

        return write(self)

    def to_rbnlearn(self) -> str:
        """The text that R's bnlearn reads with `model2network`: the modelstring."""
        return self.to_modelstring()

    def to_modelstring(self) -> str:
        """The modelstring `[A][B|A][C|A:B]`, parents before children."""
        from bayescout.graph.convert import to_modelstring

        return to_modelstring(self)

    def plot(self, truth: Any = None, strengths: Any = None) -> Any:
        """Draw the graph in layers, as a matplotlib figure; see `bayescout.plots.plot_network`."""
        from bayescout.plots.figures import plot_network

        return plot_network(self, truth, strengths)

    def to_svg(
        self, path: str | PathLike[str] | None = None, truth: Any = None, strengths: Any = None
    ) -> str:
        """The drawing as SVG text, also written to `path` if given; needs no matplotlib."""
        from bayescout.plots.saving import svg_of

        return svg_of(self, path, truth, strengths)

    def _repr_html_(self) -> str:
        from bayescout.report.notebook import graph_html

        return graph_html(self)


def _as_indices(parents: Iterable[int]) -> tuple[int, ...]:
    try:
        return tuple(sorted(set(map(as_index, parents)))) if parents != () else ()
    except TypeError:
        raise GraphError(f"parents are node indices, not {parents!r}; from_arcs takes labels") from None


def _check_parents(nodes: tuple[Label, ...], parents: tuple[tuple[int, ...], ...]) -> None:
    if len(parents) != len(nodes):
        raise GraphError(f"{len(nodes)} nodes but {len(parents)} parent sets")
    for child, ps in enumerate(parents):
        for parent in ps:
            if not 0 <= parent < len(nodes):
                raise GraphError(f"parent index {parent} of {nodes[child]!r} is outside 0..{len(nodes) - 1}")
            if parent == child:
                raise CycleError([nodes[child], nodes[child]])
