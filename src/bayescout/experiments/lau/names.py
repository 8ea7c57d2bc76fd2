"""Names of the study's runs, in their declarations and in its tables."""

from __future__ import annotations

SCORES = ("bic-laplace", "bic", "k2")
"""Scores; the document's searches use BIC with Bayesian correction, so that comes first."""

STARTS = ("empty", "random")
FULL = "full"
"""A start of our own: a random order with every arc that goes forward, as the document states no density."""

OTHER_RUNS = 20
"""The most runs of every combination on each of the other data sets."""

CLIMB, BEST_OF_16, EQUAL_WORK = "first-ascent", "best of 16", "best for equal work"
GENETIC = {
    "genetic-greedy": {"name": "genetic-greedy"},
    "genetic-greedy, shaken": {"name": "genetic-greedy", "shake": 2, "patience": 30},
    "genetic-greedy, patience 1": {"name": "genetic-greedy", "patience": 1},
    "genetic-greedy, patience 10": {"name": "genetic-greedy", "patience": 10},
    "genetic": {"name": "genetic"},
}
