"""Writes ges.json: the classes that the package `ges` finds on small Gaussian data sets.

Run by hand, in the peers' environment (`make peers`), and look at what changed:

    .peers/bin/python tests/peers/make_ges.py
"""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path

import ges
import numpy as np

TARGET = Path(__file__).with_name("ges.json")
RUNS = {
    "plain": {"phases": ["forward", "backward"]},
    "turning": {"phases": ["forward", "backward", "turning"]},
    "turning-repeat": {"phases": ["forward", "backward", "turning"], "iterate": True},
}


def linear_data(seed):
    """A random linear model of four to nine variables, in three decimals."""
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(4, 10)), int(rng.integers(25, 90))
    columns = rng.normal(size=(n, rows))
    for child in range(1, n):
        for parent in range(child):
            if rng.random() < 2.5 / (n - 1):
                columns[child] += rng.uniform(-1, 1) * columns[parent]
    return np.round(columns[rng.permutation(n)], 3)


def case(seed):
    columns = linear_data(seed)
    found = {}
    for name, options in RUNS.items():
        matrix, _ = ges.fit_bic(columns.T, **options)
        found[name] = [[int(a), int(b)] for a, b in np.argwhere(matrix != 0)]
    return {"columns": columns.tolist(), "found": found}


def main():
    found = {
        "versions": {package: version(package) for package in ("ges", "numpy")},
        "cases": [case(seed) for seed in range(60)],
    }
    text = json.dumps(found, indent=1)
    one_line_a_list = re.sub(r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers[0].split()), text)
    TARGET.write_text(one_line_a_list + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
