"""DSL, the older text format of GeNIe and SMILE: networks of CPT nodes.

    net name { node rain { TYPE = CPT; HEADER = { ID = rain; NAME = "Rain"; }; PARENTS = (a, b);
      DEFINITION = { NAMESTATES = (no, yes); PROBABILITIES = (0.8, 0.2, ...); }; }; };

Probabilities are listed with the node's own states fastest, then its last parent. All other fields are
skipped; comments are // to the end of the line and /* to */. Nodes of other types are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bayescout.formats import facts
from bayescout.formats.draft import Draft, DraftNode
from bayescout.formats.facts import Facts
from bayescout.formats.names import Names
from bayescout.formats.numbers import check_discrete, rows_of
from bayescout.formats.text import Source, quote
from bayescout.formats.tokens import Scanner, Syntax
from bayescout.network import Network

SYNTAX = Syntax(("//", "/*"), "{}()=;,")
RESERVED = frozenset(
    [
        "net",
        "node",
        "type",
        "cpt",
        "header",
        "id",
        "name",
        "parents",
        "definition",
        "namestates",
        "probabilities",
        "true",
        "false",
    ]
)
NAMES = Names(reserved=RESERVED | {word.upper() for word in RESERVED})

# ---- reading


def read(text: str, path: str) -> Network:
    """The network in a DSL text."""
    return _Reader(Source(text, path)).network()


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source, self.tokens = source, Scanner(source, SYNTAX)
        self.draft = Draft(source, Facts(source))

    def network(self) -> Network:
        tokens = self.tokens
        tokens.expect_word("net")
        self.draft.name = tokens.name("the network's name") if not tokens.is_mark("{") else ""
        tokens.expect("{")
        self.draft.facts = tokens.taken_facts()
        while not tokens.is_mark("}"):
            at = tokens.start
            if tokens.is_word("node"):
                tokens.advance()
                self.node(at)
            else:
                tokens.name("'node', a field or '}'")
                tokens.expect("=")
                tokens.skip_value(";")
                tokens.expect(";")
        tokens.expect("}")
        tokens.accept(";")
        if tokens.kind != "end":
            tokens.fail("the end of the file after '}'")
        return self.draft.network()

    def fields(self, known: dict[str, Callable[[int], None]]) -> None:
        """Read `{ KEY = value; ... }`, with a reader for the values of some keys."""
        tokens = self.tokens
        tokens.expect("{")
        while not tokens.is_mark("}"):
            at = tokens.start
            key = tokens.name("a field or '}'").lower()
            tokens.expect("=")
            if key in known:
                known[key](at)
            else:
                tokens.skip_value(";")
            tokens.expect(";")

    def node(self, at: int) -> None:
        tokens = self.tokens
        tokens.taken_facts()
        node = DraftNode(tokens.name("a node's name"), at, Facts(self.source), [])

        def kind(at: int) -> None:
            if not tokens.is_word("cpt"):
                raise self.source.error(
                    f"node {node.name!r} is of the type {tokens.value[:40]!r}; only CPT nodes are read: "
                    f"change it to a general chance node",
                    at,
                )
            tokens.advance()

        def parents(at: int) -> None:
            tokens.expect("(")
            node.parents = tokens.names("a parent", ")")

        def definition(at: int) -> None:
            node.table_at = at
            self.fields({"namestates": states, "probabilities": table})
            tokens.expect("}")

        def states(at: int) -> None:
            tokens.expect("(")
            node.states = tokens.names("a state", ")")

        def table(at: int) -> None:
            node.table_at, node.table = at, tokens.nested_numbers()

        self.fields({"type": kind, "parents": parents, "definition": definition})
        node.facts = tokens.taken_facts()
        tokens.expect("}")
        tokens.accept(";")
        self.draft.add(node)


# ---- writing


def write(network: object) -> str:
    """The DSL text of a discrete network, parents before their children, as SMILE asks for."""
    return "".join(_chunks(check_discrete(network, "DSL")))


def _chunks(network: Network) -> Iterator[str]:
    nodes = NAMES.carried(network.nodes)
    (name,) = NAMES.carried([network.name]) if network.name else ["network"]
    order = network.dag.order_indices
    yield f"net {name}\n{{\n"
    yield from (f"  // {one}\n" for one in facts.of_network(network, name, order))
    for child in order:
        states = NAMES.carried(network.discrete_states[child])
        yield f"  node {nodes[child]}\n  {{\n    TYPE = CPT;\n"
        yield from (f"    // {one}\n" for one in facts.of_node(network, child, nodes[child], states))
        title = _title(network.nodes[child], nodes[child])
        yield f"    HEADER =\n    {{\n      ID = {nodes[child]};\n      NAME = {title};\n    }};\n"
        yield f"    PARENTS = ({', '.join(nodes[parent] for parent in network.dag.parents[child])});\n"
        yield f"    DEFINITION =\n    {{\n      NAMESTATES = ({', '.join(states)});\n"
        rows = ",\n        ".join(", ".join(map(repr, row)) for row in rows_of(network, child))
        yield f"      PROBABILITIES = ({rows});\n    }};\n  }};\n"
    yield "};\n"


def _title(label: object, name: str) -> str:
    """The label as a title in quotes, where plain ASCII can express it."""
    text = str(label)
    plain = text.isascii() and text.isprintable() and not set(text) & set('"\\')
    return quote(text if plain else name)
