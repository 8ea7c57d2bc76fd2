"""A continuous node with discrete parents: one linear regression per configuration of these."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, States, lock
from bayescout.display import MOST_HTML_ROWS, Grid, Shown, own_name
from bayescout.errors import NetworkError, printable
from bayescout.network.linear_gaussian import Regression, finite_number
from bayescout.network.node import (
    CHUNK,
    Array,
    Columns,
    Draw,
    Mask,
    NodeDistribution,
    as_array,
    configuration_numbers,
)

MAX_TEXT_ROWS = 64
"""The most regressions shown as text; `lines()` always gives all of them."""


@dataclass(frozen=True, eq=False)
class ConditionalGaussian(NodeDistribution):
    """Given each configuration of the discrete parents, a linear function of the others with normal noise.

    intercepts    one axis per discrete parent, in the order of the graph
    coefficients  the same axes, and on the last axis one number per continuous parent
    variances     of the noise, shaped like the intercepts
    undefined     shaped like the intercepts, True where there were no rows to estimate from; such a
                  configuration has the regression over the rows of all, and is shown as `---`;
                  by default nowhere
    discrete      the positions of the discrete ones among all parents; by default they come first

    Arrays, or lists of numbers, are copied; those of the node are read-only.
    """

    intercepts: Array
    coefficients: Array
    variances: Array
    undefined: Mask = None  # type: ignore[assignment]  # an array once the node is made
    discrete: tuple[int, ...] = None  # type: ignore[assignment]  # a tuple once the node is made

    kind = "conditional-gaussian"
    states = None

    def __post_init__(self) -> None:
        intercepts = as_array(self.intercepts, np.float64, "table of intercepts")
        mask = np.zeros(intercepts.shape, dtype=bool) if self.undefined is None else self.undefined
        first = range(intercepts.ndim) if self.discrete is None else self.discrete
        object.__setattr__(self, "intercepts", intercepts)
        for field in ("coefficients", "variances"):
            object.__setattr__(self, field, as_array(getattr(self, field), np.float64, f"table of {field}"))
        object.__setattr__(self, "undefined", as_array(mask, np.bool_, "mask of undefined configurations"))
        object.__setattr__(self, "discrete", tuple(int(position) for position in first))
        lock(self.intercepts, self.coefficients, self.variances, self.undefined)

    @property
    def n_parameters(self) -> int:
        """An intercept, a variance and one coefficient per continuous parent, for each configuration."""
        return int(self.intercepts.size * (self.coefficients.shape[-1] + 2))

    @property
    def n_undefined(self) -> int:
        return int(self.undefined.sum())

    @property
    def by_configuration(self) -> Array:
        """(q, k) coefficients, one row per configuration of the discrete parents."""
        return self.coefficients.reshape(self.intercepts.size, self.coefficients.shape[-1])

    def check(self, label: Label, given: Mapping[Label, NodeDistribution]) -> None:
        found = tuple(place for place, parent in enumerate(given.values()) if parent.states is not None)
        if not found:
            raise NetworkError(
                f"node {label!r} has one regression per configuration of discrete parents, and it has none; "
                f"make it a LinearGaussian"
            )
        if found != self.discrete:
            raise NetworkError(
                f"node {label!r} takes its parents {_numbered(self.discrete)} to be discrete, and those of "
                f"the graph that are so are {_numbered(found)}, of {quoted_parents(given)}"
            )
        shape = tuple(len(parent.states) for parent in given.values() if parent.states is not None)
        wanted = {"intercepts": shape, "coefficients": (*shape, len(given) - len(shape))}
        for field, size in (wanted | {"variances": shape, "undefined": shape}).items():
            if getattr(self, field).shape != size:
                raise NetworkError(
                    f"the {field} of {label!r} have shape {getattr(self, field).shape}; its parents ask for "
                    f"{size}"
                )
        numbers = (self.intercepts, self.coefficients, self.variances)
        if not all(np.all(np.isfinite(array)) for array in numbers):
            raise NetworkError(f"a parameter of node {label!r} is not a finite number")
        if (self.variances < 0).any():
            least = float(self.variances.min())
            raise NetworkError(f"node {label!r} has a negative variance, {least:g}")

    def encode(self, label: Label, value: Any, is_text: bool = False) -> float:
        """The value as a finite number."""
        return finite_number(label, value)

    def split(self, given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What belongs to the discrete parents, and to the continuous ones, of what belongs to all."""
        chosen = set(self.discrete)
        return (
            [given[place] for place in self.discrete],
            [one for place, one in enumerate(given) if place not in chosen],
        )

    def configurations(self, codes: Columns, n_rows: int) -> NDArray[np.int64]:
        """For each row the number of the discrete parents' configuration, the last parent fastest."""
        return configuration_numbers(self.intercepts.shape, codes, n_rows)

    def sampler(self) -> Draw:
        intercepts, deviations = self.intercepts.ravel(), np.sqrt(self.variances.ravel())
        weights = self.by_configuration
        unseen = self.undefined.ravel() if self.undefined.any() else None

        def draw(rng: np.random.Generator, given: Columns, out: NDArray[Any]) -> bool:
            codes, numbers = self.split(given)
            config = self.configurations(codes, len(out))
            rng.standard_normal(out=out)
            for start in range(0, len(out), CHUNK):
                rows = slice(start, start + CHUNK)
                out[rows] *= deviations[config[rows]]
                out[rows] += intercepts[config[rows]]
                for place, parent in enumerate(numbers):
                    out[rows] += weights[config[rows], place] * parent[rows]
            return unseen is not None and bool(unseen[config].any())

        return draw

    def log_densities(self, label: Label, own: NDArray[Any], given: Columns) -> tuple[Array, Mask | None]:
        """log N(residual; 0, variance) with the regression of each row's configuration."""
        codes, numbers = self.split(given)
        config = self.configurations(codes, len(own))
        variances = self.variances.ravel()[config]
        if (variances == 0).any():
            row = int(np.argmax(variances == 0))
            raise NetworkError(
                f"node {label!r} has variance 0 (a point mass) given its discrete parents in row {row} "
                f"(counting from 0), so rows have no density; leave the node out, or give it a positive "
                f"variance"
            )
        residual = own - self.intercepts.ravel()[config]
        weights = self.by_configuration
        for place, parent in enumerate(numbers):
            residual -= weights[config, place] * parent
        unseen = self.undefined.ravel()[config] if self.undefined.any() else None
        return -0.5 * (np.log(2 * math.pi * variances) + residual * residual / variances), unseen

    def equals(self, other: NodeDistribution, tolerance: float) -> bool:
        return (
            isinstance(other, ConditionalGaussian)
            and self.discrete == other.discrete
            and self.coefficients.shape == other.coefficients.shape
            and np.array_equal(self.undefined, other.undefined)
            and all(
                bool(np.all(np.abs(mine - theirs) <= tolerance))
                for mine, theirs in (
                    (self.intercepts, other.intercepts),
                    (self.coefficients, other.coefficients),
                    (self.variances, other.variances),
                )
            )
        )

    def parameters(self, label: Label, given: Mapping[Label, NodeDistribution]) -> Regressions:
        discrete, continuous = self.split(list(given))
        return Regressions(
            node=label,
            discrete=tuple(discrete),
            discrete_states=tuple(given[parent].states or () for parent in discrete),
            continuous=tuple(continuous),
            distribution=self,
        )


def _numbered(positions: tuple[int, ...]) -> str:
    return ", ".join(str(position + 1) for position in positions) or "none"


def quoted_parents(given: Mapping[Label, NodeDistribution]) -> str:
    return ", ".join(repr(parent) for parent in given)


@dataclass(frozen=True, eq=False, repr=False)
class Regressions(Shown):
    """One regression per configuration of the discrete parents, with labels, for display."""

    node: Label
    discrete: tuple[Label, ...]
    discrete_states: tuple[States, ...]
    continuous: tuple[Label, ...]
    distribution: ConditionalGaussian

    @property
    def title(self) -> str:
        return f"{self.node}, given its parents"

    @property
    def columns(self) -> tuple[Label, ...]:
        """The discrete parents, then the intercept, the continuous parents and the variance."""
        return (*self.discrete, "intercept", *self.continuous, "variance")

    @property
    def leading(self) -> int:
        return len(self.discrete)

    @property
    def n_rows(self) -> int:
        """The number of configurations of the discrete parents."""
        return int(self.distribution.intercepts.size)

    def rows(self) -> Iterator[tuple[States, Regression, bool]]:
        """(states of the discrete parents, regression, True if undefined), the last parent fastest."""
        node = self.distribution
        weights = node.by_configuration.tolist()
        numbers = (node.intercepts.ravel().tolist(), weights, node.variances.ravel().tolist())
        configurations = product(*self.discrete_states)
        masks = node.undefined.ravel().tolist()
        for states, intercept, own, variance, mask in zip(configurations, *numbers, masks, strict=True):
            yield states, Regression(self.node, self.continuous, intercept, tuple(own), variance), mask

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """The states and the numbers, None if undefined."""
        for states, found, undefined in self.rows():
            numbers = (found.intercept, *found.coefficients, found.variance)
            yield (*states, *((None,) * len(numbers) if undefined else numbers))

    def to_dict(self) -> dict[str, Any]:
        rows = [
            {"given": list(states)}
            | {"intercept": one.intercept, "coefficients": list(one.coefficients), "variance": one.variance}
            | ({"undefined": True} if undefined else {})
            for states, one, undefined in self.rows()
        ]
        return {"discrete": list(self.discrete), "continuous": list(self.continuous), "rows": rows}

    def _grid(self) -> Grid:
        rows = tuple(
            (
                *map(str, line[: self.leading]),
                *("---" if n is None else f"{n:.6g}" for n in line[self.leading :]),
            )
            for line in islice(self.lines(), MOST_HTML_ROWS)
        )
        names = tuple(map(str, self.columns))
        return Grid(self.title, names, rows, len(names) - self.leading, more=self.n_rows - len(rows))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        lines = list(self.lines())
        found: dict[Hashable, Sequence[Any]] = {}
        for i, name in enumerate(self.columns):
            found[own_name(str(name), list(found)) if name in found else name] = [line[i] for line in lines]
        return found

    def __str__(self) -> str:
        """One equation per line."""
        text = []
        for states, found, undefined in islice(self.rows(), MAX_TEXT_ROWS):
            where = ", ".join(f"{p}={s}" for p, s in zip(self.discrete, states, strict=True))
            note = "  (no rows: the regression over all)" if undefined else ""
            text.append(f"{printable(where)}: {found}{note}")
        if self.n_rows > MAX_TEXT_ROWS:
            text.append(f"... {self.n_rows - MAX_TEXT_ROWS:,} more")
        return "\n".join(text)
