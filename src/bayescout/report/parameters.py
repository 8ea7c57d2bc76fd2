"""The parameters of a network as tables: one a node, cut where they would be too long for a page."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import islice

from bayescout.errors import BayescoutError, BayescoutWarning, GraphError, NetworkError
from bayescout.graph.labels import check_same_nodes, counted
from bayescout.network import Network, Regression
from bayescout.network.node import Parameters
from bayescout.report.markup import Html, grid, join, probability, short, shown, tag, text
from bayescout.result import Result

MOST_ROWS = 64
"""The most rows of one conditional probability table; `model.cpt(node)` gives all."""

MOST_STATES = 24
MOST_CELLS_IN_ALL = 60_000


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
            found = result.fit()
    except BayescoutError as error:
        return None, f"No parameters could be fitted: {error}."
    how = "Fitted to the data by maximum likelihood."
    if found.n_undefined:
        how += (
            f" {counted(found.n_undefined, 'row')} marked --- cannot be estimated, as the data never show "
            f'those values of the parents; result.fit(prior="bdeu") fills them in.'
        )
    return found, " ".join([how, *(f"Note: {warning.message}." for warning in caught)])


def _checked(result: Result, model: Network) -> Network:
    """The model, if it is one of the learned graph."""
    if not isinstance(model, Network):
        raise NetworkError(f"model must be a network with parameters, not {type(model).__name__}")
    check_same_nodes(model.nodes, result.dag.nodes, "the model", "the result")
    if model.dag.reordered(result.dag.nodes) != result.dag:
        raise GraphError("the model has other arcs than the result: fit it to result.dag")
    return model


def parameter_tables(network: Network, nodes: tuple[object, ...], names: tuple[str, ...]) -> list[Html]:
    """One block a node, in the order of `nodes`, with the id that the page's script looks for."""
    room = MOST_CELLS_IN_ALL
    blocks = []
    for i, node in enumerate(nodes):
        found = network.parameters(node)
        if isinstance(found, Regression):
            title, body = f"{names[i]}, given its parents", _regression(found)
        else:
            title, body, cells = _table(found, node, network.dag.parents_of(node), room)
            room -= cells
        blocks.append(tag("details", tag("summary", title), body, id=f"parameters-{i}", class_="parameters"))
    return blocks


def _table(found: Parameters, node: object, parents: Sequence[object], room: int) -> tuple[str, Html, int]:
    """A title, one line per configuration of the parents, and how many cells that takes."""
    given = ", ".join(shown(parents))
    title = short(text(node)) or repr(node)
    title = f"P({title} | {given})" if given else f"P({title})"
    leading, states = found.columns[: found.leading], found.columns[found.leading :]
    heads = shown(states)[:MOST_STATES]
    rows = min(found.n_rows, MOST_ROWS)
    cells = rows * (len(leading) + len(heads))
    call = f"model.cpt({short(repr(node))})"
    if cells > room:
        note = f"{found.n_rows:,} rows by {len(states):,} states; the page is full: {call} shows it."
        return title, tag("p", note, class_="note"), 0
    lines = []
    for line in islice(found.lines(), rows):
        numbers = line[found.leading :][: len(heads)]
        said = ["---" if p is None else probability(p) for p in numbers]
        lines.append([*(short(text(value)) for value in line[: found.leading]), *said])
    parts = [grid([*shown(leading), *heads], lines, numbers=len(heads))]
    if rows < found.n_rows or len(heads) < len(states):
        note = (
            f"{rows:,} of {found.n_rows:,} rows and {len(heads)} of {len(states):,} states are shown; "
            f"{call} has all."
        )
        parts.append(tag("p", note, class_="note"))
    return title, join(parts), cells


def _regression(found: Regression) -> Html:
    """Intercept, coefficients and variance of one regression."""
    rows: list[tuple[object, str]] = [("intercept", f"{found.intercept:.6g}")]
    rows += [
        (join(["coefficient of ", tag("b", parent)]), f"{weight:.6g}")
        for parent, weight in zip(shown(found.parents), found.coefficients, strict=True)
    ]
    rows.append(("variance of the noise", f"{found.variance:.6g}"))
    return grid(["parameter", "value"], rows, numbers=1)
