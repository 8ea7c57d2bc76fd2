"""What is fuzzed: how an input is drawn, and what must hold of whatever comes of it.

An input is drawn from a random generator alone, and a generator is made of (target, seed, number), so that
every input can be made again. It is accepted, or refused with an error of ours in one line; anything else is
a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from bayescout.errors import BayescoutError

Value = TypeVar("Value")


class Broken(Exception):
    """A law that does not hold. `law` is the same for all findings of its kind, `detail` is not."""

    def __init__(self, law: str, detail: object = "") -> None:
        self.law = law
        super().__init__(f"{law}: {str(detail)[:2000]}" if str(detail) else law)


class Refused(Exception):
    """Refused in order, where it is not an error of ours that says so, such as by an exit code."""


def as_bytes(value: Any) -> bytes:
    """What is kept of an input."""
    return value if isinstance(value, bytes) else repr(value).encode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Target:
    """One thing to fuzz.

    weight  its share of the inputs
    seeds   valid inputs, made by the package itself; checked before the first drawn input, so that code is
            loaded and compiled by then, and a target that refuses everything is noticed
    draw    an input, from a random generator alone
    check   takes an input and an empty folder of its own; returns where it is accepted, raises an error of
            ours or `Refused` where it is refused, and anything else where something is wrong
    kept    the bytes that are kept of an input in which something was found
    """

    name: str
    weight: float
    seeds: Callable[[], Sequence[Any]]
    draw: Callable[[Random], Any]
    check: Callable[[Any, Path], None]
    kept: Callable[[Any], bytes] = as_bytes


def generator(target: str, seed: int, number: int) -> Random:
    """The random numbers of one input."""
    return Random(f"{target}/{seed}/{number}")


def must(law: str, act: Callable[[], Value]) -> Value:
    """What an act gives that may not be refused, since the same was accepted before."""
    try:
        return act()
    except BayescoutError as error:
        raise Broken(law, error) from error


def hold(law: str, fact: bool, detail: object = "") -> None:
    if not fact:
        raise Broken(law, detail)


def written(act: Callable[[], Value]) -> Value | None:
    """What was written, or None where the format cannot hold it and says so."""
    try:
        return act()
    except BayescoutError as error:
        check_message(error)
        return None


def check_message(error: BayescoutError) -> None:
    """An error of ours is one line, and says something."""
    hold("the message of an error is one line", len(str(error).splitlines()) == 1, repr(str(error)))
