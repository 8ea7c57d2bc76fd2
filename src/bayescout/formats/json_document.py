"""A JSON document with the way to each of its parts, so that an error can say where."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from bayescout.errors import FormatError
from bayescout.formats.labels import decode_label
from bayescout.graph.labels import Label


def load(text: str, path: str) -> Any:
    def refuse_constant(word: str) -> NoReturn:
        raise FormatError(f"{word} is not a number that JSON or a network can hold", path)

    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            raise FormatError(f"the key {twice!r} occurs twice in one object", path)
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
    """A value inside the document and the way to it, so that an error can say where."""

    def __init__(self, value: Any, file: str, way: str = "") -> None:
        self.value, self.file, self.way = value, file, way

    def fail(self, message: str) -> NoReturn:
        raise FormatError(f"{self.way or 'the document'} {message}", self.file)

    def members(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.fail("must be an object")
        return self.value

    def get(self, key: str) -> Part:
        if key not in self.members():
            self.fail(f"has no {key!r}")
        return Part(self.value[key], self.file, f"{self.way}.{key}" if self.way else key)

    def items(self) -> list[Part]:
        if not isinstance(self.value, list):
            self.fail("must be a list")
        return [Part(item, self.file, f"{self.way}[{i}]") for i, item in enumerate(self.value)]

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
