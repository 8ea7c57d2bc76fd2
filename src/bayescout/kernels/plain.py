"""Twins of kernels made of NumPy, for kernels that wait to be compiled (`kernels.patience`).

Each takes the arguments of the kernel of its name, or of the part of one, and writes the same bits.
"""

import math

import numpy as np

MIXED_BY = np.uint64(0x9E3779B97F4A7C15)
MOST_CELLS = 1 << 16
"""Cells of a table above which only configurations that occur are counted."""


BIT_CELLS = 64
"""Cells of a family up to which its extensions are counted from bitmaps."""

BLOCK_WORDS = 1 << 17
"""Words of bitmaps that are looked at together: 1 MiB."""


# ---- counting


def numbers_of(codes, cards, variables):
    """The mixed-radix number of every row, the last variable fastest: (n,) int64."""
    numbers = np.zeros(codes.shape[1], dtype=np.int64)
    for variable in variables.tolist():
        numbers *= cards[variable]
        numbers += codes[variable]
    return numbers


def number_cells(codes, cards, family, ids):
    ids[:] = numbers_of(codes, cards, family)


def _counted(cells, weights, size):
    """How often each number below `size` occurs in the last axis of cells, with weights if there are any."""
    if weights.shape[0] == 0:
        return np.bincount(cells.ravel(), minlength=size)
    found = np.zeros(size, dtype=weights.dtype)
    np.add.at(found, cells.ravel(), np.broadcast_to(weights, cells.shape).ravel())
    return found


def extended(codes, cards, weights, configs, child, candidates):
    """The tables of rows with numbered configurations and a child, extended by each candidate in turn.

    configs  ((n,) int64 number of the configuration of every row, how many numbers there are)
    child    ((n,) its codes, its number of states)
    Returns the tables, one after the other, and where each begins, with the end.
    """
    (numbers, total), (values, r) = configs, child
    states = cards[candidates]
    starts = np.zeros(candidates.shape[0] + 1, dtype=np.int64)
    np.cumsum(total * r * states, out=starts[1:])
    cells = numbers * states[:, None]
    cells += codes[candidates]
    cells *= r
    cells += values + starts[:-1, None]
    return _counted(cells, weights, int(starts[-1])), starts


def place_extensions(data, family, candidates, starts, out):
    """Write the tables of a family and of its extensions into out, where `starts` says; see `count_bits`."""
    codes, weights, bitmaps, (cards, first) = data[:4]
    if bits_pay(data, family, candidates):
        count_bits(bitmaps, first, cards, family, candidates, starts, out)
        return
    parents, child = family[:-1], family[-1]
    r = cards[child]
    configs = numbers_of(codes, cards, parents), int(cards[parents].prod())
    found, begins = extended(codes, cards, weights, configs, (codes[child], r), candidates)
    _place(found, begins, starts, out)
    base = configs[1] * r
    end = starts[candidates.shape[0]]
    out[end : end + base] = _counted(configs[0] * r + codes[child], weights, base)


def _place(found, begins, starts, out):
    """Copy tables to where each begins in out."""
    if (np.diff(begins) == np.diff(starts)).all():
        out[starts[0] : starts[-1]] = found
        return
    for i, begin in enumerate(starts[:-1].tolist()):
        table = found[begins[i] : begins[i + 1]]
        out[begin : begin + table.shape[0]] = table


def count_neighbours(data, family, candidates, starts, counts):
    place_extensions(data, family, candidates, starts[: candidates.shape[0] + 1], counts)


def bits_pay(data, family, candidates):
    """Return True if extensions are counted from bitmaps faster than by one increment per row."""
    cards, first = data[3]
    sliced = data[1].shape[0] == 0 and (first[family] >= 0).all() and (first[candidates] >= 0).all()
    return bool(sliced and cards[family].prod(dtype=np.float64) <= BIT_CELLS)


def count_bits(bitmaps, first, cards, family, candidates, starts, out):
    masks = np.full((1, bitmaps.shape[1]), ~np.uint64(0))
    for variable in family.tolist():
        own = bitmaps[first[variable] : first[variable] + cards[variable]]
        masks = (masks[:, None] & own).reshape(-1, bitmaps.shape[1])
    base, r = masks.shape[0], cards[family[-1]]
    end = starts[candidates.shape[0]]
    out[end : end + base] = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
    states = cards[candidates]
    widths = np.repeat(states, states)
    x = np.arange(widths.shape[0]) - np.repeat(np.cumsum(states) - states, states)
    bits = bitmaps[np.repeat(first[candidates], states) + x]
    begins = np.repeat(starts[:-1], states) + x * r
    together = max(1, BLOCK_WORDS // max(1, bits.size))
    for begin in range(0, base, together):
        cells = np.arange(begin, min(base, begin + together))[:, None]
        found = np.bitwise_count(masks[begin : begin + together, None] & bits)
        out[begins + cells // r * r * widths + cells % r] = found.sum(axis=2, dtype=np.int64)


def count_scatter(codes, cards, ids, shape, candidates, starts, out):
    count_weighted(codes, cards, ids, shape, np.empty(0, dtype=np.int64), candidates, starts, out)


def count_weighted(codes, cards, ids, shape, weights, candidates, starts, out):
    configs, r = shape.tolist()
    cells = ids.astype(np.int64)
    numbers = cells // r
    found, begins = extended(codes, cards, weights, (numbers, configs), (cells - numbers * r, r), candidates)
    _place(found, begins, starts, out)
    end = starts[candidates.shape[0]]
    out[end : end + configs * r] = _counted(cells, weights, configs * r)


def count_families(codes, weights, bitmaps, layout, members, bounds, starts, out):
    cards = layout[0]
    for f in range(bounds.shape[0] - 1):
        family = members[bounds[f] : bounds[f + 1]]
        table = out[starts[f] : starts[f + 1]]
        if codes.shape[0]:
            table[:] = _counted(numbers_of(codes, cards, family), weights, table.shape[0])
        else:
            none = np.empty(0, dtype=np.int64)
            count_bits(bitmaps, layout[1], cards, family, none, np.zeros(1, dtype=np.int64), table)


def sum_over(table, inner, states, out):
    whole = table[: out.shape[0] * states].reshape(-1, states, inner)
    out[:] = whole.sum(axis=1).ravel()


def fill_bitmaps(codes, first, bitmaps):
    spare = np.zeros(bitmaps.shape[1] * 64, dtype=bool)
    for variable in np.flatnonzero(first >= 0).tolist():
        column = codes[variable]
        for state in range(int(column.max(initial=0)) + 1):
            spare[: column.shape[0]] = column == state
            words = np.packbits(spare, bitorder="little").view("<u8")
            bitmaps[first[variable] + state] |= words.astype(np.uint64)


def pack_cells(codes, variables, shifts, keys):
    keys[:] = 0
    for variable, shift in zip(variables.tolist(), shifts.tolist(), strict=True):
        keys[shift >> 6] |= codes[variable].astype(np.int64) << (shift & 63)


def append_cells(ids, column, states, out):
    out[:] = ids.astype(np.int64) * states + column


def densify(keys, ids):
    if keys.shape[0] == 1:
        found, first, number = np.unique(keys[0], return_index=True, return_inverse=True)
    else:
        found, first, number = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    rank = np.empty(first.shape[0], dtype=np.int32)
    rank[np.argsort(first)] = np.arange(first.shape[0], dtype=np.int32)
    ids[:] = rank[number.ravel()]
    return found.shape[-1]


def configurations(codes, cards, parents):
    """The number of every row's parent configuration, and how many numbers there are: few, or those that
    occur."""
    numbers, total = np.zeros(codes.shape[1], dtype=np.int64), 1
    for parent in parents.tolist():
        numbers = numbers * cards[parent] + codes[parent]
        total *= int(cards[parent])
        if total > MOST_CELLS:
            found, numbers = np.unique(numbers, return_inverse=True)
            total = found.shape[0]
    return numbers, total


# ---- sums over tables


def sum_xlogx(counts, starts, states, lookup, grid, out):
    drop, step = int(grid[1]), grid[2]
    r = int(states[0]) if states.shape[0] else 1
    if not (states == r).all():
        for t in range(states.shape[0]):
            table = counts[starts[t] : starts[t + 1]]
            ends = np.array([0, table.shape[0]])
            sum_xlogx(table, ends, states[t : t + 1], lookup, grid, out[:, t : t + 1])
        return
    whole = counts[starts[0] : starts[-1]]
    begins = starts[:-1] - starts[0]
    rows = whole.reshape(-1, r)
    units = np.stack(
        [
            _summed(lookup[whole], begins),
            _summed(lookup[rows.sum(axis=1)], begins // r),
            lookup[_summed(rows, begins // r)].sum(axis=1),
        ]
    )
    out[:] = ((units + (1 << (drop - 1))) >> drop) * step


def _summed(terms, begins):
    """Sums of the terms from each beginning to the next."""
    return np.add.reduceat(terms, begins, axis=0)


# ---- content


def mixed(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def column_spreads(codes, cards, weights, unit, out):
    for column in range(codes.shape[0]):
        counts = _counted(codes[column], weights, int(cards[column]))
        counted = [count * unit for count in counts.tolist() if count > 0]
        out[column] = sum(math.floor(count * math.log(count) * 1048576.0 + 0.5) for count in counted)


def mark_rows(cells, colours, rows):
    for column in range(cells.shape[0]):
        rows += mixed(colours[column] + cells[column].astype(np.uint64) * MIXED_BY)


def mark_columns(cells, colours, weights, rows, out):
    for column in range(cells.shape[0]):
        marks = mixed(rows ^ (cells[column].astype(np.uint64) * MIXED_BY))
        if weights.shape[0]:
            marks = marks * weights.astype(np.uint64)
        out[column] = marks.sum(dtype=np.uint64)
    out[:] = mixed(out ^ colours)


# ---- moves


def fill_reach(adjacent, reach):
    within = adjacent.astype(np.float32)  # paths of up to one step; each product doubles that
    np.fill_diagonal(within, 1.0)
    arcs = 0
    while np.count_nonzero(within) > arcs:
        arcs = np.count_nonzero(within)
        within = np.minimum(within @ within, np.float32(1.0))
    reach[:] = within > 0.0


def add_to_reach(reach, parent, child):
    reach[reach[:, parent] & ~reach[:, child]] |= reach[child]


def best_move(graph, arcs, reach, banned, out):
    adjacent, gains, removals = graph[0], graph[1], graph[2]
    n = reach.shape[0]
    legal = np.where(reach | banned, -np.inf, gains).ravel()
    first = int(legal.argmax())
    best = float(legal[first])
    if best > -np.inf:
        out[:] = 0, first // n, first % n
    children, parents = arcs // n, arcs % n
    lost = np.where(banned[children, parents], -np.inf, removals[children, parents])
    for kind, found in ((1, lost), (2, lost + np.where(lost == -np.inf, 0.0, gains[parents, children]))):
        for i in np.flatnonzero(found > best).tolist():
            child, parent = int(children[i]), int(parents[i])
            if found[i] > best and (kind == 1 or is_reversible(adjacent, reach, parent, child)):
                best = float(found[i])
                out[:] = kind, child, parent
    return best


def is_reversible(adjacent, reach, parent, child):
    between = adjacent[parent] & reach[:, child]
    between[child] = False
    return not between.any()


# ---- lists of parent sets


def index_lists(masks, starts, begins, holders):
    n = starts.shape[0] - 1
    bits = np.unpackbits(masks.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    rows, members = np.nonzero(bits)
    places = np.repeat(np.arange(n), np.diff(starts))[rows] * n + members
    begins[0] = 0
    np.cumsum(np.bincount(places, minlength=n * n), out=begins[1:])
    holders[: rows.shape[0]] = rows[np.argsort(places, kind="stable")]


def undominated(masks, keep):
    for row in range(masks.shape[0]):
        kept = masks[:row][keep[:row]]
        keep[row] = (kept & ~masks[row]).any(axis=1).all()


def choose_all(lists, order, chosen):
    masks, starts, scores = lists
    before = np.zeros(masks.shape[1], dtype=np.uint64)
    total = 0.0
    for child in order.tolist():
        fits = ~(masks[starts[child] : starts[child + 1]] & ~before).any(axis=1)
        first = int(fits.argmax()) if fits.any() else -1
        chosen[child] = starts[child] + first if first >= 0 else -1
        total += float(scores[chosen[child]]) if first >= 0 else -math.inf
        before[child >> 6] ^= np.uint64(1 << (child & 63))
    return total
