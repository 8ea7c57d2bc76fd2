"""How the adjacencies of a learned graph compare with the true ones, as single numbers.

`bayescout.compare` gives every count and rate; these are the two that studies plot.
"""

from __future__ import annotations

from bayescout.graph.compare import compare


def adjacency_f(learned: object, truth: object) -> float:
    r"""The F-measure of the adjacent pairs, whatever their direction: $2TP / (2TP + FP + FN)$.

    1 when neither graph has an arc. Each is a graph, or anything with a `dag`.
    """
    return compare(learned, truth).adjacency_f1


def arc_ratio(learned: object, truth: object) -> float:
    """Arcs learned for each true one: above 1 the graph is too dense, below it too sparse.

    Without true arcs it is 1 when none was learned, else infinity.
    """
    return compare(learned, truth).arc_ratio
