"""A column of the document's tables, from its print or from our records, so that one test judges both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from bayescout.experiments.blanco import printed
from bayescout.experiments.blanco.names import ALGORITHMS, COUNTED, K2
from bayescout.experiments.blanco.view import SCORE_TITLES, View, shown
from bayescout.experiments.comparisons import DAGGER, daggers, mann_whitney
from bayescout.experiments.records import mean

LEVEL = 0.05
EQUAL = 1e-9


@dataclass(frozen=True)
class Column:
    """Means of the searches under one score, with or without an order.

    differs          True for a search that differs from the best by the Mann-Whitney test (a dagger)
    pbil_below_umda  True if PBIL's scores are significantly below UMDA's
    """

    network: str
    by: str
    order: str
    scores: dict[str, float]
    differs: dict[str, bool]
    generations: dict[str, float]
    k2: float
    reference: float
    pbil_below_umda: bool


Test = Callable[[Column], bool]


def ours(view: View, network: str, by: str, order: str, correction: float = 0.0) -> Column:
    """The column of our records, UMDA with a correction or without."""
    trio = view.trio(network, by, order, correction)
    scores = {name: some.numbers("score") for name, some in trio.items()}
    means = {name: shown(by, mean(values) or 0.0) for name, values in scores.items()}
    marks = dict(zip(trio, daggers(list(scores.values())), strict=True))
    below = means["PBIL"] < means["UMDA"] and mann_whitney(scores["UMDA"], scores["PBIL"]) < LEVEL
    return Column(
        network,
        by,
        order,
        means,
        {name: mark == DAGGER for name, mark in marks.items()},
        {name: some.mean("iterations") or 0.0 for name, some in trio.items()},
        mean(view.scores(network, by, order, K2)) or 0.0,
        view.reference(network, by),
        below,
    )


def document(network: str, by: str, order: str) -> Column | None:
    """The column that the document prints; None for a network or a score that it does not have."""
    if network not in printed.REFERENCES or by not in printed.SCORES:
        return None
    cells = {name: printed.cell(network, order, name, by) for name in (*ALGORITHMS, K2)}
    scores = {name: _mean(cells[name][0]) for name in ALGORITHMS}
    differs = {name: DAGGER in cells[name][0] for name in ALGORITHMS}
    return Column(
        network,
        by,
        order,
        scores,
        differs,
        {name: _mean(cells[name][1]) for name in ALGORITHMS},
        _mean(cells[K2][0]),
        printed.REFERENCES[network][by],
        scores["PBIL"] < scores["UMDA"] and differs["PBIL"],
    )


def _mean(text: str) -> float:
    found = printed.mean_of(text)
    assert found is not None
    return found


# ---- the tests


def at_least(value: float, bound: float) -> bool:
    """Return True up to rounding."""
    return value >= bound - EQUAL * abs(bound)


def ga_is_behind(column: Column) -> bool:
    others = min(column.scores["UMDA"], column.scores["PBIL"])
    return column.differs["GA"] and others > column.scores["GA"]


def fewer_generations(column: Column) -> bool:
    own = column.generations
    return max(own["UMDA"], own["PBIL"]) < own["GA"]


def reaches_targets(column: Column) -> bool:
    """At least the scores of the generating network and of the K2 algorithm, by both."""
    lower = min(column.scores["UMDA"], column.scores["PBIL"])
    return at_least(lower, max(column.reference, column.k2))


def umda_is_best(column: Column) -> bool:
    return not column.differs["UMDA"]


def pbil_is_fastest(column: Column) -> bool:
    return column.generations["PBIL"] <= min(column.generations.values())


def pbil_is_as_good(column: Column) -> bool:
    return not column.pbil_below_umda


def beats_random_orders(column: Column) -> bool:
    return min(column.scores["UMDA"], column.scores["PBIL"]) > column.k2


# ---- cells of a finding


def title(network: str, by: str) -> str:
    return f"{network} {SCORE_TITLES[by]}"


def names_of(view: View, excepted: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    """The (network, score) columns that count."""
    return [column for column in product(view.networks, COUNTED) if column != excepted]


def our_cells(
    view: View, names: Iterable[tuple[str, str]], order: str, test: Test, correction: float
) -> dict[str, bool]:
    return {title(network, by): test(ours(view, network, by, order, correction)) for network, by in names}


def document_cells(names: Iterable[tuple[str, str]], order: str, test: Test) -> dict[str, bool]:
    """The same test on the columns that the document prints."""
    found = {name: document(*name, order) for name in names}
    return {title(*name): test(column) for name, column in found.items() if column is not None}
