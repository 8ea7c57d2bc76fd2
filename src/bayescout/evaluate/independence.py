"""One question to the data: is x independent of y, given some others?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bayescout.data import as_table
from bayescout.data.absent import complete_rows
from bayescout.data.acting import refuse_interventions
from bayescout.data.table import Table
from bayescout.display import ShownText
from bayescout.errors import SettingError, printable
from bayescout.evaluate.json_values import json_label, json_value
from bayescout.graph.labels import Label
from bayescout.statistics.independence import Answer, Question, independence_tests

ANSWERS: dict[Answer, str] = {
    "dependent": "dependent",
    "independent": "independence is not rejected",
    "inconclusive": "too few rows to tell",
}


@dataclass(frozen=True, repr=False)
class IndependenceTest(ShownText):
    """A test of x against y given others, from data.

    statistic   of the test: G² or X², z for "fisher-z", twice the log-likelihood ratio for "dg"
    degrees     of freedom
    p_value     the probability of a statistic at least as large under independence
    answer      "dependent" if p_value is at most `alpha`, else "independent", or "inconclusive" if there are
                too few rows for the test to be reliable
    rows        rows counted; `left_out` have an empty cell among these columns
    """

    x: Label
    y: Label
    given: tuple[Label, ...]
    test: str
    statistic: float
    degrees: float
    p_value: float
    answer: Answer
    alpha: float
    rows: int
    left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The values for JSON."""
        return {
            "x": json_label(self.x),
            "y": json_label(self.y),
            "given": [json_label(label) for label in self.given],
            "test": self.test,
            "statistic": json_value(self.statistic),
            "degrees": self.degrees,
            "p_value": self.p_value,
            "answer": self.answer,
            "alpha": self.alpha,
            "rows": self.rows,
            "left_out": self.left_out,
        }

    def __str__(self) -> str:
        given = f" given {', '.join(map(str, self.given))}" if self.given else ""
        unit = "degree" if self.degrees == 1 else "degrees"
        degrees = f" on {self.degrees:,.0f} {unit} of freedom" if self.test != "fisher-z" else ""
        rows = f"{self.rows:,} rows" + (f", {self.left_out:,} incomplete left out" if self.left_out else "")
        return printable(
            f"{self.x} and {self.y}{given}: {self.test} = {self.statistic:.6g}{degrees}, "
            f"p = {self.p_value:.4g}; {ANSWERS[self.answer]} at {self.alpha:g} ({rows})"
        )


def independence_test(
    data: Any,
    x: Label,
    y: Label,
    given: Label | Iterable[Label] = (),
    test: str | None = None,
    alpha: float = 0.05,
) -> IndependenceTest:
    """Test whether x and y are independent given other columns.

    test  "g2", the likelihood-ratio test, or "chi2", Pearson's, for categories; "fisher-z", of the partial
          correlation, for numbers; "dg", the likelihood ratio of the degenerate Gaussian model, for columns
          of both kinds. By default the first that fits the columns asked about.

    Rows with an empty cell in one of these columns are left out, and counted in `left_out`. An answer of
    "independent" is no proof: independence was not rejected.
    """
    table = as_table(data, missing="keep")
    refuse_interventions(table, "a test of independence", "table.observational() are the other rows")
    columns = _columns(table, x, y, given)
    used, left_out = complete_rows(table, columns)
    tests = independence_tests(used, test, alpha)
    found = tests.one(Question(0, 1, tuple(range(2, len(columns)))))
    return IndependenceTest(
        x=columns[0],
        y=columns[1],
        given=tuple(columns[2:]),
        test=tests.name,
        statistic=found.statistic,
        degrees=found.degrees,
        p_value=found.p_value,
        answer=found.answer,
        alpha=alpha,
        rows=used.n_rows,
        left_out=left_out,
    )


def _columns(table: Table, x: Label, y: Label, given: Label | Iterable[Label]) -> list[Label]:
    """The names of the columns asked about: x, y, and those given, each once."""
    names = [x, y, *dict.fromkeys(_as_labels(table, given))]
    for name in names:
        table.index(name)
    for name in names:
        if names.count(name) > 1:
            raise SettingError(
                f"x, y and the given columns are different columns, and {name!r} is named twice"
            )
    return names


def _as_labels(table: Table, given: Label | Iterable[Label]) -> list[Label]:
    """One label, or the labels of a collection; a label may itself be a tuple."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        return [given]
    if isinstance(given, tuple) and given in table.names:
        return [given]
    return list(given)
