"""A result read from a file, with the data that it was learned from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bayescout.completion import completed
from bayescout.data import as_table
from bayescout.data.declared import RawStates
from bayescout.data.encode import column_names
from bayescout.data.reading import ColumnReading, DataReading
from bayescout.data.table import Table
from bayescout.errors import DataError, SettingError, warn
from bayescout.result import Result
from bayescout.result_settings import Settings
from bayescout.scores import Scorer, bind, family_prior
from bayescout.scores.network_score import total
from bayescout.scores.wide_scorer import WideScorer, takes_columns
from bayescout.search.frame.canonical import canonical_order
from bayescout.statistics.alignment import refuse_missing_nodes
from bayescout.statistics.columns import ColumnCovariance

AGREES = 1e-9
"""The largest relative difference of scores of the same rows in another order."""


def with_data(result: Result, data: Any) -> Result:
    """The result with the data attached: read as they were, and checked to be those it was learned from."""
    reading = result.data
    if reading is None or not result.settings.can_be_made:
        raise SettingError(
            "the file does not tell how the data were read, or the score or its prior was one of "
            "your own, which a file cannot keep: learn again, or use fit(data)"
        )
    refuse_missing_nodes(result.dag, column_names(data))
    wide = result.screened is not None
    table, drawn, scorer = evidence_of(_as_read(result, reading, data), result.settings, wide)
    same = table.fingerprint == result.fingerprint
    if not same or drawn is not None:
        found = total(scorer, result.dag.reordered(table.names))
        agrees = abs(found - result.score) <= AGREES * (1 + abs(result.score))
        if same and not agrees:
            warn(
                f"other missing cells were drawn when this was learned, most often as its time was over or "
                f"Ctrl-C was pressed: on those drawn now the score is {found:,.3f}, and it was "
                f"{result.score:,.3f}"
            )
        elif not agrees:
            raise DataError(
                f"these are not the data that the network was learned from: there were {reading.rows:,} rows "
                f"and the score was {result.score:,.3f}, here are {table.n_rows:,} rows and it is "
                f"{found:,.3f}; fit(data) and bayescout.gap(result, data=...) take other data"
            )
    return replace(result, table=table, completed=drawn, scores=scorer)


def evidence_of(table: Table, settings: Settings, wide: bool = False) -> tuple[Table, Table | None, Scorer]:
    """The table as it is scored under these settings, the same with missing cells drawn, and the scorer.

    A `wide` table is one whose search looked at screened pairs.
    """
    table = table.select([table.names[i] for i in canonical_order(table)])
    drawn = None
    if table.has_missing:
        rules = settings.knowledge.compile(table.names)
        drawn = completed(table, rules, settings.seed).table
    scored = table if drawn is None else drawn
    prior = family_prior(settings.made_prior(), table.names, settings.knowledge)
    formula = settings.made_score()
    if wide and takes_columns(scored, formula, prior):
        return table, drawn, WideScorer(formula, ColumnCovariance(scored), prior=prior)
    return table, drawn, bind(formula, scored, prior=prior)


def _as_read(result: Result, reading: DataReading, data: Any) -> Table:
    """The data with the kinds, states and cuts that were found when they were read first."""
    missing = result.settings.missing
    kinds = {one.name: "continuous" for one in reading.columns if one.states is None}
    states = {one.name: _states(one, missing) for one in reading.columns if one.states is not None}
    policy: Any = "keep" if missing == "em" else missing
    columns = [one.name for one in reading.columns]
    return as_table(data, kinds=kinds or None, states=states or None, missing=policy, columns=columns)  # type: ignore[arg-type]


def _states(one: ColumnReading, missing: str) -> Any:
    """The states of a column, without the one that missing cells were given, which they are given again."""
    states = one.states or ()
    if missing == "state" and one.missing:
        states = states[:-1]
    return states if one.cuts is None else RawStates(states, one.cuts)
