"""The log-likelihood of data that a network has not been fitted to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayescout.data.encode import as_table
from bayescout.data.states import StateFinder
from bayescout.data.table import Kind, States, Table
from bayescout.errors import DataError, NetworkError, SettingError
from bayescout.evaluate.json_values import json_label, json_value
from bayescout.graph.accept import as_dag
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, counted, quoted
from bayescout.network import ConditionalGaussian, Network, Tabular, fit
from bayescout.network.fit import check_prior as check_known
from bayescout.network.incomplete import agreeing, matched_terms
from bayescout.network.likelihood import LogLikelihood, counted_rows, summed, warn_impossible
from bayescout.network.node import Mask
from bayescout.statistics.alignment import aligned_table
from bayescout.statistics.available import AvailableCounts


@dataclass(frozen=True, repr=False)
class HeldOut(LogLikelihood):
    """The log-likelihood of held-out rows, in nats; `float()` gives the total.

    unseen           for each node with any, the number of rows whose parents' values never occurred in
                     training; there the node is uniform over its states, or distributed as in the prior
    unseen_rows      rows in which this is so for at least one node
    impossible_rows  rows to which the network gives probability zero, as maximum likelihood does to a value
                     never seen with its parents' values
    prior            the prior used to estimate the parameters; None for a network's own
    """

    unseen: Mapping[Label, int] = field(default_factory=dict)
    prior: str | None = None

    @property
    def n_unseen(self) -> int:
        """The number of (row, node) pairs with parents' values never seen in training."""
        return sum(self.unseen.values())

    def to_dict(self) -> dict[str, Any]:
        """The values for JSON; minus infinity is null."""
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
        text = f"held-out log-likelihood {self.total:,.3f} nats, {self.mean:.4f} per row of {self.rows:,}"
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

    with counts N' of the test rows and parameters from the training rows. `structure` is a graph, a network
    or a result. `prior` and further options (`ess`) are those of `bayescout.fit`: by default "laplace" for
    discrete data, under which no row is impossible, and "mle" for continuous. With "mle" a value never seen
    with its parents' values makes its row impossible and the total minus infinity; a warning says so, and
    `finite_total` leaves such rows out.

    `train=None` uses the parameters of the network as they are. Without declared states, a column has the
    states of both tables together.
    """
    if train is None:
        return _own_parameters(structure, test)
    dag = as_dag(structure)
    declared = _declared(structure, dag)
    known, new = _both(dag, train, test, declared)
    return fitted_and_held_out(dag, known, new, prior, warn=True, **options)


def _declared(structure: Any, dag: Dag) -> dict[Label, States] | None:
    """The states that a network has for its discrete nodes."""
    if isinstance(structure, Network):
        pairs = zip(dag.nodes, structure.distributions, strict=True)
        return {label: node.declared for label, node in pairs if node.declared is not None} or None
    states = getattr(structure, "states", None)
    return None if states is None else dict(zip(dag.nodes, states, strict=True))


def fitted_and_held_out(
    dag: Dag, train: Table, test: Table, prior: str | None, warn: bool, **options: Any
) -> HeldOut:
    """Fit and measure, for tables whose columns are the nodes, in order, with the same states."""
    prior = prior or default_prior(train)
    model = fit(dag, train, prior, **options)

    def never(child: int, node: Tabular | ConditionalGaussian) -> Mask:
        if isinstance(node, ConditionalGaussian):
            return node.undefined.ravel()
        family = [*(dag.nodes[parent] for parent in dag.parents[child]), dag.nodes[child]]
        known = train.unset(family[-1]) or train
        counts = AvailableCounts(known.select(family)).count(len(family) - 1, tuple(range(len(family) - 1)))
        return np.asarray(counts.sum(axis=1) == 0)

    return _measured(model, test, never, prior, warn)


def default_prior(table: Table) -> str:
    """The default prior: one under which no row is impossible, if there is a choice."""
    return "mle" if table.is_continuous else "laplace"


def check_prior(prior: str, table: Table) -> None:
    """Refuse, before any work, a prior that `fit` would refuse."""
    check_known(prior)
    if prior != "mle" and table.is_continuous:
        raise SettingError(f"prior {prior!r} is for discrete data; leave it out for continuous data")


def _own_parameters(structure: Any, test: Any) -> HeldOut:
    if not isinstance(structure, Network):
        raise NetworkError(
            f"without training data the structure must be a network with parameters, not "
            f"{type(structure).__name__}; give the rows to fit it to"
        )
    return _measured(structure, test, lambda _, node: node.undefined.ravel(), None, warn=True)


def _measured(
    model: Network,
    test: Any,
    never: Callable[[int, Tabular | ConditionalGaussian], Mask],
    prior: str | None,
    warn: bool,
) -> HeldOut:
    """Measure the test rows; `never` marks the parent configurations of a node not seen in training."""
    matched = model.matched(test)
    rows, _ = matched_terms(model, matched)
    used = counted_rows(rows, matched.weights)
    any_unseen = np.zeros(len(rows), dtype=bool)
    unseen: dict[Label, int] = {}
    for i, node in enumerate(model.distributions):
        if isinstance(node, Tabular | ConditionalGaussian) and (mask := never(i, node)).any():
            parents = [p for p in model.dag.parents[i] if model.distributions[p].states is not None]
            given = [matched.columns[parent] for parent in parents]
            met = np.broadcast_to(agreeing(mask.reshape(node.undefined.shape), given), len(rows)) & used
            if matched.acted is not None and i in matched.acted:
                met = met & ~matched.acted[i]
            any_unseen |= met
            if met.any():
                unseen[model.nodes[i]] = int(met.sum())
    found = summed(rows, matched.weights, any_unseen)
    if warn:
        warn_impossible(model, matched, rows)
    return HeldOut(**vars(found), unseen=unseen, prior=prior)


# ---- two tables with common states


def _both(dag: Dag, train: Any, test: Any, states: Mapping[Label, Any] | None) -> tuple[Table, Table]:
    """Both data as tables of the nodes' columns, in order, with the same kinds and the same states."""
    kinds: dict[Label, Kind] | None = None
    if states is not None:
        kinds = {label: "continuous" for label in dag.nodes if label not in states} or None
    known = aligned_table(dag, train, kinds=kinds, states=states)
    if isinstance(test, Table) and states is None:
        new = aligned_table(dag, test)
    else:
        kinds = kinds if states is not None else dict(zip(known.names, known.kinds, strict=True))
        new = aligned_table(dag, test, kinds=kinds, states=states)
    if known.kinds != new.kinds:
        name = next(n for n, a, b in zip(known.names, known.kinds, new.kinds, strict=True) if a != b)
        raise DataError(
            f"column {name!r} is {known.kinds[known.index(name)]} in the training data and "
            f"{new.kinds[new.index(name)]} in the test data; declare its kind with as_table"
        )
    if states is not None or known.is_continuous:
        return known, new
    union = {
        name: _together(name, own, other)
        for name, own, other in zip(known.names, known.states, new.states, strict=True)
        if own is not None and other is not None
    }
    return as_table(known, states=union), as_table(new, states=union)


def _together(name: Label, own: States, other: States) -> States:
    """The states of both, one state in two types once; raises for a new state of another type, a mistake."""
    kinds, known = {type(state) for state in own}, StateFinder(own, f"column {name!r}")
    fresh = [state for state in other if known.find(state) is None]
    for state in fresh:
        if type(state) not in kinds and state is not None:
            raise DataError(
                f"column {name!r} holds {state!r} ({type(state).__name__}) in the test data, and in the "
                f"training data {own[0]!r} ({type(own[0]).__name__}); give both the same type"
            )
    return (*own, *fresh)


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """The mean and its standard error; an infinite value makes both infinite."""
    mean = math.fsum(values) / len(values) if all(map(math.isfinite, values)) else -math.inf
    if not math.isfinite(mean) or len(values) < 2:
        return mean, math.inf
    squares = math.fsum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(squares / (len(values) - 1) / len(values))
