"""The answers about a graph are those of the library, by the names and states of the page."""

from __future__ import annotations

import gc
import json
import shlex
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.errors import BayescoutError, GraphError, KnowledgeError, SettingError, UnknownNameError
from bayescout.formats import FORMATS, read_network, read_structure, write_structure
from bayescout.plots import to_svg
from bayescout.serve import (
    answering,
    asking,
    cards,
    columns,
    comparing,
    costs,
    known,
    pictures,
    sharing,
    strengths,
    views,
)
from bayescout.serve.nearest import nearest_dag
from bayescout.serve.offers import catalogue, formats
from bayescout.serve.subject import ENOUGH, Kept


def nobody(**_):
    return None


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    """A result, and the same as the server has it."""
    folder = tmp_path_factory.mktemp("asia")
    path = str(folder / "asia.csv")
    bs.load_network("asia").sample(2000, seed=1).save(path)
    columns.read({"path": path, "table": str(folder / "table.arrow")}, nobody)
    result = bs.learn(path, "hill-climb", "bdeu", bs.Knowledge(required=[("smoke", "lung")]))
    return result, subject_of(result, folder), path


def subject_of(result, folder):
    arcs = [[p, c] for c, own in enumerate(result.dag.parents) for p in own]
    table = str(folder / "table.arrow")
    graph = {"settings": result.settings.to_json(), "nodes": list(result.dag.nodes), "arcs": arcs}
    return {"table": table, "fingerprint": bs.read_table(table).fingerprint, **graph}


# ---- columns


def test_columns_are_read_as_the_library_reads_them(tmp_path):
    rows = ["id,age,sex,grade,weight,empty"]
    rows += [
        f"r{i},{20 + i % 50},{'fm'[i % 2]},{i % 3},{50 + i * 0.37},{'' if i % 4 else 'x'}" for i in range(200)
    ]
    (tmp_path / "people.csv").write_text("\n".join(rows))
    told = columns.read({"path": str(tmp_path / "people.csv"), "table": str(tmp_path / "t.arrow")}, nobody)
    found = {one["name"]: one for one in told["columns"]}
    assert found["sex"]["states"] == ["f", "m"]
    assert found["sex"]["histogram"]["counts"] == [100, 100]
    assert found["weight"]["kind"] == "continuous"
    assert sum(found["weight"]["histogram"]["counts"]) == 200
    assert found["empty"]["missing"] == 150
    assert found["id"]["kind"] == "left out"
    assert told["rows"] == 200
    kinds = {"age": "discrete", "grade": "continuous", "sex": "left out"}
    values = {"path": str(tmp_path / "people.csv"), "table": str(tmp_path / "t.arrow"), "kinds": kinds}
    again = {one["name"]: one for one in columns.read(values, nobody)["columns"]}
    assert again["age"]["kind"] == "discrete"
    assert again["grade"]["kind"] == "continuous"
    assert again["sex"]["kind"] == "left out"
    assert bs.read_table(tmp_path / "t.arrow").kinds.count("discrete") == 2


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n3\n", b"a,a\n1,2\n", b"\xff\xfe\x00", b"PK\x03\x04rubbish"]
)
def test_a_broken_file_is_refused_in_a_sentence(tmp_path, content):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(BayescoutError, match=r"x\.csv"):
        columns.read({"path": str(tmp_path / "x.csv"), "table": str(tmp_path / "t.arrow")}, nobody)


def test_kinds_that_are_none_are_refused(asia, tmp_path):
    for kinds in ({"smoke": "odd"}, {"nobody": "discrete"}):
        with pytest.raises(SettingError):
            columns.read({"path": asia[2], "table": str(tmp_path / "t.arrow"), "kinds": kinds}, nobody)


# ---- views, cards


def test_the_kinds_of_arcs_are_those_of_the_class(asia):
    result, subject, _ = asia
    shown = views.detail({**subject, "trace": subject["table"] + ".none", "epoch": 0}, nobody)
    for a, b, kind in shown["arcs"]:
        either = result.cpdag.reversible(a, b)
        assert kind == (
            "required" if (a, b) == ("smoke", "lung") else "reversible" if either else "compelled"
        )
    assert len(shown["arcs"]) == result.dag.n_arcs
    assert set(shown["positions"]) == set(result.dag.nodes)


def test_drawings_are_made_quickly_while_any_run_goes_on(asia, tmp_path, monkeypatch):
    """And stay until all are still; then it is the usual one, unless the graph is another."""
    efforts = []

    def placed(dag, names, effort):
        efforts.append(effort)
        return {"positions": len(efforts)}

    monkeypatch.setattr("bayescout.serve.subject.placed", placed)
    monkeypatch.setattr("bayescout.serve.subject.SUBJECTS", Kept())
    (tmp_path / "trace.jsonl").touch()
    values = asia[1] | {"trace": str(tmp_path / "trace.jsonl"), "epoch": 0}
    fewer = values | {"arcs": values["arcs"][:-1]}
    found = [
        views.detail(given | {"running": running, "busy": busy}, nobody)["positions"]
        for given, running, busy in (
            (values, True, True), (fewer, True, True), (values, False, True), (values, False, False),
            (fewer, False, True), (fewer, False, False), (fewer, False, True),
        )
    ]  # fmt: skip
    assert efforts == [views.HURRIED, ENOUGH, views.HURRIED, ENOUGH]
    assert found == [1, 1, 1, 2, 3, 4, 4]


def test_a_graph_that_stayed_as_it_was_is_not_laid_out_again(asia, tmp_path, monkeypatch):
    """Whatever was asked of other runs meanwhile; another graph of the run is."""
    laid = []

    def placed(dag, names, effort):
        laid.append(dag.n_arcs)
        return {"positions": len(laid)}

    monkeypatch.setattr("bayescout.serve.subject.placed", placed)
    (tmp_path / "trace.jsonl").touch()
    values = asia[1] | {"trace": str(tmp_path / "trace.jsonl"), "epoch": 0}
    fewer = values["arcs"][:-1]
    found = []
    for more in ({}, {}, {"running": True, "arcs": fewer}, {}, {"arcs": fewer}, {}):
        monkeypatch.setattr("bayescout.serve.subject.SUBJECTS", Kept())
        found.append(views.detail(values | more, nobody)["positions"])
    assert found == [1, 1, 1, 1, 2, 3]
    assert laid == [len(values["arcs"]), len(fewer), len(values["arcs"])]


def test_the_collector_passes_over_what_the_process_has_loaded():
    """A full collection looked at all of it in the middle of an answer."""
    asked = [{"id": 1, "job": "warm"}, None]
    frozen, said = [], []

    def receive():
        frozen.append(gc.get_freeze_count())
        return asked.pop(0)

    try:
        answering.answer(SimpleNamespace(receive=receive, send=said.append))
        left = len(gc.get_objects())
    finally:
        gc.unfreeze()
    assert said == [{"id": 1, "done": None}]
    assert min(frozen) > 10 * left


def test_a_card_says_what_explain_says(asia):
    result, subject, _ = asia
    for a in result.dag.nodes:
        for b in result.dag.nodes[:4]:
            if a == b:
                continue
            card = cards.card({**subject, "from": a, "to": b}, nobody)
            said = result.explain(a, b)
            assert card["direction"] == [said.parent, said.child]
            for change in ("remove", "reverse", "add"):
                assert card["worth"][change] == pytest.approx(getattr(said, change), abs=1e-9)
            assert card["sentence"] == str(said)
    with pytest.raises(UnknownNameError):
        cards.card({**subject, "from": "nobody", "to": "smoke"}, nobody)


def test_the_rival_is_the_best_of_the_parent_sets_one_change_away(asia):
    """Tried out with the score of whole graphs."""
    result, subject, path = asia
    child = "dysp"
    found = cards.card({**subject, "from": "bronc", "to": child}, nobody)["rival"]
    others = []
    own = set(result.dag.parents_of(child))
    free = [n for n in result.dag.nodes if n != child and n not in result.dag.descendants(child)]
    for parents in (
        [own - {a} for a in own]
        + [own | {b} for b in free if b not in own]
        + [own - {a} | {b} for a in own for b in free if b not in own]
    ):
        sets = {n: set(result.dag.parents_of(n)) for n in result.dag.nodes} | {child: parents}
        dag = bs.Dag.from_arcs([(p, n) for n, ps in sets.items() for p in ps], nodes=result.dag.nodes)
        others.append(bs.score(dag, path, "bdeu"))
    assert found["loss"] == pytest.approx(result.score - max(others), abs=1e-6)


def test_knowledge_that_bears_on_a_pair_is_named():
    told = bs.Knowledge(
        required=[("a", "b")], tiers=[["a"], ["b", "c"]], max_parents={"b": 2}, beliefs={frozenset("bc"): 0.3}
    )
    assert cards.bearing(told, "b", "a")[0] == "require a -> b"
    assert any("a is before b" in line for line in cards.bearing(told, "a", "b"))
    assert any("belief" in line for line in cards.bearing(told, "b", "c"))
    assert cards.bearing(told, "c", "d") == []


def test_turning_an_arc_stays_in_the_class_and_keeps_the_knowledge(asia):
    result, subject, _ = asia
    names = result.dag.nodes
    turned = 0
    for a, b in result.arcs:
        values = {**subject, "from": a, "to": b}
        if not result.cpdag.reversible(a, b):
            with pytest.raises(GraphError, match="cannot be turned"):
                cards.turn(values, nobody)
            continue
        arcs = [(names[p], names[c]) for p, c in cards.turn(values, nobody)["arcs"]]
        dag = bs.Dag.from_arcs(arcs, nodes=names)
        assert dag.has_arc(b, a)
        assert dag.has_arc("smoke", "lung")
        assert dag.cpdag() == result.dag.cpdag()
        turned += 1
    assert turned


# ---- questions


def test_what_if_is_what_the_network_says(asia):
    result, subject, _ = asia
    model = result.fit()
    asked = {
        "evidence": {"xray": "yes"},
        "do": {"smoke": "no"},
        "not": {"dysp": ["no"]},
        "soft": {"asia": {"yes": 0.9, "no": 0.2}},
        "target": "lung",
    }
    found = asking.ask({**subject, **asked}, nobody)
    soft = {"asia": {"yes": 0.9, "no": 0.2}, "dysp": {"yes": 1.0, "no": 0.0}}
    acted = model.do(smoke="no")
    given, base = acted.marginals({"xray": "yes"}, soft=soft), model.marginals()
    for name, one in found["marginals"].items():
        p = dict(zip(one["states"], one["p"], strict=True))
        assert p == pytest.approx(given[name].to_dict(), abs=1e-12)
        for state, before, lift in zip(one["states"], one["base"], one["lift"], strict=True):
            assert before == pytest.approx(base[name][state], abs=1e-12)
            assert lift == pytest.approx(given[name][state] / base[name][state])  # of unrounded values
    assert found["conflict"] == pytest.approx(acted.conflict({"xray": "yes"}, soft=soft).value)
    told = acted.information("lung", {"xray": "yes"}, soft=soft)
    assert found["next"] == told.best
    assert [name for name, _ in found["information"]] == [one.node for one in told]
    assert found["estimate"] is False


def test_the_probability_of_the_evidence_is_that_of_the_joint(asia):
    result, subject, _ = asia
    model = result.fit()
    found = asking.ask({**subject, "evidence": {"xray": "yes", "smoke": "no"}}, nobody)
    assert found["p_evidence"] == pytest.approx(model.query(["xray", "smoke"])["yes", "no"])
    other = asking.ask(
        {**subject, "evidence": {"xray": "yes"}, "base": {"evidence": {"xray": "yes"}}}, nobody
    )
    assert all(
        lift in (None, pytest.approx(1)) for one in other["marginals"].values() for lift in one["lift"]
    )


@pytest.mark.parametrize(
    "asked",
    [
        {"evidence": {"smoke": "perhaps"}},
        {"evidence": {"nobody": "yes"}},
        {"not": {"smoke": ["yes", "no"]}},
        {"soft": {"smoke": 3}},
        {"evidence": {"smoke": "yes"}, "soft": {"smoke": {"yes": 1, "no": 0.5}}},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(asia, asked):
    with pytest.raises(BayescoutError):
        asking.ask({**asia[1], **asked}, nobody)


def test_too_large_a_question_is_an_estimate_and_says_so(asia, monkeypatch):
    monkeypatch.setattr("bayescout.serve.subject.SUBJECTS", Kept())  # estimates are kept for no other test
    monkeypatch.setattr(asking, "MEMORY", 1)
    monkeypatch.setattr("bayescout.network.inference.ALWAYS", 1)
    found = asking.ask({**asia[1], "evidence": {"xray": "yes"}}, nobody)
    assert found["estimate"]
    assert found["error"] > 0
    assert "estimate" in " ".join(found["notes"])


# ---- knowledge and costs


def test_fields_and_text_of_knowledge_are_one():
    told = bs.Knowledge(
        required=[("a", "b")],
        tiers=[["a"], ["b"]],
        forbid_within=(1,),
        beliefs={("a", "c"): 0.5, frozenset("bc"): 0.2},
    )
    shown = known.shown_knowledge(told)
    assert bs.Knowledge.parse(known.text_of(shown)) == told
    assert bs.Knowledge.parse(known.text_of({"beliefs": [["a", "b", 0.9]]})).beliefs == {("a", "b"): 0.9}
    for odd in (
        {"beliefs": [1]},
        {"beliefs": [["a", "b", "x"]]},
        {"odd": 1},
        {"beliefs": [["a", "b", 1, "<-"]]},
    ):
        with pytest.raises(KnowledgeError):
            known.text_of(odd)


def test_a_price_is_what_the_score_gains_without_the_piece(asia):
    _, subject, path = asia
    text = "require asia -> dysp\nforbid lung -> either\nforbid either -> lung\n"
    told = costs.prices({**subject, "knowledge": text}, nobody)
    found = {one["item"]: one["price"] for one in told}
    assert [one["kind"] for one in told] == ["required", "forbidden", "forbidden"]
    assert told[1]["pair"] == ["lung", "either"]
    free = bs.learn(path, "hill-climb", "bdeu", knowledge=bs.Knowledge.parse(text.split("\n", 1)[1]))
    held = bs.learn(path, "hill-climb", "bdeu", knowledge=bs.Knowledge.parse(text))
    assert found["asia -> dysp required"] == pytest.approx(free.score - held.score, abs=1.0)
    assert found["asia -> dysp required"] > 0
    assert len(found) == 3
    assert all(price >= 0 for price in found.values())


@pytest.mark.parametrize("search", ["hill-climb", "k2-random"])
def test_an_estimate_is_of_a_trial(asia, search, monkeypatch):
    config = {"table": asia[1]["table"], "search": search, "score": "bdeu"}
    values = {"fingerprint": asia[1]["fingerprint"]}
    found = costs.estimate({**values, "config": config}, nobody)
    assert found["families"] == bs.learn(asia[2], search, "bdeu").counters.evaluations
    assert "came to its end" in found["why"]
    monkeypatch.setattr(costs, "TRIAL", 1e-9)
    short = costs.estimate({**values, "config": config | {"max_time": 1e-6}}, nobody)
    assert short["seconds"] == 1e-6
    assert "limit" in short["why"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.123, "0.12 s"), (45, "45 s"), (119, "119 s"), (150, "2.5 min"), (9000, "2.5 h"), (2e6, "23 days")],
)
def test_lengths_of_time_are_in_the_units_of_people(seconds, said):
    assert costs.in_time(seconds) == said


def test_of_screened_pairs_no_number_is_invented(asia, monkeypatch):
    """The default leaves out its searches over orders on wide tables, and screens the widest."""
    config = {"table": asia[1]["table"], "search": "auto", "score": "bdeu"}
    values = {"fingerprint": asia[1]["fingerprint"], "config": config}
    monkeypatch.setattr(costs, "TRIAL", 1e-9)
    monkeypatch.setattr(costs, "ORDER_VARIABLES", 7)
    factor, power = costs.AUTO_WITHOUT_ORDERS
    assert costs.estimate(values, nobody)["families"] == factor * 8**power
    monkeypatch.setattr(costs, "MOST_DENSE", 7)
    found = costs.estimate(values, nobody)
    assert found["seconds"] is None
    assert "cannot be told" in found["why"]


# ---- strengths, comparison, sharing


def test_strengths_are_those_of_the_bootstrap(asia, tmp_path):
    result, subject, path = asia
    told = []
    found = strengths.strengths({**subject, "runs": 6}, lambda **now: told.append((now["done"], now["of"])))
    same = bs.bootstrap(path, 6, "hill-climb", "bdeu", knowledge=result.settings.knowledge)
    assert [tuple(arc) for arc in found["arcs"]] == [tuple(one) for one in same.table()]
    assert told == [(i, 6) for i in range(1, 7)]
    kept = tmp_path / "strengths.json"
    kept.write_text(json.dumps(found))
    for threshold in [0, *sorted({arc[2] for arc in found["arcs"]}), 0.42]:
        values = {"strengths": str(kept), "nodes": subject["nodes"], "threshold": threshold}
        drawn = strengths.averaged(values, nobody)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert [tuple(arc) for arc in drawn["averaged"]] == list(same.averaged(threshold).arcs())
        assert [tuple(arc) for arc in drawn["left_out"]] == list(same.left_out(threshold))
    with pytest.raises(bs.errors.SettingError, match="threshold"):
        strengths.averaged({**values, "threshold": float("nan")}, nobody)


def test_a_price_counts_what_lies_beyond_a_climb_from_the_graph_that_holds(asia):
    """The shown graph is allowed without the piece, so that its score is a bound for the price."""
    _, subject, path = asia
    table = bs.read_table(path)
    found = bs.learn(table, "hill-climb", "bdeu")
    for parent, child in found.dag.arcs():
        text = f"require {child} -> {parent}\n"
        plain = {**subject, "settings": found.settings.to_json(), "nodes": list(map(str, found.dag.nodes))}
        arcs = [[p, c] for c, own in enumerate(found.dag.parents) for p in own]
        (told,) = costs.prices({**plain, "arcs": arcs, "knowledge": text}, nobody)
        near = nearest_dag(found.dag, bs.Knowledge.parse(text), table, "bdeu")
        known = bs.Knowledge.parse(text)
        held = bs.learn(table, "hill-climb", "bdeu", knowledge=known, start=near)
        assert told["price"] >= found.score - held.score - 1e-6


def test_graphs_are_compared_pair_by_pair(asia):
    result, subject, _ = asia
    other = {**subject, "arcs": subject["arcs"][1:]}
    values = {"runs": {"1": subject, "2": other}, "truth": "asia", "scores": {"1": -1.0}}
    found = comparing.compared(values, nobody)
    truth = bs.load_network("asia").dag
    same = bs.compare(result.dag, truth)
    assert found["measures"][0]["shd"] == same.shd
    assert found["measures"][0]["precision"] == same.precision
    for a, b, marks in found["arcs"]:
        assert marks["truth"] == ("->" if truth.has_arc(a, b) else "<-" if truth.has_arc(b, a) else "")
        assert marks["1"] == ("->" if result.dag.has_arc(a, b) else "<-" if result.dag.has_arc(b, a) else "")
    with pytest.raises(SettingError, match="the network alarm has no 'asia'"):
        comparing.compared({**values, "truth": "alarm"}, nobody)


def test_a_graph_is_compared_with_a_network_file(asia, tmp_path):
    result, subject, _ = asia
    own = str(tmp_path / "own.dot")
    write_structure(result.dag, own)
    assert comparing.network({"path": own}, nobody) == {"nodes": 8, "arcs": result.dag.n_arcs}
    values = {"runs": {"1": subject}, "truth": "own.dot", "truth_file": own, "scores": {"1": -1.0}}
    assert comparing.compared(values, nobody)["measures"][0]["shd"] == 0


DRAWN = {"png": [pytest.mark.slow], "pdf": [pytest.mark.slow]}


@pytest.mark.parametrize(
    "form", [pytest.param(one["name"], marks=DRAWN.get(one["name"], [])) for one in formats()]
)
def test_every_format_is_written(asia, tmp_path, form):
    path = tmp_path / f"net{sharing.ending(form)}"
    values = {**asia[1], "format": form, "path": str(path), "result": str(tmp_path / "none")}
    sharing.export(values, nobody)
    if form in FORMATS and FORMATS[form].holds == "network":
        assert set(read_network(path).dag.arcs()) == set(asia[0].dag.arcs())
    elif form in ("structure", "edges", "modelstring"):
        assert set(read_structure(path).arcs()) == set(asia[0].dag.arcs())
    else:
        assert path.stat().st_size > 100


SEEN = {
    "boxes": {"a": [0, 0, 40, 20], "b<": [100, 50, 60, 20]},
    "lines": [{"a": "a", "b": "b<", "kind": "extra", "points": [0, 10, 0, 25, 100, 25, 100, 40]}],
    "legend": [["extra", "only in 1"]],
}


def test_a_picture_is_of_what_the_page_shows():
    drawing = pictures.pictured(SEEN, ("a", "b<"))
    first, second = (node.box for node in drawing.nodes)
    assert (second.x - first.x, second.y - first.y) == (100, 50)
    assert first.x == 20 + 12
    assert (drawing.arcs[0].kind, drawing.arcs[0].directed) == ("extra", True)
    assert drawing.arcs[0].points[-1] == (second.x, second.y - 10)
    assert "only in 1" in to_svg(drawing)
    assert "b&lt;" in to_svg(drawing)


@pytest.mark.parametrize(
    "wrong",
    [
        {"boxes": {}},
        {"lines": [{}]},
        {"lines": 3},
        {"legend": [["x", "y"]]},
        {"boxes": {"a": ["x"] * 4, "b<": 1}},
    ],
)
def test_what_is_no_drawing_is_refused(wrong):
    with pytest.raises(SettingError, match="not a drawing of these variables"):
        pictures.pictured({**SEEN, **wrong}, ("a", "b<"))


@pytest.mark.parametrize("kinds", [{}, {"tub": "left out"}])
def test_the_lines_repeat_the_run(asia, tmp_path, kinds):
    table = str(tmp_path / "table.arrow")
    columns.read({"path": asia[2], "table": table, "kinds": kinds}, nobody)
    known_before = bs.Knowledge(required=[("smoke", "lung")], tiers=[["smoke"], ["lung", "bronc"]])
    nodes = bs.read_table(table).names
    start = bs.Dag.from_arcs([("smoke", "lung"), ("dysp", "bronc")], nodes=nodes)
    result = bs.learn(table, "tabu", "bdeu", known_before, start=start, max_steps=6)
    told = {"steps": 6, "ended": False, "data": asia[2], "kinds": kinds}
    told |= {"folder": str(tmp_path), "shown": str(tmp_path)}
    told["start"] = [[p, c] for c, own in enumerate(start.parents) for p in own]
    found = sharing.commands({**subject_of(result, tmp_path), **told}, nobody)
    names = {}
    exec(found["python"], names)
    assert names["result"].dag == result.dag
    words = shlex.split(found["shell"].replace("\\\n", " "))
    assert words[:2] == ["bayescout", "learn"]
    assert ("--drop" in words) == bool(kinds)
    assert bs.Knowledge.read(words[words.index("--knowledge") + 1]) == known_before
    assert read_structure(words[words.index("--start") + 1]) == start
    shown = CliRunner().invoke(app, [*words[1:], "--json"], catch_exceptions=False).stdout
    assert json.loads(shown)["score"] == result.score


@pytest.mark.slow
def test_the_command_line_repeats_the_run(asia, tmp_path):
    result, subject, path = asia
    told = {"steps": 6, "ended": True, "data": path, "folder": str(tmp_path), "shown": str(tmp_path)}
    found = sharing.commands({**subject, **told}, nobody)
    line = found["shell"].replace("bayescout", f"{sys.executable} -m bayescout", 1) + " --json"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert f'"score": {result.score}' in done.stdout


def test_every_search_and_score_says_what_it_is():
    from bayescout.scores import SCORES
    from bayescout.search import SEARCHES

    for registry in (SEARCHES, SCORES):
        shown = catalogue(registry)
        assert [one["name"] for one in shown] == list(registry)
        assert all(one["summary"] for one in shown)
