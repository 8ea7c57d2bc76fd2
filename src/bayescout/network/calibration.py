"""Two passes over a tree of clusters: the marginals of all variables at once.

Upwards each cluster multiplies its factors and what its children sent, and sends the sum over the variables
that end there. Downwards it multiplies the same again with what its parent knows besides, and gives each
child the sum over the child's separator, divided by what the child had sent (0/0 = 0).

Only what is sent is kept. The product of a large cluster is never there as a whole: it is made block by
block, in buffers that fit a processor's cache, with variables that occur in the same factors taken as one
axis.

Products of probabilities can underflow. Each factor carries a lower bound of its smallest entry above zero,
so that this is known before it happens; the passes are then made again in logarithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np

from bayescout.network.arithmetic import LINEAR, LOGS, Arithmetic
from bayescout.network.clusters import ROOT, Cluster, entries
from bayescout.network.elimination import BATCH, Array, Factor, Scope, UnderflowRisk, aligned, union

SMALL = 2**12
"""The most entries of a cluster whose product is kept from one pass to the other."""

BLOCK = 2**15
"""The entries of a buffer (256 KiB): what a processor's cache holds beside what is multiplied."""

NESTING = 8
"""Factors are multiplied beforehand if the cluster is so many times larger than their product."""

JOINED = 2**16
"""The most entries of such a product."""


def predicted_bytes(clusters: Sequence[Cluster], sizes: Sequence[int]) -> int:
    """The bytes that both passes take at most: what is sent, and copies at the largest cluster."""
    sent = [entries(one.separator, sizes) for one in clusters]
    kept = largest = 0
    for one, own in zip(clusters, sent, strict=True):
        whole = entries(one.scope, sizes)
        if one.keeps:
            largest = max(largest, 4 * whole)  # the answer, scaled, normalised, and with its axes as asked
        elif whole <= SMALL:
            kept += whole
        else:
            largest = max(largest, 5 * (own + sum(sent[child] for child in one.children)))
    return 8 * (sum(sent) + kept + largest + 2 * BLOCK)


def marginals(clusters: Sequence[Cluster], factors: Sequence[Factor]) -> dict[int, Array]:
    """The marginal of every variable, up to a factor; all zero if the evidence is impossible.

    Factors with a leading `BATCH` axis give one row per row of evidence.
    """
    try:
        return _Passes(clusters, factors, LINEAR).both()
    except UnderflowRisk:
        return _Passes(clusters, factors, LOGS).both()


def collected(clusters: Sequence[Cluster], factors: Sequence[Factor], keep: Scope) -> Array:
    """The product of all factors with all variables but `keep` summed out, by the upward pass alone.

    Known up to a positive constant: the largest entry is one, or all are zero. `keep` is the last cluster; if
    there is nothing to keep, the answer is one number, zero or not.
    """
    try:
        found = _Passes(clusters, factors, LINEAR).at_the_end()
    except UnderflowRisk:
        found = _Passes(clusters, factors, LOGS).at_the_end()
    if found.scope != keep:
        raise AssertionError(f"the pass ended over {found.scope}, not {keep}")
    return found.values


class _Passes:
    """The messages of the two passes, in one arithmetic."""

    def __init__(
        self, clusters: Sequence[Cluster], factors: Sequence[Factor], arithmetic: Arithmetic
    ) -> None:
        self.clusters = clusters
        self.factors = [arithmetic.taken(factor) for factor in factors]
        self.arithmetic = arithmetic
        self.sent: list[Factor | None] = [None] * len(clusters)
        self.kept: dict[int, Factor] = {}
        self.found: dict[int, Array] = {}

    def both(self) -> dict[int, Array]:
        for number in range(len(self.clusters)):
            self._up(number)
        for number in reversed(range(len(self.clusters))):
            self._down(number)
        return {v: self.arithmetic.plain(values) for v, values in self.found.items()}

    def at_the_end(self) -> Factor:
        left = []
        for number, own in enumerate(self.clusters):
            found = self._up(number, both=False)
            left += [found] if own.parent == ROOT else []
        found = self.arithmetic.scaled(self.arithmetic.product(left))
        return Factor(found.scope, self.arithmetic.plain(found.values), 0.0)

    def _operands(self, number: int) -> list[Factor]:
        """What is multiplied in a cluster, but for what comes from above."""
        own = self.clusters[number]
        below = [self.sent[child] for child in own.children]
        return [*(self.factors[f] for f in own.factors), *(one for one in below if one is not None)]

    # ---- upwards

    def _up(self, number: int, both: bool = True) -> Factor:
        """Send what a cluster has to its parent; of the last cluster all that there is."""
        own = self.clusters[number]
        operands = self._operands(number)
        scope, shape = union(operands)
        is_last = not both and own.keeps
        target = scope if is_last else _part(scope, own.separator)
        if prod(shape) <= SMALL:
            product = self.arithmetic.product(operands)
            if both:
                self.kept[number] = product
            found = self.arithmetic.summed(product, target)
        else:
            found = self._in_blocks(operands, [target])[0]
        if not both:
            for child in own.children:
                self.sent[child] = None
        found = self.arithmetic.scaled(found)
        if own.parent != ROOT:
            self.sent[number] = found
        return found

    # ---- downwards

    def _down(self, number: int) -> None:
        own = self.clusters[number]
        above = self.sent[number]
        kept = self.kept.pop(number, None)
        operands = self._operands(number) if kept is None else [kept]
        operands += [] if above is None else [above]
        scope = union(operands)[0]
        of_children = [self.sent[child] for child in own.children]
        targets = [_part(scope, one.scope) for one in of_children if one is not None]
        ending = [v for v in own.scope if v not in own.separator]
        rest = _part(scope, [v for v in ending if not any(v in target for target in targets)])
        alone = [_part(scope, (v,)) for v in rest if v != BATCH]
        if kept is not None:
            belief = self.arithmetic.product(operands)
            wanted = [self.arithmetic.summed(belief, target) for target in (*targets, *alone)]
        else:
            wanted = self._in_blocks(operands, (*targets, *alone))
        for child, found in zip(own.children, wanted, strict=False):
            self._hand_down(child, found)
        self._take_marginals(ending, wanted)
        self.sent[number] = None

    def _hand_down(self, child: int, found: Factor) -> None:
        sent = self.sent[child]
        assert sent is not None
        ratio = self.arithmetic.ratio(found.values, aligned(sent, found.scope))
        self.sent[child] = self.arithmetic.scaled(Factor(found.scope, ratio, found.floor))

    def _take_marginals(self, ending: Iterable[int], wanted: Sequence[Factor]) -> None:
        """The marginals of the variables that end in a cluster, each from the smallest table that has it."""
        smallest: dict[int, Factor] = {}
        for one in wanted:
            for v in one.scope:
                if v not in smallest or one.values.size < smallest[v].values.size:
                    smallest[v] = one
        for v in ending:
            one = self.arithmetic.summed(smallest[v], _part(smallest[v].scope, (v,)))
            self.found[v] = self.arithmetic.scaled(one).values

    # ---- large clusters

    def _in_blocks(self, operands: Sequence[Factor], targets: Sequence[Scope]) -> list[Factor]:
        """The sums of the product of the operands over each target, block by block."""
        operands, floor = self.arithmetic.safe(operands)
        scope, shape = union(operands)
        sizes = dict(zip(scope, shape, strict=True))
        operands = self._nested(operands, prod(shape))
        axes = _axes(scope, sizes, [*(one.scope for one in operands), *targets])
        grid = tuple(prod([sizes[v] for v in axis]) for axis in axes)
        fitted = [_fitted(one, axes) for one in operands]
        ends = [
            tuple(len_ if axis[0] in target else 1 for axis, len_ in zip(axes, grid, strict=True))
            for target in targets
        ]
        sums = [np.full(end, self.arithmetic.nothing) for end in ends]
        over = [tuple(i for i, axis in enumerate(axes) if axis[0] not in target) for target in targets]
        buffer = np.empty(BLOCK)
        for index in _blocks(grid, BLOCK):
            block = self._block(fitted, index, grid, buffer)
            for total, outside in zip(sums, over, strict=True):
                part = total[_within(total, index)]
                self.arithmetic.gather(part, self.arithmetic.total(block, outside))
        return [
            Factor(target, _unfitted(total, axes, target, sizes), floor)
            for total, target in zip(sums, targets, strict=True)
        ]

    def _block(
        self, fitted: Sequence[Array], index: tuple[slice, ...], grid: tuple[int, ...], buffer: Array
    ) -> Array:
        views = [one[_within(one, index)] for one in fitted]
        if len(views) == 1:
            return views[0]
        shape = tuple(len(range(*own.indices(size))) for own, size in zip(index, grid, strict=True))
        block = buffer[: prod(shape)].reshape(shape)
        self.arithmetic.combine(views[0], views[1], out=block)
        for view in views[2:]:
            self.arithmetic.combine(block, view, out=block)
        return block

    def _nested(self, operands: Sequence[Factor], whole: int) -> list[Factor]:
        """Fewer operands: some are multiplied beforehand, where their product is small beside the cluster."""
        most = min(whole // NESTING, JOINED)
        left: list[Factor] = []
        for one in sorted(operands, key=lambda one: -one.values.size):
            for i, other in enumerate(left):
                if prod(union([other, one])[1]) <= most:
                    left[i] = self.arithmetic.product([other, one])
                    break
            else:
                left.append(one)
        return left


def _part(scope: Scope, wanted: Iterable[int]) -> Scope:
    """The wanted variables that are in the scope, and the batch if it is there."""
    chosen = {BATCH, *wanted}
    return tuple(v for v in scope if v in chosen)


def _axes(scope: Scope, sizes: Mapping[int, int], users: Sequence[Scope]) -> list[list[int]]:
    """The variables in groups that are together in every user; the largest group is the last.

    The batch comes first.
    """
    marks = dict.fromkeys(scope, 0)
    for place, user in enumerate(users):
        for v in user:
            marks[v] |= 1 << place
    groups: dict[tuple[bool, int], list[int]] = {}
    for v in scope:
        groups.setdefault((v != BATCH, marks[v]), []).append(v)
    found = [groups[key] for key in sorted(groups)]
    largest = max(range(len(found)), key=lambda i: (prod([sizes[v] for v in found[i]]), i))
    return [*found[:largest], *found[largest + 1 :], found[largest]]


def _fitted(factor: Factor, axes: Sequence[Sequence[int]]) -> Array:
    """The factor's values with one axis per group, of length one where it lacks the group."""
    own = [axis for axis in axes if axis[0] in factor.scope]
    place = {v: i for i, v in enumerate(factor.scope)}
    values = factor.values.transpose([place[v] for axis in own for v in axis])
    shape = tuple(
        prod([factor.values.shape[place[v]] for v in axis]) if axis[0] in place else 1 for axis in axes
    )
    return values.reshape(shape)


def _unfitted(values: Array, axes: Sequence[Sequence[int]], target: Scope, sizes: Mapping[int, int]) -> Array:
    """The values over the target's variables, ascending."""
    listed = [v for axis in axes if axis[0] in target for v in axis]
    back = [listed.index(v) for v in target]
    return np.ascontiguousarray(values.reshape([sizes[v] for v in listed]).transpose(back))


def _blocks(shape: tuple[int, ...], most: int) -> Iterator[tuple[slice, ...]]:
    """Slices that cover an array in blocks of at most so many entries."""
    axis, inner = len(shape), 1
    while axis and inner * shape[axis - 1] <= most:
        axis -= 1
        inner *= shape[axis]
    behind = (slice(None),) * (len(shape) - axis)
    if not axis:
        yield behind
        return
    step = most // inner
    for lead in np.ndindex(shape[: axis - 1]):
        before = tuple(slice(i, i + 1) for i in lead)
        for start in range(0, shape[axis - 1], step):
            yield (*before, slice(start, start + step), *behind)


def _within(values: Array, index: tuple[slice, ...]) -> tuple[slice, ...]:
    """The slices of a block in an array that lacks some of the axes."""
    return tuple(own if size > 1 else slice(None) for own, size in zip(index, values.shape, strict=True))
