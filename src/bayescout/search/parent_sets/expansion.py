"""BDeu's larger parent sets, depth first, under a bound from the variables that may still be added.

**The bound.** Let U be a superset of T whose further parents come from the variables R that may still be
added. A configuration of T with k child states is divided into configurations u of U, and these into the
classes A of rows that agree on T and R. The score of u is that of predicting its rows one after the other,
in any order. Take one row of each of its k_u states first: with the prior count a of a configuration of U
they have probability r^-k_u times the product of a / (a + i) for 0 < i < k_u. The rest is predicted by a
mixture of fixed distributions, so with at most its maximised likelihood ML, which grows when the
rows are divided, and when rows are removed. The k_u of a configuration's parts add up to k or more, and
a <= b, where b is ess / q(T), for a proper superset also divided by the fewest states of a variable in R.
Some u has all k_max states of the class with the most. If the classes with several states all lie in
this u, the rest of their rows has at most the likelihood of those rows together, less one row of each
state. If they do not, another u has several states, and each class may have lost one row of each state.
So a configuration adds at most

    - k log r - sum of log(1 + i / b) for 0 < i < k_max
              + max(ML(n - 1),  sum over A of ML(n_A - 1)  - log(1 + 1 / b))

to the score, where n are the counts of all classes with several states; the maximum is ML(n - 1) if there is
one such class, and zero if there is none. The first term alone is the bound of `DirichletBound`. The other
two depend on R, and may be combined with the first term of a larger set: what is known of T bounds T with
any variable added, as soon as its cells are counted. In the line of Correia, Cussens & de Campos (2020), who
bound a configuration by its own counts.

**The order.** Variables with the most entropy and the most information about the child come first: then R
soon divides little, and the last terms take effect. Variables are added to a set from the last to the first,
so that all subsets of a set are visited before it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayescout.arrays import Floats, Ints
from bayescout.scores.scorer import KernelPath, Scorer
from bayescout.search.bitsets import Words, members_of
from bayescout.search.parent_sets.frontier import Frontier

BEGIN_SIZE = 3
"""The size (free parents) above which the search is depth first: the best smaller sets are known by then."""

MASK_BITS = 64
"""The most variables for which a set is one word."""

MOST_CELLS = 2**31
"""Upper limit for rows times states: rows, their classes and cells are numbered in 32 bits."""

MOST_PARTS = 2**22
"""Upper limit for states of the child times those of another variable: one configuration's parts are held."""

WIDE = 512
"""States of the child times those of another variable above which their cells are not precounted."""

STEP_SETS, STEP_ROWS = 50, 10_000_000
"""Sets of a child per step: STEP_SETS, or STEP_ROWS over the larger of rows and known sets, if more."""

TELLING = 3.0
"""The weight of information about the child relative to entropy, for the order of the variables."""

ROOM = 1 << 10
"""The initial room for sets found."""

SLACK = 1e-6
"""Margin in nats, and a millionth of it per nat that a score can have: far above rounding."""


def expands(kernel: KernelPath | None, n: int) -> bool:
    """Return True if a score is BDeu on rows that each count once, with few enough variables for one word."""
    if kernel is None or n > MASK_BITS or len(kernel.weights):
        return False
    return kernel.formula.ess > 0 and kernel.n_rows * int(kernel.cards.max()) < MOST_CELLS


def narrow(kernel: KernelPath, frontier: Frontier) -> bool:
    """Return True if a child and the variables that may be added to its parents have few enough states."""
    states = int(kernel.cards[frontier.child])
    counted = kernel.n_rows * states <= kernel.most_cells
    return counted and states * int(kernel.cards[frontier.free].max(initial=1)) <= MOST_PARTS


def all_counted(kernel: KernelPath) -> bool:
    """Return True if no family has a table too large to be counted: as many configurations as rows."""
    return kernel.n_rows * int(kernel.cards.max()) <= kernel.most_cells


class Expansion:
    """The sets of one child that are larger than those of a frontier, some at a time.

    Subsets are visited before their supersets, so every set found is better than all its subsets.
    """

    def __init__(self, kernel: KernelPath, frontier: Frontier, scorer: Scorer | None = None) -> None:
        codes, cards = kernel.codes, kernel.cards
        self.child = frontier.child
        self.base = np.array(frontier.base, dtype=np.int64)
        self.order = frontier.free[np.argsort(-_dividing(codes, cards, frontier), kind="stable")]
        codes = sorted_rows(codes, self.order)
        self.data = (codes, *kernel.arrays[1:])
        self.rest = what_may_be_added(codes, cards, self.order, frontier.child)
        known = len(frontier.base) + frontier.size
        slack = SLACK * (1 + 1e-6 * codes.shape[1] * math.log(max(2, cards[frontier.child])))
        self.limits = np.array([frontier.child, known, known + frontier.room, slack, 0])
        f = len(self.order)
        self.priors = _priors(scorer, frontier, self.order, int(self.limits[2]))
        self.walk = np.zeros((3, f + 1), dtype=np.int64), np.zeros(f + 1)
        self.walk[0][1, 0], self.walk[0][2] = f - 1, f
        self.masks, self.scores = np.concatenate(frontier.masks)[:, 0], np.concatenate(frontier.scores)
        self.totals = np.array([len(self.masks), 0, 0])

    @property
    def held(self) -> int:
        """Bytes of the arrays that are as long as the table."""
        return int(self.data[0].nbytes) + sum(int(part.nbytes) for part in self.rest)

    @property
    def done(self) -> bool:
        return bool(self.totals[2])

    @property
    def looked_at(self) -> int:
        return int(self.totals[1])

    def expand(self) -> None:
        from bayescout.kernels.refining import expand

        if self.totals[0] == len(self.masks):
            self.masks = np.concatenate(
                [self.masks, np.zeros_like(self.masks), np.zeros(ROOM, dtype=np.uint64)]
            )
            self.scores = np.concatenate([self.scores, np.zeros_like(self.scores), np.zeros(ROOM)])
        known = self.masks, self.scores
        dearest = max(self.data[0].shape[1], len(self.masks))
        self.limits[4] = max(STEP_SETS, STEP_ROWS // dearest)
        expand(
            self.data, self.limits, self.order, self.base, self.rest, self.priors, self.walk, known,
            self.totals,
        )  # fmt: skip

    def found(self) -> tuple[Words, Floats]:
        """All sets known so far; by size, then lower variables first."""
        count = int(self.totals[0])
        masks, scores = self.masks[:count], self.scores[:count]
        key = [(int(mask).bit_count(), members_of(masks[i : i + 1])) for i, mask in enumerate(masks)]
        ranks = sorted(range(count), key=key.__getitem__)
        return masks[ranks], scores[ranks]


def _priors(scorer: Scorer | None, frontier: Frontier, order: Ints, most: int) -> tuple[Floats, Floats]:
    """The argument `priors` of `kernels.refining.expand`: all zero for a uniform prior."""
    if scorer is not None and scorer.prior is not None:
        return scorer.prior.for_expansion(frontier.child, frontier.base, order, most)
    return np.zeros((2, len(order) + 1)), np.zeros((2, most + 2))


def _dividing(codes: Any, cards: Ints, frontier: Frontier) -> Floats:
    """The priority of each free variable: its entropy plus three times its information about the child."""
    found = np.zeros(len(frontier.free))
    of_child = _entropy(codes[frontier.child])
    for i, variable in enumerate(frontier.free.tolist()):
        own = _entropy(codes[variable])
        both = _entropy(codes[variable].astype(np.int64) * cards[frontier.child] + codes[frontier.child])
        found[i] = own + TELLING * (own + of_child - both)
    return found


def _entropy(column: Any) -> float:
    share = np.bincount(column) / len(column)
    return -float(np.sum(share[share > 0] * np.log(share[share > 0])))


def what_may_be_added(codes: Any, cards: Ints, order: Ints, child: int) -> tuple[Any, ...]:
    """The argument `rest` of `kernels.refining`: the variables of an order, for rows sorted by that order."""
    rows, states = codes.shape[1], int(cards[child])
    together, alone = (np.empty((len(order), rows), dtype=np.int32) for _ in range(2))
    begins = np.arange(rows) == 0
    for place in range(len(order) - 1, -1, -1):
        variable = order[place]
        begins[1:] |= codes[variable, 1:] != codes[variable, :-1]
        together[place] = _numbered(begins, codes[child])
        alone[place] = codes[variable].astype(np.int32) * states + codes[child]
    counts = np.arange(rows + 1, dtype=np.float64)
    own = codes[child].astype(np.int32)
    xlogx = counts * np.log(np.maximum(counts, 1))
    return together, alone, *_fields(alone, cards[order] * states, own, states), xlogx, own


def sorted_rows(codes: Any, order: Ints) -> Any:
    """The table with its rows sorted by the last variable of an order, then the last but one and so on.

    Then rows that agree in the variables from any place to the end are adjacent.
    """
    return np.ascontiguousarray(codes[:, np.lexsort(codes[order])])


def _numbered(begins: Any, own: Any) -> Any:
    """The class of each row, from the rows where classes begin; -1 - class if all its rows have one state."""
    first = np.flatnonzero(begins)
    several = np.minimum.reduceat(own, first) < np.maximum.reduceat(own, first)
    classes = np.cumsum(begins) - 1
    return np.where(several[classes], classes, -1 - classes)


def _fields(alone: Any, widths: Ints, own: Any, states: int) -> tuple[Words, Ints]:
    """One row of bits per row of the table, and the parts of it that belong to each place.

    The last place is the child by itself. A place whose variable has many states has no field: its bits
    would be more than the rest of the table.
    """
    parts, word, bit, first = [], 0, 0, []
    for place, width in enumerate([*widths.tolist(), states]):
        if width > WIDE and place < len(alone):
            first.append(-1)
            continue
        if bit + min(width, 64) > 64:
            word, bit = word + 1, 0
        first.append(64 * word + bit)
        left = width
        while left:
            some = min(left, 64 - bit)
            parts.append((word, ((1 << some) - 1) << bit, place))
            left, bit = left - some, bit + some
            if bit == 64 and left:
                word, bit = word + 1, 0
    bits = np.zeros((alone.shape[1], word + 1), dtype=np.uint64)
    for place, begin in enumerate(first):
        if begin < 0:
            continue
        where = begin + (alone[place] if place < len(alone) else own.astype(np.int64))
        bits[np.arange(len(bits)), where >> 6] |= np.uint64(1) << (where & 63).astype(np.uint64)
    fields = np.array(parts, dtype=np.uint64).reshape(-1, 3).T
    return bits, np.ascontiguousarray(fields).view(np.int64)
