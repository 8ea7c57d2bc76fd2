"""Knowledge as the page has it: the text, and its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayescout.errors import KnowledgeError
from bayescout.search import Knowledge
from bayescout.search.frame.knowledge_input import checked_fields
from bayescout.search.frame.knowledge_output import written


def shown_knowledge(known: Knowledge) -> dict[str, Any]:
    """The fields, and the text that holds the same; a belief is [a, b, probability, "->" or "--"]."""
    fields = known.to_dict()
    beliefs = [[a, b, value, arrow] for a, arrow, b, value in fields["beliefs"]]
    return {**fields, "beliefs": beliefs, "text": written(fields)}


def text_of(asked: Mapping[str, Any]) -> str:
    """The text form of the fields that a page sends."""
    fields = checked_fields({key: value for key, value in asked.items() if key != "text"})
    try:
        beliefs = [_belief(*one) for one in fields.get("beliefs") or ()]
        return written({**fields, "beliefs": beliefs, "max_parents": _limits(fields.get("max_parents"))})
    except (TypeError, ValueError, AttributeError):
        raise KnowledgeError("these are not the fields of knowledge; see `Knowledge.to_dict`") from None


def _belief(one: str, other: str, value: Any, arrow: str = "->") -> list[Any]:
    if arrow not in ("->", "--"):
        raise ValueError(arrow)
    return [one, arrow, other, float(value)]


def _limits(limits: Any) -> Any:
    return list(map(list, limits.items())) if isinstance(limits, Mapping) else limits
