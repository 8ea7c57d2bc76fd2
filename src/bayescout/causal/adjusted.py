"""The effect of x on y by adjustment for given variables, from complete rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.causal.effects import Effect
from bayescout.causal.regression import least_squares
from bayescout.causal.strata import numbered, standardised
from bayescout.data.absent import complete_rows
from bayescout.data.table import Table
from bayescout.errors import DataError
from bayescout.graph.labels import Label, quoted

Array = NDArray[np.float64]


def estimated(table: Table, x: Label, y: Label, adjusted: Sequence[Label]) -> Effect:
    """The effect by adjustment for these variables."""
    used, left_out = complete_rows(table, [x, y, *adjusted])
    discrete = {name: used.states[i] is not None for i, name in enumerate(used.names)}
    if discrete[y] and not discrete[x]:
        raise DataError(
            f"{x!r} is a number and {y!r} has states; cut {x!r} into intervals with bayescout.discretise, or "
            f"fit a network and ask model.do(...)"
        )
    shared: dict[str, Any] = {
        "x": x,
        "y": y,
        "adjusted": tuple(adjusted),
        "rows": used.n_rows,
        "left_out": left_out,
    }
    if not discrete[x]:
        return Effect(kind="slope", **_slope(used, x, y, adjusted), **shared)
    shared["x_states"] = tuple(used.states[0] or ())
    if all(discrete[name] for name in adjusted):
        return Effect(**_by_strata(used, x, y, adjusted), **shared)
    if discrete[y]:
        numbers = [name for name in adjusted if not discrete[name]]
        raise DataError(
            f"{y!r} has states, and {quoted(numbers)} to adjust for are numbers; cut them into intervals "
            f"with bayescout.discretise, or name other variables, with adjust=[...]"
        )
    return Effect(kind="means", **_by_regression(used, x, y, adjusted), **shared)


def _weights(table: Table) -> Array:
    return np.ones(table.n_rows) if table.weights is None else np.asarray(table.weights, dtype=np.float64)


def _numbers(table: Table, names: Sequence[Label]) -> list[Array]:
    """The columns of a regression: a number as it is, states as indicators, but for the first that occurs."""
    columns: list[Array] = []
    for name in names:
        states, column = table.states[table.index(name)], table.array(name)
        if states is None:
            columns.append(np.asarray(column, dtype=np.float64))
        else:
            columns += [(column == code).astype(np.float64) for code in np.unique(column)[1:]]
    return columns


def _slope(table: Table, x: Label, y: Label, adjusted: Sequence[Label]) -> dict[str, Any]:
    own = np.asarray(table.array(x), dtype=np.float64)
    others = _numbers(table, adjusted)
    weights = _weights(table)
    centred = [column - np.average(column, weights=weights) for column in (own, *others)]
    design = np.column_stack([centred[0], np.ones(table.n_rows), *centred[1:]])
    fitted = least_squares(design, np.asarray(table.array(y)), weights, 1, repr(x))
    return {"estimates": fitted.coefficients[:1], "covariance": fitted.covariance[:1, :1]}


def _by_regression(table: Table, x: Label, y: Label, adjusted: Sequence[Label]) -> dict[str, Any]:
    """The mean of y for each state of x: a constant per state, and linear terms of the others, centred."""
    codes, states = table.array(x), table.states[table.index(x)] or ()
    weights = _weights(table)
    own = [(codes == code).astype(np.float64) for code in range(len(states))]
    others = [column - np.average(column, weights=weights) for column in _numbers(table, adjusted)]
    absent = [states[code] for code, column in enumerate(own) if not column.any()]
    if absent:
        raise DataError(f"no row has {x!r} = {quoted(absent)}; leave the state out of the data's declaration")
    fitted = least_squares(
        np.column_stack([*own, *others]), np.asarray(table.array(y)), weights, len(own), repr(x)
    )
    k = len(own)
    return {"estimates": fitted.coefficients[:k], "covariance": fitted.covariance[:k, :k]}


def _by_strata(table: Table, x: Label, y: Label, adjusted: Sequence[Label]) -> dict[str, Any]:
    states = table.states[table.index(x)] or ()
    outcome, y_states = _outcome(table, y)
    strata = numbered([table.array(name) for name in adjusted], table.n_rows)
    found = standardised(table.array(x).astype(np.intp), len(states), outcome, strata, _weights(table))
    absent = [states[i] for i, share in enumerate(found.unsupported) if share >= 1]
    if absent:
        raise DataError(f"no row has {x!r} = {quoted(absent)}; leave the state out of the data's declaration")
    is_number = table.states[table.index(y)] is None
    return {
        "kind": "means" if is_number else "probabilities",
        "estimates": found.means[:, 0] if is_number else found.means,
        "covariance": found.covariance,
        "y_states": y_states,
        "unsupported": tuple(found.unsupported.tolist()),
        "few": tuple(found.few.tolist()),
    }


def _outcome(table: Table, y: Label) -> tuple[Array, tuple[Any, ...]]:
    """(n, k) the number of y, or an indicator for each of its states."""
    states, column = table.states[table.index(y)], table.array(y)
    if states is None:
        return np.asarray(column, dtype=np.float64)[:, None], ()
    return (column[:, None] == np.arange(len(states))).astype(np.float64), tuple(states)


def no_effect(table: Table, x: Label, y: Label) -> Effect:
    """No effect, in the form that an effect of these variables would have."""
    used, left_out = complete_rows(table, [x, y])
    weights = _weights(used)
    outcome, y_states = _outcome(used, y)
    shared: dict[str, Any] = {"x": x, "y": y, "adjusted": None, "rows": used.n_rows, "left_out": left_out}
    states = used.states[0]
    if states is None:
        return Effect(kind="slope", estimates=np.zeros(1), covariance=np.zeros((1, 1)), **shared)
    mean = np.average(outcome, axis=0, weights=weights)
    spread = np.cov(outcome.T, aweights=weights, ddof=0).reshape(len(mean), len(mean)) / weights.sum()
    covariance = np.tile(spread, (len(states), len(states)))
    estimates = np.tile(mean, (len(states), 1))
    is_number = not y_states
    return Effect(
        kind="means" if is_number else "probabilities",
        estimates=estimates[:, 0] if is_number else estimates,
        covariance=covariance,
        x_states=tuple(states),
        y_states=y_states,
        **shared,
    )
