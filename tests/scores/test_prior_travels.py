"""A structure prior goes where the score goes: sessions, checkpoints, resampling, scored sets, own scores."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import bayescout as bs
from bayescout import Knowledge
from bayescout.cli.app import app
from bayescout.errors import BayescoutError, FormatError, SettingError
from bayescout.experiments.own import read_study
from bayescout.experiments.tools import data_of
from bayescout.report.reproduce import recipe
from bayescout.scores import bind, family_prior
from bayescout.search.frame.beliefs import beliefs_to_list
from tests.search.drawn_problems import entangled

TABLE = entangled(5, rows=60, seed=2, noise=0.4)
A, B, C = TABLE.names[:3]


class Own:
    """A user's own score, which knows columns by position."""

    def __init__(self, table, grown=False):
        self.scorer = bind("bdeu", table)
        if grown:
            self.extensions = self.scorer.extensions

    def local(self, child, parents):
        return self.scorer.local(child, parents)


@pytest.mark.parametrize("grown", [False, True])
@pytest.mark.parametrize("search", ["hill-climb", "ges", "optimal", "boss"])
def test_scores_of_ones_own_have_the_prior_too(search, grown):
    known = Knowledge(beliefs={frozenset((A, B)): 0.01}, max_parents=3)
    for options in ({"structure_prior": 2.5}, {"structure_prior": "friedman-koller"}, {"knowledge": known}):
        own = bs.learn(TABLE, search, Own(TABLE, grown), **options)
        knowledge, prior = options.get("knowledge"), options.get("structure_prior")
        assert own.score == bs.score(own.dag, TABLE, "bdeu", structure_prior=prior, knowledge=knowledge)
        assert bs.gap(own).score == own.score


def test_a_function_of_counts_has_the_prior_too():
    def few(counts):
        return float(-counts.size)

    dag = bs.Dag(TABLE.names, ((), (0,), (0, 1), (), ()))
    assert bs.score(dag, TABLE, few, structure_prior=2.0) == bs.score(dag, TABLE, few) - 6.0


def test_candidate_sets_and_the_search_over_them():
    options = {"structure_prior": "sparse", "knowledge": Knowledge(max_parents=3)}
    sets = bs.candidate_sets(TABLE, "bdeu", **options)
    best = bs.learn(TABLE, "optimal", "bdeu", **options)
    assert bs.learn(sets, "optimal").score == pytest.approx(best.score)
    plain = bs.candidate_sets(TABLE, "bdeu", Knowledge(max_parents=3))
    again = bs.learn(plain, "optimal", structure_prior="sparse")  # fewer sets can only be worse
    assert again.score == pytest.approx(best.score)


def test_a_checkpoint_of_another_prior_is_refused(tmp_path):
    path = tmp_path / "run"
    bs.learn(TABLE, "tabu", "bdeu", structure_prior="sparse", max_steps=2, checkpoint=path)
    told = Knowledge(beliefs={(A, B): 0.9})
    for other in ({}, {"structure_prior": "sparse:2"}, {"structure_prior": "sparse", "knowledge": told}):
        with pytest.raises((SettingError, FormatError)):
            bs.learn(TABLE, "tabu", "bdeu", checkpoint=path, **other)
    resumed = bs.learn(TABLE, "tabu", "bdeu", structure_prior="sparse", checkpoint=path)
    assert resumed.score == bs.learn(TABLE, "tabu", "bdeu", structure_prior="sparse").score


def test_a_session_keeps_its_beliefs():
    told = Knowledge(beliefs={(A, B): 0.9})
    session = bs.Session(TABLE, "hill-climb", "bdeu", told, structure_prior="sparse")
    session.step()
    with pytest.raises(SettingError, match="beliefs are part of the score"):
        session.change_knowledge(Knowledge())
    session.change_knowledge(Knowledge(beliefs=told.beliefs, forbidden=((B, C),)))
    known = session.knowledge
    found = session.run()
    assert found.score == bs.score(found.dag, TABLE, "bdeu", structure_prior="sparse", knowledge=known)


def test_resampling_learns_with_the_prior():
    folds = bs.cross_validate(
        TABLE, folds=3, structure_prior=1000.0, workers=1, search="hill-climb", score="bic"
    )
    assert [fold.dag.n_arcs for fold in folds] == [0, 0, 0]
    assert not bs.bootstrap(
        TABLE, runs=3, structure_prior=1000.0, workers=1, search="hill-climb", score="bic"
    ).table()


def test_how_to_repeat_a_run_names_the_prior_and_the_beliefs():
    told = Knowledge(beliefs={(A, B): 0.9, frozenset((B, C)): 0.25})
    result = bs.learn(TABLE, "hill-climb", "bdeu", told, structure_prior="sparse:2")
    found = recipe(result)
    assert 'structure_prior="sparse:2.0"' in found.python
    assert "--structure-prior sparse:2.0" in found.command
    assert f"{A}->{B}=0.9" in found.command
    assert Knowledge(beliefs=beliefs_to_list(told.beliefs)) == told
    assert "sparse" in repr(result).lower()
    assert "prior" not in repr(bs.learn(TABLE, search="hill-climb", score="bic"))


def test_the_command_line_takes_priors_and_beliefs(tmp_path):
    network = bs.load_network("asia")
    bs.write_table(network.sample(200, seed=3), tmp_path / "asia.csv")
    (tmp_path / "beliefs.txt").write_text("asia--tub = 0.9\n\nsmoke -> lung=0.8\n")
    runner = CliRunner()
    data = str(tmp_path / "asia.csv")

    def scored(*options):
        found = runner.invoke(
            app, ["learn", data, "--search", "hill-climb", "--score", "bdeu", "--json", *options]
        )
        assert found.exit_code == 0, found.output
        return json.loads(found.stdout)["score"]

    table = bs.read_table(data)
    told = Knowledge(beliefs={frozenset(("asia", "tub")): 0.9, ("smoke", "lung"): 0.8})
    expected = bs.learn(
        table, score="bdeu", knowledge=told, structure_prior="sparse", search="hill-climb"
    ).score
    assert scored("--structure-prior", "sparse", "--beliefs", str(tmp_path / "beliefs.txt")) == expected
    each = ["--belief", "asia--tub=0.9", "--belief", "smoke->lung=0.8"]
    assert scored("--structure-prior", "sparse", *each) == expected
    assert (
        scored("--structure-prior", "2.5")
        == bs.learn(table, score="bdeu", structure_prior=2.5, search="hill-climb").score
    )
    for wrong in ("smoke->lung", "smoke->lung=high", "smoke=0.5", "smoke->lugn=0.5", "smoke--lung=2"):
        assert runner.invoke(app, ["learn", data, "--belief", wrong]).exit_code != 0


def test_a_study_learns_with_its_prior(tmp_path):
    path = tmp_path / "study.toml"
    text = """
        searches = ["hill-climb"]
        scores = ["bdeu"]
        structure_prior = "sparse"
        [[data]]
        network = "asia"
        rows = 100
        [knowledge]
        beliefs = [["smoke", "->", "lung", 0.9]]
    """
    path.write_text(text)
    (run,) = read_study(path).runs()
    measured = read_study(path).measure(run)
    told = Knowledge(beliefs={("smoke", "lung"): 0.9})
    found = bs.learn(
        data_of(run["data"]), score="bdeu", knowledge=told, structure_prior="sparse", search="hill-climb"
    )
    assert measured["score"] == found.score
    path.write_text(text.replace('"sparse"', '"sparce"'))
    with pytest.raises(BayescoutError, match="structure_prior"):
        read_study(path)


def test_a_label_that_looks_like_an_arrow():
    columns = np.random.default_rng(0).integers(0, 2, (3, 50)).astype(str)
    table = bs.as_table(dict(zip(["a->b", "--", 7], columns, strict=True)))
    known = Knowledge(beliefs={("a->b", 7): 0.99, frozenset(("--", 7)): 0.5})
    result = bs.learn(table, knowledge=known, search="hill-climb", score="bic")
    assert result.settings.from_json(result.settings.to_json()) == result.settings


def test_a_small_prior_weight_is_what_the_formula_says():
    made = family_prior("uniform", ("a", "b", "c"), Knowledge(beliefs={("a", "b"): 0.9}))
    assert made.many([(1, (0,))])[0] == pytest.approx(math.log(0.9 / 0.05), abs=1e-6)
    assert made.many([(0, (1,))])[0] == pytest.approx(0.0, abs=1e-6)
    made = family_prior("uniform", ("a", "b", "c"), Knowledge(beliefs={frozenset("ab"): 0.9}))
    assert made.many([(1, (0,)), (0, (1,))]) == pytest.approx(math.log(0.45 / 0.1), abs=1e-6)
