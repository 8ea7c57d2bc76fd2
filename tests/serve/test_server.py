"""The server as a person has it: processes, kills, two tabs, large and broken files, Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import httpx
import pytest

import bayescout as bs
from bayescout.cli.serving import Address, serve
from bayescout.cli.serving import Served as Given
from bayescout.errors import MissingExtraError
from bayescout.serve.server import listening
from tests.serve.served import PATIENCE, Events, Served

TABU = {"search": "tabu", "score": "bdeu"}


def gone(pid):
    """Whether a process has ended, soon."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        time.sleep(0.05)
    return False


def test_a_search_is_seen_asked_about_and_taken_up_again(tmp_path):
    """From the start to Ctrl-C, and once more."""
    bs.load_network("asia").sample(500, seed=1).save(tmp_path / "people.csv")
    with Served(tmp_path, "people.csv") as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert server.client.get(server.address).status_code == 200
        assert httpx.get(f"{server.base}/api/project").status_code == 403
        events = Events(server)
        assert events.until(lambda one: one["type"] == "hello")["project"]["data"]["rows"] == 500
        run = server.ask("POST", "/api/runs", json=TABU)
        ended = server.until(run["id"], "ended")
        result = bs.learn(tmp_path / "people.csv", "tabu", "bdeu")
        assert ended["score"] == result.score
        told = events.until(lambda one: one["type"] == "run" and one["run"]["state"] == "ended")
        assert told["point"][3] == pytest.approx(result.score)
        arcs = set()
        for one in events.found:
            if one["type"] == "run" and "diff" in one:
                lists = {name: {tuple(arc) for arc in one["diff"][name]} for name in one["diff"]}
                arcs = arcs - lists["removed"] - {(b, a) for a, b in lists["turned"]}
                arcs |= lists["added"] | lists["turned"]
        assert arcs == set(result.arcs)
        detail = server.ask("GET", f"/api/runs/{run['id']}")
        assert {(a, b) for a, b, _ in detail["arcs"]} == set(result.arcs)
        processes = server.children()
        assert len({os.getpgid(pid) for pid in (*processes, server.process.pid)}) == 1 + len(processes)
        assert {os.getsid(pid) for pid in processes} == {os.getsid(server.process.pid)}  # so that nice counts
        code, said = server.interrupt()
        assert (code, "Traceback" in said) == (0, False)
        events.close()
        assert events.found[-1] == {"type": "gone"}
    assert all(gone(pid) for pid in processes)
    assert sorted(path.name for path in (tmp_path / "people.bayescout").iterdir())[:2] == [".lock", "data"]


@pytest.mark.slow
class TestKilled:
    def test_a_killed_worker_is_shown_and_the_run_goes_on_to_the_same_end(self, tmp_path):
        with Served(tmp_path, "--example", "asia") as server:
            run = server.ask("POST", "/api/runs", json=TABU | {"pace": 0.1})["id"]
            server.until(run, step=4)
            workers = [pid for pid, kind in server.children().items() if kind == "run"]
            for pid in workers:  # the spare one too
                os.kill(pid, signal.SIGKILL)
            failed = server.until(run, "failed")
            assert "SIGKILL" in failed["error"]
            server.ask("POST", f"/api/runs/{run}/play", json={})
            ended = server.until(run, "ended")
            table = tmp_path / "asia.bayescout" / "data" / "table.arrow"
            assert ended["score"] == bs.learn(table, "tabu", "bdeu").score
            assert ended["error"] is None
            points = server.ask("GET", f"/api/runs/{run}")["trace"]
            assert [point[0] for point in points] == list(range(ended["step"] + 1))

    def test_a_killed_server_leaves_no_process_and_loses_nothing(self, tmp_path):
        with Served(tmp_path, "--example", "asia") as server:
            run = server.ask("POST", "/api/runs", json=TABU | {"pace": 0.5})["id"]
            server.ask("PUT", "/api/knowledge", json={"text": "forbid asia -> dysp\n"})
            server.ask("PUT", "/api/layout", json={"positions": {"asia": [1, 2]}})
            server.until(run, step=4)
            time.sleep(1.5)  # for a checkpoint
            processes = server.children()
            server.kill()
        assert all(gone(pid) for pid in processes)
        with Served(tmp_path, "--project", "asia.bayescout") as server:
            project = server.ask("GET", "/api/project")
            assert project["knowledge"]["text"] == "forbid asia -> dysp\n"
            assert project["layout"]["positions"] == {"asia": [1, 2]}
            (kept,) = project["runs"]
            assert kept["state"] == "paused"
            assert "goes on from its last checkpoint" in kept["error"]
            assert server.ask("GET", f"/api/runs/{run}")["arcs"]
            server.ask("POST", f"/api/runs/{run}/play", json={})
            ended = server.until(run, "ended")
            table = tmp_path / "asia.bayescout" / "data" / "table.arrow"
            assert ended["score"] == bs.learn(table, "tabu", "bdeu").score

    def test_a_killed_answerer_is_started_again(self, tmp_path):
        with Served(tmp_path, "--example", "asia") as server:
            run = server.ask("POST", "/api/runs", json=TABU)["id"]
            server.until(run, "ended")
            for pid, kind in server.children().items():
                if kind == "answer":
                    os.kill(pid, signal.SIGKILL)
                    assert gone(pid)
            time.sleep(0.3)
            assert server.ask("GET", f"/api/runs/{run}")["arcs"]


@pytest.mark.slow
def test_runs_are_steered(tmp_path):
    with Served(tmp_path, "--example", "asia") as server:
        run = server.ask("POST", "/api/runs", json=TABU | {"play": False})["id"]
        server.until(run, "paused")
        for _ in range(3):
            server.ask("POST", f"/api/runs/{run}/step", json={})
        server.until(run, step=3)
        at = server.ask("GET", f"/api/runs/{run}/at/2")
        server.ask("POST", f"/api/runs/{run}/back", json={})
        end = time.monotonic() + PATIENCE
        while server.until(run, "paused")["step"] != 2 and time.monotonic() < end:
            time.sleep(0.05)
        detail = server.ask("GET", f"/api/runs/{run}")
        assert [arc[:2] for arc in sorted(detail["arcs"])] == sorted(at["arcs"])
        assert len(detail["trace"]) == 3
        fork = server.ask("POST", f"/api/runs/{run}/fork", json={})["id"]
        change = {"knowledge": "require asia -> dysp\n", "score": "bic"}
        assert server.ask("POST", f"/api/runs/{fork}/change", json=change)["score_name"] == "bic"
        for one in (run, fork):
            server.ask("POST", f"/api/runs/{one}/play", json={})
        ended = [server.until(one, "ended") for one in (run, fork)]
        assert ended[0]["score"] != ended[1]["score"]
        arcs = [
            {tuple(arc[:2]) for arc in server.ask("GET", f"/api/runs/{one}")["arcs"]} for one in (run, fork)
        ]
        assert ("asia", "dysp") in arcs[1]
        assert server.refused("POST", f"/api/runs/{run}/change", json={"knowledge": "odd"})[0] == 400
        found = server.ask("GET", f"/api/compare?runs={run},{fork}&truth=asia")
        assert [one["run"] for one in found["measures"]] == [run, fork]
        server.ask("DELETE", f"/api/runs/{fork}")
        assert server.refused("GET", f"/api/runs/{fork}")[0] == 404
        assert not (tmp_path / "asia.bayescout" / "runs" / fork).exists()


@pytest.mark.slow
def test_two_tabs_see_the_same(tmp_path):
    with Served(tmp_path, "--example", "asia") as server:
        tabs = [Events(server), Events(server)]
        for tab in tabs:
            tab.until(lambda one: one["type"] == "hello")
        run = server.ask("POST", "/api/runs", json=TABU)["id"]
        server.ask("PUT", "/api/knowledge", json={"text": "forbid asia -> dysp\n"})
        for tab in tabs:
            tab.until(lambda one: one["type"] == "knowledge")
            tab.until(lambda one: one["type"] == "run" and one["run"]["state"] == "ended")
        server.ask("POST", f"/api/runs/{run}/strengths", json={"runs": 3})
        for tab in tabs:
            tab.until(lambda one: one["type"] == "strengths" and one["done"] == 3)
        end = time.monotonic() + PATIENCE
        while (
            not (found := server.ask("GET", f"/api/runs/{run}/strengths"))["arcs"] and time.monotonic() < end
        ):
            time.sleep(0.1)
        arc = found["arcs"][0]
        card = server.ask("GET", f"/api/runs/{run}/arc", params={"from": arc[0], "to": arc[1]})
        assert card["strength"]["adjacent"] > 0
        assert server.interrupt()[0] == 0
        for tab in tabs:
            tab.close()


@pytest.mark.slow
def test_files_are_opened_and_refused(tmp_path):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n2,1\n1,1\n")
    with Served(tmp_path, "--project", "p", "--upload-limit", "1") as server:
        assert server.refused("POST", "/api/runs", json=TABU)[0] == 400
        rows = "x,y,z\n" + "".join(f"{i % 2},{i % 3},{i % 5}\n" for i in range(1000))
        data = server.ask("PUT", "/api/data?name=../../evil.csv", content=rows)
        assert [one["name"] for one in data["columns"]] == ["x", "y", "z"]
        assert (tmp_path / "p" / "data" / "evil.csv").exists()
        assert not (tmp_path.parent / "evil.csv").exists()
        status, said = server.refused("PUT", "/api/data?name=big.csv", content=b"x" * (2**20 + 1))
        assert status == 413
        assert "1,048,576" in said
        assert not (tmp_path / "p" / "data" / "big.csv").exists()
        for path in (
            "../secret.csv",
            str(tmp_path / "secret.csv"),
            "/etc/passwd",
            "data/../../secret.csv",
            "\0",
        ):
            assert (
                "no file in the project's folder"
                in server.refused("POST", "/api/data", json={"path": path})[1]
            )
        (tmp_path / "p" / "link.csv").symlink_to(tmp_path / "secret.csv")
        assert server.refused("POST", "/api/data", json={"path": "link.csv"})[0] == 400
        status, said = server.refused("PUT", "/api/data?name=broken.csv", content="a,b\n1,2\n3\n")
        assert status == 400
        assert said.startswith("broken.csv, line 3")
        assert server.ask("GET", "/api/project")["data"]["columns"][0]["name"] == "x"  # as before
        for path in ("/files/..%2f..%2fapp.py", "/files/%2e%2e/app.py", "/files/.hidden"):
            assert server.client.get(path).status_code == 404
        text = "from,to\nx,y\n"
        kept = server.ask("PUT", "/api/networks?name=../own.edges", content=text)
        assert kept["networks"] == ["own.edges"]
        status, said = server.refused("PUT", "/api/networks?name=bad.bif", content="nonsense {")
        assert (status, said.split(",")[0]) == (400, "bad.bif")
        assert server.ask("GET", "/api/project")["networks"] == ["own.edges"]
        as_read = server.ask("GET", "/api/project")["data"]["fingerprint"]
        kinds = server.ask("PATCH", "/api/data", json={"kinds": {"z": "continuous"}, "leave_out": ["x"]})
        assert [one["kind"] for one in kinds["columns"]] == ["discrete", "continuous", "left out"]
        assert kinds["chosen"] == ["x", "z"]
        again = server.ask("PATCH", "/api/data", json={"kinds": {"z": "as read", "x": "as read"}})
        assert (again["fingerprint"], again["chosen"]) == (as_read, [])
        assert server.refused("POST", "/api/data", content=b"[1")[0] == 400


@pytest.mark.slow
def test_a_csv_of_50_megabytes(tmp_path):
    """Clicks are answered while it is read, and the server holds none of it."""
    line = ",".join(["alpha", "beta", "gamma", "delta"] * 5)
    with open(tmp_path / "large.csv", "w") as stream:
        stream.write(",".join(f"v{i}" for i in range(20)) + "\n")
        for i in range(500_000):
            stream.write(line if i % 3 else line[::-1].replace("ateb", "beta")[: len(line)])
            stream.write("\n")
    assert (tmp_path / "large.csv").stat().st_size > 45e6
    with Served(tmp_path, "--project", "p", "--upload-limit", "100") as server, ExitStack() as stack:
        before = _memory(server.process.pid)
        other = stack.enter_context(server.another())
        done = []

        def upload():
            with open(tmp_path / "large.csv", "rb") as stream:
                done.append(other.put("/api/data?name=large.csv", content=stream))

        thread = threading.Thread(target=upload)
        thread.start()
        slowest = 0.0
        while thread.is_alive():
            begin = time.monotonic()
            server.ask("GET", "/api/project")
            slowest = max(slowest, time.monotonic() - begin)
            time.sleep(0.05)
        thread.join()
        assert done[0].status_code == 200, done[0].text
        assert done[0].json()["rows"] == 500_000
        assert slowest < 2.0
        assert _memory(server.process.pid) - before < 60e6


def _memory(pid):
    with open(f"/proc/{pid}/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_labels_and_names_are_only_text(tmp_path):
    names = ["<script>alert(1)</script>", "a\"b'c", "{{x}}", "\u202eevil", "a -> b"]
    rows = [",".join('"' + name.replace('"', '""') + '"' for name in names)]
    rows += [",".join(f"<b>{(i * (k + 2)) % 3}</b>" for k in range(5)) for i in range(300)]
    (tmp_path / "odd.csv").write_text("\n".join(rows))
    with Served(tmp_path, "odd.csv") as server:
        run = server.ask("POST", "/api/runs", json=TABU)["id"]
        server.until(run, "ended")
        detail = server.client.get(f"/api/runs/{run}")
        assert detail.headers["content-type"] == "application/json"
        assert detail.json()["nodes"] == names
        page = server.client.get(f"/api/runs/{run}/export?format=html")
        assert page.status_code == 200
        assert "<script>alert(1)" not in page.text
        fields = {"required": [["a -> b", "{{x}}"]]}
        assert server.ask("PUT", "/api/knowledge", json=fields)["required"] == fields["required"]


@pytest.mark.parametrize("package", ["uvicorn", "starlette"])
def test_a_missing_extra_says_the_pip_line(package, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bs, "serve", sys.modules.get("bayescout.serve"), raising=False)  # imported anew below
    for name in [name for name in sys.modules if name.startswith("bayescout.serve") or package in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bayescout\[serve\]'"):
        serve(served=Given(), address=Address())


def test_parts_of_an_answer_are_sent_at_once():
    """asyncio switches the delay of small packets off for connections that say that they are TCP."""
    with (
        listening("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.proto == socket.IPPROTO_TCP


def test_mistakes_are_told_in_one_line(tmp_path):
    def started(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "bayescout", "serve", "--no-open", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        return done.returncode, done.stderr

    code, said = started("--host", "0.0.0.0")
    assert code == 2
    assert "--allow-network" in said
    assert started("nothing.csv")[0] == 2


@pytest.mark.slow
def test_a_project_has_one_server(tmp_path):
    (tmp_path / "bad.csv").write_text("a,a\n1,2\n")
    refused = pytest.raises(AssertionError, match="another server has the project")
    with Served(tmp_path, "--project", "p"), refused:
        Served(tmp_path, "--project", "p")
    with pytest.raises(AssertionError, match=r"bad\.csv"):
        Served(tmp_path, "bad.csv")


@pytest.mark.slow
def test_a_result_opens_its_own_page():
    result = bs.learn(bs.load_network("asia").sample(500, seed=1), "hill-climb", "bdeu")
    with result.open(browser=False, block=False) as page:
        base, token = page.address.split("/?token=")
        with httpx.Client(
            base_url=base, headers={"authorization": f"Bearer {token}"}, timeout=PATIENCE
        ) as client:
            detail = client.get("/api/runs/1").json()
            assert {(a, b) for a, b, _ in detail["arcs"]} == set(result.arcs)
            card = client.get("/api/runs/1/arc", params={"from": "smoke", "to": "lung"}).json()
            assert card["sentence"] == str(result.explain("smoke", "lung"))
            assert client.post("/api/runs/1/play", json={}).status_code == 400
    with pytest.raises(httpx.HTTPError):
        httpx.get(page.address, timeout=5)
