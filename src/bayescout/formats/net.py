r"""Hugin NET, as HUGIN 5 and later write it: discrete, linear Gaussian and conditional Gaussian nodes.

    net { node_size = (50 50); }
    node rain { label = ""; states = ("no" "yes"); }
    continuous node flow { label = ""; }
    potential (rain) { data = (0.8 0.2); }
    potential (flow | rain) { data = (normal (1.5, 0.25) normal (3 + 0.5 * level, 1)); }

Data is nested with the node's own states innermost and the last parent next; the second number of `normal`
is a variance. Attributes other than `states` and `data` are skipped, comments are % to the end of the line.
Decision, utility and function nodes, and `model_data`, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bayescout.errors import FormatError
from bayescout.formats import facts
from bayescout.formats.draft import Draft, DraftNode, Line
from bayescout.formats.names import Names
from bayescout.formats.nested import nested
from bayescout.formats.numbers import check_not_empty, rows_of
from bayescout.formats.text import Source
from bayescout.formats.tokens import Scanner, Syntax
from bayescout.network import ConditionalGaussian, LinearGaussian, Network, Tabular

SYNTAX = Syntax(("%",), "{}()|;,=*+")
RESERVED = frozenset(
    [
        "net",
        "class",
        "node",
        "discrete",
        "continuous",
        "decision",
        "utility",
        "function",
        "potential",
        "states",
        "data",
        "model_data",
        "label",
        "normal",
        "position",
        "inputs",
        "outputs",
        "name",
    ]
)
NODES = Names(reserved=RESERVED)
STATES = Names(re.compile(r"[A-Za-z0-9_.<>=+:/-]+"))

# ---- reading


def read(text: str, path: str) -> Network:
    """The network in a NET text."""
    return _Reader(Source(text, path)).network()


class _Reader:
    def __init__(self, source: Source) -> None:
        self.tokens = Scanner(source, SYNTAX)
        self.draft = Draft(source, self.tokens.taken_facts())
        self.source = source

    def network(self) -> Network:
        tokens = self.tokens
        if tokens.is_word("class", "object_class"):
            raise self.source.error(
                "a class of an object-oriented network; only a 'net' is read", tokens.start
            )
        tokens.expect_word("net")
        self.attributes({"name": self.read_name})
        self.draft.facts = tokens.taken_facts()
        tokens.expect("}")
        while tokens.kind != "end":
            at = tokens.start
            word = tokens.expect_word(
                "node", "discrete", "continuous", "potential", "decision", "utility", "function"
            )
            if word == "potential":
                self.potential(at)
                continue
            if word in ("decision", "utility", "function"):
                raise self.source.error(f"a {word} node; only random variables are read", at)
            if word in ("discrete", "continuous"):
                tokens.expect_word("node")
            self.node(at, word == "continuous")
        return self.draft.network()

    def read_name(self, at: int) -> None:
        self.draft.name = self.tokens.name("the network's name")

    def attributes(self, known: dict[str, object]) -> None:
        """Read `{ key = value; ...`, up to '}'; `known` reads the values of some keys."""
        tokens = self.tokens
        tokens.expect("{")
        while not tokens.is_mark("}"):
            at = tokens.start
            key = tokens.name("an attribute or '}'")
            tokens.expect("=")
            reader = known.get(key)
            if callable(reader):
                reader(at)
            else:
                tokens.skip_value(";")
            tokens.expect(";")

    def node(self, at: int, continuous: bool) -> None:
        name = self.tokens.name("a node's name")
        states: list[str] = []

        def read_states(at: int) -> None:
            self.tokens.expect("(")
            states.extend(self.tokens.names("a state", ")"))

        self.attributes({"states": read_states})
        found = self.tokens.taken_facts()
        self.tokens.expect("}")
        self.draft.add(DraftNode(name, at, found, None if continuous else states))

    def potential(self, at: int) -> None:
        tokens = self.tokens
        tokens.expect("(")
        node = self.draft.find(tokens.name("a node"), at)
        parents = []
        if tokens.accept("|"):
            parents = tokens.names("a parent", ")")
        elif not tokens.accept(")"):
            raise self.source.error("a potential of several nodes; one node is read before '|'", at)
        if node.table is not None or node.lines is not None:
            raise self.source.error(f"a second potential for {node.name!r}", at)
        node.parents, node.table_at = parents, at

        def read_data(at: int) -> None:
            node.table_at = at
            if node.states is not None:
                node.table = tokens.nested_numbers()
            else:
                node.lines = self.normals()

        def refuse_model(at: int) -> None:
            raise self.source.error(
                f"the table of {node.name!r} is a model, which is not read; save the network with its tables",
                at,
            )

        self.attributes({"data": read_data, "model_data": refuse_model})
        for key, value in tokens.taken_facts().found.items():
            node.facts.found.setdefault(key, value)
        tokens.expect("}")

    def normals(self) -> list[Line]:
        """The normal distributions of a list in parentheses, or of one alone."""
        tokens = self.tokens
        if tokens.is_word("normal"):
            return [self.normal()]
        return tokens.nested(self.normal)

    def normal(self) -> Line:
        """`normal ( 1.5 + 0.5 * level - 2 * depth, 0.25 )`."""
        tokens = self.tokens
        tokens.expect_word("normal")
        tokens.expect("(")
        intercept: float | None = None
        coefficients: dict[str, float] = {}
        while not tokens.accept(","):
            begun = intercept is not None or bool(coefficients)
            if not tokens.accept("+") and begun and tokens.value[:1] not in ("+", "-"):
                tokens.fail("'+', '-' or ','")
            sign, factor, name = self.term()
            if name is None:
                intercept = sign * factor if intercept is None else intercept + sign * factor
            elif name in coefficients:
                raise self.source.error(f"the mean has {name!r} twice", tokens.start)
            else:
                coefficients[name] = sign * factor
        variance = tokens.number("a variance")
        tokens.expect(")")
        return Line(0.0 if intercept is None else intercept, coefficients, variance)

    def term(self) -> tuple[float, float, str | None]:
        """A sign, a factor and a node's name or None: `2`, `2 * a`, `a`, `a * 2`."""
        tokens, sign = self.tokens, 1.0
        if tokens.kind == "word" and tokens.value == "-":
            sign = -1.0
            tokens.advance()
        if tokens.is_number():
            factor = tokens.number()
            return sign, factor, tokens.name("a parent's name") if tokens.accept("*") else None
        name = tokens.name("a number or a parent's name")
        return sign, tokens.number() if tokens.accept("*") else 1.0, name


# ---- writing


def write(network: object) -> str:
    """The NET text of a network of discrete, linear and conditional Gaussian nodes."""
    if not isinstance(network, Network):
        raise FormatError("NET holds networks, not graphs without parameters; write a structure as .json")
    for label, node in zip(network.nodes, network.distributions, strict=True):
        if not isinstance(node, Tabular | LinearGaussian | ConditionalGaussian):
            raise FormatError(f"node {label!r} is of the kind {node.kind!r}, which NET does not have")
    return "".join(_chunks(check_not_empty(network, "NET")))


def _chunks(network: Network) -> Iterator[str]:
    nodes = NODES.carried(network.nodes)
    (name,) = NODES.carried([network.name]) if network.name else [""]
    yield "net\n{\n" + (f'  name = "{name}";\n' if name else "")
    yield from _comments(facts.of_network(network, name))
    yield "}\n"
    for child, node in enumerate(network.distributions):
        states = STATES.carried(node.states or ())
        yield f"{'' if isinstance(node, Tabular) else 'continuous '}node {nodes[child]}\n{{\n"
        if isinstance(node, Tabular):
            yield "  states = ( " + " ".join(f'"{state}"' for state in states) + " );\n"
        yield from _comments(facts.of_node(network, child, nodes[child], states))
        yield "}\n"
    for child, parents in enumerate(network.dag.parents):
        given = f" | {' '.join(nodes[parent] for parent in parents)}" if parents else ""
        yield f"potential ( {nodes[child]}{given} )\n{{\n  data = {_data(network, child, nodes)};\n}}\n"


def _comments(found: list[str]) -> Iterator[str]:
    return (f"  % {one}\n" for one in found)


def _data(network: Network, child: int, nodes: list[str]) -> str:
    node, parents = network.distributions[child], network.dag.parents[child]
    if isinstance(node, Tabular):
        rows = ["( " + " ".join(map(repr, row)) + " )" for row in rows_of(network, child)]
        return nested(rows, node.table.shape[:-1])
    if isinstance(node, LinearGaussian):
        return (
            "( "
            + _normal(node.intercept, node.coefficients.tolist(), node.variance, [nodes[p] for p in parents])
            + " )"
        )
    assert isinstance(node, ConditionalGaussian)
    numeric = [nodes[p] for place, p in enumerate(parents) if place not in node.discrete]
    lines = [
        _normal(intercept, weights, variance, numeric)
        for intercept, weights, variance in zip(
            node.intercepts.ravel().tolist(),
            node.by_configuration.tolist(),
            node.variances.ravel().tolist(),
            strict=True,
        )
    ]
    return nested(lines, node.intercepts.shape)


def _normal(intercept: float, weights: list[float], variance: float, names: list[str]) -> str:
    terms = "".join(f" + {weight!r} * {name}" for weight, name in zip(weights, names, strict=True))
    return f"normal ( {intercept!r}{terms}, {variance!r} )"
