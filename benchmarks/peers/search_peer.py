"""Time one other library's hill climbing; run by search.py in the peers' environment.

Arguments: library, folder with codes.npy or values.npy, repeats. Prints JSON: seconds, arcs.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd


def frame_of(library, folder):
    if (folder / "values.npy").exists():
        values = np.load(folder / "values.npy")
        return pd.DataFrame({f"v{i}": column for i, column in enumerate(values)})
    codes = np.load(folder / "codes.npy")
    columns = {}
    for i, column in enumerate(codes):
        levels = [f"s{k}" for k in range(int(column.max()) + 1)]
        columns[f"v{i}"] = pd.Categorical.from_codes(column, levels)
    frame = pd.DataFrame(columns)
    return frame.astype(str) if library == "pyagrum" else frame


def pybnesian_arcs(frame, gaussian):
    import pybnesian

    begin = time.perf_counter()
    kind = pybnesian.GaussianNetworkType() if gaussian else pybnesian.DiscreteBNType()
    model = pybnesian.hc(frame, bn_type=kind, score="bic", operators=["arcs"], seed=0)
    return time.perf_counter() - begin, model.arcs()


def pyagrum_arcs(frame, gaussian):
    import pyagrum

    begin = time.perf_counter()
    learner = pyagrum.BNLearner(frame)
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.useGreedyHillClimbing()
    learner.setNumberOfThreads(2)
    dag = learner.learnDAG()
    seconds = time.perf_counter() - begin
    return seconds, [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in dag.arcs()]


def pgmpy_arcs(frame, gaussian):
    from pgmpy.causal_discovery import HillClimbSearch

    begin = time.perf_counter()
    score = "bic-g" if gaussian else "bic-d"
    found = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False).fit(frame)
    return time.perf_counter() - begin, list(found.causal_graph_.edges())


LIBRARIES = {"pybnesian": pybnesian_arcs, "pyagrum": pyagrum_arcs, "pgmpy": pgmpy_arcs}


def main(library, folder, repeats):
    frame = frame_of(library, Path(folder))
    gaussian = (Path(folder) / "values.npy").exists()
    best, arcs = float("inf"), []
    for _ in range(int(repeats)):
        seconds, arcs = LIBRARIES[library](frame, gaussian)
        best = min(best, seconds)
    print(json.dumps({"seconds": best, "arcs": [[int(a[1:]), int(b[1:])] for a, b in arcs]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
