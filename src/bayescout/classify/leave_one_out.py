"""How well a classifier predicts the class of each row from all other rows, at the cost of one pass."""

from __future__ import annotations

import math

import numpy as np

from bayescout.arrays import Floats
from bayescout.classify.averaged import Averaged, tables_of
from bayescout.classify.estimates import normalised
from bayescout.classify.factored import Factor, Factored, factor_of, factors_of
from bayescout.classify.structures import Structure
from bayescout.classify.training import Training

MOST_NATS = 4096.0
"""More than the log probability of any row's class, in nats, on average."""


class LeftOut:
    """Families of one training table, each row estimated as if it were not there.

    The structure is that of all rows. Only a row's own class differs: its counts are those of all rows less
    one. A family of which a row has not all cells says nothing of the row.
    """

    def __init__(self, training: Training, prior: str, ess: float) -> None:
        self.training, self.prior, self.ess = training, prior, ess
        self.codes = training.table.codes[:-1].astype(np.intp)
        self.rows = np.arange(training.table.n_rows)
        # sums of multiples of 2**-digits are exact, and so do not depend on the order of rows
        self.digits = 52 - math.ceil(math.log2(MOST_NATS * max(1.0, float(training.weights.sum()))))

    def terms(self, structure: Structure, child: int) -> Floats:
        """(n, k) logarithms of one family for each class, the row's own class without the row."""
        plain = factor_of(self.training, structure, child, self.prior, self.ess)
        less = factor_of(self.training, structure, child, self.prior, self.ess, without=1.0)
        places = plain.places(self.codes)
        found = plain.logs.T[places]
        truth = self.training.truth
        found[self.rows, truth] = less.logs[truth, places]
        found[self._lacking(plain)] = 0.0
        return found

    def _lacking(self, factor: Factor) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """The rows that have not all cells of a family."""
        found = np.zeros(len(self.rows), dtype=np.bool_)
        if self.training.table.has_missing:
            for feature in factor.scope:
                found |= self.codes[feature] >= self.training.sizes[feature]
        return found

    def total(self, logs: Floats) -> float:
        """The weighted sum of the log probabilities of the rows' own classes."""
        own = normalised(logs)[self.rows, self.training.truth] * self.training.weights
        return float(np.ldexp(np.rint(np.ldexp(own, self.digits)).sum(), -self.digits))


def conditional_log_likelihood(
    training: Training, classifier: Factored | Averaged, prior: str, ess: float
) -> float:
    """The log probability of every row's class, given its features and all other rows, in nats."""
    left_out = LeftOut(training, prior, ess)
    if isinstance(classifier, Averaged):
        less = tables_of(training, classifier.starts, prior, ess, without=1.0)
        return left_out.total(classifier.log_proba_with(left_out.codes, less, training.truth))
    structure = classifier.network.dag.parents
    logs = sum(left_out.terms(structure, child) for child in factors_of(structure))
    return left_out.total(np.asarray(logs))
