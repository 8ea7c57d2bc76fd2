"""A network as a classifier: the log probability of each class is a sum over the families that hold it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats
from bayescout.classify.estimates import log_estimates, normalised
from bayescout.classify.structures import Structure
from bayescout.classify.training import Training
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, Network
from bayescout.network.fit import refuse_large_tables
from bayescout.network.incomplete import posteriors
from bayescout.network.junction import MAX_ENTRIES, JunctionTree, junction_tree, row_codes

CHUNK = 1 << 14
"""Rows that are worked on together: their arrays stay in the cache."""


@dataclass(frozen=True, eq=False)
class Factor:
    """One family with the class in it, as a table of logarithms.

    scope   its features, by position
    sizes   the codes of each: its states, and one more where a missing cell has log probability 0
    logs    (k, q) one row per class, one column per configuration, the last feature varying fastest
    """

    scope: tuple[int, ...]
    sizes: tuple[int, ...]
    logs: Floats

    def add_to(self, sums: Floats, codes: NDArray[np.intp]) -> None:
        """Add the family's logarithms of (p, n) codes to (k, n) sums."""
        place = self.places(codes)
        for own, logs in zip(sums, self.logs, strict=True):
            own += logs[place]

    def places(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """The configuration of each row; a code out of range is taken for 0."""
        place = np.zeros(codes.shape[1], dtype=np.intp)
        for feature, size in zip(self.scope, self.sizes, strict=True):
            own = codes[feature]
            place = place * size + np.where(own < size, own, 0)
        return place


@dataclass(frozen=True, eq=False)
class Factored:
    """A network whose class is the last node.

    factors  the families that hold the class
    inner    features that have children: a row without one of these is answered by inference
    """

    network: Network
    factors: tuple[Factor, ...]
    inner: tuple[int, ...]

    @property
    def reader(self) -> Network:
        """The network by which rows of data are read."""
        return self.network

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(int, self.network.sizes))

    def log_proba(self, codes: NDArray[np.intp]) -> Floats:
        """(n, k) log P(class | row) of (p, n) codes, the code after the last state for a missing cell."""
        n = codes.shape[1]
        found = np.empty((n, self.sizes[-1]))
        for start in range(0, n, CHUNK):
            some = codes[:, start : start + CHUNK]
            sums = np.zeros((self.sizes[-1], some.shape[1]))
            for factor in self.factors:
                factor.add_to(sums, some)
            found[start : start + CHUNK] = normalised(np.ascontiguousarray(sums.T))
        inner = list(self.inner)
        lacking = np.any(codes[inner] >= np.array(self.sizes)[inner, None], axis=0) if inner else None
        if lacking is not None and lacking.any():
            found[lacking] = self._inferred(codes[:, lacking])
        return found

    @cached_property
    def _tree(self) -> JunctionTree:
        """One tree for rows with any cells empty, so that no row's answer depends on the rows beside it."""
        nodes = range(len(self.sizes))
        return junction_tree(self.network, nodes, nodes, last=len(self.sizes) - 1)

    def _inferred(self, codes: NDArray[np.intp]) -> Floats:
        """The same for rows without a cell that others depend on, which is summed out."""
        target = len(codes)
        rows = row_codes(self.network, dict(enumerate(codes)), codes.shape[1])
        small = self._tree.entries(rows) <= MAX_ENTRIES
        found = np.empty((len(rows), self.sizes[-1]))
        if small.any():
            found[small] = np.log(self._tree.posteriors(rows[small], self.sizes[-1])[0])
        for row in np.flatnonzero(~small).tolist():  # a tree of its own may be smaller
            found[row] = np.log(posteriors(self.network, target, rows[row : row + 1])[0])
        return normalised(found)


def fit_factored(training: Training, structure: Structure, prior: str, ess: float) -> Factored:
    """The classifier of a structure, with parameters from the rows in which each family is complete."""
    dag = Dag(training.table.names, structure)
    refuse_large_tables(dag, training.table)
    network = DiscreteNetwork(
        dag,
        tuple(own or () for own in training.table.states),
        [_table_of(training, structure, child, prior, ess) for child in range(len(structure))],
        cuts=training.table.cuts,
    )
    inner = tuple(sorted({p for own in structure for p in own} - {training.target}))
    factors = [factor_of(training, structure, child, prior, ess) for child in factors_of(structure)]
    return Factored(network, tuple(factors), inner)


def _table_of(training: Training, structure: Structure, child: int, prior: str, ess: float) -> Floats:
    """P(child | parents), one axis per parent and the child's last."""
    return np.exp(log_estimates(training.joint(*structure[child], child), -1, prior, ess))


def factors_of(structure: Structure) -> list[int]:
    """The class and its children: those whose families hold the class."""
    c = len(structure) - 1
    return [c, *(child for child in range(c) if c in structure[child])]


def factor_of(
    training: Training, structure: Structure, child: int, prior: str, ess: float, without: float = 0.0
) -> Factor:
    """The family of the class or of one of its children; `without` as in `log_estimates`."""
    c = training.target
    given = tuple(p for p in structure[child] if p != c)
    scope = given if child == c else (*given, child)
    counts = training.joint(*scope, c)
    logs = log_estimates(counts, -1 if child == c else -2, prior, ess, without)
    is_leaf = child != c and not any(child in own for own in structure)
    if is_leaf:
        logs = np.concatenate([logs, np.zeros((*logs.shape[:-2], 1, logs.shape[-1]))], axis=-2)
    sizes = logs.shape[:-1]
    flat = np.ascontiguousarray(logs.reshape(-1, logs.shape[-1]).T)
    return Factor(scope, tuple(map(int, sizes)), flat)
