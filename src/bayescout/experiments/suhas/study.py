"""The runs of the study: fitness by generation, precision and recall by α, rows, and the extensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from bayescout.checks import require_count
from bayescout.errors import SettingError
from bayescout.experiments.study import Declared, Measures, Settings, Study, grid
from bayescout.experiments.suhas.names import (
    ALPHA,
    ALPHAS,
    BY_ALPHA,
    BY_ROWS,
    EXTENSIONS,
    FIRST_PARENTS,
    FITNESS,
    FORMS,
)
from bayescout.experiments.tools import data_of, facts_of, learned, network_of, scored, search_of
from bayescout.graph.dag import Dag

if TYPE_CHECKING:
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Outcome

ARCS_A_NODE = 1.6
"""The document's network has 5 nodes and 8 arcs; larger ones are as dense."""


@dataclass(frozen=True)
class Suhas(Study):
    """Holland's genetic algorithm: fitness by generation, precision and recall by α, extensions.

    repeats, networks        runs on each network, and random networks of each size
    nodes, rows              sizes of the networks, rows sampled from each
    population, generations  of the genetic algorithm
    many_rows                sample sizes at which the two forms of the fitness are compared
    alphas                   number of values of α, evenly from those of the full study; 0 for all
    """

    name: ClassVar[str] = "suhas"
    title: ClassVar[str] = "A genetic algorithm with a fitness of mutual information"
    source: ClassVar[str] = (
        "Suhas & Sai Praveen (2016), Structure Learning for Bayesian Networks - Evolutionary Approaches"
    )
    quick: ClassVar[Settings] = {"repeats": 10, "networks": 1, "alphas": 5, "many_rows": (1_000, 10_000)}
    tiny: ClassVar[Settings] = {
        "repeats": 2,
        "networks": 1,
        "nodes": (4, 5),
        "rows": 300,
        "population": 10,
        "generations": 6,
        "alphas": 2,
        "many_rows": (100, 300),
    }

    repeats: int = 20
    networks: int = 3
    nodes: tuple[int, ...] = (5, 10, 20)
    rows: int = 10_000
    population: int = 100
    generations: int = 100
    many_rows: tuple[int, ...] = (1_000, 10_000, 100_000)
    alphas: int = 0

    def __post_init__(self) -> None:
        for name in ("repeats", "networks", "rows", "population", "generations"):
            require_count(name, getattr(self, name), 1)
        if not self.nodes or min(self.nodes) < 3:
            raise SettingError(f"nodes must be sizes of at least 3, not {self.nodes!r}")

    def runs(self) -> Iterable[Declared]:
        return chain(self._fitness(), self._by_alpha(), self._by_rows())

    def _data(self, nodes: int, rows: int) -> list[dict[str, Any]]:
        """Rows of the random networks of a size."""
        arcs = round(ARCS_A_NODE * nodes)
        return [
            {"random": {"nodes": nodes, "arcs": arcs, "states": 2, "seed": seed}, "rows": rows, "seed": seed}
            for seed in range(self.networks)
        ]

    def _search(self, nodes: int, order: str, **settings: Any) -> dict[str, Any]:
        """The algorithm; its first generation has at most half of the arcs that the order allows.

        Half is what random bits have. The default, two parents on average, would be full graphs alone where
        five nodes have an order.
        """
        half = (nodes - 1) / (4 if order == "known" else 2)
        sparser = {"mean_parents": half} if half < FIRST_PARENTS else {}
        size = {"population": self.population, "generations": self.generations}
        return {"name": "holland", **size, **sparser, **settings}

    def _fitness(self) -> Iterator[Declared]:
        for nodes in self.nodes:
            for extension, settings in EXTENSIONS.items():
                for order in ("unknown", "known") if extension == "none" else ("unknown",):
                    yield from grid(
                        part=[FITNESS],
                        nodes=[nodes],
                        data=self._data(nodes, self.rows),
                        extension=[extension],
                        search=[self._search(nodes, order, **settings)],
                        score=[{"name": form, "alpha": ALPHA[form]} for form in FORMS],
                        order=[order],
                        seed=range(self.repeats),
                    )

    def _by_alpha(self) -> Iterator[Declared]:
        """Runs by α: both forms on the smallest networks, with and without the order; the first on all."""
        for nodes in self.nodes:
            smallest = nodes == self.nodes[0]
            scores = [
                {"name": form, "alpha": alpha}
                for form in (FORMS if smallest else FORMS[:1])
                for alpha in self.chosen_alphas(form)
            ]
            for order in ("unknown", "known") if smallest else ("unknown",):
                yield from grid(
                    part=[BY_ALPHA],
                    nodes=[nodes],
                    data=self._data(nodes, self.rows),
                    search=[self._search(nodes, order)],
                    score=scores,
                    order=[order],
                    seed=range(self.repeats),
                )

    def _by_rows(self) -> Iterator[Declared]:
        for rows in self.many_rows:
            yield from grid(
                part=[BY_ROWS],
                nodes=[self.nodes[0]],
                data=self._data(self.nodes[0], rows),
                search=[self._search(self.nodes[0], "unknown")],
                score=[{"name": form, "alpha": ALPHA[form]} for form in FORMS],
                order=["unknown"],
                seed=range(self.repeats),
            )

    def chosen_alphas(self, form: str) -> tuple[float, ...]:
        """All values of α, or some from the lowest to the highest."""
        values = ALPHAS[form]
        count = min(self.alphas or len(values), len(values))
        if count == 1:
            return values[:1]
        return tuple(values[round(i * (len(values) - 1) / (count - 1))] for i in range(count))

    def measure(self, run: Declared) -> Measures:
        from bayescout.experiments.suhas.population import Watched, arc_rates

        truth = network_of(run["data"]).dag
        table = data_of(run["data"])
        own = dict(run)
        if run["order"] == "known":
            own["knowledge"] = {"order": [*truth.order()]}
        search = Watched(search_of(run["search"]))
        columns = ("best_in_population", "mean", "size") if run["part"] == FITNESS else ()
        result = learned(own, search=search, data=table)
        return {
            **facts_of(result, trace=columns),
            **arc_rates(search, result, truth),
            "reference": scored(truth, table, run["score"]),
            "unconnected": scored(Dag.empty(truth.nodes), table, run["score"]),
        }

    def cost(self, run: Declared) -> float:
        work = self.population * self.generations / 10_000
        grown = 1.0 if run.get("extension") in (None, "none", "time to live") else 1.6
        dense = 1.5 if run["score"]["name"] == "mi-normalised" and run["nodes"] >= 15 else 1.0
        return float(0.003 + 0.011 * work * run["nodes"] * grown * dense)

    def outcome(self, records: Records) -> Outcome:
        from bayescout.experiments.suhas.outcome import outcome

        return outcome(self, records)
