"""Elimination whose tables are kept, for networks of every kind: sums, maxima, and what is read back.

A question is a product of terms over the unobserved discrete variables (`mixed_problem`): one per table, and
one per part of the continuous nodes. Variables are summed out first and maximised out afterwards, each from
the product of the terms that hold it, its bucket. Read in reverse, buckets give draws from the joint
distribution, or the most probable assignments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.errors import TooLargeError
from bayescout.graph.labels import quoted
from bayescout.network.elimination import BATCH, Array, Scope, log_sum, plan, without
from bayescout.network.leading import Term, leading, product
from bayescout.network.mixed_problem import Group, Problem, posed

if TYPE_CHECKING:
    from bayescout.network.network import Network

MAX_ENTRIES = 2**26
"""The most entries of one table (512 MiB of doubles), and half of the most of all that are kept."""


@dataclass(frozen=True)
class Bucket:
    """The table that a variable was eliminated from, in logarithms, over a scope that holds the variable."""

    variable: int
    scope: Scope
    logs: Array


@dataclass(frozen=True)
class Eliminated:
    """The buckets in the order of elimination, and the product that is left, over the variables kept.

    infinite  how many densities of the evidence are infinite, as it agrees with nodes without noise
    """

    buckets: tuple[Bucket, ...]
    left: Term
    infinite: float

    @property
    def total(self) -> float:
        """The logarithm of what is left if no variable is kept; minus infinity if the evidence cannot be."""
        return float(self.left.logs)


def pose(network: Network, targets: Iterable[int], evidence: Mapping[int, Any]) -> Problem:
    """The problem of one row of evidence, codes or numbers, refused if a continuous part is too large."""
    rows = {node: np.array([value]) for node, value in evidence.items()}
    problem = posed(network, tuple(targets), rows, 1)
    for part in problem.parts:
        size = prod(problem.sizes[v] for v in part.interface) * (len(part.latent) + 1) ** 2
        if size > MAX_ENTRIES:
            names = [network.nodes[v] for v in part.interface]
            raise TooLargeError(
                f"the continuous nodes depend on {len(names)} discrete ones, {quoted(names, 5)}, whose "
                f"configurations need {size:,} numbers, over the limit of {MAX_ENTRIES:,}; observe more "
                f"variables"
            )
    return problem


def terms_of(problem: Problem, group: Group | None = None, but: int | None = None) -> list[Term]:
    """The terms of all tables and continuous parts, or of those of a group, but the table of one node."""
    tables, parts = (problem.tables, problem.parts) if group is None else (group.tables, group.parts)
    found = [problem.table_term(node) for node in tables if node != but]
    return [_single(term) for term in (*found, *(problem.part_term(part) for part in parts))]


def _single(term: Term) -> Term:
    """The term of the only row."""
    if term.scope[:1] != (BATCH,):
        return term
    return Term(term.scope[1:], term.logs[0], None if term.orders is None else term.orders[0])


# ---- elimination


def eliminate(
    problem: Problem,
    terms: Sequence[Term],
    maxima: Iterable[int] = (),
    keep: Iterable[int] = (),
    with_tables: bool = False,
) -> Eliminated:
    """Sum out all variables but `keep` and `maxima`, then maximise the latter out.

    `with_tables` keeps the tables of sums too; those of maxima are always kept.
    """
    largest = set(maxima)
    order = _ordered(problem, [term.scope for term in terms], largest, set(keep), with_tables)
    left, buckets = list(terms), []
    for variable in order:
        whole = product([term for term in left if variable in term.scope])
        axis = whole.scope.index(variable)
        logs, best = leading(whole, (axis,))
        if with_tables or variable in largest:
            buckets.append(Bucket(variable, whole.scope, logs))
        made = logs.max(axis=axis) if variable in largest else log_sum(logs, axis)
        orders = None if best is None else best.squeeze(axis=axis)
        left = [term for term in left if variable not in term.scope]
        left.append(Term(without(whole.scope, variable), made, orders))
    rest = product(left)
    logs, best = leading(rest, tuple(range(rest.logs.ndim)))
    return Eliminated(tuple(buckets), Term(rest.scope, logs), 0.0 if best is None else float(best.max()))


def _ordered(
    problem: Problem, scopes: Sequence[Scope], maxima: set[int], keep: set[int], with_tables: bool
) -> list[int]:
    """An order that eliminates sums before maxima, refused if it makes too large a table."""
    sizes = problem.sizes
    later = sorted(maxima & {v for scope in scopes for v in scope})
    first = list(plan(scopes, sizes, (*later, *sorted(keep))).order)
    rest = [tuple(sorted(scope)) for scope in _after(scopes, first)[0]]
    order = first + list(plan(rest, sizes, sorted(keep)).order if later else ())
    made = _after(scopes, order)[1]
    tables = [prod(sizes[v] for v in scope) for scope in made]
    peak, total = max(tables, default=1), sum(tables)
    whole = with_tables or bool(maxima)
    if peak > MAX_ENTRIES or (whole and total > 2 * MAX_ENTRIES):
        names = problem.network.nodes
        at = f" at variable {names[order[tables.index(peak)]]!r}" if order else ""
        raise TooLargeError(
            f"this needs a table of {peak:,} entries{at}, {total:,} in all; the limits are {MAX_ENTRIES:,} "
            f"and {2 * MAX_ENTRIES:,}: observe more variables, or ask of fewer"
        )
    return order


def _after(scopes: Sequence[Scope], order: Sequence[int]) -> tuple[list[set[int]], list[set[int]]]:
    """The scopes left after elimination, and those of the tables that it makes."""
    left, made = [set(scope) for scope in scopes], []
    for variable in order:
        cluster = set().union({variable}, *(scope for scope in left if variable in scope))
        made.append(cluster)
        left = [*(scope for scope in left if variable not in scope), cluster - {variable}]
    return left, made


def log_evidence(network: Network, evidence: Mapping[int, Any]) -> tuple[float, float]:
    """The log-probability or log-density of the evidence, and how many of its densities are infinite."""
    problem = pose(network, (), evidence)
    found = eliminate(problem, terms_of(problem))
    return found.total, found.infinite
