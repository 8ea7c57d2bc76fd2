"""Files of networks and structures, and questions in text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bayescout.formats import (
    FORMATS,
    bif,
    dot,
    jkl,
    modelstring,
    native_json,
    read_network,
    structure_file,
    write_network,
)
from bayescout.formats.text import decode
from bayescout.graph.dag import Dag
from bayescout.network import (
    ConditionalGaussian,
    DiscreteNetwork,
    GaussianNetwork,
    LinearGaussian,
    Network,
    Tabular,
)
from tests.fuzz.damage import damaged_bytes, damaged_text
from tests.fuzz.same import check_no_nan, parts
from tests.fuzz.target import Target, hold, must, written

GRAPH = Dag(("a", "b c", "d"), ((), (0,), (0, 1)))
PLAIN = Dag(("a", "b", "d", "e"), ((), (0,), (0, 1), ()))


def _discrete(states: tuple[tuple[Any, ...], ...], cuts: dict[str, Any] | None = None) -> DiscreteNetwork:
    tables = (
        np.array([0.25, 0.75]),
        np.full((2, 3), 1 / 3),
        np.array([[[0.5, 0.5], [0.1, 0.9], [1.0, 0.0]]] * 2),
    )
    undefined = (np.array(False), np.array([True, False]), np.zeros((2, 3), dtype=bool))
    return DiscreteNetwork(GRAPH, states, tables, undefined, "n", cuts)


TEXTS = _discrete((("<5", "x y"), ("p", "q", 'r"'), ("0", "1")), {"b c": (-0.5, 1e300)})
OTHERS = _discrete(((1, "1"), (None, True, 2.5), ((1, 2), "z")))
GAUSSIAN = GaussianNetwork(
    GRAPH, np.arange(3.0), (np.zeros(0), np.ones(1), np.array([-2.5, 1e-7])), np.array([1.0, 0.5, 4.0])
)

MIXED = Network(
    Dag(("a", "b c", "d"), ((), (), (0, 1))),
    (
        Tabular(("no", "yes"), [0.25, 0.75], None, (1.5,)),
        LinearGaussian(1, [], 2),
        ConditionalGaussian([0, 1], [[1], [-2]], [0, 3], [True, False]),
    ),
)

OLD_BIF = """network "x" { property "a; b" ; } // c
variable a { type discrete[2] { "t" f }; property position = (1, 2); }
variable b { /* x */ type discrete [ 2 ] { 0-5, >=3 }; }
probability(a|b) { default 0.5 0.5; (0-5) 1e-1, .9; }
probability ( b ) { table 0.25, 0.75; }
"""
BENCHMARK = {
    "nodes": ["x", "y"],
    "arcs": [["x", "y"]],
    "cpds": {
        "x": {"coefficients": {"(Intercept)": [1.5]}, "variance": [4], "parents": []},
        "y": {"coefficients": {"(Intercept)": [1], "x": [-2.0]}, "variance": [1.0], "parents": ["x"]},
    },
}
CHAIN = 'strict digraph "x" { rankdir=LR; node [a=b]; a -> b -> "c \\" d" [w=1.5]; // x\n e /* */; b -> -1 }'
SETS = jkl.ScoredSets(
    ("a", "b", "c"), (((-3.5, ()), (-2.25, (1, 2))), ((-1.0, ()),), ((-4.0, (0,)), (float("-inf"), ())))
)

BIF_WORDS = (
    "network", "variable", "probability", "property", "type", "discrete", "table", "default", "{", "}",
    "(", ")", "|", ";", ",",
    "[ 2 ]", "[ 0 ]", "[ 99999 ]", "(a)", "variable a { type discrete [ 1 ] { x }; }\n",
    "probability ( a ) { table 1.0; }\n",
)  # fmt: skip
DOT_WORDS = (
    "digraph",
    "graph",
    "strict",
    "subgraph",
    "node",
    "edge",
    "->",
    "--",
    "[",
    "]",
    "{",
    "}",
    "=",
    "bayescout_label",
    '"1"',
    ";",
)
PLAIN_WORDS = ("[", "]", "|", ":", ",", "#", "\n", "[a|a]", "a [a]\n", "\r")

Reader = Callable[[bytes], Any]


def _check(
    read: Reader, write: Callable[[Any], str], view: Callable[[Any], Any], data: bytes, folder: Path
) -> None:
    """Accepted: the same again, and the same once written, unless the format says it cannot hold it."""
    value = read(data)
    hold(
        "the same bytes are read twice as the same",
        view(must("read twice", lambda: read(data))) == view(value),
    )
    text = written(lambda: write(value))
    if text is not None:
        again = must("what was written is read", lambda: read(text.encode("utf-8", "surrogatepass")))
        hold("what was written is read as it was", view(again) == view(value), text)


def _graph_or_network(value: Any) -> Any:
    check_no_nan(value)
    return parts(value)


def _text_target(
    name: str, weight: float, seeds: tuple[str, ...], words: tuple[str, ...] = (), own: str = ""
) -> Target:
    entry = FORMATS[own or name]

    def read(data: bytes) -> Any:
        return entry.read(decode(data, "some.file"), "some.file")

    return Target(
        name,
        weight,
        lambda: [seed.encode() for seed in seeds],
        partial(damaged_text, seeds=seeds, words=words, as_json=own == "json" or name == "json"),
        partial(_check, read, entry.write, _graph_or_network),
    )


# ---- scored parent sets


def _read_jkl(data: bytes) -> jkl.ScoredSets:
    return jkl.read(decode(data, "some.jkl"), "some.jkl")


def _view_jkl(value: jkl.ScoredSets) -> Any:
    hold("scores are numbers", all(score == score for sets in value.sets for score, _ in sets))
    return repr(value)


JKL_SEEDS = (jkl.write(SETS), jkl.write(SETS, numbered=True), "1\nx 1\n-0.5 0\n")
JKL = Target(
    "jkl", 8, lambda: [seed.encode() for seed in JKL_SEEDS], partial(damaged_text, seeds=JKL_SEEDS),
    partial(_check, _read_jkl, jkl.write, _view_jkl),
)  # fmt: skip


# ---- packed files


@cache
def _packed() -> tuple[bytes, ...]:
    texts = (bif.write(TEXTS), OLD_BIF, native_json.write(OTHERS))
    return tuple(gzip.compress(text.encode(), mtime=0) for text in texts)


def _draw_packed(rng: Random) -> bytes:
    """A damaged gzip file, or a whole one of damaged text, in one piece or more."""
    if rng.random() < 0.6:
        return damaged_bytes(rng, rng.choice(_packed()), _packed())
    text = damaged_text(rng, (bif.write(TEXTS), OLD_BIF), BIF_WORDS)
    pieces = [text] if rng.random() < 0.7 else [text[: len(text) // 2], b"", text[len(text) // 2 :]]
    return b"".join(gzip.compress(piece, 1, mtime=0) for piece in pieces)


def _check_packed(data: bytes, folder: Path) -> None:
    ending = ".json.gz" if data == _packed()[2] else ".bif.gz"
    path, other = folder / f"in{ending}", folder / f"out{ending}"
    path.write_bytes(data)
    value = read_network(path)
    hold(
        "the same bytes are read twice as the same",
        parts(must("read twice", lambda: read_network(path))) == parts(value),
    )
    written(lambda: write_network(value, other))
    if other.exists():
        hold(
            "what was written is read as it was",
            parts(must("what was written is read", lambda: read_network(other))) == parts(value),
        )


# ---- questions


ASKED = DiscreteNetwork(
    Dag(("a", "b c", 1, "x|y"), ((), (0,), (0, 1), ())),
    (("yes", "no"), ("p", "q", 'r"'), (0, 1), ("1", 1)),
    (np.array([0.25, 0.75]), np.full((2, 3), 1 / 3), np.full((2, 3, 2), 0.5), np.array([0.0, 1.0])),
    name="n",
)
QUESTIONS = {
    "discrete": (
        "a",
        "a, b c",
        'a | "b c"=p',
        '1 | a=yes, "b c"="r\\""',
        '"x|y" | 1=0',
        '"b c", 1 | a = no',
        '"a" |',
    ),
    "gaussian": ("b c | a=1.5", "d | a=1, b c=-2e3", "a, d"),
    "mixed": ("a | d=1.5", "d | a=no, b c=-2e3", "a, d", "b c | d=2", "a, b c, d | a=yes"),
}
QUESTION_WORDS = (
    "|",
    ",",
    "=",
    '"',
    "\\",
    '"a"',
    "a=yes",
    "b c",
    "1",
    "x|y",
    "yes",
    "no",
    "d",
    "1.5",
    "nan",
    "inf",
    "|a=yes",
)

Question = tuple[str, str]


def _draw_question(rng: Random) -> Question:
    kind = rng.choice(("discrete", "discrete", "gaussian", "mixed"))
    return kind, damaged_text(rng, QUESTIONS[kind], QUESTION_WORDS).decode("utf-8", "surrogateescape")


def _check_question(asked: Question, folder: Path) -> None:
    """A question is answered with probabilities, or with finite moments."""
    kind, text = asked
    network = {"gaussian": GAUSSIAN, "mixed": MIXED}.get(kind, ASKED)
    answer, again = network.query(text), must("asked twice", lambda: network.query(text))
    hold("the same question has the same answer", repr(answer.to_dict()) == repr(again.to_dict()))
    if kind == "mixed":
        hold("moments and probabilities are finite", "nan" not in repr(answer.to_dict()), answer.to_dict())
    elif kind == "discrete":
        total = sum(answer.to_dict().values())
        hold("probabilities add up to one", abs(total - 1) < 1e-9, total)
    else:
        found = [number for moments in answer.to_dict().values() for number in moments.values()]
        hold("moments are finite", all(number - number == 0 for number in found), found)
    str(answer)


def _questions() -> list[Question]:
    return [(kind, text) for kind, texts in QUESTIONS.items() for text in texts]


JSON_SEEDS = tuple(native_json.write(value) for value in (TEXTS, OTHERS, GAUSSIAN, MIXED, GRAPH))
FORMAT_TARGETS = (
    _text_target("bif", 16, (bif.write(TEXTS), bif.write(OTHERS), OLD_BIF), BIF_WORDS),
    _text_target("json", 16, JSON_SEEDS),
    _text_target("gaussian-json", 10, (json.dumps(BENCHMARK),), own="json"),
    _text_target("dot", 16, (dot.write(Dag((1, "x", None), ((), (0,), (1,)))), CHAIN), DOT_WORDS),
    _text_target("modelstring", 10, (modelstring.write(PLAIN), modelstring.write(GRAPH)), PLAIN_WORDS),
    _text_target("structure", 10, (structure_file.write(GRAPH), "# x\n\na [ ]\nb[a]\r\n"), PLAIN_WORDS),
    JKL,
    Target("gz", 6, _packed, _draw_packed, _check_packed),
    Target("query", 10, _questions, _draw_question, _check_question),
)
