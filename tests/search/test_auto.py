"""The default search and score: what they are made of, and that no part does better alone."""

import numpy as np
import pytest

import bayescout as bs
from bayescout import choosing
from bayescout.errors import SettingError
from bayescout.scores import BDeu, Qnml
from bayescout.search import auto
from bayescout.search.auto import BOSS, GES, HILL_CLIMB, MEMETIC, OPTIMAL, PARTS, TABU, Auto
from bayescout.search.optimal import Optimal
from tests.search.test_searches import untimed


@pytest.fixture(scope="module")
def child():
    return bs.load_network("child").sample(300, seed=1)


@pytest.mark.parametrize("part", ["hill-climb", "ges", "boss", "tabu"])
def test_no_part_alone_scores_more(part):
    for seed in (1, 2):
        table = bs.load_network("insurance").sample(300, seed=seed)
        options = {"score": "bdeu", "structure_prior": "sparse"}
        assert bs.learn(table, **options).score >= bs.learn(table, part, **options).score - 1e-9


def test_few_variables_are_proven():
    table = bs.load_network("sachs").sample(200, seed=3)
    result = bs.learn(table)
    assert result.optimality == "proven optimal"
    best = bs.learn(table, Optimal(), result.settings.made_score(), structure_prior="sparse")
    assert result.score == pytest.approx(best.score, abs=1e-9)


def test_the_trace_says_which_part_found_what(child):
    result = bs.learn(child)
    parts = [step.facts["part"] for step in result.trace]
    assert parts == sorted(parts)
    assert parts[0] == HILL_CLIMB
    found = int(result.trace[-1].facts["found_by"])
    assert result.found_by == PARTS[found]
    ended = [step for step in result.trace if step.facts["part"] == found][-1]
    assert ended.best == result.score
    assert all(step.best < result.score for step in result.trace if step.facts["part"] < found)
    assert f"found by {PARTS[found]}" in repr(result)
    assert result.summary()["found_by"] == PARTS[found]


def test_it_begins_with_hill_climbing_to_its_end(child):
    climb = bs.learn(child, "hill-climb", "bdeu", structure_prior="sparse")
    trace = bs.learn(child, "auto", "bdeu", structure_prior="sparse").trace
    ended = [step for step in trace if step.facts["part"] == HILL_CLIMB][-1]
    assert ended.best == climb.score


def test_parts_that_a_score_or_a_size_rules_out_are_left_out(child):
    def parts(*arguments, **options):
        return {int(step.facts["part"]) for step in bs.learn(*arguments, **options).trace}

    assert GES in parts(child)
    assert GES not in parts(child, "auto", "k2")
    assert parts(child, Auto(thorough=False)) <= {HILL_CLIMB, GES, TABU}
    rng = np.random.default_rng(0)
    wide = bs.as_table(rng.normal(size=(40, 101)))
    assert not parts(wide) & {BOSS, MEMETIC, OPTIMAL}


def test_knowledge_holds_in_every_part(child):
    known = bs.Knowledge(required=[("Sick", "Age")], forbidden=[("Disease", "Sick")], max_parents=2)
    result = bs.learn(child, knowledge=known)
    arcs = set(result.arcs())
    assert ("Sick", "Age") in arcs
    assert ("Disease", "Sick") not in arcs
    assert max(map(len, result.dag.parents)) <= 2


def test_a_run_resumes_in_every_part(monkeypatch, tmp_path):
    monkeypatch.setattr(auto, "PROVEN_VARIABLES", 0)
    table = bs.load_network("asia").sample(120, seed=4)
    whole = bs.learn(table)
    places = [[step.step for step in whole.trace if step.facts["part"] == part] for part in range(len(PARTS))]
    assert [bool(steps) for steps in places] == [True, True, True, True, whole.found_by != "ges", True, False]
    for stop in sorted({steps[len(steps) // 2] for steps in places if steps}):
        path = tmp_path / f"{stop}"
        bs.learn(table, max_steps=stop, checkpoint=path)
        assert untimed(bs.learn(table, checkpoint=path)) == untimed(whole)


# ---- the default score and prior


def test_scores_and_priors_by_the_kinds_of_columns(child):
    numbers = bs.load_network("ecoli70").sample(100, seed=1).select(("aceB", "asnA", "b1191"))
    mixed = bs.random_network(nodes=5, arcs=5, states=2, kind="mixed", seed=3).sample(100, seed=1)
    insurance = bs.load_network("insurance").sample(300, seed=1)
    for table, name, settings in (
        (child, "qnml", {}),
        (insurance, "bdeu", {"ess": 3.0}),
        (numbers, "bic", {"penalty": 1.0}),
        (mixed, "bic", {"penalty": 1.0}),
    ):
        for score in (None, "auto"):
            found = bs.learn(table, "hill-climb", score).settings
            assert (found.score_name, found.score_settings, found.prior_name) == (name, settings, "sparse")


CANDIDATES = (BDeu(ess=3.0), Qnml())


def climbed(table, score, **options):
    return bs.learn(table, "hill-climb", score, structure_prior="sparse", **options).score


@pytest.mark.parametrize("name", ["asia", "child", "insurance", "sachs"])
def test_the_score_of_categories_is_that_of_the_highest_climb(name):
    known = bs.Knowledge(max_parents=2)
    for rows in (60, 600):
        table = bs.load_network(name).sample(rows, seed=rows)
        best = max(CANDIDATES, key=lambda score: climbed(table, score, knowledge=known))
        found = bs.learn(table, "hill-climb", knowledge=known)
        assert found.settings.made_score() == best
        assert found.score == climbed(table, best, knowledge=known)


def test_what_rules_the_choice_out(child, monkeypatch):
    halves = bs.as_table(child, weights=np.full(300, 0.5))
    assert bs.learn(halves, "hill-climb").settings.score_name == "bdeu"
    twice = bs.as_table(child, weights=np.full(300, 2.0))
    assert bs.learn(twice, "hill-climb").settings.score_name == "qnml"
    assert bs.learn(child, "hill-climb", max_time=1e-6).settings.score_name == "bdeu"
    monkeypatch.setattr(choosing, "MOST_VARIABLES", 19)
    assert bs.learn(child, "hill-climb").settings.score_name == "bdeu"


def test_a_resumable_run_chooses_whatever_the_time(child, tmp_path):
    bs.learn(child, "hill-climb", max_time=1e-6, checkpoint=tmp_path / "run")
    whole = bs.learn(child, "hill-climb")
    assert untimed(bs.learn(child, "hill-climb", checkpoint=tmp_path / "run")) == untimed(whole)


def test_ctrl_c_while_the_score_is_chosen_gives_an_answer(child, monkeypatch):
    from dataclasses import replace

    real = choosing.drive

    def interrupted(*arguments):
        return replace(real(*arguments), stop_reason="interrupted")

    monkeypatch.setattr(choosing, "drive", interrupted)
    result = bs.learn(child, "hill-climb")
    assert (result.stop_reason, result.settings.score_name) == ("interrupted", "bdeu")


def test_a_score_by_name_has_no_prior_and_a_prior_by_name_stays(child):
    assert bs.learn(child, "hill-climb", "bic").settings.prior_name == "uniform"
    assert bs.learn(child, "hill-climb", "bic", structure_prior="sparse").settings.prior_name == "sparse"
    assert bs.learn(child, "hill-climb", structure_prior="uniform").settings.prior_name == "uniform"


def test_settings_of_a_score_need_its_name(tmp_path, child):
    from bayescout.cli.options import SearchOptions

    with pytest.raises(SettingError, match="name the score with --score"):
        SearchOptions(score_option=["ess=5"]).formula()


def test_many_runs_use_the_quick_parts(child):
    one, two = (bs.bootstrap(child, 2, search, seed=1) for search in ("auto", Auto(thorough=False)))
    assert one.to_dict() == two.to_dict()
