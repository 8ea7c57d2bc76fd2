"""The components of the problem: variables that can be each other's ancestors under the candidate sets.

Between two components arcs go one way only, so no choice in one can close a cycle with the other, and each
is solved by itself: of a child's sets that are equal within its component, the best stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayescout.arrays import Ints, Parents
from bayescout.search.bitsets import Words, bools_of_words, words_of_bools
from bayescout.search.parent_sets.lists import ParentSetLists


@dataclass(frozen=True, eq=False)
class Component:
    """One component: its variables, and the sets of each in positions within the component.

    variables  positions in the whole problem, ascending
    lists      the sets of each variable, over the component
    places     (m,) int64   the index of each set among the candidates of its child
    """

    variables: tuple[int, ...]
    lists: ParentSetLists
    places: Ints

    @property
    def n(self) -> int:
        return len(self.variables)

    def chosen(self, candidates: ParentSetLists, picks: Sequence[int]) -> dict[int, Parents]:
        """The parents, in the whole problem, of each variable of the component."""
        return {
            child: candidates.parents(child, int(self.places[pick]))
            for child, pick in zip(self.variables, picks, strict=True)
        }


def components_of(candidates: ParentSetLists) -> list[Component]:
    """The components, in an order in which arcs between them point forward."""
    return [_component(candidates, variables) for variables in groups(candidates)]


def groups(candidates: ParentSetLists) -> list[tuple[int, ...]]:
    """The sets of variables that reach each other, earlier ones first."""
    n = candidates.n
    reach = np.eye(n, dtype=bool)
    for child in range(n):
        sets, finite = candidates.sets_of(child), np.isfinite(candidates.scores_of(child))
        together = np.bitwise_or.reduce(sets[finite], axis=0) if finite.any() else sets[0] * 0
        reach[:, child] |= bools_of_words(together[None], n)[0]
    for _ in range(max(1, n.bit_length())):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    mutual = reach & reach.T
    first = mutual.argmax(axis=1)
    found = [tuple(np.flatnonzero(first == v).tolist()) for v in np.unique(first).tolist()]
    # A component is reached by more variables than any component that reaches it.
    return sorted(found, key=lambda one: (int(reach[:, one[0]].sum()), one))


def _component(candidates: ParentSetLists, variables: tuple[int, ...]) -> Component:
    sets, scores, places = [], [], []
    for child in variables:
        own = candidates.scores_of(child)
        kept = np.flatnonzero(np.isfinite(own))
        whole = bools_of_words(candidates.sets_of(child)[kept], candidates.n)
        inside = words_of_bools(whole[:, list(variables)])
        if len(variables) < candidates.n:
            some = _first_of_their_kind(inside)
            inside, kept = inside[some], kept[some]
        sets.append(inside)
        scores.append(own[kept])
        places.append(kept)
    return Component(variables, ParentSetLists.joined(sets, scores), np.concatenate(places))


def _first_of_their_kind(sets: Words) -> Ints:
    """The sets, given best first, that have no subset before them."""
    from bayescout.kernels.insertions import undominated

    keep = np.empty(len(sets), dtype=bool)
    undominated(sets, keep)
    found: Ints = np.flatnonzero(keep)
    return found
