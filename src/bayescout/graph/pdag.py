"""Partially directed graphs: an equivalence class of DAGs, or a pattern on the way to one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

from bayescout.errors import CycleError, GraphError, UnknownNameError
from bayescout.graph.equivalence import Pair, consistent_extension, meek
from bayescout.graph.labels import Arc, Label, as_pairs, check_nodes, counted, shown
from bayescout.graph.orders import find_cycle

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from bayescout.graph.dag import Dag


@dataclass(frozen=True, repr=False)
class Pdag:
    """Labelled nodes joined by directed arcs and undirected edges, at most one between two nodes.

    `directed` holds sorted (parent, child) index pairs, `undirected` sorted pairs with the lower
    index first. The directed part is acyclic; a cycle that needs an undirected edge is allowed
    here, and `to_dag` refuses it. A CPDAG is the Pdag that stands for a whole equivalence class.
    """

    nodes: tuple[Label, ...]
    directed: tuple[Pair, ...] = ()
    undirected: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        nodes = check_nodes(self.nodes)
        directed = sorted(_as_indices(arc) for arc in self.directed)
        undirected = sorted((min(a, b), max(a, b)) for a, b in map(_as_indices, self.undirected))
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "directed", tuple(directed))
        object.__setattr__(self, "undirected", tuple(undirected))
        _check_edges(nodes, [*self.directed, *self.undirected])
        parents: list[list[int]] = [[] for _ in nodes]
        for parent, child in self.directed:
            parents[child].append(parent)
        cycle = find_cycle(parents)
        if cycle:
            raise CycleError([nodes[i] for i in cycle])

    @classmethod
    def from_arcs(
        cls,
        directed: Iterable[Arc] = (),
        undirected: Iterable[Arc] = (),
        nodes: Iterable[Label] | None = None,
    ) -> Pdag:
        """Make a graph from label pairs; without `nodes`, in order of appearance, directed arcs first."""
        ordered = nodes is None
        arcs, edges = as_pairs(directed, ordered), as_pairs(undirected, ordered)
        found = dict.fromkeys(label for pair in (*arcs, *edges) for label in pair)
        labels = check_nodes(found if nodes is None else nodes)
        position = {label: i for i, label in enumerate(labels)}
        for label in found:
            if label not in position:
                raise UnknownNameError("node", label, labels, "the edges")
        return cls(
            labels,
            tuple((position[a], position[b]) for a, b in arcs),
            tuple((position[a], position[b]) for a, b in edges),
        )

    @classmethod
    def from_adjacency(cls, matrix: object, nodes: Iterable[Label]) -> Pdag:
        """Make a graph from a matrix of 0 and 1: a[i, j] alone is i -> j; with a[j, i] it is undirected."""
        from bayescout.graph.convert import pdag_from_adjacency

        return cls(*pdag_from_adjacency(matrix, nodes))

    @classmethod
    def from_networkx(cls, graph: Any) -> Pdag:
        """Make a graph from a directed networkx graph; two nodes joined both ways have an undirected edge."""
        from bayescout.graph.convert import pdag_from_networkx

        return cls.from_arcs(*pdag_from_networkx(graph))

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def n_edges(self) -> int:
        """The number of adjacent pairs: directed and undirected edges together."""
        return len(self.directed) + len(self.undirected)

    @cached_property
    def _positions(self) -> dict[Label, int]:
        return {label: i for i, label in enumerate(self.nodes)}

    @cached_property
    def _marks(self) -> tuple[frozenset[Pair], frozenset[Pair]]:
        return frozenset(self.directed), frozenset(self.undirected)

    def index(self, label: Label) -> int:
        """The position of a node, by its label."""
        try:
            return self._positions[label]
        except (KeyError, TypeError):
            raise UnknownNameError("node", label, self.nodes, "the graph") from None

    def arcs(self) -> Iterator[Arc]:
        """The directed arcs as (parent, child) labels, by parent then child."""
        return ((self.nodes[a], self.nodes[b]) for a, b in self.directed)

    def edges(self) -> Iterator[Arc]:
        """The undirected edges as label pairs, lower index first."""
        return ((self.nodes[a], self.nodes[b]) for a, b in self.undirected)

    def compelled(self, parent: Label, child: Label) -> bool:
        """Return True if parent -> child is directed, so in every DAG of the class."""
        return (self.index(parent), self.index(child)) in self._marks[0]

    def reversible(self, a: Label, b: Label) -> bool:
        """Return True if a - b is undirected, so that DAGs of the class differ on it."""
        i, j = self.index(a), self.index(b)
        return (min(i, j), max(i, j)) in self._marks[1]

    def adjacency(self) -> NDArray[np.int8]:
        """The adjacency matrix: a[i, j] = 1 is i -> j; a[i, j] = a[j, i] = 1 is i - j."""
        from bayescout.graph.convert import pdag_adjacency

        return pdag_adjacency(self)

    def to_networkx(self) -> Any:
        """Convert to a networkx DiGraph: a -> b is one arc, a - b is two, one each way, as in `adjacency`."""
        from bayescout.graph.convert import pdag_to_networkx

        return pdag_to_networkx(self)

    def to_dag(self) -> Dag:
        """A DAG of the class: Dor & Tarsi's consistent extension; raises if there is none."""
        from bayescout.graph.dag import Dag

        return Dag(self.nodes, consistent_extension(self))

    def is_cpdag(self) -> bool:
        """Return True if this is the completed graph of some DAG's equivalence class."""
        try:
            return self.to_dag().cpdag() == self
        except GraphError:
            return False

    def is_narrowed_class(self) -> bool:
        """Return True for a class some of whose DAGs were ruled out, by knowledge or interventions.

        Its adjacencies and colliders are those of a whole class, some further edges are directed, and with
        them all that follow by Meek's rules. A whole class is one as well.
        """
        try:
            whole = self.to_dag().cpdag()
            return set(whole.directed) <= set(self.directed) and meek(self) == self
        except GraphError:
            return False

    def reordered(self, nodes: Sequence[Label]) -> Pdag:
        """The same graph with its nodes listed in another order."""
        if len(nodes) != len(self.nodes) or set(nodes) != set(self.nodes):
            raise GraphError("the new order must list every node of the graph once")
        return Pdag.from_arcs(self.arcs(), self.edges(), nodes)

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

    def __repr__(self) -> str:
        lines = [f"{a} -> {b}" for a, b in self.arcs()] + [f"{a} - {b}" for a, b in self.edges()]
        counts = (
            f"{counted(len(self), 'node')}, {len(self.directed)} directed, {len(self.undirected)} undirected"
        )
        return f"<Pdag: {counts}{shown(lines)}>"


def _as_indices(pair: Pair) -> Pair:
    try:
        return index(pair[0]), index(pair[1])
    except TypeError:
        raise GraphError(f"an edge is a pair of node indices, not {pair!r}; from_arcs takes labels") from None


def _check_edges(nodes: tuple[Label, ...], pairs: list[Pair]) -> None:
    """Raise unless every edge joins two distinct, existing nodes, at most one edge per pair."""
    seen: set[Pair] = set()
    for a, b in pairs:
        if not (0 <= a < len(nodes) and 0 <= b < len(nodes)):
            raise GraphError(f"edge ({a}, {b}) has an index outside 0..{len(nodes) - 1}")
        if a == b:
            raise GraphError(f"{nodes[a]!r} is joined to itself; an edge needs two different nodes")
        pair = (min(a, b), max(a, b))
        if pair in seen:
            raise GraphError(
                f"{nodes[a]!r} and {nodes[b]!r} are joined more than once; give one edge for a pair"
            )
        seen.add(pair)
