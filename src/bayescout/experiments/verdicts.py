"""Verdicts: the one place where passed cells become "holds", "holds in part" or "does not hold"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from bayescout.experiments.summary import HOLDS, IN_PART, NOT, UNTESTED, Finding, Reason, Tally, Verdict

Cells = Mapping[str, bool]
T = TypeVar("T")


def verdict_of(cells: Iterable[bool]) -> Verdict:
    """All cells pass: holds; none does: does not hold; some do: holds in part; no cells: cannot be tested."""
    found = list(cells)
    if not found:
        return UNTESTED
    if all(found):
        return HOLDS
    return IN_PART if any(found) else NOT


def tally(cells: Cells) -> Tally:
    return Tally(sum(cells.values()), len(cells), tuple(name for name, passed in cells.items() if not passed))


def judged(
    claim: str,
    ours: str,
    cells: Cells | bool,
    printed: Cells | None = None,
    unit: str = "cells",
    rule: str = "",
    why: Iterable[Reason] = (),
) -> Finding:
    """A finding whose verdict follows from the cells that pass; a plain truth value is a single cell.

    Reasons are given for what does not hold, so they are dropped where everything does.
    """
    single = isinstance(cells, bool)
    own: Cells = {"": cells} if isinstance(cells, bool) else cells
    verdict = verdict_of(own.values())
    return Finding(
        claim,
        ours,
        verdict,
        None if single or not own else tally(own),
        tally(printed) if printed else None,
        unit,
        rule,
        () if verdict == HOLDS else tuple(why),
    )


def untested(claim: str, ours: str, why: Iterable[Reason], printed: Cells | None = None) -> Finding:
    """A finding that no run of ours can decide, with the reasons."""
    return Finding(
        claim,
        ours,
        UNTESTED,
        printed=tally(printed) if printed else None,
        why=tuple(why),
    )


def set_apart(finding: Finding, reason: str) -> Finding:
    """The finding listed apart: on units or definitions, and not counted."""
    return replace(finding, apart=reason)


def by_cell(
    names: Iterable[T], test: Callable[[T], bool], title: Callable[[T], str] = str
) -> dict[str, bool]:
    """The answer of a test for every cell, by the cell's title."""
    return {title(name): bool(test(name)) for name in names}


def true_in(cells: Cells, unit: str, after: str = "") -> str:
    """The number of cells that pass, with the names of the others; `after` opens the sentence."""
    own = tally(cells)
    others = f" (not {', '.join(own.failing)})" if own.failing else ""
    return f"{f'{after}: true' if after else 'True'} in {own} {unit}{others}."
