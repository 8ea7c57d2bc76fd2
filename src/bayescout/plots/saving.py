"""A graph, a network or a result as an SVG file, without matplotlib."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import Any

from bayescout.data.files import atomic_write
from bayescout.errors import FormatError
from bayescout.plots.figures import as_drawing
from bayescout.plots.svg import to_svg


class Svg(str):
    """SVG text, which a notebook shows as the picture and a prompt in a few words."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<SVG, {len(self):,} characters>"


def svg_of(
    source: Any,
    path: str | PathLike[str] | None = None,
    truth: Any = None,
    strengths: Any = None,
    cpts: bool = False,
) -> Svg:
    """The drawing as SVG text, also written to `path` if one is given; the arguments of `plot_network`."""
    if path is not None:
        check_svg(path)
    text = Svg(to_svg(as_drawing(source, truth, strengths, cpts)))
    if path is not None:
        with atomic_write(path, text=True) as stream:
            stream.write(text)
    return text


def is_svg(path: str | PathLike[str]) -> bool:
    """Return True for a path that names a picture of this kind."""
    return Path(os.fspath(path)).suffix.lower() == ".svg"


def check_svg(path: str | PathLike[str]) -> None:
    """Refuse a path of another kind of file."""
    if not is_svg(path):
        raise FormatError(
            "SVG is written here, whose name ends in .svg; for another kind of picture: plot().savefig(path)",
            path,
        )
