"""Answers to queries: a distribution over states, or a normal distribution."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, States
from bayescout.errors import UnknownNameError, printable

Evidence = tuple[tuple[Label, Any], ...]


def heading(variables: tuple[Label, ...], evidence: Evidence) -> str:
    """`P(lung, bronc | smoke=yes)`."""
    given = ", ".join(f"{label}={value}" for label, value in evidence)
    return printable(f"P({', '.join(str(v) for v in variables)}{' | ' + given if given else ''})")


@dataclass(frozen=True, eq=False)
class Distribution:
    """P(variables | evidence): `probabilities` has one axis per variable and sums to one.

    With one variable `answer["yes"]` is the probability of a state; with several,
    `answer["yes", "no"]` takes one state per variable, in the order of `variables`.
    """

    variables: tuple[Label, ...]
    states: tuple[States, ...]
    probabilities: NDArray[np.float64]
    evidence: Evidence = ()

    def __post_init__(self) -> None:
        self.probabilities.flags.writeable = False

    def __getitem__(self, key: Hashable) -> float:
        return float(self.probabilities[self._where(key)])

    def _where(self, key: Any) -> tuple[int, ...]:
        wanted = (key,) if len(self.variables) == 1 else key
        if not isinstance(wanted, tuple) or len(wanted) != len(self.variables):
            names = ", ".join(str(v) for v in self.variables)
            raise UnknownNameError("assignment", key, (), f"{self} (give one state for each of {names})")
        where = []
        for variable, states, state in zip(self.variables, self.states, wanted, strict=True):
            if state not in states:
                raise UnknownNameError("state", state, states, f"variable {variable!r}")
            where.append(states.index(state))
        return tuple(where)

    def _keys(self) -> list[Any]:
        return list(self.states[0]) if len(self.variables) == 1 else list(product(*self.states))

    def to_dict(self) -> dict[Any, float]:
        """The probability of each state, or of each tuple of states."""
        return dict(zip(self._keys(), self.probabilities.ravel().tolist(), strict=True))

    def most_probable(self) -> Any:
        """The state (or tuple of states) with the largest probability, the first of equals."""
        return self._keys()[int(np.argmax(self.probabilities))]

    def rows(self) -> list[tuple[States, float]]:
        """(one state per variable, probability), the last variable varying fastest."""
        return list(zip(product(*self.states), self.probabilities.ravel().tolist(), strict=True))

    def __str__(self) -> str:
        lines = [(" ".join(map(printable, states)), p) for states, p in self.rows()]
        width = max((len(name) for name, _ in lines), default=0)
        head = heading(self.variables, self.evidence)
        return "\n".join([head, *(f"  {name:<{width}}  {p:.6f}" for name, p in lines)])

    def __repr__(self) -> str:
        shape = " x ".join(str(size) for size in self.probabilities.shape)
        return f"<Distribution {heading(self.variables, self.evidence)}: {shape} states>"


@dataclass(frozen=True, eq=False)
class GaussianDistribution:
    """The normal distribution of the variables given the evidence.

    means       (k,)    in the order of `variables`
    covariance  (k, k)

    With one variable, `mean`, `variance` and `deviation` are plain numbers; with several, arrays.
    """

    variables: tuple[Label, ...]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    evidence: Evidence = ()

    def __post_init__(self) -> None:
        self.means.flags.writeable = False
        self.covariance.flags.writeable = False

    @property
    def mean(self) -> Any:
        return float(self.means[0]) if len(self.variables) == 1 else self.means

    @property
    def variance(self) -> Any:
        variances = np.diagonal(self.covariance)
        return float(variances[0]) if len(self.variables) == 1 else variances

    @property
    def deviation(self) -> Any:
        """The standard deviation."""
        deviations = np.sqrt(np.diagonal(self.covariance))
        return float(deviations[0]) if len(self.variables) == 1 else deviations

    def to_dict(self) -> dict[Label, dict[str, float]]:
        """The mean and the variance of each variable."""
        variances = np.diagonal(self.covariance).tolist()
        return {
            label: {"mean": mean, "variance": variance}
            for label, mean, variance in zip(self.variables, self.means.tolist(), variances, strict=True)
        }

    def __str__(self) -> str:
        width = max((len(printable(v)) for v in self.variables), default=0)
        lines = [
            f"  {printable(label):<{width}}  mean {cell['mean']:.6g}  variance {cell['variance']:.6g}"
            for label, cell in self.to_dict().items()
        ]
        return "\n".join([heading(self.variables, self.evidence), *lines])

    def __repr__(self) -> str:
        return f"<GaussianDistribution {heading(self.variables, self.evidence)}>"
