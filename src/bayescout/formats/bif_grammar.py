r"""The grammar of the Interchange Format for Bayesian networks (BIF 0.15), without its meaning.

    file         network (variable | probability)*
    network      "network" [name] "{" property* "}"
    variable     "variable" name "{" (type | property)* "}"
    type         "type" "discrete" "[" count "]" "{" name+ "}" ";"
    probability  "probability" "(" name ["|"] name* ")" "{" (entry | property)* "}"
    entry        ("table" | "default" | "(" name* ")") number+ ";"
    property     "property" anything but ";" ";"

Commas may be written, or left out, between the items of a list. A name is a run of characters
other than blanks and `{}()[],;|"`, or text between double quotes with the escapes \" \\ \n
\r \t. Comments are // to the end of the line and /* to */.

A name of several words without quotes, `variable M. Work {`, is read as R's bnlearn writes it: words between
two commas are one name where that is a declared variable, or gives as many states as are announced or as many
as there are parents; otherwise each is a name.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from bayescout.formats.text import Source, check_number_of_nodes, unquote

NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_NUMBER = re.compile(NUMBER)
# Every repetition is possessive (*+, ++): it never backtracks, which none of them needs, and so holds no
# memory per repetition. Otherwise a megabyte of numbers takes hundreds.
_NUMBERS = re.compile(rf"({NUMBER}(?:[\s,]++{NUMBER})*+)[\s,]*+;")
# White space and comments: matched separately, so that what follows cannot make it backtrack.
_GAP = re.compile(r"(?:\s++|//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)*+")
_TOKEN = re.compile(
    r"""(?P<quoted> "[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+" )
      | (?P<mark> [{}()\[\],;|] )
      | (?P<word> (?:[^\s{}()\[\],;|"/]++|/(?![/*]))++ )
      | (?P<end> \Z )""",
    re.VERBOSE,
)
_PROPERTY = re.compile(r'property(?:\s*+("[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")\s*+;|([^;]*+);)')
_PLAIN_ROW = re.compile(rf'\(([^(){{}}\[\];|"/\\]*+)\)\s*+({NUMBER}(?:[\s,]++{NUMBER})*+)\s*+;\s*+')

_WORD = re.compile(r"[^\s,]+")

_LONG = 2**16
"""Characters of a list from which its items are taken one by one, so that not all are held as text."""


@dataclass(slots=True)
class Variable:
    """A variable block; `at` is its position in the text."""

    name: str
    at: int
    states: list[str] | None = None
    properties: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Entry:
    """Probabilities, for one parent configuration or (table, default) for all."""

    states: list[str]
    values: Sequence[float]
    at: int


@dataclass(frozen=True, slots=True)
class Group:
    """Names without a comma between them, and the text from the first to the last of them."""

    words: list[str]
    joined: str


@dataclass(slots=True)
class Block:
    """A probability block: P(child | parents), parents in the order of its header.

    `rows` are only the positions of the entries for one configuration each; `Document.row` reads one.
    There are many of them, and a row as values takes many times the memory of its text.
    """

    child: str
    parents: list[str]
    at: int
    table: Entry | None = None
    default: Entry | None = None
    rows: array[int] = field(default_factory=lambda: array("q"))
    properties: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class Document:
    """The content of the file, in its order, names not yet resolved; `row` reads the row at a position,
    with a number of parents."""

    row: Callable[[int, int], Entry]
    name: str = ""
    properties: list[tuple[str, int]] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


def parse(source: Source) -> Document:
    """The document in a text; the first violation of the grammar is an error with its line."""
    return _Parser(source).document()


class _Parser:
    """Recursive descent with one token in hand: `kind`, `value`, from `start` to `end`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.kind, self.value, self.start, self.end = "", "", 0, 0
        self.names_met: dict[str, str] = {}
        self.advance()

    # ---- tokens

    def advance(self) -> None:
        gap = _GAP.match(self.text, self.end)
        at = gap.end() if gap else self.end
        match = _TOKEN.match(self.text, at)
        if match is None:
            self._fail_at_stray(at)
        self.kind = match.lastgroup or "end"
        self.value = match[self.kind]
        self.start, self.end = match.start(self.kind), match.end()

    def _fail_at_stray(self, at: int) -> NoReturn:
        """Fail because no token fits: a quote or a comment is open."""
        what = "a quoted name" if self.text[at] == '"' else "a comment"
        raise self.source.error(f"{what} is opened here and not closed; the file may be truncated", at)

    def fail(self, expected: str) -> NoReturn:
        if self.kind == "end":
            message = f"the file ends where {expected} should follow; it may be truncated"
        else:
            message = f"expected {expected}, found {self.value[:40]!r}"
        raise self.source.error(message, self.start)

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.value == mark

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and self.value == word

    def expect(self, value: str) -> None:
        if self.kind == "quoted" or self.value != value:
            self.fail(f"{value!r}")
        self.advance()

    def name(self, expected: str) -> str:
        if self.kind not in ("word", "quoted"):
            self.fail(expected)
        name = unquote(self.value) if self.kind == "quoted" else self.value
        self.advance()
        return self.names_met.setdefault(name, name)

    def group(self, expected: str) -> Group:
        """The names up to the next mark."""
        start, end, words = self.start, self.end, [self.name(expected)]
        while self.kind in ("word", "quoted"):
            end = self.end
            words.append(self.name(expected))
        return Group(words, words[0] if len(words) == 1 else self.text[start:end])

    def groups(self, expected: str, close: str) -> list[Group]:
        """The names up to a closing mark, in groups between commas."""
        found: list[Group] = []
        while not self.is_mark(close):
            found.append(self.group(f"{expected} or {close!r}"))
            if self.is_mark(","):
                self.advance()
        self.advance()
        return found

    # ---- blocks

    def document(self) -> Document:
        document = Document(self.row)
        declared: set[str] = set()
        given: set[str] = set()
        headers: list[tuple[Block, list[Group], bool]] = []
        self.network(document)
        while self.kind != "end":
            if self.is_word("variable"):
                variable = self.variable()
                if variable.name in declared:
                    raise self.source.error(f"variable {variable.name!r} is declared twice", variable.at)
                declared.add(variable.name)
                document.variables.append(variable)
                check_number_of_nodes(len(declared), self.source.path)
            elif self.is_word("probability"):
                block, names, divided = self.probability()
                if len(names[0].words) == 1:  # of several words it is known at the end, in `resolve`
                    self.give(block, given)
                headers.append((block, names, divided))
            else:
                self.fail("'variable' or 'probability'")
        self.resolve(headers, declared, given)
        document.blocks = [block for block, _, _ in headers]
        return document

    def give(self, block: Block, given: set[str]) -> None:
        """Refuse a second block for one child, among those that are given."""
        if block.child in given:
            raise self.source.error(f"a second probability block for {block.child!r}", block.at)
        given.add(block.child)

    def resolve(
        self, headers: list[tuple[Block, list[Group], bool]], declared: set[str], given: set[str]
    ) -> None:
        """Name the child and the parents of each block, once all variables are known."""
        for block, (first, *rest), divided in headers:
            alone = divided or first.joined in declared
            names = [first.joined] if alone else list(first.words)
            for group in rest:
                separate = len(group.words) > 1 and group.joined not in declared
                names += group.words if separate else [group.joined]
            block.child, block.parents = names[0], names[1:]
            if len(first.words) > 1:
                self.give(block, given)

    def network(self, document: Document) -> None:
        """Read the header. The bare word `unknown` is the customary way to have no name."""
        self.expect("network")
        if not self.is_mark("{"):
            no_name = self.is_word("unknown")
            document.name = self.name("the network's name")
            document.name = "" if no_name else document.name
        self.body(document.properties, lambda: self.fail("'property' or '}'"))

    def variable(self) -> Variable:
        at = self.start
        self.advance()
        variable = Variable(self.group("a variable's name").joined, at)
        self.body(variable.properties, lambda: self.states_of(variable))
        if variable.states is None:
            raise self.source.error(f"variable {variable.name!r} has no 'type discrete' line", at)
        return variable

    def body(self, properties: list[tuple[str, int]], statement: Callable[[], None]) -> None:
        """Read the braces around properties and the statements of one block."""
        self.expect("{")
        while not self.is_mark("}"):
            if not self.is_word("property"):
                statement()
                continue
            match = _PROPERTY.match(self.text, self.start)
            if match is None:
                raise self.source.error(
                    "a property is not closed by ';'; the file may be truncated", self.start
                )
            properties.append(((match[1] or match[2]).strip(), self.start))
            self.end = match.end()
            self.advance()
        self.advance()

    def states_of(self, variable: Variable) -> None:
        """Read `type discrete [ k ] { a, b };`."""
        if variable.states is not None:
            self.fail("'}': a variable has one 'type' line")
        self.expect("type")
        if not self.is_word("discrete"):
            self.fail("'discrete', the only type this library reads from BIF")
        self.advance()
        self.expect("[")
        at, count = self.start, self.name("the number of states")
        self.expect("]")
        self.expect("{")
        variable.states = _as_many(self.groups("a state", "}"), count)
        self.expect(";")
        if count != str(len(variable.states)):
            raise self.source.error(
                f"variable {variable.name!r} announces {count[:20]} states but lists {len(variable.states)}",
                at,
            )

    def probability(self) -> tuple[Block, list[Group], bool]:
        """Read a block; its child and parents are only known when all variables are."""
        at = self.start
        self.advance()
        self.expect("(")
        first = self.group("the child's name")
        divided = self.is_mark("|") or self.is_mark(",")
        if divided:
            self.advance()
        block = Block(first.words[0], [], at)
        names = [first, *self.groups("a parent", ")")]
        self.body(block.properties, lambda: self.entry(block))
        return block, names, divided

    def entry(self, block: Block) -> None:
        at = self.start
        if self.is_mark("("):
            self.rows(block)
        elif self.is_word("table") and block.table is None:
            self.advance()
            block.table = Entry([], self.numbers(), at)
        elif self.is_word("default") and block.default is None:
            self.advance()
            block.default = Entry([], self.numbers(), at)
        elif self.is_word("table") or self.is_word("default"):
            raise self.source.error(f"a second {self.value!r} entry for {block.child!r}", at)
        else:
            self.fail("'table', 'default', '(' or '}'")

    def rows(self, block: Block) -> None:
        """Read entries for one configuration each. Rows of bare words, nearly all there are, take
        one match per row; the first row with a quote or a comment goes token by token."""
        at = self.start
        while match := _PLAIN_ROW.match(self.text, at):
            block.rows.append(at)
            at = self.end = match.end()
        if at == self.start:
            block.rows.append(at)
            self.quoted_row(0)
        else:
            self.advance()

    def quoted_row(self, parents: int) -> tuple[list[str], Sequence[float]]:
        """The states and numbers of a row, token by token."""
        self.advance()
        states = _as_many(self.groups("a parent's state", ")"), str(parents))
        return states, self.numbers()

    def row(self, at: int, parents: int) -> Entry:
        """The row at a position found before, of a node with so many parents."""
        if match := _PLAIN_ROW.match(self.text, at):
            words = self.words(match[1])
            if len(words) != parents and match[1].count(",") == parents - 1:
                words = [self.names_met.setdefault(one.strip(), one.strip()) for one in match[1].split(",")]
            return Entry(words, _floats(match[2]), at)
        self.end = at
        self.advance()
        return Entry(*self.quoted_row(parents), at)

    def words(self, listed: str) -> list[str]:
        """The words of a text of only words, blanks and commas; in a long text each is held once."""
        if len(listed) < _LONG:
            return listed.replace(",", " ").split()
        return [self.names_met.setdefault(found[0], found[0]) for found in _WORD.finditer(listed)]

    def numbers(self) -> Sequence[float]:
        """The numbers up to ';', not yet checked to be probabilities."""
        if match := _NUMBERS.match(self.text, self.start):
            self.end = match.end()
            self.advance()
            return _floats(match[1])
        values = array("d")
        while not self.is_mark(";"):
            if self.kind != "word" or not _NUMBER.fullmatch(self.value):
                self.fail("a probability or ';'")
            values.append(float(self.value))
            self.advance()
            if self.is_mark(","):
                self.advance()
        self.advance()
        return values


def _as_many(groups: list[Group], count: str) -> list[str]:
    """The words of all groups; if they are not as many as they should be and the groups are, the groups."""
    words = [word for group in groups for word in group.words]
    if len(words) != len(groups) and str(len(words)) != count and str(len(groups)) == count:
        return [group.joined for group in groups]
    return words


def _floats(numbers: str) -> Sequence[float]:
    """The numbers of a text that otherwise has only blanks and commas."""
    if len(numbers) < _LONG:
        return list(map(float, numbers.replace(",", " ").split()))
    return array("d", (float(found[0]) for found in _NUMBER.finditer(numbers)))
