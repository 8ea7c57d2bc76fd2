"""A server of its own process, as a person starts it, and a client of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
"""Seconds that anything may take on a machine that is busy."""


class Served:
    """`bayescout serve` with some arguments, in a folder."""

    def __init__(self, folder, *arguments):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bayescout", "serve", "--no-open", "--port", "0", *map(str, arguments)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            said = self.process.communicate()[1]
            raise AssertionError(said)
        self.base, self.token = self.address.split("/?token=")
        self.client = self.another()

    def another(self):
        """A client; two of them are two tabs."""
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.base, headers=headers, timeout=PATIENCE)

    def ask(self, method, path, **more):
        """The answer to a request that has to succeed."""
        found = self.client.request(method, path, **more)
        assert found.status_code == 200, found.text
        return found.json()

    def refused(self, method, path, **more):
        """The status and the sentence of a request that has to be refused."""
        found = self.client.request(method, path, **more)
        assert found.status_code >= 400, found.text
        return found.status_code, found.json()["error"]

    def until(self, run, *states, step=0):
        """The run once it is in one of these states, or has come so far."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = next(one for one in self.ask("GET", "/api/project")["runs"] if one["id"] == run)
            if found["state"] in states or (step and found["step"] >= step):
                return found
            time.sleep(0.05)
        raise AssertionError(f"run {run} is {found}")

    def children(self):
        """The processes of the server, by id and kind."""
        listed = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)], capture_output=True, text=True
        ).stdout
        rows = [line.split(None, 1) for line in listed.splitlines()]
        return {int(pid): args.split()[-1] for pid, args in rows if "serve.child" in args}

    def interrupt(self):
        """Ctrl-C; the exit code and what was said."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out + err

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Events:
    """The stream of events, as one page gets it."""

    def __init__(self, served):
        self.found = []
        self.client = served.another()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        try:
            with self.client.stream("GET", "/api/events", timeout=PATIENCE) as stream:
                for line in stream.iter_lines():
                    if line.startswith("data: "):
                        self.found.append(json.loads(line[6:]))
        except (httpx.HTTPError, OSError):
            return

    def until(self, wanted):
        """The first event that is wanted."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for event in list(self.found):
                if wanted(event):
                    return event
            time.sleep(0.02)
        raise AssertionError(f"no such event among {[one['type'] for one in self.found]}")

    def close(self):
        self._thread.join(PATIENCE)
        self.client.close()
