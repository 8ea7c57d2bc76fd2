"""The recipes on the page do repeat the run, to the bit."""

from __future__ import annotations

import json
import shlex
import warnings
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.errors import BayescoutWarning
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
    "discretised": {"data": "mixed.csv", "discretise": 3},
    "discretised by a method": {"data": "mixed.csv", "discretise": "hartemink:3", "missing": "state"},
    "dropped": {"data": "gaps.csv", "missing": "drop"},
    "as a state": {"data": "gaps.csv", "missing": "state"},
    "drawn": {"data": "gaps.csv"},
    "boolean setting": {"search": Umda(population=20, distinct=True, max_generations=3)},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    bs.load_network("asia").sample(300, seed=5).save(folder / "data.csv")
    table = bs.load_network("asia").sample(300, seed=5).to_dict()
    rng = np.random.default_rng(0)
    gaps = {name: [None if rng.random() < 0.1 else cell for cell in cells] for name, cells in table.items()}
    bs.as_table(gaps).save(folder / "gaps.csv")
    numbers = rng.normal(size=300)
    mixed = {"x": numbers, "y": numbers + rng.normal(size=300), "z": table["xray"]}
    mixed["y"][:20] = np.nan
    bs.as_table(mixed).save(folder / "mixed.csv")
    return folder


def replace_data(found, name):
    """The recipe for the file that stands for data.csv."""
    return replace(
        found,
        python=found.python.replace('"data.csv"', f'"{name}"'),
        command=found.command.replace(" data.csv", f" {name}"),
    )


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_recipes_repeat_the_run(options, data, monkeypatch):
    monkeypatch.chdir(data)
    chosen = dict(options)
    name = chosen.pop("data", "data.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)  # of dropped rows
        _check_recipe(bs.learn(name, **chosen), name)


def _check_recipe(result, name):
    found = replace_data(recipe(result), name)
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
    limited = recipe(
        bs.learn(
            "data.csv", knowledge=bs.Knowledge(max_parents={"dysp": 1}), search="hill-climb", score="bic"
        )
    )
    assert limited.command == ""
    assert "max_parents={'dysp': 1}" in limited.python
    own = recipe(bs.learn("data.csv", score=lambda counts: -float(counts.size), search="hill-climb"))
    assert own.command == ""
    assert "score=my_score" in own.python
    assert any("your own" in note for note in own.notes)
    table = bs.read_table("data.csv")
    weighted = bs.as_table(table.to_dict(), weights=[1.0] * len(table))
    assert recipe(bs.learn(weighted, search="hill-climb", score="bic")).command == ""


def test_files_of_the_command_line_are_explained(data, monkeypatch):
    monkeypatch.chdir(data)
    names = bs.read_table("data.csv").names
    known = bs.Knowledge(order=names, tiers=[names[:3], names[3:]])
    result = bs.learn("data.csv", knowledge=known, search="hill-climb", score="bic")
    found = recipe(result)
    (data / "order.txt").write_text(",".join(names))
    (data / "tiers.txt").write_text("\n".join([",".join(names[:3]), ",".join(names[3:])]))
    words = shlex.split(found.command.replace("\\\n", " "))
    shown = json.loads(CliRunner().invoke(app, [*words[1:], "--json"], catch_exceptions=False).stdout)
    assert shown["score"] == result.score
    assert any("order.txt" in note for note in found.notes)
    given_start = recipe(bs.learn("data.csv", start=bs.Dag.empty(names), search="hill-climb", score="bic"))
    assert "start.txt" in given_start.python
