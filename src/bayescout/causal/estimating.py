"""Estimates of effects: from data and a graph, a class of graphs, or graphs of resampled rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.causal.adjusted import estimated, no_effect
from bayescout.causal.adjustment import adjustment_sets, as_graph
from bayescout.causal.effects import AveragedEffect, Effect, PossibleEffects
from bayescout.causal.possible import representatives
from bayescout.checks import require_count
from bayescout.data import as_table
from bayescout.data.table import Table
from bayescout.errors import BayescoutWarning, DataError, GraphError, SettingError, warn
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, quoted
from bayescout.graph.pdag import Pdag

if TYPE_CHECKING:
    from bayescout.result import Result

Array = NDArray[np.float64]


def effect(
    graph: Any,
    data: Any,
    x: Label,
    y: Label,
    adjust: Iterable[Label] | None = None,
    latent: Label | Iterable[Label] = (),
    bootstrap: int = 0,
    seed: int = 0,
    workers: int | None = None,
) -> Any:
    """The effect of acting on x upon y, estimated from data in which nobody acted.

    graph      a DAG or a network: one `Effect`. A class of DAGs, or a result, of which the class is taken:
               an `Effect` if all its DAGs agree on the parents of x, else `PossibleEffects`, one for each way
               in which the open edges at x can point (IDA)
    adjust     the variables to adjust for; by default the set with the most precise estimate
    latent     variables of the graph that were not measured
    bootstrap  how many times to draw the rows again and learn a graph from them, with the settings of the
               result: an `AveragedEffect`, whose interval holds the uncertainty about the graph too

    Numbers: the slope of a linear regression on x and what is adjusted for. A discrete x: the probabilities
    of the states of y, or its mean, for each state of x, by strata of discrete variables or a regression.
    Strata in which a state of x never occurs support nothing: they are left out, with a warning.
    """
    if bootstrap:
        if adjust is not None:
            raise SettingError("adjust is for one DAG; with bootstrap each graph has a set of its own")
        runs = require_count("bootstrap", bootstrap, 2)
        return _averaged(graph, data, x, y, latent, runs, seed, workers)
    table = as_table(data, missing="keep")
    structure = as_graph(graph)
    _check_ends(structure, table, x, y)
    if isinstance(structure, Dag):
        return _in_dag(structure, table, x, y, adjust, latent, say=True)
    if adjust is not None:
        raise SettingError("adjust is for a DAG; in a class each of its DAGs has a set of its own")
    found = _possible(structure, table, x, y, latent)
    return found[0] if len(found) == 1 else PossibleEffects(x, y, tuple(found))


def _undisturbed(table: Table, x: Label) -> Table:
    """The rows in which nothing was set from outside, but for x: acting on others changes what x does."""
    if table.interventions is None:
        return table
    kept = table.interventions.within((x,))
    if not kept.any():
        raise DataError(
            f"every row has a variable other than {x!r} set from outside, and tells nothing about acting on "
            f"{x!r} alone; add rows without"
        )
    return table if kept.all() else table.take(kept)


def _check_ends(graph: Dag | Pdag, table: Table, x: Label, y: Label) -> None:
    for label in (x, y):
        graph.index(label)
        table.index(label)
    if x == y:
        raise GraphError(f"the effect of {x!r} on itself is no question; name two variables")


def _in_dag(dag: Dag, table: Table, x: Label, y: Label, adjust: Any, latent: Any, say: bool) -> Effect:
    sets = adjustment_sets(dag, x, y, latent)  # refuses a pair without a causal path
    if adjust is not None:
        chosen = [dag.nodes[v] for v in dag.indices(adjust)]
        if not sets.is_valid(chosen):
            raise GraphError(
                f"adjusting for {quoted(chosen) or 'nothing'} does not show the effect of {x!r} on {y!r} in "
                f"this graph; {_instead(sets)}"
            )
    else:
        best = sets.optimal if sets.optimal is not None else next(iter(sets), None)
        if best is None:
            raise GraphError(f"no set of variables shows the effect of {x!r} on {y!r}; {_instead(sets)}")
        chosen = list(best)
    found = estimated(_undisturbed(table, x), x, y, chosen)
    if say:
        _warn_of_support(found)
    return found


def _instead(sets: Any) -> str:
    if sets.exists:
        return f"{quoted(list(sets.minimal[0])) or 'the empty set'} would do"
    if sets.front_door:
        return f"{quoted(list(sets.front_door[0]))} is a front door to it"
    if sets.instruments:
        return f"{sets.instruments[0]} is an instrument for it"
    return "measure a variable that is latent, or act"


def _possible(graph: Pdag, table: Table, x: Label, y: Label, latent: Any) -> list[Effect]:
    """One effect for each set of parents that x can have."""
    if not graph.is_narrowed_class():
        raise GraphError("a partially directed graph must be a class of DAGs: use dag.cpdag(), or a DAG")
    found: dict[tuple[Label, ...] | None, Effect] = {}
    for dag in representatives(graph, graph.index(x)):
        one = (
            _in_dag(dag, table, x, y, None, latent, say=False)
            if dag.has_path(x, y)
            else no_effect(table, x, y)
        )
        found.setdefault(one.adjusted, one)
    for one in found.values():
        _warn_of_support(one)
    return list(found.values())


def _averaged(
    graph: Any, data: Any, x: Label, y: Label, latent: Any, runs: int, seed: int, workers: int | None
) -> AveragedEffect:
    from bayescout.checks import generator
    from bayescout.evaluate.bootstrapping import resampled
    from bayescout.evaluate.resampling import learned, spread, table_of
    from bayescout.result import Result

    if not isinstance(graph, Result):
        raise SettingError(
            "bootstrap learns graphs anew with the settings of a result; give the result of learn, or leave "
            "bootstrap out"
        )
    table = table_of(data, {})
    _check_ends(graph.dag, table, x, y)
    options = _settings(graph)
    size = max(1, round(table.total_weight))

    def one(table: Table, run: int) -> list[Effect]:
        rng = generator(seed, run)
        drawn = resampled(table, size, rng)
        result = learned(drawn, int(rng.integers(2**32)), options, f"resample {run} of {runs}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayescoutWarning)
            return _possible(result.cpdag, drawn, x, y, latent)

    return averaged(spread(one, table, runs, workers, False, "runs"))


def _settings(result: Result) -> dict[str, Any]:
    """The settings of a result as arguments of `learn`, for many runs."""
    from bayescout.evaluate.resampling import for_many_runs

    settings = result.settings
    if not settings.can_be_made:
        raise SettingError("the score or prior of the result is your own and cannot be made again by name")
    search: Any = settings.search
    if search != "auto":
        from bayescout.search import search_named

        search = search_named(search, **settings.search_settings)
    return {
        "search": for_many_runs(search),
        "score": settings.made_score(),
        "structure_prior": settings.made_prior(),
        "knowledge": settings.knowledge,
        "missing": settings.missing,
    }


def averaged(by_run: Sequence[Sequence[Effect]], level: float = 0.95) -> AveragedEffect:
    """The mean over runs, and weighted quantiles of all effects: those of a run share its weight."""
    first = by_run[0][0]
    weights = np.array([1 / len(run) / len(by_run) for run in by_run for _ in run])
    values = np.array([one.estimates for run in by_run for one in run])
    exists = np.array([not one.is_zero for run in by_run for one in run])
    low, high = (_quantile(values, weights, q) for q in ((1 - level) / 2, (1 + level) / 2))
    return AveragedEffect(
        x=first.x,
        y=first.y,
        kind=first.kind,
        estimates=np.tensordot(weights, values, axes=1),
        low=low,
        high=high,
        level=level,
        share=float(weights @ exists),
        runs=len(by_run),
        x_states=first.x_states,
        y_states=first.y_states,
    )


def _quantile(values: Array, weights: Array, q: float) -> Array:
    """The least value, number by number, up to which the weights reach q."""
    order = np.argsort(values, axis=0, kind="stable")
    reached = np.cumsum(weights[order], axis=0)
    place = np.argmax(reached >= q - 1e-12, axis=0)
    found: Array = np.take_along_axis(np.take_along_axis(values, order, axis=0), place[None], axis=0)[0]
    return found


def _warn_of_support(found: Effect) -> None:
    lacking = [state for state, share in zip(found.x_states, found.unsupported, strict=False) if share > 0]
    if lacking:
        worst = max(found.unsupported)
        warn(
            f"{found.x!r} = {quoted(lacking)} never occurs in strata with up to {worst:.1%} of the rows; "
            f"they support nothing and are left out: adjust for fewer variables, or merge states"
        )
