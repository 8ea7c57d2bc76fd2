"""Frigo (2009): greedy equivalence search constrained by the dependences that tests find, against GES."""

from __future__ import annotations

from bayescout.experiments.frigo.discrete import FrigoDiscrete
from bayescout.experiments.frigo.gaussian import FrigoGaussian

__all__ = ["FrigoDiscrete", "FrigoGaussian"]
