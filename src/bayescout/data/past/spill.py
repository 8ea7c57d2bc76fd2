"""Columns whose cells are kept in files while they are read, in place of arrays in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.columns import Column
from bayescout.data.past.cache import Folder, disk_full


class Spill:
    """Arrays one after the other in a file, read again one at a time; used in place of a list of arrays.

    pieces  the type and length of each array
    """

    def __init__(self, folder: Folder, name: str, pieces: Iterable[tuple[str, int]] = ()) -> None:
        self.folder, self.name = folder, name
        self.path: Path = folder.path / name
        self.pieces: list[tuple[str, int]] = [(kind, length) for kind, length in pieces]
        self.rows = sum(length for _, length in self.pieces)
        self.bytes = sum(length * np.dtype(kind).itemsize for kind, length in self.pieces)
        if self.bytes:
            os.truncate(self.path, self.bytes)  # a killed process may have written more than it noted

    def append(self, array: NDArray[Any]) -> None:
        try:
            with open(self.path, "ab" if self.bytes else "wb", buffering=0) as stream:
                whole: Any = np.ascontiguousarray(array)
                view = memoryview(whole).cast("B")
                while len(view):
                    view = view[stream.write(view) :]
        except OSError as error:
            raise disk_full(self.path, error) from error
        self.pieces.append((array.dtype.str, len(array)))
        self.rows += len(array)
        self.bytes += array.nbytes

    def __iter__(self) -> Iterator[NDArray[Any]]:
        if not self.bytes:
            yield from (np.empty(0, dtype=kind) for kind, _ in self.pieces)
            return
        with open(self.path, "rb") as stream:
            for kind, length in list(self.pieces):
                yield np.fromfile(stream, dtype=kind, count=length)

    def __len__(self) -> int:
        return len(self.pieces)

    def __del__(self) -> None:
        if self.bytes and not self.folder.keep:
            self.path.unlink(missing_ok=True)


class SpilledColumn(Column):
    """A column whose codes or floats are in files of a folder."""

    def __init__(self, folder: Folder, place: int, *given: Any) -> None:
        self._folder, self._place, self._files = folder, place, 0
        super().__init__(*given)
        self._declared = self.states

    def keep(self, arrays: Iterable[NDArray[Any]] = ()) -> Any:
        """The arrays in a new file, in place of a list."""
        self._files += 1
        spill = Spill(self._folder, f"column-{self._place}-{self._files}")
        for array in arrays:
            spill.append(array)
        return spill

    @property
    def n_rows(self) -> int:
        kept: Any = self.chunks if self.floats is None else self.floats
        return int(kept.rows) + self._rows_abandoned

    # ---- the journal

    def restart(self) -> None:
        """Forget every cell, as at first."""
        self.chunks, self.values, self._index = self.keep(), [], {}
        self.floats = self.keep() if self.wanted == "continuous" else None
        self.states = self._declared

    @staticmethod
    def is_whole(folder: Folder, said: dict[str, Any]) -> bool:
        """Return True if the file still has what was noted of it."""
        size = sum(length * np.dtype(kind).itemsize for kind, length in said["pieces"])
        path = folder.path / said["file"]
        return not size or (path.is_file() and path.stat().st_size >= size)

    def to_json(self) -> dict[str, Any]:
        """Everything read so far but the cells, which are in the file."""
        kept: Any = self.chunks if self.floats is None else self.floats
        return {
            "continuous": self.floats is not None,
            "file": kept.name,
            "files": self._files,
            "pieces": [list(pair) for pair in kept.pieces],
            "values": [plain(value) for value in self.values],
            "states": None if self.states is None else [plain(value) for value in self.states],
            "origin": self.origin,
            "durations": self.durations,
            "strange": None if self.strange is None else [self.strange[0], plain(self.strange[1])],
            "abandoned": [self.abandoned, self._rows_abandoned],
        }

    def resume(self, said: dict[str, Any]) -> None:
        """Take up what `to_json` noted; the file is cut to what it was then."""
        self._files = said["files"]
        kept: Any = Spill(self._folder, said["file"], [(k, n) for k, n in said["pieces"]])
        other = self.keep()
        self.chunks, self.floats = (other, kept) if said["continuous"] else (kept, None)
        self.values = [unplain(value) for value in said["values"]]
        self._index = {value: code for code, value in enumerate(self.values)}
        if said["origin"] != "declared" and said["states"] is not None:
            self.states = tuple(unplain(value) for value in said["states"])
        self.origin, self.durations = said["origin"], said["durations"]
        self.strange = None if said["strange"] is None else (said["strange"][0], unplain(said["strange"][1]))
        self.abandoned, self._rows_abandoned = said["abandoned"]


class NotPlain(Exception):
    """A value that the journal has no form for: such a scan begins again."""


def plain(value: Any) -> Any:
    """A value as JSON with its type; MISSING is null."""
    from bayescout.data.absent import MISSING

    if value is MISSING:
        return None
    if type(value) in (str, bool):
        return value
    if type(value) is int:
        return ["int", str(value)]
    if type(value) is float:
        return ["float", value.hex()]
    raise NotPlain


def unplain(said: Any) -> Any:
    """The value that `plain` wrote."""
    from bayescout.data.absent import MISSING

    if said is None:
        return MISSING
    if isinstance(said, list):
        return int(said[1]) if said[0] == "int" else float.fromhex(said[1])
    return said
