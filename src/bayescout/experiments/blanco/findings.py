"""The document's findings, compared with the records and with the document's own tables.

UMDA is judged with the correction that fits the document's tables; as described, without one, it is counted
beside it. Columns of entropy, whose limit on parents is ours, are named and not counted.
"""

from __future__ import annotations

from itertools import product
from statistics import mean

from bayescout.experiments.blanco import columns, genetic, printed
from bayescout.experiments.blanco.definitions import entropy_has_no_charge, units_of_bic
from bayescout.experiments.blanco.figures import followed, typical
from bayescout.experiments.blanco.names import (
    ALGORITHMS,
    COUNTED,
    FITTED,
    K2,
    ORDERS,
    SAMPLES,
    SETTINGS_RUNS,
    WEAK,
)
from bayescout.experiments.blanco.view import SCORE_TITLES, View, gaps, reached
from bayescout.experiments.parts import share
from bayescout.experiments.records import Record, Records
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.verdicts import judged, tally, true_in

EARLY, MOST = 10_000, 0.9
"""A considerable improvement: at least the share `MOST` of the gain within `EARLY` networks evaluated."""

COUPLES = ("UMDA", "PBIL")
EXCEPTED = ("water", "bic-printed")
"""The column that the document itself excepts from what it says of runs with an order."""

GRID = "UMDA with each correction, table of corrections"
RESULTS = "the final scores, tables 1-3"
STRUCTURES = "all runs, table of the best-scoring networks"
COURSES = "the runs of figure 7"


def findings(view: View) -> tuple[Finding, ...]:
    """Every statement of the document that the records can test, and those on units and definitions."""
    found = [
        *genetic.findings(view),
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


def _on_columns(
    view: View,
    claim: str,
    order: str,
    test: columns.Test,
    excepted: tuple[str, str] | None = None,
    more: str = "",
    why: tuple[Reason, ...] = (),
) -> Finding:
    """A finding judged on the columns that count, with UMDA corrected."""
    names = columns.names_of(view, excepted)
    cells = columns.our_cells(view, names, order, test, FITTED)
    plain = tally(columns.our_cells(view, names, order, test, 0.0))
    entropy = [(network, "entropy") for network in view.networks]
    apart = tally(columns.our_cells(view, entropy, order, test, FITTED))
    text = (
        f"{true_in(cells, 'columns')} UMDA without correction: {plain}. Entropy, not counted: {apart}.{more}"
    )
    return judged(claim, text, cells, columns.document_cells(names, order, test), "columns", why=why)


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
    said = tally(columns.document_cells(every, "given", columns.reaches_targets))
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
    for network, by in columns.names_of(view, EXCEPTED):
        target = max(view.reference(network, by), max(view.scores(network, by, "given", K2)))
        own = [mean(gaps(some, by)) for some in _variants(view, network, by, "given")]
        distance = target - view.reference(network, by)
        listed = ", ".join(f"{value - distance:+,.1f}" for value in own)
        parts.append(f"{columns.title(network, by)} {listed}")
    return Reason(
        f"Means less the higher of the two targets, of UMDA without correction, UMDA corrected and PBIL: "
        f"{'; '.join(parts)}. Without a correction, an arc that is once missing from the whole better "
        f"half of a population never comes back.",
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
        "Without an order PBIL needs the fewest generations in all cases (its own table 1 says otherwise for "
        "asia).",
        "none",
        columns.pbil_is_fastest,
        why=(_generations(view),),
    )


def _generations(view: View) -> Reason:
    parts, longer = [], [0, 0]
    for network, by in columns.names_of(view):
        plain, fitted, pbil = (
            mean(some.numbers("iterations")) for some in _variants(view, network, by, "none")
        )
        longer = [longer[0] + (plain > pbil), longer[1] + (fitted > pbil)]
        parts.append(f"{columns.title(network, by)} {plain:.0f}, {fitted:.0f} and {pbil:.0f}")
    return Reason(
        f"Generations of UMDA without correction, UMDA corrected and PBIL: {'; '.join(parts)}. UMDA takes "
        f"longer than PBIL in {longer[0]} of {len(parts)} columns without correction, and in {longer[1]} "
        f"with one, which keeps rare arcs in the population.",
        GRID,
    )


def pbil_is_as_good(view: View) -> Finding:
    return _on_columns(
        view,
        "Without an order PBIL's scores are not significantly below UMDA's (its own table 2 says otherwise "
        "for alarm with K2).",
        "none",
        columns.pbil_is_as_good,
        why=(_raised(view),),
    )


def _raised(view: View) -> Reason:
    """Why UMDA is ahead of PBIL: the correction."""
    names = columns.names_of(view)
    plain = tally(columns.our_cells(view, names, "none", columns.pbil_is_as_good, 0.0))
    return Reason(
        f"The correction puts UMDA ahead: against UMDA as described PBIL is not significantly below in "
        f"{plain} columns.",
        RESULTS,
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

    def closer_on_average(network: str, by: str) -> bool:
        own = {order: view.trio(network, by, order) for order in ORDERS}
        means = [[own[order][name].mean("hamming") or 0.0 for order in ORDERS] for name in ALGORITHMS]
        return all(given < none for given, none in means)

    names = columns.names_of(view)
    cells = {columns.title(*name): closer(*name) for name in names}
    every = sum(closer_on_average(*name) for name in names)
    return judged(
        "With the order the best networks are closer to the generating one than without.",
        true_in(cells, "columns", "By Hamming distance of the best-scoring networks"),
        cells,
        unit="columns",
        why=(
            Reason(
                f"On average over the runs, each of the three algorithms comes closer with the order in "
                f"{every} of {len(names)} columns; the best network of all runs is a single one.",
                STRUCTURES,
            ),
        ),
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
        why=(_weak_arc(view),),
    )


def _weak_arc(view: View) -> Reason:
    """How often the arc of asia that is missing pays on other rows."""
    network, arc = WEAK
    parts = []
    for by in ("k2", "bic-printed"):
        some = view.of(network, by, "given", K2, SAMPLES)
        found = sum(arc in record.dag.arcs() for record in some)
        parts.append(f"{found} of {len(some)} with {SCORE_TITLES[by]}")
    return Reason(
        f"That arc is weak: tuberculosis has 5% after a visit and 1% otherwise, and 1% of the rows have a "
        f"visit. Whether it pays depends on the sample: on other samples the K2 algorithm with the order "
        f"finds it in {' and in '.join(parts)}.",
        "the K2 algorithm on other samples of asia",
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
    shares, late = {}, []
    for name, by in product(COUPLES, COUNTED):
        some = view.corrected(network, by, "given") if name == "UMDA" else view.of(network, by, "given", name)
        own = typical(some).measures["course"]
        course = list(zip(own["networks"], own["best"], strict=True))
        early = [b for n, b in course if n <= EARLY][-1]
        begin, gain = own["best"][0], own["best"][-1] - own["best"][0]
        title = f"{name} {SCORE_TITLES[by]}"
        shares[title] = (early - begin) / gain if gain > 0 else 1.0
        if shares[title] < MOST:
            late.append(f"{title} {next(n for n, b in course if b - begin >= MOST * gain):,}")
    listed = "; ".join(f"{name} {100 * value:.0f}%" for name, value in shares.items())
    return judged(
        f"With the order UMDA and PBIL make most of their improvement in the first {EARLY:,} evaluations "
        f"(alarm).",
        f"Share of the gain of a typical run on {network} that it makes there: {listed}.",
        {name: value >= MOST for name, value in shares.items()},
        unit="curves",
        rule=f"most is {100 * MOST:.0f}%.",
        why=(
            Reason(
                f"Networks evaluated until {100 * MOST:.0f}% of the gain is made, where it takes longer: "
                f"{'; '.join(late)}. PBIL moves its probabilities only half of the way to the better half of "
                f"a generation, UMDA all the way.",
                COURSES,
            ),
        ),
    )


# ---- the generating network's score


def always_reach(view: View) -> Finding:
    """The conclusions."""
    cells, said, parts, counts = {}, {}, [], []
    for order, word in (("given", "with"), ("none", "without")):
        some: list[Record] = []
        for network, by in columns.names_of(view):
            own = columns.ours(view, network, by, order, FITTED)
            theirs = columns.document(network, by, order)
            for name in COUPLES:
                title = f"{name} {word} order on {columns.title(network, by)}"
                cells[title] = columns.at_least(own.scores[name], own.reference)
                if theirs is not None:
                    said[title] = columns.at_least(theirs.scores[name], theirs.reference)
                some += view.trio(network, by, order, FITTED)[name]
        parts.append(f"{word} an order in {share(sum(map(reached, some)), len(some))} runs")
        counts.append(
            f"{tally({c: ok for c, ok in cells.items() if f' {word} order' in c})} cells {word} an order"
        )
    return judged(
        "UMDA and PBIL always improve on the generating network's score.",
        f"Their means reach it in {tally(cells)} cells; single runs do {' and '.join(parts)}.",
        cells,
        said,
        why=(
            Reason(
                f"Their means reach it in {' and '.join(counts)}: without an order many runs end in a local "
                f"optimum below it.",
                RESULTS,
            ),
        ),
    )


def umda_ends_there(view: View) -> Finding:
    """The cell of the tables in which UMDA as described is furthest off."""
    network = followed(view)
    runs = {
        "without correction": view.corrected(network, "k2", "none", 0.0),
        f"correction {FITTED:g} alone": view.corrected(network, "k2", "none"),
        "distinct alone": view.apart(network, "none", "UMDA", "distinct"),
        "patience alone": view.apart(network, "none", "UMDA", "patience"),
        "all three": view.apart(network, "none", "UMDA", "all"),
    }
    means = {name: mean(gaps(some, "k2")) for name, some in runs.items()}
    nearest = max((name for name in means if name.endswith("alone")), key=means.__getitem__)
    fitted = runs[f"correction {FITTED:g} alone"]
    listed = "; ".join(f"{name} {value:+,.1f}" for name, value in means.items())
    said = printed.mean_of(printed.TABLES["alarm", "none", "UMDA"][2])
    return judged(
        f"Without an order UMDA ends at the generating network's K2 score on alarm ({said:,.1f}; "
        f"{printed.REFERENCES['alarm']['k2']:,.2f}).",
        f"Mean of UMDA less the generating network's score on {network}: {listed}; runs with the correction "
        f"that reach it: {share(sum(map(reached, fitted)), len(fitted))}.",
        columns.at_least(mean(gaps(fitted, "k2")), 0.0),
        why=(
            Reason(f"Of single changes, {nearest} brings UMDA nearest.", SETTINGS_RUNS),
            Reason("The document ran a UMDA with something that keeps variety, which it does not mention."),
        ),
    )
