"""Structure priors: how probable a graph is before any data, as a sum over its families.

A prior is added to every score by the `Scorer`. All are relative to the graph without arcs, whose log prior
is zero, and not normalised: only differences between graphs matter to a search. In nats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from bayescout.arrays import Floats
from bayescout.checks import as_plain, settle, shown
from bayescout.errors import SettingError, UnknownNameError
from bayescout.settings import make_named

Label = Hashable

GRID = 2.0**-24
"""Log priors are whole multiples of this, so that their sums with scores are exact."""

MOST_CHARGE = 1e6
"""The largest charge per arc: larger ones leave no digits for the score."""


class StructurePrior:
    """A prior by the number of parents of each family; frozen dataclasses derive from it.

    Equivalent graphs have the same: reversing a covered arc x -> y gives x as many parents as y had, and y as
    many as x had, and such reversals lead from any graph of a class to any other (Chickering 1995).
    """

    def by_size(self, n: int) -> Floats:
        """The log prior of a family among n variables, by its number of parents: 0 to n - 1."""
        raise NotImplementedError

    is_arcwise: ClassVar[bool] = False
    """True if every arc counts the same, whatever the other parents; beliefs then take its place."""


class Arcwise(StructurePrior):
    """The same log odds for every arc."""

    is_arcwise: ClassVar[bool] = True

    def charge_for(self, n: int) -> float:
        """The log odds against an arc among n variables."""
        raise NotImplementedError

    def by_size(self, n: int) -> Floats:
        return -on_grid(self.charge_for(n)) * np.arange(n, dtype=np.float64)


@dataclass(frozen=True)
class Uniform(Arcwise):
    """Every graph is as probable as any other: nothing is added to the score."""

    def charge_for(self, n: int) -> float:
        return 0.0


@dataclass(frozen=True)
class Sparse(Arcwise):
    r"""Arcs are as rare as an expected number of parents per variable makes them.

    Each of the p - 1 possible parents of a variable is one with odds m / (p - 1), so an arc costs
    $\lambda = \log\frac{p-1}{m}$ nats; m is `parents`. With the default of 1 that is log(p - 1).
    """

    parents: float = 1.0

    def __post_init__(self) -> None:
        settle(self, parents=_positive("parents", self.parents))

    def charge_for(self, n: int) -> float:
        if n < 2:
            return 0.0
        if self.parents > max(1, n - 1):
            raise SettingError(
                f"the sparse prior expects {self.parents:g} parents, but of {n} variables none can have more "
                f"than {n - 1}; expect fewer"
            )
        return math.log((n - 1) / self.parents)


@dataclass(frozen=True)
class ArcCharge(Arcwise):
    """A given charge per arc, in nats: the log odds against it; negative if arcs are likely."""

    charge: float = 1.0

    def __post_init__(self) -> None:
        found = as_plain(self.charge)
        if found is None or not abs(found) <= MOST_CHARGE:
            raise SettingError(
                f"charge must be a number of nats between -{MOST_CHARGE:g} and {MOST_CHARGE:g}, "
                f"not {shown(self.charge)}"
            )
        settle(self, charge=found)

    def charge_for(self, n: int) -> float:
        return self.charge


@dataclass(frozen=True)
class FriedmanKoller(StructurePrior):
    r"""Every number of parents is as probable as any other, and so is every set of one size (2003).

    A family with k of p - 1 possible parents has log prior $-\log\binom{p-1}{k}$ (Friedman & Koller).
    """

    def by_size(self, n: int) -> Floats:
        return np.array([on_grid(-_log_choose(n - 1, k)) for k in range(n)])


@runtime_checkable
class OwnPrior(Protocol):
    """A user's own prior: the log prior of a family, in labels and nats.

    Parents come in an order that does not depend on the order of the columns. Set `equivalent = True` if
    equivalent graphs have the same prior, and `decreasing = True` if no further parent ever raises it: then
    exact search keeps its bounds.
    """

    def family(self, child: Label, parents: tuple[Label, ...]) -> float: ...


PriorLike = str | int | float | StructurePrior | OwnPrior

PRIORS: dict[str, Callable[..., StructurePrior]] = {
    "uniform": Uniform,
    "sparse": Sparse,
    "charge": ArcCharge,
    "friedman-koller": FriedmanKoller,
}
"""Every structure prior by name; to add one, write a class and add a line here."""

DEFAULT_PRIOR = "uniform"

_ARGUMENT = {"sparse": "parents", "charge": "charge"}
"""The setting that a name may be followed by: "sparse:2"."""


def prior_named(name: str, **settings: Any) -> StructurePrior:
    """The prior of a registered name, with its settings; "sparse:2" and "2.5" are read as well."""
    number = _number(name)
    if number is not None and not settings:
        return ArcCharge(number)
    own, colon, text = name.partition(":")
    if colon and own in _ARGUMENT and not settings:
        number = _number(text)
        if number is None:
            raise SettingError(f"the prior {name!r} needs a number after the colon, such as '{own}:2'")
        name, settings = own, {_ARGUMENT[own]: number}
    if name not in PRIORS:
        raise UnknownNameError("structure prior", name, PRIORS)
    made: StructurePrior = make_named("structure prior", PRIORS, name, settings)
    return made


def as_prior(prior: PriorLike | None) -> StructurePrior | OwnPrior:
    """A prior from a name, a charge per arc, an instance, or a user's own object; None is the default."""
    if prior is None:
        prior = DEFAULT_PRIOR
    if isinstance(prior, str):
        return prior_named(prior)
    if isinstance(prior, type):
        raise SettingError(f"give an instance of the prior, {prior.__name__}(), not the class")
    if isinstance(prior, StructurePrior) or callable(getattr(prior, "family", None)):
        return prior  # type: ignore[return-value]
    if not isinstance(prior, bool) and as_plain(prior) is not None:
        return ArcCharge(prior)  # type: ignore[arg-type]
    raise SettingError(
        f"a structure prior is a name ({', '.join(PRIORS)}), a charge per arc in nats, or an object with "
        f"family(child, parents), not {shown(prior)}"
    )


def on_grid(value: float) -> float:
    """The nearest multiple of GRID."""
    return round(value / GRID) * GRID


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _positive(name: str, value: Any) -> float:
    found = as_plain(value)
    if found is None or not 0 < found < math.inf:
        raise SettingError(f"{name} must be a positive number, not {shown(value)}")
    return found


def _log_choose(n: int, k: int) -> float:
    return math.log(math.comb(n, k))
