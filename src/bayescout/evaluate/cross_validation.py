"""k-fold cross-validation of structure learning by held-out log-likelihood."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator, require_count
from bayescout.data.table import Table
from bayescout.display import ShownText
from bayescout.errors import DataError
from bayescout.evaluate.json_values import json_label, json_value
from bayescout.evaluate.resampling import check_options, for_many_runs, learned, spread, table_of
from bayescout.evaluate.unseen import (
    HeldOut,
    check_prior,
    default_prior,
    fitted_and_held_out,
    mean_and_error,
)
from bayescout.graph.dag import Dag

if TYPE_CHECKING:
    from bayescout.scores import ScoreLike
    from bayescout.search import Search


@dataclass(frozen=True)
class Fold:
    """One fold: the graph learned without it, its score in training, and the fold's log-likelihood."""

    dag: Dag
    score: float
    held_out: HeldOut

    def to_dict(self) -> dict[str, Any]:
        arcs = [[json_label(parent), json_label(child)] for parent, child in self.dag.arcs()]
        return {"score": json_value(self.score), "arcs": arcs, "held_out": self.held_out.to_dict()}


@dataclass(frozen=True, repr=False)
class CrossValidation(ShownText):
    """Held-out log-likelihood of every fold, in nats; `float()` gives the mean per row.

    `assignment` holds for each row (of weight above zero) the number of its fold, from 0.
    """

    folds: tuple[Fold, ...]
    assignment: NDArray[np.int64]
    seed: int

    def __len__(self) -> int:
        return len(self.folds)

    def __iter__(self) -> Iterator[Fold]:
        return iter(self.folds)

    @property
    def total(self) -> float:
        """The held-out log-likelihood of all rows, each once; minus infinity if any is impossible."""
        totals = [fold.held_out.total for fold in self.folds]
        return math.fsum(totals) if all(map(math.isfinite, totals)) else -math.inf

    @property
    def mean(self) -> float:
        """The mean held-out log-likelihood per row."""
        return self.total / math.fsum(fold.held_out.weight for fold in self.folds)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean, from the spread of the folds' means; infinite if one of them is."""
        return mean_and_error([fold.held_out.mean for fold in self.folds])[1]

    @property
    def graphs(self) -> tuple[Dag, ...]:
        """The graph learned without each fold."""
        return tuple(fold.dag for fold in self.folds)

    @property
    def n_unseen(self) -> int:
        return sum(fold.held_out.n_unseen for fold in self.folds)

    @property
    def impossible_rows(self) -> int:
        return sum(fold.held_out.impossible_rows for fold in self.folds)

    def __float__(self) -> float:
        return self.mean

    def to_dict(self) -> dict[str, Any]:
        """The values for JSON; an infinite number is null."""
        return {
            "mean": json_value(self.mean),
            "standard_error": json_value(self.standard_error),
            "total": json_value(self.total),
            "n_unseen": self.n_unseen,
            "impossible_rows": self.impossible_rows,
            "seed": self.seed,
            "folds": [fold.to_dict() for fold in self.folds],
        }

    def __str__(self) -> str:
        lines = [
            f"{len(self)}-fold cross-validation: {self.mean:.4f} ± {self.standard_error:.4f} nats a row",
            "  fold   rows   arcs   nats a row   unseen   impossible",
        ]
        for number, fold in enumerate(self.folds):
            kept = fold.held_out
            lines.append(
                f"  {number:>4}  {kept.rows:>5}  {fold.dag.n_arcs:>5}  {kept.mean:>11.4f}  {kept.n_unseen:>7}"
                f"  {kept.impossible_rows:>11}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<CrossValidation: {len(self)} folds, {self.mean:.4f} ± {self.standard_error:.4f} nats a row>"


def cross_validate(
    data: Any,
    search: str | Search = "auto",
    score: ScoreLike | None = "auto",
    folds: int = 10,
    seed: int = 0,
    prior: str | None = None,
    workers: int | None = None,
    progress: bool = False,
    **options: Any,
) -> CrossValidation:
    """Learn without each fold in turn, and measure the log-likelihood of the fold.

    The rows are shuffled by `seed` and divided into folds whose sizes differ by at most one. On the other
    folds a graph is learned with `search` and `score` (and `seed`; further options are those of `learn`),
    its parameters are fitted with `prior` as in `held_out`, and the fold's rows are scored. `workers`
    processes share the work; their number does not affect the answer.
    """
    check_options(score, options)
    folds = require_count("folds", folds, 2)
    table = table_of(data, options)
    if table.n_rows < folds:
        raise DataError(
            f"{folds} folds need at least {folds} rows (of weight above zero), and the data have "
            f"{table.n_rows}; ask for fewer folds"
        )
    prior = prior or default_prior(table)
    check_prior(prior, table)
    assignment = assigned(table.n_rows, folds, seed)
    settings = {**options, "search": for_many_runs(search), "score": score}

    def one(table: Table, number: int) -> Fold:
        return _fold(table, assignment == number, number, seed, prior, settings)

    found = spread(one, table, folds, workers, progress, "folds")
    assignment.flags.writeable = False
    return CrossValidation(tuple(found), assignment, seed)


def assigned(rows: int, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row: shuffled rows are assigned to the folds in turn."""
    numbers = np.empty(rows, dtype=np.int64)
    numbers[generator(seed).permutation(rows)] = np.arange(rows) % folds
    return numbers


def _fold(
    table: Table, out: NDArray[np.bool_], number: int, seed: int, prior: str, settings: dict[str, Any]
) -> Fold:
    train, test = table.take(~out), table.take(out)
    result = learned(train, seed, settings, f"without fold {number}")
    found = fitted_and_held_out(result.dag, train, test, prior, warn=False)
    return Fold(result.dag, result.score, found)
