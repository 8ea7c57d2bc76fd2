"""Every number that a statement of a study names is that of the records.

The twin of each finding computes its numbers by plain loops over the records' own fields; the numbers are
then read from the text of the finding, in order, and compared to the digits that it shows.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from statistics import mean, median, stdev

import pytest

import bayescout as bs
from bayescout.experiments.blanco import printed
from bayescout.experiments.lau import data as lau_data

LN2, LN10 = math.log(2), math.log(10)
NUMBER = re.compile(r"(?<![\w.,−-])[+-]?\d[\d,]*(?:\.\d+)?(?![\w])")
NAMES = re.compile(r"\(not (?!significant)[^)]*\)")
"""Lists of failing cells, which are names."""


def numbers_in(text):
    """The numbers of a text with the digits after their points, without those that are part of a name."""
    found = NUMBER.findall(NAMES.sub("", text))
    return [(float(x.replace(",", "").rstrip(".")), len(x.partition(".")[2])) for x in found]


def check(finding, expected):
    found = numbers_in(finding.ours)
    assert len(found) == len(expected), (finding.ours, expected)
    for (number, digits), value in zip(found, expected, strict=True):
        assert number == pytest.approx(value, abs=0.5000001 * 10**-digits), (finding.ours, expected)


def runs(records, **declared):
    """Measures of the runs declared so; a key such as data__name looks into a declaration."""

    def fits(run):
        for name, value in declared.items():
            own = run
            for part in name.split("__"):
                own = own.get(part) if isinstance(own, dict) else None
            if own != value:
                return False
        return True

    return [record.measures for record in records if fits(record.run)]


def of(measures, name):
    return [one[name] for one in measures]


def counted(some):
    """The numbers of "3 of 4 (75%)"."""
    some = list(some)
    return [sum(some), len(some), round(100 * sum(some) / len(some))]


def test_numbers_are_read_as_they_are_written():
    text = "asia K2 -1,284.5 and +3 (not asia 5, 7); 2 of 4 (50%), α = 0.1, 6 nodes"
    assert numbers_in(text) == [(-1284.5, 1), (3, 0), (2, 0), (4, 0), (50, 0), (0.1, 1), (6, 0)]


def findings_of(tiny_studies, name):
    study, ran, _ = tiny_studies(name)
    return study, ran.records, study.outcome(ran.records).findings


def told(findings, beginning):
    (one,) = [one for one in findings if one.claim.startswith(beginning)]
    return one


# ---- lau


def lau_climbs(records, data, start=None, score="bic-laplace"):
    starts = ("empty", "random") if start is None else (start,)
    return [
        one
        for own in starts
        for one in runs(records, data__name=data, method="first-ascent", start=own, score=score)
    ]


def test_the_numbers_of_lau(tiny_studies):
    _, records, findings = findings_of(tiny_studies, "lau")
    both, starts = ("A", "B"), ("empty", "random")

    def best(data):
        return max(of(runs(records, data__name=data, score="bic-laplace"), "score"))

    def at_best(data, some):
        return [score > best(data) - 1e-6 for score in of(some, "score")]

    def method(data, name):
        return runs(records, data__name=data, score="bic-laplace", method=name)

    robot = lau_data.robot()
    own = bs.score(robot.dag, robot.sample(100, seed=lau_data.SEED_A), "bic-laplace") / LN2
    check(told(findings, "The search finds networks of A"), [best("A") / LN2, own, 2780, 8])
    graphs = {data: {str(one["parents"]) for one in lau_climbs(records, data)} for data in both}
    check(told(findings, "On A all 100"), [len(lau_climbs(records, "A")), len(graphs["A"])])
    check(told(findings, "B has substantially"), [len(graphs["A"]), len(graphs["B"])])
    for data, claim in (("A", "On A the unconnected start tends"), ("B", "On B the random start tends")):
        means = [mean(of(lau_climbs(records, data, s), "score")) / LN2 for s in ("empty", "random", "full")]
        check(told(findings, claim), means)
    spread = [stdev(of(lau_climbs(records, data, s), "iterations")) for data in both for s in starts]
    check(told(findings, "The number of iterations varies"), spread)
    for data in both:
        its = {s: mean(of(lau_climbs(records, data, s), "iterations")) for s in (*starts, "full")}
        ops = {s: mean(of(lau_climbs(records, data, s), "operations")) for s in (*starts, "full")}
        check(
            told(findings, f"On {data} random starts need"),
            [its["random"], its["empty"], ops["random"], ops["empty"], its["full"], ops["full"]],
        )
    quotients = [
        sum(of(lau_climbs(records, data, s), "operations"))
        / sum(of(lau_climbs(records, data, s), "iterations"))
        for data in both
        for s in ("random", "empty")
    ]
    check(told(findings, "Operations per iteration"), quotients)
    shares = []
    for data in both:
        empty = lau_climbs(records, data, "empty")[0]["trace"]["score"][0]
        for start in ("random", "full"):
            some = lau_climbs(records, data, start)
            shares += counted(one["trace"]["score"][0] > empty for one in some)
    check(told(findings, "Every random start scores"), shares)
    cases = [(data, start) for data in both for start in starts]
    for claim, measure, how in (
        ("With BIC the search ends", "iterations", mean),
        ("BIC finds networks with fewer", "parameters", median),
        ("BD finds networks with a higher", "log_likelihood", lambda x: mean(x) / LN2),
    ):
        expected = [
            how(of(lau_climbs(records, *case, score), measure))
            for case in cases
            for score in ("bic-laplace", "k2")
        ]
        check(told(findings, claim), expected)
    alone = counted(at_best("B", lau_climbs(records, "B")))
    tried = [
        ("genetic-greedy", []), ("genetic-greedy, shaken", []), ("genetic-greedy, patience 1", [1]),
        ("genetic-greedy, patience 10", [10]), ("genetic", []),
    ]  # fmt: skip
    expected = [x for data in both for x in counted(at_best(data, method(data, "genetic-greedy")))] + alone
    for name, digits in tried:
        expected += [*digits, *counted(at_best("B", method("B", name)))[:2]]
    most = max(sum(at_best("B", method("B", name))) for name, _ in tried)
    check(told(findings, "The genetic algorithm finds"), [*expected, most, len(method("B", "genetic"))])
    times = [
        mean(of(method(data, "genetic-greedy"), "operations"))
        / mean(of(method(data, "first-ascent"), "operations"))
        for data in both
    ]
    check(told(findings, "The genetic algorithm takes"), times)
    sixteen, gene = (counted(at_best("B", method("B", m))) for m in ("best of 16", "genetic-greedy"))
    check(told(findings, "The best of 16"), [16, *sixteen, *gene, *alone])


# ---- suhas


def test_the_numbers_of_suhas(tiny_studies):
    study, records, findings = findings_of(tiny_studies, "suhas")
    least, most = study.nodes[0], study.nodes[-1]
    forms = {"mi-bic": 0.5, "mi-normalised": 0.1}

    def fitness(nodes, form, order="unknown", extension="none"):
        return runs(records, part="fitness", nodes=nodes, order=order, extension=extension, score__name=form)

    def way(one):
        return (one["score"] - one["unconnected"]) / (one["reference"] - one["unconnected"])

    cases = [fitness(least, form, order) for form in forms for order in ("known", "unknown")]
    expected = []
    for some in cases:
        traces = [one["trace"]["mean"] for one in some]
        expected += counted(trace[-1] > trace[0] for trace in traces)
        expected.append(sum(any(b < a for a, b in pairwise(trace)) for trace in traces))
    check(told(findings, "The average fitness"), expected)
    every = [
        one["trace"]["best_in_population"]
        for nodes in study.nodes
        for form in forms
        for order in ("known", "unknown")
        for one in fitness(nodes, form, order)
    ]
    check(
        told(findings, "The maximum fitness"),
        counted(all(b >= a for a, b in pairwise(trace)) for trace in every),
    )
    check(told(findings, "The networks approach"), [100 * mean(map(way, some)) for some in cases])
    expected = [x for some in cases for x in counted(one["score"] >= one["reference"] - 1e-9 for one in some)]
    check(told(findings, "In some runs"), expected)
    expected = [
        x
        for nodes in study.nodes
        for order in ("known", "unknown")
        for x in (
            nodes,
            mean(p for p in of(fitness(nodes, "mi-bic", order), "precision") if p is not None),
        )
    ]
    check(told(findings, "The solutions have very good"), expected)
    expected = []
    for form in forms:
        for rows in (study.many_rows[0], study.many_rows[-1]):
            some = runs(records, part="rows", score__name=form, data__rows=rows)
            expected += [mean(of(some, "arcs")), rows]
    check(told(findings, "On really large"), [*expected, least * (least - 1) / 2])
    names = ("none", "variable size", "time to live", "epidemics", "all three")
    expected = [100 * mean(map(way, fitness(most, "mi-bic", extension=name))) for name in names]
    check(told(findings, "Variable population"), [most, *expected])
    for form in forms:
        claim = [one for one in findings if one.claim.startswith("Increasing α")][list(forms).index(form)]
        alphas, expected = study.chosen_alphas(form), []
        for order in ("known", "unknown"):
            points = []
            for alpha in alphas:
                some = runs(
                    records, part="alpha", nodes=least, order=order, score__name=form, score__alpha=alpha
                )
                rates = [
                    [x for x in of(some, f"population_{name}") if x is not None]
                    for name in ("recall", "precision")
                ]
                if all(rates):
                    points.append((alpha, *map(mean, rates)))
            top = max(points, key=lambda point: point[2])
            (a, r0, p0), (b, r1, p1) = points[0], points[-1]
            expected += [a, b, r0, r1, p0, p1, top[2], top[0]]
        check(claim, expected)


# ---- blanco


def test_the_numbers_of_blanco(tiny_studies):
    study, records, findings = findings_of(tiny_studies, "blanco")
    network = study.networks[-1]
    counted_scores = ("bic-printed", "k2")

    def cell(name, by, order, algorithm, settings="document", **more):
        return runs(
            records, data__network=name, by=by, order=order, algorithm=algorithm, settings=settings, **more
        )

    def fitted(name, by, order):
        return cell(name, by, order, "UMDA", "corrected", search__correction=0.1)

    def gap(some):
        return mean((one["score"] - one["reference"]) / LN10 for one in some)

    def reached(one):
        return one["score"] >= one["reference"] - 1e-9 * abs(one["reference"])

    changed = [
        gap(cell(name, "k2", "given", "GA", "apart", variant=variant)) - gap(cell(name, "k2", "given", "GA"))
        for variant in ("patience", "distinct")
        for name in study.networks
    ]
    check(told(findings, "With a less strict"), [3, *changed])
    variants = [
        gap(cell(network, "k2", "none", "UMDA")),
        gap(fitted(network, "k2", "none")),
        *(
            gap(cell(network, "k2", "none", "UMDA", "apart", variant=v))
            for v in ("distinct", "patience", "all")
        ),
    ]
    reach = counted(map(reached, fitted(network, "k2", "none")))
    expected = [variants[0], 0.1, variants[1], *variants[2:], *reach]
    check(told(findings, "Without an order UMDA ends"), expected)
    means, shares = [], []
    for order in ("given", "none"):
        some = []
        for name in study.networks:
            for by in counted_scores:
                for own in (fitted(name, by, order), cell(name, by, order, "PBIL")):
                    means.append(gap(own) >= -1e-9)
                    some += own
        shares += counted(map(reached, some))
    check(told(findings, "UMDA and PBIL always"), [*counted(means)[:2], *shares])
    expected = []
    for name in study.networks:
        (one,) = runs(records, data__network=name, settings="unbounded")
        nodes = len(one["nodes"])
        expected += [one["arcs"], nodes * (nodes - 1) // 2]
    check(told(findings, "Entropy finds"), expected)
    proof = told(findings, "With the order UMDA and PBIL score").why[0].text
    for by in counted_scores:
        first = min(
            (one["course"]["best"][0] - one["reference"]) / LN10 for one in cell("asia", by, "given", "GA")
        )
        said = printed.gap("asia", "given", "GA", by)
        assert f"{said:+,.0f} and {first:+,.0f}" in proof
        assert said < first
    assert "lower in 2 of 2 columns" in proof
    dense = told(findings, "With the order UMDA and PBIL score").why[1].text
    first = min(
        (one["course"]["best"][0] - one["reference"]) / LN10
        for one in cell("asia", "k2", "given", "GA", "half")
    )
    assert f"asia {first:+,.0f}, which is above it" in dense


def test_a_column_judged_is_that_of_the_records(tiny_studies):
    """The counts of the findings on columns, by plain comparisons of means."""
    study, records, findings = findings_of(tiny_studies, "blanco")

    def some(name, by, order, algorithm, correction=0.0):
        more = {"settings": "corrected", "search__correction": correction} if correction else {}
        more = more or {"settings": "document"}
        return runs(records, data__network=name, by=by, order=order, algorithm=algorithm, **more)

    def tallies(order, test):
        found = []
        for scores, correction in (
            (("bic-printed", "k2"), 0.1),
            (("bic-printed", "k2"), 0.0),
            (("entropy",), 0.1),
        ):
            passed = [test(name, by, correction) for name in study.networks for by in scores]
            found += [sum(passed), len(passed)]
        return found

    def turns(name, by, order, correction):
        return [
            mean(of(some(name, by, order, a, correction if a == "UMDA" else 0.0), "iterations"))
            for a in ("GA", "UMDA", "PBIL")
        ]

    def fewer(name, by, correction):
        ga, umda, pbil = turns(name, by, "given", correction)
        return max(umda, pbil) < ga

    def fastest(name, by, correction):
        ga, umda, pbil = turns(name, by, "none", correction)
        return pbil <= min(ga, umda)

    def beats(name, by, correction):
        orders = mean(x for one in some(name, by, "none", "K2") for x in one["orders"])
        own = [
            mean(of(some(name, by, "none", a, correction if a == "UMDA" else 0.0), "score"))
            for a in ("UMDA", "PBIL")
        ]
        return min(own) > orders

    check(told(findings, "With the order UMDA and PBIL need"), tallies("given", fewer))
    check(told(findings, "Without an order PBIL needs"), tallies("none", fastest))
    top = max(x for one in some("cancer", "k2", "none", "K2") for x in one["orders"])
    top = (top - some("cancer", "k2", "none", "K2")[0]["reference"]) / LN10
    check(told(findings, "Without an order UMDA and PBIL are better"), [*tallies("none", beats), top])


# ---- frigo


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
    expected = []
    for network in study.networks:
        for rows in study.network_rows:
            some = runs(records, part="known", network=network, rows=rows, score="bdeu-chickering")
            expected += [rows, gained(some)]
    check(told(findings, "On alarm and insurance the two"), expected)
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
    expected = []
    for network in study.networks:
        for rows in study.network_rows:
            some = runs(records, part="known", network=network, rows=rows, score="bic")
            expected += [rows, mean(one["imap-pruned"]["f"] - one["ges"]["f"] for one in some)]
    check(told(findings, "On the graphs of alarm"), expected)


# ---- maua


def test_the_numbers_of_maua(tiny_studies):
    study, records, findings = findings_of(tiny_studies, "maua")
    pairs = {
        "Greedy search over orders": ("order climbing", "order sampling"),
        "Greedy search with": ("restarts", "order sampling"),
        "Multiple restarts": ("restarts", "order climbing"),
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
