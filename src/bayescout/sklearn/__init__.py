"""Estimators for scikit-learn: classifiers, structure learning as a density, and discretising.

They pass scikit-learn's own checks, so they work in pipelines, grid searches and cross-validation. Frames
with text, missing cells and states that were not seen before are taken as they are.
"""

from bayescout.errors import MissingExtraError

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn") from None

from bayescout.sklearn.classifier import BayesianNetworkClassifier
from bayescout.sklearn.discretiser import Discretiser
from bayescout.sklearn.learner import StructureLearner

__all__ = ["BayesianNetworkClassifier", "Discretiser", "StructureLearner"]
