"""Linear programs over columns in [0, 1] that grow by rows, by HiGHS.

Uses `highspy` where it is installed, which goes on from the last optimum when rows are added or columns
closed, and otherwise `scipy`, which has the same solver but begins anew each time. One thread and a
fixed seed: the same calls give the same answers.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints

Row = tuple[Ints, Floats]
"""The columns of a row and their values."""


SETTINGS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "presolve": "off",
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


LIMIT_REACHED = 1
"""The status of scipy's solver when it has run out of time."""

GRACE = 0.05
"""Seconds beyond the end of the run's time after which the solver gives up."""


class OutOfTime(Exception):
    """Raised where the solver has not come to an end in the time that it was given."""


class Solution(NamedTuple):
    """An optimum: the values of the columns, and the multipliers of the rows added later."""

    x: Floats
    multipliers: Floats


class Relaxation:
    """Maximise costs x subject to: the columns of each group sum to one, and rows a x <= room.

    groups  (m,) int64   the group of each column, ascending; every group has a column
    """

    def __init__(self, costs: Floats, groups: Ints) -> None:
        self.costs = costs
        self.groups = groups
        self.n_groups = int(groups[-1]) + 1
        self.rooms: list[float] = []

    @property
    def m(self) -> int:
        return len(self.costs)

    def add(self, rows: Sequence[Row], rooms: Sequence[float]) -> None:
        raise NotImplementedError

    def solve(self, open_columns: NDArray[np.bool_], left: float = math.inf) -> Solution | None:
        """The optimum with the other columns at zero, or None if the solver finds none.

        Raises OutOfTime after `left` seconds.
        """
        raise NotImplementedError


def relaxation(costs: Floats, groups: Ints) -> Relaxation:
    return ByHighspy(costs, groups) if has_highspy() else ByScipy(costs, groups)


@cache
def has_highspy() -> bool:
    return importlib.util.find_spec("highspy") is not None


class ByHighspy(Relaxation):
    """One model that is kept and modified."""

    def __init__(self, costs: Floats, groups: Ints) -> None:
        import highspy

        super().__init__(costs, groups)
        make: Any = highspy.Highs
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.m, self.n_groups
        lp.sense_ = highspy.ObjSense.kMaximize
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = costs, np.zeros(self.m), np.ones(self.m)
        lp.row_lower_ = lp.row_upper_ = np.ones(self.n_groups)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = self.m, self.n_groups
        lp.a_matrix_.start_ = np.searchsorted(groups, np.arange(self.n_groups + 1)).astype(np.int32)
        lp.a_matrix_.index_ = np.arange(self.m, dtype=np.int32)
        lp.a_matrix_.value_ = np.ones(self.m)
        self._solver = make()
        for name, value in SETTINGS.items():
            self._solver.setOptionValue(name, value)
        self._solver.passModel(lp)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._late = highspy.HighsModelStatus.kTimeLimit
        self._open = np.ones(self.m, dtype=bool)

    def add(self, rows: Sequence[Row], rooms: Sequence[float]) -> None:
        starts = np.concatenate(([0], np.cumsum([len(columns) for columns, _ in rows])))[:-1]
        columns = np.concatenate([columns for columns, _ in rows]).astype(np.int32)
        values = np.concatenate([values for _, values in rows])
        lower, upper = np.full(len(rows), -np.inf), np.array(rooms, dtype=np.float64)
        self._solver.addRows(len(rows), lower, upper, len(columns), starts.astype(np.int32), columns, values)
        self.rooms += rooms

    def solve(self, open_columns: NDArray[np.bool_], left: float = math.inf) -> Solution | None:
        changed = np.flatnonzero(open_columns != self._open).astype(np.int32)
        if len(changed):
            upper = open_columns[changed].astype(np.float64)
            self._solver.changeColsBounds(len(changed), changed, np.zeros(len(changed)), upper)
            self._open = open_columns.copy()
        # The solver's clock runs on from one call to the next.
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left + GRACE)
        if not self._run():
            self._solver.clearSolver()
            if not self._run():
                return None
        found = self._solver.getSolution()
        return Solution(np.array(found.col_value), np.array(found.row_dual)[self.n_groups :])

    def _run(self) -> bool:
        """Run the solver; True if it found an optimum."""
        self._solver.run()
        status = self._solver.getModelStatus()
        if status == self._late:
            raise OutOfTime
        return bool(status == self._optimal)


class ByScipy(Relaxation):
    """Rows that are kept; every solve begins anew."""

    def __init__(self, costs: Floats, groups: Ints) -> None:
        super().__init__(costs, groups)
        self._rows: list[Row] = []

    def add(self, rows: Sequence[Row], rooms: Sequence[float]) -> None:
        self._rows += rows
        self.rooms += rooms

    def solve(self, open_columns: NDArray[np.bool_], left: float = math.inf) -> Solution | None:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix

        place = np.arange(self.m)
        equal = csr_matrix((np.ones(self.m), (self.groups, place)), shape=(self.n_groups, self.m))
        rows: Any = None
        if self._rows:
            starts = np.concatenate(([0], np.cumsum([len(columns) for columns, _ in self._rows])))
            columns = np.concatenate([columns for columns, _ in self._rows])
            values = np.concatenate([values for _, values in self._rows])
            rows = csr_matrix((values, columns, starts), shape=(len(self._rows), self.m))
        found = linprog(
            -self.costs,
            A_ub=rows,
            b_ub=self.rooms or None,
            A_eq=equal,
            b_eq=np.ones(self.n_groups),
            bounds=np.stack([np.zeros(self.m), open_columns.astype(np.float64)], axis=1),
            method="highs-ds",
            options={} if left == math.inf else {"time_limit": max(left, 0.0) + GRACE},
        )
        if found.status == LIMIT_REACHED:
            raise OutOfTime
        if found.status != 0:
            return None
        return Solution(found.x, -np.asarray(found.ineqlin.marginals) if self._rows else np.empty(0))
