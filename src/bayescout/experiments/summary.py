"""The outcome of a study as plain values: findings, and sections of tables and figures."""

from __future__ import annotations

from dataclasses import dataclass

from bayescout.plots.values import Figure, SummaryTable


@dataclass(frozen=True)
class Finding:
    """One statement: the document's finding, ours, True if they agree, and the reason if not."""

    claim: str
    ours: str
    holds: bool
    why: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page: text, then its tables and figures."""

    title: str
    text: str
    tables: tuple[SummaryTable, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A whole study, ready to be written as a results section."""

    name: str
    title: str
    source: str
    introduction: str
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
