"""The scorer of a table in some of whose rows variables were set from outside.

A row says nothing about how a variable that was set in it comes about: each family is scored on the rows in
which its child was not set (Cooper & Yoo 1999). Graphs that the score cannot tell apart are then those of one
interventional class: an arc between two variables of which some row sets one alone has its direction in
common (Hauser & Buehlmann 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayescout.arrays import Bools, Family, Floats, Ints, Parents
from bayescout.data.table import Table
from bayescout.errors import DataError
from bayescout.scores.checks import require_rows, require_weight
from bayescout.scores.family_prior import FamilyPrior
from bayescout.scores.formula import Formula
from bayescout.scores.prior_bounds import PriorBound
from bayescout.scores.scorer import Scorer
from bayescout.scores.superset_bounds import SupersetBound
from bayescout.scores.table_scorer import TableScorer
from bayescout.statistics.engine import Engine
from bayescout.statistics.independence import Correction, IndependenceTests, independence_tests


class InterventionalScorer(TableScorer):
    """A formula over the statistics of a table, each child's from the rows in which it was not set.

    A variable that was set in every row has no such rows: all its families score 0, and the prior decides.
    """

    kernel = None

    def __init__(
        self,
        formula: Formula,
        table: Table,
        engine: Engine,
        workers: int | None = None,
        prior: FamilyPrior | None = None,
    ) -> None:
        super().__init__(formula, formula.statistics(table, engine), workers, prior=prior)
        self._table, self._engine = table, engine
        rows = [table.unset(name) for name in table.names]
        made = {id(own): self._scorer_of(own) for own in rows}
        self._parts = [made[id(own)] for own in rows]
        marks = np.array([id(own) for own in rows])
        self._telling: Bools = marks[:, None] != marks[None, :]
        lost = [name for name, own in zip(table.names, rows, strict=True) if own is None]
        if lost:
            table.warn_once(
                "always set",
                f"{lost[0]!r} was set from outside in every row: nothing can be learned about its parents",
            )

    def _scorer_of(self, table: Table | None) -> TableScorer | None:
        """The scorer of some rows of the table."""
        if table is None:
            return None
        if table is self._table:
            return TableScorer(self.formula, self.statistics, self.workers)
        try:
            require_rows(table)
            require_weight(table)
            return TableScorer(self.formula, self.formula.statistics(table, self._engine), self.workers)
        except DataError as error:
            raise DataError(f"of the rows in which a variable was not set from outside: {error}") from None

    @property
    def telling(self) -> Bools:
        return self._telling

    def part(self, child: int) -> TableScorer | None:
        """The scorer of the rows in which a variable was not set; None if there are none."""
        part = self._parts[child]
        if part is not None:
            part.hooks = self.hooks
        return part

    # ---- scores

    def _evaluated_extensions(self, child: int, parents: Parents, candidates: Ints) -> Floats:
        part = self.part(child)
        if part is None:
            return np.zeros(len(candidates))
        return part._evaluated_extensions(child, parents, candidates)

    def _evaluated(self, families: Sequence[Family]) -> Floats:
        scores = np.zeros(len(families))
        by_part: dict[int, list[int]] = {}
        for i, (child, _) in enumerate(families):
            by_part.setdefault(id(self._parts[child]), []).append(i)
        for places in by_part.values():
            part = self.part(families[places[0]][0])
            if part is not None:
                scores[places] = part._evaluated([families[i] for i in places])
        return scores

    def fleeting(self, families: Sequence[Family]) -> Floats:
        return Scorer.fleeting(self, families)

    def all_extensions(self, families: Sequence[Family], able: Bools) -> Floats:
        return Scorer.all_extensions(self, families, able)

    # ---- further facts

    def superset_bounds(self, allowed: Bools) -> list[SupersetBound]:
        bounds: dict[int, list[SupersetBound]] = {}
        found: list[SupersetBound] = []
        for child in range(self.n_variables):
            part = self.part(child)
            if part is None:
                found.append(_NothingToGain())
                continue
            if id(part) not in bounds:
                bounds[id(part)] = part.superset_bounds(allowed)
            found.append(bounds[id(part)][child])
        if self.prior is None:
            return found
        return [PriorBound(one, self.prior, child, allowed) for child, one in enumerate(found)]

    def independence_tests(self, test: str | None, alpha: float, correction: Correction) -> IndependenceTests:
        """Tests on the rows in which nothing was set: rows of several experiments depend through these."""
        acted: Any = self._table.interventions
        if not acted.within(()).any():
            raise DataError(
                "this search tests independence in rows where nothing was set from outside, and there are "
                "none; search with ges, tabu or auto"
            )
        statistics = self.formula.statistics(self._table.observational(), self._engine)
        return independence_tests(statistics, test, alpha, correction, lambda: self.hooks.between())


class _NothingToGain(SupersetBound):
    """The bound of a variable whose families all score 0."""

    stops = True

    def worth(self, base: tuple[int, ...], sets: Ints, bests: Floats) -> Any:
        return bests < 0

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        return np.zeros(len(sets))
