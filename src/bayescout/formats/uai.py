"""UAI, the format of the inference competitions: Bayesian networks (BAYES) and evidence files.

    BAYES 2  2 3  2  1 0  2 0 1  2 0.5 0.5  6 0.1 0.2 0.7 0.3 0.3 0.4

is the number of variables, their numbers of states, the scope of each table, the node itself last, and
the tables with the last variable of the scope fastest. UAI has no names: variables are x0, x1, ... and
states 0, 1, ... unless facts in comments (# to the end of the line) say otherwise, which are written at the
end of the file. Numbers are written without exponents, since some readers know none.

Two tools write tables in another order. pyAgrum writes the names of the nodes as comments after the scopes,
and lets the *first* parent be fastest, after the node; pgmpy lets the first variable of the scope be fastest
and the node slowest, so that the rows sum to one only in that order. Either is read its way, with a warning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np

from bayescout.data.states import StateFinder
from bayescout.errors import FormatError, UnknownNameError, warn
from bayescout.formats import facts
from bayescout.formats.draft import MAX_CELLS, PRINTED_TOLERANCE, Array, Draft, DraftNode
from bayescout.formats.facts import Facts
from bayescout.formats.numbers import NUMBER, check_discrete, rows_of, turned
from bayescout.formats.text import PathLike, Source, check_number_of_nodes, read_text, write_text
from bayescout.graph.labels import Label
from bayescout.network import Network

_TOKEN = re.compile(r"[^\s#]++")
_GAP = re.compile(r"(?:\s++|#[^\n]*+)*+")
_COMMENT = re.compile(r"#([^\n]*+)")
_NUMBER = re.compile(NUMBER)
_OF_NODE = re.compile(r"\s*(?:([0-9]+)\s+)?(bayescout_.*)")

Numbers = Sequence[float] | Array

# ---- reading


class _Words:
    """The words of a text one by one, with their positions."""

    def __init__(self, source: Source) -> None:
        self.source, self.at, self.end = source, 0, 0

    def next(self, expected: str) -> str:
        gap = _GAP.match(self.source.text, self.end)
        found = _TOKEN.match(self.source.text, gap.end() if gap else self.end)
        if found is None:
            raise self.source.error(
                f"the file ends where {expected} should follow; it may be truncated", len(self.source.text)
            )
        self.at, self.end = found.start(), found.end()
        return found[0]

    def fail(self, expected: str, word: str) -> NoReturn:
        raise self.source.error(f"expected {expected}, found {word[:40]!r}", self.at)

    def count(self, expected: str, most: int) -> int:
        """A whole number from 0 to `most`."""
        word = self.next(expected)
        if not re.fullmatch(r"[0-9]{1,12}", word) or int(word) > most:
            self.fail(f"{expected}, a whole number up to {most:,}", word)
        return int(word)

    def number(self, expected: str) -> float:
        word = self.next(expected)
        if not _NUMBER.fullmatch(word):
            self.fail(expected, word)
        return float(word)

    @property
    def is_done(self) -> bool:
        gap = _GAP.match(self.source.text, self.end)
        return gap is not None and gap.end() == len(self.source.text)


def read(text: str, path: str) -> Network:
    """The network in a UAI text."""
    source = Source(text, path)
    words = _Words(source)
    kind = words.next("BAYES")
    if kind.upper() != "BAYES":
        words.fail("BAYES, since only Bayesian networks are read", kind)
    size = words.count("the number of variables", MAX_CELLS)
    check_number_of_nodes(size, path)
    sizes = [words.count("a number of states", MAX_CELLS) for _ in range(size)]
    if 0 in sizes:
        raise source.error(f"variable {sizes.index(0)} has no states", words.at)
    if words.count("the number of tables", MAX_CELLS) != size:
        raise source.error(f"a Bayesian network of {size} variables has {size} tables", words.at)
    scopes, comments = [], []
    for _ in range(size):
        scopes.append(
            [words.count("a variable", size - 1) for _ in range(words.count("a scope's size", size))]
        )
        comments.append(_comment_after(text, words.end))
    names = _names_of_pyagrum(comments, scopes)
    draft = _draft(source, sizes, scopes, names)
    for scope in scopes:
        node = draft.nodes[scope[-1]]
        node.table, node.table_at = _table(words, [sizes[i] for i in scope], node.name), words.at
    if not words.is_done:
        words.fail("the end of the file", words.next("the end"))
    _put_in_order(draft, [[sizes[i] for i in scope] for scope in scopes], scopes, names is not None)
    return draft.network()


def _put_in_order(draft: Draft, shapes: list[list[int]], scopes: list[list[int]], pyagrum: bool) -> None:
    """Turn the tables of tools that do not let the last variable be fastest, with a warning."""
    if pyagrum:
        way = "pyAgrum's names are in comments after the scopes, and it lets the first parent be fastest"
        turn: Callable[[Numbers, Sequence[int]], Sequence[float]] = turned
        if all(len(shape) < 3 for shape in shapes):
            return
    else:
        tables = [draft.nodes[scope[-1]].table or () for scope in scopes]
        if all(map(_is_distribution, tables, shapes)) or not all(
            _is_distribution(_from_first(table, shape), shape)
            for table, shape in zip(tables, shapes, strict=True)
        ):
            return
        way = "its rows sum to one only if the first variable of a scope is fastest, as in pgmpy's files"
        turn = _from_first
    for scope, shape in zip(scopes, shapes, strict=True):
        node = draft.nodes[scope[-1]]
        node.table = turn(node.table or (), shape)
    warn(f"{draft.source.path}: {way}, and not the last, as UAI says; it was read that way")


def _from_first(table: Numbers, shape: Sequence[int]) -> Sequence[float]:
    """A table that has the first variable of its scope fastest, and the node slowest, in our order."""
    numbers: Sequence[float] = np.array(table).reshape(*reversed(shape)).transpose().ravel().tolist()
    return numbers


def _is_distribution(table: Numbers, shape: Sequence[int]) -> bool:
    """Return True if the rows of a table sum to one, as far as printed digits do."""
    sums = np.array(table).reshape(-1, shape[-1]).sum(axis=1)
    return bool(np.all(np.abs(sums - 1) <= PRINTED_TOLERANCE))


def _comment_after(text: str, at: int) -> str:
    """The comment on the rest of the line, or nothing."""
    comment = re.compile(r"[^\S\n]*+#([^\n]*+)").match(text, at)
    return comment[1].strip() if comment else ""


def _names_of_pyagrum(comments: list[str], scopes: list[list[int]]) -> dict[int, str] | None:
    """The names of the nodes if every scope has one in a comment, as pyAgrum writes them."""
    if not all(comments) or len(set(comments)) < len(comments) or not all(scopes):
        return None
    if any("bayescout_" in comment for comment in comments):
        return None
    return {scope[-1]: comment for scope, comment in zip(scopes, comments, strict=True)}


def _draft(source: Source, sizes: list[int], scopes: list[list[int]], names: dict[int, str] | None) -> Draft:
    """The nodes with their parents, one table for each."""
    found = [Facts(source) for _ in sizes]
    draft = Draft(source, Facts(source))
    for comment in _COMMENT.finditer(source.text):
        fact = _OF_NODE.fullmatch(comment[1])
        if fact is not None and fact[1] is None:
            draft.facts.take(fact[2], comment.start())
        elif fact is not None and len(fact[1]) < 10 and int(fact[1]) < len(sizes):
            found[int(fact[1])].take(fact[2], comment.start())
    if sum(sizes) > len(source.text):
        raise FormatError(
            "has fewer probabilities than the variables have states; it may be truncated", source.path
        )
    for place, size in enumerate(sizes):
        name = names.get(place, f"x{place}") if names else f"x{place}"
        draft.add(DraftNode(name, 0, found[place], [str(state) for state in range(size)]))
    for scope in scopes:
        if not scope or draft.nodes[scope[-1]].table_at:
            what = f"variable {scope[-1]} has two tables" if scope else "a table has no variable"
            raise FormatError(f"{what}; each variable has one, in which it is the last", source.path)
        draft.nodes[scope[-1]].table_at = -1
        draft.nodes[scope[-1]].parents = [draft.nodes[i].name for i in scope[:-1]]
    return draft


def _table(words: _Words, shape: list[int], name: str) -> list[float]:
    announced = words.count(f"the size of the table of {name}", MAX_CELLS)
    if announced != math.prod(shape):
        raise words.source.error(
            f"the table of {name} has {announced:,} numbers; its scope asks for {math.prod(shape):,}",
            words.at,
        )
    return [words.number(f"a probability of {name}") for _ in range(announced)]


# ---- evidence


def read_uai_evidence(path: PathLike, network: Network) -> dict[Label, Label]:
    """The evidence in a .uai.evid file, by the labels of the network, for `network.query`.

    The file gives the number of observations, and for each a variable and a state, both counted from 0.
    Files that give the number of samples first, which must be 1, are read too.
    """
    words = _Words(Source(read_text(path), str(path)))
    numbers = []
    while not words.is_done:
        numbers.append(words.count("a variable, a state or a number of them", MAX_CELLS))
    if len(numbers) % 2 == 0 and len(numbers) >= 2 and numbers[0] == 1 and numbers[1] * 2 == len(numbers) - 2:
        numbers = numbers[1:]
    if not numbers or len(numbers) != 1 + 2 * numbers[0]:
        raise FormatError(
            "is not evidence: the number of observations, then a variable and a state for each", path
        )
    evidence: dict[Label, Label] = {}
    for node, state in zip(numbers[1::2], numbers[2::2], strict=True):
        if node >= len(network.nodes):
            raise FormatError(f"observes variable {node}; the network has {len(network.nodes)}", path)
        label, states = network.nodes[node], network.distributions[node].states
        if states is None or state >= len(states):
            raise FormatError(f"observes state {state} of {label!r}, which has no such state", path)
        if label in evidence:
            raise FormatError(f"observes {label!r} twice", path)
        evidence[label] = states[state]
    return evidence


def write_uai_evidence(path: PathLike, evidence: Mapping[Label, Any], network: Network) -> None:
    """Write evidence, as a mapping of labels to states, as the .uai.evid file of a network's .uai file."""
    pairs = []
    for label, value in evidence.items():
        node = network.dag.index(label)
        states = network.distributions[node].states
        if states is None:
            raise FormatError(f"{label!r} is continuous, and UAI evidence observes states alone", path)
        state = StateFinder(states, f"node {label!r}").find(value)
        if state is None:
            raise UnknownNameError("state", value, states, f"node {label!r}")
        pairs.append(f" {node} {state}")
    write_text(path, f"{len(pairs)}{''.join(pairs)}\n")


# ---- writing


def write(network: object) -> str:
    """The UAI text of a discrete network, with names and states in comments at its end."""
    return "".join(_chunks(check_discrete(network, "UAI")))


def _chunks(network: Network) -> Iterator[str]:
    parents = network.dag.parents
    yield f"BAYES\n{len(parents)}\n{' '.join(map(str, network.sizes))}\n{len(parents)}\n"
    for child, given in enumerate(parents):
        yield f"{len(given) + 1} {' '.join(map(str, (*given, child)))}\n"
    for child in range(len(parents)):
        rows = rows_of(network, child)
        yield f"\n{len(rows) * len(rows[0])}\n"
        yield from (f" {' '.join(map(_plain, row))}\n" for row in rows)
    yield from (f"# {one}\n" for one in facts.of_network(network, ""))
    for child, size in enumerate(network.sizes):
        states = [str(state) for state in range(size)]
        yield from (f"# {child} {one}\n" for one in facts.of_node(network, child, f"x{child}", states))


def _plain(value: float) -> str:
    """The number without an exponent; it is read back exactly."""
    text = repr(value)
    return f"{Decimal(text):f}" if "e" in text else text
