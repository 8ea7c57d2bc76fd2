"""scikit-learn's own checks of estimators: every one, with no expected failures."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import bayescout as bs
from bayescout.sklearn import BayesianNetworkClassifier, Discretiser, StructureLearner

pytestmark = pytest.mark.filterwarnings("ignore::bayescout.errors.BayescoutWarning")

USUAL = [
    *(BayesianNetworkClassifier(name) for name in ("auto", "nb", "tan", "kdb", "aode", "blanket")),
    *(StructureLearner(), Discretiser(), Discretiser("mdl")),
]
OTHERS = [
    BayesianNetworkClassifier("hill-climb"),
    BayesianNetworkClassifier(bs.search.Tabu(), structure_score="bic", prior="bdeu"),
    BayesianNetworkClassifier("tan", structure_score="bdeu", discretise=4),
    BayesianNetworkClassifier("blanket", structure_score="bdeu"),
    StructureLearner("ges"),
    StructureLearner("hill-climb", discretise=3, structure_score="bdeu"),
    *(Discretiser(method, bins=4) for method in ("width", "kmeans", "hartemink")),
]
ARRAY_API = "check_array_api_input"
"""Skips itself unless SCIPY_ARRAY_API is set before SciPy is loaded, so it has a process of its own."""

IN_A_PROCESS = f"""
import warnings
from sklearn.utils.estimator_checks import estimator_checks_generator
from bayescout.sklearn import BayesianNetworkClassifier, Discretiser, StructureLearner
warnings.simplefilter("ignore")
for estimator in (BayesianNetworkClassifier(), StructureLearner("hill-climb"), Discretiser()):
    for own, check in estimator_checks_generator(estimator):
        if check.func.__name__ == {ARRAY_API!r}:
            check(own)
            print("passed")
"""


def checks(estimator):
    """(name, estimator, check) of every check."""
    found = [
        (getattr(check, "func", check).__name__, own, check)
        for own, check in estimator_checks_generator(estimator, legacy=True)
    ]
    assert len({name for name, _, _ in found}) > 40
    return [one for one in found if one[0] != ARRAY_API]


def pass_all(estimator):
    failed = []
    for name, own, check in checks(estimator):
        try:
            check(own)
        except Exception as error:  # every check is tried, so that one failure does not hide another
            failed.append((name, repr(error)))
    assert failed == []


@pytest.mark.parametrize("estimator", USUAL, ids=str)
def test_every_check_passes(estimator):
    pass_all(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", OTHERS, ids=str)
def test_every_check_passes_for_other_settings(estimator):
    pass_all(estimator)


@pytest.mark.slow
def test_the_check_of_array_libraries_passes():
    done = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.split() == ["passed"] * 3, done.stderr
