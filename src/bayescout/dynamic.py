"""Dynamic networks: rows in the order of time, as a table of lagged columns, learned and unrolled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import require_count
from bayescout.data import as_table
from bayescout.data.acting import refuse_interventions
from bayescout.data.table import Label, States, Table
from bayescout.errors import DataError, NetworkError, SettingError
from bayescout.graph.accept import as_dag
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.network import Network, fit
from bayescout.network.node import NodeDistribution
from bayescout.search import Knowledge


def at(name: Label, time: int | str) -> str:
    """The name of a variable at a time: `x[t-1]` in a table, `x[3]` in a network that is unrolled."""
    return f"{name}[{time}]"


@dataclass(frozen=True, eq=False, repr=False)
class Lagged:
    """Rows with what came before them, from which a dynamic network is learned.

    table      the columns of each earlier time, `x[t-2]`, `x[t-1]`, and of now, `x[t]`, oldest first
    knowledge  that of a dynamic network: nothing points into an earlier time, whose own arcs are those of now
               and are not learned twice
    names      the variables
    lags       how many earlier times there are

    `bs.learn(lagged.table, knowledge=lagged.knowledge)` learns the parents of each variable now, among all
    variables now and before; `unroll` makes a network over as many times as asked for.
    """

    table: Table
    knowledge: Knowledge
    names: tuple[Label, ...]
    lags: int

    def unroll(self, structure: Any, steps: int, prior: str = "laplace", ess: float = 1.0) -> Network:
        """The network over the times 0 to steps - 1, with nodes `x[0]`, `y[0]`, `x[1]`, ...

        Every time has the parents and parameters that were learned. The first times have those parents that
        exist by then, with parameters estimated from all rows, as if the series had run before.
        """
        steps = require_count("steps", steps, 1)
        dag = as_dag(structure)
        if set(dag.nodes) != set(self.table.names):
            odd = sorted(map(str, set(dag.nodes) ^ set(self.table.names)))
            raise NetworkError(
                f"the structure is not over the columns of this table: they differ in {quoted(odd, 3)}; "
                f"learn it from lagged.table"
            )
        dag = dag.reordered(self.table.names)
        now = self.lags * len(self.names)
        if any(dag.parents[:now]):
            raise NetworkError(
                "the structure has arcs into earlier times; learn it with knowledge=lagged.knowledge"
            )
        prior = "mle" if self.table.is_continuous else prior
        parents: list[tuple[int, ...]] = []
        distributions: list[NodeDistribution] = []
        for time in range(steps):
            back = min(time, self.lags)
            if time <= self.lags:
                own = self._known_by(dag, back)
                fitted = fit(own, self.table, prior, ess=ess)
            shift = (time - self.lags) * len(self.names)
            for node in range(now, len(dag)):
                parents.append(tuple(parent + shift for parent in own.parents[node]))
                distributions.append(fitted.distributions[node])
        nodes = tuple(at(name, time) for time in range(steps) for name in self.names)
        return Network(Dag(nodes, tuple(parents)), tuple(distributions))

    def _known_by(self, dag: Dag, back: int) -> Dag:
        """The graph without arcs from earlier than so many times ago."""
        first = (self.lags - back) * len(self.names)
        return Dag(dag.nodes, tuple(tuple(p for p in own if p >= first) for own in dag.parents))

    def __repr__(self) -> str:
        return f"<Lagged: {len(self.names)} variables, {self.lags} lags, {self.table.n_rows:,} rows>"


def lag(
    data: Any,
    lags: int = 1,
    by: Label | None = None,
    within: bool = True,
    max_parents: int | None = None,
) -> Lagged:
    """A table of each row and the `lags` rows before it, with the knowledge of a dynamic network.

    Rows are in the order of time. `by` names a column that tells several series apart, each with its own
    rows in order; it is not a variable. Without `within` no arc joins two variables of the same time.
    `max_parents` is the largest number of parents of a variable.
    """
    table = as_table(data, missing="keep")
    lags = require_count("lags", lags, 1)
    refuse_interventions(table, "lag", "leave them out")
    if table.weights is not None:
        raise DataError("rows in the order of time have no weights; leave them out")
    order, starts = _series(table, by)
    table = table if by is None else table.select([name for name in table.names if name != by])
    if not table.n_columns:
        raise DataError("there is no column besides that of the series")
    rows = np.flatnonzero(_since(starts, len(order)) >= lags)
    if not len(rows):
        raise DataError(f"no row has {lags} rows before it in its series; ask for fewer lags")
    parts = [_at_lag(table, order[rows - back], back) for back in range(lags, -1, -1)]
    earlier = [name for part in parts[:-1] for name in part.names]
    current = parts[-1].names
    limits: dict[Label, int] = dict.fromkeys(earlier, 0)
    if max_parents is not None:
        limits |= dict.fromkeys(current, require_count("max_parents", max_parents, 0))
    forbidden = () if within else tuple((a, b) for a in current for b in current if a != b)
    knowledge = Knowledge(forbidden=forbidden, max_parents=limits)
    return Lagged(_joined(parts), knowledge, table.names, lags)


def _series(table: Table, by: Label | None) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The rows series by series, each in its order, and True where a series begins."""
    n = table.n_rows
    if by is None:
        return np.arange(n, dtype=np.intp), np.arange(n) == 0
    column = table.array(by)
    if table.missing_cells(by).any():
        raise SettingError(f"column {by!r} tells the series apart and has empty cells; fill them")
    order = np.argsort(column, kind="stable").astype(np.intp)
    return order, np.concatenate([[True], column[order][1:] != column[order][:-1]])


def _since(starts: NDArray[np.bool_], n: int) -> NDArray[np.intp]:
    """For each row the number of rows before it in its series."""
    begun = np.maximum.accumulate(np.where(starts, np.arange(n), 0))
    return np.arange(n) - begun


def _at_lag(table: Table, rows: NDArray[np.intp], back: int) -> Table:
    """The table some rows earlier, under names that say so."""
    taken = table.take(rows)
    when = "t" if back == 0 else f"t-{back}"
    return Table(
        tuple(at(name, when) for name in taken.names),
        taken.states,
        taken.codes,
        taken.values,
        missing=replace(taken.missing, policy="keep"),
    )


def _joined(parts: list[Table]) -> Table:
    """The columns of all parts, side by side."""
    codes = np.concatenate([part.codes for part in parts]) if len(parts[0].codes) else parts[0].codes
    values = np.concatenate([part.values for part in parts]) if len(parts[0].values) else parts[0].values
    names: tuple[Label, ...] = tuple(name for part in parts for name in part.names)
    states: tuple[States | None, ...] = tuple(own for part in parts for own in part.states)
    if len(set(names)) < len(names):
        raise DataError("two columns have the same name as text; rename one")
    return Table(names, states, codes, values, missing=parts[0].missing)
