"""The best of several methods, and those that differ from it significantly."""

from __future__ import annotations

from collections.abc import Sequence

LEVEL = 0.05
DAGGER = "†"


def mann_whitney(one: Sequence[float], two: Sequence[float]) -> float:
    """The two-sided p-value that two samples come from one distribution (Mann & Whitney 1947).

    1 if all values are the same, or if a sample is empty: there is no evidence against it.
    """
    from scipy.stats import mannwhitneyu

    if not one or not two or min(*one, *two) == max(*one, *two):
        return 1.0
    return float(mannwhitneyu(one, two, alternative="two-sided").pvalue)


def best_of(groups: Sequence[Sequence[float]], larger: bool = True) -> int:
    """The position of the group with the best mean; of ties the first. Empty groups are never best."""
    places = [i for i, group in enumerate(groups) if group]
    if not places:
        return 0
    sign = 1 if larger else -1
    return max(places, key=lambda i: (sign * sum(groups[i]) / len(groups[i]), -i))


def daggers(groups: Sequence[Sequence[float]], larger: bool = True, level: float = LEVEL) -> list[str]:
    """A dagger for each group that differs from the best one by the Mann-Whitney test, otherwise nothing."""
    best = best_of(groups, larger)
    return [
        DAGGER if i != best and mann_whitney(groups[best], group) < level else ""
        for i, group in enumerate(groups)
    ]
