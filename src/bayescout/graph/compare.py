"""The distance of a learned structure from the true one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayescout.display import Grid, Shown
from bayescout.errors import GraphError
from bayescout.graph.dag import Dag
from bayescout.graph.equivalence import Pair
from bayescout.graph.labels import Arc, Label, check_same_nodes, counted, shown
from bayescout.graph.pdag import Pdag

Mark = Literal["->", "<-", "-"]
"""The edge between two nodes, read from the lower index to the higher."""


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Counts and rates of a learned graph against the true one, aligned by label.

    true_positives, false_positives, false_negatives
                     directed arcs in both, in the learned only, in the truth only; a reversed
                     arc is one false positive and one false negative
    adjacency_...    the same for adjacent pairs, whatever their direction
    missing, extra   pairs adjacent in the truth only, in the learned only
    reversed         pairs adjacent in both with different marks: reversed or, with a Pdag,
                     directed in one and undirected in the other; given as in the truth
    hamming          cells in which the adjacency matrices differ (the connectivity matrices of
                     Blanco, Inza & Larrañaga): missing 1, extra 1, reversed 2; an undirected
                     edge fills two cells
    shd              structural Hamming distance: missing + extra + reversed, 1 each
    shd_cpdag        the same between the equivalence classes: pairs whose mark in the CPDAG differs
    learned_arcs, true_arcs
                     the edges of each, directed or not; `arc_ratio` is their quotient
    undirected       the missing, extra and reversed pairs that are undirected edges

    A DAG is compared with a DAG arc by arc. When either side is a Pdag, a DAG on the other
    side is first replaced by its CPDAG, a Pdag is taken as it is, and only directed arcs
    count as arcs; then `shd` and `shd_cpdag` are the same number.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    adjacency_true_positives: int
    adjacency_false_positives: int
    adjacency_false_negatives: int
    missing: tuple[Arc, ...]
    extra: tuple[Arc, ...]
    reversed: tuple[Arc, ...]
    hamming: int
    shd_cpdag: int
    learned_arcs: int
    true_arcs: int
    undirected: tuple[Arc, ...] = ()

    @property
    def n_missing(self) -> int:
        return len(self.missing)

    @property
    def n_extra(self) -> int:
        return len(self.extra)

    @property
    def n_reversed(self) -> int:
        return len(self.reversed)

    @property
    def shd(self) -> int:
        """Structural Hamming distance: missing, extra and reversed arcs, 1 each."""
        return len(self.missing) + len(self.extra) + len(self.reversed)

    @property
    def precision(self) -> float:
        """TP / (TP + FP); if no arc was learned, 1 if there is none in the truth, otherwise 0."""
        return _rate(self.true_positives, self.false_positives, self.false_negatives)

    @property
    def recall(self) -> float:
        """TP / (TP + FN); if the truth has no arc, 1 if none was learned, otherwise 0."""
        return _rate(self.true_positives, self.false_negatives, self.false_positives)

    @property
    def f1(self) -> float:
        """2 TP / (2 TP + FP + FN); 1 if neither graph has arcs."""
        return _f1(self.true_positives, self.false_positives, self.false_negatives)

    @property
    def adjacency_precision(self) -> float:
        return _rate(
            self.adjacency_true_positives, self.adjacency_false_positives, self.adjacency_false_negatives
        )

    @property
    def adjacency_recall(self) -> float:
        return _rate(
            self.adjacency_true_positives, self.adjacency_false_negatives, self.adjacency_false_positives
        )

    @property
    def adjacency_f1(self) -> float:
        return _f1(
            self.adjacency_true_positives, self.adjacency_false_positives, self.adjacency_false_negatives
        )

    @property
    def arc_ratio(self) -> float:
        """Learned arcs / true arcs; if there are no true arcs, 1 if none was learned, otherwise infinity."""
        if self.true_arcs:
            return self.learned_arcs / self.true_arcs
        return math.inf if self.learned_arcs else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Every measure, ready for JSON: pairs as lists, an infinite ratio as null, odd labels as text."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        if math.isinf(self.arc_ratio):
            numbers["arc_ratio"] = None
        pairs = {name: [[_plain(a), _plain(b)] for a, b in getattr(self, name)] for name in _PAIRS}
        return numbers | pairs

    def __str__(self) -> str:
        """The distances and rates, then the arcs that differ, in a few lines."""
        arcs = (self.precision, self.recall, self.f1)
        adjacencies = (self.adjacency_precision, self.adjacency_recall, self.adjacency_f1)
        classes = f"{self.shd_cpdag} of the equivalence classes"
        lines = [
            f"Comparison: {counted(self.learned_arcs, 'arc')} learned, {counted(self.true_arcs, 'arc')} true",
            f"  SHD          {self.shd} ({classes}, Hamming {self.hamming})",
            f"  arcs         {_rates(*arcs)}",
            f"  adjacencies  {_rates(*adjacencies)}",
        ]
        for name in _PAIRS:
            pairs = getattr(self, name)
            differing = [self._arc(pair) for pair in pairs]
            lines.append(f"  {name:<11}  {len(differing)}{shown(differing)}")
        return "\n".join(lines)

    def _grid(self) -> Grid:
        """The measures of `__str__`, one per line, with bars of the rates."""
        rates = {name: getattr(self, name) for name in _RATES}
        counts = {
            "arcs learned": self.learned_arcs,
            "arcs true": self.true_arcs,
            "SHD": self.shd,
            "SHD of the equivalence classes": self.shd_cpdag,
            "Hamming distance": self.hamming,
        }
        rows = [(name, str(value)) for name, value in counts.items()]
        rows += [(name.replace("_", " "), f"{rate:.3f}") for name, rate in rates.items()]
        bars = [(0.0, 0.0)] * len(counts) + [(0.0, rate) for rate in rates.values()]
        notes = []
        for name in _PAIRS:
            arcs = [self._arc(pair) for pair in getattr(self, name)]
            notes.append(f"{name}: {len(arcs)}{shown(arcs)}")
        return Grid("Learned against true", ("", ""), tuple(rows), 1, tuple(bars), tuple(notes))

    def _arc(self, pair: Arc) -> str:
        return f"{pair[0]} {'-' if pair in self.undirected else '->'} {pair[1]}"

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        return {"measure": list(_NUMBERS), "value": [float(getattr(self, name)) for name in _NUMBERS]}


_NUMBERS = (
    *("true_positives", "false_positives", "false_negatives", "precision", "recall", "f1"),
    *("adjacency_true_positives", "adjacency_false_positives", "adjacency_false_negatives"),
    *("adjacency_precision", "adjacency_recall", "adjacency_f1"),
    *("hamming", "shd", "shd_cpdag", "n_missing", "n_extra", "n_reversed"),
    *("learned_arcs", "true_arcs", "arc_ratio"),
)
_PAIRS = ("missing", "extra", "reversed")
_RATES = ("precision", "recall", "f1", "adjacency_precision", "adjacency_recall", "adjacency_f1")


def compare(learned: object, truth: object) -> Comparison:
    """Measure a learned graph against the true one; see `Comparison`.

    Each is a Dag, a Pdag, anything with a `dag`, such as a network or a search's result, or a graph in
    another form (see `as_dag`); arcs and matrices are over the nodes of the other graph.
    """
    found, real = _as_graphs(learned, truth)
    check_same_nodes(found.nodes, real.nodes, "the learned graph", "the truth")
    found = found.reordered(real.nodes)
    found_class, real_class = _as_class(found), _as_class(real)
    if isinstance(found, Pdag) or isinstance(real, Pdag):
        found, real = found_class, real_class
    mine, true = _marks(found), _marks(real)
    arcs, true_arcs = _directed(mine), _directed(true)
    both = [pair for pair in true if pair in mine]
    missing = [pair for pair in true if pair not in mine]
    extra = [pair for pair in mine if pair not in true]
    turned = [pair for pair in both if mine[pair] != true[pair]]
    differing, marks = (*missing, *extra, *turned), mine | true
    return Comparison(
        true_positives=len(arcs & true_arcs),
        false_positives=len(arcs - true_arcs),
        false_negatives=len(true_arcs - arcs),
        adjacency_true_positives=len(both),
        adjacency_false_positives=len(extra),
        adjacency_false_negatives=len(missing),
        missing=_labelled(real.nodes, missing, true),
        extra=_labelled(real.nodes, extra, mine),
        reversed=_labelled(real.nodes, turned, true),
        undirected=_labelled(real.nodes, [pair for pair in differing if marks[pair] == "-"], marks),
        hamming=len(_cells(mine) ^ _cells(true)),
        shd_cpdag=_differing(_marks(found_class), _marks(real_class)),
        learned_arcs=len(mine),
        true_arcs=len(true),
    )


def _as_graphs(learned: object, truth: object) -> tuple[Dag | Pdag, Dag | Pdag]:
    """Both graphs; one without names of its own has those of the other."""
    from bayescout.graph.accept import NEEDED, as_graph, is_graph, shared_names

    for role, graph in (("learned", learned), ("truth", truth)):
        if not is_graph(graph):
            shown = f"the text {graph[:80]!r}" if isinstance(graph, str) else type(graph).__name__
            raise GraphError(f"{role} is no graph: {NEEDED}, not {shown}")
    names = shared_names(truth, learned)
    return as_graph(learned, names), as_graph(truth, names)


def _as_class(graph: Dag | Pdag) -> Pdag:
    return graph if isinstance(graph, Pdag) else graph.cpdag()


def _marks(graph: Dag | Pdag) -> dict[Pair, Mark]:
    """The mark of the edge of each adjacent pair, sorted, lower index first."""
    if isinstance(graph, Pdag):
        directed, undirected = graph.directed, graph.undirected
    else:
        directed, undirected = tuple((p, c) for c, ps in enumerate(graph.parents) for p in ps), ()
    marks: dict[Pair, Mark] = {(min(a, b), max(a, b)): "->" if a < b else "<-" for a, b in directed}
    marks |= dict.fromkeys(undirected, "-")
    return dict(sorted(marks.items()))


def _directed(marks: dict[Pair, Mark]) -> set[Pair]:
    """The directed arcs as (parent, child)."""
    return {(a, b) if mark == "->" else (b, a) for (a, b), mark in marks.items() if mark != "-"}


def _cells(marks: dict[Pair, Mark]) -> set[Pair]:
    """The cells of the adjacency matrix that hold a 1."""
    both = {cell for (a, b), mark in marks.items() if mark == "-" for cell in ((a, b), (b, a))}
    return both | _directed(marks)


def _differing(one: dict[Pair, Mark], two: dict[Pair, Mark]) -> int:
    return sum(one.get(pair) != two.get(pair) for pair in one.keys() | two.keys())


def _labelled(nodes: tuple[Label, ...], pairs: Iterable[Pair], marks: dict[Pair, Mark]) -> tuple[Arc, ...]:
    """Label pairs, parent first where the edge is directed."""
    turned = [(b, a) if marks[a, b] == "<-" else (a, b) for a, b in pairs]
    return tuple((nodes[a], nodes[b]) for a, b in turned)


def _rates(precision: float, recall: float, f1: float) -> str:
    return f"precision {precision:.3f}  recall {recall:.3f}  F {f1:.3f}"


def _rate(right: int, wrong: int, elsewhere: int) -> float:
    """right / (right + wrong); if that is 0 / 0, 1 if nothing is wrong elsewhere, otherwise 0."""
    if right + wrong:
        return right / (right + wrong)
    return 0.0 if elsewhere else 1.0


def _f1(right: int, extra: int, missed: int) -> float:
    whole = 2 * right + extra + missed
    return 2 * right / whole if whole else 1.0


def _plain(label: Label) -> str | int | float | bool | None:
    """A label as a JSON value; a label of any other type as its text."""
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or isinstance(label, str | int | float | bool):
        return label
    return str(label)
