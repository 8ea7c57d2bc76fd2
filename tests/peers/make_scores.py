"""Writes scores.json: what other libraries say of the same families, raw, in their own units.

Run by hand, in the peers' environment (`make peers`), and look at what changed:

    .peers/bin/python tests/peers/make_scores.py

Nothing is converted here. How each library's number maps to ours is declared in
tests/scores/test_peers.py, which needs none of them.
"""

from __future__ import annotations

import json
import math
import re
from importlib.metadata import version
from pathlib import Path

import ges
import numpy as np
import pandas as pd
import pgmpy.structure_score as pgmpy
import pyagrum
import pybnesian
from causallearn.score.LocalScoreFunction import local_score_BDeu, local_score_BIC

TARGET = Path(__file__).with_name("scores.json")
PACKAGES = ["pyagrum", "pgmpy", "pybnesian", "causal-learn", "ges", "numpy", "scipy", "pandas", "statsmodels"]
BGE_SETTINGS = {"bge": {}, "bge-2.5-9": {"iss_mu": 2.5, "iss_w": 9.0}}


# ---- data


def discrete_data(rows, cards, seed):
    """Noisy copies of one hidden column, so that parents matter and many configurations never occur."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(rows)
    drawn = [np.where(rng.random(rows) < 0.4, rng.random(rows), hidden) * r for r in cards]
    return np.minimum(np.array(drawn).astype(int), np.array(cards)[:, None] - 1)


def gaussian_data(rows, seed):
    """A linear model with columns of different scale and one far from zero, in six decimals."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(5, rows))
    x[1] += 0.8 * x[0]
    x[2] = 3 * x[2] + 10 - x[1]
    x[3] += x[0] - 0.5 * x[2]
    x[4] = 0.1 * x[4] + 0.02 * x[3]
    return np.round(x, 6)


def drawn_families(n_variables, seed):
    """Three families of each size from no parents to four, the parents in no particular order."""
    rng = np.random.default_rng(seed)
    families = []
    for size in range(5):
        for child in rng.permutation(n_variables)[:3].tolist():
            others = [i for i in range(n_variables) if i != child]
            families.append([child, rng.permutation(others)[:size].tolist()])
    return families


# ---- discrete peers


def by_pgmpy(codes, cards, families):
    frame, states = text_frame(codes), labels(cards)
    scores = {
        "loglik": pgmpy.LogLikelihood(frame, state_names=states),
        "aic": pgmpy.AIC(frame, state_names=states),
        "bic": pgmpy.BIC(frame, state_names=states),
        "k2": pgmpy.K2(frame, state_names=states),
    }
    for ess in (1, 10):
        scores[f"bdeu-{ess}"] = pgmpy.BDeu(frame, ess, state_names=states)
        scores[f"bds-{ess}"] = pgmpy.BDs(frame, ess, state_names=states)
    return {
        key: [score.local_score(name(child), tuple(map(name, parents))) for child, parents in families]
        for key, score in scores.items()
    }


def by_pybnesian(codes, cards, families):
    frame = pd.DataFrame(
        {
            name(i): pd.Categorical([f"s{c}" for c in column], categories=labels(cards)[name(i)])
            for i, column in enumerate(codes)
        }
    )
    network = pybnesian.DiscreteBN(list(frame.columns))
    scores = {
        "bic": pybnesian.BIC(frame),
        "bdeu-1": pybnesian.BDe(frame, 1),
        "bdeu-10": pybnesian.BDe(frame, 10),
    }
    return {
        key: [
            score.local_score(network, name(child), list(map(name, parents))) for child, parents in families
        ]
        for key, score in scores.items()
    }


def by_causal_learn(codes, cards, families):
    return {
        f"bdeu-{ess}": [
            local_score_BDeu(
                codes.T,
                child,
                parents,
                {"sample_prior": ess, "structure_prior": 1, "r_i_map": dict(enumerate(cards))},
            )
            for child, parents in families
        ]
        for ess in (1, 10)
    }


def by_pyagrum(codes, cards, families):
    """Scores of families; for the last two the information of the first parent, given the others."""

    def asked(*settings):
        learner = pyagrum.BNLearner(text_frame(codes), template(cards))
        learner.setNumberOfThreads(1)
        for setting, *arguments in settings:
            getattr(learner, setting)(*arguments)
        return learner

    learners = {
        "loglik": asked(["useScoreLog2Likelihood"], ["useNoPrior"]),
        "aic": asked(["useScoreAIC"], ["useNoPrior"]),
        "bic": asked(["useScoreBIC"], ["useNoPrior"]),
        "k2": asked(["useScoreK2"], ["useNoPrior"]),
        "bdeu-1": asked(["useScoreBDeu"], ["useNoPrior"]),
        "bdeu-10": asked(["useScoreBD"], ["useBDeuPrior", 10.0]),
    }
    values = {
        key: [learner.score(name(child), list(map(name, parents))) for child, parents in families]
        for key, learner in learners.items()
    }
    learner = asked(["useMIIC"], ["useNMLCorrection"])
    triples = [(name(c), name(p[0]), list(map(name, p[1:]))) for c, p in families if p]
    values["information"] = [learner.mutualInformation(*triple) for triple in triples]
    values["information-nml"] = [learner.correctedMutualInformation(*triple) for triple in triples]
    return values


def template(cards):
    """A network without arcs that declares every state, occurring or not."""
    network = pyagrum.BayesNet()
    for variable, states in labels(cards).items():
        network.add(pyagrum.LabelizedVariable(variable, variable, states))
    return network


# ---- Gaussian peers


def gaussian_values(columns, families):
    frame = pd.DataFrame({name(i): column for i, column in enumerate(columns)})
    network = pybnesian.GaussianNetwork(list(frame.columns))
    by_name = [(name(child), list(map(name, parents))) for child, parents in families]
    regressions = {
        "loglik": pgmpy.LogLikelihoodGauss(frame),
        "aic": pgmpy.AICGauss(frame),
        "bic": pgmpy.BICGauss(frame),
    }
    bayesian = {"bic": pybnesian.BIC(frame)}
    bayesian |= {key: pybnesian.BGe(frame, **settings) for key, settings in BGE_SETTINGS.items()}
    penalised = ges.scores.GaussObsL0Pen(columns.T)
    return {
        "pgmpy": {
            key: [score.local_score(child, tuple(parents)) for child, parents in by_name]
            for key, score in regressions.items()
        },
        "pybnesian": {
            key: [score.local_score(network, child, parents) for child, parents in by_name]
            for key, score in bayesian.items()
        },
        "ges": {"bic": [penalised.local_score(child, set(parents)) for child, parents in families]},
        "causal-learn": {"bic": [local_score_BIC(columns.T, child, parents) for child, parents in families]},
    }


# ---- names and writing


def name(i):
    return f"v{i}"


def labels(cards):
    return {name(i): [f"s{k}" for k in range(r)] for i, r in enumerate(cards)}


def text_frame(codes):
    return pd.DataFrame({name(i): [f"s{c}" for c in column] for i, column in enumerate(codes)})


def discrete_case(codes, cards, seed):
    families = drawn_families(len(cards), seed)
    peers = {
        "pgmpy": by_pgmpy,
        "pybnesian": by_pybnesian,
        "causal-learn": by_causal_learn,
        "pyagrum": by_pyagrum,
    }
    values = {peer: ask(codes, cards, families) for peer, ask in peers.items()}
    return {"cards": cards, "columns": codes.tolist(), "families": families, "values": values}


def gaussian_case(columns, seed):
    families = drawn_families(len(columns), seed)
    return {
        "columns": columns.tolist(),
        "families": families,
        "values": gaussian_values(columns, families),
    }


def plain(value):
    """Plain numbers all the way down, refusing what is not finite."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        raise ValueError(f"a peer answered {value}")
    return value.item() if isinstance(value, np.generic) else value


def main():
    cards = [2, 3, 2, 4, 3, 2]
    absent = discrete_data(200, cards, seed=0)
    absent[4] = np.minimum(absent[4], 1)  # v4 declares a third state that never occurs
    scarce = [3, 4, 3, 4, 3]
    cases = {
        "absent": discrete_case(absent, cards, seed=0),
        "scarce": discrete_case(discrete_data(25, scarce, seed=1), scarce, seed=1),
        "gaussian": gaussian_case(gaussian_data(60, seed=2), seed=2),
    }
    found = {"versions": {package: version(package) for package in PACKAGES}, "cases": plain(cases)}
    text = json.dumps(found, indent=1)
    one_line_a_list = re.sub(r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers[0].split()), text)
    TARGET.write_text(one_line_a_list + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
