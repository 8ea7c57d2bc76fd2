"""Searches on screened pairs beside the same over all pairs, on shipped networks: scores and seconds.

    python benchmarks/screened.py                                     andes, pigs, link, munin; ges and auto
    python benchmarks/screened.py --networks link --searches hill-climb tabu --rows 1000

Each run is a process of its own, on one sample of the network, with the default score and prior. Seconds are
those of the processor, compiling aside; "kept" is the share of pairs that remained after screening; scores
are in nats, and "gain" is what the search on screened pairs ends higher than the one over all pairs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

NETWORKS = ("andes", "pigs", "link", "munin")

SEARCHES = ("ges", "auto")

SCREENS = ("none", "arc")


def measured(name: str, rows: int, search: str, screen: str, max_time: float | None) -> dict[str, Any]:
    import bayescout as bs

    table = bs.load_network(name).sample(rows, seed=1)
    bs.learn(table, search, screen=screen, max_steps=1)  # loads or compiles what there is to
    begin = time.process_time()
    result = bs.learn(table, search, screen=screen, max_time=max_time)
    return {
        "cpu": time.process_time() - begin,
        "score": result.score,
        "score_name": result.settings.score,
        "arcs": result.dag.n_arcs,
        "kept": result.screened.kept / result.screened.pairs if result.screened else 1.0,
        "stopped": result.stop_reason,
        "found_by": result.found_by,
        "columns": len(result.dag),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--searches", nargs="+", default=SEARCHES)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--max-time", type=float, help="seconds for each run")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        name, search, screen = chosen.one
        print(json.dumps(measured(name, chosen.rows, search, screen, chosen.max_time)))
        return
    print(f"{'network':12}{'search':12}{'kept':>8}{'all pairs':>24}{'screened':>24}{'gain':>12}", flush=True)
    for name in chosen.networks:
        for search in chosen.searches:
            dense, sparse = (_in_process(name, search, screen) for screen in SCREENS)
            shown = "".join(f"{found['score']:>14.1f}{found['cpu']:>8.1f} s" for found in (dense, sparse))
            gain = sparse["score"] - dense["score"]
            notes = {f"{f['found_by']} {f['stopped']}".strip() for f in (dense, sparse)}
            print(f"{name:12}{search:12}{sparse['kept']:>8.2%}{shown}{gain:>+12.1f}   {notes}", flush=True)


def _in_process(name: str, search: str, screen: str) -> dict[str, Any]:
    command = [sys.executable, __file__, *sys.argv[1:], "--one", name, search, screen]
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


if __name__ == "__main__":
    main()
