"""The divergence of networks of both kinds of nodes, estimated from rows."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Table
from bayescout.errors import BayescoutWarning, TooLargeError
from bayescout.evaluate.distance import LISTED, Divergence, Impossible
from bayescout.network import Network
from bayescout.network.encode import Matched
from bayescout.network.inference import distinct
from bayescout.network.node import Array, Mask
from bayescout.wording import setting


def refuse_exact() -> TooLargeError:
    """The error for an exact answer, which would need the moments of numbers in every configuration."""
    return TooLargeError(
        f"the divergence of networks of both kinds is estimated from rows, with its standard error; "
        f"take {setting('method', 'sampled')} or {setting('method', 'auto')}, or compare networks of one kind"
    )


def mixed_divergence(truth: Network, learned: Network, samples: int, seed: int) -> Divergence:
    """The mean log-ratio of the densities over rows drawn from the truth."""
    rows = truth.sample(samples, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)  # unknown states are told as impossible events
        matched = learned.matched(rows)
    unknown = _unknown(learned, rows, matched)
    if unknown:
        return Divergence(math.inf, False, math.inf, samples, 0.0, _worst(unknown))
    logs, unseen, causes = _terms(learned, rows, matched)
    if causes:
        return Divergence(math.inf, False, math.inf, samples, unseen, _worst(causes))
    ratios = truth.row_log_likelihood(rows) - logs
    error = float(ratios.std(ddof=1)) / math.sqrt(samples)
    return Divergence(math.fsum(ratios.tolist()) / samples, False, error, samples, unseen)


def _worst(causes: list[Impossible]) -> tuple[Impossible, ...]:
    return tuple(sorted(causes, key=lambda event: -event.probability)[:LISTED])


def _unknown(learned: Network, rows: Table, matched: Matched) -> list[Impossible]:
    """The states of rows that the learned network does not have."""
    found = []
    for node, column in matched.columns.items():
        states = learned.distributions[node].states
        if states is not None and (column == len(states)).any():
            found += _events(learned, rows, node, (), column == len(states))
    return found


def _terms(learned: Network, rows: Table, matched: Matched) -> tuple[Array, float, list[Impossible]]:
    """The log-density of each row, the mean number of families without estimate, and what is impossible."""
    total, unseen = np.zeros(rows.n_rows), 0.0
    causes: list[Impossible] = []
    for node, distribution in enumerate(learned.distributions):
        parents = learned.dag.parents[node]
        given = [matched.columns[parent] for parent in parents]
        logs, met = distribution.log_densities(learned.nodes[node], matched.columns[node], given)
        unseen += 0.0 if met is None else float(met.mean())
        if distribution.states is not None and np.isneginf(logs).any():
            causes += _events(learned, rows, node, parents, np.isneginf(logs))
        total += logs
    return total, unseen, causes


def _events(
    learned: Network, rows: Table, node: int, parents: tuple[int, ...], where: Mask
) -> list[Impossible]:
    """The events that make these rows impossible, each with its share of all rows."""
    labels = [learned.nodes[v] for v in (*parents, node)]
    states = [rows.states[rows.index(label)] or () for label in labels]
    chosen = np.flatnonzero(where)
    codes: list[NDArray[np.int64]] = [rows.array(label)[chosen].astype(np.int64) for label in labels]
    first, number = distinct(codes, [len(own) for own in states], len(chosen))
    shares = np.bincount(number) / rows.n_rows
    found = []
    for place, share in zip(first.tolist(), shares.tolist(), strict=True):
        values = [own[one[place]] for own, one in zip(states, codes, strict=True)]
        pairs = tuple(zip(labels[:-1], values[:-1], strict=True))
        found.append(Impossible(learned.nodes[node], values[-1], pairs, share))
    return found
