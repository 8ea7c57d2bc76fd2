"""Answers to queries: a distribution over states, a normal distribution, a mixture of these, or both."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, States
from bayescout.errors import NetworkError, SettingError, UnknownNameError, printable

Evidence = tuple[tuple[Label, Any], ...]


def heading(variables: tuple[Label, ...], evidence: Evidence, done: Evidence = ()) -> str:
    """`P(lung, bronc | do(smoke=yes), age=old)`."""
    acted = [f"do({', '.join(f'{label}={value}' for label, value in done)})"] if done else []
    given = ", ".join([*acted, *(f"{label}={value}" for label, value in evidence)])
    return printable(f"P({', '.join(str(v) for v in variables)}{' | ' + given if given else ''})")


def _estimate(error: float, method: str = "") -> list[str]:
    """A line for an answer that is an estimate."""
    how = f" ({method})" if method else ""
    return [f"  estimated from samples, standard error at most {error:.2g}{how}"] if error else []


@dataclass(frozen=True, eq=False)
class Distribution:
    """P(variables | evidence): `probabilities` has one axis per variable and sums to one.

    `error` is 0 for an exact answer; for an estimate, the largest standard error of a probability, and where
    they are known `errors` has that of each, and `method` says how it was made. `done` says what was set by
    `Network.do`.
    With one variable `answer["yes"]` is the probability of a state; with several,
    `answer["yes", "no"]` takes one state per variable, in the order of `variables`.
    """

    variables: tuple[Label, ...]
    states: tuple[States, ...]
    probabilities: NDArray[np.float64]
    evidence: Evidence = ()
    error: float = 0.0
    done: Evidence = ()
    errors: NDArray[np.float64] | None = None
    method: str = ""

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
        head = heading(self.variables, self.evidence, self.done)
        return "\n".join(
            [head, *(f"  {name:<{width}}  {p:.6f}" for name, p in lines), *_estimate(self.error, self.method)]
        )

    def __repr__(self) -> str:
        shape = " x ".join(str(size) for size in self.probabilities.shape)
        return f"<Distribution {heading(self.variables, self.evidence, self.done)}: {shape} states>"


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
    done: Evidence = ()

    def __post_init__(self) -> None:
        self.means.flags.writeable = False
        self.covariance.flags.writeable = False

    @property
    def mean(self) -> Any:
        return _number_or_all(self.means)

    @property
    def variance(self) -> Any:
        return _number_or_all(np.diagonal(self.covariance))

    @property
    def deviation(self) -> Any:
        """The standard deviation."""
        return _number_or_all(np.sqrt(np.diagonal(self.covariance)))

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
        return "\n".join([heading(self.variables, self.evidence, self.done), *lines])

    def __repr__(self) -> str:
        return f"<GaussianDistribution {heading(self.variables, self.evidence, self.done)}>"


MOST_SHOWN = 8
"""The most normal distributions of a mixture that are shown as text; `components` gives all."""


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """The distribution of continuous variables of a mixed network: a mixture of normal distributions.

    weights      (m,)      above zero, with sum one
    means        (m, k)    in the order of `variables`
    covariances  (m, k, k)
    error        0 for an exact answer; for an estimate, the largest standard error of a mean, in
                 standard deviations of the answer

    With one variable, `mean`, `variance` and `deviation` are plain numbers; with several, arrays.
    """

    variables: tuple[Label, ...]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]
    evidence: Evidence = ()
    error: float = 0.0
    done: Evidence = ()

    def __post_init__(self) -> None:
        for array in (self.weights, self.means, self.covariances):
            array.flags.writeable = False

    @property
    def components(self) -> list[tuple[float, GaussianDistribution]]:
        """(weight, normal distribution), the heaviest first."""
        order = np.argsort(-self.weights, kind="stable").tolist()
        return [
            (
                float(self.weights[i]),
                GaussianDistribution(
                    self.variables, self.means[i], self.covariances[i], self.evidence, self.done
                ),
            )
            for i in order
        ]

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """(k, k) of the whole mixture: within the components, and between their means."""
        off = self.means - self.weights @ self.means
        within = np.einsum("m,mij->ij", self.weights, self.covariances)
        return np.asarray(within + np.einsum("m,mi,mj->ij", self.weights, off, off))

    @property
    def mean(self) -> Any:
        return _number_or_all(self.weights @ self.means)

    @property
    def variance(self) -> Any:
        return _number_or_all(np.diagonal(self.covariance))

    @property
    def deviation(self) -> Any:
        """The standard deviation."""
        return _number_or_all(np.sqrt(np.diagonal(self.covariance)))

    def density(self, value: float) -> float:
        """The density of one variable at a value."""
        deviations = self._deviations()
        if not deviations.all():
            at = float(self.means[np.argmin(deviations), 0])
            raise NetworkError(f"{self.variables[0]!r} has a point mass at {at:g}, and no density; use cdf()")
        scaled = (value - self.means[:, 0]) / deviations
        return float(self.weights @ (np.exp(-0.5 * scaled**2) / (deviations * np.sqrt(2 * np.pi))))

    def cdf(self, value: float) -> float:
        """The probability that one variable is at most a value."""
        from scipy.special import ndtr

        deviations = self._deviations()
        off = value - self.means[:, 0]
        scaled = np.divide(off, deviations, out=np.where(off >= 0, np.inf, -np.inf), where=deviations > 0)
        return float(self.weights @ ndtr(scaled))

    def quantile(self, probability: float) -> float:
        """The smallest value that one variable exceeds with a probability of at most 1 - `probability`."""
        if not 0 < probability < 1:
            raise SettingError(f"a quantile is of a probability between 0 and 1, not {probability!r}")
        reach = 40 * self._deviations()
        low, high = float((self.means[:, 0] - reach).min()), float((self.means[:, 0] + reach).max())
        while low < (middle := low + (high - low) / 2) < high:
            if self.cdf(middle) < probability:
                low = middle
            else:
                high = middle
        return low if self.cdf(low) >= probability else high

    def _deviations(self) -> NDArray[np.float64]:
        if len(self.variables) != 1:
            raise SettingError(
                f"this is for one variable, and the answer is over {len(self.variables)}; ask for one, or "
                f"use components"
            )
        return np.sqrt(self.covariances[:, 0, 0])

    def to_dict(self) -> dict[Label, dict[str, float]]:
        """The mean and the variance of each variable."""
        means, variances = (self.weights @ self.means).tolist(), np.diagonal(self.covariance).tolist()
        return {
            label: {"mean": mean, "variance": variance}
            for label, mean, variance in zip(self.variables, means, variances, strict=True)
        }

    def __str__(self) -> str:
        width = max((len(printable(v)) for v in self.variables), default=0)
        lines = [
            f"  {printable(label):<{width}}  mean {cell['mean']:.6g}  variance {cell['variance']:.6g}"
            for label, cell in self.to_dict().items()
        ]
        parts = self.components
        if len(self.variables) == 1 and len(parts) > 1:
            lines += [f"  {w:.4f} of N({one.mean:.6g}, {one.variance:.6g})" for w, one in parts[:MOST_SHOWN]]
            rest = len(parts) - MOST_SHOWN
            lines += [f"  and {rest:,} more normal distributions"] if rest > 0 else []
        elif len(parts) > 1:
            lines.append(f"  a mixture of {len(parts):,} normal distributions")
        return "\n".join([heading(self.variables, self.evidence, self.done), *lines, *_estimate(self.error)])

    def __repr__(self) -> str:
        what = heading(self.variables, self.evidence, self.done)
        return f"<GaussianMixture {what}: {len(self.weights):,} components>"


@dataclass(frozen=True, eq=False)
class MixedDistribution:
    """The joint distribution of discrete and continuous variables.

    discrete    P(the discrete variables | evidence)
    continuous  for each state (or tuple of states) of these, in order, the mixture of the others given it;
                None where it is impossible

    `answer["yes"]` is the mixture given a state.
    """

    discrete: Distribution
    continuous: tuple[GaussianMixture | None, ...]

    @property
    def variables(self) -> tuple[Label, ...]:
        others = next(one.variables for one in self.continuous if one is not None)
        return (*self.discrete.variables, *others)

    @property
    def evidence(self) -> Evidence:
        return self.discrete.evidence

    @property
    def done(self) -> Evidence:
        return self.discrete.done

    @property
    def error(self) -> float:
        return max([self.discrete.error, *(one.error for one in self.continuous if one is not None)])

    def __getitem__(self, key: Hashable) -> GaussianMixture | None:
        where = self.discrete._where(key)
        return self.continuous[int(np.ravel_multi_index(where, self.discrete.probabilities.shape))]

    def rows(self) -> list[tuple[States, float, GaussianMixture | None]]:
        """(one state per discrete variable, probability, the others given these)."""
        return [(*row, one) for row, one in zip(self.discrete.rows(), self.continuous, strict=True)]

    def to_dict(self) -> dict[Any, dict[str, Any]]:
        """The probability of each state, or tuple of states, and the mean and variance of the others."""
        pairs = zip(self.discrete.to_dict().items(), self.continuous, strict=True)
        return {
            key: {"probability": p, "given": None if one is None else one.to_dict()}
            for (key, p), one in pairs
        }

    def __str__(self) -> str:
        lines = [heading(self.variables, self.evidence, self.done)]
        for states, p, one in self.rows():
            lines.append(f"  {' '.join(map(printable, states))}  {p:.6f}")
            cells = {} if one is None else one.to_dict()
            lines += [
                f"    {printable(label)}  mean {cell['mean']:.6g}  variance {cell['variance']:.6g}"
                for label, cell in cells.items()
            ]
        return "\n".join([*lines, *_estimate(self.error)])

    def __repr__(self) -> str:
        return f"<MixedDistribution {heading(self.variables, self.evidence, self.done)}>"


Answer = Distribution | GaussianDistribution | GaussianMixture | MixedDistribution
"""The answer to a query, by the kinds of the network and of the targets."""


def _number_or_all(values: NDArray[np.float64]) -> Any:
    """The number of one variable, or the numbers of several."""
    return float(values[0]) if len(values) == 1 else values
