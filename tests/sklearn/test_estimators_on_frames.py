"""Estimators on frames: text, gaps, unseen values, names, pipelines, grid searches, pickles, weights."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import bayescout as bs
from bayescout.errors import BayescoutWarning, DataError, SettingError
from bayescout.sklearn import BayesianNetworkClassifier, Discretiser, StructureLearner

STRUCTURES = ("auto", "nb", "tan", "kdb", "aode", "blanket")


@pytest.fixture(scope="module")
def rows():
    """500 rows of asia as text, with a number, a category, a flag and gaps."""
    rng = np.random.default_rng(1)
    frame = bs.load_network("asia").sample(500, seed=1).to_pandas().astype(object)
    frame["age"] = rng.normal(50, 10, 500) + 10 * (frame["dysp"] == "yes")
    frame["ward"] = pd.Categorical(rng.choice(["a", "b"], 500), categories=["a", "b", "c"])
    frame["flag"] = rng.random(500) < 0.5
    features = frame.drop(columns="dysp")
    holes = rng.random(features.shape) < 0.05
    holes[:, [features.columns.get_loc(name) for name in ("ward", "flag")]] = False
    return features.mask(holes), frame["dysp"].astype(str)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_frames_of_text_with_gaps_and_unseen_values(rows, structure):
    features, classes = rows
    model = BayesianNetworkClassifier(structure).fit(features[:400], classes[:400])
    found = model.predict_proba(features[400:])
    assert found.shape == (100, 2)
    assert found.sum(axis=1) == pytest.approx(1)
    assert list(model.classes_) == ["no", "yes"]
    assert log_loss(classes[400:], found) < 0.6  # of the share of classes alone: 0.69
    assert model.n_features_in_ == 10
    assert list(model.feature_names_in_) == list(features.columns)
    strange = features[400:].copy()
    strange.loc[strange.index[:5], "smoke"] = "sometimes"
    empty = features[400:].copy()
    empty.loc[empty.index[:5], "smoke"] = None
    with pytest.warns(BayescoutWarning, match="'smoke' \\(5, such as 'sometimes'\\)"):
        unseen = model.predict_proba(strange)
    assert (unseen == model.predict_proba(empty)).all()


def test_every_kind_of_frame_gives_the_same_answer(rows):
    features, classes = rows
    text = features[["asia", "tub", "smoke", "xray", "age"]]
    model = BayesianNetworkClassifier("tan").fit(text, classes)
    other = pl.DataFrame({name: text[name].where(text[name].notna(), None).tolist() for name in text})
    by_polars = BayesianNetworkClassifier("tan").fit(other, classes.to_numpy())
    assert (by_polars.predict_proba(other) == model.predict_proba(text)).all()
    objects = BayesianNetworkClassifier("tan").fit(text.to_numpy(dtype=object), classes)
    assert (objects.predict_proba(text.to_numpy(dtype=object)) == model.predict_proba(text)).all()


def test_numbers_of_arrays_and_frames_are_read_alike():
    """Arrays of numbers take a way of their own to codes; frames go by the tables of the library."""
    rng = np.random.default_rng(2)
    cells = np.column_stack([rng.normal(size=200), rng.integers(0, 3, 200), rng.integers(0, 2, 200)])
    classes = (cells[:, 0] + cells[:, 1] + rng.normal(size=200) > 1).astype(int)
    cells[rng.random(cells.shape) < 0.1] = np.nan
    frame = pd.DataFrame(cells, columns=["a", "b", "c"])
    model = BayesianNetworkClassifier("kdb").fit(cells, classes)
    framed = BayesianNetworkClassifier("kdb").fit(frame, classes)
    assert (model.predict_proba(cells) == framed.predict_proba(frame)).all()
    assert framed.network_.predict_proba(frame, "class") == pytest.approx(framed.predict_proba(frame))
    with pytest.warns(BayescoutWarning, match="no state"):
        model.predict(np.array([[0.0, 7.0, 1.0]]))


def test_a_row_that_lacks_everything_gets_the_share_of_classes():
    cells, classes = load_iris(return_X_y=True)
    for structure in STRUCTURES:
        model = BayesianNetworkClassifier(structure, prior="bdeu").fit(cells[:120], classes[:120])
        shares = (np.bincount(classes[:120]) + 1 / 3) / 121
        assert model.predict_proba(np.full((1, 4), np.nan))[0] == pytest.approx(shares)


@pytest.mark.filterwarnings("ignore:constant columns")
def test_a_column_without_values_says_nothing(rows):
    features, classes = rows
    with_empty = features.assign(nothing=None, nan=np.nan)
    for structure in ("nb", "tan", "kdb", "blanket"):
        model = BayesianNetworkClassifier(structure).fit(with_empty, classes)
        expected = BayesianNetworkClassifier(structure).fit(features, classes).predict_proba(features)
        assert model.predict_proba(with_empty) == pytest.approx(expected, abs=1e-9)
        lately = with_empty.assign(nothing=1.0, nan=2.0)
        assert model.predict_proba(lately) == pytest.approx(expected, abs=1e-9)


def test_the_class_may_have_the_name_of_a_feature(rows):
    features, classes = rows
    renamed = features.rename(columns={"smoke": "dysp"})
    model = BayesianNetworkClassifier("tan").fit(renamed, classes)
    assert model.network_.nodes[-1] == "dysp_"
    expected = BayesianNetworkClassifier("tan").fit(features, classes).predict_proba(features)
    assert (model.predict_proba(renamed) == expected).all()


def test_the_code_of_the_page_runs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "classifiers.md").read_text(encoding="utf-8")
    block = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[0]
    exec(compile(block, "classifiers.md", "exec"), {})
    assert capsys.readouterr().out.strip() == "(200, 6) tan"


def test_grid_search_over_score_and_prior_in_a_pipeline(rows):
    features, classes = rows
    pipe = make_pipeline(BayesianNetworkClassifier("tan"))
    grid = {
        "bayesiannetworkclassifier__structure_score": [None, "bdeu", "bic"],
        "bayesiannetworkclassifier__prior": ["laplace", "bdeu"],
    }
    search = GridSearchCV(pipe, grid, cv=2, scoring="neg_log_loss").fit(features, classes)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(set(search.cv_results_["mean_test_score"])) > 2


def test_clones_and_pickles(rows):
    features, classes = rows
    for structure in (*STRUCTURES, bs.search.HillClimb()):
        model = BayesianNetworkClassifier(structure).fit(features, classes)
        again = pickle.loads(pickle.dumps(model))
        assert (again.predict_proba(features) == model.predict_proba(features)).all()
        fresh = clone(model).fit(features, classes)
        assert (fresh.predict_proba(features) == model.predict_proba(features)).all()


def test_weights_are_repeated_rows(rows):
    features, classes = rows
    weights = np.random.default_rng(3).integers(0, 3, len(features))
    repeated = np.repeat(np.arange(len(features)), weights)
    for structure in STRUCTURES:
        one = BayesianNetworkClassifier(structure).fit(features, classes, sample_weight=weights)
        two = BayesianNetworkClassifier(structure).fit(features.iloc[repeated], classes.iloc[repeated])
        assert one.structure_ == two.structure_
        assert one.predict_proba(features) == pytest.approx(two.predict_proba(features), abs=1e-12)


def test_the_order_of_rows_and_columns_does_not_matter(rows):
    features, classes = rows
    rng = np.random.default_rng(4)
    order, columns = rng.permutation(len(features)), rng.permutation(features.columns)
    for structure in STRUCTURES:
        one = BayesianNetworkClassifier(structure).fit(features, classes)
        two = BayesianNetworkClassifier(structure).fit(features[columns].iloc[order], classes.iloc[order])
        assert (one.predict_proba(features) == two.predict_proba(features[columns])).all()


def test_a_search_obeys_knowledge_and_names_the_class(rows):
    features, classes = rows
    known = bs.Knowledge(required=[("dysp", "bronc")])
    model = BayesianNetworkClassifier("hill-climb", knowledge=known).fit(
        features.dropna(), classes[features.notna().all(axis=1)]
    )
    assert model.network_.nodes[-1] == "dysp"
    assert model.network_.dag.has_arc("dysp", "bronc")
    assert model.result_ is not None


def test_wrong_settings_are_told(rows):
    with pytest.raises(SettingError, match="no class is impossible"):
        BayesianNetworkClassifier(prior="mle").fit(*rows)
    with pytest.raises(ValueError, match="method must be one of"):
        Discretiser("quantiles").fit(rows[0])
    with pytest.raises(ValueError, match="encode must be one of"):
        Discretiser(encode="onehot").fit(rows[0])


def test_rows_without_a_class_are_refused(rows):
    features, classes = rows
    with pytest.raises(ValueError, match=r"y contains NaN: 3 rows have no class; leave them out"):
        BayesianNetworkClassifier("nb").fit(features, classes.where(np.arange(500) > 2))


def test_a_warning_names_what_can_be_done_with_an_estimator(rows):
    features, classes = rows
    odd = features.assign(age=features["age"].mask(np.arange(500) < 5, 9999.0))
    with pytest.warns(BayescoutWarning, match=r"9999 in 'age': make such cells NaN if that means missing"):
        BayesianNetworkClassifier("nb").fit(odd, classes)


def test_identifiers_and_dates_are_no_features(rows):
    features, classes = rows
    more = features.assign(
        ticket=[f"T-{place}" for place in range(500)],
        day=pd.date_range("2024-01-01", periods=500).astype(str),
    )
    plain = BayesianNetworkClassifier("kdb").fit(features, classes)
    told = r"left out: 'ticket' \(identifies rows\), 'day' \(dates\); kinds={'ticket': 'discrete'} keeps it"
    with pytest.warns(BayescoutWarning, match=told):
        model = BayesianNetworkClassifier("kdb").fit(more, classes)
    assert model.n_features_in_ == features.shape[1] + 2
    assert (model.predict_proba(more) == plain.predict_proba(features)).all()
    kept = BayesianNetworkClassifier("nb", kinds={"ticket": "discrete", "day": "discrete"}).fit(more, classes)
    assert {"ticket", "day"} < set(kept.network_.nodes)
    with pytest.raises(DataError, match=r"no feature says .*: 'ticket' \(identifies rows\); kinds={'ticket'"):
        BayesianNetworkClassifier("nb").fit(more[["ticket"]], classes)
    with pytest.warns(BayescoutWarning, match=r"in the network: 'ticket' \(identifies rows\); drop them"):
        StructureLearner("hill-climb").fit(more[["ticket", "smoke", "lung"]])


# ---- the learner


def test_a_learner_is_a_density_that_fills_gaps(rows):
    features = rows[0].drop(columns=["age", "ward", "flag"])
    learner = StructureLearner("hill-climb").set_output(transform="pandas").fit(features)
    assert learner.score(features) == pytest.approx(learner.score_samples(features).mean())
    assert (learner.score_samples(features) == learner.network_.row_log_likelihood(features)).all()
    filled = learner.transform(features)
    assert not filled.isna().any().any()
    assert list(filled.columns) == list(learner.get_feature_names_out()) == list(features.columns)
    there = features.notna()
    assert (filled.where(there, "-") == features.where(there, "-")).all().all()
    row = features[features.isna().sum(axis=1) == 1].iloc[0]
    seen = {name: value for name, value in row.items() if isinstance(value, str)}
    best = learner.network_.most_probable(seen)
    assert filled.loc[row.name].to_dict() == {name: best[name] for name in features.columns}
    drawn = learner.sample(2000, random_state=5)
    assert drawn.shape == (2000, 7)
    assert (drawn == learner.sample(2000, random_state=5)).all()
    assert (drawn[:, 1] == "yes").mean() == pytest.approx((features["tub"] == "yes").mean(), abs=0.03)


def test_a_learner_of_numbers_draws_and_fills_numbers():
    rng = np.random.default_rng(6)
    cells = rng.normal(size=(300, 3))
    cells[:, 1] += 2 * cells[:, 0]
    holed = cells.copy()
    holed[:20, 1] = np.nan
    for options in ({}, {"discretise": 4, "structure_score": "bdeu"}):
        learner = StructureLearner("hill-climb", **options).fit(cells)
        filled = learner.transform(holed)
        assert filled.dtype == np.float64
        assert (filled[20:] == cells[20:]).all()
        assert np.abs(filled[:20, 1] - cells[:20, 1]).mean() < 1.5  # unrelated: 2.5
        drawn = learner.sample(3000)
        assert drawn.dtype == np.float64
        assert np.corrcoef(drawn.T)[0, 1] > 0.7


def test_columns_keep_their_types_in_the_frames_of_another_library(rows):
    learner = StructureLearner("hill-climb").set_output(transform="polars").fit(rows[0])
    filled = learner.transform(rows[0])
    assert filled.schema["age"] == pl.Float64
    assert filled.schema["smoke"] == pl.String
    assert sum(filled.null_count().row(0)) == 0
    text = rows[0].assign(ward=rows[0]["ward"].astype(str))
    cut = Discretiser().set_output(transform="pandas").fit_transform(pl.from_pandas(text))
    assert cut["age"].dtype == np.float64
    assert (cut["smoke"].isna() == text["smoke"].isna()).all()


# ---- the discretiser


def test_intervals_are_those_of_the_library():
    frame, classes = load_iris(return_X_y=True, as_frame=True)
    for method in ("quantile", "width", "kmeans", "hartemink"):
        cut = Discretiser(method, bins=3, encode="interval").set_output(transform="polars").fit(frame)
        assert cut.cuts_ == bs.Discretiser.fit(frame, method, 3).cuts
        expected = bs.discretise(frame, method, 3).to_dict()
        assert cut.transform(frame).to_dict(as_series=False) == expected
    told = Discretiser("mdl").fit(frame, classes)
    whole = frame.assign(species=classes.map(str))
    assert told.cuts_ == bs.Discretiser.fit(whole, "mdl", target="species").cuts


def test_other_columns_pass_and_gaps_stay(rows):
    features, classes = rows
    cut = Discretiser(bins=4).set_output(transform="pandas").fit(features)
    found = cut.transform(features)
    assert set(cut.cuts_) == {"age"}
    assert (found["age"].isna() == features["age"].isna()).all()
    assert set(found["age"].dropna()) == {0.0, 1.0, 2.0, 3.0}
    assert found["smoke"].equals(features["smoke"])
    assert found["age"].dtype == np.float64
    assert isinstance(Discretiser().fit_transform(pl.from_pandas(features)), pl.DataFrame)
    pipe = make_pipeline(Discretiser(bins=4).set_output(transform="pandas"), BayesianNetworkClassifier("nb"))
    assert pipe.fit(features, classes).score(features, classes) > 0.6
