"""Rows with empty cells: their likelihoods, and predictions from the cells that are there.

Each function goes by the kind of the network, in one place: `by_kind`. Nothing here is asked for rows
without empty cells, whose answers are those of `likelihood`, `inference` and `conditioning`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import TooLargeError, WrongKindError
from bayescout.network import conditioning, gaussian_rows, inference, likelihood, mixed_rows
from bayescout.network.encode import Matched
from bayescout.network.junction import MAX_ENTRIES, Codes, Rows, row_codes, shared_out
from bayescout.network.node import Array, Mask
from bayescout.network.parts import warn_undefined

if TYPE_CHECKING:
    from bayescout.network.network import Network

Answer = TypeVar("Answer")
Columns = Mapping[int, NDArray[Any]]


def by_kind(
    network: Network,
    discrete: Callable[[], Answer],
    gaussian: Callable[[], Answer],
    mixed: Callable[[], Answer],
) -> Answer:
    """The answer for the kind of this network: the one place where rows of other kinds are refused."""
    for is_so, answer in (
        (network.is_discrete, discrete),
        (network.is_gaussian, gaussian),
        (network.is_mixed, mixed),
    ):
        if is_so:
            return answer()
    raise WrongKindError(
        f"rows with empty cells need nodes of the kinds that come with the library, and this network is "
        f"{network.kind}; leave out rows with empty cells, or fill them first"
    )


def matched_terms(network: Network, matched: Matched) -> tuple[Array, Mask]:
    """As `likelihood.row_terms`; the empty cells of a row are summed out, or integrated out."""
    if matched.empty is None:
        return likelihood.row_terms(network, matched.columns, matched.acted)
    whole, gaps = np.flatnonzero(~matched.empty), np.flatnonzero(matched.empty)
    total, unseen = np.empty(matched.n_rows), np.empty(matched.n_rows, dtype=bool)
    total[whole], unseen[whole] = likelihood.row_terms(network, matched.rows(whole))
    some = replace(matched, columns=matched.rows(gaps), n_rows=len(gaps), empty=matched.empty[gaps])
    total[gaps], unseen[gaps] = row_terms(network, some)
    return total, unseen


def row_terms(network: Network, matched: Matched) -> tuple[Array, Mask]:
    """log P(observed cells) of each row, and a mask of the rows that may have undefined parents' values."""
    columns, n_rows = matched.columns, matched.n_rows

    def discrete() -> tuple[Array, Mask]:
        codes = row_codes(network, columns, n_rows)
        return log_likelihoods(network, codes), np.asarray(meets_undefined(network, codes).any(axis=0))

    def gaussian() -> tuple[Array, Mask]:
        if conditioning.is_wide(network):
            present = {node: column for node, column in columns.items() if not np.isnan(column).all()}
            if gaussian_rows.has_few(network, present):
                return gaussian_rows.log_densities(network, present, n_rows), np.zeros(n_rows, dtype=bool)
        values = row_values(network, columns, n_rows)
        return gaussian_rows.log_likelihoods(network, values), np.zeros(n_rows, dtype=bool)

    def mixed() -> tuple[Array, Mask]:
        return mixed_rows.log_likelihoods(network, matched), np.zeros(n_rows, dtype=bool)

    return by_kind(network, discrete, gaussian, mixed)


def row_values(network: Network, columns: Columns, n_rows: int) -> Array:
    """(n, p) numbers of the rows, NaN where a cell is empty or a node has no column."""
    values = np.full((n_rows, len(network.dag)), np.nan)
    for node, column in columns.items():
        values[:, node] = column
    return values


# ---- discrete


def log_likelihoods(network: Network, codes: Codes) -> Array:
    """log P(observed cells) of each row of codes."""
    found = np.empty(len(codes))
    for share in shared_out(network, codes, prune=True):
        if share.tree is None:
            raise too_large(network, codes, share.rows, "the likelihood")
        found[share.rows] = share.tree.likelihoods(codes[share.rows])
    return found


def meets_undefined(network: Network, codes: Codes) -> Mask:
    """(p, n) True if a parent configuration that maximum likelihood left undefined agrees with the row."""
    found = np.zeros((len(network.dag), len(codes)), dtype=bool)
    for node, mask in enumerate(network.undefined):
        if mask.any():
            found[node] = agreeing(mask, [codes[:, parent] for parent in network.dag.parents[node]])
    return found


def agreeing(mask: Mask, given: Sequence[NDArray[Any]]) -> Mask:
    """For each row, True if a configuration in the mask agrees with the parents' cells.

    An empty cell agrees with every state: each axis gets one more place, the last, for "any of them".
    """
    for axis in range(mask.ndim):
        mask = np.concatenate([mask, mask.any(axis=axis, keepdims=True)], axis=axis)
    return np.asarray(mask[tuple(given)])


def predict_rows(network: Network, target: int, matched: Matched) -> Array:
    """As `inference.predict_rows`, of rows some of which have empty cells."""
    answers, impossible = predict(network, target, matched)
    inference.warn_impossible(network, target, impossible)
    return answers


def predict(network: Network, target: int, matched: Matched) -> tuple[Array, Mask]:
    """As `inference.predict`; the empty cells of each row are summed out."""
    assert matched.empty is not None
    gaps, whole = np.flatnonzero(matched.empty), np.flatnonzero(~matched.empty)
    answers = np.empty((matched.n_rows, network.sizes[target]))
    impossible = np.empty(matched.n_rows, dtype=bool)
    if len(whole):
        found = inference.predict(network, target, matched.rows(whole), len(whole))
        answers[whole], impossible[whole] = found
    codes = row_codes(network, matched.rows(gaps), len(gaps))
    codes[:, target] = -1
    answers[gaps], impossible[gaps] = posteriors(network, target, codes)
    return answers, impossible


def posteriors(network: Network, target: int, codes: Codes) -> tuple[Array, Mask]:
    """P(target | the row's observed cells), and a mask of the impossible rows, which get the prior."""
    found = np.empty((len(codes), network.sizes[target]))
    met = meets_undefined(network, codes)
    used: set[int] = set()
    for share in shared_out(network, codes, target, prune=True):
        if share.tree is None:
            raise too_large(network, codes, share.rows, f"the prediction of {network.nodes[target]!r}")
        found[share.rows] = share.tree.posteriors(codes[share.rows], network.sizes[target])[0]
        used |= {node for node in share.tree.nodes if met[node, share.rows].any()}
    warn_undefined(network, sorted(used), "the prediction")
    return inference.normalised(network, target, found, np.arange(len(codes)))


def too_large(network: Network, codes: Codes, rows: Rows, what: str) -> TooLargeError:
    """The error for rows whose sum is over too many values."""
    empty = int((codes[rows[0]] < 0).sum())
    return TooLargeError(
        f"{what} of a row with {empty} empty cells needs tables of more than {MAX_ENTRIES:,} entries; there "
        f"are {len(rows):,} such rows: fill some of their cells, leave these rows out, or take a simpler "
        f"network"
    )


# ---- Gaussian


def predict_mean_rows(network: Network, target: int, matched: Matched) -> Array:
    """As `conditioning.predict_rows`, of rows some of which have empty cells."""
    assert matched.empty is not None
    gaps, whole = np.flatnonzero(matched.empty), np.flatnonzero(~matched.empty)
    means, wrong = np.empty(matched.n_rows), np.empty(matched.n_rows, dtype=bool)
    if len(whole):
        means[whole], wrong[whole] = conditioning.predict(network, target, matched.rows(whole))
    means[gaps], wrong[gaps] = predict_means(network, target, matched.rows(gaps))
    conditioning.warn_contradictions(network, target, wrong)
    return means


def predict_means(network: Network, target: int, columns: Columns) -> tuple[Array, Mask]:
    """The mean of the target given the observed cells of each row, and a mask of the impossible rows."""
    n_rows = len(next(iter(columns.values())))
    others = {node: column for node, column in columns.items() if node != target}
    if gaussian_rows.has_few(network, others) or not (network.variances > 0).all():
        return _means_by_pattern(network, target, others, n_rows)
    values = row_values(network, others, n_rows)
    means, wrong = np.empty(n_rows), np.zeros(n_rows, dtype=bool)
    for gaps in gaussian_rows.conditional_gaps(network, values):
        means[gaps.rows] = gaps.means[gaps.nodes == target]
    return means, wrong


def _means_by_pattern(network: Network, target: int, columns: Columns, n_rows: int) -> tuple[Array, Mask]:
    """The same by the observed cells, which contradict themselves where some variables determine others."""
    means, wrong = np.empty(n_rows), np.zeros(n_rows, dtype=bool)
    for rows, nodes, evidence in gaussian_rows.by_observed(dict(sorted(columns.items())), n_rows):
        found = conditioning.condition(network, (target,), nodes)
        means[rows], wrong[rows] = found.mean(evidence)[0], found.contradicts(evidence)
    return means, wrong
