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

TOGETHER = 16
"""Sets above which one thread looks at a time."""

SIZES = 2
"""How much larger the sets are that are looked at before what was found is known to all."""

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
    """The sets of one child above those of a level, a few sizes at a time.

    What is found above some sets depends on them and on what was known before, so threads do not matter.
    """

    def __init__(self, data: Any, level: Level) -> None:
        self.data = data
        self.level = level
        self.looked_at = 0
        codes, cards = data[0], data[3][0]
        self.order = level.free[np.argsort(-_entropies(codes[level.free], cards[level.free]), kind="stable")]
        self.suffix = _suffix_classes(codes, cards, self.order), _xlogx(codes.shape[1])
        self.known = np.concatenate(level.masks)[:, 0], np.concatenate(level.scores)
        own = level.free[level.members]
        fixed = np.tile(np.array(level.base, dtype=np.int64), (len(own), 1))
        self.sets = np.concatenate([fixed, own], axis=1)
        self.most = self.sets.shape[1] + level.room
        self.place = np.full(codes.shape[0], -1)
        self.place[self.order] = np.arange(len(self.order))
        self.slack = SLACK * (1 + 1e-6 * codes.shape[1] * math.log(max(2, cards[level.child])))
        self._found: dict[int, tuple[Any, ...]] = {}

    def parts(self) -> Iterator[list[slice]]:
        """Slices of the sets to go on from, some for each step."""
        while len(self.sets):
            every = [slice(begin, begin + TOGETHER) for begin in range(0, len(self.sets), TOGETHER)]
            for begin in range(0, len(every), TOGETHER):
                yield every[begin : begin + TOGETHER]
            self._go_on()

    def look_above(self, some: slice) -> None:
        from bayescout.kernels.refining import sets_above

        sets = self.sets[some]
        last = self.place[sets].max(axis=1)
        until = min(self.most, sets.shape[1] + SIZES)
        limits = np.array([self.level.child, until, self.most, self.slack])
        totals, room = np.array([0, ROOM, ROOM]), (0, 0)
        while totals[1] > room[0] or totals[2] > room[1]:
            room = int(totals[1]), int(totals[2])
            found = np.empty(room[0], dtype=np.uint64), np.empty(room[0]), np.empty(room[1], dtype=np.uint64)
            sets_above(self.data, limits, self.order, sets, last, self.suffix, self.known, (*found, totals))
        looked_at, met, ends = totals.tolist()
        self._found[some.start] = looked_at, found[0][:met], found[1][:met], found[2][:ends]

    def _go_on(self) -> None:
        """Know what was found, and go on from the largest sets."""
        pieces = [self._found[start] for start in sorted(self._found)]
        self._found = {}
        self.looked_at += sum(piece[0] for piece in pieces)
        masks = np.concatenate([self.known[0], *(piece[1] for piece in pieces)])
        scores = np.concatenate([self.known[1], *(piece[2] for piece in pieces)])
        self.known = _undominated(masks, scores)
        size = self.sets.shape[1] + SIZES
        ends = np.concatenate([piece[3] for piece in pieces])
        raw = np.unpackbits(ends.astype("<u8")[:, None].view(np.uint8), axis=1, bitorder="little")
        self.sets = raw.nonzero()[1].reshape(len(ends), size)


def _undominated(masks: Masks, scores: Floats) -> tuple[Masks, Floats]:
    """The sets that score more than every set within them; by size, then lower variables first."""
    ranks = sorted(range(len(masks)), key=lambda i: (int(masks[i]).bit_count(), members_of(masks[i : i + 1])))
    masks, scores = masks[ranks], scores[ranks]
    kept = np.zeros(len(masks), dtype=bool)
    for i in range(len(masks)):
        within = kept[:i] & ((masks[:i] & ~masks[i]) == 0)
        kept[i] = i == 0 or scores[i] > scores[:i][within].max(initial=-math.inf)
    return masks[kept], scores[kept]


def _entropies(codes: Any, cards: Ints) -> Floats:
    """The entropy of each variable by itself, in nats."""
    found = np.zeros(len(codes))
    for i, (column, states) in enumerate(zip(codes, cards, strict=True)):
        share = np.bincount(column, minlength=states) / len(column)
        found[i] = -float(np.sum(share[share > 0] * np.log(share[share > 0])))
    return found


def _xlogx(most: int) -> Floats:
    """N log N for every N up to the most."""
    counts = np.arange(most + 1, dtype=np.float64)
    found: Floats = counts * np.log(np.maximum(counts, 1))
    return found


def _suffix_classes(codes: Any, cards: Ints, order: Ints) -> Ints:
    """The class of each row by the variables from each place of an order on; one class after the last."""
    classes = np.zeros((len(order) + 1, codes.shape[1]), dtype=np.int64)
    for place in range(len(order) - 1, -1, -1):
        both = classes[place + 1] * cards[order[place]] + codes[order[place]]
        classes[place] = np.unique(both, return_inverse=True)[1].ravel()
    return classes
