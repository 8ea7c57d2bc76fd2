"""Scored parent sets in place of data: the optimum of the list is that of the data it was made from."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.errors import BayescoutError, DataError, FormatError, KnowledgeError, SettingError
from bayescout.formats.jkl import ScoredSets
from bayescout.graph.orders import find_cycle
from bayescout.report.reproduce import recipe
from tests.strategies import examples


@pytest.fixture(scope="module")
def table():
    return bs.load_network("asia").sample(300, seed=2)


@pytest.fixture
def path(table, tmp_path):
    bs.candidate_sets(table, "bdeu").save(tmp_path / "data.jkl")
    return tmp_path / "data.jkl"


@pytest.mark.parametrize("search", ["optimal", "memetic"])
def test_the_best_of_the_list_is_the_best_of_the_data(table, path, search):
    expected = bs.learn(table, "optimal", "bdeu")
    for data in (path, str(path), bs.read_jkl(path)):
        found = bs.learn(data, search)
        assert found.score == pytest.approx(expected.score)
        assert found.dag.cpdag() == expected.dag.cpdag()
        assert found.settings.score == "listed"
    assert bs.learn(path, "optimal").gap == 0


@st.composite
def small_lists(draw):
    """Every child has the empty set, and some others with whole scores."""
    n = draw(st.integers(1, 4))
    sets = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        subsets = [c for k in range(1, n) for c in itertools.combinations(others, k)]
        own = draw(st.lists(st.sampled_from(subsets), unique=True, max_size=5)) if subsets else []
        sets.append(tuple((float(draw(st.integers(-9, 0))), parents) for parents in [(), *own]))
    return ScoredSets(tuple("abcd"[:n]), tuple(sets))


@settings(max_examples=examples(40))
@given(listed=small_lists())
def test_the_optimum_is_that_of_trying_every_combination(listed):
    best = max(
        sum(score for score, _ in chosen)
        for chosen in itertools.product(*listed.sets)
        if not find_cycle([parents for _, parents in chosen])
    )
    found = bs.learn(listed, "optimal")
    assert found.score == pytest.approx(best)
    assert found.gap == pytest.approx(0.0)
    for child, parents in enumerate(found.dag.parents):
        assert parents in [own for _, own in listed.sets[child]]


def test_knowledge_is_kept(path):
    free = bs.learn(path, "optimal")
    parent, child = next(iter(free.dag.arcs()))
    known = bs.Knowledge(forbidden=[(parent, child), (child, parent)], max_parents=1)
    found = bs.learn(path, "optimal", knowledge=known)
    assert {(parent, child), (child, parent)}.isdisjoint(found.dag.arcs())
    assert max(map(len, found.dag.parents)) == 1
    lone = ScoredSets(("a", "b"), (((-1.0, ()),), ((-1.0, ()), (0.0, (0,)))))
    with pytest.raises(KnowledgeError, match="no listed parent set of 'a' has the required parent 'b'"):
        bs.learn(lone, knowledge=bs.Knowledge(required=[("b", "a")]))


def test_what_needs_rows_is_refused(path, table):
    found = bs.learn(path, "optimal")
    for ask in (found.fit, lambda: found.explain("asia", "tub")):
        with pytest.raises(SettingError, match="has no data with it"):
            ask()
    assert found.fit(table).dag == found.dag
    with pytest.raises(SettingError, match="leave out the score 'k2'"):
        bs.learn(path, score="k2")
    with pytest.raises(BayescoutError):
        bs.learn(path, "pc")
    with pytest.raises(DataError, match="no variables"):
        bs.learn(ScoredSets((), ()))
    with pytest.raises(FormatError, match="no such file"):
        bs.learn("nowhere.jkl")


def test_a_list_without_any_network_is_minus_infinity():
    found = bs.learn(ScoredSets(("a", "b"), ((), ())), "hill-climb")
    assert found.score == -math.inf
    assert found.dag.n_arcs == 0


def test_other_sets_are_another_run(path, tmp_path):
    bs.learn(path, "memetic", max_steps=1, checkpoint=tmp_path / "c.json")
    other = bs.read_jkl(path)
    changed = ScoredSets(other.names, (other.sets[0][:1], *other.sets[1:]))
    with pytest.raises(BayescoutError):
        bs.learn(changed, "memetic", checkpoint=tmp_path / "c.json")


def test_the_command_line_learns_from_sets(path, tmp_path, monkeypatch):
    def run(*arguments):
        return CliRunner().invoke(app, ["learn", str(path), *map(str, arguments)], catch_exceptions=False)

    expected = bs.learn(path, "optimal")
    done = run("--search", "optimal", "-o", tmp_path / "x.dot", "--report", tmp_path / "x.html", "--json")
    assert json.loads(done.stdout)["score"] == expected.score
    assert bs.read_structure(tmp_path / "x.dot") == expected.dag
    assert "stands for your scored parent sets" in (tmp_path / "x.html").read_text()
    assert "proven optimal" in run("--search", "optimal").stdout
    with pytest.raises(SettingError, match="no rows to estimate parameters from"):
        run("-o", tmp_path / "x.bif")
    with pytest.raises(SettingError, match="are for tables"):
        run("--drop", "asia")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(recipe(expected).python, "recipe", "exec"), names)
    assert names["result"].dag == expected.dag
    assert recipe(expected).command == "bayescout learn data.jkl --search optimal --seed 0"
