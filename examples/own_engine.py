"""An engine of your own: statistics counted from chunks of rows; the same answer to the bit as in memory."""

from __future__ import annotations

from collections import Counter

import numpy as np

import bayescout as bs
from bayescout.arrays import Ints, Parents
from bayescout.data.table import Table
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engine import Kind


class FromChunks(DiscreteStatistics):
    """Counts summed over chunks of rows: they could as well lie in files, or on other machines."""

    def __init__(self, table: Table, kind: Kind, prior: float | None = None) -> None:
        self.chunks = np.array_split(table.codes, 10, axis=1)
        super().__init__(table.names, table.cardinalities, table.total_weight, table.n_rows)

    def count(self, child: int, parents: Parents) -> Ints:
        if not self.is_dense(child, parents):
            return self._occurring(child, parents)
        shape = [*(self.cards[v] for v in parents), self.cards[child]]
        found = np.zeros(shape, dtype=np.int64)
        for codes in self.chunks:
            np.add.at(found, tuple(codes[v] for v in (*parents, child)), 1)
        return found.reshape(-1, self.cards[child])

    def _occurring(self, child: int, parents: Parents) -> Ints:
        """The counts of the parent configurations that occur, where the whole table would be large."""
        found: Counter[tuple[tuple[int, ...], int]] = Counter()
        for codes in self.chunks:
            own = codes[list(parents)].T.tolist()
            found.update(zip(map(tuple, own), codes[child].tolist(), strict=True))
        rows = {configuration: row for row, configuration in enumerate(sorted({own for own, _ in found}))}
        if len(rows) * self.cards[child] > self.most_cells:
            raise self.too_large(child, parents, len(rows))
        counts = np.zeros((len(rows), self.cards[child]), dtype=np.int64)
        for (configuration, state), count in found.items():
            counts[rows[configuration], state] = count
        return counts


def main() -> None:
    data = bs.load_network("asia").sample(2_000, seed=1)
    for score in ("bic", "bdeu"):
        here, there = (bs.learn(data, "ges", score, engine=engine) for engine in (None, FromChunks))
        assert (here.dag, here.score) == (there.dag, there.score)
        print(f"{score}: {there} from chunks, the same as in memory")


if __name__ == "__main__":
    main()
