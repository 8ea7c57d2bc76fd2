"""Ctrl-C while missing cells are drawn still gives an answer, and columns never seen together are named."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning
from bayescout.network.gibbs import Chain
from tests.strategies import examples
from tests.test_completion import KINDS, holed, network


@pytest.fixture
def pressed(monkeypatch):
    """Press Ctrl-C in the sweep of this number."""

    def press(when):
        count, sweep = [0], Chain.sweep

        def swept(self, *arguments):
            count[0] += 1
            if count[0] == when:
                signal.raise_signal(signal.SIGINT)
            sweep(self, *arguments)

        monkeypatch.setattr(Chain, "sweep", swept)
        return count

    return press


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("search", ["hill-climb", "ges", "boss"])
def test_ctrl_c_while_cells_are_drawn_gives_an_answer(pressed, kind, search):
    table = holed(network(kind).sample(300, seed=1), 0.2)
    count = pressed(2)
    result = bs.learn(table, search=search, score="bic")
    assert result.stop_reason == "interrupted"
    assert count[0] == 2
    assert result.dag.n_arcs > 0
    assert result.score == pytest.approx(bs.score(result.dag, result.completed))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_knowledge_holds_in_what_was_interrupted(pressed):
    table = holed(network("discrete").sample(300, seed=1), 0.2)
    pressed(1)
    known = bs.Knowledge(required=[("smoke", "xray")], max_parents=1)
    result = bs.learn(table, knowledge=known, search="hill-climb", score="bic")
    assert result.stop_reason == "interrupted"
    assert ("smoke", "xray") in result.dag.arcs()
    assert max(map(len, result.dag.parents)) <= 1


def test_no_checkpoint_is_made_of_cells_drawn_in_part(pressed, tmp_path, monkeypatch):
    table = holed(network("discrete").sample(300, seed=1), 0.2)
    with monkeypatch.context():
        pressed(1)
        assert (
            bs.learn(table, checkpoint=tmp_path / "run", search="hill-climb", score="bic").stop_reason
            == "interrupted"
        )
    assert not (tmp_path / "run").exists()


def test_a_session_that_is_not_made_yet_is_interrupted(pressed):
    table = holed(network("discrete").sample(300, seed=1), 0.2)
    pressed(1)
    with pytest.raises(KeyboardInterrupt):
        bs.Session(table, search="hill-climb", score="bic")


def test_time_that_is_over_while_cells_are_drawn_gives_an_answer():
    table = holed(network("mixed").sample(300, seed=1), 0.2)
    result = bs.learn(table, max_time=1e-9, search="hill-climb", score="bic")
    assert result.stop_reason in ("max_time", "converged")
    assert result.completed is not None


# ---- columns that are never observed together


def pairs_by_counting(columns):
    """The same by its definition, row by row."""
    n = len(next(iter(columns.values())))
    found = []
    names = [name for name, cells in columns.items() if None in cells and any(c is not None for c in cells)]
    for i, one in enumerate(names):
        for two in names[i + 1 :]:
            first = [cell is not None for cell in columns[one]]
            second = [cell is not None for cell in columns[two]]
            both = sum(a and b for a, b in zip(first, second, strict=True))
            if both * 10 * n < sum(first) * sum(second):
                found.append((one, two, both))
    return tuple(found)


@given(st.data())
@settings(max_examples=examples(60))
def test_pairs_are_those_of_the_definition(data):
    n = data.draw(st.integers(1, 40))
    cell = st.sampled_from(["x", "y", None])
    seldom = st.sampled_from(["x", None, None, None, None, None])
    columns = {
        name: data.draw(st.lists(data.draw(st.sampled_from([cell, seldom])), min_size=n, max_size=n))
        for name in "abcd"
    }
    states = {name: ["x", "y"] for name in "abcd"}
    assert bs.as_table(columns, states=states).apart == pairs_by_counting(columns)


def half_samples():
    """Two questionnaires with one question in common, one under the other."""
    rng = np.random.default_rng(0)
    common = rng.integers(0, 2, 400)
    one = np.where(rng.random(400) < 0.2, 1 - common, common).astype(object)
    two = np.where(rng.random(400) < 0.2, 1 - common, common).astype(object)
    one[:200], two[200:] = None, None
    return {"common": common.tolist(), "one": one.tolist(), "two": two.tolist()}


def test_half_samples_are_named_where_they_are_learned_from():
    data = half_samples()
    table = bs.as_table(data)
    assert table.apart == (("one", "two", 0),)
    assert "hardly ever observed together: 'one' and 'two' (0 rows)" in table.reading
    with pytest.warns(BayescoutWarning, match=r"'one' and 'two' \(0 rows\).*forbidden=\[\('one', 'two'\)"):
        result = bs.learn(data, search="hill-climb", score="bic")
    assert "hardly ever observed together" in str(result.data)


@pytest.mark.filterwarnings("error::bayescout.errors.BayescoutWarning")
def test_cells_missing_at_random_are_not_named():
    table = holed(network("discrete").sample(500, seed=1), 0.5)
    assert table.apart == ()
    bs.learn(table, max_steps=1, search="hill-climb", score="bic")
    assert network("discrete").sample(50).apart == ()
