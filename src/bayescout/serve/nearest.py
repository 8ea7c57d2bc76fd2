"""The graph nearest to another one that keeps some knowledge."""

from __future__ import annotations

from typing import Any

from bayescout.data.table import Table
from bayescout.graph.dag import Dag
from bayescout.search import Knowledge
from bayescout.session import Session


def without_beliefs(known: Knowledge) -> Knowledge:
    """The rules alone; beliefs are part of the score."""
    return Knowledge(**(vars(known) | {"beliefs": {}}))


def nearest_dag(dag: Dag, knowledge: Knowledge, table: Table, score: Any, missing: str = "em") -> Dag:
    """What a session goes on from when it is given this knowledge with the graph in hand."""
    session = Session(table, "hill-climb", score, start=dag, missing=missing)
    return session.change_knowledge(without_beliefs(knowledge)).dag
