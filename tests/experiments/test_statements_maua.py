"""The statements of the maua study, computed a second time from its records."""

from __future__ import annotations

import math
from statistics import mean

from tests.experiments.statement_checks import assert_all_checked, check, counted, findings_of, of, told


def test_the_numbers_of_maua(tiny_studies):
    study, records, findings = findings_of(tiny_studies, "maua")
    pairs = {
        "Greedy search over orders": ("order climbing", "order sampling"),
        "Greedy search with": ("restarts", "order sampling"),
        "Multiple restarts": ("restarts", "order climbing"),
        "Results can be improved": ("insertion, ours", "restarts"),
    }

    def of_size(rows, approach):
        return [
            record.measures
            for record in records
            if record.run["data"]["train"]["rows"] == rows and record.run["approach"] == approach
        ]

    for claim, duel in pairs.items():
        expected = []
        for rows in study.rows:
            own = {a: of_size(rows, a) for a in duel}
            expected.append(rows)
            for measure in ("train", "test"):
                one, two = (mean(m[measure][0] for m in own[a]) for a in duel)
                expected.append(one - two)
        work = [mean(mean(of(of_size(rows, a), "evaluations")) for rows in study.rows) for a in duel]
        check(told(findings, claim), [*expected, *work])
    for claim, expected in (
        ("There are enough data", _losses(of_size, study.rows)),
        ("The learned networks are", _shares_above(of_size, study.rows)),
    ):
        check(told(findings, claim), expected)
    kept = [record.measures for record in records]
    infinite = [x > 0 for m in kept if "evaluations" in m for x in m["impossible"]]
    check(told(findings, "The test log-likelihood with"), counted(infinite))
    expected, correlations = [], []
    approaches = ("order sampling", "order climbing", "restarts", "insertion, ours")
    for rows in study.rows:
        own = {a: of_size(rows, a) for a in approaches}
        train, test = ([x for a in approaches for m in own[a] for x in m[name]] for name in ("train", "test"))
        correlations += [rows, spearman(train, test)]
        if rows == max(study.rows):
            top = {a: max(m["train"][0] for m in own[a]) for a in approaches}
            (truth,) = of_size(rows, "handcrafted")
            reference = truth["train"][0]
            expected = [rows, max(top[a] for a in approaches[:3]) - reference, top[approaches[3]] - reference]
    check(told(findings, "On simulated data"), expected)
    check(told(findings, "Networks with a better training"), correlations)
    assert_all_checked(findings)


def spearman(one, two):
    """Rank correlation: the correlation of mean ranks."""

    def ranks(values):
        below = [sum(x < y for x in values) for y in values]
        same = [values.count(y) for y in values]
        return [b + (s - 1) / 2 for b, s in zip(below, same, strict=True)]

    a, b = ranks(one), ranks(two)
    centre = mean(a)
    top = sum((x - centre) * (y - centre) for x, y in zip(a, b, strict=True))
    return top / math.sqrt(sum((x - centre) ** 2 for x in a) * sum((y - centre) ** 2 for y in b))


def _losses(of_size, sizes):
    """Loss in nats per test row of the handcrafted network, and its unseen rows."""
    expected = []
    for rows in sizes:
        (own,) = of_size(rows, "handcrafted")
        expected += [rows, (own["own"] - own["test"][0]) / own["test_rows"], own["unseen"][0]]
    return expected


def _shares_above(of_size, sizes):
    """The largest share of networks kept that are as good as the handcrafted one on unseen rows."""
    expected = []
    for rows in sizes:
        (own,) = of_size(rows, "handcrafted")
        shares = []
        for approach in ("order sampling", "order climbing", "restarts", "insertion, ours"):
            values = [x for m in of_size(rows, approach) for x in m["test"]]
            shares.append(sum(x >= own["test"][0] for x in values) / len(values))
        expected += [rows, 100 * max(shares)]
    return expected
