"""Results: explanations, the class under knowledge, parameters, files."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import polars as pl
import pytest

import bayescout as bs
from bayescout.errors import FormatError, GraphError, SettingError, UnknownNameError
from tests.search.drawn_problems import entangled, gaussian


@pytest.fixture(scope="module")
def learned():
    table = bs.load_network("asia").sample(1000, seed=4)
    return bs.learn(table, "tabu", "bic", top=3), table


def rescored(dag, table):
    return bs.score(dag, table, "bic")


def test_explanations_are_differences_of_whole_scores(learned):
    result, table = learned
    dag = result.dag
    for parent, child in dag.arcs():
        said = result.explain(child, parent)
        assert (said.parent, said.child, said.present) == (parent, child, True)
        assert said.remove == pytest.approx(rescored(dag.remove_arc(parent, child), table) - result.score)
        try:
            turned = dag.reverse(parent, child)
        except GraphError:
            assert said.reverse is None
            assert (said.cycle[0], said.cycle[-1]) == (parent, parent)
        else:
            assert said.reverse == pytest.approx(rescored(turned, table) - result.score)
            assert said.cycle == ()
        assert said.compelled == dag.cpdag().compelled(parent, child)
        assert sum(sum(row.values()) for row in said.counts.values()) == 1000
        assert "is in the graph" in str(said)


def test_absent_arcs_are_explained_too(learned):
    result, table = learned
    dag = result.dag
    absent = [(a, b) for a in dag.nodes for b in dag.nodes if a != b and b not in dag.neighbours_of(a)]
    cycles = 0
    for parent, child in absent:
        said = result.explain(parent, child)
        assert not said.present
        assert said.remove is None
        try:
            more = dag.add_arc(parent, child)
        except GraphError:
            cycles += 1
            assert said.add is None
            arcs = zip(said.cycle, said.cycle[1:], strict=False)
            assert all(dag.has_arc(a, b) or (a, b) == (parent, child) for a, b in arcs)
            assert "cycle" in str(said)
        else:
            assert said.add == pytest.approx(rescored(more, table) - result.score)
    assert cycles
    with pytest.raises(UnknownNameError):
        result.explain("asia", "nobody")
    with pytest.raises(GraphError):
        result.explain("asia", "asia")


def test_gaussian_results_explain_without_counts():
    result = bs.learn(gaussian(seed=1), search="hill-climb", score="bic")
    parent, child = next(iter(result.dag.arcs()))
    said = result.explain(parent, child)
    assert said.counts == {}
    assert said.remove < 0
    assert result.fit().dag == result.dag


def test_the_class_keeps_directions_that_are_known():
    table = entangled(n_variables=4, rows=200, seed=1)
    free = bs.learn(table, search="hill-climb", score="bic")
    edge = next(iter(free.cpdag.edges()))
    for parent, child in (edge, edge[::-1]):
        required = bs.learn(
            table, knowledge=bs.Knowledge(required=[(parent, child)]), search="hill-climb", score="bic"
        )
        assert required.cpdag.compelled(parent, child)
        forbidden = bs.learn(
            table, knowledge=bs.Knowledge(forbidden=[(child, parent)]), search="hill-climb", score="bic"
        )
        if forbidden.dag.has_arc(parent, child):
            assert forbidden.cpdag.compelled(parent, child)
    tiers = bs.learn(
        table,
        knowledge=bs.Knowledge(tiers=[table.names[:2], table.names[2:]]),
        search="hill-climb",
        score="bic",
    )
    for a, b in tiers.cpdag.edges():
        assert (a in table.names[:2]) == (b in table.names[:2])


def test_results_round_trip_through_files(tmp_path):
    table = bs.as_table(
        {1: [0, 1, 0, 1, 1, 0] * 5, ("t", 2): ["x", "y", "x", "y", "y", "y"] * 5, "c": [True, False] * 15}
    )
    known = bs.Knowledge(required=[(1, "c")], max_parents={"c": 2}, tiers=[[1], [("t", 2)]])
    result = bs.learn(table, "hill-climb", "k2", known, top=2, seed=3)
    result.save(tmp_path / "r.json")
    back = bs.Result.load(tmp_path / "r.json")
    for name in (
        "dag",
        "score",
        "trace",
        "top",
        "counters",
        "stop_reason",
        "seconds",
        "settings",
        "seed",
        "gap",
    ):
        assert getattr(back, name) == getattr(result, name), name
    assert back.cpdag == result.cpdag
    with pytest.raises(SettingError, match="no data"):
        back.explain(1, "c")
    assert back.fit(table).dag == result.dag
    (tmp_path / "bad.json").write_text('{"format": "x"}')
    with pytest.raises(FormatError, match="not a result"):
        bs.Result.load(tmp_path / "bad.json")
    with pytest.raises(FormatError, match="no such file"):
        bs.Result.load(tmp_path / "none.json")


def test_summary_and_repr(learned):
    result, _ = learned
    wanted = {"search", "score_name", "score", "arcs", "seconds", "iterations", "operations", "evaluations"}
    assert wanted | {"stop_reason", "seed"} <= set(result.summary())
    assert "tabu" in repr(result)
    assert result.gap is None


def test_an_explanation_says_what_the_knowledge_says():
    table = bs.load_network("asia").sample(1000, seed=3)
    forbidden = bs.Knowledge(forbidden=[("smoke", "bronc"), ("bronc", "smoke")])
    told = bs.learn(table, knowledge=forbidden, search="hill-climb", score="bic").explain("smoke", "bronc")
    assert told.forbidden
    assert "the knowledge forbids it" in str(told)
    told = bs.learn(
        table, knowledge=bs.Knowledge(required=[("xray", "asia")]), search="hill-climb", score="bic"
    ).explain("xray", "asia")
    assert told.required
    assert told.forbidden
    assert "required by the knowledge" in str(told)
    told = bs.learn(
        table, knowledge=bs.Knowledge(forbidden=[("dysp", "bronc")]), search="hill-climb", score="bic"
    ).explain("dysp", "bronc")
    assert (told.parent, told.child, told.forbidden, told.required) == ("bronc", "dysp", True, False)
    assert "(forbidden by the knowledge)" in str(told)
    assert not bs.learn(table, search="hill-climb", score="bic").explain("bronc", "dysp").forbidden


def test_a_result_is_not_saved_under_the_name_of_another_kind_of_file(tmp_path):
    result = bs.learn(bs.load_network("asia").sample(100, seed=1), search="hill-climb", score="bic")
    with pytest.raises(SettingError, match=r"name it \.json"):
        result.save(tmp_path / "net.bif")
    assert not list(tmp_path.iterdir())


def test_compiling_is_not_counted_against_a_budget(monkeypatch):
    """As if every step had compiled for an hour: the run still goes on to its end."""
    from bayescout.search.frame import watch

    table = bs.load_network("asia").sample(300, seed=1)
    bs.learn(table, search="hill-climb", score="bic")
    clock = iter(range(0, 10**9, 3600))
    monkeypatch.setattr(watch, "compiling_seconds", lambda: float(next(clock)))
    assert bs.learn(table, max_time=1e-6, search="hill-climb", score="bic").stop_reason == "converged"


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("score", "-5", ": score must be a number"),
        ("score", None, ": score must be a number"),
        ("score", math.nan, ""),
        ("score", 10**400, ": score is too large a number"),
        ("bound", "0", ": bound must be a number or null"),
        ("seconds", -1, ": seconds must be a number of at least 0.0"),
        ("stop_reason", 3, ": stop_reason must be text"),
        ("own_score", [], ": own_score must be a number or null"),
        ("counters", {"iterations": 1.5}, r": counters\[...\] must be a whole number"),
        ("counters", {"iterations": 1}, ""),
        ("trace", [[0]], r": trace\[0\] must be a list of length 8"),
        ("trace", [[0, "1", 1, 1, 1, 1, 1, {}]], r": trace\[0\]\[1\] must be a number"),
        ("trace", [[0, 1, 1, -1, 1, 1, 1, {}]], r": trace\[0\]\[3\] must be a whole number of at least 0"),
        ("top", [["1", [[]]]], r": top\[0\]\[0\] must be a number"),
        ("settings", {"search": 1}, ": settings.search must be text"),
        ("settings", {}, ": settings has no 'search'"),
        ("settings", [], ": settings must be an object"),
        ("parents", [[5]], ""),
        ("class", {"directed": []}, ": class has no 'undirected'"),
        ("dependencies", {"tested": 1}, ": dependencies has no 'rejected'"),
    ],
)
def test_a_result_with_a_wrong_value_is_refused(name, value, where, tmp_path):
    path = tmp_path / "result.json"
    bs.learn(bs.load_network("asia").sample(100, seed=1), search="hill-climb", score="bic").save(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {name: value}))
    with pytest.raises(FormatError, match=f"is not a result of this version .*, or damaged{where}$"):
        bs.Result.load(path)


def test_a_result_nested_too_deeply_is_refused(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("[" * 100_000)
    with pytest.raises(FormatError, match="not a result"):
        bs.Result.load(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_the_arcs_alone_are_written_as_a_table(learned, tmp_path, ending):
    dag = bs.Dag(("a", "b", "c", "d"), ((), (0,), (), (1, 2)))
    found = replace(learned[0], dag=dag, found_class=None, table=None, told=(), one_way=())
    path = tmp_path / f"arcs.{ending}"
    found.save(path)
    frame = pl.read_parquet(path) if ending == "parquet" else pl.read_ipc(path)
    assert frame.rows() == [("a", "b", False), ("b", "d", True), ("c", "d", True)]
    assert frame.columns == ["parent", "child", "decided"]
    assert found.arcs.to_polars().rows() == found.arcs
    with pytest.raises(FormatError, match="holds the arcs of a result alone"):
        bs.Result.load(path)


def test_labels_of_all_kinds_are_written_with_the_arcs(learned):
    for nodes, shown in (((0, 1), (0, 1)), ((0, "a"), (0, "a")), ((("x", 1), 2.5), ("('x', 1)", "2.5"))):
        found = replace(learned[0], dag=bs.Dag(nodes, ((), (0,))))
        assert found.arcs.to_polars().rows() == [shown]


def test_the_trace_shows_some_of_its_steps():
    data = bs.load_network("alarm").sample(300, seed=1)
    trace = bs.learn(data, "hill-climb", "bic").trace
    lines = repr(trace).splitlines()
    assert lines[0] == f"{len(trace) - 1} steps of a search"
    assert lines[1].split() == ["step", "seconds", "arcs", "score", "best"]
    shown = [int(line.split()[0]) for line in lines[2:22]]
    assert (shown[0], shown[-1]) == (0, trace[-1].step)
    assert shown == sorted(set(shown))
    assert lines[22:] == [f"  {len(trace) - 20} other steps; result.plot('trace') draws all"]
    assert "<table" in trace._repr_html_()
    assert trace.to_polars()["best"].to_list() == [step.best for step in trace]
    short = bs.learn(data, "hill-climb", "bic", max_steps=2).trace
    assert len(str(short).splitlines()) == 5
