"""Parent sets by size: how far an enumeration has come with each child."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bayescout.search.bitsets import Masks
from bayescout.search.frame.problem import Problem
from bayescout.statistics.families import Floats, Ints


@dataclass
class Level:
    """The sets of one size of one child that may have supersets worth looking at."""

    child: int
    base: tuple[int, ...]
    free: Ints
    room: int
    members: Ints
    best: Floats
    masks: list[Masks] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    ceiling: float = math.inf

    @property
    def size(self) -> int:
        return int(self.members.shape[1])


def first_levels(problem: Problem, limit: int | None) -> list[Level]:
    """Of each child the set of the required parents alone."""
    rules, found = problem.rules, []
    for child, base in enumerate(rules.required_parents):
        free = np.flatnonzero(rules.allowed[:, child] & ~rules.required[:, child])
        most = int(rules.max_parents[child]) if limit is None else min(limit, int(rules.max_parents[child]))
        room = min(max(0, most - len(base)), len(free))
        found.append(Level(child, base, free, room, np.zeros((1, 0), dtype=np.int64), np.empty(0)))
    return found


def count_sets(levels: Sequence[Level]) -> int:
    return sum(math.comb(len(lv.free), k) for lv in levels for k in range(lv.room + 1))
