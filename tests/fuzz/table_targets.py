"""Files of tables: text, packed text, Parquet and Arrow."""

from __future__ import annotations

import gzip
import io
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from bayescout.data import Table, read_table, write_table
from tests.fuzz.damage import CONTROLS, damaged_bytes, damaged_text
from tests.fuzz.same import cells, check_cells
from tests.fuzz.target import Target, hold, must, written

TEXTS = (
    "a,b,c\n1,x,0.5\n2,y,1.5\n1,x,-3e2\n",
    'name,"b c","x,y"\n"a ""q""",1,\n,2,NA\nb,1,"line\nend"\n',
    "t;u\ntrue;1\nfalse;2\n",
    "a\tb\n07\t日本\n8\tü\n",
    "i,j\r\n1,9223372036854775807\r\n0,-9223372036854775808\r\n",
)
LOOSE = ("a b c\n1 x 0.5\n2 y 1.5\n", "a,b\n1, x\n2, y\n", "# x\na\tb\n1\t2\n\n3\t4\n")
WORDS = (
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "\r",
    '"',
    '""',
    '"\n"',
    "1e5",
    "true",
    "NA",
    "",
    "1,2,3",
    "-0.0",
    "1e-400",
    "\ufeff",
    *CONTROLS,
)

Given = tuple[str, str, bytes]
"""The ending of the file, what to do with missing values, and the bytes."""


def _check(given: Given, folder: Path) -> None:
    """Accepted: the same again, and the same once written and read."""
    ending, missing, data = given
    path, other = folder / f"in{ending}", folder / f"out{ending}"
    path.write_bytes(data)
    table = _read(path, missing)
    check_cells(table)
    again = must("the same bytes are read twice", lambda: _read(path, missing))
    hold("the same bytes are read twice as the same", again.fingerprint == table.fingerprint)
    written(lambda: write_table(table, other))
    if other.exists():
        back = must("what was written is read", lambda: _read(other, missing))
        hold("what was written is read as it was", cells(back) == cells(table), other.read_bytes())


def _read(path: Path, missing: str) -> Table:
    options: dict[str, Any] = {} if missing == "error" else {"missing": missing}
    if path.suffix == ".csv" and b";" in path.read_bytes()[:6]:
        options["separator"] = ";"
    return read_table(path, **options)


def _policy(rng: Random) -> str:
    return rng.choice(("error", "drop", "state", "state"))


def _kept(given: Given) -> bytes:
    return given[2]


# ---- text


def _draw_text(rng: Random) -> Given:
    ending = rng.choice((".csv", ".csv", ".csv", ".tsv", ".dat", ".txt"))
    seeds = TEXTS if ending in (".csv", ".tsv") else LOOSE
    return ending, _policy(rng), damaged_text(rng, seeds, WORDS)


def _seed_texts() -> list[Given]:
    found: list[Given] = [
        (".csv", "state", text.encode()) for text in TEXTS if "\t" not in text and "NA" not in text
    ]
    return [
        *found,
        (".tsv", "error", TEXTS[3].encode()),
        *((".dat", "state", text.encode()) for text in LOOSE[:2]),
    ]


def _draw_packed(rng: Random) -> Given:
    """A damaged gzip file, or a whole one of damaged text; now and then of one that unpacks to very much."""
    if rng.random() < 0.5:
        data = damaged_bytes(rng, rng.choice(_packed()), _packed())
    elif rng.random() < 0.002:
        data = gzip.compress(rng.choice((b" ", b"a", b"a,", b"\n", b'"')) * 10_000_000, 1, mtime=0)
    else:
        data = gzip.compress(damaged_text(rng, TEXTS, WORDS), 1, mtime=0)
    return ".csv.gz", _policy(rng), data


@cache
def _packed() -> tuple[bytes, ...]:
    return tuple(gzip.compress(text.encode(), mtime=0) for text in TEXTS)


# ---- columns


@cache
def _columnar() -> dict[str, tuple[bytes, ...]]:
    """Parquet and Arrow files by the package itself, and by Polars in other layouts."""
    import polars as pl

    from bayescout import as_table

    plain = {"a": [1, 2, 1, 3], "b": ["x", "y", "x", "z"], "c": [0.5, -1.5, 2.0, 1e300]}
    frame = pl.DataFrame({**plain, "d": [True, False, None, True], "e": ["p", None, "q", "p"]}).with_columns(
        pl.col("e").cast(pl.Categorical), pl.col("a").cast(pl.Int8)
    )
    found: dict[str, list[bytes]] = {".parquet": [], ".arrow": []}
    table = as_table(plain)
    for ending, files in found.items():
        files.append(_written(table, ending))
    for compression in ("uncompressed", "snappy", "zstd", "gzip"):
        stream = io.BytesIO()
        frame.write_parquet(stream, compression=compression, row_group_size=2)
        found[".parquet"].append(stream.getvalue())
    for packing in ("uncompressed", "lz4", "zstd"):
        stream = io.BytesIO()
        frame.write_ipc(stream, compression=packing)
        found[".arrow"].append(stream.getvalue())
    return {ending: tuple(files) for ending, files in found.items()}


def _written(table: Table, ending: str) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        write_table(table, path)
        return path.read_bytes()


def _draw_columnar(rng: Random, ending: str) -> Given:
    files = _columnar()[ending]
    data = rng.choice(files)
    if rng.random() < 0.5:
        return ending, _policy(rng), damaged_bytes(rng, data, files)
    return ending, _policy(rng), _damaged_end(rng, data)


def _damaged_end(rng: Random, data: bytes) -> bytes:
    """The description of the file, which is at its end, with a byte or two changed."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = len(data) - 1 - rng.randrange(min(len(data), 700))
        changed[at] = rng.choice(
            (changed[at] ^ (1 << rng.randrange(8)), 0, 127, 128, 255, rng.randrange(256))
        )
    return bytes(changed)


def _seed_columnar(ending: str) -> list[Given]:
    return [(ending, "state", data) for data in _columnar()[ending]]


# A columnar file that is not whole costs a process of its own to read, where it is read safely: they are few.
TABLE_TARGETS = (
    Target("csv", 8, _seed_texts, _draw_text, _check, _kept),
    Target(
        "csv-gz",
        4,
        lambda: [(".csv.gz", "state", data) for data in _packed()[:1]],
        _draw_packed,
        _check,
        _kept,
    ),
    Target(
        "parquet",
        0.2,
        partial(_seed_columnar, ".parquet"),
        partial(_draw_columnar, ending=".parquet"),
        _check,
        _kept,
    ),
    Target(
        "arrow",
        0.1,
        partial(_seed_columnar, ".arrow"),
        partial(_draw_columnar, ending=".arrow"),
        _check,
        _kept,
    ),
)
