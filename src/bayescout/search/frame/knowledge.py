"""Prior knowledge: required and forbidden arcs, tiers, an order, limits on parents.

`Knowledge` is in labels, checked for contradictions when made and against the table when used;
`Rules` is the same in integers, and is all that searches see.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import as_plain
from bayescout.errors import KnowledgeError, SettingError, UnknownNameError
from bayescout.graph.orders import find_cycle
from bayescout.search.frame.beliefs import beliefs_to_list, checked_beliefs, shown_pair
from bayescout.search.frame.knowledge_input import (
    Named,
    arcs_of,
    checked_fields,
    fields_in,
    read_fields,
    split,
)
from bayescout.search.frame.knowledge_output import written
from bayescout.wording import setting

Label = Hashable
Arc = tuple[Label, Label]
Bools = NDArray[np.bool_]
ArcsLike = Any
"""Pairs, texts "a->b", {parent: children}, or a frame with the columns from and to."""


@dataclass(frozen=True, repr=False)
class Knowledge:
    """Prior knowledge, in labels; every search obeys it and every result keeps it.

    required, forbidden  arcs: (parent, child) pairs, texts "a->b", {parent: children}, or a frame with the
                         columns from and to
    tiers                groups of labels: no arc from a later group into an earlier one; a variable in
                         no group is free. Also {label: number}, such as the year: equal numbers are a group
    forbid_within        True: no arc between two variables of one tier either; or the numbers of the tiers
                         that this is so of, from 1
    order                all variables, parents before children: only forward arcs
    max_parents          the largest number of parents of every node, or {label: number}
    beliefs              probabilities of arcs: {(parent, child): 0.9}, or of either direction of one:
                         {frozenset({"a", "b"}): 0.9}. They are part of the structure prior, which weighs
                         them against the data; what is certain is required or forbidden
    """

    required: tuple[Arc, ...] = ()
    forbidden: tuple[Arc, ...] = ()
    tiers: tuple[tuple[Label, ...], ...] = ()
    order: tuple[Label, ...] | None = None
    max_parents: int | Mapping[Label, int] | None = None
    beliefs: Mapping[Arc | frozenset[Label], float] = field(default_factory=dict, hash=False)
    forbid_within: bool | tuple[int, ...] = False

    if TYPE_CHECKING:  # what may be given; the fields are what becomes of it

        def __init__(
            self,
            required: ArcsLike = (),
            forbidden: ArcsLike = (),
            tiers: Iterable[Iterable[Label]] | Mapping[Any, float] = (),
            order: Iterable[Label] | None = None,
            max_parents: int | Mapping[Any, int] | None = None,
            beliefs: Mapping[Any, float] = ...,
            forbid_within: bool | Sequence[int] = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            arcs = arcs_of(getattr(self, name), name)
            object.__setattr__(self, name, tuple(_pair(arc, name) for arc in arcs))
        object.__setattr__(self, "tiers", tuple(_group(tier) for tier in _tiers(self.tiers)))
        object.__setattr__(self, "forbid_within", _closed(self.forbid_within, len(self.tiers)))
        if self.order is not None:
            object.__setattr__(self, "order", tuple(self.order))
        if isinstance(self.max_parents, Mapping):
            object.__setattr__(self, "max_parents", dict(self.max_parents))
        self._check_limits()
        self._check_groups()
        self._check_arcs()
        object.__setattr__(self, "beliefs", checked_beliefs(self.beliefs, self.required, self.forbidden))

    def _check_limits(self) -> None:
        limits = self.max_parents
        values = limits.values() if isinstance(limits, Mapping) else [] if limits is None else [limits]
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise KnowledgeError(f"max_parents must be a whole number of at least 0, not {value!r}")

    def _check_groups(self) -> None:
        for name, labels in (
            ("the order", self.order or ()),
            ("tiers", tuple(x for t in self.tiers for x in t)),
        ):
            seen: set[Label] = set()
            for label in labels:
                if label in seen:
                    raise KnowledgeError(f"{label!r} occurs twice in {name}; list every variable once")
                seen.add(label)

    def _check_arcs(self) -> None:
        forbidden = set(self.forbidden)
        rank = {label: i for i, label in enumerate(self.order or ())}
        tier = {label: i for i, labels in enumerate(self.tiers) for label in labels}
        for parent, child in self.required:
            arc = f"{parent} -> {child}"
            if (parent, child) in forbidden:
                raise KnowledgeError(f"arc {arc} is both required and forbidden; drop one of the two")
            if rank.get(parent, -1) > rank.get(child, len(rank)):
                raise KnowledgeError(
                    f"required arc {arc} goes against the order, which has {child} before {parent}"
                )
            if parent in tier and tier[parent] == tier.get(child) and self.is_closed(tier[parent]):
                raise KnowledgeError(
                    f"required arc {arc} lies within tier {tier[parent] + 1}, in which arcs are forbidden"
                )
            if tier.get(parent, -1) > tier.get(child, len(tier)):
                raise KnowledgeError(
                    f"required arc {arc} goes from tier {tier[parent] + 1} back to tier {tier[child] + 1}"
                )
        _check_required_cycle(self.required)

    def __repr__(self) -> str:
        """The fields that say something."""
        said = [(one.name, getattr(self, one.name)) for one in fields(self)]
        told = [(name, value) for name, value in said if value is not False and value not in (None, (), {})]
        shown = (f"{name}={value!r}" for name, value in told)
        return f"Knowledge({', '.join(shown)})"

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Knowledge:
        """The knowledge in a file: JSON, or lines such as `forbid a -> b`; see `knowledge_input`."""
        try:
            return cls(**read_fields(path))
        except KnowledgeError:
            raise
        except (TypeError, ValueError, AttributeError) as error:
            raise KnowledgeError(f"{path}: is not knowledge: {error}") from None

    @classmethod
    def parse(cls, text: str, named: Named = str, where: str = "the knowledge") -> Knowledge:
        """The knowledge in a text, as in a file; `named` gives the label of a name."""
        try:
            return cls(**fields_in(text, where, named))
        except KnowledgeError:
            raise
        except (TypeError, ValueError, AttributeError) as error:
            raise KnowledgeError(f"{where}: is not knowledge: {error}") from None

    def to_text(self) -> str:
        """The text form, one statement per line: what `parse`, `read` and `--knowledge` take."""
        return written(self.to_dict())

    def is_closed(self, tier: int) -> bool:
        """Return True if arcs within a tier, counted from 0, are forbidden."""
        within = self.forbid_within
        return within if isinstance(within, bool) else tier + 1 in within

    @property
    def is_empty(self) -> bool:
        return self == Knowledge()

    def compile(self, names: Sequence[Label]) -> Rules:
        """The same in positions of these variables; unknown labels and impossible limits are refused."""
        position = {name: i for i, name in enumerate(names)}
        self._check_known(position, names)
        n = len(names)
        allowed = ~np.eye(n, dtype=bool)
        required = np.zeros((n, n), dtype=bool)
        for parent, child in self.forbidden:
            allowed[position[parent], position[child]] = False
        self._forbid_by_groups(allowed, position)
        for parent, child in self.required:
            required[position[parent], position[child]] = True
        limits = self._limits(position, n)
        over = np.flatnonzero(required.sum(axis=0) > limits)
        if len(over):
            child = names[int(over[0])]
            raise KnowledgeError(
                f"{child!r} has {int(required[:, over[0]].sum())} required parents but max_parents is "
                f"{int(limits[over[0]])}; raise the limit or require fewer"
            )
        self.check_believed(allowed, names)
        order = None if self.order is None else tuple(position[label] for label in self.order)
        return Rules(allowed, required, limits, order)

    def check_believed(self, allowed: Bools, names: Sequence[Label]) -> None:
        """Refuse beliefs in arcs that are not allowed, by tiers, an order or a score's model."""
        position = {name: i for i, name in enumerate(names)}
        for pair in self.beliefs:
            one, two = (position[label] for label in pair)
            either = isinstance(pair, frozenset) and allowed[two, one]
            if not (allowed[one, two] or either):
                raise KnowledgeError(
                    f"there is a belief about {shown_pair(pair)}, but tiers, order, forbidden arcs or the "
                    f"score's model rule it out; drop the belief"
                )

    def _check_known(self, position: Mapping[Label, int], names: Sequence[Label]) -> None:
        limited = self.max_parents if isinstance(self.max_parents, Mapping) else {}
        labels = [
            *(label for arc in (*self.required, *self.forbidden) for label in arc),
            *(label for tier in self.tiers for label in tier),
            *(self.order or ()),
            *limited,
            *(label for pair in self.beliefs for label in pair),
        ]
        for label in labels:
            if label not in position:
                raise UnknownNameError("variable", label, names, "the knowledge")
        if self.order is not None and len(self.order) != len(names):
            ordered = set(self.order)
            absent = next(name for name in names if name not in ordered)
            raise KnowledgeError(f"the order lacks {absent!r}; it must list all {len(names)} variables")

    def _forbid_by_groups(self, allowed: Bools, position: Mapping[Label, int]) -> None:
        for late, tier in enumerate(self.tiers):
            for early in self.tiers[: late + self.is_closed(late)]:
                for parent in tier:
                    for child in early:
                        allowed[position[parent], position[child]] = False
        if self.order is not None:
            rank = np.empty(len(self.order), dtype=np.int64)
            rank[[position[label] for label in self.order]] = np.arange(len(self.order))
            allowed &= rank[:, None] < rank[None, :]

    def _limits(self, position: Mapping[Label, int], n: int) -> NDArray[np.int64]:
        limits = np.full(n, n - 1, dtype=np.int64)
        if isinstance(self.max_parents, Mapping):
            for label, value in self.max_parents.items():
                limits[position[label]] = min(value, n - 1)
        elif self.max_parents is not None:
            limits[:] = min(self.max_parents, n - 1)
        return limits

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values, also for reports."""
        limits = self.max_parents
        return {
            "required": [list(arc) for arc in self.required],
            "forbidden": [list(arc) for arc in self.forbidden],
            "tiers": [list(tier) for tier in self.tiers],
            "order": None if self.order is None else list(self.order),
            "max_parents": [[k, v] for k, v in limits.items()] if isinstance(limits, Mapping) else limits,
            "beliefs": beliefs_to_list(self.beliefs),
        } | ({"forbid_within": self._within()} if self.forbid_within else {})

    def _within(self) -> bool | list[int]:
        return self.forbid_within if isinstance(self.forbid_within, bool) else list(self.forbid_within)


@dataclass(frozen=True, eq=False)
class Rules:
    """Knowledge in integers.

    allowed      (n, n) bool   allowed[parent, child]: the arc may be in the graph
    required     (n, n) bool   the arc must be in the graph
    max_parents  (n,) int64
    order        the variables, parents first, where the order is known
    """

    allowed: Bools
    required: Bools
    max_parents: NDArray[np.int64]
    order: tuple[int, ...] | None = None
    required_parents: tuple[tuple[int, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        sets: tuple[tuple[int, ...], ...] = ((),) * self.n
        if self.required.any():
            sets = tuple(tuple(np.flatnonzero(column).tolist()) for column in self.required.T)
        object.__setattr__(self, "required_parents", sets)

    @property
    def n(self) -> int:
        return len(self.max_parents)

    def within(self, legal: Bools | None, names: Sequence[Label]) -> Rules:
        """The rules, restricted to the arcs that a score's model can have.

        legal  (n, n) bool [parent, child], or None for all: a discrete variable of a conditional Gaussian
               network has no continuous parents
        """
        if legal is None:
            return self
        self.refuse_illegal(np.argwhere(self.required & ~legal).tolist(), names)
        return replace(self, allowed=self.allowed & legal)

    def refuse_illegal(self, lacking: Sequence[list[int]], names: Sequence[Label]) -> None:
        """Raise if required arcs, [parent, child], are such that the score's model cannot have them."""
        if lacking:
            parent, child = (names[i] for i in min(lacking))
            raise KnowledgeError(
                f"the knowledge requires {parent!r} -> {child!r}, but {parent!r} is continuous and {child!r} "
                f"discrete, and in a conditional Gaussian network a discrete variable has discrete parents "
                f"only: require {child!r} -> {parent!r}, cut {parent!r} into intervals "
                f"({setting('bins', 3)}), or use a score that allows it ({setting('score', 'dg-bic')})"
            )

    def broken_by(self, parents: Sequence[Sequence[int]]) -> str | None:
        """The rule that a graph breaks, with {i} for the name of variable i; None if it keeps every rule."""
        for child, own in enumerate(parents):
            for parent in own:
                if not self.allowed[parent, child]:
                    return f"has the forbidden arc {{{parent}}} -> {{{child}}}"
            for parent in self.required_parents[child]:
                if parent not in own:
                    return f"lacks the required arc {{{parent}}} -> {{{child}}}"
            if len(own) > self.max_parents[child]:
                return f"gives {{{child}}} {len(own)} parents, more than {self.max_parents[child]}"
        return None


def _pair(arc: Iterable[Label], name: str) -> Arc:
    try:
        ends = split(arc) if isinstance(arc, str) else arc
        if ends is None:  # a text without an arrow, whose letters are no variables
            raise TypeError
        parent, child = ends
    except (TypeError, ValueError):
        raise KnowledgeError(
            f"a {name} arc is a (parent, child) pair, or a text 'a->b', not {arc!r}"
        ) from None
    if parent == child:
        raise KnowledgeError(f"{name} arc {parent} -> {child} is a loop; an arc joins two variables")
    return parent, child


def _tiers(given: Any) -> Iterable[Any]:
    """The groups, the earliest first, also of those given by the number of each variable."""
    if not isinstance(given, Mapping):
        return given  # type: ignore[no-any-return]
    groups: dict[float, list[Label]] = {}
    for label, number in given.items():
        place = as_plain(number)
        if place is None:
            raise KnowledgeError(
                f"tiers as a dict give each variable a number, such as {{'a': 1, 'b': 2}}, and {label!r} has "
                f"{number!r}; else they are groups, the earliest first, such as [['a', 'b'], ['c']]"
            )
        groups.setdefault(place, []).append(label)
    return [groups[number] for number in sorted(groups)]


def _group(tier: Any) -> tuple[Label, ...]:
    if isinstance(tier, str) or not isinstance(tier, Iterable):
        raise KnowledgeError(
            f"tiers are groups of variables, the earliest first, such as [['a', 'b'], ['c']]; {tier!r} is no "
            f"group: put it in one, [{tier!r}]"
        )
    return tuple(tier)


def _closed(within: Any, tiers: int) -> bool | tuple[int, ...]:
    """`forbid_within`, checked."""
    if isinstance(within, bool):
        return within
    numbers = tuple(within) if isinstance(within, list | tuple) else ("",)
    if not all(type(one) is int and 1 <= one <= tiers for one in numbers):
        raise KnowledgeError(
            f"forbid_within is True or False, or numbers of tiers from 1 to {tiers}, not {within!r}"
        )
    return tuple(sorted(set(numbers))) or False


KnowledgeLike = Knowledge | Mapping[str, Any] | str | PathLike[str]
"""Knowledge, a dict of its fields, or a file."""


def as_knowledge(given: KnowledgeLike | None) -> Knowledge:
    """Knowledge from one, from a dict of its fields, or from a file; none at all from None."""
    if given is None:
        return Knowledge()
    if isinstance(given, Knowledge):
        return given
    if isinstance(given, Mapping):
        return Knowledge(**checked_fields(given))
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return Knowledge.read(given)
    raise SettingError(
        f"knowledge is Knowledge(required=[...], ...), a dict of its fields or a file, not a "
        f"{type(given).__name__}"
    )


def _check_required_cycle(required: Sequence[Arc]) -> None:
    labels = list(dict.fromkeys(label for arc in required for label in arc))
    position = {label: i for i, label in enumerate(labels)}
    parents: list[list[int]] = [[] for _ in labels]
    for parent, child in required:
        parents[position[child]].append(position[parent])
    cycle = find_cycle(parents)
    if cycle:
        path = " -> ".join(str(labels[i]) for i in cycle)
        raise KnowledgeError(f"the required arcs form a cycle: {path}; drop one of them")
