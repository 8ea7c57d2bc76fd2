"""The runs of the study: networks learned over orders, a hundred kept per run, measured on new rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from bayescout.checks import require_count
from bayescout.errors import SettingError
from bayescout.experiments.maua.names import CLIMBING, HANDCRAFTED, INSERTION, RESTARTS, SAMPLING
from bayescout.experiments.study import Declared, Measures, Settings, Study, grid
from bayescout.experiments.tools import data_of, file_data, learned, network_of, scored, structure_of
from bayescout.graph.compare import compare
from bayescout.graph.dag import Dag

if TYPE_CHECKING:
    from bayescout.data.table import Table
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Outcome

TRAIN_SEED, TEST_SEED = 0, 1
COSTS = {SAMPLING: 0.0025, CLIMBING: 0.02, RESTARTS: 0.012, INSERTION: 1.7}
"""CPU seconds on alarm with 10,000 rows: per order, per climb, per restart, per restart."""

NETWORKS_A_CLIMB = {CLIMBING: 4, INSERTION: 15}
"""Approximate number of networks per climb, for approaches that may find fewer than are kept."""

HELD_OUT_COST = 0.018
"""CPU seconds to measure one network of alarm on 10,000 rows, with both kinds of parameters."""


@dataclass(frozen=True)
class Maua(Study):
    """Order sampling, order climbing and restarts: their 100 best networks on unseen data.

    networks           shipped networks that stand for the handcrafted one
    rows, test_rows    of the training sets, and of the test set
    repeats            runs of every approach
    top                networks kept per run
    orders, restarts   random orders drawn; restarts of a climb
    insertions         restarts of a climb in which a node may move to any place (ours)
    train, test        your own data files instead; handcrafted: a structure or network to compare with
    """

    name: ClassVar[str] = "maua"
    title: ClassVar[str] = "Networks learned over orders, on unseen data"
    source: ClassVar[str] = "Mauá (2015), Bayesian Networks, MAC-5789 Laboratório de IA"
    quick: ClassVar[Settings] = {"repeats": 4, "orders": 500, "restarts": 100, "insertions": 2}
    tiny: ClassVar[Settings] = {
        "networks": ("asia",), "rows": (50, 200), "test_rows": 300, "repeats": 2, "top": 8, "orders": 12,
        "restarts": 4, "insertions": 1,
    }  # fmt: skip

    networks: tuple[str, ...] = ("insurance", "alarm")
    rows: tuple[int, ...] = (1_000, 10_000)
    test_rows: int = 10_000
    repeats: int = 10
    top: int = 100
    orders: int = 2_000
    restarts: int = 500
    insertions: int = 10
    train: str = ""
    test: str = ""
    handcrafted: str = ""

    def __post_init__(self) -> None:
        for name in ("test_rows", "repeats", "top", "orders", "restarts", "insertions"):
            require_count(name, getattr(self, name), 1)
        for name in ("networks", "rows"):
            if not isinstance(getattr(self, name), tuple) or not getattr(self, name):
                raise SettingError(f"{name} must be a list, not {getattr(self, name)!r}")
        if bool(self.train) != bool(self.test):
            raise SettingError("give both train and test, the files to learn from and to test on, or neither")
        if self.handcrafted and not self.train:
            raise SettingError("handcrafted goes with train and test; without them name shipped networks")

    def sets(self) -> Iterator[dict[str, Any]]:
        """The data sets: a training set, its test set, and the handcrafted network."""
        if self.train:
            train, test = file_data(self.train), file_data(self.test)
            yield {"name": self.train, "train": train, "test": test, "handcrafted": self.handcrafted or None}
            return
        for name in self.networks:
            for rows in self.rows:
                train = {"network": name, "rows": rows, "seed": TRAIN_SEED}
                test = {"network": name, "rows": self.test_rows, "seed": TEST_SEED}
                yield {"name": name, "train": train, "test": test, "handcrafted": name}

    def searches(self) -> dict[str, dict[str, Any]]:
        return {
            SAMPLING: {"name": "order-sample", "orders": self.orders},
            CLIMBING: {"name": "order-climb"},
            RESTARTS: {"name": "order-climb", "restarts": self.restarts},
            INSERTION: {"name": "order-climb", "insertion": True, "restarts": self.insertions},
        }

    def runs(self) -> Iterable[Declared]:
        for data in self.sets():
            if data["handcrafted"]:
                yield {"data": data, "approach": HANDCRAFTED}
            for approach, search in self.searches().items():
                yield from grid(
                    data=[data], approach=[approach], search=[search], score=["bic"], top=[self.top],
                    seed=range(self.repeats),
                )  # fmt: skip

    def measure(self, run: Declared) -> Measures:
        data = run["data"]
        train, test = data_of(data["train"]), data_of(data["test"])
        truth = handcrafted_dag(data)
        if run["approach"] == HANDCRAFTED:
            assert truth is not None
            own = own_parameters(data, test)
            return on_unseen([(scored(truth, train, "bic"), truth)], train, test, truth) | {"own": own}
        result = learned(run, data=train)
        found = on_unseen([(one.score, one.dag) for one in result.top], train, test, truth)
        return found | {"orders": result.trace[-1].facts["tried"], "evaluations": result.counters.evaluations}

    def cost(self, run: Declared) -> float:
        if run["approach"] == HANDCRAFTED:
            return 0.1
        search = run["search"]
        times = search.get("orders") or search.get("restarts", 0) + 1
        kept = min(run["top"], NETWORKS_A_CLIMB.get(run["approach"], run["top"]) * times)
        train = run["data"]["train"]
        size = (_nodes_of(train["network"]) / 37 if "network" in train else 1.0) ** 1.5
        few = 0.7 if train.get("rows", 10_000) < 3_000 else 1.0
        return float((COSTS[run["approach"]] * times + HELD_OUT_COST * kept) * size * few)

    def outcome(self, records: Records) -> Outcome:
        from bayescout.experiments.maua.outcome import outcome

        return outcome(self, records)


@lru_cache(maxsize=16)
def _nodes_of(network: str) -> int:
    return len(network_of({"network": network}).dag)


def handcrafted_dag(data: Declared) -> Dag | None:
    """The graph to compare with: of the network that rows come from, or of the declared file."""
    return structure_of(data, "handcrafted") if data["handcrafted"] else None


def own_parameters(data: Declared, test: Table) -> float | None:
    """The test log-likelihood of the network that the rows come from, with its own parameters."""
    from bayescout.evaluate import held_out

    if "network" not in data["train"]:
        return None
    return held_out(network_of(data, "handcrafted"), None, test).total


def on_unseen(found: list[tuple[float, Dag]], train: Table, test: Table, truth: Dag | None) -> Measures:
    """Training score and test measures of networks, the best first.

    test        test log-likelihood, parameters with Laplace's correction: always finite
    test_ml     the document's: by maximum likelihood, over the rows that are then possible
    impossible  test rows that are then impossible
    unseen      test rows in which parents have values never seen in training
    distance    pairs that differ from the handcrafted network's equivalence class
    """
    from bayescout.evaluate import held_out

    measures: Measures = {name: [] for name in ("train", "test", "test_ml", "impossible", "unseen", "arcs")}
    measures["distance"] = []
    for score, dag in found:
        with warnings.catch_warnings():
            # Rows that are impossible by maximum likelihood are counted here, and need no warning.
            warnings.simplefilter("ignore")
            likely = held_out(dag, train, test, prior="mle")
        corrected = held_out(dag, train, test, prior="laplace")
        measures["train"].append(score)
        measures["test"].append(corrected.total)
        measures["test_ml"].append(likely.finite_total)
        measures["impossible"].append(likely.impossible_rows)
        measures["unseen"].append(corrected.unseen_rows)
        measures["arcs"].append(dag.n_arcs)
        measures["distance"].append(None if truth is None else compare(dag, truth).shd_cpdag)
    measures["classes"] = len({dag.cpdag() for _, dag in found})
    measures["test_rows"] = test.n_rows
    return measures
