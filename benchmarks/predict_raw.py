"""Predicting a class from raw, incomplete rows: how near to classifiers that are made for nothing else?

    python benchmarks/predict_raw.py [--only wine] [--repeats 5] [--share 0.1] [--methods bayescout,logistic]

breast_cancer and wine as they are, without a tenth of the cells of their features, removed at random. Mean
area under the ROC curve (for wine the mean of each class against the rest) over repeated stratified five-fold
cross-validation: the same rows, holes and folds for every method. Methods:

bayescout     `learn(rows)` with defaults, `fit`, `predict_proba(rows)`; the network is of all columns, the
              class is a column like any other
root          the same, and every arc into the class forbidden
bdeu          the same as bayescout, with `fit(prior="bdeu")`
ebic, aic, tabu, ges   the same as bayescout with another score or search
dg            the same as root with the score dg-bic
naive         the class as the only parent of every feature
tree          the class and at most one feature as parents of every feature
logistic      scikit-learn's logistic regression after its mean imputer and standard scaler
boosting      scikit-learn's histogram gradient boosting, which knows missing values

The last two need scikit-learn: pip install 'bayescout[sklearn]'
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import bayescout as bs

DATA = Path(__file__).parent.parent / "tests" / "datasets" / "data"
SETS = ("breast_cancer", "wine")
TARGET = "target"
PEERS = ("logistic", "boosting")
DEFAULT = ("bayescout", *PEERS)
FOLDS = 5


# ---- rows


def holed(frame, share, seed):
    """The frame without about this share of the cells of its features."""
    rng = np.random.default_rng([seed, 1415])
    return frame.with_columns(
        pl.when(pl.Series(rng.random(len(frame)) >= share)).then(pl.col(name)).alias(name)
        for name in frame.columns
        if name != TARGET
    )


def folds(classes, seed):
    """For each row its fold: the rows of each class dealt out in random order."""
    rng = np.random.default_rng([seed, 9265])
    found = np.empty(len(classes), dtype=int)
    dealt = 0
    for one in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == one))
        found[rows] = (dealt + np.arange(len(rows))) % FOLDS
        dealt += len(rows)
    return found


def ranks(values):
    """The rank of each value from 1, the mean of their ranks for equal ones."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def auc(classes, probabilities, names):
    """The share of pairs, one row of the class and one not, in the right order; the mean over classes."""
    found = []
    for column, name in enumerate(names):
        inside = classes == name
        n, m = inside.sum(), (~inside).sum()
        rank_sum = ranks(probabilities[:, column])[inside].sum()
        found.append((rank_sum - n * (n + 1) / 2) / (n * m))
        if len(names) == 2:
            break
    return float(np.mean(found))


# ---- methods: from training rows to the probabilities of test rows


def by_network(train, test, names, search="hill-climb", score=None, knowledge=None, prior="mle"):
    result = bs.learn(train, search=search, score=score, knowledge=knowledge)
    return probabilities(result.fit(prior=prior), test, names)


def probabilities(model, test, names):
    found = model.predict_proba(test.drop(TARGET), TARGET)
    states = model.distributions[model.dag.index(TARGET)].states
    return found[:, [states.index(name) for name in names]]


def root(features, limit=None):
    """Every arc into the class is forbidden; with a limit, the class is a parent of every feature."""
    return bs.Knowledge(
        forbidden=[(feature, TARGET) for feature in features],
        required=[] if limit is None else [(TARGET, feature) for feature in features],
        max_parents=limit,
    )


def logistic(train, test, names):
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipe = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=1000))
    return by_peer(pipe, train, test, names)


def boosting(train, test, names):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return by_peer(HistGradientBoostingClassifier(random_state=0), train, test, names)


def by_peer(classifier, train, test, names):
    classifier.fit(train.drop(TARGET).to_numpy(), train[TARGET].to_numpy())
    found = classifier.predict_proba(test.drop(TARGET).to_numpy())
    return found[:, [list(classifier.classes_).index(name) for name in names]]


def methods(features):
    def network(**options):
        return lambda train, test, names: by_network(train, test, names, **options)

    return {
        "bayescout": network(),
        "root": network(knowledge=root(features)),
        "bdeu": network(prior="bdeu"),
        "dg": network(score="dg-bic", knowledge=root(features)),
        "ebic": network(score="ebic"),
        "aic": network(score="aic"),
        "tabu": network(search="tabu"),
        "ges": network(search="ges"),
        "naive": network(knowledge=root(features, 1)),
        "tree": network(knowledge=root(features, 2)),
        "logistic": logistic,
        "boosting": boosting,
    }


# ---- the table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--methods", default=",".join(DEFAULT))
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = wanted.methods.split(",")
    if importlib.util.find_spec("sklearn") is None and set(chosen) & set(PEERS):
        print(f"without {' and '.join(PEERS)}, which need scikit-learn: pip install 'bayescout[sklearn]'")
        chosen = [name for name in chosen if name not in PEERS]
    print(f"{'data':<16}{'method':<12}{'AUC':>8}{'+-':>8}{'log loss':>10}{'seconds':>9}")
    for name in SETS:
        if wanted.only in name:
            one_set(name, chosen, wanted)


def one_set(name, chosen, wanted):
    frame = pl.read_csv(DATA / f"{name}.csv")
    classes = frame[TARGET].to_numpy()
    names = sorted(set(classes.tolist()))
    known = methods([column for column in frame.columns if column != TARGET])
    for method in chosen:
        found = []
        for repeat in range(wanted.repeats):
            rows, fold = holed(frame, wanted.share, repeat), folds(classes, repeat)
            found += [measured(known[method], rows, fold == one, classes, names) for one in range(FOLDS)]
        area, loss, seconds = np.mean(found, axis=0)
        error = np.std(np.reshape([f[0] for f in found], (wanted.repeats, FOLDS)).mean(axis=1))
        print(f"{name:<16}{method:<12}{area:>8.4f}{error:>8.4f}{loss:>10.4f}{seconds:>9.3f}", flush=True)


def measured(method, rows, held, classes, names):
    begin = time.perf_counter()
    found = method(rows.filter(pl.Series(~held)), rows.filter(pl.Series(held)), names)
    seconds = time.perf_counter() - begin
    truth = classes[held]
    right = found[np.arange(len(truth)), [names.index(one) for one in truth.tolist()]]
    return auc(truth, found, names), -np.log(np.maximum(right, 1e-15)).mean(), seconds


if __name__ == "__main__":
    main()
