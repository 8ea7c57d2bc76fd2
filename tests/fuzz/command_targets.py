"""The command line: argument vectors, and labels that would do something to a terminal.

Commands run in this process, through the entry point, with standard output and error in files.
"""

from __future__ import annotations

import contextlib
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import typer
import typer.main

import bayescout as bs
from bayescout.cli import main
from bayescout.experiments import STUDIES
from tests.fuzz.damage import CONTROLS, ODD_NUMBERS, ODD_TEXTS, damaged_words
from tests.fuzz.target import Broken, Refused, Target, hold

NETWORK = "net.json"
DATA = "data.csv"
QUICK = ("--max-steps", "2", "--max-time", "0.5")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("learn", DATA, *QUICK, "--workers", "1"),
    ("learn", DATA, "--search", "tabu", "--score", "bdeu", "--option", "length=3", "--score-option",
        "ess=2", *QUICK, "--json"),
    ("learn", DATA, "--require", "a->b", "--forbid", "c->a", "--max-parents", "2", "--top", "2",
        "--seed", "3", *QUICK),
    ("learn", DATA, "-o", "out.json", "--prior", "bdeu", "--missing", "drop", "--na", "x", *QUICK),
    ("learn", DATA, "--kind", "discrete", "--drop", "c", "--start", "random", "--separator", ",", *QUICK),
    ("learn", "sets.jkl", "--search", "optimal", "-o", "out.dot", *QUICK),
    ("fit", "[a][b|a][c]", DATA, "-o", "out.bif", "--prior", "laplace", "--json"),
    ("fit", NETWORK, DATA, "--ess", "2.5", "--prior", "bdeu"),
    ("sample", NETWORK, "-n", "5", "--seed", "1"),
    ("sample", NETWORK, "-n", "5", "-o", "out.csv", "--json"),
    ("query", NETWORK, "b | a=0", "--json"),
    ("query", NETWORK, "a, b"),
    ("compare", NETWORK, "[a][b|a][c]"),
    ("compare", "[a][b]", "[a][b|a]", "--json"),
    ("convert", NETWORK, "out.bif"),
    ("convert", "[a][b|a]", "out.dot", "--json"),
    ("show", NETWORK, "b"),
    ("show", NETWORK, "--json"),
    ("score", NETWORK, DATA, "--score", "bic,k2", "--log-base", "2", "--nodes"),
    ("score", "[a][b|a][c]", DATA, "--json"),
    ("networks",),
    ("searches", "--json"),
    ("scores",),
    ("--version",),
    ("learn", "--help"),
    ("bootstrap", DATA, "--runs", "2", "--workers", "1", "--threshold", "0.5", *QUICK),
    ("bootstrap", DATA, "--runs", "2", "--workers", "1", "--strengths", "out.csv", "--json", *QUICK),
    ("cross-validate", DATA, "--folds", "2", "--workers", "1", *QUICK),
    ("experiment", "no-such-study", "--quick", "--out", "out"),
    ("experiment", "mine.toml", "--resume", "--out", "out", "--retry"),
)  # fmt: skip
REFUSED_SEEDS = ("experiment",)
WORDS = (
    "--json", "--help", "-o", "--output", "--", "-", "-n", "--seed", "--top", "--workers", "--report",
    "out.html", "out.bif", "out.txt", "out.json.gz",
    "out.csv", DATA, NETWORK, "sets.jkl", "asia", "none.csv", "out", "--checkpoint", "--gap", "0.1",
    "--tiers", "--order", "--discretise", "2",
    "--kind", "a=continuous", "--na", "0", "--missing", "state", "--option", "restarts=2", "--search",
    "ges", "--score", "bge", "a->b", "b->a",
    "--start", "random", "[a][b|a]", "*", ".",
)  # fmt: skip
_make_parser = typer.main.get_command
UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What may not reach a terminal as it is; a line end may."""

Vector = tuple[str, ...]


@cache
def _files() -> dict[str, bytes]:
    """The files that commands are given."""
    import tempfile

    table = bs.as_table(
        {"a": [0, 1, 0, 1, 1, 0], "b": ["x", "y", "x", "y", "x", "x"], "c": [0, 0, 1, 1, 0, 1]}
    )
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        table.save(home / DATA)
        bs.fit(bs.Dag.from_modelstring("[a][b|a][c]"), table, prior="laplace").save(home / NETWORK)
        bs.candidate_sets(table).save(home / "sets.jkl")
        return {path.name: path.read_bytes() for path in home.iterdir()}


# ---- running


def _run(words: Vector, folder: Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    out, err = folder / ".out", folder / ".err"
    with (
        contextlib.chdir(folder),
        _same_signals(),
        warnings.catch_warnings(),
        open(out, "w", encoding="utf-8", errors="surrogateescape") as stdout,
        open(err, "w", encoding="utf-8", errors="surrogateescape") as stderr,
        patch.object(sys, "argv", ["bayescout", *words]),
        patch.object(sys, "stdout", stdout),
        patch.object(sys, "stderr", stderr),
    ):
        code = _exit_code()
    return code, *(path.read_bytes().decode("utf-8", "surrogateescape") for path in (out, err))


@contextlib.contextmanager
def _same_signals() -> Iterator[None]:
    """A command takes signals for itself, as it has the process for itself."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@cache
def _parser(app: typer.Typer) -> Any:
    """The parser of the commands, which is the same each time and takes longer to make than most commands."""
    return _make_parser(app)


def _exit_code() -> int:
    try:
        with patch("typer.main.get_command", _parser):
            main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    raise Broken("a command ends with an exit code")


def _check_output(code: int, out: str, err: str) -> None:
    """Exit code 0, or 2 with one line that says why; nothing that a terminal would obey."""
    hold("the exit code is 0 or 2", code in (0, 2), (code, err))
    hold("no traceback is shown", "Traceback" not in err, err)
    for text in (out, err):
        odd = UNSEEN.search(text)
        hold(
            "nothing reaches the terminal that it would obey",
            odd is None,
            repr(text[max(0, odd.start() - 60) : odd.end() + 20]) if odd else "",
        )
    if code:
        last = err.rstrip("\n").rpartition("\n")[2]
        hold("a refusal ends with one line of ours", last.startswith("bayescout: ") or "Usage" in err, err)
        raise Refused(last)


# ---- argument vectors


def _draw_vector(rng: Random) -> Vector:
    words = list(rng.choice(COMMANDS))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        at = rng.randrange(len(words) + 1)
        way = rng.randrange(6)
        if way == 0 and at < len(words):
            del words[at]
        elif way == 1 and at < len(words):
            words.insert(at, words[at])
        elif way == 2 and at < len(words):
            words[at] = _safe(damaged_words(rng, words[at]))
        elif way == 3 and at < len(words):
            words[at] = _safe(rng.choice((*ODD_TEXTS, *ODD_NUMBERS)))
        else:
            words.insert(at, rng.choice(WORDS))
        words = words or ["--help"]
    if words[0] in ("learn", "bootstrap", "cross-validate"):
        words += QUICK  # the last word on it counts
    if words[0] == "experiment":
        words = [word if word not in STUDIES else "none" for word in words]
        if words[1:2] == [] or words[1].startswith("-"):
            words.insert(
                1, "none"
            )  # without a name it lists the studies, which takes seconds whatever is given
    return tuple(words)


def _safe(word: str) -> str:
    """No path out of the folder, and nothing that no argument can hold."""
    return word.replace("/", "").replace("..", "").replace("\x00", "").replace("~", "")


def _check_vector(words: Vector, folder: Path) -> None:
    for name, content in _files().items():
        (folder / name).write_bytes(content)
    code, out, err = _run(words, folder)
    for name, content in _files().items():
        hold("what a command is given stays as it is", (folder / name).read_bytes() == content, name)
    _check_output(code, out, err)


def _seed_vectors() -> list[Vector]:
    return [words for words in COMMANDS if words[0] not in REFUSED_SEEDS]


# ---- labels


Labels = tuple[str, tuple[str, ...], tuple[str, ...]]
"""The command, the names of three columns, and the two states of each."""


def _draw_labels(rng: Random) -> Labels:
    command = rng.choice(("learn", "show", "query", "error", "bootstrap", "compare", "arc", "state"))
    odd = [f"{rng.choice(('', 'a'))}{rng.choice(CONTROLS)}{i}" for i in range(5)]
    return command, tuple(odd[:3]), tuple(odd[3:])


def _check_labels(given: Labels, folder: Path) -> None:
    """Labels reach files as they are, and a terminal so that it does not obey them."""
    command, names, states = given
    table = bs.as_table({name: [states[(row >> i) % 2] for row in range(8)] for i, name in enumerate(names)})
    hold(
        "labels stay as they are",
        table.names == names and all(own == tuple(sorted(states)) for own in table.states),
    )
    table.save(folder / "data.parquet")
    network = bs.fit(bs.Dag(names, ((), (0,), (0,))), table)
    network.save(folder / NETWORK)
    hold("labels stay as they are", bs.read_network(folder / NETWORK).nodes == names)
    vectors: dict[str, Vector] = {
        "learn": ("learn", "data.parquet", *QUICK),
        "show": ("show", NETWORK),
        "query": ("query", NETWORK, f'"{names[0]}" | "{names[1]}"="{states[0]}"'),
        "error": ("query", NETWORK, f"none{names[0]}"),
        "bootstrap": ("bootstrap", "data.parquet", "--runs", "2", "--workers", "1", *QUICK),
        "compare": ("compare", NETWORK, NETWORK),
        "arc": ("learn", "data.parquet", "--forbid", f"{names[0]}->{names[1]}x", *QUICK),
        "state": ("query", NETWORK, f'"{names[0]}" | "{names[1]}"="{states[0]}x"'),
    }
    words = tuple(word.replace("\x00", "") for word in vectors[command])
    _check_output(*_run(words, folder))


COMMAND_TARGETS = (
    Target("commands", 2, _seed_vectors, _draw_vector, _check_vector),
    Target("labels", 1, lambda: [("show", ("a", "b", "c"), ("x", "y"))], _draw_labels, _check_labels),
)
