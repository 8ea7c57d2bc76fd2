"""What a table holds, as numbers: equal where the content is equal, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.kernels import content
from tests.reference.kernels import both, column_contents, row_contents, sum_xlogx


@st.composite
def cell_arrays(draw, n, kind):
    """Few distinct cells, so that rows and columns are equal now and then; there may be no column."""
    few = [0, 1, 2] if kind != np.uint64 else [0, 1, 2**63, 2**64 - 1]
    column = st.lists(st.sampled_from(few), min_size=n, max_size=n)
    cells = np.array(draw(st.lists(column, max_size=4)), dtype=kind).reshape(-1, n)
    colours = draw(st.lists(st.sampled_from([0, 1, 2**64 - 1]), min_size=len(cells), max_size=len(cells)))
    return cells, np.array(colours, dtype=np.uint64)


def weights_for(draw, n):
    """Whole weights, some of them 0, or none at all."""
    drawn = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return np.array([] if drawn is None else drawn, dtype=np.int64)


def assert_same_partition(numbers, contents):
    """Equal numbers where, and only where, the contents are equal."""
    assert len(set(numbers)) == len(set(contents)) == len(set(zip(numbers, contents, strict=True)))


@given(data=st.data())
def test_rows_and_columns_are_marked_alike_where_their_content_is(data):
    n = data.draw(st.integers(1, 5))
    parts = [data.draw(cell_arrays(n, kind)) for kind in (np.uint8, np.uint16, np.uint64)]
    rows = np.zeros(n, dtype=np.uint64)
    for cells, colours in parts:
        both(content, "mark_rows", cells, colours, rows)
    contents = row_contents(parts)
    assert_same_partition(rows.tolist(), contents)
    weights = weights_for(data.draw, n)
    counted = weights.tolist() or [1] * n
    for cells, colours in parts:
        out = np.full(len(cells), 7, dtype=np.uint64)
        both(content, "mark_columns", cells, colours, weights, rows, out)
        assert_same_partition(out.tolist(), column_contents(cells, colours, counted, contents))
        often = np.full(len(cells), 7, dtype=np.uint64)
        none = np.empty(0, dtype=np.int64)
        content.mark_columns(
            np.repeat(cells, counted, axis=1), colours, none, np.repeat(rows, counted), often
        )
        assert often.tolist() == out.tolist()  # a row that weighs w is as w rows


def test_the_marks_are_those_of_split_mix():
    """The first number of Steele, Lea & Flood's generator from the seed 0."""
    for cell, colour in ((1, 0), (0, 0x9E3779B97F4A7C15)):
        rows = np.zeros(1, dtype=np.uint64)
        both(
            content,
            "mark_rows",
            np.array([[cell]], dtype=np.uint8),
            np.array([colour], dtype=np.uint64),
            rows,
        )
        assert rows.tolist() == [0xE220A8397B1DCDAF]


def test_marks_are_added_to_what_the_rows_have():
    rows = np.array([5], dtype=np.uint64)
    both(content, "mark_rows", np.array([[1], [1]], dtype=np.uint8), np.zeros(2, dtype=np.uint64), rows)
    assert rows.tolist() == [(5 + 2 * 0xE220A8397B1DCDAF) % 2**64]


@given(data=st.data())
def test_spreads_are_the_sums_of_n_log_n(data):
    n = data.draw(st.integers(1, 30))
    cards = np.array(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)), dtype=np.int64)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    codes = np.array([rng.integers(0, r, n) for r in cards]).astype(np.uint8)
    weights = weights_for(data.draw, n)
    unit = data.draw(st.sampled_from([1.0, 2.0**-20]))
    out = np.full(len(cards), -7, dtype=np.int64)
    both(content, "column_spreads", codes, cards, weights, unit, out)
    for cells, r, found in zip(codes.tolist(), cards.tolist(), out.tolist(), strict=True):
        expected = sum_xlogx(cells, weights.tolist() or [1] * n, unit)
        assert found == pytest.approx(expected * 2**20, abs=r / 2 + 1e-6)
