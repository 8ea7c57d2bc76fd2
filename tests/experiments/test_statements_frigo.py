"""The statements of both frigo studies, computed a second time from their records."""

from __future__ import annotations

import math
from statistics import mean

from bayescout.experiments.frigo.printed import F_OF_GES, KLD_OF_GES
from tests.experiments.statement_checks import assert_all_checked, check, findings_of, of, runs, told


def test_the_numbers_of_frigo_discrete(tiny_studies):
    study, records, findings = findings_of(tiny_studies, "frigo-discrete")
    first, last = min(study.rows), max(study.rows)

    def random(score, **size):
        return runs(records, part="random", score=score, **size)

    def gained(some):
        return mean(one["imap"]["f"] - one["ges"]["f"] for one in some)

    def points(score, rows):
        some = runs(records, part="collider", score=score, rows=rows)
        right = {s: sum(one["right"][s] for one in some) for s in ("ges", "imap")}
        return (right["imap"] - right["ges"]) / sum(of(some, "sets"))

    low = [rows for rows in study.collider_rows if rows <= 500]
    expected = [
        x for score in ("bdeu", "bdeu-chickering") for rows in low for x in (100 * points(score, rows), rows)
    ]
    inside = [0.2 <= points("bdeu-chickering", rows) <= 0.3 for rows in low]
    check(told(findings, "From 100 to 500"), [*expected, sum(inside), len(inside)])
    late = [rows for rows in study.collider_rows if rows >= 1800]
    expected = [
        x for score in ("bdeu", "bdeu-chickering") for rows in late for x in (100 * points(score, rows), rows)
    ]
    level = [abs(points("bdeu-chickering", rows)) < 0.05 for rows in late]
    check(told(findings, "On the collider the difference"), [*expected, sum(level), len(level)])
    for claim, scores, (least, most) in (
        ("With BDeu I-map raises", ("bdeu-chickering", "bdeu"), (0.25, 0.45)),
        ("With BIC I-map raises", ("bic-double", "bic"), (0.1000001, 9.0)),
    ):
        gains = [[gained(random(s, nodes=n, rows=first)) for n in study.nodes] for s in scores]
        listed = [x for own in gains for pair in zip(own, study.nodes, strict=True) for x in pair]
        passed = [least <= x < most for x in gains[1]]
        check(told(findings, claim), [first, *listed, sum(passed), len(passed)])
    for claim, score, plain in (
        ("With BDeu the two converge", "bdeu-chickering", "bdeu"),
        ("With BIC the two converge", "bic-double", "bic"),
    ):
        passed = [
            sum(abs(gained(random(s, nodes=n, rows=last))) < 0.05 for n in study.nodes)
            for s in (score, plain)
        ]
        size = len(study.nodes)
        expected = [gained(random(score, rows=last)), passed[0], size, passed[1], size]
        check(told(findings, claim), expected)
    expected = []
    for nodes in study.nodes:
        for rows in (first, last):
            means = [one["missed"]["mean"] for one in random("bdeu-chickering", nodes=nodes, rows=rows)]
            expected.append(mean(x for x in means if x is not None))
        expected.append(nodes)
    check(told(findings, "The more data, the weaker"), [first, last, *expected])
    check_known_of_frigo(study, records, findings)
    rates = {
        (n, r): mean(x for x in of(random("bdeu-chickering", nodes=n, rows=r), "fdr") if x is not None)
        for n in study.nodes
        for r in study.rows
    }
    worst = max(rates, key=rates.__getitem__)
    small = [rate < 0.05 for (n, _), rate in rates.items() if n == min(study.nodes)]
    every = [rate < 0.05 for rate in rates.values()]
    expected = [rates[worst], *worst, sum(small), len(small), min(study.nodes), sum(every), len(every)]
    check(told(findings, "The false discovery rate always"), expected)
    early = [rows for rows in study.collider_rows if rows < 1800]
    ahead = {s: [points(s, rows) > 0 for rows in early] for s in ("bdeu", "bdeu-chickering")}
    expected = [x for own in ahead.values() for x in (sum(own), len(own))]
    check(told(findings, "On the collider I-map is ahead"), expected)
    ratios = {}
    for score in ("bic", "bic-double"):
        ratios[score] = [
            mean(one["ges"]["kld"] for one in random(score, nodes=n, rows=r)) / KLD_OF_GES[r][n]
            for r in study.rows
            for n in study.nodes
            if n in KLD_OF_GES.get(r, {})
        ]
    off = {score: mean(abs(math.log(x)) for x in own) for score, own in ratios.items()}
    best = min(off, key=off.__getitem__)
    own = ratios[best]
    expected = [off[best], max(off.values()), mean(own), min(own), max(own)]
    check(told(findings, "GES with BIC has the divergences"), expected)
    right = [
        sum(one["right"]["imap"] for one in runs(records, part=part, rows=early[0], score="bdeu"))
        for part in ("collider", "believed")
    ]
    (why,) = [one.text for one in told(findings, "From 100 to 500 rows").why if "G²" in one.text]
    assert f"right on {right[0]} of {study.sets} data sets" in why
    assert why.endswith(f"right on {right[1]}.")
    check_differences_by_size(study, records, findings)
    assert_all_checked(findings)


def check_known_of_frigo(study, records, findings):
    """Differences on known networks with both scores, and in how many samples they are as said beside."""

    def differences(network, rows, score, measure):
        some = runs(records, part="known", network=network, rows=rows, score=score)
        return mean(one["imap"][measure] - one["ges"][measure] for one in some)

    scores, expected = ("bdeu-chickering", "bdeu"), []
    for score in scores:
        small = []
        for network in study.networks:
            for rows in study.network_rows:
                expected += [rows, own := differences(network, rows, score, "f")]
                small += [abs(own) < 0.05] if (network, rows) != ("alarm", 5000) else []
    check(told(findings, "On alarm and insurance the two"), [*expected, sum(small), len(small)])
    for network, claim in (("alarm", "On alarm I-map"), ("insurance", "On insurance I-map")):
        if any(one.claim.startswith(claim) for one in findings):
            expected = []
            for score in scores:
                nearer = {rows: -differences(network, rows, score, "kld") for rows in study.network_rows}
                expected += [x for rows, value in nearer.items() for x in (value, rows)]
            judged = [value > 0 for rows, value in nearer.items() if network != "alarm" or rows == 500]
            check(told(findings, claim), [*expected, sum(judged), len(judged)])


def check_differences_by_size(study, records, findings):
    """Statements on what changes with nodes and with rows."""
    few, many = min(study.nodes), max(study.nodes)
    first, last = min(study.rows), max(study.rows)

    def random(score, **size):
        return runs(records, part="random", score=score, **size)

    def nearer(some):
        return mean(one["ges"]["kld"] - one["imap"]["kld"] for one in some)

    gains = {
        score: [
            mean(
                mean(one["imap"]["f"] - one["ges"]["f"] for one in random(score, nodes=n, rows=r))
                for r in study.rows
            )
            for n in study.nodes
        ]
        for score in ("bdeu-chickering", "bdeu")
    }
    listed = [x for pair in zip(gains["bdeu-chickering"], study.nodes, strict=True) for x in pair]
    level = [abs(x - mean(gains["bdeu"])) < 0.05 for x in gains["bdeu"]]
    claim = "With BDeu the improvement of F does not depend"
    check(told(findings, claim), [*listed, sum(level), len(level)])
    for claim, judged, beside in (
        ("With BDeu the improvement in divergence", "bdeu-chickering", "bdeu"),
        ("With BIC the improvement in divergence", "bic-double", "bic"),
    ):
        found = {}
        for score in (judged, beside):
            by_rows = {r: nearer(random(score, rows=r)) for r in study.rows}
            small, large = (nearer(random(score, nodes=n)) for n in (few, many))
            top = max(by_rows, key=by_rows.__getitem__)
            found[score] = [top, by_rows[top], small, few, large, many]
        top, _, small, _, large, _ = found[beside]
        check(told(findings, claim), [*found[judged], (top <= 500) + (large > small), 2])
    strong = [one["missed"]["mean"] for one in random("bdeu-chickering", nodes=few, rows=first)]
    strong = mean(x for x in strong if x is not None)
    check(told(findings, "With 4 nodes and 100 rows"), [strong, strong / math.log(2), few, first])

    def false(**size):
        return mean(x for x in of(random("bdeu-chickering", **size), "fdr") if x is not None)

    expected = [false(nodes=few), few, false(nodes=many), many]
    expected += [false(rows=first), first, false(rows=last), last]
    check(told(findings, "The false discovery rate does not grow"), expected)


def test_the_numbers_of_frigo_gaussian(tiny_studies):
    study, records, findings = findings_of(tiny_studies, "frigo-gaussian")

    def random(score, **size):
        return runs(records, part="random", score=score, **size)

    def ratio(some, search="ges"):
        return mean(one[search]["ratio"] for one in some)

    few, many = min(study.nodes), max(study.nodes)
    expected, tests = [], []
    for score in ("bic", "bic-quarter"):
        cells = [ratio(random(score, nodes=n, rows=r)) for n in study.nodes for r in study.rows]
        small, large = (ratio(random(score, nodes=n)) for n in (few, many))
        expected += [small, few, large, many, max(cells)]
        tests.append([large > 1, large > small, max(cells) > 2])
    check(told(findings, "GES gives too many"), [*expected, sum(tests[0]), 3])
    by_rows = [x for r in study.rows for x in (r, ratio(random("bic-quarter", rows=r), "imap-pruned"))]
    check(told(findings, "I-map pruned gives about"), by_rows)
    means = [
        mean(one["imap"]["f"] - one["ges"]["f"] for one in random(score)) for score in ("bic", "bic-quarter")
    ]
    check(told(findings, "I-map's adjacency F"), means)
    far = {r: mean(x for x in of(random("bic-quarter", rows=r), "far") if x is not None) for r in study.rows}
    fdr = mean(x for x in of(random("bic-quarter"), "fdr") if x is not None)
    first, last = min(study.rows), max(study.rows)
    check(told(findings, "False acceptance falls"), [far[first], first, far[last], last, fdr])
    check_known_graphs(study, records, findings)
    large = [n for n in study.nodes if n >= 8]

    def false(name, nodes):
        return mean(x for x in of(random("bic-quarter", nodes=nodes), name) if x is not None)

    top = max(study.nodes, key=lambda nodes: false("fdr", nodes))
    expected = [x for n in (large[0], large[-1]) for x in (false("far", n), n)] + [top, false("fdr", top)]
    check(told(findings, "From 8 nodes on"), expected)
    expected = []
    for rows in study.rows:
        some = random("bic-quarter", rows=rows)
        own, ges = (mean(one[search]["score"] for one in some) for search in ("imap", "ges"))
        expected += [rows, 100 * (own / ges - 1)]
    check(told(findings, "I-map pays a relatively small"), expected)
    expected = []
    for score in ("bic", "bic-quarter"):
        off = [
            mean(one["ges"]["f"] for one in random(score, nodes=n, rows=r)) - F_OF_GES[r][n]
            for r in study.rows
            for n in study.nodes
            if n in F_OF_GES.get(r, {})
        ]
        expected += [mean(map(abs, off)), mean(off)]
    check(told(findings, "Adjacency F of GES as printed"), expected)
    expected, better = [], []
    for score in ("bic", "bic-quarter"):
        gains = {
            (n, r): mean(one["imap-pruned"]["f"] - one["ges"]["f"] for one in random(score, nodes=n, rows=r))
            for n in study.nodes
            for r in study.rows
            if n >= 9
        }
        top = max(gains, key=gains.__getitem__)
        average = mean(one["imap-pruned"]["f"] - one["ges"]["f"] for one in random(score, nodes=many))
        expected += [average, many, gains[top], *top]
        better.append(average > 0)
    check(told(findings, "I-map pruned has the better"), [*expected, int(better[0]), 1])
    expected, fewer = [], []
    for score in ("bic", "bic-quarter"):
        expected += [ratio(random(score), "imap"), ratio(random(score))]
        fewer.append(
            [ratio(random(score, nodes=n), "imap") < ratio(random(score, nodes=n)) for n in study.nodes]
        )
    for own in reversed(fewer):
        expected += [sum(own), len(own)]
    check(told(findings, "I-map's graphs have fewer"), expected)
    assert_all_checked(findings)


def check_known_graphs(study, records, findings):
    """Means of adjacency F and of BIC on known graphs, with both charges."""

    def better(search):
        return lambda one: one[search]["f"] - one["ges"]["f"]

    def percent(search):
        return lambda one: 100 * (one[search]["score"] / one["ges"]["score"] - 1) * -1

    for claim, of_run, test in (
        ("I-map pruned has the better adjacency F", better("imap-pruned"), lambda x: x > 0),
        ("I-map has the better adjacency F", better("imap"), lambda x: x > 0),
        ("the BIC of I-map pruned", percent("imap-pruned"), lambda x: x < 0),
        ("the BIC of I-map is", percent("imap"), lambda x: abs(x) < 1),
    ):
        listed, passed = [], {}
        for score in ("bic", "bic-quarter"):
            means = []
            for network in study.networks:
                for rows in study.network_rows:
                    some = runs(records, part="known", network=network, rows=rows, score=score)
                    means.append(mean(map(of_run, some)))
                    listed += [rows, means[-1]]
            passed[score] = [sum(map(test, means)), len(means)]
        expected = [*listed, *passed["bic-quarter"], *passed["bic"]]
        check(told(findings, f"On the graphs of alarm and insurance {claim}"), expected)
