"""The text of dagitty.net: `dag { x [exposure,pos="0,1"] y [outcome] x -> y <- { a b } }`; structures only.

Attributes such as positions, latent, exposure and outcome are skipped. Edges <-> and --, and the kinds
pdag, mag and pag, are refused. Labels that are not text are kept in the comment that a fact is.
"""

from __future__ import annotations

import re

from bayescout.formats import facts
from bayescout.formats.graph_draft import GraphDraft, check_graph, mixed_ends
from bayescout.formats.labels import decode_label, encode_label
from bayescout.formats.names import Names
from bayescout.formats.text import Source, quote
from bayescout.formats.tokens import Scanner, Syntax
from bayescout.graph.dag import Dag

SYNTAX = Syntax(("//", "/*"), "{}[],;=", ("<->", "->", "<-", "--", "@-@", "@->", "<-@", "@--", "--@"))
NAMES = Names(
    re.compile(r"[A-Za-z0-9_.]+|[A-Za-z0-9_.][A-Za-z0-9_. ]*[A-Za-z0-9_.]"), {"dag", "digraph", "graph"}
)
_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def read(text: str, path: str) -> Dag:
    """The graph of a dagitty text."""
    source = Source(text, path)
    tokens = Scanner(source, SYNTAX)
    if tokens.is_word("pdag", "mag", "pag", "graph"):
        raise source.error(
            f"a {tokens.value}, which has edges that are no arcs; only 'dag' is read", tokens.start
        )
    tokens.expect_word("dag", "digraph")
    if not tokens.is_mark("{"):
        tokens.name("'{'")
    tokens.expect("{")
    draft = GraphDraft(source)
    while not tokens.is_mark("}"):
        if not tokens.accept(";", ","):
            _statement(tokens, draft)
    _take_labels(tokens, draft)
    tokens.expect("}")
    tokens.accept(";")
    if tokens.kind != "end":
        tokens.fail("the end of the file after '}'")
    return draft.dag()


def _statement(tokens: Scanner, draft: GraphDraft) -> None:
    """`x`, `x [..]`, `key = value`, or a chain `x -> { y z } <- w [..]`."""
    one = tokens.names("a node", "}") if tokens.accept("{") else [tokens.name("a node")]
    if tokens.accept("="):
        tokens.name("a value")
        return
    for name in one:
        draft.place(name)
    while tokens.is_mark(*SYNTAX.arrows):
        arrow = tokens.value
        at = tokens.start
        tokens.advance()
        other = tokens.names("a node", "}") if tokens.accept("{") else [tokens.name("a node")]
        if arrow not in ("->", "<-"):
            raise tokens.source.error(mixed_ends(arrow, one[0] if one else "", other[0] if other else ""), at)
        before, after = (one, other) if arrow == "->" else (other, one)
        if len(before) * len(after) > len(tokens.text):
            raise tokens.source.error("an edge between groups has too many arcs", at)
        for name in other:
            draft.place(name)
        for parent in before:
            for child in after:
                draft.arc(parent, child)
        one = other
    if tokens.accept("["):
        tokens.skip_value("]")
        tokens.expect("]")


def _take_labels(tokens: Scanner, draft: GraphDraft) -> None:
    """The labels that the fact `bayescout_labels` keeps, by the names in the file."""
    fact = tokens.taken_facts().get("bayescout_labels")
    if fact is None:
        return
    found, at = fact
    if not isinstance(found, dict) or any(name not in draft.places for name in found):
        raise tokens.source.error("bayescout_labels must give labels of nodes of the graph", at)
    for name, value in found.items():
        try:
            draft.labels[name] = decode_label(value)
        except (ValueError, RecursionError) as error:
            raise tokens.source.error(f"bayescout_labels: {error}", at) from None


def write(dag: object) -> str:
    """The dagitty text of a graph: first every node, in order, then the arcs."""
    dag = check_graph(dag, "dagitty's text")
    names = NAMES.carried(dag.nodes)
    shown = [name if _BARE.fullmatch(name) else quote(name) for name in names]
    lines = [f"{name}\n" for name in shown]
    changed = {
        name: encode_label(label)
        for name, label in zip(names, dag.nodes, strict=True)
        if type(label) is not str or label != name
    }
    if changed:
        lines.insert(0, f"// {facts.line('bayescout_labels', changed)}\n")
    for child, parents in enumerate(dag.parents):
        lines += [f"{shown[parent]} -> {shown[child]}\n" for parent in parents]
    return f"dag {{\n{''.join(lines)}}}\n"
