"""Common parts of the runs of both studies: data drawn as in the document, and searches measured on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bayescout.checks import generator, require_count
from bayescout.errors import SettingError
from bayescout.experiments.frigo.scores import BDEU, CHICKERING
from bayescout.experiments.study import Declared, Measures

if TYPE_CHECKING:
    from bayescout.data.table import Table
    from bayescout.network import Network
    from bayescout.result import Result

ROWS = (100, 200, 400, 800, 1000, 2000, 4000, 8000)
NETWORKS = ("alarm", "insurance")
NETWORK_ROWS = (500, 1000, 5000)
COLLIDER, BELIEVED, RANDOM, KNOWN = "collider", "believed", "random", "known"
"""Parts of the studies; in `BELIEVED`, the collider is learned with tests that are believed with few rows."""

GES: dict[str, Any] = {"name": "ges", "turning": False, "repeat": False}
"""The document's GES: one growth and one shrink phase, without turning arcs."""

DISCRETE_SEARCHES: dict[str, Any] = {"ges": GES, "imap": "imap"}
GAUSSIAN_SEARCHES: dict[str, Any] = {**DISCRETE_SEARCHES, "imap-pruned": "imap-pruned"}
"""Searches by the names of their measures."""

BELIEVING: dict[str, Any] = {**DISCRETE_SEARCHES, "imap": {"name": "imap", "test": "g2"}}
"""The same, I-map with G², which is believed whatever the counts, as chi-squared is not."""

SEARCH_TITLES = {"ges": "GES", "imap": "I-map", "imap-pruned": "I-map pruned"}
COLLIDER_SCORES = (BDEU, CHICKERING)
"""The document learns the collider, alarm and insurance with BDeu only."""


def random_data(kind: str, nodes: int, rows: int, seed: int) -> dict[str, Any]:
    """Rows of a random network of at most two arcs per node, with parameters drawn uniformly."""
    drawn = {"nodes": nodes, "arcs": drawn_arcs(nodes, seed), "kind": kind, "seed": seed}
    return {"random": drawn, "rows": rows, "seed": seed}


def drawn_arcs(nodes: int, seed: int) -> int:
    """Draw a number of arcs, at most two per node, in proportion to the number of arc sets of that size.

    So every set of forward arcs within the bound is equally likely under its order, and most sizes come close
    to the bound, as with the uniform generator of Tetrad, which the document uses.
    """
    pairs = nodes * (nodes - 1) // 2
    sets = [math.comb(pairs, arcs) for arcs in range(min(2 * nodes, pairs) + 1)]
    sets[0] = 0  # without an arc there is nothing to learn
    place = generator(seed, nodes).random() * sum(sets)
    return next(arcs for arcs, below in enumerate(accumulate(sets)) if below > place)


def require_sizes(study: Any, counts: Iterable[str], lists: Iterable[str]) -> None:
    """Refuse settings that are not valid sizes."""
    for name in counts:
        require_count(name, getattr(study, name), 1)
    for name in lists:
        values = getattr(study, name)
        if (
            not isinstance(values, tuple)
            or not values
            or not all(isinstance(v, int) and v > 2 for v in values)
        ):
            raise SettingError(f"{name} must be whole numbers above 2, not {values!r}")


def compared(
    truth: Network, table: Table, searches: Mapping[str, Any], score: Declared | str
) -> tuple[Measures, dict[str, Result]]:
    """Run each search on the same table: adjacency F, arc ratio, divergence, score; and the results."""
    from bayescout.evaluate import divergence
    from bayescout.experiments.frigo.scores import formula_of
    from bayescout.experiments.tools import search_of
    from bayescout.graph.compare import compare
    from bayescout.learn import learn
    from bayescout.network import fit

    found: Measures = {}
    results = {}
    prior = "laplace" if truth.is_discrete else "mle"
    formula = formula_of(score)
    for name, search in searches.items():
        result = learn(table, search_of(search), formula, workers=1)
        how = compare(result.dag, truth.dag)
        apart = float(divergence(truth, fit(result.dag, table, prior=prior)))
        found[name] = {
            "f": how.adjacency_f1,
            "ratio": result.dag.n_arcs / truth.dag.n_arcs,
            "kld": apart if math.isfinite(apart) else None,
            "score": result.score,
        }
        results[name] = result
    return found, results


def rates_of(result: Result, truth: Network) -> Measures:
    """False discovery and false acceptance rates of a search's tests; None if nothing was found."""
    from bayescout.evaluate import error_rates
    from bayescout.statistics.independence import Question

    made, place = result.dependencies, truth.dag.index
    assert made is not None
    questions = [
        Question(place(one.a), place(one.b), tuple(place(label) for label in one.given))
        for one in made.entries
    ]
    rates = error_rates(questions, made.entries, truth)
    found = rates.true_dependences + rates.false_dependences
    real = rates.true_dependences + rates.false_independences
    return {
        "fdr": rates.false_discovery_rate if found else None,
        "far": rates.false_acceptance_rate if real else None,
        "tested": made.tested,
        "inconclusive": made.inconclusive,
    }
