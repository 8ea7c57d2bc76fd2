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
from tests.peers.make_mixed import look_alike, mixed_columns
from tests.reference.mixed import rows_by_configuration
from tests.scores.drawn_data import mixed_table

FROZEN = json.loads((Path(__file__).parent.parent / "peers" / "mixed.json").read_text(encoding="utf-8"))
NAMES = ("P", "Q", "R", "S")


@pytest.fixture(scope="module")
def table():
    codes, values = mixed_columns()
    drawn = mixed_table(codes, [2, 3], values)
    return bs.Table(NAMES, (("low", "high"), ("x", "y", "z"), None, None), drawn.codes, drawn.values)


def graph_of(written, nodes=NAMES):
    arcs = []
    for child, given in re.findall(r"\[(\w)\|?([\w:]*)\]", written):
        arcs += [(parent, child) for parent in given.split(":") if parent]
    return bs.Dag.from_arcs(arcs, nodes=nodes)


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


def test_scores_of_clgaussian_test_map_to_bnlearn():
    """On a table with the same sufficient statistics for the families of its network.

    Residuals are as small as 1e-5 of the variance, and correlations are rounded to 2**-42.
    """
    known = FROZEN["clgaussian.test"]
    codes, values = look_alike(known)
    drawn = mixed_table(codes, [2, 3, 4, 2], values)
    table = bs.Table(tuple("ABCFDEGH"), drawn.states, drawn.codes, drawn.values)
    dag = graph_of(known["network"], table.names)
    assert bs.score_parts(dag, table, "cg-bic").parameters == 51
    for name in ("loglik", "aic", "bic"):
        ours = bs.score(dag, table, f"cg-{name}") + unbiased(table, dag)
        assert ours == pytest.approx(known[f"{name}-cg"], rel=5e-11)
