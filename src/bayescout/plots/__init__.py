"""Draw graphs, results and summaries; nothing is computed here.

SVG needs no other package; functions that return a matplotlib figure need the extra `plot`.
"""

from bayescout.plots.drawing import Drawing as Drawing
from bayescout.plots.drawing import draw_graph as draw_graph
from bayescout.plots.figures import as_drawing as as_drawing
from bayescout.plots.figures import draw as draw
from bayescout.plots.figures import figure_of as figure_of
from bayescout.plots.figures import plot_boxes as plot_boxes
from bayescout.plots.figures import plot_histogram as plot_histogram
from bayescout.plots.figures import plot_network as plot_network
from bayescout.plots.figures import plot_strengths as plot_strengths
from bayescout.plots.figures import plot_trace as plot_trace
from bayescout.plots.figures import save as save
from bayescout.plots.layout import Layout as Layout
from bayescout.plots.layout import layered as layered
from bayescout.plots.svg import to_svg as to_svg
