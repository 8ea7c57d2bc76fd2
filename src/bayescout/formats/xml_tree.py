"""XML as a tree of elements with their positions, read without entities or anything from outside.

A document type with declarations of elements is skipped; one that declares an entity, the way to make
a small file expand into a huge one or to read other files, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape as _escape
from xml.sax.saxutils import quoteattr as _quoteattr

from bayescout.errors import FormatError
from bayescout.formats.text import Source

MAX_ELEMENTS = 2**21
"""The most elements of a document; each takes some hundred bytes, however short it is."""

MAX_DEPTH = 100
"""The deepest nesting of elements."""


@dataclass(slots=True)
class Element:
    """An element: its name without a namespace, attributes, elements inside, and its own text."""

    tag: str
    attributes: dict[str, str]
    at: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly inside, without blanks at its ends."""
        return "".join(self.pieces).strip()

    def all(self, tag: str) -> Iterator[Element]:
        """The elements directly inside that have this name, upper or lower case."""
        return (child for child in self.children if child.tag.lower() == tag.lower())

    def first(self, tag: str) -> Element | None:
        return next(self.all(tag), None)


class XmlSource(Source):
    """The text of an XML file; a position is a line here, which is what the parser says."""

    def error(self, message: str, at: int) -> FormatError:
        return FormatError(" ".join(message.splitlines()), self.path, at or None)


class _Builder:
    def __init__(self, source: XmlSource) -> None:
        self.source, self.count = source, 0
        self.open: list[Element] = []
        self.root: Element | None = None
        self.parser = parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        line = self.parser.CurrentLineNumber
        if self.count > MAX_ELEMENTS:
            raise self.source.error(f"has more than {MAX_ELEMENTS:,} elements, the most that are read", line)
        if len(self.open) >= MAX_DEPTH:
            raise self.source.error(f"elements are nested more than {MAX_DEPTH} deep", line)
        element = Element(tag.rpartition(" ")[2], attributes, line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        self.open[-1].pieces.append(text)

    def entity(self, *declared: object) -> None:
        raise self.source.error(
            f"declares the entity {str(declared[0])[:40]!r}; entities are not read: write the text itself",
            self.parser.CurrentLineNumber,
        )


def parse(source: XmlSource) -> Element:
    """The root element of an XML text."""
    builder = _Builder(source)
    try:
        builder.parser.Parse(source.text.encode("utf-8"), True)
    except expat.ExpatError as error:
        what = expat.errors.messages.get(error.code, "not well formed")
        raise source.error(
            f"is not XML that can be read: {what}; the file may be truncated", error.lineno
        ) from None
    except UnicodeEncodeError:
        raise FormatError("has half a character; save the file as UTF-8", source.path) from None
    assert builder.root is not None
    return builder.root


def escape(text: str) -> str:
    """Text between tags."""
    return _escape(text)


def attribute(text: str) -> str:
    """An attribute's value, in quotes."""
    return _quoteattr(text)
