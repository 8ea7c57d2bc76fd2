"""Structures of classifiers beside brute force, and the rules for ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import bayescout as bs
from bayescout.classify import Settings, fit_classifier, kdb, naive, tan
from bayescout.classify.blanket import blanket
from bayescout.classify.structures import spanning_forest
from bayescout.errors import SettingError, UnknownNameError
from tests.classify.drawn_rows_with_classes import drawn, training_of
from tests.reference.classifying import heaviest_trees, information_given_class


def repeated(rows, weights):
    return [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]


@given(data=drawn())
def test_informations_are_those_of_the_definition(data):
    rows, weights, _ = data
    training, places = training_of(*data)
    for i, one in enumerate(places):
        for j, other in enumerate(places[:i]):
            expected = information_given_class(repeated(rows, weights), one, other) if rows else 0.0
            assert training.conditional_informations[i, j] == pytest.approx(expected, abs=1e-8)
            assert training.conditional_informations[i, j] == training.conditional_informations[j, i]


@given(data=drawn())
def test_the_tree_is_a_heaviest_spanning_tree(data):
    training, _ = training_of(*data)
    structure, c = tan(training), training.target
    assert structure[c] == ()
    assert all(c in own and len(own) <= 2 for own in structure[:c])
    pairs = {tuple(sorted((child, own[0]))) for child, own in enumerate(structure[:c]) if len(own) == 2}
    assert pairs in heaviest_trees(training.conditional_informations.tolist())


def test_equal_pairs_go_to_the_lower_positions():
    assert spanning_forest(np.ones((4, 4))) == [(0, 1), (0, 2), (0, 3)]
    assert spanning_forest(np.zeros((3, 3))) == [(0, 1), (0, 2)]
    assert spanning_forest(np.zeros((3, 3)), positive=True) == []
    assert spanning_forest(np.zeros((1, 1))) == []


@given(data=drawn())
def test_k_dependence_takes_the_nearest_of_those_before(data):
    training, _ = training_of(*data)
    c, told, shared = training.target, training.class_informations, training.conditional_informations
    for k in (1, 2):
        structure = kdb(training, k)
        for child, own in enumerate(structure[:c]):
            before = [f for f in range(c) if (-told[f], f) < (-told[child], child)]
            chosen = [parent for parent in own if parent != c]
            assert c in own
            assert set(chosen) <= set(before)
            assert len(chosen) == min(k, len(before))
            left = [shared[child, f] for f in before if f not in chosen]
            assert not left or not chosen or min(shared[child, f] for f in chosen) >= max(left)


@given(data=drawn(gaps=False))
def test_arcs_by_a_score_all_add_to_it(data):
    training, _ = training_of(*data)
    c = training.target
    scorer = bs.scores.bind("bdeu", training.table)
    for structure in (naive(training, "bdeu"), tan(training, "bdeu"), kdb(training, 2, "bdeu")):
        for child, own in enumerate(structure[:c]):
            for parent in own:
                if structure is not naive and len(own) == 1:
                    continue
                less = tuple(p for p in own if p != parent)
                if parent != c and len(own) == 2:
                    assert scorer.local(child, own) > scorer.local(child, less)
    alone = naive(training, "bdeu")
    for child in range(c):
        assert (alone[child] == (c,)) == (scorer.local(child, (c,)) > scorer.local(child, ()))


def test_the_blanket_finds_the_parents_and_leaves_the_noise():
    """The class is the exclusive or of two features, which only a family of all three can tell."""
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, (400, 4))
    classes = bits[:, 0] ^ bits[:, 1] ^ (rng.random(400) < 0.05)
    bits[:, 2] = np.where(rng.random(400) < 0.7, classes, bits[:, 2])
    rows = [(*map(int, own), int(c)) for own, c in zip(bits, classes, strict=True)]
    training, places = training_of(rows, [1] * 400, [2] * 5)
    structure = blanket(training, "laplace", 1.0)
    used = {places[v] for own in structure[:-1] for v in own if v < 4}
    used |= {places[child] for child, own in enumerate(structure[:-1]) if training.target in own}
    assert 2 in used
    assert 3 not in used


def test_settings_are_checked_before_any_work():
    training, _ = training_of([(0, 0), (1, 1)], [1, 1], [2, 2])
    for wrong, error, words in (
        ({"structure": "tann"}, UnknownNameError, "did you mean 'tan'"),
        ({"prior": "mle"}, SettingError, "no class is impossible"),
        ({"ess": 0, "prior": "bdeu"}, SettingError, "ess must be"),
        ({"k": 0}, SettingError, "k must be"),
        ({"structure": "aode", "score": "bic"}, SettingError, "leave out the score"),
        ({"structure": "tan", "score": "bicc"}, UnknownNameError, "did you mean 'bic'"),
        ({"structure": "tan", "score": "cll"}, SettingError, "blanket"),
        ({"structure": "tan", "score": "auto"}, UnknownNameError, "unknown score 'auto'"),
        ({"structure": "tan", "knowledge": bs.Knowledge()}, SettingError, "takes no knowledge"),
    ):
        with pytest.raises(error, match=words):
            fit_classifier(training, Settings(**wrong))
