"""The effect of one variable on another, from a graph and data in which nobody acted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.display import Grid, Shown, ShownText
from bayescout.errors import SettingError, printable
from bayescout.graph.labels import Label

if TYPE_CHECKING:
    from bayescout.network import Distribution

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Effect(Shown):
    """What acting on x does to y.

    kind         "slope": the change of the mean of y per unit of x; "means": of y for each state of x;
                 "probabilities": of the states of y for each state of x
    estimates    (1,) the slope, (r,) the means, or (r, k) the probabilities
    errors       their standard errors, in the same shape
    covariance   of the estimates, flattened
    adjusted     the variables adjusted for; None if x has no effect on y in the graph, which is then said
    rows         rows used; `left_out` have an empty cell among these variables
    unsupported  for each state of x the share of rows in strata in which it never occurs, which are left out
    few          for each state of x the share of rows in strata with fewer than five rows of it
    """

    x: Label
    y: Label
    kind: str
    estimates: Array
    covariance: Array
    adjusted: tuple[Label, ...] | None
    rows: int
    left_out: int = 0
    x_states: tuple[Any, ...] = ()
    y_states: tuple[Any, ...] = ()
    unsupported: tuple[float, ...] = ()
    few: tuple[float, ...] = ()

    @property
    def errors(self) -> Array:
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)).reshape(self.estimates.shape)

    @property
    def is_zero(self) -> bool:
        """True if the graph has no causal path from x to y."""
        return self.adjusted is None

    @property
    def value(self) -> float:
        """The slope."""
        if self.kind != "slope":
            raise SettingError(
                f"{self.x!r} has states, and its effect is not one number; difference({self.x_states[-1]!r}, "
                f"{self.x_states[0]!r}) compares two of them"
            )
        return float(self.estimates[0])

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """The lower and upper ends of normal confidence intervals, in the shape of `estimates`."""
        reach = _deviations(level) * self.errors
        return self.estimates - reach, self.estimates + reach

    def difference(self, to: Any, versus: Any, outcome: Any = None) -> Contrast:
        """The outcome if x is set to one state, less that if it is set to another.

        `outcome` is the state of y whose probability is meant; of two, the other's is the same with its sign
        turned, and the last is meant.
        """
        if self.kind == "slope":
            raise SettingError(f"{self.x!r} is a number: value is the effect of one unit more")
        one, other = (_found("state", state, self.x_states, self.x) for state in (to, versus))
        width = 1 if self.kind == "means" else len(self.y_states)
        column = 0
        if self.kind == "probabilities":
            if outcome is None and width != 2:
                raise SettingError(
                    f"{self.y!r} has {width} states; say which one's probability, such as "
                    f"outcome={self.y_states[-1]!r}"
                )
            column = width - 1 if outcome is None else _found("state", outcome, self.y_states, self.y)
        weights = np.zeros(self.estimates.size)
        weights[one * width + column] += 1
        weights[other * width + column] -= 1
        value = float(weights @ self.estimates.ravel())
        return Contrast(value, max(float(weights @ self.covariance @ weights), 0.0) ** 0.5)

    def distribution(self, state: Any) -> Distribution:
        """P(y | do(x=state)), as estimated."""
        from bayescout.network import Distribution

        if self.kind != "probabilities":
            raise SettingError(f"the effect is given as {self.kind}, not as probabilities of states")
        row = _found("state", state, self.x_states, self.x)
        error = float(self.errors[row].max())
        return Distribution(
            (self.y,), (self.y_states,), self.estimates[row].copy(), (), error, ((self.x, state),)
        )

    def to_dict(self) -> dict[str, Any]:
        """The values for JSON."""
        return {
            "x": self.x,
            "y": self.y,
            "kind": self.kind,
            "x_states": list(self.x_states),
            "y_states": list(self.y_states),
            "estimates": self.estimates.tolist(),
            "errors": self.errors.tolist(),
            "adjusted": None if self.adjusted is None else list(self.adjusted),
            "rows": self.rows,
            "left_out": self.left_out,
            "unsupported": list(self.unsupported),
            "few": list(self.few),
        }

    def _how(self) -> str:
        left = f", {self.left_out:,} incomplete rows left out" if self.left_out else ""
        if self.adjusted is None:
            return "which the graph says is none"
        names = ", ".join(map(printable, self.adjusted))
        return f"adjusted for {names if names else 'nothing'}; {self.rows:,} rows{left}"

    def _grid(self) -> Grid:
        title = f"effect of {self.x} on {self.y}, {self._how()}"
        if self.kind == "slope":
            (low,), (high,) = self.interval()
            row = ("per unit", f"{self.value:.6g}", f"{low:.4g} to {high:.4g}")
            return Grid(title, ("", "effect", "95%"), (row,), 2)
        heads = ("mean",) if self.kind == "means" else self.y_states
        digits, fewer = (".6g", ".2g") if self.kind == "means" else (".4f", ".4f")
        shape = (len(self.x_states), len(heads))
        cells = zip(self.estimates.reshape(shape), self.errors.reshape(shape), strict=True)
        rows = tuple(
            (
                f"do({self.x}={state})",
                *(f"{p:{digits}} ± {e:{fewer}}" for p, e in zip(*own, strict=True)),
            )
            for state, own in zip(self.x_states, cells, strict=True)
        )
        return Grid(title, ("", *map(str, heads)), rows, len(heads), notes=tuple(self._support()))

    def _columns(self) -> dict[Hashable, list[Any]]:
        if self.kind == "slope":
            return {"effect": [self.value], "error": [float(self.errors[0])]}
        heads = (None,) if self.kind == "means" else self.y_states
        places = [(one, other) for one in self.x_states for other in heads]
        found: dict[Hashable, list[Any]] = {f"do({self.x})": [one for one, _ in places]}
        if self.kind != "means":
            found[str(self.y)] = [other for _, other in places]
        what = "mean" if self.kind == "means" else "probability"
        return found | {what: self.estimates.ravel().tolist(), "error": self.errors.ravel().tolist()}

    def _support(self) -> Iterator[str]:
        for states, shares, words in (
            (self.x_states, self.unsupported, "of the rows are in strata without it, and are left out"),
            (self.x_states, self.few, "of the rows are in strata with fewer than 5 rows of it"),
        ):
            for state, share in zip(states, shares, strict=False):
                if share > 0:
                    yield f"weak support for {printable(self.x)}={printable(state)}: {share:.1%} {words}"


@dataclass(frozen=True)
class Contrast:
    """A difference and its standard error."""

    value: float
    error: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        reach = _deviations(level) * self.error
        return self.value - reach, self.value + reach

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.value:.6g} (95%: {low:.4g} to {high:.4g})"


@dataclass(frozen=True, eq=False, repr=False)
class PossibleEffects(ShownText):
    """The effects of x on y in the DAGs of a class, which data alone do not tell apart.

    `effects` has one for each way in which the open edges at x can point. Iterating gives them.
    """

    x: Label
    y: Label
    effects: tuple[Effect, ...]

    @property
    def low(self) -> Array:
        """The least of the estimates, number by number."""
        return np.asarray(np.min([one.estimates for one in self.effects], axis=0))

    @property
    def high(self) -> Array:
        """The greatest of the estimates, number by number."""
        return np.asarray(np.max([one.estimates for one in self.effects], axis=0))

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    def to_dict(self) -> dict[str, Any]:
        return {"x": self.x, "y": self.y, "effects": [one.to_dict() for one in self.effects]}

    def __str__(self) -> str:
        head = f"{len(self.effects)} possible effects of {printable(self.x)} on {printable(self.y)}"
        why = "the graph leaves open which way some edges at it point"
        return "\n".join([f"{head}: {why}", *(str(one) for one in self.effects)])


@dataclass(frozen=True, eq=False, repr=False)
class AveragedEffect(ShownText):
    """The effect of x on y, over graphs learned from rows drawn again.

    estimates  the mean over the graphs; of each, over its possible effects
    low, high  the ends of the interval that holds `level` of the effects, number by number
    share      the share of graphs, and of ways to direct their edges, in which x has an effect on y
    runs       the number of graphs
    """

    x: Label
    y: Label
    kind: str
    estimates: Array
    low: Array
    high: Array
    level: float
    share: float
    runs: int
    x_states: tuple[Any, ...] = ()
    y_states: tuple[Any, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        names = ("x", "y", "kind", "level", "share", "runs")
        arrays = {name: getattr(self, name).tolist() for name in ("estimates", "low", "high")}
        states = {"x_states": list(self.x_states), "y_states": list(self.y_states)}
        return {name: getattr(self, name) for name in names} | states | arrays

    def __str__(self) -> str:
        lines = [
            f"effect of {printable(self.x)} on {printable(self.y)} over {self.runs} resamples, each with its "
            f"graph; {self.share:.0%} of these have one"
        ]
        if self.kind == "slope":
            lines.append(f"  {self.estimates[0]:.6g} per unit ({self._span((0,))})")
        for i, state in enumerate(self.x_states):
            head = f"  do({printable(self.x)}={printable(state)})  "
            if self.kind == "means":
                lines.append(f"{head}mean {self.estimates[i]:.6g} ({self._span((i,))})")
            else:
                cells = (
                    f"{printable(s)} {self.estimates[i, k]:.4f} ({self._span((i, k))})"
                    for k, s in enumerate(self.y_states)
                )
                lines.append(head + "  ".join(cells))
        return "\n".join(lines)

    def _span(self, at: tuple[int, ...]) -> str:
        return f"{self.level:.0%}: {self.low[at]:.4g} to {self.high[at]:.4g}"


def _deviations(level: float) -> float:
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise SettingError(f"level must be between 0 and 1, not {level!r}; 0.95 is usual")
    return float(ndtri(0.5 + level / 2))


def _found(kind: str, value: Any, known: Iterable[Any], where: Label) -> int:
    from bayescout.errors import UnknownNameError

    listed = list(known)
    if value not in listed:
        raise UnknownNameError(kind, value, listed, f"variable {where!r}")
    return listed.index(value)
