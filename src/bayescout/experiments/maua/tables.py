"""The tables of the study; everything in nats."""

from __future__ import annotations

from bayescout.experiments.comparisons import daggers
from bayescout.experiments.maua.names import APPROACHES
from bayescout.experiments.maua.view import View, bests, pooled, slug, title
from bayescout.experiments.parts import plus_minus, share
from bayescout.experiments.study import Declared
from bayescout.plots.values import Cell, SummaryTable

COUNTS = ("orders", "evaluations", "classes")
UNSEEN_NOTE = (
    "Unseen: test rows in which some node's parents have values that training never showed; there the node "
    "counts as uniform. Impossible: test rows of probability zero by maximum likelihood."
)


def compared(view: View, data: Declared) -> SummaryTable:
    """The networks kept of each approach, on the training and on the test rows."""
    rows: list[tuple[Cell, ...]] = _handcrafted_rows(view, data)
    groups = [view.of(data, approach) for approach in APPROACHES]
    by_train = daggers([bests(group, "train") for group in groups])
    by_test = daggers([bests(group, "test") for group in groups])
    for approach, group, mark, other in zip(APPROACHES, groups, by_train, by_test, strict=True):
        distances = [x for x in bests(group, "distance") if x is not None]
        rows.append(
            (
                approach,
                plus_minus([len(record.measures["train"]) for record in group], 0),
                plus_minus(bests(group, "train"), 1, mark),
                plus_minus(pooled(group, "train"), 1),
                plus_minus(bests(group, "test"), 1, other),
                plus_minus(pooled(group, "test"), 1),
                plus_minus(bests(group, "arcs"), 1),
                plus_minus(distances, 1) if distances else None,
            )
        )
    kept = view.study.top
    return SummaryTable(
        f"compared-{slug(data)}",
        f"Learned on {title(data)}: training score and test log-likelihood",
        (
            "network", "networks kept", "BIC of the best", f"BIC of the top {kept}",
            "test log-likelihood of the best", f"test log-likelihood of the top {kept}", "arcs of the best",
            "distance of the best",
        ),
        tuple(rows),
        f"In nats, mean ± standard deviation over {view.study.repeats} runs, and over all networks kept of "
        f"all runs. The best is the one with the highest BIC. † differs from the best mean (Mann-Whitney, "
        f"5%). Test rows: {_test_rows(view, data):,}, parameters with Laplace's correction. Distance: pairs "
        f"of nodes that differ between the equivalence classes of the network and the handcrafted one.",
    )  # fmt: skip


def _test_rows(view: View, data: Declared) -> int:
    return int(view.records.where(data=data)[0].measures["test_rows"])


def _handcrafted_rows(view: View, data: Declared) -> list[tuple[Cell, ...]]:
    record = view.handcrafted(data)
    if record is None:
        return []
    own = record.measures
    rows: list[tuple[Cell, ...]] = []
    if own["own"] is not None:
        cells = (f"{own['own']:,.1f}", None, str(own["arcs"][0]), "0")
        rows.append(("handcrafted, own parameters", None, None, None, *cells))
    cells = (f"{own['test'][0]:,.1f}", None, str(own["arcs"][0]), "0")
    rows.append(("handcrafted, fitted", "1", f"{own['train'][0]:,.1f}", None, *cells))
    return rows


def unseen(view: View) -> SummaryTable:
    """The frequency of test rows with values never seen in training."""
    rows: list[tuple[Cell, ...]] = []
    for data in view.sets():
        total = _test_rows(view, data)
        for approach in ("handcrafted", *APPROACHES):
            group = view.of(data, approach)
            if group:
                impossible = pooled(group, "impossible")
                rows.append(
                    (
                        title(data), approach, plus_minus(pooled(group, "unseen"), 1),
                        plus_minus(impossible, 1), share(sum(x > 0 for x in impossible), len(impossible)),
                        plus_minus([x / total for x in pooled(group, "test")], 4),
                    )
                )  # fmt: skip
    return SummaryTable(
        "unseen",
        "Test rows that training did not prepare for",
        (
            "data", "approach", "unseen rows", "impossible rows",
            "networks with test log-likelihood −∞ by maximum likelihood", "test log-likelihood a row",
        ),
        tuple(rows),
        f"{UNSEEN_NOTE} Means ± standard deviations over all networks kept.",
    )  # fmt: skip


def effort(view: View) -> SummaryTable:
    """The cost of each approach."""
    rows: list[tuple[Cell, ...]] = []
    for data in view.sets():
        for approach in APPROACHES:
            group = view.of(data, approach)
            rows.append(
                (
                    title(data), approach, *(f"{group.mean(name) or 0.0:,.0f}" for name in COUNTS),
                    f"{group.mean('cpu_seconds') or 0.0:,.2f}",
                )
            )  # fmt: skip
    return SummaryTable(
        "effort",
        "Effort",
        ("data", "approach", "orders begun with", "families asked for", "classes kept", "CPU s"),
        tuple(rows),
        "Means of the runs. CPU seconds include the test. Classes kept: equivalence classes among the "
        "networks kept, which are distinct as graphs.",
    )
