"""DNE and DNET, the text formats of Netica: discrete networks of nature nodes.

    bnet name { node rain { kind = NATURE; discrete = TRUE; states = (no, yes); parents = (a, b);
      probs = ((0.8, 0.2), ...); }; };

Probabilities are nested with the node's own states innermost, and the last parent next. `functable` gives
one state per row, `numstates` the number of states without names, `levels` the limits of a number that was
cut into intervals. All other fields are skipped; comments are // and /* */. An asterisk or a name in place
of a probability, and decision, utility and equation nodes are refused.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

import numpy as np

from bayescout.formats import facts
from bayescout.formats.draft import MAX_CELLS, Draft, DraftNode
from bayescout.formats.facts import Facts
from bayescout.formats.names import Names
from bayescout.formats.nested import nested
from bayescout.formats.numbers import check_discrete, rows_of
from bayescout.formats.text import Source, quote
from bayescout.formats.tokens import Scanner, Syntax
from bayescout.network import Network

SYNTAX = Syntax(("//", "/*"), "{}()=;,")
RESERVED = frozenset(
    [
        "bnet",
        "node",
        "kind",
        "discrete",
        "chance",
        "states",
        "parents",
        "probs",
        "functable",
        "numstates",
        "levels",
        "title",
        "nature",
        "constant",
        "decision",
        "utility",
        "true",
        "false",
        "visual",
        "define",
    ]
)
NAMES = Names(reserved=RESERVED | {word.upper() for word in RESERVED}, longest=30)

MAX_STATES = 2**12
"""The most states that `numstates` may announce."""

# ---- reading


def read(text: str, path: str) -> Network:
    """The network in a DNE text."""
    return _Reader(Source(text, path)).network()


class _Node(DraftNode):
    """A node whose states may be known by their number alone, or by `functable`."""

    count: int | None = None
    chosen: list[str] | None = None


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source, self.tokens = source, Scanner(source, SYNTAX)
        self.draft = Draft(source, Facts(source))

    def network(self) -> Network:
        tokens = self.tokens
        tokens.expect_word("bnet")
        self.draft.name = tokens.name("the network's name")
        tokens.expect("{")
        self.draft.facts = tokens.taken_facts()
        while not tokens.is_mark("}"):
            at = tokens.start
            key = tokens.name("'node', a field or '}'")
            if key.lower() == "node":
                self.node(at)
            elif tokens.is_mark("="):
                tokens.skip_value(";")
                tokens.expect(";")
            else:  # such as `visual V1 { ... };`
                tokens.skip_value(";")
                tokens.expect(";")
        tokens.expect("}")
        tokens.accept(";")
        if tokens.kind != "end":
            tokens.fail("the end of the file after '}'")
        return self.draft.network()

    def node(self, at: int) -> None:
        tokens = self.tokens
        tokens.taken_facts()
        node = _Node(tokens.name("a node's name"), at, Facts(self.source), [])
        known = self.readers(node)
        tokens.expect("{")
        while not tokens.is_mark("}"):
            where = tokens.start
            key = tokens.name("a field or '}'").lower()
            if tokens.is_mark("="):
                tokens.advance()
                if key in known:
                    known[key](where)
                else:
                    tokens.skip_value(";")
            else:
                tokens.skip_value(";")
            tokens.expect(";")
        node.facts = tokens.taken_facts()
        tokens.expect("}")
        tokens.accept(";")
        self.draft.add(self.settled(node))

    def readers(self, node: _Node) -> dict[str, Callable[[int], None]]:
        tokens = self.tokens

        def kind(at: int) -> None:
            if not tokens.is_word("nature"):
                raise self.source.error(
                    f"node {node.name!r} is of the kind {tokens.value[:40]!r}; only NATURE nodes are read", at
                )
            tokens.advance()

        def states(at: int) -> None:
            tokens.expect("(")
            node.states = tokens.names("a state", ")")

        def numstates(at: int) -> None:
            number = tokens.number("a number of states")
            if not 0 < number <= MAX_STATES or number != int(number):
                raise self.source.error(f"numstates must be a whole number from 1 to {MAX_STATES:,}", at)
            node.count = int(number)

        def levels(at: int) -> None:
            node.count = node.count or max(len(tokens.nested_numbers()) - 1, 0)

        def parents(at: int) -> None:
            tokens.expect("(")
            node.parents = tokens.names("a parent", ")")

        def probs(at: int) -> None:
            node.table_at, node.table = at, tokens.nested_numbers()

        def functable(at: int) -> None:
            node.table_at, node.chosen = at, tokens.nested(lambda: tokens.name("a state, '(' or ')'"))

        return {
            "kind": kind, "states": states, "numstates": numstates, "levels": levels, "parents": parents,
            "probs": probs, "functable": functable,
        }  # fmt: skip

    def settled(self, node: _Node) -> DraftNode:
        """Name states that are only counted, and make a table of the states that a function chooses."""
        if not node.states and node.count:
            node.states = [f"s{number}" for number in range(node.count)]
        states = node.states or []
        if node.chosen is None or node.table is not None:
            return node
        table, places = array("q"), {state: place for place, state in enumerate(states)}
        for one in node.chosen:
            code = one.removeprefix("#")
            if one in places:
                place = places[one]
            elif code.isascii() and code.isdigit() and len(code) < 6 and int(code) < len(states):
                place = int(code)
            else:
                raise self.source.error(
                    f"functable has {one[:40]!r}, which is no state of {node.name!r}", node.table_at
                )
            table.append(place)
        if len(table) * len(states) > MAX_CELLS:
            raise self.source.error(
                f"the table of {node.name!r} has more than {MAX_CELLS:,} numbers", node.table_at
            )
        values = np.zeros((len(table), len(states)))
        values[np.arange(len(table)), np.array(table, dtype=np.int64)] = 1.0
        node.table = values.ravel()
        return node


# ---- writing


def write(network: object) -> str:
    """The DNE text of a discrete network, parents before their children."""
    return "".join(_chunks(check_discrete(network, "DNE")))


def _chunks(network: Network) -> Iterator[str]:
    nodes = NAMES.carried(network.nodes)
    (name,) = NAMES.carried([network.name]) if network.name else ["network"]
    order = network.dag.order_indices
    yield f"// ~->[DNET-1]->~\n\nbnet {name} {{\n"
    yield from (f"// {one}\n" for one in facts.of_network(network, name, order))
    for child in order:
        states = NAMES.carried(network.discrete_states[child])
        yield f"\nnode {nodes[child]} {{\n"
        yield from (f"\t// {one}\n" for one in facts.of_node(network, child, nodes[child], states))
        yield "\tkind = NATURE;\n\tdiscrete = TRUE;\n\tchance = CHANCE;\n"
        yield f"\tstates = ({', '.join(states)});\n"
        yield f"\tparents = ({', '.join(nodes[parent] for parent in network.dag.parents[child])});\n"
        rows = [f"({', '.join(map(repr, row))})" for row in rows_of(network, child)]
        yield f"\tprobs = \n\t\t{nested(rows, network.tables[child].shape[:-1], ', ')};\n"
        title = str(network.nodes[child])
        if title != nodes[child] and title.isascii() and title.isprintable() and not set(title) & set('"\\'):
            yield f"\ttitle = {quote(title)};\n"
        yield "\t};\n"
    yield "};\n"
