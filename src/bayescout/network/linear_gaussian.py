"""A continuous node: a linear function of continuous parents, with normal noise."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, lock
from bayescout.display import Grid, Shown
from bayescout.errors import NetworkError, printable
from bayescout.network.node import CHUNK, Array, Columns, Draw, NodeDistribution, as_array


@dataclass(frozen=True, eq=False)
class LinearGaussian(NodeDistribution):
    """The node is intercept + coefficients · parents + noise, which is normal with this variance.

    `coefficients` has one number per parent, in the order of the graph; it is copied and read-only.
    """

    intercept: float
    coefficients: Array
    variance: float

    kind = "gaussian"
    states = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "coefficients", as_array(self.coefficients, np.float64, "list of coefficients")
        )
        for field in ("intercept", "variance"):
            object.__setattr__(self, field, float(as_array(getattr(self, field), np.float64, field)))
        lock(self.coefficients)

    @property
    def n_parameters(self) -> int:
        """An intercept, a variance and one coefficient per parent."""
        return self.coefficients.size + 2

    def check(self, label: Label, given: Mapping[Label, NodeDistribution]) -> None:
        discrete = next((parent for parent, other in given.items() if other.states is not None), None)
        if discrete is not None:
            raise NetworkError(
                f"node {label!r} is linear in its parents, and its parent {discrete!r} is discrete; a linear "
                f"Gaussian node has continuous parents only: make it a ConditionalGaussian, discretise "
                f"{label!r}, or leave the arc out"
            )
        if self.coefficients.shape != (len(given),):
            raise NetworkError(
                f"node {label!r} has {len(given)} parents but {self.coefficients.size} coefficients"
            )
        if not np.all(np.isfinite([self.intercept, self.variance, *self.coefficients])):
            raise NetworkError("a parameter of the Gaussian network is not a finite number")
        if self.variance < 0:
            raise NetworkError(f"node {label!r} has a negative variance, {self.variance:g}")

    def encode(self, label: Label, value: Any, is_text: bool = False) -> float:
        """The value as a finite number."""
        return finite_number(label, value)

    def sampler(self) -> Draw:
        return self._draw

    def _draw(self, rng: np.random.Generator, given: Columns, out: NDArray[Any]) -> bool:
        rng.standard_normal(out=out)
        out *= np.sqrt(self.variance)
        out += self.intercept
        for parent, weight in zip(given, self.coefficients, strict=True):
            for start in range(0, len(out), CHUNK):
                out[start : start + CHUNK] += weight * parent[start : start + CHUNK]
        return False

    def log_densities(self, label: Label, own: NDArray[Any], given: Columns) -> tuple[Array, None]:
        """log N(residual; 0, variance)."""
        if self.variance == 0:
            raise NetworkError(
                f"node {label!r} has variance 0 (a point mass), so rows have no density; leave the node out, "
                f"or give it a positive variance"
            )
        residual = own - self.intercept
        for parent, weight in zip(given, self.coefficients, strict=True):
            residual -= weight * parent
        return -0.5 * (math.log(2 * math.pi * self.variance) + residual * residual / self.variance), None

    def equals(self, other: NodeDistribution, tolerance: float) -> bool:
        return (
            isinstance(other, LinearGaussian)
            and abs(self.intercept - other.intercept) <= tolerance
            and abs(self.variance - other.variance) <= tolerance
            and bool(np.all(np.abs(self.coefficients - other.coefficients) <= tolerance))
        )

    def parameters(self, label: Label, given: Mapping[Label, NodeDistribution]) -> Regression:
        weights = tuple(self.coefficients.tolist())
        return Regression(label, tuple(given), self.intercept, weights, self.variance)


def finite_number(label: Label, value: Any) -> float:
    """The value observed of a continuous node as a number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise NetworkError(f"node {label!r} needs a finite number, not {value!r}")
    return number


@dataclass(frozen=True, repr=False)
class Regression(Shown):
    """A node as a linear function of its parents, for display: `y = 1.5 + 0.3 x - 2 z + N(0, 0.25)`."""

    node: Label
    parents: tuple[Label, ...]
    intercept: float
    coefficients: tuple[float, ...]
    variance: float

    columns = ("term", "value")
    leading = 1

    @property
    def title(self) -> str:
        return f"{self.node}, given its parents"

    @property
    def n_rows(self) -> int:
        return len(self.parents) + 2

    def lines(self) -> Iterator[tuple[Label, float]]:
        """(term, value): the intercept, one line per parent, the variance."""
        yield "intercept", self.intercept
        yield from zip(self.parents, self.coefficients, strict=True)
        yield "variance", self.variance

    def to_dict(self) -> dict[str, Any]:
        coefficients = [list(pair) for pair in zip(self.parents, self.coefficients, strict=True)]
        return {"intercept": self.intercept, "coefficients": coefficients, "variance": self.variance}

    def _grid(self) -> Grid:
        rows = tuple((str(term), f"{value:.6g}") for term, value in self.lines())
        return Grid(str(self), ("term", "value"), rows, 1)

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        lines = list(self.lines())
        return {"term": [term for term, _ in lines], "value": [value for _, value in lines]}

    def __str__(self) -> str:
        text = f"{self.node} = {self.intercept:.6g}"
        for parent, weight in zip(self.parents, self.coefficients, strict=True):
            text += f" {'-' if weight < 0 else '+'} {abs(weight):.6g} {parent}"
        return printable(f"{text} + N(0, {self.variance:.6g})")
