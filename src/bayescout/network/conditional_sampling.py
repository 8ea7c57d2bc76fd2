"""Draws given evidence, exact and independent, from networks of every kind.

The ancestors of the evidence are drawn from their joint distribution given it: discrete ones from the tables
that they were summed out of, in reverse; continuous ones from the normal distribution given these. Every
other node is drawn given its parents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator
from bayescout.network import inference, mixed_inference
from bayescout.network.buckets import Bucket, eliminate, pose, terms_of
from bayescout.network.elimination import Array
from bayescout.network.gaussian_parts import Part
from bayescout.network.impute import square_roots
from bayescout.network.mixed_problem import Problem, undefined_nodes
from bayescout.network.node import CHUNK, configuration_numbers
from bayescout.network.sampling import room
from bayescout.network.tabular import draw_states, limits

if TYPE_CHECKING:
    from bayescout.network.network import Network

Columns = Mapping[int, NDArray[Any]]


def draw(
    network: Network, n: int, seed: int, evidence: Mapping[int, Any], width: int
) -> tuple[NDArray[Any], Array, list[int]]:
    """The codes and values of n rows, as in a table, of the first `width` nodes.

    Also the nodes that use parent configurations without an estimate. Nodes after `width` must be observed
    and have no children.
    """
    rng = generator(seed)
    codes, values = room(network.distributions[:width], n)
    rows_of = {True: iter(codes), False: iter(values)}
    columns = {i: next(rows_of[network.distributions[i].states is not None]) for i in range(width)}
    problem = pose(network, (), evidence)
    found = eliminate(problem, terms_of(problem), with_tables=True)
    if not np.isfinite(found.total):
        kind = inference if network.is_discrete else mixed_inference
        raise kind.impossible(network, evidence)
    tables = [(bucket, *_prepared(problem, bucket)) for bucket in reversed(found.buckets)]
    rest = [i for i in network.dag.order_indices if i not in set(problem.nodes)]
    samplers = {i: network.distributions[i].sampler() for i in rest}
    undefined = set(undefined_nodes(problem))
    for start in range(0, n, CHUNK):
        chunk = {i: column[start : start + CHUNK] for i, column in columns.items()}
        _fix(problem, chunk)
        for bucket, shape, ends in tables:
            others = [chunk[v] for v in bucket.scope if v != bucket.variable]
            out = chunk[bucket.variable]
            draw_states(rng.random(len(out)), ends, configuration_numbers(shape, others, len(out)), out)
        for part in problem.parts:
            _draw_part(problem, part, chunk, rng)
        for i in rest:
            if samplers[i](rng, [chunk[parent] for parent in network.dag.parents[i]], chunk[i]):
                undefined.add(i)
    return codes, values, sorted(undefined)


def _fix(problem: Problem, chunk: Columns) -> None:
    """Write what is observed, and nodes of a single state."""
    for node, found in (*problem.fixed.items(), *problem.values.items()):
        if node in chunk:
            chunk[node][:] = found[0]


def _prepared(problem: Problem, bucket: Bucket) -> tuple[tuple[int, ...], Array]:
    """The sizes of a bucket's other variables, and the upper ends of its variable's states given these."""
    axis = bucket.scope.index(bucket.variable)
    logs = np.moveaxis(bucket.logs, axis, -1)
    peak = logs.max(axis=-1, keepdims=True)
    shares = np.exp(logs - np.where(np.isfinite(peak), peak, 0.0))
    shares[~np.isfinite(peak[..., 0])] = 1.0  # never met: nothing that is drawn leads there
    return logs.shape[:-1], limits(shares)


def _draw_part(problem: Problem, part: Part, chunk: Columns, rng: np.random.Generator) -> None:
    """Draw the unobserved nodes of a continuous part given the codes that were drawn."""
    if not part.latent:
        return
    n = len(chunk[part.latent[0]])
    sizes = [problem.sizes[v] for v in part.interface]
    numbers = configuration_numbers(sizes, [chunk[v] for v in part.interface], n)
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    found = problem.belief(part, {v: chunk[v][first].astype(np.intp)[None, :] for v in part.interface})
    wide = (len(first), len(part.latent))
    means = np.broadcast_to(found.means[0], wide)
    roots = np.broadcast_to(square_roots(found.covariances[0]), (*wide, wide[1]))
    noise = rng.standard_normal((n, wide[1]))
    for index in range(len(first)):
        rows = np.flatnonzero(inverse == index)
        drawn = means[index] + noise[rows] @ roots[index].T
        for k, node in enumerate(part.latent):
            chunk[node][rows] = drawn[:, k]
