"""Names of the study's runs, in their declarations and in its tables."""

from __future__ import annotations

import math

LN10 = math.log(10)
SCORES = ("bic-printed", "bic", "k2", "entropy")
ORDERS = ("given", "none")
ALGORITHMS = {"GA": "elitist-ga", "UMDA": "umda", "PBIL": "pbil"}
K2 = "K2"
DOCUMENT, OURS, UNBOUNDED = "document", "ours", "unbounded"
