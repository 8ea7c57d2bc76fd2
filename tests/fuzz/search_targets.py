"""What goes into a search and comes out of it: checkpoints, results, knowledge and settings."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import bayescout as bs
from bayescout.cli.options import SearchOptions
from bayescout.data.table import Table
from bayescout.result import Result
from bayescout.scores import SCORES
from bayescout.search import SEARCHES, Knowledge
from tests.fuzz.clock import still_clock
from tests.fuzz.damage import ODD_NUMBERS, ODD_TEXTS, damaged_file, damaged_text, damaged_words
from tests.fuzz.target import Target, hold, must, written

NAMES = ("a", "b", "c", "d")
ORDER = Knowledge(order=NAMES)
SAVED_STEPS, STEPS = 2, 5
"""How far a run gets before its checkpoint is damaged, and how far it then goes."""


@cache
def discrete() -> Table:
    rng = np.random.default_rng(1)
    hidden = rng.integers(0, 2, 40)
    return bs.as_table(
        {name: np.where(rng.random(40) < 0.3, rng.integers(0, 2, 40), hidden) for name in NAMES}
    )


@cache
def continuous() -> Table:
    rng = np.random.default_rng(2)
    hidden = rng.normal(size=40)
    return bs.as_table({name: hidden + rng.normal(size=40) for name in NAMES})


def told(result: Result) -> Any:
    """All that a run comes to, save how long it took and what it found in its caches."""
    counters = asdict(result.counters) | {"computed": 0}
    trace = [step._replace(seconds=0.0) for step in result.trace]
    top = [(entry.score, entry.dag.parents) for entry in result.top]
    return repr(
        (result.dag, result.score, top, trace, counters, result.stop_reason, result.bound, result.found_class)
    )


# ---- checkpoints


def _learned(search: str, steps: int, checkpoint: Path | None = None) -> Result:
    knowledge = ORDER if search == "k2" else None
    return bs.learn(
        discrete(),
        search=search,
        knowledge=knowledge,
        start="random",
        seed=3,
        max_steps=steps,
        checkpoint=checkpoint,
        score="bic",
    )


@cache
def _checkpoints() -> dict[str, bytes]:
    """A checkpoint of every search."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, still_clock():
        for search in SEARCHES:
            path = Path(folder) / search
            _learned(search, SAVED_STEPS, path)
            found[search] = path.read_bytes()
    return found


@cache
def _expected(search: str) -> Any:
    return told(_learned(search, STEPS))


def _draw_checkpoint(rng: Random) -> tuple[str, bytes]:
    search = rng.choice(list(SEARCHES))
    return search, damaged_file(rng, _checkpoints()[search], list(_checkpoints().values()))


def _check_checkpoint(given: tuple[str, bytes], folder: Path) -> None:
    """A run that goes on from a damaged checkpoint comes to what it comes to without one, or is refused."""
    search, data = given
    path = folder / "checkpoint"
    path.write_bytes(data)
    result = _learned(search, STEPS, path)
    hold(
        "a run that goes on comes to the same",
        told(result) == _expected(search),
        (told(result), _expected(search)),
    )


# ---- results


@cache
def _results() -> tuple[str, ...]:
    found = []
    known = Knowledge(required=(("a", "b"),), forbidden=(("d", "c"),), max_parents={"c": 2})
    with tempfile.TemporaryDirectory() as folder, still_clock():
        for search in ("hill-climb", "ges", "pc", "optimal"):
            result = bs.learn(
                discrete(),
                search=search,
                knowledge=known if search == "hill-climb" else None,
                top=2,
                score="bic",
            )
            result.save(Path(folder) / "x.json")
            found.append((Path(folder) / "x.json").read_text())
    return tuple(found)


def _draw_result(rng: Random) -> bytes:
    return damaged_text(rng, _results(), as_json=True)


def _check_result(data: bytes, folder: Path) -> None:
    """A result that is read can be shown, asked and written, and is the same then."""
    path, other = folder / "in.json", folder / "out.json"
    path.write_bytes(data)
    result = Result.load(path)
    seen = _seen(result)
    hold(
        "the same bytes are read twice as the same",
        _seen(must("read twice", lambda: Result.load(path))) == seen,
    )
    hold("a score is a number", result.score == result.score, result.score)
    written(lambda: result.save(other))
    if other.exists():
        back = must("what was written is read", lambda: Result.load(other))
        hold("what was written is read as it was", _seen(back) == seen)


def _seen(result: Result) -> Any:
    """What a user can ask of a result."""
    return repr(
        (result, result.summary(), result.cpdag, result.trace, result.top, result.counters, result.settings)
    )


# ---- knowledge of the command line


LABELS = ("a", "b c", "x->y", "1", "ü", "\x1b[31m")


def _draw_knowledge(rng: Random) -> dict[str, Any]:
    return {
        "require": [_arc(rng) for _ in range(rng.choice((0, 0, 1, 2)))],
        "forbid": [_arc(rng) for _ in range(rng.choice((0, 0, 1, 3)))],
        "tiers": _listed(rng, (",", "\n", ", ")),
        "order": _listed(rng, (",", "\n")),
        "max_parents": rng.choice((None, None, 0, 1, 2, 3, -1, 10**30)),
    }


def _arc(rng: Random) -> str:
    arrow = rng.choice(("->", "->", "->", "->", " -> ", "-", "<-", "->->", ""))
    one, other = rng.sample(LABELS, 2)
    return f"{one}{arrow}{other if rng.random() < 0.9 else rng.choice(ODD_TEXTS)}"


def _listed(rng: Random, marks: tuple[str, ...]) -> str | None:
    """The text of a file of names; as often as not there is none."""
    names = list(LABELS)
    rng.shuffle(names)
    joined = "".join(name + rng.choice(marks) for name in names)
    return rng.choice((None, None, joined, damaged_words(rng, joined)))


def _check_knowledge(given: dict[str, Any], folder: Path) -> None:
    """Knowledge that is accepted keeps its labels, and is the same in integers."""
    files = {}
    for key in ("tiers", "order"):
        if given[key] is not None:
            (folder / key).write_bytes(given[key].encode("utf-8", "surrogatepass"))
            files[key] = str(folder / key)
    known = SearchOptions(
        require=given["require"],
        forbid=given["forbid"],
        tiers=files.get("tiers"),
        order=files.get("order"),
        max_parents=given["max_parents"],
    ).known(LABELS)
    labels = {label for arc in (*known.required, *known.forbidden) for label in arc}
    hold("labels are those of the table", labels <= set(LABELS), labels)
    rules = known.compile(LABELS)
    for parent, child in known.required:
        hold("a required arc is required", bool(rules.required[LABELS.index(parent), LABELS.index(child)]))
    for parent, child in known.forbidden:
        hold("a forbidden arc is forbidden", not rules.allowed[LABELS.index(parent), LABELS.index(child)])


def _knowledge_seeds() -> list[dict[str, Any]]:
    empty: dict[str, Any] = {"require": [], "forbid": [], "tiers": None, "order": None, "max_parents": None}
    return [empty, {**empty, "require": ["a->b c"], "order": ",".join(LABELS), "tiers": "a,b c\n1"}]


# ---- settings given as text


@cache
def _fields() -> dict[str, dict[str, Any]]:
    """The settings of every search and score, with their defaults."""
    return {name: asdict(made()) for name, made in (*SEARCHES.items(), *SCORES.items())}


Chosen = tuple[str, list[str], str, list[str], bool]


def _draw_settings(rng: Random) -> Chosen:
    search, score = rng.choice(list(SEARCHES)), rng.choice(list(SCORES))
    if rng.random() < 0.5:
        return search, _pairs(rng, search), "bge" if score == "bge" else "bic", [], score == "bge"
    return "hill-climb", [], score, _pairs(rng, score), score == "bge" or rng.random() < 0.2


def _pairs(rng: Random, owner: str) -> list[str]:
    """One or two settings as they are typed."""
    keys = list(_fields()[owner]) or ["x"]
    return [
        f"{_key(rng, keys)}{rng.choice(('=', '=', '=', '=', '', ' = '))}{_text(rng, owner)}"
        for _ in range(rng.choice((1, 1, 2)))
    ]


def _key(rng: Random, keys: list[str]) -> str:
    key = rng.choice(keys)
    return (
        key
        if rng.random() < 0.9
        else rng.choice((key.upper(), key.replace("_", "-"), "", key + "\x1b[2J", "self", "__class__"))
    )


def _text(rng: Random, owner: str) -> str:
    """A number, an odd text, or one of the defaults somewhat changed."""
    way = rng.random()
    if way < 0.5:
        return rng.choice((*ODD_NUMBERS, "3", "10", "1e-9", "1e300", "-5", "1.5", "1" + "0" * 5000))
    if way < 0.7:
        return rng.choice((*ODD_TEXTS, "true", "false", "none"))
    return damaged_words(rng, str(rng.choice(list(_fields()[owner].values()) or [1])))


def _check_settings(given: Chosen, folder: Path) -> None:
    """Settings that are accepted can be searched with, and give numbers."""
    search, options, score, score_options, numbers = given
    chosen = SearchOptions(search=search, option=options, score=score, score_option=score_options)
    method, formula = chosen.method(), chosen.formula()
    result = bs.learn(
        continuous() if numbers else discrete(),
        search=method,
        score=formula,
        knowledge=ORDER if search == "k2" else None,
        max_steps=2,
        max_time=0.5,
    )
    hold("a score is a number", result.score == result.score, result.score)
    json.dumps(result.summary(), default=str)


def _settings_seeds() -> list[Chosen]:
    searches: list[Chosen] = [(name, [], "bic", [], False) for name in SEARCHES]
    scores: list[Chosen] = [("hill-climb", [], name, [], name == "bge") for name in SCORES]
    return [*searches, *scores, ("hill-climb", [], "bic", [], True)]


SEARCH_TARGETS = (
    Target(
        "checkpoint",
        8,
        lambda: list(_checkpoints().items()),
        _draw_checkpoint,
        _check_checkpoint,
        lambda given: given[0].encode() + b"\n" + given[1],
    ),
    Target("result", 8, lambda: [text.encode() for text in _results()], _draw_result, _check_result),
    Target("knowledge", 8, _knowledge_seeds, _draw_knowledge, _check_knowledge),
    Target("settings", 3, _settings_seeds, _draw_settings, _check_settings),
)
