"""BDeu of every family at once, for few variables: a score is the term of the family's variables minus that
of the parents, so one term per subset of the variables is enough."""

import numpy as np

from bayescout.kernels.jit import kernel
from bayescout.kernels.popcount import popcount
from bayescout.kernels.reducing import _fixed, _on_grid, _rise, log_gamma

REMEMBERED = 64
"""Terms of counts below this are computed once per subset."""


@kernel
def subset_terms(data, fixed, prefix, out):
    """The Dirichlet term of every subset of the variables that has this prefix.

    data    (codes, weights, bitmaps, layout, lookup, terms) as in kernels.neighbours; every row counts once
    fixed   number of first variables whose membership is given by the bits of prefix
    out     (2**n,) float64   overwritten for the subsets with the prefix

    Variables are added one after the other, and each divides the cells made by those before it. A row that
    is alone in its cell stays alone, and from then on is only counted.
    """
    codes, cards, terms = data[0], data[3][0], data[5]
    n, total = codes.shape
    rows = np.empty((n + 1, total), dtype=np.int32)
    cells = np.empty((n + 1, total), dtype=np.int32)
    sizes = np.zeros((n + 1, 3), dtype=np.int64)  # rows not alone, cells they are in, rows alone
    states = np.ones(n + 1, dtype=np.float64)
    added = np.full(n + 1, -1, dtype=np.int64)
    for row in range(total):
        rows[0, row], cells[0, row] = row, 0
    sizes[0, 0], sizes[0, 1] = total, 1
    depth = 0
    for variable in range(fixed):
        if prefix >> variable & 1:
            _divide(codes[variable], cards[variable], rows, cells, sizes, depth)
            depth += 1
            states[depth] = states[depth - 1] * cards[variable]
    subset, base = prefix, depth
    out[subset] = _term(cells, sizes, depth, states[depth], terms)
    following = fixed
    while True:
        if following < n:
            _divide(codes[following], cards[following], rows, cells, sizes, depth)
            depth += 1
            states[depth] = states[depth - 1] * cards[following]
            added[depth] = following
            subset |= np.int64(1) << following
            out[subset] = _term(cells, sizes, depth, states[depth], terms)
            following += 1
        elif depth > base:
            following = added[depth] + 1
            subset ^= np.int64(1) << added[depth]
            depth -= 1
        else:
            return


@kernel
def _divide(column, states, rows, cells, sizes, depth):
    """Divide the cells at a depth by one more variable into those at the next depth."""
    m = sizes[depth, 0]
    counts = np.zeros(sizes[depth, 1] * states, dtype=np.int32)
    for i in range(m):
        counts[cells[depth, i] * states + column[rows[depth, i]]] += 1
    distinct = 0
    for cell in range(counts.shape[0]):
        if counts[cell] > 1:
            counts[cell] = distinct
            distinct += 1
        else:
            counts[cell] = -1
    kept = 0
    for i in range(m):
        row = rows[depth, i]
        number = counts[cells[depth, i] * states + column[row]]
        if number >= 0:
            rows[depth + 1, kept], cells[depth + 1, kept] = row, number
            kept += 1
    sizes[depth + 1, 0], sizes[depth + 1, 1] = kept, distinct
    sizes[depth + 1, 2] = sizes[depth, 2] + m - kept


@kernel
def _term(cells, sizes, depth, states, terms):
    """The sum over the cells of log Γ(N + a) - log Γ(a) with a = ess / states, as `sum_gamma` adds it."""
    scale = terms[1]
    a = terms[5] / states
    log_gamma_a = log_gamma(a)
    known = np.full(REMEMBERED, -1, dtype=np.int64)
    counts = np.zeros(sizes[depth, 1], dtype=np.int64)
    for i in range(sizes[depth, 0]):
        counts[cells[depth, i]] += 1
    units = sizes[depth, 2] * _fixed(_rise(np.int64(1), a, log_gamma_a), scale)
    filled = np.zeros(REMEMBERED, dtype=np.bool_)
    for cell in range(counts.shape[0]):
        count = counts[cell]
        if count < REMEMBERED:
            if not filled[count]:
                known[count] = _fixed(_rise(count, a, log_gamma_a), scale)
                filled[count] = True
            units += known[count]
        else:
            units += _fixed(_rise(count, a, log_gamma_a), scale)
    return _on_grid(units, np.int64(terms[2]), terms[3])


@kernel
def undominated_sets(family_terms, priors, child, rules, best, keep):
    """Mark the parent sets of a child that score more than each of their proper subsets.

    family_terms  (2**n,) float64   as subset_terms fills it
    priors        (2**n,) float64   the structure prior of each set of parents, added to its score
    rules         (3,) int64        allowed parents and required parents, as bits; the most parents
    best          (2**n,) float64   overwritten: the best score within each subset
    keep          (2**n,) bool      overwritten
    Returns the number of sets that the rules allow.
    """
    allowed, required, most = rules[0], rules[1], np.uint64(rules[2])
    bit = np.int64(1) << child
    looked_at = 0
    for subset in range(keep.shape[0]):
        keep[subset] = False
        best[subset] = -np.inf
        if subset & ~allowed or (subset & required) != required or popcount(np.uint64(subset)) > most:
            continue
        looked_at += 1
        top = -np.inf
        left = subset & ~required
        while left:
            low = left & -left
            top = max(top, best[subset ^ low])
            left ^= low
        score = family_terms[subset | bit] - family_terms[subset] + priors[subset]
        keep[subset] = score > top or subset == required
        best[subset] = max(score, top)
    return looked_at
