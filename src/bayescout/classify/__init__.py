"""Classifiers: networks whose structure is learned to predict one column, the class."""

from bayescout.classify.averaged import Averaged, fit_averaged
from bayescout.classify.classifier import STRUCTURES, Settings, fit_classifier
from bayescout.classify.factored import Factored, fit_factored
from bayescout.classify.structures import kdb, naive, tan
from bayescout.classify.training import Training

__all__ = [
    "STRUCTURES", "Averaged", "Factored", "Settings", "Training", "fit_averaged", "fit_classifier",
    "fit_factored", "kdb", "naive", "tan",
]  # fmt: skip
