"""What the page says of arcs and pairs is what `explain` says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.explain import DECIDED
from bayescout.report import worth as module
from bayescout.report.views import EXTRA, MISSING, REVERSED, SAME, against
from bayescout.report.worth import worth
from tests.report.pages import asia
from tests.search.drawn_problems import gaussian


def as_lists(counts):
    return [list(row.values()) for row in counts.values()]


KNOWN = bs.Knowledge(required=[("asia", "xray")], forbidden=[("tub", "lung")])


@pytest.mark.parametrize(
    "result",
    [
        lambda: asia(),
        lambda: asia(score="bdeu", knowledge=KNOWN),
        lambda: bs.learn(gaussian(seed=1), search="hill-climb", score="bic"),
    ],
    ids=["bic", "bdeu with knowledge", "gaussian"],
)
def test_every_explanation_is_that_of_explain(result):
    result = result()
    nodes, found = result.dag.nodes, worth(result)
    assert [(nodes[a["p"]], nodes[a["c"]]) for a in found.arcs] == list(result.dag.arcs())
    for arc in found.arcs:
        said = result.explain(nodes[arc["p"]], nodes[arc["c"]])
        for key in ("remove", "reverse", "compelled", "decided", "barred"):
            assert arc[key] == getattr(said, key)
        assert [nodes[i] for i in arc["cycle"]] == list(said.cycle)
        assert (arc["counts"] or []) == as_lists(said.counts)
    for pair in found.pairs:
        for one, two, gain in ((pair["a"], pair["b"], pair["forth"]), (pair["b"], pair["a"], pair["back"])):
            said = result.explain(nodes[one], nodes[two])
            assert not said.present
            assert gain == (None if said.add is None else pytest.approx(said.add, abs=1e-9))
        assert (pair["counts"] or []) == as_lists(result.explain(nodes[pair["a"]], nodes[pair["b"]]).counts)
    assert found.left_out == 0
    n = len(nodes)
    assert len(found.pairs) == n * (n - 1) // 2 - result.dag.n_arcs
    best = [max(g for g in (p["forth"], p["back"]) if g is not None) for p in found.pairs]
    assert best == sorted(best, reverse=True)


def test_knowledge_is_told_apart_from_the_data():
    known = bs.Knowledge(required=[("asia", "xray")], forbidden=[("tub", "bronc")])
    result = asia(knowledge=known)
    index = result.dag.index
    found = worth(result)
    required = [(a["p"], a["c"]) for a in found.arcs if a["decided"] == "required"]
    assert required == [(index("asia"), index("xray"))]
    (pair,) = [p for p in found.pairs if {p["a"], p["b"]} == {index("tub"), index("bronc")}]
    assert pair["allowed"] == [index("tub") > index("bronc"), index("tub") < index("bronc")]


def test_what_decides_a_direction_is_told():
    """In a chain one direction that is known decides those after it; a collider decides its own."""
    chain = bs.Dag.from_arcs([("a", "b"), ("b", "c"), ("c", "d"), ("x", "z"), ("y", "z")], nodes="abcdxyz")
    data = bs.random_network(dag=chain, seed=3).sample(60, seed=1)
    known = bs.Knowledge(forbidden=[("b", "a")])
    result = bs.learn(data, "hill-climb", "bic", start=chain, max_steps=0, knowledge=known)
    decided = {arc: result.explain(*arc).decided for arc in chain.arcs()}
    assert decided[("a", "b")] == "knowledge"
    assert decided[("b", "c")] == decided[("c", "d")] == "others"
    assert decided[("x", "z")] == decided[("y", "z")] == "independences"
    free = bs.learn(data, "hill-climb", "bic", start=chain, max_steps=0)
    assert [free.explain(*arc).decided for arc in (("a", "b"), ("b", "c"), ("x", "z"))] == [
        "",
        "",
        "independences",
    ]
    assert set(decided.values()) <= set(DECIDED)


def test_the_nearest_pairs_are_kept_and_the_rest_counted(monkeypatch):
    result = asia()
    every = worth(result)
    monkeypatch.setattr(module, "MOST_PAIRS", 5)
    few = worth(result)
    assert few.pairs == every.pairs[:5]
    assert few.left_out == len(every.pairs) - 5


def test_tables_of_counts_end_where_the_room_does(monkeypatch):
    result = asia()
    monkeypatch.setattr(module, "MOST_CELLS_IN_ALL", 4 * 3)
    found = worth(result)
    with_counts = [arc["counts"] is not None for arc in found.arcs]
    assert with_counts == [True] * 3 + [False] * (len(with_counts) - 3)
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    assert all(arc["counts"] is None for arc in worth(result).arcs)
    monkeypatch.undo()
    monkeypatch.setattr(module, "MOST_COUNTED", 2 * 800 + 799)
    counted = [pair["counts"] is not None for pair in worth(result).pairs]
    assert counted == [True] * 2 + [False] * (len(counted) - 2)


def test_a_score_of_ones_own_is_asked_little(monkeypatch):
    asked = []

    def likelihood(counts):
        asked.append(counts.shape)
        return -float(counts.sum())

    result = bs.learn(bs.load_network("asia").sample(50, seed=1), score=likelihood, search="hill-climb")
    monkeypatch.setattr(module, "MOST_OWN", 63)
    before = len(asked)
    found = worth(result)
    assert found.pairs == []
    assert found.left_out == 28 - result.dag.n_arcs
    assert len(asked) - before <= 4 * result.dag.n_arcs


@given(st.integers(0, 10_000), st.booleans())
def test_differences_are_those_of_compare(seed, classes):
    one, two = (bs.random_dag(6, arcs=7, seed=seed + k) for k in (0, 1))
    graph, reference = (one.cpdag(), two.cpdag()) if classes else (one, two)
    found = bs.compare(graph, reference)
    kinds = [kind for *_, kind in against(graph, reference)]
    assert kinds.count(EXTRA) == found.n_extra
    assert kinds.count(MISSING) == found.n_missing
    assert kinds.count(REVERSED) == found.n_reversed
    assert kinds.count(SAME) + kinds.count(EXTRA) + kinds.count(REVERSED) == found.learned_arcs
