"""Single numbers that compare the edges of a learned graph with the true ones.

`bayescout.compare` gives every count and rate; these are the two that studies plot.
"""

from __future__ import annotations

from bayescout.graph.compare import compare


def adjacency_f(learned: object, truth: object) -> float:
    r"""The F-measure of the adjacent pairs, whatever their direction: $2TP / (2TP + FP + FN)$.

    1 if neither graph has an arc. Each is a graph, or anything with a `dag`.
    """
    return compare(learned, truth).adjacency_f1


def arc_ratio(learned: object, truth: object) -> float:
    """Learned arcs per true arc: above 1 the graph is too dense, below 1 too sparse.

    Without true arcs it is 1 if none was learned, otherwise infinity.
    """
    return compare(learned, truth).arc_ratio
