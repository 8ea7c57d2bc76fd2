"""Pairs sorted out on a GPU: products of blocks of columns, of which only the pairs above come back.

Written for an array module with NumPy's functions: CuPy on a GPU, NumPy itself in tests. What CuPy does in
passes of its own (comparing, and gathering what is above) is one pass by a small kernel there.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from bayescout.arrays import Ints
from bayescout.errors import MissingExtraError, SettingError, warn
from bayescout.statistics.sieve import Between, Sieve, Tile, Unit, ordered, products, slack

log = logging.getLogger("bayescout")

HALF_SLACK = 2.0**-10 + 2.0**-9 + 2.0**-10
"""The most by which a product in float16 is off: rounded columns; a result rounded up to four times; sums of
TERMS_ADDED terms in float32, even if they are cut off instead of rounded."""

HALF_WORTH = 8
"""Products are in float16 if the threshold is so many times their error."""

LEAST_SIDE, MOST_SIDE = 256, 16_384
"""Columns per side of a block."""

ENTRY_BYTES = 24
"""Bytes, about, for each entry of a block, with all that is made of it."""

WHOLE_HALVES, WHOLE_FLOATS = 2**11, 2**24
"""The largest counts that are exact in float16 and in float32."""


class NoRoom(Exception):
    """The device has too little memory."""


class DeviceSieve:
    """Products of blocks on a device.

    xp        the array module: cupy, or numpy
    free      the free memory of the device, in bytes
    no_room   what it raises when that does not suffice
    kernels   what is made of a block; None is by the array module's own functions
    """

    def __init__(
        self,
        xp: Any,
        free: Callable[[], float],
        no_room: type[Exception] = NoRoom,
        kernels: Any = None,
    ) -> None:
        self.xp, self.free, self.no_room = xp, free, no_room
        self.kernels = kernels or Passes(xp)

    def correlated(self, unit: Unit, threshold: float, between: Between) -> Iterator[tuple[Ints, Ints]]:
        p, rows = unit.shape
        half = threshold >= HALF_WORTH * _half_slack(rows)
        least = max(0.0, threshold - (_half_slack(rows) if half else slack(rows)))
        kind = np.float16 if half else np.float32
        side = self._side(rows * np.dtype(kind).itemsize)
        blocks = _Held(lambda begin: self._block(unit, begin, min(p, begin + side), kind), self.free() / 4)
        for i in range(0, p, side):
            one = blocks(i)
            for j in range(i, p, side):
                between()
                two = one if i == j else blocks(j)
                places = self.kernels.above(products(one, two), least)
                yield ordered(*np.divmod(places, two.shape[0]), i, j)

    def _block(self, unit: Unit, begin: int, end: int, kind: Any) -> Any:
        return self.xp.asarray(unit(begin, end)).astype(kind)

    def counted(self, rows: Any, runs: Iterable[Tile], between: Between) -> Iterator[Ints]:
        xp = self.xp
        most = float(rows.margins[: int(rows.layout[0, 0])].sum())
        if most >= WHOLE_FLOATS:
            raise self.no_room(f"counts up to {most:,.0f} are not exact in float32")
        kind = np.float16 if most <= WHOLE_HALVES else np.float32
        weights = xp.asarray(rows.weights.astype(kind)) if len(rows.weights) else None
        for run in runs:
            r, s = (int(rows.layout[0, rows.order[at]]) for at in (run.begin, run.first))
            slim = r == s == 2
            states = 1 if slim else max(r, s)
            side = max(
                16, self._side(rows.codes.shape[1] * np.dtype(kind).itemsize) // (1 if slim else 2 * states)
            )
            terms = xp.asarray(run.terms)
            for band in run.bands(side):
                one = self._indicators(rows, band[0].begin, band[0].end, r - slim, kind)
                if weights is not None:
                    one = one * weights
                for tile in band:
                    between()
                    two = self._indicators(rows, tile.first, tile.last, s - slim, kind)
                    counts = products(one, two)
                    places = self._weighed(rows, tile, counts, terms, r, s)
                    found = np.stack(np.divmod(places, tile.last - tile.first), axis=1)
                    found += [tile.begin, tile.first]
                    yield found[found[:, 0] < found[:, 1]]

    def _indicators(self, rows: Any, begin: int, end: int, states: int, kind: Any) -> Any:
        """(columns * states, rows): 1 where a column is in a state."""
        xp = self.xp
        codes = xp.asarray(rows.codes[rows.order[begin:end]])
        found = codes[:, None, :] == xp.arange(states, dtype=codes.dtype)[None, :, None]
        return found.reshape(-1, codes.shape[1]).astype(kind)

    def _weighed(self, rows: Any, tile: Tile, counts: Any, terms: Any, r: int, s: int) -> Ints:
        """Flat places of the pairs whose terms reach a bar."""
        xp = self.xp
        x, y = rows.order[tile.begin : tile.end], rows.order[tile.first : tile.last]
        forth, back = (
            (xp.asarray(bars[0, x])[:, None], xp.asarray(bars[1, y])[None, :]) for bars in tile.bars
        )
        if r == s == 2:
            a, b = (xp.asarray(rows.margins[rows.places[v]]) for v in (x, y))
            n = int(rows.margins[rows.places[x[0]]] + rows.margins[rows.places[x[0]] + 1])
            found: Ints = self.kernels.two_states(counts, a[:, None], b[None, :], n, terms, forth, back)
            return found
        cells = terms[counts.reshape(len(x), r, len(y), s).astype(np.int64)]
        total = cells.sum(axis=(1, 3))
        return _flat(xp, (total >= forth[0] + forth[1]) | (total >= back[0] + back[1]))

    def _side(self, column_bytes: float) -> int:
        """Columns per side of a block, such that what is made of it fits."""
        free = self.free() / 2
        side = MOST_SIDE
        while side > LEAST_SIDE and side * side * ENTRY_BYTES + 3 * side * column_bytes > free:
            side //= 2
        if side * side * ENTRY_BYTES + 3 * side * column_bytes > free:
            raise self.no_room(f"{2 * free / 2**30:,.2f} GB are free on the device")
        return side


class _Held:
    """Blocks of columns on the device, those that fit kept."""

    def __init__(self, make: Callable[[int], Any], most_bytes: float) -> None:
        self.make, self.left = make, most_bytes
        self.kept: dict[int, Any] = {}

    def __call__(self, begin: int) -> Any:
        if begin in self.kept:
            return self.kept[begin]
        made = self.make(begin)
        if made.nbytes <= self.left:
            self.left -= made.nbytes
            self.kept[begin] = made
        return made


class Passes:
    """What is made of a block, by the functions of the array module: the twin of the kernels of a GPU."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def above(self, block: Any, least: float) -> Ints:
        """Flat places of the entries that are at least so large, or minus them."""
        return _flat(self.xp, self.xp.abs(block) >= least)

    def two_states(self, both: Any, a: Any, b: Any, n: int, terms: Any, forth: Any, back: Any) -> Ints:
        """Flat places of the pairs of two columns of two states whose terms reach a bar.

        both  how often both are in their first state; a and b how often each is
        """
        both = both.astype(np.int64)
        total = (terms[both] + terms[a - both]) + (terms[b - both] + terms[n + both - a - b])
        return _flat(self.xp, (total >= forth[0] + forth[1]) | (total >= back[0] + back[1]))


def _flat(xp: Any, mask: Any) -> Ints:
    """The places of a mask, on the host."""
    found = xp.flatnonzero(mask)
    return np.asarray(found.get() if hasattr(found, "get") else found, dtype=np.int64)


def _half_slack(rows: int) -> float:
    # Entries near zero lose more than their share of digits, at most half the smallest step each.
    return HALF_SLACK + math.sqrt(rows) * 2.0**-24 + slack(rows)


# ---- CuPy


class CupyKernels:
    """`Passes` in one pass each: what is above goes straight into a list, whose order has no meaning."""

    ROOM = 1 << 20

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        put = """{
            unsigned long long at = atomicAdd(&count[0], 1ULL);
            if (at < room) where[at] = i;
        }"""
        self._above = cupy.ElementwiseKernel(
            "T x, float32 least, uint64 room",
            "raw uint64 where, raw uint64 count",
            f"if (fabsf((float)x) >= least) {put}",
            "bayescout_above",
        )
        self._two_states = cupy.ElementwiseKernel(
            "T both, int64 a, int64 b, int64 rows, raw float64 terms, float64 forth, float64 forth_more, "
            "float64 back, float64 back_more, uint64 room",
            "raw uint64 where, raw uint64 count",
            f"""
            long long c = (long long)(float)both;
            double sum = (terms[c] + terms[a - c]) + (terms[b - c] + terms[rows + c - a - b]);
            if (sum >= forth + forth_more || sum >= back + back_more) {put}""",
            "bayescout_two_states",
        )

    def above(self, block: Any, least: float) -> Ints:
        return self._gathered(lambda *places: self._above(block, np.float32(least), *places))

    def two_states(self, both: Any, a: Any, b: Any, n: int, terms: Any, forth: Any, back: Any) -> Ints:
        return self._gathered(lambda *places: self._two_states(both, a, b, n, terms, *forth, *back, *places))

    def _gathered(self, fill: Callable[..., Any]) -> Ints:
        room, xp = self.ROOM, self.cupy
        while True:
            where, count = xp.empty(room, dtype=np.uint64), xp.zeros(1, dtype=np.uint64)
            fill(np.uint64(room), where, count)
            many = int(count[0])
            if many <= room:
                return np.asarray(where[:many].get(), dtype=np.int64)
            room = many


class GpuSieve:
    """A device, and the CPU for when its memory does not suffice, which a warning says."""

    def __init__(self, device: DeviceSieve, instead: Sieve, name: str = "the GPU") -> None:
        self.device, self.instead, self.name = device, instead, name

    def correlated(self, unit: Unit, threshold: float, between: Between) -> Iterator[tuple[Ints, Ints]]:
        try:
            yield from self.device.correlated(unit, threshold, between)
        except self.device.no_room as error:
            self._say(error)
            yield from self.instead.correlated(unit, threshold, between)

    def counted(self, rows: Any, runs: Iterable[Tile], between: Between) -> Iterator[Ints]:
        runs = list(runs)
        try:
            yield from self.device.counted(rows, runs, between)
        except self.device.no_room as error:
            self._say(error)
            yield from self.instead.counted(rows, runs, between)

    def _say(self, error: Exception) -> None:
        warn(
            f"pairs are screened on the CPU, for {self.name} has too little memory ({error}); the answer is "
            f"the same"
        )


def sieve_on_gpu(instead: Sieve, required: bool) -> Sieve:
    """A sieve on the GPU; where there is none, an error if it was required, and else `instead`."""
    found = _gpu()
    if not isinstance(found, Exception):
        device, name = found
        log.warning("bayescout: pairs of columns are screened on the GPU (%s)", name)
        return GpuSieve(device, instead, name)
    if required:
        raise found
    return instead


@cache
def _gpu() -> tuple[DeviceSieve, str] | Exception:
    """The device and its name, or why there is none."""
    try:
        import cupy
    except ImportError:
        return MissingExtraError("cupy", "gpu")
    runtime = cupy.cuda.runtime
    try:
        if runtime.getDeviceCount() == 0:
            return SettingError("CUDA finds no GPU: leave out the engine, and pairs are screened on the CPU")
        name = runtime.getDeviceProperties(runtime.getDevice())["name"].decode()
        kernels = CupyKernels(cupy)
    except Exception as error:  # of CUDA's own kinds: no driver, or one that is too old
        return SettingError(
            f"the GPU cannot be used: {error}; leave out the engine, and the CPU screens pairs"
        )
    pool = cupy.get_default_memory_pool()

    def free() -> float:
        return float(runtime.memGetInfo()[0] + pool.free_bytes())

    return DeviceSieve(cupy, free, cupy.cuda.memory.OutOfMemoryError, kernels), name
