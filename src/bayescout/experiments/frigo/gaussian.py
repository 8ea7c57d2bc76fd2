"""The chapter on continuous networks: its runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, Any, ClassVar

from bayescout.experiments.frigo.runs import (
    GAUSSIAN_SEARCHES,
    KNOWN,
    NETWORK_ROWS,
    NETWORKS,
    RANDOM,
    ROWS,
    compared,
    random_data,
    rates_of,
    require_sizes,
)
from bayescout.experiments.frigo.scores import FORMULAS, GAUSSIAN_SCORES
from bayescout.experiments.study import Declared, Measures, Settings, Study
from bayescout.experiments.tools import data_of, network_of

if TYPE_CHECKING:
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Outcome


def _learning(score: str) -> dict[str, Any]:
    """How a run learns, as it declares it: the name of the score, its formula, and the searches."""
    return {"score": score, "formula": FORMULAS[score], "searches": GAUSSIAN_SEARCHES}


@dataclass(frozen=True)
class FrigoGaussian(Study):
    """I-map and its pruned variant against GES on linear-Gaussian data.

    graphs, nodes, rows     random linear models of each size at each sample size
    networks, samples, network_rows
                            known graphs, the number of models on each, and the sizes of their samples
    """

    name: ClassVar[str] = "frigo-gaussian"
    title: ClassVar[str] = "I-map against GES on linear-Gaussian data"
    source: ClassVar[str] = (
        "Frigo (2009), A Hybrid Approach to Learning Bayesian Networks with Dependency Constraints, chapter 5"
    )
    quick: ClassVar[Settings] = {"graphs": 4, "nodes": (4, 5, 6, 7, 8, 9, 12, 16, 20), "samples": 4}
    tiny: ClassVar[Settings] = {
        "graphs": 2,
        "nodes": (4, 9),
        "rows": (100, 1000),
        "networks": ("asia",),
        "samples": 2,
        "network_rows": (100, 200),
    }

    graphs: int = 30
    nodes: tuple[int, ...] = tuple(range(4, 21))
    rows: tuple[int, ...] = ROWS
    networks: tuple[str, ...] = NETWORKS
    samples: int = 30
    network_rows: tuple[int, ...] = NETWORK_ROWS

    def __post_init__(self) -> None:
        require_sizes(self, ("graphs", "samples"), ("nodes", "rows", "network_rows"))

    def runs(self) -> Iterable[Declared]:
        return chain(self._random(), self._known())

    def _random(self) -> Iterator[Declared]:
        for nodes in self.nodes:
            for rows in self.rows:
                data = [random_data("gaussian", nodes, rows, seed) for seed in range(self.graphs)]
                for score, one in product(GAUSSIAN_SCORES, data):
                    yield {"part": RANDOM, "nodes": nodes, "rows": rows, **_learning(score), "data": one}

    def _known(self) -> Iterator[Declared]:
        for network in self.networks:
            for rows in self.network_rows:
                for score, seed in product(GAUSSIAN_SCORES, range(self.samples)):
                    yield {
                        "part": KNOWN, "network": network, "rows": rows, **_learning(score), "seed": seed,
                    }  # fmt: skip

    def measure(self, run: Declared) -> Measures:
        truth, table = _drawn(run)
        found, results = compared(truth, table, run["searches"], run["formula"])
        return {**found, **rates_of(results["imap"], truth)}

    def cost(self, run: Declared) -> float:
        if run["part"] == RANDOM:
            return 0.02 + 5e-5 * float(run["nodes"]) ** 3
        return 4.0 if run["network"] == "alarm" else 2.0

    def outcome(self, records: Records) -> Outcome:
        from bayescout.experiments.frigo.gaussian_outcome import outcome

        return outcome(self, records)


def _drawn(run: Declared) -> tuple[Any, Any]:
    """The network and the rows of a run; a known graph gets new coefficients for each seed."""
    if run["part"] == RANDOM:
        return network_of(run["data"]), data_of(run["data"])
    from bayescout.network import random_network

    dag = network_of({"network": run["network"]}).dag
    truth = random_network(dag=dag, kind="gaussian", seed=run["seed"])
    return truth, truth.sample(run["rows"], seed=run["seed"])
