"""The log-likelihood of data that a network has not been fitted to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.encode import as_table
from bayescout.data.table import States, Table
from bayescout.errors import DataError, NetworkError, SettingError
from bayescout.evaluate.json_values import json_label, json_value
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, counted, quoted
from bayescout.network import DiscreteNetwork, GaussianNetwork, fit
from bayescout.network.encode import match_nodes
from bayescout.network.fit import as_dag
from bayescout.network.fit import check_prior as check_known
from bayescout.network.likelihood import (
    configurations,
    discrete_rows,
    gaussian_rows,
    summed,
    warn_impossible,
)
from bayescout.statistics.alignment import aligned_table
from bayescout.statistics.counts import dense_counts

Masks = list[NDArray[np.bool_]]


@dataclass(frozen=True, repr=False)
class HeldOut:
    """The log-likelihood of held-out rows, in nats; `float()` gives the total.

    total            the weighted sum over rows; minus infinity only where a row is impossible
    finite_total     the same over the rows that are possible
    rows, weight     the number of rows, and the sum of their weights
    unseen           for each node with any, how many rows have parents' values that never occurred in
                     training; there the node counts as uniform over its states, or as the prior has it
    unseen_rows      rows in which at least one node does
    impossible_rows  rows to which the network gives probability zero, as maximum likelihood does to a value
                     never seen with its parents' values
    prior            what the parameters were estimated with; None for a network's own
    """

    total: float
    finite_total: float
    rows: int
    weight: float
    unseen: Mapping[Label, int]
    unseen_rows: int
    impossible_rows: int
    prior: str | None

    @property
    def mean(self) -> float:
        """The log-likelihood of a row on average; 0 for no rows."""
        return self.total / self.weight if self.weight else 0.0

    @property
    def n_unseen(self) -> int:
        """Lookups, of a node in a row, that met parents' values never seen in training."""
        return sum(self.unseen.values())

    def __float__(self) -> float:
        return self.total

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: minus infinity as null."""
        return {
            "total": json_value(self.total),
            "finite_total": self.finite_total,
            "mean": json_value(self.mean),
            "rows": self.rows,
            "weight": self.weight,
            "n_unseen": self.n_unseen,
            "unseen": [[json_label(node), times] for node, times in self.unseen.items()],
            "unseen_rows": self.unseen_rows,
            "impossible_rows": self.impossible_rows,
            "prior": self.prior,
        }

    def __str__(self) -> str:
        text = f"held-out log-likelihood {self.total:,.3f} nats, {self.mean:.4f} a row of {self.rows:,}"
        if self.unseen_rows:
            nodes = quoted(list(self.unseen), 3)
            text += f"; parents' values never seen in {counted(self.unseen_rows, 'row')} (of {nodes})"
        if self.impossible_rows:
            text += f"; {counted(self.impossible_rows, 'row')} impossible, {self.finite_total:,.3f} without"
        return text

    def __repr__(self) -> str:
        return f"<HeldOut: {self}>"


def held_out(structure: Any, train: Any, test: Any, prior: str | None = None, **options: Any) -> HeldOut:
    r"""The log-likelihood of `test` under a structure whose parameters are estimated from `train`.

    $$ \sum_{ijk} N'_{ijk} \log \hat\theta_{ijk} $$

    with counts N' of the test rows and parameters of the training rows. `structure` is a graph, a network
    or a result. `prior` and further options (`ess`) are those of `bayescout.fit`: by default "laplace" for
    discrete data, under which no row is impossible, and "mle" for continuous. With "mle" a value never seen
    with its parents' values makes its row impossible and the total minus infinity; a warning says so, and
    `finite_total` leaves such rows out.

    `train=None` takes the parameters of the network as they are. Without declared states, those of both
    tables together are the states of a column.
    """
    if train is None:
        return _own_parameters(structure, test)
    dag = as_dag(structure)
    states = getattr(structure, "states", None)
    declared = None if states is None else dict(zip(dag.nodes, states, strict=True))
    known, new = _both(dag, train, test, declared)
    return fitted_and_held_out(dag, known, new, prior, warn=True, **options)


def fitted_and_held_out(
    dag: Dag, train: Table, test: Table, prior: str | None, warn: bool, **options: Any
) -> HeldOut:
    """For tables whose columns are the nodes, in order, with the same states."""
    prior = prior or default_prior(train)
    model = fit(dag, train, prior, **options)
    if isinstance(model, GaussianNetwork):
        return _gaussian(model, test, prior)
    never = [
        dense_counts(train, child, parents).sum(axis=1) == 0 for child, parents in enumerate(dag.parents)
    ]
    return _discrete(model, test, never, prior, warn)


def default_prior(table: Table) -> str:
    """One under which no row is impossible, where there is a choice."""
    return "laplace" if table.is_discrete else "mle"


def check_prior(prior: str, table: Table) -> None:
    """Refuse, before any work, what `fit` would."""
    check_known(prior)
    if prior != "mle" and not table.is_discrete:
        raise SettingError(f"prior {prior!r} is for discrete data; leave it out for continuous data")


def _own_parameters(structure: Any, test: Any) -> HeldOut:
    if isinstance(structure, GaussianNetwork):
        return _gaussian(structure, test, None)
    if not isinstance(structure, DiscreteNetwork):
        raise NetworkError(
            f"without training data the structure must be a network with parameters, not "
            f"{type(structure).__name__}; give the rows to fit it to"
        )
    return _discrete(structure, test, [mask.ravel() for mask in structure.undefined], None, warn=True)


def _gaussian(model: GaussianNetwork, test: Any, prior: str | None) -> HeldOut:
    matched = match_nodes(model.dag, test, None)
    rows = gaussian_rows(model, matched.columns)
    found = summed(rows, matched.weights, np.zeros(len(rows), dtype=bool))
    return HeldOut(found.total, found.finite_total, found.rows, found.weight, {}, 0, 0, prior)


def _discrete(model: DiscreteNetwork, test: Any, never: Masks, prior: str | None, warn: bool) -> HeldOut:
    """`never` marks, for each node, the parent configurations that training did not show."""
    matched = match_nodes(model.dag, test, model.states)
    rows, _ = discrete_rows(model, matched.columns)
    counted_rows = np.ones(len(rows), dtype=bool) if matched.weights is None else matched.weights > 0
    any_unseen = np.zeros(len(rows), dtype=bool)
    unseen: dict[Label, int] = {}
    for node, mask in enumerate(never):
        if mask.any():
            met = mask[configurations(model, node, matched.columns)] & counted_rows
            any_unseen |= met
            if met.any():
                unseen[model.nodes[node]] = int(met.sum())
    found = summed(rows, matched.weights, any_unseen)
    if found.impossible_rows and warn:
        warn_impossible(model, matched.columns, np.flatnonzero(np.isneginf(rows) & counted_rows), len(rows))
    return HeldOut(
        total=found.total,
        finite_total=found.finite_total,
        rows=found.rows,
        weight=found.weight,
        unseen=unseen,
        unseen_rows=found.unseen_rows,
        impossible_rows=found.impossible_rows,
        prior=prior,
    )


# ---- two tables that speak of the same states


def _both(dag: Dag, train: Any, test: Any, states: Mapping[Label, Any] | None) -> tuple[Table, Table]:
    """Both as tables of the nodes' columns, in order, with the same kinds and the same states."""
    known = aligned_table(dag, train, states=states)
    if isinstance(test, Table) and states is None:
        new = aligned_table(dag, test)
    else:
        kinds = None if states is not None else dict(zip(known.names, known.kinds, strict=True))
        new = aligned_table(dag, test, kinds=kinds, states=states)
    if known.kinds != new.kinds:
        name = next(n for n, a, b in zip(known.names, known.kinds, new.kinds, strict=True) if a != b)
        raise DataError(
            f"column {name!r} is {known.kinds[known.index(name)]} in the training data and "
            f"{new.kinds[new.index(name)]} in the test data; declare its kind with as_table"
        )
    if states is not None or not known.is_discrete:
        return known, new
    union = {
        name: _together(name, own, other)
        for name, own, other in zip(known.names, known.states, new.states, strict=True)
        if own is not None and other is not None
    }
    return as_table(known, states=union), as_table(new, states=union)


def _together(name: Label, own: States, other: States) -> States:
    """The states of both; text in one table and numbers in the other is a slip and not a new state."""
    kinds = {type(state) for state in own}
    for state in other:
        if type(state) not in kinds and state is not None:
            raise DataError(
                f"column {name!r} holds {state!r} ({type(state).__name__}) in the test data, and in the "
                f"training data {own[0]!r} ({type(own[0]).__name__}); give both the same type"
            )
    return (*own, *(state for state in other if state not in own))


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """The mean and its standard error; an infinite value makes both infinite."""
    mean = math.fsum(values) / len(values) if all(map(math.isfinite, values)) else -math.inf
    if not math.isfinite(mean) or len(values) < 2:
        return mean, math.inf
    squares = math.fsum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(squares / (len(values) - 1) / len(values))
