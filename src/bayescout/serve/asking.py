"""What if: all marginals given what is observed, done, ruled out or half known."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescout.errors import BayescoutError, SettingError, UnknownNameError
from bayescout.network.distribution import Distribution
from bayescout.serve.subject import Subject

MEMORY = 2**28
"""Bytes for tables of an exact answer: a second or two. What needs more is estimated."""


MOST_PARTS = 64
"""The most normal distributions in which the density of a number is told."""


def ask(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The marginals beside their base, the probability of the evidence, and what tells of a target."""
    subject = Subject.of(values)
    question = Question(subject, values)
    base = Question(subject, values.get("base") or {})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = question.marginals()
        before = subject.bases.get(repr(base.given), base.marginals)
        marginals = {
            name: _compared(found[label], before[label])
            for name, label in zip(subject.names, subject.labels, strict=True)
        }
        rest = _about_evidence(question) | _about_target(question, values.get("target"))
    errors = [getattr(one, "error", 0.0) for one in (*found.values(), *before.values())]
    notes = list(dict.fromkeys(str(one.message) for one in told))
    return {
        "marginals": marginals,
        "estimate": any(errors),
        "error": max(errors, default=0.0),
        "notes": notes,
        **rest,
    }


class Question:
    """What is known, by labels and states, from the names and texts of the page."""

    def __init__(self, subject: Subject, values: Mapping[str, Any]) -> None:
        self.subject = subject
        self.evidence = {
            subject.label(n): self._state(n, v) for n, v in (values.get("evidence") or {}).items()
        }
        self.acts = {subject.label(n): self._state(n, v) for n, v in (values.get("do") or {}).items()}
        self.soft: dict[Any, Any] = {}
        for name, weights in (values.get("soft") or {}).items():
            self.soft[subject.label(name)] = self._weights(name, weights)
        for name, states in (values.get("not") or {}).items():
            self._rule_out(name, states)
        self.network = subject.network.do(self.acts) if self.acts else subject.network

    @property
    def given(self) -> Any:
        return self.evidence, self.acts, self.soft

    def _states(self, name: str) -> dict[str, Any] | None:
        found = self.subject.table.states[self.subject.table.index(self.subject.label(name))]
        return None if found is None else {str(state): state for state in found}

    def _state(self, name: str, text: Any) -> Any:
        states = self._states(name)
        if states is None:
            try:
                return float(text)
            except (TypeError, ValueError):
                raise SettingError(f"{name!r} is continuous: give a number, not {text!r}") from None
        if str(text) not in states:
            raise UnknownNameError("state", str(text), states, f"variable {name!r}")
        return states[str(text)]

    def _weights(self, name: str, weights: Any) -> Any:
        states = self._states(name)
        if not isinstance(weights, Mapping):
            raise SettingError(f"soft evidence of {name!r} is a number for each state, not {weights!r}")
        if states is None:
            return dict(weights)
        given = {self._state(name, state): weight for state, weight in weights.items()}
        return {state: given.get(state, 0.0) for state in states.values()}

    def _rule_out(self, name: str, texts: Any) -> None:
        """States that cannot be have a likelihood of zero."""
        states, label = self._states(name), self.subject.label(name)
        if states is None:
            raise SettingError(f"{name!r} is continuous and has no states to rule out")
        out = {self._state(name, text) for text in texts}
        likely = self.soft.get(label) or dict.fromkeys(states.values(), 1.0)
        self.soft[label] = {state: 0.0 if state in out else likely[state] for state in states.values()}
        if not any(self.soft[label].values()):
            raise SettingError(f"every state of {name!r} is ruled out; leave one")

    def marginals(self) -> Any:
        soft = self.soft or None
        return self.network.marginals(self.evidence or None, soft=soft, memory=MEMORY)


def _compared(found: Any, before: Any) -> dict[str, Any]:
    """A marginal beside the one before; the lift is their quotient, null where that was impossible."""
    if not isinstance(found, Distribution):
        return {"now": numbers(found), "base": numbers(before)}
    p, base = found.values(), before.values()
    states = [str(state) for state in found.states[0]]
    lift = [one / other if other > 0 else None for one, other in zip(p, base, strict=True)]
    return {"states": states, "p": p, "base": base, "lift": lift}


def numbers(found: Any) -> dict[str, Any]:
    """Mean, deviation, and the density as a mixture of normal distributions: (weight, mean, deviation).

    Of a mixture of very many the heaviest are given, and the others together as one.
    """
    weights = getattr(found, "weights", np.ones(1))
    means = found.means[:, 0] if found.means.ndim == 2 else found.means
    variances = (found.covariances[:, 0, 0] if hasattr(found, "covariances") else found.covariance[0]).clip(0)
    order = np.argsort(-weights, kind="stable")
    kept, rest = order[: MOST_PARTS - 1], order[MOST_PARTS - 1 :]
    parts = [(weights[i], means[i], math.sqrt(variances[i])) for i in kept]
    if len(rest):
        share = weights[rest] / weights[rest].sum()
        mean = share @ means[rest]
        spread = share @ (variances[rest] + (means[rest] - mean) ** 2)
        parts.append((weights[rest].sum(), mean, math.sqrt(spread)))
    sd = math.sqrt(max(0.0, float(found.variance)))
    return {"mean": float(found.mean), "sd": sd, "parts": [[float(one) for one in part] for part in parts]}


def _about_evidence(question: Question) -> dict[str, Any]:
    """The probability of all findings, a density where there are numbers, and their conflict; or why not."""
    if not question.evidence and not question.soft:
        return {"p_evidence": 1.0, "conflict": None, "density": False}
    density = any(isinstance(value, float) for value in question.evidence.values())
    try:
        found = question.network.conflict(question.evidence, soft=question.soft or None)
    except BayescoutError as error:
        return {"p_evidence": None, "conflict": None, "density": density, "conflict_refused": str(error)}
    likely = found.log_evidence
    return {
        "p_evidence": math.exp(likely) if likely < 700 else None,
        "log_p_evidence": likely,
        "density": density,
        "conflict": found.value,
        "conflicting": [[str(a), str(b), c] for a, b, c in found.pairs[:10]],
    }


def _about_target(question: Question, target: str | None) -> dict[str, Any]:
    """What each variable would tell of the target, the most telling first."""
    if not target:
        return {"information": [], "next": None}
    label = question.subject.label(target)
    if label in question.evidence or label in question.acts:
        return {"information": [], "next": None}
    try:
        found = question.network.information(label, question.evidence or None, soft=question.soft or None)
    except BayescoutError as error:
        return {"information": [], "next": None, "information_refused": str(error)}
    best = None if found.best is None else str(found.best)
    information = [[str(one.node), one.information] for one in found]
    return {"information": information, "next": best, "left_out": [str(one) for one in found.left_out]}
