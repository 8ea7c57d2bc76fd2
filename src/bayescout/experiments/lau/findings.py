"""The document's findings, compared with the records."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean, median

from bayescout.experiments.lau.names import BEST_OF_16, CLIMB
from bayescout.experiments.lau.view import BD, CORRECTED, NAMES, View, bits, in_bits
from bayescout.experiments.parts import finding, held, share
from bayescout.experiments.records import Records, deviation
from bayescout.experiments.summary import Finding
from bayescout.experiments.tools import scored

OTHER_DATA = "The document's data are not available, and this depends on the data."


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


def _by_start(view: View, name: str, of: Callable[[Records], float]) -> tuple[float, float]:
    """A number for the first ascents with corrected BIC, from unconnected and from random starts."""
    return of(view.climbs(name, start="empty")), of(view.climbs(name, start="random"))


def _mean(measure: str) -> Callable[[Records], float]:
    return lambda some: mean(some.numbers(measure))


def corrected_reference(view: View) -> Finding | None:
    """Section 4.2: the search finds better networks than the given ones."""
    parts, holds = [], True
    for name in NAMES:
        dag = view.reference(name)
        if dag is None:
            return None
        own, best = bits(scored(dag, view.table(name), CORRECTED)), bits(view.best(name, CORRECTED))
        holds = holds and best > own + 1e-6
        parts.append(f"{name}: best found {best:,.2f}, generating structure {own:,.2f} bits")
    return finding(
        "The search finds networks that score higher, with Bayesian correction, than the ones given with the "
        "data (A: -219.811 bits; B: at least 2,780 bits more, 8%).",
        "; ".join(parts) + ".",
        holds,
        "Here the structures given are the generating ones, which a sample favours; the document's B was "
        "given with a structure far from its data.",
    )


def few_maxima(view: View) -> Finding:
    """Section 4.4.1, A."""
    found = len(view.maxima("A", CORRECTED))
    runs = len(view.climbs("A"))
    return finding(
        "On A all 100 runs end in the same 3 structures.",
        f"{runs} runs end in {found} structures.",
        found == 3,
        OTHER_DATA,
    )


def many_maxima(view: View) -> Finding:
    """Section 4.4.1, B."""
    small, large = (len(view.maxima(name, CORRECTED)) for name in NAMES)
    return finding(
        "B has substantially more local maxima than A.",
        f"{small} structures on A, {large} on B.",
        large > 2 * small,
        OTHER_DATA,
    )


def better_start(view: View, name: str, start: str) -> Finding:
    """Section 4.4.1: the start that ends higher."""
    empty, random = _by_start(view, name, lambda some: mean(in_bits(some)))
    said = "unconnected" if start == "empty" else "random"
    return finding(
        f"On {name} the {said} start tends to end in higher scores.",
        f"Mean final score {empty:,.3f} from unconnected, {random:,.3f} bits from random starts.",
        empty > random if start == "empty" else random > empty,
        OTHER_DATA,
    )


def spread_of_iterations(view: View) -> Finding:
    """Section 4.4.2: variation."""
    pairs = [
        _by_start(view, name, lambda some: deviation(some.numbers("iterations")) or 0.0) for name in NAMES
    ]
    shown = [f"{n}: {e:.2f} and {r:.2f}" for n, (e, r) in zip(NAMES, pairs, strict=True)]
    return finding(
        "The number of iterations varies more from random starts than from the unconnected one, on A and B.",
        f"Standard deviations from unconnected and random: {'; '.join(shown)}.",
        all(random > empty for empty, random in pairs),
        OTHER_DATA,
    )


def more_effort(view: View, name: str) -> Finding:
    """Sections 4.4.2 and 4.4.3."""
    iterations, operations = (
        _by_start(view, name, _mean(measure)) for measure in ("iterations", "operations")
    )
    printed = {"A": "6.00 against 5.52 and 89 against 75", "B": "25.94 against 21.04 and 762 against 698"}
    return finding(
        f"On {name} random starts need more iterations and operations than unconnected ones "
        f"({printed[name]}).",
        f"{iterations[1]:.2f} against {iterations[0]:.2f} and {operations[1]:.0f} against "
        f"{operations[0]:.0f}.",
        iterations[1] > iterations[0] and operations[1] > operations[0],
        "How long a random start takes depends on how many arcs it has, which the document does not say; "
        "here a node has one parent in the mean.",
    )


def operations_an_iteration(view: View) -> Finding:
    """Section 4.4.3, the counterintuitive result."""

    def quotient(some: Records) -> float:
        return sum(some.numbers("operations")) / sum(some.numbers("iterations"))

    (a_empty, a_random), (b_empty, b_random) = (_by_start(view, name, quotient) for name in NAMES)
    return finding(
        "Operations an iteration: more from random than from unconnected starts on A (14.83, 13.57), "
        "fewer on B (29.38, 33.19).",
        f"A: {a_random:.2f} and {a_empty:.2f}; B: {b_random:.2f} and {b_empty:.2f}.",
        a_random > a_empty and b_random < b_empty,
        OTHER_DATA,
    )


def _first_scores(view: View, name: str, start: str) -> list[float]:
    return [record.measures["trace"]["score"][0] for record in view.climbs(name, start=start)]


def random_start_is_better(view: View) -> Finding:
    """Section 4.4.4: the scores at which runs begin."""
    better = total = 0
    for name in NAMES:
        (empty, *_), random = _first_scores(view, name, "empty"), _first_scores(view, name, "random")
        better, total = better + sum(x > empty for x in random), total + len(random)
    return finding(
        "Every random start scores higher than the unconnected network, on A and B.",
        f"{share(better, total)} do.",
        better == total,
        "A random graph joins unrelated variables too, and pays for it.",
    )


def catches_up(view: View, name: str, by: int) -> Finding:
    """Section 4.4.4: the unconnected start soon makes up for its handicap."""
    empty, random = (
        [mean(x) for x in zip(*held(_traces(view, name, start)), strict=True)]
        for start in ("empty", "random")
    )
    length = min(len(empty), len(random))
    begin = empty[0] < random[0]
    caught = next((i for i in range(length) if empty[i] >= random[i]), None)
    when = "has not caught up" if caught is None else f"has caught up at iteration {caught}"
    return finding(
        f"On {name} the mean score from the unconnected start begins lower and catches up after {by} "
        f"iterations.",
        f"It begins {'lower' if begin else 'no lower'} and {when}.",
        begin and caught is not None and caught <= 2 * by,
        OTHER_DATA,
    )


def _traces(view: View, name: str, start: str) -> list[list[float]]:
    return [record.measures["trace"]["score"] for record in view.climbs(name, start=start)]


def _of_scores(view: View, name: str, measure: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A measure of all first ascents with corrected BIC, and with BD."""
    return view.climbs(name, CORRECTED).numbers(measure), view.climbs(name, BD).numbers(measure)


def faster_with_bic(view: View) -> Finding:
    """Section 5.2.1."""
    pairs = [tuple(map(mean, _of_scores(view, name, "iterations"))) for name in NAMES]
    shown = [f"{n}: {bic:.2f} and {bd:.2f}" for n, (bic, bd) in zip(NAMES, pairs, strict=True)]
    return finding(
        "With BIC the search ends in fewer iterations than with BD (A: about 5 and 7; B: about the same).",
        f"Mean iterations with BIC and BD: {'; '.join(shown)}.",
        all(bic <= bd for bic, bd in pairs),
        OTHER_DATA,
    )


def simpler_with_bic(view: View) -> Finding:
    """Section 5.2.2."""
    pairs = [tuple(map(median, _of_scores(view, name, "parameters"))) for name in NAMES]
    shown = [f"{n}: {bic:g} and {bd:g}" for n, (bic, bd) in zip(NAMES, pairs, strict=True)]
    return finding(
        "BIC finds networks with fewer parameters than BD (A: 7 against 8 or 9; B: medians of 20 or 21 "
        "against 22 or 21).",
        f"Median parameters with BIC and BD: {'; '.join(shown)}.",
        all(bic < bd for bic, bd in pairs),
        OTHER_DATA,
    )


def fits_better_with_bd(view: View) -> Finding:
    """Section 5.2.3."""
    pairs = [tuple(bits(mean(x)) for x in _of_scores(view, name, "log_likelihood")) for name in NAMES]
    shown = [f"{n}: {bic:,.2f} and {bd:,.2f}" for n, (bic, bd) in zip(NAMES, pairs, strict=True)]
    return finding(
        "BD finds networks with a higher log-likelihood than BIC.",
        f"Mean log-likelihood in bits with BIC and BD: {'; '.join(shown)}.",
        all(bd > bic for bic, bd in pairs),
        OTHER_DATA,
    )


def _shares(view: View, name: str, method: str) -> tuple[int, int]:
    some = view.of(name, score=CORRECTED, method=method)
    return view.at_best(name, CORRECTED, some), len(some)


def genetic_finds_the_best(view: View) -> Finding:
    """Section 6.4."""
    found = {name: _shares(view, name, "genetic-greedy") for name in NAMES}
    alone = _shares(view, "B", CLIMB)
    shaken = _shares(view, "B", "genetic-greedy, shaken")
    return finding(
        "The genetic algorithm always finds the best network; a single first ascent does in 10% of the "
        "runs on B.",
        f"Genetic-greedy: {'; '.join(f'{n}: {share(*found[n])}' for n in NAMES)}; a first ascent on B: "
        f"{share(*alone)}; genetic-greedy that shakes equal graphs on B: {share(*shaken)}.",
        all(got == runs for got, runs in found.values()) and alone[0] < alone[1],
        "With the document's settings all graphs of the population soon are one. The best known network of "
        "asia differs from many others by little.",
    )


def genetic_is_slower(view: View) -> Finding:
    """Section 6.4: the disadvantage."""
    pairs = [
        tuple(
            mean(view.of(name, score=CORRECTED, method=method).numbers("operations"))
            for method in ("genetic-greedy", CLIMB)
        )
        for name in NAMES
    ]
    shown = [f"{n}: {gene / one:.1f} times" for n, (gene, one) in zip(NAMES, pairs, strict=True)]
    return finding(
        "The genetic algorithm takes much longer than a first ascent.",
        f"The operations of a first ascent, {'; '.join(shown)}.",
        all(gene > 2 * one for gene, one in pairs),
        OTHER_DATA,
    )


def best_of_sixteen(view: View) -> Finding:
    """Section 6.5, the comparison that the document proposes."""
    sixteen, gene = (_shares(view, "B", method) for method in (BEST_OF_16, "genetic-greedy"))
    return finding(
        "The best of 16 first ascents has a high probability of being the best network of B (proposed, not "
        "run; 81% if one finds it in 10%).",
        f"Best of 16: {share(*sixteen)}; genetic-greedy: {share(*gene)}.",
        2 * sixteen[0] > sixteen[1],
        "A first ascent finds the best network of asia less often than the document's found that of B.",
    )
