"""Columns of plain numbers in a text file, read many at a time: what they are read as column by column."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

from bayescout.data import read as read_module
from bayescout.data import read_table
from bayescout.data.blocks import read_blocks
from bayescout.data.text import TextColumn
from bayescout.errors import BayescoutError

CELLS = {
    "decimals": lambda r: f"{r.gauss(0, 1):.3f}",
    "few decimals": lambda r: f"{r.gauss(0, 1):.1f}",
    "exponents": lambda r: f"{r.gauss(0, 1e5):.3e}",
    "whole": lambda r: str(r.randrange(1000)),
    "few whole": lambda r: str(r.randrange(5)),
    "keys": lambda r: str(r.randrange(10**17)),
    "leading zeros": lambda r: f"{r.randrange(300):03d}",
    "spaces": lambda r: f" {r.gauss(0, 1):.2f} ",
    "commas": lambda r: f'"{r.randrange(99)},{r.randrange(99)}"',
    "decimal commas": lambda r: f"{r.gauss(0, 1):.3f}".replace(".", ","),
    "few decimal commas": lambda r: f"{r.gauss(0, 1):.1f}".replace(".", ","),
    "spaced commas": lambda r: f" {r.gauss(0, 1):.2f}".replace(".", ","),
    "commas and whole": lambda r: r.choice([str(r.randrange(99)), f"{r.randrange(99)},5"]),
    "like thousands": lambda r: f"{r.randrange(1, 99)},{r.randrange(1000):03d}",
    "commas and points": lambda r: r.choice(["{},5", "{},25", "{}.5", "{}"]).format(r.randrange(99)),
    "rare points": lambda r: ("{}.5" if r.random() < 0.01 else "{},5").format(r.randrange(99)),
    "commas and exponents": lambda r: r.choice(["{},5e2", "{},5", "{}e1"]).format(r.randrange(99)),
    "spaced whole": lambda r: r.choice([" {}", "{} ", "{}"]).format(r.randrange(150)),
    "in quotes": lambda r: f'"{r.gauss(0, 1):.3f}"',
    "odd forms": lambda r: r.choice(["1.", ".5", "+3.1", "-0", "5", "1e5", "2E-3"]),
    "too large": lambda r: r.choice(["1.5", "2.5", "3" * 50, "1.5e400"]),
    "text": lambda r: r.choice("abc"),
}
MARKS = ["", "NA", "?", "nan", '"NA"', '""', "-999", "-999.0", "inf", "k.A.", " ", " NA", "99"]
LATE = ["text", '"1,5"', "1.5 mg", "2024-01-01", "1e999", "1.5", "k.A."]


def column(r, rows):
    """The texts of a column, of which some may mean missing, and one may be of another kind."""
    cell, mark, share = CELLS[r.choice(list(CELLS))], r.choice(MARKS), r.choice([0, 0, 0.02, 0.9])
    texts = [mark if r.random() < share else cell(r) for _ in range(rows)]
    if r.random() < 0.15:
        texts[r.randrange(rows)] = r.choice(LATE)
    return texts


def told(path, **asked):
    """The table of a file, or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            table = read_table(path, **asked)
        except BayescoutError as error:
            return str(error), []
    cells = (table.codes.tolist(), (table.values + 0.0).tobytes(), str(table.missing))  # -0.0 is 0.0
    return (table.names, table.states, table.notes, cells), sorted(str(one.message) for one in said)


@pytest.mark.parametrize("seed", range(60))
def test_many_columns_at_a_time_are_what_each_is_by_itself(tmp_path, monkeypatch, seed):
    """Whatever the sizes of blocks, and whatever else the columns hold."""
    r = random.Random(seed)
    rows, separator = r.choice([1, 20, 120, 250]), r.choice([",", "\t", ";"])
    columns = [column(r, rows) for _ in range(4)]
    if separator == ",":  # what holds a comma stands in quotes there
        columns = [[f'"{c}"' if "," in c and '"' not in c else c for c in own] for own in columns]
    path = tmp_path / ("data.tsv" if separator == "\t" else "data.csv")
    names = separator.join(f"c{i}" for i in range(4))
    path.write_text("\n".join([names, *map(separator.join, zip(*columns, strict=True))]) + "\n")
    asked = r.choice(
        [
            *({}, {}, {"missing_values": [-999]}, {"missing_values": []}, {"kinds": {"c0": "continuous"}}),
            *({"missing_values": ["k.A.", "NA", "-999"]}, {"missing_values": ["99", "NA"]}),
            {"missing_values": ["k.A.", "99.5"], "kinds": {"c0": "continuous", "c1": "discrete"}},
        ]
    )
    size = r.choice([200, 2000, 1 << 23])
    monkeypatch.setattr(read_module, "read_blocks", lambda form: read_blocks(form, size))
    monkeypatch.setattr(read_module, "HEAD_ROWS", r.choice([1, 50, 200]))
    together = told(path, **asked)
    monkeypatch.setattr(TextColumn, "may_be_plain", lambda *_: False)
    assert told(path, **asked) == together


@pytest.mark.parametrize("rows", [30, 150, 400])
@pytest.mark.parametrize("form", ["plain", "spaces", "commas", "declared"])
@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
def test_no_column_of_plain_numbers_is_read_by_itself(tmp_path, monkeypatch, rows, form):
    """Else a file of 20,000 columns takes two minutes, and not a few seconds."""
    numbers = np.random.default_rng(0).normal(size=(rows, 6)).round(4)
    texts = [[str(cell) for cell in row] for row in numbers]
    if form == "commas":
        texts = [[text.replace(".", ",") for text in row] for row in texts]
    mark = "k.A." if form == "declared" else "NA"
    texts[rows // 2][0], texts[rows - 1][1] = mark, ""
    path = tmp_path / "data.csv"
    separator = ";" if form == "commas" else ","
    if form == "spaces":
        texts = [[text if text in ("", mark) else f" {text} " for text in row] for row in texts]
    lines = [separator.join("abcdef"), *map(separator.join, texts)]
    path.write_text("\n".join(lines) + "\n")
    numbers[rows // 2, 0] = numbers[rows - 1, 1] = np.nan
    monkeypatch.setattr(read_module, "read_blocks", lambda form: read_blocks(form, 500))
    monkeypatch.delattr(TextColumn, "add")
    table = read_table(path, missing_values=[mark] if form == "declared" else None)
    assert np.array_equal(table.values.T, numbers, equal_nan=True)
