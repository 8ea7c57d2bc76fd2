"""The README's code, the examples and the architecture page do what they say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def python_blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_readme_code_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks("README.md")
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "HYPOVOLEMIA" in printed
    assert (tmp_path / "alarm-learned.bif").exists()


def test_readme_commands_exist():
    from bayescout.cli.app import app

    known = {command.callback.__name__.replace("_", "-") for command in app.registered_commands}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^    bayescout ([a-z-]+)", text, flags=re.MULTILINE))
    assert named
    assert named <= known


EXAMPLES = [
    pytest.param(path, marks=pytest.mark.slow) if path.stem == "trust" else path
    for path in sorted((ROOT / "examples").glob("*.py"))
]


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(script), "1"])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def test_the_score_of_the_architecture_page_works():
    from dataclasses import dataclass

    from bayescout.arrays import Floats
    from bayescout.scores import Formula, bind
    from bayescout.statistics.families import FamilyTables
    from tests.scores.drawn_data import table_of

    (block,) = [b for b in python_blocks("ARCHITECTURE.md") if "class Charged" in b]
    names = {"dataclass": dataclass, "Formula": Formula, "FamilyTables": FamilyTables, "Floats": Floats}
    exec(compile("from __future__ import annotations\n" + block, "ARCHITECTURE.md", "exec"), names)
    table = table_of([[0, 1, 0, 1], [0, 0, 1, 1]], [2, 2])
    score = bind(names["Charged"](charge=2.0), table)
    assert score.local(0, (1,)) == bind("loglik", table).local(0, (1,)) - 4


def test_the_search_of_the_architecture_page_works():
    from dataclasses import dataclass
    from typing import ClassVar

    import bayescout as bs
    from bayescout.search.frame.problem import Generator, Problem, State, random_graph

    (block,) = [b for b in python_blocks("ARCHITECTURE.md") if "class RandomGraphs" in b]
    names = {
        "dataclass": dataclass, "ClassVar": ClassVar, "Generator": Generator, "Problem": Problem,
        "State": State, "random_graph": random_graph,
    }  # fmt: skip
    exec(compile("from __future__ import annotations\n" + block, "ARCHITECTURE.md", "exec"), names)
    table = bs.load_network("asia").sample(300, seed=1)
    result = bs.learn(table, names["RandomGraphs"](graphs=30), knowledge=bs.Knowledge(max_parents=2))
    assert result.counters.operations == 30
    assert result.score > result.trace[0].score
    assert max(map(len, result.dag.parents)) <= 2


def test_the_engine_of_the_architecture_page_works():
    import numpy as np

    import bayescout as bs
    from bayescout.arrays import Ints, Parents
    from bayescout.data.table import Table
    from bayescout.statistics.discrete import DiscreteStatistics
    from bayescout.statistics.engine import Kind

    (block,) = [b for b in python_blocks("ARCHITECTURE.md") if "class FromChunks" in b]
    names = {
        "DiscreteStatistics": DiscreteStatistics, "Table": Table, "Kind": Kind, "Parents": Parents,
        "Ints": Ints, "np": np,
    }  # fmt: skip
    exec(compile("from __future__ import annotations\n" + block, "ARCHITECTURE.md", "exec"), names)
    table = bs.load_network("asia").sample(300, seed=1)
    for search in ("tabu", "ges"):
        there = bs.learn(table, search, "bdeu", engine=names["FromChunks"])
        assert (there.dag, there.score) == (bs.learn(table, search, "bdeu").dag, there.score)


def test_links_between_pages_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
