"""A discrete node: P(node | parents) as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.absent import is_missing
from bayescout.data.declared import RawStates
from bayescout.data.encode import same_states
from bayescout.data.intervals import interval_of, wrong_cuts
from bayescout.data.states import StateFinder
from bayescout.data.table import Label, States, lock
from bayescout.errors import NetworkError, UnknownNameError
from bayescout.graph.labels import quoted
from bayescout.network.cpt import Cpt
from bayescout.network.node import (
    Array,
    Columns,
    Draw,
    Mask,
    NodeDistribution,
    as_array,
    configuration_numbers,
)
from bayescout.network.question import match_text

ROW_SUM_TOLERANCE = 1e-6
"""The largest deviation from one of the sum of a row of a conditional probability table."""

MAX_PARENTS = 63
"""The most parents: a table has one axis per parent and one for the node, and NumPy allows 64."""


@dataclass(frozen=True, eq=False)
class Tabular(NodeDistribution):
    """P(node | parents), one row per configuration of discrete parents.

    states     of the node, in order
    table      one axis per parent, in the order of the graph, and the node's states on the last
               axis, which sums to one
    undefined  shape `table.shape[:-1]`, True where maximum likelihood has no data to estimate from; such a
               row holds the uniform distribution and is shown as `---`; by default nowhere
    cuts       the cut points if the states are intervals of a number, which raw numbers are then turned
               into: state i is the interval above cut i - 1, up to cut i; None if they are not
    missing_state  the state that stood for missing cells in the data, which empty cells are then turned
               into; None if an empty cell tells nothing of the node

    Arrays, or lists of numbers, are copied; those of the node are read-only.
    """

    states: States
    table: Array
    undefined: Mask = None  # type: ignore[assignment]  # an array once the node is made
    cuts: tuple[float, ...] | None = None
    missing_state: Label | None = None

    kind = "discrete"

    def __post_init__(self) -> None:
        table = as_array(self.table, np.float64, "table")
        mask = np.zeros(table.shape[:-1], dtype=bool) if self.undefined is None else self.undefined
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "undefined", as_array(mask, np.bool_, "mask of undefined rows"))
        if self.cuts is not None:
            object.__setattr__(self, "cuts", tuple(float(point) for point in self.cuts))
        lock(self.table, self.undefined)

    @property
    def declared(self) -> States:
        """The states as they are declared of data: with cut points, and the state of empty cells."""
        if self.cuts is None and self.missing_state is None:
            return self.states
        return RawStates(self.states, self.cuts, self.missing_state)

    @property
    def n_parameters(self) -> int:
        """One less than the node's states, per parent configuration."""
        return self.undefined.size * (len(self.states) - 1)

    @property
    def n_undefined(self) -> int:
        return int(self.undefined.sum())

    @cached_property
    def log_floor(self) -> float:
        """The logarithm of the smallest entry above zero."""
        return float(np.log(self.table[self.table > 0].min())) if self.table.size else 0.0

    def check(self, label: Label, given: Mapping[Label, NodeDistribution]) -> None:
        known = {parent: other.states for parent, other in given.items()}
        continuous = next((parent for parent, states in known.items() if states is None), None)
        if continuous is not None:
            raise NetworkError(
                f"node {label!r} has a table, and its parent {continuous!r} is continuous; a table has "
                f"discrete parents only: discretise {continuous!r}, or reverse the arc"
            )
        shape = (*(len(states or ()) for states in known.values()), len(self.states))
        if self.table.shape != shape or self.undefined.shape != shape[:-1]:
            raise NetworkError(
                f"the table of {label!r} has shape {self.table.shape}; its states ask for {shape}"
            )
        if len(set(self.states)) != len(self.states):
            raise NetworkError(f"node {label!r} has a state twice: {self.states}")
        wrong = "" if self.cuts is None else wrong_cuts(self.cuts, self.states)
        if wrong:
            raise NetworkError(f"node {label!r}: {wrong}")
        if self.missing_state is not None and self.missing_state not in self.states:
            raise NetworkError(
                f"node {label!r} has no state {self.missing_state!r}, which is to stand for empty cells; its "
                f"states are {quoted(self.states)}"
            )
        if not np.all(self.table >= 0):
            raise NetworkError(f"the table of {label!r} has an entry that is negative or not a number")
        self._check_sums(label, known)

    def _check_sums(self, label: Label, known: Mapping[Label, States | None]) -> None:
        sums: NDArray[Any] = self.table.sum(axis=-1)
        off = np.abs(sums - 1)
        if off.size and off.max() > ROW_SUM_TOLERANCE:
            worst = np.unravel_index(int(off.argmax()), off.shape)
            where = ", ".join(
                f"{parent}={(states or ())[int(k)]}"
                for (parent, states), k in zip(known.items(), worst, strict=True)
            )
            raise NetworkError(
                f"P({label}{' | ' + where if where else ''}) sums to {float(sums[worst]):.6g}, not to 1; "
                f"correct the row or divide it by its sum"
            )

    def encode(self, label: Label, value: Any, is_text: bool = False) -> int:
        """The code of a state, whatever type its value comes in; text may be its printed form.

        Of a node that was cut, a number is in the interval that it falls in; None, NaN and, in text, nothing
        are the state that stands for missing cells, if there is one.
        """
        where = f"node {label!r}"
        if self.missing_state is not None and (is_missing(value) or (is_text and value == "")):
            return self.states.index(self.missing_state)
        if is_text and value in map(str, self.states):
            return match_text("state", value, self.states, where)
        found = StateFinder(self.states, where).find(value)
        if found is None and self.cuts is not None:
            found = interval_of(self.cuts, value)
        if found is None:
            raise UnknownNameError("state", value, self.states, where)
        return found

    def configurations(self, given: Columns, n_rows: int) -> NDArray[np.int64]:
        """For each row the number of its parent configuration, the last parent varying fastest."""
        return configuration_numbers(self.undefined.shape, given, n_rows)

    def sampler(self) -> Draw:
        ends = limits(self.table)
        unseen = self.undefined.ravel() if self.undefined.any() else None

        def draw(rng: np.random.Generator, given: Columns, out: NDArray[Any]) -> bool:
            config = self.configurations(given, len(out))
            draw_states(rng.random(len(out)), ends, config, out)
            return unseen is not None and bool(unseen[config].any())

        return draw

    def log_densities(self, label: Label, own: NDArray[Any], given: Columns) -> tuple[Array, Mask | None]:
        config = self.configurations(given, len(own))
        unseen = self.undefined.ravel()[config] if self.undefined.any() else None
        with np.errstate(divide="ignore"):
            logs = np.log(self.table).ravel()
        config *= len(self.states)
        config += own
        return logs[config], unseen

    def log_density(self, label: Label, own: Any, given: Sequence[Any]) -> float:
        p = float(self.table[(*given, own)])
        return math.log(p) if p else -math.inf

    def equals(self, other: NodeDistribution, tolerance: float) -> bool:
        return (
            isinstance(other, Tabular)
            and same_states(self.states, other.states)
            and self.cuts == other.cuts
            and self.missing_state == other.missing_state
            and np.array_equal(self.undefined, other.undefined)
            and bool(np.all(np.abs(self.table - other.table) <= tolerance))
        )

    def parameters(self, label: Label, given: Mapping[Label, NodeDistribution]) -> Cpt:
        return Cpt(
            node=label,
            states=self.states,
            parents=tuple(given),
            parent_states=tuple(parent.states or () for parent in given.values()),
            probabilities=self.table,
            undefined=self.undefined,
        )


def limits(table: Array) -> Array:
    """(r - 1, q) upper ends of all states but the last; running sums, which every machine rounds alike."""
    ends = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)
    return np.ascontiguousarray((ends[:, :-1] / ends[:, -1:]).T)


def draw_states(uniform: Array, ends: Array, config: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Draw states: the number of upper ends at or below the uniform number."""
    out[:] = 0
    for end in ends:
        out += uniform >= end[config]


def too_many_parents(label: Label, count: int) -> str:
    """The reason why a node's table cannot be made, and the way out: leave out parents of one state."""
    return (
        f"node {label!r} has {count} parents, and a table has room for {MAX_PARENTS}; leave out those of one "
        f"state, which say nothing"
    )
