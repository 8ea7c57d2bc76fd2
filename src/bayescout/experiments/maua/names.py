"""Names of the study's runs, in their declarations and in its tables."""

from __future__ import annotations

HANDCRAFTED = "handcrafted"
SAMPLING, CLIMBING, RESTARTS, INSERTION = "order sampling", "order climbing", "restarts", "insertion, ours"
APPROACHES = (SAMPLING, CLIMBING, RESTARTS, INSERTION)
