"""Networks: a graph with parameters, that is fitted, sampled, asked and saved."""

from bayescout.network.cpt import Cpt
from bayescout.network.discrete import DiscreteNetwork
from bayescout.network.distribution import Distribution, GaussianDistribution
from bayescout.network.fit import fit
from bayescout.network.gaussian import GaussianNetwork
from bayescout.network.likelihood import LogLikelihood
from bayescout.network.random import random_network

__all__ = [
    "Cpt",
    "DiscreteNetwork",
    "Distribution",
    "GaussianDistribution",
    "GaussianNetwork",
    "LogLikelihood",
    "fit",
    "random_network",
]
