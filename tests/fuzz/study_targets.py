"""What a study reads: its declaration, its manifest and its records."""

from __future__ import annotations

import json
import tempfile
from functools import cache, partial
from pathlib import Path
from random import Random

from bayescout.cli.options import settings_given
from bayescout.experiments import STUDIES, Ran, run_study, study_named
from bayescout.experiments.own import read_study
from bayescout.experiments.store import MANIFEST, RECORDS
from tests.experiments.toy_study import Toy
from tests.fuzz.clock import still_clock
from tests.fuzz.damage import damaged_file, damaged_text
from tests.fuzz.target import Target, hold, must

TOY = Toy(repeats=2, steps=(3,))
DECLARATIONS = (
    """title = "Climbers"
seeds = 2
searches = ["hill-climb", {name = "tabu", length = 5}]
scores = ["bic", {name = "bdeu", ess = 10}]
starts = ["empty", "random"]

[[data]]
network = "asia"
rows = [20, 30]
seeds = 2

[knowledge]
max_parents = 3

[limits]
max_time = 60
""",
    """searches = ["hill-climb"]
scores = ["bic"]

[[data]]
random = {nodes = 4, arcs = 3, states = 2, seed = 1}
rows = 20

[[data]]
file = "mine.csv"
truth = "mine.structure"
missing = "drop"

[limits]
max_steps = 5
max_seconds = 1.5
""",
)
TOML_WORDS = (
    "[", "]", "{", "}", "=", ",", '"', "[[data]]", "[knowledge]", "[limits]", "nan", "inf", "-inf",
    "true", "1e9", "0x7f", "1979-05-27",
    "density = 0.5", 'kind = "gaussian"', "states = 0", "arcs = nan", "max_time = inf", "order = []",
    "tiers = [[]]", "[" * 300, "a.b.c = 1",
    "concentration = 0", "missing_values = [1]", "kinds = 1",
)  # fmt: skip

TOML_VALUES = (
    "1", "2", "3", "0", "-1", "1.5", "nan", "inf", "-inf", "1e400", "true", '""', '"a"', '"asia"',
    '"bic"', '"\\u001b[2J"',
    "[]", "[[]]", "[1, 2]", "[0]", '["tabu"]', '["pc", "ges"]', '["bge"]', '["k2", "bdeu"]', "{}",
    "{nodes = 3}",
    "{nodes = 2, arcs = 1}", "{nodes = 3, density = 0.5, seed = 2}", "{nodes = 3, arcs = nan}",
    "{nodes = 0}",
    '{nodes = 3, kind = "gaussian"}', "{nodes = 3, states = 1}", "{nodes = -1}",
    "{nodes = 3, concentration = 0}",
    '[{name = "tabu", length = -1}]', '[{name = "annealing", hot = "x"}]', '[{name = "bdeu", ess = 1e308}]',
    '[["a", "b"]]', '[["asia", "tub"]]', '{asia = 1}', "1979-05-27", '"drop"', '"state"', "[20, 20]",
    "99999999999999999999",
)  # fmt: skip


# ---- declarations


def _draw_declaration(rng: Random) -> bytes:
    """A damaged text, or one in which some lines say something else."""
    if rng.random() < 0.4:
        return damaged_text(rng, DECLARATIONS, TOML_WORDS)
    lines = rng.choice(DECLARATIONS).split("\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines))
        key, equals, _ = lines[at].partition(" = ")
        if equals and rng.random() < 0.8:
            lines[at] = key + equals + rng.choice(TOML_VALUES)
        else:
            lines.insert(at, rng.choice(rng.choice(DECLARATIONS).split("\n")))
    return "\n".join(lines).encode()


def _check_declaration(data: bytes, folder: Path) -> None:
    """A declaration that is accepted gives the same study again, with runs in it."""
    path = folder / "mine.toml"
    path.write_bytes(data)
    (folder / "mine.csv").write_text("a,b\n1,x\n2,y\n1,x\n")
    (folder / "mine.structure").write_text("a []\nb [a]\n")
    study = read_study(path)
    hold("the same bytes are read twice as the same", must("read twice", lambda: read_study(path)) == study)
    next(iter(study.runs()))
    study.seconds_allowed()


# ---- records and manifests


@cache
def _folder() -> dict[str, bytes]:
    """The files of a study that was run."""
    with tempfile.TemporaryDirectory() as folder, still_clock():
        run_study(TOY, folder)
        return {name: (Path(folder) / name).read_bytes() for name in (MANIFEST, RECORDS)}


@cache
def _expected() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return _told(run_study(TOY, folder))


def _told(ran: Ran) -> str:
    """All that was recorded, save how long it took."""
    return json.dumps([record.timeless() for record in ran.records], sort_keys=True)


def _draw_file(rng: Random, name: str) -> bytes:
    return damaged_file(rng, _folder()[name], list(_folder().values()))


def _check_folder(data: bytes, folder: Path, name: str) -> None:
    """A study that goes on from a damaged folder comes to what it came to, or is refused."""
    for each, content in _folder().items():
        (folder / each).write_bytes(data if each == name else content)
    ran = run_study(TOY, folder, resume=True)
    hold("a study that goes on comes to the same", _told(ran) == _expected(), _told(ran))
    for record in ran.records:
        times = (record.seconds, record.cpu_seconds)
        hold("times are numbers", all(isinstance(t, (int, float)) and t >= 0 for t in times), times)


def _seed_file(name: str) -> list[bytes]:
    return [_folder()[name]]


# ---- settings of named studies


def _draw_study(rng: Random) -> tuple[str, list[str]]:
    name = rng.choice(list(STUDIES))
    keys = list(study_named(name).settings())
    values = (
        "1",
        "2",
        "0",
        "-1",
        "x",
        "",
        "nan",
        "inf",
        "1e9",
        "true",
        "1.5",
        "asia",
        "[1]",
        "9" * 400,
        "\x1b[2J",
    )
    return name, [f"{rng.choice(keys)}={rng.choice(values)}" for _ in range(rng.choice((1, 1, 2)))]


def _check_study(given: tuple[str, list[str]], folder: Path) -> None:
    """A study with settings from the command line says what it would run."""
    name, options = given
    study = study_named(name, **settings_given(options))
    next(iter(study.runs()), None)
    study.settings()


STUDY_TARGETS = (
    Target(
        "study-toml",
        2,
        lambda: [text.encode() for text in DECLARATIONS],
        _draw_declaration,
        _check_declaration,
    ),
    Target(
        "records",
        3,
        partial(_seed_file, RECORDS),
        partial(_draw_file, name=RECORDS),
        partial(_check_folder, name=RECORDS),
    ),
    Target(
        "manifest",
        1,
        partial(_seed_file, MANIFEST),
        partial(_draw_file, name=MANIFEST),
        partial(_check_folder, name=MANIFEST),
    ),
    Target("study-options", 3, lambda: [(name, []) for name in STUDIES], _draw_study, _check_study),
)
