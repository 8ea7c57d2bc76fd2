"""One scanner for the text formats of other tools: words, quoted text, marks and comments.

Comments that hold a fact (see `facts.py`) are kept for the block that they are in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NoReturn, TypeVar

from bayescout.formats.facts import Facts
from bayescout.formats.numbers import NUMBER
from bayescout.formats.text import Source, unquote

Item = TypeVar("Item")

_NUMBER = re.compile(NUMBER)
_PLAIN = re.compile(r"\([\s,()0-9eE+.-]*+")
_NO_BRACKETS = re.compile(r"[^()]++")
_BRACKETS = re.compile(r"[(),]++")
_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Every repetition is possessive, as in `bif_grammar.py`.
_COMMENTS = {
    "//": r"//[^\n]*+",
    "/*": r"/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/",
    "%": r"%[^\n]*+",
    "#": r"\#[^\n]*+",
}


@dataclass(frozen=True)
class Syntax:
    """The characters of a format.

    comments  that it has, of "//", "/*", "%" and "#"
    marks     characters that are each a token, apart from blanks and quotes
    arrows    tokens of several characters, looked for first
    """

    comments: tuple[str, ...]
    marks: str
    arrows: tuple[str, ...] = ()


@lru_cache
def _patterns(syntax: Syntax) -> tuple[re.Pattern[str], re.Pattern[str]]:
    gap = re.compile(rf"\s++|{'|'.join(_COMMENTS[one] for one in syntax.comments)}")
    opened = "".join(f"(?!{re.escape(one)})" for one in (*syntax.comments, *syntax.arrows))
    marks = re.escape(syntax.marks)
    arrows = "|".join(map(re.escape, syntax.arrows)) or r"(?!)"
    token = re.compile(
        rf"(?P<quoted>{_QUOTED})|(?P<mark>{arrows}|[{marks}])"
        rf'|(?P<word>{NUMBER}(?=[\s"{marks}]|\Z)|(?:{opened}[^\s"{marks}])++)|(?P<end>\Z)',
        re.DOTALL,
    )
    return gap, token


class Scanner:
    """A text with one token in hand: `kind`, `value`, from `start` to `end`."""

    def __init__(self, source: Source, syntax: Syntax) -> None:
        self.source, self.text = source, source.text
        self.gap, self.token = _patterns(syntax)
        self.kind, self.value, self.start, self.end = "", "", 0, 0
        self.facts = Facts(source)
        self.advance()

    def advance(self) -> None:
        at = self.end
        while gap := self.gap.match(self.text, at):
            if "bayescout_" in gap[0]:
                self.facts.take(gap[0].lstrip("/*%# ").removesuffix("*/"), at)
            at = gap.end()
        match = self.token.match(self.text, at)
        if match is None:
            what = "quoted text" if self.text[at] == '"' else "a comment"
            raise self.source.error(f"{what} is opened here and not closed; the file may be truncated", at)
        self.kind = match.lastgroup or "end"
        self.value = match[self.kind]
        self.start, self.end = match.start(self.kind), match.end()

    def taken_facts(self) -> Facts:
        """The facts met since this was last asked."""
        facts, self.facts = self.facts, Facts(self.source)
        return facts

    def fail(self, expected: str) -> NoReturn:
        if self.kind == "end":
            message = f"the file ends where {expected} should follow; it may be truncated"
        else:
            message = f"expected {expected}, found {self.value[:40]!r}"
        raise self.source.error(message, self.start)

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.value in marks

    def is_word(self, *words: str) -> bool:
        """Return True if the token is one of these words, in upper or lower case."""
        return self.kind == "word" and self.value.lower() in words

    def accept(self, *marks: str) -> bool:
        """Pass one of these marks if it is there."""
        if self.is_mark(*marks):
            self.advance()
            return True
        return False

    def expect(self, *marks: str) -> None:
        if not self.accept(*marks):
            self.fail(" or ".join(map(repr, marks)))

    def expect_word(self, *words: str) -> str:
        if not self.is_word(*words):
            self.fail(" or ".join(map(repr, words)))
        word = self.value
        self.advance()
        return word.lower()

    def name(self, expected: str) -> str:
        """A word, or the text between quotes."""
        if self.kind not in ("word", "quoted"):
            self.fail(expected)
        name = unquote(self.value) if self.kind == "quoted" else self.value
        self.advance()
        return name

    def names(self, expected: str, close: str) -> list[str]:
        """The names up to a closing mark, with or without commas between them."""
        found: list[str] = []
        while not self.accept(close):
            found.append(self.name(f"{expected} or {close!r}"))
            self.accept(",")
        return found

    def number(self, expected: str = "a number") -> float:
        if self.kind != "word" or not _NUMBER.fullmatch(self.value):
            self.fail(expected)
        number = float(self.value)
        self.advance()
        return number

    def is_number(self) -> bool:
        return self.kind == "word" and _NUMBER.fullmatch(self.value) is not None

    def nested_numbers(self) -> list[float]:
        """The numbers of a list in parentheses, which may have lists inside, all in their order.

        A list of only numbers, nearly all there are, takes one match; one with a comment, or with a
        mistake, goes token by token.
        """
        plain = self._plain_numbers()
        if plain is not None:
            return plain
        return self.nested(lambda: self.number("a number, '(' or ')'"))

    def nested(self, item: Callable[[], Item]) -> list[Item]:
        """What `item` reads, over a list in parentheses, which may have lists inside, all in their order."""
        self.expect("(")
        found, depth = [], 1
        while depth:
            if self.accept("("):
                depth += 1
            elif self.accept(")"):
                depth -= 1
            elif not self.accept(","):
                found.append(item())
        return found

    def _plain_numbers(self) -> list[float] | None:
        """The numbers of a list up to the mark that ends a value, if there is nothing but numbers in it."""
        chunk = _PLAIN.match(self.text, self.start)
        if chunk is None or self.text[chunk.end() : chunk.end() + 1] != ";":
            return None
        depths = list(accumulate(1 if one == "(" else -1 for one in _NO_BRACKETS.sub("", chunk[0])))
        if not depths or depths[-1] or min(depths[:-1], default=1) < 1 or not chunk[0].rstrip().endswith(")"):
            return None
        try:
            numbers = [float(one) for one in _BRACKETS.sub(" ", chunk[0]).split()]
        except ValueError:
            return None
        self.jump(chunk.end())
        return numbers

    def jump(self, end: int) -> None:
        """Go on from a position in the text."""
        self.end = end
        self.advance()

    def skip_value(self, *ends: str) -> None:
        """Pass everything up to one of these marks, outside of any brackets."""
        depth = 0
        while depth or not self.is_mark(*ends):
            if self.is_mark("(", "[", "{"):
                depth += 1
            elif self.is_mark(")", "]", "}"):
                depth -= 1
            if self.kind == "end" or depth < 0:
                self.fail(" or ".join(map(repr, ends)))
            self.advance()
