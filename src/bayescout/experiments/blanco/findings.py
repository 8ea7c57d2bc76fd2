"""The document's findings, compared with the records and with the document's own tables.

UMDA is judged with the correction that fits the document's tables; as described, without one, it is counted
beside it. Columns of entropy, whose limit on parents is ours, are named and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from statistics import mean

from bayescout.experiments.blanco import columns, printed
from bayescout.experiments.blanco.columns import Column
from bayescout.experiments.blanco.figures import followed, typical
from bayescout.experiments.blanco.names import COUNTED, FITTED, K2, ORDERS, UNBOUNDED
from bayescout.experiments.blanco.view import SCORE_TITLES, View, gaps, reached, shown
from bayescout.experiments.parts import share
from bayescout.experiments.records import Record, Records
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.verdicts import judged, set_apart, so_in, tally, untested

EARLY, MOST = 10_000, 0.9
"""A considerable improvement: at least the share `MOST` of the gain within `EARLY` networks evaluated."""

ROWS = 10_000
"""Rows of the document's data: its scores are comparable only with scores of as many rows."""

COUPLES = ("UMDA", "PBIL")
EXCEPTED = ("water", "bic-printed")
"""The column that the document itself excepts from what it says of runs with an order."""

GRID = "UMDA with each correction, table of corrections"
APART_RUNS = "runs with one setting changed at a time, table of settings"
UNITS, ENTROPY = "a matter of units", "a matter of definition: the limit on parents is ours"

Test = Callable[[Column], bool]


def findings(view: View) -> tuple[Finding, ...]:
    """Every statement of the document that the records can test, and those on units and definitions."""
    found = [
        ahead_with_order(view),
        ga_prefers_no_order(view),
        ga_stops_early(view),
        fewer_generations_with_order(view),
        reach_with_order(view),
        umda_is_best(view),
        pbil_is_fastest(view),
        pbil_is_as_good(view),
        better_than_random_orders(view),
        closer_with_order(view),
        asia_recovered(view),
        alarm_recovered(view),
        fast_at_first(view),
        always_reach(view),
        umda_ends_there(view),
        units_of_bic(view),
        entropy_has_no_charge(view),
    ]
    return tuple(one for one in found if one is not None)


# ---- tests on columns


def _title(network: str, by: str) -> str:
    return f"{network} {SCORE_TITLES[by]}"


def _names(view: View, excepted: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    """The (network, score) columns that count."""
    return [column for column in product(view.networks, COUNTED) if column != excepted]


def _ours(
    view: View, names: Iterable[tuple[str, str]], order: str, test: Test, correction: float
) -> dict[str, bool]:
    return {
        _title(network, by): test(columns.ours(view, network, by, order, correction)) for network, by in names
    }


def _document(names: Iterable[tuple[str, str]], order: str, test: Test) -> dict[str, bool]:
    """The same test on the columns that the document prints."""
    found = {name: columns.document(*name, order) for name in names}
    return {_title(*name): test(column) for name, column in found.items() if column is not None}


def _on_columns(
    view: View,
    claim: str,
    order: str,
    test: Test,
    excepted: tuple[str, str] | None = None,
    more: str = "",
    why: tuple[Reason, ...] = (),
) -> Finding:
    """A finding judged on the columns that count, with UMDA corrected."""
    names = _names(view, excepted)
    cells = _ours(view, names, order, test, FITTED)
    plain = tally(_ours(view, names, order, test, 0.0))
    entropy = [(network, "entropy") for network in view.networks]
    apart = tally(_ours(view, entropy, order, test, FITTED))
    text = f"{so_in(cells, 'columns')} UMDA without correction: {plain}. Entropy, not counted: {apart}.{more}"
    return judged(claim, text, cells, _document(names, order, test), "columns", why=why)


# ---- the genetic algorithm with an order


def first_generation(view: View, network: str, by: str) -> float:
    """The lowest best score of a random first generation, of the GA with the order, less the target."""
    some = view.of(network, by, "given", "GA")
    return min(shown(by, r.measures["course"]["best"][0] - r.measures["reference"]) for r in some)


def _proof(view: View) -> Reason:
    """The printed means of the GA with an order lie below what a random first generation has."""
    parts, below = [], 0
    known = [name for name in _names(view) if name[0] in printed.REFERENCES]
    for network, by in known:
        said = printed.gap(network, "given", "GA", by)
        assert said is not None
        first = first_generation(view, network, by)
        below += said < first
        parts.append(f"{_title(network, by)} {said:+,.0f} and {first:+,.0f}")
    return Reason(
        f"The document's GA with an order cannot be reproduced: its printed mean less the generating "
        f"network's score, and the least that the best of a random first generation has here: "
        f"{'; '.join(parts)}. It is lower in {below} of {len(known)} columns, and a search that keeps the "
        f"best of parents and offspring cannot end below its first generation.",
        "the first generations of the GA with an order",
    )


def ahead_with_order(view: View) -> Finding:
    """With an order, the genetic algorithm is far behind."""
    names = _names(view)
    cells = _ours(view, names, "given", columns.ga_is_behind, FITTED)
    return untested(
        "With the order UMDA and PBIL score higher than the GA, which differs from the best in every column.",
        f"Of our own GA: {so_in(cells, 'columns')}",
        (_proof(view),),
        _document(names, "given", columns.ga_is_behind),
    )


def ga_prefers_no_order(view: View) -> Finding:
    def prefers(pair: tuple[Column, Column]) -> bool:
        return pair[1].scores["GA"] > pair[0].scores["GA"]

    cells = {
        _title(*name): prefers(tuple(columns.ours(view, *name, order) for order in ORDERS))  # type: ignore[arg-type]
        for name in _names(view)
    }
    pairs = {name: [columns.document(*name, order) for order in ORDERS] for name in _names(view)}
    said = {_title(*name): prefers(pair) for name, pair in pairs.items() if None not in pair}  # type: ignore[arg-type]
    return untested(
        "The GA scores higher without an order than with it, in all cases.",
        f"Of our own GA: {so_in(cells, 'columns')}",
        (Reason("It rests on the same means of the GA with an order, which cannot be reproduced.",
                "the first generations of the GA with an order"),),
        said,
    )  # fmt: skip


def ga_stops_early(view: View) -> Finding:
    """The document's supposition on its stopping rule, taken apart from distinct individuals."""

    def gain(network: str, variant: str) -> float:
        own, plain = (view.apart(network, "given", "GA", how) for how in (variant, "none"))
        return mean(gaps(own, "k2")) - mean(gaps(plain, "k2"))

    gains = {network: gain(network, "patience") for network in view.networks}
    other = "; ".join(f"{network} {gain(network, 'distinct'):+,.1f}" for network in view.networks)
    listed = "; ".join(f"{network} {value:+,.1f}" for network, value in gains.items())
    return judged(
        "With a less strict stopping rule the GA could do better with the order (supposed, not run).",
        f"Change of its mean K2 score by a patience of 3 generations alone: {listed}. By distinct "
        f"individuals alone: {other}.",
        {network: value > 0 for network, value in gains.items()},
        unit="networks",
    )


# ---- with an order


def fewer_generations_with_order(view: View) -> Finding:
    return _on_columns(
        view,
        "With the order UMDA and PBIL need fewer generations than the GA (but for water with BIC).",
        "given",
        columns.fewer_generations,
        EXCEPTED,
    )


def reach_with_order(view: View) -> Finding:
    every = [*product(view.networks, printed.SCORES)]
    said = tally(_document(every, "given", columns.reaches_targets))
    return _on_columns(
        view,
        "With the order the means of UMDA and PBIL are at least the score of the generating network and of "
        "the K2 algorithm (but for water with BIC).",
        "given",
        columns.reaches_targets,
        EXCEPTED,
        f" The document's own tables, with entropy and water: {said}." if said.of else "",
        (_shortfall(view),),
    )


def _shortfall(view: View) -> Reason:
    """How far the means stay below the target with an order, by the variant of UMDA."""
    parts = []
    for network, by in _names(view, EXCEPTED):
        target = max(view.reference(network, by), max(view.scores(network, by, "given", K2)))
        own = [mean(gaps(some, by)) for some in _variants(view, network, by, "given")]
        distance = target - view.reference(network, by)
        listed = ", ".join(f"{value - distance:+,.1f}" for value in own)
        parts.append(f"{_title(network, by)} {listed}")
    return Reason(
        f"Means less the higher of the two targets, of UMDA without correction, UMDA corrected and PBIL: "
        f"{'; '.join(parts)}. Without correction an arc that the better half of a population lacks once "
        f"never comes back.",
        GRID,
    )


def _variants(view: View, network: str, by: str, order: str) -> tuple[Records, Records, Records]:
    plain = view.of(network, by, order, "UMDA")
    return plain, view.corrected(network, by, order), view.of(network, by, order, "PBIL")


# ---- without an order


def umda_is_best(view: View) -> Finding:
    return _on_columns(
        view,
        "Without an order UMDA has the best scores, or does not differ from the best.",
        "none",
        columns.umda_is_best,
    )


def pbil_is_fastest(view: View) -> Finding:
    return _on_columns(
        view,
        "Without an order PBIL needs the fewest generations in all cases (its own table 1 says otherwise of "
        "asia).",
        "none",
        columns.pbil_is_fastest,
        why=(_generations(view),),
    )


def _generations(view: View) -> Reason:
    parts = []
    for network, by in _names(view):
        plain, fitted, pbil = (
            mean(some.numbers("iterations")) for some in _variants(view, network, by, "none")
        )
        parts.append(f"{_title(network, by)} {plain:.0f}, {fitted:.0f} and {pbil:.0f}")
    return Reason(
        f"Generations of UMDA without correction, UMDA corrected and PBIL: {'; '.join(parts)}. A correction "
        f"keeps arcs in play, so that UMDA takes longer than PBIL only with one.",
        GRID,
    )


def pbil_is_as_good(view: View) -> Finding:
    return _on_columns(
        view,
        "Without an order PBIL's scores are not significantly below UMDA's (its own table 2 says otherwise "
        "of alarm with K2).",
        "none",
        columns.pbil_is_as_good,
    )


def better_than_random_orders(view: View) -> Finding:
    alarm = followed(view)
    top = max(view.scores(alarm, "k2", "none", K2)) - view.reference(alarm, "k2")
    return _on_columns(
        view,
        "Without an order UMDA and PBIL are better in the mean than the K2 algorithm with random orders.",
        "none",
        columns.beats_random_orders,
        more=f" The best random order is at {top:+,.1f} of the generating network on {alarm} with K2.",
    )


# ---- structures and courses


def closer_with_order(view: View) -> Finding:
    def closer(network: str, by: str) -> bool:
        hamming = {order: view.best(network, by, order).measures["hamming"] for order in ORDERS}
        return bool(hamming["given"] < hamming["none"])

    cells = {_title(*name): closer(*name) for name in _names(view)}
    return judged(
        "With the order the best networks are closer to the generating one than without.",
        f"By Hamming distance of the best-scoring networks: {so_in(cells, 'columns')}",
        cells,
        unit="columns",
    )


def asia_recovered(view: View) -> Finding | None:
    """Figure 4."""
    if "asia" not in view.networks:
        return None
    k2, bic = (view.best("asia", by, "given") for by in ("k2", "bic-printed"))
    lost = [f"{a} → {b}" for a, b in _missing(bic)]
    cells = {
        "K2": k2.measures["hamming"] == 0,
        "BIC as printed": lost == ["asia → tub"] and not bic.measures["extra"],
    }
    return judged(
        "With the order the asia network is recovered with K2; with BIC only visit to asia → tuberculosis is "
        "missing.",
        f"K2: {k2.measures['missing']} missing and {k2.measures['extra']} extra arcs; BIC as printed: "
        f"{', '.join(lost) or 'none'} missing, {bic.measures['extra']} extra.",
        cells,
        unit="scores",
        why=(
            Reason("That arc is weak (1% and 5% in 1% of the rows): whether it pays depends on the sample."),
        ),
    )


def _missing(record: Record) -> list[tuple[str, str]]:
    from bayescout.experiments.tools import network_of
    from bayescout.graph.compare import compare

    truth = network_of(record.run["data"]).dag
    return [(str(a), str(b)) for a, b in compare(record.dag, truth).missing]


def alarm_recovered(view: View) -> Finding | None:
    """Figure 5."""
    if "alarm" not in view.networks:
        return None
    counts = {}
    for by in COUNTED:
        own = view.best("alarm", by, "given").measures
        counts[SCORE_TITLES[by]] = (own["missing"], own["extra"])
    listed = "; ".join(f"{by}: {m} missing, {e} extra" for by, (m, e) in counts.items())
    return judged(
        "With the order the best alarm network lacks a single arc.",
        f"{listed}.",
        {by: own == (1, 0) for by, own in counts.items()},
        unit="scores",
        why=(Reason("The document's rows are not ours: which weak arcs pay depends on the sample."),),
    )


def fast_at_first(view: View) -> Finding:
    """Figure 7."""
    network = followed(view)
    shares = {}
    for name, by in product(COUPLES, COUNTED):
        some = view.corrected(network, by, "given") if name == "UMDA" else view.of(network, by, "given", name)
        own = typical(some).measures["course"]
        early = [b for n, b in zip(own["networks"], own["best"], strict=True) if n <= EARLY][-1]
        gain = own["best"][-1] - own["best"][0]
        shares[f"{name} {SCORE_TITLES[by]}"] = (early - own["best"][0]) / gain if gain > 0 else 1.0
    listed = "; ".join(f"{name} {100 * value:.0f}%" for name, value in shares.items())
    return judged(
        f"With the order UMDA and PBIL make most of their improvement in the first {EARLY:,} evaluations "
        f"(alarm).",
        f"Of the gain of a typical run on {network}, there: {listed}.",
        {name: value >= MOST for name, value in shares.items()},
        unit="curves",
        rule=f"most is {100 * MOST:.0f}%.",
    )


# ---- the generating network's score


def always_reach(view: View) -> Finding:
    """The conclusions."""
    cells, said, parts = {}, {}, []
    for order, word in (("given", "with"), ("none", "without")):
        some: list[Record] = []
        for network, by in _names(view):
            own = columns.ours(view, network, by, order, FITTED)
            theirs = columns.document(network, by, order)
            for name in COUPLES:
                title = f"{name} {word} order on {_title(network, by)}"
                cells[title] = columns.at_least(own.scores[name], own.reference)
                if theirs is not None:
                    said[title] = columns.at_least(theirs.scores[name], theirs.reference)
                some += view.trio(network, by, order, FITTED)[name]
        parts.append(f"{word} an order in {share(sum(map(reached, some)), len(some))} runs")
    return judged(
        "UMDA and PBIL always improve on the generating network's score.",
        f"Their means reach it in {tally(cells)} cells; single runs do {' and '.join(parts)}.",
        cells,
        said,
    )


def umda_ends_there(view: View) -> Finding:
    """The cell of the tables in which UMDA as described is furthest off."""
    network = followed(view)
    plain, fitted = (view.corrected(network, "k2", "none", c) for c in (0.0, FITTED))
    parts = [f"without correction {mean(gaps(plain, 'k2')):+,.1f}"]
    parts.append(f"with correction {FITTED:g} {mean(gaps(fitted, 'k2')):+,.1f}")
    for variant in ("distinct", "patience", "all"):
        own = view.apart(network, "none", "UMDA", variant)
        name = {"all": "all three"}.get(variant, f"{variant} alone")
        parts.append(f"{name} {mean(gaps(own, 'k2')):+,.1f}")
    said = printed.mean_of(printed.TABLES["alarm", "none", "UMDA"][2])
    return judged(
        f"Without an order UMDA ends at the generating network's K2 score on alarm ({said:,.1f}; "
        f"{printed.REFERENCES['alarm']['k2']:,.2f}).",
        f"Mean of UMDA less the generating network's score on {network}: {'; '.join(parts)}; runs with the "
        f"correction that reach it: {share(sum(map(reached, fitted)), len(fitted))}.",
        columns.at_least(mean(gaps(fitted, "k2")), 0.0),
        why=(Reason("Of the three settings it is the correction that brings UMDA near the score; the "
                    "document does not say what kept variety in its populations.", APART_RUNS),),
    )  # fmt: skip


# ---- apart: units and definitions


def units_of_bic(view: View) -> Finding | None:
    """The real values printed under tables 1-3."""
    known = [name for name in view.networks if name in printed.REFERENCES]
    if not known or view.study.rows != ROWS:
        return None
    parts, one, two = [], [], []
    for name in known:
        said = printed.REFERENCES[name]["bic-printed"]
        single, mixed = view.reference(name, "bic"), view.reference(name, "bic-printed")
        one.append(abs(single / said - 1))
        two.append(abs(mixed / said - 1))
        parts.append(f"{name}: printed {said:,.0f}; {single:,.0f} and {mixed:,.0f}")
    found = judged(
        "BIC charges ½ log N for each parameter.",
        "The generating networks' BIC with base 10 in both parts, and with base 10 in the log-likelihood and "
        f"base 2 in the charge: {'; '.join(parts)}.",
        max(one) <= max(two),
        why=(Reason(
            f"The printed values are met within {100 * max(two):.1f}% only with two bases, which charges "
            f"3.3 times as much as BIC does (one base is off by up to {100 * max(one):.0f}%).",
            "the generating networks' scores"),),
    )  # fmt: skip
    return set_apart(found, UNITS)


def entropy_has_no_charge(view: View) -> Finding:
    """The third score, as defined."""
    parts, full = [], {}
    for name in view.networks:
        (record,) = view.of(name, "entropy", "given", K2, UNBOUNDED)
        nodes, arcs = record.run["nodes"], record.measures["arcs"]
        full[name] = 2 * arcs / (nodes * (nodes - 1))
        parts.append(f"{name} {arcs:,} of {nodes * (nodes - 1) // 2:,}")
    found = judged(
        "Entropy finds sparse networks (asia: 7 arcs; with the order, no better than the generating "
        "network).",
        f"Arcs of the K2 algorithm with the order and no limit on parents: {'; '.join(parts)}.",
        {name: value < 0.5 for name, value in full.items()},
        unit="networks",
        rule="sparse is less than half of all arcs.",
        why=(Reason("As defined it is the log-likelihood per row, which any arc raises; the document does "
                    "not say what limits its arcs.", "the K2 algorithm without a limit on parents"),),
    )  # fmt: skip
    return set_apart(found, ENTROPY)
