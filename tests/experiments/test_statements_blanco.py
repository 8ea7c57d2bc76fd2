"""The statements of the blanco study, computed a second time from its records."""

from __future__ import annotations

import math
from statistics import mean

from bayescout.experiments.blanco import printed
from bayescout.experiments.blanco.names import FITTED
from tests.experiments.statement_checks import assert_all_checked, check, counted, findings_of, of, runs, told

LN10 = math.log(10)


def test_the_numbers_of_blanco(tiny_studies):
    study, records, findings = findings_of(tiny_studies, "blanco")
    network = study.networks[-1]
    counted_scores = ("bic-printed", "k2")

    def cell(name, by, order, algorithm, settings="document", **more):
        return runs(
            records, data__network=name, by=by, order=order, algorithm=algorithm, settings=settings, **more
        )

    def fitted(name, by, order):
        return cell(name, by, order, "UMDA", "corrected", search__correction=FITTED)

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
    expected = [variants[0], FITTED, variants[1], *variants[2:], *reach]
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
    others = told(findings, "With the order UMDA and PBIL score").why[1].text
    below = []
    for settings in ("sparse", "half"):
        own = cell("asia", "k2", "given", "GA", settings)
        first = min((one["course"]["best"][0] - one["reference"]) / LN10 for one in own)
        last = min((one["score"] - one["reference"]) / LN10 for one in own)
        assert f"asia {first:+,.0f} and {last:+,.0f}" in others
        below.append(printed.gap("asia", "given", "GA", "k2") < last)
    assert f"below the end in {sum(below)} of 2 of these cases" in others
    others = [
        [
            ("asia", "tub") in record.dag.arcs()
            for record in records
            if record.run["settings"] == "samples" and record.run["by"] == by
        ]
        for by in ("k2", "bic-printed")
    ]
    weak = " and in ".join(
        f"{sum(own)} of {len(own)} with {by}"
        for own, by in zip(others, ("K2", "BIC as printed"), strict=True)
    )
    assert len(others[0]) == 2 * study.repeats
    assert told(findings, "With the order the asia network").why[0].text.endswith(f"finds it in {weak}.")
    check_columns_of_blanco(study, records, findings)
    check_best_of_blanco(study, records, findings)
    assert_all_checked(findings)


def check_columns_of_blanco(study, records, findings):
    """The counts of the findings on columns, by plain comparisons of means."""

    def some(name, by, order, algorithm, correction=0.0):
        more = {"settings": "corrected", "search__correction": correction} if correction else {}
        more = more or {"settings": "document"}
        return runs(records, data__network=name, by=by, order=order, algorithm=algorithm, **more)

    def tallies(order, test):
        found = []
        for scores, correction in (
            (("bic-printed", "k2"), FITTED),
            (("bic-printed", "k2"), 0.0),
            (("entropy",), FITTED),
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

    def umda(name, by, order, correction):
        return of(some(name, by, order, "UMDA", correction), "score")

    def reaches(name, by, correction):
        target = max(
            some(name, by, "given", "K2")[0]["reference"], max(some(name, by, "given", "K2")[0]["orders"])
        )
        own = min(
            mean(umda(name, by, "given", correction)), mean(of(some(name, by, "given", "PBIL"), "score"))
        )
        return own >= target - 1e-9 * abs(target)

    def best(name, by, correction):
        groups = [of(some(name, by, "none", a), "score") for a in ("GA", "PBIL")]
        groups.append(umda(name, by, "none", correction))
        top = max(groups, key=mean)
        return groups[2] is top or different(groups[2], top) >= 0.05

    def as_good(name, by, correction):
        one, two = umda(name, by, "none", correction), of(some(name, by, "none", "PBIL"), "score")
        return mean(two) >= mean(one) or different(one, two) >= 0.05

    def behind(name, by):
        own = [umda(name, by, "given", FITTED), of(some(name, by, "given", "PBIL"), "score")]
        ga = of(some(name, by, "given", "GA"), "score")
        top = max(own, key=mean)
        return min(map(mean, own)) > mean(ga) and different(ga, top) < 0.05

    behinds = [behind(name, by) for name in study.networks for by in ("bic-printed", "k2")]
    check(told(findings, "With the order UMDA and PBIL score"), [sum(behinds), len(behinds)])
    # Table 1 in the document: with the order BIC falls short, K2 and entropy do not.
    check(told(findings, "With the order the means of UMDA"), [*tallies("given", reaches), 2, 3])
    check(told(findings, "Without an order UMDA has the best"), tallies("none", best))
    check(told(findings, "Without an order PBIL's scores"), tallies("none", as_good))


def different(one, two):
    """The p-value of the Mann-Whitney test; 1 if all values are the same."""
    from scipy.stats import mannwhitneyu

    return 1.0 if len({*one, *two}) == 1 else mannwhitneyu(one, two).pvalue


def check_best_of_blanco(study, records, findings):
    """The findings on the best networks and on single courses."""

    def searched(name, by, order):
        """Runs of the population searches as described, and of UMDA with the correction that fits."""
        return [
            record.measures
            for record in records
            if record.run["data"]["network"] == name
            and (record.run["by"], record.run["order"]) == (by, order)
            and record.run["algorithm"] != "K2"
            and (
                record.run["settings"] == "document"
                or (record.run["settings"] == "corrected" and record.run["search"]["correction"] == FITTED)
            )
        ]

    def best(name, by, order):
        return max(searched(name, by, order), key=lambda one: (one["score"], -one["hamming"]))

    closer = [
        best(name, by, "given")["hamming"] < best(name, by, "none")["hamming"]
        for name in study.networks
        for by in ("bic-printed", "k2")
    ]
    check(told(findings, "With the order the best networks"), [sum(closer), len(closer)])
    k2, bic = (best("asia", by, "given") for by in ("k2", "bic-printed"))
    check(told(findings, "With the order the asia network"), [k2["missing"], k2["extra"], bic["extra"]])
    shares = []
    for algorithm in ("UMDA", "PBIL"):
        for by in ("bic-printed", "k2"):
            more = {"settings": "corrected", "search__correction": FITTED} if algorithm == "UMDA" else {}
            own = runs(
                records, data__network="cancer", by=by, order="given", algorithm=algorithm,
                **(more or {"settings": "document"}),
            )  # fmt: skip
            middle = sorted(own, key=lambda one: one["score"])[len(own) // 2]["course"]
            early = [b for n, b in zip(middle["networks"], middle["best"], strict=True) if n <= 10_000][-1]
            gain = middle["best"][-1] - middle["best"][0]
            shares.append(100 * (early - middle["best"][0]) / gain if gain > 0 else 100)
    check(told(findings, "With the order UMDA and PBIL make"), shares)
    wins = ga_columns(study, records)
    check(told(findings, "The GA scores higher"), [sum(wins), len(wins)])


def ga_columns(study, records):
    """Whether the GA scores higher without an order, by column."""
    return [
        mean(
            of(
                runs(records, data__network=name, by=by, order="none", algorithm="GA", settings="document"),
                "score",
            )
        )
        > mean(
            of(
                runs(records, data__network=name, by=by, order="given", algorithm="GA", settings="document"),
                "score",
            )
        )
        for name in study.networks
        for by in ("bic-printed", "k2")
    ]
