"""The outcome of a study as plain values: findings with verdicts, and sections of tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Literal

from bayescout.plots.values import Figure, Points, SummaryTable

Verdict = Literal["holds", "holds in part", "does not hold", "cannot be tested"]
HOLDS: Verdict = "holds"
IN_PART: Verdict = "holds in part"
NOT: Verdict = "does not hold"
UNTESTED: Verdict = "cannot be tested"
VERDICTS = (HOLDS, IN_PART, NOT, UNTESTED)
MARKS = {HOLDS: "✓", NOT: "≠", UNTESTED: "?"}
PARTS = ((2 / 3, "◕", "in most"), (1 / 3, "◑", "in about half"), (0.0, "◔", "in few"))
"""Marks of what holds in part, by the least share of the cells: two thirds, one third, or less."""


def mark_of(verdict: str, passed: int, of: int) -> str:
    """What stands before a verdict on a page, to be seen at a glance."""
    if verdict != IN_PART:
        return MARKS[verdict]  # type: ignore[index]
    return next(mark for least, mark, _ in PARTS if passed >= least * of)


@dataclass(frozen=True)
class Tally:
    """The number of cells that pass a test, and the names of those that do not."""

    passed: int
    of: int
    failing: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.passed:,} of {self.of:,}"


@dataclass(frozen=True)
class Reason:
    """A reason for a verdict: `run` names the runs that show it; without one it is a conjecture."""

    text: str
    run: str = ""

    def __str__(self) -> str:
        return f"{self.text} (Shown by: {self.run}.)" if self.run else f"Conjecture: {self.text}"


@dataclass(frozen=True)
class Finding:
    """A statement of a document beside ours.

    cells    the cells (columns, sizes, data sets) of our records that pass its test, named by `unit`
    printed  the same test on the tables that the document prints; None if it prints none that can be tested
    rule     a threshold or test that is ours and not the document's
    apart    the reason why the finding is listed apart and not counted; empty for one that counts
    """

    claim: str
    ours: str
    verdict: Verdict
    cells: Tally | None = None
    printed: Tally | None = None
    unit: str = "cells"
    rule: str = ""
    why: tuple[Reason, ...] = ()
    apart: str = ""

    @property
    def holds(self) -> bool:
        return self.verdict == HOLDS

    @property
    def mark(self) -> str:
        """A sign for the verdict and, if it holds in part, for the share of the cells."""
        cells = self.cells or Tally(0, 1)
        return mark_of(self.verdict, cells.passed, cells.of)

    @property
    def judgement(self) -> str:
        """The verdict with the number of cells, and the document's own."""
        parts = []
        if self.cells is not None:
            parts.append(f"in {self.cells} {self.unit}")
        if self.printed is not None:
            parts.append(f"in the document's own tables {self.printed}")
        return f"{self.verdict} ({'; '.join(parts)})" if parts else self.verdict

    @property
    def reasons(self) -> str:
        """The rule and the reasons, as one text."""
        rule = f"Our test: {self.rule}" if self.rule else ""
        return " ".join(part for part in (rule, *map(str, self.why)) if part)


@dataclass(frozen=True)
class Section:
    """A part of the page: text, then its tables and figures."""

    title: str
    text: str
    tables: tuple[SummaryTable, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A whole study, ready to be written as a results section.

    agreement  our values against the printed ones, one point per cell; None if the document prints none
    size       how the study differs from the document's size; empty if it does not
    """

    name: str
    title: str
    source: str
    introduction: str
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    agreement: Points | None = None
    size: str = ""

    @property
    def counted(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if not one.apart)

    @property
    def apart(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.apart)

    @property
    def summary(self) -> str:
        """The verdicts in a line, and how near our values are to the printed ones."""
        if not self.findings:
            return ""
        said = f"{summed(self.counted)}{_apart(len(self.apart))}{_near(self.agreement)}"
        return f"{said} {self.size}".strip()


def summed(findings: Iterable[Finding]) -> str:
    """The number of findings with each verdict, as a sentence."""
    found = Counter(one.verdict for one in findings)
    total = sum(found.values())
    words = {HOLDS: ("holds", "hold"), IN_PART: ("holds in part", "hold in part")}
    words |= {NOT: ("does not hold", "do not hold"), UNTESTED: ("cannot be tested", "cannot be tested")}
    parts = [f"{found[v]} {words[v][found[v] != 1]}" for v in VERDICTS if found[v]]
    what = "finding" if total == 1 else "findings"
    return f"Of {total} {what} of the document, {', '.join(parts) or 'none was tested'}."


def _apart(number: int) -> str:
    if not number:
        return ""
    return (
        f" {number} more on units and definitions {'stands' if number == 1 else 'stand'} apart, not counted."
    )


def _near(agreement: Points | None) -> str:
    """The median difference from the printed values, in the words of the picture's panels and groups."""
    parts = []
    for panel in agreement.panels if agreement else ():
        if panel.scale == "symlog":
            continue  # differences from a score, which may be zero
        off = {
            label: [abs(ours - said) / abs(said) for said, ours in own if said] for label, own in panel.groups
        }
        off = {label: own for label, own in off.items() if own}
        if not off:
            continue
        fewest = min(map(len, off.values()))
        cells = f"{fewest} {'cell' if fewest == 1 else 'cells'}{' each' if len(off) > 1 else ''}"
        shares = {label.replace(", ", " "): f"{100 * median(own):.0f}%" for label, own in off.items()}
        if len(shares) > 1:
            listed = ", ".join(f"{label} {share}" for label, share in shares.items())
            parts.append(f"{panel.title}: {listed} ({cells})")
        else:
            parts += [f"{panel.title} {share} ({cells})" for share in shares.values()]
    return f" Median difference from the printed values: {'; '.join(parts)}." if parts else ""
