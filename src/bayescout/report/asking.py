"""What a page needs to answer questions by itself: the tables or regressions of a small enough network."""

from __future__ import annotations

import warnings
from typing import Any

from bayescout.errors import BayescoutWarning
from bayescout.graph.dag import Dag
from bayescout.network import Network, Tabular
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.ordering import greedy, weight
from bayescout.report.wording import shown

MOST_CELLS = 30_000
"""The most cells of all tables of a network that is put into a page."""

MOST_ENTRIES = 400_000
"""The most entries of all tables of one answer: some hundredths of a second in a browser."""

MOST_NUMBERS = 400
"""The most nodes of a network of regressions that is put into a page."""

MOST_FOR_BASE = 20_000_000
"""The most entries for the probabilities as learned, which are worked out when the page is written."""


def model_data(network: Network, dag: Dag) -> dict[str, Any] | None:
    """The states, parents and tables of a network, in the order of the nodes of `dag`.

    Of a network of regressions: parents and [intercept, coefficients, variance]. Without tables, but with
    the marginals, where the page could not answer in time; None for networks of both kinds of nodes, and for
    those whose marginals take too long as well.
    """
    if len(dag) and network.is_gaussian:
        return regressions(network, dag) if len(dag) <= MOST_NUMBERS else None
    nodes = [network.distributions[network.dag.index(label)] for label in dag.nodes]
    if not nodes or not all(isinstance(node, Tabular) for node in nodes):
        return None
    tables = [node for node in nodes if isinstance(node, Tabular)]
    states = [shown(node.states) for node in tables]
    sizes = [len(own) for own in states]
    place = [dag.index(label) for label in network.nodes]
    parents = [[place[p] for p in network.dag.parents[network.dag.index(label)]] for label in dag.nodes]
    scopes = [(*own, node) for node, own in enumerate(parents)]
    entries = greedy(scopes, sizes, (), weight).total
    told = {"states": states, "uniform": network.n_undefined}
    if entries <= MOST_ENTRIES and sum(node.table.size for node in tables) <= MOST_CELLS:
        return told | {"parents": parents, "tables": [node.table.ravel().tolist() for node in tables]}
    if entries > MOST_FOR_BASE:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)  # the page says how many rows count as uniform
        found = network.marginals(exact=True)
    return told | {"base": [[float(p) for _, p in found[label].rows()] for label in dag.nodes]}


def regressions(network: Network, dag: Dag) -> dict[str, Any]:
    """The parents and the regression of each node, in the order of the nodes of `dag`."""
    place = [dag.index(label) for label in network.nodes]
    parents: list[list[int]] = []
    found: list[list[Any]] = []
    for label in dag.nodes:
        own = network.dag.index(label)
        node = network.distributions[own]
        assert isinstance(node, LinearGaussian)
        parents.append([place[p] for p in network.dag.parents[own]])
        found.append([node.intercept, node.coefficients.tolist(), node.variance])
    return {"parents": parents, "regressions": found, "uniform": 0}
