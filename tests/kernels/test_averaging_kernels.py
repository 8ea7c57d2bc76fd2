"""The kernel of averaged one-dependence estimators beside the sum over parents, in plain Python."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.kernels.averaging import averaged_logs


@given(seed=st.integers(0, 10_000), k=st.integers(1, 5), own=st.booleans())
def test_logs_of_sums_over_parents(seed, k, own):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 5)), 6
    sizes = rng.integers(1, 4, p)
    starts = np.cumsum(sizes) - sizes
    s = int(sizes.sum())
    codes = np.array([rng.integers(0, size, n) for size in sizes], dtype=np.int32)
    counted = rng.integers(0, 3, s).astype(np.float64)
    first, given_ = rng.normal(size=(s, k)), rng.normal(size=(s, s, k))
    less_first, less_given = rng.normal(size=(s, k)), rng.normal(size=(s, s, k))
    truth = rng.integers(0, k, n) if own else np.full(n, -1)
    out = np.empty((n, k))
    averaged_logs(codes, starts, counted, first, given_, less_first, less_given, truth, out)
    for row in range(n):
        places = [int(start + code) for start, code in zip(starts, codes[:, row], strict=True)]
        parents = [place for place in places if counted[place] >= (2 if own else 1)]
        for c in range(k):
            one, two = (less_first, less_given) if truth[row] == c else (first, given_)
            terms = [exp(one[place, c] + sum(two[place, other, c] for other in places)) for place in parents]
            expected = log(sum(terms)) if terms else -np.inf
            assert out[row, c] == pytest.approx(expected, abs=1e-9)
