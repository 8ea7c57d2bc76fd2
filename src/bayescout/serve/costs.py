"""What a search will cost, by a trial; and what each piece of knowledge costs, by a search without it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bayescout.errors import SettingError
from bayescout.graph.dag import Dag
from bayescout.learn import learn
from bayescout.scores import bind, family_prior
from bayescout.scores.network_score import total
from bayescout.search import SEARCHES, Knowledge
from bayescout.search.auto import ORDER_VARIABLES
from bayescout.search.frame.beliefs import shown_pair
from bayescout.serve.nearest import nearest_dag
from bayescout.serve.subject import Subject, named_in, table_at
from bayescout.session import Session
from bayescout.settings import make_named
from bayescout.statistics.screening import MOST_DENSE

TRIAL = 1.0
"""Seconds of a search that are tried."""

FAMILIES: dict[str, tuple[float, int]] = {
    "hill-climb": (2.5, 2),
    "first-ascent": (5.5, 2),
    "tabu": (3, 2),
    "order-climb": (4.7, 2),
    "ges": (10, 2),
    "imap": (8, 2),
    "imap-pruned": (5, 2),
    "annealing": (70, 2),
    "k2-random": (14, 3),
    "order-sample": (14, 3),
    "boss": (16, 3),
    "auto": (12, 3),
}
AUTO_WITHOUT_ORDERS = (20, 2)
"""Families that a search scores, about: a factor, and the power of the number of variables that it is of.

Counted on asia, alarm and hailfinder; the true number depends on the data. On more variables than
ORDER_VARIABLES the default leaves out its searches over orders, and the other parts add up.
"""

SPREAD = 3.0
"""The factor by which the estimate may be off either way: networks of as many variables differ so much."""

MOST_PRICED, PATIENCE = 200, 20.0
"""The most pieces of knowledge that are priced, and the seconds for it."""


def estimate(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """About how long a search will take, from as much of it as a second allows."""
    config = values["config"]
    table = table_at(config["table"], values["fingerprint"])
    session = Session(
        table,
        make_named("search", SEARCHES, config["search"], config.get("settings") or {}),
        config.get("score") or "auto",
        Knowledge.parse(config.get("knowledge") or "", named_in(table.names)),
        seed=config.get("seed", 0),
        max_time=TRIAL,
        missing=config.get("missing") or "em",
        structure_prior=config.get("structure_prior"),
    )
    result = session.run()
    families, spent = result.counters.evaluations, max(result.trace[-1].seconds, 1e-3)
    name, limit = config["search"], config.get("max_time")
    if result.stop_reason == "converged":
        told = f"a trial came to its end after {families:,} families"
        return {"seconds": spent, "families": families, "why": told}
    rate, variables = families / spent, len(table.names)
    screened = variables > MOST_DENSE and hasattr(SEARCHES[name], "screens")
    if name not in FAMILIES or screened:
        on_pairs = " on screened pairs of so many variables" if screened else ""
        told = f"longer than {TRIAL:g} s; how long {name} takes{on_pairs} cannot be told before"
        return {"seconds": limit, "families": None, "why": told}
    factor, power = FAMILIES[name]
    if name == "auto" and variables > ORDER_VARIABLES:
        factor, power = AUTO_WITHOUT_ORDERS
    expected = max(round(factor * variables**power), 2 * families)
    seconds = expected / rate
    low, high = seconds / SPREAD, seconds * SPREAD
    told = (
        f"between {in_time(low)} and {in_time(high)}: {name} scores about {expected:,} families for "
        f"{variables:,} variables, and a trial scored {rate:,.0f} in a second"
    )
    if limit is not None and limit < seconds:
        return {"seconds": limit, "families": round(rate * limit), "why": f"{told}; the limit comes first"}
    return {
        "seconds": seconds,
        "families": expected,
        "why": told,
        "range": [low, high],
    }


def in_time(seconds: float) -> str:
    """A length of time in the unit that people use for it."""
    for unit, size, most in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 48)):
        if seconds < most * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86400:,.0f} days"


def prices(values: dict[str, Any], _: Any) -> list[dict[str, Any]]:
    """What the score loses by holding to each piece of the knowledge while the others are kept.

    The graph that holds to all of it is climbed to from this one. Without a piece the better of two climbs
    counts: from there, and from this graph, which may be worth more than what is near the other.
    """
    subject = Subject.of(values)
    known = Knowledge.parse(values["knowledge"], named_in(subject.table.names))
    known.compile(subject.table.names)
    priced = Priced(subject, known)
    end = time.monotonic() + PATIENCE
    found = []
    for number, (kind, pair, item, without) in enumerate(pieces(known)):
        late = number >= MOST_PRICED or time.monotonic() > end
        price = None if late else priced.price(without)
        found.append({"kind": kind, "pair": [str(one) for one in pair], "item": item, "price": price})
    return found


def pieces(known: Knowledge) -> Iterator[tuple[str, tuple[Any, ...], str, Knowledge]]:
    """Each piece of knowledge: its kind, the variables it joins, its words, and the knowledge without it."""
    for arc in known.required:
        kept = tuple(one for one in known.required if one != arc)
        yield "required", arc, f"{arc[0]} -> {arc[1]} required", replace(known, required=kept)
    for arc in known.forbidden:
        kept = tuple(one for one in known.forbidden if one != arc)
        yield "forbidden", arc, f"{arc[0]} -> {arc[1]} forbidden", replace(known, forbidden=kept)
    for pair, value in known.beliefs.items():
        rest = {key: one for key, one in known.beliefs.items() if key != pair}
        yield "beliefs", tuple(pair), f"{shown_pair(pair)} believed {value:g}", replace(known, beliefs=rest)
    if known.tiers:
        yield "tiers", (), "tiers", replace(known, tiers=(), forbid_within=False)
    if known.order is not None:
        yield "order", (), "order", replace(known, order=None)
    if known.max_parents is not None:
        yield "max_parents", (), "max_parents", replace(known, max_parents=None)


class Priced:
    """A graph that keeps all knowledge, and what is found without a piece of it."""

    def __init__(self, subject: Subject, known: Knowledge) -> None:
        settings = subject.settings
        if not settings.can_be_made:
            raise SettingError("the score of this run was one of your own; prices need one by name")
        self.table = subject.scored
        self.score, self.prior = settings.made_score(), settings.made_prior()
        self.own = subject.result.dag
        self.held = self._climbed(self._near(known), known)

    def _near(self, known: Knowledge) -> Dag:
        """The graph nearest to this one that keeps the knowledge."""
        return nearest_dag(self.own, known, self.table, self.score)

    def _climbed(self, start: Dag, known: Knowledge) -> Dag:
        found = learn(
            self.table, "hill-climb", self.score, knowledge=known, start=start, structure_prior=self.prior
        )
        return found.dag

    def price(self, without: Knowledge) -> float:
        """Both graphs are scored without the piece, so that a belief is not counted for itself."""
        scorer = bind(self.score, self.table, prior=family_prior(self.prior, self.table.names, without))
        free = [self._climbed(start, without) for start in (self.held, self._near(without))]
        *ones, other = (total(scorer, dag.reordered(self.table.names)) for dag in (*free, self.held))
        return max(0.0, max(ones) - other)
