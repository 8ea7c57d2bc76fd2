"""Contingency tables of families, by whichever method is cheapest for their size.

Small tables are counted from bitmaps, medium ones by one increment per row, and those that would be large
relative to the rows from the configurations that occur. All give the same integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Ints, Parents
from bayescout.data.absent import require_complete
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.kernels.limits import MASKED_CELLS
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engine import KernelView
from bayescout.statistics.families import FamilyTables, xlogx_lookup
from bayescout.statistics.requirements import require_kind

BITMAP_STATES = 16
"""The most states of a variable with bitmaps: with more they would be larger than its codes."""

FOLD_AT = 32
"""Duplicate rows are folded into weights if each distinct row stands for at least this many."""

KEY_BITS = 62


class Counts(DiscreteStatistics):
    """Counts of families of one discrete table, in memory."""

    def __init__(self, table: Table) -> None:
        from bayescout.kernels import counting

        require_kind(table, "discrete")
        self._kernels = counting
        codes, weights = _fold(table)
        # The total of the weights as they are counted: it does not depend on the order of the rows.
        total = float(table.n_rows) if table.weights is None else float(weights.sum())
        cards = table.cardinalities
        super().__init__(table.names, cards, total, int(codes.shape[1]), weights.dtype == np.int64)
        self._codes = codes
        self._weights = weights
        self._widths = np.array([max(1, int(r - 1).bit_length()) for r in self.cards], dtype=np.int64)
        self._layout, self._bitmaps = _bitmaps(codes, self.cards, len(weights) > 0)
        self._all_sliced = bool((self._layout[1] >= 0).all())

    def kernel_view(self) -> KernelView | None:
        if not self.whole:
            return None
        lookup = xlogx_lookup(int(self.total) + 1, self.grid.shift)
        arrays = (self._codes, self._weights, self._bitmaps, self._layout, lookup)
        return KernelView(*arrays, self.dense_limit, self.most_cells)

    # ---- tables

    def count(self, child: int, parents: Parents) -> NDArray[Any]:
        return self.many([(child, parents)]).table(0)

    def many(self, families: Sequence[Family]) -> FamilyTables:
        """The tables of many families, in their order."""
        dense = [self.is_dense(child, parents) for child, parents in families]
        if all(dense):
            return self._dense_tables(families)
        parts = [
            self._dense_tables([family]) if is_dense else self._sparse_table(*family)
            for family, is_dense in zip(families, dense, strict=True)
        ]
        return self._joined(parts)

    def pairs(self, children: Ints, parents: Ints) -> FamilyTables:
        """The tables of many children with one parent each, in their order."""
        cells = self.cards[children] * self.cards[parents]
        if (cells > self.dense_limit).any():
            return self.many(
                [(int(child), (int(parent),)) for child, parent in zip(children, parents, strict=True)]
            )
        members = np.stack([parents, children], axis=1).astype(np.int64).ravel()
        return self._dense_of(
            members, np.arange(len(children) + 1) * 2, np.cumsum([0, *cells]), self.cards[children]
        )

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> FamilyTables:
        """The table of (child, parents + candidate) for each candidate, counted together."""
        base = self.cells(child, parents)
        states = self.cards[candidates]
        most = int(states.max(initial=1))
        if base * most > self.dense_limit:
            return self._mixed_extensions(child, parents, candidates, states <= self.dense_limit // base)
        family = np.array((*parents, child), dtype=np.int64)
        slots = np.zeros(len(candidates) + 1, dtype=np.int64)
        np.cumsum(base * states, out=slots[1:])
        out = np.empty(int(slots[-1]) + base, dtype=self._weights.dtype)
        if self._all_sliced and base * (most - 1) <= MASKED_CELLS >= base:
            self._extend_bits(family, candidates, slots, out)
        else:
            self._extend_mixed(family, candidates, self._bits_pay(family, candidates, base), slots, out)
        configurations = self.configurations(parents) * states.astype(np.float64)
        return self.batch_of(
            out[: slots[-1]], slots, np.full(len(candidates), self._sizes[child]), configurations
        )

    # ---- methods of counting

    def _bits_pay(self, family: Ints, candidates: Ints, base: int) -> NDArray[np.bool_]:
        first = self._layout[1]
        if len(self._weights) or base > MASKED_CELLS or (first[family] < 0).any():
            return np.zeros(len(candidates), dtype=bool)
        few: NDArray[np.bool_] = base * (self.cards[candidates] - 1) <= MASKED_CELLS
        return np.asarray(few & (first[candidates] >= 0))

    def _extend_bits(self, family: Ints, candidates: Ints, slots: Ints, out: NDArray[Any]) -> None:
        self._kernels.count_bits(self._bitmaps, self._layout[1], self.cards, family, candidates, slots, out)

    def _extend_scatter(
        self, ids: NDArray[Any], shape: Ints, candidates: Ints, slots: Ints, out: NDArray[Any]
    ) -> None:
        if len(self._weights):
            self._kernels.count_weighted(
                self._codes, self.cards, ids, shape, self._weights, candidates, slots, out
            )
        else:
            self._kernels.count_scatter(self._codes, self.cards, ids, shape, candidates, slots, out)

    def _extend_mixed(
        self, family: Ints, candidates: Ints, by_bits: NDArray[np.bool_], slots: Ints, out: NDArray[Any]
    ) -> None:
        """Count some candidates by bits and the others by scatter, each into its own places of out."""
        base = len(out) - int(slots[-1])
        r = self._sizes[int(family[-1])]
        places = slots[:-1]
        if by_bits.any():
            self._extend_bits(family, candidates[by_bits], np.append(places[by_bits], slots[-1]), out)
        if not by_bits.all():
            ids = np.empty(self.n_rows, dtype=np.uint32)
            self._kernels.number_cells(self._codes, self.cards, family, ids)
            some = np.append(places[~by_bits], slots[-1])
            self._extend_scatter(ids, np.array([base // r, r]), candidates[~by_bits], some, out)

    def _dense_tables(self, families: Sequence[Family]) -> FamilyTables:
        members, ends, stops = [], [0], [0]
        for child, parents in families:
            members += [*parents, child]
            ends.append(len(members))
            stops.append(stops[-1] + self.cells(child, parents))
        states = np.array([self._sizes[child] for child, _ in families])
        return self._dense_of(np.array(members), np.array(ends), np.array(stops), states)

    def _dense_of(self, members: Ints, ends: Ints, starts: Ints, states: Ints) -> FamilyTables:
        """The tables of families in one array, [parents..., child] one after the other."""
        out = np.empty(int(starts[-1]), dtype=self._weights.dtype)
        data = (self._codes, self._weights, self._bitmaps, self._layout)
        self._kernels.count_families(*data, members, ends, starts, out)
        configurations = (starts[1:] - starts[:-1]) / states
        return self.batch_of(out, starts, states, configurations)

    def _configurations(self, parents: Sequence[int]) -> tuple[NDArray[np.int32], int]:
        """The occurring configurations of the parents, numbered: one number per row, and how many."""
        shifts, used = [], 0
        for parent in parents:
            width = int(self._widths[parent])
            if used % 64 + width > KEY_BITS:
                used += 64 - used % 64
            shifts.append(used)
            used += width
        keys = np.empty((used // 64 + 1, self.n_rows), dtype=np.int64)
        self._kernels.pack_cells(
            self._codes, np.array(parents, dtype=np.int64), np.array(shifts, dtype=np.int64), keys
        )
        ids = np.empty(self.n_rows, dtype=np.int32)
        return ids, int(self._kernels.densify(keys, ids))

    def _sparse_table(self, child: int, parents: Parents) -> FamilyTables:
        numbers, distinct = self._configurations(parents)
        return self._counted_with_child(child, parents, numbers, distinct)

    def _counted_with_child(
        self, child: int, parents: Parents, numbers: NDArray[np.int32], distinct: int
    ) -> FamilyTables:
        r = int(self.cards[child])
        if distinct * r > self.most_cells:
            raise self.too_large(child, parents, distinct)
        ids = np.empty(self.n_rows, dtype=np.uint32)
        self._kernels.append_cells(numbers, self._codes[child], r, ids)
        out = np.empty(distinct * r, dtype=self._weights.dtype)
        nothing = np.empty(0, dtype=np.int64)
        slots = np.zeros(1, dtype=np.int64)
        self._extend_scatter(ids, np.array([distinct, r]), nothing, slots, out)
        return self.batch([out], np.array([r]), np.array([self.configurations(parents)]))

    def _mixed_extensions(
        self, child: int, parents: Parents, candidates: Ints, dense: NDArray[np.bool_]
    ) -> FamilyTables:
        """The tables, one candidate at a time: dense if small, else by occurring configurations."""
        parts = []
        for candidate, is_dense in zip(candidates.tolist(), dense.tolist(), strict=True):
            if is_dense:
                parts.append(self._dense_tables([(child, (*parents, candidate))]))
            else:
                parts.append(self._sparse_table(child, (*parents, candidate)))
        return self._joined(parts)

    def _joined(self, parts: Sequence[FamilyTables]) -> FamilyTables:
        return self.batch(
            [part.counts for part in parts],
            np.concatenate([part.states for part in parts]),
            np.concatenate([part.configurations for part in parts]),
        )


def dense_counts(table: Table, child: int, parents: Parents) -> NDArray[Any]:
    """Counts of one family as a (q, r) array, the last parent varying fastest.

    int64, or float64 if the table has fractional row weights. `child` and `parents` are
    positions in a table whose columns are all discrete.
    """
    require_complete(table)
    if isinstance(table, StoredTable):
        return table.family_counts(child, parents)
    cards = table.cardinalities
    config = np.zeros(table.n_rows, dtype=np.int64)
    for parent in parents:
        config = config * cards[parent] + table.codes[parent]
    r = int(cards[child])
    q = math.prod(int(cards[p]) for p in parents)
    cells = config * r + table.codes[child]
    return np.bincount(cells, weights=table.weights, minlength=q * r).reshape(q, r)


def _fold(table: Table) -> tuple[NDArray[Any], NDArray[Any]]:
    """The codes and the weights of the rows to count; no weights if each row counts once."""
    weights = np.empty(0, dtype=np.int64) if table.weights is None else _exact_weights(table.weights)
    joint = math.prod(int(r) for r in table.cardinalities)
    if joint * FOLD_AT > table.n_rows:
        return table.codes, weights
    cells = np.zeros(table.n_rows, dtype=np.int64)
    for codes, r in zip(table.codes, table.cardinalities, strict=True):
        cells = cells * r + codes
    counts = np.bincount(cells, minlength=joint)
    present = np.flatnonzero(counts)
    folded = counts[present].astype(np.int64)
    if table.weights is not None:
        folded = np.bincount(cells, weights=weights, minlength=joint)[present].astype(weights.dtype)
    codes = np.zeros((len(table.codes), len(present)), dtype=table.codes.dtype)
    varying = np.flatnonzero(
        table.cardinalities > 1
    )  # few, as they have few cells; of others there may be many
    if len(varying):
        codes[varying] = np.unravel_index(present, tuple(table.cardinalities[varying].tolist()))
    codes.flags.writeable = False  # as the table's own: one compiled kernel serves both
    return codes, folded


def _exact_weights(weights: NDArray[np.float64]) -> NDArray[Any]:
    """Integer weights as integers; others on a grid so fine that nothing is lost and their sums are exact."""
    if np.all(weights == np.floor(weights)):
        return weights.astype(np.int64)
    digits = 52 - math.ceil(math.log2(float(weights.sum()) + 1))
    return np.ldexp(np.rint(np.ldexp(weights, digits)), -digits)


def _bitmaps(codes: NDArray[Any], cards: Ints, weighted: bool) -> tuple[Ints, NDArray[np.uint64]]:
    """One bitmap per state of every variable with few states, and the first one of each variable."""
    sliced = (cards <= BITMAP_STATES) & (not weighted)
    sizes = np.where(sliced, cards, 0)
    first = np.where(sliced, np.cumsum(sizes) - sizes, -1)
    bitmaps = np.zeros((int(sizes.sum()), (codes.shape[1] + 63) // 64), dtype=np.uint64)
    if len(bitmaps):
        from bayescout.kernels.counting import fill_bitmaps

        fill_bitmaps(codes, first, bitmaps)
    return np.stack([cards, first]), bitmaps
