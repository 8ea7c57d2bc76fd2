"""Beliefs about arcs: probabilities that knowledge gives to a structure prior, in labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from bayescout.checks import as_plain, shown
from bayescout.errors import KnowledgeError

Label = Hashable
Pair = tuple[Label, Label] | frozenset[Label]


def checked_beliefs(beliefs: Any, required: Sequence[Pair], forbidden: Sequence[Pair]) -> dict[Pair, float]:
    """Beliefs by arc, a tuple, or by pair, a frozenset; contradictions are refused.

    Given as a mapping, or as a list of [a, arrow, b, probability] with "->" or "--" for the arrow.
    """
    found: dict[Pair, float] = {}
    for key, value in _items(beliefs):
        pair = _pair(key)
        if pair in found:
            raise KnowledgeError(f"there are two beliefs about {shown_pair(pair)}; give one")
        found[pair] = _probability(pair, value)
    for pair in found:
        _check_certain(pair, set(required), set(forbidden))
        _check_sum(pair, found)
    return found


def beliefs_to_list(beliefs: Mapping[Any, float]) -> list[list[Any]]:
    """The beliefs as JSON values: [a, "->" or "--", b, probability]."""
    return [
        [*_ends(pair)[:1], "--" if isinstance(pair, frozenset) else "->", _ends(pair)[1], value]
        for pair, value in beliefs.items()
    ]


def shown_pair(pair: Pair) -> str:
    one, two = _ends(pair)
    return f"{one} -- {two}" if isinstance(pair, frozenset) else f"{one} -> {two}"


def _ends(pair: Pair) -> tuple[Label, Label]:
    """The two labels; of a pair without direction in the order of their texts."""
    labels = list(pair)
    if isinstance(pair, frozenset):
        labels.sort(key=lambda label: (str(label), type(label).__name__))
    return labels[0], labels[1]


def _items(beliefs: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(beliefs, Mapping):
        return list(beliefs.items())
    if isinstance(beliefs, str) or not isinstance(beliefs, Iterable):
        raise KnowledgeError(
            f"beliefs are probabilities by arc, such as {{('a', 'b'): 0.9}}; not {shown(beliefs)}"
        )
    found = []
    for entry in beliefs:
        listed = isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 4
        if not listed or entry[1] not in ("->", "--"):
            raise KnowledgeError(
                f"a belief in a list is [parent, '->', child, probability], or has '--' for either "
                f"direction; not {shown(entry)}"
            )
        one, arrow, two, value = entry
        found.append(((one, two) if arrow == "->" else frozenset((one, two)), value))
    return found


def _pair(key: Any) -> Pair:
    labels = tuple(key) if isinstance(key, tuple | frozenset) else ()
    if isinstance(key, frozenset) and len(key) == 1:
        labels *= 2
    if len(labels) != 2:
        raise KnowledgeError(
            f"a belief is about an arc, (parent, child), or about two variables in either direction, "
            f"frozenset({{a, b}}); not about {shown(key)}"
        )
    if labels[0] == labels[1]:
        raise KnowledgeError(f"a belief is about an arc between two variables, not {labels[0]} with itself")
    return key if isinstance(key, frozenset) else (labels[0], labels[1])


def _probability(pair: Pair, value: Any) -> float:
    found = as_plain(value)
    if found is None or not 0 <= found <= 1:
        raise KnowledgeError(
            f"the belief about {shown_pair(pair)} must be a probability between 0 and 1, not {shown(value)}"
        )
    if found in (0, 1):
        raise KnowledgeError(
            f"the belief about {shown_pair(pair)} is {found:g}, which no data could change; "
            f"{'require' if found else 'forbid'} the arc instead, or believe a little less"
        )
    return float(found)


def _check_certain(pair: Pair, required: set[Pair], forbidden: set[Pair]) -> None:
    one, two = _ends(pair)
    for arc in ((one, two), (two, one)):
        if arc in required:
            raise KnowledgeError(
                f"there is a belief about {shown_pair(pair)}, but arc {arc[0]} -> {arc[1]} is required and "
                f"leaves nothing to decide; drop one of the two"
            )
    if pair in forbidden:
        raise KnowledgeError(
            f"arc {shown_pair(pair)} is forbidden, and there is a belief about it; drop one of the two"
        )


def _check_sum(pair: Pair, beliefs: Mapping[Pair, float]) -> None:
    """Refuse beliefs about one pair that leave no room for one another."""
    one, two = _ends(pair)
    either = beliefs.get(frozenset((one, two)))
    arcs = [beliefs[arc] for arc in ((one, two), (two, one)) if arc in beliefs]
    if either is None and not sum(arcs) < 1:
        raise KnowledgeError(
            f"the beliefs about {one} -> {two} and {two} -> {one} add up to {sum(arcs):g}; they must add up "
            f"to less than 1, since there may be no arc"
        )
    if either is not None and len(arcs) == 2:
        raise KnowledgeError(
            f"there are beliefs about {one} -> {two}, {two} -> {one} and {one} -- {two}; two of them give "
            f"the third, so drop one"
        )
    if either is not None and arcs and not arcs[0] < either:
        raise KnowledgeError(
            f"an arc between {one} and {two} in one direction has the belief {arcs[0]:g}, which must be less "
            f"than that in either direction, {either:g}"
        )
