"""Tests of independence that know the graph the data would come from."""

from __future__ import annotations

import math

from bayescout.graph.separation import d_separated
from bayescout.statistics.independence import Finding


class Oracle:
    """Answers from a known graph, by d-separation."""

    def __init__(self, dag):
        self.dag = dag

    def one(self, question):
        a, b, given = question
        apart = d_separated(self.dag, [a], [b], given)
        return Finding(0.0, 0.0, 1.0, "independent") if apart else Finding(math.inf, 0.0, 0.0, "dependent")

    def many(self, questions):
        return [self.one(question) for question in questions]
