"""Time one other library at the extensions of a family; run by counting.py in the peers' environment."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd


def scorer(library, frame):
    """A function (child, parents) -> BIC of the family, by the library's own means."""
    if library == "pgmpy":
        from pgmpy.structure_score import BIC

        score = BIC(frame)
        return lambda child, parents: score.local_score(child, tuple(parents))
    if library == "pybnesian":
        import pybnesian

        score = pybnesian.BIC(frame)
        network = pybnesian.DiscreteBN(list(frame.columns))
        return lambda child, parents: score.local_score(network, child, parents)
    import pyagrum

    learner = pyagrum.BNLearner(frame)
    learner.setNumberOfThreads(1)
    learner.useScoreBIC()
    learner.useNoPrior()
    return lambda child, parents: learner.logLikelihood([child], parents)


def main(library, folder):
    codes = np.load(Path(folder) / "codes.npy")
    task = json.loads((Path(folder) / "task.json").read_text())
    frame = pd.DataFrame(
        {f"v{i}": pd.Categorical([f"s{c}" for c in column]) for i, column in enumerate(codes)}
    )
    if library == "pyagrum":
        frame = frame.astype(str)
    child, parents = f"v{task['child']}", [f"v{p}" for p in task["parents"]]
    families = [(child, [*parents, f"v{x}"]) for x in task["others"]]
    times = []
    for _ in range(3):
        local = scorer(library, frame)  # a new one each time: some remember what they were asked
        local(*families[0])
        begin = time.perf_counter()
        for family in families[1:]:
            local(*family)
        times.append((time.perf_counter() - begin) * len(families) / (len(families) - 1))
    what = "log-likelihoods" if library == "pyagrum" else "BIC"
    print(f"{min(times) * 1e6:>9.1f} us   {what}")


if __name__ == "__main__":
    main(*sys.argv[1:])
