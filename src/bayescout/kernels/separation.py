"""d-connection of many sources at once."""

import numpy as np

from bayescout.kernels.jit import kernel


@kernel
def connect(parents, parent_begins, children, child_begins, sources, given, given_begins, reached):
    """The nodes that active trails from each source reach, given the observed nodes of its question.

    parents   (m,) int64        the parents of all nodes end to end; those of i from parent_begins[i]
    children  (m,) int64        likewise
    sources   (q,) int64
    given     (k,) int64        the observed nodes of all questions end to end; from given_begins[i]
    reached   (q, n) bool       overwritten; observed nodes are not reached

    The ball of `graph.separation.d_connected`: from a child (bit 1) it passes an unobserved node in every
    direction; from a parent (bit 2) it passes to the children, or at an observed node back to the parents.
    """
    n = reached.shape[1]
    entered = np.zeros(n, dtype=np.uint8)
    observed = np.zeros(n, dtype=np.bool_)
    stack = np.empty(2 * (len(parents) + len(children)) + 2, dtype=np.int64)
    for question in range(len(sources)):
        for node in range(n):
            entered[node] = 0
            observed[node] = False
        for place in range(given_begins[question], given_begins[question + 1]):
            observed[given[place]] = True
        stack[0] = 2 * sources[question] + 1
        height = 1
        while height > 0:
            height -= 1
            node, from_child = stack[height] >> 1, stack[height] & 1
            mark = np.uint8(1 if from_child else 2)
            if entered[node] & mark:
                continue
            entered[node] |= mark
            if not observed[node]:
                for place in range(child_begins[node], child_begins[node + 1]):
                    stack[height] = 2 * children[place]
                    height += 1
            if (from_child == 1) != observed[node]:
                for place in range(parent_begins[node], parent_begins[node + 1]):
                    stack[height] = 2 * parents[place] + 1
                    height += 1
        for node in range(n):
            reached[question, node] = entered[node] != 0 and not observed[node]
