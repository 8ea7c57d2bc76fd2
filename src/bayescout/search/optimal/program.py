"""An integer program over candidate parent sets: one column per set, cuts against cycles, branch and bound.

The relaxation is solved, cuts that its solution violates are added, and so on; sets that cannot be in a
network better than the best known are closed on the way. When no cut is left, an arc with fractional weight
is chosen, and the networks with it and those without it are bounded separately.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints
from bayescout.search.bitsets import bools_of_words
from bayescout.search.frame.watch import StepAbandoned, Watch
from bayescout.search.optimal.block_bounds import Blocks, block_size, group
from bayescout.search.optimal.components import Component
from bayescout.search.optimal.cuts import (
    Cut,
    Weighted,
    cycle_cuts,
    partial_arcs,
    suggested_order,
    violated_cuts,
)
from bayescout.search.optimal.solver import OutOfTime, Relaxation, Row, Solution, relaxation
from bayescout.search.parent_sets.insertion import InsertionClimb
from bayescout.search.parent_sets.lists import ParentSetLists

PROOF = 1e-6
"""Tolerance in nats: a network is proven optimal when none can be better by more than this."""

WEIGHT = 1e-7
"""Columns with less weight in a solution count as zero: this is the solver's tolerance."""

ROUNDING = 2.5e-16
"""The rounding error of one addition, relative to the terms; bounds are raised by the largest total error."""

TRIED_ARCS = 8
"""The number of arcs whose two sides are bounded before one is chosen to branch on."""

LESSER_SIDE = 5.0
"""The weight, in that choice, of the side whose bound drops less, relative to the other side."""

SHRUNK = 0.9
"""A node is solved again rather than branched if blocks leave less than this share of its columns."""

MOVES = 40
"""Subgradient steps on the multipliers of the first node that is bounded by blocks."""

STEP_NODES = 10
"""Nodes bounded per step."""

STALL, PATIENCE = 0.02, 4
"""A node is branched after PATIENCE rounds of cuts in a row that each close less than STALL of the gap."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, order=True)
class Node:
    """The networks that use only the open columns; none scores more than the bound."""

    priority: tuple[float, int]
    bound: float = field(compare=False)
    columns: Bools = field(compare=False, repr=False)
    stalled: int = field(default=0, compare=False)

    def to_json(self) -> list[Any]:
        return [self.priority[1], self.bound, np.packbits(self.columns).tobytes().hex(), self.stalled]

    @classmethod
    def from_json(cls, saved: list[Any]) -> Node:
        made, bound, columns, stalled = saved
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(columns), dtype=np.uint8)).astype(bool)
        return cls((-bound, made), bound, bits, stalled)


@dataclass(frozen=True)
class Progress:
    """The progress of a program, as a value; fields shared with `Program` are explained there."""

    picks: tuple[int, ...] | None
    cuts: tuple[Cut, ...]
    nodes: tuple[Node, ...]
    made: int
    left: float
    moved: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "picks": self.picks,
            "cuts": [[cut.members, cut.k] for cut in self.cuts],
            "made": self.made,
            "left": self.left,
            "moved": self.moved,
            "nodes": [node.to_json() for node in self.nodes],
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Progress:
        return cls(
            None if saved["picks"] is None else tuple(saved["picks"]),
            tuple(Cut(tuple(members), k) for members, k in saved["cuts"]),
            tuple(Node.from_json(node) for node in saved["nodes"]),
            saved["made"],
            saved["left"],
            saved["moved"],
        )


class Program:
    """One component's integer program, as far as it has come.

    picks   the sets of the best network known, as indices into its lists; None if none is known
    bound   an upper bound on the score of any network
    left    the highest bound of a node closed without its bound having dropped to its network's score
    """

    def __init__(self, component: Component, picks: Ints | None) -> None:
        lists = component.lists
        self.n = component.n
        self.picks = picks
        self.children = np.repeat(np.arange(self.n), np.diff(lists.starts))
        self.inside: Bools = bools_of_words(lists.sets, self.n)
        self.offset = float(np.sum(lists.tops()))
        self.losses: Floats = lists.scores - lists.tops()[self.children]
        self.cuts: list[Cut] = []
        self.rows: list[Row] = []
        self._lists = lists
        self.made = 0
        self.nodes: list[Node] = []
        self._push(self.offset, np.ones(len(self.losses), dtype=bool))
        self.left = -math.inf
        self.moved = False
        self._model: Relaxation | None = None
        self._active = np.arange(len(self.losses))
        self._used: list[bool] = []
        self._watch = Watch()

    @property
    def score(self) -> float:
        return -math.inf if self.picks is None else float(np.sum(self._lists.scores[self.picks]))

    @property
    def bound(self) -> float:
        return max([self.score, self.left, *(node.bound for node in self.nodes)])

    @property
    def done(self) -> bool:
        return not self.nodes

    # ---- saved and resumed

    def progress(self) -> Progress:
        picks = None if self.picks is None else tuple(self.picks.tolist())
        nodes = tuple(sorted(self.nodes))
        return Progress(picks, tuple(self.cuts), nodes, self.made, self.left, self.moved)

    @classmethod
    def resumed(cls, component: Component, progress: Progress) -> Program:
        picks = progress.picks
        program = cls(component, None if picks is None else np.array(picks, dtype=np.int64))
        program._keep(list(progress.cuts))
        program.made, program.left, program.moved = progress.made, progress.left, progress.moved
        m = len(program.losses)
        program.nodes = [replace(node, columns=node.columns[:m]) for node in progress.nodes]
        return program

    # ---- one step

    def advance(self, watch: Watch | None = None) -> None:
        """Bound some of the nodes with the highest bounds.

        The model is built anew each time, so that a resumed run goes the same way; cuts that no solution of
        the step needed are dropped. When the time of the watch is over, the program is not to be used again.
        """
        self._watch = watch or Watch()
        self._model = None
        self._used = [False] * len(self.cuts)
        for _ in range(STEP_NODES):
            if self.nodes:
                self._bound_one(heapq.heappop(self.nodes))
        kept = [i for i, used in enumerate(self._used) if used]
        self.cuts, self.rows = [self.cuts[i] for i in kept], [self.rows[i] for i in kept]

    def _bound_one(self, node: Node) -> None:
        """Solve a node's relaxation, then cut, branch or close it."""
        columns = node.columns
        found = None if node.bound <= self.score + PROOF else self._solve(columns)
        if found is None:
            return
        solution = self._weighted(found.x)
        self._improve(suggested_order(solution))
        reach, bound = self._bounds(found.multipliers, columns)
        bound = min(bound, node.bound)
        if bound <= self.score + PROOF:
            return
        columns = columns & (reach >= self.score)
        cuts = self._violated(solution)
        slow = node.bound - bound <= STALL * (bound - self.score)
        stalled = node.stalled + 1 if slow else 0
        # An integral solution that violates cuts has a cycle and no arc to branch on: solve it again.
        if cuts and (stalled < PATIENCE or not partial_arcs(solution)):
            self._push(bound, columns, stalled)
        else:
            self._bound_by_blocks(solution, found.multipliers, columns, bound)

    def _bound_by_blocks(self, solution: Weighted, multipliers: Floats, columns: Bools, bound: float) -> None:
        """Rule out cycles within blocks; if that closes many columns, solve again, otherwise branch."""
        if not self._hold_all(columns):
            return
        new = np.zeros(len(self.cuts) - len(multipliers))  # cuts found since the relaxation was solved
        multipliers = np.concatenate([np.maximum(multipliers, 0.0), new])
        blocks = self._divided(multipliers, solution)
        if not self.moved:
            self.moved, multipliers = True, self._moved(multipliers, columns, blocks)
        reach, lower = self._bounds(multipliers, columns, blocks)
        bound = min(bound, lower)
        if bound <= self.score + PROOF:
            return
        left = columns & (reach >= self.score)
        if np.count_nonzero(left) < SHRUNK * np.count_nonzero(columns):
            self._push(bound, left)
        else:
            self._branch(solution, left, bound)

    def _moved(self, multipliers: Floats, columns: Bools, blocks: Blocks) -> Floats:
        """Multipliers with a lower bound by blocks: subgradient steps along the blocks' violations of cuts.

        The step size is Polyak's, towards the best known score, and halved when three in a row do not help.
        """
        best, lowest, scale, idle = multipliers, math.inf, 1.0, 0
        cross = [place for place, cut in enumerate(self.cuts) if not blocks.hold(cut.members)]
        for _ in range(MOVES):
            worth, tops, fixed = self._charged(multipliers, columns, blocks)
            total, chosen = blocks.choose(worth, tops)
            bound = fixed + total
            if bound < lowest:
                best, lowest, idle = multipliers, bound, 0
            else:
                idle += 1
                scale = scale / 2 if idle % 3 == 0 else scale
            over = self._violations(chosen, cross, multipliers)
            norm = float(over @ over)
            if norm == 0 or lowest <= self.score + PROOF:
                break
            multipliers = np.maximum(multipliers + scale * (bound - self.score) / norm * over, 0.0)
        return best

    def _violations(self, chosen: Ints, cross: list[int], multipliers: Floats) -> Floats:
        """The chosen columns in each of these cuts less its room: positive if violated, negative if slack."""
        taken = np.zeros(len(self.losses), dtype=bool)
        taken[chosen] = True
        over = np.zeros(len(multipliers))
        for place in cross:
            over[place] = np.count_nonzero(taken[self.rows[place][0]]) - self.cuts[place].room
        over[(multipliers <= 0) & (over < 0)] = 0.0
        return over

    def _divided(self, multipliers: Floats, solution: Weighted) -> Blocks:
        """Blocks that group the variables joined by the costliest cuts, or else by arcs with weight."""
        affinity = solution.weights()
        affinity += affinity.T
        for place in np.flatnonzero(multipliers > 0).tolist():
            members = np.array(self.cuts[place].members)
            pairs = len(members) * (len(members) - 1)
            affinity[members[:, None], members] += multipliers[place] / pairs
        check = self._watch.check
        groups = group(affinity, block_size(self.n), check)
        return Blocks(groups, self.children, self.inside, check)

    def _violated(self, solution: Weighted) -> list[Cut]:
        """Add the violated cuts that are not there already."""
        known, check = set(self.cuts), self._watch.check
        cuts = [cut for k in (1, 2) for cut in violated_cuts(solution, k, check) if cut not in known]
        if not cuts:
            cuts = [cut for cut in cycle_cuts(solution, check) if cut not in known]
        if cuts:
            self._keep(cuts)
        return cuts

    def _push(self, bound: float, columns: Bools, stalled: int = 0) -> None:
        self.made += 1
        heapq.heappush(self.nodes, Node((-bound, self.made), bound, columns, stalled))

    # ---- the relaxation

    def _solve(self, columns: Bools) -> Solution | None:
        """The optimum of the relaxation over these columns; None where they hold no network."""
        if not self._hold_all(columns):
            return None
        if self._model is None:
            self._model = self._built(columns)
        self._watch.check()
        try:
            found = self._model.solve(columns[self._active], self._watch.left)
        except OutOfTime:
            raise StepAbandoned from None
        if found is None:
            return None
        for place in np.flatnonzero(found.multipliers > 0).tolist():
            self._used[place] = True
        x = np.zeros(len(columns))
        x[self._active] = found.x
        return Solution(x, found.multipliers)

    def _hold_all(self, columns: Bools) -> bool:
        """Return True if every child has an open column."""
        return bool(np.bincount(self.children[columns], minlength=self.n).min() > 0)

    def _built(self, columns: Bools) -> Relaxation:
        """A model of the columns that are open in some node, with every cut."""
        together = columns.copy()
        for node in self.nodes:
            together |= node.columns
        self._active = np.flatnonzero(together)
        model = relaxation(self.losses[self._active], self.children[self._active])
        self._extend(model, self.cuts, self.rows)
        return model

    def _extend(self, model: Relaxation, cuts: list[Cut], rows: list[Row]) -> None:
        """Add rows to the model, over its own columns."""
        if not cuts:
            return
        place = np.full(len(self.losses), -1)
        place[self._active] = np.arange(len(self._active))
        inside = [(place[columns], values) for columns, values in rows]
        model.add([(c[c >= 0], v[c >= 0]) for c, v in inside], [float(cut.room) for cut in cuts])

    def _keep(self, cuts: list[Cut]) -> None:
        rows = [self._row(cut) for cut in cuts]
        self.cuts += cuts
        self.rows += rows
        self._used += [True] * len(cuts)
        if self._model is not None:
            self._extend(self._model, cuts, rows)

    def _row(self, cut: Cut) -> Row:
        members = np.array(cut.members)
        own = np.flatnonzero(np.isin(self.children, members))
        columns = own[self.inside[own][:, members].sum(axis=1) >= cut.k]
        return columns, np.ones(len(columns))

    def _weighted(self, x: Floats) -> Weighted:
        heavy = np.flatnonzero(x > WEIGHT)
        return Weighted(self.children[heavy], self.inside[heavy], np.minimum(x[heavy], 1.0))

    # ---- bounds

    def _bounds(
        self, multipliers: Floats, columns: Bools, blocks: Blocks | None = None
    ) -> tuple[Floats, float]:
        """An upper bound on the networks with each column, and one on all networks.

        For any non-negative multipliers, no network scores more than the sum over the children of their best
        open set, each charged the multipliers of the cuts it counts in, plus the sum over the cuts of each
        multiplier times the cut's room: no tolerance of the solver enters. With blocks, the best sets
        are chosen without cycles in any block, and the cuts within blocks are left out.
        """
        worth, tops, fixed = self._charged(multipliers, columns, blocks)
        if blocks is None:
            total = fixed + float(tops.sum())
            return total + worth - tops[self.children], total
        best, reach = blocks.bound(worth, tops)
        return fixed + reach, fixed + best

    def _charged(
        self, multipliers: Floats, columns: Bools, blocks: Blocks | None
    ) -> tuple[Floats, Floats, float]:
        """The worth of each open column, the largest per child, and the constant common to all networks."""
        worth = self.losses.copy()
        room = 0.0
        for place in np.flatnonzero(multipliers > 0).tolist():
            if blocks is None or not blocks.hold(self.cuts[place].members):
                where, values = self.rows[place]
                worth[where] -= multipliers[place] * values
                room += multipliers[place] * self.cuts[place].room
        worth[~columns] = -np.inf
        tops = np.full(self.n, -np.inf)
        np.maximum.at(tops, self.children, worth)
        size = abs(self.offset) + float(np.abs(tops).sum()) + room
        rounding = ROUNDING * size * (self.n + len(self.cuts))
        return worth, tops, self.offset + room + rounding

    # ---- branching

    def _branch(self, solution: Weighted, columns: Bools, bound: float) -> None:
        """Divide the networks by the arc for which both sides' bounds drop most."""
        arcs = partial_arcs(solution)
        if not arcs:
            # The solution is a network: it has been offered, and only rounding keeps the bound above it.
            self.left = max(self.left, bound)
            return
        chosen: list[tuple[Bools, float]] = []
        most = -math.inf
        for child, parent in arcs[:TRIED_ARCS]:
            sides = [(side, min(bound, self._bound_of(side))) for side in self._sides(columns, child, parent)]
            drops = sorted(bound - max(low, self.score) for _, low in sides)
            if LESSER_SIDE * drops[0] + drops[1] > most:
                most, chosen = LESSER_SIDE * drops[0] + drops[1], sides
        for side, low in chosen:
            if low > self.score + PROOF:
                self._push(low, side)

    def _bound_of(self, columns: Bools) -> float:
        found = self._solve(columns)
        return -math.inf if found is None else self._bounds(found.multipliers, columns)[1]

    def _sides(self, columns: Bools, child: int, parent: int) -> tuple[Bools, Bools]:
        own, has = self.children == child, self.inside[:, parent]
        without = columns & ~(own & has)
        back = (self.children == parent) & self.inside[:, child]
        return columns & ~(own & ~has) & ~back, without

    # ---- networks

    def _improve(self, order: Ints) -> None:
        _, chosen, score = climbed(self._lists, order, self._watch.check)
        if score > self.score:
            self.picks = chosen


def climbed(lists: ParentSetLists, order: Ints, check: Callable[[], None]) -> tuple[Ints, Ints, float]:
    """An order climbed by insertion, the best sets in it as indices into the lists, and their total.

    If a variable has no set in the order, the order stays as it is, with minus infinity.
    """
    climb = InsertionClimb(lists, order, np.arange(len(order)))
    if not np.isfinite(lists.scores[climb.chosen]).all() or (climb.chosen < 0).any():
        return climb.order, climb.chosen, -math.inf
    climb.finish(check)
    return climb.order, climb.chosen, float(np.sum(lists.scores[climb.chosen]))
