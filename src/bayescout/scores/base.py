"""What a score is: a formula over the statistics of a family, and the formula bound to a table.

A `Formula` holds settings and the mathematics and nothing else: one method, `evaluate`. Bound to a
table it becomes a `Score`, which searches use: counting, batching, caching and threads are there,
once for all formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import eq
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from bayescout.data.table import Table
from bayescout.errors import (
    DataError,
    GraphError,
    SettingError,
    TooLargeError,
    UnknownNameError,
    did_you_mean,
)
from bayescout.statistics.counts import Counts
from bayescout.statistics.covariance import Covariance
from bayescout.statistics.families import Family, FamilyTables, Floats, Grid, Ints
from bayescout.wording import setting

Parents = tuple[int, ...]
Kinds = Literal["discrete", "continuous", "both"]

MOST_WEIGHT = 2.0**53
"""The sum of row weights must stay below this: beyond it, counts are not exact."""


@runtime_checkable
class Score(Protocol):
    """Local scores of one data set: nats, larger is better. Only `local` is required of a user's own."""

    def local(self, child: int, parents: Parents) -> float: ...


class Formula:
    """Settings and formula of a decomposable score; frozen dataclasses derive from it.

    `evaluate` turns the statistics of a batch of families into one number each. `kinds` says which
    columns it is for, `equivalent` whether Markov equivalent graphs score the same, and
    `likelihood_scale` whether log-likelihood less score is a charge for complexity. All are
    decomposable: a network's score is the sum over its families.
    """

    kinds: ClassVar[Kinds] = "discrete"
    equivalent: ClassVar[bool] = False
    decomposable: ClassVar[bool] = True
    likelihood_scale: ClassVar[bool] = True

    def evaluate(self, families: Any) -> Floats:
        """The local score of each family of the batch, in nats, larger is better."""
        raise NotImplementedError

    def kernel_terms(self, total: float, n_variables: int, grid: Grid) -> list[float] | None:
        """The formula as `kernels.neighbours` reads it, where it is one of those; else None.

        Only a short cut for searches of many small steps: the numbers are those of `evaluate`, to the bit.
        """
        return None

    def statistics(self, table: Table) -> Counts | Covariance:
        """What the formula is computed from."""
        if self.kinds == "continuous" or (self.kinds == "both" and table.is_continuous):
            return Covariance(table)
        if self.kinds == "both" and not table.is_discrete:
            mixed = next(n for n, s in zip(table.names, table.states, strict=True) if s is None)
            raise DataError(
                f"the table mixes discrete and continuous columns ({mixed!r} is continuous): "
                f"{setting('bins', 3)} cuts the continuous ones into intervals; or declare one kind for "
                f"all, such as {setting('kinds', 'discrete')}"
            )
        return Counts(table)


def _raised(error: TooLargeError) -> None:
    raise error


@dataclass
class Hooks:
    """What a run asks of the score it uses: nothing, outside of a run.

    between    called between pieces of work that take some hundredths of a second each; may raise to end it
    too_large  told of a family whose table is too large to be counted: raises, or returns where such a
               family is to count as minus infinity
    """

    between: Callable[[], None] = lambda: None
    too_large: Callable[[TooLargeError], None] = _raised


class FunctionFormula(Formula):
    """A formula from a plain function of one family's counts table.

    Configurations of the parents that never occur may be missing from the table. A family whose
    value is not a number cannot be scored and counts as minus infinity.
    """

    def __init__(self, function: Callable[[Any], float]) -> None:
        self.function = function

    def evaluate(self, families: FamilyTables) -> Floats:
        values = np.array([float(self.function(families.table(i))) for i in range(len(families))])
        return np.where(np.isnan(values), -np.inf, values)

    def __repr__(self) -> str:
        return f"FunctionFormula({getattr(self.function, '__name__', self.function)!s})"


def make_named(kind: str, registry: Mapping[str, Any], name: str, settings: Mapping[str, Any]) -> Any:
    """An instance of a registered class with its settings; a name or setting that is not known is named."""
    if name not in registry:
        raise UnknownNameError(kind, name, registry)
    known = [f.name for f in fields(registry[name])]
    for key in settings:
        if key not in known:
            shown = ", ".join(known) or "none"
            hint = did_you_mean(key, known)
            raise SettingError(f"{kind} {name!r} has no setting {key!r}; {hint}its settings: {shown}")
    return registry[name](**settings)


def require_rows(table: Table, least: int = 2) -> None:
    """Refuse a table too short to learn anything from."""
    if table.n_rows < least:
        raise DataError(
            f"the table has {table.n_rows} row{'s' * (table.n_rows != 1)}; scoring needs at least {least}"
        )


def require_weight(table: Table) -> None:
    """Refuse row weights that do not count rows: a charge of log N makes no sense below two."""
    total = table.total_weight
    if not 2 <= total < MOST_WEIGHT:
        raise DataError(
            f"the row weights sum to {total:g}; they count rows, and scoring needs a sum from 2 to 2**53: "
            f"rescale them, to sum to the number of rows for instance"
        )


def check_families(families: Sequence[Family], n_variables: int) -> None:
    """Refuse a family that is not one; parents are sorted."""
    for child, parents in families:
        inside = 0 <= child < n_variables and (not parents or (parents[0] >= 0 and parents[-1] < n_variables))
        if not inside or child in parents or any(map(eq, parents, parents[1:])):
            raise GraphError(
                f"({child}, {parents}) is not a family of {n_variables} variables: a child and parents other "
                f"than itself, each once, by position from 0"
            )


def check_candidates(child: int, parents: Parents, candidates: Ints, n_variables: int) -> None:
    """Refuse candidates that are outside the table, the child itself or parents already."""
    least, most = int(candidates.min()), int(candidates.max())
    taken = {child, *parents}
    if least < 0 or most >= n_variables or not taken.isdisjoint(candidates.tolist()):
        raise GraphError(
            f"candidates must be among the {n_variables} variables and neither {child} nor a parent of it"
        )


class LocalScores(Protocol):
    """The full interface of a bound score."""

    n_variables: int

    def local(self, child: int, parents: Parents) -> float: ...

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> Floats: ...

    def many(self, families: Sequence[Family]) -> Floats: ...
