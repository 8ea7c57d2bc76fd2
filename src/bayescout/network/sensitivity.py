"""Sensitivity of a query to each parameter: derivatives, ranges and the tornado.

When one entry x of a table changes and the other entries of its row change in proportion, so that they still
sum to one, a query is a quotient of two linear functions of x (Castillo et al. 1997, Coupé & van der Gaag
2002):

$$ P(h \\mid e)(x) = \\frac{a x + b}{c x + d} $$

The four numbers of all entries of a table follow from one elimination that leaves the table out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.data.table import Label
from bayescout.display import Grid, Shown, probability_text
from bayescout.errors import SettingError, WrongKindError, printable
from bayescout.network import inference, mixed_inference
from bayescout.network.buckets import eliminate, pose, terms_of
from bayescout.network.elimination import Array
from bayescout.network.headings import Evidence, heading
from bayescout.network.mixed_cells import bearing
from bayescout.network.mixed_problem import Group, Problem, undefined_nodes
from bayescout.network.parts import warn_undefined
from bayescout.network.tabular import Tabular

if TYPE_CHECKING:
    from bayescout.network.network import Network

MOST_SHOWN = 20
"""The most parameters that are shown; the sequence has all."""


@dataclass(frozen=True)
class ParameterSensitivity:
    """The query as a function of one parameter, P(node=state | given).

    value        the parameter in the network
    derivative   of the query by the parameter, there
    low, high    the query at the ends of the parameter's spread
    numbers      (a, b, c, d) of (a x + b) / (c x + d), with c value + d = 1
    """

    node: Label
    state: Label
    given: tuple[tuple[Label, Label], ...]
    value: float
    derivative: float
    low: float
    high: float
    numbers: tuple[float, float, float, float]

    @property
    def name(self) -> str:
        """`P(lung=yes | smoke=no)`."""
        given = ", ".join(f"{parent}={state}" for parent, state in self.given)
        return printable(f"P({self.node}={self.state}{' | ' + given if given else ''})")

    @property
    def swing(self) -> float:
        """The distance of the query between the ends of the parameter's spread."""
        return abs(self.high - self.low)

    def at(self, value: float) -> float:
        """The query if the parameter had this value; NaN if the evidence would be impossible."""
        if not 0 <= value <= 1:
            raise SettingError(f"a parameter is a probability from 0 to 1, not {value!r}")
        return _quotient(self.numbers, value)


def _quotient(numbers: tuple[float, float, float, float], x: float) -> float:
    a, b, c, d = numbers
    below = c * x + d
    return min(1.0, max(0.0, (a * x + b) / below)) if below > 1e-300 else math.nan


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Shown):
    """How a query depends on each parameter, the one that moves it furthest first.

    A sequence of `ParameterSensitivity`; `plot()` draws the tornado.

    probability  the query itself
    spread       the odds of each parameter were divided and multiplied by 1 + spread
    """

    event: Evidence
    probability: float
    spread: float
    found: tuple[ParameterSensitivity, ...]
    evidence: Evidence = ()
    done: Evidence = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[ParameterSensitivity]:
        return iter(self.found)

    def __getitem__(self, position: int) -> ParameterSensitivity:
        return self.found[position]

    @property
    def title(self) -> str:
        """`P(lung=yes | xray=yes)`."""
        return heading(tuple(f"{label}={state}" for label, state in self.event), self.evidence, self.done)

    def plot(self, most: int = MOST_SHOWN) -> Any:
        """A matplotlib figure: one bar per parameter, from the query at its low to that at its high end."""
        from bayescout.plots.figures import plot_tornado

        rows = [(one.name, one.low, one.high) for one in self.found[:most] if one.swing > 0]
        label = f"probability, with the odds of a parameter divided and multiplied by {1 + self.spread:g}"
        return plot_tornado(rows, self.probability, self.title, label)

    def _grid(self) -> Grid:
        shown = self.found[:MOST_SHOWN]
        ends = [end for one in shown for end in (one.low, one.high)]
        least, most = min(ends, default=0.0), max(ends, default=0.0)
        width = (most - least) or 1.0
        rows = tuple(
            (
                one.name,
                probability_text(one.value),
                f"{one.derivative:+.4f}",
                f"{one.low:.4f}",
                f"{one.high:.4f}",
            )
            for one in shown
        )
        bars = tuple(
            ((min(one.low, one.high) - least) / width, (max(one.low, one.high) - least) / width)
            for one in shown
        )
        rest = len(self.found) - len(shown)
        more = (f"and {rest:,} more parameters",) if rest > 0 else ()
        spread = f"low, high: the odds of the parameter divided and multiplied by {1 + self.spread:g}"
        columns = ("parameter", "value", "derivative", "low", "high")
        title = f"{self.title} = {probability_text(self.probability)}, by parameter"
        return Grid(title, columns, rows, 4, bars, (*more, spread, *self.notes))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        names = ("name", "value", "derivative", "low", "high")
        return {"parameter" if n == "name" else n: [getattr(one, n) for one in self.found] for n in names}


def sensitivity(
    network: Network, event: Mapping[int, int], evidence: Mapping[int, Any], spread: float, width: int
) -> Sensitivity:
    """The sensitivity of P(event | evidence) to the tables of the first `width` nodes."""
    if not 0 < spread < math.inf:
        raise SettingError(
            f"spread is a number above 0, as in 0.1 for odds of a tenth more and less, not {spread!r}"
        )
    for node in event:
        label, states = network.nodes[node], network.distributions[node].states
        if states is None:
            raise WrongKindError(
                f"sensitivity is of the probability of states, and {label!r} is continuous; ask for a "
                f"discrete variable, or compare the answers of networks with other parameters"
            )
        if node in evidence:
            raise SettingError(f"{label!r} is asked for and observed; leave it out of one")
    problem = pose(network, event, evidence)
    warn_undefined(network, undefined_nodes(problem), "the answer")
    group, _ = bearing(problem)
    found: list[ParameterSensitivity] = []
    probability = inference_of(network, event, evidence)
    for node in group.tables:
        if node < width and problem.sizes[node] > 1:
            found += _of_table(problem, group, node, event, spread)
    found.sort(key=lambda one: (-_rounded(one.swing), -_rounded(abs(one.derivative))))
    states = tuple((network.nodes[n], _state(network, n, code)) for n, code in event.items())
    notes = () if network.is_discrete else ("of tables; regressions are left out",)
    return Sensitivity(states, probability, spread, tuple(found), notes=notes)


def _rounded(value: float) -> float:
    """The value without the last digits, so that equal effects are in the order of the network."""
    return float(f"{value:.9g}") if math.isfinite(value) else math.inf


def _state(network: Network, node: int, code: int) -> Label:
    states = network.distributions[node].states
    assert states is not None
    return states[code]


def inference_of(network: Network, event: Mapping[int, int], evidence: Mapping[int, Any]) -> float:
    """P(event | evidence), which refuses impossible evidence."""
    find = inference.answer if network.is_discrete else mixed_inference.answer
    found: Any = find(network, tuple(event), evidence)
    return float(found.probabilities[tuple(event.values())])


def _of_table(
    problem: Problem, group: Group, node: int, event: Mapping[int, int], spread: float
) -> Iterator[ParameterSensitivity]:
    """The sensitivity to every entry of one table, in its order; of two states one says all."""
    network = problem.network
    one = network.distributions[node]
    assert isinstance(one, Tabular)
    above, below = _derivatives(problem, group, node, event)
    shape = one.table.shape
    values = one.table.reshape(-1, shape[-1])
    coefficients = _coefficients(values, above.reshape(values.shape), below.reshape(values.shape))
    parents = [network.nodes[p] for p in network.dag.parents[node]]
    states = [network.distributions[p].states or () for p in network.dag.parents[node]]
    shown = values[:, :1] if shape[-1] == 2 else values
    for (row, k), value in np.ndenumerate(shown):
        numbers = tuple(float(part[row, k]) for part in coefficients)
        a, b, c, d = numbers
        low, high = (_quotient((a, b, c, d), end) for end in _ends(float(value), spread))
        where = np.unravel_index(row, shape[:-1]) if parents else ()
        given = tuple((p, own[int(i)]) for p, own, i in zip(parents, states, where, strict=True))
        slope = a * d - b * c
        yield ParameterSensitivity(
            network.nodes[node], one.states[k], given, float(value), slope, low, high, (a, b, c, d)
        )


def _ends(value: float, spread: float) -> tuple[float, float]:
    """The parameter with its odds divided and multiplied by 1 + spread; 0 and 1 stay."""
    factor = 1 + spread
    return value / (value + (1 - value) * factor), value * factor / (value * factor + (1 - value))


def _derivatives(problem: Problem, group: Group, node: int, event: Mapping[int, int]) -> tuple[Array, Array]:
    """P(event, evidence) and P(evidence) by each entry of a table, up to one common factor."""
    family = (*problem.network.dag.parents[node], node)
    free = [v for v in family if v not in problem.fixed]
    keep = sorted({*free, *(v for v in event if v not in problem.fixed)})
    terms = terms_of(problem, group, but=node)
    left = eliminate(problem, terms, keep=keep).left
    sizes = {v: problem.sizes[v] for v in keep}
    logs = left.logs.reshape([sizes[v] if v in left.scope else 1 for v in keep])
    logs = np.broadcast_to(logs, [sizes[v] for v in keep])
    cells = np.exp(logs - logs.max())
    chosen = np.ones(cells.shape)
    for v, code in event.items():
        if v in keep:
            own = np.zeros(sizes[v])
            own[code] = 1.0
            chosen = chosen * own.reshape([-1 if v == w else 1 for w in keep])
        elif int(problem.fixed[v][0]) != code:
            chosen = chosen * 0.0
    others = tuple(i for i, v in enumerate(keep) if v not in free)
    return tuple(  # type: ignore[return-value]
        _embedded(problem, family, [v for v in keep if v in free], part.sum(axis=others))
        for part in (cells * chosen, cells)
    )


def _embedded(problem: Problem, family: Sequence[int], free: Sequence[int], values: Array) -> Array:
    """Values over the free variables of a family, ascending, as a table; zero where evidence is against."""
    found = np.zeros([problem.sizes[v] for v in family])
    where = tuple(slice(None) if v in free else int(problem.fixed[v][0]) for v in family)
    found[where] = values.transpose([free.index(v) for v in family if v in free])
    return found


def _coefficients(values: Array, above: Array, below: Array) -> tuple[Array, Array, Array, Array]:
    """a, b, c, d for every entry; the others of its row change in proportion, or alike if all are 0."""
    whole = float((values * below).sum())
    n, sums = values.shape[1], values.sum(axis=1, keepdims=True)
    found = []
    for part in (above / whole, below / whole):
        rows = (values * part).sum(axis=1, keepdims=True)
        left = sums - values
        proportional = np.divide(rows - values * part, left, out=np.zeros_like(values), where=left > 0)
        alike = (part.sum(axis=1, keepdims=True) - part) / (n - 1)
        others = np.where(left > 0, proportional, alike)
        found += [part - others, rows.sum() - rows + others * sums]
    return found[0], found[1], found[2], found[3]
