"""Rows in which variables were set from outside: how they are read, scored, searched, fitted and measured."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.data.interventions import Interventions
from bayescout.data.table import Table
from bayescout.errors import BayescoutError, BayescoutWarning
from bayescout.graph.dag import Dag
from bayescout.graph.equivalence import skeleton, v_structures
from bayescout.scores import bind
from bayescout.search import SEARCHES
from bayescout.search.classes import ges
from bayescout.search.classes.patterns import class_of, telling_words
from tests.reference import graphs as reference

NAMES = ("a", "b", "c", "d")


DAGS = [
    tuple(tuple(p for p in range(4) if (p, c) in arcs) for c in range(4)) for arcs in reference.all_dags(4)
]


def plain(table, keep):
    """Some rows of a table of codes, with nothing said about them."""
    codes = np.ascontiguousarray(table.codes[:, keep])
    return Table(table.names, table.states, codes, np.empty((0, codes.shape[1])))


def not_set(table, name):
    """The rows in which a variable was not set, row by row."""
    return np.array([name not in table.interventions.targets[k] for k in table.interventions.of_row.tolist()])


def without_arcs_into(parents, target):
    return tuple(() if child in target else own for child, own in enumerate(parents))


def same_class(one, two, targets):
    """Hauser & Buehlmann (2012), theorem 10: the definition, graph by graph."""
    return v_structures(one) == v_structures(two) and all(
        skeleton(without_arcs_into(one, target)) == skeleton(without_arcs_into(two, target))
        for target in ((), *targets)
    )


@st.composite
def acted_tables(draw, nodes=4, rows=60):
    """A table of codes, and for each row the variables set in it; some rows are always observed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cards = draw(st.lists(st.integers(2, 3), min_size=nodes, max_size=nodes))
    hidden = rng.integers(0, 6, rows)
    codes = [np.where(rng.random(rows) < 0.4, rng.integers(0, r, rows), hidden % r) for r in cards]
    targets = draw(
        st.lists(st.sets(st.integers(0, nodes - 1), min_size=1, max_size=2), min_size=1, max_size=3)
    )
    choice = rng.integers(0, len(targets) + 1, rows)
    choice[:5] = len(targets)
    sets = [*(tuple(sorted(own)) for own in targets), ()]
    of_row = [tuple(NAMES[v] for v in sets[k]) for k in choice]
    states = tuple(tuple(range(r)) for r in cards)
    table = Table(NAMES[:nodes], states, np.array(codes, dtype=np.uint8), np.empty((0, rows)))
    met = {sets[k] for k in choice.tolist()}
    return bs.as_table(table, interventions=of_row), sorted(met)


# ---- scores


@given(acted_tables(), st.sampled_from(DAGS), st.sampled_from(["bdeu", "bic", "k2", "qnml", "loglik"]))
def test_a_family_is_scored_on_the_rows_in_which_its_child_was_not_set(data, parents, score):
    (table, _), dag = data, Dag(NAMES, parents)
    expected = [
        bs.score_parts(dag, plain(table, not_set(table, name)), score).nodes[child]
        for child, name in enumerate(NAMES)
    ]
    found = bs.score_parts(dag, table, score)
    assert found.score == pytest.approx(math.fsum(one.score for one in expected), abs=1e-8)
    for one, two in zip(found.nodes, expected, strict=True):
        assert (one.log_likelihood, one.parameters) == pytest.approx((two.log_likelihood, two.parameters))


@given(acted_tables())
def test_graphs_of_one_interventional_class_score_the_same(data):
    table, targets = data
    scorer = bind("bdeu", table)
    scores = {dag: float(scorer.many(list(enumerate(dag))).sum()) for dag in DAGS}
    rng = np.random.default_rng(0)
    for place in rng.choice(len(DAGS), 12, replace=False):
        one = DAGS[place]
        for two in DAGS:
            if same_class(one, two, targets):
                assert scores[one] == pytest.approx(scores[two], abs=1e-8)


@given(acted_tables(), st.sampled_from(DAGS))
def test_a_class_directs_the_arcs_in_which_all_its_members_agree(data, parents):
    table, targets = data
    members = [dag for dag in DAGS if same_class(parents, dag, targets)]
    directed, undirected = class_of(parents, telling_words(bind("bic", table))).pairs()
    agreed = {(p, c) for c, own in enumerate(parents) for p in own if all(p in dag[c] for dag in members)}
    assert set(directed) == agreed
    assert len(directed) + len(undirected) == sum(map(len, parents))


# ---- searches


@given(acted_tables(rows=200))
def test_every_step_of_ges_gains_what_its_operator_says(data):
    table, _ = data
    seen = []
    kept = ges.ClassWalk._keeps_promise

    def checked(self, gain, after):
        seen.append(abs((after - self.score) - gain))
        return kept(self, gain, after)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ges.ClassWalk, "_keeps_promise", checked)
        result = bs.learn(table, "ges", "bdeu")
    assert all(apart < 1e-8 for apart in seen)
    assert result.score == pytest.approx(bs.score(result.dag, table, "bdeu"), abs=1e-8)


def experiment(rows=300, seed=3):
    """a -> b -> c and d alone: rows as they come, and rows with b set."""
    dag = Dag.from_arcs([("a", "b"), ("b", "c")], nodes=NAMES)
    noisy = [[0.85, 0.15], [0.2, 0.8]]
    model = bs.DiscreteNetwork(dag, [("no", "yes")] * 4, [[0.4, 0.6], noisy, noisy, [0.5, 0.5]])
    parts = [model.sample(rows, seed), *(model.do(b=s).sample(rows // 2, seed + 1) for s in ("no", "yes"))]
    frame = pd.concat([part.to_pandas().astype(str) for part in parts], ignore_index=True)
    frame["set"] = [None] * rows + ["b"] * (2 * (rows // 2))
    return model, frame


@pytest.mark.parametrize("search", [name for name in SEARCHES if name != "k2"])
def test_every_search_takes_them(search):
    model, frame = experiment()
    result = bs.learn(frame, search, "bdeu", interventions="set")
    assert result.dag.nodes == NAMES
    table = bs.as_table(frame, interventions="set")
    assert result.score == pytest.approx(bs.score(result.dag, table, "bdeu"), abs=1e-8)
    if search not in ("k2-random", "order-sample", "order-climb", "umda", "pbil"):  # which end where they end
        assert set(result.arcs()) >= set(model.dag.arcs())
        assert {(0, 1), (1, 2)} <= set(result.cpdag.directed)


def test_rows_that_came_by_themselves_do_not_direct_what_an_experiment_does():
    model, frame = experiment()
    observed = bs.learn(model.sample(600, 3), "ges", "bdeu")
    assert not observed.cpdag.directed
    mistaken = bs.learn(frame.drop(columns="set"), "ges", "bdeu")
    assert not mistaken.cpdag.directed


@given(st.integers(0, 1000))
def test_the_order_of_rows_and_columns_does_not_matter(seed):
    _, frame = experiment(60)
    rng = np.random.default_rng(seed)
    other = frame.iloc[rng.permutation(len(frame))][list(rng.permutation(frame.columns))]
    one, two = (
        bs.learn(f, "tabu", "bdeu", interventions="set") for f in (frame, other.reset_index(drop=True))
    )
    assert set(one.arcs()) == set(two.arcs())
    assert one.score == pytest.approx(two.score, abs=1e-9)


@pytest.mark.parametrize("score", ["bic", "bge"])
def test_numbers(score):
    """x -> y with x, then y, set: the arc's direction is told."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "y": x + 0.5 * rng.normal(size=300)})
    frame.loc[100:199, "x"] = rng.normal(3, 1, 100)
    frame.loc[100:199, "y"] = frame.loc[100:199, "x"] + 0.5 * rng.normal(size=100)
    frame.loc[200:, "y"] = rng.normal(-2, 1, 100)
    acted = {"x": np.arange(100, 200), "y": np.arange(200, 300)}
    result = bs.learn(frame, "ges", score, interventions=acted)
    assert list(result.arcs()) == [("x", "y")]
    assert result.cpdag.directed == ((0, 1),)
    assert result.explain("x", "y").decided == "acted"
    free = frame.iloc[[*range(200)]]
    slope = np.polyfit(free["x"], free["y"], 1)
    node = result.fit().distributions[1]
    assert (node.coefficients[0], node.intercept) == pytest.approx(tuple(slope))


def test_both_kinds():
    rng = np.random.default_rng(2)
    group = rng.choice(["p", "q"], 400)
    frame = pd.DataFrame({"g": group, "v": rng.normal(size=400) + 2 * (group == "q")})
    frame.loc[200:, "v"] = rng.normal(5, 1, 200)
    result = bs.learn(frame, interventions={"v": np.arange(400) >= 200})
    assert list(result.arcs()) == [("g", "v")]
    found = result.fit(prior="mle")
    means = [frame["v"][:200][group[:200] == state].mean() for state in ("p", "q")]
    assert found.distributions[1].intercepts == pytest.approx(np.array(means))
    assert found.query("g")["p"] == pytest.approx((group == "p").mean())


def test_a_saved_result_keeps_the_directions_that_were_told(tmp_path):
    _, frame = experiment()
    result = bs.learn(frame, "ges", "bdeu", interventions="set")
    result.save(tmp_path / "r.json")
    table = bs.as_table(frame, interventions="set")
    again = bs.Result.load(tmp_path / "r.json")
    assert again.cpdag == result.cpdag
    assert bs.Result.load(tmp_path / "r.json", data=table).explain("a", "b") == result.explain("a", "b")
    with pytest.raises(BayescoutError, match="not the data"):
        bs.Result.load(tmp_path / "r.json", data=frame.drop(columns="set"))


def test_resamples_and_folds_keep_them():
    _, frame = experiment()
    strengths = bs.bootstrap(frame, 10, "ges", "bdeu", interventions="set")
    assert strengths.direction("a", "b") == 1.0
    folds = bs.cross_validate(frame, "ges", "bdeu", folds=3, interventions="set")
    assert all(set(dag.arcs()) == {("a", "b"), ("b", "c")} for dag in folds.graphs)
    table = bs.as_table(frame, interventions="set")
    assert folds.total == pytest.approx(bs.held_out(folds.graphs[0], table, table).total, rel=0.05)


# ---- parameters and likelihood


@given(acted_tables(), st.sampled_from(DAGS), st.sampled_from(["laplace", "bdeu"]))
def test_a_node_is_fitted_and_measured_where_it_was_not_set(data, parents, prior):
    table, _ = data
    dag = Dag(NAMES, parents)
    model = bs.fit(dag, table, prior)
    total = 0.0
    for child, name in enumerate(NAMES):
        keep = np.array([name not in table.interventions.targets[k] for k in table.interventions.of_row])
        plain = Table(
            NAMES, table.states, np.ascontiguousarray(table.codes[:, keep]), np.empty((0, keep.sum()))
        )
        if keep.sum() < 2:
            return
        node = bs.fit(dag, plain, prior).distributions[child]
        assert model.distributions[child].table == pytest.approx(node.table)
        for row in np.flatnonzero(keep):
            place = tuple(table.codes[p, row] for p in parents[child])
            total += math.log(node.table[(*place, table.codes[child, row])])
    assert model.log_likelihood(table).total == pytest.approx(total)
    assert bs.held_out(model, None, table).total == pytest.approx(total)


def test_a_variable_that_was_set_in_every_row():
    rng = np.random.default_rng(5)
    arm = np.array(["new", "old"])[rng.integers(0, 2, 200)]
    frame = pd.DataFrame(
        {"arm": arm, "well": np.where(rng.random(200) < 0.3 + 0.4 * (arm == "new"), "y", "n")}
    )
    with pytest.warns(BayescoutWarning, match="'arm' was set from outside in every row"):
        result = bs.learn(frame, interventions={"arm": range(200)})
    assert list(result.arcs()) == [("arm", "well")]
    assert result.cpdag.directed == ((0, 1),)
    with pytest.warns(BayescoutWarning, match="that of what it was set to"):
        model = result.fit(prior="mle")
    assert model.query("arm")["new"] == pytest.approx((arm == "new").mean())


def test_effects_use_the_rows_in_which_nothing_else_was_set():
    model, frame = experiment(4000)
    table = bs.as_table(frame, interventions="set")
    found = bs.effect(model.dag, table, "b", "c")
    assert found.rows == 8000
    assert found.estimates[1, 1] == pytest.approx(0.8, abs=0.03)
    assert bs.effect(model.dag, table, "a", "c").rows == 4000


def test_averaged_effects_use_them_too():
    """Half of the rows have b set, and with it c: taken for rows as they came, they halve the effect."""
    model, frame = experiment(2000)
    result = bs.learn(frame, "ges", "bdeu", interventions="set")
    found = bs.effect(result, result.table, "a", "c", bootstrap=5, workers=1)
    for state, own in zip(("no", "yes"), found.estimates, strict=True):
        assert own[1] == pytest.approx(model.do(a=state).query("c")["yes"], abs=0.05)


# ---- reading and writing


def test_three_ways_to_say_the_same(tmp_path):
    frame = pd.DataFrame({"a": [*"xyxyxy"], "b": [*"uvvuuv"], "by": ["", "a", "b", "a,b", None, "a"]})
    plain = frame[["a", "b"]]
    one = bs.as_table(frame, interventions="by")
    two = bs.as_table(plain, interventions=[None, "a", "b", ("a", "b"), float("nan"), ["a"]])
    three = bs.as_table(plain, interventions={"a": [1, 3, 5], "b": np.array([0, 0, 1, 1, 0, 0], dtype=bool)})
    assert one.names == ("a", "b")
    assert one.fingerprint == two.fingerprint == three.fingerprint != bs.as_table(plain).fingerprint
    assert "4 rows of interventions, on 'a', 'b'" in one.reading
    for ending in ("csv", "parquet", "arrow"):
        one.save(tmp_path / f"t.{ending}", interventions="by")
        assert bs.read_table(tmp_path / f"t.{ending}", interventions="by").fingerprint == one.fingerprint
    with pytest.raises(BayescoutError, match="name the column to write them to"):
        one.save(tmp_path / "u.csv")


def test_parts_of_a_table_keep_theirs():
    table = bs.as_table({"a": [*"xyxy"], "b": [*"uvvu"]}, interventions=[None, "a", "b", "a,b"])
    assert table.take(np.array([0, 2])).interventions.targets == ((), ("b",))
    assert table.take(np.array([0])).interventions is None
    assert table.select(["b"]).interventions.targets == ((), ("b",))
    assert table.unset("a").n_rows == 2
    assert table.observational().n_rows == 1
    assert bs.as_table(table, states={"a": [*"xyz"]}).interventions.targets == table.interventions.targets
    assert isinstance(bs.as_table(table).interventions, Interventions)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("zz", "unknown column of interventions 'zz'"),
        (["q"] * 4, "row 0 .counting from 0.: unknown variable 'q'"),
        ([None], "1 interventions for 4 rows"),
        ({"c": [0]}, "unknown variable 'c'"),
        ({"a": [9]}, "row numbers from 0 to 3"),
        ({"a": [True]}, "1 truth values for 4 rows"),
        (5, "one entry per row"),
    ],
)
def test_mistakes(given, said):
    with pytest.raises(BayescoutError, match=said):
        bs.as_table({"a": [*"xyxy"], "b": [*"uvvu"]}, interventions=given)


def test_what_would_take_them_for_other_rows_refuses():
    model, frame = experiment()
    table = bs.as_table(frame, interventions="set")
    for ask in (
        lambda: model.predict(table, "a"),
        lambda: model.impute(table),
        lambda: bs.independence_test(table, "a", "c"),
        lambda: bs.lag(table),
    ):
        with pytest.raises(BayescoutError, match="300 rows of interventions, on 'b'"):
            ask()
    frame.loc[0, "a"] = None
    for ask in (bs.learn, lambda data: bs.fit(model.dag, data)):
        with pytest.raises(BayescoutError, match="missing cells does not take rows in which"):
            ask(bs.as_table(frame, interventions="set"))
    with pytest.warns(BayescoutWarning, match="1 of 600 rows are left out"):
        assert bs.learn(frame, "tabu", interventions="set", missing="drop").table.n_rows == 599
    acted = frame[frame["set"] == "b"].reset_index(drop=True)
    with (
        pytest.warns(BayescoutWarning, match="in every row"),
        pytest.raises(BayescoutError, match="nothing was set from outside, and there are none"),
    ):
        bs.learn(acted, "pc", interventions="set")


def test_scored_sets_have_no_rows_to_act_in():
    sets = bs.candidate_sets(experiment()[1].drop(columns="set"))
    with pytest.raises(BayescoutError, match="no rows; leave out the interventions"):
        bs.learn(sets, interventions={"a": [0]})


def test_on_the_command_line(tmp_path):
    _, frame = experiment()
    path, net = str(tmp_path / "t.csv"), str(tmp_path / "n.json")
    frame.to_csv(path, index=False)

    def called(*arguments):
        run = CliRunner().invoke(app, [*arguments, "--interventions", "set"])
        assert run.exit_code == 0, run.output
        return run.stdout

    found = json.loads(called("learn", path, "--score", "bdeu", "--json"))
    assert sorted(found["arcs"]) == [["a", "b"], ["b", "c"]]
    called("fit", "[a][b|a][c|b][d]", path, "-o", net)
    model = bs.fit(Dag.from_arcs([("a", "b"), ("b", "c")], nodes=NAMES), frame, interventions="set")
    assert bs.read_network(net).distributions[1].table == pytest.approx(model.distributions[1].table)
    scored = json.loads(called("score", "[a][b|a][c|b][d]", path, "--json"))["scores"][0]
    assert scored["score"] == pytest.approx(bs.score(model.dag, frame, "bic", interventions="set"))
