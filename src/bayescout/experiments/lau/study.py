"""The runs of the study: first ascents one by one, and best of sixteen against genetic algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from bayescout.checks import require_count
from bayescout.experiments.lau import data as sets
from bayescout.experiments.lau.names import (
    BEST_OF_16,
    CLIMB,
    EQUAL_WORK,
    FULL,
    GENETIC,
    OTHER_RUNS,
    SCORES,
    STARTS,
)
from bayescout.experiments.lau.view import BD, CORRECTED
from bayescout.experiments.study import Declared, Measures, Settings, Study, grid
from bayescout.experiments.tools import facts_of, learned, parameters_of, scored

if TYPE_CHECKING:
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Outcome
    from bayescout.result import Result

ASCENTS = 16
COSTS = {CLIMB: 0.003, BEST_OF_16: 0.027, EQUAL_WORK: 0.055, "genetic-greedy, shaken": 0.05}
"""CPU seconds of a run on asia under BIC."""


@dataclass(frozen=True)
class Lau(Study):
    """First-ascent hill climbing under BIC and BD from two kinds of starts, and genetic algorithms.

    repeats            runs of every combination
    rows_a, rows_b     of the two data sets
    others             other data sets like A, and like B, which show what depends on the data
    data_a, data_b     your own data files instead; truth_a, truth_b: their structures, where known
    """

    name: ClassVar[str] = "lau"
    title: ClassVar[str] = "Randomized first-ascent hill climbing and a genetic algorithm"
    source: ClassVar[str] = "Lau & Bush (2004), Bayesian Network Learning, 6.825 Project 3"
    quick: ClassVar[Settings] = {"repeats": 15, "others": 4}
    tiny: ClassVar[Settings] = {"repeats": 2, "rows_b": 300, "others": 1}

    repeats: int = 50
    rows_a: int = 100
    rows_b: int = 5000
    others: int = 10
    data_a: str = ""
    data_b: str = ""
    truth_a: str = ""
    truth_b: str = ""

    def __post_init__(self) -> None:
        for name in ("repeats", "rows_a", "rows_b"):
            require_count(name, getattr(self, name), 2)
        require_count("others", self.others, 0)

    def runs(self) -> Iterable[Declared]:
        data = [
            sets.declared("A", self.rows_a, self.data_a, self.truth_a),
            sets.declared("B", self.rows_b, self.data_b, self.truth_b),
        ]
        seeds = range(self.repeats)
        climbs = grid(data=data, method=[CLIMB], start=[*STARTS, FULL], score=SCORES, seed=seeds)
        many = grid(data=data, method=[BEST_OF_16, EQUAL_WORK], score=SCORES, seed=seeds)
        bred = (
            {**run, "method": method, "search": search}
            for method, search in GENETIC.items()
            for run in grid(data=data, score=SCORES, seed=seeds)
        )
        return chain(climbs, many, bred, self._elsewhere())

    def _elsewhere(self) -> Iterator[Declared]:
        """First ascents on other data sets like A and B; none where a user's own file takes the place."""
        for name, rows, file in (("A", self.rows_a, self.data_a), ("B", self.rows_b, self.data_b)):
            yield from grid(
                data=[] if file else sets.others(name, rows, self.others),
                method=[CLIMB],
                start=STARTS,
                score=(CORRECTED, BD),
                seed=range(min(OTHER_RUNS, self.repeats)),
            )

    def measure(self, run: Declared) -> Measures:
        table = sets.table_of(run["data"])
        if run["method"] == CLIMB:
            own = {**run, "search": CLIMB}
            if run["start"] == FULL:
                own["start"] = sets.full_graph(table.names, run["seed"])
            result = learned(own, data=table)
            found = facts_of(result, trace=("score", "operations"))
        elif run["method"] in GENETIC:
            result = learned(run, data=table)
            found = facts_of(result)
        else:
            work = 0 if run["method"] == BEST_OF_16 else _genetic_work(run)
            result, found = best_ascent(run, work)
        return found | {
            "parameters": parameters_of(result.dag, table),
            "log_likelihood": scored(result.dag, table, "loglik"),
        }

    def cost(self, run: Declared) -> float:
        slow = {"bic-laplace": 3.0, "bic": 1.0, "k2": 1.1}[run["score"]]
        small = 0.5 if run["data"]["name"].startswith("A") else 1.0
        return COSTS.get(run["method"], 0.015) * slow * small

    def outcome(self, records: Records) -> Outcome:
        from bayescout.experiments.lau.outcome import outcome

        return outcome(self, records)


def best_ascent(run: Declared, work: int) -> tuple[Result, Measures]:
    """The best of sixteen first ascents, or of more until `work` operations have been considered.

    As in the genetic algorithm's first generation, one begins unconnected and the others at random graphs.
    """
    table = sets.table_of(run["data"])
    best, operations, ascents = None, 0, 0
    for result in _ascents(run, table):
        ascents += 1
        operations += result.counters.operations
        if best is None or result.score > best.score:
            best = result
        if ascents >= ASCENTS and operations >= work:
            break
    assert best is not None
    return best, facts_of(best) | {"operations": operations, "ascents": ascents}


def _ascents(run: Declared, table: Any) -> Iterator[Result]:
    """An endless sequence of first ascents, each with its own seed."""
    number = 0
    while True:
        start = "random" if number else "empty"
        own = {**run, "search": CLIMB, "start": start, "seed": 1_000_000 * (run["seed"] + 1) + number}
        yield learned(own, data=table)
        number += 1


def _genetic_work(run: Declared) -> int:
    """The operations that genetic-greedy considers on the same data with the same seed."""
    own = {**run, "search": GENETIC["genetic-greedy"]}
    return learned(own, data=sets.table_of(run["data"])).counters.operations
