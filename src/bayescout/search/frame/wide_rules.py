"""Knowledge in integers for wide tables: lists in place of matrices of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Bools, Ints
from bayescout.errors import KnowledgeError, SettingError
from bayescout.search.frame.knowledge import Knowledge, Rules


class Pairs:
    """A matrix of truth values by a function: [parent, child], for single pairs or arrays of them."""

    def __init__(self, told: Callable[[Any, Any], Any]) -> None:
        self._told = told

    def __getitem__(self, pair: tuple[Any, Any]) -> Any:
        return self._told(*pair)


@dataclass(frozen=True, eq=False)
class WideRules(Rules):
    """Rules whose `allowed` and `required` are computed for the pairs that are asked for.

    is_free  there is no knowledge, but for limits on parents
    """

    is_free: bool = field(default=True, kw_only=True)
    sets: tuple[tuple[int, ...], ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "required_parents", self.sets)

    def within(self, legal: Any, names: Sequence[Any]) -> Rules:
        if legal is None:
            return self
        self.refuse_illegal(
            [
                [parent, child]
                for child, own in enumerate(self.sets)
                for parent in own
                if not legal[parent, child]
            ],
            names,
        )
        before = self.allowed
        both: Any = Pairs(lambda parents, children: before[parents, children] & legal[parents, children])
        return replace(self, allowed=both, is_free=False)


def entering(rules: Rules, starts: Ints, ends: NDArray[np.int32]) -> NDArray[np.int8]:
    """For each candidate of each variable: 0 if the arc from it is forbidden, 2 if required, else 1."""
    if isinstance(rules, WideRules) and rules.is_free:
        return np.ones(len(ends), np.int8)
    children = np.repeat(np.arange(rules.n), np.diff(starts))
    parents = ends.astype(np.int64)
    found: NDArray[np.int8] = np.asarray(rules.allowed[parents, children]).astype(np.int8)
    found[np.asarray(rules.required[parents, children])] = 2
    # A required arc has one direction: the reverse would break the rule.
    found[np.asarray(rules.required[children, parents])] = 0
    return found


def is_free(rules: Rules) -> bool:
    """Return True if there is nothing but one limit on parents for all: each member of a class keeps that."""
    if (rules.max_parents != rules.max_parents.max(initial=0)).any():
        return False
    if isinstance(rules, WideRules):
        return rules.is_free
    return not rules.required.any() and int(rules.allowed.sum()) == rules.n * (rules.n - 1)


def compile_wide(knowledge: Knowledge, names: Sequence[Any]) -> WideRules:
    """As `Knowledge.compile`, in memory proportional to what the knowledge says."""
    if knowledge.beliefs:
        raise SettingError(
            "beliefs about single arcs are not for searches on candidates yet: require or forbid arcs, or "
            "search without screening"
        )
    n = len(names)
    position = {name: i for i, name in enumerate(names)}
    knowledge._check_known(position, names)
    limits = np.minimum(knowledge._limits(position, n), n - 1)
    required = _keys(knowledge.required, position, n)
    forbidden = _keys(knowledge.forbidden, position, n)
    tier, closed = np.full(n, -1, np.int64), np.zeros(len(knowledge.tiers) + 1, dtype=bool)
    for place, group in enumerate(knowledge.tiers):
        closed[place] = knowledge.is_closed(place)
        tier[[position[label] for label in group]] = place
    order = None if knowledge.order is None else tuple(position[label] for label in knowledge.order)
    rank = None if order is None else np.argsort(np.array(order, dtype=np.int64))

    def allowed(parents: Any, children: Any) -> Any:
        found = np.asarray(parents) != children
        found &= ~_among(forbidden, parents, children, n)
        one, two = tier[parents], tier[children]
        found &= (one < 0) | (two < 0) | (one < two) | ((one == two) & ~closed[two])
        return found if rank is None else found & (rank[parents] < rank[children])

    def is_required(parents: Any, children: Any) -> Any:
        return _among(required, parents, children, n)

    sets: list[tuple[int, ...]] = [()] * n
    for key in required.tolist():
        sets[key % n] = (*sets[key % n], key // n)
    for child, own in enumerate(sets):
        if len(own) > limits[child]:
            raise KnowledgeError(
                f"{names[child]!r} has {len(own)} required parents but max_parents is "
                f"{int(limits[child])}; raise the limit or require fewer"
            )
    free = replace(knowledge, max_parents=None).is_empty
    make: Any = WideRules  # pairs as lists stand where plain rules have matrices
    sorted_sets = tuple(tuple(sorted(own)) for own in sets)
    made: WideRules = make(Pairs(allowed), Pairs(is_required), limits, order, is_free=free, sets=sorted_sets)
    return made


def _keys(arcs: Sequence[tuple[Any, Any]], position: dict[Any, int], n: int) -> Ints:
    """The arcs as sorted numbers, parent times n plus child."""
    return np.unique(np.array([position[a] * n + position[b] for a, b in arcs], dtype=np.int64))


def _among(keys: Ints, parents: Any, children: Any, n: int) -> Bools:
    """For each pair, True if it is among the keys."""
    asked = np.asarray(parents, dtype=np.int64) * n + children
    if not len(keys):
        return np.zeros(np.shape(asked), dtype=bool)
    places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.asarray(keys[places] == asked)
