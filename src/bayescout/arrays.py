"""Types shared by all layers: arrays of numbers, and a child with its parents by position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Parents = tuple[int, ...]
Family = tuple[int, Parents]
"""A child and its parents, ascending, by position."""
