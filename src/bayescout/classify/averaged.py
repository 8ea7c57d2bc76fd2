"""Averaged one-dependence estimators (AODE; Webb, Boughton & Wang 2005)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints
from bayescout.classify.estimates import log_estimates, normalised
from bayescout.classify.factored import CHUNK, Factored, fit_factored
from bayescout.classify.structures import naive
from bayescout.classify.training import Training
from bayescout.errors import TooLargeError
from bayescout.network import Network
from bayescout.scores.threads import check_workers, worked

MOST_ENTRIES = 1 << 27
"""The most entries of the table of all pairs of states (1 GiB of doubles)."""


@dataclass(frozen=True, eq=False)
class Tables:
    """Logarithms by place: every state of every feature, and one more for a missing cell, has one.

    first  (s, k)     log P(class, state)
    given  (s, s, k)  log P(other state | class, state); 0 where the other cell is missing or the same feature
    """

    first: Floats
    given: Floats


@dataclass(frozen=True, eq=False)
class Averaged:
    r"""The mean of all networks in which one feature is, with the class, the parent of all others.

    $$ P(c, x) \propto \sum_{i:\, N(x_i) \ge m} P(c, x_i) \prod_{j \ne i} P(x_j \mid c, x_i) $$

    A state that fewer than m rows have (`min_count`) is no parent; where no state of a row can be, naive
    Bayes answers. Missing cells are neither parents nor children.
    """

    naive: Factored
    starts: Ints
    counted: Floats
    tables: Tables

    @property
    def reader(self) -> Network:
        """The network by which rows of data are read."""
        return self.naive.network

    def log_proba(self, codes: NDArray[np.intp]) -> Floats:
        """(n, k) log P(class | row) of (p, n) codes, the code after the last state for a missing cell."""
        return self.log_proba_with(codes, None, None)

    def log_proba_with(
        self, codes: NDArray[np.intp], without: Tables | None, truth: NDArray[np.intp] | None
    ) -> Floats:
        """The same; the estimate of each row's own class is by the tables `without` it, if there are any."""
        from bayescout.kernels.averaging import averaged_logs

        n = codes.shape[1]
        k = self.tables.first.shape[1]
        own = np.full(n, -1, dtype=np.int64) if truth is None else truth.astype(np.int64)
        less = Tables(np.empty((0, k)), np.empty((0, 0, k))) if without is None else without
        found = np.empty((n, k))

        def fill(begin: int) -> None:
            some = np.ascontiguousarray(codes[:, begin : begin + CHUNK], dtype=np.int32)
            averaged_logs(
                some, self.starts, self.counted, self.tables.first, self.tables.given,
                less.first, less.given, own[begin : begin + CHUNK], found[begin : begin + CHUNK],
            )  # fmt: skip

        worked(fill, range(0, n, CHUNK), check_workers(None), lambda: None)
        alone: NDArray[np.bool_] = np.asarray(np.all(found == -np.inf, axis=1))
        found = normalised(np.where(alone[:, None], 0.0, found))
        if alone.any():
            found[alone] = self.naive.log_proba(codes[:, alone])
        return found


def fit_averaged(training: Training, prior: str, ess: float, min_count: float) -> Averaged:
    """The classifier, with parameters from the rows in which each pair of features is complete."""
    sizes = np.array(training.sizes[:-1], dtype=np.int64) + 1
    starts = np.cumsum(sizes) - sizes
    _refuse_large(int(sizes.sum()), training)
    counted = np.zeros(int(sizes.sum()))
    for feature, start in enumerate(starts.tolist()):
        counts = training.joint(feature, training.target).sum(axis=1)
        may = (counts >= min_count).astype(np.float64) + (counts - 1 >= min_count)
        counted[start : start + len(counts)] = may
    plain = fit_factored(training, naive(training), prior, ess)
    return Averaged(plain, starts, counted, tables_of(training, starts, prior, ess))


def tables_of(training: Training, starts: Ints, prior: str, ess: float, without: float = 0.0) -> Tables:
    """The logarithms of all pairs of states; `without` as in `log_estimates`."""
    c, k = training.target, training.sizes[-1]
    places = int(starts[-1]) + training.sizes[c - 1] + 1
    first, given = np.zeros((places, k)), np.zeros((places, places, k))
    spans = [slice(start, start + size) for start, size in zip(starts.tolist(), training.sizes, strict=False)]
    for parent in range(c):
        counts = training.joint(parent, c)
        joint = log_estimates(counts.ravel(), 0, prior, ess, without)
        first[spans[parent]] = joint.reshape(counts.shape)
        for child in range(parent + 1, c):
            counts = training.joint(parent, child, c)
            given[spans[parent], spans[child]] = log_estimates(counts, 1, prior, ess, without)
            turned = log_estimates(counts, 0, prior, ess, without)
            given[spans[child], spans[parent]] = turned.transpose(1, 0, 2)
    return Tables(first, given)


def _refuse_large(places: int, training: Training) -> None:
    entries = places * places * training.sizes[-1]
    if entries > MOST_ENTRIES:
        raise TooLargeError(
            f"{training.target:,} features of {places:,} states in all would take {entries:,} entries for "
            f"all their pairs, over the limit of {MOST_ENTRIES:,}; merge states, leave features out, or take "
            f"structure='tan'"
        )
