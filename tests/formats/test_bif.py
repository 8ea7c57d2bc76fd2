"""BIF: the dialects in use, what a file means, and one error for each way to be wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest
from format_strategies import same_network

from bayescout.errors import BayescoutError, BayescoutWarning, CycleError, FormatError, TooLargeError
from bayescout.formats import bif
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork

RAIN = """network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable grass {
  type discrete [ 3 ] { dry, damp, wet };
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( grass | rain ) {
  (no) 0.7, 0.2, 0.1;
  (yes) 0.0, 0.1, 0.9;
}
"""

DOG = """
// the dog problem, in the older dialect: no commas, no bar, everything quoted
network "Dog_Problem" { //5 variables
    property "credal-set constant-density-bounded 1.1" ;
}
variable  "bowel-problem" { //2 values
    type discrete[2] {  "true"  "false" };
    property "position = (335, 99)" ;
}
variable  "family-out" {
    type discrete[2] {  "true"  "false" };
}
variable  "dog-out" {
    type discrete[2] {  "true"  "false" };
}
probability (  "bowel-problem" ) { table 0.01 0.99 ; }
probability (  "family-out" ) { table 0.15 0.85 ; }
probability (  "dog-out"  "bowel-problem"  "family-out" ) { //3 variables and 8 values
    table 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ;
}
"""


def read(text):
    return bif.read(text, "x.bif")


def cell(network, child, state, **given):
    """P(child = state | given), looked up by name."""
    i = network.dag.index(child)
    codes = [network.states[p].index(given[network.dag.nodes[p]]) for p in network.dag.parents[i]]
    return float(network.tables[i][(*codes, network.states[i].index(state))])


# ---- dialects


def test_rows():
    network = read(RAIN)
    assert network.dag == Dag(("rain", "grass"), ((), (0,)))
    assert network.states == (("no", "yes"), ("dry", "damp", "wet"))
    assert network.name == ""
    assert cell(network, "rain", "yes") == 0.2
    assert cell(network, "grass", "damp", rain="no") == 0.2
    assert cell(network, "grass", "wet", rain="yes") == 0.9


def test_a_table_has_the_child_slowest_and_the_last_parent_fastest():
    network = read(DOG)
    assert network.name == "Dog_Problem"
    position = {label: i for i, label in enumerate(network.dag.nodes)}
    table = network.tables[position["dog-out"]]
    assert network.dag.parents[position["dog-out"]] == (position["bowel-problem"], position["family-out"])
    assert table[0, 0].tolist() == [0.99, 0.01]
    assert table[0, 1].tolist() == [0.97, 0.03]
    assert table[1, 0].tolist() == [0.9, 0.1]
    assert table[1, 1].tolist() == [0.3, 0.7]


def test_parents_of_the_header_need_not_be_in_the_order_of_the_variables():
    """Axes follow the graph's order of parents, whatever the header's."""
    text = """network n { }
        variable c { type discrete [ 2 ] { c0, c1 }; }
        variable a { type discrete [ 2 ] { a0, a1 }; }
        variable b { type discrete [ 3 ] { b0, b1, b2 }; }
        probability ( a ) { table 0.5, 0.5; }
        probability ( b ) { table 0.5, 0.25, 0.25; }
        probability (c|b,a) { ENTRIES }"""
    rows = "".join(
        f"(b{j}, a{i}) 0.{j}{i}, {round(1 - (10 * j + i) / 100, 2)};" for j in range(3) for i in range(2)
    )
    firsts = [f"0.{j}{i}" for j in range(3) for i in range(2)]
    seconds = [str(round(1 - (10 * j + i) / 100, 2)) for j in range(3) for i in range(2)]
    table = f"table {', '.join(firsts + seconds)};"
    for entries in (rows, table):
        network = read(text.replace("ENTRIES", entries))
        assert network.dag.parents[0] == (1, 2)
        assert network.tables[0].shape == (2, 3, 2)
        for i in range(2):
            for j in range(3):
                assert cell(network, "c", "c0", a=f"a{i}", b=f"b{j}") == float(f"0.{j}{i}")


def test_default_fills_what_has_no_row():
    network = read(RAIN.replace("(yes) 0.0, 0.1, 0.9;", "default 0.2, 0.3, 0.5;"))
    assert network.tables[1].tolist() == [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]]
    alone = read(RAIN.replace("(no) 0.7, 0.2, 0.1;\n  (yes) 0.0, 0.1, 0.9;", "default 0.2, 0.3, 0.5;"))
    assert alone.tables[1].tolist() == [[0.2, 0.3, 0.5]] * 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("( grass | rain )", "(grass|rain)"),
        ("table 0.8, 0.2;", "table 0.8 0.2;"),
        ("table 0.8, 0.2;", "table 8e-1,2.0E-1 ;"),
        ("table 0.8, 0.2;", "table .8, // why\n .2 /* ; */ ;"),
        ("table 0.8, 0.2;", 'property "a; b"; table 0.8, 0.2; property since = 1999, {x;'),
        ("(no) 0.7, 0.2, 0.1;", '("no") 0.7, 0.2, 0.1;'),
        ("(no) 0.7, 0.2, 0.1;", "( no /*, maybe */ ) 0.7 0.2, 0.1 ;"),
        ("{ no, yes }", '{ "no" yes }'),
        ("network unknown {\n}", "network {\n property x;}"),
        ("network unknown {\n}", "// made by hand\n/* ** */network unknown { }"),
        ("\n", "\r\n"),
        ("variable rain {\n", "variable rain {\n property position = (1, 2) ;\n"),
    ],
)
def test_ways_to_write_the_same(old, new):
    assert old in RAIN
    network = read(RAIN.replace(old, new))
    assert network.states == (("no", "yes"), ("dry", "damp", "wet"))
    assert network.tables[0].tolist() == [0.8, 0.2]
    assert network.tables[1].tolist() == [[0.7, 0.2, 0.1], [0.0, 0.1, 0.9]]


@pytest.mark.parametrize(
    "name",
    ["N0_7muVerMo", "<5", ">=3", "0-5", "50%", "12+", "Asy/Patch", "ü", "C:\\d", "0.5", "table", "property"],
)
def test_odd_names_need_no_quotes(name):
    network = read(RAIN.replace("rain", name).replace("yes", f"not_{name}"))
    assert network.dag.nodes[0] == name
    assert network.states[0] == ("no", f"not_{name}")


def test_quoted_names_and_their_escapes():
    quoted = r'"a \"b\" \\ \n \d {,;|} // x"'
    network = read(RAIN.replace("rain", quoted))
    assert network.dag.nodes[0] == 'a "b" \\ \n \\d {,;|} // x'


def test_blocks_may_come_in_any_order():
    head, variables, first, second = re.split(r"(?=variable rain|probability)", RAIN)
    network = read(head + second + first + variables)
    assert network.tables[1].tolist() == [[0.7, 0.2, 0.1], [0.0, 0.1, 0.9]]


# ---- sums


def test_printed_digits_are_normalised():
    text = RAIN.replace("0.7, 0.2, 0.1", "0.333, 0.333, 0.333").replace("0.8, 0.2", "0.8001, 0.2")
    with pytest.warns(
        BayescoutWarning, match=r": 2 rows .* off by 0\.001 at most, and were divided"
    ) as caught:
        network = read(text)
    assert len(caught) == 1
    assert network.tables[1][0].tolist() == [0.333 / (0.333 + 0.333 + 0.333)] * 3
    assert network.tables[0].sum() == pytest.approx(1, abs=1e-15)


def test_one_row_that_is_off_is_said_and_one_within_the_tolerance_is_not():
    with pytest.warns(BayescoutWarning, match=r": 1 row .* off by 2e-06 at most, and was divided"):
        read(RAIN.replace("0.8, 0.2", "0.800002, 0.2"))
    assert read(RAIN.replace("0.8, 0.2", "0.8000005, 0.2")).tables[0].sum() == pytest.approx(1, abs=1e-15)


def test_rows_that_are_only_rounded_stay_as_they_are():
    row = [0.1, 0.2, 0.7000000000000004]
    assert sum(row) != 1
    network = read(RAIN.replace("0.7, 0.2, 0.1", ", ".join(map(repr, row))))
    assert network.tables[1][0].tolist() == row


def test_the_tolerance_is_a_line():
    near, far = bif.PRINTED_TOLERANCE * 0.99, bif.PRINTED_TOLERANCE * 1.01
    for sign in (1, -1):
        with pytest.warns(BayescoutWarning, match="1 row of the tables"):
            read(RAIN.replace("0.8, 0.2", f"{0.8 + sign * near}, 0.2"))
        with pytest.raises(FormatError, match="line 10: P\\(rain\\) sums to"):
            read(RAIN.replace("0.8, 0.2", f"{0.8 + sign * far}, 0.2"))


# ---- errors

BAD = [
    ("empty", RAIN, "", 1, "the file ends where 'network' should follow"),
    ("not bif", RAIN, "hello", 1, "expected 'network', found 'hello'"),
    ("no variables", RAIN, "network x { }", None, "no variable is declared"),
    (
        "stray word",
        "variable grass",
        "variabel grass",
        6,
        "expected 'variable' or 'probability', found 'variabel'",
    ),
    ("stray close", "variable grass", "} variable grass", 6, "found '}'"),
    ("open comment", "probability ( rain )", "/* probability ( rain )", 9, "a comment is opened here"),
    ("open quote", "variable grass", 'variable "grass', 6, "a quoted name is opened here"),
    ("only a property", "table 0.8", "property 0.8", 9, "P\\(rain\\) is not given, and there is no default"),
    ("open property", "(yes) 0.0, 0.1, 0.9;\n}", "property x }", 14, "a property is not closed by ';'"),
    ("no type", "  type discrete [ 2 ] { no, yes };\n", "", 3, "variable 'rain' has no 'type discrete' line"),
    ("two types", "{ no, yes };", "{ no, yes }; type discrete [ 1 ] { a };", 4, "one 'type' line"),
    ("continuous", "type discrete [ 2 ]", "type continuous", 4, "the only type"),
    ("announced states", "[ 2 ]", "[ 3 ]", 4, "variable 'rain' announces 3 states but lists 2"),
    ("announced words", "[ 2 ]", "[ two ]", 4, "announces two states"),
    ("no states", "[ 2 ] { no, yes }", "[ 0 ] { }", 3, "variable 'rain' has no states"),
    ("state twice", "{ no, yes }", "{ no, no }", 3, "lists the state 'no' twice"),
    ("variable twice", "variable grass", "variable rain", 6, "variable 'rain' is declared twice"),
    ("unknown child", "( rain )", "( rein )", 9, "unknown variable 'rein'; did you mean 'rain'"),
    ("unknown parent", "| rain", "| snow", 12, "unknown variable 'snow'"),
    ("parent twice", "| rain", "| rain, rain", 12, "lists a parent twice"),
    ("joint", "( grass | rain )", "( grass, rain | rain )", 12, "expected a parent or '\\)', found '\\|'"),
    ("second block", "( grass | rain )", "( rain )", 12, "a second probability block for 'rain'"),
    ("no block", "probability ( rain ) {\n  table 0.8, 0.2;\n}\n", "", 3, "'rain' has no probability block"),
    ("unknown state", "(yes)", "(yess)", 14, "unknown state 'yess' in 'rain'; did you mean 'yes'"),
    ("too many states", "(yes)", "(yes, no)", 14, "2 states for 1 parents"),
    ("given twice", "(yes)", "(no)", 14, "P\\(grass \\| rain=no\\) is given twice"),
    (
        "not given",
        "  (yes) 0.0, 0.1, 0.9;\n",
        "",
        12,
        "P\\(grass \\| rain=yes\\) is not given, and there is no default",
    ),
    ("too few numbers", "0.0, 0.1, 0.9", "0.1, 0.9", 14, "'grass' has 2 numbers here; its states ask for 3"),
    ("too many numbers", "0.8, 0.2", "0.8, 0.1, 0.1", 10, "'rain' has 3 numbers here; its states ask for 2"),
    ("short table", "(no) 0.7, 0.2, 0.1;\n  (yes)", "table", 13, "3 numbers here; its states ask for 6"),
    ("short default", "(yes) 0.0, 0.1, 0.9", "default 1.0", 14, "1 numbers here; its states ask for 3"),
    ("table and rows", "(yes) 0.0, 0.1, 0.9", "table 1, 1, 0, 0, 0, 0", 14, "a table and other entries"),
    (
        "table and default",
        "table 0.8, 0.2;",
        "table 0.8, 0.2; default 1, 0;",
        10,
        "a table and other entries",
    ),
    ("second table", "0.8, 0.2;", "0.8, 0.2; table 1, 0;", 10, "a second 'table' entry for 'rain'"),
    ("second default", "table 0.8, 0.2;", "default 1 0; default 1 0;", 10, "a second 'default' entry"),
    ("no numbers", "table 0.8, 0.2;", "table ;", 10, "has 0 numbers"),
    (
        "sum",
        "0.0, 0.1, 0.9",
        "0.5, 0.1, 0.9",
        14,
        "P\\(grass \\| rain=yes\\) sums to 1.5, more than 0.002 away from 1",
    ),
    ("zero row", "0.0, 0.1, 0.9", "0, 0, 0", 14, "sums to 0"),
    (
        "negative",
        "0.0, 0.1, 0.9",
        "-0.1, 0.2, 0.9",
        14,
        "P\\(grass \\| rain=yes\\) has -0.1, which is not a probability",
    ),
    ("nan", "0.8, 0.2", "nan, 0.2", 10, "expected a probability or ';', found 'nan'"),
    ("infinite", "0.8, 0.2", "inf, 0.2", 10, "found 'inf'"),
    ("overflow", "0.8, 0.2", "1e999, 0.2", 10, "has inf, which is not a probability"),
    ("word", "0.8, 0.2", "0.8, 0.2x", 10, "found '0.2x'"),
    ("underscore", "0.8, 0.2", "0.8, 0.2_0", 10, "found '0.2_0'"),
    ("no semicolon", "0.8, 0.2;", "0.8, 0.2", 11, "expected a probability or ';', found '}'"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_each_error_says_where_and_what(old, new, line, words):
    assert old in RAIN
    with pytest.raises(FormatError, match=words) as caught:
        read(RAIN.replace(old, new, 1))
    assert str(caught.value).startswith("x.bif, line " if line else "x.bif: ")
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("end", range(len(RAIN) - 3))
def test_every_truncation_is_refused(end):
    with pytest.raises(FormatError):
        read(RAIN[:end])


def test_a_cycle_is_named_with_the_file():
    text = RAIN.replace("( rain ) {\n  table 0.8, 0.2;", "( rain | grass ) {\n  default 0.8, 0.2;")
    with pytest.raises(CycleError, match=r"x.bif.*rain -> grass -> rain|x.bif.*grass -> rain -> grass"):
        read(text)
    with pytest.raises(CycleError, match=r"x.bif.*rain -> rain"):
        read(RAIN.replace("( rain ) {\n  table 0.8, 0.2;", "( rain | rain ) {\n  default 0.8, 0.2;"))


def test_a_default_for_too_many_configurations_is_refused():
    parents = [f"p{i}" for i in range(40)]
    variables = "".join(f"variable {p} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for p in [*parents, "c"])
    roots = "".join(f"probability ( {p} ) {{ table 0.5, 0.5; }}\n" for p in parents)
    child = f"probability ( c | {', '.join(parents)} ) {{ default 0.5, 0.5; }}"
    with pytest.raises(TooLargeError, match=r"'c' has 2,199,023,255,552 numbers"):
        read("network n { }\n" + variables + roots + child)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bayescout_states = [1, 2, 3];", "must list 2 states"),
        ("bayescout_states = [1, 1];", "lists a state twice"),
        ("bayescout_states = 5;", "must list 2 states"),
        ("bayescout_states = [1, [2]];", "a list where a label belongs"),
        ("bayescout_states = [1,;", "is not JSON"),
        ("bayescout_label = {};", "an object where a label belongs"),
        ('bayescout_label = "grass";', "two variables have the same"),
        ('bayescout_label = {"date": "tomorrow"};', "bayescout_label"),
        ("bayescout_label = 1e999;", "too large"),
    ],
)
def test_damaged_properties_are_errors(line, words):
    with pytest.raises(FormatError, match=words):
        read(RAIN.replace("variable rain {", f"variable rain {{ property {line}"))


@pytest.mark.parametrize("rows", ["[2]", "[-1]", "[true]", "[0.5]", "0", '["0"]'])
def test_damaged_marks_of_undefined_rows_are_errors(rows):
    with pytest.raises(FormatError, match="line 12: bayescout_undefined must list row numbers from 0 to 1"):
        read(RAIN.replace("| rain ) {", f"| rain ) {{ property bayescout_undefined = {rows};"))


# ---- writing


WRITTEN_BEFORE = (
    "network small {\n}\n"
    'variable "a b" {\n  type discrete [ 2 ] { <5, "x;" };\n}\n'
    "variable c {\n  type discrete [ 2 ] { 1, 2 };\n  property bayescout_states = [1, 2];\n}\n"
    'probability ( "a b" ) {\n  table 0.1, 0.9;\n}\n'
    'probability ( c | "a b" ) {\n  (<5) 0.3333333333333333, 0.6666666666666666;\n'
    '  ("x;") 0.5, 0.5;\n  property bayescout_undefined = [1];\n}\n'
)
"""The same network as earlier versions wrote it, with names between quotes."""


def test_states_of_several_words():
    text = (
        "network n { }\nvariable a { type discrete [ 2 ] { very low, high }; }\n"
        "variable b { type discrete [ 2 ] { x y }; }\nvariable c { type discrete [ 2 ] { u, v }; }\n"
        "probability ( a ) { table 0.25, 0.75; }\nprobability ( b ) { table 0.5 0.5; }\n"
        "probability ( c a b ) { (very low, x) 0.1 0.9; (high x) 0.2 0.8; ( very low , y ) 0.3 0.7; "
        "(high, y) 0.4 0.6; }\n"
    )
    network = bif.read(text, "x.bif")
    assert network.states == (("very low", "high"), ("x", "y"), ("u", "v"))
    assert network.dag.parents == ((), (), (0, 1))
    assert network.tables[2][0, 1].tolist() == [0.3, 0.7]
    assert network.tables[2][1, 0].tolist() == [0.2, 0.8]


def test_the_text_written():
    """What other tools see: bare names where they can be, rows, shortest exact numbers."""
    dag = Dag(("a b", "c"), ((), (0,)))
    undefined = (np.array(False), np.array([False, True]))
    tables = (np.array([0.1, 0.9]), np.array([[1 / 3, 2 / 3], [0.5, 0.5]]))
    network = DiscreteNetwork(dag, (("<5", "x;"), (1, 2)), tables, undefined, name="small")
    assert bif.write(network) == (
        "network small {\n}\n"
        "variable a_b {\n  type discrete [ 2 ] { x__5, x_ };\n"
        '  property bayescout_label = "a b";\n  property bayescout_states = ["\\u003c5", "x\\u003b"];\n}\n'
        "variable c {\n  type discrete [ 2 ] { 1, 2 };\n  property bayescout_states = [1, 2];\n"
        "  property bayescout_undefined = [1];\n}\n"
        "probability ( a_b ) {\n  table 0.1, 0.9;\n}\n"
        "probability ( c | a_b ) {\n  (x__5) 0.3333333333333333, 0.6666666666666666;\n  (x_) 0.5, 0.5;\n}\n"
    )
    same_network(bif.read(WRITTEN_BEFORE, "x.bif"), network)


def test_what_bif_cannot_hold_is_refused():
    zeros = np.zeros(1)
    with pytest.raises(BayescoutError, match=r"discrete networks only; write .* as \.json"):
        bif.write(GaussianNetwork(Dag.empty(["a"]), zeros, (np.zeros(0),), zeros + 1))
    with pytest.raises(BayescoutError, match="without nodes"):
        bif.write(DiscreteNetwork(Dag.empty([]), (), ()))


def test_names_stay_on_one_line():
    network = DiscreteNetwork(Dag.empty(["a\r\nb"]), (("x\ny", "x\ry"),), (np.array([0.5, 0.5]),))
    text = bif.write(network)
    assert "\r" not in text
    assert len(text.splitlines()) == 10
    assert read(text).dag.nodes == ("a\r\nb",)


def test_properties_hold_no_mark_that_ends_them_or_starts_a_comment():
    network = DiscreteNetwork(Dag.empty([("a;b", "c//d")]), (("x",),), (np.ones(1),))
    (line,) = [line for line in bif.write(network).splitlines() if "property" in line]
    assert line.count(";") == 1
    assert "//" not in line
