"""A file with one modelstring, `[A][B|A][C|A:B]`, as R's bnlearn prints graphs.

The blocks are in the order of the nodes, not in a topological one, so that reading gives
back the same graph with its nodes in the same order.
"""

from __future__ import annotations

import re

from bayescout.errors import FormatError
from bayescout.formats.text import check_number_of_nodes, cycles_of
from bayescout.graph.dag import Dag

_BLOCK = re.compile(r"\[[^\]]*\]")


def read(text: str, path: str) -> Dag:
    """The graph of a modelstring, its nodes in the order of their blocks."""
    if not text.strip():
        raise FormatError("the file is empty; a modelstring is text such as [A][B|A]", path)
    check_number_of_nodes(text.count("["), path)
    try:
        with cycles_of(f"{path}: the structure"):
            return Dag.from_modelstring(text)
    except FormatError as error:
        raise FormatError(str(error), path) from None


def write(dag: object) -> str:
    """The modelstring of a graph; names it cannot hold are refused."""
    if not isinstance(dag, Dag):
        raise FormatError(f"a modelstring holds a graph, not a {type(dag).__name__}")
    if not len(dag):
        raise FormatError("a graph without nodes has no modelstring; write it as .json")
    for label in dag.nodes:
        if type(label) is not str:
            raise FormatError(
                f"node {label!r} is not text, which a modelstring cannot keep; write .json instead"
            )
    blocks = dict(zip(dag.order_indices, _BLOCK.findall(dag.to_modelstring()), strict=True))
    return "".join(blocks[node] for node in range(len(dag))) + "\n"
