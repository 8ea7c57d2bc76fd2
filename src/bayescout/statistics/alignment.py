"""Data matched to a graph: one column per node, nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from bayescout.data.encode import as_table, column_names
from bayescout.data.table import Table
from bayescout.errors import NetworkError, about, is_told, warn
from bayescout.graph.dag import Dag
from bayescout.graph.labels import is_hashable, quoted

Label = Hashable


def aligned_table(dag: Dag, data: Any, **options: Any) -> Table:
    """The columns of the graph's nodes, in its order; further arguments are those of `as_table`.

    Columns that no node uses are left out, whatever they contain, with a warning.
    """
    names = column_names(data)
    refuse_missing_nodes(dag, names)
    given = (options.get("weights"), options.get("interventions"))
    beside = [one for one in given if is_hashable(one)]
    with about(data):
        warn_unused_columns(dag, [name for name in names if name not in beside])
        return as_table(data, columns=dag.nodes, **options)


def needed_names(graph: Any, data: Any) -> tuple[Label, ...] | None:
    """The columns of the data, for a graph that may have no names of its own: arcs, or a matrix."""
    if isinstance(graph, Dag) or hasattr(graph, "dag"):
        return None
    return tuple(column_names(data))


def refuse_missing_nodes(dag: Dag, columns: Iterable[Label]) -> None:
    """Refuse data without a column for every node."""
    present = set(columns)
    absent = [label for label in dag.nodes if label not in present]
    if absent:
        raise NetworkError(
            f"the data have no column for {'nodes' if len(absent) > 1 else 'node'} {quoted(absent)}; "
            f"rename or add the columns, or take the nodes out of the graph"
        )


def warn_unused_columns(dag: Dag, columns: Iterable[Label]) -> None:
    """Warn of columns that no node uses and that are left out, unless that is told of these data."""
    known = set(dag.nodes)
    unused = [name for name in columns if name not in known and not is_told(name)]
    if unused:
        warn(
            f"{'columns' if len(unused) > 1 else 'column'} {quoted(unused)} of the data "
            f"{'are' if len(unused) > 1 else 'is'} left out: the graph has no such node"
        )
