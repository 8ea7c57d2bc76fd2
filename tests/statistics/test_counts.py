"""Every counting engine gives the same integers as looking at the rows one after the other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import DataError, TooLargeError
from bayescout.statistics import counts as engine
from bayescout.statistics import discrete
from bayescout.statistics.counts import Counts, dense_counts
from tests.reference.scores import counted
from tests.scores.drawn_data import discrete_tables, families, rows_of, table_of


def multiset(table):
    """The rows of a counts table that are not empty, in any order."""
    return Counter(tuple(row) for row in table.tolist() if any(row))


def expected_multiset(table, child, parents, weights=None):
    cells, configs = counted(rows_of(table), child, parents, weights)
    r = int(table.cardinalities[child])
    return Counter(row for row in (tuple(cells[c, k] for k in range(r)) for c in configs) if any(row))


@given(data=st.data())
def test_bits_scatter_sparse_and_folded_rows_count_alike(data):
    table = data.draw(discrete_tables(max_rows=200))
    child, parents = data.draw(families(table.n_columns))
    expected = expected_multiset(table, child, parents)
    others = [v for v in range(table.n_columns) if v != child and v not in parents]
    sparse = {(discrete, "DENSE_FLOOR"): 1, (discrete, "DENSE_CELLS_PER_ROW"): 0}
    for change in ({}, {(engine, "BITMAP_STATES"): 0}, sparse, {(engine, "FOLD_AT"): 0}):
        with pytest.MonkeyPatch.context() as patch:
            for (module, name), value in change.items():
                patch.setattr(module, name, value)
            counts = Counts(table)
            assert multiset(counts.many([(child, parents)]).table(0)) == expected
            if others:
                batch = counts.extensions(child, parents, np.array(others))
                for i, x in enumerate(others):
                    assert multiset(batch.table(i)) == expected_multiset(table, child, (*parents, x))


@given(data=st.data())
def test_dense_tables_put_the_last_parent_fastest(data):
    table = data.draw(discrete_tables())
    child, parents = data.draw(families(table.n_columns))
    batch = Counts(table).many([(child, parents)])
    assert batch.table(0).tolist() == dense_counts(table, child, parents).tolist()
    assert batch.configurations[0] == len(batch.table(0))


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 128, 5000, 70_000])
def test_block_and_word_boundaries(rows):
    rng = np.random.default_rng(rows)
    cards = [2, 3, 5, 16, 17, 40]
    table = table_of([rng.integers(0, r, rows) for r in cards], cards)
    counts = Counts(table)
    for child, parents in ((0, ()), (5, ()), (0, (1, 2)), (1, (3, 4)), (3, (0, 1, 2)), (4, (5,))):
        assert multiset(counts.many([(child, parents)]).table(0)) == multiset(
            dense_counts(table, child, parents)
        )
        others = np.array([v for v in range(6) if v != child and v not in parents])
        batch = counts.extensions(child, parents, others)
        for i, x in enumerate(others):
            whole = dense_counts(table, child, (*parents, int(x)))
            assert multiset(batch.table(i)) == multiset(whole)
            if counts.is_dense(child, (*parents, int(x))):
                assert batch.table(i).tolist() == whole.tolist()


def test_many_families_of_every_size_in_one_batch():
    rng = np.random.default_rng(0)
    cards = [2, 3, 4, 50, 60, 2]
    table = table_of([rng.integers(0, r, 300) for r in cards], cards)
    asked = [(0, ()), (1, (3, 4)), (2, (0,)), (5, (0, 1, 2, 3, 4)), (0, (1, 2, 5))]
    batch = Counts(table).many(asked)
    for i, (child, parents) in enumerate(asked):
        assert multiset(batch.table(i)) == expected_multiset(table, child, parents)
        assert batch.configurations[i] == np.prod([cards[p] for p in parents])


@given(data=st.data())
def test_weighted_counts(data):
    table = data.draw(discrete_tables())
    weights = data.draw(
        st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.5]), min_size=table.n_rows, max_size=table.n_rows)
    )
    if sum(weights) == 0:
        return
    weighted = table_of(np.array(table.codes), table.cardinalities, weights)
    child, parents = data.draw(families(table.n_columns))
    batch = Counts(weighted).many([(child, parents)])
    assert multiset(batch.table(0)) == expected_multiset(table, child, parents, weights)


def test_wide_tables_have_uint16_codes():
    rng = np.random.default_rng(0)
    table = table_of([rng.integers(0, 300, 500), rng.integers(0, 2, 500)], [300, 2])
    assert table.codes.dtype == np.uint16
    assert Counts(table).many([(1, (0,))]).table(0).tolist() == dense_counts(table, 1, (0,)).tolist()


def test_hundreds_of_parents_do_not_overflow():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (300, 150))
    codes[:, 75:] = codes[:, :75]
    codes[299, 74] ^= 1  # the very last parent is all that tells these two rows apart
    table = table_of(codes, [4] * 300)
    found = Counts(table).many([(0, tuple(range(1, 300)))]).table(0)
    assert multiset(found) == expected_multiset(table, 0, tuple(range(1, 300)))
    assert len(found) == 76


def test_a_child_too_wide_to_hold_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(discrete, "DENSE_CEILING", 100)
    table = table_of([np.arange(40), np.arange(40)], [40, 40])
    with pytest.raises(TooLargeError, match="1,600 cells"):
        Counts(table).many([(0, (1,))])


def test_continuous_columns_are_named_with_the_way_out():
    from tests.scores.drawn_data import continuous_table

    with pytest.raises(DataError, match=r"'x0', 'x1' are continuous.*discretise"):
        Counts(continuous_table(np.zeros((2, 3))))
