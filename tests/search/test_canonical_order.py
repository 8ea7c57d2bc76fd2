"""The order of the columns comes from what they hold: of one kind or both, with missing cells or without."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.data import MissingReport, Table, as_table
from bayescout.search.frame import canonical
from bayescout.search.frame.canonical import canonical_order, canonical_table
from tests.strategies import tables

FEW = st.sampled_from([0.0, -0.0, 1.0, 5e-324, np.nan])


@st.composite
def tied_tables(draw):
    """Few values in few columns, so that spreads and whole columns tie; 5e-324 has the bits of the code 1."""
    p, n = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    kinds = draw(st.lists(st.booleans(), min_size=p, max_size=p))
    some = [draw(st.lists(FEW if kind else st.integers(0, 2), min_size=n, max_size=n)) for kind in kinds]
    weights = draw(st.none() | st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n, max_size=n))
    return Table(
        tuple(f"v{i}" for i in range(p)),
        tuple(None if kind else ("a", "b") for kind in kinds),
        np.array([c for c, kind in zip(some, kinds, strict=True) if not kind], np.uint8).reshape(-1, n),
        np.array([c for c, kind in zip(some, kinds, strict=True) if kind], np.float64).reshape(-1, n),
        None if weights is None else np.array(weights),
        MissingReport("keep"),
    )


def rows_in_order(table):
    """The rows of the table with its columns in canonical order, each with its weight, as a multiset."""
    names = [table.names[i] for i in canonical_order(table)]
    cells = [table.array(name).tolist() for name in names]
    weights = [1.0] * table.n_rows if table.weights is None else table.weights.tolist()
    kinds = [table.kinds[table.index(name)] for name in names]
    return kinds, Counter(map(repr, zip(*cells, weights, strict=True)))


def renamed(table, names):
    return Table(tuple(names), table.states, table.codes, table.values, table.weights, table.missing)


@given(st.one_of(tied_tables(), tables(incomplete=True), tables()), st.data())
def test_rows_columns_and_names_do_not_matter(table, data):
    order = data.draw(st.permutations(range(table.n_columns)))
    rows = data.draw(st.permutations(range(table.n_rows)))
    names = data.draw(st.permutations([f"new {i}" for i in range(table.n_columns)]))
    shuffled = table.take(np.array(rows)).select([table.names[i] for i in order])
    assert rows_in_order(renamed(shuffled, names)) == rows_in_order(table)


@given(tied_tables())
def test_identical_columns_are_ordered_by_name(table):
    order = canonical_order(table)
    content = [(table.kinds[i], table.array(table.names[i]).tobytes()) for i in order]
    for i in range(1, len(order)):
        if content[i - 1] == content[i]:
            assert table.names[order[i - 1]] < table.names[order[i]]


@given(tied_tables())
def test_discrete_columns_come_first_and_by_falling_entropy(table):
    order = canonical_order(table)
    assert [table.kinds[i] for i in order] == sorted(table.kinds, reverse=True)
    weights = [1.0] * table.n_rows if table.weights is None else table.weights.tolist()
    entropies = []
    for name in (table.names[i] for i in order if table.kinds[i] == "discrete"):
        counts = Counter()
        for cell, weight in zip(table.column(name), weights, strict=True):
            counts[cell] += weight
        total = sum(weights)
        entropies.append(-sum(c / total * log(c / total) for c in counts.values()))
    assert all(after <= before + 1e-4 for before, after in pairwise(entropies))


def test_a_gap_in_another_place_is_other_content():
    table = as_table(
        {
            "a": [1.0, 2.0, None, 4.5],
            "b": [1.0, 2.0, 3.0, 4.5],
            "c": [None, 2.0, 3.0, 4.5],
            "d": list("xyxx"),
        },
        missing="keep",
    )
    first = [table.names[i] for i in canonical_order(table)]
    assert first[0] == "d"
    turned = renamed(table, ["z", "y", "x", "w"])
    assert [dict(zip("zyxw", "abcd", strict=True))[turned.names[i]] for i in canonical_order(turned)] == first


@pytest.mark.parametrize("weights", [None, [1, 1, 2, 1, 3]])
def test_complete_tables_of_one_kind_keep_their_order(weights):
    """The order decides ties in every search, so a change of it changes answers."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, (6, 5)).astype(np.uint8)
    codes[3] = codes[1]
    names, weights = tuple("fedcba"), None if weights is None else np.array(weights, dtype=float)
    discrete = Table(names, ((0, 1),) * 6, codes, np.empty((0, 5)), weights)
    numbers = Table(names, (None,) * 6, np.empty((0, 5), np.uint8), codes.astype(float), weights)
    found = ["".join(names[i] for i in canonical_order(table)) for table in (discrete, numbers)]
    assert found == (WITHOUT if weights is None else WITH)


WITHOUT = ["bceadf", "ceadbf"]
WITH = ["bceadf", "adcebf"]


@given(tied_tables())
def test_the_canonical_form_is_kept_and_is_that_of_a_table_seen_for_the_first_time(table):
    kept = canonical_table(table)
    assert canonical_table(table) is kept
    fresh = table.reordered(canonical_order(table))
    assert (kept.names, kept.fingerprint) == (fresh.names, fresh.fingerprint)


def test_large_tables_keep_no_second_form_and_small_ones_no_longer_than_they_live(monkeypatch):
    table = as_table({"a": [0, 1, 1, 0], "b": [1, 1, 0, 1]})
    form = weakref.ref(canonical_table(table))
    assert form() is not None
    del table
    gc.collect()
    assert form() is None
    monkeypatch.setattr(canonical, "KEPT_CELLS", 7)
    table = as_table({"a": [0, 1, 1, 0], "b": [1, 1, 0, 1]})
    assert canonical_table(table) is not canonical_table(table)
