"""Exact inference in discrete networks, over integers: `P(query | evidence)` by variable elimination.

Nodes that are neither asked for, observed, nor ancestors of those sum to one and are left out (barren).
Evidence then fixes its variables, which cuts the rest into components; only the component of the targets
affects the answer, exactly the d-separation of the moral ancestral graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label
from bayescout.errors import BayescoutWarning, NetworkError, TooLargeError
from bayescout.graph.labels import quoted
from bayescout.graph.orders import reach
from bayescout.network.distribution import Distribution
from bayescout.network.elimination import (
    BATCH,
    Array,
    Factor,
    Plan,
    Scope,
    UnderflowRisk,
    calibrate,
    max_product,
    plan,
    sum_product,
)
from bayescout.network.encode import Matched

if TYPE_CHECKING:
    from bayescout.network.network import Network

MAX_TARGETS = 64
"""The most targets: the answer has one axis per target, and NumPy allows 64."""

MAX_FACTOR = 2**26
"""The most entries of one table of an elimination (512 MiB of doubles)."""

Codes = Mapping[int, Any]
"""For each observed node the code of its state, or one code per row of a batch."""


@dataclass(frozen=True)
class Component:
    """Nodes whose reduced tables are linked by unobserved variables, and those variables."""

    nodes: tuple[int, ...]
    variables: tuple[int, ...]


# ---- the parts of a problem


def ancestral(network: Network, nodes: Iterable[int]) -> list[int]:
    """The nodes and all their ancestors, ascending."""
    return [node for node, reached in enumerate(reach(network.dag.parents, nodes)) if reached]


def with_constants(network: Network, nodes: Iterable[int], evidence: Codes) -> dict[int, Any]:
    """The evidence, with nodes of a single state added: they cannot be otherwise."""
    fixed = {node: 0 for node in nodes if len(network.states[node]) == 1}
    return {**fixed, **evidence}


def free_scope(network: Network, node: int, evidence: Codes) -> Scope:
    """The unobserved variables of the node's table, ascending."""
    return tuple(v for v in sorted((*network.dag.parents[node], node)) if v not in evidence)


def components(network: Network, nodes: Sequence[int], evidence: Codes) -> list[Component]:
    """The nodes' tables grouped by shared unobserved variables; observed-only tables stand alone."""
    home: dict[int, int] = {}
    members: list[list[int]] = []
    for node in nodes:
        scope = free_scope(network, node, evidence)
        touched = sorted({home[v] for v in scope if v in home})
        if not touched:
            members.append([])
            touched = [len(members) - 1]
        first, *rest = touched
        members[first].append(node)
        for other in rest:
            members[first] += members[other]
            members[other] = []
            home.update({v: first for v, group in home.items() if group == other})
        home.update(dict.fromkeys(scope, first))
    variables: list[list[int]] = [[] for _ in members]
    for variable, group in home.items():
        variables[group].append(variable)
    return [
        Component(tuple(sorted(group)), tuple(sorted(own)))
        for group, own in zip(members, variables, strict=True)
        if group
    ]


def reduced(network: Network, node: int, evidence: Codes) -> Factor:
    """The node's table at the evidence, as a factor over its unobserved variables.

    Codes that are arrays, one code per row, give the factor a leading batch axis.
    """
    family = (*network.dag.parents[node], node)
    observed = [axis for axis, v in enumerate(family) if v in evidence]
    scope = free_scope(network, node, evidence)
    table = network.tables[node].transpose(*observed, *(family.index(v) for v in scope))
    codes = tuple(evidence[family[axis]] for axis in observed)
    batched = any(isinstance(code, np.ndarray) for code in codes)
    values = np.asarray(table[codes], dtype=np.float64)
    return Factor((BATCH, *scope) if batched else scope, values, network.log_floors[node])


def meets_undefined(network: Network, node: int, evidence: Codes) -> bool:
    """Return True if a row that maximum likelihood left undefined agrees with the evidence."""
    mask = network.undefined[node]
    if not mask.any():
        return False
    parents = network.dag.parents[node]
    observed = [axis for axis, v in enumerate(parents) if v in evidence]
    others = [axis for axis in range(len(parents)) if axis not in observed]
    codes = tuple(evidence[parents[axis]] for axis in observed)
    return bool(np.any(mask.transpose(*observed, *others)[codes]))


def warn_undefined(network: Network, nodes: Iterable[int], what: str) -> None:
    """Give one warning for each kind of nodes, which names those whose undefined rows are involved."""
    involved = list(nodes)
    for is_discrete, taken in (
        (True, "taken as uniform: fit with prior='laplace' to estimate them"),
        (False, "given the regression over all rows: merge states, or take parents away"),
    ):
        own = [n for n in involved if (network.distributions[n].states is not None) == is_discrete]
        if own:
            warnings.warn(
                f"{what} uses parent configurations of {quoted([network.dag.nodes[n] for n in own], 5)} that "
                f"the data never showed; they are {taken}",
                BayescoutWarning,
                stacklevel=2,
            )


def planned(network: Network, part: Component, evidence: Codes, keep: Scope) -> Plan:
    """The elimination order of a component, refused if its largest table is over `MAX_FACTOR`."""
    scopes = [free_scope(network, node, evidence) for node in part.nodes]
    found = plan(scopes, network.sizes, keep)
    if found.peak > MAX_FACTOR:
        at = "the targets themselves" if found.at is None else f"variable {network.dag.nodes[found.at]!r}"
        raise TooLargeError(
            f"the query needs a table of {found.peak:,} entries at {at}, over the limit of {MAX_FACTOR:,}; "
            f"observe more variables, ask for fewer targets, or estimate it from samples of the network"
        )
    return found


# ---- queries


def answer(network: Network, targets: Sequence[int], evidence: Mapping[int, int]) -> Distribution:
    """P(targets | evidence), with its labels."""
    return Distribution(
        variables=tuple(network.nodes[i] for i in targets),
        states=tuple(network.states[i] for i in targets),
        probabilities=query(network, targets, evidence),
        evidence=shown(network, evidence),
    )


def shown(network: Network, evidence: Mapping[int, int]) -> tuple[tuple[Label, Any], ...]:
    """The evidence in labels and states."""
    return tuple((network.nodes[node], network.states[node][code]) for node, code in evidence.items())


def query(network: Network, targets: Sequence[int], evidence: Mapping[int, int]) -> Array:
    """P(targets | evidence), one axis per target in the order asked.

    Evidence of probability zero is refused. The parts of the evidence that do not affect the
    targets are checked too, unless the check alone would need too large a table: then the
    answer is the one that d-separation gives.
    """
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
    order = planned(network, bearing, fixed, free).order
    values = sum_product([reduced(network, n, fixed) for n in bearing.nodes], order, free)
    others = [part for part in parts if part not in asked]
    if not values.any() or not all(_is_possible(network, part, fixed) for part in others):
        raise impossible(network, evidence)
    return _arranged(network, values / values.sum(), free, targets, fixed)


def _is_possible(network: Network, part: Component, evidence: Codes) -> bool:
    """Return True if the component's evidence has a probability above zero."""
    factors = [reduced(network, node, evidence) for node in part.nodes]
    if all(factor.values.all() for factor in factors):
        return True
    try:
        order = planned(network, part, evidence, ()).order
    except TooLargeError:
        return True
    return bool(sum_product(factors, order, ()) > 0)


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
    shown = ", ".join(f"{network.dag.nodes[n]}={network.states[n][conflict[n]]}" for n in sorted(conflict))
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


def all_marginals(network: Network, evidence: Mapping[int, int]) -> dict[Label, Distribution]:
    """P(node | evidence) of every node, with its labels."""
    given = shown(network, evidence)
    found = marginals(network, evidence)
    return {
        label: Distribution((label,), (states,), values, given)
        for label, states, values in zip(network.nodes, network.states, found, strict=True)
    }


def marginals(network: Network, evidence: Mapping[int, int]) -> list[Array]:
    """P(node | evidence) of every node, by two passes over a tree of clusters per component."""
    nodes = range(len(network.dag))
    fixed = with_constants(network, nodes, evidence)
    warn_undefined(network, [n for n in nodes if meets_undefined(network, n, fixed)], "the answer")
    found: dict[int, Array] = {}
    for part in components(network, nodes, fixed):
        factors = [reduced(network, node, fixed) for node in part.nodes]
        if not part.variables and not factors[0].values > 0:
            raise impossible(network, evidence)
        found.update(_component_marginals(network, part, factors, fixed))
    if not all(values.any() for values in found.values()):
        raise impossible(network, evidence)
    return [
        _arranged(network, found[n] / found[n].sum(), (n,), (n,), fixed)
        if n in found
        else _arranged(network, np.ones(()), (), (n,), fixed)
        for n in nodes
    ]


def _component_marginals(
    network: Network, part: Component, factors: list[Factor], evidence: Codes
) -> dict[int, Array]:
    """Two passes over the clusters, or one query per node if they would not fit or could underflow."""
    found = planned(network, part, evidence, ())
    if found.total <= MAX_FACTOR:
        try:
            return calibrate(factors, found.order)
        except UnderflowRisk:
            pass
    orders = {v: planned(network, part, evidence, (v,)).order for v in part.variables}
    return {v: sum_product(factors, order, (v,)) for v, order in orders.items()}


def most_probable(network: Network, evidence: Mapping[int, int]) -> list[int]:
    """The complete assignment of largest probability that agrees with the evidence."""
    nodes = range(len(network.dag))
    fixed = with_constants(network, nodes, evidence)
    warn_undefined(network, [n for n in nodes if meets_undefined(network, n, fixed)], "the answer")
    chosen: dict[int, int] = {n: int(code) for n, code in fixed.items()}
    for part in components(network, nodes, fixed):
        found = planned(network, part, fixed, ())
        if found.total > 2 * MAX_FACTOR:
            raise TooLargeError(
                f"the most probable assignment needs tables of {found.total:,} entries in all, over the "
                f"limit of {2 * MAX_FACTOR:,}; observe more variables"
            )
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
        warnings.warn(
            f"{int(impossible.sum()):,} of {len(impossible):,} rows have evidence of probability zero, "
            f"the first is row {int(np.argmax(impossible))} (counting from 0); {network.nodes[target]!r} is "
            f"predicted there without evidence: fit with prior='laplace' to leave nothing impossible",
            BayescoutWarning,
            stacklevel=4,
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
