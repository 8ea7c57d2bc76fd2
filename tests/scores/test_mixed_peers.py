"""Conditional Gaussian scores against numbers of R bnlearn, through the declared map of its variances."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import bayescout as bs
from bayescout.scores import bind
from tests.peers.make_mixed import mixed_columns
from tests.reference.mixed import rows_by_configuration
from tests.scores.drawn_data import mixed_table

FROZEN = json.loads((Path(__file__).parent.parent / "peers" / "mixed.json").read_text(encoding="utf-8"))
NAMES = ("P", "Q", "R", "S")


@pytest.fixture(scope="module")
def table():
    codes, values = mixed_columns()
    drawn = mixed_table(codes, [2, 3], values)
    return bs.Table(NAMES, (("low", "high"), ("x", "y", "z"), None, None), drawn.codes, drawn.values)


def graph_of(written):
    arcs = []
    for child, given in re.findall(r"\[(\w)\|?([\w:]*)\]", written):
        arcs += [(parent, child) for parent in given.split(":") if parent]
    return bs.Dag.from_arcs(arcs, nodes=NAMES)


def unbiased(table, dag):
    """What densities at the unbiased variances are above those at maximum likelihood, over all families."""
    shift = 0.0
    for child, parents in enumerate(dag.parents):
        if table.states[child] is None:
            k = sum(table.states[p] is None for p in parents)
            for rows in rows_by_configuration(table, parents):
                n = len(rows)
                shift += (k + 1) / 2 - n / 2 * math.log(n / (n - k - 1))
    return shift


@pytest.mark.parametrize("written", FROZEN["networks"])
def test_scores_map_to_bnlearn(table, written):
    dag = graph_of(written)
    for name, value in FROZEN["networks"][written].items():
        ours = bs.score(dag, table, f"cg-{name.removesuffix('-cg')}")
        assert ours + unbiased(table, dag) == pytest.approx(value, abs=1e-7)


def test_what_bnlearn_learns_is_learned(table):
    for name, written in FROZEN["learned"].items():
        found = bs.learn(table, "optimal", f"cg-{name.removesuffix('-cg')}")
        assert found.dag.cpdag() == graph_of(written).cpdag()
    scorer = bind("bic", table)
    assert scorer.local(3, (0, 2)) == bind("cg-bic", table).local(3, (0, 2))
    assert np.isfinite(scorer.extensions(3, (0,), [1, 2])).all()
