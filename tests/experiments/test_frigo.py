"""What is particular to the studies of I-map."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.experiments.frigo import FrigoDiscrete, FrigoGaussian
from bayescout.experiments.frigo.printed import F_OF_GES, KLD_OF_GES
from bayescout.experiments.frigo.runs import GES, compared, drawn_arcs, random_data, rates_of
from bayescout.experiments.frigo.scores import CHICKERING, DISCRETE_SCORES, FORMULAS, formula_of
from bayescout.experiments.frigo.view import gain, numbers, of
from bayescout.experiments.records import Record, Records
from bayescout.graph.separation import d_separated
from bayescout.scores.dirichlet import BDeu


def test_arcs_are_drawn_by_how_many_graphs_have_them():
    drawn = Counter(drawn_arcs(4, seed) for seed in range(2000))
    sets = {1: 6, 2: 15, 3: 20, 4: 15, 5: 6, 6: 1}
    assert set(drawn) == set(sets)
    for arcs, count in drawn.items():
        assert count / 2000 == pytest.approx(sets[arcs] / 63, abs=0.04)
    assert all(drawn_arcs(10, seed) <= 20 for seed in range(50))
    assert random_data("gaussian", 5, 100, 3) == random_data("gaussian", 5, 100, 3)


def test_rates_count_what_d_separation_says():
    truth = bs.random_network(6, arcs=6, kind="gaussian", seed=1)
    result = bs.learn(truth.sample(80, seed=1), "imap", score="bic")
    rates = rates_of(result, truth)
    found = {"dependent": [0, 0], "independent": [0, 0], "inconclusive": [0, 0]}
    for one in result.dependencies.entries:
        a, b, *given = (truth.dag.index(label) for label in (one.a, one.b, *one.given))
        found[one.answer][d_separated(truth.dag, [a], [b], given)] += 1
    (true_found, false_found), (missed, _) = found["dependent"], found["independent"]
    assert rates["fdr"] == pytest.approx(false_found / (true_found + false_found))
    assert rates["far"] == pytest.approx(missed / (missed + true_found))
    assert false_found > 0
    assert missed > 0


def test_rates_of_nothing_found_are_left_open():
    truth = bs.random_network(4, arcs=4, seed=1)
    rates = rates_of(bs.learn(truth.sample(5, seed=1), "imap", score="bic"), truth)
    assert rates["tested"] == rates["inconclusive"] > 0
    assert rates["fdr"] is rates["far"] is None


def test_searches_are_measured_on_the_same_rows():
    truth = bs.random_network(5, arcs=6, seed=2)
    table = truth.sample(400, seed=2)
    measures, results = compared(truth, table, {"ges": GES, "imap": "imap"}, "bic")
    for name, result in results.items():
        assert measures[name]["f"] == bs.compare(result, truth).adjacency_f1
        assert measures[name]["ratio"] == result.dag.n_arcs / 6
        assert measures[name]["kld"] == pytest.approx(
            bs.divergence(truth, bs.fit(result.dag, table, prior="laplace")).value
        )


def test_gains_are_positive_where_the_first_is_better():
    record = Record("k", "s", {}, {"ges": {"f": 0.5, "kld": 0.3}, "imap": {"f": 0.7, "kld": None}})
    assert gain("imap", "f")(record) == pytest.approx(0.2)
    assert gain("imap", "kld", smaller=True)(record) is None
    assert numbers(Records([record]), of("imap", "kld")) == ()


def test_the_printed_tables_are_whole():
    assert [len(row) for row in KLD_OF_GES.values()] == [5] * 4
    assert [len(row) for row in F_OF_GES.values()] == [6] * 8


def test_the_document_s_sizes_are_the_full_ones():
    full = FrigoDiscrete()
    parts = Counter(run["part"] for run in full.runs())
    assert parts["random"] == 7 * 8 * 30 * len(DISCRETE_SCORES)
    for score in ("bdeu", "bdeu-chickering"):
        collider = [run for run in full.runs() if run["part"] == "collider" and run["score"] == score]
        assert sum(run["seeds"][1] - run["seeds"][0] for run in collider) == 13_000
    assert Counter(run["part"] for run in FrigoGaussian().runs())["random"] == 17 * 8 * 30 * 2
    for study in (full, FrigoGaussian()):
        searches = {json.dumps(run["searches"]["ges"]) for run in study.runs()}
        assert searches == {json.dumps({"name": "ges", "turning": False, "repeat": False})}
    for wrong in ({"sets": 0}, {"graphs": True}, {"nodes": ()}, {"rows": (2,)}):
        with pytest.raises(SettingError):
            FrigoDiscrete(**wrong)


def test_chickering_s_prior_costs_log_1000_per_parameter():
    """BDeu of equivalent sample size 10 by rows in sequence, and the parameters counted by hand."""
    truth = bs.random_network(4, arcs=4, states=[2, 3, 2, 4], seed=3)
    table = truth.sample(300, seed=1)
    sizes = dict(zip(table.names, table.cardinalities.tolist(), strict=True))
    for dag in (truth.dag, bs.Dag.empty(truth.dag.nodes)):
        plain = bs.score(dag, table, BDeu(ess=10))
        parameters = sum(
            (sizes[node] - 1) * math.prod(sizes[parent] for parent in dag.parents_of(node))
            for node in dag.nodes
        )
        own = bs.score(dag, table, formula_of(FORMULAS[CHICKERING]))
        assert own == pytest.approx(plain - parameters * math.log(1000))


def test_chickering_s_score_is_equivalent():
    table = bs.random_network(3, arcs=3, states=[2, 3, 4], seed=5).sample(200, seed=5)
    a, b, _ = table.names
    formula = formula_of(FORMULAS[CHICKERING])
    one, two = (bs.Dag.from_arcs([arc], nodes=table.names) for arc in ((a, b), (b, a)))
    assert bs.score(one, table, formula) == pytest.approx(bs.score(two, table, formula))
