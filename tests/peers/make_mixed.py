"""The mixed tables that R bnlearn's numbers in mixed.json are about.

One is drawn as R draws it. The other has the sufficient statistics of bnlearn's clgaussian.test for one
network, as bnlearn reports them: counts, and the coefficients and residual deviation of each regression.

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


def look_alike(known: dict) -> tuple[np.ndarray, np.ndarray]:
    """The codes of A, B, C, F and the values of D, E, G, H of a table with the known statistics."""
    rng = np.random.default_rng(0)
    counts = np.array(known["counts of C, B, F"])
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    c, b, f = np.unravel_index(rng.permutation(cells), counts.shape)
    a = np.empty_like(f)
    for state, of_a in enumerate(known["counts of F, A"]):
        a[f == state] = np.repeat([0, 1], of_a)
    h = _drawn(rng, known["H"], np.zeros_like(a), [])
    d = _drawn(rng, known["D"], a, [h])
    e = _drawn(rng, known["E"], b, [d])
    g = _drawn(rng, known["G"], 2 * f + a, [d, e])
    return np.array([a, b, c, f]), np.array([d, e, g, h])


def _drawn(rng: np.random.Generator, fit: dict, strata: np.ndarray, parents: list) -> np.ndarray:
    """A column whose regression within each stratum has these coefficients and this residual deviation."""
    found = np.empty(len(strata))
    for stratum, (coefficients, sd) in enumerate(zip(fit["coefficients"], fit["sd"], strict=True)):
        rows = strata == stratum
        design = np.column_stack([np.ones(rows.sum()), *(parent[rows] for parent in parents)])
        noise = rng.normal(size=len(design))
        for _ in range(2):
            noise -= design @ np.linalg.lstsq(design, noise, rcond=None)[0]
        free = len(design) - design.shape[1]
        found[rows] = design @ coefficients + noise * sd * np.sqrt(free / (noise @ noise))
    return found
