"""A Kullback-Leibler divergence as a value, with the events that make it infinite."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bayescout.errors import printable
from bayescout.evaluate.json_values import json_label, json_value
from bayescout.graph.labels import Label

LISTED = 100
"""Most impossible events that a divergence lists, the most probable first."""


@dataclass(frozen=True)
class Impossible:
    """An event that is possible in truth but impossible in the learned network.

    `node` has `state` while its parents in the learned network have the values `given`; `probability`
    is that of the event in truth, or its share of the sampled rows. In Gaussian networks `is_noise` is
    True if the node has no noise in one network and the other does not agree; there is no state.
    """

    node: Label
    state: Any
    given: tuple[tuple[Label, Any], ...]
    probability: float
    is_noise: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "node": json_label(self.node),
            "state": json_value(self.state),
            "given": [[json_label(label), json_value(state)] for label, state in self.given],
            "probability": self.probability,
            "is_noise": self.is_noise,
        }

    def __str__(self) -> str:
        if self.is_noise:
            return printable(f"{self.node} has no noise in one network, and the other does not agree")
        given = ", ".join(f"{label}={state}" for label, state in self.given)
        event = f"{self.node}={self.state}{' | ' + given if given else ''}"
        return printable(f"{event} (probability {self.probability:.3g})")


@dataclass(frozen=True, repr=False)
class Divergence:
    """KL(truth || learned) in nats; `float()` gives the value.

    value           0 for equal distributions; infinite if an event is impossible in the learned network
    exact           True if computed, False if estimated from rows sampled from the truth. An estimate
                    of a small divergence can be below zero
    standard_error  of the estimate; 0 when exact
    rows            rows sampled; 0 when exact
    unseen          mean number of families per row whose parents' values the learned network has no
                    estimate for, so that it uses the uniform distribution
    impossible      the events that make it infinite, the most probable first (at most 100)
    """

    value: float
    exact: bool
    standard_error: float = 0.0
    rows: int = 0
    unseen: float = 0.0
    impossible: tuple[Impossible, ...] = ()

    @property
    def is_finite(self) -> bool:
        return math.isfinite(self.value)

    def __float__(self) -> float:
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """The values for JSON; an infinite value is null, and `infinite` is true."""
        return {
            "value": json_value(self.value),
            "infinite": not self.is_finite,
            "exact": self.exact,
            "standard_error": json_value(self.standard_error),
            "rows": self.rows,
            "unseen": self.unseen,
            "impossible": [event.to_dict() for event in self.impossible],
        }

    def __str__(self) -> str:
        how = "exact" if self.exact else f"from {self.rows:,} sampled rows"
        error = "" if self.exact or not self.is_finite else f" ± {self.standard_error:.2g}"
        text = f"KL divergence {self.value:.6g}{error} nats ({how})"
        if not self.impossible:
            return text
        first, more = self.impossible[0], len(self.impossible) - 1
        others = f" and {more} more" if more else ""
        if first.is_noise:
            return f"{text}; {first}{others}"
        if more + 1 == LISTED:
            others = " and many more"
        return f"{text}; the learned network rules out {first}{others}"

    def __repr__(self) -> str:
        return f"<Divergence: {self}>"
