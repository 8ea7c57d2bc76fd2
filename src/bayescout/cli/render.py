"""Results as tables for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table as Grid
from rich.text import Text

from bayescout.errors import printable
from bayescout.graph.compare import Comparison
from bayescout.network import Cpt, GaussianDistribution, GaussianMixture, MixedDistribution, Network
from bayescout.network.distribution import Answer
from bayescout.network.node import Parameters

PLAIN_WIDTH = 10_000
"""The width for tables when the output is not a terminal: nothing is cut or wrapped."""


def console() -> Console:
    """The console for people: standard output, in colour only on a terminal."""
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False)


def grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], numbers: int = 0) -> Group:
    """A titled table whose last `numbers` columns are figures, aligned right."""
    table = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_header=any(columns))
    for i, column in enumerate(columns):
        right = i >= len(columns) - numbers
        table.add_column(label(column), justify="right" if right else "left", no_wrap=right)
    for row in rows:
        table.add_row(*map(label, row))
    return Group(label(title, "bold"), table)


def label(value: Any, style: str = "") -> Text:
    """A value for display, in which neither markup nor terminal codes have any effect."""
    return Text(printable(value), style=style)


def probability(value: float | None) -> str:
    """Four digits, or a mark for none."""
    if value is None:
        return "---"
    return f"{value:.4f}" if value == 0 or value >= 0.00005 else f"{value:.1e}"


def figure(value: float | None) -> str:
    """Six digits, or a mark for none."""
    return "---" if value is None else f"{value:.6g}"


def parameter_grids(found: Parameters, width: int) -> list[Group]:
    """The parameters of one node, one row per parent configuration; in several tables if they are wide."""
    labels = [printable(label) for label in found.columns[: found.leading]]
    states = found.columns[found.leading :]
    rows = [([printable(v) for v in row[: found.leading]], row[found.leading :]) for row in found.lines()]
    left = sum(max([len(label), *(len(row[i]) for row, _ in rows)]) + 3 for i, label in enumerate(labels))
    is_table = isinstance(found, Cpt)
    cell = probability if is_table else figure
    each = max(6 if is_table else 12, *(len(printable(state)) for state in states)) + 3
    fit = max(1, (width - left) // each)
    grids = []
    for begin in range(0, len(states), fit):
        some = slice(begin, begin + fit)
        names = [str(state) for state in states[some]]
        lines = [[*row, *(cell(p) for p in numbers[some])] for row, numbers in rows]
        what = f"{'states' if is_table else 'columns'} {begin + 1} to {begin + len(names)}"
        part = f"{found.title}, {what}" if fit < len(states) else found.title
        grids.append(grid(part, [*labels, *names], lines, numbers=len(names)))
    return grids


def equations_grid(network: Network, nodes: Sequence[Any]) -> Group:
    """One linear equation per node."""
    rows = [
        (node, network.equation(node), f"{float(network.variances[network.dag.index(node)]):.4g}")
        for node in nodes
    ]
    return grid("Linear-Gaussian equations", ["node", "mean", "variance"], rows, numbers=1)


def answer_grid(answer: Answer, title: str) -> Group:
    """The answer of a query."""
    error = getattr(answer, "error", 0.0)
    if error:
        title += f", estimated with a standard error of at most {error:.2g}"
    if isinstance(answer, MixedDistribution):
        return _mixed_grid(answer, title)
    if isinstance(answer, GaussianDistribution | GaussianMixture):
        rows = [
            (name, f"{part['mean']:.6g}", f"{part['variance']:.6g}", f"{part['variance'] ** 0.5:.6g}")
            for name, part in answer.to_dict().items()
        ]
        return grid(title, ["node", "mean", "variance", "deviation"], rows, numbers=3)
    columns = [*(str(v) for v in answer.variables), "probability"]
    return grid(title, columns, [(*states, probability(p)) for states, p in answer.rows()], numbers=1)


def _mixed_grid(answer: MixedDistribution, title: str) -> Group:
    """One line per state of the discrete variables and per continuous variable."""
    rows = []
    for states, p, found in answer.rows():
        for name, part in {} if found is None else found.to_dict().items():
            figures = (probability(p), name, f"{part['mean']:.6g}", f"{part['variance']:.6g}")
            rows.append((*states, *figures))
    columns = [*(str(v) for v in answer.discrete.variables), "probability", "node", "mean", "variance"]
    return grid(title, columns, rows, numbers=2)


def information_grid(found: Any) -> Group:
    """The nodes by what observing them would tell about the target."""
    shares = ["" if one.share is None else f"{100 * one.share:.1f}%" for one in found]
    rows = [(one.node, f"{one.information:.6f}", share) for one, share in zip(found, shares, strict=True)]
    return grid(f"Information about {found.target}", ["observe", "nats", "share"], rows, numbers=2)


def comparison_grids(found: Comparison) -> list[Group]:
    """The measures, then the arcs that differ."""
    figures = [
        ("SHD of the graphs", found.shd),
        ("SHD of the equivalence classes", found.shd_cpdag),
        ("Hamming distance", found.hamming),
        ("arcs: precision", f"{found.precision:.3f}"),
        ("arcs: recall", f"{found.recall:.3f}"),
        ("arcs: F", f"{found.f1:.3f}"),
        ("adjacencies: precision", f"{found.adjacency_precision:.3f}"),
        ("adjacencies: recall", f"{found.adjacency_recall:.3f}"),
        ("adjacencies: F", f"{found.adjacency_f1:.3f}"),
        ("missing / extra / reversed", f"{found.n_missing} / {found.n_extra} / {found.n_reversed}"),
    ]
    grids = [grid("Learned against true", ["measure", "value"], figures, numbers=1)]
    wrong = [
        (kind, f"{parent} -> {child}")
        for kind, arcs in (("missing", found.missing), ("extra", found.extra), ("reversed", found.reversed))
        for parent, child in arcs
    ]
    if wrong:
        grids.append(grid("Arcs that differ", ["how", "arc"], wrong))
    return grids
