"""The mixed table that R bnlearn's numbers in mixed.json are about, drawn as R draws it.

R's generator is the Mersenne Twister with a seed scrambled by a congruence; `sample` takes random bits and
rejects those out of range, and `rnorm` inverts the normal distribution at 27 + 32 bits.
"""

from __future__ import annotations

import numpy as np

BITS_27 = 134217728
ROWS = 800


class RStream:
    """R's random numbers after set.seed(seed), as of R 3.6."""

    def __init__(self, seed: int) -> None:
        numbers = []
        for _ in range(50 + 625):
            seed = (69069 * seed + 1) % 2**32
            numbers.append(seed)
        self.twister = np.random.MT19937()
        key = np.array(numbers[51:], dtype=np.uint32)
        self.twister.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 624}}

    def uniform(self) -> float:
        return int(self.twister.random_raw()) * 2.3283064365386963e-10

    def below(self, n: int) -> int:
        bits = (n - 1).bit_length()
        while True:
            drawn = int(self.uniform() * 65536) % 2**bits
            if drawn < n:
                return drawn

    def normal(self) -> float:
        from scipy.special import ndtri

        return float(ndtri((int(BITS_27 * self.uniform()) + self.uniform()) / BITS_27))


def mixed_columns() -> tuple[np.ndarray, np.ndarray]:
    """The codes of P (low, high) and Q (x, y, z), and the values of R and S."""
    stream = RStream(42)
    p, q = (np.array([stream.below(n) for _ in range(ROWS)]) for n in (2, 3))
    r, s = (np.array([stream.normal() for _ in range(ROWS)]) for _ in range(2))
    return np.array([p, q]), np.array([r, s + 3 * (p + 1) + 0.5 * r])
