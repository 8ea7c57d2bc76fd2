"""The formats of other tools: what each text means, and what each error says."""

from __future__ import annotations

import time

import numpy as np
import pytest

import bayescout as bs
from bayescout.errors import BayescoutError, CycleError, FormatError, UnknownNameError
from bayescout.formats import (
    FORMATS,
    dagitty,
    dne,
    dsc,
    dsl,
    edge_list,
    graphml,
    net,
    read_uai_evidence,
    tetrad,
    uai,
    xdsl,
    xmlbif,
)
from bayescout.formats.names import Names
from bayescout.graph.dag import Dag
from bayescout.network import ConditionalGaussian, LinearGaussian

# ---- the rule for names


def test_the_rule_for_names():
    found = Names(reserved={"node"}).carried(
        ["M. Work", "M__Work", "M: Work", "1st", "", "node", "ü", "a", 3, "3"]
    )
    assert found == ["M__Work_2", "M__Work", "M__Work_3", "x_1st", "x_", "node_", "x__", "a", "x_3", "x_3_2"]


def test_long_names_are_cut_and_stay_apart():
    names = Names(longest=5)
    assert names.carried(["abcdefg", "abcdefh", "abcde"]) == ["abc_2", "abc_3", "abcde"]


# ---- meaning

XMLBIF = """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>t</OUTCOME><OUTCOME>f</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>t</OUTCOME><OUTCOME>f</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>c</NAME><OUTCOME>t</OUTCOME><OUTCOME>f</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>c</FOR><GIVEN>b</GIVEN><GIVEN>a</GIVEN>
<TABLE><!-- b t, a t -->0.1 0.9 <!-- b t, a f -->0.2 0.8 0.3 0.7 0.4 0.6</TABLE></DEFINITION>
</NETWORK></BIF>
"""
NET = """net { node_size = (50 50); }
node a { label = "A; }"; states = ("t" "f"); } % comment }
node b { states = ("t" "f"); }
node c { states = ("t" "f"); }
potential (a) { data = (0.25 0.75); }
potential (b | ) { data = (0.5 0.5); }
potential (c | b a) { data = (((0.1 0.9) (0.2 0.8)) ((0.3 0.7)(0.4 0.6))); }
"""
XDSL = """<smile version="1.0" id="n"><nodes>
<cpt id="a"><state id="t"/><state id="f"/><probabilities>0.25 0.75</probabilities></cpt>
<cpt id="b"><state id="t"/><state id="f"/><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="c"><state id="t"/><state id="f"/><parents>b a</parents>
<probabilities>0.1 0.9 0.2 0.8 0.3 0.7 0.4 0.6</probabilities></cpt></nodes></smile>
"""
DSL = """net n { HEADER = { ID = n; NAME = "N"; }; NUMSAMPLES = 1000; // x
node a { TYPE = CPT; HEADER = { ID = a; NAME = "A"; }; PARENTS = ();
  DEFINITION = { NAMESTATES = (t, f); PROBABILITIES = (0.25, 0.75); }; };
node b { TYPE = CPT; PARENTS = (); DEFINITION = { NAMESTATES = (t, f); PROBABILITIES = (0.5, 0.5); }; };
node c { TYPE = CPT; PARENTS = (b, a); DEFINITION = { NAMESTATES = (t, f);
  PROBABILITIES = (0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6); }; EXTRA_DEFINITION = { X = 1; }; };
};
"""
UAI = "BAYES\n3\n2 2 2\n3\n1 0\n1 1\n3 1 0 2\n\n2 .25 .75\n2 .5 .5\n8 .1 .9 .2 .8 .3 .7 .4 .6\n"
DNE = """// ~->[DNET-1]->~
bnet n { whenchanged = 1; visual V1 { defdispform = BELIEFBARS; };
node a { kind = NATURE; discrete = TRUE; states = (t, f); parents = (); probs = (0.25, 0.75); };
node b { kind = NATURE; discrete = TRUE; states = (t, f); parents = (); probs = // t f
  (0.5, 0.5); visual V1 { center = (1, 2); }; };
node c { kind = NATURE; states = (t, f); parents = (b, a);
  probs = (((0.1, 0.9), (0.2, 0.8)), ((0.3, 0.7), (0.4, 0.6))); };
};
"""
DSC = """belief network "n"
node a { name: "A"; type: discrete[2] = { "t", "f" }; position: (1, 2); }
node b { type : discrete [ 2 ] = { "t", "f" }; }
node c { type : discrete [ 2 ] = { "t", "f" }; }
probability ( a ) { 0.25, 0.75; }
probability ( b ) { 0.5, 0.5; }
probability ( c | b, a ) { (1, 0) : 0.3, 0.7; (0, 0) : 0.1, 0.9; (0, 1) : 0.2, 0.8; (1, 1) : 0.4, 0.6; }
"""
TEXTS = {"xmlbif": XMLBIF, "net": NET, "xdsl": XDSL, "dsl": DSL, "uai": UAI, "dne": DNE, "dsc": DSC}


@pytest.mark.parametrize("name", TEXTS)
def test_the_last_parent_is_fastest(name):
    """P(c = first | a = second, b = first) is 0.2, whatever the order of the nodes in the graph."""
    network = FORMATS[name].read(TEXTS[name], "x")
    assert network.dag.parents == ((), (), (0, 1))
    assert network.tables[0].tolist() == [0.25, 0.75]
    assert network.tables[2][:, :, 0].tolist() == [[0.1, 0.3], [0.2, 0.4]]
    if name != "uai":
        assert network.states == (("t", "f"),) * 3
    assert network.name == ("" if name in ("net", "uai") else "n")


def test_net_of_continuous_nodes():
    text = """net {}
    node d { states = ("u" "v"); }
    continuous node x {}
    continuous node y {}
    potential (d) { data = (0.5 0.5); }
    potential (x) { data = (normal (1e+1, 4)); }
    potential (y | x d) { data = (normal (1 + 2 * x, 3) normal (-0.5 - x * 4, 1e-3)); }
    """
    network = net.read(text, "x.net")
    x, y = network.distributions[1:]
    assert isinstance(x, LinearGaussian)
    assert (x.intercept, x.variance) == (10, 4)
    assert isinstance(y, ConditionalGaussian)
    assert y.intercepts.tolist() == [1, -0.5]
    assert y.coefficients.tolist() == [[2], [-4]]
    assert y.variances.tolist() == [3, 1e-3]
    assert y.discrete == (0,)


def test_dne_with_counted_states_and_functions():
    text = """bnet n {
    node a { kind = NATURE; discrete = FALSE; levels = (0, 1, 2, 5); probs = (0.25, 0.25, 0.5); };
    node b { kind = NATURE; states = (no, yes); parents = (a); functable = (no, yes, #1); };
    };"""
    network = dne.read(text, "x.dne")
    assert network.states[0] == ("s0", "s1", "s2")
    assert network.tables[1].tolist() == [[1, 0], [0, 1], [0, 1]]


def test_dsc_of_genie_has_only_zeros_in_front():
    text = DSC.replace("(1, 0) : 0.3, 0.7; (0, 0) : 0.1, 0.9; (0, 1) : 0.2, 0.8; (1, 1) : 0.4, 0.6;", "ROWS")
    rows = "(0,0): 0.1, 0.9; (0,0): 0.2, 0.8; (0,0): 0.3, 0.7; (0,0): 0.4, 0.6;"
    network = dsc.read(text.replace("ROWS", rows), "x.dsc")
    assert network.tables[2][:, :, 0].tolist() == [[0.1, 0.3], [0.2, 0.4]]


@pytest.mark.parametrize("name", ["net", "dsl", "dne", "dsc"])
def test_comments_between_numbers_change_nothing(name):
    """Lists of numbers alone are read by one match; a comment forces the way token by token."""
    comment = "% 9 )\n" if name == "net" else "/* 9 ) ; */"
    text = TEXTS[name].replace("0.9", f"0.9 {comment} ").replace("0.25", f"{comment} 0.25")
    one, other = FORMATS[name].read(TEXTS[name], "x"), FORMATS[name].read(text, "x")
    assert one.dag == other.dag
    assert all((mine == theirs).all() for mine, theirs in zip(one.tables, other.tables, strict=True))


@pytest.mark.parametrize(
    "data", ["(0.25 0.75", "0.25 0.75)", "(0.25)(0.75)", "(0.25 0.75))", "(0.25 1e)", "()", "(1 2e)"]
)
def test_lists_that_are_not_closed_as_they_should_be(data):
    with pytest.raises(FormatError, match=r"line 5|node 'a' has"):
        net.read(NET.replace("(0.25 0.75)", data), "x")


def test_long_numbers_in_front_of_a_row():
    for number in ("9" * 12, "9" * 40):
        with pytest.raises(FormatError, match="line 7"):
            dsc.read(DSC.replace("(1, 0) :", f"({number}, 0) :"), "x")


# ---- evidence


def test_uai_evidence(tmp_path):
    network = uai.read(UAI, "x.uai")
    path = tmp_path / "x.uai.evid"
    for text in ("2 0 1 2 0", "1\n2 0 1 2 0\n"):
        path.write_text(text)
        assert read_uai_evidence(path, network) == {"x0": "1", "x2": "0"}
    path.write_text("0")
    assert read_uai_evidence(path, network) == {}
    asia = bs.load_network("asia")
    path.write_text("1 2 1")
    found = bs.read_uai_evidence(path, asia)
    assert found == {"smoke": asia.states[2][1]}
    asia.query("lung", found)


def test_uai_evidence_is_written(tmp_path):
    path = tmp_path / "x.uai.evid"
    asia = bs.load_network("asia")
    for evidence in ({}, {"smoke": "no"}, {"xray": "yes", "asia": "no"}):
        bs.write_uai_evidence(path, evidence, asia)
        assert bs.read_uai_evidence(path, asia) == evidence
    assert path.read_text() == "2 6 0 0 1\n"
    bs.write_uai_evidence(path, {"x0": 1}, uai.read(UAI, "x.uai"))
    assert path.read_text() == "1 0 1\n"
    for evidence in ({"smoke": "maybe"}, {"smokes": "no"}):
        with pytest.raises(UnknownNameError):
            bs.write_uai_evidence(path, evidence, asia)
    numbers = bs.random_network(nodes=2, arcs=1, kind="gaussian", seed=1)
    with pytest.raises(FormatError, match="continuous"):
        bs.write_uai_evidence(path, {numbers.nodes[0]: 1}, numbers)


@pytest.mark.parametrize(
    "text", ["", "1", "2 0 1", "1 9 0", "1 0 5", "2 0 1 0 1", "1 0 x", "1 0 -1", "1 0 1 7"]
)
def test_wrong_uai_evidence(tmp_path, text):
    path = tmp_path / "x.evid"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"x\.evid"):
        read_uai_evidence(path, uai.read(UAI, "x.uai"))


# ---- XDSL as older versions of GeNIe write it

GENIE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="Network1" numsamples="1000">
<nodes>
<cpt id="a" diagtype="target"><state id="t" label="größer" fault="true"/><state id="f"/>
<probabilities>0.25 0.75</probabilities></cpt>
<cpt id="b"><state id="x"/><state id="y"/><state id="z"/><probabilities>0.5 0.25 0.25</probabilities></cpt>
<deterministic id="c"><state id="t"/><state id="f"/><parents>a b</parents>
<resultingstates>t t f f t f</resultingstates></deterministic>
</nodes>
<extensions><genie version="1.0" app="GeNIe 2.1" name="Größe"><node id="a"><name>Größe</name></node>
<submodel id="s"><node id="b"><name>b</name></node></submodel></genie></extensions>
</smile>
"""


def test_deterministic_nodes_and_latin_text_of_genie(tmp_path):
    path = tmp_path / "old.xdsl"
    path.write_bytes(GENIE.encode("iso-8859-1"))
    network = bs.read_network(path)
    assert list(network.dag.arcs()) == [("a", "c"), ("b", "c")]
    assert network.tables[2][..., 0].tolist() == [[1, 1, 0], [0, 1, 0]]
    for old, new, words in (
        ("t t f", "t u f", "node 'c' has no state 'u'"),
        ("resultingstates", "states", "node 'c' has no resultingstates"),
        (" f</res", "</res", "c"),
    ):
        with pytest.raises(FormatError, match=words):
            xdsl.read(GENIE.replace(old, new), "x.xdsl")
    path.write_bytes(GENIE.replace("ISO-8859-1", "US-ASCII").encode("iso-8859-1"))
    with pytest.raises(FormatError, match="line 4: byte 0xf6 is not UTF-8"):
        bs.read_network(path)


# ---- errors


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "words"),
    [
        ("xmlbif", "0.25 0.75", "0.25 0.65", 7, r"P\(a\) sums to 0.9, .* divide it by its sum"),
        ("xmlbif", "0.25 0.75", "0.25 x", 7, "'x', which is not a number"),
        ("xmlbif", "<GIVEN>b</GIVEN>", "<GIVEN>bb</GIVEN>", 10, "unknown node 'bb'"),
        ("xmlbif", '"nature"><NAME>a', '"utility"><NAME>a', 4, "only 'nature'"),
        ("xmlbif", "</NETWORK>", "", 11, "is not XML that can be read: mismatched tag"),
        ("net", "((0.1 0.9)", "((0.1 0.8)", 7, r"P\(c \| b=t, a=t\) sums to 0.9"),
        ("net", "node b", "utility u {} node b", 3, "a utility node; only random variables"),
        ("net", "data = (0.25 0.75)", "model_data = (1)", 5, "save the network with its tables"),
        ("net", "(0.25 0.75)", "(0.25 0.75 0)", 5, "has 3 numbers; .* ask for 2"),
        ("net", "node b {", "node a {", 3, "declared twice"),
        ("net", "(0.3 0.7)(0.4 0.6)))", "(0.3 0.7)(0.4 0.6)", 7, "expected a number"),
        ("xdsl", "cpt", "noisymax", 2, "node 'a' is a noisymax node; only cpt and deterministic"),
        ("xdsl", "b a</parents>", "b z</parents>", 5, "unknown node 'z'"),
        ("dsl", "TYPE = CPT; PARENTS = ();", "TYPE = NOISY_MAX; PARENTS = ();", 4, "only CPT nodes"),
        ("dsl", "(t, f); PROBABILITIES = (0.5", "(t, t); PROBABILITIES = (0.5", 4, "the state 't' twice"),
        ("uai", "BAYES", "MARKOV", 1, "only Bayesian networks"),
        ("uai", "3 1 0 2", "3 1 0 7", 7, "a variable, a whole number up to 2"),
        ("uai", "8 .1", "7 .1", 11, "its scope asks for 8"),
        ("uai", "1 1\n", "1 0\n", None, "variable 0 has two tables"),
        ("uai", ".4 .6", ".4", 12, "it may be truncated"),
        ("dne", "kind = NATURE; states", "kind = UTILITY; states", 6, "only NATURE nodes"),
        ("dne", "(0.5, 0.5)", "(0.5, x)", 5, "expected a number"),
        ("dsc", "discrete[2]", "discrete[3]", 2, "announces 3 states but lists 2"),
        ("dsc", "(1, 1) :", "(1, 0) :", 7, "the same states in front"),
        ("dsc", "(1, 1) :", "(1, 5) :", 7, "a state that its parent does not have"),
        ("dsc", "(1, 1) : 0.4, 0.6;", "", 7, "has 3 rows; its parents ask for 4"),
    ],
)  # fmt: skip
def test_errors_name_the_line_and_the_way_out(name, old, new, line, words):
    text = TEXTS[name]
    assert old in text
    with pytest.raises(FormatError, match=words) as caught:
        FORMATS[name].read(text.replace(old, new), "x.file")
    assert str(caught.value).startswith("x.file")
    if line is not None:
        assert caught.value.line == line


CYCLES = {
    "xmlbif": [("<FOR>a</FOR><TABLE>", "<FOR>a</FOR><GIVEN>c</GIVEN><TABLE>0.25 0.75 ")],
    "net": [("(a) { data = (0.25 0.75)", "(a | c) { data = ((0.25 0.75)(0.25 0.75))")],
    "xdsl": [("<probabilities>0.25 0.75", "<parents>c</parents><probabilities>0.25 0.75 0.25 0.75")],
    "dsl": [('"A"; }; PARENTS = ()', '"A"; }; PARENTS = (c)'), ("0.25, 0.75", "0.25, 0.75, 0.25, 0.75")],
    "uai": [("1 0\n", "2 2 0\n"), ("2 .25 .75", "4 .25 .75 .25 .75")],
    "dne": [("parents = (); probs = (0.25, 0.75)", "parents = (c); probs = ((0.25, 0.75), (0.25, 0.75))")],
    "dsc": [("( a ) { 0.25, 0.75;", "( a | c ) { (0) : 0.25, 0.75; (1) : 0.25, 0.75;")],
}


@pytest.mark.parametrize("name", CYCLES)
def test_cycles_are_named(name):
    text = TEXTS[name]
    for old, new in CYCLES[name]:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(CycleError, match=r"x\.file: the network"):
        FORMATS[name].read(text, "x.file")


# ---- XML attacks

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><BIF><NETWORK><NAME>&c;</NAME></NETWORK></BIF>'
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><BIF>&a;</BIF>'
PARAMETER = '<!DOCTYPE l [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x"> %a;]><BIF></BIF>'


@pytest.mark.parametrize("module", [xmlbif, xdsl, graphml])
@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE, PARAMETER], ids=["laughs", "outside", "parameter"])
def test_entities_are_refused(module, text):
    with pytest.raises(FormatError, match="entities are not read: write the text itself"):
        module.read(text, "x.xml")


@pytest.mark.parametrize("module", [xmlbif, xdsl, graphml])
def test_an_outer_document_type_is_not_fetched(module):
    text = '<!DOCTYPE BIF SYSTEM "http://127.0.0.1:9/bif.dtd"><BIF></BIF>'
    with pytest.raises(FormatError, match="is not"):
        module.read(text, "x.xml")


@pytest.mark.parametrize("module", [xmlbif, xdsl, graphml])
def test_deep_nesting_is_refused(module):
    with pytest.raises(FormatError, match="more than 100 deep"):
        module.read("<a>" * 100_000, "x.xml")


# ---- structures


def test_dagitty():
    text = """dag { bb="0,0,1,1"
    "my x" [exposure,pos="0.1,0.2"]
    y [outcome,pos="1,1"]
    u [latent]
    "my x" -> { y z } <- w
    y <- u
    }"""
    dag = dagitty.read(text, "x")
    assert dag.nodes == ("my x", "y", "u", "z", "w")
    arcs = {("my x", "y"), ("my x", "z"), ("w", "y"), ("w", "z"), ("u", "y")}
    assert set(dag.arcs()) == arcs


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("dag { a\na <-> b }", 2, "a <-> b is not an arc"),
        ("dag { a -- b }", 1, "not an arc"),
        ("pdag { a -- b }", 1, "only 'dag' is read"),
        ("dag { a -> b", 1, "truncated"),
        ("dag { a -> }", 1, "expected a node"),
        ('dag { a [pos="1,2" }', 1, "expected"),
    ],
)
def test_dagitty_errors(text, line, words):
    with pytest.raises(FormatError, match=words) as caught:
        dagitty.read(text, "x.dagitty")
    assert caught.value.line == line


@pytest.mark.parametrize("nodes", ["x;y;z", "x,y,z", "x; y; z"])
def test_tetrad(nodes):
    text = (
        f"Graph Nodes:\n{nodes}\n\nGraph Edges:\n1. x --> y\n2. y <-- z dd nl\n\nGraph Attributes:\nBIC: -3\n"
    )
    dag = tetrad.read(text, "x")
    assert dag.nodes == ("x", "y", "z")
    assert list(dag.arcs()) == [("x", "y"), ("z", "y")]


@pytest.mark.parametrize(
    ("edge", "words"),
    [
        ("x --- y", "not an arc"),
        ("x o-> y", "not an arc"),
        ("x --> q", "'q' is not among"),
        ("x y", "an edge"),
    ],
)
def test_tetrad_errors(edge, words):
    with pytest.raises(FormatError, match=words) as caught:
        tetrad.read(f"Graph Nodes:\nx;y\nGraph Edges:\n1. {edge}\n", "x")
    assert caught.value.line == 4


def test_text_files_of_tetrad_and_dagitty_are_told_apart(tmp_path):
    path = tmp_path / "g.txt"
    for text in (
        "Graph Nodes:\na;b\n\nGraph Edges:\n1. a --> b\n",
        "dag {\na -> b\n}\n",
        "[a][b|a]",
        "a []\nb [a]\n",
    ):
        path.write_text(text)
        assert bs.read_structure(path) == Dag(("a", "b"), ((), (0,)))


def test_graphml_of_networkx(tmp_path):
    import networkx

    graph = networkx.DiGraph([("M. Work", "b"), ("b", "ü")])
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    dag = bs.read_structure(tmp_path / "g.graphml")
    assert dag == Dag.from_networkx(graph)
    bs.write_structure(dag, tmp_path / "h.graphml")
    again = networkx.read_graphml(tmp_path / "h.graphml")
    assert set(again.edges) == set(graph.edges)
    networkx.write_graphml(graph.to_undirected(), tmp_path / "u.graphml")
    with pytest.raises(FormatError, match="undirected edge"):
        bs.read_structure(tmp_path / "u.graphml")


def test_graphml_with_names_in_a_key():
    text = """<graphml><key id="k" for="node" attr.name="name" attr.type="string"/>
    <graph edgedefault="directed"><node id="n0"><data key="k">a</data></node>
    <node id="n1"><data key="k">b</data></node>
    <edge source="n0" target="n1"/></graph></graphml>"""
    assert graphml.read(text, "x") == Dag(("a", "b"), ((), (0,)))


def test_edge_lists():
    assert edge_list.read('from,to,strength\n"a, b",c,0.5\nd,,\n', "x") == Dag(
        ("a, b", "c", "d"), ((), (0,), ())
    )
    chain = Dag(("a", "b", "c"), ((), (0,), (1,)))
    assert edge_list.write(chain) == "parent,child\na,b\nb,c\n"
    with pytest.raises(FormatError, match="line 1: is no edge list"):
        edge_list.read("a,b\nc,d\n", "x")
    with pytest.raises(FormatError, match="line 3: child 'c' has no parent"):
        edge_list.read("parent,child\na,b\n,c\n", "x")


# ---- long nonsense


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("net", "net { " + "%" * 300_000),
        ("net", "net { a = " + "(" * 200_000),
        ("net", 'net { a = "' + "\\" * 200_001),
        ("net", "net {} node a { states = (" + '"a" ' * 50_000),
        ("dsl", "net n { " + "/*" * 150_000),
        ("dne", "bnet n { node a { numstates = 4096; functable = (" + "#1, " * 50_000 + "); }; };"),
        ("dsc", "belief network " + '"' * 199_999),
        ("uai", "BAYES 1048576 " + "33554432 " * 100),
        ("uai", "BAYES 1 33554432 1 1 0 33554432 0.5"),
        ("uai", "BAYES 3 2 2 9999999 3 1 0 1 1 1 2 2 .5 .5 2 .5 .5 2 .5 .5"),
        ("xmlbif", "<BIF>" + "<NETWORK>" * 99 + " " * 200_000),
        ("xdsl", "<smile><nodes>" + '<cpt id="a"/>' * 20_000),
        ("dagitty", "dag { {" + "a " * 100_000 + "} -> {" + "b " * 100_000 + "} }"),
        ("dagitty", "dag { a " + "-> a" * 50_000),
        ("tetrad", "Graph Nodes:\n" + ";" * 200_000),
        ("tetrad", "Graph Nodes:\na;b\nGraph Edges:\n" + "1" * 200_000),
        ("edges", "parent,child\n" + "," * 200_001 + "x"),
        ("graphml", "<graphml><graph>" + "<node/>" * 50_000),
    ],
    ids=lambda value: value[:16],
)
def test_long_nonsense_is_refused_quickly(name, text):
    began = time.perf_counter()
    with pytest.raises(BayescoutError):
        FORMATS[name].read(text, "x")
    assert time.perf_counter() - began < 10


def test_numbers_are_exact():
    table = np.array([1 / 3, 5e-324, 1 - 1 / 3])
    network = bs.DiscreteNetwork(Dag.empty(["a"]), (("x", "y", "z"),), (table,))
    for name in TEXTS:
        again = FORMATS[name].read(FORMATS[name].write(network), "x")
        assert again.tables[0].tobytes() == table.tobytes()
    assert "e-" not in uai.write(network)
    assert dsl.read(dsl.write(network), "x").nodes == ("a",)
