"""The engines by name, and the statistics of a table by one of them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from bayescout.data.past.dask_table import DaskTable
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.errors import SettingError, UnknownNameError
from bayescout.statistics.counts import Counts
from bayescout.statistics.covariance import Covariance
from bayescout.statistics.dask_counts import dask_counts
from bayescout.statistics.dask_covariance import dask_scatter
from bayescout.statistics.degenerate import DegenerateGaussian
from bayescout.statistics.engine import Engine, Kind, Statistics
from bayescout.statistics.mixed import ConditionalGaussian
from bayescout.statistics.requirements import require_kind
from bayescout.statistics.stored import of_stored
from bayescout.wording import setting

KEPT_CELLS = 1 << 20
"""The counts of tables of at most this many cells are kept, as long as the table is."""

_kept: WeakKeyDictionary[Table, Counts] = WeakKeyDictionary()


def in_memory(table: Table, kind: Kind, prior: float | None = None) -> Statistics:
    """The statistics of a table that is in memory, or on disk where it is past memory."""
    if kind == "mixed":
        return ConditionalGaussian(table)
    if kind == "degenerate":
        return DegenerateGaussian(table)
    if isinstance(table, DaskTable):
        return _on_dask(table, kind, prior)
    if isinstance(table, StoredTable):
        return of_stored(table, kind, prior)
    return _counts(table) if kind == "discrete" else Covariance(table, prior)


def _on_dask(table: DaskTable, kind: Kind, prior: float | None) -> Statistics:
    """The statistics of a table on a cluster with columns of one kind."""
    if kind == "discrete":
        return dask_counts(table)
    require_kind(table, kind)
    return Covariance(table, prior, dask_scatter(table))


def _counts(table: Table) -> Counts:
    """The counts of a table, which nothing changes: small ones are made once, however often they are used."""
    found = _kept.get(table)
    if found is None:
        found = Counts(table)
        if table.n_rows * table.n_columns <= KEPT_CELLS:
            _kept[table] = found
    return found


ENGINES: dict[str, Engine] = {"memory": in_memory}
"""Every engine by name; to add one, write a class and add a line here."""

GPU = "gpu"
"""The engine that sorts out the pairs of a wide table on a GPU; what is left is counted in memory."""


def engine_of(engine: str | Engine | None) -> Engine:
    """The engine of this name, or the given one; None is the one in memory."""
    if engine is None:
        return in_memory
    if isinstance(engine, str):
        if engine == GPU:
            raise SettingError(
                f"{setting('engine', GPU)} sorts out pairs for searches on screened pairs, and counts "
                f"nothing itself; leave out the engine"
            )
        if engine not in ENGINES:
            raise UnknownNameError("engine", engine, (*ENGINES, GPU))
        return ENGINES[engine]
    if not callable(engine):
        raise SettingError(
            f"an engine is a name ({', '.join(ENGINES)}) or a function of a table, a kind and a prior that "
            f"returns statistics, not {type(engine).__name__}"
        )
    return engine
