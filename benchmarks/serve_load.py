"""How long does a click take while many runs go on? One server, runs that all step, and clicks in between.

Each round asks for a graph, the project, a step back and on, an earlier step and the card of an arc, of one
run after the other. Prints the median, the 99th percentile and the largest time of every kind of click, and
the memory of the server at the beginning and at the end.

    python benchmarks/serve_load.py [--runs 20] [--seconds 60] [--example alarm]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent


class Clicks:
    """Requests with their times, by kind."""

    def __init__(self, address: str) -> None:
        base, token = address.split("/?token=")
        self.client = httpx.Client(base_url=base, headers={"authorization": f"Bearer {token}"}, timeout=120)
        self.times: dict[str, list[float]] = {}

    def click(self, kind: str, method: str, path: str, **more: Any) -> Any:
        begin = time.perf_counter()
        found = self.client.request(method, path, **more)
        self.times.setdefault(kind, []).append(time.perf_counter() - begin)
        found.raise_for_status()
        return found.json()

    def report(self) -> None:
        print(f"{'click':<12}{'times':>7}{'median':>10}{'99%':>10}{'largest':>10}   ms")
        for kind, times in self.times.items():
            ordered = sorted(1000 * one for one in times)
            high = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
            print(
                f"{kind:<12}{len(times):>7}{statistics.median(ordered):>10.1f}{high:>10.1f}{ordered[-1]:>10.1f}"
            )


def memory(pid: int) -> float:
    """Megabytes that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def begun(clicks: Clicks, runs: int) -> list[str]:
    """Runs that all go on: slow searches, kept so by a pace, with more steps than anybody waits for."""
    body = {"search": "annealing", "score": "bdeu", "pace": 0.02, "settings": {"sweeps": 100_000}}
    numbers = [clicks.client.post("/api/runs", json=body | {"seed": i}).json()["id"] for i in range(runs)]
    while True:
        shown = clicks.client.get("/api/project").json()["runs"]
        if all(one["state"] not in ("waiting",) for one in shown):
            return numbers
        time.sleep(0.5)


def one_round(clicks: Clicks, run: str) -> None:
    path = f"/api/runs/{run}"
    detail = clicks.click("graph", "GET", path)
    clicks.click("project", "GET", "/api/project")
    clicks.click("pause", "POST", f"{path}/pause", json={})
    clicks.click("back", "POST", f"{path}/back", json={})
    clicks.click("step", "POST", f"{path}/step", json={})
    if detail["trace"]:
        clicks.click("replay", "GET", f"{path}/at/0")
    if detail["arcs"]:
        parent, child, _ = detail["arcs"][0]
        clicks.click("card", "GET", f"{path}/arc", params={"from": parent, "to": child})
    clicks.click("play", "POST", f"{path}/play", json={"pace": 0.02})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--example", default="alarm")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "bayescout",
                "serve",
                "--example",
                given.example,
                "--no-open",
                "--port",
                "0",
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        try:
            clicks = Clicks(server.stdout.readline().strip())
            runs = begun(clicks, given.runs)
            before, end, rounds = memory(server.pid), time.monotonic() + given.seconds, 0
            clicks.times.clear()
            while time.monotonic() < end:
                one_round(clicks, runs[rounds % len(runs)])
                rounds += 1
            clicks.report()
            print(f"server: {before:.0f} MB at the beginning, {memory(server.pid):.0f} MB at the end")
            print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
