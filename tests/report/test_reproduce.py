"""The recipes on the page do repeat the run, to the bit."""

from __future__ import annotations

import json
import shlex

import pytest
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.report.reproduce import recipe
from bayescout.search import Annealing, HillClimb, OrderSample, Umda

KNOWN = bs.Knowledge(required=[("asia", "xray")], forbidden=[("tub", "lung")], max_parents=2)
RUNS = {
    "plain": {},
    "settings": {"search": HillClimb(restarts=2, perturb=4), "score": bs.scores.BDeu(ess=5), "seed": 3},
    "top": {"search": "tabu", "score": "k2", "top": 4},
    "knowledge": {"knowledge": KNOWN},
    "random start": {"search": "first-ascent", "start": "random", "seed": 7},
    "ended by steps": {"search": Annealing(sweeps=30), "max_steps": 5},
    "ended by a callback": {"search": "tabu", "callback": lambda step: step.step == 3},
    "text setting": {"search": OrderSample(orders=5, parents=2)},
    "boolean setting": {"search": Umda(population=20, distinct=True, max_generations=3)},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    bs.load_network("asia").sample(300, seed=5).save(folder / "data.csv")
    return folder


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_recipes_repeat_the_run(options, data, monkeypatch):
    monkeypatch.chdir(data)
    result = bs.learn("data.csv", **options)
    found = recipe(result)
    names: dict[str, object] = {}
    exec(compile(found.python, "recipe", "exec"), names)
    again = names["result"]
    assert (again.score, again.dag, again.top) == (result.score, result.dag, result.top)
    assert again.counters == result.counters
    words = shlex.split(found.command.replace("\\\n", " "))
    assert words[0] == "bayescout"
    done = CliRunner().invoke(app, [*words[1:], "--json"], catch_exceptions=False)
    shown = json.loads(done.stdout)
    assert shown["score"] == result.score
    assert [tuple(arc) for arc in shown["arcs"]] == list(result.dag.arcs())
    assert shown["iterations"] == result.counters.iterations


def test_a_recipe_from_a_file_is_the_same(data, tmp_path, monkeypatch):
    monkeypatch.chdir(data)
    result = bs.learn("data.csv", **RUNS["settings"])
    result.save(tmp_path / "r.json")
    assert recipe(bs.Result.load(tmp_path / "r.json")) == recipe(result)


def test_what_the_command_line_cannot_say_is_not_said(data, monkeypatch):
    monkeypatch.chdir(data)
    limited = recipe(bs.learn("data.csv", knowledge=bs.Knowledge(max_parents={"dysp": 1})))
    assert limited.command == ""
    assert "max_parents={'dysp': 1}" in limited.python
    own = recipe(bs.learn("data.csv", score=lambda counts: -float(counts.size)))
    assert own.command == ""
    assert "score=my_score" in own.python
    assert any("your own" in note for note in own.notes)
    table = bs.read_table("data.csv")
    weighted = bs.as_table(table.to_dict(), weights=[1.0] * len(table))
    assert recipe(bs.learn(weighted)).command == ""


def test_files_of_the_command_line_are_explained(data, monkeypatch):
    monkeypatch.chdir(data)
    names = bs.read_table("data.csv").names
    known = bs.Knowledge(order=names, tiers=[names[:3], names[3:]])
    result = bs.learn("data.csv", knowledge=known)
    found = recipe(result)
    (data / "order.txt").write_text(",".join(names))
    (data / "tiers.txt").write_text("\n".join([",".join(names[:3]), ",".join(names[3:])]))
    words = shlex.split(found.command.replace("\\\n", " "))
    shown = json.loads(CliRunner().invoke(app, [*words[1:], "--json"], catch_exceptions=False).stdout)
    assert shown["score"] == result.score
    assert any("order.txt" in note for note in found.notes)
    given_start = recipe(bs.learn("data.csv", start=bs.Dag.empty(names)))
    assert "start.txt" in given_start.python
