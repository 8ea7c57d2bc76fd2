"""Runs that are ended in the middle of a step, and families too large to be counted."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, TooLargeError
from bayescout.graph.orders import peel_roots
from bayescout.kernels.candidates import score_grown
from bayescout.scores import bind
from bayescout.search import SEARCHES
from bayescout.search.frame import watch
from bayescout.statistics import discrete
from bayescout.statistics.independence import Question, independence_tests
from tests.search.drawn_problems import entangled
from tests.search.test_searches import order_if_needed, quick, untimed

LIMIT = 1e6


class Ending:
    """In place of `Watch.check`: time is over at a look with a given number, `early` is called at another."""

    def __init__(self, over, early=None):
        self.over, self.early, self.looks = over, early, 0

    def __call__(self, own):
        self.looks += 1
        if self.looks == self.early and own._early is not None:
            made, own._early = own._early, None
            made()
        if self.looks >= self.over and own._limit in (LIMIT, 0.0):
            own._limit = 0.0  # for `is_over`
            raise watch.StepAbandoned


def ended(monkeypatch, over, early=None):
    ending = Ending(over, early)
    monkeypatch.setattr(watch.Watch, "check", lambda own: ending(own))
    return ending


@pytest.mark.parametrize("name", SEARCHES)
def test_a_step_that_is_given_up_leaves_the_state_before_it(name, monkeypatch, tmp_path):
    """Wherever in a step the time is over, the answer is sound, and the run goes on as if it had not been."""
    table = entangled(n_variables=6, seed=6)
    options = {"knowledge": order_if_needed(name, table), "seed": 3, "top": 3, "score": "bic"}
    whole = bs.learn(table, quick(name), **options)
    for over in (1, 2, 3, 5, 9, 17, 40, 100):
        path = tmp_path / f"{over}.checkpoint"
        with monkeypatch.context() as patch:
            ended(patch, over)
            cut = bs.learn(table, quick(name), **options, max_time=LIMIT, checkpoint=path)
        assert cut.stop_reason in ("max_time", "converged")
        assert len(peel_roots(cut.dag.parents)) == table.n_columns
        assert cut.score == pytest.approx(bs.score(cut.dag, table, "bic"), abs=1e-6)
        assert [step.step for step in cut.trace] == list(range(len(cut.trace)))
        resumed = bs.learn(table, quick(name), **options, checkpoint=path)
        assert untimed(resumed) == untimed(whole)


@pytest.mark.parametrize("name", [name for name in SEARCHES if not getattr(SEARCHES[name], "climbs", False)])
def test_a_search_that_is_stopped_early_answers_with_no_less_than_a_climb(name, monkeypatch):
    """Where the search had not got as far, the answer is the climb's, and says what its own was."""
    table = entangled(n_variables=6, seed=6)
    knowledge = order_if_needed(name, table)
    climb = bs.learn(table, "hill-climb", knowledge=knowledge, score="bic")
    looks = ended(monkeypatch, over=10**9)
    bs.learn(table, "hill-climb", knowledge=knowledge, score="bic")
    ended(monkeypatch, over=looks.looks + 8, early=2)
    found = bs.learn(table, quick(name), knowledge=knowledge, seed=3, max_time=LIMIT, score="bic")
    assert found.score >= climb.score or found.stop_reason == "converged"
    if found.own_score is not None:
        assert found.own_score < found.score == climb.score
        assert set(found.dag.arcs()) == set(climb.dag.arcs())
        assert found.trace[-1].facts == {"greedy": 1.0}
        assert "greedy climbing" in repr(found)
        assert not found.ends_in_class


def test_a_climb_is_no_part_of_a_run_that_ends_by_itself(monkeypatch):
    """The answer of a search does not depend on a time that was not over."""
    table = entangled(n_variables=6, seed=6)
    for name in ("umda", "annealing", "pc", "memetic"):
        whole = bs.learn(table, quick(name), seed=3, score="bic")
        with monkeypatch.context() as patch:
            ended(patch, over=10**9, early=3)
            assert untimed(bs.learn(table, quick(name), seed=3, max_time=LIMIT, score="bic")) == untimed(
                whole
            )


def test_own_score_is_kept_in_a_file(monkeypatch, tmp_path):
    table = entangled(n_variables=6, seed=6)
    ended(monkeypatch, over=200, early=2)
    found = bs.learn(table, quick("umda"), seed=3, max_time=LIMIT, start="empty", score="bic")
    monkeypatch.undo()
    found.save(tmp_path / "result.json")
    assert bs.Result.load(tmp_path / "result.json").own_score == found.own_score
    assert found.summary()["own_score"] == found.own_score


def test_the_floor_keeps_the_knowledge_and_a_given_start(monkeypatch):
    table = entangled(n_variables=6, seed=6)
    one, two = table.names[:2]
    start = bs.Dag.from_arcs([(one, two)], nodes=table.names)
    knowledge = bs.Knowledge(required=[(one, two)], max_parents=1)
    ended(monkeypatch, over=200, early=2)
    found = bs.learn(table, quick("umda"), knowledge=knowledge, start=start, max_time=LIMIT, score="bic")
    assert (one, two) in found.dag.arcs()
    assert max(map(len, found.dag.parents)) <= 1


# ---- the clock


def test_a_watch_counts_neither_compiling_nor_time_before_it(monkeypatch):
    compiled, now = [0.0], [100.0]
    monkeypatch.setattr(watch, "compiling_seconds", lambda: compiled[0])
    monkeypatch.setattr(watch.time, "perf_counter", lambda: now[0])
    called = []
    clock = watch.Watch()
    clock.start(10.0, spent=2.0, early=lambda: called.append(now[0]))
    clock.check()
    assert called == [100.0]  # two of ten seconds were gone
    now[0], compiled[0] = 112.0, 5.0
    clock.check()
    assert not clock.is_over
    assert clock.left == 1.0
    now[0] = 113.0
    assert clock.is_over
    with pytest.raises(watch.StepAbandoned):
        clock.check()
    clock.extend(12.0)
    clock.check()
    assert called == [100.0]


def test_ctrl_c_gives_up_the_step_in_hand():
    clock, pressed = watch.Watch(), []
    clock.start(None, interrupted=lambda: bool(pressed))
    clock.check()
    pressed.append(1)
    with pytest.raises(watch.StepAbandoned):
        clock.check()


# ---- steps of large problems


def test_long_steps_are_taken_in_parts_with_the_same_answer(monkeypatch):
    """A generation, a sweep, a level or a climb in many steps instead of one."""
    from bayescout.search.independence import pc
    from bayescout.search.optimal import search as optimal
    from bayescout.search.population import lau

    table = entangled(n_variables=7, seed=2)
    names = ("genetic", "genetic-greedy", "pc", "cpc", "optimal")
    whole = {name: bs.learn(table, quick(name), seed=4, score="bic") for name in names}
    monkeypatch.setattr(lau, "STEP_WORK", 1)
    monkeypatch.setattr(pc, "STEP_EDGES", (2, 1))
    monkeypatch.setattr(optimal, "STEP_MOVES", 1)
    for name in names:
        parts = bs.learn(table, quick(name), seed=4, score="bic")
        assert len(parts.trace) > len(whole[name].trace)
        assert (parts.dag, parts.score) == (whole[name].dag, whole[name].score)
        assert parts.counters.evaluations == whole[name].counters.evaluations
        assert parts.trace[-1].operations >= whole[name].trace[-1].operations


def test_long_steps_in_parts_resume_to_the_bit(monkeypatch, tmp_path):
    from bayescout.search.graphs import annealing
    from bayescout.search.independence import pc
    from bayescout.search.optimal import search as optimal
    from bayescout.search.population import lau

    monkeypatch.setattr(lau, "STEP_WORK", 1)
    monkeypatch.setattr(pc, "STEP_EDGES", (2, 1))
    monkeypatch.setattr(optimal, "STEP_MOVES", 1)
    monkeypatch.setattr(annealing, "STEP_PROPOSALS", 5)
    table = entangled(n_variables=6, seed=2)
    for name in ("genetic", "genetic-greedy", "pc", "cpc", "optimal", "annealing"):
        whole = bs.learn(table, quick(name), seed=4, score="bic")
        for stop in (1, 2, 3, 7, 12, 25):
            path = tmp_path / f"{name}-{stop}"
            bs.learn(table, quick(name), seed=4, max_steps=stop, checkpoint=path, score="bic")
            assert untimed(bs.learn(table, quick(name), seed=4, checkpoint=path, score="bic")) == untimed(
                whole
            )


def test_genes_are_drawn_and_repaired_in_slices_with_the_same_answer(monkeypatch):
    from bayescout.search.population import operators

    table = entangled(n_variables=6, seed=2)
    names = ("umda", "pbil", "elitist-ga", "holland")
    whole = {name: untimed(bs.learn(table, quick(name), seed=4, score="bic")) for name in names}
    monkeypatch.setattr(operators, "DRAWN", 1)
    for name in names:
        assert untimed(bs.learn(table, quick(name), seed=4, score="bic")) == whole[name]


def test_a_population_that_would_not_fit_is_refused_before_it_is_made(monkeypatch):
    from bayescout.search.population import generation

    monkeypatch.setattr(generation, "MOST_GENES", 600)
    table = entangled(n_variables=6, seed=2)  # 30 genes
    with pytest.raises(TooLargeError, match=r"population of 21 graphs of 6 variables has 630 genes.*20"):
        bs.learn(table, SEARCHES["umda"](population=21), score="bic")
    with pytest.raises(TooLargeError, match="population"):
        bs.learn(table, SEARCHES["holland"](population=20, growth=0.5, generations=5), score="bic")
    monkeypatch.setattr(generation, "MOST_GENES", 30 * 8 * 5)
    assert len(bs.learn(table, SEARCHES["umda"](), max_steps=1, score="bic").trace) == 2


# ---- families too large to be counted


@pytest.fixture
def narrow(monkeypatch):
    """As if tables of counts of more than 40 cells could not be held."""
    monkeypatch.setattr(discrete, "DENSE_CEILING", 40)
    rng = np.random.default_rng(5)
    codes = rng.integers(4, size=(5, 300))
    codes[1] = (codes[0] + (rng.random(300) < 0.1)) % 4
    codes[2] = (codes[0] + codes[1] + (rng.random(300) < 0.1)) % 4
    codes[3] = (codes[2] + codes[1] + (rng.random(300) < 0.1)) % 4
    states = tuple(tuple("abcd") for _ in codes)
    return bs.Table(tuple("uvwxy"), states, codes.astype(np.uint8), np.empty((0, 300)))


@pytest.mark.parametrize("name", SEARCHES)
def test_a_family_too_large_to_be_counted_does_not_end_a_search(name, narrow, monkeypatch):
    """It is left out, which is said once, with the columns."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = bs.learn(narrow, quick(name), "aic", knowledge=order_if_needed(name, narrow), seed=1)
    said = [str(one.message) for one in told if issubclass(one.category, BayescoutWarning)]
    assert len(said) <= 1
    if said:
        assert "left out" in said[0]
        assert any(f"table of '{column}' given" in said[0] for column in "uvwxy")
    if name not in ("pc", "cpc"):  # they do not search by score, and may answer with such a family
        assert np.isfinite(found.score)
        monkeypatch.undo()
        assert found.score == pytest.approx(bs.score(found.dag, narrow, "aic"), abs=1e-6)
    assert found.dag.n_arcs > 0


def test_a_family_too_large_is_minus_infinity_among_others(narrow):
    bound = bind("aic", narrow)
    with pytest.raises(TooLargeError, match="table of 'x' given 'u', 'y'"):
        bound.local(3, (0, 4))
    with pytest.raises(TooLargeError, match="limit its parents"):
        bs.score(bs.Dag.from_arcs([("u", "x"), ("y", "x")], nodes="uvwxy"), narrow, "aic")
    told = []
    bound.hooks.too_large = told.append
    wanted = [(3, (0, 4)), (3, (4,)), (3, ()), (3, (1, 4))]
    found = bound.many(wanted)
    assert found[[0, 3]].tolist() == [-np.inf, -np.inf]
    assert found[1] == bind("aic", narrow).local(3, (4,))
    extended = bound.extensions(3, (4,), np.array([0, 1, 2]))
    assert (extended == -np.inf).all()
    assert len(told) == 5
    assert bound.many(wanted).tolist() == found.tolist()


def test_nothing_is_proven_where_families_were_left_out(monkeypatch):
    """Nor by the kernels that enumerate parent sets."""
    rng = np.random.default_rng(5)
    codes = rng.integers(8, size=(4, 400))
    codes[1] = (codes[0] + (rng.random(400) < 0.2)) % 8
    codes[3] = (codes[1] + codes[2]) % 8
    arrays = ((tuple("abcdefgh"),) * 4, codes.astype(np.uint8), np.empty((0, 400)))
    whole = bs.learn(bs.Table(tuple("uvwx"), *arrays), "optimal", "aic")
    assert whole.gap == 0
    monkeypatch.setattr(discrete, "DENSE_CEILING", 200)
    table = bs.Table(tuple("uvwx"), *arrays)
    with pytest.warns(BayescoutWarning, match="left out: the table of"):
        found = bs.learn(table, "optimal", "aic")
    assert found.bound is None
    assert found.score < whole.score
    with pytest.raises(TooLargeError, match="the table of"):
        bs.candidate_sets(table, "aic")


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), states=st.integers(6, 9), weighted=st.booleans())
def test_scores_of_grown_sets_are_the_same_from_occurring_configurations(seed, states, weighted):
    """The kernel of the enumeration against the score itself, whatever is held whole."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(states, size=(4, 60)).astype(np.uint8)
    weights = rng.integers(1, 4, size=60).astype(float) if weighted else None
    labels = (tuple(range(states)),) * 4
    table = bs.Table(tuple("uvwx"), labels, codes, np.empty((0, 60)), weights)
    for score in ("bic", "bdeu", "k2"):
        bound = bind(score, table)
        families = np.array([[0, 1, 3], [0, 2, 3]])
        scores, occupied = np.empty(2), np.empty(2, dtype=np.int64)
        for limit in (1, 10**6):
            score_grown(
                bound.kernel.arrays, np.array([limit, 10**6]), families, np.array([0, 1, 2]),
                np.array([2, 1]), scores, occupied,
            )  # fmt: skip
            assert scores.tolist() == [bound.local(3, (0, 1, 2))] * 2
        score_grown(
            bound.kernel.arrays,
            np.array([1, 1]),
            families,
            np.array([0, 1, 2]),
            np.array([2, 1]),
            scores,
            occupied,
        )
        assert scores.tolist() == [-np.inf] * 2
        assert (occupied > 0).all()


def test_a_test_whose_table_is_too_large_is_inconclusive(narrow):
    asked = [Question(3, 4, (0, 1)), Question(0, 4)]
    found = independence_tests(narrow, "g2").many(asked)
    assert [one.answer for one in found] == ["inconclusive", "independent"]


def test_hooks_are_gone_after_a_run():
    from bayescout.scores.scorer import Hooks

    table = entangled()
    found = bs.learn(table, max_time=1e-9, search="hill-climb", score="bic")
    assert found.scores.hooks == Hooks()


def test_pieces_of_work_are_looked_after(monkeypatch):
    """Between any two looks at the clock few families are scored, whatever the search."""
    from bayescout.scores import gain_rows as rows
    from bayescout.scores import table_scorer

    monkeypatch.setattr(table_scorer, "PIECE_ROWS", 2000)
    monkeypatch.setattr(rows, "FILL_ROWS", 2000)
    table = entangled(n_variables=6, seed=6, rows=200)
    for name in ("hill-climb", "umda", "genetic", "ges", "memetic", "optimal"):
        ending = ended(monkeypatch, over=10**9)
        found = bs.learn(table, quick(name), seed=3, score="bic")
        assert ending.looks * 60 > found.counters.computed, name


def test_gap_without_a_bound_says_so(monkeypatch):
    table = bs.load_network("asia").sample(300, seed=1)
    result = bs.learn(table, search="hill-climb", score="bic")
    ended(monkeypatch, over=1)
    found = bs.gap(result, max_time=LIMIT)
    assert str(found).startswith("no bound was found")
    assert found.to_dict()["bound"] is None
    assert found.to_dict()["gap"] is None
