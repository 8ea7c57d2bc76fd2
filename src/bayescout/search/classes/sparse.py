"""Greedy equivalence search on candidate lists: near-linear in the number of variables, in compiled code.

The operators, their validity and the ties between them are those of `operators` and `reversals`; only pairs
that are candidates of each other are joined. See docs/decisions/wide-tables.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Bools, Family, Floats, Ints
from bayescout.search.frame.overlooked import MOST_LOOKED_AT, overlooked
from bayescout.search.frame.problem import MIN_GAIN, Edges, Pairs, ParentSets, Problem
from bayescout.search.frame.wide_rules import entering, is_free
from bayescout.statistics.screening import Neighbourhood

OPERATORS, WATCHES, LISTED, CHUNKS = 1 << 16, 1 << 16, 1 << 16, 1 << 12
"""First sizes of stores that grow."""

CLIQUES = 2
"""Cliques of neighbours for which there is room at first, per variable."""

LOG, LAST = 1 << 16, 1 << 12
"""Sizes of two that do not."""

PIECE = 2000
"""The most operators that are taken between two looks at the clock."""

FIRST_PIECE = 16
"""As many in the first piece."""

BETWEEN = 0.05
"""Seconds that should pass between two looks; where operators are costly, a piece is fewer of them."""


class Graph(NamedTuple):
    """A graph in the form of `kernels.links`."""

    nodes: Ints
    slots: Ints
    rows: Ints
    told: Ints
    log: Ints

    @property
    def bits(self) -> Ints:
        """How each node is joined to each of its neighbours."""
        return self.slots[:, 1]

    def filled(self) -> Bools:
        """The places that hold neighbours."""
        room, degrees = self.nodes[:, 12], self.nodes[:, 1]
        place = np.arange(len(self.slots)) - np.repeat(self.nodes[:, 0], room)
        found: Bools = place < np.repeat(degrees, room)
        return found

    def ways(self) -> NDArray[np.int8]:
        """How each node is joined to each neighbour in the class: 1 an edge, 2 an arc to it, 3 from it."""
        bits = self.bits
        found: NDArray[np.int8] = np.where(bits & 2, 3 - (bits & 1), 1).astype(np.int8)
        return found


class Store(NamedTuple):
    """The operators of a phase, in the form of `kernels.operators` and `kernels.sparse`."""

    chunks: Ints
    heap: Ints
    gains: Floats
    ops: NDArray[np.int32]
    watches: Ints
    asked: Ints
    wanted: Ints
    jobs: Ints
    changes: Floats
    last: Ints


class SparseWalk:
    """A class in sparse form, a member of it with its local scores, and the phase that it is in.

    The candidates grow: two parents of one child, which matter to each other only once both arcs are in,
    become candidates of each other in `widen`, and pairs that gain by now in `look_again`.
    """

    def __init__(
        self,
        problem: Problem,
        graph: ParentSets,
        phase: int,
        joined: Pairs = (),
        looked_at: ParentSets = (),
    ) -> None:
        assert problem.screening is not None
        self.problem = problem
        self.columns, self.terms = problem.scorer.wide_arrays()
        self.parents = graph
        self.flat = _flat(graph)
        self.locals = self._local_scores(range(problem.n))
        self.joined, self.looked_at = joined, looked_at
        self.piece = FIRST_PIECE
        pairs = np.array(joined, dtype=np.int64).reshape(-1, 2)
        known = problem.screening.neighbourhood(problem.check)
        self._lay_out(known.with_pairs(pairs[:, 0], pairs[:, 1]) if joined else known)
        self.enter(phase)

    @property
    def score(self) -> float:
        return float(self.locals.sum())

    @property
    def undirected(self) -> int:
        """The number of edges without direction in the class."""
        return int((self.graph.filled() & (self.graph.bits & 2 == 0)).sum()) // 2

    # ---- setting up

    def _lay_out(self, neighbourhood: Neighbourhood) -> None:
        """Make the sparse form of the graph in hand, with room for arcs between candidates and its own."""
        rules = self.problem.rules
        sizes, parents = self.flat
        children = np.repeat(np.arange(len(sizes)), sizes)
        self.candidates = neighbourhood.with_pairs(parents, children) if len(parents) else neighbourhood
        self.enters = entering(rules, self.candidates.starts, self.candidates.ends)
        self.graph = _labelled(self.candidates.starts, parents, children, LOG)
        self.graph.nodes[:, 2] = rules.max_parents
        self.graph.told[3], self.graph.told[19] = is_free(rules), rules.max_parents.max(initial=0)

    def enter(self, phase: int) -> None:
        """Begin a phase: no operator of it is known yet."""
        p = self.problem.n
        self.phase = phase
        chunks = max(CHUNKS, CLIQUES * p)  # memory that is not used is not taken
        self.store = Store(
            np.empty((chunks, 10), np.int64),
            np.empty(chunks, np.int64),
            np.empty(OPERATORS),
            np.empty((OPERATORS, 2), np.int32),
            np.empty((WATCHES, 5), np.int64),
            np.empty(4 * LISTED, np.int64),
            np.empty((LISTED, 3), np.int64),
            np.empty((LISTED, 3), np.int64),
            np.empty(4 * LISTED),
            np.zeros(LAST, np.int64),
        )
        nodes, told = self.graph.nodes, self.graph.told
        nodes[:, 13], nodes[:, 14], nodes[:, 15] = -1, 2, -1
        told[4:19] = 0
        told[10], told[12] = -1, p
        self.graph.rows[2] = np.arange(p - 1, -1, -1)

    # ---- steps

    def take(self, most: int) -> int:
        """Take the best operators of the phase, at most so many; returns their number, 0 if none gains."""
        from bayescout.kernels import sparse as kernels

        told = self.graph.told
        before = int(told[kernels.STEPS])
        while (taken := int(told[kernels.STEPS]) - before) < most:
            self.problem.check()
            began = time.perf_counter()
            why = kernels.walk(
                *self.graph, self.candidates.ends, self.enters, *self.store, self.columns, self.terms,
                MIN_GAIN, self.phase, min(self.piece, most - taken),
            )  # fmt: skip
            took = time.perf_counter() - began
            if took > BETWEEN:  # a piece that ends early is gone on with, so its size changes no answer
                self.piece = max(1, self.piece // 2)
            elif took < BETWEEN / 2:
                self.piece = min(PIECE, 2 * self.piece)
            if why == kernels.DONE:
                break
            if why == kernels.ASK:
                self._find_changes()
            elif why == kernels.MORE_LISTS:
                self._grow("chunks", "heap", "asked", "wanted", "jobs", "changes")
            elif why == kernels.MORE_OPERATORS:
                self._pack_operators()
            elif why == kernels.MORE_WATCHES:
                self._pack_watches()
        taken = int(told[kernels.STEPS]) - before
        if taken:
            self._read()
        return taken

    def _find_changes(self) -> None:
        """Ask the scorer for the changes of the families that are listed."""
        told = self.graph.told
        families: list[Family] = []
        bases: list[int] = []
        wider: list[int] = []
        for child, base, added in _groups(self.store.asked[: int(told[4])].tolist()):
            bases += [len(families)] * len(added)
            wider += range(len(families) + 1, len(families) + 1 + len(added))
            families.append((child, base))
            families += [(child, tuple(sorted((*base, x)))) for x in added]
        values = self.problem.scorer.many(families)
        before, after = values[bases], values[wider]
        with np.errstate(invalid="ignore"):
            self.store.changes[: len(after)] = np.where(before == -np.inf, -np.inf, after - before)

    # ---- stores that grow

    def _grow(self, *names: str) -> None:
        """Make some arrays of the store twice as long."""
        longer = {name: _longer(getattr(self.store, name)) for name in names}
        self.store = self.store._replace(**longer)

    def _pack_operators(self) -> None:
        """Close the gaps between operators that are stored, and make room for as many again."""
        told, store = self.graph.told, self.store
        chunks = store.chunks[: int(told[8])]
        places = _places(chunks[:, 5], chunks[:, 6])
        room = max(OPERATORS, 2 * (len(places) + int(told[5])))
        gains, ops = np.empty(room), np.empty((room, 2), np.int32)
        gains[: len(places)], ops[: len(places)] = store.gains[places], store.ops[places]
        chunks[:, 5] = np.cumsum(chunks[:, 6]) - chunks[:, 6]
        told[14] = len(places)
        self.store = store._replace(gains=gains, ops=ops)

    def _pack_watches(self) -> None:
        """Keep the watches of operators that still sleep, and make room for as many again."""
        told, store, nodes = self.graph.told, self.store, self.graph.nodes
        kept = store.watches[: int(told[15])]
        kept = kept[kept[:, 2] >= 0]
        chunks = store.chunks[kept[:, 2]]
        kept = kept[chunks[:, 8] == kept[:, 4]]
        kept = kept[store.ops[store.chunks[kept[:, 2], 5] + kept[:, 3], 1] == 1]
        kept = kept[np.argsort(kept[:, 1], kind="stable")]
        k, room = len(kept), len(store.watches)
        watches = np.empty((2 * room if 2 * k > room or k == told[15] else room, 5), np.int64)
        watches[:k] = kept
        begins = np.flatnonzero(np.diff(kept[:, 1], prepend=-1))
        watches[:k, 0] = np.arange(1, k + 1)
        watches[np.append(begins[1:], k) - 1, 0] = -1
        nodes[:, 15] = -1
        nodes[kept[begins, 1], 15] = begins
        told[15] = k
        self.store = store._replace(watches=watches)

    # ---- the graph

    def _read(self) -> None:
        """Take the member that `ges` would have after the last operator, and the scores that changed."""
        from bayescout.kernels.links import extend_sparse
        from bayescout.kernels.sparse import undo_completion

        graph, limits = self.graph, np.asarray(self.problem.rules.max_parents)
        ways = graph.ways()
        if graph.told[3]:
            undo_completion(graph.nodes, graph.slots, graph.told, graph.log, self.store.last, ways)
            limits = np.full_like(limits, self.problem.n)
        else:
            self._direct_by_rules(ways)
        p, m = self.problem.n, len(ways)
        parent_of, left = np.zeros(m, np.int8), np.empty(p, np.int8)
        placed = extend_sparse(graph.nodes, graph.slots, ways, limits, left, parent_of)
        self._become(parent_of if placed == p else (graph.bits & 1) ^ 1)

    def _direct_by_rules(self, ways: NDArray[np.int8]) -> None:
        """Direct the edges of a class of which the rules allow one direction alone."""
        candidates, n = self.candidates, self.problem.n
        owners = np.repeat(np.arange(n), np.diff(candidates.starts))
        keys = owners * n + candidates.ends
        edges = np.flatnonzero(self.graph.filled() & (ways == 1))
        one, two = owners[edges], self.graph.slots[edges, 0]
        into, back = (self.enters[np.searchsorted(keys, a * n + b)] for a, b in ((one, two), (two, one)))
        ways[edges[into == 0]] = 2
        ways[edges[back == 0]] = 3

    def _become(self, marks: Any) -> None:
        """Go to the member whose parents are marked among the neighbours."""
        flat = _marked(self.graph, marks)
        changed = _changed(self.flat, flat)
        parents = list(self.parents)
        for node, own in zip(changed.tolist(), _sets(flat, changed), strict=True):
            parents[node] = own
        self.parents, self.flat = tuple(parents), flat
        self.locals = self.locals.copy()
        self.locals[changed] = self._local_scores(changed.tolist())

    def _local_scores(self, nodes: Sequence[int]) -> Floats:
        """The score of each of these families."""
        return self.problem.scorer.fleeting([(v, self.parents[v]) for v in nodes])

    def widen(self) -> None:
        """Make parents of one child candidates of each other; the candidates now include all arcs."""
        self._join(_coparents(self.flat))

    def look_again(self) -> bool:
        """Make candidates of pairs that were screened out, but whose arc would gain now; False if none are.

        In very wide tables that takes longer than the search, and none are looked for.
        """
        n = self.problem.n
        if n > MOST_LOOKED_AT or self.candidates.n_pairs == n * (n - 1) // 2:
            return False
        before, self.looked_at = self.looked_at, self.parents
        return self._join(overlooked(self.problem, self.parents, before, self.locals, self.candidates))

    def _join(self, pairs: Ints) -> bool:
        """Make pairs, (k, 2), candidates of each other; return False if all are already."""
        new = self.candidates.lacks(pairs)
        if not len(new):
            return False
        self.joined = (*self.joined, *map(tuple, new.tolist()))
        self._lay_out(self.candidates.with_pairs(new[:, 0], new[:, 1]))
        return True


def class_pairs(parents: ParentSets) -> Edges:
    """The directed and the undirected pairs of the class of a graph, in time about linear in its arcs."""
    n = len(parents)
    sizes, above = _flat(parents)
    below = np.repeat(np.arange(n), sizes)
    degrees = np.bincount(np.concatenate((above, below)), minlength=n)
    graph = _labelled(np.concatenate(([0], np.cumsum(degrees))), above, below, 1)
    ways, ends = graph.ways(), graph.slots[:, 0]
    owners = np.repeat(np.arange(n), degrees)
    directed, either = ways == 2, (ways == 1) & (owners < ends)
    first, second = (
        tuple(zip(owners[some].tolist(), ends[some].tolist(), strict=True)) for some in (directed, either)
    )
    return first, second


# ---- arrays


def _labelled(starts: Ints, parents: Ints, children: Ints, log: int) -> Graph:
    """The sparse form of a graph, with a room from each start to the next."""
    from bayescout.kernels.links import label_all

    n, m = len(starts) - 1, int(starts[-1])
    nodes = np.zeros((n, 16), np.int64)
    nodes[:, 0], nodes[:, 12] = starts[:-1], np.diff(starts)
    slots, rows = np.zeros((m, 3), np.int64), np.zeros((4, n), np.int64)
    graph = Graph(nodes, slots, rows, np.zeros(20, np.int64), np.empty((log, 3), np.int64))
    label_all(*graph, parents, children)
    return graph


def _longer(array: Any) -> Any:
    """An array twice as long that begins with the same."""
    longer = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _groups(asked: list[int]) -> Iterator[tuple[int, tuple[int, ...], list[int]]]:
    """The groups of `asked`: child, parents, and what is added."""
    at = 0
    while at < len(asked):
        child, k, count = asked[at : at + 3]
        at += 4 + k + count
        yield child, tuple(asked[at - k - count : at - count]), asked[at - count : at]


def _places(begins: Ints, counts: Ints) -> Ints:
    """All places from each beginning on, so many as counted, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    found: Ints = np.arange(total) + np.repeat(begins - ends + counts, counts)
    return found


Flat = tuple[Ints, Ints]
"""Parent sets: their sizes, and all parents one after the other."""


def _flat(parents: ParentSets) -> Flat:
    sizes = np.fromiter(map(len, parents), np.int64, len(parents))
    return sizes, np.fromiter((v for own in parents for v in own), np.int64, int(sizes.sum()))


def _marked(graph: Graph, marks: NDArray[np.int8]) -> Flat:
    """The parents of each node: those of its neighbours that are marked."""
    chosen = graph.filled() & (marks == 1)
    before = np.concatenate(([0], np.cumsum(chosen)))
    starts = graph.nodes[:, 0]
    return before[starts + graph.nodes[:, 12]] - before[starts], graph.slots[chosen, 0]


def _changed(one: Flat, two: Flat) -> Ints:
    """The nodes whose parents are not the same."""
    same = one[0] == two[0]
    sizes = np.where(same, one[0], 0)
    first, second = (flat[_places(np.cumsum(own) - own, sizes)] for own, flat in (one, two))
    differ = np.repeat(np.arange(len(sizes)), sizes)[first != second]
    same[differ] = False
    return np.flatnonzero(~same)


def _sets(flat: Flat, nodes: Ints) -> list[tuple[int, ...]]:
    """The parents of some nodes."""
    begins, sizes = (np.cumsum(flat[0]) - flat[0])[nodes], flat[0][nodes]
    members = flat[1][_places(begins, sizes)].tolist()
    bounds = np.concatenate(([0], np.cumsum(sizes))).tolist()
    return [tuple(members[a:b]) for a, b in pairwise(bounds)]


def _coparents(flat: Flat) -> Ints:
    """All pairs of parents of one child, (k, 2): the higher and the lower."""
    sizes, members = flat
    begins = np.repeat(np.cumsum(sizes) - sizes, sizes)
    before = np.arange(len(members)) - begins
    higher = np.repeat(np.arange(len(members)), before)
    lower = _places(begins, before)
    found: Ints = np.stack([members[higher], members[lower]], axis=1)
    return found
