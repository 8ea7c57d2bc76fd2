"""What every search gives with every score on ten tables, to the bit: to compare two versions of the package.

On the larger tables four scores stand for all, and imap is left out on that of 46 variables: its first steps
look at tens of thousands of dependencies.

    python scripts/answers.py write FILE [--only TEXT]
    python scripts/answers.py compare OLD NEW

A run is kept as its graph, its score (hexadecimal, so that every bit counts), how much it did, and why it
stopped; a combination that is refused as the kind of its error.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import bayescout as bs
from bayescout.scores import SCORES
from bayescout.search import SEARCHES

STEPS = {
    "optimal": 30,
    "genetic": 12,
    "genetic-greedy": 12,
    "holland": 8,
    "umda": 8,
    "pbil": 8,
    "elitist-ga": 8,
}
"""Steps after which a run may end; the others run to their end, or for 400 steps."""


def tables() -> dict[str, Any]:
    """Ten tables: discrete of several sizes, weighted, with constant columns, and continuous."""
    made: dict[str, Any] = {
        f"{name}-{rows}": bs.load_network(name).sample(rows, seed=3)
        for name, rows in [("asia", 1000), ("survey", 300), ("sachs", 500), ("child", 400), ("alarm", 500)]
    }
    made["random-300"] = bs.random_network(12, arcs=20, states=4, seed=5).sample(300, seed=5)
    rng = np.random.default_rng(8)
    asia = bs.load_network("asia").sample(400, seed=4)
    frame = asia.to_pandas()
    made["weighted-400"] = bs.as_table(frame, weights=rng.integers(1, 5, size=400).astype(float))
    frame["constant"] = "same"
    frame["copy"] = frame[frame.columns[0]]
    made["copies-400"] = bs.as_table(frame)
    made["ecoli70-200"] = bs.load_network("ecoli70").sample(200, seed=3)
    mixing = rng.normal(size=(8, 8))
    made["continuous-60"] = bs.as_table(rng.normal(size=(60, 8)) @ np.triu(mixing, 0))
    return made


def run(table: Any, search: str, score: str) -> Any:
    """One answer, or the kind of error."""
    knowledge = bs.Knowledge(max_parents=4 if table.n_columns < 20 else 3)
    steps = STEPS.get(search, 400) if table.n_columns < 40 or search != "optimal" else 5
    try:
        found = bs.learn(table, search, score, knowledge, seed=7, max_steps=steps, workers=1, top=3)
    except bs.BayescoutError as error:
        return type(error).__name__
    graph = sorted(map(str, found.dag.arcs()))
    return {
        "score": float(found.score).hex(),
        "graph": hashlib.blake2b(json.dumps(graph).encode(), digest_size=8).hexdigest(),
        "arcs": len(graph),
        "operations": found.trace[-1].operations,
        "evaluations": found.trace[-1].evaluations,
        "steps": len(found.trace),
        "stop": found.stop_reason,
        "top": [float(entry.score).hex() for entry in found.top],
    }


def answers_of(name: str, only: str) -> dict[str, Any]:
    table = tables()[name]
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for search in SEARCHES:
            for score in SCORES if table.n_columns < 20 else ("bic", "bdeu", "bge", "k2"):
                key = f"{name} {search} {score}"
                if only in key and not (search.startswith("imap") and table.n_columns > 40):
                    begin = time.perf_counter()
                    found[key] = run(table, search, score)
                    if time.perf_counter() - begin > 10:
                        print(f"{key}: {time.perf_counter() - begin:.0f} s", flush=True)
    return found


def write(path: Path, only: str) -> None:
    found: dict[str, Any] = {}
    with ProcessPoolExecutor(2) as pool:
        for part in pool.map(answers_of, list(tables()), [only] * 10):
            found |= part
            path.write_text(json.dumps(found, indent=0), encoding="utf-8")
    print(f"{len(found):,} answers in {path}")


def compare(old: Path, new: Path) -> None:
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    changed = [key for key in before if key in after and before[key] != after[key]]
    for key in changed:
        print(key, before[key], after[key], sep="\n  ")
    print(f"{len(before):,} before, {len(after):,} after, {len(changed):,} differ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.action == "write":
        write(given.files[0], given.only)
    else:
        compare(*given.files)
