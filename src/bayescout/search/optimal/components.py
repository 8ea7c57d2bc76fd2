"""The problem in parts: variables that can be each other's ancestors under the candidate sets.

Between two parts arcs go one way only, so no choice in one can close a cycle with the other, and each is
solved by itself: of the sets of a child that are the same within its part, the best stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescout.search.parent_sets.enumeration import CandidateSets, Masks, mask_words
from bayescout.statistics.families import Floats, Ints

Lists = tuple[Masks, Ints, Floats]
"""Masks (m, words), where each child's begin (n + 1,), and scores (m,): as `kernels.optimal` takes them."""


@dataclass(frozen=True, eq=False)
class Part:
    """One part: its variables, and the sets of each in positions within the part.

    variables  positions in the whole problem, rising
    lists      masks over the part, best first for each child
    places     (m,) int64   where each set stands among the candidates of its child
    """

    variables: tuple[int, ...]
    lists: Lists
    places: Ints

    @property
    def n(self) -> int:
        return len(self.variables)

    def tops(self) -> Floats:
        """The best score of each child, whatever the others have."""
        _, starts, scores = self.lists
        return scores[starts[:-1]]

    def chosen(self, candidates: CandidateSets, picks: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """The parents, in the whole problem, of each variable of the part."""
        return {
            child: candidates.parents(child, int(self.places[pick]))
            for child, pick in zip(self.variables, picks, strict=True)
        }


def parts_of(candidates: CandidateSets) -> list[Part]:
    """The parts, in an order in which arcs between them go forward."""
    return [_part(candidates, variables) for variables in components(candidates)]


def components(candidates: CandidateSets) -> list[tuple[int, ...]]:
    """The sets of variables that reach each other, earlier ones first."""
    n = candidates.n
    reach = np.eye(n, dtype=bool)
    for child, masks in enumerate(candidates.masks):
        finite = np.isfinite(candidates.scores[child])
        together = np.bitwise_or.reduce(masks[finite], axis=0) if finite.any() else masks[0] * 0
        reach[:, child] |= unpacked(together[None], n)[0]
    for _ in range(max(1, n.bit_length())):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    mutual = reach & reach.T
    first = mutual.argmax(axis=1)
    found = [tuple(np.flatnonzero(first == v).tolist()) for v in np.unique(first).tolist()]
    # A part is reached by more variables than any part that reaches it.
    return sorted(found, key=lambda part: (int(reach[:, part[0]].sum()), part))


def unpacked(masks: Masks, n: int) -> NDArray[np.bool_]:
    """Masks (m, words) as booleans (m, n)."""
    raw = np.ascontiguousarray(masks.astype("<u8")).view(np.uint8)
    return np.unpackbits(raw, axis=1, bitorder="little")[:, :n].astype(bool)


def packed(inside: NDArray[np.bool_]) -> Masks:
    """Booleans (m, n) as masks (m, words)."""
    m, n = inside.shape
    wide = np.zeros((m, 64 * mask_words(n)), dtype=bool)
    wide[:, :n] = inside
    return np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _part(candidates: CandidateSets, variables: tuple[int, ...]) -> Part:
    masks, scores, places, starts = [], [], [], [0]
    for child in variables:
        own = candidates.scores[child]
        kept = np.flatnonzero(np.isfinite(own))
        inside = packed(unpacked(candidates.masks[child][kept], candidates.n)[:, list(variables)])
        if len(variables) < candidates.n:
            some = _first_of_their_kind(inside)
            inside, kept = inside[some], kept[some]
        masks.append(inside)
        scores.append(own[kept])
        places.append(kept)
        starts.append(starts[-1] + len(kept))
    lists = np.concatenate(masks), np.array(starts, dtype=np.int64), np.concatenate(scores)
    return Part(variables, lists, np.concatenate(places))


def _first_of_their_kind(masks: Masks) -> Ints:
    """The sets, best first, that have no set before them within them."""
    from bayescout.kernels.insertions import undominated

    keep = np.empty(len(masks), dtype=bool)
    undominated(masks, keep)
    found: Ints = np.flatnonzero(keep)
    return found
