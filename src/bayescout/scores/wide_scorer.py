"""The scorer of a wide table: correlations come from the columns, and compiled searches see both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bayescout.arrays import Bools, Family, Floats, Ints
from bayescout.data.table import Table
from bayescout.errors import SettingError
from bayescout.scores.family_prior import FamilyPrior
from bayescout.scores.likelihood import LogLikelihood, Penalised
from bayescout.scores.table_scorer import TableScorer
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.covariance import RESIDUAL_FLOOR, on_grid
from bayescout.statistics.partial import explained

SIZES = 1 << 16
"""The most parents that a prior is asked about."""

FAMILIES = 5000
"""The most families that are extended between two looks at the clock."""

CANDIDATES, PRODUCTS = 100_000, 100_000_000
"""The most of their candidates, and of products of two cells, if none of their correlations is remembered."""

MARGIN = 1e-3
"""Nats by which an estimate of a gain may be off."""

MOST_SHARE = 1 - 1e-12
"""The most variance that is said to be explained."""


class WideScorer(TableScorer):
    """A penalised Gaussian likelihood over the columns of a wide table."""

    def __init__(
        self,
        formula: Any,
        columns: ColumnCovariance,
        workers: int | None = None,
        prior: FamilyPrior | None = None,
    ) -> None:
        super().__init__(formula, columns, workers, prior=prior)
        self._columns = columns

    def fleeting(self, families: Sequence[Family]) -> Floats:
        if not families:
            return np.empty(0)
        self.meter(len(families), len(families))
        found: Floats = self.formula.evaluate(self._columns.many(families, alone=True))
        return found if self.prior is None else found + self.prior.many(families)

    def extensions_of_each(self, families: Sequence[Family], bounds: Ints, candidates: Ints) -> Floats:
        self.meter(len(candidates), len(candidates))
        found = np.empty(len(candidates))
        most = min(CANDIDATES, max(1, PRODUCTS // self._columns.rows))
        begin = 0
        while begin < len(families):
            self.hooks.between()
            full = int(np.searchsorted(bounds, bounds[begin] + most, side="right")) - 1
            end = min(len(families), begin + FAMILIES, max(begin + 1, full))
            own, part = bounds[begin : end + 1] - bounds[begin], slice(int(bounds[begin]), int(bounds[end]))
            some = families[begin:end]
            found[part] = self.formula.evaluate(self._columns.extensions_of_each(some, own, candidates[part]))
            begin = end
        if self.prior is not None:
            sizes = np.array([len(parents) + 1 for _, parents in families], dtype=np.int64)
            found += np.repeat(self.prior.by_size[np.minimum(sizes, self.n_variables - 1)], np.diff(bounds))
        return found

    def gaining(
        self, families: Sequence[Family], open_to: Callable[[int], Bools], least: Floats
    ) -> Iterator[tuple[int, Ints]]:
        shares = explained(self._columns, families)
        for (child, parents), base, share in zip(families, self.fleeting(families), shares, strict=True):
            self.hooks.between()
            others = np.flatnonzero(open_to(child))
            if base > -np.inf:  # else no estimate tells whether a wider family can be scored
                others = others[self._wider(base, len(parents), share[others]) > least[child] - MARGIN]
            if len(others):
                more = others[self.extensions_once(child, parents, others) > least[child]]
                if len(more):
                    yield child, more

    def _wider(self, base: float, parents: int, shares: Floats) -> Floats:
        """About the score of a family with one more parent, which explains this share of the residual."""
        gains: Floats = -self._columns.total / 2 * np.log1p(-np.minimum(shares, MOST_SHARE))
        if self.prior is not None:
            sizes = self.prior.by_size
            base += sizes[min(parents + 1, len(sizes) - 1)] - sizes[parents]
        return base + gains - self._charge()

    def _charge(self) -> float:
        found = charge_of(self.formula, self._columns.total, self.n_variables)
        if found is None:
            raise SettingError(f"a search on candidates needs bic, ebic, aic or loglik, not {self.name}")
        return found

    def wide_arrays(self) -> tuple[Any, Any]:
        from bayescout.kernels.appraising import Terms

        columns, prior = self._columns, self.prior
        sizes = np.zeros(min(self.n_variables + 1, SIZES)) if prior is None else prior.by_size[:SIZES]
        sizes = np.append(sizes, sizes[-1:]).astype(np.float64)
        terms = Terms(columns.total / 2, self._charge(), RESIDUAL_FLOOR, columns.rows, sizes)
        return columns.arrays, terms


def takes_columns(table: Table, formula: Any, prior: FamilyPrior | None) -> bool:
    """Return True if a table is scored from its columns, with no matrix of all pairs."""
    if not table.is_continuous or table.has_missing or table.interventions is not None:
        return False
    if prior is not None and not (prior.weights is None and prior.own is None):
        return False
    return isinstance(formula, Penalised | LogLikelihood) and formula.kind_for(table) == "continuous"


def charge_of(formula: Any, total: float, n: int) -> float | None:
    """The charge per parameter, on the grid of scores, of a penalised likelihood; None for another score."""
    if isinstance(formula, LogLikelihood):
        return 0.0
    if isinstance(formula, Penalised):
        return float(on_grid(np.float64(formula.charge_at(total, n))))
    return None
