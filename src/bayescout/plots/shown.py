"""The figure we return. Imported when used: it is the one module that needs matplotlib to be imported."""

from __future__ import annotations

from matplotlib.figure import Figure

from bayescout.plots.style import svg_text


class ShownFigure(Figure):
    """A matplotlib figure that no window and no pyplot knows of, and that a notebook shows."""

    def _repr_svg_(self) -> str:
        return svg_text(self)
