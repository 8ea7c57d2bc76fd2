"""The worth of one arc: the score without it, reversed or added, and the counts behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Floats
from bayescout.data.table import Table
from bayescout.display import Grid, Shown, own_name
from bayescout.errors import GraphError, printable
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from bayescout.scores import Scorer
from bayescout.search.frame.knowledge import Rules
from bayescout.statistics.dependencies import CachedTest

Label = Hashable

DECIDED = {
    "required": "the knowledge requires the arc",
    "independences": "every graph that implies the same independences has the arc this way round",
    "model": "a discrete node has no continuous parents under this score",
    "knowledge": "the knowledge forbids the arc the other way round",
    "acted": "rows in which somebody acted tell it",
    "others": "it follows from other arcs, whose direction is decided in one of these ways",
}
"""What can decide the direction of an arc."""


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """The arc between two variables, or its absence.

    parent, child   the arc a -> b or b -> a that is in the graph, or a -> b if there is none
    present         True if the arc is in the graph
    remove          change of the score when it is removed; None if it is absent
    reverse         change when it is reversed; None if absent or if that would close a cycle
    add             change when a -> b is added; None if an arc is present or a cycle would close
    cycle           the cycle that reversing or adding would close, as labels, first = last; else empty
    compelled       True if every graph of the equivalence class has the arc in this direction
    decided         by what, a key of DECIDED; empty if the direction is open or there is no arc
    counts          the counts of the child, by the states of the other: {state: {child state: count}}
                    (empty for continuous columns)
    groups          of a discrete and a continuous variable: the rows in each state of the one, with the mean
                    and the deviation of the other there; None where a state has no rows
    correlation     of two continuous variables; None for others, and where one of them is constant
    tests           the tests of independence that the search made of the pair and kept
    required        True if the knowledge requires the arc
    forbidden       True if the knowledge or the score's model forbids the change: to reverse the arc, or to
                    add it
    barred          True if the score's model does: a continuous parent of a discrete node
    prior           the structure prior's part of `remove`, `reverse` and `add`, by name; None if the prior is
                    uniform

    The arc is described as it is in the graph: if that has b -> a, parent is b, and `reverse` makes a -> b.
    """

    parent: Label
    child: Label
    present: bool
    remove: float | None
    reverse: float | None
    add: float | None
    cycle: tuple[Label, ...]
    compelled: bool
    counts: dict[Label, dict[Label, float]]
    tests: tuple[CachedTest, ...] = ()
    required: bool = False
    forbidden: bool = False
    barred: bool = False
    prior: dict[str, float] | None = None
    decided: str = ""
    groups: Mapping[Label, tuple[float, float | None, float | None]] = field(default_factory=dict)
    correlation: float | None = None

    def _told(self, change: str) -> str:
        """A change of the score, with the prior's part of it."""
        value: float | None = getattr(self, change)
        part = "" if self.prior is None else f" ({self.prior[change]:+.3f} by the prior)"
        return f"{value:+.3f}{part}"

    def __str__(self) -> str:
        arc = f"{self.parent} -> {self.child}"
        path = " -> ".join(str(label) for label in self.cycle)
        tested = "".join(f"; {one.told(', '.join(map(str, one.given)))}" for one in self.tests)
        if not self.present:
            worth = (
                f"would close the cycle {path}" if path else f"would change the score by {self._told('add')}"
            )
            if self.barred:
                return printable(
                    f"{arc} is not in the graph and cannot be: a discrete node has no continuous parents "
                    f"under this score{tested}"
                )
            known = " and the knowledge forbids it" if self.forbidden else ""
            return printable(f"{arc} is not in the graph{known}; adding it {worth}{tested}")
        kind = "compelled" if self.compelled else "reversible"
        turned = f"would close the cycle {path}" if path else self._told("reverse")
        if self.barred:
            turned = "it cannot be: a discrete node has no continuous parents under this score"
        elif self.forbidden:
            turned += " (forbidden by the knowledge)"
        kind += ", required by the knowledge" if self.required else ""
        return printable(
            f"{arc} is in the graph ({kind} in its class); "
            f"without it {self._told('remove')}; turned round {turned}{tested}"
        )

    def _changes(self) -> dict[str, float]:
        """The changes of the score that are possible, by what is done to the arc."""
        found = {"removed": self.remove, "turned round": self.reverse, "added": self.add}
        return {name: value for name, value in found.items() if value is not None and np.isfinite(value)}

    def _grid(self) -> Grid:
        """The sentence, the changes of the score, and what the data show of the pair."""
        if self.groups:
            return self._grid_of_groups()
        states = list(next(iter(self.counts.values()), {}))
        rows = [
            (f"score if {name}", f"{value:+.3f}", *[""] * len(states))
            for name, value in self._changes().items()
        ]
        rows += [
            (f"{self.parent}={state}", "", *(f"{count:,g}" for count in row.values()))
            for state, row in self.counts.items()
        ]
        if self.correlation is not None:
            rows.append(("correlation", f"{self.correlation:+.3f}"))
        names = ("", "change", *(f"{self.child}={state}" for state in states))
        return Grid(str(self), names, tuple(rows), len(names) - 1)

    def _grid_of_groups(self) -> Grid:
        """The same of a discrete and a continuous variable."""
        rows: list[tuple[str, ...]] = [
            (f"score if {name}", f"{value:+.3f}", "", "", "") for name, value in self._changes().items()
        ]
        rows += [
            (str(state), "", f"{count:,g}", *("" if value is None else f"{value:,.4g}" for value in moments))
            for state, (count, *moments) in self.groups.items()
        ]
        return Grid(str(self), ("", "change", "rows", "mean", "deviation"), tuple(rows), 4)

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        """The counts, one row per pair of states; or the groups, one row per state."""
        if self.groups:
            found = list(zip(*self.groups.values(), strict=True))
            columns: dict[Hashable, Sequence[Any]] = {"state": list(self.groups)}
            return columns | dict(zip(("rows", "mean", "deviation"), map(list, found), strict=True))
        cells = [(a, b, float(n)) for a, row in self.counts.items() for b, n in row.items()]
        return {
            self.parent: [cell[0] for cell in cells],
            self.child: [cell[1] for cell in cells],
            own_name("count", (self.parent, self.child)): [cell[2] for cell in cells],
        }

    def __repr__(self) -> str:
        return self._grid().text()


def explain(
    dag: Dag,
    cpdag: Pdag,
    table: Table,
    scores: Scorer,
    a: Label,
    b: Label,
    rules: Rules,
    tests: tuple[CachedTest, ...] = (),
    own_class: Pdag | None = None,
    told: Collection[tuple[int, int]] = (),
) -> Explanation:
    """The explanation of the pair; `scores` refers to the columns of `table`, `rules` to the nodes.

    `own_class` is the class of the graph alone, `told` the arcs whose direction interventions tell.
    """
    if a == b:
        raise GraphError(f"an arc joins two variables, not {a!r} with itself")
    present = dag.has_arc(a, b) or dag.has_arc(b, a)
    parent, child = (b, a) if dag.has_arc(b, a) else (a, b)

    def placed(node: Label, parents: tuple[Label, ...]) -> Family:
        return table.index(node), tuple(sorted(table.index(p) for p in parents))

    tail, head = dag.index(parent), dag.index(child)
    required = bool(present and rules.required[tail, head])
    forbidden = not (rules.allowed[head, tail] and not required if present else rules.allowed[tail, head])
    cycle = _path(dag.remove_arc(parent, child), parent, child) if present else _path(dag, child, parent)
    arc = (dag, parent, child, bool(cycle))
    worth = _changes(*arc, lambda *family: scores.local(*placed(*family)))
    weighed = _changes(*arc, lambda *family: float(scores.log_priors([placed(*family)])[0]))
    barred = _is_barred(scores, table, (child, parent) if present else (parent, child))
    compelled = present and cpdag.compelled(parent, child)
    whys = {
        "required": required,
        "independences": compelled and (own_class or cpdag).compelled(parent, child),
        "model": barred,
        "knowledge": forbidden,
        "acted": (tail, head) in told,
        "others": True,
    }
    decided = next(why for why, holds in whys.items() if holds) if compelled else ""
    return Explanation(
        parent=parent,
        child=child,
        present=present,
        remove=worth.get("remove"),
        reverse=worth.get("reverse"),
        add=worth.get("add"),
        cycle=(*cycle, cycle[0]) if cycle else (),
        compelled=compelled,
        decided=decided,
        counts=_counts(table, parent, child),
        groups=_groups(table, parent, child),
        correlation=_correlation(table, parent, child),
        tests=tests,
        required=required,
        forbidden=forbidden,
        barred=barred,
        prior=None if scores.prior is None else weighed,
    )


def _changes(
    dag: Dag, parent: Label, child: Label, closes: bool, local: Callable[[Label, tuple[Label, ...]], float]
) -> dict[str, float]:
    """The change of a sum over families by each change of an arc that is possible."""
    own, other = dag.parents_of(child), dag.parents_of(parent)
    if parent not in own:
        return {} if closes else {"add": local(child, (*own, parent)) - local(child, own)}
    found = {"remove": local(child, tuple(p for p in own if p != parent)) - local(child, own)}
    if not closes:
        turned = local(parent, (*other, child)) - local(parent, other)
        found["reverse"] = found["remove"] + turned
    return found


def _is_barred(scores: Scorer, table: Table, arc: tuple[Label, Label]) -> bool:
    """Return True if the score's model cannot have the arc."""
    legal = scores.legal
    return legal is not None and not legal[table.index(arc[0]), table.index(arc[1])]


def _path(dag: Dag, source: Label, target: Label) -> tuple[Label, ...]:
    """A shortest directed path, or an empty one."""
    before: dict[Label, Label] = {}
    waiting = [source]
    for node in waiting:
        for child in dag.children_of(node):
            if child not in before and child != source:
                before[child] = node
                waiting.append(child)
    if target not in before:
        return ()
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return tuple(reversed(path))


def _counts(table: Table, parent: Label, child: Label) -> dict[Label, dict[Label, float]]:
    pair = (table.unset(child) or table).select((parent, child))  # rows that tell how the child comes about
    if not pair.is_discrete:
        return {}
    from bayescout.statistics.counts import dense_counts

    rows: Any = dense_counts(pair, 1, (0,)).tolist()
    of_parent, of_child = pair.states
    assert of_parent is not None
    assert of_child is not None
    return {state: dict(zip(of_child, row, strict=True)) for state, row in zip(of_parent, rows, strict=True)}


def _numbers(table: Table, child: Label, *names: Label) -> tuple[Table, NDArray[np.bool_], Floats]:
    """The rows that tell how the child comes about, which of them have these cells, and their weights."""
    rows = table.unset(child) or table
    there = ~np.logical_or.reduce([rows.missing_cells(name) for name in names])
    weights = np.ones(rows.n_rows) if rows.weights is None else np.asarray(rows.weights, dtype=float)
    return rows, there, weights[there]


def _groups(
    table: Table, parent: Label, child: Label
) -> dict[Label, tuple[float, float | None, float | None]]:
    discrete = [name for name in (parent, child) if table.states[table.index(name)] is not None]
    if len(discrete) != 1:
        return {}
    by, other = discrete[0], child if discrete[0] == parent else parent
    rows, there, weights = _numbers(table, child, parent, child)
    codes, values = rows.array(by)[there], rows.array(other)[there]
    found: dict[Label, tuple[float, float | None, float | None]] = {}
    for code, state in enumerate(rows.states[rows.index(by)] or ()):
        own, share = values[codes == code], weights[codes == code]
        if not (count := float(share.sum())):
            found[state] = (0.0, None, None)
            continue
        mean = float(np.average(own, weights=share))
        found[state] = (count, mean, float(np.sqrt(np.average((own - mean) ** 2, weights=share))))
    return found


def _correlation(table: Table, one: Label, other: Label) -> float | None:
    if any(table.states[table.index(name)] is not None for name in (one, other)):
        return None
    rows, there, weights = _numbers(table, other, one, other)
    if not weights.sum():
        return None
    both = [rows.array(name)[there] for name in (one, other)]
    first, second = (values - np.average(values, weights=weights) for values in both)
    spread = float(np.sqrt(np.average(first**2, weights=weights) * np.average(second**2, weights=weights)))
    return float(np.average(first * second, weights=weights)) / spread if spread else None
