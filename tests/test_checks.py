"""The random numbers of a seed."""

from __future__ import annotations

import numpy as np
import pytest

from bayescout.checks import generator
from bayescout.errors import SettingError


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), 2**32, 2**70 + 1])
def test_a_seed_has_the_numbers_of_pcg64(seed):
    expected = np.random.Generator(np.random.PCG64(int(seed))).random(5)
    assert generator(seed).random(5).tolist() == expected.tolist()
    assert generator(seed, 3).random(5).tolist() != expected.tolist()
    assert generator(seed, 3).random(5).tolist() != generator(seed, 4).random(5).tolist()


@pytest.mark.parametrize("seed", [-1, None, True, 1.0, "7"])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(SettingError, match=r"seed must be a whole number of at least 0, not .*; the same"):
        generator(seed)
