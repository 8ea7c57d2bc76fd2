"""What the first `learn` on a machine costs: processor seconds without compiled kernels on disk, and with.

Each run is a process of its own; the second and third find on disk what the ones before have compiled.

    python benchmarks/first_use.py [--networks alarm,asia] [--rows 1000] [--search auto] [--score auto]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

RUN = """
import os, sys
import bayescout as bs
from bayescout.kernels.jit import compiling
name, rows, search, score = sys.argv[1:]
table = bs.load_network(name).sample(int(rows), seed=1)
before = os.times()
chosen = {} if score == "auto" else {"score": score}
found = bs.learn(table, search, **chosen)
after = os.times()
used = after.user + after.system - before.user - before.system
print(f"{used:6.2f} s of processor time, {compiling.kernels:2d} kernels compiled, score {found.score:.6f}")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--networks", default="asia,child,insurance,alarm,hailfinder,win95pts")
    parser.add_argument("--rows", default="1000")
    parser.add_argument("--search", default="auto")
    parser.add_argument("--score", default="auto")
    chosen = parser.parse_args()
    for name in chosen.networks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(3):
                words = [sys.executable, "-c", RUN, name, chosen.rows, chosen.search, chosen.score]
                environment = os.environ | {"NUMBA_CACHE_DIR": folder}
                done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
                print(f"{name:12}", done.stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
