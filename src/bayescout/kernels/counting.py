"""Counting the cells of contingency tables: bit-sliced, scatter and sparse.

A family is the array [parent, ..., parent, child]; its cells are numbered with the child
fastest and, among the parents, the last one fastest. An extension adds one candidate
parent, behind the others: cell ((config * r_candidate + x) * r_child + k).
All engines give the same integers; they differ in cost: bit-sliced about 0.002 ns per row and cell,
scatter 0.5 to 1 ns per row, sparse about 10 to 20 ns per row.
"""

import numpy as np

from bayescout.kernels import plain
from bayescout.kernels.limits import MASK_WORDS, MASKED_CELLS
from bayescout.kernels.patience import inner, part, patient
from bayescout.kernels.popcount import popcount


def scattering(ids, candidates):
    """The seconds of counting extensions uncompiled, one increment per row."""
    return 5e-5 + 1e-8 * ids.shape[0] * (candidates.shape[0] + 1)


ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)


@patient(0.1, lambda codes, *_: 3e-8 * codes.size, plain.fill_bitmaps)
def fill_bitmaps(codes, first, bitmaps):
    """Set one bit per row in the bitmap of the row's state.

    codes     (p, n) uint8|uint16
    first     (p,) int64          the first bitmap of each variable, -1 if it has none
    bitmaps   (states, ceil(n/64)) uint64   changed in place; zero before
    """
    for variable in range(codes.shape[0]):
        column = codes[variable]
        start = first[variable]
        if start >= 0:
            for row in range(column.shape[0]):
                bitmaps[start + column[row], row >> 6] |= np.uint64(1) << np.uint64(row & 63)


@part
def _block_masks(bitmaps, first, cards, family, begin, end, masks):
    """Write the bitmap of every cell of the family for the words [begin, end) into masks."""
    width = end - begin
    variable = family[0]
    cells = cards[variable]
    for state in range(cells):
        source = bitmaps[first[variable] + state, begin:end]
        target = masks[state, :width]
        for w in range(width):
            target[w] = source[w]
    for position in range(1, family.shape[0]):
        variable = family[position]
        r = cards[variable]
        # Backwards, so that a mask is read before it is overwritten.
        for cell in range(cells - 1, -1, -1):
            for state in range(r - 1, -1, -1):
                source = bitmaps[first[variable] + state, begin:end]
                target = masks[cell * r + state, :width]
                old = masks[cell, :width]
                for w in range(width):
                    target[w] = old[w] & source[w]
        cells *= r


def masking(bitmaps, first, cards, family, candidates, *_):
    """The seconds of `count_bits` uncompiled."""
    return 1e-4 + 2e-9 * bitmaps.shape[1] * cards[family].prod() * cards[candidates].sum()


@patient(0.7, masking, plain.count_bits)
def count_bits(bitmaps, first, cards, family, candidates, starts, out):
    """Tables of a family and of its extension by each candidate, from bitmaps.

    bitmaps     (states, words) uint64
    first       (p,) int64   the first bitmap of each variable
    cards       (p,) int64
    family      (k,) int64   [parents..., child]
    candidates  (c,) int64
    starts      (c + 1,) int64   start of each candidate's table in out; the family's own is at starts[c]
    out         flat int64   overwritten there
    """
    base = 1
    for variable in family:
        base *= cards[variable]
    r = cards[family[-1]]
    words = bitmaps.shape[1]
    width = min(words, max(32, MASK_WORDS // base))
    masks = np.empty((base, width), dtype=np.uint64)
    present = np.empty(base, dtype=np.int64)
    own = out[starts[candidates.shape[0]] : starts[candidates.shape[0]] + base]
    own[:] = 0
    for c in range(candidates.shape[0]):
        out[starts[c] : starts[c] + base * cards[candidates[c]]] = 0
    for begin in range(0, words, width):
        end = min(words, begin + width)
        size = end - begin
        _block_masks(bitmaps, first, cards, family, begin, end, masks)
        for cell in range(base):
            ones = np.uint64(0)
            for w in range(size):
                ones += popcount(masks[cell, w])
            present[cell] = ones
            own[cell] += np.int64(ones)
        for c in range(candidates.shape[0]):
            states = cards[candidates[c]]
            for x in range(states - 1):
                bitmap = bitmaps[first[candidates[c]] + x, begin:end]
                for cell in range(base):
                    if present[cell] == 0:
                        continue
                    ones = np.uint64(0)
                    for w in range(size):
                        ones += popcount(masks[cell, w] & bitmap[w])
                    out[starts[c] + (cell // r * states + x) * r + cell % r] += np.int64(ones)
    for c in range(candidates.shape[0]):
        states = cards[candidates[c]]
        for cell in range(base):
            left = own[cell]
            where = starts[c] + cell // r * states * r + cell % r
            for x in range(states - 1):
                left -= out[where + x * r]
            out[where + (states - 1) * r] = left


@patient(0.1, lambda codes, cards, family, ids: 5e-9 * ids.size * family.size, plain.number_cells)
def number_cells(codes, cards, family, ids):
    """The mixed-radix cell number of every row, the last variable fastest.

    codes   (p, n) uint8|uint16
    family  (k,) int64
    ids     (n,) uint32   overwritten; the caller has checked that the largest number fits
    """
    n = ids.shape[0]
    for begin in range(0, n, 4096):
        end = min(n, begin + 4096)
        block = ids[begin:end]
        block[:] = 0
        for variable in family:
            r = np.uint32(cards[variable])
            column = codes[variable, begin:end]
            for row in range(end - begin):
                block[row] = block[row] * r + np.uint32(column[row])


@patient(0.15, lambda codes, variables, *_: 5e-9 * codes.shape[1] * variables.size, plain.pack_cells)
def pack_cells(codes, variables, shifts, keys):
    """The codes of the variables, each in its own bits of the row's key.

    variables  (k,) int64
    shifts     (k,) int64        first bit of each variable's code, counted over all words
    keys       (words, n) int64  overwritten; no code crosses a word
    """
    keys[:] = 0
    for begin in range(0, keys.shape[1], 2048):
        end = min(keys.shape[1], begin + 2048)
        for i in range(variables.shape[0]):
            word, shift = shifts[i] >> 6, shifts[i] & 63
            column = codes[variables[i], begin:end]
            block = keys[word, begin:end]
            for row in range(end - begin):
                block[row] |= np.int64(column[row]) << shift


@patient(0.1, lambda ids, *_: 5e-9 * ids.size, plain.append_cells)
def append_cells(ids, column, states, out):
    """ids * states + column: append one more variable to the numbered cells.

    ids  (n,) int32; out  (n,) uint32, overwritten; the caller has checked that it fits
    """
    for row in range(ids.shape[0]):
        out[row] = np.uint32(ids[row]) * np.uint32(states) + np.uint32(column[row])


@patient(
    0.4, lambda codes, cards, ids, shape, candidates, *_: scattering(ids, candidates), plain.count_scatter
)
def count_scatter(codes, cards, ids, shape, candidates, starts, out):
    """Tables of the extensions of numbered cells, one increment per row.

    ids         (n,) uint32  number of the row's cell, config * r + k
    shape       (2,) int64   configurations and child states r of those cells
    candidates  (c,) int64
    starts      (c + 1,) int64   as in count_bits; the family's own table is at starts[c]
    out         flat int64   overwritten there
    """
    configs, r = shape[0], shape[1]
    base = configs * r
    most = 1
    for variable in candidates:
        most = max(most, cards[variable])
    scratch = np.empty(base * most, dtype=np.uint32)
    for c in range(candidates.shape[0]):
        states = cards[candidates[c]]
        column = codes[candidates[c]]
        scratch[: base * states] = 0
        for row in range(ids.shape[0]):
            scratch[ids[row] * np.uint32(states) + column[row]] += np.uint32(1)
        for cell in range(base):
            where = starts[c] + cell // r * states * r + cell % r
            for x in range(states):
                out[where + x * r] = scratch[cell * states + x]
    own = out[starts[candidates.shape[0]] : starts[candidates.shape[0]] + base]
    if candidates.shape[0] > 0:
        sum_over(out[starts[0] :], r, cards[candidates[0]], own)
        return
    scratch[:] = 0
    for row in range(ids.shape[0]):
        scratch[ids[row]] += np.uint32(1)
    for cell in range(base):
        own[cell] = scratch[cell]


@inner(instead=plain.sum_over)
def sum_over(table, inner, states, out):
    """The table summed over one variable, each state of which spans `inner` cells; out is overwritten."""
    for cell in range(out.shape[0]):
        where = cell // inner * inner * states + cell % inner
        out[cell] = 0
        for state in range(states):
            out[cell] += table[where + state * inner]


@patient(
    0.2,
    lambda codes, cards, ids, shape, weights, candidates, *_: 3 * scattering(ids, candidates),
    plain.count_weighted,
)
def count_weighted(codes, cards, ids, shape, weights, candidates, starts, out):
    """count_scatter with the weight of each row: weights and out int64, or both float64."""
    configs, r = shape[0], shape[1]
    base = configs * r
    for c in range(candidates.shape[0]):
        states = cards[candidates[c]]
        column = codes[candidates[c]]
        out[starts[c] : starts[c] + base * states] = 0
        for row in range(ids.shape[0]):
            config, k = ids[row] // r, ids[row] % r
            out[starts[c] + (config * states + column[row]) * r + k] += weights[row]
    own = out[starts[candidates.shape[0]] : starts[candidates.shape[0]] + base]
    own[:] = 0
    for row in range(ids.shape[0]):
        own[ids[row]] += weights[row]


@patient(0.4, lambda keys, ids: 1e-7 * keys.size, plain.densify)
def densify(keys, ids):
    """Number the distinct columns of keys 0, 1, ... in order of appearance; returns their number.

    keys  (words, n) int64
    ids   (n,) int32   overwritten

    Open addressing with linear probing in a table that grows when half full, so that few distinct
    keys stay in the first-level cache. A slot holds half a hash and a number; if the hash agrees,
    the whole key is compared with the first row of that number, so no collision can merge two keys.
    """
    words, n = keys.shape
    first = np.empty(n, dtype=np.int32)
    bits = 10
    slots = np.zeros(1 << bits, dtype=np.uint64)
    distinct = 0
    for row in range(n):
        mixed = np.uint64(0)
        for word in range(words):
            mixed = (mixed ^ np.uint64(keys[word, row])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        mixed = (mixed * np.uint64(0xD6E8FEB86659FD93)) >> np.uint64(32)
        slot = mixed >> np.uint64(32 - bits)
        found = np.int32(-1)
        while slots[slot] != 0:
            if slots[slot] >> np.uint64(32) == mixed:
                number = np.int32(slots[slot] & np.uint64(0xFFFFFFFF)) - np.int32(1)
                same = True
                for word in range(words):
                    same = same and keys[word, first[number]] == keys[word, row]
                if same:
                    found = number
                    break
            slot = (slot + np.uint64(1)) & np.uint64(slots.shape[0] - 1)
        if found < 0:
            found = np.int32(distinct)
            first[found] = row
            distinct += 1
            slots[slot] = (mixed << np.uint64(32)) | np.uint64(distinct)
            if 2 * distinct >= slots.shape[0]:
                bits += 2
                slots = _grown(slots, bits)
        ids[row] = found
    return distinct


@inner
def _grown(slots, bits):
    """The same hash table with 2**bits slots."""
    wider = np.zeros(1 << bits, dtype=np.uint64)
    for old in range(slots.shape[0]):
        if slots[old] != 0:
            slot = (slots[old] >> np.uint64(32)) >> np.uint64(32 - bits)
            while wider[slot] != 0:
                slot = (slot + np.uint64(1)) & np.uint64(wider.shape[0] - 1)
            wider[slot] = slots[old]
    return wider


@patient(
    1.0,
    lambda codes, weights, bitmaps, layout, members, *_: 8e-9 * codes.shape[1] * members.size,
    plain.count_families,
)
def count_families(codes, weights, bitmaps, layout, members, bounds, starts, out):
    """The tables of many families, each by the cheaper dense engine.

    codes    (p, n) uint8|uint16; (0, n) if every family is counted from bitmaps
    weights  (n,) int64|float64, or (0,) if every row counts once
    bitmaps  (states, words) uint64
    layout   (2, p) int64   states of each variable; its first bitmap, or -1 if it has none
    members  flat int64     [parents..., child] of one family after the other
    bounds   (k + 1,) int64 where each family begins in members
    starts   (k + 1,) int64 where each table begins in out
    out      flat, of the dtype of weights   overwritten
    """
    cards, first = layout[0], layout[1]
    ids = np.empty(0, dtype=np.uint32)
    for f in range(bounds.shape[0] - 1):
        family = members[bounds[f] : bounds[f + 1]]
        table = out[starts[f] : starts[f + 1]]
        if weights.shape[0] == 0 and bits_pay(cards, first, family):
            _count_family_bits(bitmaps, first, cards, family, table)
            continue
        if ids.shape[0] == 0:
            ids = np.empty(codes.shape[1], dtype=np.uint32)
        number_cells(codes, cards, family, ids)
        for cell in range(table.shape[0]):
            table[cell] = 0
        for row in range(ids.shape[0]):
            table[ids[row]] += 1 if weights.shape[0] == 0 else weights[row]


@part
def bits_pay(cards, first, family):
    """Return True if masks for a whole family are cheaper than one increment per row."""
    cells = 1
    for variable in family:
        cells *= cards[variable]
        if first[variable] < 0 or cells > MASKED_CELLS:
            return False
    return True


@part
def _count_family_bits(bitmaps, first, cards, family, table):
    """The table of one family from the bitmaps of its child and last parent within masks of the rest.

    Not by count_bits, which would be compiled into this kernel once more.
    """
    k, words = family.shape[0], bitmaps.shape[1]
    child, r = first[family[k - 1]], cards[family[k - 1]]
    parent, states = (first[family[k - 2]], cards[family[k - 2]]) if k > 1 else (child, r)
    within = table.shape[0] // r // states if k > 1 else 1
    width = min(words, max(32, MASK_WORDS // within))
    masks = np.empty((within, width), dtype=np.uint64)
    for cell in range(table.shape[0]):
        table[cell] = 0
    for begin in range(0, words, width):
        end = min(words, begin + width)
        if k > 2:
            _block_masks(bitmaps, first, cards, family[: k - 2], begin, end, masks)
        for w in range(end - begin if k <= 2 else 0):
            masks[0, w] = ALL_BITS
        if k > 2 and states == 2 and r == 2:  # otherwise the mask has bits that are no rows
            _add_binary_cells(masks, bitmaps[parent, begin:end], bitmaps[child, begin:end], table)
            continue
        for cell in range(within * states):
            a = bitmaps[parent + cell % states, begin:end]
            if k == 1:  # the parent is the child itself
                for w in range(end - begin):
                    table[cell] += np.int64(popcount(a[w]))
            else:
                some = table[cell * r : (cell + 1) * r]
                _add_cells(masks[cell // states], a, bitmaps, child, begin, end, some)


@part
def _add_cells(mask, a, bitmaps, child, begin, end, table):
    """Add the cells of all states of the child, whose first bitmap is `child`, within a mask and a."""
    left = ones = np.uint64(0)
    b = bitmaps[child, begin:end]
    for w in range(end - begin):
        left += popcount(mask[w] & a[w])
        ones += popcount(mask[w] & a[w] & b[w])
    for state in range(table.shape[0]):
        if state == table.shape[0] - 1:
            ones = left
        elif state > 0:
            b = bitmaps[child + state, begin:end]
            ones = np.uint64(0)
            for w in range(end - begin):
                ones += popcount(mask[w] & a[w] & b[w])
        table[state] += np.int64(ones)
        left -= ones
        if left == 0:
            break


@part
def _add_binary_cells(masks, a, b, table):
    """Add the cells of a binary parent and child from the bitmaps of their first states: four sums."""
    for cell in range(table.shape[0] // 4):
        mask = masks[cell]
        total = only_a = only_b = both = np.uint64(0)
        for w in range(a.shape[0]):
            word = mask[w]
            total += popcount(word)
            only_a += popcount(word & a[w])
            only_b += popcount(word & b[w])
            both += popcount(word & a[w] & b[w])
        table[4 * cell] += np.int64(both)
        table[4 * cell + 1] += np.int64(only_a) - np.int64(both)
        table[4 * cell + 2] += np.int64(only_b) - np.int64(both)
        table[4 * cell + 3] += np.int64(total) - np.int64(only_a) - np.int64(only_b) + np.int64(both)
