"""Graphs as genes: the arc of each gene, and a population as rows of bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.problem import ParentSets, as_matrix

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Genome:
    """The arcs that genes stand for: all optional arcs, row by row of the adjacency matrix.

    With a known order the rows follow it, so that genes are the upper triangle (c12, .., c1n, c23, ..);
    without one they are the n² - n entries off the diagonal. Arcs that are forbidden or required have no
    gene: whatever the genes, the former are never there and the latter always.

    parents, children  (genes,) int64   the arc of each gene
    """

    rules: Rules
    parents: Ints
    children: Ints

    @classmethod
    def of(cls, rules: Rules) -> Genome:
        order = np.arange(rules.n) if rules.order is None else np.array(rules.order, dtype=np.int64)
        free = rules.allowed & ~rules.required
        rows, columns = np.nonzero(free[np.ix_(order, order)])
        return cls(rules, order[rows], order[columns])

    @property
    def n(self) -> int:
        return self.rules.n

    @property
    def size(self) -> int:
        return len(self.parents)

    def density(self, mean_parents: float) -> float:
        """The probability of a gene that gives a node so many parents on average, before repair."""
        return min(1.0, mean_parents * self.n / max(1, self.size))

    def matrices(self, genes: Bools) -> Bools:
        """The matrices adjacent[individual, parent, child], required arcs included."""
        found = np.repeat(self.rules.required[None], len(genes), axis=0)
        found[:, self.parents, self.children] = genes
        return found

    def genes(self, matrices: Bools) -> Bools:
        return np.ascontiguousarray(matrices[:, self.parents, self.children])

    def of_graph(self, parents: Sequence[Sequence[int]]) -> Bools:
        """The genes of one graph."""
        return as_matrix(parents, self.n)[self.parents, self.children]

    def graphs(self, genes: Bools) -> list[ParentSets]:
        """The parent sets of every individual."""
        columns = self.matrices(genes).transpose(0, 2, 1)
        return [tuple(tuple(np.flatnonzero(own).tolist()) for own in graph) for graph in columns]


def to_hex(genes: Bools) -> tuple[str, ...]:
    """Individuals as hexadecimal digits, first gene first, padded with zeros to whole bytes."""
    return tuple(row.tobytes().hex() for row in np.packbits(genes, axis=1))


def from_hex(rows: Sequence[str], size: int) -> Bools:
    """Individuals of so many genes from their digits."""
    packed = np.frombuffer(bytes.fromhex("".join(rows)), dtype=np.uint8).reshape(len(rows), -(-size // 8))
    return np.unpackbits(packed, axis=1, count=size).astype(bool)
