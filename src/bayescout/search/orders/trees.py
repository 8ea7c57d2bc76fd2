"""Grow-shrink trees: the greedy parents of every child within any set of predecessors, remembered.

Growing adds the predecessor that raises the score most until none does; shrinking then removes the parent
whose loss raises it most until none does. A node of a child's tree is a set of parents reached by growing. It
ranks, once, everything that would raise its score; growing within a set of predecessors is then a walk that
takes the first ranked branch inside the set (Andrews, Ramsey, Sanchez-Romero, Camchong & Kummerfeld 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Floats, Ints
from bayescout.search.frame.problem import MIN_GAIN, ParentSets, Problem

TREE_BYTES = 512 << 20
"""Memory limit for trees; they are forgotten and grown again if they would take more."""

SLOT_BYTES, NODE_BYTES = 32, 400
"""Bytes per branch, and about the bytes per node with the tuples of its parents."""

READY = 2


class Pool:
    """Arrays that grow together: room is doubled, and unused room holds the initial value."""

    def __init__(self, **kinds: tuple[Any, Any]) -> None:
        self.kinds = kinds
        self.used = 0
        self.arrays = {name: np.full(1024, fill, dtype=kind) for name, (kind, fill) in kinds.items()}

    def take(self, more: int) -> int:
        """Reserve room for some more; return where it begins."""
        begin, self.used = self.used, self.used + more
        size = len(next(iter(self.arrays.values())))
        if self.used > size:
            for name, (kind, fill) in self.kinds.items():
                roomier = np.full(max(2 * size, self.used), fill, dtype=kind)
                roomier[:size] = self.arrays[name]
                self.arrays[name] = roomier
        return begin

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]


class Trees:
    """The trees of all children of one problem; the answers do not depend on what is remembered."""

    def __init__(self, problem: Problem) -> None:
        from bayescout.kernels import trees

        self.scorer = problem.scorer
        self.rules = problem.rules
        self.n = problem.n
        self._kernels = trees
        self.forget()

    def forget(self) -> None:
        """Begin anew, with the roots not yet grown."""
        self._slots = Pool(
            target=(np.int64, -1), variable=(np.int64, -1), score=(np.float64, -np.inf), owner=(np.int64, -1)
        )  # fmt: skip
        self._nodes = Pool(
            first=(np.int64, 0), count=(np.int64, 0), score=(np.float64, 0), ready=(np.int64, 0),
            asked=(np.int64, 0), child=(np.int64, 0), grown=(np.float64, 0), growing=(np.int64, 0),
        )  # fmt: skip
        self._grown: list[tuple[int, ...]] = []
        self._shrunk: list[tuple[int, ...]] = []
        self._slots.take(self.n)
        roots = list(enumerate(self.rules.required_parents))
        with self.scorer.suspended():
            self._slots["score"][: self.n] = self.scorer.many(roots)

    def replant(self, children: Ints) -> None:
        """Begin some trees anew, as other parents are open to these children."""
        self._slots["target"][children] = -1

    def is_full(self) -> bool:
        return self._slots.used * SLOT_BYTES + self._nodes.used * NODE_BYTES > TREE_BYTES

    # ---- answers

    def parents_at(self, node: int) -> tuple[int, ...]:
        """The parents at which a walk ending at a node arrives, after growing and shrinking."""
        return self._shrunk[node]

    def score_at(self, node: int) -> float:
        return float(self._nodes["score"][node])

    def network(self, order: Sequence[int]) -> tuple[ParentSets, Floats]:
        """The parents of every variable among its predecessors, and their scores."""
        places, nodes, missing = (np.empty(self.n, dtype=np.int64) for _ in range(3))
        places[list(order)] = np.arange(self.n)
        while True:
            listed, families = self._kernels.walk_order(self.for_kernel(), places, nodes, missing)
            if not listed:
                break
            self.supply(missing[:listed])
        self.scorer.meter(families)
        return tuple(self._shrunk[node] for node in nodes.tolist()), self._nodes["score"][nodes]

    def places(self, order: Ints, move: Ints, local: Floats, score: float) -> tuple[int, Floats, Ints]:
        """The place where a variable gains most, -1 for none; gains and nodes as from `try_places`."""
        gains, nodes = np.empty(self.n), np.full((2, self.n), -1, dtype=np.int64)
        missing = np.empty(2 * self.n, dtype=np.int64)
        while True:
            listed, families, best = self._kernels.try_places(
                self.for_kernel(), order, move, local, score, MIN_GAIN, nodes, gains, missing
            )
            if not listed:
                break
            self.supply(missing[:listed])
        self.scorer.meter(families)
        return best, gains, nodes

    def for_kernel(self) -> tuple[NDArray[Any], ...]:
        slots, nodes = self._slots, self._nodes
        return (
            slots["target"], slots["variable"], nodes["first"], nodes["count"],
            nodes["score"], nodes["ready"], nodes["asked"],
        )  # fmt: skip

    # ---- missing nodes

    def supply(self, missing: Ints) -> None:
        """Grow and shrink the nodes that the kernels found missing."""
        with self.scorer.suspended():
            wanted = missing.tolist()
            if slots := [slot for slot in wanted if slot >= 0]:
                self._grow(slots)
            if nodes := [~slot for slot in wanted if slot < 0]:
                self._shrink(nodes)

    def _grow(self, slots: list[int]) -> None:
        """Make the nodes that slots lead to, each with its branches ranked."""
        families = [self._family(slot) for slot in slots]
        own = self._slots["score"][slots]
        counts, variables, scores, candidates = self._ranked(families, own)
        begin = self._nodes.take(len(slots))
        end, starts = self._nodes.used, np.cumsum(counts) - counts
        first = self._slots.take(len(variables))
        branches = slice(first, self._slots.used)
        self._slots["variable"][branches] = variables
        self._slots["score"][branches] = scores
        self._slots["owner"][branches] = begin + np.repeat(np.arange(len(slots)), counts)
        before = self._slots["owner"][slots]
        nodes = self._nodes
        nodes["growing"][begin:end] = candidates + np.where(before >= 0, nodes["growing"][before], 1)
        nodes["first"][begin:end] = first + starts
        nodes["count"][begin:end] = counts
        nodes["grown"][begin:end] = own
        nodes["child"][begin:end] = [child for child, _ in families]
        self._grown += [parents for _, parents in families]
        self._shrunk += [()] * len(slots)
        self._slots["target"][slots] = np.arange(begin, end)

    def _family(self, slot: int) -> Family:
        if slot < self.n:
            return slot, self.rules.required_parents[slot]
        node = int(self._slots["owner"][slot])
        parents = (*self._grown[node], int(self._slots["variable"][slot]))
        return int(self._nodes["child"][node]), tuple(sorted(parents))

    def _ranked(self, families: Sequence[Family], own: Floats) -> tuple[Ints, Ints, Floats, Ints]:
        """The parents that raise the score of families, which is `own`, by falling score, and those scores.

        One family after the other: the first array says how many each has; the last, how many were asked for.
        """
        values, candidates = self._extended(families)
        better = values > own[:, None] + MIN_GAIN
        counts = better.sum(axis=1)
        # A stable sort: of equal branches the lower variable comes first.
        ranked = np.argsort(np.where(better, -values, np.inf), axis=1, kind="stable")
        chosen = np.arange(self.n) < counts[:, None]
        rows = np.repeat(np.arange(len(families)), counts)
        return counts, ranked[chosen], values[rows, ranked[chosen]], candidates

    def _extended(self, families: Sequence[Family]) -> tuple[Floats, Ints]:
        """The score of each family with each further allowed parent, else -inf; and the number of those."""
        rules = self.rules
        children = [child for child, _ in families]
        sizes = [len(parents) for _, parents in families]
        able = rules.allowed.T[children]
        able[np.repeat(np.arange(len(families)), sizes), [p for _, parents in families for p in parents]] = (
            False
        )
        able[sizes >= rules.max_parents[children]] = False
        return self.scorer.all_extensions(families, able), able.sum(axis=1)

    def _shrink(self, nodes: list[int]) -> None:
        """Remove the parent whose loss raises the score most, until none does; all nodes side by side."""
        children = self._nodes["child"][nodes].tolist()
        own = self._nodes["grown"][nodes].tolist()
        parents = [self._grown[node] for node in nodes]
        asked = [0] * len(nodes)
        left = list(range(len(nodes)))
        while left:
            fewer = [self._fewer(children[i], parents[i]) for i in left]
            families = [(children[i], less) for i, sets in zip(left, fewer, strict=True) for less in sets]
            scores = iter(self.scorer.fleeting(families).tolist())
            shrunk = []
            for i, sets in zip(left, fewer, strict=True):
                asked[i] += len(sets)
                best, chosen = own[i] + MIN_GAIN, None
                for less in sets:
                    score = next(scores)
                    if score > best:
                        best, chosen = score, less
                if chosen is not None:
                    own[i], parents[i] = best, chosen
                    shrunk.append(i)
            left = shrunk
        for node, found in zip(nodes, parents, strict=True):
            self._shrunk[node] = found
        self._nodes["score"][nodes] = own
        self._nodes["asked"][nodes] = self._nodes["growing"][nodes] + asked
        self._nodes["ready"][nodes] = READY

    def _fewer(self, child: int, parents: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The sets without one parent that is not required; `combinations` leaves out the last one first."""
        fewer = list(combinations(parents, len(parents) - 1))[::-1] if parents else []
        if not self.rules.required_parents[child]:
            return fewer
        return [
            less for lost, less in zip(parents, fewer, strict=True) if not self.rules.required[lost, child]
        ]
