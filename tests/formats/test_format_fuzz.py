"""Whatever a file holds, a reader gives a value or one of our errors, on one line."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from format_strategies import NASTY
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bayescout.errors import BayescoutError, BayescoutWarning
from bayescout.formats import (
    FORMATS,
    bif,
    dagitty,
    dot,
    edge_list,
    graphml,
    modelstring,
    native_json,
    net,
    structure_file,
    tetrad,
)
from bayescout.graph.dag import Dag
from bayescout.network import (
    ConditionalGaussian,
    DiscreteNetwork,
    GaussianNetwork,
    LinearGaussian,
    Network,
    Tabular,
)
from tests.strategies import examples

GRAPH = Dag(("a", "b c", "d"), ((), (0,), (0, 1)))
PLAIN = Dag(("a", "b", "d"), ((), (0,), (0, 1)))


def _discrete(labels):
    shapes = [(2,), (2, 3), (2, 3, 2)]
    tables = tuple(np.full(shape, 1 / shape[-1]) for shape in shapes)
    undefined = (np.array(False), np.array([True, False]), np.zeros((2, 3), dtype=bool))
    return DiscreteNetwork(GRAPH, labels, tables, undefined, name="n")


TEXTS = _discrete((("<5", "x y"), ("p", "q", 'r"'), ("0", "1")))
OTHERS = _discrete(((1, "1"), (None, True, 2.5), ((1, 2), "z")))
GAUSSIAN = GaussianNetwork(GRAPH, np.arange(3.0), (np.zeros(0), np.ones(1), np.ones(2)), np.ones(3))
MIXED = Network(
    Dag(("a", "b c", "d"), ((), (), (0, 1))),
    [
        Tabular((1, "1"), [0.5, 0.5]),
        LinearGaussian(1, [], 2),
        ConditionalGaussian([0, 1], [[1], [-2]], [0, 3], [True, False]),
    ],
)
BENCHMARK = {
    "nodes": ["x", "y"],
    "arcs": [["x", "y"]],
    "cpds": {
        "x": {"coefficients": {"(Intercept)": [1.5]}, "variance": [4], "parents": []},
        "y": {"coefficients": {"(Intercept)": [1], "x": [-2.0]}, "variance": [1.0], "parents": ["x"]},
    },
}
OLD_BIF = """network "x" { property "a; b" ; } // c
variable a { type discrete[2] { "t" f }; property position = (1, 2); }
variable b { /* x */ type discrete [ 2 ] { 0-5, >=3 }; }
probability(a|b) { default 0.5 0.5; (0-5) 1e-1, .9; }
probability ( b ) { table 0.25, 0.75; }
"""
DOT = 'strict digraph "x" { rankdir=LR; node [a=b]; a -> b -> "c \\" d" [w=1.5]; // x\n e /* */; b -> -1 }'
OLD_NET = """% c
net { node_size = (50 50); }
node a { label = "A"; position = (1 2); states = ("x y" "z"); }
discrete node b { states = (t f); }
continuous node c { label = ""; }
potential (a) { data = (0.5 0.5); }
potential (b | a) { data = ((0.25 0.75) (1 0)); % x
}
potential (c | b) { data = (normal (1, 2) normal (-1 + 2 * d - e, 0.5)); }
continuous node d { }
continuous node e { }
potential (d) { data = (normal (0, 1)); }
potential (e) { data = normal (0, 1); }
"""
OLD_NET = OLD_NET.replace("(c | b)", "(c | b d e)").replace(
    "continuous node c", "continuous node d {} continuous node e {} continuous node c"
)
OLD_NET = OLD_NET.replace("continuous node d { }\ncontinuous node e { }\n", "")
OLD_DNE = """// ~->[DNET-1]->~
bnet New { autoupdate = TRUE; visual V1 { defdispform = BELIEFBARS; };
node a { kind = NATURE; discrete = TRUE; states = (x, y); parents = (); probs = (0.5, 0.5); };
node b { kind = NATURE; discrete = FALSE; levels = (0, 1, 2.5); parents = (a); functable = (#0, #1);
  visual V1 { center = (1, 2); }; };
};
"""
OLD_DSC = """belief network "x"
node a { name: "A"; type: discrete[2] = { "x y", "z" }; position: (1, 2); }
node b { type : discrete [ 2 ] = { "t", "f" }; }
probability(a) { 0.5, 0.5; }
probability(b | a) { (1) : 0.1, 0.9; (0) : 1, 0; }
"""
DAGITTY = (
    'dag { bb="0,0,1,1"\nx [exposure,pos="0.1,0.2"]\ny [outcome]\nx -> {y z} <- "a b"; y <- u [latent] }'
)
TETRAD = "Graph Nodes:\nx;y;z\n\nGraph Edges:\n1. x --> y\n2. y <-- z dd nl\n\nGraph Attributes:\nBIC: -1.5\n"
XML_HEAD = '<?xml version="1.0"?>\n<!DOCTYPE BIF [\n<!ELEMENT BIF ( NETWORK )*>\n]>\n'
ANOTHER_XML = """<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.5 <!-- x --> 0.5</TABLE></DEFINITION></NETWORK></BIF>"""
SEEDS = {
    "bif": [bif.write(TEXTS), bif.write(OTHERS), OLD_BIF],
    "json": [native_json.write(v) for v in (TEXTS, OTHERS, GAUSSIAN, MIXED, GRAPH)] + [json.dumps(BENCHMARK)],
    "structure": [structure_file.write(GRAPH), "# x\n\na [ ]\nb[a]\r\n"],
    "dot": [dot.write(Dag((1, "x", None), ((), (0,), (1,)))), DOT],
    "modelstring": [modelstring.write(PLAIN), modelstring.write(GRAPH)],
    "dagitty": [dagitty.write(Dag((1, "x", None), ((), (0,), (1,)))), DAGITTY],
    "tetrad": [tetrad.write(Dag((1, "x", None), ((), (0,), (1,)))), TETRAD],
    "graphml": [graphml.write(Dag((1, "x", None), ((), (0,), (1,))))],
    "edges": [edge_list.write(PLAIN), edge_list.write(GRAPH), "from,w,to\na,1,b\nc,,\n"],
}
for other in ("xmlbif", "net", "xdsl", "dsl", "uai", "dne", "dsc"):
    SEEDS[other] = [FORMATS[other].write(TEXTS), FORMATS[other].write(OTHERS)]
SEEDS["net"] += [net.write(MIXED), OLD_NET]
SEEDS["dne"].append(OLD_DNE)
SEEDS["dsc"].append(OLD_DSC)
SEEDS["xmlbif"].append(XML_HEAD + ANOTHER_XML)
SEEDS["uai"].append("BAYES 2 2 3 2 1 0 2 0 1 2 .5 .5 6 .1 .2 .7 .3 .3 .4")
PIECES = [
    *NASTY,
    *'{}[]()|,;:"\\/#=<>-.0123456789eE+ \n\r\t',
    "->",
    "--",
    "//",
    "/*",
    "*/",
    "null",
    "NaN",
    "-1",
    "1e999",
]
PIECES += [
    "property ",
    "table ",
    "default ",
    "variable ",
    "probability ",
    "[[[[",
    "{{{{",
    "9" * 400,
    "digraph ",
    "a [a]\n",
    "normal (",
    " --> ",
    "<state id='x'/>",
    "<!ENTITY a 'b'>",
    "&a;",
    "]]>",
    "numstates = 9999;",
    "# 0 bayescout_states = [1]\n",
    "% bayescout_undefined = [9]\n",
    "// bayescout_order = [0, 0]\n",
]


@st.composite
def damaged(draw, seeds):
    """A valid text with a few pieces cut, doubled, moved or put in."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + draw(st.sampled_from([1, 3, 12, 1000])))))
        way = draw(st.sampled_from(["cut", "double", "put", "end", "swap"]))
        piece = draw(st.sampled_from(PIECES))
        text = {
            "cut": text[:start] + text[end:],
            "double": text[:end] + text[start:],
            "put": text[:start] + piece + text[start:],
            "swap": text[:start] + piece + text[end:],
            "end": text[:end],
        }[way]
    return text


def check(name, text):
    """A value that can be written and read again, or an error of ours with the file's name."""
    entry = FORMATS[name]
    refusal = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayescoutWarning)  # a row whose sum is a little off is said to be
            value = entry.read(text, "some.file")
    except BayescoutError as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith("some.file")
        return
    try:
        again = entry.write(value)
    except BayescoutError:
        return
    assert entry.write(entry.read(again, "some.file")) == again


@pytest.mark.parametrize("name", FORMATS)
def test_the_seeds_themselves_are_valid(name):
    for text in SEEDS[name]:
        FORMATS[name].read(text, "some.file")


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=examples(300))
@given(data=st.data())
def test_damaged_files(name, data):
    check(name, data.draw(damaged(SEEDS[name])))


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None)
@given(text=st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
@example(text="")
def test_any_text(name, text):
    check(name, text)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats(allow_nan=False)
    | st.sampled_from(["a", "x", "tuple"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tuple", "x", "date"]), inner, max_size=2)
    ),
    max_leaves=6,
)


def _places(value, way=()):
    yield way
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _places(part, (*way, key))


@pytest.mark.parametrize("seed", range(len(SEEDS["json"])))
@settings(deadline=None)
@given(data=st.data())
def test_json_with_any_part_replaced(seed, data):
    document = json.loads(SEEDS["json"][seed])
    *way, last = data.draw(st.sampled_from(list(_places(document))[1:]))
    part = document
    for step in way:
        part = part[step]
    part[last] = data.draw(values)
    check("json", json.dumps(document))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("structure", "a" + " " * 200_000 + "b"),
        ("structure", " " * 200_000 + "[" * 200_000),
        ("bif", "network n { }\n" + "/*" * 200_000),
        ("bif", "network n {" + 'property "' * 50_000),
        ("bif", "network n { } variable v { type discrete [ 2 ] { " + "1, " * 100_000),
        ("bif", "network n { } probability ( v ) { table " + "1" * 200_000 + " x;"),
        ("bif", "network n { } probability ( v ) { table " + "1 " * 100_000 + "x;"),
        ("bif", "network n { } probability ( v ) { (" + "a " * 100_000 + "x;"),
        ("bif", "network n { }" + " " * 300_000 + "x"),
        ("bif", "network n { }" + "//\n" * 100_000 + '"'),
        ("dot", "digraph {" + "a -> " * 50_000),
        ("dot", "digraph {" + "/*" * 200_000),
        ("dot", 'digraph { "' + "\\" * 200_001),
        ("json", "[" * 200_000),
        ("modelstring", "[" * 100_000),
        ("modelstring", "[a|" + "b:" * 10_000 + "]"),
    ],
    ids=lambda value: value[:20] if len(value) > 20 else value,
)
def test_long_nonsense_is_refused_in_one_pass(name, text):
    """Each of these takes minutes where a pattern backtracks or a scan starts again."""
    check(name, text)


@pytest.mark.parametrize(
    "text",
    [
        "network n {" + " " * 20_000 + '"',
        "network n {" + "// a b c\n" * 5_000 + "/* x",
        "network n { } variable a { type discrete [ 2 ] { " + "/*" * 10_000,
        "probability ( a ) { table " + "0.5, " * 10_000,
        "network n { property " + " " * 20_000,
        "digraph {" + " \n" * 10_000 + '"',
    ],
    ids=[
        "open quote",
        "open comment",
        "nested comment",
        "no end of numbers",
        "open property",
        "open dot quote",
    ],
)
def test_long_texts_that_never_end_are_refused_at_once(text):
    from bayescout.formats import bif, dot

    for reader in (bif.read, dot.read):
        with pytest.raises(BayescoutError):
            reader(text, "x")
