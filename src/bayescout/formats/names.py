"""The one rule by which names and states that a format cannot carry are changed, so that it can be undone.

A name that fits its format is written as it is. In any other, every character except the letters A to Z
and a to z, the digits and the underscore becomes an underscore; a name that then does not begin with a
letter gets `x_` in front, and a reserved word `_` at its end; it is cut to the format's longest name; and
while another name is the same, it gets `_2`, `_3`, ... at its end. So "M. Work" becomes M__Work. The name
itself is kept in the file as a fact (see `facts.py`), which other tools skip and our reader takes back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bayescout.formats.labels import encode_label
from bayescout.graph.labels import Label

_OTHER = re.compile(r"[^A-Za-z0-9_]")

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
"""A name that every tool reads."""

XML_TEXT = re.compile(
    r"[!-\x7e\xa1-\u1fff\u2070-\ud7ff\uf900-\ufdcf\ufdf0-\ufefe\U00010000-\U0001fffd]"
    r"(?:[ !-\x7e\xa1-\u1fff\u2070-\ud7ff\uf900-\ufdcf\ufdf0-\ufefe\U00010000-\U0001fffd]*"
    r"[!-\x7e\xa1-\u1fff\u2070-\ud7ff\uf900-\ufdcf\ufdf0-\ufefe\U00010000-\U0001fffd])?"
)
"""Text of an XML file that is read back the same whatever a reader does with white space at its ends."""


@dataclass(frozen=True)
class Names:
    """The names or states that one format carries.

    fits      the pattern of a whole name that is written as it is
    reserved  words that are not written as they are though they fit
    longest   the most characters, or None
    """

    fits: re.Pattern[str] = IDENTIFIER
    reserved: Collection[str] = ()
    longest: int | None = None

    def carried(self, labels: Sequence[Label]) -> list[str]:
        """One text per label, no two the same, each as the format carries it."""
        taken = {label for label in labels if type(label) is str and self._fits(label)}
        texts = []
        for label in labels:
            encode_label(label)  # refuses one that could not be taken back
            text = str(label)
            if type(label) is not str or not self._fits(text):
                text = self._free(text if self._fits(text) else self._changed(text), taken)
                taken.add(text)
            texts.append(text)
        return texts

    def _fits(self, text: str) -> bool:
        if self.longest is not None and len(text) > self.longest:
            return False
        return bool(self.fits.fullmatch(text)) and text not in self.reserved

    def _changed(self, text: str) -> str:
        text = _OTHER.sub("_", text)
        if not text[:1].isalpha():
            text = f"x_{text}"
        text = text[: self.longest]
        return f"{text}_" if text in self.reserved else text

    def _free(self, text: str, taken: Collection[str]) -> str:
        number, free = 1, text
        while free in taken:
            number += 1
            ending = f"_{number}"
            free = text[: None if self.longest is None else self.longest - len(ending)] + ending
        return free
