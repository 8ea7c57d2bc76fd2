"""The parameters of a network as tables: one per node, cut if they would be too long for a page."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from bayescout.errors import BayescoutError, BayescoutWarning, GraphError, NetworkError
from bayescout.graph.labels import check_same_nodes, counted
from bayescout.network import Network, Regression, Regressions
from bayescout.network.fit import LEARNED_PRIOR
from bayescout.network.node import Parameters
from bayescout.report.wording import probability, short, shown, text
from bayescout.result import Result

MOST_ROWS = 64
"""The most rows of one conditional probability table; `model.cpt(node)` gives all."""

MOST_STATES = 24
MOST_CELLS_IN_ALL = 60_000


@dataclass(frozen=True)
class NodeParameters:
    """The parameters of a node, as a table or as a regression.

    figures  the positions of the columns that are numbers
    terms    (words, parent, value) of each term of a regression; the parent is empty if there is none
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    figures: range = range(0)
    note: str = ""
    terms: Sequence[tuple[str, str, str]] = ()


def fitted(result: Result, model: Network | None) -> tuple[Network | None, str]:
    """The network whose parameters are shown, and a sentence on their source or on why there is none."""
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
            found = result.fit()
    except BayescoutError as error:
        return None, f"No parameters could be fitted: {error}."
    return found, " ".join([_how(found), *(f"Note: {warning.message}." for warning in caught)])


def _how(found: Network) -> str:
    """How the parameters of `result.fit()` come from the data."""
    tables = sum(node.states is not None for node in found.distributions)
    how = "Regressions are fitted to the data by least squares." if tables < len(found.nodes) else ""
    if tables:
        how = (
            f"Probabilities are the shares of the rows, with one row more spread evenly over each table (the "
            f"prior {LEARNED_PRIOR}), so that nothing is impossible because the data never showed it; "
            f'result.fit(prior="mle") gives the shares alone. {how}'
        )
    if found.n_undefined:
        how += (
            f" {counted(found.n_undefined, 'regression')} marked --- cannot be estimated, as the data never "
            f"show those values of the parents; the regression over all rows is used there."
        )
    return how.strip()


def _checked(result: Result, model: Network) -> Network:
    """The model, if its graph is the learned one."""
    if not isinstance(model, Network):
        raise NetworkError(f"model must be a network with parameters, not {type(model).__name__}")
    check_same_nodes(model.nodes, result.dag.nodes, "the model", "the result")
    if model.dag.reordered(result.dag.nodes) != result.dag:
        raise GraphError("the model has other arcs than the result: fit it to result.dag")
    return model


def node_parameters(
    network: Network, nodes: tuple[object, ...], names: tuple[str, ...]
) -> list[NodeParameters]:
    """The parameters of each node, in the order of `nodes`, as far as there is room."""
    room, made = MOST_CELLS_IN_ALL, []
    for node, name in zip(nodes, names, strict=True):
        found = network.parameters(node)
        if isinstance(found, Regression):
            made.append(_equation(found, name))
            continue
        table = _table(found, node, network.dag.parents_of(node), room)
        room -= len(table.rows) * len(table.columns)
        made.append(table)
    return made


def _table(found: Parameters, node: object, parents: Sequence[object], room: int) -> NodeParameters:
    """One line per configuration of the parents, or a note if there is no room for them."""
    given = shown(parents)
    title = short(text(node)) or repr(node)
    title = f"P({title} | {', '.join(given)})" if given else f"P({title})"
    leading, states = found.columns[: found.leading], found.columns[found.leading :]
    is_table = not isinstance(found, Regressions)
    what = "states" if is_table else "numbers"
    if not is_table:
        own = short(text(node)) or repr(node)
        title = f"{own}, one regression per configuration of {', '.join(shown(leading))}"
    heads = shown(states)[:MOST_STATES]
    columns = [*shown(leading), *heads]
    n_rows = min(found.n_rows, MOST_ROWS)
    call = f"model.{'cpt' if is_table else 'parameters'}({short(repr(node))})"
    if n_rows * len(columns) > room:
        note = f"{found.n_rows:,} rows by {len(states):,} {what}; the page is full: {call} shows it."
        return NodeParameters(title, note=note)
    rows = []
    for line in islice(found.lines(), n_rows):
        numbers = line[found.leading :][: len(heads)]
        said = ["---" if p is None else probability(p) if is_table else f"{p:.6g}" for p in numbers]
        rows.append([*(short(text(value)) for value in line[: found.leading]), *said])
    note = ""
    if n_rows < found.n_rows or len(heads) < len(states):
        note = (
            f"{n_rows:,} of {found.n_rows:,} rows and {len(heads)} of {len(states):,} {what} are shown; "
            f"{call} has all."
        )
    return NodeParameters(title, columns, rows, range(len(leading), len(columns)), note)


def _equation(found: Regression, name: str) -> NodeParameters:
    """Intercept, coefficients and variance of one regression."""
    terms = [
        ("intercept", "", f"{found.intercept:.6g}"),
        *(
            ("coefficient of", parent, f"{weight:.6g}")
            for parent, weight in zip(shown(found.parents), found.coefficients, strict=True)
        ),
        ("variance of the noise", "", f"{found.variance:.6g}"),
    ]
    return NodeParameters(f"{name}, given its parents", terms=terms)
