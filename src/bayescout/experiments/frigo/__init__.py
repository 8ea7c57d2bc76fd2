"""Frigo (2009): greedy equivalence search held to the dependencies that tests find, against GES itself."""

from __future__ import annotations

from bayescout.experiments.frigo.discrete import FrigoDiscrete
from bayescout.experiments.frigo.gaussian import FrigoGaussian

__all__ = ["FrigoDiscrete", "FrigoGaussian"]
