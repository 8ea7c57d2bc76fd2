"""Use of matplotlib: imported when needed, without pyplot and without changing the user's settings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from bayescout.data.files import atomic_write
from bayescout.errors import MissingExtraError
from bayescout.plots import palette

DPI = 144
TITLE_STYLE: dict[str, Any] = {"fontsize": 11.5, "fontweight": "bold"}
FALLBACK_FONTS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans", "Arial Unicode MS", "PingFang SC",
                  "Hiragino Sans", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic")  # fmt: skip
"""Fonts for letters that the first font lacks; only installed ones are used."""

STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "text.color": palette.INK,
    "text.parse_math": False,
    "axes.edgecolor": palette.FAINT,
    "axes.labelcolor": palette.INK,
    "axes.titlesize": 10.0,
    "axes.titlecolor": palette.INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": palette.GRID,
    "grid.linewidth": 0.7,
    "xtick.color": palette.LINE,
    "ytick.color": palette.LINE,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "svg.hashsalt": "bayescout",
    "svg.fonttype": "path",
    "path.simplify": False,
}
"""Changes to matplotlib's defaults; among them, a label with a dollar sign is not a formula."""


def matplotlib() -> Any:
    """Import matplotlib, or raise with the command that installs it."""
    try:
        import matplotlib as package
        import matplotlib.style
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    return package


@contextmanager
def house_style() -> Iterator[None]:
    """Use our settings within the block, and restore the user's afterwards."""
    package = matplotlib()
    fonts = {"font.family": ["DejaVu Sans", *_installed()]}
    with package.style.context(["default", STYLE | fonts]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


@cache
def _installed() -> tuple[str, ...]:
    from matplotlib.font_manager import fontManager

    names = {entry.name for entry in fontManager.ttflist}
    return tuple(name for name in FALLBACK_FONTS if name in names)


def svg_text(figure: Any) -> str:
    """The figure as SVG; the same figure gives the same text."""
    stream = StringIO()
    with house_style():
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def save_files(figure: Any, stem: Path) -> tuple[Path, Path]:
    """Write stem.svg and stem.png; the same figure gives the same bytes."""
    vector, pixels = (stem.with_name(f"{stem.name}.{ending}") for ending in ("svg", "png"))
    text = svg_text(figure)
    with atomic_write(vector, text=True) as stream:
        stream.write(text)
    with house_style(), atomic_write(pixels) as stream:
        figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    return vector, pixels
