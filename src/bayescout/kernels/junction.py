"""Message passing row by row over one junction tree, where every row has empty cells of its own.

The tree is that of an elimination order: cluster c holds one variable of its own and the variables it is
summed out against, its separator, which are all eliminated later. The tables of families lie end to end in
`work`, as logarithms; the messages of a row are written behind them, each over the empty cells of its
separator only, so that a row costs what its empty cells ask for. Everything is in logarithms: nothing
underflows, and minus infinity is a true zero.

A tree is one int64 array (`network.junction.JunctionTree.flat`): to hand many small arrays from function to
function would cost more than the work on them. It begins with the place of each part:

OWN        variable of each cluster, in the order of elimination
SEPARATOR  end to end, those of cluster c from SEPARATOR_BEGINS + c
FAMILY     end to end, those of cluster c from FAMILY_BEGINS + c; one more list is of families none of whose
           variables can be empty
CHILD      clusters whose message goes to cluster c, from CHILD_BEGINS + c
MEMBER     variables of the families end to end, from MEMBER_BEGINS + f
STRIDE     the stride of each member in the family's table
SIZE       states of each variable
START      where the table of family f begins in `work`

and, in place of a place, CLUSTERS, their number, WIDEST, the most variables of a cluster, FACTORS, the most
factors of a cluster, and STATES, the most states of a variable.

Codes are (n, p) and -1 where a cell is empty. `room` is one int64 array for the row in hand: its codes, and
of the cluster in hand the axes, their extents, an index, and the offsets and strides of the factors.
"""

import numpy as np

from bayescout.kernels.jit import kernel

OWN, SEPARATOR, SEPARATOR_BEGINS, FAMILY, FAMILY_BEGINS, CHILD, CHILD_BEGINS = range(7)
MEMBER, MEMBER_BEGINS, STRIDE, SIZE, START = range(7, 12)
CLUSTERS, WIDEST, FACTORS, STATES = range(12, 16)
"""Parts of a tree: twelve places, then four limits; `network.junction` writes them in this order."""

GIVEN, AXIS_OF, AXES, EXTENTS, INDEX, OFFSETS, STRIDES, STARTS = range(8)
"""Parts of `room`, whose places are at its beginning."""


@kernel
def row_entries(tree, codes, entries):
    """Fill entries (n,) with the table entries that each row's messages are made from, as floats."""
    own, separator, begins, size = tree[OWN], tree[SEPARATOR], tree[SEPARATOR_BEGINS], tree[SIZE]
    for row in range(codes.shape[0]):
        total = 0.0
        for c in range(tree[CLUSTERS]):
            made = float(tree[size + tree[own + c]]) if codes[row, tree[own + c]] < 0 else 1.0
            for place in range(tree[begins + c], tree[begins + c + 1]):
                variable = tree[separator + place]
                if codes[row, variable] < 0:
                    made *= tree[size + variable]
            total += made
        entries[row] = total


@kernel
def make_room(tree, p):
    """The room for one row at a time."""
    widest, factors = tree[WIDEST], tree[FACTORS]
    lengths = (p, p, widest, widest, widest, factors, factors * widest, tree[CLUSTERS])
    total = len(lengths)
    for length in lengths:
        total += length
    room = np.zeros(total, dtype=np.int64)
    place = len(lengths)
    for part in range(len(lengths)):
        room[part] = place
        place += lengths[part]
    return room


@kernel
def lay_out(tree, c, room):
    """The axes of cluster c in the row and the place of each of its factors; returns (axes, factors).

    The first axis is the cluster's own variable, of extent 1 if it is observed; the others are the empty
    cells of its separator. Factors are first families, then messages.
    """
    own, separator, begins = tree[OWN], tree[SEPARATOR], tree[SEPARATOR_BEGINS]
    size, member, stride = tree[SIZE], tree[MEMBER], tree[STRIDE]
    widest, given, axis_of = tree[WIDEST], room[GIVEN], room[AXIS_OF]
    axes, extents, offsets, strides = room[AXES], room[EXTENTS], room[OFFSETS], room[STRIDES]
    variable = tree[own + c]
    room[axes] = variable
    room[extents] = tree[size + variable] if room[given + variable] < 0 else 1
    room[axis_of + variable] = 0
    n_axes = 1
    for place in range(tree[begins + c], tree[begins + c + 1]):
        variable = tree[separator + place]
        if room[given + variable] < 0:
            room[axes + n_axes] = variable
            room[extents + n_axes] = tree[size + variable]
            room[axis_of + variable] = n_axes
            n_axes += 1
    k = 0
    for place in range(tree[tree[FAMILY_BEGINS] + c], tree[tree[FAMILY_BEGINS] + c + 1]):
        family = tree[tree[FAMILY] + place]
        offset = tree[tree[START] + family]
        for axis in range(n_axes):
            room[strides + k * widest + axis] = 0
        for at in range(tree[tree[MEMBER_BEGINS] + family], tree[tree[MEMBER_BEGINS] + family + 1]):
            code = room[given + tree[member + at]]
            if code < 0:
                room[strides + k * widest + room[axis_of + tree[member + at]]] = tree[stride + at]
            else:
                offset += tree[stride + at] * code
        room[offsets + k] = offset
        k += 1
    for place in range(tree[tree[CHILD_BEGINS] + c], tree[tree[CHILD_BEGINS] + c + 1]):
        child = tree[tree[CHILD] + place]
        for axis in range(n_axes):
            room[strides + k * widest + axis] = 0
        step = 1
        for at in range(tree[begins + child], tree[begins + child + 1]):
            variable = tree[separator + at]
            if room[given + variable] < 0:
                room[strides + k * widest + room[axis_of + variable]] = step
                step *= tree[size + variable]
        room[offsets + k] = room[room[STARTS] + child]
        k += 1
    return n_axes, k


@kernel
def is_observed(tree, c, room):
    """Return True if no cell of the cluster is empty."""
    begins, given = tree[SEPARATOR_BEGINS], room[GIVEN]
    least = room[given + tree[tree[OWN] + c]]
    for place in range(tree[begins + c], tree[begins + c + 1]):
        least = min(least, room[given + tree[tree[SEPARATOR] + place]])
    return least >= 0


@kernel
def is_root(tree, c):
    """Return True if the cluster sends no message."""
    return tree[tree[SEPARATOR_BEGINS] + c] == tree[tree[SEPARATOR_BEGINS] + c + 1]


@kernel
def entry_of(tree, family, room):
    """The place in `work` of the entry of a family whose cells are all there."""
    begins, member, stride, given = tree[MEMBER_BEGINS], tree[MEMBER], tree[STRIDE], room[GIVEN]
    offset = tree[tree[START] + family]
    for at in range(tree[begins + family], tree[begins + family + 1]):
        offset += tree[stride + at] * room[given + tree[member + at]]
    return offset


@kernel
def families_term(tree, c, room, work):
    """The sum of the families of a cluster without empty cells, or of the list at the end."""
    total = 0.0
    for place in range(tree[tree[FAMILY_BEGINS] + c], tree[tree[FAMILY_BEGINS] + c + 1]):
        total += work[entry_of(tree, tree[tree[FAMILY] + place], room)]
    return total


@kernel
def first_entry(n_axes, room):
    """Set the index to zeros; returns the number of entries of the message."""
    entries = 1
    for axis in range(1, n_axes):
        room[room[INDEX] + axis] = 0
        entries *= room[room[EXTENTS] + axis]
    return entries


@kernel
def advance(n_axes, n_factors, widest, room):
    """Go on to the next values of the separator, its first axis fastest."""
    extents, index, offsets, strides = room[EXTENTS], room[INDEX], room[OFFSETS], room[STRIDES]
    for axis in range(1, n_axes):
        room[index + axis] += 1
        for k in range(n_factors):
            room[offsets + k] += room[strides + k * widest + axis]
        if room[index + axis] < room[extents + axis]:
            return
        room[index + axis] = 0
        for k in range(n_factors):
            room[offsets + k] -= room[strides + k * widest + axis] * room[extents + axis]


@kernel
def reduced(n_factors, widest, room, work, terms, largest):
    """The log-sum, or the largest, over the cluster's own variable of the sum of its factors' logs."""
    offsets, strides, states = room[OFFSETS], room[STRIDES], room[room[EXTENTS]]
    peak = -np.inf
    for state in range(states):
        term = 0.0
        for k in range(n_factors):
            term += work[room[offsets + k] + state * room[strides + k * widest]]
        terms[state] = term
        if term > peak:
            peak = term
    if states == 1 or largest or peak == -np.inf:
        return peak
    total = 0.0
    for state in range(states):
        total += np.exp(terms[state] - peak)
    return peak + np.log(total)


@kernel
def collect(tree, codes, row, largest, room, work, first, terms):
    """All messages of one row, towards the last cluster; returns the log of their product at the roots.

    That is log P(observed cells), or with `largest` the log of the largest product over the empty cells.
    work     family tables in logs, then room for the messages, which begin at `first`
    """
    for v in range(codes.shape[1]):
        room[room[GIVEN] + v] = codes[row, v]
    clusters, widest = tree[CLUSTERS], tree[WIDEST]
    total = families_term(tree, clusters, room, work)
    position = first
    for c in range(clusters):
        begin = position
        room[room[STARTS] + c] = begin
        if is_observed(tree, c, room):
            term = families_term(tree, c, room, work)
            for place in range(tree[tree[CHILD_BEGINS] + c], tree[tree[CHILD_BEGINS] + c + 1]):
                term += work[room[room[STARTS] + tree[tree[CHILD] + place]]]
            work[position] = term
            position += 1
        else:
            n_axes, n_factors = lay_out(tree, c, room)
            entries = first_entry(n_axes, room)
            for _ in range(entries):
                work[position] = reduced(n_factors, widest, room, work, terms, largest)
                position += 1
                if entries > 1:
                    advance(n_axes, n_factors, widest, room)
        if is_root(tree, c):
            total += work[begin]
    return total


@kernel
def likelihoods(tree, codes, work, first, totals):
    """Fill totals (n,) with log P(observed cells of the row)."""
    room, terms = make_room(tree, codes.shape[1]), np.empty(tree[STATES])
    for row in range(codes.shape[0]):
        totals[row] = collect(tree, codes, row, False, room, work, first, terms)


@kernel
def posteriors(tree, codes, work, first, totals, answers):
    """Fill answers (n, r) with P(last cluster's variable, other observed cells) over its largest entry.

    totals  (n,) log P(observed cells), minus infinity if the row is impossible: its answers are zero
    """
    room, terms = make_room(tree, codes.shape[1]), np.empty(tree[STATES])
    for row in range(codes.shape[0]):
        totals[row] = collect(tree, codes, row, False, room, work, first, terms)
        _, n_factors = lay_out(tree, tree[CLUSTERS] - 1, room)
        peak = reduced(n_factors, tree[WIDEST], room, work, terms, True)
        for state in range(answers.shape[1]):
            answers[row, state] = np.exp(terms[state] - peak) if totals[row] > -np.inf else 0.0


@kernel
def expect(tree, codes, weights, work, first, sums, totals):
    """Add each row's expected family counts to sums, and fill totals (n,) with log P(observed cells).

    weights  (n,) of the rows; impossible rows are not counted
    sums     as long as `work`: counts in the place of each table entry, then room for one row

    Downwards a cluster has the probability of its separator, and shares each entry out among its own
    states; what falls to an entry is added to all factors there: to the counts of the families, and to the
    separators of the clusters below.
    """
    room, terms = make_room(tree, codes.shape[1]), np.empty(tree[STATES])
    clusters = tree[CLUSTERS]
    for row in range(codes.shape[0]):
        totals[row] = collect(tree, codes, row, False, room, work, first, terms)
        if totals[row] == -np.inf:
            continue
        count(tree, clusters, room, weights[row], sums)
        for c in range(clusters - 1, -1, -1):
            if is_observed(tree, c, room):
                above = weights[row] if is_root(tree, c) else sums[room[room[STARTS] + c]]
                count(tree, c, room, above, sums)
                for place in range(tree[tree[CHILD_BEGINS] + c], tree[tree[CHILD_BEGINS] + c + 1]):
                    sums[room[room[STARTS] + tree[tree[CHILD] + place]]] = above
            else:
                share_out(tree, c, room, weights[row], work, sums)


@kernel
def count(tree, c, room, weight, sums):
    """Count the families of a cluster without empty cells, or of the list at the end."""
    for place in range(tree[tree[FAMILY_BEGINS] + c], tree[tree[FAMILY_BEGINS] + c + 1]):
        sums[entry_of(tree, tree[tree[FAMILY] + place], room)] += weight


@kernel
def share_out(tree, c, room, weight, work, sums):
    """The expected counts of one cluster, and the probabilities of its children's separators."""
    separator, begins, widest = tree[SEPARATOR], tree[SEPARATOR_BEGINS], tree[WIDEST]
    for place in range(tree[tree[CHILD_BEGINS] + c], tree[tree[CHILD_BEGINS] + c + 1]):
        child = tree[tree[CHILD] + place]
        entries = 1
        for at in range(tree[begins + child], tree[begins + child + 1]):
            if room[room[GIVEN] + tree[separator + at]] < 0:
                entries *= tree[tree[SIZE] + tree[separator + at]]
        start = room[room[STARTS] + child]
        sums[start : start + entries] = 0.0
    n_axes, n_factors = lay_out(tree, c, room)
    start, states = room[room[STARTS] + c], room[room[EXTENTS]]
    offsets, strides = room[OFFSETS], room[STRIDES]
    entries = first_entry(n_axes, room)
    for entry in range(entries):
        above = weight if is_root(tree, c) else sums[start + entry]
        if above > 0.0:
            for state in range(states):
                share = above
                if states > 1:
                    term = -work[start + entry]
                    for k in range(n_factors):
                        term += work[room[offsets + k] + state * room[strides + k * widest]]
                    share *= np.exp(term)
                for k in range(n_factors):
                    sums[room[offsets + k] + state * room[strides + k * widest]] += share
        if entries > 1:
            advance(n_axes, n_factors, widest, room)


@kernel
def fill(tree, codes, largest, uniform, work, first, totals, filled):
    """Fill each row's empty cells, cluster by cluster from the last, given those already filled.

    largest  True: the values of the largest product, of equals the lowest state; False: drawn
    uniform  (draws, m) one number per empty cell, row by row, the clusters from the last to the first
    totals   (n,) log P(observed cells), or with `largest` log P(observed and filled cells)
    filled   (draws, n, p) overwritten; empty cells of impossible rows stay -1
    """
    room, terms = make_room(tree, codes.shape[1]), np.empty(tree[STATES])
    used = 0
    for row in range(codes.shape[0]):
        for draw in range(filled.shape[0]):
            filled[draw, row] = codes[row]
        totals[row] = collect(tree, codes, row, largest, room, work, first, terms)
        for c in range(tree[CLUSTERS] - 1, -1, -1):
            if room[room[GIVEN] + tree[tree[OWN] + c]] >= 0:
                continue
            if totals[row] > -np.inf:
                n_axes, n_factors = lay_out(tree, c, room)
                for draw in range(filled.shape[0]):
                    number = uniform[draw, used]
                    state = chosen(
                        n_axes, n_factors, tree[WIDEST], room, work, terms, largest, number, filled[draw, row]
                    )
                    filled[draw, row, tree[tree[OWN] + c]] = state
            used += 1


@kernel
def chosen(n_axes, n_factors, widest, room, work, terms, largest, number, cells):
    """The state of a cluster's own variable, given the filled cells of its separator."""
    axes, offsets, strides, states = room[AXES], room[OFFSETS], room[STRIDES], room[room[EXTENTS]]
    terms[:states] = 0.0
    for k in range(n_factors):
        place = room[offsets + k]
        for axis in range(1, n_axes):
            place += room[strides + k * widest + axis] * cells[room[axes + axis]]
        for state in range(states):
            terms[state] += work[place + state * room[strides + k * widest]]
    best = 0
    for state in range(states):
        if terms[state] > terms[best]:
            best = state
    return best if largest else drawn(states, terms[best], terms, number)


@kernel
def drawn(states, peak, terms, number):
    """A state in proportion to exp(terms), which are overwritten; never one of probability zero."""
    total = 0.0
    for state in range(states):
        terms[state] = np.exp(terms[state] - peak)
        total += terms[state]
    aim = number * total
    best = 0
    reached = 0.0
    for state in range(states):
        if terms[state] > 0.0:
            best = state
            reached += terms[state]
            if reached > aim:
                break
    return best
