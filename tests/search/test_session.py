"""States are values, and a session that is paused, taken back, saved or steered ends as one that is not."""

from __future__ import annotations

import copy
import json
import signal
import threading
import time

import numpy as np
import pytest

import bayescout as bs
from bayescout.checks import generator
from bayescout.errors import FormatError, SettingError
from bayescout.search import SEARCHES, HillClimb
from bayescout.search.frame import floor
from bayescout.search.frame.repair import nearest_graph
from bayescout.search.frame.run import RECENT
from bayescout.search.population import Holland
from bayescout.statistics import discrete
from tests.search.drawn_problems import entangled, gaussian, problem_of

QUICK = {
    "holland": {"population": 8, "generations": 6},
    "umda": {"population": 8},
    "pbil": {"population": 8},
    "elitist-ga": {"population": 8},
    "genetic": {"population": 5},
    "genetic-greedy": {"population": 7},
    "annealing": {"sweeps": 6},
    "memetic": {"population": 4, "patience": 4},
    "order-sample": {"orders": 8},
    "k2-random": {"orders": 8},
    "hill-climb": {"restarts": 3, "perturb": 2},
    "tabu": {"restarts": 2, "perturb": 2},
    "order-climb": {"restarts": 2, "insertion": True},
    "boss": {"restarts": 1},
}


def search_of(name):
    return SEARCHES[name](**QUICK.get(name, {}))


def case(name):
    """A small problem that the search takes several steps over."""
    table = gaussian(6, 80, 3) if name.startswith("imap") else entangled(6, 150, 4, states=3, noise=0.4)
    order = table.names if name == "k2" else None
    return table, bs.Knowledge(max_parents=3, order=order)


def states_of(name, problem, seed=5, most=25):
    """Every state of a run with the random numbers before the step after it."""
    search, rng = search_of(name), generator(seed)
    found, state = [], search.start(problem, rng)
    while not state.done and len(found) < most:
        found.append((state, rng.bit_generator.state, problem.scorer.asked))
        state = search.advance(problem, state, rng)
    return [*found, (state, None, problem.scorer.asked)]


@pytest.mark.parametrize("name", SEARCHES)
def test_advancing_twice_from_a_state_gives_the_same_state(name):
    """From every state of a run: again at once, and long after its scratch is gone."""
    table, knowledge = case(name)
    problem = problem_of(table, "bic", knowledge)
    search, rng = search_of(name), generator(0)
    states = states_of(name, problem)
    assert len(states) > 2
    saved = [json.dumps(state.to_json()) for state, _, _ in states]
    for i, (state, random, asked) in enumerate(states[:-1]):
        for _ in range(2):
            rng.bit_generator.state, problem.scorer.asked = random, asked
            after = search.advance(problem, state, rng)
            assert after == states[i + 1][0]
            assert problem.scorer.asked == states[i + 1][2]
    assert [json.dumps(state.to_json()) for state, _, _ in states] == saved


@pytest.mark.parametrize("name", SEARCHES)
def test_states_cannot_be_changed_and_are_what_a_file_gives_back(name):
    table, knowledge = case(name)
    problem = problem_of(table, "bic", knowledge)
    search = search_of(name)
    for state, _, _ in states_of(name, problem):
        with pytest.raises(AttributeError):
            state.score = 0.0
        read = search.state.from_json(json.loads(json.dumps(state.to_json())))
        assert read == state
        assert copy.deepcopy(state) == state


def same(one, other):
    untimed = [[step._replace(seconds=0) for step in result.trace] for result in (one, other)]
    assert untimed[0] == untimed[1]
    assert (one.dag, one.score, one.top, one.stop_reason) == (
        other.dag,
        other.score,
        other.top,
        other.stop_reason,
    )


@pytest.mark.parametrize("name", SEARCHES)
def test_a_session_with_pauses_and_steps_back_equals_one_without(name):
    table, knowledge = case(name)
    options = {"knowledge": knowledge, "seed": 3, "max_steps": 20, "top": 2}
    whole = bs.learn(table, search_of(name), "bic", **options)
    session = bs.Session(table, search_of(name), "bic", **options)
    rng = np.random.default_rng(1)
    for snapshot in session:
        assert session.snapshot() == snapshot
        if rng.random() < 0.4:
            session.pause()
    for _ in range(12):
        before = session.steps
        steps = int(rng.integers(0, 4))
        snapshot = session.back(steps)
        assert session.steps == max(0, before - steps) == snapshot.step
        session.result()
        for _ in session:
            if rng.random() < 0.3:
                session.pause()
    same(session.run(), whole)
    last = session.snapshot()
    assert session.back(10**6).step == 0
    for snapshot in session:
        expected = whole.trace[snapshot.step]
        assert (snapshot.score, snapshot.best, snapshot.evaluations) == (
            expected.score,
            expected.best,
            expected.evaluations,
        )
    assert (session.snapshot().dag, session.snapshot().stop_reason) == (last.dag, last.stop_reason)


@pytest.mark.parametrize("name", ["tabu", "ges", "boss", "umda", "optimal"])
def test_a_saved_session_goes_on_to_the_bit(name, tmp_path):
    table, knowledge = case(name)
    options = {"knowledge": knowledge, "seed": 3, "max_steps": 20}
    whole = bs.learn(table, search_of(name), "bic", **options)
    session = bs.Session(table, search_of(name), "bic", **options)
    for snapshot in session:
        if snapshot.step == 2:
            session.pause()
    session.save(tmp_path / "a.checkpoint")
    session.save(tmp_path / "a.checkpoint")
    resumed = bs.Session(table, search_of(name), "bic", checkpoint=tmp_path / "a.checkpoint", **options)
    assert resumed.steps == 2
    same(resumed.run(), whole)
    path = tmp_path / "a.checkpoint"
    same(bs.learn(table, search_of(name), "bic", checkpoint=path, **options), whole)
    same(session.run(), whole)
    with pytest.raises(FormatError, match="cannot be written"):
        session.save(tmp_path / "no" / "folder")


def test_many_steps_back_are_repeated_from_the_start():
    table = entangled(12, 400, 2, states=2, noise=0.4)
    whole = bs.learn(table, "tabu", start="random", seed=2, score="bic")
    assert len(whole.trace) > 20
    session = bs.Session(table, SEARCHES["tabu"](restarts=20, perturb=3), start="random", seed=2, score="bic")
    session.run()
    assert session.steps > RECENT + 20
    scores = [step.score for step in session.result().trace]
    for wanted in (session.steps - RECENT - 10, 3, 0):
        snapshot = session.back(session.steps - wanted)
        assert (snapshot.step, snapshot.score) == (wanted, scores[wanted])
    assert [snapshot.score for snapshot in session] == scores[1:]


@pytest.mark.parametrize("name", sorted(set(SEARCHES) - {"k2"}))
def test_new_knowledge_holds_from_the_step_it_is_given(name):
    table, _ = case(name)
    session = bs.Session(table, search_of(name), "bic", seed=3, max_steps=20)
    for snapshot in session:
        if snapshot.step == 3:
            session.pause()
    arcs = list(session.snapshot().dag.arcs()) or [(table.names[0], table.names[1])]
    (a, b), (c, d) = arcs[0], arcs[-1]
    known = bs.Knowledge(required=[(b, a)], forbidden=[(c, d)] if (c, d) != (b, a) else [], max_parents=2)
    rules = known.compile(table.names)
    steps = session.steps
    snapshot = session.change_knowledge(known)
    assert snapshot.step == steps + 1
    assert session.knowledge is known
    assert rules.broken_by(snapshot.dag.reordered(table.names).parents) is None
    for snapshot in session:
        assert rules.broken_by(snapshot.dag.reordered(table.names).parents) is None
    result = session.result()
    assert rules.broken_by(result.dag.reordered(table.names).parents) is None
    assert all(rules.broken_by(one.dag.reordered(table.names).parents) is None for one in result.top)
    assert result.settings.knowledge is known
    again = bs.learn(table, search_of(name), "bic", known, start=session.begun_with, seed=3, max_steps=20)
    assert rules.broken_by(again.dag.reordered(table.names).parents) is None


def test_the_nearest_graph_keeps_what_it_can():
    table = entangled(5, 200, 1)
    problem = problem_of(table, "bic", bs.Knowledge())
    graph = ((), (0,), (0, 1), (2,), (3,))
    assert nearest_graph(graph, problem.rules, problem.scorer) == graph
    names = table.names
    rules = bs.Knowledge(required=[(names[2], names[0])], forbidden=[(names[3], names[4])]).compile(names)
    found = nearest_graph(graph, rules, problem.scorer)
    assert rules.broken_by(found) is None
    assert found[0] == (2,)
    assert found[4] == ()
    assert 0 not in found[2]
    asked = problem.scorer.asked
    nearest_graph(graph, rules, problem.scorer)
    assert problem.scorer.asked == asked


def test_time_is_that_of_steps_alone_and_ends_a_session_like_a_run():
    import time

    table = entangled(8, 500, 3, states=3)
    session = bs.Session(table, Holland(generations=10**6), max_time=0.4, score="bic")
    for snapshot in session:
        if snapshot.step == 1:
            session.pause()
    time.sleep(0.5)
    more = sum(1 for _ in session)
    assert more > 0
    assert session.stop_reason == "max_time"
    assert session.result().stop_reason == "max_time"
    assert list(session) == []


def test_a_session_can_be_paused_from_another_thread():
    import threading

    table = entangled(8, 500, 3, states=3)
    session = bs.Session(table, Holland(generations=10**6), "bic")
    threading.Timer(0.2, session.pause).start()
    steps = sum(1 for _ in session)
    assert steps > 1
    assert session.stop_reason == ""
    assert session.result().stop_reason == "paused"


@pytest.mark.parametrize("name", ["hill-climb", "pc", "umda"])
def test_a_result_before_the_first_step_leaves_nothing_behind(name):
    table = entangled(5, 100)
    session = bs.Session(table, search_of(name), seed=1, score="bic")
    early = session.result()
    assert (early.stop_reason, early.dag.n_arcs, session.steps) == ("paused", 0, 0)
    same(session.run(), bs.learn(table, search_of(name), seed=1, score="bic"))


def test_the_way_back_ends_where_knowledge_changed_or_a_run_was_resumed(tmp_path):
    table = entangled(6, 200, 2)
    session = bs.Session(table, "tabu", seed=1, score="bic")
    for snapshot in session:
        if snapshot.step == 4:
            session.pause()
    session.save(tmp_path / "run")
    resumed = bs.Session(table, "tabu", seed=1, checkpoint=tmp_path / "run", score="bic")
    assert resumed.back(2).step == 4
    same(resumed.run(), bs.learn(table, "tabu", seed=1, score="bic"))
    changed = session.change_knowledge(bs.Knowledge(max_parents=1))
    assert session.back(3).step == changed.step
    next(iter(session))
    assert session.back(1).step == changed.step


def test_knowledge_that_a_search_cannot_begin_under_changes_nothing():
    table = entangled(5, 100)
    known = bs.Knowledge(order=table.names)
    session = bs.Session(table, "k2", "bic", known)
    next(iter(session))
    before = session.snapshot()
    with pytest.raises(bs.BayescoutError, match="order"):
        session.change_knowledge(bs.Knowledge(forbidden=[("v0", "v1")]))
    assert (session.knowledge, session.snapshot()) == (known, before)
    same(session.run(), bs.learn(table, "k2", "bic", known))
    other = bs.Knowledge(order=table.names[::-1])
    session.change_knowledge(other)
    assert session.run().dag == bs.learn(table, "k2", "bic", other).dag


def test_ctrl_c_in_a_step_that_does_not_look_ends_the_iteration():
    class Deaf(HillClimb):
        def advance(self, problem, state, rng):
            after = super().advance(problem, state, rng)
            if state.operations == 2:
                signal.raise_signal(signal.SIGINT)
            return after

    table = entangled(6, 200, 2)
    session = bs.Session(table, Deaf(), seed=1, score="bic")
    found = session.run()
    assert (found.stop_reason, session.steps) == ("interrupted", 3)
    same(session.run(), bs.learn(table, HillClimb(), seed=1, score="bic"))


def test_a_step_is_given_up_from_another_thread_and_the_session_goes_on():
    class Waiting(HillClimb):
        def advance(self, problem, state, rng):
            while not given_up.is_set() and state.operations == 2:
                inside.set()
                problem.check()
            return super().advance(problem, state, rng)

    inside, given_up = threading.Event(), threading.Event()

    def give_up():
        inside.wait(60)
        session.interrupt()

    table = entangled(6, 200, 2)
    session = bs.Session(table, Waiting(), seed=1, score="bic")
    threading.Thread(target=give_up).start()
    assert (session.run().stop_reason, session.steps) == ("interrupted", 2)
    given_up.set()
    same(session.run(), bs.learn(table, HillClimb(), seed=1, score="bic"))


def test_an_error_on_the_way_back_leaves_a_session_that_can_go_on():
    table = entangled(8, 300, 2)
    score = Failing(table.n_columns)
    search = SEARCHES["tabu"](restarts=20, perturb=2)
    session = bs.Session(table, search, score, start="random", seed=2)
    scores = [snapshot.score for snapshot in session]
    assert session.steps > RECENT + 5
    session._run.problem.scorer._cache._values.clear()
    session._run.problem.gain_rows._memory.clear()
    score.left = 100  # enough to rebuild the neighbourhood, not for all the steps
    with pytest.raises(ZeroDivisionError):
        session.back(session.steps - 40)
    score.left = 10**9
    at = session.steps
    assert 0 <= at < 40
    assert [snapshot.score for snapshot in session] == scores[at + 1 :]


class Failing:
    """Fewer parents are better, until a number of families is scored."""

    def __init__(self, n):
        self.left = 10**9
        self.worth = np.random.default_rng(3).normal(size=(n, n))

    def local(self, child, parents):
        self.left -= 1
        if self.left < 0:
            raise ZeroDivisionError
        return float(self.worth[child, list(parents)].sum()) - 0.3 * len(parents) ** 2


def test_the_greedy_climb_is_made_once_in_a_session(monkeypatch):
    made = []
    monkeypatch.setattr(floor.Floor, "climb", lambda self: made.append(setattr(self, "begun", True)))
    table = entangled(8, 500, 3, states=3)
    bs.Session(table, Holland(generations=10**6), max_time=0.3, score="bic").run()
    assert len(made) == 1


def test_time_goes_back_with_the_steps_and_waiting_does_not_count(monkeypatch):
    now = [0.0]

    def clock():  # it stands still but for the looks at it, which take a fifth of a millisecond each
        now[0] += 2e-4
        return now[0]

    monkeypatch.setattr(time, "perf_counter", clock)
    table = entangled(8, 500, 3, states=3)
    session = bs.Session(table, Holland(generations=10**6), max_time=0.3, score="bic")
    now[0] += 60.0
    assert session.result().seconds < 0.15
    session.run()
    steps = session.steps
    assert session.stop_reason == "max_time"
    session.back(steps // 2)
    assert len(list(session)) > 0


def test_a_pause_before_the_iteration_holds_it():
    table = entangled(5, 100)
    session = bs.Session(table, search="hill-climb", score="bic")
    session.pause()
    assert list(session) == []
    assert len(list(session)) > 1


def test_saving_writes_over_nothing_else(tmp_path):
    table = entangled(5, 100)
    session = bs.Session(table, search="hill-climb", score="bic")
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(FormatError, match="not a checkpoint"):
        session.save(notes)
    assert notes.read_text() == "mine"
    bs.Session(table, seed=9, search="hill-climb", score="bic").save(tmp_path / "other")
    with pytest.raises(SettingError, match="another run"):
        session.save(tmp_path / "other")
    with pytest.raises(FormatError, match="no such checkpoint"):
        bs.Session(table, checkpoint=tmp_path / "none", search="hill-climb", score="bic")


def test_what_a_session_refuses():
    table = entangled(4, 100)
    session = bs.Session(table, search="hill-climb", score="bic")
    with pytest.raises(SettingError, match="whole number"):
        session.back(-1)
    with pytest.raises(SettingError, match="Knowledge"):
        session.change_knowledge([("v0", "v1")])
    with pytest.raises(SettingError, match="first step"):
        bs.Session(table, max_time=1e-12, search="hill-climb", score="bic").snapshot()
    assert "hill-climb" in repr(session)
    assert session.begun_with == "empty"


def test_families_too_large_to_count_are_left_out_on_the_way_back_too(monkeypatch):
    monkeypatch.setattr(discrete, "DENSE_CEILING", 200)
    rng = np.random.default_rng(5)
    codes = rng.integers(8, size=(4, 400))
    codes[1] = (codes[0] + (rng.random(400) < 0.2)) % 8
    codes[3] = (codes[1] + codes[2]) % 8
    table = bs.Table(tuple("uvwx"), (tuple("abcdefgh"),) * 4, codes.astype(np.uint8), np.empty((0, 400)))
    session = bs.Session(table, "hill-climb", "aic")
    scores = [snapshot.score for snapshot in session]
    for steps in (1, 2):
        assert session.back(steps).score == scores[-1 - steps]
        assert [snapshot.score for snapshot in session] == scores[-steps:]
    with pytest.warns(bs.BayescoutWarning, match="left out"):
        session.result()
