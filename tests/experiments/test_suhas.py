"""The suhas study: rates against another definition, the references, and findings that follow the records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.experiments.suhas import Suhas, findings
from bayescout.experiments.suhas.names import ALPHAS, BY_ALPHA, EXTENSIONS, FITNESS
from bayescout.experiments.suhas.population import Watched, arc_rates, rates
from bayescout.experiments.suhas.view import ORDERS, View, beats, reached
from bayescout.experiments.summary import NOT
from bayescout.experiments.tools import data_of, network_of, score_of
from bayescout.search.population.generation import living_of
from tests.experiments.changed_records import changed

TINY = Suhas.of_size("tiny")


@pytest.fixture(scope="module")
def records(tiny_studies):
    return tiny_studies("suhas")[1].records


@given(st.integers(1, 4).flatmap(lambda n: st.tuples(
    arrays.arrays(bool, (3, n, n)), arrays.arrays(bool, (n, n)))))  # fmt: skip
def test_rates_are_counted_cell_by_cell(case):
    """As the document's sums of indicators over genes, FN corrected."""
    graphs, truth = case
    precisions, recalls = [], []
    for graph in graphs:
        cells = list(zip(graph.ravel(), truth.ravel(), strict=True))
        tp = sum(bool(g and t) for g, t in cells)
        fp = sum(bool(g and not t) for g, t in cells)
        fn = sum(bool(t and not g) for g, t in cells)
        if tp + fp:
            precisions.append(tp / (tp + fp))
        if tp + fn:
            recalls.append(tp / (tp + fn))
    precision, recall = rates(graphs, truth)
    assert precision == (pytest.approx(np.mean(precisions)) if precisions else None)
    assert recall == (pytest.approx(np.mean(recalls)) if recalls else None)


def test_rates_of_a_run_are_those_of_compare():
    network = bs.random_network(nodes=5, arcs=6, seed=2)
    table = network.sample(400, seed=1)
    watched = Watched(bs.search.Holland(population=8, generations=4))
    result = bs.learn(table, watched, "mi-bic", seed=3)
    assert result.dag == bs.learn(table, watched.search, "mi-bic", seed=3).dag
    found = arc_rates(watched, result, network.dag)
    against = bs.compare(result.dag, network.dag)
    assert found["precision"] == pytest.approx(against.precision)
    assert found["recall"] == pytest.approx(against.recall)
    assert found["adjacency_precision"] == pytest.approx(against.adjacency_precision)
    assert found["adjacency_recall"] == pytest.approx(against.adjacency_recall)
    living = living_of(watched.problem, watched.last)
    assert len(living) == 8
    each = [bs.compare(bs.Dag(result.table.names, graph), network.dag) for graph in living.graphs]
    assert found["population_recall"] == pytest.approx(np.mean([c.recall for c in each]))
    claimed = [c.precision for c in each if c.learned_arcs]
    assert found["population_precision"] == pytest.approx(np.mean(claimed))


def test_a_run_is_what_learn_gives(records):
    record = records.where(part=FITNESS, extension="all three")[0]
    run = record.run
    search = bs.search.Holland(
        population=TINY.population,
        generations=TINY.generations,
        mean_parents=(run["nodes"] - 1) / 2,
        **EXTENSIONS["all three"],
    )
    result = bs.learn(data_of(run["data"]), search, score_of(run["score"]), seed=run["seed"])
    assert record.dag == result.dag
    assert record.measures["score"] == result.score
    assert record.measures["trace"]["mean"] == [step.facts["mean"] for step in result.trace]
    assert record.measures["reference"] == bs.score(
        network_of(run["data"]).dag, data_of(run["data"]), score_of(run["score"])
    )


def test_a_known_order_is_kept(records):
    for record in records.where(part=BY_ALPHA, order="known"):
        order = network_of(record.run["data"]).dag.order()
        place = {node: i for i, node in enumerate(order)}
        assert all(place[parent] < place[child] for parent, child in record.dag.arcs())


def test_the_way_to_the_reference(records):
    record = records.where(part=FITNESS)[0]
    known = {"unconnected": -1.0, "reference": 3.0}
    for score, share, better in ((-1.0, 0.0, False), (1.0, 0.5, False), (3.0, 1.0, True), (5.0, 1.5, True)):
        own = replace(record, measures={**record.measures, **known, "score": score})
        assert reached(own) == pytest.approx(share)
        assert beats(own) is better
    flat = replace(record, measures={**record.measures, "unconnected": 3.0, "reference": 3.0})
    assert reached(flat) is None


def test_values_of_alpha_span_those_of_the_full_study():
    assert Suhas().chosen_alphas("mi-bic") == ALPHAS["mi-bic"]
    assert Suhas(alphas=2).chosen_alphas("mi-bic") == (ALPHAS["mi-bic"][0], ALPHAS["mi-bic"][-1])
    assert Suhas(alphas=1).chosen_alphas("mi-bic") == ALPHAS["mi-bic"][:1]
    assert len(set(Suhas(alphas=5).chosen_alphas("mi-normalised"))) == 5
    assert Suhas(alphas=99).chosen_alphas("mi-bic") == ALPHAS["mi-bic"]


def finding(name, records, *arguments):
    return getattr(findings, name)(View(TINY, records), *arguments)


def test_the_effect_of_alpha_is_what_the_records_say(records):
    def by_alpha(rising):
        def change(record):
            alpha = record.run["score"]["alpha"]
            up, down = (0.9, 0.1) if alpha > 1 else (0.1, 0.9)
            return {
                f"{whose}{name}": up if rising is (name == "precision") else down
                for whose in ("population_", "")
                for name in ("precision", "recall")
            }

        return changed(records, change, part=BY_ALPHA)

    for order in ORDERS:
        assert finding("alpha_trades", by_alpha(True), "mi-bic", order).holds
        opposite = finding("alpha_trades", by_alpha(False), "mi-bic", order)
        assert opposite.verdict == NOT
        assert "precision from 0.90 to 0.10" in opposite.ours


def test_a_falling_maximum_is_found(records):
    assert finding("maximum_never_falls", records).holds
    (first, *_) = records.where(part=FITNESS)

    def fall(record):
        trace = record.measures["trace"]
        return {"trace": {**trace, "best_in_population": [*trace["best_in_population"][:-1], -1e9]}}

    broken = changed(records, fall, **first.run)
    assert not finding("maximum_never_falls", broken).holds


@pytest.mark.parametrize("holds", [True, False])
def test_findings_on_fitness_are_what_the_records_say(records, holds):
    value = 1e6 if holds else -1e6
    some = changed(records, lambda _: {"score": value, "precision": 0.9 if holds else 0.1})
    for name in ("approaches_reference", "sometimes_better", "precision_is_good"):
        assert finding(name, some).holds is holds
    full = changed(records, lambda _: {"arcs": 6 if holds else 3})
    assert finding("fills_with_rows", full).holds is holds


@pytest.mark.parametrize(
    "settings", [{"repeats": 0}, {"nodes": ()}, {"nodes": (2, 5)}, {"rows": 1.5}, {"generations": True}]
)
def test_impossible_sizes_are_refused(settings):
    with pytest.raises(SettingError, match="must be"):
        Suhas(**settings)


def test_no_first_generation_has_more_than_half_of_the_arcs_that_are_possible():
    """Two parents on average would be full graphs alone where five nodes have an order."""
    found = {}
    for run in Suhas().runs():
        possible = (run["nodes"] - 1) / (2 if run["order"] == "known" else 1)
        share = run["search"].get("mean_parents", bs.search.Holland().mean_parents) / possible
        found.setdefault((run["nodes"], run["order"]), set()).add(round(share, 4))
    assert found[5, "known"] == found[5, "unknown"] == {0.5}
    assert all(len(shares) == 1 and max(shares) <= 0.5 for shares in found.values())
