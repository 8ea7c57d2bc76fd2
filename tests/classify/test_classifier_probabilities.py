"""Probabilities of classes beside products of counted shares; missing cells beside enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.classify import Settings, fit_averaged, fit_classifier, fit_factored, kdb, naive, tan
from bayescout.classify.leave_one_out import conditional_log_likelihood
from tests.classify.drawn_rows_with_classes import codes_of, drawn, in_rows, training_of
from tests.reference.classifying import by_averaging, by_network, left_out

MAKERS = {"nb": naive, "tan": tan, "kdb": kdb}
PRIORS = st.sampled_from([("laplace", 1.0), ("bdeu", 1.0), ("bdeu", 7.5)])


def queries_of(rows, sizes):
    """The rows, and some that have gaps or never occurred."""
    rng = np.random.default_rng(len(rows))
    more = [
        tuple(None if rng.random() < 0.3 else int(rng.integers(size)) for size in sizes[:-1])
        for _ in range(6)
    ]
    return [row[:-1] for row in rows[:6]] + more


@pytest.mark.parametrize("name", MAKERS)
@given(data=drawn(), smoothing=PRIORS)
def test_factored_classifiers_are_products_of_counted_shares(name, data, smoothing):
    rows, weights, sizes = data
    training, places = training_of(*data)
    structure = MAKERS[name](training)
    classifier = fit_factored(training, structure, *smoothing)
    queries = queries_of(rows, sizes)
    found = np.exp(classifier.log_proba(codes_of(queries, sizes, places)))
    for query, own in zip(queries, found, strict=True):
        expected = by_network(rows, weights, sizes, in_rows(structure, places), query, *smoothing)
        assert own == pytest.approx(expected, abs=1e-10)


@given(data=drawn(), smoothing=PRIORS, min_count=st.sampled_from([1, 4, 1000]))
def test_averaged_estimators_are_sums_over_parents(data, smoothing, min_count):
    rows, weights, sizes = data
    training, places = training_of(*data)
    classifier = fit_averaged(training, *smoothing, min_count)
    queries = queries_of(rows, sizes)
    found = np.exp(classifier.log_proba(codes_of(queries, sizes, places)))
    for query, own in zip(queries, found, strict=True):
        expected = by_averaging(rows, weights, sizes, query, *smoothing, min_count)
        assert own == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", MAKERS)
@given(data=drawn(gaps=False), smoothing=PRIORS)
def test_leaving_one_out_is_counting_without_the_row(name, data, smoothing):
    rows, weights, sizes = data
    training, places = training_of(*data)
    structure = MAKERS[name](training)
    classifier = fit_factored(training, structure, *smoothing)
    found = conditional_log_likelihood(training, classifier, *smoothing)
    assert found == pytest.approx(
        left_out(rows, weights, sizes, in_rows(structure, places), *smoothing), abs=1e-9
    )


@pytest.mark.parametrize("name", ["auto", "nb", "tan", "kdb", "aode", "blanket"])
@given(data=drawn(), seed=st.integers(0, 1000))
def test_neither_rows_nor_columns_nor_chunks_change_a_bit(name, data, seed):
    rows, weights, sizes = data
    rng = np.random.default_rng(seed)
    rows_order, order = rng.permutation(len(rows)), rng.permutation(len(sizes) - 1).tolist()
    shuffled = [rows[i] for i in rows_order], [weights[i] for i in rows_order], sizes
    queries = queries_of(rows, sizes)
    found = []
    for data_here, order_here in ((data, None), (shuffled, order)):
        training, places = training_of(*data_here, order_here)
        fitted = fit_classifier(training, Settings(name))
        codes = codes_of(queries, sizes, places)
        found.append(fitted.classifier.log_proba(codes))
        parts = [fitted.classifier.log_proba(codes[:, i : i + 5]) for i in range(0, len(queries), 5)]
        assert (np.concatenate(parts) == found[-1]).all()
    twins = len({tuple(row[v] for row in rows) for v in range(len(sizes) - 1)}) < len(sizes) - 1
    if twins:  # of columns that are alike the names decide, and sums may be in another order
        assert found[0] == pytest.approx(found[1], abs=1e-12)
    else:
        assert (found[0] == found[1]).all()


@pytest.mark.slow
def test_many_features_do_not_underflow():
    rng = np.random.default_rng(3)
    rows = [(*rng.integers(0, 2, 250).tolist(), int(rng.integers(2))) for _ in range(20)]
    data = rows, [1] * 20, [2] * 251
    training, places = training_of(*data)
    for name in ("nb", "tan", "aode"):
        found = fit_classifier(training, Settings(name)).classifier.log_proba(
            codes_of([row[:-1] for row in rows], data[2], places)
        )
        assert np.isfinite(found).all()
        assert np.exp(found).sum(axis=1) == pytest.approx(1)
