"""The rows that a classifier is learned from: discrete features in canonical order, and then the class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints, Parents
from bayescout.data.table import Label, MissingReport, States, Table, narrowest
from bayescout.search.frame.canonical import canonical_order
from bayescout.statistics.available import AvailableCounts
from bayescout.statistics.counts import Counts, dense_counts


@dataclass(frozen=True, eq=False)
class Training:
    """A table of discrete columns, the class last; positions are those of its columns.

    Cells of features may be missing; every family is counted from the rows in which it is complete.
    The order of the features depends on their content alone, so that ties between them do not depend
    on the order of columns.
    """

    table: Table

    @classmethod
    def of(cls, features: Table, name: Label, classes: States, codes: Ints) -> Training:
        """The features, all discrete, with the class of each row as the last column."""
        widest = max([len(classes), *(len(own or ()) + 1 for own in features.states)])
        cells = np.vstack([features.codes, codes[None]]).astype(narrowest(widest))
        report = MissingReport("keep") if features.has_missing else MissingReport()
        whole = Table(
            (*features.names, name),
            (*features.states, classes),
            cells,
            np.empty((0, features.n_rows)),
            features.weights,
            report,
            replace(features.notes, marks=()),
        )
        last = features.n_columns
        order = [column for column in canonical_order(whole) if column != last]
        return cls(whole.reordered([*order, last]))

    @property
    def target(self) -> int:
        """The position of the class, which is also the number of features."""
        return self.table.n_columns - 1

    @cached_property
    def sizes(self) -> list[int]:
        """The number of states of each column."""
        found: list[int] = self.table.cardinalities.tolist()
        return found

    @cached_property
    def truth(self) -> NDArray[np.intp]:
        """The class of each row."""
        return np.asarray(self.table.codes[self.target], dtype=np.intp)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each row."""
        weights = self.table.weights
        return np.ones(self.table.n_rows) if weights is None else weights

    @cached_property
    def completed(self) -> Table:
        """The table with one more state in place of missing cells, for what needs complete rows."""
        if not self.table.has_missing:
            return self.table
        states = tuple((*(own or ()), None) for own in self.table.states)
        return Table(self.table.names, states, self.table.codes, self.table.values, self.table.weights)

    @cached_property
    def _counts(self) -> Any:
        return AvailableCounts(self.table) if self.table.has_missing else Counts(self.table)

    @cached_property
    def _engine(self) -> Counts:
        """The engine whose grid informations are exact on."""
        return self._counts if isinstance(self._counts, Counts) else Counts(self.completed)

    def count(self, child: int, parents: Parents) -> Floats:
        """(q, r) counts of a family, the last parent varying fastest, from the rows that have all of it."""
        if isinstance(self._counts, Counts) and not self._counts.is_dense(child, parents):
            return np.asarray(dense_counts(self.table, child, parents), dtype=np.float64)
        return np.asarray(self._counts.count(child, parents), dtype=np.float64)

    def joint(self, *columns: int) -> Floats:
        """The counts of some columns together, one axis per column in the given order."""
        counts = self.count(columns[-1], columns[:-1])
        return counts.reshape([self.sizes[column] for column in columns])

    # ---- information, exact on the grid of scores

    @cached_property
    def class_informations(self) -> Floats:
        """The mutual information of each feature with the class, in nats per row."""
        found = [self._information((f,), self.count(f, (self.target,))) for f in range(self.target)]
        return np.array(found)

    @cached_property
    def conditional_informations(self) -> Floats:
        """(p, p) mutual information of each two features given the class, in nats per row."""
        p = self.target
        found = np.zeros((p, p))
        for one in range(p - 1):
            others = np.arange(one + 1, p)
            found[one, others] = found[others, one] = self._given_class(one, others)
        return found

    def _given_class(self, one: int, others: Ints) -> Floats:
        """The information between a feature and each of the others, given the class."""
        parents = (self.target,)
        if isinstance(self._counts, Counts):
            batch = self._counts.extensions(one, parents, others)
            alone = self._counts.many([(one, parents)])
            found: Floats = (batch.log_likelihoods() - alone.log_likelihoods()) / self._counts.total
            return found
        tables = [self.joint(self.target, other, one) for other in others.tolist()]
        return np.array([self._information((other, one), t) for other, t in zip(others, tables, strict=True)])

    def _information(self, features: tuple[int, ...], table: Floats) -> float:
        """Of a table of classes by one feature, or of (classes, feature, feature) given the class."""
        total = float(table.sum())
        if total == 0:
            return 0.0
        if len(features) == 1:
            flat, alone = table, table.sum(axis=0)[None]
        else:
            flat, alone = table.reshape(-1, table.shape[-1]), table.sum(axis=1)
        states = np.full(2, table.shape[-1])
        rows = np.array([len(flat), len(alone)], dtype=np.float64)
        batch = self._engine.batch([flat.ravel(), alone.ravel()], states, rows)
        given, apart = batch.log_likelihoods().tolist()
        return float(given - apart) / total
