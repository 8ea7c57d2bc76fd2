"""The process that answers questions: one at a time, with what it made for earlier ones at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayescout.serve import asking, cards, columns, comparing, costs, proving, sharing, strengths, views
from bayescout.serve.wire import Channel, failure, settle

Tell = Callable[..., None]
"""Tells the server how far a long answer has come."""

JOBS: dict[str, Callable[[dict[str, Any], Tell], Any]] = {
    "read": columns.read,
    "example": columns.example,
    "detail": views.detail,
    "at": views.at,
    "layout": views.layout,
    "warm": views.warm,
    "node": views.node,
    "card": cards.card,
    "turn": cards.turn,
    "ask": asking.ask,
    "estimate": costs.estimate,
    "prices": costs.prices,
    "prove": proving.prove,
    "compare": comparing.compared,
    "network": comparing.network,
    "commands": sharing.commands,
    "export": sharing.export,
    "strengths": strengths.strengths,
    "averaged": strengths.averaged,
}


def answer(channel: Channel) -> None:
    """Answer messages until the server closes the pipe."""
    import bayescout.kernels.counting
    import bayescout.network.inference
    import bayescout.statistics.counts  # noqa: F401 - ready before they are needed

    settle()
    while (message := channel.receive()) is not None:
        number = message["id"]

        def tell(number: int = number, **values: Any) -> None:
            channel.send({"event": "progress", "id": number, **values})

        try:
            done = JOBS[message["job"]](message, tell)
        except Exception as error:
            channel.send({"id": number, **failure(error)})
        else:
            channel.send({"id": number, "done": done})
