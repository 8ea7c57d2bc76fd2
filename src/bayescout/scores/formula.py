"""The definition of a score: a formula over the statistics of a family.

A `Formula` holds settings and the mathematics and nothing else: one method, `evaluate`. With the statistics
of a table it makes a `Scorer`, which searches use; batching, caching, metering and threads are there, once
for all formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from bayescout.arrays import Bools, Floats
from bayescout.data.table import Table
from bayescout.errors import SettingError
from bayescout.scores.superset_bounds import SupersetBound
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engine import Engine, Kind, Statistics
from bayescout.statistics.engines import in_memory
from bayescout.statistics.families import FamilyTables, Grid
from bayescout.statistics.requirements import require_kind
from bayescout.wording import setting

Kinds = Literal["discrete", "continuous", "both"]


class Terms(NamedTuple):
    """A formula as compiled code evaluates it; the numbers are those of `evaluate`, to the bit.

    form    LIKELIHOOD or DIRICHLET of `kernels.limits`
    units   per nat; `shift` is the units per step of the grid as a power of two, `step` that step in nats
    amount  the charge per parameter, or the prior count per cell
    ess     the equivalent sample size if the prior is spread over the cells of the table (BDeu), else 0
    """

    form: float
    units: float
    shift: float
    step: float
    amount: float = 0.0
    ess: float = 0.0

    @classmethod
    def on(cls, grid: Grid, form: int, amount: float = 0.0, ess: float = 0.0) -> Terms:
        """The terms of a formula whose sums are rounded to a grid."""
        units, shift, step = grid.for_kernel.tolist()
        return cls(form, units, shift, step, amount, ess)


class Formula:
    """Settings and formula of a decomposable score; frozen dataclasses derive from it.

    `evaluate` turns the statistics of a batch of families into one number per family. `kinds` are the kinds
    of columns it accepts ("both": also in one table), `equivalent` is True if Markov equivalent graphs score
    the same, and `likelihood_scale` is True if log-likelihood less score is a penalty for complexity. All are
    decomposable: a network's score is the sum over its families.
    """

    kinds: ClassVar[Kinds] = "discrete"
    equivalent: ClassVar[bool] = False
    decomposable: ClassVar[bool] = True
    likelihood_scale: ClassVar[bool] = True

    def evaluate(self, families: Any) -> Floats:
        """The local score of each family of the batch, in nats; larger is better."""
        raise NotImplementedError

    def kernel_terms(self, statistics: DiscreteStatistics) -> Terms | None:
        """The formula for compiled code, if it has one of the two forms that kernels know; else None."""
        return None

    def superset_bounds(self, statistics: Any, allowed: Bools) -> list[SupersetBound]:
        """For each child an upper bound on the scores of a parent set's supersets; none unless one is proven.

        allowed  (n, n) bool   [parent, child]: the parents that a child may have
        """
        return [SupersetBound() for _ in range(statistics.n_variables)]

    def kind_for(self, table: Table) -> Kind:
        """The kind of statistics that the formula is computed from."""
        if self.kinds != "both":
            return self.kinds
        if not table.is_discrete and not table.is_continuous:
            return "mixed"
        return "continuous" if table.is_continuous else "discrete"

    def scatter_prior(self, n_variables: int) -> float | None:
        """The number added to the diagonal of the scatter matrix of continuous columns; None for nothing."""
        return None

    def statistics(self, table: Table, engine: Engine = in_memory) -> Statistics:
        """The statistics that the formula is computed from, by an engine."""
        kind = self.kind_for(table)
        require_kind(table, kind)
        made = engine(table, kind, self.scatter_prior(table.n_columns))
        if made.kind != kind:
            raise SettingError(
                f"the engine made {made.kind} statistics, and {type(self).__name__} needs {kind} ones of "
                f"this table: use {setting('engine', 'memory')}, or another score"
            )
        return made


class FunctionFormula(Formula):
    """A formula from a plain function of one family's counts table.

    Parent configurations that never occur may be missing from the table. A family whose
    value is not a number cannot be scored and counts as minus infinity.
    """

    def __init__(self, function: Callable[[Any], float]) -> None:
        self.function = function

    def evaluate(self, families: FamilyTables) -> Floats:
        values = np.array([float(self.function(families.table(i))) for i in range(len(families))])
        return np.where(np.isnan(values), -np.inf, values)

    def __repr__(self) -> str:
        return f"FunctionFormula({getattr(self.function, '__name__', self.function)!s})"
