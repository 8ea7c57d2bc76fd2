"""The statements of the lau study, computed a second time from its records."""

from __future__ import annotations

import math
from statistics import mean, median, stdev

import pytest

import bayescout as bs
from bayescout.experiments.lau import data as lau_data
from tests.experiments.statement_checks import assert_all_checked, check, counted, findings_of, of, runs, told

LN2 = math.log(2)


def lau_climbs(records, data, start=None, score="bic-laplace"):
    starts = ("empty", "random") if start is None else (start,)
    return [
        one
        for own in starts
        for one in runs(records, data__name=data, method="first-ascent", start=own, score=score)
    ]


def joined(dag):
    return {frozenset(arc) for arc in dag.arcs()}


def unshielded(dag):
    """Colliders whose parents are not joined."""
    return {
        (a, c, b)
        for a, c in dag.arcs()
        for b, other in dag.arcs()
        if c == other and str(a) < str(b) and frozenset((a, b)) not in joined(dag)
    }


@pytest.mark.slow
def test_the_numbers_of_lau(tiny_studies):
    _, records, findings = findings_of(tiny_studies, "lau")
    both, starts = ("A", "B"), ("empty", "random")
    sets = {record.run["data"]["name"]: record.run["data"] for record in records}

    def elsewhere(names, passes):
        """How often a statement is true of the other data sets like A, like B, or both."""
        found = []
        for name in names:
            cells = [cell for own in sets if own != name and own[0] == name for cell in passes(own)]
            found += [sum(cells), len(cells)]
        return found

    def means(data, measure, how=mean, score="bic-laplace"):
        return [how(of(lau_climbs(records, data, s, score), measure)) for s in starts]

    def best(data):
        return max(of(runs(records, data__name=data, score="bic-laplace"), "score"))

    def at_best(data, some):
        return [score > best(data) - 1e-6 for score in of(some, "score")]

    def method(data, name):
        return runs(records, data__name=data, score="bic-laplace", method=name)

    robot = lau_data.robot()
    own = bs.score(robot.dag, robot.sample(100, seed=lau_data.SEED_A), "bic-laplace") / LN2

    def given(data):
        return bs.score(robot.dag, lau_data.table_of(sets[data]), "bic-laplace")

    found = elsewhere("A", lambda data: [best(data) > given(data) + 1e-6])
    check(told(findings, "The search finds networks of A"), [best("A") / LN2, own, *found, 2780, 8])
    graphs = {data: {str(one["parents"]) for one in lau_climbs(records, data)} for data in both}
    check(told(findings, "On A all 100"), [len(lau_climbs(records, "A")), len(graphs["A"])])

    def many(data):
        return [len({str(one["parents"]) for one in lau_climbs(records, data)}) > 2 * len(graphs["A"])]

    counts = [len(graphs["A"]), len(graphs["B"]), *elsewhere("B", many)]
    check(told(findings, "B has substantially"), counts)
    for data, claim in (("A", "On A the unconnected start tends"), ("B", "On B the random start tends")):
        ends = [mean(of(lau_climbs(records, data, s), "score")) / LN2 for s in ("empty", "random", "full")]
        sign = 1 if data == "A" else -1

        def higher(own, sign=sign):
            empty, random = means(own, "score")
            return [sign * empty > sign * random]

        check(told(findings, claim), ends + elsewhere(data, higher))
    spread = [stdev(of(lau_climbs(records, data, s), "iterations")) for data in both for s in starts]

    def wider(data):
        empty, random = means(data, "iterations", stdev)
        return [random > empty]

    check(told(findings, "The number of iterations varies"), spread + elsewhere(both, wider))
    for data in both:
        its = {s: mean(of(lau_climbs(records, data, s), "iterations")) for s in (*starts, "full")}
        ops = {s: mean(of(lau_climbs(records, data, s), "operations")) for s in (*starts, "full")}

        def more(own):
            return [b > a for a, b in (means(own, name) for name in ("iterations", "operations"))]

        counts = [its["random"], its["empty"], ops["random"], ops["empty"], its["full"], ops["full"]]
        check(told(findings, f"On {data} random starts need"), counts + elsewhere(data, more))
    quotients = [
        sum(of(lau_climbs(records, data, s), "operations"))
        / sum(of(lau_climbs(records, data, s), "iterations"))
        for data in both
        for s in ("random", "empty")
    ]

    def quotient(data):
        ops, its = (means(data, m, sum) for m in ("operations", "iterations"))
        empty, random = (a / b for a, b in zip(ops, its, strict=True))
        return [random > empty if data[0] == "A" else random < empty]

    check(told(findings, "Operations per iteration"), quotients + elsewhere(both, quotient))
    shares = []
    for data in both:
        empty = lau_climbs(records, data, "empty")[0]["trace"]["score"][0]
        for start in ("random", "full"):
            some = lau_climbs(records, data, start)
            shares += counted(one["trace"]["score"][0] > empty for one in some)

    def above(data):
        empty = lau_climbs(records, data, "empty")[0]["trace"]["score"][0]
        return [all(one["trace"]["score"][0] > empty for one in lau_climbs(records, data, "random"))]

    check(told(findings, "Every random start scores"), shares + elsewhere(both, above))
    cases = [(data, start) for data in both for start in starts]
    for claim, measure, how, test in (
        ("With BIC the search ends", "iterations", mean, lambda bic, bd: bic <= bd),
        ("BIC finds networks with fewer", "parameters", median, lambda bic, bd: bic < bd),
        (
            "BD finds networks with a higher",
            "log_likelihood",
            lambda x: mean(x) / LN2,
            lambda bic, bd: bic < bd,
        ),
    ):

        def tests(data, measure=measure, how=how, test=test):
            pairs = (means(data, measure, how, score) for score in ("bic-laplace", "k2"))
            return [test(bic, bd) for bic, bd in zip(*pairs, strict=True)]

        expected = [
            how(of(lau_climbs(records, *case, score), measure))
            for case in cases
            for score in ("bic-laplace", "k2")
        ]
        check(told(findings, claim), expected + elsewhere(both, tests))
    alone = counted(at_best("B", lau_climbs(records, "B")))
    tried = [
        ("genetic-greedy", []), ("genetic-greedy, shaken", []), ("genetic-greedy, patience 1", [1]),
        ("genetic-greedy, patience 10", [10]), ("genetic", []),
    ]  # fmt: skip
    expected = [x for data in both for x in counted(at_best(data, method(data, "genetic-greedy")))] + alone
    for name, digits in tried:
        expected += [*digits, *counted(at_best("B", method("B", name)))[:2]]
    most = max(sum(at_best("B", method("B", name))) for name, _ in tried)
    (best_of_b,) = {
        record.dag
        for record in records
        if (record.run["data"]["name"], record.run["score"]) == ("B", "bic-laplace")
        and record.measures["score"] == best("B")
    }

    def alike(some):
        """Runs that end in the same skeleton with the same colliders as the best graph of B."""
        return counted(
            joined(dag) == joined(best_of_b) and unshielded(dag) == unshielded(best_of_b) for dag in some
        )

    others = [
        alike([
            record.dag
            for record in records
            if (record.run["data"]["name"], record.run["score"]) == ("B", "bic-laplace") and fits(record.run)
        ])
        for fits in (
            lambda run: run["method"] == "genetic-greedy",
            lambda run: run["method"] == "genetic-greedy, shaken",
            lambda run: run["method"] == "first-ascent" and run["start"] != "full",
        )
    ]  # fmt: skip
    expected += [most, len(method("B", "genetic")), *others[0], *others[1], *others[2]]
    check(told(findings, "The genetic algorithm finds"), expected)
    times = [
        mean(of(method(data, "genetic-greedy"), "operations"))
        / mean(of(method(data, "first-ascent"), "operations"))
        for data in both
    ]
    check(told(findings, "The genetic algorithm takes"), times)
    sixteen, gene = (counted(at_best("B", method("B", m))) for m in ("best of 16", "genetic-greedy"))
    check(told(findings, "The best of 16"), [16, *sixteen, *gene, *alone])

    def courses(data):
        held = []
        for start in starts:
            traces = [one["trace"]["score"] for one in lau_climbs(records, data, start)]
            steps = range(max(map(len, traces)))
            held.append([mean(trace[min(i, len(trace) - 1)] for trace in traces) for i in steps])
        caught = [i for i, (empty, random) in enumerate(zip(*held, strict=False)) if empty >= random]
        return held[0][0] < held[1][0], caught[:1]

    for data, by in (("A", 3), ("B", 11)):

        def soon(own, by=by):
            lower, caught = courses(own)
            return [lower and bool(caught) and caught[0] <= 2 * by]

        check(told(findings, f"On {data} the mean score"), courses(data)[1] + elsewhere(data, soon))
    assert_all_checked(findings)
