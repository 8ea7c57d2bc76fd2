"""The process of a run, in this one: it steps as `learn` does, goes back, changes, and is taken up again."""

from __future__ import annotations

from itertools import pairwise

import pytest

import bayescout as bs
from bayescout.errors import KnowledgeError
from bayescout.serve.running import Work
from bayescout.serve.traces import TraceReader


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    table = bs.load_network("asia").sample(500, seed=3)
    table.save(folder / "table.arrow")
    return table, str(folder / "table.arrow")


@pytest.fixture
def begun(asia, tmp_path):
    """Make the work of a run in a folder; all are closed at the end."""
    made = []

    def begin(**config):
        folder = tmp_path / config.pop("name", "run")
        folder.mkdir(exist_ok=True)
        usual = {"folder": str(folder), "table": asia[1], "fingerprint": asia[0].fingerprint}
        usual |= {"search": "tabu", "score": "bdeu", "workers": 1}
        made.append(Work(usual | config))
        return made[-1]

    yield begin
    for work in made:
        work.trace.close()


def to_the_end(work):
    while work.step():
        pass
    work.conclude()
    return work


def graph(work):
    return {(work.names[a], work.names[b]) for a, b in work.standing()["arcs"]}


@pytest.mark.parametrize("search", ["hill-climb", "tabu", "ges", "genetic-greedy"])
def test_it_ends_where_learn_does(asia, begun, search):
    work = to_the_end(begun(search=search))
    found = bs.learn(asia[0], search, "bdeu")
    assert graph(work) == set(found.dag.arcs())
    assert work.standing()["score"] == found.score
    assert work.standing()["stop_reason"] == "converged"


def test_every_step_is_written_as_the_session_shows_it(asia, begun):
    work = to_the_end(begun())
    work.trace.flush()
    reader = TraceReader(work.folder / "trace.jsonl")
    shown = list(bs.Session(asia[0], "tabu", "bdeu"))
    assert len(reader.points()) == len(shown)
    for one in shown:
        (step, _, score, best), arcs = reader.at(one.step)
        assert (step, score, best) == (one.step, one.score, one.best)
        assert {(work.names[a], work.names[b]) for a, b in arcs} == set(one.dag.arcs())


@pytest.mark.parametrize("steps", [1, 3, 100])
def test_going_back_and_on_ends_the_same(begun, steps):
    work, other = begun(), begun(name="other")
    for _ in range(6):
        work.step()
    work.back(steps)
    assert work.standing()["step"] == max(0, 5 - steps)
    assert graph(to_the_end(work)) == graph(to_the_end(other))
    work.trace.flush()
    assert len(TraceReader(work.folder / "trace.jsonl").points()) == work.standing()["step"] + 1


def test_a_killed_run_goes_on_from_its_checkpoint(begun):
    """To the same end and with the same steps, though the file of steps had come further."""
    whole = to_the_end(begun(name="whole"))
    work = begun()
    for _ in range(4):
        work.step()
    work.save()
    for _ in range(3):
        work.step()
    work.trace.close()
    again = begun()
    assert again.standing()["step"] == 3
    assert graph(to_the_end(again)) == graph(whole)
    again.trace.flush()
    whole.trace.flush()
    files = [TraceReader(one.folder / "trace.jsonl") for one in (again, whole)]
    steps = range(len(files[1].points()))
    assert [files[0].at(step)[1] for step in steps] == [files[1].at(step)[1] for step in steps]


def test_before_a_checkpoint_it_goes_back_by_repeating_the_run(begun):
    work = begun()
    for _ in range(6):
        work.step()
    early = work.trace.steps
    assert early == 6
    work.save()
    work.trace.close()
    again, other = begun(), begun(name="other")
    again.back(4)
    for _ in range(2):
        other.step()
    assert again.standing()["step"] == 1
    assert graph(again) == graph(other)


def test_changed_knowledge_holds_from_there_on_and_after_a_kill(begun):
    work = begun(search="hill-climb")
    for _ in range(5):
        work.step()
    arc = sorted(graph(work))[0]
    text = f"forbid {arc[0]} -> {arc[1]}\nforbid {arc[1]} -> {arc[0]}\nrequire asia -> dysp\n"
    work.change({"knowledge": text})
    assert arc not in graph(work)
    assert ("asia", "dysp") in graph(work)
    config = work.config
    work.step()
    work.save()
    work.trace.close()
    again = Work(config)
    end = graph(to_the_end(again))
    again.trace.close()
    assert ("asia", "dysp") in end
    assert not {arc, arc[::-1]} & end
    assert again.standing()["step"] > 5


def test_a_changed_score_goes_on_from_the_graph_in_hand(asia, begun):
    work = begun(search="hill-climb")
    for _ in range(4):
        work.step()
    before = graph(work)
    work.change({"score": "bic"})
    assert graph(work) == before
    start = bs.Dag.from_arcs(before, nodes=asia[0].names)
    assert graph(to_the_end(work)) == set(bs.learn(asia[0], "hill-climb", "bic", start=start).dag.arcs())


def test_knowledge_that_cannot_hold_changes_nothing(begun):
    work = begun(search="hill-climb")
    work.step()
    before = work.standing(), dict(work.config)
    with pytest.raises(KnowledgeError):
        work.change({"knowledge": "require asia -> dysp\nforbid asia -> dysp"})
    assert (work.standing(), work.config) == before
    assert work.step()


def test_limits_end_a_run_and_say_so(begun):
    work = to_the_end(begun(max_steps=2))
    assert work.standing()["stop_reason"] == "max_steps"
    assert work.standing()["step"] == 2


def test_steps_are_in_order_and_times_do_not_fall(begun):
    work = to_the_end(begun(search="hill-climb"))
    work.change({"score": "bic"})
    to_the_end(work)
    work.trace.flush()
    points = TraceReader(work.folder / "trace.jsonl").points()
    assert [point[0] for point in points] == list(range(len(points)))
    assert all(one[1] <= two[1] for one, two in pairwise(points))
