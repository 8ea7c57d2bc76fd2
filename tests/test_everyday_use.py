"""Everyday calls: a picture in a file, what `print` shows, the parameters of a learned network, its states,
and the likelihood of rows that lack a column."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.errors import BayescoutWarning, FormatError, NetworkError, WrongKindError

ROWS = {
    "plan": ["basic", "plus", "basic", "plus", "basic", "plus", "basic", "plus"] * 5,
    "calls": [2, 0, 3, 1, 2, 0, 4, 1] * 5,
    "spend": [9.1, 25.3, 8.2, 24.4, 9.5, 26.6, 8.7, 25.8] * 5,
}


@pytest.fixture(scope="module")
def mixed():
    dag = bs.Dag.from_arcs([("plan", "spend"), ("plan", "calls")])
    return bs.fit(dag, bs.as_table(ROWS, kinds={"calls": "discrete"}), prior="bdeu")


# ---- pictures


def test_everything_that_has_a_graph_writes_itself_as_svg(tmp_path):
    asia = bs.load_network("asia")
    result = bs.learn(asia.sample(200, seed=1), search="hill-climb", score="bic")
    for name, source in (("dag", asia.dag), ("class", asia.dag.cpdag()), ("model", asia), ("result", result)):
        text = source.to_svg(tmp_path / f"{name}.svg")
        assert text.startswith("<svg")
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8") == text == source.to_svg()
    drawing = bs.plots.as_drawing(result, truth=asia)
    assert result.to_svg(truth=asia) == bs.plots.to_svg(drawing) != result.to_svg()
    assert "0.99" in asia.to_svg(cpts=True)
    assert len(repr(asia.to_svg())) < 40  # a prompt shows a few words, a notebook the picture
    assert asia.to_svg()._repr_svg_() == asia.to_svg()


def test_a_picture_is_never_written_under_another_ending(tmp_path):
    asia = bs.load_network("asia")
    with pytest.raises(FormatError, match=r"ends in \.svg.*savefig"):
        asia.to_svg(tmp_path / "asia.png")
    for save in (asia.save, bs.learn(asia.sample(50), search="hill-climb", score="bic").save):
        with pytest.raises(ValueError, match=r"to_svg|JSON"):
            save(tmp_path / "asia.svg")
    assert not list(tmp_path.iterdir())


def test_convert_draws(tmp_path):
    done = CliRunner().invoke(app, ["convert", "asia", str(tmp_path / "asia.svg"), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["parameters_dropped"] is True
    assert (tmp_path / "asia.svg").read_text(encoding="utf-8") == bs.load_network("asia").to_svg()


# ---- print


def test_print_of_a_result_is_a_few_short_lines():
    rows = {
        "id": [f"p{i}" for i in range(40)],
        **ROWS,
        "spend": [None, *ROWS["spend"][1:]],
    }
    with pytest.warns(BayescoutWarning, match="'id' \\(identifies rows\\)"):
        result = bs.learn(rows, search="hill-climb", score="bic")
    lines = str(result).split("\n")
    assert [line.split()[0] for line in lines] == ["Result:", "score", "search", "data", "left"]
    assert lines[3].endswith("1 cell missing (0.8%), drawn for the search")
    assert "'id'" in lines[4]
    assert "'id'" not in lines[3]
    assert "\n" not in repr(result)
    assert "rows" not in repr(result)


def test_the_best_networks_show_themselves_beside_the_first():
    result = bs.learn(bs.load_network("asia").sample(500, seed=1), "tabu", "bic", top=3)
    lines = str(result.top).split("\n")
    assert lines[0] == "the best 3 networks"
    assert lines[1].split() == ["with", "without", "arcs", "score", "below"]
    assert len(lines) == 5
    for one, line in zip(result.top, lines[2:], strict=True):
        assert f"{one.score:,.3f}" in line
        for a, b in set(one.dag.arcs()) - set(result.dag.arcs()):
            assert f"{a} -> {b}" in line or "more" in line
    assert repr(result.top) == str(result.top)
    assert "<table" in result.top._repr_html_()
    assert result.top == tuple(result.top)
    assert result.top.to_polars()["below"].to_list() == [result.score - one.score for one in result.top]


# ---- the parameters of a learned network


def test_one_rule_for_learned_networks(tmp_path):
    """`fit` of a result, `learn -o` and `fit(..., prior=None)` agree; a graph is fitted by likelihood."""
    table = bs.load_network("asia").sample(300, seed=2)
    table.save(tmp_path / "rows.csv")
    table = bs.read_table(tmp_path / "rows.csv")
    result = bs.learn(table, search="hill-climb", score="bic")
    model = result.fit()
    assert model.n_undefined == 0
    assert model.equals(bs.fit(result.dag, table, prior="bdeu"))
    assert model.equals(bs.fit(result.dag, table, prior=None))
    assert not model.equals(bs.fit(result.dag, table))
    assert bs.fit(result.dag, table).equals(result.fit(prior="mle"))
    path = tmp_path / "learned.json"
    asked = ["learn", str(tmp_path / "rows.csv"), "--search", "hill-climb", "--score", "bic", "-o", str(path)]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert bs.read_network(path).equals(model)


def test_learned_regressions_have_no_prior():
    rng = np.random.default_rng(0)
    result = bs.learn(rng.normal(size=(50, 3)), search="hill-climb", score="bic")
    assert result.fit().equals(result.fit(prior="mle"))


# ---- states


def test_states_of_every_kind_of_network(mixed):
    assert dict(zip(mixed.nodes, mixed.states, strict=True)) == {
        "plan": ("basic", "plus"),
        "calls": (0, 1, 2, 3, 4),
        "spend": None,
    }
    assert bs.load_network("ecoli70").states == (None,) * 46
    with pytest.raises(WrongKindError):
        mixed.discrete_states  # noqa: B018


# ---- rows without a column


def test_rows_without_a_column_have_the_likelihood_of_the_others():
    """Twin: the sum of the joint probability over all values of the nodes without a column."""
    asia = bs.load_network("asia")
    rows = asia.sample(6, seed=3)
    kept = ["xray", "dysp", "smoke", "bronc", "asia"]
    gone = [node for node in asia.nodes if node not in kept]
    with pytest.warns(BayescoutWarning, match="count as missing in every row"):
        found = asia.row_log_likelihood(rows.select(kept))
    sets = [asia.states[asia.dag.index(node)] for node in gone]
    for row, value in enumerate(found):
        cells = {
            node: rows.states[rows.index(node)][rows.array(node)[row]] for node in kept
        }  # fmt: skip
        total = sum(
            asia.probability({**cells, **dict(zip(gone, values, strict=True))}) for values in product(*sets)
        )
        assert value == pytest.approx(np.log(total), abs=1e-10)


def test_a_column_that_is_gone_is_a_column_of_empty_cells(mixed):
    kinds = {"calls": "discrete"}
    for gone in mixed.nodes:
        rows = {name: values[:8] for name, values in ROWS.items() if name != gone}
        with pytest.warns(BayescoutWarning, match=f"no column in the data for node '{gone}'"):
            found = mixed.log_likelihood(rows)
        empty = rows | {gone: [None] * 8}
        assert found == mixed.log_likelihood(bs.as_table(empty, kinds=kinds | {gone: "continuous"})
                                             if gone == "spend" else empty)  # fmt: skip


def test_rows_without_any_column_are_refused(mixed):
    with pytest.raises(NetworkError, match="no column for nodes"):
        mixed.log_likelihood({"other": [1, 2]})
