"""Contingency tables of rows on disk: counted block by block, and summed; the same integers as in memory.

Bitmaps of the states are made once, in a file beside the columns. A block of rows is read into an array that
is used again, rather than mapped: mapped pages count as resident, and would grow to the size of the file.
"""

from __future__ import annotations

import os
import secrets
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Ints, Parents
from bayescout.data.past.budget import Budget, cores
from bayescout.data.past.cache import disk_full
from bayescout.data.past.stored import BLOCK_ROWS, OpenColumns, StoredTable, as_bytes, read_into
from bayescout.kernels.limits import MASKED_CELLS
from bayescout.statistics.counts import BITMAP_STATES
from bayescout.statistics.discrete import SPARSE_WORK, DiscreteStatistics
from bayescout.statistics.families import FamilyTables
from bayescout.statistics.occurring import merged, nothing_yet, occurring_in
from bayescout.statistics.requirements import require_kind

BLOCK_SHARE = 8
"""A block takes at most one part in so many of the memory that may be taken, and the blocks of all threads
together at most half of it."""

LEAST_ROWS = 4096
"""The fewest rows of a block, however little memory there is."""

CELLS_PER_ROW = 220
"""Cells of a table counted from bitmaps in the time of one row counted into a table."""


class StoredCounts(DiscreteStatistics):
    """Counts of families of one discrete table on disk."""

    def __init__(self, table: StoredTable, block_rows: int | None = None) -> None:
        from bayescout.kernels import counting

        require_kind(table, "discrete")
        self._kernels = counting
        super().__init__(table.names, table.cardinalities, float(table.n_rows), table.n_rows)
        self.table = table
        sliced = self.cards <= BITMAP_STATES
        sizes = np.where(sliced, self.cards, 0)
        self._first: Ints = np.where(sliced, np.cumsum(sizes) - sizes, -1)
        self._words = (table.n_rows + 63) // 64
        self.block_rows = block_rows or self._block_rows(int(sizes.sum()))
        self._bitmaps = self._made_bitmaps()

    def _block_rows(self, states: int) -> int:
        """The rows of a block, of which a thread has bitmaps, codes and numbers of cells."""
        row = states / 8 + self.n_variables * self.table.code_type.itemsize + 24
        return block_rows(row, self.table.budget)

    def _made_bitmaps(self) -> Path:
        """The file of bitmaps: one after the other, in the order of the table's columns.

        Its name is nobody else's: a copy of the table in another process has the same folder, and may have
        other columns. It goes when these counts do.
        """
        path = self.table.folder.path / f"bitmaps-{secrets.token_hex(8)}"
        weakref.finalize(self, _remove, path, os.getpid())
        try:
            with open(path, "xb") as stream:
                for variable in np.flatnonzero(self._first >= 0).tolist():
                    self._write_bitmaps(variable, stream.fileno())
        except OSError as error:
            raise disk_full(path, error) from error
        return path

    def _write_bitmaps(self, variable: int, descriptor: int) -> None:
        first, states = int(self._first[variable]), int(self.cards[variable])
        begin = 0
        with closing(self.table.blocks([variable], self.block_rows)) as blocks:
            for block in blocks:
                words = (block.shape[1] + 63) // 64
                bitmaps = np.zeros((states, words), dtype=np.uint64)
                self._kernels.fill_bitmaps(block, np.zeros(1, dtype=np.int64), bitmaps)
                for state in range(states):
                    _write_all(descriptor, bitmaps[state], 8 * ((first + state) * self._words + begin))
                begin += words

    # ---- what a family costs

    def work(self, child: int, parents: Sequence[int]) -> int:
        cells = self.cells(child, parents)
        if cells > self.n_rows:
            return self.n_rows * SPARSE_WORK or 1
        if self._in_bits([*parents, child], cells):
            return self.n_rows * (cells + CELLS_PER_ROW // 8) // CELLS_PER_ROW or 1
        return self.n_rows or 1

    def _in_bits(self, family: Sequence[int], cells: int) -> bool:
        """As `bits_pay` of the kernels: masks for the whole family are cheaper than an increment per row."""
        return cells <= MASKED_CELLS and all(self._first[v] >= 0 for v in family)

    # ---- tables

    def count(self, child: int, parents: Parents) -> NDArray[Any]:
        return self.many([(child, parents)]).table(0)

    def many(self, families: Sequence[Family]) -> FamilyTables:
        """The tables of many families, in their order, all dense ones in one pass over the rows."""
        dense = [i for i, (child, parents) in enumerate(families) if self.is_dense(child, parents)]
        tables: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)] * len(families)
        for i, table in zip(dense, self._dense([families[i] for i in dense]), strict=True):
            tables[i] = table
        for i in set(range(len(families))) - set(dense):
            tables[i] = self._occurring(*families[i])
        states = np.array([self._sizes[child] for child, _ in families])
        configurations = np.array([self.configurations(parents) for _, parents in families])
        return self.batch(tables, states, configurations)

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> FamilyTables:
        """The table of (child, parents + candidate) for each candidate, counted together."""
        family = [*parents, child]
        states = self.cards[candidates]
        base, most = self.cells(child, parents), int(states.max(initial=1))
        by_bits = (
            base * (most - 1) <= MASKED_CELLS >= base and (self._first[[*family, *candidates]] >= 0).all()
        )
        if not by_bits or base * most > self.dense_limit:
            return self.many([(child, (*parents, candidate)) for candidate in candidates.tolist()])
        used = list(dict.fromkeys([*family, *candidates.tolist()]))
        place = {variable: i for i, variable in enumerate(used)}
        slots = np.zeros(len(candidates) + 1, dtype=np.int64)
        np.cumsum(base * states, out=slots[1:])
        out = np.zeros(int(slots[-1]) + base, dtype=np.int64)
        some = np.empty_like(out)
        local = [np.array([place[v] for v in members]) for members in (family, candidates.tolist())]
        cards = self.cards[used]
        first = np.cumsum(cards) - cards
        for bitmaps, _ in self._blocks(used, []):
            self._kernels.count_bits(bitmaps, first, cards, *local, slots, some)
            out += some
        configurations = self.configurations(parents) * states.astype(np.float64)
        return self.batch_of(
            out[: slots[-1]], slots, np.full(len(candidates), self._sizes[child]), configurations
        )

    def _dense(self, families: Sequence[Family]) -> list[NDArray[Any]]:
        """The whole tables of families."""
        if not families:
            return []
        members = [[*parents, child] for child, parents in families]
        starts = np.cumsum([0, *(self.cells(child, parents) for child, parents in families)])
        in_bits = [self._in_bits(m, int(n)) for m, n in zip(members, np.diff(starts), strict=True)]
        sliced = _used(m for m, bits in zip(members, in_bits, strict=True) if bits)
        coded = _used(m for m, bits in zip(members, in_bits, strict=True) if not bits)
        out = np.zeros(int(starts[-1]), dtype=np.int64)
        for some, variables, by_bits in (
            (np.flatnonzero(in_bits), sliced, True),
            (np.flatnonzero(~np.array(in_bits)), coded, False),
        ):
            if len(some):
                self._count(
                    [members[i] for i in some], variables, by_bits, [int(starts[i]) for i in some], out
                )
        return [out[begin:end] for begin, end in pairwise(starts.tolist())]

    def _count(
        self, members: list[list[int]], variables: list[int], by_bits: bool, places: list[int], out: Ints
    ) -> None:
        """Add the tables of families that are all counted from bitmaps, or all from codes."""
        place = {variable: i for i, variable in enumerate(variables)}
        cards = self.cards[variables]
        first = np.cumsum(cards) - cards if by_bits else np.full(len(cards), -1)
        flat = np.array([place[v] for family in members for v in family])
        bounds = np.cumsum([0, *map(len, members)])
        sizes = [int(self.cards[family].prod()) for family in members]
        starts = np.cumsum([0, *sizes])
        some = np.empty(int(starts[-1]), dtype=np.int64)
        weights = np.empty(0, dtype=np.int64)
        layout = np.stack([cards, first])
        for bitmaps, codes in self._blocks(variables if by_bits else [], [] if by_bits else variables):
            self._kernels.count_families(codes, weights, bitmaps, layout, flat, bounds, starts, some)
            for at, begin, size in zip(places, starts.tolist(), sizes, strict=False):
                out[at : at + size] += some[begin : begin + size]

    # ---- configurations that occur

    def _occurring(self, child: int, parents: Parents) -> NDArray[Any]:
        """The counts of the parent configurations that occur, where the whole table would be large."""
        r, cards = self._sizes[child], [self._sizes[v] for v in parents]
        found = nothing_yet(cards, r)
        for _, codes in self._blocks([], [*parents, child]):
            found = merged(found, occurring_in(codes, cards, r))
            if found[0].size and len(found[0]) * r > self.most_cells:
                raise self.too_large(child, parents, len(found[0]))
        return found[1].ravel()

    # ---- blocks of rows

    def _blocks(
        self, sliced: Sequence[int], coded: Sequence[int]
    ) -> Iterator[tuple[NDArray[np.uint64], NDArray[Any]]]:
        """The bitmaps of some variables and the codes of others, one block of rows after the other."""
        states = [int(self._first[v]) + state for v in sliced for state in range(self._sizes[v])]
        most = min(self.block_rows, self.n_rows)
        words_room = np.empty(len(states) * ((most + 63) // 64), dtype=np.uint64)
        kind = self.table.code_type
        codes_room = np.empty(len(coded) * most, dtype=kind)
        descriptor = os.open(self._bitmaps, os.O_RDONLY)
        try:
            with OpenColumns(self.table, coded) as files:
                for begin in range(0, self.n_rows, self.block_rows):
                    rows = min(self.block_rows, self.n_rows - begin)
                    words = (rows + 63) // 64
                    bitmaps = words_room[: len(states) * words].reshape(len(states), words)
                    for i, state in enumerate(states):
                        read_into(descriptor, bitmaps[i], 8 * (state * self._words + begin // 64))
                    codes = codes_room[: len(coded) * rows].reshape(len(coded), rows)
                    for i, file in enumerate(files):
                        read_into(file, codes[i], begin * kind.itemsize)
                    yield bitmaps, codes
        finally:
            os.close(descriptor)


def block_rows(row: float, budget: Budget) -> int:
    """The rows of a block, if one takes so many bytes: a power of two, so that words of bitmaps are whole."""
    share = max(BLOCK_SHARE, 2 * cores())
    rows = BLOCK_ROWS
    while rows > LEAST_ROWS and rows * row * share > budget.spare:
        rows //= 2
    return rows


def _used(members: Any) -> list[int]:
    return list(dict.fromkeys(v for family in members for v in family))


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked process has a copy of this, and the file is not its own
        path.unlink(missing_ok=True)


def _write_all(descriptor: int, array: NDArray[Any], offset: int) -> None:
    view = as_bytes(array)
    while len(view):
        count = os.pwrite(descriptor, view, offset)
        view, offset = view[count:], offset + count
