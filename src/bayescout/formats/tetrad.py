"""Tetrad's graph text: structures only.

    Graph Nodes:
    x;y;z

    Graph Edges:
    1. x --> y
    2. y --> z

Nodes may be separated by commas, as older versions write. Attributes after the edges are skipped. Edges
that are no arcs (---, <->, o->, o-o) are refused.
"""

from __future__ import annotations

import json
import re

from bayescout.errors import FormatError
from bayescout.formats.graph_draft import GraphDraft, check_graph, mixed_ends
from bayescout.formats.labels import decode_label, encode_label
from bayescout.formats.names import Names
from bayescout.formats.text import Source
from bayescout.graph.dag import Dag

NAMES = Names(re.compile(r"[A-Za-z0-9_.:+*/<>=%-]*[A-Za-z0-9_][A-Za-z0-9_.:+*/%-]*"))
_EDGE = re.compile(r"\s*+(?:[0-9]++\.\s++)?(\S++)\s++([-<o>.]{3})\s++(\S++)(?:\s++[^\n]*+)?")
_HEAD = re.compile(
    r"Graph (Nodes|Edges|Attributes|Node Attributes|Edge Attributes):?\s*+(.*+)", re.IGNORECASE
)
_LABELS = "bayescout_labels:"


def read(text: str, path: str) -> Dag:
    """The graph of a Tetrad text."""
    source = Source(text, path)
    draft = GraphDraft(source)
    part, labels = "", ""
    for found in re.finditer(r"[^\n]+", text):
        line, at = found[0].strip(), found.start()
        head = _HEAD.fullmatch(line)
        if head is not None:
            part, line = head[1].lower(), head[2]
        if line.startswith(_LABELS):
            labels = line.removeprefix(_LABELS)
        elif line and part == "nodes":
            _nodes(line, draft, at)
        elif line and part == "edges":
            _edge(line, draft, at)
        elif line and not part:
            raise source.error(f"expected 'Graph Nodes:', found {line[:40]!r}", at)
    if not draft.places:
        raise FormatError("no node is listed after 'Graph Nodes:'", path)
    if labels:
        _take_labels(draft, labels)
    return draft.dag()


def _nodes(line: str, draft: GraphDraft, at: int) -> None:
    for name in map(str.strip, re.split(r"[;,]", line)):
        if not name or name in draft.places:
            what = f"node {name!r} is listed twice" if name else "a node has no name"
            raise draft.source.error(what, at)
        draft.place(name)


def _edge(line: str, draft: GraphDraft, at: int) -> None:
    edge = _EDGE.fullmatch(line)
    if edge is None:
        raise draft.source.error(f"expected an edge, as in '1. x --> y', found {line[:40]!r}", at)
    one, arrow, other = edge.groups()
    for name in (one, other):
        if name not in draft.places:
            raise draft.source.error(f"{name!r} is not among the nodes; list it after 'Graph Nodes:'", at)
    if arrow == "-->":
        draft.arc(one, other)
    elif arrow == "<--":
        draft.arc(other, one)
    else:
        raise draft.source.error(mixed_ends(arrow, one, other), at)


def _take_labels(draft: GraphDraft, text: str) -> None:
    """The labels of nodes whose names are others in the file."""
    try:
        found = json.loads(text)
        if not isinstance(found, dict) or any(name not in draft.places for name in found):
            raise ValueError("it must give labels of nodes of the graph")
        draft.labels = {name: decode_label(value) for name, value in found.items()}
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{_LABELS} {error}", draft.source.path) from None


def write(dag: object) -> str:
    """The Tetrad text of a graph."""
    dag = check_graph(dag, "Tetrad's text")
    if not len(dag):
        raise FormatError("a graph without nodes cannot be written as Tetrad's text; write it as .json")
    names = NAMES.carried(dag.nodes)
    pairs = [(names[parent], names[child]) for child, parents in enumerate(dag.parents) for parent in parents]
    edges = "".join(f"{number}. {one} --> {other}\n" for number, (one, other) in enumerate(pairs, 1))
    changed = {
        name: encode_label(label)
        for name, label in zip(names, dag.nodes, strict=True)
        if type(label) is not str or label != name
    }
    kept = f"\nGraph Attributes:\n{_LABELS} {json.dumps(changed)}\n" if changed else ""
    return f"Graph Nodes:\n{';'.join(names)}\n\nGraph Edges:\n{edges}{kept}"
