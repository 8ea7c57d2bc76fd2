"""The headings of answers, and the tables of means and variances."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayescout.data.table import Label
from bayescout.display import Grid
from bayescout.errors import printable

Evidence = tuple[tuple[Label, Any], ...]


@dataclass(frozen=True)
class SoftFinding:
    """The value of a variable with soft evidence: likelihoods of its states, or by Jeffrey's rule their
    probabilities; of a continuous one the mean and variance of a measurement."""

    weights: tuple[tuple[Label, float], ...]
    is_posterior: bool = False

    def __str__(self) -> str:
        inside = ", ".join(f"{state}: {weight:g}" for state, weight in self.weights)
        return f"{'P' if self.is_posterior else ''}({inside})"


def heading(variables: tuple[Label, ...], evidence: Evidence, done: Evidence = ()) -> str:
    """`P(lung, bronc | do(smoke=yes), age=old)`; soft evidence is shown as `age~(old: 0.8, young: 0.3)`."""
    acted = [f"do({', '.join(f'{label}={value}' for label, value in done)})"] if done else []
    pairs = [f"{label}{'~' if isinstance(value, SoftFinding) else '='}{value}" for label, value in evidence]
    given = ", ".join([*acted, *pairs])
    return printable(f"P({', '.join(str(v) for v in variables)}{' | ' + given if given else ''})")


def moments(head: str, cells: Mapping[Label, Mapping[str, float]], notes: tuple[str, ...] = ()) -> Grid:
    """The table of means, variances and standard deviations."""
    rows = [
        (str(label), *(f"{n:.6g}" for n in (one["mean"], one["variance"], one["variance"] ** 0.5)))
        for label, one in cells.items()
    ]
    return Grid(head, ("", "mean", "variance", "deviation"), tuple(rows), 3, notes=notes)


def moment_columns(cells: Mapping[Label, Mapping[str, float]]) -> dict[Hashable, Sequence[Any]]:
    means = [one["mean"] for one in cells.values()]
    return {"variable": list(cells), "mean": means, "variance": [one["variance"] for one in cells.values()]}
