"""The settings of a run as a result and a checkpoint store them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bayescout.formats.labels import decode_label, encode_label
from bayescout.scores import PRIORS, SCORES
from bayescout.search.frame.knowledge import Knowledge
from bayescout.settings import Named

LISTED = "listed"
"""The name of the score when scored parent sets replace data."""


@dataclass(frozen=True)
class Settings:
    """The settings with which a network was learned: search and score each as a name and plain settings.

    `discretise` is None, a number, a method, or pairs of a column and its number of intervals or cut points.
    `score_settings` is None if the score cannot be made again from its name, as with your own; so is
    `prior_settings` of the structure prior. Beliefs, its other part, are in the knowledge.
    `screen` is None if it was left open.
    """

    search: str
    search_settings: dict[str, Any]
    score_name: str
    score_settings: dict[str, Any] | None
    knowledge: Knowledge
    start: str
    seed: int
    missing: str = "em"
    discretise: Any = None
    prior_name: str = "uniform"
    prior_settings: dict[str, Any] | None = field(default_factory=dict)
    screen: str | float | None = None

    @property
    def score(self) -> str:
        """The score for display: its name, or the call if its settings are not the default ones."""
        return Named(self.score_name, self.score_settings).label(SCORES)

    @property
    def can_be_made(self) -> bool:
        """True if score and structure prior can be made again from their names."""
        return self.score_settings is not None and self.prior_settings is not None

    def made_score(self) -> Any:
        """The score that the network was learned with, made again from its name and settings."""
        return Named(self.score_name, self.score_settings).make("score", SCORES)

    @property
    def structure_prior(self) -> str:
        """The structure prior for display, as `score`."""
        return Named(self.prior_name, self.prior_settings).label(PRIORS)

    @property
    def prior_told(self) -> str:
        """The structure prior with the number of beliefs in it; empty if it is uniform."""
        beliefs = len(self.knowledge.beliefs)
        if not beliefs:
            return "" if self.prior_name == "uniform" else self.structure_prior
        return f"{self.structure_prior}, {beliefs:,} {'belief' if beliefs == 1 else 'beliefs'}"

    def made_prior(self) -> Any:
        """The structure prior that the network was learned with, made again; without the beliefs."""
        return Named(self.prior_name, self.prior_settings).make("structure prior", PRIORS)

    def to_json(self) -> dict[str, Any]:
        return {
            "search": self.search,
            "search_settings": self.search_settings,
            "score": self.score_name,
            "score_settings": self.score_settings,
            "knowledge": _encoded(self.knowledge.to_dict()),
            "start": self.start,
            "seed": self.seed,
            "missing": self.missing,
            "discretise": _cuts_encoded(self.discretise, encode_label),
            "structure_prior": self.prior_name,
            "structure_prior_settings": self.prior_settings,
        } | ({} if self.screen is None else {"screen": self.screen})

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Settings:
        known = {key: _decoded(item) for key, item in saved["knowledge"].items()}
        limits = known["max_parents"]
        known["max_parents"] = dict(limits) if isinstance(limits, (list, tuple)) else limits
        name = saved["score"]
        return cls(
            search=saved["search"],
            search_settings=saved["search_settings"],
            score_name=name,
            # Results from before settings were stored have the default ones, or a text.
            score_settings=saved.get("score_settings", {} if name in SCORES else None),
            knowledge=Knowledge(**known),
            start=saved["start"],
            seed=saved["seed"],
            missing=saved.get("missing", "error"),
            discretise=_cuts_encoded(saved.get("discretise"), decode_label),
            prior_name=saved.get("structure_prior", "uniform"),
            prior_settings=saved.get("structure_prior_settings", {}),
            screen=saved.get("screen"),
        )


def _cuts_encoded(choice: Any, code: Callable[[Any], Any]) -> Any:
    """The setting `discretise` with its columns in their JSON form, or back."""
    return [[code(name), one] for name, one in choice] if isinstance(choice, list) else choice


def _encoded(value: Any) -> Any:
    """Lists of labels with every label in its JSON form."""
    if isinstance(value, dict):
        return {key: _encoded(item) for key, item in value.items()}
    return [_encoded(item) for item in value] if isinstance(value, list) else encode_label(value)


def _decoded(value: Any) -> Any:
    return [_decoded(item) for item in value] if isinstance(value, list) else decode_label(value)
