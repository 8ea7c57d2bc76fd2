"""Nothing that is kept for the next question outlives what it was made of: old answers are wrong answers."""

from __future__ import annotations

import asyncio
import json
import shutil
from types import SimpleNamespace

import pytest

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.serve import asking, cards, columns, costs, sharing, views
from bayescout.serve.bootstraps import Strengths
from bayescout.serve.events import Hub
from bayescout.serve.project import Project
from bayescout.serve.running import Work
from bayescout.serve.runs import Live, Run, Runs
from bayescout.serve.subject import SCORED, SUBJECTS, TABLES
from bayescout.serve.traces import TraceWriter
from bayescout.serve.workbench import Workbench
from tests.serve.test_answers import nobody, subject_of

RUN = {"id": "1", "name": "one", "search": "tabu", "score_name": "bic", "settings": {}, "seed": 0}
RUN |= {"knowledge": "", "config": {}, "data": "abc", "nodes": ["a", "b", "c"]}


@pytest.fixture
def project(tmp_path):
    """Rows as a project has them, and other rows that are read in their place; nothing is at hand yet."""
    for kept in (TABLES, SCORED, SUBJECTS):
        kept.clear()
    for name, seed in (("first", 1), ("second", 2)):
        bs.load_network("asia").sample(400, seed=seed).save(tmp_path / f"{name}.csv")
        columns.read(
            {"path": str(tmp_path / f"{name}.csv"), "table": str(tmp_path / f"{name}.arrow")}, nobody
        )
    shutil.copy(tmp_path / "first.arrow", tmp_path / "table.arrow")
    result = bs.learn(tmp_path / "first.csv", "hill-climb", "bdeu")
    return tmp_path, result, subject_of(result, tmp_path)


QUESTIONS = {
    "card": lambda subject: cards.card({**subject, "from": "smoke", "to": "bronc"}, nobody),
    "ask": lambda subject: asking.ask({**subject, "evidence": {"smoke": "yes"}}, nobody),
    "node": lambda subject: views.node({**subject, "name": "bronc"}, nobody),
    "prices": lambda subject: costs.prices({**subject, "knowledge": "require asia -> dysp"}, nobody),
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_question_that_waited_is_never_answered_from_other_rows(project, kind):
    """The file is another by the time that the question is read; then the first is there again."""
    folder, _, subject = project
    ask = QUESTIONS[kind]
    shutil.copy(folder / "second.arrow", folder / "table.arrow")
    with pytest.raises(SettingError, match="other data now"):
        ask(subject)
    shutil.copy(folder / "first.arrow", folder / "table.arrow")
    asked = ask(subject)
    elsewhere = {**subject, "table": str(folder / "first.arrow")}
    assert asked == ask(elsewhere)


def test_a_table_at_hand_answers_for_its_own_rows_after_they_were_replaced(project):
    folder, result, subject = project
    before = cards.card({**subject, "from": "smoke", "to": "bronc"}, nobody)
    assert before["sentence"] == str(result.explain("smoke", "bronc"))
    shutil.copy(folder / "second.arrow", folder / "table.arrow")
    other = {**subject, "fingerprint": bs.read_table(folder / "table.arrow").fingerprint}
    after = cards.card({**other, "from": "smoke", "to": "bronc"}, nobody)
    assert after["counts"] != before["counts"]
    assert cards.card({**subject, "from": "smoke", "to": "bronc"}, nobody) == before


def test_a_run_does_not_begin_on_other_rows_than_it_was_asked_for(project):
    folder, _, subject = project
    config = {"folder": str(folder), "table": str(folder / "second.arrow"), "search": "tabu", "score": "bic"}
    with pytest.raises(SettingError, match="other data now"):
        Work(config | {"fingerprint": subject["fingerprint"]})


ODD = {
    "kinds": "id,n,flag,day\n"
    + "".join(f"r{i},{i % 40},{i % 2},2026-01-{1 + i % 28:02}\n" for i in range(90)),
    "gaps": "x,y\n" + "".join(f"{'' if i % 3 else i % 2},{'' if i % 4 else i * 0.5}\n" for i in range(90)),
    "text": 'a b,"<b>"\n' + "".join(f'"x, {i % 3}",{"äöü"[i % 3]}\n' for i in range(90)),
    "large": "big,tiny\n" + "".join(f"{10**15 + i % 3},{(i % 7) * 1e-9}\n" for i in range(90)),
}


@pytest.mark.parametrize("kinds", [{}, {"n": "discrete", "big": "continuous", "y": "discrete"}])
@pytest.mark.parametrize("name", ODD)
def test_the_table_beside_a_project_is_the_one_that_was_read(tmp_path, name, kinds):
    (tmp_path / "odd.csv").write_text(ODD[name], encoding="utf-8")
    header = ODD[name].split("\n", 1)[0].split(",")
    values = {"path": str(tmp_path / "odd.csv"), "table": str(tmp_path / "table.arrow")}
    values["kinds"] = {column: kind for column, kind in kinds.items() if column in header}
    assert columns.read(values, nobody)["fingerprint"] == bs.read_table(tmp_path / "table.arrow").fingerprint


def test_knowledge_of_other_variables_is_kept_and_said(tmp_path):
    bench = Workbench(Project(tmp_path / "p"))
    bench.write_knowledge({"text": "require asia -> dysp\n"})
    assert "error" not in bench.knowledge()
    bench.project.about["data"] = {"columns": [{"name": name, "kind": "discrete"} for name in ("a", "dysp")]}
    known = bench.knowledge()
    assert "unknown variable 'asia'" in known["error"]
    assert known["required"] == [["asia", "dysp"]]
    bench.project.close()


def test_strengths_are_of_the_search_that_the_run_has_now(tmp_path):
    plan = {"search": "tabu", "score_name": "bic", "start": "empty"}
    run = Run(**RUN, plan=plan)
    bench = SimpleNamespace(project=SimpleNamespace(run_folder=lambda number: tmp_path))
    found = {"arcs": [["a", "b", 1.0, 1.0]], "done": 5, "of": 5, "settings": plan}
    (tmp_path / "strengths.json").write_text(json.dumps(found))
    assert Strengths(bench).found(run)["arcs"] == found["arcs"]
    run.plan = plan | {"start": "given"}  # goes on from a graph: the bootstrap begins anew all the same
    assert Strengths(bench).shown(run)["arcs"] == found["arcs"]
    run.plan = plan | {"score_name": "bdeu"}
    assert Strengths(bench).found(run) is None
    assert Strengths(bench).shown(run) == {"arcs": [], "done": 0, "of": 0}


def test_a_page_is_written_from_the_saved_result_only_under_the_same_settings(project, tmp_path):
    _, result, subject = project
    result.save(tmp_path / "result.json")
    values = {**subject, "format": "html", "path": str(tmp_path / "page.html")}
    values["result"] = str(tmp_path / "result.json")
    sharing.export(values, nobody)
    assert "score bdeu" in (tmp_path / "page.html").read_text()
    settings = {**subject["settings"], **bs.learn(result.table, "hill-climb", "bic").settings.to_json()}
    sharing.export({**values, "settings": settings}, nobody)
    assert "score bic" in (tmp_path / "page.html").read_text()


def test_steps_read_while_a_run_goes_back_do_not_count_as_read_after_it(tmp_path):
    """The page may ask for the curve at any moment in between."""
    names = ["a", "b", "c"]
    graphs = [frozenset({(0, 1)}), frozenset({(0, 1), (1, 2)}), frozenset({(1, 2)})]
    writer = TraceWriter(tmp_path / "trace.jsonl")
    for step, arcs in enumerate(graphs):
        writer.add(step, 0.0, -3.0 + step, -3.0 + step, arcs)
    writer.flush()
    run = Run(**RUN)

    def steps():
        return views.reader({"trace": str(tmp_path / "trace.jsonl"), "epoch": run.epoch}).points()

    class Process:
        async def call(self, action, **_):
            assert len(steps()) == 3
            writer.cut(1)
            writer.now(graphs[0])
            return {"config": {}, "settings": {}, "nodes": names, "score_name": "bic", "prior": None}

    live = Live(SimpleNamespace(save=lambda run: None, on_described=lambda run: None), run)
    live.child = Process()
    asyncio.run(live.do("back", {}))
    writer.add(1, 0.0, -1.5, -1.5, graphs[2])
    writer.close()
    assert [point[2] for point in steps()] == [-3.0, -1.5]
    assert views.at(
        {"trace": str(tmp_path / "trace.jsonl"), "epoch": run.epoch, "step": 1, "nodes": names}, nobody
    )["arcs"] == [["b", "c"]]


def test_a_run_whose_record_cannot_be_written_goes_on_and_says_so(tmp_path, monkeypatch):
    """An error on the way would leave nobody who listens to the run's process."""

    def full(*_):
        raise SettingError("run.json: cannot be written: No space left on device")

    async def told():
        runs = Runs(Project(tmp_path / "p"), Hub(dict))
        run = runs.all["1"] = Run(**RUN, plan={})
        said = []
        with monkeypatch.context() as patch:
            patch.setattr(runs.project, "save_run", full)
            for step, state in enumerate(("paused", "running", "failed")):
                runs.told(run, {"event": "state", "state": state, "step": step})
                said.append(run.error)
            runs.fail(run, "the process ended")
            said.append(run.error)
        runs.project.save_run = lambda *_: None
        runs.told(run, {"event": "state", "state": "paused", "step": 3})
        runs.project.close()
        return [*said, run.error]

    *first, last, after = asyncio.run(told())
    assert all("No space left on device" in words for words in first)
    assert (last, after) == ("the process ended", None)


def test_a_project_that_cannot_be_written_says_the_way_out(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match=r"cannot be written: .*--project"):
        Project(tmp_path / "file" / "project")


def test_what_a_page_fetches_fits_the_events_that_follow(tmp_path):
    """A graph, and the changes with larger numbers than it has, give the graph of then."""

    async def told():
        hub = Hub(dict)
        runs = Runs(Project(tmp_path / "p"), hub)
        run = runs.all["1"] = Run(**RUN, plan={})
        sent = []
        hub.send = sent.append
        for arcs in ([[0, 1]], [[0, 1], [1, 2]], [[2, 1]], [[2, 1], [0, 2]]):
            run.arcs = arcs
            runs.changed(run)
            if arcs == [[2, 1]]:
                fetched = runs.version(run), run.pairs
        runs.version(run)
        version, pairs = fetched
        assert [one["version"] for one in sent] == [1, 2]
        for one in sent:
            if one["version"] > version:
                lists = {
                    key: {tuple(map(run.nodes.index, arc)) for arc in one["diff"][key]} for key in one["diff"]
                }
                pairs = (pairs - lists["removed"]) | lists["added"]
        runs.project.close()
        return pairs, run.pairs

    shown, there = asyncio.run(told())
    assert shown == there
