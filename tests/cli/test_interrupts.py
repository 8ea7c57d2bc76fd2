"""Ctrl-C: exit code 130 and one line that says what was kept and what was lost."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import bayescout as bs
import bayescout.evaluate.resampling as resampling
import bayescout.optimality as optimality
from bayescout.cli.app import app
from bayescout.errors import Interrupted
from bayescout.learn import learn


def call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    path = tmp_path_factory.mktemp("asia") / "asia.csv"
    bs.load_network("asia").sample(300, seed=3).save(path)
    return path


PLAIN = ("--search", "hill-climb", "--score", "bic")


@pytest.fixture
def stopped_after(monkeypatch):
    """Ctrl-C while the given number of runs are done."""

    def install(runs, raised=True):
        made = []

        def interrupted(*arguments, **options):
            if len(made) == runs:
                if raised:
                    raise KeyboardInterrupt
                return replace(learn(*arguments, **options), stop_reason="interrupted")
            made.append(learn(*arguments, **options))
            return made[-1]

        monkeypatch.setattr(resampling, "learn", interrupted)

    return install


@pytest.mark.parametrize("raised", [True, False], ids=["raised", "noted"])
def test_bootstrap_shows_what_the_finished_runs_came_to(asia, stopped_after, raised, tmp_path):
    expected = bs.bootstrap(asia, runs=3, search="hill-climb", score="bic").to_dict()
    stopped_after(3, raised)
    files = ["-o", tmp_path / "x.bif", "--strengths", tmp_path / "x.csv"]
    done = call("bootstrap", asia, "--runs", 50, "--json", *files, *PLAIN)
    assert done.exit_code == 130
    assert done.stderr == ("bayescout: interrupted; this is what the first 3 of 50 runs came to\n")
    found = json.loads(done.stdout)
    assert {key: found[key] for key in expected} == expected
    assert (tmp_path / "x.bif").exists()
    assert (tmp_path / "x.csv").exists()


@pytest.mark.parametrize("words", [["bootstrap", "--runs", 50], ["cross-validate", "--folds", 50]])
@pytest.mark.parametrize("raised", [True, False], ids=["raised", "noted"])
def test_what_is_lost_is_said(asia, stopped_after, words, raised, tmp_path):
    done_before = 0 if words[0] == "bootstrap" else 3
    stopped_after(done_before, raised)
    done = call(words[0], asia, *words[1:], *PLAIN)
    assert (done.exit_code, done.stdout) == (130, "")
    noun = "runs" if words[0] == "bootstrap" else "folds"
    assert done.stderr == f"bayescout: interrupted after {done_before} of 50 {noun}; nothing was kept\n"


def test_python_is_told_what_was_done(asia, stopped_after):
    stopped_after(2)
    with pytest.raises(KeyboardInterrupt) as caught:
        bs.bootstrap(asia, runs=9, search="hill-climb", score="bic")
    assert isinstance(caught.value, Interrupted)
    assert len(caught.value.done) == 2


def test_any_other_command_says_so_too(monkeypatch):
    import bayescout.cli.networks as networks

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(networks, "open_network", stop)
    done = call("sample", "asia")
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr == "bayescout: interrupted before there was a result\n"


@pytest.mark.parametrize("when", ["before the first step", "later"])
def test_ctrl_c_in_the_search_for_the_gap_keeps_the_network(asia, tmp_path, monkeypatch, when):
    """What was learned is printed and written, with the bound that was known by then."""

    def interrupted(*arguments, **options):
        if when == "before the first step":
            raise KeyboardInterrupt
        return replace(learn(*arguments, **options), stop_reason="interrupted")

    expected = bs.learn(asia, search="hill-climb", score="bic")
    monkeypatch.setattr(optimality, "learn", interrupted)
    done = call(
        "learn",
        asia,
        "--gap",
        20,
        "--json",
        "-o",
        tmp_path / "x.bif",
        "--report",
        tmp_path / "x.html",
        *PLAIN,
    )
    assert done.exit_code == 130
    said = "the network is whole, the search for its gap was cut short"
    assert done.stderr == f"bayescout: interrupted; {said}\n"
    found = json.loads(done.stdout)
    assert (found["score"], found["stop_reason"]) == (expected.score, "converged")
    assert bs.read_network(tmp_path / "x.bif").dag.n_arcs == expected.dag.n_arcs
    assert (tmp_path / "x.html").exists()
    if when == "later":
        assert found["certificate"]["stop_reason"] == "interrupted"
        assert found["gap"] == found["bound"] - found["score"]
    else:
        assert found["gap"] is None


def test_no_gap_is_looked_for_once_the_search_was_interrupted(asia, monkeypatch):
    import sys

    def interrupted(*arguments, **options):
        return replace(learn(*arguments, **options), stop_reason="interrupted")

    monkeypatch.setattr(sys.modules["bayescout.learn"], "learn", interrupted)
    monkeypatch.setattr(optimality, "learn", None)
    done = call("learn", asia, "--gap", 20, "--json", *PLAIN)
    assert done.exit_code == 130
    assert done.stderr == "bayescout: interrupted; this is the best network so far\n"
    assert json.loads(done.stdout)["gap"] is None


def test_ctrl_c_while_a_file_is_written_loses_that_file_alone(asia, tmp_path, monkeypatch):
    import bayescout.formats as formats

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(formats, "write_network", stop)
    done = call("learn", asia, "--json", "-o", tmp_path / "x.bif", "--report", tmp_path / "x.html")
    assert done.exit_code == 130
    assert done.stderr == f"bayescout: interrupted; {tmp_path / 'x.bif'} was not written\n"
    found = json.loads(done.stdout)
    assert (found["output"], found["report"]) == (None, str(tmp_path / "x.html"))
