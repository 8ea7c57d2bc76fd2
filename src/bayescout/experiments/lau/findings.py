"""The document's findings, compared with the records and with the values that it prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import mean, median

from bayescout.experiments.lau.names import BEST_OF_16, CLIMB, FULL, GENETIC, STARTS
from bayescout.experiments.lau.view import (
    BD,
    BD_ITERATIONS,
    BIC_ITERATIONS,
    CORRECTED,
    EQUAL,
    ITERATIONS,
    MEDIANS,
    NAMES,
    OPERATIONS,
    PER_ITERATION,
    START_TITLES,
    View,
    bits,
    in_bits,
)
from bayescout.experiments.parts import share
from bayescout.experiments.records import Records, deviation
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.tools import scored
from bayescout.experiments.verdicts import judged

OTHER_DATA = Reason("The document's data are not available, and this depends on the data.")
OTHER_RUN = "first ascents on other data sets"
TWICE = 2.0
SHAKEN = "genetic-greedy, shaken"
CASES = [(name, start) for name in NAMES for start in STARTS]


def findings(view: View) -> tuple[Finding, ...]:
    """Every statement of the document that the records can test."""
    found: list[Finding | None] = [
        corrected_reference(view),
        few_maxima(view),
        many_maxima(view),
        better_start(view, "A", "empty"),
        better_start(view, "B", "random"),
        spread_of_iterations(view),
        *(more_effort(view, name) for name in NAMES),
        operations_an_iteration(view),
        random_start_is_better(view),
        *(catches_up(view, name, by) for name, by in (("A", 3), ("B", 11))),
        faster_with_bic(view),
        simpler_with_bic(view),
        fits_better_with_bd(view),
        genetic_finds_the_best(view),
        genetic_is_slower(view),
        best_of_sixteen(view),
    ]
    return tuple(one for one in found if one is not None)


def _case(name: str, start: str) -> str:
    return f"{name} from {START_TITLES[start]}"


def _by_start(view: View, name: str, of: Callable[[Records], float]) -> tuple[float, float]:
    """A number for the first ascents with corrected BIC, from unconnected and from random starts."""
    return of(view.climbs(name, start="empty")), of(view.climbs(name, start="random"))


def _mean(measure: str) -> Callable[[Records], float]:
    return lambda some: mean(some.numbers(measure))


def _everywhere(
    view: View, test: Callable[[str], Mapping[str, bool]], *names: str
) -> tuple[dict[str, bool], str, Reason]:
    """The cells of data sets and of others like them, those of the others as a sentence, and the reason.

    A and B are stand-ins: whether a statement is true of one sample may be chance, so that it is judged on
    the other data sets as well. Where there are none, as with a user's own files, the reason is a conjecture.
    """
    cells: dict[str, bool] = {}
    parts = []
    for name in names:
        for place in (name, *view.others(name)):
            cells |= {f"{place} {title}".strip(): passed for title, passed in test(place).items()}
        found = [passed for place in view.others(name) for passed in test(place).values()]
        if found:
            parts.append(f"{sum(found)} of {len(found)} like {name}")
    if not parts:
        return cells, "", OTHER_DATA
    reason = Reason(OTHER_DATA.text, OTHER_RUN) if any(cells.values()) else OTHER_DATA
    return cells, f" On other data sets it is so in {' and '.join(parts)}.", reason


# ---- the networks found


def corrected_reference(view: View) -> Finding | None:
    """Section 4.2: the search finds better networks than the given ones."""
    dag = view.reference("A")
    if dag is None:
        return None

    def better(name: str) -> dict[str, bool]:
        given = scored(dag, view.table(name), CORRECTED)
        return {"": view.best(name, CORRECTED) > given + EQUAL}

    cells, others, reason = _everywhere(view, better, "A")
    own, best = bits(scored(dag, view.table("A"), CORRECTED)), bits(view.best("A", CORRECTED))
    return judged(
        "The search finds networks of A that score higher, with Bayesian correction, than the one given with "
        "the data (-219.811 bits).",
        f"Best found {best:,.2f}, structure given {own:,.2f} bits.{others} What the document says of B (at "
        f"least 2,780 bits more, 8%) cannot be tested: its text does not give the structure that came with "
        f"B.",
        cells,
        unit="data sets",
        why=(reason,),
    )


def few_maxima(view: View) -> Finding:
    """Section 4.4.1, A."""
    found = len(view.maxima("A", CORRECTED))
    runs = len(view.climbs("A"))
    return judged(
        "On A all 100 runs end in the same 3 structures.",
        f"{runs} runs end in {found} structures.",
        found == 3,
        why=(OTHER_DATA,),
    )


def many_maxima(view: View) -> Finding:
    """Section 4.4.1, B."""
    small, large = (len(view.maxima(name, CORRECTED)) for name in NAMES)

    def many(name: str) -> dict[str, bool]:
        return {"": len(view.maxima(name, CORRECTED)) > TWICE * small}

    cells, others, reason = _everywhere(view, many, "B")
    return judged(
        "B has substantially more local maxima than A.",
        f"{small} structures on A, {large} on B.{others}",
        cells,
        unit="data sets",
        rule=f"substantially more is more than {TWICE:g} times as many.",
        why=(reason,),
    )


def better_start(view: View, name: str, start: str) -> Finding:
    """Section 4.4.1: the start that ends higher."""

    def higher(own: str) -> dict[str, bool]:
        empty, random = _by_start(view, own, lambda some: mean(in_bits(some)))
        return {"": empty > random if start == "empty" else random > empty}

    cells, others, reason = _everywhere(view, higher, name)
    empty, random = _by_start(view, name, lambda some: mean(in_bits(some)))
    full = mean(in_bits(view.climbs(name, start=FULL)))
    said = "unconnected" if start == "empty" else "random"
    return judged(
        f"On {name} the {said} start tends to end in higher scores.",
        f"Mean final score {empty:,.3f} from unconnected, {random:,.3f} bits from random starts; {full:,.3f} "
        f"from full graphs.{others}",
        cells,
        unit="data sets",
        why=(reason,),
    )


# ---- effort


def spread_of_iterations(view: View) -> Finding:
    """Section 4.4.2: variation."""

    def spread(name: str) -> tuple[float, float]:
        return _by_start(view, name, lambda some: deviation(some.numbers("iterations")) or 0.0)

    def wider(name: str) -> dict[str, bool]:
        empty, random = spread(name)
        return {"": random > empty}

    cells, others, reason = _everywhere(view, wider, *NAMES)
    listed = "; ".join("{}: {:.2f} and {:.2f}".format(name, *spread(name)) for name in NAMES)
    return judged(
        "The number of iterations varies more from random starts than from the unconnected one, on A and B.",
        f"Standard deviations from unconnected and random: {listed}.{others}",
        cells,
        unit="data sets",
        why=(reason,),
    )


def more_effort(view: View, name: str) -> Finding:
    """Sections 4.4.2 and 4.4.3."""
    measures = ("iterations", "operations")

    def more(own: str) -> dict[str, bool]:
        pairs = {measure: _by_start(view, own, _mean(measure)) for measure in measures}
        return {measure: random > empty for measure, (empty, random) in pairs.items()}

    cells, others, reason = _everywhere(view, more, name)
    own = {
        measure: [_mean(measure)(view.climbs(name, start=start)) for start in (*STARTS, FULL)]
        for measure in measures
    }
    said: dict[str, list[float]] = {
        "iterations": [ITERATIONS[name, start] for start in STARTS],
        "operations": [OPERATIONS[name, start] for start in STARTS],
    }
    its, ops = own["iterations"], own["operations"]
    longer = [measure for measure, (empty, _, full) in own.items() if full > empty]
    dense = f"needs more {' and '.join(longer)}" if longer else "needs no more of either"
    return judged(
        f"On {name} random starts need more iterations and operations than unconnected ones "
        f"({said['iterations'][1]:.2f} against {said['iterations'][0]:.2f} and {said['operations'][1]} "
        f"against {said['operations'][0]}).",
        f"{its[1]:.2f} against {its[0]:.2f} and {ops[1]:.0f} against {ops[0]:.0f}; from full graphs "
        f"{its[2]:.2f} and {ops[2]:.0f}.{others}",
        cells,
        {measure: random > empty for measure, (empty, random) in said.items()},
        "cells",
        why=(
            reason,
            Reason(
                f"The effort from a random start depends on its number of arcs, which the document does not "
                f"say. Here a node has one parent on average; a search from a full graph {dense} than one "
                f"from the unconnected network.",
                "first ascents from full graphs",
            ),
        ),
    )


def operations_an_iteration(view: View) -> Finding:
    """Section 4.4.3, the counterintuitive result."""

    def quotient(some: Records) -> float:
        return sum(some.numbers("operations")) / sum(some.numbers("iterations"))

    def test(name: str, empty: float, random: float) -> bool:
        return random > empty if name.startswith("A") else random < empty

    cells, others, reason = _everywhere(
        view, lambda name: {"": test(name, *_by_start(view, name, quotient))}, *NAMES
    )
    own = {name: _by_start(view, name, quotient) for name in NAMES}
    said = {name: (PER_ITERATION[name, "empty"], PER_ITERATION[name, "random"]) for name in NAMES}
    return judged(
        "Operations per iteration: more from random than from unconnected starts on A (14.83, 13.57), "
        "fewer on B (29.38, 33.19).",
        "; ".join(f"{name}: {random:.2f} and {empty:.2f}" for name, (empty, random) in own.items())
        + f".{others}",
        cells,
        {name: test(name, *pair) for name, pair in said.items()},
        "data sets",
        why=(reason,),
    )


# ---- scores by iteration


def random_start_is_better(view: View) -> Finding:
    """Section 4.4.4: the scores at which runs begin."""

    def above(name: str, start: str) -> list[bool]:
        empty = view.first_scores(name, "empty")[0]
        return [score > empty for score in view.first_scores(name, start)]

    cells, others, _ = _everywhere(view, lambda name: {"": all(above(name, "random"))}, *NAMES)
    parts = []
    for name in NAMES:
        better, dense = (above(name, start) for start in ("random", FULL))
        of_full = f"of full graphs {share(sum(dense), len(dense))}"
        parts.append(f"{name}: {share(sum(better), len(better))}; {of_full}")
    return judged(
        "Every random start scores higher than the unconnected network, on A and B.",
        f"Higher are on {'; on '.join(parts)}.{others}",
        cells,
        unit="data sets",
        why=(Reason("A random graph with few arcs may join unrelated variables, and is charged for it.",
                    "first ascents from random and from full graphs"),),
    )  # fmt: skip


def catches_up(view: View, name: str, by: int) -> Finding:
    """Section 4.4.4: the unconnected start soon makes up for its handicap."""

    def parts(own: str) -> tuple[dict[str, bool], int | None]:
        empty, random = (view.mean_scores(own, start) for start in STARTS)
        caught = next((i for i, (e, r) in enumerate(zip(empty, random, strict=False)) if e >= r), None)
        soon = caught is not None and caught <= TWICE * by
        return {"begins lower": empty[0] < random[0], "catches up": soon}, caught

    def test(own: str) -> dict[str, bool]:
        return {"": all(parts(own)[0].values())}

    cells, others, reason = _everywhere(view, test, name)
    own, caught = parts(name)
    begin = own["begins lower"]
    when = "has not caught up" if caught is None else f"has caught up at iteration {caught}"
    return judged(
        f"On {name} the mean score from the unconnected start begins lower and catches up after {by} "
        f"iterations.",
        f"It begins {'lower' if begin else 'no lower'} and {when}.{others}",
        cells,
        unit="data sets",
        rule=f"catching up within {TWICE:g} times as many iterations counts.",
        why=(reason,),
    )


# ---- BIC against BD


def _against_bd(
    view: View,
    measure: str,
    of: Callable[[tuple[float, ...]], float],
    test: Callable[[float, float], bool],
    form: str,
) -> tuple[dict[str, bool], str, Reason]:
    """First ascents with corrected BIC and with BD, by data and start: cells, numbers as text, reason."""

    def pair(name: str, start: str) -> tuple[float, float]:
        bic, bd = (of(view.climbs(name, score, start).numbers(measure)) for score in (CORRECTED, BD))
        return bic, bd

    def tests(name: str) -> dict[str, bool]:
        return {start: test(*pair(name, start)) for start in STARTS}

    cells, others, reason = _everywhere(view, tests, *NAMES)
    shown = ((case, *pair(*case)) for case in CASES)
    listed = "; ".join(f"{_case(*case)} {bic:{form}} and {bd:{form}}" for case, bic, bd in shown)
    return cells, f"{listed}.{others}", reason


def faster_with_bic(view: View) -> Finding:
    """Section 5.2.1."""
    cells, listed, reason = _against_bd(view, "iterations", mean, lambda bic, bd: bic <= bd, ".2f")
    return judged(
        "With BIC the search ends in fewer iterations than with BD (A: about 5 and 7; B: about the same).",
        f"Mean iterations with BIC and BD: {listed}",
        cells,
        {_case(*case): BIC_ITERATIONS[case] <= BD_ITERATIONS[case] for case in CASES},
        "cases",
        why=(reason,),
    )


def simpler_with_bic(view: View) -> Finding:
    """Section 5.2.2."""
    cells, listed, reason = _against_bd(view, "parameters", median, lambda bic, bd: bic < bd, "g")
    return judged(
        "BIC finds networks with fewer parameters than BD (A: 7 against 8 or 9; B: medians of 20 or 21 "
        "against 22 or 21).",
        f"Median parameters with BIC and BD: {listed}",
        cells,
        {_case(*case): MEDIANS[case][0] < MEDIANS[case][1] for case in CASES},
        "cases",
        why=(reason,),
    )


def fits_better_with_bd(view: View) -> Finding:
    """Section 5.2.3."""
    cells, listed, reason = _against_bd(
        view, "log_likelihood", lambda some: bits(mean(some)), lambda bic, bd: bd > bic, ",.2f"
    )
    return judged(
        "BD finds networks with a higher log-likelihood than BIC.",
        f"Mean log-likelihood in bits with BIC and BD: {listed}",
        cells,
        unit="cases",
        why=(reason,),
    )


# ---- the genetic algorithm


def _shares(view: View, name: str, method: str) -> tuple[int, int]:
    some = view.climbs(name) if method == CLIMB else view.of(name, score=CORRECTED, method=method)
    return view.at_best(name, CORRECTED, some), len(some)


def _equivalent(view: View, name: str, method: str) -> tuple[int, int]:
    some = view.climbs(name) if method == CLIMB else view.of(name, score=CORRECTED, method=method)
    return view.at_class(name, CORRECTED, some), len(some)


def genetic_finds_the_best(view: View) -> Finding:
    """Section 6.4."""
    found = {name: _shares(view, name, "genetic-greedy") for name in NAMES}
    alone = _shares(view, "B", CLIMB)
    tried = {method: _shares(view, "B", method) for method in GENETIC}
    best = max(tried, key=lambda method: tried[method][0])
    listed = "; ".join(f"{method} {got} of {runs}" for method, (got, runs) in tried.items())
    alike = {method: _equivalent(view, "B", method) for method in (*GENETIC, CLIMB)}
    others = "; ".join(f"{method} {share(*alike[method])}" for method in ("genetic-greedy", SHAKEN))
    greedy, runs = tried["genetic-greedy"]
    return judged(
        'The genetic algorithm finds the best network in "100%" of an unstated number of runs; a single '
        "first ascent does in 10% of the runs on B.",
        f"Genetic-greedy: {'; '.join(f'{n}: {share(*found[n])}' for n in NAMES)}; a first ascent on B: "
        f"{share(*alone)}. Settings tried on B: {listed}; none passes {tried[best][0]} of {tried[best][1]} "
        f"({best}). Equivalent graphs counted as well, which no data tell apart and corrected BIC hardly "
        f"does, the best of B is found by {others}; a first ascent {share(*alike[CLIMB])}.",
        {name: got == runs for name, (got, runs) in found.items()},
        unit="data sets",
        why=(
            Reason(
                f"Of the {runs - greedy} runs of genetic-greedy on B that miss the best graph, "
                f"{alike['genetic-greedy'][0] - greedy} end in an equivalent one: they miss only the "
                f"direction of arcs.",
                "genetic-greedy",
            ),
            Reason(
                f"If copies in the population are altered (shaken), the best is found in "
                f"{tried[SHAKEN][0]} of {tried[SHAKEN][1]} runs instead of {tried['genetic-greedy'][0]}: "
                f"copies are part of the reason.",
                "genetic-greedy, and the same shaken",
            ),
        ),
    )


def genetic_is_slower(view: View) -> Finding:
    """Section 6.4: the disadvantage."""
    pairs = {
        name: [
            mean(view.of(name, score=CORRECTED, method=method).numbers("operations"))
            for method in ("genetic-greedy", CLIMB)
        ]
        for name in NAMES
    }
    listed = "; ".join(f"{name}: {gene / one:.1f} times" for name, (gene, one) in pairs.items())
    return judged(
        "The genetic algorithm takes much longer than a first ascent.",
        f"The operations of a first ascent, {listed}.",
        {name: gene > TWICE * one for name, (gene, one) in pairs.items()},
        unit="data sets",
        rule=f"much longer is more than {TWICE:g} times the operations.",
        why=(OTHER_DATA,),
    )


def best_of_sixteen(view: View) -> Finding:
    """Section 6.5, the comparison that the document proposes."""
    sixteen, gene = (_shares(view, "B", method) for method in (BEST_OF_16, "genetic-greedy"))
    alone = _shares(view, "B", CLIMB)
    return judged(
        "The best of 16 first ascents has a high probability of being the best network of B (proposed, not "
        "run; 81% if one finds it in 10%).",
        f"Best of 16: {share(*sixteen)}; genetic-greedy: {share(*gene)}; one first ascent: {share(*alone)}.",
        2 * sixteen[0] > sixteen[1],
        rule="a high probability is more than one half.",
        why=(OTHER_DATA,),
    )
