"""GraphML: directed graphs, structures only, as networkx, igraph, yEd and Gephi write and read them.

A node's label is its id; where a key named `name` or `label` gives one for every node, as igraph does, it is
that. Labels that are not text, or that XML cannot carry, are kept under the key `bayescout_label`.
"""

from __future__ import annotations

import json

from bayescout.formats.graph_draft import GraphDraft, check_graph
from bayescout.formats.labels import decode_label, encode_label
from bayescout.formats.names import XML_TEXT, Names
from bayescout.formats.xml_tree import Element, XmlSource, attribute, escape, parse
from bayescout.graph.dag import Dag

NAMES = Names(XML_TEXT)
_NAMING = ("name", "label")
_KEPT = "bayescout_label"


def read(text: str, path: str) -> Dag:
    """The graph of a GraphML text."""
    source = XmlSource(text, path)
    root = parse(source)
    graph = root.first("graph")
    if root.tag.lower() != "graphml" or graph is None:
        raise source.error("is not GraphML, which has a graph inside a graphml element", root.at)
    nodes = list(graph.all("node"))
    keys = {one.attributes.get("id", ""): one.attributes.get("attr.name", "") for one in root.all("key")}
    draft = GraphDraft(source)
    ids = _ids(nodes, keys, source)
    for name, node in zip(ids.values(), nodes, strict=True):
        draft.place(name)
        kept = _data(node, keys, _KEPT)
        if kept is not None:
            try:
                draft.labels[name] = decode_label(json.loads(kept))
            except (ValueError, RecursionError) as error:
                raise source.error(f"{_KEPT} is not a label: {error}", node.at) from None
    directed = graph.attributes.get("edgedefault", "directed")
    for edge in graph.all("edge"):
        if edge.attributes.get("directed", "true" if directed == "directed" else "false") != "true":
            raise source.error(
                'an undirected edge; a structure has only arcs: edgedefault="directed"', edge.at
            )
        ends = [edge.attributes.get(end, "") for end in ("source", "target")]
        for end in ends:
            if end not in ids:
                raise source.error(f"an edge ends at {end!r}, which is no node", edge.at)
        draft.arc(ids[ends[0]], ids[ends[1]])
    return draft.dag()


def _ids(nodes: list[Element], keys: dict[str, str], source: XmlSource) -> dict[str, str]:
    """The names of the nodes by their ids, in order."""
    ids: dict[str, Element] = {}
    for node in nodes:
        name = node.attributes.get("id", "")
        if name in ids:
            raise source.error(f"node {name!r} is declared twice", node.at)
        ids[name] = node
    for naming in _NAMING:
        names = [_data(node, keys, naming) for node in nodes]
        given = [name for name in names if name]
        if nodes and len(set(given)) == len(nodes):
            return dict(zip(ids, given, strict=True))
    return {name: name for name in ids}


def _data(node: Element, keys: dict[str, str], name: str) -> str | None:
    """The text of a key with this name."""
    for one in node.all("data"):
        if keys.get(one.attributes.get("key", "")) == name:
            return one.text
    return None


def write(dag: object) -> str:
    """The GraphML text of a graph."""
    dag = check_graph(dag, "GraphML")
    names = NAMES.carried(dag.nodes)
    lines = []
    for name, label in zip(names, dag.nodes, strict=True):
        kept = ""
        if type(label) is not str or label != name:
            kept = f'<data key="d0">{escape(json.dumps(encode_label(label), allow_nan=False))}</data>'
        lines.append(f"    <node id={attribute(name)}>{kept}</node>\n")
    for child, parents in enumerate(dag.parents):
        ends = ((attribute(names[parent]), attribute(names[child])) for parent in parents)
        lines += [f"    <edge source={one} target={other} />\n" for one, other in ends]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        f'  <key id="d0" for="node" attr.name="{_KEPT}" attr.type="string" />\n'
        f'  <graph edgedefault="directed">\n{"".join(lines)}  </graph>\n</graphml>\n'
    )
