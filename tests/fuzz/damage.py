"""How valid inputs are damaged: bytes, words, lines, and the values inside JSON.

Every function takes a `random.Random` first and changes nothing that it is given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

ODD_NUMBERS = (
    "0", "-0", "-1", "1", "2", "00", "1e999", "-1e999", "1e308", "1e-320", "0.1", ".5", "5.", "1_0",
    "0x10", "1e",
    "NaN", "nan", "Infinity", "-inf", "255", "256", "65535", "65536", "100000000", "2147483647",
    "2147483648",
    "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" + "0" * 400,
    "0." + "9" * 60,
)  # fmt: skip

CONTROLS = (
    "\x00",
    "\x07",
    "\x08",
    "\x0b",
    "\x0c",
    "\x1b[2J",
    "\x1b]0;x\x07",
    "\x7f",
    "\x85",
    "\x9b31m",
    "\r",
    "\u202e",
    "\u2028",
)
"""Characters that do something to a terminal, or end a line for some."""

ODD_TEXTS = (
    "", " ", "a", "a b", "a,b", "a|b:c", "[x]", "(y)", "{", "}", '"', "'", "\\", '\\"', "\\n", "\n",
    "\r\n", "\t", ";",
    "#", "//", "/*", "*/", "=", "->", "--", "<b>", "ü", "日本", "\ufeff", "None", "true", "null", "NA",
    "e\u0301",
    "x" * 300, "%s{0}", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), *CONTROLS,
)  # fmt: skip

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 0.5, -0.0, 1.0, 1e308, -1e308, 5e-324, 10**8, -(10**8), 2**31,
    2**63, -(2**63) - 1,
    10**30, 10**400, float("nan"), float("inf"), -float("inf"), "", "a", "x", "nan", "\x1b[2J", "\n",
    [], {}, [[]], [0],
    [1, 2], ["a"], [None], [[0, 1]], [10**8], {"a": 1}, {"tuple": [1, "a"]}, {"float": "inf"},
    {"date": "2020-01-31"},
    {"tuple": {}}, [[[[[[]]]]]],
)  # fmt: skip

WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
DEPTHS = (30, 200, 3000, 100_000)

Damage = Callable[[Random, bytes], bytes]


# ---- bytes


def damaged_bytes(
    rng: Random, data: bytes, others: Sequence[bytes] = (), words: Sequence[bytes] = ()
) -> bytes:
    """A few bytes flipped, cut, doubled, moved, put in, or taken from another input."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5, 9))):
        data = _one_piece(rng, data, others, words)
    return data


def _one_piece(rng: Random, data: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((1, 1, 2, 4, 8, 40, 400)))
    way = rng.randrange(8)
    if way == 0 and data:
        at = min(start, len(data) - 1)
        return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if way == 1:
        return data[:start] + data[end:]
    if way == 2:
        return data[:end] + data[start:]
    if way == 3:
        return data[:start]
    if way == 4 and words:
        return data[:start] + rng.choice(words) + data[start if rng.random() < 0.5 else end :]
    if way == 5 and others:
        other = rng.choice(others)
        at = rng.randrange(len(other) + 1)
        return data[:start] + other[at : at + rng.choice((4, 40, 4000))] + data[end:]
    if way == 6:
        piece, at = data[start:end], rng.randrange(len(data) + 1)
        rest = data[:start] + data[end:]
        return rest[:at] + piece + rest[at:]
    return data[:start] + rng.randbytes(end - start) + data[end:]


# ---- words


def damaged_words(rng: Random, text: str, others: Sequence[str] = (), words: Sequence[str] = ()) -> str:
    """Whole words, numbers, marks and blanks changed, doubled, swapped or left out."""
    found = WORDS.findall(text)
    if found and rng.random() < 0.3:
        return _renamed(rng, found)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        if not found:
            break
        _one_word(rng, found, others, words)
    return "".join(found)


def _renamed(rng: Random, found: list[str]) -> str:
    """One word changed wherever it stands, so that the text may still hold together."""
    old, new = rng.choice(found), rng.choice(ODD_TEXTS if rng.random() < 0.7 else found)
    return "".join(new if word == old else word for word in found)


def _one_word(rng: Random, found: list[str], others: Sequence[str], words: Sequence[str]) -> None:
    at, to = rng.randrange(len(found)), rng.randrange(len(found))
    way = rng.randrange(7)
    if way == 0:
        del found[at]
    elif way == 1:
        found[at], found[to] = found[to], found[at]
    elif way == 2:
        found[at] = found[to]
    elif way == 3:
        found[at] = rng.choice(ODD_NUMBERS if found[at][:1].isdigit() else ODD_TEXTS)
    elif way == 4:
        found[at] = rng.choice(words or ODD_TEXTS)
    elif way == 5:
        found[at:at] = found[to : to + rng.choice((1, 3, 20))]
    else:
        other = rng.choice(others) if others else ""
        place = rng.randrange(len(other) + 1)
        found.insert(at, other[place : place + 30] or rng.choice(ODD_TEXTS))


# ---- JSON


def damaged_json(rng: Random, text: str) -> str:
    """The document with some values replaced, left out, doubled, moved or nested deeply."""
    document = json.loads(text)
    if rng.random() < 0.3:
        texts = sorted(set(_texts(document)))
        document = _relabelled(document, rng.choice(texts), rng.choice(ODD_TEXTS)) if texts else document
    else:
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            document = _one_value(rng, document)
    dumped = json.dumps(document, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.02:
        depth, place = rng.choice(DEPTHS), dumped.find(": ") + 2
        return dumped[:place] + "[" * depth + "]" * depth + dumped[place:]
    if rng.random() < 0.03:
        return _with_key_twice(rng, dumped)
    return dumped


def _one_value(rng: Random, document: Any) -> Any:
    """One place of the document changed; the document itself where it has no places."""
    holder, key = _place(rng, document)
    if holder is None:
        return rng.choice(ODD_VALUES)
    way = rng.randrange(8)
    if way == 0:
        del holder[key]
    elif way == 1:
        other, its = _place(rng, document)
        holder[key] = json.loads(json.dumps(other[its])) if other is not None else None
    elif way == 2 and isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(holder[key])))
    elif way == 3 and isinstance(holder, list):
        holder.reverse()
    elif way == 4 and isinstance(holder, dict):
        holder[rng.choice((*ODD_TEXTS, "a", "tuple"))] = holder.pop(key)
    elif way == 5:
        holder[key] = _near(rng, holder[key])
    elif way == 6:
        holder[key] = [holder[key]] if rng.random() < 0.5 else str(holder[key])
    else:
        holder[key] = rng.choice(ODD_VALUES)
    return document


def _texts(value: Any) -> list[str]:
    """Every text that is a value."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]


def _relabelled(value: Any, old: str, new: str) -> Any:
    """The document with one text changed wherever it stands, as a key too."""
    if isinstance(value, dict):
        return {new if key == old else key: _relabelled(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [_relabelled(item, old, new) for item in value]
    return new if value == old and isinstance(value, str) else value


def _near(rng: Random, value: Any) -> Any:
    """A value of the same type that is somewhat different."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1, 2, 100, 10**8, -(10**8)))
    if isinstance(value, float):
        return rng.choice((value + 1.0, -value, value * 2, value + 1e-9, value / 3))
    if isinstance(value, str):
        return value + rng.choice(ODD_TEXTS) if rng.random() < 0.5 else value[::-1]
    return type(value)()


def _place(rng: Random, document: Any) -> tuple[Any, Any]:
    """A list or object inside the document and one of its keys, by a walk that may end anywhere."""
    holder, key, value = None, None, document
    while isinstance(value, (list, dict)) and value and (holder is None or rng.random() < 0.8):
        holder = value
        key = rng.randrange(len(value)) if isinstance(value, list) else rng.choice(list(value))
        value = holder[key]
    return holder, key


def _with_key_twice(rng: Random, text: str) -> str:
    keys = [found.start() for found in re.finditer(r'"\w+": ', text)]
    if not keys:
        return text
    at = rng.choice(keys)
    return text[:at] + text[at : text.index(":", at) + 1] + " 0, " + text[at:]


# ---- lines


def damaged_lines(rng: Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Lines swapped, doubled, left out, cut short, taken from another file, or changed inside."""
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
        way = rng.randrange(7)
        if way == 0 and len(lines) > 1:
            del lines[at]
        elif way == 1:
            lines[at], lines[to] = lines[to], lines[at]
        elif way == 2:
            lines.insert(to, lines[at])
        elif way == 3:
            lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
        elif way == 4 and others:
            lines[at] = rng.choice(rng.choice(others).split(b"\n"))
        elif way == 5:
            lines = lines[: at + 1]
        else:
            lines[at] = _line_inside(rng, lines[at])
    return b"\n".join(lines)


def _line_inside(rng: Random, line: bytes) -> bytes:
    """A line whose JSON, with whatever stands before it, has other values."""
    start = min((at for at in (line.find(b"{"), line.find(b"[")) if at >= 0), default=-1)
    if start >= 0:
        try:
            return line[:start] + damaged_json(rng, line[start:].decode()).encode("utf-8", "replace")
        except (ValueError, RecursionError):
            pass
    return damaged_bytes(rng, line)


# ---- together


def damaged_text(
    rng: Random, seeds: Sequence[str], words: Sequence[str] = (), as_json: bool = False
) -> bytes:
    """One of the texts, damaged in one way or another; now and then nothing but words."""
    text = rng.choice(seeds)
    way = rng.random()
    if way < 0.02:
        return "".join(rng.choice((*words, *ODD_TEXTS)) for _ in range(rng.randrange(12))).encode(
            "utf-8", "replace"
        )
    if as_json and way < 0.6:
        try:
            return damaged_json(rng, text).encode("utf-8", "surrogatepass")
        except ValueError:
            pass
    if way < 0.75:
        return damaged_words(rng, text, seeds, words).encode("utf-8", "replace")
    others = [seed.encode() for seed in seeds]
    return damaged_bytes(rng, text.encode(), others, [word.encode() for word in (*words, *ODD_TEXTS)])


def damaged_file(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A file of lines of JSON, or of one JSON document, damaged in one way or another."""
    way = rng.random()
    if way < 0.5:
        return damaged_lines(rng, data, others)
    if way < 0.75:
        return _line_inside(rng, data)
    return damaged_bytes(rng, data, others)
