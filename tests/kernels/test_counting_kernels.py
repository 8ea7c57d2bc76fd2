"""Counting kernels: compiled and interpreted alike, and both as counted row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout.kernels import counting
from tests.reference.kernels import cell_counts, plain
from tests.strategies import examples

LENGTHS = st.sampled_from([1, 2, 63, 64, 65, 127, 128, 129, 200])


@st.composite
def columns(draw, most_states=5):
    """Codes with one-state variables and absent states, of lengths around a word."""
    p, n = draw(st.integers(2, 5)), draw(LENGTHS)
    cards = np.array(draw(st.lists(st.integers(1, most_states), min_size=p, max_size=p)), dtype=np.int64)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from([np.uint8, np.uint16]))
    codes = np.array([rng.integers(0, draw(st.integers(1, int(r))), n) for r in cards]).astype(kind)
    codes.flags.writeable = False
    return codes, cards


def split(draw, p):
    """A family and the candidates left; there may be none."""
    order = draw(st.permutations(range(p)))
    size = draw(st.integers(1, min(3, p)))
    family, rest = order[:size], order[size:]
    return np.array(family, dtype=np.int64), np.array(draw(st.just(rest)), dtype=np.int64)


def bitmaps_of(codes, cards):
    first = np.cumsum(cards) - cards
    bitmaps = np.zeros((int(cards.sum()), (codes.shape[1] + 63) // 64), dtype=np.uint64)
    counting.fill_bitmaps(codes, first, bitmaps)
    return first, bitmaps


def slots_of(cards, family, candidates):
    base = int(np.prod(cards[family]))
    return base, np.concatenate(([0], np.cumsum(base * cards[candidates]))).astype(np.int64)


def expected_extensions(codes, cards, family, candidates, weights=None):
    *parents, child = family.tolist()
    tables = [cell_counts(codes, cards, [*parents, int(x), child], weights) for x in candidates]
    return [c for table in tables for c in table] + cell_counts(codes, cards, family.tolist(), weights)


def both(kernel, *arguments, out):
    """What the compiled kernel and the interpreted one write over rubbish."""
    compiled, interpreted = out.copy(), out.copy()
    getattr(counting, kernel)(*arguments, compiled)
    with plain(counting) as slow:
        getattr(slow, kernel)(*arguments, interpreted)
    assert compiled.tolist() == interpreted.tolist()
    return compiled


@settings(max_examples=examples(40))
@given(data=st.data())
def test_bits_scatter_and_weights_count_extensions_alike(data):
    codes, cards = data.draw(columns())
    family, candidates = split(data.draw, len(cards))
    first, bitmaps = bitmaps_of(codes, cards)
    base, slots = slots_of(cards, family, candidates)
    rubbish = np.full(int(slots[-1]) + base, -7, dtype=np.int64)
    expected = expected_extensions(codes, cards, family, candidates)
    by_bits = both("count_bits", bitmaps, first, cards, family, candidates, slots, out=rubbish)
    assert by_bits.tolist() == expected
    ids = both("number_cells", codes, cards, family, out=np.full(codes.shape[1], 9, dtype=np.uint32))
    shape = np.array([base // cards[family[-1]], cards[family[-1]]])
    by_scatter = both("count_scatter", codes, cards, ids, shape, candidates, slots, out=rubbish)
    assert by_scatter.tolist() == expected
    rng = np.random.default_rng(0)
    for weights in (rng.integers(0, 5, codes.shape[1]), rng.integers(0, 9, codes.shape[1]) / 4):
        found = both(
            "count_weighted", codes, cards, ids, shape, weights, candidates, slots,
            out=rubbish.astype(weights.dtype),
        )  # fmt: skip
        assert found.tolist() == expected_extensions(codes, cards, family, candidates, weights.tolist())


@settings(max_examples=examples(40))
@given(data=st.data())
def test_families_of_any_size_in_one_call(data):
    codes, cards = data.draw(columns(most_states=7))
    first, bitmaps = bitmaps_of(codes, cards)
    hidden = data.draw(st.integers(0, len(cards) - 1))
    layout = np.stack([cards, np.where(np.arange(len(cards)) == hidden, -1, first)])
    asked = [split(data.draw, len(cards))[0] for _ in range(4)]
    bounds = np.concatenate(([0], np.cumsum([len(f) for f in asked]))).astype(np.int64)
    starts = np.concatenate(([0], np.cumsum([np.prod(cards[f]) for f in asked]))).astype(np.int64)
    rng = np.random.default_rng(0)
    for weights in (np.empty(0, dtype=np.int64), rng.integers(0, 5, codes.shape[1])):
        found = both(
            "count_families", codes, weights, bitmaps, layout, np.concatenate(asked), bounds, starts,
            out=np.full(int(starts[-1]), -7, dtype=np.int64),
        )  # fmt: skip
        counted = [
            cell_counts(codes, cards, f.tolist(), weights.tolist() if len(weights) else None) for f in asked
        ]
        assert found.tolist() == [count for table in counted for count in table]


@pytest.mark.parametrize("cells", [2, 191, 192, 193])
def test_masks_pay_up_to_their_limit_and_only_with_bitmaps(cells):
    cards, family = np.array([cells, 1]), np.array([0, 1])
    for first, sliced in ((np.array([0, cells]), True), (np.array([0, -1]), False)):
        expected = sliced and cells <= counting.MASKED_CELLS
        assert counting.bits_pay(cards, first, family) == expected
        assert counting.bits_pay.py_func(cards, first, family) == expected


def test_masks_span_several_blocks_of_words():
    rng = np.random.default_rng(0)
    cards = np.array([4, 4, 4, 3])
    codes = np.array([rng.integers(0, r, 64 * 700 + 1) for r in cards]).astype(np.uint8)
    first, bitmaps = bitmaps_of(codes, cards)
    family, candidates = np.array([0, 1, 2]), np.array([3])
    base, slots = slots_of(cards, family, candidates)
    assert counting.MASK_WORDS // base < bitmaps.shape[1]
    out = np.full(int(slots[-1]) + base, -7, dtype=np.int64)
    counting.count_bits(bitmaps, first, cards, family, candidates, slots, out)
    cell = ((codes[0] * 4 + codes[1]).astype(int) * 3 + codes[3]) * 4 + codes[2]
    assert out[: slots[-1]].tolist() == np.bincount(cell, minlength=int(slots[-1])).tolist()


# ---- numbering keys


def as_numpy_numbers(keys):
    """The distinct columns numbered in order of appearance, by sorting."""
    _, where, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    rank = np.empty(len(where), dtype=np.int64)
    rank[np.argsort(where)] = np.arange(len(where))
    return rank[inverse.ravel()], len(where)


def assert_numbered(keys, interpreted=True):
    ids = np.full(keys.shape[1], -1, dtype=np.int32)
    expected, distinct = as_numpy_numbers(keys)
    assert counting.densify(keys, ids) == distinct
    assert ids.tolist() == expected.tolist()
    if interpreted:
        slow = np.full(keys.shape[1], -1, dtype=np.int32)
        with plain(counting) as module:
            assert module.densify(keys, slow) == distinct
        assert slow.tolist() == expected.tolist()


@settings(max_examples=examples(40))
@given(data=st.data())
def test_keys_are_numbered_as_sorting_numbers_them(data):
    words, n = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 60))
    few = st.sampled_from([0, 1, -1, 2**32, -(2**63), 2**63 - 1])
    value = st.one_of(few, st.integers(-(2**63), 2**63 - 1))
    flat = data.draw(st.lists(value, min_size=words * n, max_size=words * n))
    assert_numbered(np.array(flat, dtype=np.int64).reshape(words, n))


N = np.arange(6000, dtype=np.int64)
ADVERSARIAL = {
    "equal low bits": (N << 40)[None],
    "equal high halves": (N + (5 << 32))[None],
    "negative": -N[None],
    "all equal": np.zeros((2, 6000), dtype=np.int64),
    "each twice": (N // 2)[None],
    "only the first word differs": np.stack([N, np.full_like(N, 7), np.full_like(N, -3)]),
    "only the last word differs": np.stack([np.full_like(N, 7), np.full_like(N, -3), N]),
    "words exchanged": np.stack([np.append(N, N + 1), np.append(N + 1, N)]),
    "word sums equal": np.stack([N, 6000 - N]),
}  # fmt: skip


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_adversarial_keys_are_told_apart(name):
    assert_numbered(np.ascontiguousarray(ADVERSARIAL[name]), interpreted=False)


def test_the_hash_table_grows_many_times():
    rng = np.random.default_rng(0)
    assert_numbered(rng.integers(-(2**63), 2**63 - 1, (1, 150_000)), interpreted=False)


@pytest.mark.parametrize("after", [[], [7], [7, -3]])
def test_keys_whose_whole_hash_collides_are_compared_in_full(after):
    """The second word undoes the first, and further words are equal: one hash, as many keys as rows."""
    multiplier, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    keys = []
    for first in range(1, 200):
        mixed = first * multiplier & mask
        keys.append([first, mixed ^ (mixed >> 32), *(word & mask for word in after)])
    assert_numbered(np.ascontiguousarray(np.array(keys, dtype=np.uint64).T.astype(np.int64)))


@settings(max_examples=30)
@given(data=st.data())
def test_packed_keys_hold_each_code_in_its_own_bits(data):
    codes, cards = data.draw(columns())
    variables = np.arange(len(cards), dtype=np.int64)
    shifts = np.array([0, 59, 64, 120, 128][: len(cards)], dtype=np.int64)
    keys = both("pack_cells", codes, variables, shifts, out=np.full((3, codes.shape[1]), -1, dtype=np.int64))
    for row in range(codes.shape[1]):
        whole = sum(int(codes[v, row]) << int(shifts[v]) for v in variables)
        assert keys[:, row].tolist() == [(whole >> (64 * w)) & (2**64 - 1) for w in range(3)]


def test_cell_numbers_near_the_end_of_their_range():
    """Numbers of sparse cells go to 2**24, but the kernels are exact to the last uint32."""
    ids = np.array([0, 1, 2**16 - 1], dtype=np.int32)
    column = np.array([65_535, 0, 65_535], dtype=np.uint16)
    out = both("append_cells", ids, column, 65_536, out=np.zeros(3, dtype=np.uint32))
    assert out.tolist() == [65_535, 65_536, 2**32 - 1]


def test_weights_near_the_end_of_int64_are_exact():
    codes, cards = np.array([[0, 0, 1], [0, 1, 1]], dtype=np.uint8), np.array([2, 2])
    weights = np.array([2**31 - 1, 2**31, 2**61 + 1])
    slots = np.array([0, 4])
    out = both(
        "count_weighted", codes, cards, np.array([0, 0, 1], dtype=np.uint32), np.array([1, 2]), weights,
        np.array([1]), slots, out=np.zeros(6, dtype=np.int64),
    )  # fmt: skip
    assert out.tolist() == [2**31 - 1, 0, 2**31, 2**61 + 1, 2**32 - 1, 2**61 + 1]
