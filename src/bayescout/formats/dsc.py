"""DSC, Microsoft's older format of belief networks, in the form that R's bnlearn and GeNIe write.

    belief network "name"
    node rain { type : discrete [ 2 ] = { "no", "yes" }; }
    probability ( rain | a, b ) { (0, 0) : 0.8, 0.2; ... }

A row is headed by the numbers of its parents' states, from 0. GeNIe writes only zeros there; then the rows
are in order, the last parent fastest. Comments are // to the end of the line.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator

import numpy as np

from bayescout.errors import TooLargeError
from bayescout.formats import facts
from bayescout.formats.draft import MAX_CELLS, Draft, DraftNode
from bayescout.formats.facts import Facts
from bayescout.formats.names import Names
from bayescout.formats.numbers import NUMBER, check_discrete, rows_of
from bayescout.formats.text import Source
from bayescout.formats.tokens import Scanner, Syntax
from bayescout.network import Network

SYNTAX = Syntax(("//", "/*"), "{}()[]=:;,|")
RESERVED = frozenset(
    ["belief", "network", "node", "name", "type", "discrete", "probability", "default", "table", "position"]
)
NAMES = Names(reserved=RESERVED)
STATES = Names(re.compile(r"[A-Za-z0-9_.<>=+-]+"))

_ROW = re.compile(rf"\(((?:\s*+[0-9]{{1,9}}\s*+,?)++)\s*+\)\s*+:?\s*+({NUMBER}(?:[\s,]++{NUMBER})*+)\s*+;")

# ---- reading


def read(text: str, path: str) -> Network:
    """The network in a DSC text."""
    return _Reader(Source(text, path)).network()


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source, self.tokens = source, Scanner(source, SYNTAX)
        self.draft = Draft(source, Facts(source))

    def network(self) -> Network:
        tokens = self.tokens
        tokens.expect_word("belief")
        tokens.expect_word("network")
        if not tokens.is_word("node"):
            name = tokens.name("the network's name")
            self.draft.name = "" if name == "unknown" else name
        self.draft.facts = tokens.taken_facts()
        while tokens.kind != "end":
            at = tokens.start
            if tokens.expect_word("node", "probability") == "node":
                self.node(at)
            else:
                self.probability(at)
        return self.draft.network()

    def node(self, at: int) -> None:
        tokens = self.tokens
        node = DraftNode(tokens.name("a node's name"), at, Facts(self.source), [])
        tokens.expect("{")
        while not tokens.is_mark("}"):
            key = tokens.name("'type', another field or '}'").lower()
            if key == "type":
                self.states(node)
            else:
                tokens.skip_value(";")
            tokens.expect(";")
        node.facts = tokens.taken_facts()
        tokens.expect("}")
        self.draft.add(node)

    def states(self, node: DraftNode) -> None:
        """Read `: discrete [ 2 ] = { "a", "b" }`."""
        tokens = self.tokens
        tokens.accept(":")
        tokens.expect_word("discrete")
        tokens.expect("[")
        at, count = tokens.start, tokens.name("the number of states")
        tokens.expect("]")
        tokens.accept("=")
        tokens.expect("{")
        node.states = tokens.names("a state", "}")
        if count != str(len(node.states)):
            raise self.source.error(
                f"node {node.name!r} announces {count[:20]} states but lists {len(node.states)}", at
            )

    def probability(self, at: int) -> None:
        tokens = self.tokens
        tokens.expect("(")
        node = self.draft.find(tokens.name("a node"), at)
        if node.table is not None:
            raise self.source.error(f"a second probability block for {node.name!r}", at)
        node.table_at = at
        node.parents = tokens.names("a parent", ")") if tokens.accept("|") else []
        if not node.parents:
            tokens.accept(")")
        tokens.expect("{")
        rows, codes, firsts = self.rows(node)
        tokens.expect("}")
        sizes = [len(self.draft.find(parent, at).states or ()) for parent in node.parents]
        node.table = self.ordered(node, rows, codes, firsts, sizes)

    def rows(self, node: DraftNode) -> tuple[array[float], array[int], int]:
        """The numbers of all rows, the codes in front of them, and how many rows there are."""
        tokens, count = self.tokens, 0
        numbers, codes = array("d"), array("q")
        while not tokens.is_mark("}"):
            at = tokens.start
            if self.plain_row(node, numbers, codes):
                count += 1
                continue
            if node.parents:
                tokens.expect("(")
                head = tokens.names("the number of a parent's state", ")")
                tokens.accept(":")
                if len(head) != len(node.parents) or not all(
                    re.fullmatch(r"[0-9]{1,9}", one) for one in head
                ):
                    raise self.source.error(
                        f"a row of {node.name!r} begins with the numbers of its {len(node.parents)} parents' "
                        f"states, as in (0, 1)",
                        at,
                    )
                codes.extend(map(int, head))
            before = len(numbers)
            while not tokens.accept(";"):
                numbers.append(tokens.number("a probability or ';'"))
                tokens.accept(",")
            if len(numbers) - before != len(node.states or ()):
                raise self.source.error(
                    f"a row of {node.name!r} has {len(numbers) - before} numbers for "
                    f"{len(node.states or ())} states",
                    at,
                )
            count += 1
        return numbers, codes, count

    def plain_row(self, node: DraftNode, numbers: array[float], codes: array[int]) -> bool:
        """Read a row without comments by one match; False for any other, and for one with a mistake."""
        match = _ROW.match(self.source.text, self.tokens.start)
        if match is None:
            return False
        head, values = match[1].replace(",", " ").split(), match[2].replace(",", " ").split()
        if len(head) != len(node.parents) or len(values) != len(node.states or ()):
            return False
        if max(map(len, head)) > 9:
            return False
        codes.extend(map(int, head))
        numbers.extend(map(float, values))
        self.tokens.jump(match.end())
        return True

    def ordered(
        self, node: DraftNode, numbers: array[float], codes: array[int], count: int, sizes: list[int]
    ) -> list[float]:
        """The table in order: by the codes of the rows, or as they stand if the codes are all zero."""
        rows = math.prod(sizes)
        if rows > MAX_CELLS:
            raise TooLargeError(f"{self.source.path}: the table of {node.name!r} has {rows:,} rows")
        if count != rows:
            raise self.source.error(
                f"node {node.name!r} has {count} rows; its parents ask for {rows}", node.table_at
            )
        heads = np.array(codes, dtype=np.int64).reshape(count, len(sizes))
        if not sizes or not heads.any():
            return numbers.tolist()
        if (heads >= sizes).any():
            raise self.source.error(
                f"a row of {node.name!r} is headed by a state that its parent does not have", node.table_at
            )
        places = np.ravel_multi_index(tuple(heads.T), tuple(sizes))
        if len(np.unique(places)) < count:
            raise self.source.error(f"two rows of {node.name!r} have the same states in front", node.table_at)
        table = np.array(numbers).reshape(count, -1)
        found: list[float] = table[np.argsort(places)].ravel().tolist()
        return found


# ---- writing


def write(network: object) -> str:
    """The DSC text of a discrete network."""
    return "".join(_chunks(check_discrete(network, "DSC")))


def _chunks(network: Network) -> Iterator[str]:
    nodes = NAMES.carried(network.nodes)
    (name,) = NAMES.carried([network.name]) if network.name not in ("", "unknown") else [""]
    yield f'belief network "{name or "unknown"}"\n'
    yield from (f"// {one}\n" for one in facts.of_network(network, name))
    for child, written in enumerate(nodes):
        states = STATES.carried(network.discrete_states[child])
        listed = ", ".join(f'"{state}"' for state in states)
        yield f"node {written} {{\n  type : discrete [ {len(states)} ] = {{ {listed} }};\n"
        yield from (f"  // {one}\n" for one in facts.of_node(network, child, written, states))
        yield "}\n"
    for child, parents in enumerate(network.dag.parents):
        given = f" | {', '.join(nodes[parent] for parent in parents)}" if parents else ""
        yield f"probability ( {nodes[child]}{given} ) {{\n"
        shape = network.tables[child].shape[:-1]
        for codes, row in zip(np.ndindex(shape), rows_of(network, child), strict=True):
            head = f"({', '.join(map(str, codes))}) : " if parents else ""
            yield f"  {head}{', '.join(map(repr, row))};\n"
        yield "}\n"
