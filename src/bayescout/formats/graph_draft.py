"""A graph as a file lists it: nodes in the order in which they appear, and arcs by their names."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from bayescout.errors import FormatError
from bayescout.formats.labels import encode_label
from bayescout.formats.text import Source, check_number_of_nodes, cycles_of
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label


@dataclass
class GraphDraft:
    """Nodes and arcs; `labels` are those that are not the node's name in the file."""

    source: Source
    places: dict[str, int] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    parents: array[int] = field(default_factory=lambda: array("q"))
    children: array[int] = field(default_factory=lambda: array("q"))

    def place(self, name: str) -> int:
        """The position of the node with this name; a new node if there is none."""
        place = self.places.setdefault(name, len(self.places))
        check_number_of_nodes(len(self.places), self.source.path)
        return place

    def arc(self, parent: str, child: str) -> None:
        self.parents.append(self.place(parent))
        self.children.append(self.place(child))

    def dag(self) -> Dag:
        """The graph; an arc given twice counts once."""
        nodes = tuple(self.labels.get(name, name) for name in self.places)
        if len(set(nodes)) < len(nodes):
            raise FormatError("two nodes have the same bayescout_label", self.source.path)
        found: list[dict[int, None]] = [{} for _ in nodes]
        for parent, child in zip(self.parents, self.children, strict=True):
            found[child][parent] = None
        with cycles_of(f"{self.source.path}: the graph"):
            return Dag(nodes, tuple(map(tuple, found)))


def check_graph(dag: object, form: str) -> Dag:
    """Refuse what is no graph, and labels that could not be taken back."""
    if not isinstance(dag, Dag):
        raise FormatError(f"{form} holds a graph, not a {type(dag).__name__}")
    for label in dag.nodes:
        encode_label(label)
    return dag


def mixed_ends(arrow: str, one: str, other: str) -> str:
    """The refusal of an edge that is no arc."""
    return (
        f"{one} {arrow} {other} is not an arc; a structure has only arcs '-->': give the edge a direction, "
        f"or leave it out"
    )
