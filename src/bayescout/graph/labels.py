"""Labels of nodes: checks, and one-line texts of graphs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set

from bayescout.errors import GraphError, printable

Label = Hashable
Arc = tuple[Label, Label]

MAX_SHOWN = 8
"""Number of arcs or labels that a line lists; the rest are counted."""


def shown(parts: Sequence[str], count: int | None = None) -> str:
    """The first few arcs of a repr, after a colon; `count` is how many there are, if these are not all."""
    if not parts:
        return ""
    rest = (len(parts) if count is None else count) - MAX_SHOWN
    more = f", ... {rest} more" if rest > 0 else ""
    return ": " + ", ".join(map(printable, parts[:MAX_SHOWN])) + more


def as_pairs(arcs: Iterable[object], ordered: bool) -> list[Arc]:
    """The arcs as label pairs; refuse a set if their order decides the order of the nodes."""
    if ordered and isinstance(arcs, set | frozenset):
        raise GraphError(
            "a set of arcs has no order to list the nodes in; give `nodes`, or the arcs as a list"
        )
    return [_as_pair(arc) for arc in arcs]


def _as_pair(arc: object) -> Arc:
    """The arc as a pair of labels; refuse a string, or a set, which has no order."""
    if isinstance(arc, Iterable) and not isinstance(arc, str | bytes | Set | Mapping):
        ends = tuple(arc)
        if len(ends) == 2 and all(is_hashable(end) for end in ends):
            return ends[0], ends[1]
    raise GraphError(f"an arc is a (parent, child) pair of labels, not {arc!r}")


def check_nodes(nodes: Iterable[Label]) -> tuple[Label, ...]:
    """The labels as a tuple; refuse duplicates and labels that are not hashable."""
    if isinstance(nodes, set | frozenset):
        raise GraphError("the nodes of a graph have an order, which a set does not; give a list")
    nodes = tuple(nodes)
    seen: set[Label] = set()
    for label in nodes:
        if not is_hashable(label):
            raise GraphError(
                f"node {label!r} cannot be a label; use a string, a number or another hashable value"
            )
        if label in seen:
            raise GraphError(f"node {label!r} occurs more than once; every node needs a name of its own")
        seen.add(label)
    return nodes


def check_same_nodes(one: Sequence[Label], two: Sequence[Label], one_name: str, two_name: str) -> None:
    """Refuse graphs over different labels, and name those that only one of them has."""
    odd = []
    for name, mine, others in ((one_name, one, set(two)), (two_name, two, set(one))):
        extra = [label for label in mine if label not in others]
        if extra:
            odd.append(f"only {name} has {quoted(extra)}")
    if odd:
        raise GraphError(f"the two graphs must have the same nodes; {' and '.join(odd)}")


def quoted(labels: Sequence[Label], limit: int = MAX_SHOWN) -> str:
    """The first few labels, for a message, and the number of further ones."""
    more = f" and {len(labels) - limit:,} more" if len(labels) > limit else ""
    return ", ".join(repr(label) for label in labels[:limit]) + more


def counted(number: int, noun: str) -> str:
    """A number with its noun, as in `1 arc` or `1,041 nodes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def graph_size(nodes: int, arcs: int) -> str:
    """The size of a graph, as in `37 nodes, 46 arcs`."""
    return f"{counted(nodes, 'node')}, {counted(arcs, 'arc')}"


def is_hashable(label: object) -> bool:
    """Return True if a value can be a label or a state; a tuple that holds a list cannot."""
    try:
        hash(label)
    except (TypeError, ValueError):  # ValueError by NumPy's durations without a unit
        return False
    return True
