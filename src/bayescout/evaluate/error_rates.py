"""Error rates of independence tests, judged by a known graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bayescout.errors import GraphError, SettingError
from bayescout.graph.accept import as_dag
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label
from bayescout.graph.separation import d_connected
from bayescout.statistics.dependencies import CachedTest
from bayescout.statistics.independence import Finding, Question


@dataclass(frozen=True, repr=False)
class ErrorRates:
    """Numbers of test answers, by the truth (d-separation in the known graph).

    true_dependences     dependent in truth and found dependent
    false_dependences    separated in truth but found dependent (type I errors)
    true_independences   separated in truth and found independent
    false_independences  dependent in truth but accepted as independent (type II errors)
    undecided_dependent, undecided_independent
                         left undecided, for lack of rows, by the truth
    """

    true_dependences: int
    false_dependences: int
    true_independences: int
    false_independences: int
    undecided_dependent: int = 0
    undecided_independent: int = 0

    @property
    def asked(self) -> int:
        return sum(asdict(self).values())

    @property
    def false_discovery_rate(self) -> float:
        """The share of the dependences found that are false; 0 if none was found."""
        return _share(self.false_dependences, self.true_dependences)

    @property
    def false_acceptance_rate(self) -> float:
        """The share of true dependences that were accepted as independences; 0 if there is none.

        Undecided questions are not counted; `missed_rate` counts them.
        """
        return _share(self.false_independences, self.true_dependences)

    @property
    def type_one_rate(self) -> float:
        """The share of true independences that were rejected: about the significance level."""
        return _share(self.false_dependences, self.true_independences)

    @property
    def missed_rate(self) -> float:
        """The share of true dependences that were not found, accepted as independences or left undecided."""
        return _share(self.false_independences + self.undecided_dependent, self.true_dependences)

    def to_dict(self) -> dict[str, Any]:
        rates = ("false_discovery_rate", "false_acceptance_rate", "type_one_rate", "missed_rate")
        return {**asdict(self), **{name: getattr(self, name) for name in rates}}

    def __add__(self, other: ErrorRates) -> ErrorRates:
        """The sums of the counts of both."""
        return ErrorRates(
            *(a + b for a, b in zip(asdict(self).values(), asdict(other).values(), strict=True))
        )

    def __str__(self) -> str:
        undecided = self.undecided_dependent + self.undecided_independent
        return (
            f"{self.asked:,} tests: false discovery rate {self.false_discovery_rate:.4f}, "
            f"false acceptance rate {self.false_acceptance_rate:.4f}, {undecided:,} undecided"
        )

    def __repr__(self) -> str:
        return f"<ErrorRates: {self}>"


def error_rates(
    questions: Sequence[Question],
    findings: Sequence[Finding | CachedTest],
    truth: Any,
    names: Sequence[Label] | None = None,
) -> ErrorRates:
    """Judge the findings of independence tests by d-separation in the true graph.

    `questions` hold positions: of the columns `names`, or of the truth's own nodes. `findings` are
    those of tests, or the tests that a search kept. `truth` is a graph, or anything with a `dag`.
    Frigo (2009) reports two of the rates: false discovery (type I) and false acceptance (type II).
    """
    if len(questions) != len(findings):
        raise SettingError(
            f"{len(questions):,} questions but {len(findings):,} findings; give one finding a question"
        )
    connected = dependences(as_dag(truth), questions, names)
    answers = [finding.answer for finding in findings]
    pairs = list(zip(connected, answers, strict=True))
    return ErrorRates(
        true_dependences=pairs.count((True, "dependent")),
        false_dependences=pairs.count((False, "dependent")),
        true_independences=pairs.count((False, "independent")),
        false_independences=pairs.count((True, "independent")),
        undecided_dependent=pairs.count((True, "inconclusive")),
        undecided_independent=pairs.count((False, "inconclusive")),
    )


def dependences(dag: Dag, questions: Sequence[Question], names: Sequence[Label] | None = None) -> list[bool]:
    """For each question, True if the graph d-connects its two variables, given the others."""
    place = range(len(dag)) if names is None else [dag.index(name) for name in names]
    reached: dict[tuple[int, tuple[int, ...]], list[bool]] = {}
    found = []
    for a, b, given in questions:
        if not all(0 <= v < len(place) for v in (a, b, *given)) or len({a, b, *given}) < 2 + len(given):
            raise GraphError(
                f"a question is about different positions from 0 to {len(place) - 1}, not {(a, b, given)}"
            )
        key = place[a], tuple(sorted(place[v] for v in given))
        if key not in reached:
            reached[key] = d_connected(dag, [key[0]], key[1])
        found.append(reached[key][place[b]])
    return found


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part else 0.0
