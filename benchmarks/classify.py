"""Classifiers beside those of scikit-learn and pyAgrum: cross-validated area under the curve and log loss.

    python benchmarks/classify.py [--only wine,alarm] [--methods auto,tan,boosting] [--repeats 2] [--markdown]
    python benchmarks/classify.py --speed

Data: iris, wine, breast_cancer and digits as scikit-learn has them, and 2,000 rows drawn from each of some
shipped networks (seed 1), one node of which is the class; `child-holes` without a tenth of its cells. Five
stratified folds, shuffled with the number of the repeat as the seed: the same for every method. The area is
that of each class against the rest, the mean over classes and folds; losses are in nats per row. Seconds are
those of fitting and predicting all folds once.

Methods: `BayesianNetworkClassifier` by structure (`hill-climb` is a search over all columns); of scikit-learn
logistic regression, naive Bayes (Gaussian, or of categories), histogram gradient boosting and a random forest
with defaults, behind a one-hot or ordinal encoder and a scaler, and an imputer where the method needs one;
of pyAgrum, where it is installed, its naive Bayes and TAN with smoothing, numbers in five intervals of equal
frequency; a method that refuses the data has no number.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import bayescout as bs
from bayescout.sklearn import BayesianNetworkClassifier

BUNDLED = ("iris", "wine", "breast_cancer", "digits")
SAMPLED = {"asia": "dysp", "child": "Disease", "insurance": "Accident", "alarm": "LVFAILURE"}
ROWS, FOLDS, HOLES = 2000, 5, 0.1
OURS = ("auto", "nb", "tan", "kdb", "aode", "blanket", "hill-climb")
TEXT = make_column_selector(dtype_exclude="number")


# ---- data


def tables():
    """(name, frame, classes) of every data set."""
    for name in BUNDLED:
        yield name, *getattr(datasets, f"load_{name}")(as_frame=True, return_X_y=True)
    for name, target in SAMPLED.items():
        frame = bs.load_network(name).sample(ROWS, seed=1).to_pandas().astype(object)
        yield name, frame.drop(columns=target), frame[target].astype(str)
        if name == "child":
            rng = np.random.default_rng(1)
            holed = frame.drop(columns=target)
            yield f"{name}-holes", holed.mask(rng.random(holed.shape) < HOLES), frame[target].astype(str)


# ---- methods


def encoded(method, numbers, categories):
    """The method behind an encoder for text and a step for numbers, which pass if there is none."""
    return make_pipeline(
        make_column_transformer((categories, TEXT), remainder=numbers, sparse_threshold=0), method
    )


def ordinal():
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)


def naive_bayes(frame):
    if len(TEXT(frame)):
        filled = make_pipeline(SimpleImputer(strategy="most_frequent"), ordinal())
        widest = int(frame.nunique().max())
        return encoded(CategoricalNB(min_categories=widest), "passthrough", filled)
    return GaussianNB()


def methods(frame):
    """A function of no argument that makes each method, by name."""
    one_hot = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(handle_unknown="ignore")
    )
    made = {name: (lambda name=name: BayesianNetworkClassifier(name)) for name in OURS}
    made["logistic"] = lambda: encoded(LogisticRegression(max_iter=5000), StandardScaler(), one_hot)
    made["sk-naive"] = lambda: naive_bayes(frame)
    made["boosting"] = lambda: encoded(
        HistGradientBoostingClassifier(random_state=0), "passthrough", ordinal()
    )
    made["forest"] = lambda: encoded(RandomForestClassifier(random_state=0), "passthrough", one_hot)
    if find_spec("pyagrum"):
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier

        def agrum(method):
            reading = DiscreteTypeProcessor("quantile", 5, discretizationThreshold=6)
            return BNClassifier(learningMethod=method, prior="Smoothing", type_processor=reading)

        made["agrum-nb"] = lambda: agrum("NaiveBayes")
        made["agrum-tan"] = lambda: agrum("TAN")
    return made


def measured(make, frame, classes, repeats):
    """Area, loss, and the seconds of one round of folds; NaN for a method that refuses the data."""
    try:
        return folded(make, frame, classes, repeats)
    except Exception as error:  # of any library
        print(f"  {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return np.nan, np.nan, np.nan


def folded(make, frame, classes, repeats):
    areas, losses, begin = [], [], time.perf_counter()
    for repeat in range(repeats):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat)
        for train, test in folds.split(frame, classes):
            method = make().fit(frame.iloc[train], classes.iloc[train])
            found = method.predict_proba(frame.iloc[test])
            truth, two = classes.iloc[test], found.shape[1] == 2
            areas.append(roc_auc_score(truth, found[:, 1] if two else found, multi_class="ovr"))
            losses.append(log_loss(truth, found, labels=method.classes_))
    return np.mean(areas), np.mean(losses), (time.perf_counter() - begin) / repeats


# ---- speed


def speed():
    """Seconds, and those of the processor, of `predict_proba` of 100,000 rows, with reading them."""
    frame = bs.load_network("alarm").sample(100_000, seed=1).to_pandas()
    classes, frame = frame["LVFAILURE"].astype(str), frame.drop(columns="LVFAILURE")
    rng = np.random.default_rng(1)
    numbers = np.column_stack([*(frame[name].cat.codes for name in frame), np.zeros(len(frame))])
    numbers = numbers + rng.normal(size=numbers.shape) / 2
    forms = {
        "frame of categoricals": frame,
        "frame of text": frame.astype(str),
        "frame of numbers": pd.DataFrame(numbers).add_prefix("x"),
        "array of numbers": numbers,
    }
    for form, rows in forms.items():
        for name in ("nb", "tan", "kdb", "aode", "blanket", "auto"):
            model = BayesianNetworkClassifier(name).fit(rows[:5000], classes[:5000])
            model.predict_proba(rows[:100])
            taken = []
            for _ in range(3):
                begin = time.perf_counter(), time.process_time()
                model.predict_proba(rows)
                taken.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
            print("{:<24}{:<8}{:>8.2f}{:>8.2f}".format(form, name, *np.min(taken, axis=0)), flush=True)


# ---- the table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", default="")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--speed", action="store_true")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    if wanted.speed:
        speed()
        return
    rows = []
    for name, frame, classes in tables():
        if wanted.only and name not in wanted.only.split(","):
            continue
        for method, make in methods(frame).items():
            if wanted.methods and method not in wanted.methods.split(","):
                continue
            rows.append((name, method, *measured(make, frame, classes, wanted.repeats)))
            if not wanted.markdown:
                print("{:<16}{:<12}{:>8.4f}{:>9.4f}{:>8.2f}".format(*rows[-1]), flush=True)
    found = pd.DataFrame(rows, columns=["data", "method", "AUC", "log loss", "seconds"])
    if wanted.markdown:
        for column in ("AUC", "log loss", "seconds"):
            shown = found.pivot(index="method", columns="data", values=column)
            shown = shown.loc[found.method.unique(), found.data.unique()]
            lines = [f"| {column} | {' | '.join(shown.columns)} |", f"|---{'|---:' * shown.shape[1]}|"]
            digits = {"AUC": 4, "log loss": 3, "seconds": 1}[column]
            lines += [
                f"| {method} | {' | '.join(f'{value:.{digits}f}' for value in own)} |"
                for method, own in zip(shown.index, shown.to_numpy(), strict=True)
            ]
            print("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
