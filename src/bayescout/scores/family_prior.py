"""A structure prior in positions of the scorer's variables, as the fast paths use it.

The log prior of a family is a number by its size, a number for each of its arcs, and a user's own number;
most priors have only the first. It is added to batches of scores, never inside a kernel's loop over rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bayescout.arrays import Bools, Family, Floats, Ints, Parents
from bayescout.errors import SettingError
from bayescout.scores.prior import DEFAULT_PRIOR, OwnPrior, PriorLike, StructurePrior, as_prior, on_grid

Label = Hashable


class Believing(Protocol):
    """Knowledge, as far as a prior needs it."""

    @property
    def beliefs(self) -> Mapping[Any, float]: ...

    def compile(self, names: Sequence[Label]) -> Any: ...


@dataclass(frozen=True, eq=False)
class FamilyPrior:
    """The log prior of families of n variables, in nats, relative to no parents.

    by_size     (n,) float64     by the number of parents
    weights     (n, n) float64   [parent, child], added for each arc; None for nothing
    own         a user's function of a child and its parents, by position; None for nothing
    equivalent  True if equivalent graphs have the same prior; None if that is not known
    decreasing  True if no further parent ever raises the prior
    given       the prior that it was made from, without beliefs
    """

    by_size: Floats
    weights: Floats | None = None
    own: Callable[[int, Parents], float] | None = None
    equivalent: bool | None = True
    decreasing: bool = False
    given: PriorLike = DEFAULT_PRIOR

    @property
    def n(self) -> int:
        return len(self.by_size)

    # ---- values

    def many(self, families: Sequence[Family]) -> Floats:
        """The log prior of each family."""
        found: Floats = self.by_size[[len(parents) for _, parents in families]]
        if self.weights is not None:
            found += [self.weights[list(parents), child].sum() for child, parents in families]
        if self.own is not None:
            found += [self.own(child, tuple(sorted(parents))) for child, parents in families]
        return found

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> Floats:
        """The log prior of (child, parents + candidate) for each candidate."""
        found = np.full(len(candidates), self.by_size[len(parents) + 1] if len(candidates) else 0.0)
        if self.weights is not None:
            found += self.weights[list(parents), child].sum() + self.weights[candidates, child]
        if self.own is not None:
            found += [self.own(child, tuple(sorted((*parents, more)))) for more in candidates.tolist()]
        return found

    def all_extensions(self, families: Sequence[Family]) -> Floats:
        """The log prior of each family with each variable as a further parent, (families, n)."""
        return self.neighbours(families)[1] + self.many(families)[:, None]

    def neighbours(self, families: Sequence[Family]) -> tuple[Floats, Floats, Floats]:
        """The log prior of each family, and its change when each variable is added, or removed.

        The first is (families,); the changes are (families, n), and (families, 1) if all are the same. What
        stands where a variable cannot be added or removed has no meaning.
        """
        own = self.many(families)
        sizes = np.array([len(parents) for _, parents in families], dtype=np.int64)
        now = self.by_size[sizes]
        added = (self.by_size[np.minimum(sizes + 1, self.n - 1)] - now)[:, None]
        removed = (self.by_size[np.maximum(sizes - 1, 0)] - now)[:, None]
        if self.weights is not None:
            arcs = self.weights.T[[child for child, _ in families]]
            added, removed = added + arcs, removed - arcs
        if self.own is not None:
            more, less = self._own_changes(families)
            added, removed = added + more, removed + less
        return own, added, removed

    @cached_property
    def steps(self) -> list[tuple[float, float, float]] | None:
        """What `neighbours` gives for each number of parents, if that is all that matters; else None."""
        if self.weights is not None or self.own is not None:
            return None
        sizes = self.by_size.tolist()
        around = zip(sizes, [*sizes[1:], sizes[-1]], [sizes[0], *sizes[:-1]], strict=True)
        return [(now, more - now, less - now) for now, more, less in around]

    def _own_changes(self, families: Sequence[Family]) -> tuple[Floats, Floats]:
        assert self.own is not None
        added, removed = (np.zeros((len(families), self.n)) for _ in range(2))
        for row, (child, parents) in enumerate(families):
            now = self.own(child, tuple(sorted(parents)))
            for v in range(self.n):
                if v in parents:
                    removed[row, v] = self.own(child, tuple(sorted(p for p in parents if p != v))) - now
                elif v != child:
                    added[row, v] = self.own(child, tuple(sorted((*parents, v)))) - now
        return added, removed

    def of_sets(self, child: int, base: Parents, sets: Ints) -> Floats:
        """The log prior of a child with each set of parents, a row of `sets`, besides those of `base`."""
        found = np.full(len(sets), self.by_size[sets.shape[1] + len(base)])
        if self.weights is not None:
            arcs = self.weights[:, child]
            found += arcs[sets].sum(axis=1) + arcs[list(base)].sum()
        if self.own is not None:
            found += [self.own(child, tuple(sorted((*base, *own)))) for own in sets.tolist()]
        return found

    def of_subsets(self, child: int) -> Floats:
        """The log prior of a child with every set of parents, at the set's bits; the child's own has none."""
        count = 1 << self.n
        sizes = np.bitwise_count(np.arange(count, dtype=np.uint64)).astype(np.int64)
        found = self.by_size[np.minimum(sizes, self.n - 1)]
        if self.weights is not None:
            arcs = np.zeros(1)
            for weight in self.weights[:, child].tolist():
                arcs = np.concatenate([arcs, arcs + weight])
            found += arcs
        return found

    # ---- upper bounds

    @property
    def is_bounded(self) -> bool:
        """Return True if the prior of supersets can be bounded."""
        return self.own is None or self.decreasing

    def above(self, child: int, base: Parents, sets: Ints, allowed: Bools) -> Floats:
        """An upper bound on the log prior of each set and all its supersets among the allowed parents."""
        here = self.of_sets(child, base, sets)
        if self.decreasing:
            return here
        if self.own is not None:
            return np.full(len(sets), np.inf)
        size = sets.shape[1] + len(base)
        most = min(self.n - 1, int(allowed[:, child].sum()))
        found: Floats = here - self.by_size[size] + self.by_size[size : max(size, most) + 1].max()
        if self.weights is not None:
            gains = np.where(allowed[:, child], np.maximum(self.weights[:, child], 0.0), 0.0)
            found += gains.sum() - gains[sets].sum(axis=1) - gains[list(base)].sum()
        return found

    def for_expansion(self, child: int, base: Parents, order: Ints, most: int) -> tuple[Floats, Floats]:
        """The argument `priors` of `kernels.refining.expand`, for up to `most` parents, if `own` is None."""
        arcs, by_size = np.zeros((2, len(order) + 1)), np.full((2, most + 2), -np.inf)
        by_size[0, : most + 1] = self.by_size[: most + 1]
        by_size[1] = np.maximum.accumulate(by_size[0, ::-1])[::-1]
        if self.weights is not None:
            weights = self.weights[:, child]
            arcs[0] = np.append(weights[order], weights[list(base)].sum())
            arcs[1, :-1] = np.cumsum(np.maximum(weights[order], 0.0)[::-1])[::-1]
        return arcs, by_size

    def raises(self, child: int) -> Floats:
        """The most that adding each variable to any set can add to the log prior, (n,)."""
        if self.own is not None:
            return np.full(self.n, 0.0 if self.decreasing else np.inf)
        step = float(np.diff(self.by_size).max(initial=-math.inf)) if self.n > 1 else 0.0
        found = np.full(self.n, step)
        if self.weights is not None:
            found += self.weights[:, child]
        return found


def family_prior(
    prior: PriorLike | None, names: Sequence[Label], knowledge: Believing | None = None
) -> FamilyPrior | None:
    """The prior of these variables, with the beliefs of the knowledge in it; None if it is uniform."""
    made, n = as_prior(prior), len(names)
    beliefs = {} if knowledge is None else knowledge.beliefs
    sizes = made.by_size(n) if isinstance(made, StructurePrior) else np.zeros(n)
    base = float(sizes[1]) if isinstance(made, StructurePrior) and made.is_arcwise and n > 1 else 0.0
    weights = None
    if beliefs and knowledge is not None:
        weights = _weights(beliefs, names, knowledge.compile(names).allowed, base)
        sizes = sizes - base * np.arange(n)  # which the arcs now have
    if isinstance(made, StructurePrior):
        if weights is None and not sizes.any():
            return None
        equivalent = weights is None or bool((weights == weights.T).all())
        return _checked(FamilyPrior(sizes, weights, None, equivalent, given=made))
    own, said = _by_position(made, names), getattr(made, "equivalent", None)
    same = said if said is None or weights is None else bool(said) and bool((weights == weights.T).all())
    return _checked(
        FamilyPrior(sizes, weights, own, same, given=made), bool(getattr(made, "decreasing", False))
    )


def _checked(made: FamilyPrior, own: bool = True) -> FamilyPrior:
    """The prior, which is decreasing if neither sizes nor arcs nor the user's own part ever raise it."""
    falls = own and bool((np.diff(made.by_size) <= 0).all())
    return replace(made, decreasing=falls and _no_arc_raises(made))


def _no_arc_raises(made: FamilyPrior) -> bool:
    if made.weights is None:
        return True
    step = float(np.diff(made.by_size).max(initial=-math.inf)) if made.n > 1 else 0.0
    return bool((made.weights + step <= 0).all())


def _by_position(prior: OwnPrior, names: Sequence[Label]) -> Callable[[int, Parents], float]:
    """A user's own prior as a function of positions, rounded to the grid."""
    known: dict[Family, float] = {}

    def own(child: int, parents: Parents) -> float:
        found = known.get((child, parents))
        if found is None:
            value = float(prior.family(names[child], tuple(names[p] for p in parents)))
            if not math.isfinite(value):
                raise SettingError(
                    f"your structure prior gave {value} for {names[child]!r} with {len(parents)} parents; it "
                    f"must give a number: forbid or require arcs by Knowledge"
                )
            found = known[child, parents] = on_grid(value)
        return found

    return own


def _weights(beliefs: Mapping[Any, float], names: Sequence[Label], allowed: Bools, base: float) -> Floats:
    """The log odds of every arc: `base`, or what beliefs make of it.

    Castelo & Siebes (2000): a pair has an arc one way, the other way or none, and beliefs are probabilities
    of the three. What is not said is split as the prior without beliefs has it.
    """
    place = {name: i for i, name in enumerate(names)}
    weights = np.full((len(names), len(names)), base)
    np.fill_diagonal(weights, 0.0)
    said: dict[tuple[int, int], dict[str, float]] = {}
    for pair, probability in beliefs.items():
        one, two = (place[label] for label in pair)
        low, high = min(one, two), max(one, two)
        kind = "either" if isinstance(pair, frozenset) else "forth" if one == low else "back"
        said.setdefault((low, high), {})[kind] = probability
    for (low, high), told in said.items():
        odds = _log_odds(told, (bool(allowed[low, high]), bool(allowed[high, low])), base)
        weights[low, high], weights[high, low] = (on_grid(one) for one in odds)
    return weights


def _log_odds(told: Mapping[str, float], can: tuple[bool, bool], base: float) -> tuple[float, float]:
    """The log odds of an arc forth and back against none, of a pair; the same where one cannot be."""
    if not all(can):
        sure = told.get("forth" if can[0] else "back", told.get("either", 0.0))
        odds = math.log(sure / (1 - sure))
        return odds, odds
    forth, back, either = (told.get(kind) for kind in ("forth", "back", "either"))
    if either is None and (forth is None or back is None):
        told_one = forth if back is None else back
        assert told_one is not None
        odds = math.log(told_one) - math.log(1 - told_one) + float(np.logaddexp(0.0, base))
        return (odds, base) if back is None else (base, odds)
    if either is None:
        assert forth is not None
        assert back is not None
        either = forth + back
    elif forth is None:
        forth = either / 2 if back is None else either - back
    back = either - forth if back is None else back
    none = math.log(1 - either)
    return math.log(forth) - none, math.log(back) - none
