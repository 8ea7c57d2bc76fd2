"""Docstrings, which are plain text here, as reStructuredText.

A paragraph whose lines are a name, two spaces or more, and a text becomes a list of definitions; an indented
paragraph becomes code; `$...$` and `$$...$$` become formulas; `x` stays code, linked where x is known.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

ENTRY = re.compile(r"^(?P<name>\S+(?:,? \S+)*?) {2,}(?P<text>\S.*)$")
MARKED = re.compile(r"(``.+?``|`[^`]+`_?|\$[^$]+\$)")
SPECIAL = re.compile(r"([*|\\]|_(?=\W|$))")
GIVEN = {
    "bayescout.Result",
    "bayescout.graph.compare.Comparison",
    *(
        f"bayescout.evaluate.{name}"
        for name in ("ArcStrengths", "CrossValidation", "HeldOut", "Divergence", "IndependenceTest")
    ),
}
"""Classes that only the library makes."""
BULLET = re.compile(r"^[-*] |^\d+\. ")


def converted(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText."""
    out: list[str] = []
    for empty, group in groupby(lines, key=lambda line: not line.strip()):
        if not empty:
            out += [*paragraph(list(group)), ""]
    return out


def paragraph(lines: list[str]) -> list[str]:
    if all(line.startswith("    ") for line in lines):
        return [".. code-block:: python", "", *lines]
    text = " ".join(line.strip() for line in lines)
    if text.startswith("$$") and text.endswith("$$"):
        return [".. math::", "", f"   {text.strip('$ ')}"]
    if lines[0].startswith("|"):
        return lines
    if ENTRY.match(lines[0]) or (len(lines) > 1 and lines[1].startswith(" " * 8) and "," in lines[0]):
        return definitions(lines)
    if BULLET.match(lines[0]):
        return [inline(line) for line in lines]
    before = next((i for i, line in enumerate(lines) if ENTRY.match(line)), None)
    if before is not None and not BULLET.match(lines[before]):
        return [*paragraph(lines[:before]), "", *definitions(lines[before:])]
    return [inline(line.strip()) for line in lines]


def definitions(lines: list[str]) -> list[str]:
    """A list of names with their texts, the names as code."""
    column = next(found.start("text") for line in lines if (found := ENTRY.match(line)) or not line)
    out: list[str] = []
    for line in lines:
        found = ENTRY.match(line)
        if line.startswith(" "):
            out.append(f"    {inline(line.strip())}")
        elif found:
            out += [term(found["name"]), f"    {inline(found['text'])}"]
        elif line[column - 1 : column] == " ":
            out += [term(line[: column - 1].strip()), f"    {inline(line[column:])}"]
        else:
            out.append(term(line))
    return out


def term(name: str) -> str:
    return ", ".join(f"``{part}``" for part in name.split(", "))


def inline(line: str) -> str:
    """A line with formulas as a role, and what is no markup here kept from being read as such."""
    parts = MARKED.split(line)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = SPECIAL.sub(r"\\\1", part)
        elif part.startswith("$"):
            parts[i] = f":math:`{part[1:-1]}`"
        elif not re.fullmatch(r"`\w[\w.]*`", part):
            parts[i] = f"``{part.strip('`')}``"
    return "".join(parts)


NUMPYDOC = "bayescout.sklearn."
"""Estimators: docstrings as scikit-learn reads them, titles underlined, entries as `name : text`."""


def titled(lines: list[str]) -> list[str]:
    """The lines of such a docstring as reStructuredText."""
    out: list[str] = []
    plain: list[str] = []
    entries = False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and not below.strip("-"):
            out += [*converted(plain), "", f".. rubric:: {line}", ""]
            plain, entries = [], line in ("Parameters", "Attributes")
        elif line and not line.strip("-"):
            continue
        elif not entries:
            plain.append(line)
        elif line.startswith(" "):
            out.append(f"    {inline(line.strip())}")
        elif line:
            name, _, text = line.partition(" : ")
            more = below.startswith(" ")
            out += [f"{term(name)} : {inline(text)}"] if more else [term(name), f"    {inline(text)}"]
    return [*out, "", *converted(plain)]


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if what == "class" and name.startswith(NUMPYDOC):
        lines[:] = titled(lines)
    elif what != "module":
        lines[:] = converted(lines)


def hide(app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returned: str) -> Any:
    """Leave out the signatures of classes that users do not make themselves."""
    if what == "exception" or (what == "class" and name in GIVEN):
        return "", None
    return None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", hide)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
