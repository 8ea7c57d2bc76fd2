"""Tests of conditional independence: is a independent of b, given some others?

A test has three answers. "dependent": independence is rejected at the given level. "independent": it is
not. "inconclusive": there are too few rows for the test to be reliable, whatever its statistic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Bools, Family, Floats
from bayescout.data.table import Table
from bayescout.errors import SettingError, TooLargeError
from bayescout.statistics.covariance import RESIDUAL_FLOOR, Covariance
from bayescout.statistics.degenerate import DegenerateGaussian
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engine import Kind, Statistics
from bayescout.statistics.engines import in_memory
from bayescout.statistics.mixed import MixedStatistics

Answer = Literal["dependent", "independent", "inconclusive"]
Correction = Literal["none", "bonferroni", "benjamini-hochberg"]
CORRECTIONS: tuple[Correction, ...] = ("none", "bonferroni", "benjamini-hochberg")

LEAST_EXPECTED = 5.0
"""A chi-squared test is reliable if the expected count of every cell is at least this."""

PIECE_QUESTIONS, PIECE_WORK = 16_384, 50e6
"""The most questions of a piece, and its most work in nanoseconds: some hundredths of a second."""

BATCH_CELLS, BATCH_ROWS = 1 << 20, 20_000_000
"""Cells, and rows times families, counted at a time."""


class Question(NamedTuple):
    """The question whether `a` is independent of `b`, given the others. Positions of variables."""

    a: int
    b: int
    given: tuple[int, ...] = ()


@dataclass(frozen=True)
class Finding:
    """The finding of a test: its statistic, degrees of freedom, p-value (before correction) and answer."""

    statistic: float
    degrees: float
    p_value: float
    answer: Answer


class IndependenceTests(Protocol):
    """Answers questions of independence, one or many; a correction is over the questions asked together."""

    def one(self, question: Question) -> Finding: ...

    def many(self, questions: Sequence[Question]) -> list[Finding]: ...


class DataTests:
    """The base of all tests from data: from statistics to p-values to answers.

    `between` is called between pieces of work that take some hundredths of a second each; it may raise.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    between: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, alpha: float, correction: Correction) -> None:
        if not 0 < alpha < 1:
            raise SettingError(f"alpha must be between 0 and 1, not {alpha!r}; 0.05 is usual")
        if correction not in CORRECTIONS:
            raise SettingError(f"correction must be one of {', '.join(CORRECTIONS)}, not {correction!r}")
        self.alpha = alpha
        self.correction: Correction = correction

    def one(self, question: Question) -> Finding:
        """The answer to one question by itself."""
        return self.many([question])[0]

    def many(self, questions: Sequence[Question]) -> list[Finding]:
        """The answers to many questions, corrected together for their number."""
        if not questions:
            return []
        measured = []
        for some in self._pieces(questions):
            self.between()
            measured.append(self._measured(questions[some]))
        statistics, degrees, p_values, believed = (
            np.concatenate(parts) for parts in zip(*measured, strict=True)
        )
        adjusted = np.ones(len(questions))
        adjusted[believed] = corrected(p_values[believed], self.correction)
        found: list[Finding] = []
        for begin in range(0, len(questions), PIECE_QUESTIONS):
            self.between()
            some = slice(begin, begin + PIECE_QUESTIONS)
            columns = (statistics[some].tolist(), degrees[some].tolist(), p_values[some].tolist())
            answers = self._answers(believed[some], adjusted[some])
            found += [Finding(*row) for row in zip(*columns, answers, strict=True)]
        return found

    def _answers(self, believed: Bools, p_values: Floats) -> list[Answer]:
        return [
            "inconclusive" if not ok else "dependent" if p <= self.alpha else "independent"
            for ok, p in zip(believed.tolist(), p_values.tolist(), strict=True)
        ]

    def _pieces(self, questions: Sequence[Question]) -> list[slice]:
        """Consecutive questions of bounded number and work, between which the run may be ended."""
        work = np.fromiter(map(self._work, questions), dtype=np.float64, count=len(questions))
        number = np.cumsum(work + PIECE_WORK / PIECE_QUESTIONS) // PIECE_WORK
        ends = [0, *(np.flatnonzero(number[1:] != number[:-1]) + 1).tolist(), len(questions)]
        return [slice(begin, end) for begin, end in pairwise(ends)]

    def _work(self, question: Question) -> float:
        """The work of a question in nanoseconds; 0 if its measuring is in pieces already."""
        return 0.0

    def _measured(self, questions: Sequence[Question]) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        """Statistics, degrees of freedom, p-values, and for each test True if it is reliable."""
        raise NotImplementedError


class GSquared(DataTests):
    r"""The likelihood-ratio test for discrete data: twice the gain in log-likelihood of `b` from `a`.

    $$ G^2 = 2 \sum_{zab} N_{zab} \log \frac{N_{zab} N_z}{N_{za} N_{zb}} = 2 N \hat I(a; b \mid z) $$

    against chi-squared with $(r_a - 1)(r_b - 1) \prod r_z$ degrees of freedom, over declared states and all
    configurations, as for the number of parameters in a score. Always taken as reliable, unless the table is
    too large to be counted: then the statistic is 0.
    """

    name: ClassVar[str] = "g2"
    kind: ClassVar[str] = "discrete"

    def __init__(
        self, counts: DiscreteStatistics, alpha: float = 0.05, correction: Correction = "none"
    ) -> None:
        super().__init__(alpha, correction)
        self.counts = counts

    def _measured(self, questions: Sequence[Question]) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        with_a = [(b, tuple(sorted((a, *given)))) for a, b, given in questions]
        without = [(b, tuple(sorted(given))) for _, b, given in questions]
        families = [*with_a, *dict.fromkeys(without)]
        place = {family: i for i, family in enumerate(families) if i >= len(with_a)}
        likelihoods = np.concatenate(
            [self._log_likelihoods(some) for some in _batches(self.counts, families, self.between)]
        )
        plain = likelihoods[[place[family] for family in without]]
        counted = np.isfinite(likelihoods[: len(with_a)]) & np.isfinite(plain)
        differences = np.where(counted, likelihoods[: len(with_a)], 0.0) - np.where(counted, plain, 0.0)
        statistics = np.maximum(2 * differences, 0.0)
        degrees = _degrees(self.counts, questions)
        return statistics, degrees, _upper_tail(statistics, degrees), counted

    def _log_likelihoods(self, families: Sequence[Family]) -> Floats:
        """The log-likelihood of each family; infinite if its table is too large to be counted."""
        try:
            return self.counts.many(families).log_likelihoods()
        except TooLargeError:
            if len(families) == 1:
                return np.array([-np.inf])
            return np.concatenate([self._log_likelihoods([family]) for family in families])


class ChiSquared(DataTests):
    r"""Pearson's test for discrete data, stratum by stratum of the given variables.

    $$ X^2 = \sum_{zab} \frac{(N_{zab} - E_{zab})^2}{E_{zab}}, \qquad E_{zab} = N_{za} N_{zb} / N_z $$

    against chi-squared with the degrees of freedom of `GSquared`. Reliable only if the expected count of
    every cell is at least `LEAST_EXPECTED`, including declared states and configurations that never occur. A
    table too large to be held has more cells than rows: it is not counted, and its statistic is 0.
    """

    name: ClassVar[str] = "chi2"
    kind: ClassVar[str] = "discrete"

    def __init__(
        self, counts: DiscreteStatistics, alpha: float = 0.05, correction: Correction = "none"
    ) -> None:
        super().__init__(alpha, correction)
        self.counts = counts

    def _measured(self, questions: Sequence[Question]) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        families = [(b, (*given, a)) for a, b, given in questions]
        counted = np.array([self.counts.is_dense(*family) for family in families])
        statistics, least = np.zeros(len(questions)), np.zeros(len(questions))
        found = [
            pearson(table)
            for some in _batches(
                self.counts,
                [f for f, is_dense in zip(families, counted, strict=True) if is_dense],
                self.between,
            )
            for table in self._tables(some)
        ]
        if found:
            statistics[counted], least[counted] = np.array(found).T
        degrees = _degrees(self.counts, questions)
        believed = (least >= LEAST_EXPECTED) | (degrees == 0)
        return statistics, degrees, _upper_tail(statistics, degrees), believed

    def _tables(self, families: Sequence[Family]) -> list[NDArray[Any]]:
        """The (strata, a, b) counts of each family."""
        tables, sizes = self.counts.many(families), self.counts.cards
        return [
            tables.table(i).reshape(-1, sizes[parents[-1]], sizes[b])
            for i, (b, parents) in enumerate(families)
        ]


def pearson(table: NDArray[Any]) -> tuple[float, float]:
    """Pearson's statistic of (strata, a, b) counts, and the smallest expected count of a cell."""
    totals = table.sum(axis=(1, 2), dtype=np.float64)
    products = table.sum(axis=2, dtype=np.float64)[:, :, None] * table.sum(axis=1, dtype=np.float64)[:, None]
    expected = products / np.maximum(totals, 1e-300)[:, None, None]
    off = np.square(table - expected)
    statistic = np.divide(off, expected, out=np.zeros_like(expected), where=expected > 0).sum()
    return float(statistic), float(expected.min())


class FisherZ(DataTests):
    r"""Fisher's test of a partial correlation $r$, for Gaussian data.

    $$ z = \sqrt{n - |given| - 3}\ \operatorname{atanh}(r) $$

    against the standard normal, both sides. Not reliable if there are no degrees of freedom
    $n - |given| - 3$ left. A variable that the given ones determine is independent of everything.
    """

    name: ClassVar[str] = "fisher-z"
    kind: ClassVar[str] = "continuous"

    def __init__(self, covariance: Covariance, alpha: float = 0.05, correction: Correction = "none") -> None:
        super().__init__(alpha, correction)
        if (np.diag(covariance.matrix) != 1).any():
            raise SettingError(
                "fisher-z needs plain correlations, not a prior's; use another score, such as bic"
            )
        self.covariance = covariance

    def _measured(self, questions: Sequence[Question]) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        from scipy.special import ndtr

        sizes = np.array([len(given) for _, _, given in questions], dtype=np.float64)
        degrees = np.maximum(self.covariance.total - sizes - 3, 0.0)
        partial = np.clip(self.correlations(questions), -1 + RESIDUAL_FLOOR, 1 - RESIDUAL_FLOOR)
        statistics = np.sqrt(degrees) * np.arctanh(partial)
        return statistics, degrees, 2 * ndtr(-np.abs(statistics)), degrees > 0

    def _work(self, question: Question) -> float:
        return float(len(question.given) + 2) ** 3 / 6

    def correlations(self, questions: Sequence[Question]) -> Floats:
        """The partial correlation of each question."""
        from bayescout.kernels.independence import partial_correlations

        groups = [(*sorted(given), *sorted((a, b))) for a, b, given in questions]
        sizes = np.array([len(group) for group in groups], dtype=np.int64)
        members = np.array([variable for group in groups for variable in group], dtype=np.int64)
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        most = int(sizes.max())
        out = np.empty(len(groups))
        factor = np.zeros((most, most))
        partial_correlations(self.covariance.matrix, members, bounds, RESIDUAL_FLOOR, factor, out)
        return out


class DegenerateRatio(DataTests):
    r"""The likelihood-ratio test of the degenerate Gaussian model, for tables with columns of both kinds.

    $$ 2 (\ell(b \mid a, given) - \ell(b \mid given)) $$

    where each discrete variable stands as indicator columns (Andrews, Ramsey & Cooper 2019), against
    chi-squared with columns of a times columns of b degrees of freedom. Not reliable if there are no more
    rows than columns. For one discrete and one continuous variable it is one-way analysis of variance.
    """

    name: ClassVar[str] = "dg"
    kind: ClassVar[str] = "mixed"

    def __init__(
        self, statistics: DegenerateGaussian, alpha: float = 0.05, correction: Correction = "none"
    ) -> None:
        super().__init__(alpha, correction)
        self.statistics = statistics

    def _work(self, question: Question) -> float:
        return 2.0 * self.statistics.work(question.a, (question.b, *question.given))

    def _measured(self, questions: Sequence[Question]) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        pairs = [(min(a, b), max(a, b), tuple(sorted(given))) for a, b, given in questions]
        found = [
            self.statistics.many(families).log_likelihoods()
            for families in (
                [(b, tuple(sorted((a, *given)))) for a, b, given in pairs],
                [(b, given) for _, b, given in pairs],
            )
        ]
        believed = np.isfinite(found[0]) & np.isfinite(found[1])
        with_a, without = (np.where(believed, values, 0.0) for values in found)
        statistics = np.maximum(2 * (with_a - without), 0.0)
        widths = self.statistics.widths
        degrees = np.array([float(widths[a] * widths[b]) for a, b, _ in pairs])
        return statistics, degrees, _upper_tail(statistics, degrees), believed


def independence_tests(
    statistics: Table | Statistics,
    test: str | None = None,
    alpha: float = 0.05,
    correction: Correction = "none",
    between: Callable[[], None] | None = None,
) -> DataTests:
    """The tests for a table or its statistics: "g2" (discrete data's default), "chi2", "fisher-z" or "dg".

    "fisher-z" is for continuous columns, and "dg" for tables with columns of both kinds.

    `between` is called between pieces of work, and may raise to end it.
    """
    if isinstance(statistics, Table):
        kind: Kind = "discrete" if statistics.is_discrete else "continuous"
        mixed = not statistics.is_discrete and not statistics.is_continuous
        statistics = in_memory(statistics, "mixed" if mixed else kind)
    tested = "mixed" if statistics.kind == "degenerate" else statistics.kind
    fit = [name for name, made in TESTS.items() if made.kind == tested]
    test = test or fit[0]
    if test not in TESTS:
        raise SettingError(f"test must be one of {', '.join(TESTS)}, not {test!r}")
    if test not in fit:
        raise SettingError(
            f"test {test!r} is for {TESTS[test].kind} columns and these are not; use {' or '.join(fit)}"
        )
    if isinstance(statistics, MixedStatistics):
        statistics = statistics.degenerate
    made: DataTests = TESTS[test](statistics, alpha, correction)
    if between is not None:
        made.between = between
    return made


TESTS: dict[str, Any] = {made.name: made for made in (GSquared, ChiSquared, FisherZ, DegenerateRatio)}
"""Every test by name."""


def corrected(p_values: Floats, correction: Correction) -> Floats:
    """The p-values adjusted for being tested together.

    Bonferroni multiplies by their number, which bounds the probability of any false rejection; Benjamini and
    Hochberg's (1995) smallest `m p_(j) / j` over `j >= rank` bounds the expected share of false rejections.
    """
    count = len(p_values)
    if correction == "none" or not count:
        return p_values.copy()
    if correction == "bonferroni":
        return np.minimum(p_values * count, 1.0)
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * count / np.arange(1, count + 1)
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    return adjusted


def _degrees(counts: DiscreteStatistics, questions: Sequence[Question]) -> Floats:
    """(r_a - 1)(r_b - 1) times the product of the given variables' states."""
    sizes = counts.cards.tolist()
    return np.array(
        [
            float((sizes[a] - 1) * (sizes[b] - 1) * math.prod([sizes[z] for z in given]))
            for a, b, given in questions
        ]
    )


def _upper_tail(statistics: Floats, degrees: Floats) -> Floats:
    """The probability that chi-squared is at least this large; 1 without degrees of freedom."""
    from scipy.special import chdtrc

    tail: Floats = chdtrc(np.maximum(degrees, 1.0), statistics)
    return np.where(degrees > 0, tail, 1.0)


def _batches(
    counts: DiscreteStatistics, families: Sequence[Family], between: Callable[[], None]
) -> Iterator[Sequence[Family]]:
    """Families in batches of bounded memory and work."""
    most = max(1, BATCH_ROWS // max(1, counts.n_rows))
    begin, cells = 0, 0
    for i, (child, parents) in enumerate(families):
        size = min(counts.cells(child, parents), BATCH_CELLS)
        if i > begin and (cells + size > BATCH_CELLS or i - begin >= most):
            between()
            yield families[begin:i]
            begin, cells = i, 0
        cells += size
    if families:
        between()
        yield families[begin:]
