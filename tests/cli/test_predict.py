"""bayescout predict: raw rows in, the same rows and their predictions out."""

from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl
import pytest

import bayescout as bs
from bayescout.errors import NetworkError, SettingError, UnknownNameError, WrongKindError
from tests.cli.test_cli import command, run, run_json

RNG = np.random.default_rng(5)
X = np.round(RNG.normal(size=300), 3)
ROWS = {
    "x": X,
    "y": np.round(2 * X + RNG.normal(size=300), 3),
    "k": np.where(X > 0, "up", "down").tolist(),
    "n": (X > 1).astype(int).tolist(),
}
NEW = "id,x,n,note,k\n007,0.5,0,TRUE,up\n008,,1,,down\n009,-99,7,NA,\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A discrete network of cut columns, a mixed and a Gaussian one, in files."""
    folder = tmp_path_factory.mktemp("models")
    numbers = {name: ROWS[name] for name in ("x", "y")}
    bs.learn(ROWS, discretise=3, search="hill-climb", score="bic").fit(prior="laplace").save(
        folder / "cut.bif"
    )
    bs.learn(ROWS, search="hill-climb", score="bic").fit().save(folder / "mixed.json")
    bs.learn(numbers, search="hill-climb", score="bic").fit().save(folder / "gaussian.json")
    (folder / "new.csv").write_text(NEW)
    return folder


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.filterwarnings("ignore::bayescout.errors.BayescoutWarning")
@pytest.mark.parametrize(
    ("model", "target"),
    [("cut.bif", "k"), ("cut.bif", "y"), ("mixed.json", "k"), ("mixed.json", "y"), ("gaussian.json", "y")],
)
def test_predictions_are_those_of_python(models, model, target):
    code, out = run("predict", models / model, models / "new.csv", "--target", target)
    assert code == 0
    found = rows_of(out[out.index("id,") :])
    assert [row["id"] for row in found] == ["007", "008", "009"]
    assert [row["note"] for row in found] == ["TRUE", "", "NA"]
    network = bs.read_network(models / model)
    raw = {"x": [0.5, None, -99.0], "n": [0, 1, None], "k": ["up", "down", None]}
    known = {name: column for name, column in raw.items() if name in network.nodes and name != target}
    expected = network.predict(known, target)
    assert [row[f"predicted_{target}"] for row in found] == [str(value) for value in expected]


@pytest.mark.filterwarnings("ignore:values that are no state")
def test_probabilities_and_json(models):
    found = run_json("predict", models / "cut.bif", models / "new.csv", "--target", "k", "--proba")
    assert found["rows"] == 3
    assert found["empty_cells"] == [["x", 1]]
    columns = found["predictions"]
    assert list(columns) == ["predicted_k", "P(k=down)", "P(k=up)"]
    assert [p + q for p, q in zip(columns["P(k=down)"], columns["P(k=up)"], strict=True)] == pytest.approx(
        [1] * 3
    )
    likelier = [
        "down" if p >= q else "up" for p, q in zip(columns["P(k=down)"], columns["P(k=up)"], strict=True)
    ]
    assert columns["predicted_k"] == likelier
    with pytest.raises(WrongKindError, match="continuous"):
        run("predict", models / "mixed.json", models / "new.csv", "--target", "y", "--proba")


@pytest.mark.filterwarnings("ignore:values that are no state")
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow"])
def test_files_of_every_kind_hold_the_answer(models, tmp_path, ending):
    out = tmp_path / f"out{ending}"
    code, told = run("predict", models / "cut.bif", models / "new.csv", "--target", "k", "-o", out)
    assert code == 0
    assert "3 rows with 'predicted_k' written to" in told
    read = {".parquet": pl.read_parquet, ".arrow": pl.read_ipc}.get(ending)
    frame = (
        read(out)
        if read
        else pl.read_csv(out, separator="\t" if ending == ".tsv" else ",", infer_schema=False)
    )
    assert frame.columns == ["id", "x", "n", "note", "k", "predicted_k"]
    assert frame["id"].to_list() == ["007", "008", "009"]
    again = run_json("predict", models / "cut.bif", out, "--target", "k")
    assert again["predictions"]["predicted_k"] == frame["predicted_k"].to_list()


def test_standard_input_and_what_is_said(models):
    done = command("predict", models / "cut.bif", "-", "--target", "k", input=NEW)
    assert done.returncode == 0, done.stderr
    assert len(rows_of(done.stdout)) == 3
    assert "1 empty cell in 3 rows, summed out: 'x' (1)" in done.stderr
    assert "'n' (1, such as 7) of 3 rows" in done.stderr


def test_mistakes_are_refused_before_work(models, tmp_path):
    with pytest.raises(UnknownNameError, match="kk"):
        run("predict", models / "cut.bif", models / "new.csv", "--target", "kk")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(NetworkError, match=r"no column of .* is a node to predict 'k' from"):
        run("predict", models / "cut.bif", tmp_path / "other.csv", "--target", "k")
    with pytest.raises(SettingError, match="would overwrite"):
        run("predict", models / "cut.bif", models / "new.csv", "--target", "k", "-o", models / "new.csv")


# ---- missing cells and cuts as options


@pytest.fixture
def gaps(tmp_path):
    path = tmp_path / "gaps.csv"
    frame = pl.DataFrame(ROWS).with_columns(
        pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise(pl.col("k")).alias("k")
    )
    frame.write_csv(path)
    return path


@pytest.mark.parametrize("policy", ["em", "drop", "state"])
@pytest.mark.filterwarnings("ignore:30 of 300 rows are left out")
def test_learn_takes_the_policies_of_python(gaps, policy):
    found = run_json("learn", gaps, "--missing", policy, "--discretise", 3)
    assert found["score"] == bs.learn(str(gaps), missing=policy, discretise=3).score
    if policy == "em":
        assert run_json("learn", gaps, "--discretise", 3)["score"] == found["score"]


@pytest.mark.parametrize("policy", ["em", "available", "drop"])
@pytest.mark.filterwarnings("ignore:30 of 300 rows are left out")
def test_fit_takes_the_policies_of_python(gaps, tmp_path, policy):
    out = tmp_path / "m.json"
    run("fit", "[k][n|k][x|k][y|k]", gaps, "--missing", policy, "-o", out)
    dag = bs.Dag.from_arcs([("k", "n"), ("k", "x"), ("k", "y")], nodes=["k", "n", "x", "y"])
    assert bs.read_network(out).equals(bs.fit(dag, str(gaps), missing=policy))


def test_what_cannot_use_them_says_the_ways_out(gaps):
    for arguments in (["score", "[k][n|k][x|k][y|k]", gaps], ["learn", gaps, "--missing", "error"]):
        done = command(*arguments)
        assert done.returncode == 2
        assert "--missing drop" in done.stderr


@pytest.mark.parametrize("choice", ["4", "hartemink", "hartemink:2", "mdl", "mdl:k", "width:3"])
@pytest.mark.filterwarnings("ignore:no cut of")
def test_learn_takes_the_cuts_of_python(gaps, tmp_path, choice):
    out = tmp_path / "m.json"
    run("learn", gaps, "--discretise", choice, "-o", out)
    result = bs.learn(
        str(gaps), discretise=int(choice) if choice.isdecimal() else choice, search="hill-climb", score="bic"
    )
    assert bs.read_network(out).cuts == result.fit(prior="bdeu").cuts
    with pytest.raises(SettingError, match="discretise is a number, quantile"):
        run("learn", gaps, "--discretise", "median")


# ---- what means missing, and what separates cells


def test_predict_and_impute_take_what_means_missing(models, tmp_path):
    (tmp_path / "new.csv").write_text("x;n;k\n0.5;0;up\nk.A.;1;-\n-99;1;\n")
    options = ["--separator", ";", "--na", "k.A.", "--na", "-", "--na", "-99"]
    cut = models / "cut.bif"
    found = run_json("predict", cut, tmp_path / "new.csv", "--target", "y", *options)
    assert found["empty_cells"] == [["x", 2], ["k", 2]]
    network = bs.read_network(cut)
    rows = {"x": [0.5, None, None], "n": [0, 1, 1], "k": ["up", None, None]}
    assert found["predictions"]["predicted_y"] == [*map(str, network.predict(rows, "y"))]
    filled = run_json("impute", cut, tmp_path / "new.csv", *options)["data"]
    assert filled == network.impute(rows).to_dict()
