"""The statements of the suhas study, computed a second time from its records."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

from tests.experiments.statement_checks import assert_all_checked, check, counted, findings_of, of, runs, told


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
    claims = iter([one for one in findings if one.claim.startswith("Increasing α")])
    for form in forms:
        alphas = study.chosen_alphas(form)
        for order in ("known", "unknown"):
            expected = []
            for prefix in ("population_", ""):
                points = []
                for alpha in alphas:
                    some = runs(
                        records, part="alpha", nodes=least, order=order, score__name=form, score__alpha=alpha
                    )
                    rates = [
                        [x for x in of(some, f"{prefix}{name}") if x is not None]
                        for name in ("recall", "precision")
                    ]
                    if all(rates):
                        points.append((alpha, *map(mean, rates)))
                top = max(points, key=lambda point: point[2])
                (a, r0, p0), (b, r1, p1) = points[0], points[-1]
                expected += [a, b, r0, r1, p0, p1, top[2], top[0]]
            claim = next(claims)
            assert claim.claim.endswith(f"order {order}).")
            check(claim, expected)
    assert_all_checked(findings)
