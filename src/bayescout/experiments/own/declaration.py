"""Read and check a user's own study: every wrong key, name and value is reported before anything runs.

title = "Hill climbing against tabu search"
seeds = 10                                   # how many, or a list

searches = ["hill-climb", {name = "tabu", length = 5}]
scores = ["bic", {name = "bdeu", ess = 10}]
starts = ["empty", "random"]

[[data]]
network = "asia"                             # a shipped network or a network file, sampled
rows = [500, 5000]
seeds = 3                                    # samples of each size

[[data]]
file = "mine.csv"                            # paths are from this file's folder
truth = "mine.bif"                           # to compare with, where it is known

[knowledge]
max_parents = 3

[limits]
max_time = 60                                # of a search: its best so far counts
max_seconds = 300                            # of a run: it is recorded as failed
"""

from __future__ import annotations

import math
import os
import re
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from bayescout.errors import BayescoutError, BayescoutWarning, FormatError, did_you_mean
from bayescout.experiments.own.names import label_of
from bayescout.experiments.own.study import Own, placed
from bayescout.experiments.study import canonical
from bayescout.experiments.tools import (
    data_of,
    file_data,
    file_digest,
    learned,
    score_of,
    search_of,
    truth_of,
)
from bayescout.formats import networks, open_network
from bayescout.scores.prior import as_prior
from bayescout.wording import in_python, worded_by

KEYS = ("title", "seeds", "data", "searches", "scores", "structure_prior", "starts", "knowledge", "limits")
SOURCES: dict[str, tuple[str, ...]] = {
    "network": ("rows", "seeds"),
    "random": ("rows", "seeds"),
    "file": ("truth", "missing", "missing_values", "kinds"),
}
"""The three kinds of data, and the keys allowed for each."""

RANDOM = ("nodes", "arcs", "density", "states", "max_parents", "kind", "concentration", "seed")
KNOWLEDGE = ("required", "forbidden", "tiers", "order", "max_parents", "beliefs")
LIMITS = ("max_time", "max_steps", "max_seconds")
STARTS = ("empty", "random")


DEEPEST = 20
"""Most levels of nested tables and lists; meaningful ones have three or four."""

LARGEST = 2**63 - 1
"""The largest whole number: that of a signed 64-bit word."""

MOST_RUNS, MOST_ROWS, MOST_NODES = 1_000_000, 100_000_000, 10_000
"""Most runs of a study, rows of a sample, nodes of a random network: more is most likely a mistake, and
fills the memory."""

MOST_BYTES = 1_000_000
_QUOTED = re.compile(r"""\"[^"\n]*\"|'[^'\n]*'|\#[^\n]*""")
_BETWEEN = re.compile(r"[=,{}\[\]\n]")

MOST_LETTERS = 600
"""The longest message, in characters; it may quote a wrong value, which may be long."""


class Wrong(FormatError):
    """A mistake in the file, and its place."""


def read_study(path: str | Path) -> Own:
    """Read the study that a TOML file declares."""
    path = Path(path)
    try:
        with open(path, "rb") as stream:
            declared = parsed(stream.read(MOST_BYTES + 1))
    except FileNotFoundError:
        raise FormatError("there is no such file", path) from None
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read as TOML: {_cut(error)}", path) from None
    try:
        with worded_by(in_toml):
            return Own(canonical(checked(declared, path)), str(path.parent.resolve()))
    except Wrong as error:
        raise FormatError(_cut(error), path) from None


def parsed(content: bytes) -> dict[str, Any]:
    """The declaration in a TOML text; raises ValueError if it is invalid, too large or nested too deep."""
    if len(content) > MOST_BYTES:
        raise ValueError(f"a study has at most {MOST_BYTES:,} bytes")
    text = content.decode("utf-8")
    # The reader's time is quadratic in the parts of a key a.b.c: keys too long for a study are refused first.
    outside = _QUOTED.sub("", text)
    if any(part.count(".") > DEEPEST for part in _BETWEEN.split(outside)):
        raise ValueError(f"a key is nested deeper than {DEEPEST} levels")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"nested deeper than {DEEPEST} levels") from None


def _cut(error: object) -> str:
    """A message in one line of bounded length; its end, which gives the way out, is kept."""
    text = " ".join(str(error).split())
    half = MOST_LETTERS // 2
    return text if len(text) <= MOST_LETTERS else f"{text[:half]} ... {text[-half:]}"


def in_toml(name: str, value: Any) -> str:
    """A setting in TOML syntax; what TOML cannot express is written as in Python."""
    section = {"max_parents": "[knowledge] ", "order": "[knowledge] "}.get(name, "")
    if not section and name not in SOURCES["file"]:
        return in_python(name, value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{canonical(key)} = {canonical(item)}" for key, item in value.items())
        return f"{name} = {{{inside}}}"
    return f"{section}{name} = {'[...]' if value is ... else canonical(value)}"


def checked(declared: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The declaration with everything checked and defaults filled in."""
    known("the study", declared, KEYS)
    for name, value in declared.items():
        plain_values(value, name)
    for key in ("data", "searches", "scores"):
        if key not in declared:
            raise Wrong(f"{key} is missing: a study needs data, searches and scores")
    limits = _section(declared, "limits", LIMITS)
    for name, value in limits.items():
        whole = name == "max_steps"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not value > 0:
            raise Wrong(f"limits: {name} must be a positive {'whole ' * whole}number, not {value!r}")
    title = declared.get("title", path.stem)
    if not isinstance(title, str):
        raise Wrong(f"title must be text, not {title!r}")
    found: dict[str, Any] = {
        "title": title,
        "seeds": seeds(declared.get("seeds", 1), "seeds"),
        "data": [
            one for i, item in enumerate(_list(declared, "data"), 1) for one in data(item, i, path.parent)
        ],
        "searches": [_made(item, i, "searches") for i, item in enumerate(_list(declared, "searches"), 1)],
        "scores": [_made(item, i, "scores") for i, item in enumerate(_list(declared, "scores"), 1)],
        "starts": [_start(item) for item in _list(declared, "starts", ["empty"])],
        "knowledge": _section(declared, "knowledge", KNOWLEDGE),
        "limits": limits,
    }
    if "structure_prior" in declared:
        with _at("structure_prior"):
            as_prior(declared["structure_prior"])
        found["structure_prior"] = declared["structure_prior"]
    for key in ("data", "searches", "scores", "starts"):
        _distinct(found[key], key)
    runs = math.prod(len(found[key]) for key in ("data", "searches", "scores", "starts", "seeds"))
    if runs > MOST_RUNS:
        raise Wrong(
            f"the study has {runs:,} runs, more than {MOST_RUNS:,}; make two of it, or give fewer seeds"
        )
    _fit_together(found, path.parent)
    return found


# ---- the parts


def data(item: Any, number: int, folder: Path) -> list[dict[str, Any]]:
    """Check one item of data: a file, or a network with its sizes and samples."""
    where = f"data {number}"
    if not isinstance(item, Mapping):
        raise Wrong(f'{where}: must be a table such as {{network = "asia", rows = 1000}}, not {item!r}')
    kinds = [kind for kind in SOURCES if kind in item]
    if len(kinds) != 1:
        said = "both " + " and ".join(kinds) if kinds else "none"
        raise Wrong(f"{where}: give one of network, random and file; it has {said}")
    (kind,) = kinds
    known(where, item, (kind, *SOURCES[kind]))
    if kind == "file":
        return [_file(item, where, folder)]
    if "rows" not in item:
        raise Wrong(f"{where}: rows is missing: how many are to be sampled")
    if kind == "random":
        source = {"random": _random(item[kind], where)}
    else:
        source = _network("network", item[kind], where, folder)
    rows = item["rows"] if isinstance(item["rows"], list) else [item["rows"]]
    if not rows:
        raise Wrong(f"{where}: rows is an empty list; say how many are to be sampled")
    for count in rows:
        if isinstance(count, bool) or not isinstance(count, int) or count < 2:
            raise Wrong(f"{where}: rows must be whole numbers of at least 2, not {count!r}")
        if count > MOST_ROWS:
            raise Wrong(f"{where}: rows must be at most {MOST_ROWS:,}, not {count:,}; sample them to a file")
    samples = seeds(item.get("seeds", 1), f"{where}: seeds")
    return [{**source, "rows": count, "seed": seed} for count in rows for seed in samples]


def _file(item: Mapping[str, Any], where: str, folder: Path) -> dict[str, Any]:
    path = _text(item["file"], f"{where}: file")
    options = {key: item[key] for key in ("missing", "missing_values", "kinds") if key in item}
    with _at(where):
        _refuse_device(os.path.join(folder, path))
        found = {**file_data(os.path.join(folder, path), **options), "file": path}
    truth = _network("truth", item["truth"], f"{where}: truth", folder) if "truth" in item else {}
    return {**found, **truth}


def _refuse_device(path: str) -> None:
    """Refuse a pipe or a device, which gives its content once or endlessly; a study reads data repeatedly."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise Wrong(f"{path} is a device or a pipe; give the name of a file")


def _network(key: str, name: Any, where: str, folder: Path) -> dict[str, Any]:
    """The declaration of a network or a graph by name, with the digest of its content if it is a file."""
    text = _text(name, where)
    path = os.path.join(folder, text)
    shipped = any(text == info.name for info in networks())
    if shipped or (text.lstrip().startswith("[") and not os.path.isfile(path)):
        return {key: text}  # a modelstring may contain dots and slashes
    with _at(where):
        if os.path.isfile(path):
            return {key: text, f"{key}_digest": file_digest(path)}
        _refuse_device(path)
        open_network(path if "." in text or "/" in text else text)
    raise Wrong(f"{where}: {text!r} is not a file")


def _random(settings: Any, where: str) -> dict[str, Any]:
    if not isinstance(settings, Mapping):
        raise Wrong(f"{where}: random must be a table such as {{nodes = 5, arcs = 8}}, not {settings!r}")
    known(f"{where}: random", settings, RANDOM)
    nodes = settings.get("nodes", 0)
    if isinstance(nodes, int) and nodes > MOST_NODES:
        raise Wrong(f"{where}: random: nodes must be at most {MOST_NODES:,}, not {nodes:,}")
    return dict(settings)


def _made(item: Any, number: int, key: str) -> Any:
    """A search or a score: a name, or a table with a name and settings, constructed once as a check."""
    where = f"{key} {number}"
    if not isinstance(item, str) and not (isinstance(item, Mapping) and isinstance(item.get("name"), str)):
        raise Wrong(f"{where}: must be a name, or a table with name and settings, not {item!r}")
    with _at(where):
        (search_of if key == "searches" else score_of)(item)
    return item if isinstance(item, str) else dict(item)


def _start(item: Any) -> str:
    if item not in STARTS:
        raise Wrong(f"starts must be among {', '.join(STARTS)}, not {item!r}")
    return str(item)


def seeds(value: Any, where: str) -> list[int]:
    """The seeds: from a number, counted from 0, or from a list."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        if value > MOST_RUNS:
            raise Wrong(f"{where} must be at most {MOST_RUNS:,}, not {value:,}")
        return list(range(value))
    if isinstance(value, list) and value:
        good = all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in value)
        if good and len(set(value)) == len(value):
            return value
    raise Wrong(f"{where} must be how many there are, or a list of distinct whole numbers, not {value!r}")


def _fit_together(found: Mapping[str, Any], folder: Path) -> None:
    """Raise unless the data can be read, knowledge and truth fit them, and scores can be computed."""
    from bayescout.scores import bind
    from bayescout.search import Knowledge

    with _at("knowledge"):
        rules = Knowledge(**found["knowledge"])
    for declared in found["data"]:
        where, one = f"data {_short(declared)}", placed(declared, str(folder))
        with _at(where):
            table = data_of(one)
            rules.compile(table.names)
            truth = truth_of({"data": one})
            if truth is not None and set(truth.nodes) != set(table.names):
                odd = sorted(map(str, set(truth.nodes) ^ set(table.names)))[0]
                raise Wrong(f"the truth and the data differ in {odd!r}")
            for score in found["scores"]:
                bind(score_of(score), table)
    _can_begin(found, folder)


TRIED_ROWS = 1000
"""Rows sampled to check that a search and a score can begin with such data."""


def _can_begin(found: Mapping[str, Any], folder: Path) -> None:
    """Begin every search with every score, once per source of data, so that what cannot work fails here."""
    sources = {
        canonical({k: v for k, v in one.items() if k not in ("rows", "seed")}): one for one in found["data"]
    }
    for one, search, score in product(sources.values(), found["searches"], found["scores"]):
        data = placed(one, str(folder))
        if "rows" in data:  # a few sampled rows are enough
            data = {**data, "rows": min(int(data["rows"]), TRIED_ROWS)}
        run = {
            "data": data,
            "search": search,
            "score": score,
            "knowledge": found["knowledge"],
            "structure_prior": found.get("structure_prior"),
            "max_steps": 0,
        }
        where = (
            f"{label_of(search)} with {label_of(score)} on {_short(one)} cannot work, and a study runs every "
            f"search with every score; leave one out, or make two files"
        )
        with _at(where), warnings.catch_warnings():
            warnings.simplefilter("ignore", BayescoutWarning)
            learned(run)


# ---- checking


def plain_values(value: Any, where: str, depth: int = 1) -> None:
    """Refuse TOML values that a study cannot use: dates, infinite or too large numbers, deep nesting."""
    if depth > DEEPEST:
        raise Wrong(f"{where} is nested deeper than {DEEPEST} levels")
    if isinstance(value, Mapping):
        for key, item in value.items():
            plain_values(item, f"{where}.{key}", depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            plain_values(item, f"{where} {number}", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise Wrong(f"{where} is {value}; give a finite number, or leave it out")
    elif isinstance(value, int) and abs(value) > LARGEST:
        raise Wrong(f"{where} is a whole number larger than {LARGEST:,}; give a smaller one")
    elif not isinstance(value, (str, int, float)):
        raise Wrong(f'{where} is a date or a time, {value}; write it as text, "{value}"')


def known(where: str, table: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Refuse an unknown key, and list the known ones."""
    for key in table:
        if key not in keys:
            hint = did_you_mean(key, keys)
            raise Wrong(f"{where}: unknown key {key!r}; {hint}known: {', '.join(keys)}")


def _section(declared: Mapping[str, Any], name: str, keys: Sequence[str]) -> dict[str, Any]:
    found = declared.get(name, {})
    if not isinstance(found, Mapping):
        raise Wrong(f"{name} must be a table, [{name}], not {found!r}")
    known(name, found, keys)
    return dict(found)


def _list(declared: Mapping[str, Any], name: str, otherwise: Iterable[Any] = ()) -> list[Any]:
    found = declared.get(name, list(otherwise))
    if not isinstance(found, list) or not found:
        raise Wrong(f"{name} must be a list with at least one item, not {found!r}")
    return found


def _distinct(items: Sequence[Any], name: str) -> None:
    seen: set[str] = set()
    for item in items:
        text = canonical(item)
        if text in seen:
            raise Wrong(f"{name}: {text} is there twice")
        seen.add(text)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise Wrong(f"{where} must be text, not {value!r}")
    return value


def _short(one: Mapping[str, Any]) -> str:
    return str(one.get("file") or one.get("network") or "random")


class _at:  # noqa: N801 - reads as a word at its place
    """Add the place in the file to an error raised in the block."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> None:
        if isinstance(error, MemoryError) and not isinstance(error, BayescoutError):
            raise Wrong(
                f"{self.where}: there is too little memory for it; give fewer rows or nodes"
            ) from None
        if isinstance(error, OSError):
            raise Wrong(f"{self.where}: {error.strerror or error}") from None
        if isinstance(error, (BayescoutError, TypeError, ValueError, ArithmeticError)):
            raise Wrong(f"{self.where}: {error}") from None
