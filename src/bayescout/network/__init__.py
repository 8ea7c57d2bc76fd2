"""Networks: graphs with parameters, which are fitted, sampled, queried and saved."""

from bayescout.network.conditional_gaussian import ConditionalGaussian, Regressions
from bayescout.network.constructors import DiscreteNetwork, GaussianNetwork
from bayescout.network.cpt import Cpt
from bayescout.network.distribution import (
    Distribution,
    GaussianDistribution,
    GaussianMixture,
    MixedDistribution,
)
from bayescout.network.fit import fit
from bayescout.network.likelihood import LogLikelihood
from bayescout.network.linear_gaussian import LinearGaussian, Regression
from bayescout.network.network import Network
from bayescout.network.node import NodeDistribution
from bayescout.network.random import random_network
from bayescout.network.tabular import Tabular

__all__ = [
    "ConditionalGaussian",
    "Cpt",
    "DiscreteNetwork",
    "Distribution",
    "GaussianDistribution",
    "GaussianMixture",
    "GaussianNetwork",
    "LinearGaussian",
    "LogLikelihood",
    "MixedDistribution",
    "Network",
    "NodeDistribution",
    "Regression",
    "Regressions",
    "Tabular",
    "fit",
    "random_network",
]
