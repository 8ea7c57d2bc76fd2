"""The score of a whole network: the sum of its local scores, also by component."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from bayescout.arrays import Floats
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.display import Grid, Shown
from bayescout.graph.accept import as_dag
from bayescout.graph.dag import Dag
from bayescout.scores import Formula, PriorLike, ScoreLike, Scorer, bind, family_prior, formula_named
from bayescout.scores.family_prior import Believing, FamilyPrior
from bayescout.scores.interventional import InterventionalScorer
from bayescout.scores.likelihood import LogLikelihood
from bayescout.scores.table_scorer import TableScorer
from bayescout.scores.wide_scorer import WideScorer, takes_columns
from bayescout.statistics.alignment import aligned_table, needed_names
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.engine import Statistics

MOST_MATRIX = 500
"""With more columns of numbers a graph is scored without the matrix of their correlations."""


@dataclass(frozen=True)
class NodeScore:
    """One node's part: its score and the components of that, in nats.

    `log_prior` is the structure prior's part of the score: zero if it is uniform. `penalty` is
    log-likelihood and log prior less score: the score's penalty for complexity. It is None for a score that
    is not on the scale of the log-likelihood (an entropy, a mutual information).
    """

    node: Hashable
    parents: tuple[Hashable, ...]
    score: float
    log_likelihood: float
    penalty: float | None
    parameters: float
    log_prior: float = 0.0


@dataclass(frozen=True, repr=False)
class ScoreParts(Shown):
    """A network's score, log-likelihood, penalty, log prior and free parameters, in total and per node."""

    score_name: str
    score: float
    log_likelihood: float
    penalty: float | None
    parameters: float
    rows: float
    nodes: tuple[NodeScore, ...]
    log_prior: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def _grid(self) -> Grid:
        figures = ("score", "log_likelihood", "penalty", "log_prior", "parameters")
        rows = [
            (
                str(one.node),
                ", ".join(map(str, one.parents)),
                *(_figure(getattr(one, name)) for name in figures),
            )
            for one in self.nodes
        ]
        total = ("in all", "", *(_figure(getattr(self, name)) for name in figures))
        heads = ("node", "parents", "score", "log-likelihood", "penalty", "log prior", "parameters")
        title = f"{self.score_name} of {self.rows:,.6g} rows: {self.score:,.3f}"
        return Grid(title, heads, (*rows, total), len(figures))

    def _columns(self) -> dict[Hashable, list[Any]]:
        names = [one.name for one in fields(NodeScore)]
        found: dict[Hashable, list[Any]] = {
            name: [getattr(one, name) for one in self.nodes] for name in names
        }
        return found | {"parents": [", ".join(map(str, one.parents)) for one in self.nodes]}


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3f}"


def _listed(one: NodeScore) -> str:
    return ", ".join(map(str, one.parents))


def total(scorer: Scorer, dag: Dag) -> float:
    """The sum of the local scores of a graph whose nodes are the scorer's variables, in order."""
    return float(np.sum(scorer.many(list(enumerate(dag.parents)))))


def score(
    structure: Any,
    data: Any,
    score: ScoreLike = "bic",
    structure_prior: PriorLike | None = None,
    knowledge: Believing | None = None,
    **table_options: Any,
) -> float:
    """The score of a graph (or of the graph of a network) on data, in nats; larger is better.

    `structure` is a `Dag`, anything with a `.dag`, or a graph in another form (see `as_dag`); arcs and
    matrices are over the columns of the data. If it also has states (a network), they are the declared
    states of the data, so that a state absent from this sample still counts. A structure prior, and the
    beliefs of the knowledge, are added as in `learn`. Further arguments are those of `as_table`.
    """
    dag, table = aligned(structure, data, **table_options)
    return total(_bound(score, table, family_prior(structure_prior, table.names, knowledge)), dag)


def _bound(score: ScoreLike, table: Table, prior: FamilyPrior | None) -> Scorer:
    """The scorer of a table: of many numbers from their columns, which gives the same without a matrix."""
    formula = formula_named(score) if isinstance(score, str) else score
    held = not isinstance(table, StoredTable)
    if held and table.n_columns > MOST_MATRIX and takes_columns(table, formula, prior):
        return WideScorer(formula, ColumnCovariance(table), prior=prior)
    return bind(score, table, prior=prior)


def _measuring(bound: Scorer, table: Table) -> Statistics:
    """The statistics from which log-likelihood and parameters are told: of the score's model, if mixed."""
    if isinstance(bound, TableScorer) and bound.statistics.kind in ("mixed", "degenerate"):
        return bound.statistics
    if isinstance(bound, WideScorer):
        return bound.statistics
    return LogLikelihood().statistics(table)


def _measured(bound: Scorer, table: Table, dag: Dag) -> tuple[Floats, Floats]:
    """The log-likelihood and the number of parameters of each family."""
    families = list(enumerate(dag.parents))
    if not isinstance(bound, InterventionalScorer):
        found = _measuring(bound, table).many(families)
        return found.log_likelihoods(), found.parameters()
    likelihoods, parameters = np.zeros(len(dag)), np.zeros(len(dag))
    for child, own in families:
        rows, part = table.unset(table.names[child]), bound.part(child)
        found = _measuring(part or bound, rows or table).many([(child, own)])
        likelihoods[child] = 0.0 if rows is None else found.log_likelihoods()[0]
        parameters[child] = found.parameters()[0]
    return likelihoods, parameters


def score_parts(
    structure: Any,
    data: Any,
    score: ScoreLike = "bic",
    structure_prior: PriorLike | None = None,
    knowledge: Believing | None = None,
    **table_options: Any,
) -> ScoreParts:
    """As `score`, with log-likelihood, penalty, log prior and free parameters, per node and in total."""
    dag, table = aligned(structure, data, **table_options)
    bound = _bound(score, table, family_prior(structure_prior, table.names, knowledge))
    families = list(enumerate(dag.parents))
    scores, priors = bound.many(families), bound.log_priors(families)
    formula = getattr(bound, "formula", None)
    likelihoods, parameters = _measured(bound, table, dag)
    on_scale = isinstance(formula, Formula) and formula.likelihood_scale
    nodes = tuple(
        NodeScore(
            dag.nodes[i],
            tuple(dag.nodes[p] for p in dag.parents[i]),
            float(scores[i]),
            float(likelihoods[i]),
            float(likelihoods[i] - (scores[i] - priors[i])) if on_scale else None,
            float(parameters[i]),
            float(priors[i]),
        )
        for i in range(len(dag))
    )
    return ScoreParts(
        score_name=score if isinstance(score, str) else repr(score),
        score=float(scores.sum()),
        log_likelihood=float(likelihoods.sum()),
        penalty=float(np.sum(likelihoods - (scores - priors))) if on_scale else None,
        parameters=float(parameters.sum()),
        rows=table.total_weight,
        nodes=nodes,
        log_prior=float(priors.sum()),
    )


def aligned(structure: Any, data: Any, **table_options: Any) -> tuple[Dag, Table]:
    """The graph, and the data with exactly its nodes as columns, in its order."""
    dag = as_dag(structure, needed_names(structure, data))
    return dag, aligned_table(dag, data, **_with_states(structure, dag, table_options))


def _with_states(structure: Any, dag: Dag, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the table, with the states that a network declares."""
    nodes = getattr(structure, "distributions", None)
    if nodes is None or options.get("states") is not None:
        return dict(options)
    known = {label: node.declared for label, node in zip(dag.nodes, nodes, strict=True)}
    states = {label: own for label, own in known.items() if own is not None}
    kinds = {label: "continuous" for label, own in known.items() if own is None}
    more = {"kinds": kinds} if kinds and states and options.get("kinds") is None else {}
    return {**options, **more, "states": states or None}
