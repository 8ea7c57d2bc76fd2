"""A JSON document with the path to each of its parts, so that an error can say where."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

from bayescout.checks import first_repeated
from bayescout.errors import FormatError
from bayescout.formats.labels import decode_label
from bayescout.graph.labels import Label

MAX_PARTS = 2**23
"""The most lists, objects and texts in a document; each takes tens of bytes, however short it is."""


def load(text: str, path: str) -> Any:
    """The value of a JSON text; a key that occurs twice in an object is refused."""
    parts = text.count("[") + text.count("{") + text.count('"') // 2
    if parts > MAX_PARTS:
        raise FormatError(
            f"has {parts:,} lists, objects and texts, more than the {MAX_PARTS:,} that are read; check "
            f"that it is the file you mean",
            path,
        )

    def refuse_constant(word: str) -> NoReturn:
        raise FormatError(f"{word} is not a number that JSON or a network can hold", path)

    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            twice = first_repeated(key for key, _ in pairs)
            assert twice is not None
            raise FormatError(f"the key {pairs[twice][0]!r} occurs twice in one object", path)
        return members

    try:
        return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=refuse_twice)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"is not JSON: {error.msg}; the file may be truncated", path, error.lineno
        ) from None
    except RecursionError:
        raise FormatError("is not a network: lists are nested too deeply", path) from None
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"is not JSON this library can read: {error}", path) from None


class Part:
    """A value inside the document and the path to it, so that an error can say where.

    The path is only put together for an error: a document may have millions of parts.
    """

    __slots__ = ("file", "inside", "key", "value")

    def __init__(self, value: Any, file: str, inside: Part | None = None, key: str | int = "") -> None:
        self.value, self.file, self.inside, self.key = value, file, inside, key

    @property
    def way(self) -> str:
        before = self.inside.way if self.inside else ""
        if isinstance(self.key, int):
            return f"{before}[{self.key}]"
        return f"{before}.{self.key}" if before else self.key

    def fail(self, message: str) -> NoReturn:
        raise FormatError(f"{self.way or 'the document'} {message}", self.file)

    def members(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.fail("must be an object")
        return self.value

    def get(self, key: str) -> Part:
        if key not in self.members():
            self.fail(f"has no {key!r}")
        return Part(self.value[key], self.file, self, key)

    def length(self) -> int:
        """The number of items of a list."""
        if not isinstance(self.value, list):
            self.fail("must be a list")
        return len(self.value)

    def items(self) -> Iterator[Part]:
        """The items of a list, one after the other."""
        return (Part(self.value[i], self.file, self, i) for i in range(self.length()))

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.fail("must be text")
        return self.value

    def label(self) -> Label:
        try:
            return decode_label(self.value)
        except (ValueError, RecursionError) as error:
            self.fail(f"is {error}")

    def labels(self) -> tuple[Label, ...]:
        """A list of labels, each once."""
        seen: dict[Label, None] = {}
        for item in self.items():
            label = item.label()
            if label in seen:
                item.fail(f"repeats {label!r}")
            seen[label] = None
        return tuple(seen)

    def number(self) -> float:
        if type(self.value) not in (int, float):
            self.fail("must be a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail("is too large a number")
        return number

    def numbers(self, count: int) -> list[float]:
        """A list of `count` finite numbers."""
        values = self.value
        if not isinstance(values, list) or len(values) != count:
            self.fail(f"must be a list of {count} number{'s' * (count != 1)}")
        if all(type(value) is float and math.isfinite(value) for value in values):
            return values
        return [item.number() for item in self.items()]
