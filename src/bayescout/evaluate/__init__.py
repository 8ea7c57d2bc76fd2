"""Evaluation of learned networks: against the truth, on unseen data, and under resampling."""

from bayescout.evaluate.bootstrapping import bootstrap
from bayescout.evaluate.cross_validation import CrossValidation, Fold, cross_validate
from bayescout.evaluate.distance import Divergence, Impossible
from bayescout.evaluate.error_rates import ErrorRates, error_rates
from bayescout.evaluate.independence import IndependenceTest, independence_test
from bayescout.evaluate.information import (
    Information,
    MissedDependence,
    MissedDependences,
    missed_by_graph,
    missed_by_tests,
    mutual_information,
)
from bayescout.evaluate.kullback_leibler import divergence
from bayescout.evaluate.strengths import ArcStrength, ArcStrengths
from bayescout.evaluate.structure import adjacency_f, arc_ratio
from bayescout.evaluate.unseen import HeldOut, held_out

__all__ = [
    "ArcStrength",
    "ArcStrengths",
    "CrossValidation",
    "Divergence",
    "ErrorRates",
    "Fold",
    "HeldOut",
    "Impossible",
    "IndependenceTest",
    "Information",
    "MissedDependence",
    "MissedDependences",
    "adjacency_f",
    "arc_ratio",
    "bootstrap",
    "cross_validate",
    "divergence",
    "error_rates",
    "held_out",
    "independence_test",
    "missed_by_graph",
    "missed_by_tests",
    "mutual_information",
]
