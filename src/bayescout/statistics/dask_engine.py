"""The engine of rows on a Dask cluster, which also reads files that its workers can read."""

from __future__ import annotations

import os
from typing import Any

from bayescout.data.past.dask_rows import is_dask, read_dask
from bayescout.data.past.dask_table import DaskTable
from bayescout.data.past.sources import paths_of
from bayescout.data.table import Table
from bayescout.errors import DataError
from bayescout.statistics.engine import Kind, Statistics
from bayescout.statistics.engines import in_memory


class DaskEngine:
    """The engine of rows on a cluster; it also reads files that its workers can read.

    `bs.learn("rows/*.parquet", engine=bs.DaskEngine(client))`; without a client it is the connected one.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = client

    def table_of(self, data: Any, missing: Any) -> Table:
        """The table of a Dask dataframe or of files."""
        if isinstance(data, DaskTable):
            return data
        return read_dask(data, self.client, missing=missing)

    def takes(self, data: Any) -> bool:
        """Return True for data that this engine reads itself."""
        return is_dask(data) or isinstance(data, str | os.PathLike) or paths_of(data) is not None

    def __call__(self, table: Table, kind: Kind, prior: float | None = None) -> Statistics:
        if not isinstance(table, DaskTable):
            raise DataError(
                "the Dask engine counts rows on a cluster: give a Dask dataframe or Parquet files"
            )
        return in_memory(table, kind, prior)
