"""DOT, the language of Graphviz: structures only, as `digraph { "a"; "a" -> "b"; }`.

Node statements, edge statements and chains of edges are read; attributes and defaults are skipped, but
for an edge's `dir`: bnlearn writes undirected edges as `edge [dir=none] a -> b`, which are refused.
Labels that are not text are kept in an attribute, bayescout_label.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Hashable
from typing import NoReturn

from bayescout.errors import FormatError
from bayescout.formats.labels import decode_label, distinct_texts, encode_label
from bayescout.formats.text import Source, check_number_of_nodes, cycles_of, quote, unquote
from bayescout.graph.dag import Dag

Label = Hashable

# As in `bif_grammar.py`; a line that begins with # is a comment too.
_GAP = re.compile(r"(?:\s++|//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/|^\#[^\n]*+)*+", re.MULTILINE)
_TOKEN = re.compile(
    r"""(?P<quoted> "[^"\\]*+(?:\\.[^"\\]*+)*+" )
      | (?P<mark> -> | -- | [{}\[\];,=:+<] )
      | (?P<word> [^\W\d]\w* | -?(?:\.\d+|\d+(?:\.\d*)?)(?!\w) )
      | (?P<end> \Z )""",
    re.VERBOSE | re.DOTALL,
)
_WRITTEN_LABEL = "bayescout_label"


# ---- reading


def read(text: str, path: str) -> Dag:
    """The graph of a DOT text, its nodes in order of appearance."""
    source = Source(text, path)
    parser = _Parser(source)
    parser.graph()
    labels = tuple(parser.labels.get(name, name) for name in parser.nodes)
    if len(set(labels)) < len(labels):
        raise FormatError(f"two nodes have the same {_WRITTEN_LABEL}", path)
    parents: list[array[int]] = [array("q") for _ in labels]
    for parent, child in zip(parser.parents, parser.children, strict=True):
        parents[child].append(parent)
    with cycles_of(f"{path}: the graph"):
        return Dag(labels, tuple(map(tuple, parents)))


class _Parser:
    """A parser with one token in hand, as in `bif_grammar.py`; nodes and arcs are collected in order.

    An arc is stored as the positions of its ends among the nodes: there may be many.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.nodes: dict[str, int] = {}
        self.parents, self.children = array("q"), array("q")
        self.labels: dict[str, Label] = {}
        self.direction = "forward"
        self.kind, self.value, self.start, self.end = "", "", 0, 0
        self.advance()

    def advance(self) -> None:
        gap = _GAP.match(self.source.text, self.end)
        match = _TOKEN.match(self.source.text, gap.end() if gap else self.end)
        if match is None:
            raise self.source.error(
                "a character DOT does not know, or a quote or comment that is not closed, after this line",
                self.end,
            )
        self.kind = match.lastgroup or "end"
        self.value = match[self.kind]
        self.start, self.end = match.start(self.kind), match.end()

    def fail(self, expected: str) -> NoReturn:
        found = "the end of the file; it may be truncated" if self.kind == "end" else repr(self.value[:40])
        raise self.source.error(f"expected {expected}, found {found}", self.start)

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.value in marks

    def is_word(self, word: str) -> bool:
        """Return True if the token is this keyword, in upper or lower case, as in DOT."""
        return self.kind == "word" and self.value.lower() == word

    def name(self) -> str:
        if self.is_word("subgraph") or self.is_mark("{"):
            raise self.source.error(
                "subgraphs are not read; list their nodes and arcs in the graph itself", self.start
            )
        if self.is_mark("<"):
            raise self.source.error("HTML names are not read; put the name between quotes", self.start)
        if self.kind not in ("word", "quoted"):
            self.fail("a node")
        name = unquote(self.value) if self.kind == "quoted" else self.value
        self.advance()
        return name

    def graph(self) -> None:
        if self.is_word("strict"):
            self.advance()
        if self.is_word("graph"):
            raise self.source.error("an undirected graph; a structure is a 'digraph'", self.start)
        if not self.is_word("digraph"):
            self.fail("'digraph'")
        self.advance()
        if not self.is_mark("{"):
            self.name()
        if not self.is_mark("{"):
            self.fail("'{'")
        self.advance()
        while not self.is_mark("}"):
            self.statement()
        self.advance()
        if self.kind != "end":
            self.fail("the end of the file after '}'; one graph a file is read")

    def statement(self) -> None:
        if self.is_mark(";", ","):
            self.advance()
            return
        if any(self.is_word(word) for word in ("graph", "node", "edge")):
            of_edges = self.is_word("edge")
            self.advance()
            defaults = self.attributes()
            self.direction = defaults.get("dir", self.direction) if of_edges else self.direction
            return
        start = self.start
        name = self.name()
        if self.is_mark("="):
            self.advance()
            self.name()
            return
        before, alone = self.place(name), True
        while self.is_mark("->"):
            self.advance()
            self.parents.append(before)
            before, alone = self.place(self.name()), False
            self.children.append(before)
        if self.is_mark("--", ":"):
            raise self.source.error(
                f"{self.value!r} is not read: arcs are 'a -> b', without ports", self.start
            )
        at = self.start
        attributes = self.attributes()
        direction = attributes.get("dir", self.direction)
        if not alone and direction != "forward":
            raise self.source.error(
                f"an edge of {name} with dir={direction}, which is no arc from left to right; give it a "
                "direction, or leave it out",
                start,
            )
        label = attributes.get(_WRITTEN_LABEL)
        if label is not None and alone:
            self.labels[name] = self.decoded(label, at)

    def place(self, name: str) -> int:
        """The position of the node with this name; a new node if there is none."""
        place = self.nodes.setdefault(name, len(self.nodes))
        check_number_of_nodes(len(self.nodes), self.source.path)
        return place

    def attributes(self) -> dict[str, str]:
        """Read any number of [key=value, ...] lists."""
        found: dict[str, str] = {}
        while self.is_mark("["):
            self.advance()
            while not self.is_mark("]"):
                if self.is_mark(";", ","):
                    self.advance()
                    continue
                key = self.name()
                if not self.is_mark("="):
                    self.fail("'=' after an attribute's name")
                self.advance()
                found[key] = self.name()
            self.advance()
        return found

    def decoded(self, text: str, at: int) -> Label:
        try:
            return decode_label(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise self.source.error(f"{_WRITTEN_LABEL} is not a label: {error}", at) from None


# ---- writing


def write(dag: object) -> str:
    """The DOT text of a graph: first every node, in order, then the arcs."""
    if not isinstance(dag, Dag):
        raise FormatError(f"DOT holds a graph, not a {type(dag).__name__}")
    names = distinct_texts(dag.nodes)
    nodes = [f"  {quote(name)}{_label(label)};\n" for name, label in zip(names, dag.nodes, strict=True)]
    arcs = [
        f"  {quote(names[parent])} -> {quote(names[child])};\n"
        for child, parents in enumerate(dag.parents)
        for parent in parents
    ]
    return f"digraph {{\n{''.join(nodes)}{''.join(arcs)}}}\n"


def _label(label: Label) -> str:
    if type(label) is str:
        return ""
    return f" [{_WRITTEN_LABEL}={quote(json.dumps(encode_label(label), allow_nan=False))}]"
