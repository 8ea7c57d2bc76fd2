"""A full disk is said with where it is and the way out; nothing is left half done."""

from __future__ import annotations

import asyncio
import builtins
import errno
import os
import shutil
from types import SimpleNamespace

import httpx
import pytest

import bayescout as bs
from bayescout.errors import FormatError
from bayescout.serve import app, columns, sharing
from bayescout.serve.app import INSUFFICIENT_STORAGE, make_app
from bayescout.serve.bootstraps import Strengths
from bayescout.serve.offers import formats
from bayescout.serve.opening import lay_out
from bayescout.serve.project import Project
from bayescout.serve.running import Runner
from bayescout.serve.runs import Run
from bayescout.serve.wire import failure
from bayescout.serve.workbench import Workbench
from tests.serve.test_answers import nobody, subject_of
from tests.serve.test_staleness import RUN

SAID = "cannot be written: No space left on device; make room on the disk of "
DRAWN = ("png", "pdf")


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def full_disk(monkeypatch):
    """Files take what is written to them, and the disk does not."""
    monkeypatch.setattr(os, "fsync", full)


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    """A result, and its graph as the process that answers is told of it."""
    folder = tmp_path_factory.mktemp("asia")
    bs.load_network("asia").sample(300, seed=1).save(folder / "asia.csv")
    columns.read({"path": str(folder / "asia.csv"), "table": str(folder / "table.arrow")}, nobody)
    result = bs.learn(folder / "table.arrow", "hill-climb", "bic")
    return result, subject_of(result, folder)


@pytest.fixture
def bench(tmp_path):
    found = Workbench(Project(tmp_path / "p"))
    found.runs.all["1"] = Run(**RUN, plan={})
    found.project.run_folder("1").mkdir()
    yield found
    found.project.close()


def answered(bench, method, path, **more):
    """The status and the sentence of a request that the server refuses."""

    async def asked():
        transport = httpx.ASGITransport(make_app(bench, "token", 8000))
        headers = {"authorization": "Bearer token"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8000", headers=headers
        ) as client:
            return await client.request(method, path, **more)

    found = asyncio.run(asked())
    return found.status_code, found.json()["error"]


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(one["name"], marks=[pytest.mark.slow] if one["name"] in DRAWN else [])
        for one in formats()
    ],
)
def test_no_export_fits(asia, tmp_path, full_disk, form):
    path = tmp_path / f"net{sharing.ending(form)}"
    values = {**asia[1], "format": form, "path": str(path), "result": str(tmp_path / "none")}
    with pytest.raises(FormatError) as refused:
        sharing.export(values, nobody)
    assert failure(refused.value) == {"error": f"{path}: {SAID}{tmp_path}", "known": True}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "path", "sent"),
    [
        ("layout.json", "/api/layout", {"positions": {"a": [1, 2]}}),
        ("knowledge.txt", "/api/knowledge", {"text": "forbid a -> b\n"}),
    ],
)
def test_what_a_person_did_cannot_be_kept(bench, full_disk, name, path, sent):
    folder = bench.project.folder
    assert answered(bench, "PUT", path, json=sent) == (400, f"{folder / name}: {SAID}{folder}")
    assert (bench.project.layout, bench.project.knowledge) == ({"positions": {}}, "")


def test_an_upload_does_not_fit(bench, monkeypatch):
    class Full:
        def __init__(self, path, mode):
            self.stream = builtins.open(path, mode)  # noqa: SIM115

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

        write = staticmethod(full)

    monkeypatch.setattr(app, "open", Full, raising=False)
    status, said = answered(bench, "PUT", "/api/data?name=rows.csv", content=b"a,b\n1,2\n")
    data = bench.project.folder / "data"
    assert (status, said) == (INSUFFICIENT_STORAGE, f"{data}: {SAID}{data.parent}")
    assert list(data.iterdir()) == []


def test_half_a_forked_run_is_not_left_behind(bench, monkeypatch):
    folder = bench.project.run_folder("1")
    for name in ("run.json", "trace.jsonl", "checkpoint-0"):
        (folder / name).write_text("{}")

    def first_only(one, other):
        if any(other.parent.iterdir()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(other))
        return other.write_bytes(one.read_bytes())

    monkeypatch.setattr(shutil, "copyfile", first_only)
    status, said = answered(bench, "POST", "/api/runs/1/fork", json={})
    assert status == INSUFFICIENT_STORAGE
    assert said.endswith(f"{SAID}{folder.parent / '2'}")
    assert not (folder.parent / "2").exists()
    assert list(bench.project.saved_runs()) == ["1"]


def test_a_forked_run_that_cannot_be_kept_is_not_taken_for_the_other(bench, monkeypatch):
    """Both had the number and the folder of the first one when the project was opened again."""
    bench.runs.save(bench.runs.get("1"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: full() if (bench.project.run_folder("2")).exists() else None)
        fork = asyncio.run(bench.runs.fork(bench.runs.get("1")))
    assert SAID in fork.error
    assert list(bench.project.saved_runs()) == ["1"]
    bench.runs.save(fork)
    assert {number: run["id"] for number, run in bench.project.saved_runs().items()} == {"1": "1", "2": "2"}


def test_a_run_whose_steps_cannot_be_written_says_so_and_can_go_on(tmp_path):
    """The process of the run lives: it has the steps, and writes them once there is room."""
    sent = []
    runner = Runner(SimpleNamespace(send=sent.append))
    runner.work, runner.playing = SimpleNamespace(step=full, folder=tmp_path), True
    runner._advance()
    assert sent == [
        {"event": "failed", "error": f"{tmp_path / 'trace.jsonl'}: {SAID}{tmp_path}", "known": True}
    ]
    assert not runner.playing


def test_a_bootstrap_that_cannot_be_kept_says_so(bench, full_disk):
    async def worked():
        async def call(*_, **__):
            return {"arcs": []}

        async def close(_):
            pass

        strong, run = Strengths(bench), bench.runs.all["1"]
        child = SimpleNamespace(call=call, close=close)
        await strong._work(run, child, {"settings": {}}, 10, None)
        return strong.shown(run)

    folder = bench.project.run_folder("1")
    assert asyncio.run(worked())["error"] == f"{folder / 'strengths.json'}: {SAID}{folder}"


def test_a_result_that_cannot_be_opened_says_so(asia, tmp_path, full_disk):
    with pytest.raises(FormatError, match=SAID):
        lay_out(asia[0], tmp_path / "p")


def test_other_errors_of_the_system_are_bugs(bench, monkeypatch):
    def denied(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(bench, "knowledge", denied)
    with pytest.raises(OSError, match="Input/output error"):
        answered(bench, "GET", "/api/knowledge")
