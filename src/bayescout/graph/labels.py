"""Labels at the door: what may name a node, and how graphs are shown in a line."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set

from bayescout.errors import GraphError, printable

Label = Hashable
Arc = tuple[Label, Label]

MAX_SHOWN = 8
"""How many arcs or labels a line lists before it says how many there are."""


def shown(parts: Sequence[str]) -> str:
    """The first few arcs of a repr, after a colon."""
    if not parts:
        return ""
    more = f", ... {len(parts) - MAX_SHOWN} more" if len(parts) > MAX_SHOWN else ""
    return ": " + ", ".join(map(printable, parts[:MAX_SHOWN])) + more


def as_pairs(arcs: Iterable[object], ordered: bool) -> list[Arc]:
    """Label pairs; where their order decides the order of the nodes, a set will not do."""
    if ordered and isinstance(arcs, set | frozenset):
        raise GraphError(
            "a set of arcs has no order to list the nodes in; give `nodes`, or the arcs as a list"
        )
    return [_as_pair(arc) for arc in arcs]


def _as_pair(arc: object) -> Arc:
    """A pair of labels; a string or a set, which has no order to trust, is not one."""
    if isinstance(arc, Iterable) and not isinstance(arc, str | bytes | Set | Mapping):
        ends = tuple(arc)
        if len(ends) == 2 and all(is_hashable(end) for end in ends):
            return ends[0], ends[1]
    raise GraphError(f"an arc is a (parent, child) pair of labels, not {arc!r}")


def check_nodes(nodes: Iterable[Label]) -> tuple[Label, ...]:
    """The labels as a tuple, each of them hashable and there once."""
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
    """Refuse graphs over different labels, and name those only one of them has."""
    odd = []
    for name, mine, others in ((one_name, one, set(two)), (two_name, two, set(one))):
        extra = [label for label in mine if label not in others]
        if extra:
            odd.append(f"only {name} has {quoted(extra)}")
    if odd:
        raise GraphError(f"the two graphs must have the same nodes; {' and '.join(odd)}")


def quoted(labels: Sequence[Label], limit: int = MAX_SHOWN) -> str:
    """The first few labels of a message, and how many more there are."""
    more = f" and {len(labels) - limit:,} more" if len(labels) > limit else ""
    return ", ".join(repr(label) for label in labels[:limit]) + more


def counted(number: int, noun: str) -> str:
    """`1 arc`, `1,041 nodes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def graph_size(nodes: int, arcs: int) -> str:
    """`37 nodes, 46 arcs`."""
    return f"{counted(nodes, 'node')}, {counted(arcs, 'arc')}"


def is_hashable(label: object) -> bool:
    """Whether a value can be a label or a state; a tuple that holds a list only claims to be."""
    try:
        hash(label)
    except (TypeError, ValueError):  # the latter by NumPy's durations that have no unit
        return False
    return True
