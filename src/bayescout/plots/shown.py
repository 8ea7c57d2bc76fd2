"""The figure class that we return. Imported when used: this module alone needs matplotlib at import."""

from __future__ import annotations

from matplotlib.figure import Figure

from bayescout.plots.style import svg_text


class ShownFigure(Figure):
    """A matplotlib figure that is independent of windows and pyplot, and that a notebook shows."""

    def _repr_svg_(self) -> str:
        return svg_text(self)
