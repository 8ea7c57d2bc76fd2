"""The maua study: the networks kept on new rows, and findings that follow the records."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import bayescout as bs
from bayescout.data.write import write_table
from bayescout.errors import SettingError
from bayescout.experiments import Records, run_study
from bayescout.experiments.maua import Maua, findings, tables
from bayescout.experiments.maua.names import APPROACHES, CLIMBING, HANDCRAFTED, RESTARTS, SAMPLING
from bayescout.experiments.maua.study import on_unseen
from bayescout.experiments.maua.view import View, bests, pooled
from bayescout.report.study import markdown
from tests.experiments.changed_records import changed

TINY = Maua.of_size("tiny")


@pytest.fixture(scope="module")
def records(tiny_studies):
    return tiny_studies("maua")[1].records


@pytest.fixture(scope="module")
def view(records):
    return View(TINY, records)


def seen(records, change, **declared):
    """A view of the records with other measures where they were declared so."""
    return View(TINY, changed(records, change, **declared))


# ---- what is run


def test_train_and_test_are_different_rows_of_one_network():
    for data in Maua().sets():
        assert data["train"]["network"] == data["test"]["network"] == data["handcrafted"]
        assert data["train"]["seed"] != data["test"]["seed"]
        assert data["test"]["rows"] == 10_000
    assert {data["train"]["rows"] for data in Maua().sets()} == {1_000, 10_000}


@pytest.mark.parametrize(
    "settings",
    [
        {"repeats": 0}, {"top": True}, {"rows": ()}, {"networks": "asia"}, {"train": "a.csv"},
        {"test": "a.csv"}, {"handcrafted": "asia"}, {"other": 1},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(settings):
    with pytest.raises(SettingError):
        Maua.of_size("full", **settings)


def test_networks_kept_are_distinct_and_the_best_first(records):
    for record in records:
        own = record.measures
        assert own["train"] == sorted(own["train"], reverse=True)
        lengths = {len(own[name]) for name in ("train", "test", "test_ml", "impossible", "unseen", "arcs")}
        assert lengths == {len(own["train"])}
        assert len(own["train"]) <= TINY.top
        assert own["classes"] <= len(own["train"])
    (sampled, *_) = records.where(approach=SAMPLING)
    assert sampled.measures["orders"] == TINY.orders


def test_a_run_is_what_learn_gives(records):
    record = records.where(approach=RESTARTS)[1]
    network = bs.load_network("asia")
    train, test = network.sample(50, seed=0), network.sample(300, seed=1)
    search = bs.search.OrderClimb(restarts=TINY.restarts)
    result = bs.learn(train, search, "bic", seed=1, top=TINY.top)
    assert record.measures["train"] == [one.score for one in result.top]
    model = bs.fit(result.top[0].dag, train, prior="laplace")
    assert record.measures["test"][0] == pytest.approx(float(model.log_likelihood(test)))


def test_impossible_and_unseen_rows_are_counted_by_hand():
    """Training shows a=x with b=u only, and a=y never: one row is impossible, one unseen."""
    states = {"a": ["x", "y", "z"], "b": ["u", "v"]}
    train = bs.as_table({"a": ["x", "x", "z"], "b": ["u", "u", "v"]}, states=states)
    test = bs.as_table({"a": ["x", "x", "y", "z"], "b": ["u", "v", "u", "v"]}, states=states)
    dag = bs.Dag.from_arcs([("a", "b")])
    found = on_unseen([(-1.0, dag)], train, test, dag)
    assert found["unseen"] == [1]
    assert found["impossible"] == [2]
    assert found["distance"] == [0]
    assert found["test_ml"][0] == pytest.approx(math.log(2 / 3) + math.log(1 / 3))
    a = [math.log(3 / 6), math.log(3 / 6), math.log(1 / 6), math.log(2 / 6)]
    b = [math.log(3 / 4), math.log(1 / 4), math.log(1 / 2), math.log(2 / 3)]
    assert found["test"][0] == pytest.approx(sum(a) + sum(b))


def test_the_handcrafted_network_has_its_own_parameters_too(records):
    (record, _) = records.where(approach=HANDCRAFTED)
    network = bs.load_network("asia")
    test = network.sample(300, seed=1)
    assert record.measures["own"] == pytest.approx(float(network.log_likelihood(test)))
    assert record.measures["own"] > record.measures["test"][0]
    assert record.measures["train"][0] == pytest.approx(
        bs.score(network.dag, network.sample(50, seed=0), "bic")
    )


def test_own_files_in_place_of_networks(tmp_path):
    network = bs.load_network("survey")
    for name, seed in (("train", 0), ("test", 1)):
        write_table(network.sample(80, seed=seed), tmp_path / f"{name}.csv")
    own = {"train": str(tmp_path / "train.csv"), "test": str(tmp_path / "test.csv"), "repeats": 1}
    for handcrafted in ("", "survey"):
        study = Maua.of_size("tiny", **own, handcrafted=handcrafted)
        ran = run_study(study, tmp_path / f"records{handcrafted}", workers=1)
        assert not ran.failures
        outcome = study.outcome(ran.records)
        asked = [finding for finding in outcome.findings if "generating" in finding.claim]
        assert bool(asked) == bool(handcrafted)


# ---- what it comes to


def test_the_outcome_is_whole(records):
    outcome = TINY.outcome(records)
    names = {item.name for section in outcome.sections for item in (*section.tables, *section.figures)}
    for rows in TINY.rows:
        assert f"compared-asia-{rows}" in names
        for kind in ("histogram", "box"):
            assert {f"{kind}-train-asia-{rows}", f"{kind}-test-asia-{rows}"} <= names
    assert {"unseen", "effort", "rank"} <= names
    for section in outcome.sections:
        for table in section.tables:
            assert all(len(row) == len(table.columns) for row in table.rows)
            assert "nan" not in markdown(table).split()
    assert all(finding.claim and finding.ours for finding in outcome.findings)


def test_a_row_is_computed_from_the_runs(view):
    data = next(iter(view.sets()))
    table = tables.compared(view, data)
    assert [row[0] for row in table.rows] == [
        "handcrafted, own parameters", "handcrafted, fitted", *APPROACHES
    ]  # fmt: skip
    (row,) = [row for row in table.rows if row[0] == SAMPLING]
    group = view.of(data, SAMPLING)
    best = [record.measures["train"][0] for record in group]
    everything = [x for record in group for x in record.measures["test"]]
    assert row[2].startswith(f"{sum(best) / 2:,.1f} ± ")
    assert row[5].startswith(f"{sum(everything) / len(everything):,.1f} ± ")
    assert bests(group, "train") == tuple(best)
    assert pooled(group, "test") == tuple(everything)


def test_findings_follow_the_records(records):
    def moved(by, *names):
        return lambda r: {name: [x + by for x in r.measures[name]] for name in names}

    far = seen(records, moved(-1e4, "train"), approach=HANDCRAFTED)
    near = seen(records, moved(1e4, "train"), approach=HANDCRAFTED)
    assert findings.is_correct(far).holds
    assert not findings.is_correct(near).holds
    assert not findings.learned_reach_handcrafted(
        seen(records, moved(1e4, "test"), approach=HANDCRAFTED)
    ).holds
    assert findings.learned_reach_handcrafted(seen(records, moved(-1e4, "test"), approach=HANDCRAFTED)).holds
    same = seen(records, lambda r: {"test": list(r.measures["train"])})
    turned = seen(records, lambda r: {"test": [-x for x in r.measures["train"]]})
    assert findings.training_predicts(same).holds
    assert not findings.training_predicts(turned).holds
    assert findings.always_finite(
        seen(records, lambda r: {"impossible": [0] * len(r.measures["train"])})
    ).holds
    assert not findings.always_finite(
        seen(records, lambda r: {"impossible": [1] * len(r.measures["train"])})
    ).holds
    rich = seen(records, lambda r: {"own": r.measures["test"][0]}, approach=HANDCRAFTED)
    poor = seen(records, lambda r: {"own": r.measures["test"][0] + 300.0}, approach=HANDCRAFTED)
    assert findings.enough_data(rich).holds
    assert not findings.enough_data(poor).holds


def test_an_approach_is_ahead_only_by_more_than_chance(records):
    """Two runs a side are never significant; eight are when they do not overlap."""
    ahead = seen(records, lambda r: {n: [x + 1e4 for x in r.measures[n]] for n in ("train", "test")},
                 approach=RESTARTS)  # fmt: skip
    assert not findings.restarts_help(ahead).holds
    many = [replace(record, key=f"{record.key}{i}") for record in ahead.records for i in range(4)]
    assert findings.restarts_help(View(TINY, Records(many))).holds
    assert not findings.climbing_beats_sampling(
        seen(records, lambda r: {n: [x - 1e4 for x in r.measures[n]] for n in ("train", "test")},
             approach=CLIMBING)
    ).holds  # fmt: skip


def test_rank_correlation_of_constants_is_nothing():
    assert findings.rank_correlation([1.0, 1.0], [1.0, 2.0]) == 0.0
    assert findings.rank_correlation([1.0], [2.0]) == 0.0
    assert findings.rank_correlation([1.0, 2.0, 3.0], [1.0, 4.0, 9.0]) == pytest.approx(1.0)
