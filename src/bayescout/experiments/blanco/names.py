"""Names of the study's runs, in their declarations and in its tables."""

from __future__ import annotations

import math
from typing import Any

LN10 = math.log(10)
SCORES = ("bic-printed", "bic", "k2", "entropy")
ORDERS = ("given", "none")
ALGORITHMS = {"GA": "elitist-ga", "UMDA": "umda", "PBIL": "pbil"}
K2 = "K2"
DOCUMENT, CORRECTED, APART, UNBOUNDED = "document", "corrected", "apart", "unbounded"
SPARSE, HALF = "sparse", "half"
"""Settings of runs: as the document describes, UMDA corrected, single settings changed, no limit;
and first generations with few arcs, and with every arc as likely as not."""

SAMPLES, WEAK = "samples", ("asia", ("asia", "tub"))
"""Runs on other samples of a network, and the network with its weak arc that they are about."""

SPARSE_PARENTS = 0.1
"""Parents of a node in a sparse first generation, on average; the document does not say how dense its is."""

COUNTED = ("bic-printed", "k2")
"""Scores whose columns count; the limit on parents under entropy is ours, so its columns stand apart."""

FAR_ABOVE = ("water", "bic-printed")
"""The column in which every score is tens of thousands above the generating network's."""

CORRECTIONS = (0.05, 0.1, 0.25, 0.5, 1.0)
FITTED = 0.25
"""Corrections of UMDA that are tried, and the one of them that fits the printed generations best."""

GRID_RUNS, APART_RUNS = 3, 3
"""The most runs of each correction that is tried, and of each setting that is changed by itself."""

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "GA": {
        "distinct": {"distinct": True},
        "patience": {"patience": 3},
        "all": {"distinct": True, "patience": 3},
    },
    "UMDA": {
        "distinct": {"distinct": True},
        "patience": {"patience": 10},
        "all": {"correction": FITTED, "distinct": True, "patience": 10},
    },
    "PBIL": {
        "correction": {"correction": FITTED},
        "all": {"correction": FITTED, "distinct": True, "patience": 10},
    },
}
"""Settings that may make the difference, one at a time and together; run with K2."""

SETTINGS_RUNS = "runs with one setting changed at a time, table of settings"
"""What the page calls the runs behind reasons on single settings."""
