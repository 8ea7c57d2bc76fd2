"""What reaches the terminal: labels are shown and never obeyed, and output that is lost is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli import experiments, learning, networks, resampling, scoring
from bayescout.cli.app import app
from bayescout.cli.terminal import json_line, line
from bayescout.errors import UNPRINTABLE, BayescoutError, printable

OBEYED = "\x1b[31m\x07\x9b\x7f\u202e\u2066\u2028\u200f\r\n\t"
ONE, TWO = f"A{OBEYED}1", f"B{OBEYED}2"
NAMELESS = {"networks", "searches", "scores", "warm-up"}
"""Commands that show nothing that came from a user."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A network, its structure and its data, all of whose names and states would move a cursor."""
    path = tmp_path_factory.mktemp("odd") / f"odd{OBEYED}"
    path.mkdir()
    states = ((f"x{OBEYED}x", f"y{OBEYED}y"), (f"u{OBEYED}u", f"v{OBEYED}v"))
    tables = (np.array([0.5, 0.5]), np.array([[0.1, 0.9], [0.8, 0.2]]))
    dag = bs.Dag.from_arcs([(ONE, TWO)])
    network = bs.DiscreteNetwork(dag, states, tables, name=f"net{OBEYED}")
    network.save(path / "n.json")
    bs.write_structure(dag, path / "s.dot")
    bs.fit(bs.Dag.from_arcs([], nodes=[ONE, TWO]), network.sample(9, seed=1)).save(path / "empty.json")
    network.sample(200, seed=1).save(path / "d.parquet")
    rng = np.random.default_rng(1)
    bs.as_table({ONE: rng.normal(size=50), TWO: rng.normal(size=50)}).save(path / "g.parquet")
    return path


SHOWN = {
    "learn": ["learn", "{d}", "-o", "{d}.json", "--report", "{d}.html", "--top", "2"],
    "bootstrap": ["bootstrap", "{d}", "--runs", "2", "-o", "{d}.bif", "--strengths", "{d}.csv"],
    "cross-validate": ["cross-validate", "{d}", "--folds", "2"],
    "fit": ["fit", "{n}", "{d}", "-o", "{d}.bif"],
    "fit Gaussian": ["fit", "{s}", "{g}"],
    "sample": ["sample", "{n}", "-o", "{d}.arrow"],
    "impute": ["impute", "{n}", "{d}", "-o", "{d}.arrow"],
    "query": ["query", "{n}", "{two} | {one}={state}"],
    "compare": ["compare", "{n}", "{empty}"],
    "convert": ["convert", "{n}", "{d}.dot"],
    "show": ["show", "{n}"],
    "show one": ["show", "{n}", "{two}"],
    "score": ["score", "{n}", "{d}", "--nodes"],
}
REFUSED = {
    "learn": ["learn", "{d}", "--require", "{one}->{one}"],
    "learn names": ["learn", "{d}", "--require", "C{odd}->D"],
    "learn options": ["learn", "{d}", "--option", "a{odd}=1"],
    "learn file": ["learn", "{d}.none"],
    "bootstrap": ["bootstrap", "{d}", "--forbid", "{one}->{one}"],
    "cross-validate": ["cross-validate", "{d}", "--drop", "C{odd}"],
    "fit": ["fit", "[C{odd}]", "{d}"],
    "sample": ["sample", "none{odd}"],
    "impute": ["impute", "none{odd}", "{d}"],
    "query": ["query", "{n}", "C{odd}"],
    "query state": ["query", "{n}", "{one} | {two}=C{odd}"],
    "compare": ["compare", "{n}", "[C{odd}]"],
    "convert": ["convert", "{n}", "{d}.txt"],
    "show": ["show", "{n}", "C{odd}"],
    "score": ["score", "{n}", "{d}", "--score", "C{odd}"],
    "experiment": ["experiment", "none{odd}"],
}


def filled(words, folder):
    files = {"n": "n.json", "d": "d.parquet", "g": "g.parquet", "empty": "empty.json", "s": "s.dot"}
    places = {key: folder / name for key, name in files.items()}
    return [word.format(one=ONE, two=TWO, odd=OBEYED, state=f"x{OBEYED}x", **places) for word in words]


def assert_shown(text):
    assert not UNPRINTABLE.search(text.replace("\n", "")), ascii(text)


def test_every_command_is_looked_at():
    parts = (learning, resampling, networks, scoring, experiments)
    commands = {command.__name__.replace("_", "-") for part in parts for command in part.COMMANDS}
    assert commands - NAMELESS == {words[0] for words in (*SHOWN.values(), *REFUSED.values())}


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("case", SHOWN)
def test_labels_are_shown_and_not_obeyed(case, as_json, folder):
    words = filled(SHOWN[case], folder)
    done = CliRunner().invoke(app, [*words, *["--json"] * as_json], catch_exceptions=False)
    assert done.exit_code == 0
    assert_shown(done.stdout)
    assert_shown(done.stderr)
    if as_json:
        json.loads(done.stdout)
    elif words[0] != "cross-validate":
        assert "\\x1b[31m\\x07\\x9b\\x7f\\u202e\\u2066\\u2028\\u200f\\r\\n\\t" in done.stdout


def test_json_gives_the_labels_back(folder):
    done = CliRunner().invoke(app, ["show", str(folder / "n.json"), "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["nodes"] == [ONE, TWO]


@pytest.mark.parametrize("case", REFUSED)
def test_every_mistake_is_one_line_that_can_be_shown(case, folder):
    with pytest.raises(BayescoutError) as caught:
        CliRunner().invoke(app, filled(REFUSED[case], folder), catch_exceptions=False)
    message = str(caught.value)
    assert printable(message) == message
    assert len(message.splitlines()) == 1


def test_data_on_standard_output_are_as_they_are(tmp_path):
    label = f"A{OBEYED}".replace("\r", "")
    network = bs.DiscreteNetwork(bs.Dag.from_arcs([], nodes=[label]), ((label,),), (np.ones(1),))
    network.save(tmp_path / "n.json")
    done = CliRunner().invoke(app, ["sample", str(tmp_path / "n.json"), "-n", "1"], catch_exceptions=False)
    assert done.stdout == f'"{label}"\n"{label}"\n'


def test_findings_of_a_study_are_shown(capsys):
    from bayescout.experiments import Ran
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Finding, Outcome

    finding = Finding(f"claim{OBEYED}", f"ours{OBEYED}", True)
    outcome = Outcome("own", f"title{OBEYED}", "", "", (finding,), ())
    experiments._show(Ran(Records(()), (), 0), outcome, f"folder{OBEYED}", f"page{OBEYED}")
    out = capsys.readouterr().out
    assert_shown(out)
    assert len(out.splitlines()) == 5


@pytest.mark.parametrize(
    "text", ["größer", "مرحبا", "日本語", "👩\u200d🔬", "a\u00a0b", "C:\\new", ":cat: [bold]x[/]"]
)
def test_ordinary_text_is_left_as_it_is(text, capsys):
    line(text)
    json_line(text)
    assert capsys.readouterr().out == f"{text}\n{json.dumps(text, ensure_ascii=False)}\n"
    from bayescout.cli.render import console, grid

    console().print(grid(text, [text], [[text]]))
    assert capsys.readouterr().out.count(text) == 3


# ---- standard output that takes no more

CHILDREN = """
import json, os, resource, sys
from bayescout.cli import main
import bayescout.cli.app

def child(words, where, limit):
    out = {"full": "/dev/full", "pipe": None}.get(where, where)
    if out is None:
        end, start = os.pipe()
        os.close(end)
    else:
        start = os.open(out, os.O_WRONLY | os.O_CREAT, 0o644)
    os.dup2(start, 1)
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["bayescout", *words]
    main()

found = []
for words, where, limit in json.loads(sys.argv[1]):
    end, start = os.pipe()
    number = os.fork()
    if not number:
        os.close(end)
        os.dup2(start, 2)
        os.close(start)
        child(words, where, limit)
    os.close(start)
    said = b""
    while piece := os.read(end, 4096):
        said += piece
    os.close(end)
    found.append([os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), said.decode()])
print(json.dumps(found))
"""


def in_children(cases, unbuffered):
    """The exit code and standard error of each command, where standard output is not what it should be."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", CHILDREN, json.dumps(cases)],
        env=environment | ({"PYTHONUNBUFFERED": "1"} if unbuffered else {}),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    bs.load_network("asia").sample(800, seed=3).save(path)
    return str(path)


EVERY_KIND = [
    ["--version"], ["--help"], ["networks"], ["show", "asia"], ["show", "asia", "--json"],
    ["query", "asia", "lung"], ["sample", "asia", "-n", "500"],
]  # fmt: skip
THE_REST = [
    ["learn", "--help"], ["networks", "--json"], ["searches"], ["scores"], ["compare", "asia", "asia"],
    ["convert", "asia", "{folder}/a.bif"], ["sample", "asia", "-n", "3", "--json"], ["learn", "{data}"],
]  # fmt: skip
LONG = [["sample", "alarm", "-n", "2000"], ["sample", "asia", "-n", "99", "--json"], ["networks"]]


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", [False, True])
def test_output_that_is_lost_is_told(unbuffered, small, tmp_path):
    """A full disk may take none of a write, or half of it: either is one line and an exit code."""
    cases = [
        ([word.format(folder=tmp_path, data=small) for word in words], "full", 0)
        for words in (*EVERY_KIND, *(THE_REST if unbuffered else ()))
    ]
    cases += [(words, str(tmp_path / f"{i}"), 700) for i, words in enumerate(LONG)]
    for (words, *_), (code, said) in zip(cases, in_children(cases, unbuffered), strict=True):
        assert code == 2, (words, said)
        notes = ("compiling its kernels", "no cells missing")
        lines = [line for line in said.splitlines() if not any(note in line for note in notes)]
        assert len(lines) == 1, (words, said)
        assert lines[0].startswith("bayescout: error: standard output: "), (words, said)


@pytest.mark.parametrize("unbuffered", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_reader_that_goes_away_is_nobodys_mistake(unbuffered):
    commands = [["networks"], ["networks", "--json"], ["sample", "alarm", "-n", "2000"], ["show", "asia"]]
    for code, said in in_children([(words, "pipe", 0) for words in commands], unbuffered):
        assert (code in (0, 1), said) == (True, "")


def test_unbuffered_output_is_whole(tmp_path):
    cases = [(["sample", "alarm", "-n", "3000", "--seed", "4"], str(tmp_path / "out.csv"), 0)]
    assert in_children(cases, True) == [[0, ""]]
    bs.load_network("alarm").sample(3000, seed=4).save(tmp_path / "expected.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()


@pytest.mark.parametrize("redirected", [">&-", "2>&-", "2>/dev/full"])
def test_streams_that_are_closed_or_full_are_no_crash(redirected, small):
    code = "import sys; from bayescout.cli import main; main()"
    for words, expected in (("show asia", 0), ("show none", 2)):
        done = subprocess.run(
            ["bash", "-c", f"exec '{sys.executable}' -c '{code}' {words} {redirected}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == expected, (words, done.stderr)
        assert "Traceback" not in done.stderr


def test_a_character_the_terminal_lacks_is_shown_as_an_escape(tmp_path):
    network = bs.fit(bs.Dag.from_arcs([("größer", "日本")]), {"größer": [0, 1, 1], "日本": [1, 0, 1]})
    network.save(tmp_path / "n.json")
    code = "from bayescout.cli import main; main()"
    for more in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-c", code, "show", tmp_path / "n.json", *more],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            timeout=60,
            check=True,
        )
        assert b"\\u65e5\\u672c" in done.stdout
    assert json.loads(done.stdout)["nodes"] == ["größer", "日本"]


# ---- what Python prints


def test_what_python_prints_is_shown_and_not_obeyed(folder):
    network, table = bs.read_network(folder / "n.json"), bs.as_table(folder / "d.parquet")
    gaussian = bs.fit(network.dag, folder / "g.parquet")
    learned = bs.learn(table, search="hill-climb", score="bic")
    turned = bs.Dag.from_arcs([(TWO, ONE)])
    printed = [
        network, network.summary(), network.cpt(TWO), network.query(TWO),
        network.query(TWO, {ONE: f"x{OBEYED}x"}),
        gaussian, gaussian.summary(), gaussian.equation(TWO), gaussian.query(TWO),
        network.dag, learned, learned.cpdag, learned.explain(ONE, TWO), bs.compare(turned, network.dag),
        bs.bootstrap(table, 2, "hill-climb"), bs.held_out(network.dag, table, table), table,
    ]  # fmt: skip
    for value in printed:
        assert_shown(str(value))
        assert_shown(repr(value) if not isinstance(value, str) else "")
