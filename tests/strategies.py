"""Hypothesis strategies that every folder shares: small tables that can provoke failures.

discrete_data   independent columns of codes; cardinality 1, one row and unused states occur
entangled_data  noisy copies of one column: every arc looks good, so a search is tempted into cycles
tables          discrete, continuous or mixed tables with labels and states of several types, maybe weighted,
                and maybe with missing cells

`examples` says how many of them a test tries that wants more than the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from bayescout.data.table import MissingReport, Table


def examples(most: int) -> int:
    """The examples of a property test: a fifth of these where the slow tests are not run."""
    return most if settings.default.max_examples >= 100 else max(10, most // 5)


def discrete_table(codes: Any, cardinalities: list[int], weights: Any = None) -> Table:
    """A table of columns "x0", "x1", ... with states 0, 1, ... from codes of shape (p, n)."""
    codes = np.ascontiguousarray(codes, dtype=np.uint8)
    names = tuple(f"x{i}" for i in range(len(codes)))
    states = tuple(tuple(range(r)) for r in cardinalities)
    return Table(names, states, codes, np.empty((0, codes.shape[1])), weights)


@st.composite
def discrete_data(
    draw: st.DrawFn, min_columns: int = 2, max_columns: int = 5, max_rows: int = 40, max_states: int = 4
) -> Table:
    """Independent columns; a state may be absent, a column constant, the table one row long."""
    columns = draw(st.integers(min_columns, max_columns))
    rows = draw(st.integers(1, max_rows))
    cardinalities = draw(st.lists(st.integers(1, max_states), min_size=columns, max_size=columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return discrete_table([rng.integers(0, r, rows) for r in cardinalities], cardinalities)


@st.composite
def entangled_data(
    draw: st.DrawFn, min_columns: int = 3, max_columns: int = 6, max_rows: int = 200, states: int = 2
) -> Table:
    """Every column a copy of one hidden column, with some cells drawn anew."""
    columns = draw(st.integers(min_columns, max_columns))
    rows = draw(st.integers(20, max_rows))
    noise = draw(st.floats(0.0, 0.4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    hidden = rng.integers(0, states, rows)
    fresh = rng.integers(0, states, (columns, rows))
    codes = np.where(rng.random((columns, rows)) < noise, fresh, hidden)
    return discrete_table(codes, [states] * columns)


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_TRICKY = st.sampled_from(["1", "07", "+1", "nan", "NA", "true", "True", "1.5", " 1", "", "a,b", '"', "inf"])
_STATES = st.one_of(
    st.lists(_TEXT, min_size=1, max_size=4, unique=True),
    st.lists(_TRICKY, min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=4, unique=True),
    st.permutations([False, True]),
    st.lists(st.tuples(st.integers(0, 3)), min_size=1, max_size=3, unique=True),
)
_LABELS = st.one_of(_TEXT, st.integers(), st.tuples(st.integers(0, 2), _TEXT))
_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tables(
    draw: st.DrawFn,
    labels: st.SearchStrategy[Any] | None = None,
    weighted: bool = True,
    incomplete: bool = False,
) -> Table:
    """Any table: text that looks like numbers, huge integers, odd characters, labels that are not text.

    An `incomplete` one may have missing cells, of whole columns too.
    """
    names = tuple(draw(st.lists(_LABELS if labels is None else labels, min_size=1, max_size=4, unique=True)))
    rows = draw(st.integers(1, 6))
    states: list[tuple[Any, ...] | None] = []
    codes, values = [], []
    for _ in names:
        if draw(st.booleans()):
            of_column = tuple(draw(_STATES))
            states.append(of_column)
            largest = len(of_column) - (not incomplete)
            codes.append(draw(st.lists(st.integers(0, largest), min_size=rows, max_size=rows)))
        else:
            states.append(None)
            numbers = st.one_of(_NUMBERS, st.just(np.nan)) if incomplete else _NUMBERS
            values.append(draw(st.lists(numbers, min_size=rows, max_size=rows)))
    weights = None
    if weighted and draw(st.booleans()):
        weights = np.array(draw(st.lists(st.floats(0.1, 9), min_size=rows, max_size=rows)))
    return Table(
        names,
        tuple(states),
        np.array(codes, dtype=np.uint8).reshape(len(codes), rows),
        np.array(values, dtype=np.float64).reshape(len(values), rows),
        weights,
        MissingReport("keep") if incomplete else MissingReport(),
    )
