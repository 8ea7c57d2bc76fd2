"""Junction trees for rows with empty cells: one tree for many rows, each row with empty cells of its own.

A tree is made for the variables that any of its rows lacks. A row costs what its own empty cells ask for,
which is known before any work (`JunctionTree.entries`), so rows are shared out by predicted cost: all to one
tree, unless a pattern of empty cells is so costly there that a tree of its own pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.network.elimination import Scope, plan
from bayescout.network.encode import patterns
from bayescout.network.node import Array
from bayescout.network.parts import ancestral, components

if TYPE_CHECKING:
    from bayescout.network.network import Network

Codes = NDArray[np.int32]
"""(n, p) codes of rows, one column per node; -1 where a cell is empty."""

Rows = NDArray[np.intp]

EMPTY = -1

MAX_ENTRIES = 2**22
"""The most table entries that one row may ask for: about 0.05 s."""

PATTERN_COST = 5_000
"""The table entries computed in the time it takes to plan one node of a tree."""

CHUNK = 2**13
"""Rows answered together."""


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """An elimination order of the variables that may be empty, and the tables it multiplies.

    nodes   the nodes whose tables are in the tree
    order   the variables that may be empty, as they are eliminated
    flat    the tree as kernels take it (`kernels.junction`)
    starts  where each node's table begins in `logs`
    logs    the logarithms of the nodes' tables, end to end
    """

    nodes: tuple[int, ...]
    order: tuple[int, ...]
    flat: NDArray[np.int64]
    starts: tuple[int, ...]
    logs: Array

    def with_tables(self, tables: Sequence[Array]) -> JunctionTree:
        """The same tree over other tables of all nodes of the network."""
        return replace(self, logs=_logs(self.nodes, tables))

    def entries(self, codes: Codes) -> Array:
        """For each row the number of table entries that its answer is made from."""
        from bayescout.kernels.junction import row_entries

        found = np.empty(len(codes))
        row_entries(self.flat, codes, found)
        return found

    def likelihoods(self, codes: Codes) -> Array:
        """log P(observed cells) of each row."""
        from bayescout.kernels.junction import likelihoods

        totals = np.empty(len(codes))
        for rows in _chunks(codes):
            likelihoods(self.flat, codes[rows], self._work(codes[rows]), len(self.logs), totals[rows])
        return totals

    def posteriors(self, codes: Codes, states: int) -> tuple[Array, Array]:
        """P(variable eliminated last | observed cells) per row up to a factor, and log P(observed cells)."""
        from bayescout.kernels.junction import posteriors

        totals, answers = np.empty(len(codes)), np.empty((len(codes), states))
        for rows in _chunks(codes):
            work = self._work(codes[rows])
            posteriors(self.flat, codes[rows], work, len(self.logs), totals[rows], answers[rows])
        return answers, totals

    def expected_counts(self, codes: Codes, weights: Array) -> tuple[Array, Array]:
        """The expected counts of all tables, laid out as `logs`, and log P(observed cells) of each row.

        Impossible rows are not counted.
        """
        from bayescout.kernels.junction import expect

        totals, counts = np.empty(len(codes)), np.zeros(len(self.logs))
        for rows in _chunks(codes):
            work = self._work(codes[rows])
            sums = np.zeros(len(work))
            expect(self.flat, codes[rows], weights[rows], work, len(self.logs), sums, totals[rows])
            counts += sums[: len(counts)]
        return counts, totals

    def by_node(self, laid_out: Array, network: Network) -> dict[int, Array]:
        """What is laid out as `logs`, as one table per node in the tree."""
        return {
            node: laid_out[begin : begin + network.tables[node].size].reshape(network.tables[node].shape)
            for node, begin in zip(self.nodes, self.starts, strict=True)
        }

    def filled(self, codes: Codes, uniform: Array | None) -> tuple[Codes, Array]:
        """(draws, n, p) rows with their empty cells filled, and log P(observed cells) of each row.

        uniform  (draws, m) numbers, one per empty cell in the tree, to draw from the joint posterior; None
                 for the jointly most probable values. Empty cells of impossible rows stay empty.
        """
        from bayescout.kernels.junction import fill

        draws = 1 if uniform is None else len(uniform)
        gaps = (codes[:, list(self.order)] < 0).sum(axis=1)
        ends = np.concatenate([[0], np.cumsum(gaps)])
        numbers = np.zeros((1, int(ends[-1]))) if uniform is None else uniform
        totals = np.empty(len(codes))
        made = np.empty((draws, *codes.shape), dtype=np.int32)
        for rows in _chunks(codes):
            some = np.ascontiguousarray(numbers[:, ends[rows.start] : ends[rows.stop]])
            work, part = self._work(codes[rows]), np.empty((draws, *codes[rows].shape), dtype=np.int32)
            fill(self.flat, codes[rows], uniform is None, some, work, len(self.logs), totals[rows], part)
            made[:, rows] = part
        return made, totals

    def n_empty(self, codes: Codes) -> int:
        """The number of empty cells that the tree fills."""
        return int((codes[:, list(self.order)] < 0).sum())

    def _work(self, codes: Codes) -> Array:
        """The tables with room behind them for the messages of any of these rows."""
        return np.concatenate([self.logs, np.empty(int(self.entries(codes).max(initial=0.0)))])


def _chunks(codes: Codes) -> Iterator[slice]:
    for start in range(0, len(codes), CHUNK):
        yield slice(start, min(start + CHUNK, len(codes)))


# ---- making a tree


def junction_tree(
    network: Network, nodes: Iterable[int], empty: Iterable[int], last: int | None = None
) -> JunctionTree:
    """The tree of some nodes' tables, for rows that lack no other variables than `empty`.

    `last` is the variable to be eliminated last, whose posterior is then at the root.
    """
    chosen = tuple(nodes)
    may_be_empty = set(empty)
    families = [(*network.dag.parents[node], node) for node in chosen]
    scopes: list[Scope] = [tuple(sorted(may_be_empty.intersection(family))) for family in families]
    keep = () if last is None else (last,)
    order = (*plan(scopes, network.sizes, keep).order, *keep)
    position = {variable: c for c, variable in enumerate(order)}
    separators, parents = _clusters(order, position, scopes)
    home = [min((position[v] for v in scope), default=len(order)) for scope in scopes]
    starts = tuple(accumulate((network.tables[node].size for node in chosen), initial=0))[:-1]
    inside = _listed(home, len(order) + 1)
    children = _listed(parents, len(order))
    parts = (
        order,
        *_joined(separators),
        *_joined(inside),
        *_joined(children),
        *_joined(families),
        _joined([_strides(network.tables[node].shape) for node in chosen])[0],
        network.sizes,
        starts,
    )
    widest = 1 + max(map(len, separators), default=0)
    factors = max((len(a) + len(b) for a, b in zip(inside, children, strict=False)), default=0)
    limits = (len(order), widest, factors, max(network.sizes, default=1))
    return JunctionTree(chosen, order, _flat(parts, limits), starts, _logs(chosen, network.tables))


def _flat(parts: Sequence[Sequence[int]], limits: Sequence[int]) -> NDArray[np.int64]:
    """The places of the parts, the limits, and the parts, in one array."""
    header = len(parts) + len(limits)
    places = header + np.cumsum([0, *map(len, parts)])[:-1]
    return np.array([*places.tolist(), *limits, *(value for part in parts for value in part)], dtype=np.int64)


def _listed(owners: Sequence[int], n: int) -> list[list[int]]:
    """For each of n owners the positions that name it."""
    found: list[list[int]] = [[] for _ in range(n)]
    for position, owner in enumerate(owners):
        if owner >= 0:
            found[owner].append(position)
    return found


def _clusters(
    order: Sequence[int], position: dict[int, int], scopes: Sequence[Scope]
) -> tuple[list[Scope], list[int]]:
    """For each cluster the other variables in it when its own is eliminated, and the cluster it sends to."""
    pending: list[list[Scope]] = [[] for _ in order]
    for scope in scopes:
        if scope:
            pending[min(position[v] for v in scope)].append(scope)
    separators: list[Scope] = []
    parents: list[int] = []
    for variable, held in zip(order, pending, strict=True):
        others = sorted({v for scope in held for v in scope if v != variable}, key=position.__getitem__)
        separators.append(tuple(others))
        parents.append(position[others[0]] if others else EMPTY)
        if others:
            pending[position[others[0]]].append(tuple(others))
    return separators, parents


def _joined(lists: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Lists end to end, and where each begins."""
    return [value for one in lists for value in one], list(accumulate(map(len, lists), initial=0))


def _strides(shape: tuple[int, ...]) -> list[int]:
    return [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]


def _logs(nodes: Iterable[int], tables: Sequence[Array]) -> Array:
    with np.errstate(divide="ignore"):
        return np.concatenate([np.empty(0), *(np.log(tables[node]).ravel() for node in nodes)])


# ---- rows


def row_codes(network: Network, columns: Mapping[int, NDArray[Any]], n_rows: int) -> Codes:
    """The rows' codes, -1 where a cell is empty or a node has no column; a single state is never empty."""
    codes = np.full((n_rows, len(network.dag)), EMPTY, dtype=np.int32)
    for node, size in enumerate(network.sizes):
        if size == 1:
            codes[:, node] = 0
        elif node in columns:
            column = columns[node]
            codes[:, node] = np.where(column >= size, EMPTY, column.astype(np.int32))
    return codes


@dataclass(frozen=True)
class Share:
    """Some rows and the tree that answers them; `tree` is None if no tree is small enough."""

    rows: Rows
    tree: JunctionTree | None


def shared_out(network: Network, codes: Codes, last: int | None = None, prune: bool = False) -> list[Share]:
    """The rows and their trees, by predicted cost.

    `prune` leaves out what does not affect the likelihood, or the posterior of `last`; otherwise all tables
    are in every tree.
    """
    common = _tree_of(network, codes, last, prune)
    entries = common.entries(codes)
    shares = []
    single = np.zeros(len(codes), dtype=bool)
    for rows in _costly(codes, entries, PATTERN_COST * len(common.nodes)):
        tree = _tree_of(network, codes[rows[:1]], last, prune)
        cost = float(tree.entries(codes[rows[:1]])[0])
        if cost < entries[rows[0]]:
            single[rows] = True
            shares.append(Share(rows, tree if cost <= MAX_ENTRIES else None))
    too_large = np.flatnonzero(~single & (entries > MAX_ENTRIES))
    rest = np.flatnonzero(~single & (entries <= MAX_ENTRIES))
    shares += [Share(too_large, None)] if len(too_large) else []
    return [Share(rest, common), *shares] if len(rest) else shares


def _costly(codes: Codes, entries: Array, limit: int) -> Iterator[Rows]:
    """The rows of each pattern of empty cells that costs more than the limit."""
    if entries.sum() > limit:
        _, number = patterns(codes < 0)
        for pattern in np.flatnonzero(np.bincount(number, weights=entries) > limit).tolist():
            yield np.flatnonzero(number == pattern)


def _tree_of(network: Network, codes: Codes, last: int | None, prune: bool) -> JunctionTree:
    """A tree for these rows."""
    gaps = codes < 0
    nodes: Sequence[int] = range(len(network.dag))
    empty = [v for v in nodes if gaps[:, v].any()]
    if prune:
        nodes = _bearing(network, np.flatnonzero(~gaps.all(axis=0)).tolist(), set(empty), last)
    return junction_tree(network, nodes, empty, last)


def _bearing(network: Network, observed: list[int], empty: set[int], last: int | None) -> list[int]:
    """The nodes whose tables affect the likelihood, or the posterior of `last`."""
    if last is None:
        return ancestral(network, observed)
    nodes = ancestral(network, [*observed, last])
    fixed = {v: 0 for v in nodes if v not in empty}
    return list(next(part for part in components(network, nodes, fixed) if last in part.variables).nodes)
