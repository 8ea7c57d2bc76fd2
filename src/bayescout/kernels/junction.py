"""Message passing row by row over one junction tree, where every row has empty cells of its own.

The tree is that of an elimination order: cluster c holds one variable, `own[c]`, and the variables it is
summed out against, its separator, which are all eliminated later. The tables of families lie end to end in
`work`, as logarithms; the messages of a row are written behind them, each over the empty cells of its
separator only, so that a row costs what its empty cells ask for. Everything is in logarithms: nothing
underflows, and minus infinity is a true zero.

A tree is one tuple of int64 arrays (`network.junction.JunctionTree.arrays`):

own             (C,)  variable of each cluster, in the order of elimination
separator       end to end, those of cluster c from separator_begins[c]
families        end to end, those of cluster c from family_begins[c]; the last list, C, is of families none of
                whose variables can be empty
children        clusters whose message goes to cluster c, from child_begins[c]
member          variables of the families end to end, from member_begins[f]
stride          the stride of each member in the family's table
start           where the table of family f begins in `work`
sizes           states of each variable

Codes are (n, p) and -1 where a cell is empty.
"""

import numpy as np

from bayescout.kernels.jit import kernel


@kernel
def row_entries(tree, codes, entries):
    """Fill entries (n,) with the table entries that each row's messages are made from, as floats."""
    own, separator, separator_begins = tree[0], tree[1], tree[2]
    sizes = tree[10]
    for row in range(codes.shape[0]):
        total = 0.0
        for c in range(len(own)):
            made = float(sizes[own[c]]) if codes[row, own[c]] < 0 else 1.0
            for place in range(separator_begins[c], separator_begins[c + 1]):
                if codes[row, separator[place]] < 0:
                    made *= sizes[separator[place]]
            total += made
        entries[row] = total


@kernel
def lay_out(tree, c, given, starts, axis_of, axes, extents, offsets, strides):
    """The axes of cluster c in a row and the place of each of its factors; returns (axes, factors).

    given    (p,) codes of the row, -1 where empty
    starts   (C,) where each message begins in `work`
    axis_of  (p,) scratch
    axes     variables with empty cells, the cluster's own first (which may be observed: extent 1)
    extents  their numbers of states
    offsets  (k,) place in `work` of each factor's entry at all zeros; first families, then messages
    strides  (k, a) of each factor along each axis
    """
    own, separator, separator_begins = tree[0], tree[1], tree[2]
    families, family_begins, children, child_begins = tree[3], tree[4], tree[5], tree[6]
    member, member_begins, stride, sizes, start = tree[7], tree[8], tree[9], tree[10], tree[11]
    axes[0] = own[c]
    extents[0] = sizes[own[c]] if given[own[c]] < 0 else 1
    axis_of[own[c]] = 0
    n_axes = 1
    for place in range(separator_begins[c], separator_begins[c + 1]):
        variable = separator[place]
        if given[variable] < 0:
            axes[n_axes] = variable
            extents[n_axes] = sizes[variable]
            axis_of[variable] = n_axes
            n_axes += 1
    k = 0
    for place in range(family_begins[c], family_begins[c + 1]):
        family = families[place]
        offset = start[family]
        for axis in range(n_axes):
            strides[k, axis] = 0
        for at in range(member_begins[family], member_begins[family + 1]):
            code = given[member[at]]
            if code < 0:
                strides[k, axis_of[member[at]]] = stride[at]
            else:
                offset += stride[at] * code
        offsets[k] = offset
        k += 1
    for place in range(child_begins[c], child_begins[c + 1]):
        child = children[place]
        for axis in range(n_axes):
            strides[k, axis] = 0
        step = 1
        for at in range(separator_begins[child], separator_begins[child + 1]):
            variable = separator[at]
            if given[variable] < 0:
                strides[k, axis_of[variable]] = step
                step *= sizes[variable]
        offsets[k] = starts[child]
        k += 1
    return n_axes, k


@kernel
def is_observed(tree, c, given):
    """Return True if no cell of the cluster is empty."""
    own, separator, separator_begins = tree[0], tree[1], tree[2]
    least = given[own[c]]
    for place in range(separator_begins[c], separator_begins[c + 1]):
        least = min(least, given[separator[place]])
    return least >= 0


@kernel
def entry_of(tree, family, given):
    """The place in `work` of the entry of a family whose cells are all there."""
    member, member_begins, stride, start = tree[7], tree[8], tree[9], tree[11]
    offset = start[family]
    for at in range(member_begins[family], member_begins[family + 1]):
        offset += stride[at] * given[member[at]]
    return offset


@kernel
def observed_term(tree, c, given, work, starts):
    """The sum of the factors of a cluster without empty cells; its children's messages are single numbers."""
    families, family_begins, children, child_begins = tree[3], tree[4], tree[5], tree[6]
    total = 0.0
    for place in range(family_begins[c], family_begins[c + 1]):
        total += work[entry_of(tree, families[place], given)]
    for place in range(child_begins[c], child_begins[c + 1]):
        total += work[starts[children[place]]]
    return total


@kernel
def advance(n_axes, n_factors, extents, index, offsets, strides):
    """Go on to the next values of the separator, the first axis fastest."""
    for axis in range(1, n_axes):
        index[axis] += 1
        for k in range(n_factors):
            offsets[k] += strides[k, axis]
        if index[axis] < extents[axis]:
            return
        index[axis] = 0
        for k in range(n_factors):
            offsets[k] -= strides[k, axis] * extents[axis]


@kernel
def collect(tree, given, largest, work, first, starts, scratch):
    """All messages of one row, towards the last cluster; returns the log of their product at the roots.

    That is log P(observed cells), or with `largest` the log of the largest product over the empty cells.
    work     family tables in logs, then room for the messages, which begin at `first`
    """
    axis_of, axes, extents, index, offsets, strides, terms = scratch
    own, separator_begins = tree[0], tree[2]
    total = 0.0
    position = first
    for c in range(len(own)):
        starts[c] = position
        if is_observed(tree, c, given):
            work[position] = observed_term(tree, c, given, work, starts)
            if separator_begins[c] == separator_begins[c + 1]:
                total += work[position]
            position += 1
            continue
        n_axes, n_factors = lay_out(tree, c, given, starts, axis_of, axes, extents, offsets, strides)
        entries = 1
        for axis in range(1, n_axes):
            index[axis] = 0
            entries *= extents[axis]
        for _ in range(entries):
            work[position] = reduced(n_factors, extents[0], offsets, strides, work, terms, largest)
            position += 1
            if entries > 1:
                advance(n_axes, n_factors, extents, index, offsets, strides)
        if separator_begins[c] == separator_begins[c + 1]:
            total += work[starts[c]]
    return total + loose(tree, given, work)


@kernel
def loose(tree, given, work):
    """The log-probability of the families none of whose cells can be empty."""
    families, family_begins = tree[3], tree[4]
    c = len(tree[0])
    total = 0.0
    for place in range(family_begins[c], family_begins[c + 1]):
        total += work[entry_of(tree, families[place], given)]
    return total


@kernel
def reduced(n_factors, states, offsets, strides, work, terms, largest):
    """The log-sum, or the largest, over the cluster's own variable of the sum of its factors' logs."""
    peak = -np.inf
    for state in range(states):
        term = 0.0
        for k in range(n_factors):
            term += work[offsets[k] + state * strides[k, 0]]
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
def room(tree, p):
    """Scratch for one row at a time."""
    own, separator_begins, family_begins, child_begins, sizes = tree[0], tree[2], tree[4], tree[6], tree[10]
    widest, most = 1, 1
    for c in range(len(own)):
        widest = max(widest, separator_begins[c + 1] - separator_begins[c] + 1)
        factors = family_begins[c + 1] - family_begins[c] + child_begins[c + 1] - child_begins[c]
        most = max(most, factors)
    return (
        np.zeros(p, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, widest), dtype=np.int64),
        np.zeros(max(1, sizes.max()), dtype=np.float64),
    )


@kernel
def likelihoods(tree, codes, work, first, totals):
    """Fill totals (n,) with log P(observed cells of the row)."""
    n, p = codes.shape
    scratch = room(tree, p)
    given = np.empty(p, dtype=np.int64)
    starts = np.empty(len(tree[0]), dtype=np.int64)
    for row in range(n):
        for v in range(p):
            given[v] = codes[row, v]
        totals[row] = collect(tree, given, False, work, first, starts, scratch)


@kernel
def posteriors(tree, codes, work, first, totals, answers):
    """Fill answers (n, r) with P(last cluster's variable, other observed cells) over its largest entry.

    totals  (n,) log P(observed cells), minus infinity if the row is impossible: its answers are zero
    """
    n, p = codes.shape
    scratch = room(tree, p)
    given = np.empty(p, dtype=np.int64)
    last = len(tree[0]) - 1
    starts = np.empty(last + 1, dtype=np.int64)
    axis_of, axes, extents, _, offsets, strides, terms = scratch
    for row in range(n):
        for v in range(p):
            given[v] = codes[row, v]
        totals[row] = collect(tree, given, False, work, first, starts, scratch)
        _, n_factors = lay_out(tree, last, given, starts, axis_of, axes, extents, offsets, strides)
        peak = reduced(n_factors, extents[0], offsets, strides, work, terms, True)
        for state in range(extents[0]):
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
    n, p = codes.shape
    scratch = room(tree, p)
    given = np.empty(p, dtype=np.int64)
    starts = np.empty(len(tree[0]) + 1, dtype=np.int64)
    for row in range(n):
        for v in range(p):
            given[v] = codes[row, v]
        totals[row] = collect(tree, given, False, work, first, starts, scratch)
        if totals[row] == -np.inf:
            continue
        for c in range(len(tree[0]) - 1, -1, -1):
            share_out(tree, c, given, weights[row], work, starts, sums, scratch)
        count_observed(tree, len(tree[0]), given, weights[row], sums)


@kernel
def share_out(tree, c, given, weight, work, starts, sums, scratch):
    """The expected counts of one cluster, and the probabilities of its children's separators."""
    axis_of, axes, extents, index, offsets, strides, _ = scratch
    separator, separator_begins, children, child_begins, sizes = tree[1], tree[2], tree[5], tree[6], tree[10]
    is_root = separator_begins[c] == separator_begins[c + 1]
    if is_observed(tree, c, given):
        above = weight if is_root else sums[starts[c]]
        count_observed(tree, c, given, above, sums)
        for place in range(child_begins[c], child_begins[c + 1]):
            sums[starts[children[place]]] = above
        return
    n_axes, n_factors = lay_out(tree, c, given, starts, axis_of, axes, extents, offsets, strides)
    for place in range(child_begins[c], child_begins[c + 1]):
        child = children[place]
        entries = 1
        for at in range(separator_begins[child], separator_begins[child + 1]):
            if given[separator[at]] < 0:
                entries *= sizes[separator[at]]
        for entry in range(entries):
            sums[starts[child] + entry] = 0.0
    entries = 1
    for axis in range(1, n_axes):
        index[axis] = 0
        entries *= extents[axis]
    for entry in range(entries):
        above = weight if is_root else sums[starts[c] + entry]
        if above > 0.0:
            for state in range(extents[0]):
                term = -work[starts[c] + entry]
                for k in range(n_factors):
                    term += work[offsets[k] + state * strides[k, 0]]
                share = above if extents[0] == 1 else above * np.exp(term)
                for k in range(n_factors):
                    sums[offsets[k] + state * strides[k, 0]] += share
        if entries > 1:
            advance(n_axes, n_factors, extents, index, offsets, strides)


@kernel
def count_observed(tree, c, given, weight, sums):
    """Count the families of a cluster, or of the list at the end, whose cells are all there."""
    families, family_begins = tree[3], tree[4]
    for place in range(family_begins[c], family_begins[c + 1]):
        sums[entry_of(tree, families[place], given)] += weight


@kernel
def fill(tree, codes, largest, uniform, work, first, totals, filled):
    """Fill each row's empty cells, cluster by cluster from the last, given those already filled.

    largest  True: the values of the largest product, of equals the lowest state; False: drawn
    uniform  (draws, m) one number per empty cell, row by row in the order of `own` reversed
    totals   (n,) log P(observed cells), or with `largest` log P(observed and filled cells)
    filled   (draws, n, p) overwritten; empty cells of impossible rows stay -1
    """
    n, p = codes.shape
    draws = filled.shape[0]
    scratch = room(tree, p)
    axis_of, axes, extents, _, offsets, strides, terms = scratch
    own = tree[0]
    given = np.empty(p, dtype=np.int64)
    starts = np.empty(len(own), dtype=np.int64)
    used = 0
    for row in range(n):
        for v in range(p):
            given[v] = codes[row, v]
            for draw in range(draws):
                filled[draw, row, v] = given[v]
        totals[row] = collect(tree, given, largest, work, first, starts, scratch)
        for c in range(len(own) - 1, -1, -1):
            if given[own[c]] >= 0:
                continue
            if totals[row] > -np.inf:
                n_axes, n_factors = lay_out(tree, c, given, starts, axis_of, axes, extents, offsets, strides)
                for draw in range(draws):
                    choose(
                        n_axes, n_factors, axes, extents, offsets, strides, work, terms, largest,
                        uniform[draw, used], filled[draw, row],
                    )  # fmt: skip
            used += 1


@kernel
def choose(n_axes, n_factors, axes, extents, offsets, strides, work, terms, largest, uniform, filled):
    """Fill the cell of a cluster's own variable, given the filled cells of its separator."""
    peak = -np.inf
    best = 0
    for state in range(extents[0]):
        term = 0.0
        for k in range(n_factors):
            place = offsets[k] + state * strides[k, 0]
            for axis in range(1, n_axes):
                place += strides[k, axis] * filled[axes[axis]]
            term += work[place]
        terms[state] = term
        if term > peak:
            peak = term
            best = state
    if not largest:
        best = drawn(extents[0], peak, terms, uniform)
    filled[axes[0]] = best


@kernel
def drawn(states, peak, terms, uniform):
    """A state in proportion to exp(terms), which are overwritten; never one of probability zero."""
    total = 0.0
    for state in range(states):
        terms[state] = np.exp(terms[state] - peak)
        total += terms[state]
    aim = uniform * total
    best = 0
    reached = 0.0
    for state in range(states):
        if terms[state] > 0.0:
            best = state
            reached += terms[state]
            if reached > aim:
                break
    return best


@kernel
def sweep(tree, nearby, nearby_begins, order, codes, work, uniform, filled):
    """One sweep of Gibbs sampling: each empty cell drawn given all other cells of its row.

    nearby   families of each variable end to end, from nearby_begins[v]
    order    (p,) the order in which the cells of a row are drawn
    codes    (n, p) -1 where a cell is empty
    uniform  (m,) one number per empty cell
    filled   (n, p) changed in place; a cell that is still -1 has not been drawn yet, and families with
             such a cell are left out
    """
    member, member_begins, stride, sizes, start = tree[7], tree[8], tree[9], tree[10], tree[11]
    n, p = codes.shape
    terms = np.zeros(max(1, sizes.max()), dtype=np.float64)
    used = 0
    for row in range(n):
        for turn in range(p):
            v = order[turn]
            if codes[row, v] >= 0:
                continue
            terms[: sizes[v]] = 0.0
            for place in range(nearby_begins[v], nearby_begins[v + 1]):
                offset, step, whole = start[nearby[place]], 0, True
                for at in range(member_begins[nearby[place]], member_begins[nearby[place] + 1]):
                    if member[at] == v:
                        step = stride[at]
                    elif filled[row, member[at]] < 0:
                        whole = False
                    else:
                        offset += stride[at] * filled[row, member[at]]
                if whole:
                    for state in range(sizes[v]):
                        terms[state] += work[offset + state * step]
            peak = -np.inf
            for state in range(sizes[v]):
                peak = max(peak, terms[state])
            filled[row, v] = drawn(sizes[v], peak, terms, uniform[used])
            used += 1
