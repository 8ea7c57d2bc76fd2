"""The shortest contradiction in a text of knowledge: the statements that cannot hold together.

Required arcs that form a cycle are found as such, the shortest of them all. Of other contradictions a part of
the statements is found of which none can be left out (Junker's QuickXplain, 2004).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bayescout.errors import BayescoutError
from bayescout.search.frame.knowledge import Knowledge
from bayescout.search.frame.knowledge_input import Named, split

MOST_STATEMENTS = 5000
"""Texts of more statements are said to be contradictory without the statements being found."""


@dataclass(frozen=True)
class Contradiction:
    """Why a text of knowledge is refused.

    message  the error
    cycle    the labels of the required arcs that form a cycle, first = last; empty if it is something else
    lines    the numbers of the lines that cannot hold together, from 1; empty for JSON
    """

    message: str
    cycle: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()


def contradiction(
    text: str, names: Sequence[Any] | None = None, named: Named = str, where: str = "the knowledge"
) -> Contradiction | None:
    """Why the text cannot hold, for variables of these names if they are known; None if it can."""
    error = _error(text, names, named, where)
    if error is None:
        return None
    rows = text.splitlines()
    statements = [number for number, row in enumerate(rows, 1) if row.partition("#")[0].strip()]
    if text.lstrip().startswith("{") or len(statements) > MOST_STATEMENTS:
        return Contradiction(str(error))

    def kept(numbers: Sequence[int]) -> str:
        chosen = set(numbers)
        return "\n".join(row if place in chosen else "" for place, row in enumerate(rows, 1))

    cycle, lines = _shortest_cycle(rows)
    if not cycle:
        lines = _smallest(statements, lambda some: _error(kept(some), names, named, where) is not None)
    told = _error(kept(lines), names, named, where) or error
    return Contradiction(str(told), cycle, tuple(sorted(lines)))


def _error(text: str, names: Sequence[Any] | None, named: Named, where: str) -> BayescoutError | None:
    try:
        known = Knowledge.parse(text, named, where)
        if names is not None:
            known.compile(names)
    except BayescoutError as error:
        return error
    return None


def _shortest_cycle(rows: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """The labels and the lines of a shortest cycle of required arcs; of equals the one met first."""
    line: dict[tuple[str, str], int] = {}
    children: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 1):
        statement = row.partition("#")[0].strip()
        arc = split(statement.removeprefix("require ")) if statement.startswith("require ") else None
        if arc is not None and arc not in line:
            line[arc] = number
            children.setdefault(arc[0], []).append(arc[1])
    best: list[str] = []
    for parent, child in line:
        path = _path(children, child, parent, len(best) - 1 if best else None)
        if path and (not best or len(path) + 1 < len(best)):
            best = [parent, *path]
    arcs = list(pairwise(best))
    return tuple(best), [line[arc] for arc in arcs]


def _path(children: dict[str, list[str]], source: str, target: str, most: int | None) -> list[str]:
    """A shortest path, of at most so many labels; empty if there is none."""
    before: dict[str, str | None] = {source: None}
    waiting = deque([(source, 1)])
    while waiting:
        node, length = waiting.popleft()
        if node == target:
            found = [node]
            while (earlier := before[found[-1]]) is not None:
                found.append(earlier)
            return found[::-1]
        if most is None or length < most:
            for child in children.get(node, ()):
                if child not in before:
                    before[child] = node
                    waiting.append((child, length + 1))
    return []


def _smallest(items: Sequence[int], fails: Callable[[Sequence[int]], bool]) -> list[int]:
    """Items that fail together, none of which can be left out."""

    def within(background: list[int], added: bool, some: list[int]) -> list[int]:
        if added and fails(background):
            return []
        if len(some) == 1:
            return some
        half = len(some) // 2
        second = within([*background, *some[:half]], True, some[half:])
        first = within([*background, *second], bool(second), some[:half])
        return [*first, *second]

    return within([], False, list(items)) if items else []
