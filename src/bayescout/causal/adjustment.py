"""Adjustment: which variables to hold fixed so that data show the effect of one variable on another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice
from typing import Any

from bayescout.causal.paths import CausalPaths, causal_paths
from bayescout.causal.separators import minimal_d_separators
from bayescout.display import ShownText
from bayescout.errors import GraphError, printable
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, quoted
from bayescout.graph.orders import reach
from bayescout.graph.pdag import Pdag
from bayescout.graph.separation import d_connected

MOST_LISTED = 1_000
"""The most sets that a property lists; `all` gives them one by one without end."""

MOST_TRIED = 100_000
"""The most sets tried in search of a front door."""

Set = tuple[Label, ...]


@dataclass(frozen=True)
class Instrument:
    """A variable that moves x and reaches y through x alone, once the given ones are held fixed."""

    variable: Label
    given: Set = ()

    def __str__(self) -> str:
        return printable(
            f"{self.variable}{' given ' + ', '.join(map(str, self.given)) if self.given else ''}"
        )


@dataclass(frozen=True, repr=False)
class AdjustmentSets(ShownText):
    """The ways to learn the effect of x on y from data in which nobody acted.

    exists       True if there is a set to adjust for; the empty set is one
    minimal      every set of which no part would do, smallest first (at most 1,000)
    optimal      the set with the least variance of the estimate (Henckel, Perkovic & Maathuis 2022); None if
                 it has a latent variable, or if there is none
    front_door   the smallest sets through which all of the effect passes, for the front-door formula
    instruments  variables that move x and reach y through x alone, with what to hold fixed
    latent       the variables that no set may use

    Iterating gives the minimal sets. `len` of no set and of one empty set differ: 0 and 1.
    """

    graph: Dag | Pdag
    x: Label
    y: Label
    latent: Set
    paths: CausalPaths

    def is_valid(self, adjusted: Label | Iterable[Label]) -> bool:
        """Return True if adjusting for these variables shows the effect (Perkovic et al. 2018)."""
        return self._shows_effect(self.paths.dag.indices(adjusted))

    def _shows_effect(self, chosen: Collection[int]) -> bool:
        if not set(self._allowed).issuperset(chosen):
            return False
        return _separated(self.paths.without_them, self.paths.x, self.paths.y, chosen)

    @cached_property
    def _hidden(self) -> frozenset[int]:
        return frozenset(map(self.graph.index, self.latent))

    @cached_property
    def _allowed(self) -> tuple[int, ...]:
        out = self.paths.forbidden | self._hidden
        return tuple(v for v in range(len(self.paths.dag)) if v not in out)

    @cached_property
    def exists(self) -> bool:
        return bool(self.minimal)

    @cached_property
    def minimal(self) -> tuple[Set, ...]:
        found = minimal_d_separators(self.paths.without_them, self.paths.x, self.paths.y, self._allowed)
        sets = sorted(islice(found, MOST_LISTED), key=lambda some: (len(some), some))
        return tuple(self._labels(some) for some in sets)

    def all(self) -> Iterator[Set]:
        """Every valid set one by one, smaller ones first: up to 2 to the number of variables."""
        sizes = range(len(self._allowed) + 1)
        for some in chain.from_iterable(combinations(self._allowed, size) for size in sizes):
            if self._shows_effect(some):
                yield self._labels(some)

    @cached_property
    def optimal(self) -> Set | None:
        found = {parent for parent, child in _arcs(self.graph) if child in self.paths.between}
        chosen = sorted(found - self.paths.forbidden)
        return self._labels(chosen) if self._shows_effect(chosen) else None

    @cached_property
    def front_door(self) -> tuple[Set, ...]:
        dag = self._whole_dag("a front door")
        found = front_doors(dag, self.paths.x, self.paths.y, self._hidden)
        return tuple(self._labels(some) for some in found)

    @cached_property
    def instruments(self) -> tuple[Instrument, ...]:
        self._whole_dag("an instrument")
        found = instruments(self.paths, self._hidden)
        return tuple(Instrument(self.graph.nodes[v], self._labels(given)) for v, given in found)

    def _whole_dag(self, what: str) -> Dag:
        if isinstance(self.graph, Pdag):
            raise GraphError(f"{what} is found in a DAG, and this is a class of them; give one of its DAGs")
        return self.graph

    def _labels(self, positions: Iterable[int]) -> Set:
        return tuple(self.graph.nodes[v] for v in positions)

    def __iter__(self) -> Iterator[Set]:
        return iter(self.minimal)

    def __len__(self) -> int:
        return len(self.minimal)

    def __bool__(self) -> bool:
        return self.exists

    def to_dict(self) -> dict[str, Any]:
        """The sets for JSON; `optimal` is null if there is none."""
        whole = isinstance(self.graph, Dag)
        return {
            "x": self.x,
            "y": self.y,
            "latent": list(self.latent),
            "exists": self.exists,
            "minimal": [list(some) for some in self.minimal],
            "optimal": None if self.optimal is None else list(self.optimal),
            "front_door": [list(some) for some in self.front_door] if whole else None,
            "instruments": [[one.variable, list(one.given)] for one in self.instruments] if whole else None,
        }

    def __str__(self) -> str:
        lines = [f"effect of {printable(self.x)} on {printable(self.y)}"]
        if self.exists:
            lines.append("  adjust for    " + " or ".join(map(_shown, self.minimal[:5])))
            if len(self.minimal) > 5:
                lines[-1] += f" or {len(self.minimal) - 5:,} more"
        else:
            lines.append("  adjust for    no set of the variables will do")
        if self.optimal is not None:
            lines.append(f"  most precise  {_shown(self.optimal)}")
        if isinstance(self.graph, Dag):
            if self.front_door:
                lines.append("  front door    " + " or ".join(map(_shown, self.front_door[:5])))
            if self.instruments:
                lines.append("  instruments   " + "; ".join(map(str, self.instruments[:5])))
        return "\n".join(lines)


def adjustment_sets(graph: Any, x: Label, y: Label, latent: Label | Iterable[Label] = ()) -> AdjustmentSets:
    """The sets of variables to adjust for to learn the effect of x on y, front doors and instruments.

    `graph` is a DAG, a class of DAGs (CPDAG), a network or a result, of which the class is taken. `latent`
    names variables of the graph that were not measured. Sets follow the generalised adjustment criterion,
    which is complete: if it finds none, none does.
    """
    graph = as_graph(graph)
    if isinstance(graph, Pdag) and not graph.undirected and not graph.is_cpdag():
        graph = graph.to_dag()  # knowledge or interventions have left one DAG of the class
    paths = causal_paths(graph, x, y)
    hidden = paths.dag.indices(latent)
    ends = [label for label in (x, y) if graph.index(label) in hidden]
    if ends:
        raise GraphError(f"the effect is of {x!r} on {y!r}, so {quoted(ends)} cannot be latent")
    labels = tuple(graph.nodes[v] for v in sorted(set(hidden)))
    return AdjustmentSets(graph, x, y, labels, paths)


def as_graph(graph: Any) -> Dag | Pdag:
    """The graph of anything that has one: of a result its class, of a network its DAG."""
    if isinstance(graph, Dag | Pdag):
        return graph
    for name in ("cpdag", "dag"):
        found = getattr(graph, name, None)
        if isinstance(found, Dag | Pdag):
            return found
    raise GraphError(
        f"a graph is a Dag, a Pdag, a network or a result of learning, not {type(graph).__name__}; make one "
        f"with Dag.from_arcs"
    )


def _arcs(graph: Dag | Pdag) -> Iterable[tuple[int, int]]:
    """The directed edges, in positions."""
    if isinstance(graph, Pdag):
        return graph.directed
    return ((parent, child) for child, parents in enumerate(graph.parents) for parent in parents)


def _shown(labels: Set) -> str:
    return "{" + ", ".join(map(printable, labels)) + "}" if labels else "nothing (the empty set)"


def _separated(parents: tuple[tuple[int, ...], ...], a: int, b: int, given: Collection[int]) -> bool:
    return not d_connected(Dag(tuple(range(len(parents))), parents), [a], given)[b]


# ---- front doors


def front_doors(dag: Dag, x: int, y: int, latent: Collection[int]) -> list[tuple[int, ...]]:
    """The smallest sets Z that carry the whole effect: a front door (Pearl 1995).

    All directed paths from x to y pass Z, no back-door path joins x to Z, and x blocks those from Z to y. The
    largest set that meets the last two conditions is found first (Jeong, Tian & Bareinboim 2022); if it does
    not carry the effect, no set does.
    """
    others = [v for v in range(len(dag)) if v not in (x, y) and v not in latent]
    apart = d_connected(_without_arcs_from(dag, {x}), [x], ())
    largest = {v for v in others if not apart[v]}
    while True:
        reached = d_connected(_without_arcs_from(dag, largest), [y], {x})
        fewer = {v for v in largest if not reached[v]}
        if fewer == largest:
            break
        largest = fewer
    if not _carries(dag, x, y, largest):
        return []
    found: list[tuple[int, ...]] = []
    tried = 0
    for size in range(1, len(largest) + 1):
        for some in combinations(sorted(largest), size):
            tried += 1
            if tried > MOST_TRIED:
                return found or [tuple(sorted(largest))]
            if _carries(dag, x, y, some) and _is_shut(dag, x, y, some):
                found.append(some)
        if found:
            return found
    return found


def _without_arcs_from(dag: Dag, nodes: Collection[int]) -> Dag:
    parents = tuple(tuple(p for p in some if p not in nodes) for some in dag.parents)
    return Dag(dag.nodes, parents)


def _carries(dag: Dag, x: int, y: int, some: Collection[int]) -> bool:
    """Return True if every directed path from x to y passes one of these."""
    cut = tuple(() if node in some else children for node, children in enumerate(dag.children))
    return not reach(cut, [x])[y]


def _is_shut(dag: Dag, x: int, y: int, some: Collection[int]) -> bool:
    """Return True if x blocks every back-door path from these to y."""
    reached = d_connected(_without_arcs_from(dag, some), [y], {x})
    return not any(reached[v] for v in some)


# ---- instruments


def instruments(paths: CausalPaths, latent: Collection[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Each instrument with the smallest set to hold fixed.

    Without the first arcs of the causal paths, the set separates the instrument from y; in the whole graph
    the instrument stays joined to x given it. Descendants of x are held fixed by none.
    """
    dag, x, y = paths.dag, paths.x, paths.y
    after = reach(dag.children, [x])
    free = [v for v in range(len(dag)) if not after[v] and v not in latent and v != y]
    found = []
    for node in free:
        others = [v for v in free if v != node]
        listed = islice(minimal_d_separators(paths.without_them, node, y, others), MOST_LISTED)
        for given in sorted(listed, key=lambda some: (len(some), some)):
            if d_connected(dag, [node], given)[x]:
                found.append((node, given))
                break
    return found
