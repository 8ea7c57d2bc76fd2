"""The gap between a learned network and the best one, and the parent sets that decide it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayescout.display import ShownText
from bayescout.errors import SettingError
from bayescout.learn import learn
from bayescout.scores.network_score import score as whole_score
from bayescout.wording import setting

if TYPE_CHECKING:
    from bayescout.formats.jkl import ScoredSets
    from bayescout.graph.dag import Dag
    from bayescout.result import Result
    from bayescout.scores import PriorLike, ScoreLike
    from bayescout.search.frame.knowledge import KnowledgeLike


@dataclass(frozen=True, repr=False)
class Gap(ShownText):
    """An upper bound on how much better than a network any other can be, in nats.

    score        of the network
    bound        no network that keeps the same knowledge scores more; infinite if none was found in time
    better       a network found on the way that scores more, with its score; None if none was found
    seconds      the time it took
    stop_reason  why no more was tried: "converged", "max_time" or "interrupted"
    """

    score: float
    bound: float
    better: tuple[float, Dag] | None
    seconds: float
    stop_reason: str = "converged"

    @property
    def gap(self) -> float:
        return self.bound - self.score

    @property
    def proven(self) -> bool:
        """True if the network is proven to be the best."""
        return self.gap == 0

    @property
    def percent(self) -> float:
        """The gap as a share of the score's magnitude, in percent."""
        return 100 * self.gap / abs(self.score) if self.gap else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        better = None
        if self.better is not None:
            better = {"score": self.better[0], "arcs": [list(arc) for arc in self.better[1].arcs()]}
        known = math.isfinite(self.bound)
        return {
            "score": self.score,
            "bound": self.bound if known else None,
            "gap": self.gap if known else None,
            "percent": self.percent if known else None,
            "proven": self.proven,
            "better": better,
            "seconds": self.seconds,
            "stop_reason": self.stop_reason,
        }

    def __str__(self) -> str:
        from bayescout.result import says_nothing

        if self.proven:
            return "optimal: no network that keeps the knowledge scores more"
        if not math.isfinite(self.bound):
            more = "" if self.better is None else f", but a network with {self._more} was found"
            return f"no bound was found in {self.seconds:.2g} s{more}: give more time"
        if says_nothing(self.score, self.gap):
            return (
                f"no useful bound after {self.seconds:.0f} s (at most {self.gap:,.0f} nats below the best): "
                f"give more time, or learn with a limit on parents, {setting('max_parents', 3)}"
            )
        near = f"within {_percent(self.percent)} of optimal"
        if self.better is None:
            return f"{near}: at most {self.gap:,.3f} nats below the best network"
        if self.better[0] == self.bound:
            return f"{near}: the best network scores {self._more}, and was found"
        return f"{near}: at most {self.gap:,.3f} nats below the best; a network with {self._more} was found"

    @property
    def _more(self) -> str:
        return "" if self.better is None else f"{self.better[0] - self.score:,.3f} nats more"


def _percent(value: float) -> str:
    """Two significant digits, rounded up: a gap is never shown as less than it is."""
    from math import ceil, floor, log10

    digits = max(0, 1 - floor(log10(value)))
    return f"{ceil(value * 10**digits) / 10**digits:.{digits}f}%"


def gap(
    result: Result,
    data: Any = None,
    max_time: float | None = 60.0,
    workers: int | None = None,
    progress: bool = False,
) -> Gap:
    """The gap between a learned network, of any search, and the optimum, as known after `max_time` seconds.

    The bound holds for every network that keeps the result's knowledge, under its score. A result that was
    read from a file needs its data; if data are given, the network is scored anew on them.
    `print(bs.gap(result))` says "within 0.03% of optimal".
    """
    if not hasattr(result, "settings") or not hasattr(result, "bound"):
        raise SettingError(f"gap is asked of a result of learn(), not of a {type(result).__name__}")
    if data is None and result.gap == 0:
        return Gap(result.score, result.score, None, 0.0)
    score, prior = _score_of(result), _prior_of(result)
    table = result._evidence()[0] if data is None else data
    own, known = (
        (result.score, result.bound)
        if data is None
        else (whole_score(result.dag, data, score, prior, result.settings.knowledge), None)
    )
    found = learn(
        table,
        "optimal",
        score,
        result.settings.knowledge,
        start=result.dag,
        seed=result.seed,
        max_time=max_time,
        workers=workers,
        progress=progress,
        structure_prior=prior,
    )
    if not math.isfinite(own):
        raise SettingError("the network has no score that is a number, so there is no gap to speak of")
    bounds = [bound for bound in (found.bound, known, math.inf) if bound is not None]
    better = None
    if found.score > own:
        better = found.score, found.dag.reordered(result.dag.nodes)
    return Gap(own, max(min(bounds), own), better, found.seconds, found.stop_reason)


def _score_of(result: Result) -> ScoreLike:
    """The score a network was learned with."""
    from bayescout.scores import CustomScorer, TableScorer

    if isinstance(result.scores, TableScorer):
        return result.scores.formula
    if isinstance(result.scores, CustomScorer):
        return result.scores.score
    made: ScoreLike = result.settings.made_score()
    return made


def _prior_of(result: Result) -> PriorLike:
    """The structure prior a network was learned with, without the beliefs, which its knowledge has."""
    if result.scores is not None and result.scores.prior is not None:
        return result.scores.prior.given
    made: PriorLike = result.settings.made_prior()
    return made


def candidate_sets(
    data: Any,
    score: ScoreLike = "bic",
    knowledge: KnowledgeLike | None = None,
    max_parents: int | None = None,
    workers: int | None = None,
    structure_prior: PriorLike | None = None,
) -> ScoredSets:
    """For each variable every parent set that can be in an optimal network, with its score, best first.

    A set is left out if a subset scores at least as well. `.save("x.jkl")` writes them for other solvers.
    The scores include the structure prior.
    """
    from bayescout.data import as_table
    from bayescout.formats.jkl import ScoredSets
    from bayescout.scores import bind, family_prior
    from bayescout.search import Problem
    from bayescout.search.frame.knowledge import as_knowledge
    from bayescout.search.parent_sets.enumeration import candidate_sets as enumerated

    table = as_table(data)
    rules_from = as_knowledge(knowledge)
    rules = rules_from.compile(table.names)  # checked before any work
    if max_parents is not None and (isinstance(max_parents, bool) or max_parents < 0):
        raise SettingError(f"max_parents must be a whole number of at least 0, not {max_parents!r}")
    scorer = bind(score, table, workers, prior=family_prior(structure_prior, table.names, rules_from))
    found = enumerated(Problem(scorer, rules.within(scorer.legal, table.names)), max_parents)
    return ScoredSets(
        table.names,
        tuple(
            tuple(
                (value, found.parents(child, place))
                for place, value in enumerate(found.scores_of(child).tolist())
            )
            for child in range(found.n)
        ),
    )


__all__ = ["Gap", "candidate_sets", "gap"]
