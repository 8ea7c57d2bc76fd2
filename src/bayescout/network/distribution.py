"""Answers to queries: a distribution over states, a normal distribution, a mixture of these, or both."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, States
from bayescout.display import MOST_HTML_ROWS, Grid, Shown, own_name, probability_text
from bayescout.errors import NetworkError, SettingError, UnknownNameError
from bayescout.network.headings import Evidence, heading, moment_columns, moments


def _estimate(error: float, method: str = "") -> tuple[str, ...]:
    """A line for an answer that is an estimate."""
    how = f" ({method})" if method else ""
    return (f"estimated from samples, standard error at most {error:.2g}{how}",) if error else ()


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Shown):
    """P(variables | evidence): `probabilities` has one axis per variable and sums to one.

    `error` is 0 for an exact answer; for an estimate, the largest standard error of a probability, and where
    they are known `errors` has that of each, and `method` says how it was made. `done` says what was set by
    `Network.do`.
    It reads like a dict from states to probabilities: with one variable `answer["yes"]` is the probability
    of a state and `list(answer)` the states; with several, `answer["yes", "no"]` takes one state per
    variable, in the order of `variables`, and `list(answer)` has such tuples. `answer.at(0)` is by position.
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
            head = heading(self.variables, self.evidence, self.done)
            raise UnknownNameError("assignment", key, (), f"{head} (give one state for each of {names})")
        where = []
        for variable, states, state in zip(self.variables, self.states, wanted, strict=True):
            if state not in states:
                hint = " (at() is by position)" if type(state) is int else ""
                raise UnknownNameError("state", state, states, f"variable {variable!r}{hint}")
            where.append(states.index(state))
        return tuple(where)

    def at(self, *positions: int) -> float:
        """The probability at a position, one per variable: `answer.at(0)` is that of the first state."""
        if len(positions) != len(self.variables):
            raise SettingError(
                f"at() takes one position for each of {len(self.variables)} variables, not {len(positions)}"
            )
        for variable, states, position in zip(self.variables, self.states, positions, strict=True):
            if not isinstance(position, int | np.integer) or not -len(states) <= position < len(states):
                raise SettingError(
                    f"variable {variable!r} has {len(states)} states, at positions 0 to {len(states) - 1}; "
                    f"{position!r} is none of these"
                )
        return float(self.probabilities[positions])

    def keys(self) -> list[Any]:
        """The states, or the tuples of states, the last variable varying fastest."""
        return list(self.states[0]) if len(self.variables) == 1 else list(product(*self.states))

    def values(self) -> list[float]:
        """The probabilities, in the order of `keys()`."""
        return list(self.probabilities.ravel().tolist())

    def items(self) -> list[tuple[Any, float]]:
        """(state or tuple of states, probability)."""
        return list(zip(self.keys(), self.values(), strict=True))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        return int(self.probabilities.size)

    def __contains__(self, key: object) -> bool:
        try:
            self._where(key)
        except (UnknownNameError, TypeError):
            return False
        return True

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.probabilities, dtype=dtype)

    def to_dict(self) -> dict[Any, float]:
        """The probability of each state, or of each tuple of states."""
        return dict(self.items())

    def most_probable(self) -> Any:
        """The state (or tuple of states) with the largest probability, the first of equals."""
        return self.keys()[int(np.argmax(self.probabilities))]

    def rows(self) -> list[tuple[States, float]]:
        """(one state per variable, probability), the last variable varying fastest."""
        return list(zip(product(*self.states), self.probabilities.ravel().tolist(), strict=True))

    def _grid(self) -> Grid:
        shares = self.probabilities.ravel()[:MOST_HTML_ROWS].tolist()
        rows = tuple(
            (*map(str, states), probability_text(p))
            for states, p in zip(product(*self.states), shares, strict=False)
        )
        names = (*map(str, self.variables), "") if len(self.variables) > 1 else ("", "")
        head = heading(self.variables, self.evidence, self.done)
        bars = tuple((0.0, p) for p in shares)
        return Grid(head, names, rows, 1, bars, _estimate(self.error, self.method), len(self) - len(rows))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        found: dict[Hashable, Sequence[Any]] = {
            label: [states[i] for states, _ in self.rows()] for i, label in enumerate(self.variables)
        }
        return {**found, own_name("probability", self.variables): self.values()}


@dataclass(frozen=True, eq=False, repr=False)
class GaussianDistribution(Shown):
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

    def _grid(self) -> Grid:
        return moments(heading(self.variables, self.evidence, self.done), self.to_dict())

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        return moment_columns(self.to_dict())


MOST_SHOWN = 8
"""The most normal distributions of a mixture that are shown as text; `components` gives all."""


@dataclass(frozen=True, eq=False, repr=False)
class GaussianMixture(Shown):
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

    def _grid(self) -> Grid:
        lines: list[str] = []
        parts = self.components
        if len(self.variables) == 1 and len(parts) > 1:
            lines += [f"{w:.4f} of N({one.mean:.6g}, {one.variance:.6g})" for w, one in parts[:MOST_SHOWN]]
            rest = len(parts) - MOST_SHOWN
            lines += [f"and {rest:,} more normal distributions"] if rest > 0 else []
        elif len(parts) > 1:
            lines.append(f"a mixture of {len(parts):,} normal distributions")
        head = heading(self.variables, self.evidence, self.done)
        return moments(head, self.to_dict(), (*lines, *_estimate(self.error)))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        return moment_columns(self.to_dict())


@dataclass(frozen=True, eq=False, repr=False)
class MixedDistribution(Shown):
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

    def _lines(self) -> list[tuple[States, float, Label, float | None, float | None]]:
        """(states, probability, continuous variable, mean, variance), None where it is impossible."""
        others = self.variables[len(self.discrete.variables) :]
        found = []
        for states, p, one in self.rows():
            for label in others:
                cell = {"mean": None, "variance": None} if one is None else one.to_dict()[label]
                found.append((states, p, label, cell["mean"], cell["variance"]))
        return found

    def _grid(self) -> Grid:
        rows, bars = [], []
        before: States | None = None
        for states, p, label, mean, variance in self._lines():
            first = states != before
            shown = (*map(str, states), probability_text(p)) if first else ("",) * (len(states) + 1)
            rows.append((*shown, str(label), *("---" if m is None else f"{m:.6g}" for m in (mean, variance))))
            bars.append((0.0, p if first else 0.0))
            before = states
        columns = (*map(str, self.discrete.variables), "probability", "", "mean", "variance")
        head = heading(self.variables, self.evidence, self.done)
        return Grid(head, columns, tuple(rows), 4, tuple(bars), _estimate(self.error))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        lines, names = self._lines(), self.discrete.variables
        found: dict[Hashable, Sequence[Any]] = {
            label: [line[0][i] for line in lines] for i, label in enumerate(names)
        }
        for i, name in enumerate(("probability", "variable", "mean", "variance")):
            found[own_name(name, names)] = [line[i + 1] for line in lines]
        return found


Answer = Distribution | GaussianDistribution | GaussianMixture | MixedDistribution
"""The answer to a query, by the kinds of the network and of the targets."""


def _number_or_all(values: NDArray[np.float64]) -> Any:
    """The number of one variable, or the numbers of several."""
    return float(values[0]) if len(values) == 1 else values
