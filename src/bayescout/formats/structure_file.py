"""The structure file of Lau & Bush (2004): one line per node, `M [B, L]`, a root `L []`.

Blank lines, and lines that begin with #, are skipped. Every node has a line of its
own; a parent without one is an error, since it is most often a misspelt name.
"""

from __future__ import annotations

import re

from bayescout.errors import FormatError, UnknownNameError
from bayescout.formats.text import Source, check_number_of_nodes, cycles_of
from bayescout.graph.dag import Dag


def read(text: str, path: str) -> Dag:
    """The graph of a structure file, its nodes in the order of their lines."""
    source = Source(text, path)
    # One line per node, with a bracket on it: known before any is parsed.
    check_number_of_nodes(text.count("["), path)
    parents: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for found in re.finditer(r"[^\n]+", text):
        line, at = found[0], found.start()
        if line.strip() and not line.lstrip().startswith("#"):
            node, listed = _parse(line, source, at)
            if node in parents:
                raise source.error(f"node {node!r} has a second line; list all its parents in one", at)
            parents[node], lines[node] = listed, at
    if not parents:
        raise FormatError("no node is listed; write one line a node, as in 'M [B, L]'", path)
    places = {node: place for place, node in enumerate(parents)}
    for node, listed in parents.items():
        for parent in listed:
            if parent not in places:
                error = UnknownNameError("parent", parent, parents, f"the line of {node!r}")
                raise source.error(f"{error}; every node needs a line of its own, '{parent} []'", lines[node])
    with cycles_of(f"{path}: the structure"):
        return Dag(tuple(parents), tuple(tuple(places[p] for p in listed) for listed in parents.values()))


def _parse(line: str, source: Source, at: int) -> tuple[str, list[str]]:
    head, opened, rest = line.partition("[")
    inside, closed, tail = rest.partition("]")
    node, inside = head.strip(), inside.strip()
    if not (node and opened and closed) or tail.strip() or "]" in node or "[" in inside:
        raise source.error(
            f"expected a node and its parents, as in 'M [B, L]', found {line.strip()[:40]!r}", at
        )
    parents = [name.strip() for name in inside.split(",")] if inside else []
    if "" in parents:
        raise source.error(f"a parent of {node!r} has no name: {inside[:40]!r}", at)
    if len(set(parents)) < len(parents):
        raise source.error(f"node {node!r} lists a parent twice: {inside[:40]!r}", at)
    return node, parents


def write(dag: object) -> str:
    """The structure file of a graph; names it cannot hold are refused."""
    if not isinstance(dag, Dag):
        raise FormatError(f"a structure file holds a graph, not a {type(dag).__name__}")
    if not len(dag):
        raise FormatError("a graph without nodes cannot be written as a structure file; write it as .json")
    names = [_checked(label) for label in dag.nodes]
    return "".join(
        f"{name} [{', '.join(names[parent] for parent in parents)}]\n"
        for name, parents in zip(names, dag.parents, strict=True)
    )


def _checked(label: object) -> str:
    if type(label) is not str:
        raise FormatError(
            f"node {label!r} is not text, which a structure file cannot keep; write .json instead"
        )
    if not label or label != label.strip() or label[0] in "#\ufeff" or re.search(r"[\[\],\n\r]", label):
        raise FormatError(
            f"node {label!r} does not fit a structure file, whose names are not empty and have no brackets, "
            f"commas, line ends, blanks at their ends, or # in front; rename it or write .json"
        )
    return label
