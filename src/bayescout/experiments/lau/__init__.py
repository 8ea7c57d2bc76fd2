"""Lau & Bush (2004): randomized first-ascent hill climbing under BIC and BD, and a genetic algorithm."""

from __future__ import annotations

from bayescout.experiments.lau.study import Lau

__all__ = ["Lau"]
