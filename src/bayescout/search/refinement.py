"""BDeu's larger parent sets, depth first, under a bound from what may still be added.

**The bound.** Let U be a proper superset of T whose further parents come from the variables R that may
still be added. A configuration of T with k child states is divided into configurations u of U, and these
into the classes A of rows that agree on T and R. The score of u is that of its rows predicted one after the
other, in any order. Take one row of each of its k_u states first: with the prior count a of a configuration
of U they have probability r^-k_u times the product of a / (a + i) for 0 < i < k_u. The rest is predicted by
a mixture of fixed distributions, so with no more than its maximised likelihood ML, and this grows when the
rows are divided by class, and when rows are taken away; each class may have lost one of each state. So

    score(U) <= sum over the configurations of T of  - k log r
                                                     - sum of log(1 + i / b) for 0 < i < max_A k_A
                                                     + sum over A of ML(max(0, n_A - 1))

because the k_u of a configuration's parts add up to k or more, some u has all states of the class with the
most, and a(U) <= b = ess / (q(T) times the fewest states of a variable in R). The first term alone is the
bound of `DirichletCeiling`. Variables that divide most are added first: then R soon divides little, and the
other two terms tell. In the line of Correia, Cussens & de Campos (2020), who bound a configuration by its
own counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.search.masks import Masks, members_of
from bayescout.statistics.families import Floats, Ints

if TYPE_CHECKING:
    from bayescout.search.candidates import Level

BEGIN_SIZE = 3
"""Free parents of the sets above which to look depth first: the best of the smaller are known by then."""

MASK_BITS = 64
"""Variables up to which a set is one word."""

ROOTS = 2
"""Free parents of the sets above which one thread looks at a time."""

TOGETHER = 4
"""Such sets for each call of a kernel, and calls for each step."""

TELLING = 3.0
"""What information about the child counts for against entropy, when variables are ordered."""

ROOM = 1 << 14
"""Sets found above them for which there is room at first."""

SLACK = 1e-6
"""Nats, and a millionth of it for each nat that a score can have: a margin far above rounding."""


def refines(data: Any, n: int) -> bool:
    """Whether a score is BDeu on rows that each count once, with few enough variables for one word."""
    if data is None or n > MASK_BITS:
        return False
    weights, terms = data[1], data[5]
    return bool(terms[0] == 1 and terms[5] > 0 and not len(weights))


class Refinement:
    """The sets of one child that are larger than those of a level.

    What is found above a few sets depends on them and on what is known from the level, so threads do not
    matter.
    """

    def __init__(self, data: Any, level: Level) -> None:
        self.data = data
        self.looked_at = 0
        codes, cards = data[0], data[3][0]
        order = level.free[np.argsort(-_dividing(codes, cards, level), kind="stable")]
        self.order = order
        self.rest = what_may_be_added(codes, cards, order, level.child)
        self.known = np.concatenate(level.masks)[:, 0], np.concatenate(level.scores)
        places = np.array(list(combinations(range(len(order)), min(ROOTS, level.size))), dtype=np.int64)
        self.last = places[:, -1].copy()
        fixed = np.tile(np.array(level.base, dtype=np.int64), (len(places), 1))
        self.sets = np.concatenate([fixed, order[places]], axis=1)
        most = len(level.base) + level.size + level.room
        slack = SLACK * (1 + 1e-6 * codes.shape[1] * math.log(max(2, cards[level.child])))
        self.limits = np.array([level.child, most, slack])
        self._found: dict[int, tuple[Masks, Floats]] = {}

    def parts(self) -> Iterator[list[slice]]:
        """Slices of the sets above which to look, some for each step."""
        every = [slice(begin, begin + TOGETHER) for begin in range(0, len(self.sets), TOGETHER)]
        for begin in range(0, len(every), TOGETHER):
            yield every[begin : begin + TOGETHER]

    def look_above(self, some: slice) -> None:
        from bayescout.kernels.refining import sets_above

        totals, room = np.array([0, ROOM]), 0
        while totals[1] > room:
            room = int(totals[1])
            found = np.empty(room, dtype=np.uint64), np.empty(room)
            asked = self.sets[some], self.last[some], self.rest, self.known
            sets_above(self.data, self.limits, self.order, *asked, (*found, totals))
        looked_at, met = totals.tolist()
        self.looked_at += looked_at
        self._found[some.start] = found[0][:met], found[1][:met]

    def found(self) -> tuple[Masks, Floats]:
        """All sets, those of the level and those found above them."""
        pieces = [self.known, *(self._found[start] for start in sorted(self._found))]
        return _undominated(*(np.concatenate(piece) for piece in zip(*pieces, strict=True)))


def _undominated(masks: Masks, scores: Floats) -> tuple[Masks, Floats]:
    """The sets that score more than every set within them; by size, then lower variables first."""
    ranks = sorted(range(len(masks)), key=lambda i: (int(masks[i]).bit_count(), members_of(masks[i : i + 1])))
    masks, scores = masks[ranks], scores[ranks]
    kept = np.zeros(len(masks), dtype=bool)
    for i in range(len(masks)):
        within = kept[:i] & ((masks[:i] & ~masks[i]) == 0)
        kept[i] = i == 0 or scores[i] > scores[:i][within].max(initial=-math.inf)
    return masks[kept], scores[kept]


def _dividing(codes: Any, cards: Ints, level: Level) -> Floats:
    """How soon each free variable should be added: its entropy and thrice what it tells about the child."""
    found = np.zeros(len(level.free))
    of_child = _entropy(codes[level.child])
    for i, variable in enumerate(level.free.tolist()):
        own = _entropy(codes[variable])
        both = _entropy(codes[variable].astype(np.int64) * cards[level.child] + codes[level.child])
        found[i] = own + TELLING * (own + of_child - both)
    return found


def _entropy(column: Any) -> float:
    share = np.bincount(column) / len(column)
    return -float(np.sum(share[share > 0] * np.log(share[share > 0])))


def what_may_be_added(codes: Any, cards: Ints, order: Ints, child: int) -> tuple[Any, ...]:
    """What `kernels.refining` has to know of the variables of an order, as `rest`."""
    rows, states = codes.shape[1], int(cards[child])
    together, alone = (np.empty((len(order), rows), dtype=np.int32) for _ in range(2))
    classes = np.zeros(rows, dtype=np.int64)
    for place in range(len(order) - 1, -1, -1):
        variable = order[place]
        both = classes * cards[variable] + codes[variable]
        classes = np.unique(both, return_inverse=True)[1].ravel()
        cells = classes * states + codes[child]
        kinds = (np.bincount(cells, minlength=(classes.max() + 1) * states).reshape(-1, states) > 0).sum(
            axis=1
        )
        together[place] = np.where(kinds[classes] > 1, cells, -1 - cells)
        alone[place] = codes[variable].astype(np.int32) * states + codes[child]
    counts = np.arange(rows + 1, dtype=np.float64)
    return (
        together,
        alone,
        *_fields(alone, cards[order] * states, codes[child], states),
        counts * np.log(np.maximum(counts, 1)),
    )


def _fields(alone: Any, widths: Ints, own: Any, states: int) -> tuple[Masks, Ints]:
    """A row of bits for each row of the table, and the parts of it that belong to each place.

    The last place is the child by itself.
    """
    parts, word, bit, first = [], 0, 0, []
    for place, width in enumerate([*widths.tolist(), states]):
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
        where = begin + (alone[place] if place < len(alone) else own.astype(np.int64))
        bits[np.arange(len(bits)), where >> 6] |= np.uint64(1) << (where & 63).astype(np.uint64)
    fields = np.array(parts, dtype=np.uint64).reshape(-1, 3).T
    return bits, np.ascontiguousarray(fields).view(np.int64)
