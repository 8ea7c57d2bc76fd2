"""The runs of the study: three population searches and the K2 algorithm, with and without an order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from typing import TYPE_CHECKING, Any, ClassVar

from bayescout.checks import require_count
from bayescout.errors import SettingError
from bayescout.experiments.blanco.names import (
    ALGORITHMS,
    APART,
    APART_RUNS,
    CORRECTED,
    CORRECTIONS,
    COUNTED,
    DOCUMENT,
    FITTED,
    GRID_RUNS,
    HALF,
    K2,
    LN10,
    ORDERS,
    SAMPLES,
    SCORES,
    SPARSE,
    SPARSE_PARENTS,
    UNBOUNDED,
    VARIANTS,
    WEAK,
)
from bayescout.experiments.blanco.printed import SCORES as PRINTED
from bayescout.experiments.study import Declared, Measures, Settings, Study, grid
from bayescout.experiments.tools import data_of, facts_of, learned, network_of, scored
from bayescout.graph.compare import compare

if TYPE_CHECKING:
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Outcome
    from bayescout.result import Result

COSTS = {
    "given": {"GA": 3.7, "UMDA": 2.7, "PBIL": 5.0},
    "none": {"GA": 3.7, "UMDA": 2.3, "PBIL": 4.5},
}
COST_OF_SCORE = {"bic-printed": 0.8, "bic": 1.0, "k2": 1.4, "entropy": 1.2}
"""CPU seconds of a run on alarm with 10,000 rows and ten individuals per variable."""

SLOWER = {0.0: 1.0, 0.05: 1.8, 0.1: 2.2, 0.25: 3.0, 0.5: 4.0, 1.0: 8.0}
"""How many times longer a run takes with a correction."""

SEED = 0
"""Seed of the rows: one data set per network, as in the document."""


@dataclass(frozen=True)
class Blanco(Study):
    """UMDA, PBIL, a genetic algorithm and K2 with and without an order: asia, alarm, water.

    networks     shipped networks (or files) that rows are sampled from
    rows         sampled from each
    repeats      runs of every combination
    individuals  size of the populations, and number of random orders of K2, for each variable
    """

    name: ClassVar[str] = "blanco"
    title: ClassVar[str] = "Estimation of distribution algorithms against a genetic algorithm"
    source: ClassVar[str] = (
        "Blanco, Inza & Larrañaga (2003), Learning Bayesian Networks in the Space of Structures by "
        "Estimation of Distribution Algorithms"
    )
    quick: ClassVar[Settings] = {"networks": ("asia", "alarm"), "repeats": 4, "individuals": 2}
    tiny: ClassVar[Settings] = {"networks": ("asia", "cancer"), "repeats": 2, "rows": 300, "individuals": 2}

    networks: tuple[str, ...] = ("asia", "alarm", "water")
    rows: int = 10_000
    repeats: int = 10
    individuals: int = 10

    def __post_init__(self) -> None:
        for name in ("rows", "repeats", "individuals"):
            require_count(name, getattr(self, name), 1)
        if not isinstance(self.networks, tuple) or not self.networks:
            raise SettingError(f"networks must be a list of networks, not {self.networks!r}")

    def runs(self) -> Iterable[Declared]:
        return chain.from_iterable(self._on(network) for network in self.networks)

    def _on(self, network: str) -> Iterator[Declared]:
        yield from self._as_described(network)
        yield from self._corrected(network)
        yield from self._apart(network)
        yield from self._other_densities(network)
        yield from self._other_samples(network)
        yield {
            **self._common(network, UNBOUNDED, "entropy", "given"),
            "score": "entropy", "max_parents": None, "algorithm": K2, "search": "k2", "seed": 0,
        }  # fmt: skip

    def _common(self, network: str, settings: str, by: str, order: str) -> dict[str, Any]:
        nodes, most = shape_of(network)
        return {
            "data": {"network": network, "rows": self.rows, "seed": SEED},
            "nodes": nodes,
            "settings": settings,
            "order": order,
            "by": by,
            "score": score_declared(by, self.rows),
            "max_parents": most if by == "entropy" else None,
        }

    def _searches(self, common: Declared, algorithm: str, runs: int, **own: Any) -> Iterator[Declared]:
        """Runs of a population search with some settings changed."""
        population = self.individuals * common["nodes"]
        search = {"name": ALGORITHMS[algorithm], "population": population, **own}
        yield from grid(**_single(common), algorithm=[algorithm], search=[search], seed=range(runs))

    def _as_described(self, network: str) -> Iterator[Declared]:
        """The document's tables, with its settings."""
        for by, order in product(SCORES, ORDERS):
            common = self._common(network, DOCUMENT, by, order)
            for algorithm in ALGORITHMS:
                yield from self._searches(common, algorithm, self.repeats)
            yield {**common, "algorithm": K2, "search": self._k2(order, common["nodes"]), "seed": 0}

    def _corrected(self, network: str) -> Iterator[Declared]:
        """UMDA with a correction: a small grid, and the one that fits for the whole of the tables."""
        for by, order in product(PRINTED, ORDERS):
            common = self._common(network, CORRECTED, by, order)
            for correction in CORRECTIONS:
                runs = min(GRID_RUNS, self.repeats) if by in COUNTED else 0
                runs = self.repeats if correction == FITTED else runs
                yield from self._searches(common, "UMDA", runs, correction=correction)

    def _apart(self, network: str) -> Iterator[Declared]:
        """Settings changed one at a time, and together, with K2."""
        for order in ORDERS:
            for algorithm, variants in VARIANTS.items():
                for variant, own in variants.items():
                    common = {**self._common(network, APART, "k2", order), "variant": variant}
                    yield from self._searches(common, algorithm, min(APART_RUNS, self.repeats), **own)

    def _other_densities(self, network: str) -> Iterator[Declared]:
        """The GA with the order from a sparse and from a half-full first generation."""
        runs = min(GRID_RUNS, self.repeats)
        half = (shape_of(network)[0] - 1) / 4
        for settings, parents in ((SPARSE, SPARSE_PARENTS), (HALF, half)):
            common = self._common(network, settings, "k2", "given")
            yield from self._searches(common, "GA", runs, mean_parents=parents)

    def _other_samples(self, network: str) -> Iterator[Declared]:
        """The K2 algorithm with the order on other rows of the network that has the weak arc."""
        for by, seed in product(COUNTED, range(1, 2 * self.repeats + 1) if network == WEAK[0] else ()):
            common = self._common(network, SAMPLES, by, "given")
            yield {
                **common,
                "data": {**common["data"], "seed": seed},
                "algorithm": K2,
                "search": "k2",
                "seed": 0,
            }

    def _k2(self, order: str, nodes: int) -> str | dict[str, Any]:
        return "k2" if order == "given" else {"name": "k2-random", "orders": self.individuals * nodes}

    def measure(self, run: Declared) -> Measures:
        truth = network_of(run["data"]).dag
        knowledge: dict[str, Any] = {}
        if run["order"] == "given":
            knowledge["order"] = [*truth.order()]
        if run["max_parents"] is not None:
            knowledge["max_parents"] = run["max_parents"]
        result = learned({**run, "knowledge": knowledge})
        against = compare(result.dag, truth)
        return {
            **facts_of(result),
            **course(result, run),
            "hamming": against.hamming,
            "missing": against.n_missing,
            "extra": against.n_extra,
            "reversed": against.n_reversed,
            "shd_cpdag": against.shd_cpdag,
            "reference": scored(truth, data_of(run["data"]), run["score"]),
        }

    def cost(self, run: Declared) -> float:
        size = run["nodes"] / 37
        if run["algorithm"] == K2:
            orders = 1 if run["order"] == "given" else self.individuals * run["nodes"]
            return float(0.01 + 0.005 * orders * size**2 + (run["settings"] == UNBOUNDED) * size**3)
        grown = (self.individuals / 10) ** 1.1
        if run["settings"] == HALF:
            return float(0.01 + 20.0 * grown * size**3)
        work = COSTS[run["order"]][run["algorithm"]] * COST_OF_SCORE[run["by"]]
        own = run["search"]
        work *= SLOWER[own.get("correction", 0.0)] * (1.0 + 0.15 * own.get("patience", 0))
        return float(0.01 + work * grown * size**2.8)

    def outcome(self, records: Records) -> Outcome:
        from bayescout.experiments.blanco.outcome import outcome

        return outcome(self, records)


def _single(values: Declared) -> dict[str, list[Any]]:
    return {name: [value] for name, value in values.items()}


def score_declared(by: str, rows: int) -> str | dict[str, Any]:
    """A score as runs declare it.

    The document's printed BIC has the log-likelihood in base 10 and a charge of ½ log2 N per parameter:
    this reproduces its figures for the generating networks, which no single base does.
    """
    return {"name": "penalised", "charge": 0.5 * math.log2(rows) * LN10} if by == "bic-printed" else by


@lru_cache(maxsize=16)
def shape_of(network: str) -> tuple[int, int]:
    """The number of nodes of a network, and the most parents that one of them has."""
    dag = network_of({"network": network}).dag
    return len(dag), max(map(len, dag.parents))


def course(result: Result, run: Declared) -> Measures:
    """The best score after each generation that raised it, by networks evaluated; for K2, every order's."""
    steps = result.trace
    if run["algorithm"] == K2:
        random = run["order"] == "none"
        return {"orders": [step.score for step in steps[1:]] if random else [result.score]}
    rises = [i for i, step in enumerate(steps) if i == 0 or step.best > steps[i - 1].best]
    rises += [] if rises[-1] == len(steps) - 1 else [len(steps) - 1]
    return {
        "course": {"networks": [steps[i].operations for i in rises], "best": [steps[i].best for i in rises]}
    }
