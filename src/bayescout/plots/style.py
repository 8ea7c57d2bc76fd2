"""matplotlib, loaded when used and left as it was: no pyplot, no change to the user's settings."""

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
"""For letters the first font lacks; those that are installed are used."""

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
"""On top of matplotlib's defaults: a label with a dollar sign is a label, not a formula."""


def matplotlib() -> Any:
    """The package, or the line that installs it."""
    try:
        import matplotlib as package
        import matplotlib.style
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    return package


@contextmanager
def house_style() -> Iterator[None]:
    """Draw with our settings whatever the user's are; theirs come back afterwards."""
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
