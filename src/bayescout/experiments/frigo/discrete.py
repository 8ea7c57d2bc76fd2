"""The chapter on discrete networks: its runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, Any, ClassVar

from bayescout.experiments.frigo.runs import (
    BELIEVED,
    BELIEVING,
    COLLIDER,
    COLLIDER_SCORES,
    DISCRETE_SEARCHES,
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
from bayescout.experiments.frigo.scores import BDEU, DISCRETE_SCORES, FORMULAS, formula_of
from bayescout.experiments.study import Declared, Measures, Settings, Study
from bayescout.experiments.tools import data_of, network_of, search_of
from bayescout.graph.dag import Dag

if TYPE_CHECKING:
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Outcome

BLOCK = 50
"""Data sets of the collider in one run."""


def _learning(score: str) -> dict[str, Any]:
    """How a run learns, as it declares it: the name of the score, its formula, and the searches."""
    return {"score": score, "formula": FORMULAS[score], "searches": DISCRETE_SEARCHES}


@dataclass(frozen=True)
class FrigoDiscrete(Study):
    """I-map against GES on discrete data: the collider, random networks, alarm and insurance.

    sets, collider_rows     data sets of the collider at each sample size
    graphs, nodes, rows     random binary networks of each size at each sample size
    networks, samples, network_rows
                            known networks, the number of samples of each, and their sizes
    """

    name: ClassVar[str] = "frigo-discrete"
    title: ClassVar[str] = "I-map against GES on discrete data"
    source: ClassVar[str] = (
        "Frigo (2009), A Hybrid Approach to Learning Bayesian Networks with Dependency Constraints, chapter 4"
    )
    quick: ClassVar[Settings] = {"sets": 200, "graphs": 6, "samples": 4}
    tiny: ClassVar[Settings] = {
        "sets": 6,
        "collider_rows": (100, 300, 1800),
        "graphs": 2,
        "nodes": (4, 5),
        "rows": (100, 1000),
        "networks": ("asia",),
        "samples": 2,
        "network_rows": (100, 200),
    }

    sets: int = 1000
    collider_rows: tuple[int, ...] = (100, 200, 300, 400, 500, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000)
    graphs: int = 30
    nodes: tuple[int, ...] = (4, 5, 6, 7, 8, 9, 10)
    rows: tuple[int, ...] = ROWS
    networks: tuple[str, ...] = NETWORKS
    samples: int = 30
    network_rows: tuple[int, ...] = NETWORK_ROWS

    def __post_init__(self) -> None:
        require_sizes(self, ("sets", "graphs", "samples"), ("collider_rows", "nodes", "rows", "network_rows"))

    def runs(self) -> Iterable[Declared]:
        return chain(self._collider(), self._random(), self._known())

    def _collider(self) -> Iterator[Declared]:
        blocks = [[first, min(first + BLOCK, self.sets)] for first in range(0, self.sets, BLOCK)]
        for rows, seeds, score in product(self.collider_rows, blocks, COLLIDER_SCORES):
            yield {"part": COLLIDER, "rows": rows, **_learning(score), "seeds": seeds}
        for seeds in blocks:
            own = {**_learning(BDEU), "searches": BELIEVING}
            yield {"part": BELIEVED, "rows": min(self.collider_rows), **own, "seeds": seeds}

    def _random(self) -> Iterator[Declared]:
        for nodes in self.nodes:
            for rows in self.rows:
                data = [random_data("discrete", nodes, rows, seed) for seed in range(self.graphs)]
                for score, one in product(DISCRETE_SCORES, data):
                    yield {"part": RANDOM, "nodes": nodes, "rows": rows, **_learning(score), "data": one}

    def _known(self) -> Iterator[Declared]:
        for network in self.networks:
            for rows in self.network_rows:
                data = [{"network": network, "rows": rows, "seed": seed} for seed in range(self.samples)]
                for score, one in product(COLLIDER_SCORES, data):
                    yield {
                        "part": KNOWN, "network": network, "rows": rows, **_learning(score), "data": one,
                    }  # fmt: skip

    def measure(self, run: Declared) -> Measures:
        if run["part"] in (COLLIDER, BELIEVED):
            return _colliders(run)
        truth, table = network_of(run["data"]), data_of(run["data"])
        found, results = compared(truth, table, run["searches"], run["formula"])
        if run["part"] == RANDOM:
            from bayescout.evaluate import missed_by_graph

            missed = missed_by_graph(truth, results["ges"].dag)
            found["missed"] = {"count": len(missed), "of": missed.asked, "mean": missed.mean}
        return {**found, **rates_of(results["imap"], truth)}

    def cost(self, run: Declared) -> float:
        if run["part"] in (COLLIDER, BELIEVED):
            return 0.005 * float(run["seeds"][1] - run["seeds"][0])
        if run["part"] == RANDOM:
            return 0.01 + 0.0006 * float(run["nodes"]) ** 2
        return 0.5

    def outcome(self, records: Records) -> Outcome:
        from bayescout.experiments.frigo.discrete_outcome import outcome

        return outcome(self, records)


def _colliders(run: Declared) -> Measures:
    """The number of data sets that give a graph with exactly the two edges."""
    from bayescout.learn import learn
    from bayescout.network import random_network

    dag = Dag.from_arcs([("x", "z"), ("y", "z")], nodes=["x", "y", "z"])
    right = dict.fromkeys(run["searches"], 0)
    formula = formula_of(run["formula"])
    for seed in range(*run["seeds"]):
        table = random_network(dag=dag, states=3, seed=seed).sample(run["rows"], seed=seed)
        for name, search in run["searches"].items():
            found = learn(table, search_of(search), formula, workers=1).dag
            right[name] += set(found.skeleton()) == set(dag.skeleton())
    return {"right": right, "sets": run["seeds"][1] - run["seeds"][0]}
