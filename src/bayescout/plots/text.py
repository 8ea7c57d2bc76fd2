"""The width of a label, estimated without a font, and the shortening of long labels."""

from __future__ import annotations

from unicodedata import category, east_asian_width

from bayescout.graph.labels import Label

FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
MAX_CHARACTERS = 24
"""Longer labels are shortened in the middle; the tooltip shows the whole."""

# fmt: off
_ASCII = (
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
    58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69,
    61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58,
    28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
)
# fmt: on
"""Advance widths of the characters from space to ~ in DejaVu Sans, in hundredths of the font size.

It is among the widest common sans-serif fonts, so that a label fits its box in other fonts too.
"""


def text_width(text: str, size: float) -> float:
    """The width of one line of text at a font size, in the same unit; at most a little too small."""
    return sum(map(_advance, text)) * size / 100


def _advance(character: str) -> int:
    code = ord(character)
    if 32 <= code < 127:
        return _ASCII[code - 32]
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 105 if east_asian_width(character) in "WF" else 80


def one_line(label: Label) -> str:
    """A label as one printable line of text: no line ends, no control characters."""
    text = str(label)
    shown = "".join(" " if character.isspace() else character for character in text)
    return "".join("�" if _unprintable(character) else character for character in shown)


def _unprintable(character: str) -> bool:
    """Return True for a character that XML cannot hold: controls, surrogates, the two non-characters."""
    return category(character) in ("Cc", "Cs") or character in "\ufffe\uffff"


def shortened(text: str, limit: int = MAX_CHARACTERS) -> str:
    """The text, with its middle replaced by an ellipsis if it has more characters than the limit."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return text[: limit - 1 - tail] + "…" + text[len(text) - tail :]


def wrapped(text: str, size: float, width: float) -> list[str]:
    """The text in lines of whole words, none wider than the width unless a single word is."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
