"""Random graphs, with the distribution stated."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import as_plain, generator, require_count, shown
from bayescout.errors import SettingError
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, check_nodes, counted

Degrees = NDArray[np.int64]


def random_dag(
    nodes: int | Iterable[Label] = 5,
    arcs: int | None = None,
    density: float | None = None,
    max_parents: int | None = None,
    seed: int = 0,
) -> Dag:
    """Draw a random order of the nodes, every order equally likely, then random arcs along it.

    nodes        their number, labelled X1, X2, ...; or the labels themselves
    arcs         their number: every set of that many forward arcs within `max_parents` is
                 equally likely, given the order
    density      or the probability of each forward arc, independently, given that no node
                 exceeds `max_parents` (at density 1 every node has as many as allowed)
    max_parents  the most parents a node may have; None is no limit

    With neither arcs nor density, the density gives n arcs on average: 2 / (n - 1), at most 1. Uniform
    over orders is not uniform over DAGs: a graph that fits more orders is more frequent.
    """
    labels = _labels(nodes)
    rng = generator(seed)
    return Dag(labels, draw_parents(rng, len(labels), arcs, density, max_parents))


def draw_parents(
    rng: np.random.Generator,
    n: int,
    arcs: int | None = None,
    density: float | None = None,
    max_parents: int | None = None,
) -> tuple[tuple[int, ...], ...]:
    """The parent sets of one random DAG on n nodes, distributed as in `random_dag`."""
    limit = _limit(n, max_parents)
    room = np.minimum(np.arange(n), limit)
    if arcs is not None:
        _check_arcs(arcs, density, n, int(room.sum()), max_parents)
        degrees = _degrees_of_sum(rng, room, int(arcs))
    else:
        degrees = _degrees_of_density(rng, room, _density(n, density))
    order = rng.permutation(n)
    parents: list[tuple[int, ...]] = [()] * n
    for place in np.flatnonzero(degrees).tolist():
        chosen = rng.choice(place, int(degrees[place]), replace=False)
        parents[order[place]] = tuple(sorted(order[chosen].tolist()))
    return tuple(parents)


# ---- in-degrees; the node at place k of the order has k nodes before it and at most room[k] parents


def _degrees_of_density(rng: np.random.Generator, room: Degrees, density: float) -> Degrees:
    """Independent binomials, each conditioned not to exceed its room."""
    places = np.arange(len(room))
    if density in (0.0, 1.0):
        return room * int(density)
    if np.array_equal(room, places):
        return rng.binomial(places, density)
    return _draw(rng, _cumulative(room, np.log(density) - np.log1p(-density)))


def _degrees_of_sum(rng: np.random.Generator, room: Degrees, arcs: int) -> Degrees:
    """The in-degrees of a uniform draw among all arc sets of this size that fit.

    Without a limit the set itself is drawn. With one, place k has C(k, d) ways to have d
    parents; degrees drawn independently with weight C(k, d) odds^d and accepted if their sum
    is right are exactly uniform for any odds, which affect only the acceptance rate.
    """
    if arcs in (0, int(room.sum())):
        return room * int(arcs > 0)
    places = np.arange(len(room))
    if np.array_equal(room, places):
        pairs = rng.choice(int(room.sum()), arcs, replace=False, shuffle=False)
        before = places * (places - 1) // 2
        return np.bincount(np.searchsorted(before, pairs, side="right") - 1, minlength=len(room))
    cumulative = _cumulative(room, _log_odds(len(room), int(room.max()), arcs))
    while True:
        degrees = _draw(rng, cumulative)
        if degrees.sum() == arcs:
            return degrees


def _weights(room: Degrees, log_odds: float) -> NDArray[np.float64]:
    """The probability of each in-degree at each place, (n, limit + 1), proportional to C(k, d) odds^d."""
    places, degrees = np.arange(len(room))[:, None], np.arange(room.max() + 1)[None, :]
    log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, len(room) + 1)))))
    fits = degrees <= room[:, None]
    rest = np.where(fits, places - degrees, 0)
    logs = log_factorial[places] - log_factorial[degrees] - log_factorial[rest] + degrees * log_odds
    logs = np.where(fits, logs, -np.inf)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@lru_cache(maxsize=64)
def _log_odds(n: int, limit: int, arcs: int) -> float:
    """The log odds at which the expected number of arcs is the requested one, by bisection."""
    room, degrees = np.minimum(np.arange(n), limit), np.arange(limit + 1)
    low, high = -60.0, 60.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if float((_weights(room, middle) @ degrees).sum()) < arcs:
            low = middle
        else:
            high = middle
    return low


def _cumulative(room: Degrees, log_odds: float) -> NDArray[np.float64]:
    return np.cumsum(_weights(room, log_odds), axis=1)


def _draw(rng: np.random.Generator, cumulative: NDArray[np.float64]) -> Degrees:
    """One in-degree per place by inversion; the last column is not compared, as it may round below 1."""
    draws = rng.random(len(cumulative))
    return np.asarray((draws[:, None] >= cumulative[:, :-1]).sum(axis=1), dtype=np.int64)


# ---- checks


def _labels(nodes: int | Iterable[Label]) -> tuple[Label, ...]:
    if isinstance(nodes, Iterable):
        return check_nodes(nodes)
    count = require_count("nodes", nodes, hint="give a number of nodes or a list of labels")
    return tuple(f"X{k + 1}" for k in range(count))


def _limit(n: int, max_parents: int | None) -> int:
    return (
        n
        if max_parents is None
        else min(n, require_count("max_parents", max_parents, hint="None is no limit"))
    )


def _check_arcs(arcs: int, density: float | None, n: int, most: int, max_parents: int | None) -> None:
    if density is not None:
        raise SettingError("give either arcs or density, not both")
    if require_count("arcs", arcs, hint="for a share use density") > most:
        limit = "" if max_parents is None else f" with at most {max_parents} parents each"
        raise SettingError(
            f"{counted(int(arcs), 'arc')} will not fit: there is room for {most} among "
            f"{counted(n, 'node')}{limit}"
        )


def _density(n: int, density: float | None) -> float:
    if density is None:
        return min(1.0, 2 / (n - 1)) if n > 1 else 0.0
    share = as_plain(density)
    if share is None or not 0 <= share <= 1:
        raise SettingError(
            f"density must be a number from 0 to 1, not {shown(density)}; for a count use arcs"
        )
    return float(share)
