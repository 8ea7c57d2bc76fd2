"""Draws graphs, results and summaries; computes nothing.

SVG needs no other package; what returns a matplotlib figure needs the extra `plot`.
"""

from bayescout.plots.drawing import Drawing as Drawing
from bayescout.plots.drawing import draw_graph as draw_graph
from bayescout.plots.layout import Layout as Layout
from bayescout.plots.layout import layered as layered
from bayescout.plots.svg import to_svg as to_svg
