"""The scores of every one-arc neighbour of a family, counted and reduced in one call.

The work of `Scorer.extensions` and `many` without their several calls, for searches of many small steps.
Both give the same numbers to the bit: they call the same counting and reducing kernels.

`data` is (codes, weights, bitmaps, layout, lookup, terms) for discrete tables. `lookup` is None for the
second form of score, so that what a score does not need is not compiled. `terms` describes the score:
  [LIKELIHOOD, units per nat, log2 units per step, step, charge per parameter, 0]
  [DIRICHLET,  units per nat, log2 units per step, step, prior of a cell, 0] or, if the prior is spread
  over the cells of the table (BDeu), [DIRICHLET, ..., 0, equivalent sample size]
"""

import numpy as np

from bayescout.kernels import plain
from bayescout.kernels.counting import count_bits, count_scatter, count_weighted, number_cells, sum_over
from bayescout.kernels.jit import by_type, is_none
from bayescout.kernels.limits import MASKED_CELLS
from bayescout.kernels.patience import part, patient
from bayescout.kernels.reducing import sum_gamma, sum_xlogx


def _filling(data, rules, graph, children):
    """The seconds of `fill_rows` uncompiled."""
    variables, rows = data[0].shape
    return children.shape[0] * (4e-4 + (4e-9 if data[1].shape[0] == 0 else 3e-8) * variables * rows)


@patient(1.5, _filling)
def fill_rows(data, rules, graph, children):
    """Gains of additions to and removals from the parents of some children.

    data      as above
    rules     (allowed (n, n) bool [parent, child], required (n, n) bool, max_parents (n,) int64)
    graph     (adjacent (n, n) bool [parent, child], gains (n, n) float64 [child, parent],
               removals (n, n) float64 [child, parent], locals (n,) float64, tops (n,) float64); rows of
               gains and removals, local scores and the largest gains are overwritten for the children
    children  (k,) int64
    Returns the number of neighbours scored.
    """
    allowed, required, max_parents = rules
    adjacent, gains, removals, local_scores, tops = graph
    scored = 0
    for child in children:
        family = _family(adjacent, child)
        candidates = _candidates(allowed, adjacent, max_parents, child, family.shape[0] - 1)
        scores = _neighbour_scores(data, family, candidates)
        c = candidates.shape[0]
        own = scores[c]
        local_scores[child] = own
        gains[child, :] = -np.inf
        removals[child, :] = -np.inf
        tops[child] = -np.inf
        for i in range(c):
            gains[child, candidates[i]] = scores[i] - own
            tops[child] = max(tops[child], scores[i] - own)
        for i in range(family.shape[0] - 1):
            if not required[family[i], child]:
                removals[child, family[i]] = scores[c + 1 + i] - own
        scored += scores.shape[0]
    return scored


def _filling_lists(data, entries, graph, children):
    """The seconds of `fill_entries` uncompiled."""
    some = entries[1].shape[0] / max(1, entries[0].shape[0] - 1)
    return children.shape[0] * (4e-4 + (4e-9 if data[1].shape[0] == 0 else 3e-8) * some * data[0].shape[1])


@patient(1.5, _filling_lists)
def fill_entries(data, entries, graph, children):
    """Gains of additions to and removals from the parents of some children, among their candidates.

    data      as above
    entries   (starts (n + 1,) int64, ends (m,) int32, allowed (m,) bool, required (m,) bool,
               limits (n,) int64), as in `scores.entry_gains.Entries`
    graph     (joined (m,) bool, gains (m,) float64, locals (n,) float64): whether the arc of each entry is
               there; the gain of removing it if it is and else of adding it; the score of each child. The
               two are overwritten for the children
    children  (k,) int64
    Returns the number of neighbours scored.
    """
    starts, ends, allowed, required, limits = entries
    joined, gains, local_scores = graph
    scored = 0
    for child in children:
        first, last = starts[child], starts[child + 1]
        family = np.empty(last - first + 1, dtype=np.int64)
        candidates = np.empty(last - first, dtype=np.int64)
        k, c = 0, 0
        for entry in range(first, last):
            if joined[entry]:
                family[k] = ends[entry]
                k += 1
        family[k] = child
        for entry in range(first, last):
            if k < limits[child] and allowed[entry] and not joined[entry]:
                candidates[c] = ends[entry]
                c += 1
        scores = _neighbour_scores(data, family[: k + 1], candidates[:c])
        local_scores[child] = scores[c]
        one, two = 0, c + 1
        for entry in range(first, last):
            gains[entry] = -np.inf
            if joined[entry]:
                if not required[entry]:
                    gains[entry] = scores[two] - scores[c]
                two += 1
            elif k < limits[child] and allowed[entry]:
                gains[entry] = scores[one] - scores[c]
                one += 1
        scored += scores.shape[0]
    return scored


@part
def _family(adjacent, child):
    """The family [parents..., child], with the parents in rising order."""
    n = adjacent.shape[0]
    family = np.empty(n, dtype=np.int64)
    k = 0
    for parent in range(n):
        if adjacent[parent, child]:
            family[k] = parent
            k += 1
    family[k] = child
    return family[: k + 1]


@part
def _candidates(allowed, adjacent, max_parents, child, n_parents):
    n = adjacent.shape[0]
    candidates = np.empty(n, dtype=np.int64)
    k = 0
    if n_parents < max_parents[child]:
        for parent in range(n):
            if allowed[parent, child] and not adjacent[parent, child]:
                candidates[k] = parent
                k += 1
    return candidates[:k]


@part
def _neighbour_scores(data, family, candidates):
    """Scores of the extensions, of the family itself, and of the family without each parent."""
    cards = data[3][0]
    c, k = candidates.shape[0], family.shape[0] - 1
    r = cards[family[k]]
    cells = 1
    for variable in family:
        cells *= cards[variable]
    starts = np.empty(c + k + 2, dtype=np.int64)
    configurations = np.empty(c + k + 1, dtype=np.float64)
    end = 0
    for i in range(c):
        starts[i] = end
        end += cells * cards[candidates[i]]
        configurations[i] = float(cells // r * cards[candidates[i]])
    starts[c] = end
    end += cells
    configurations[c] = float(cells // r)
    for i in range(k):
        starts[c + 1 + i] = end
        end += cells // cards[family[i]]
        configurations[c + 1 + i] = float(cells // r // cards[family[i]])
    starts[c + k + 1] = end
    counts = np.empty(end, dtype=np.int64)
    _count(data, family, candidates, starts, counts)
    own = counts[starts[c] : starts[c + 1]]
    inner = r
    for i in range(k - 1, -1, -1):
        sum_over(own, inner, cards[family[i]], counts[starts[c + 1 + i] : starts[c + 2 + i]])
        inner *= cards[family[i]]
    return _scores(counts, starts, r, configurations, data[4], data[5])


@part(instead=plain.count_neighbours)
def _count(data, family, candidates, starts, counts):
    """Count the extensions and the family itself, each candidate by the cheaper engine."""
    codes, weights, bitmaps, layout = data[0], data[1], data[2], data[3]
    cards, first = layout[0], layout[1]
    c = candidates.shape[0]
    base = starts[c + 1] - starts[c]
    sliced = weights.shape[0] == 0 and base <= MASKED_CELLS
    for variable in family:
        sliced = sliced and first[variable] >= 0
    masked, other = np.empty(c, dtype=np.int64), np.empty(c, dtype=np.int64)
    masked_starts, other_starts = np.empty(c + 1, dtype=np.int64), np.empty(c + 1, dtype=np.int64)
    m, o = 0, 0
    for i in range(c):
        states = cards[candidates[i]]
        if sliced and first[candidates[i]] >= 0 and base * (states - 1) <= MASKED_CELLS:
            masked[m], masked_starts[m] = candidates[i], starts[i]
            m += 1
        else:
            other[o], other_starts[o] = candidates[i], starts[i]
            o += 1
    masked_starts[m], other_starts[o] = starts[c], starts[c]
    if sliced:
        count_bits(bitmaps, first, cards, family, masked[:m], masked_starts[: m + 1], counts)
    if o > 0 or not sliced:
        ids = np.empty(codes.shape[1], dtype=np.uint32)
        number_cells(codes, cards, family, ids)
        shape = np.empty(2, dtype=np.int64)
        shape[1] = cards[family[family.shape[0] - 1]]
        shape[0] = base // shape[1]
        if weights.shape[0] == 0:
            count_scatter(codes, cards, ids, shape, other[:o], other_starts[: o + 1], counts)
        else:
            count_weighted(codes, cards, ids, shape, weights, other[:o], other_starts[: o + 1], counts)


@by_type
def _scores(counts, starts, r, configurations, lookup, terms):
    """The score of each table, by the form of the score."""
    return _dirichlet_scores if is_none(lookup) else _likelihood_scores


def _likelihood_scores(counts, starts, r, configurations, lookup, terms):
    m = configurations.shape[0]
    scores = np.empty(m, dtype=np.float64)
    sums = np.empty((3, m), dtype=np.float64)
    sum_xlogx(counts, starts, np.full(m, r), lookup, terms[1:4], sums)
    for i in range(m):
        scores[i] = sums[0, i] - sums[1, i] - terms[4] * (configurations[i] * (r - 1))
    return scores


def _dirichlet_scores(counts, starts, r, configurations, lookup, terms):
    m = configurations.shape[0]
    scores = np.empty(m, dtype=np.float64)
    priors = np.empty((2, m), dtype=np.float64)
    for i in range(m):
        if terms[5] > 0:
            priors[0, i] = terms[5] / (configurations[i] * r)
            priors[1, i] = terms[5] / configurations[i]
        else:
            priors[0, i] = terms[4]
            priors[1, i] = terms[4] * r
    sums = np.empty((2, m), dtype=np.float64)
    sum_gamma(counts, starts, np.full(m, r), priors, terms[1:4], sums)
    for i in range(m):
        scores[i] = sums[0, i] - sums[1, i]
    return scores
