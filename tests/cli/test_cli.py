"""The command line: each command does its job, JSON is JSON alone, mistakes give one line and exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.errors import BayescoutError, BayescoutWarning, SettingError, TooLargeError


def run(*arguments):
    """A command in this process; errors of ours come through as they are raised."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    return done.exit_code, done.stdout


def run_json(*arguments):
    code, out = run(*arguments, "--json")
    assert code == 0
    return json.loads(out)


def command(*arguments, **options):
    """A command in a process of its own, as a user starts it."""
    return subprocess.run(
        [sys.executable, "-c", "from bayescout.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    path = tmp_path_factory.mktemp("asia") / "asia.csv"
    bs.load_network("asia").sample(800, seed=3).save(path)
    return path


def test_networks_lists_what_is_shipped():
    listed = run_json("networks")["networks"]
    assert {"name", "kind", "nodes", "arcs", "parameters"} <= set(listed[0])
    assert len(listed) == 28
    code, out = run("networks")
    assert code == 0
    assert "alarm" in out
    assert "munin4" in out


def test_sample_is_what_python_samples(tmp_path):
    code, out = run("sample", "asia", "-n", 50, "--seed", 7, "-o", tmp_path / "a.csv")
    assert code == 0
    assert "50 rows of 8 columns" in out
    states = dict(zip(bs.load_network("asia").nodes, bs.load_network("asia").states, strict=True))
    read = bs.as_table(tmp_path / "a.csv", states=states)
    assert read.to_dict() == bs.load_network("asia").sample(50, seed=7).to_dict()


def test_sample_to_standard_output_is_csv():
    code, out = run("sample", "asia", "-n", 3, "--seed", 7)
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "asia,tub,smoke,lung,bronc,either,xray,dysp"
    assert len(lines) == 4


def test_impute_fills_as_python_does(tmp_path):
    network = bs.load_network("asia")
    cells = network.sample(6, seed=2).to_dict()
    gaps = {
        name: [*cells[name][:1], None, *cells[name][2:4], None, "no"] for name in ("smoke", "tub", "xray")
    }
    bs.as_table(gaps, missing="keep", kinds="discrete").save(tmp_path / "gaps.csv")
    code, out = run("impute", "asia", tmp_path / "gaps.csv", "-o", tmp_path / "whole.csv")
    assert code == 0
    assert "6 rows of 3 columns written to" in out
    states = {name: network.states[network.dag.index(name)] for name in gaps}
    assert bs.as_table(tmp_path / "whole.csv", states=states).to_dict() == network.impute(gaps).to_dict()
    code, out = run("impute", "asia", tmp_path / "gaps.csv", "--method", "sample", "--seed", 3)
    assert code == 0
    assert out.splitlines()[0] == "smoke,tub,xray"
    assert len(out.splitlines()) == 7
    with pytest.raises(bs.errors.SettingError, match="method must be one of most-probable, sample, mean"):
        run("impute", "asia", tmp_path / "gaps.csv", "--method", "guess")


def test_fit_writes_what_python_fits(asia, tmp_path):
    code, out = run("fit", "asia", asia, "-o", tmp_path / "fitted.bif", "--prior", "laplace")
    assert code == 0
    assert "P(dysp | bronc, either)" in out
    truth = bs.load_network("asia")
    states = dict(zip(truth.nodes, truth.states, strict=True))
    expected = bs.fit(truth.dag, bs.as_table(asia, states=states), prior="laplace")
    assert bs.read_network(tmp_path / "fitted.bif").equals(expected)


def test_undefined_rows_are_shown_as_dashes(tmp_path):
    (tmp_path / "d.csv").write_text("A,B\nx,u\nx,v\nx,u\n")
    (tmp_path / "s.bif").write_text(
        "network n {} variable A { type discrete [2] { x, y }; } variable B { type discrete [2] { u, v }; } "
        "probability (A) { table 0.5, 0.5; } probability (B | A) { (x) 0.5, 0.5; (y) 0.5, 0.5; }"
    )
    code, out = run("fit", tmp_path / "s.bif", tmp_path / "d.csv")
    assert code == 0
    assert "0.6667   0.3333" in out
    assert "---      ---" in out
    assert run_json("fit", tmp_path / "s.bif", tmp_path / "d.csv")["undefined_rows"] == 1


def test_a_mixed_table_is_learned_by_its_marginal_likelihood(tmp_path):
    rows = str(tmp_path / "rows.csv")
    bs.random_network(nodes=5, arcs=6, kind="mixed", seed=3).sample(300, seed=1).save(rows)
    options = ("--score", "cg-bde", "--score-option", "ess=2", "--score-option", "iss_mu=0.5")
    found = run_json("learn", rows, *options)
    formula = bs.scores.CgBde(ess=2.0, iss_mu=0.5)
    assert found["score"] == pytest.approx(
        bs.learn(bs.read_table(rows), score=formula, search="hill-climb").score
    )
    assert "cg-bde" in [one["name"] for one in run_json("scores")["scores"]]


def test_networks_of_both_kinds_are_fitted_shown_and_asked(tmp_path):
    network = bs.random_network(nodes=5, arcs=6, kind="mixed", seed=3)
    model, rows, fitted = (str(tmp_path / name) for name in ("model.json", "rows.csv", "fitted.json"))
    network.save(model)
    network.sample(500, seed=1).save(rows)
    first, last = network.dag.order()[0], network.dag.order()[-1]
    assert run_json("fit", model, rows, "-o", fitted)["kind"] == "mixed"
    assert "continuous    2 nodes" in run("show", fitted)[1]
    shares = run_json("query", fitted, f"{first} | {last}=0.5")["answer"]
    assert sum(row["probability"] for row in shares) == pytest.approx(1)
    assert "deviation" in run("query", fitted, last)[1]
    number = run_json("query", fitted, f"{last} | {first}=s0")
    assert set(number["answer"][last]) == {"mean", "variance"}
    assert sum(part["weight"] for part in number["components"]) == pytest.approx(1)
    assert "mean" in run("query", fitted, f"{first}, {last}")[1]
    both = run_json("query", fitted, f"{first}, {last}")["answer"]
    assert [row["states"] for row in both] == [{first: "s0"}, {first: "s1"}]
    with pytest.raises(BayescoutError, match="BIF holds discrete networks only"):
        run("convert", fitted, tmp_path / "model.bif")


def test_query_takes_soft_evidence_and_ranks_next_questions():
    import bayescout as bs

    asia = bs.load_network("asia")
    found = run_json("query", "asia", "lung | xray=yes", "--soft", "smoke: yes=0.8, no=0.3")["answer"]
    expected = asia.query("lung | xray=yes", soft={"smoke": {"yes": 0.8, "no": 0.3}})
    assert [row["probability"] for row in found] == pytest.approx(expected.values())
    found = run_json("query", "asia", "smoke", "--jeffrey", "smoke: yes=0.7, no=0.3", "--information")
    assert [row["probability"] for row in found["answer"]] == pytest.approx([0.7, 0.3])
    assert found["information"][0][0] == "bronc"
    assert "observe" in run("query", "asia", "lung | xray=yes", "--information")[1]


def test_rows_are_drawn_given_evidence():
    found = run_json("sample", "asia", "-n", "50", "--given", "xray=yes, smoke=no")["data"]
    assert set(found["xray"]) == {"yes"}
    assert set(found["smoke"]) == {"no"}
    assert set(found["dysp"]) == {"yes", "no"}
    numbers = run_json("sample", "ecoli70", "-n", "5", "--given", "eutG=1.5")["data"]
    assert set(numbers["eutG"]) == {1.5}


def test_query_answers():
    answer = run_json("query", "asia", "lung | smoke=yes")
    assert answer["answer"] == [
        {"states": {"lung": "yes"}, "probability": pytest.approx(0.1)},
        {"states": {"lung": "no"}, "probability": pytest.approx(0.9)},
    ]
    code, out = run("query", "asia", "lung, tub | xray=yes")
    assert code == 0
    assert "P(lung, tub | xray=yes)" in out
    gaussian = run_json("query", "ecoli70", "lacY | eutG=1.5")
    assert set(gaussian["answer"]["lacY"]) >= {"mean", "variance"}


def test_compare_counts_arcs(tmp_path):
    found = run_json("compare", "[A][B|A][C|B]", "[A][B|A][C|A]")
    assert (found["missing"], found["extra"], found["shd"]) == ([["A", "C"]], [["B", "C"]], 2)
    assert run_json("compare", "asia", "asia")["shd"] == 0
    code, out = run("compare", "[A][B|A]", "[B][A|B]")
    assert code == 0
    assert "reversed" in out


def test_convert_between_formats(tmp_path):
    run("convert", "asia", tmp_path / "a.json")
    run("convert", tmp_path / "a.json", tmp_path / "a.bif")
    assert bs.read_network(tmp_path / "a.bif").equals(bs.load_network("asia"))
    done = command("convert", "asia", tmp_path / "a.dot")
    assert done.returncode == 0
    assert "parameters were left out" in done.stderr
    assert bs.read_structure(tmp_path / "a.dot") == bs.load_network("asia").dag
    assert run_json("convert", "asia", tmp_path / "b.structure")["parameters_dropped"] is True


def test_show_tables_and_equations():
    code, out = run("show", "asia", "lung")
    assert code == 0
    assert "P(lung | smoke)" in out
    assert "0.1000" in out
    _, large = run("show", "alarm")
    assert "37 nodes" in large
    assert "P(" not in large
    _, gaussian = run("show", "ecoli70", "yceP")
    assert "yceP" in gaussian


def test_score_parts_and_bases(asia):
    nats = run_json("score", "asia", asia, "--score", "bic,k2,bdeu")
    bits = run_json("score", "asia", asia, "--score", "bic", "--log-base", "2")
    bic = nats["scores"][0]
    assert [s["score_name"] for s in nats["scores"]] == ["bic", "k2", "bdeu"]
    assert bic["score"] == pytest.approx(bic["log_likelihood"] - bic["penalty"])
    assert bits["scores"][0]["score"] == pytest.approx(bic["score"] / 0.6931471805599453)
    assert bic["parameters"] == 18
    assert sum(node["score"] for node in bic["nodes"]) == pytest.approx(bic["score"])
    assert bic["score"] == bs.score(bs.load_network("asia"), asia, "bic")
    code, out = run("score", "asia", asia, "--nodes")
    assert code == 0
    assert "node by node" in out


def test_learn_in_another_base(asia):
    nats = run_json("learn", asia, "--search", "hill-climb", "--score", "bic", "--top", 2)
    bits = run_json("learn", asia, "--search", "hill-climb", "--score", "bic", "--top", 2, "--log-base", "2")
    log_2 = 0.6931471805599453
    assert bits["score"] == pytest.approx(nats["score"] / log_2)
    assert bits["top"][1]["score"] == pytest.approx(nats["top"][1]["score"] / log_2)
    assert (bits["log_base"], bits["arcs"]) == ("2", nats["arcs"])
    code, out = run("learn", asia, "--search", "hill-climb", "--score", "bic", "--log-base", "2")
    assert code == 0
    assert f"{bits['score']:,.3f}" in out
    assert "score (bic, bits)" in out
    assert "Arcs by worth, in bits" in out
    assert "operations" in out


def test_independence_is_what_python_finds(asia):
    found = run_json("independence", asia, "smoke", "xray", "--given", "either", "--given", "bronc")
    expected = bs.independence_test(asia, "smoke", "xray", given=["either", "bronc"])
    assert found == expected.to_dict()
    code, out = run("independence", asia, "smoke", "lung", "--test", "chi2")
    assert code == 0
    assert out.startswith("smoke and lung: chi2 = ")


def test_divergence_and_held_out_are_what_python_finds(asia, tmp_path):
    learned = tmp_path / "learned.bif"
    assert run("fit", "asia", asia, "--prior", "laplace", "-o", learned)[0] == 0
    model, truth = bs.read_network(learned), bs.load_network("asia")
    found = run_json("divergence", "asia", learned, "--log-base", "10")
    expected = bs.divergence(truth, model)
    assert found["value"] == pytest.approx(expected.value / 2.302585092994046)
    assert run("divergence", "asia", learned)[1] == f"{expected}\n"
    rows = tmp_path / "rows.csv"
    truth.sample(100, seed=9).save(rows)
    own = run_json("held-out", learned, rows)
    assert own["total"] == pytest.approx(bs.held_out(model, None, rows).total)
    fitted = run_json("held-out", "asia", rows, "--train", asia, "--prior", "bdeu", "--log-base", "2")
    expected = bs.held_out(truth, asia, rows, prior="bdeu")
    assert fitted["total"] == pytest.approx(expected.total / 0.6931471805599453)
    code, out = run("held-out", "asia", rows, "--train", asia, "--log-base", "2")
    assert code == 0
    assert "in bits" in out
    for wrong, message in ((("--prior", "mle"), "--train"), (("--discretise", "3"), "cut the data first")):
        with pytest.raises(BayescoutError, match=message):
            run("held-out", "asia", rows, *wrong)


def test_adjustment_and_effects_are_what_python_finds(asia):
    found = run_json("adjust", "asia", "smoke", "dysp", "--latent", "tub")
    assert found == json.loads(
        json.dumps(bs.adjustment_sets(bs.load_network("asia"), "smoke", "dysp", ["tub"]).to_dict())
    )
    code, out = run("adjust", "asia", "lung", "dysp")
    assert code == 0
    assert "most precise  {tub, bronc}" in out
    estimate = run_json("effect", "asia", asia, "smoke", "dysp")
    expected = bs.effect(bs.load_network("asia"), asia, "smoke", "dysp")
    assert estimate["adjusted"] == ["tub"]
    assert estimate["estimates"] == expected.estimates.tolist()
    code, out = run("effect", "asia", asia, "smoke", "dysp", "--class")
    assert code == 0
    assert "possible effects of smoke on dysp" in out
    with pytest.raises(BayescoutError, match="no causal path"):
        run("effect", "asia", asia, "dysp", "smoke")


def test_scores_lists_every_score():
    from bayescout.scores import SCORES

    assert [row["name"] for row in run_json("scores")["scores"]] == list(SCORES)
    code, out = run("scores")
    assert code == 0
    assert "$" not in out  # formulas belong to the documentation


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "bayescout", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == f"bayescout {bs.__version__}\n"


# ---- mistakes


def bad_inputs(folder: Path):
    """(name, arguments, what the line must say) of every mistake."""
    files = {
        "empty.csv": "",
        "header.csv": "A,B\n",
        "ragged.csv": "A,B\n0,1\n0,1,1\n",
        "twice.csv": "A,A\n0,1\n1,1\n",
        "one.csv": "A,B\nx,y\n",
        "missing.csv": "A,B\n0,1\n,1\n1,0\n1,1\n0,1\n",
        "other.csv": "P,Q\n0,1\n1,0\n",
        "cut.bif": "network n {} variable A { type discrete [2] { x",
        "cycle.bif": "network n {} variable A { type discrete [1] { x }; } "
        "variable B { type discrete [1] { y }; } "
        "probability (A | B) { (y) 1.0; } probability (B | A) { (x) 1.0; }",
        "sum.bif": "network n {} variable A { type discrete [2] { x, y }; } "
        "probability (A) { table 0.5, 0.6; }",
        "fine.csv": "A,B\n0,1\n1,1\n1,0\n0,1\n",
        "ids.csv": "A,B\n" + "".join(f"name{i},{i % 2}\n" for i in range(30)),
        "strange.xyz": "A\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "latin.csv").write_bytes("A,B\nö,1\nx,0\n".encode("latin-1"))
    two = "[A][B|A]"
    return [
        ("empty file", ["fit", two, folder / "empty.csv"], "empty.csv"),
        ("header only", ["fit", two, folder / "header.csv"], "header.csv"),
        ("ragged rows", ["fit", two, folder / "ragged.csv"], "line 3"),
        ("duplicate columns", ["fit", two, folder / "twice.csv"], "'A'"),
        ("one row", ["fit", two, folder / "one.csv"], "row"),
        ("missing values", ["fit", two, folder / "missing.csv", "--missing", "error"], "drop"),
        ("not utf-8", ["fit", two, folder / "latin.csv"], "UTF-8"),
        ("unknown ending", ["fit", two, folder / "strange.xyz"], ".xyz"),
        ("no such data", ["fit", two, folder / "nothing.csv"], "nothing.csv"),
        ("data of another network", ["fit", two, folder / "other.csv"], "'A'"),
        ("truncated BIF", ["show", folder / "cut.bif"], "cut.bif"),
        ("cyclic BIF", ["show", folder / "cycle.bif"], "cycle"),
        ("rows not summing to one", ["show", folder / "sum.bif"], "1.1"),
        ("unknown network", ["show", "alram"], "alarm"),
        ("unknown node", ["query", "asia", "lungs"], "lung"),
        ("unknown state", ["query", "asia", "lung | smoke=maybe"], "smoke"),
        ("impossible", ["sample", "asia", "--given", "lung=yes, either=no"], "lung=yes, either=no cannot"),
        ("soft evidence without a node", ["query", "asia", "lung", "--soft", "yes=0.8"], "no colon"),
        ("soft evidence without a number", ["query", "asia", "lung", "--soft", "smoke: yes=high"], "'high'"),
        (
            "soft evidence of one state",
            ["query", "asia", "lung", "--soft", "smoke: yes=1"],
            "give all states",
        ),
        ("unknown score", ["score", two, folder / "fine.csv", "--score", "bick"], "bic"),
        ("unknown prior", ["fit", two, folder / "fine.csv", "--prior", "nothing"], "laplace"),
        ("cyclic modelstring", ["compare", "[A|B][B|A]", two], "A"),
        ("unwritable folder", ["fit", two, folder / "fine.csv", "-o", folder / "no" / "x.bif"], "no"),
        ("structure has no parameters", ["query", two, "A"], "[A][B|A]"),
    ]


def test_every_mistake_says_where_and_what(tmp_path):
    for name, arguments, said in bad_inputs(tmp_path):
        with pytest.raises(BayescoutError) as caught:
            run(*arguments)
        message = str(caught.value)
        assert said in message, f"{name}: {message}"
        assert "\n" not in message.strip(), name
        assert len(message) > 20, name
    assert not list(tmp_path.glob("*.bif.*"))


@pytest.fixture
def awkward(tmp_path):
    """Tables that need an option each."""
    number = [f"{i * 7 % 23 / 8:.3f}" for i in range(40)]
    texts = {
        "gaps": "A,B\n" + "x,u\ny,v\n,u\nx,v\n" * 5,
        "marks": "A,B\n" + "1.5,2\nabsent,3\n2.5,1\n3.5,2\n" * 9,
        "mixed": "A,B\n" + "".join(f"{number[i]},{'uv'[i % 2]}\n" for i in range(40)),
        "numbers": "A,B\n" + "".join(f"{number[i]},{number[3 * i % 40]}\n" for i in range(40)),
        "whole": "A,B\n" + "".join(f"{i % 3},{number[i]}\n" for i in range(40)),
        "ids": "id,A,B\n" + "".join(f"name{i},{i % 2},{i % 3}\n" for i in range(30)),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "asked", "way_out"),
    [
        ("gaps", ["--missing", "error"], "--missing drop"),
        ("gaps", ["--missing", "error"], "--missing state"),
        ("marks", ["--kind", "continuous"], "--na absent"),
        ("mixed", ["--score", "bdeu"], "--discretise 3"),
        ("mixed", ["--score", "bdeu"], "--kind discrete"),
        ("numbers", ["--score", "k2"], "--discretise 3"),
        ("whole", ["--score", "bge"], "--kind continuous"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* rows are left out, as they have missing values")
def test_the_way_out_of_a_mistake_is_an_option_that_works(awkward, name, asked, way_out):
    data = awkward / f"{name}.csv"
    with pytest.raises(BayescoutError) as caught:
        run("learn", data, *asked)
    assert way_out in str(caught.value).replace("'", "")
    more = ["--missing", "drop"] if name == "marks" else []
    code, _ = run("learn", data, *asked, *way_out.split(), *more)
    assert code == 0


def test_an_identifier_is_left_out_and_the_way_to_keep_it_works(awkward):
    data = awkward / "ids.csv"
    with pytest.warns(BayescoutWarning, match=r"left out: 'id' \(identifies rows\); --kind id=discrete"):
        found = run_json("learn", data)
    assert found["data"]["left_out"] == [["id", "identifies rows"]]
    assert [column["name"] for column in found["data"]["columns"]] == ["A", "B"]
    for options, names in ((["--drop", "id"], ["A", "B"]), (["--kind", "id=discrete"], ["id", "A", "B"])):
        read = run_json("learn", data, *options)["data"]
        assert ([column["name"] for column in read["columns"]], read["left_out"]) == (names, [])
    with pytest.warns(BayescoutWarning, match=r"'id' \(categorical: 30 texts in 30 rows\)"):
        assert run("fit", "[id][A][B]", data)[0] == 0  # a node of the graph is asked for


def test_commands_read_standard_input_and_tell_how(awkward):
    text = (awkward / "whole.csv").read_text().replace("A,B", "A,B").replace("\n2,", "\nNA,", 1)
    (awkward / "marked.csv").write_text(text)
    runner = CliRunner()
    asked = ["learn", "-", "--missing", "drop", "--kind", "continuous"]
    with pytest.warns(BayescoutWarning) as caught:
        done = runner.invoke(app, asked, input=text, catch_exceptions=False)
    assert done.exit_code == 0
    assert [str(warning.message).split(";")[0] for warning in caught] == [
        "cells that count as missing: 'NA' 1",
        "1 of 40 rows are left out, as they have missing values: in 'A' (1)",
    ]
    assert "39 rows; 2 continuous; 1 cell missing (1.2%), 1 of 40 rows left out for it" in done.stderr
    kept = runner.invoke(app, ["learn", "-", "--na", "", "--discretise", "2", "--json"], input=text)
    assert kept.exit_code == 0
    columns = json.loads(kept.stdout)["data"]["columns"]
    assert columns[0]["states"] == ["0", "1", "2", "NA"]


def test_python_is_told_of_calls_again_after_a_command(awkward):
    with pytest.raises(BayescoutError, match="--missing drop"):
        run("learn", awkward / "gaps.csv", "--missing", "error")
    with pytest.raises(BayescoutError, match=r"as_table\(data, missing='drop'\)"):
        bs.learn(awkward / "gaps.csv", missing="error", search="hill-climb", score="bic")


def test_kinds_are_said_of_all_columns_and_of_one(awkward):
    """What is said of one column wins, wherever it stands."""
    one = ["--kind", "B=discrete", "--kind", "continuous"]
    with pytest.raises(BayescoutError, match=r"column 'B' is discrete"):
        run("learn", awkward / "whole.csv", *one, "--score", "bge")
    for wrong, said in (
        ("nothing", "such as age=continuous"),
        ("C=discrete", "unknown name 'C'"),
        ("=discrete", "such as"),
    ):
        with pytest.raises(BayescoutError, match=said):
            run("learn", awkward / "whole.csv", "--kind", wrong)


def test_other_separators_are_read_by_every_command(tmp_path):
    network = bs.load_network("asia")
    network.sample(400, seed=1).save(tmp_path / "comma.csv")
    (tmp_path / "tab.csv").write_text((tmp_path / "comma.csv").read_text().replace(",", "\t"))
    for words, more in (
        (["fit", "asia"], []),
        (["score", "asia"], []),
        (["learn"], []),
        (["cross-validate"], ["--folds", 2]),
    ):
        expected = run_json(*words, tmp_path / "comma.csv", *more)
        found = run_json(*words, tmp_path / "tab.csv", *more, "--separator", "\\t")
        assert {**found, "seconds": 0} == {**expected, "seconds": 0}


def test_only_the_columns_of_the_structure_are_cut(awkward):
    lines = (awkward / "numbers.csv").read_text().splitlines()
    more = [f"{line},name{i}" for i, line in enumerate(lines[1:])]
    (awkward / "more.csv").write_text("\n".join([lines[0] + ",id", *more]) + "\n")
    cut = ["--score", "k2", "--discretise", 4]
    found = run_json("score", "[A][B|A]", awkward / "more.csv", *cut)
    assert found["scores"] == run_json("score", "[A][B|A]", awkward / "numbers.csv", *cut)["scores"]
    with pytest.raises(BayescoutError, match="no column for node 'C'"):
        run("score", "[A][B|A][C]", awkward / "more.csv", "--score", "k2", "--discretise", 4)


def test_cut_columns_are_those_of_python(awkward):
    table = bs.discretise(awkward / "numbers.csv", bins=4)
    found = run_json("score", "[A][B|A]", awkward / "numbers.csv", "--score", "k2", "--discretise", 4)
    assert found["scores"][0]["score"] == bs.score(bs.Dag.from_arcs([("A", "B")]), table, "k2")
    fitted = run_json("fit", "[A][B|A]", awkward / "numbers.csv", "--discretise", 4)
    assert (fitted["kind"], fitted["parameters"]) == ("discrete", 3 + 4 * 3)


def test_a_mistake_is_one_line_on_standard_error_and_exit_code_2(tmp_path):
    done = command("show", "alram", "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("bayescout: error:")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_wrong_usage_is_exit_code_2():
    done = command("fit")
    assert done.returncode == 2
    assert "see bayescout fit --help" in done.stderr
    assert "see bayescout learn --help" in command("learn", "a.csv", "--gap").stderr
    assert command("nonsense").returncode == 2
    assert command("sample", "asia", "-n", "0").returncode == 2


def test_warnings_are_one_line(tmp_path):
    (tmp_path / "constant.csv").write_text("A,B\n0,x\n1,x\n1,x\n")
    done = command("fit", "[A][B|A]", tmp_path / "constant.csv", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["parameters"] >= 1
    assert done.stderr.startswith("bayescout: warning:")
    assert "'B'" in done.stderr


def test_a_full_disk_is_a_clear_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from bayescout.cli import main; main()", "networks", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


# ---- learning


def test_learn_gives_what_python_learns(asia, tmp_path):
    found = run_json(
        "learn", asia, "--search", "tabu", "--score", "bdeu", "--option", "length=7", "--seed", 3
    )
    expected = bs.learn(asia, bs.search.Tabu(length=7), "bdeu", seed=3)
    assert found["score"] == expected.score
    assert [tuple(arc) for arc in found["arcs"]] == list(expected.dag.arcs())
    wanted = {"search", "score_name", "score", "arcs", "seconds", "iterations", "operations", "evaluations"}
    assert wanted | {"stop_reason", "seed"} <= set(found)
    assert (found["search"], found["score_name"], found["seed"]) == ("tabu", "bdeu", 3)


def test_learn_tells_the_gap_when_asked(asia):
    found = run_json("learn", asia, "--score", "bdeu", "--max-steps", 2, "--gap", 20)
    best = bs.learn(asia, "optimal", "bdeu")
    assert found["bound"] == pytest.approx(best.score)
    assert found["gap"] == pytest.approx(best.score - found["score"])
    assert found["certificate"]["proven"] is False
    assert found["certificate"]["better"]["score"] == pytest.approx(best.score)
    code, out = run("learn", asia, "--search", "optimal", "--gap", 20)
    assert code == 0
    assert "optimal: no network that keeps the knowledge scores more" in out


def test_learn_keeps_knowledge_and_writes_a_network(asia, tmp_path):
    (tmp_path / "tiers.txt").write_text("asia, smoke\ntub, lung, bronc\n\neither,xray,dysp\n")
    found = run_json(
        "learn", asia, "--require", "asia->tub", "--forbid", "smoke->bronc",
        "--tiers", tmp_path / "tiers.txt", "--max-parents", 2, "--top", 3, "-o", tmp_path / "net.bif",
    )  # fmt: skip
    arcs = {tuple(arc) for arc in found["arcs"]}
    assert ("asia", "tub") in arcs
    assert ("smoke", "bronc") not in arcs
    assert len(found["top"]) == 3
    network = bs.read_network(tmp_path / "net.bif")
    assert set(network.dag.arcs()) == arcs
    assert network.query("dysp | smoke=yes")["yes"] > 0
    (tmp_path / "order.txt").write_text("\n".join(bs.load_network("asia").dag.order()))
    k2 = run_json("learn", asia, "--search", "k2", "--score", "k2", "--order", tmp_path / "order.txt")
    assert k2["iterations"] == 8
    code, out = run("learn", asia, "--max-steps", 2, "-o", tmp_path / "net.dot")
    assert code == 0
    assert "max_steps" in out
    assert bs.read_structure(tmp_path / "net.dot").n_arcs == 2


def test_learn_takes_knowledge_from_a_file(asia, tmp_path):
    path = tmp_path / "known.txt"
    path.write_text(
        "require asia -> tub\nforbid smoke->bronc\ntier asia, smoke\nclosed tier tub, lung, bronc\n"
    )
    plain = ("--search", "hill-climb", "--score", "bic")
    found = run_json("learn", asia, *plain, "--knowledge", path, "--forbid", "lung->xray")
    known = bs.Knowledge(
        required=["asia->tub"],
        forbidden=["smoke->bronc", "lung->xray"],
        tiers=[["asia", "smoke"], ["tub", "lung", "bronc"]],
        forbid_within=(2,),
    )
    expected = bs.learn(asia, "hill-climb", "bic", known)
    assert sorted(map(tuple, found["arcs"])) == sorted(expected.dag.arcs())
    tiers = tmp_path / "tiers.txt"
    tiers.write_text("asia, smoke\ntub, lung, bronc\n")
    path.write_text("forbid asia -> tub\n")
    closed = run_json("learn", asia, *plain, "--knowledge", path, "--tiers", tiers, "--forbid-within-tiers")
    assert not {("tub", "lung"), ("lung", "tub"), ("asia", "tub")} & set(map(tuple, closed["arcs"]))
    path.write_text("max_parents 3\n")
    with pytest.raises(BayescoutError, match=r"max_parents is given by .* and by --max-parents"):
        run("learn", asia, *plain, "--knowledge", path, "--max-parents", 2)
    path.write_text("forbid asiaa -> tub\n")
    with pytest.raises(BayescoutError, match="asiaa"):
        run("learn", asia, *plain, "--knowledge", path)


def test_convert_goes_through_every_format(tmp_path):
    before = "asia"
    for ending in ("bif", "xmlbif", "net", "xdsl", "dsl", "uai", "dne", "dsc", "json"):
        code, _ = run("convert", before, tmp_path / f"asia.{ending}")
        assert code == 0
        before = tmp_path / f"asia.{ending}"
    last, asia = bs.read_network(before), bs.load_network("asia")
    assert last.dag == asia.dag
    assert last.states == asia.states
    assert all((one == other).all() for one, other in zip(last.tables, asia.tables, strict=True))
    for ending in ("dagitty", "tetrad", "graphml", "csv", "edges", "dot"):
        run("convert", "asia", tmp_path / f"graph.{ending}")
        assert bs.read_structure(tmp_path / f"graph.{ending}") == asia.dag


def test_learn_goes_on_from_a_checkpoint(asia, tmp_path):
    path = tmp_path / "run.json"
    run_json("learn", asia, "--max-steps", 3, "--checkpoint", path)
    resumed = run_json("learn", asia, "--checkpoint", path)
    whole = run_json("learn", asia)
    assert {k: v for k, v in resumed.items() if k != "seconds"} == {
        k: v for k, v in whole.items() if k != "seconds"
    }


def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    import signal
    import time

    bs.load_network("alarm").sample(2000, seed=1).save(tmp_path / "a.csv")
    code = "from bayescout.cli import main; main()"
    arguments = [
        "learn",
        str(tmp_path / "a.csv"),
        "--search",
        "tabu",
        "--option",
        "restarts=100000",
        "--json",
    ]
    checkpoint = tmp_path / "run.json"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "--checkpoint", str(checkpoint)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (checkpoint.exists() and checkpoint.stat().st_size):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["stop_reason"] == "interrupted"
    assert "interrupted" in err
    assert "Traceback" not in err


def test_searches_lists_every_search():
    from bayescout.search import SEARCHES

    assert [row["name"] for row in run_json("searches")["searches"]] == list(SEARCHES)
    code, out = run("searches")
    assert code == 0
    assert "hill-climb" in out


def test_learning_mistakes_are_named(asia):
    for arguments, said in (
        (["--search", "hill-climbing"], "hill-climb"),
        (["--search", "hill-climb", "--option", "speed=9"], "restarts, perturb"),
        (["--option", "restarts"], "key=value"),
        (["--search", "tabu", "--option", "restarts=-1"], "at least 0"),
        (["--score", "bic", "--score-option", "ess=1"], "no setting 'ess'"),
        (["--score-option", "ess=1"], "name the score"),
        (["--require", "asia=>tub"], "parent->child"),
        (["--require", "asia->tubs"], "tub"),
        (["--require", "asia->tub", "--require", "tub->asia"], "cycle"),
        (["--forbid", "asia->asia"], "forbidden arc asia -> asia is a loop"),
        (["--require", "asia->asia"], "required arc asia -> asia is a loop"),
        (["--tiers", "nowhere.txt"], "nowhere.txt"),
        (["--search", "k2"], "order"),
        (["--start", "full"], "full"),
    ):
        with pytest.raises(BayescoutError) as caught:
            run("learn", asia, *arguments)
        assert said in str(caught.value), str(caught.value)


# ---- learning again and again

PLAIN = ("--search", "hill-climb", "--score", "bic")


def test_bootstrap_is_that_of_python(asia, tmp_path):
    options = [
        "--runs",
        12,
        "--score",
        "bdeu",
        "--score-option",
        "ess=5",
        "--forbid",
        "smoke->lung",
        "--seed",
        2,
    ]
    found = run_json("bootstrap", asia, *options, "--search", "hill-climb")
    known = bs.Knowledge(forbidden=[("smoke", "lung")])
    expected = bs.bootstrap(
        asia, runs=12, score=bs.scores.BDeu(ess=5), seed=2, knowledge=known, search="hill-climb"
    )
    assert found["arcs"] == expected.to_dict()["arcs"]
    assert (found["runs"], found["seed"], found["threshold"]) == (12, 2, expected.threshold())
    assert [tuple(arc) for arc in found["network"]] == list(expected.averaged().arcs())


def test_bootstrap_writes_the_network_and_the_strengths(asia, tmp_path):
    network, arcs = tmp_path / "agreed.bif", tmp_path / "arcs.csv"
    code, out = run(
        "bootstrap", asia, "--runs", 8, "--threshold", 0.5, "-o", network, "--strengths", arcs, *PLAIN
    )
    assert code == 0
    assert "Over 8 runs" in out
    assert "Network of the arcs stronger than 0.500" in out
    expected = bs.bootstrap(asia, runs=8, search="hill-climb", score="bic")
    assert bs.read_network(network).dag == expected.averaged(0.5)
    lines = arcs.read_text().splitlines()
    assert lines[0] == "parent,child,strength,direction"
    assert lines[1:] == [",".join(map(str, row)) for row in expected.table()]


def test_bootstrap_shows_each_edge_once_and_the_better_direction(asia):
    _, out = run("bootstrap", asia, "--runs", 8, *PLAIN)
    expected = bs.bootstrap(asia, runs=8, search="hill-climb", score="bic")
    shown = [line.split() for line in out.splitlines() if " -> " in line or " - " in line]
    assert len(shown) == len(expected)
    for parent, arrow, child, *more in shown:
        assert float(more[-1]) == pytest.approx(expected.direction(parent, child), abs=5e-4)
        assert float(more[-2]) == pytest.approx(expected.strength(parent, child), abs=5e-4)
        assert (arrow == "->") == (expected.direction(parent, child) > 0.5)
        assert expected.direction(parent, child) >= 0.5
        arcs = set(expected.averaged().arcs())
        assert ("yes" in more) == (not arcs.isdisjoint({(parent, child), (child, parent)}))


def test_cross_validation_is_that_of_python(asia):
    options = [
        "--folds",
        4,
        "--search",
        "tabu",
        "--option",
        "length=5",
        "--max-parents",
        1,
        "--prior",
        "bdeu",
        "--score",
        "bic",
    ]
    found = run_json("cross-validate", asia, *options)
    known = bs.Knowledge(max_parents=1)
    expected = bs.cross_validate(
        asia, bs.search.Tabu(length=5), folds=4, prior="bdeu", knowledge=known, score="bic"
    )
    assert found == expected.to_dict()
    code, out = run("cross-validate", asia, *options)
    assert code == 0
    assert f"{expected.mean:.4f} ± {expected.standard_error:.4f} nats" in out
    assert len([line for line in out.splitlines() if line.strip()[:1].isdigit()]) == 4


def test_every_option_says_what_it_is_for():
    """Nothing is left to guess: each option and argument of each command has its own words."""
    import typer

    commands = typer.main.get_command(app).commands
    assert {"bootstrap", "cross-validate", "learn"} <= set(commands)
    for name, made in commands.items():
        assert made.help, name
        for parameter in made.params:
            assert parameter.help, f"{name} {parameter.name}"
    assert "study" in next(p.help for p in commands["experiment"].params if p.name == "option")
    ways = [p.help for p in commands["learn"].params if p.name in ("require", "forbid")]
    assert len(set(ways)) == 2
    assert all("in quotes" in way for way in ways)


def test_query_says_how_it_is_answered():
    exact = run_json("query", "alarm", "CVP | BP=LOW", "--exact")
    drawn = run_json("query", "alarm", "CVP | BP=LOW", "--method", "sample", "--draws", "4000")
    assert "error" not in exact
    assert 0 < drawn["error"] < 0.02
    for one, two in zip(exact["answer"], drawn["answer"], strict=True):
        assert one["probability"] == pytest.approx(two["probability"], abs=0.05)
    last = bs.load_network("diabetes").nodes[-1]
    with pytest.raises(TooLargeError, match=r"over the limit of 1\.0 KiB"):
        run("query", "diabetes", last, "--memory", "1K", "--exact")
    with pytest.raises(SettingError, match="--memory is a size such as 512M or 4G, not '3Q'"):
        run("query", "asia", "lung", "--memory", "3Q")


def test_without_arguments_the_help_is_shown():
    code, said = run()
    assert code == 0
    assert "learn" in said


def test_learn_tells_the_columns_the_network_and_the_worth_of_its_arcs(asia):
    code, said = run("learn", asia, "--score", "bdeu")
    assert code == 0
    result = bs.learn(asia, score="bdeu")
    for part in ("Columns as read", "categorical", "Network", "◄─", "Arcs by worth", "worth"):
        assert part in said
    parent, child = min(result.arcs, key=lambda arc: result.explain(*arc).remove)
    assert f"{parent} -> {child}" in said
    assert f"{-result.explain(parent, child).remove:,.2f}" in said


def test_the_engine_is_that_of_learn(asia):
    with pytest.raises(BayescoutError, match="unknown engine 'cluster'; known: memory, gpu"):
        run("learn", asia, "--engine", "cluster", "--search", "hill-climb")
    with pytest.raises(SettingError, match="--engine gpu screens pairs, and --screen none looks at all"):
        run("learn", asia, "--engine", "gpu", "--screen", "none", "--search", "hill-climb")
    found = [
        run_json("learn", asia, "--search", "hill-climb", *more) for more in ((), ("--engine", "memory"))
    ]
    assert found[0]["arcs"] == found[1]["arcs"]
