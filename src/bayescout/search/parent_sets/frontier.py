"""The frontier of an enumeration by size: the progress for each child."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bayescout.arrays import Floats, Ints
from bayescout.search.bitsets import Words
from bayescout.search.frame.problem import Problem


@dataclass
class Frontier:
    """The sets of one size of one child that may have supersets worth examining.

    base     the required parents, which are in every set
    free     the variables that may be added to them
    room     the number of variables that may still be added
    members  (m, size) positions in `free`: the sets, each row ascending
    best     (m,) the best score of any subset of each set, itself included
    masks    the sets found so far that matter, with their `scores`
    bound    an upper bound on the score of any superset of these
    """

    child: int
    base: tuple[int, ...]
    free: Ints
    room: int
    members: Ints
    best: Floats
    masks: list[Words] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    bound: float = math.inf

    @property
    def size(self) -> int:
        return int(self.members.shape[1])


def first_frontiers(problem: Problem, limit: int | None) -> list[Frontier]:
    """For each child, the set of the required parents alone."""
    rules, found = problem.rules, []
    for child, base in enumerate(rules.required_parents):
        free = np.flatnonzero(rules.allowed[:, child] & ~rules.required[:, child])
        most = int(rules.max_parents[child]) if limit is None else min(limit, int(rules.max_parents[child]))
        room = min(max(0, most - len(base)), len(free))
        found.append(Frontier(child, base, free, room, np.zeros((1, 0), dtype=np.int64), np.empty(0)))
    return found


def count_sets(frontiers: Sequence[Frontier]) -> int:
    """The total number of sets of the frontiers' sizes and larger."""
    return sum(math.comb(len(one.free), k) for one in frontiers for k in range(one.room + 1))
