"""Exact inference in discrete networks, over integers: posteriors of some nodes together, and of all at once.

Evidence cuts a network into components (`parts`); only the component of the targets affects the answer,
exactly the d-separation of the moral ancestral graph. What an answer takes is known before any table is
made: if that is more than the memory given, the answer is an estimate (`estimates`) or, if it must be
exact, refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label
from bayescout.errors import NetworkError, TooLargeError, warn
from bayescout.network import calibration
from bayescout.network.asking import AUTO, Way, readable
from bayescout.network.clusters import Cluster, joined, tree
from bayescout.network.distribution import Distribution
from bayescout.network.elimination import BATCH, Array, Plan, Scope, max_product, sum_product
from bayescout.network.encode import Matched
from bayescout.network.estimates import Estimate, estimate, how, warn_estimate
from bayescout.network.ordering import search
from bayescout.network.parts import (
    Codes,
    Component,
    ancestral,
    components,
    free_scope,
    meets_undefined,
    reduced,
    warn_undefined,
    with_constants,
)
from bayescout.wording import setting

if TYPE_CHECKING:
    from bayescout.network.network import Network

MAX_TARGETS = 64
"""The most targets: the answer has one axis per target, and NumPy allows 64."""


# ---- what an answer takes


def planned(
    network: Network, part: Component, evidence: Codes, keep: Scope, way: Way = AUTO, whole: bool = False
) -> Plan:
    """The elimination order of a component, for tables that are made one by one (`whole`: and kept).

    Refused if they need more memory than there is.
    """
    found = search([free_scope(network, node, evidence) for node in part.nodes], network.sizes, keep)
    _require(network, found, 8 * (found.total if whole else 2 * found.peak), way)
    return found


def clustered(
    network: Network, part: Component, evidence: Codes, keep: Scope, way: Way = AUTO
) -> list[Cluster]:
    """The tree of clusters of a component, refused if what is kept of it needs more memory than there is."""
    scopes = [free_scope(network, node, evidence) for node in part.nodes]
    found = search(scopes, network.sizes, keep)
    clusters = joined(tree(scopes, found.order, keep), network.sizes)
    _require(network, found, calibration.predicted_bytes(clusters, network.sizes), way)
    return clusters


def _require(network: Network, found: Plan, needed: int, way: Way) -> None:
    """Refuse what needs more memory than there is."""
    if needed <= ALWAYS and found.total <= MAX_ENTRIES:
        return
    limit = way.limit
    most = MOST_ENTRIES if way.exact else MAX_ENTRIES
    if needed <= limit and found.total <= most:
        return
    at = "the targets themselves" if found.at is None else f"variable {network.dag.nodes[found.at]!r}"
    given = "" if way.memory else " (half of what is free)"
    over = f"the limit of {readable(limit)}{given}"
    if needed <= limit:
        over = f"the limit of {most:,} entries"
    raise TooLargeError(
        f"an exact answer needs {readable(needed)} of memory (tables of {found.total:,} entries in all, the "
        f"largest of {found.peak:,} at {at}), over {over}; observe more "
        f"variables, ask for fewer targets, allow more by {setting('memory', ...)}, or take an estimate by "
        f"{setting('method', 'sample')}"
    )


ALWAYS = 2**20
"""Bytes that every answer may take."""

MAX_ENTRIES = 2**33
"""The most table entries of an exact answer where an estimate would do: a minute or two."""

MOST_ENTRIES = 2**37
"""The most table entries of an answer that must be exact: an hour."""


# ---- queries


def answer(
    network: Network, targets: Sequence[int], evidence: Mapping[int, int], way: Way = AUTO
) -> Distribution:
    """P(targets | evidence), with its labels."""
    try:
        if way.method == "sample":
            found = _estimated(network, targets, evidence, way)
        else:
            found = Estimate(query(network, targets, evidence, way), None, "")
    except TooLargeError as reason:
        if way.exact or way.method == "sample" or len(targets) > MAX_TARGETS:
            raise
        found = _estimated(network, targets, evidence, way)
        warn_estimate(network, targets, found, reason)
    return _labelled(network, targets, found, shown(network, evidence))


def _labelled(
    network: Network, targets: Sequence[int], found: Estimate, evidence: tuple[tuple[Label, Any], ...]
) -> Distribution:
    return Distribution(
        variables=tuple(network.nodes[i] for i in targets),
        states=tuple(network.discrete_states[i] for i in targets),
        probabilities=found.values,
        evidence=evidence,
        error=0.0 if found.errors is None else float(found.errors.max(initial=0.0)),
        errors=found.errors,
        method=found.method,
    )


def shown(network: Network, evidence: Mapping[int, int]) -> tuple[tuple[Label, Any], ...]:
    """The evidence in labels and states."""
    return tuple(
        (network.nodes[node], network.discrete_states[node][code]) for node, code in evidence.items()
    )


def _posed(
    network: Network, targets: Sequence[int], evidence: Mapping[int, int]
) -> tuple[dict[int, Any], Scope, Component, list[Component]]:
    """What is fixed, the targets that are not, what bears on them, and the other parts of the evidence."""
    if len(targets) > MAX_TARGETS:
        raise TooLargeError(f"a query has at most {MAX_TARGETS} targets, not {len(targets)}; ask for fewer")
    nodes = ancestral(network, (*targets, *evidence))
    fixed = with_constants(network, nodes, evidence)
    free = tuple(sorted(t for t in targets if t not in fixed))
    warn_undefined(network, [n for n in nodes if meets_undefined(network, n, fixed)], "the answer")
    parts = components(network, nodes, fixed)
    asked = [part for part in parts if any(t in part.variables for t in free)]
    bearing = Component(
        tuple(sorted(n for part in asked for n in part.nodes)),
        tuple(sorted(v for part in asked for v in part.variables)),
    )
    return fixed, free, bearing, [part for part in parts if part not in asked]


def query(network: Network, targets: Sequence[int], evidence: Mapping[int, int], way: Way = AUTO) -> Array:
    """P(targets | evidence), one axis per target in the order asked.

    Evidence of probability zero is refused. The parts of the evidence that do not affect the
    targets are checked too, unless the check alone would need too large a table: then the
    answer is the one that d-separation gives.
    """
    fixed, free, bearing, others = _posed(network, targets, evidence)
    values = np.ones(())
    if free:
        clusters = clustered(network, bearing, fixed, free, way)
        values = calibration.collected(clusters, [reduced(network, n, fixed) for n in bearing.nodes], free)
    if not values.any() or not all(_is_possible(network, part, fixed, way) for part in others):
        raise impossible(network, evidence)
    return _arranged(network, values / values.sum(), free, targets, fixed)


def _estimated(network: Network, targets: Sequence[int], evidence: Mapping[int, int], way: Way) -> Estimate:
    """P(targets | evidence) from draws; exact if all targets are observed."""
    fixed, free, bearing, others = _posed(network, targets, evidence)
    draws = estimate(network, bearing, fixed, way) if free else None
    if (free and draws is None) or not all(_is_possible(network, part, fixed, way) for part in others):
        raise impossible(network, evidence)
    if draws is None:
        return Estimate(_arranged(network, np.ones(()), (), targets, fixed), None, "")
    values, errors = (
        _arranged(network, one, free, targets, fixed) for one in draws.shares(free, network.sizes)
    )
    return Estimate(values, errors, how(draws))


def _is_possible(network: Network, part: Component, evidence: Codes, way: Way = AUTO) -> bool:
    """Return True if the component's evidence has a probability above zero."""
    factors = [reduced(network, node, evidence) for node in part.nodes]
    if all(factor.values.all() for factor in factors):
        return True
    try:
        clusters = clustered(network, part, evidence, (), way)
    except TooLargeError:
        return True
    return bool(calibration.collected(clusters, factors, ()) > 0)


def is_possible(network: Network, evidence: Mapping[int, int]) -> bool:
    """Return True if the evidence has a probability above zero, or if finding out would take too much."""
    nodes = ancestral(network, evidence)
    fixed = with_constants(network, nodes, evidence)
    return all(_is_possible(network, part, fixed) for part in components(network, nodes, fixed))


def impossible(network: Network, evidence: Mapping[int, int]) -> NetworkError:
    """The error that names a smallest part of the evidence that is impossible by itself."""
    conflict = dict(evidence)
    for node in sorted(evidence, reverse=True):
        without = {n: code for n, code in conflict.items() if n != node}
        if not is_possible(network, without):
            conflict = without
    shown = ", ".join(
        f"{network.dag.nodes[n]}={network.discrete_states[n][conflict[n]]}" for n in sorted(conflict)
    )
    return NetworkError(
        f"the evidence has probability zero: {shown} cannot happen{' together' if len(conflict) > 1 else ''} "
        f"in this network; correct it, or fit with prior='laplace' if the zero comes from a small sample"
    )


def _arranged(network: Network, values: Array, free: Scope, targets: Sequence[int], fixed: Codes) -> Array:
    """The answer with its axes as asked; an observed target gets all its mass on its state."""
    shape = tuple(network.sizes[t] for t in targets)
    answer = np.zeros(shape)
    where = tuple(int(fixed[t]) if t in fixed else slice(None) for t in targets)
    answer[where] = values.transpose([free.index(t) for t in targets if t not in fixed])
    return answer


# ---- all nodes


def all_marginals(
    network: Network,
    evidence: Mapping[int, int],
    nodes: Collection[int] | None = None,
    way: Way = AUTO,
) -> dict[Label, Distribution]:
    """P(node | evidence) of every node, or of some, with its labels."""
    given = shown(network, evidence)
    found = estimates_of(network, evidence, nodes, way)
    return {network.nodes[n]: _labelled(network, (n,), one, given) for n, one in found.items()}


def marginals(network: Network, evidence: Mapping[int, int]) -> list[Array]:
    """P(node | evidence) of every node, exactly."""
    found = estimates_of(network, evidence, None, Way(exact=True))
    return [found[n].values for n in range(len(network.dag))]


def estimates_of(
    network: Network, evidence: Mapping[int, int], wanted: Collection[int] | None, way: Way
) -> dict[int, Estimate]:
    """P(node | evidence) of the wanted nodes, by two passes over a tree of clusters per component.

    Components that hold no wanted node are only checked for contradictions.
    """
    asked = range(len(network.dag)) if wanted is None else sorted(set(wanted))
    nodes = range(len(network.dag)) if wanted is None else ancestral(network, (*asked, *evidence))
    fixed = with_constants(network, nodes, evidence)
    warn_undefined(network, [n for n in nodes if meets_undefined(network, n, fixed)], "the answer")
    found: dict[int, Estimate] = {}
    for part in components(network, nodes, fixed):
        own = [v for v in asked if v in part.variables]
        if own:
            found.update(_component_marginals(network, part, own, fixed, way))
        elif not _is_possible(network, part, fixed, way):
            raise impossible(network, evidence)
    if not all(one.values.any() for one in found.values()):
        raise impossible(network, evidence)
    return {
        n: found[n] if n in found else Estimate(_arranged(network, np.ones(()), (), (n,), fixed), None, "")
        for n in asked
    }


def _component_marginals(
    network: Network, part: Component, wanted: Sequence[int], evidence: Codes, way: Way
) -> dict[int, Estimate]:
    """Two passes over the clusters, or draws if they would not fit or are asked for; zeros if impossible."""
    try:
        clusters = clustered(network, part, evidence, (), way) if way.method == "auto" else None
    except TooLargeError as reason:
        if way.exact:
            raise
        clusters = None
        warned: TooLargeError | None = reason
    else:
        warned = None
    if clusters is not None:
        found = calibration.marginals(clusters, [reduced(network, node, evidence) for node in part.nodes])
        return {v: Estimate(found[v] / (found[v].sum() or 1.0), None, "") for v in wanted}
    draws = estimate(network, part, evidence, way)
    if draws is None:
        return {v: Estimate(np.zeros(network.sizes[v]), None, "") for v in wanted}
    made = {v: Estimate(*draws.shares((v,), network.sizes), how(draws)) for v in wanted}
    if warned is not None:
        warn_estimate(network, wanted, made[wanted[0]], warned)
    return made


def most_probable(network: Network, evidence: Mapping[int, int]) -> list[int]:
    """The complete assignment of largest probability that agrees with the evidence."""
    nodes = range(len(network.dag))
    fixed = with_constants(network, nodes, evidence)
    warn_undefined(network, [n for n in nodes if meets_undefined(network, n, fixed)], "the answer")
    chosen: dict[int, int] = {n: int(code) for n, code in fixed.items()}
    for part in components(network, nodes, fixed):
        found = planned(network, part, fixed, (), whole=True)
        best = max_product([reduced(network, node, fixed) for node in part.nodes], found.order)
        if best is None:
            raise impossible(network, evidence)
        chosen.update(best)
    return [chosen[n] for n in nodes]


# ---- many rows


BATCH_ENTRIES = 2**21
"""Entries of the largest table while rows are answered together: about the size of a cache."""


def predict_rows(network: Network, target: int, matched: Matched) -> Array:
    """P(target | the row's evidence) for each row, (n, r), with a warning if evidence is impossible."""
    answers, impossible = predict(network, target, matched.columns, matched.n_rows)
    warn_impossible(network, target, impossible)
    return answers


def warn_impossible(network: Network, target: int, impossible: NDArray[np.bool_]) -> None:
    """Warn of the rows whose evidence is impossible."""
    if impossible.any():
        warn(
            f"{int(impossible.sum()):,} of {len(impossible):,} rows have evidence of probability zero, "
            f"the first is row {int(np.argmax(impossible))} (counting from 0); {network.nodes[target]!r} is "
            f"predicted there without evidence: fit with prior='laplace' to leave nothing impossible"
        )


def predict(
    network: Network, target: int, columns: Mapping[int, NDArray[Any]], n_rows: int
) -> tuple[Array, NDArray[np.bool_]]:
    """P(target | the row's evidence) for each row, (n, r), and a mask of the impossible rows.

    Each distinct combination of the observations that affect the target is answered once, many
    together. A row whose evidence has probability zero gets the target's distribution without evidence.
    """
    nodes = ancestral(network, (target, *columns))
    fixed = with_constants(network, nodes, columns)
    fixed.pop(target, None)
    part = next(p for p in components(network, nodes, fixed) if target in p.variables)
    family = {v for node in part.nodes for v in (*network.dag.parents[node], node)}
    bearing = [v for v in sorted(family) if v in columns]
    first, inverse = distinct([columns[v] for v in bearing], [network.sizes[v] for v in bearing], n_rows)
    rows = {v: columns[v][first].astype(np.intp) for v in bearing}
    constants = {v: code for v, code in fixed.items() if v not in columns}
    undefined = [n for n in part.nodes if meets_undefined(network, n, {**constants, **rows})]
    warn_undefined(network, undefined, "the prediction")
    found = planned(network, part, fixed, (target,))
    answers = np.empty((len(first), network.sizes[target]))
    step = max(1, BATCH_ENTRIES // found.peak)
    for start in range(0, len(first), step):
        some: dict[int, Any] = {v: codes[start : start + step] for v, codes in rows.items()}
        factors = [reduced(network, n, {**constants, **some}) for n in part.nodes]
        keep = (BATCH, target) if bearing else (target,)
        answers[start : start + step] = sum_product(factors, found.order, keep)
    return normalised(network, target, answers, inverse)


def normalised(
    network: Network, target: int, answers: Array, inverse: NDArray[np.intp]
) -> tuple[Array, NDArray[np.bool_]]:
    """The answers with sums of one, and a mask of the impossible rows, which get the prior."""
    totals = answers.sum(axis=1, keepdims=True)
    impossible_rows = totals[:, 0] == 0
    if impossible_rows.any():
        answers[impossible_rows] = query(network, (target,), {})
        totals[impossible_rows] = 1.0
    return (answers / totals)[inverse], impossible_rows[inverse]


def distinct(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int], n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each distinct combination, and for each row the number of its combination."""
    key = np.zeros(n_rows, dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span > 2**62 // size:
            # Renumber the combinations so far: there are at most as many as rows.
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max(initial=0)) + 1
        key = key * size + column
        span *= size
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse.astype(np.intp)
