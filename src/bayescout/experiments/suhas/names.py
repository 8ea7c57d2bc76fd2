"""Names of the study's runs, in their declarations and in its tables."""

from __future__ import annotations

from typing import Any

FORMS = ("mi-bic", "mi-normalised")
ALPHA = {"mi-bic": 0.5, "mi-normalised": 0.1}
"""The α at which fitness is followed by generation: BIC's own charge, and one with few arcs on 5 nodes."""

ALPHAS = {
    "mi-bic": (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0),
    "mi-normalised": (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
}
FIRST_PARENTS = 2.0
"""Parents of a node, on average, in the first generation: the default of the search."""

EXTENSIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "variable size": {"growth": 0.1, "largest": 200},
    "time to live": {"lifetime": 5.0},
    "epidemics": {"growth": 0.1, "largest": 200, "epidemic": 0.3},
    "all three": {"growth": 0.5, "largest": 200, "lifetime": 10.0, "epidemic": 0.3},
}
"""The document gives no values; these keep the population between its first size and twice that."""

FITNESS, BY_ALPHA, BY_ROWS = "fitness", "alpha", "rows"
