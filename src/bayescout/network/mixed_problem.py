"""A question to a mixed network as terms over its discrete variables.

Nodes that are neither asked for, observed, nor ancestors of those are left out. Each table at the evidence
is a term over its unobserved variables; each part of the continuous nodes (`gaussian_parts`) is a term over
the unobserved discrete parents of its nodes: the density of its evidence given these. Summing the discrete
variables out of the product, all but the targets and the discrete parents of the parts that hold
continuous targets, gives the weights of the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import TooLargeError
from bayescout.graph.labels import quoted
from bayescout.graph.orders import reach
from bayescout.network import leading
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.elimination import BATCH, Array, Plan, Scope, plan
from bayescout.network.gaussian_parts import Belief, Part, believe, discrete_parents, grid, parts
from bayescout.network.leading import Term
from bayescout.network.tabular import Tabular

if TYPE_CHECKING:
    from bayescout.network.network import Network

MAX_ENTRIES = 2**24
"""The most numbers of one table, or of the covariance matrices of one part, of an exact answer (128 MiB)."""

BATCH_ENTRIES = 2**21
"""Entries of the largest table while rows are answered together: about the size of a cache."""


@dataclass(frozen=True)
class Problem:
    """Targets and n rows of evidence.

    nodes    those that bear on the question, ascending
    fixed    (n,) codes of each observed discrete node, and (1,) of those of a single state
    values   (n,) numbers of each observed continuous node
    """

    network: Network
    targets: tuple[int, ...]
    nodes: tuple[int, ...]
    fixed: Mapping[int, NDArray[Any]]
    values: Mapping[int, Array]
    n_rows: int

    @cached_property
    def sizes(self) -> list[int]:
        """The number of states of each node; 1 for a continuous one."""
        return [1 if one.states is None else len(one.states) for one in self.network.distributions]

    @cached_property
    def parts(self) -> list[Part]:
        return parts(self.network, self.nodes, self.values, self.fixed)

    @cached_property
    def tables(self) -> list[int]:
        """The discrete nodes."""
        return [n for n in self.nodes if self.network.distributions[n].states is not None]

    @cached_property
    def target_parts(self) -> list[Part]:
        """The parts with a continuous target that is not observed."""
        return [part for part in self.parts if any(t in part.latent for t in self.targets)]

    @cached_property
    def keep(self) -> Scope:
        """The discrete variables of the answer: free targets, and what the continuous ones depend on."""
        wanted = {t for t in self.targets if t not in self.fixed and t not in self.values}
        free = {t for t in wanted if self.network.distributions[t].states is not None}
        return tuple(sorted(free | {v for part in self.target_parts for v in part.interface}))

    def some(self, rows: slice) -> Problem:
        """The problem for some of the rows."""
        cut = {n: codes[rows] if len(codes) == self.n_rows else codes for n, codes in self.fixed.items()}
        values = {n: numbers[rows] for n, numbers in self.values.items()}
        return replace(self, fixed=cut, values=values, n_rows=len(range(self.n_rows)[rows]))

    def scope(self, node: int) -> Scope:
        """The unobserved variables of a table, ascending."""
        return tuple(v for v in sorted((*self.network.dag.parents[node], node)) if v not in self.fixed)

    def table_term(self, node: int) -> Term:
        """The logarithm of a table at the evidence."""
        found = self.network.distributions[node]
        assert isinstance(found, Tabular)
        family = (*self.network.dag.parents[node], node)
        observed = [axis for axis, v in enumerate(family) if v in self.fixed]
        scope = self.scope(node)
        with np.errstate(divide="ignore"):
            logs = np.log(found.table.transpose(*observed, *(family.index(v) for v in scope)))
        if not observed:
            return Term(scope, logs)
        codes = tuple(np.broadcast_to(self.fixed[family[axis]], self.n_rows) for axis in observed)
        return Term((BATCH, *scope), logs[codes])

    def belief(self, part: Part, codes: Mapping[int, NDArray[Any]]) -> Belief:
        """The belief of a part at some configurations, (1, q), of its free discrete parents."""
        observed = {n: one[:, None] for n, one in self.fixed.items()}
        return believe(self.network, part, self.values, {**observed, **codes})

    def part_term(self, part: Part) -> Term:
        """The density of the evidence of a part, over its interface."""
        found = self.belief(part, grid(part.interface, self.sizes))
        shape = (self.n_rows, *(self.sizes[v] for v in part.interface))
        wide = (self.n_rows, found.logs.shape[1])
        logs = np.broadcast_to(found.logs, wide).reshape(shape)
        orders = None if found.orders is None else np.broadcast_to(found.orders, wide).reshape(shape)
        return Term((BATCH, *part.interface), logs, orders)


def posed(
    network: Network, targets: Sequence[int], evidence: Mapping[int, NDArray[Any]], n_rows: int
) -> Problem:
    """The problem of some targets, given (n,) codes or numbers of observed nodes."""
    reached = reach(network.dag.parents, (*targets, *evidence))
    nodes = tuple(node for node, found in enumerate(reached) if found)
    states = {n: network.distributions[n].states for n in nodes}
    fixed = {n: np.zeros(1, dtype=np.intp) for n, own in states.items() if own is not None and len(own) == 1}
    fixed |= {n: codes.astype(np.intp) for n, codes in evidence.items() if states[n] is not None}
    values = {
        n: np.asarray(numbers, dtype=np.float64) for n, numbers in evidence.items() if states[n] is None
    }
    return Problem(network, tuple(targets), nodes, fixed, values, n_rows)


# ---- terms that belong together


@dataclass(frozen=True)
class Group:
    """Tables and parts linked by unobserved discrete variables, and those variables."""

    tables: tuple[int, ...]
    parts: tuple[Part, ...]
    variables: Scope

    @property
    def widest(self) -> int:
        """The most numbers that one configuration needs at a time."""
        return max([1, *((len(part.latent) + 1) ** 2 for part in self.parts)])

    def planned(self, problem: Problem, keep: Scope) -> Plan:
        """An elimination order, refused if a table or a part would be too large."""
        for part in self.parts:
            size = prod(problem.sizes[v] for v in part.interface) * (len(part.latent) + 1) ** 2
            if size > MAX_ENTRIES:
                names = [problem.network.nodes[v] for v in part.interface]
                raise TooLargeError(
                    f"the continuous nodes depend on {len(names)} discrete ones, {quoted(names, 5)}, whose "
                    f"configurations need {size:,} numbers, over the limit of {MAX_ENTRIES:,}; observe more "
                    f"variables, or estimate the answer from samples of the network"
                )
        scopes = [problem.scope(node) for node in self.tables] + [part.interface for part in self.parts]
        found = plan(scopes, problem.sizes, keep)
        if found.peak > MAX_ENTRIES:
            raise TooLargeError(
                f"the answer needs a table of {found.peak:,} entries, over the limit of {MAX_ENTRIES:,}; "
                f"observe more variables, ask for fewer targets, or estimate it from samples of the network"
            )
        return found

    def entries(self, problem: Problem, found: Plan) -> int:
        """The most numbers that one row needs at a time."""
        of_parts = [
            prod(problem.sizes[v] for v in part.interface) * (len(part.latent) + 1) ** 2
            for part in self.parts
        ]
        return max([found.peak, *of_parts])

    def terms(self, problem: Problem) -> list[Term]:
        """The terms of the group, and one that has an entry for every row."""
        rows = Term((BATCH,), np.zeros(problem.n_rows))
        tables = [problem.table_term(node) for node in self.tables]
        return [rows, *tables, *(problem.part_term(part) for part in self.parts)]

    def summed(self, problem: Problem, keep: Scope, order: Sequence[int]) -> Term:
        """The product of the terms over rows and `keep`."""
        return leading.summed_out(self.terms(problem), order, (BATCH, *keep))


def groups(problem: Problem, linked: Scope = ()) -> list[Group]:
    """The tables and parts by shared unobserved variables, of which `linked` all count as shared."""
    members: list[tuple[list[int], list[Part], set[int]]] = [([], [], set(linked))] if linked else []
    items: list[tuple[Scope, int | Part]] = [(problem.scope(n), n) for n in problem.tables]
    items += [(part.interface, part) for part in problem.parts]
    for scope, item in items:
        joined: tuple[list[int], list[Part], set[int]] = ([], [], set(scope))
        rest = []
        for one in members:
            if one[2] & joined[2]:
                joined = (one[0] + joined[0], one[1] + joined[1], one[2] | joined[2])
            else:
                rest.append(one)
        if isinstance(item, Part):
            joined[1].append(item)
        else:
            joined[0].append(item)
        members = [*rest, joined]
    return [Group(tuple(sorted(t)), tuple(p), tuple(sorted(v))) for t, p, v in members]


def chunks(n_rows: int, entries: int) -> Iterator[slice]:
    """Slices of rows, as many at a time as have room."""
    step = max(1, BATCH_ENTRIES // max(1, entries))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def undefined_nodes(problem: Problem) -> list[int]:
    """The nodes with an undefined configuration of their discrete parents that agrees with the evidence."""
    found = []
    for node in problem.nodes:
        one = problem.network.distributions[node]
        if not isinstance(one, Tabular | ConditionalGaussian) or not one.undefined.any():
            continue
        given = discrete_parents(problem.network, node)
        observed = [axis for axis, v in enumerate(given) if v in problem.fixed]
        others = [axis for axis in range(len(given)) if axis not in observed]
        mask = one.undefined.transpose(*observed, *others)
        if observed:
            mask = mask[tuple(np.broadcast_arrays(*(problem.fixed[given[axis]] for axis in observed)))]
        if mask.any():
            found.append(node)
    return found
