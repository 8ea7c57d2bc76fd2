"""A network as a file lists it, names not yet resolved, and the checks that all formats share.

A reader makes one `Draft`, with a `DraftNode` per node; `Draft.network()` checks and orders it. Tables are
in the order of the file's parents, the last of them fastest, and the node's own states faster still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import first_repeated
from bayescout.errors import (
    BayescoutError,
    FormatError,
    TooLargeError,
    UnknownNameError,
    warn,
)
from bayescout.formats.facts import ROUNDING_TOLERANCE, Facts
from bayescout.formats.text import Source, check_number_of_nodes, cycles_of
from bayescout.graph.dag import Dag
from bayescout.graph.labels import counted
from bayescout.network import (
    ConditionalGaussian,
    DiscreteNetwork,
    GaussianNetwork,
    LinearGaussian,
    Network,
    NodeDistribution,
    Tabular,
)
from bayescout.network.tabular import MAX_PARENTS, ROW_SUM_TOLERANCE, too_many_parents

Array = NDArray[np.float64]

PRINTED_TOLERANCE = 2e-3
"""The largest deviation from one of the sum of a row's printed digits: three digits, or many states of four.
Such a row is divided by its sum, with a warning if it is off by more than a network may be; beyond it
the row is refused. The files of the Bayesian Network Repository are within 3e-7."""

MAX_CELLS = 2**25
"""The most numbers in the tables of a file (256 MiB): with `default`, a few lines can ask for any number."""


@dataclass(frozen=True)
class Line:
    """A regression of a continuous node: intercept, coefficients by the parents' names, variance."""

    intercept: float
    coefficients: dict[str, float]
    variance: float


@dataclass
class DraftNode:
    """One node of a file; `at` is its position in the text, `table_at` that of its parameters.

    states  of a discrete node; None for a continuous one
    table   of a discrete node; None until the file has given it
    lines   of a continuous node, one per configuration of its discrete parents, the last fastest
    """

    name: str
    at: int
    facts: Facts
    states: list[str] | None = None
    parents: list[str] = field(default_factory=list)
    table: Sequence[float] | Array | None = None
    lines: list[Line] | None = None
    table_at: int = 0


@dataclass
class Draft:
    """The nodes of a file, in its order, with the facts of the whole network."""

    source: Source
    facts: Facts
    name: str = ""
    nodes: list[DraftNode] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    off: list[float] = field(default_factory=list)

    def add(self, node: DraftNode) -> DraftNode:
        """Add a node; a second one of the same name is refused."""
        if node.name in self.places:
            raise self.source.error(f"node {node.name!r} is declared twice", node.at)
        check_number_of_nodes(len(self.nodes) + 1, self.source.path)
        self.places[node.name] = len(self.nodes)
        self.nodes.append(node)
        return node

    def find(self, name: str, at: int) -> DraftNode:
        """The node of this name."""
        if name not in self.places:
            raise self.source.error(str(UnknownNameError("node", name, self.places)), at)
        return self.nodes[self.places[name]]

    def network(self) -> Network:
        """The network, checked; an error names the line."""
        if not self.nodes:
            raise FormatError("no node is declared; a network has at least one", self.source.path)
        self._put_in_order()
        for node in self.nodes:
            self._check_node(node)
        self._check_sizes()
        dag = self._dag()
        made = [self._distribution(node) for node in self.nodes]
        self._warn_normalised()
        try:
            return _of_one_kind(dag, made, self.facts.name(self.name))
        except FormatError:
            raise
        except BayescoutError as error:
            raise FormatError(str(error), self.source.path) from None

    def _put_in_order(self) -> None:
        """Put the nodes in the order that a fact gives, if one does."""
        order = self.facts.order(len(self.nodes))
        if order is not None:
            self.nodes = [
                node for _, node in sorted(zip(order, self.nodes, strict=True), key=lambda one: one[0])
            ]
            self.places = {node.name: place for place, node in enumerate(self.nodes)}

    # ---- checks

    def _check_node(self, node: DraftNode) -> None:
        for parent in node.parents:
            self.find(parent, node.table_at)
        if len(set(node.parents)) < len(node.parents):
            raise self.source.error(f"node {node.name!r} lists a parent twice", node.table_at)
        if len(node.parents) > MAX_PARENTS:
            raise self.source.error(too_many_parents(node.name, len(node.parents)), node.table_at)
        if (node.table if node.states is not None else node.lines) is None:
            raise self.source.error(f"node {node.name!r} has no probabilities", node.at)
        if node.states is None:
            return
        if not node.states:
            raise self.source.error(f"node {node.name!r} has no states", node.at)
        twice = first_repeated(node.states)
        if twice is not None:
            raise self.source.error(
                f"node {node.name!r} lists the state {node.states[twice]!r} twice", node.at
            )

    def _shape(self, node: DraftNode) -> tuple[int, ...]:
        """The number of states of each discrete parent, in the file's order."""
        given = (self.nodes[self.places[parent]].states for parent in node.parents)
        return tuple(len(states) for states in given if states is not None)

    def _check_sizes(self) -> None:
        """Refuse tables that would not fit, before one is made, and those that have another size."""
        total = 0
        for node in self.nodes:
            rows = math.prod(self._shape(node))
            cells = rows * len(node.states or [None])
            total += cells
            if total > MAX_CELLS:
                raise TooLargeError(
                    f"{self.source.path}: the tables up to that of {node.name!r} have {total:,} numbers, "
                    f"more than {MAX_CELLS:,}; use fewer parents"
                )
            found = len(node.table) if node.table is not None else len(node.lines or ())
            if found != cells:
                what = "numbers" if node.table is not None else "normal distributions"
                raise self.source.error(
                    f"node {node.name!r} has {found:,} {what}; its states and those of its parents ask for "
                    f"{cells:,}",
                    node.table_at,
                )

    def _dag(self) -> Dag:
        labels = tuple(node.facts.label(node.name) for node in self.nodes)
        if len(set(labels)) < len(labels):
            raise FormatError("two nodes have the same bayescout_label", self.source.path)
        parents = tuple(tuple(self.places[parent] for parent in node.parents) for node in self.nodes)
        with cycles_of(f"{self.source.path}: the network"):
            return Dag(labels, parents)

    # ---- nodes

    def _distribution(self, node: DraftNode) -> NodeDistribution:
        if node.states is not None:
            return self._tabular(node)
        return self._gaussian(node)

    def _tabular(self, node: DraftNode) -> Tabular:
        shape, size = self._shape(node), len(node.states or ())
        for parent in node.parents:
            if self.nodes[self.places[parent]].states is None:
                raise self.source.error(
                    f"discrete node {node.name!r} has the continuous parent {parent!r}, for which there is "
                    f"no table; discretise {parent!r}, or reverse the arc",
                    node.table_at,
                )
        values = np.array(node.table, dtype=np.float64).reshape(math.prod(shape), size)
        self._check_rows(node, values)
        axes = self._axes(node.parents)
        table = values.reshape(*shape, size).transpose(*axes, len(axes))
        mask = node.facts.undefined(len(values)).reshape(shape).transpose(axes)
        states = node.facts.states(node.states or [])
        return Tabular(
            states,
            np.array(table, order="C"),
            np.array(mask, order="C"),
            node.facts.cuts(states),
            node.facts.missing(states),
        )

    def _axes(self, parents: Sequence[str]) -> list[int]:
        """The positions in the file of the parents in the order of the graph."""
        found: list[int] = np.argsort([self.places[parent] for parent in parents], kind="stable").tolist()
        return found

    def _check_rows(self, node: DraftNode, values: Array) -> None:
        """Refuse what are no probabilities; divide rows whose printed digits do not quite sum to one."""
        wrong = np.argwhere(~(np.isfinite(values) & (values >= 0)))
        if len(wrong):
            row, state = wrong[0].tolist()
            raise self.source.error(
                f"{self._named(node, row)} has {float(values[row, state]):g}, which is not a probability",
                node.table_at,
            )
        sums = values.sum(axis=1)
        off = np.abs(sums - 1)
        if len(off) and off.max() > PRINTED_TOLERANCE:
            row = int(np.argmax(off > PRINTED_TOLERANCE))
            raise self.source.error(
                f"{self._named(node, row)} sums to {sums[row]:.6g}, more than {PRINTED_TOLERANCE:g} "
                f"away from 1; correct the row or divide it by its sum",
                node.table_at,
            )
        rough = off > (ROW_SUM_TOLERANCE if self.facts.as_written else ROUNDING_TOLERANCE)
        values[rough] /= sums[rough, None]
        self.off.extend(off[off > ROW_SUM_TOLERANCE].tolist())

    def _named(self, node: DraftNode, row: int) -> str:
        """P(child | parent=state, ...), for an error."""
        codes = np.unravel_index(row, self._shape(node)) if node.parents else ()
        given = ", ".join(
            f"{parent}={(self.nodes[self.places[parent]].states or [])[int(code)]}"
            for parent, code in zip(node.parents, codes, strict=True)
        )
        return f"P({node.name}{' | ' + given if given else ''})"

    def _gaussian(self, node: DraftNode) -> NodeDistribution:
        lines = node.lines or []
        discrete = [p for p in node.parents if self.nodes[self.places[p]].states is not None]
        numeric = sorted((p for p in node.parents if p not in discrete), key=self.places.__getitem__)
        for line in lines:
            strange = next((name for name in line.coefficients if name not in numeric), None)
            if strange is not None:
                raise self.source.error(
                    f"node {node.name!r} is a function of {strange!r}, which is no continuous parent of it",
                    node.table_at,
                )
            numbers = (line.intercept, line.variance, *line.coefficients.values())
            if not all(map(math.isfinite, numbers)) or line.variance < 0:
                raise self.source.error(
                    f"node {node.name!r} has a variance below 0, or a number that is not finite",
                    node.table_at,
                )
        weights = np.array(
            [[one.coefficients.get(p, 0.0) for p in numeric] for one in lines], dtype=np.float64
        )
        if not discrete:
            return LinearGaussian(lines[0].intercept, weights[0], lines[0].variance)
        shape, axes = self._shape(node), self._axes(discrete)
        ordered = sorted(node.parents, key=self.places.__getitem__)
        mask = node.facts.undefined(len(lines)).reshape(shape).transpose(axes)
        return ConditionalGaussian(
            np.array([one.intercept for one in lines]).reshape(shape).transpose(axes),
            weights.reshape(*shape, len(numeric)).transpose(*axes, len(axes)),
            np.array([one.variance for one in lines]).reshape(shape).transpose(axes),
            mask,
            tuple(place for place, parent in enumerate(ordered) if parent in discrete),
        )

    def _warn_normalised(self) -> None:
        warn_normalised(self.off, self.source.path)


def warn_normalised(off: Sequence[float] | Array, path: str) -> None:
    """Warn of the number of rows changed by more than a network may be off, and of the largest change."""
    if len(off):
        warn(
            f"{path}: {counted(len(off), 'row')} of the tables did not sum to 1, off by {max(off):.2g} at "
            f"most, and {'were' if len(off) > 1 else 'was'} divided by the sum; write more digits to keep "
            f"them exact"
        )


def _of_one_kind(dag: Dag, made: Sequence[NodeDistribution], name: str) -> Network:
    """A network of the class for its kind."""
    tabular = [node for node in made if isinstance(node, Tabular)]
    linear = [node for node in made if isinstance(node, LinearGaussian)]
    if len(tabular) == len(made):
        return DiscreteNetwork(
            dag,
            [node.states for node in tabular],
            [node.table for node in tabular],
            [node.undefined for node in tabular],
            name,
            {label: n.cuts for label, n in zip(dag.nodes, tabular, strict=True) if n.cuts is not None},
            {
                label: n.missing_state
                for label, n in zip(dag.nodes, tabular, strict=True)
                if n.missing_state is not None
            },
        )
    if len(linear) == len(made):
        intercepts = [node.intercept for node in linear]
        return GaussianNetwork(
            dag, intercepts, [node.coefficients for node in linear], [node.variance for node in linear], name
        )
    return Network(dag, tuple(made), name)
