"""The parameters of a network as tables: one a node, cut where they would be too long for a page."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from bayescout.errors import BayescoutError, BayescoutWarning, GraphError, NetworkError
from bayescout.graph.labels import check_same_nodes, counted
from bayescout.network import DiscreteNetwork, GaussianNetwork
from bayescout.report.wording import probability, short, shown, text
from bayescout.result import Result

MOST_ROWS = 64
"""The most rows of one conditional probability table; `model.cpt(node)` gives all."""

MOST_STATES = 24
MOST_CELLS_IN_ALL = 60_000

Network = DiscreteNetwork | GaussianNetwork


@dataclass(frozen=True)
class NodeParameters:
    """The parameters of a node, as a table or as a regression.

    figures  the positions of the columns that are numbers
    terms    (words, parent, value) of each term of a regression; the parent is empty where it is of none
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    figures: range = range(0)
    note: str = ""
    terms: Sequence[tuple[str, str, str]] = ()


def fitted(result: Result, model: Network | None) -> tuple[Network | None, str]:
    """The network whose parameters are shown, and a sentence on where they come from or why there is none."""
    if model is not None:
        return _checked(result, model), "These are the parameters of the model given to the report."
    if result.table is None:
        return None, (
            "The result was read from a file, without its data, so there is nothing to fit parameters to; "
            "result.report(path, model=bs.fit(result.dag, data)) shows them."
        )
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BayescoutWarning)
            found: Network = result.fit()
    except BayescoutError as error:
        return None, f"No parameters could be fitted: {error}."
    how = "Fitted to the data by maximum likelihood."
    if isinstance(found, DiscreteNetwork) and found.n_undefined:
        how += (
            f" {counted(found.n_undefined, 'row')} marked --- cannot be estimated, as the data never show "
            f'those values of the parents; result.fit(prior="bdeu") fills them in.'
        )
    return found, " ".join([how, *(f"Note: {warning.message}." for warning in caught)])


def _checked(result: Result, model: Network) -> Network:
    """The model, if it is one of the learned graph."""
    if not isinstance(model, (DiscreteNetwork, GaussianNetwork)):
        raise NetworkError(f"model must be a network with parameters, not {type(model).__name__}")
    check_same_nodes(model.nodes, result.dag.nodes, "the model", "the result")
    if model.dag.reordered(result.dag.nodes) != result.dag:
        raise GraphError("the model has other arcs than the result: fit it to result.dag")
    return model


def node_parameters(
    network: Network, nodes: tuple[object, ...], names: tuple[str, ...]
) -> list[NodeParameters]:
    """The parameters of each node, in the order of `nodes`, as far as there is room."""
    if isinstance(network, GaussianNetwork):
        return [_equation(network, node, name) for node, name in zip(nodes, names, strict=True)]
    room = MOST_CELLS_IN_ALL
    found = []
    for node in nodes:
        table = _cpt(network, node, room)
        room -= len(table.rows) * len(table.columns)
        found.append(table)
    return found


def _cpt(network: DiscreteNetwork, node: object, room: int) -> NodeParameters:
    """A conditional probability table, or a note where there is no room for it."""
    cpt = network.cpt(node)
    given = shown(cpt.parents)
    title = short(text(node)) or repr(node)
    title = f"P({title} | {', '.join(given)})" if given else f"P({title})"
    states = shown(cpt.states)[:MOST_STATES]
    columns = [*given, *states]
    n_rows = min(cpt.n_rows, MOST_ROWS)
    call = f"model.cpt({short(repr(node))})"
    if n_rows * len(columns) > room:
        note = f"{cpt.n_rows:,} rows by {len(cpt.states):,} states; the page is full: {call} shows it."
        return NodeParameters(title, note=note)
    rows = []
    for assignment, values in islice(cpt.rows(), n_rows):
        said = ["---"] * len(states) if values is None else [probability(p) for p in values[: len(states)]]
        rows.append([*(short(text(value)) for value in assignment.values()), *said])
    note = ""
    if n_rows < cpt.n_rows or len(states) < len(cpt.states):
        note = (
            f"{n_rows:,} of {cpt.n_rows:,} rows and {len(states)} of {len(cpt.states):,} states are shown; "
            f"{call} has all."
        )
    return NodeParameters(title, columns, rows, range(len(given), len(columns)), note)


def _equation(network: GaussianNetwork, node: object, name: str) -> NodeParameters:
    """Intercept, coefficients and variance of one regression."""
    i = network.dag.index(node)
    parents = shown([network.nodes[p] for p in network.dag.parents[i]])
    weights = network.coefficients[i].tolist()
    terms = [
        ("intercept", "", f"{network.intercepts[i]:.6g}"),
        *(("coefficient of", *pair) for pair in zip(parents, (f"{w:.6g}" for w in weights), strict=True)),
        ("variance of the noise", "", f"{network.variances[i]:.6g}"),
    ]
    return NodeParameters(f"{name}, given its parents", terms=terms)
