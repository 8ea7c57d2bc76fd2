"""The text format of scored parent sets that Jaakkola's and Cussens' programs (GOBNILP) read: `.jkl`.

    3                    number of variables
    a 2                  a variable, and its number of sets
    -12.5 0              a score, and the number of parents
    -10.25 1 b           ... and the parents
    b 1
    ...

Names are separated by blanks, so a name with a blank, or one that is not text, cannot be written; with
`numbered` the variables are written as 0, 1, ... in their order instead. Scores are written in full.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from array import array
from collections.abc import Hashable
from dataclasses import dataclass

from bayescout.errors import FormatError
from bayescout.formats.text import PathLike, Source, check_number_of_nodes, read_text, write_text
from bayescout.graph.labels import counted

ScoredSet = tuple[float, tuple[int, ...]]


@dataclass(frozen=True, repr=False)
class ScoredSets:
    """Parent sets with their local scores: for each variable (score, parents by position) pairs."""

    names: tuple[Hashable, ...]
    sets: tuple[tuple[ScoredSet, ...], ...]

    @property
    def total(self) -> int:
        """The number of sets over all variables."""
        return sum(map(len, self.sets))

    @property
    def fingerprint(self) -> str:
        """A hash of the sets and their scores."""
        text = f"ScoredSets(names={self.names!r}, sets={self.sets!r})"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"<ScoredSets: {self.total:,} parent sets of {counted(len(self.names), 'variable')}>"

    def save(self, path: PathLike, numbered: bool = False) -> None:
        """Write a .jkl file."""
        write_text(path, write(self, numbered), read_back=True)


def is_jkl(path: PathLike) -> bool:
    """Return True if a file's name says that it holds scored parent sets."""
    return os.fspath(path).lower().removesuffix(".gz").endswith(".jkl")


def read_jkl(path: PathLike) -> ScoredSets:
    """The scored parent sets of a .jkl file, also packed as .gz."""
    return read(read_text(path), os.fspath(path))


def read(text: str, path: str) -> ScoredSets:
    """The scored parent sets in the text of a .jkl file."""
    reader = _Reader(text, path)
    n = reader.count("the number of variables")
    check_number_of_nodes(n, path)
    blocks: list[tuple[str, list[tuple[float, array[int], list[str]]]]] = []
    met: dict[str, str] = {}
    for _ in range(n):
        name = reader.word("a variable's name")
        sets = [reader.scored_set(met) for _ in range(reader.count(f"the number of sets of {name!r}"))]
        blocks.append((name, sets))
    reader.end()
    place = {name: i for i, (name, _) in enumerate(blocks)}
    if len(place) < n:
        raise FormatError("a variable has more than one list of sets; give each one list", path)
    return ScoredSets(
        tuple(name for name, _ in blocks),
        tuple(
            tuple((score, reader.parents(place, child, at, named)) for score, at, named in sets)
            for child, (_, sets) in enumerate(blocks)
        ),
    )


class _Reader:
    """The words of the file, in order, and their positions."""

    def __init__(self, text: str, path: str) -> None:
        self.source = Source(text, path)
        self.words = re.finditer(r"\S+", text)
        self.at = 0

    def word(self, what: str) -> str:
        found = next(self.words, None)
        if found is None:
            raise self.source.error(f"the file ends where {what} is expected", len(self.source.text))
        self.at = found.start()
        return found[0]

    def count(self, what: str) -> int:
        word = self.word(what)
        if not re.fullmatch(r"[0-9]{1,9}", word):
            raise self._error(f"expected {what}, a whole number, found {word[:40]!r}")
        # Each counted item takes a word of its own: a number too large for the rest of the file is wrong.
        if int(word) > (len(self.source.text) - self.at) // 2:
            raise self._error(f"{what} is {word}, more than the file has words")
        return int(word)

    def scored_set(self, met: dict[str, str]) -> tuple[float, array[int], list[str]]:
        """A score, and the parents' positions in the text and names."""
        word = self.word("a score")
        try:
            score = float(word)
        except ValueError:
            raise self._error(f"expected a score, found {word[:40]!r}") from None
        if math.isnan(score) or score == math.inf:
            raise self._error(f"a score must be a number or -inf, not {word!r}")
        places, names = array("q"), []
        for _ in range(self.count("the number of parents")):
            name = self.word("a parent")
            names.append(met.setdefault(name, name))
            places.append(self.at)
        return score, places, names

    def parents(self, place: dict[str, int], child: int, at: array[int], named: list[str]) -> tuple[int, ...]:
        found: set[int] = set()
        for name, where in zip(named, at, strict=True):
            if name not in place:
                raise self._error(f"parent {name[:40]!r} is not one of the variables", where)
            if place[name] == child or place[name] in found:
                raise self._error(
                    f"{name[:40]!r} cannot be a parent here: it is the child, or listed twice", where
                )
            found.add(place[name])
        return tuple(sorted(found))

    def end(self) -> None:
        for found in self.words:
            raise self._error(f"expected the end of the file, found {found[0][:40]!r}", found.start())

    def _error(self, message: str, at: int | None = None) -> FormatError:
        return self.source.error(message, self.at if at is None else at)


def write(scored: ScoredSets, numbered: bool = False) -> str:
    """The text of a .jkl file; names it cannot hold are refused, unless variables are numbered."""
    n = len(scored.names)
    names = [str(i) for i in range(n)] if numbered else [_checked(label) for label in scored.names]
    lines = [str(n)]
    for name, sets in zip(names, scored.sets, strict=True):
        lines.append(f"{name} {len(sets)}")
        for score, parents in sets:
            lines.append(" ".join([repr(float(score)), str(len(parents)), *(names[p] for p in parents)]))
    return "\n".join(lines) + "\n"


def _checked(label: Hashable) -> str:
    if type(label) is not str or not label or re.search(r"\s", label) or label[0] == "\ufeff":
        raise FormatError(
            f"variable {label!r} does not fit a .jkl file, whose names are text without blanks; rename it, "
            f"or write with numbered=True"
        )
    return label
