"""What is particular to the studies of I-map."""

from __future__ import annotations

from collections import Counter

import pytest

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.experiments.frigo import FrigoDiscrete, FrigoGaussian
from bayescout.experiments.frigo.printed import F_OF_GES, KLD_OF_GES
from bayescout.experiments.frigo.runs import compared, drawn_arcs, random_data, rates_of
from bayescout.experiments.frigo.view import gain, numbers, of
from bayescout.experiments.records import Record, Records
from bayescout.graph.separation import d_separated


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
    measures, results = compared(truth, table, ("ges", "imap"), "bic")
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
    assert parts["random"] == 7 * 8 * 30 * 2
    assert (
        sum(run["seeds"][1] - run["seeds"][0] for run in full.runs() if run["part"] == "collider") == 13_000
    )
    assert Counter(run["part"] for run in FrigoGaussian().runs())["random"] == 17 * 8 * 30
    for wrong in ({"sets": 0}, {"graphs": True}, {"nodes": ()}, {"rows": (2,)}):
        with pytest.raises(SettingError):
            FrigoDiscrete(**wrong)
