"""Formats that hold a graph only: the structure file, DOT and the modelstring file."""

from __future__ import annotations

import pytest

from bayescout.errors import BayescoutError, CycleError, FormatError
from bayescout.formats import dot, modelstring, structure_file
from bayescout.graph.dag import Dag

LAU = Dag(("G", "B", "M", "L"), ((1,), (), (1, 3), ()))

# ---- the structure file


def test_the_structure_file_of_the_document():
    text = "G [B]\nB []\nM [B, L]\nL []\n"
    assert structure_file.read(text, "x") == LAU
    assert structure_file.write(LAU) == text


def test_blanks_comments_and_line_ends_are_tolerated():
    text = "# from the paper\r\n\r\n  G[B]\r\nB  [ ]\r\n\t# roots\r\nM [ B,L ]  \r\nL []"
    assert structure_file.read(text, "x") == LAU


def test_names_with_blanks_inside():
    dag = structure_file.read("a b [c  d]\nc  d []\n", "x")
    assert dag == Dag(("a b", "c  d"), ((1,), ()))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "no node is listed"),
        ("\n# nothing\n", None, "no node is listed"),
        ("A []\nB [A]\nA []\n", 3, "node 'A' has a second line"),
        ("A []\nbeta [A]\nC [bta]\n", 3, "unknown parent 'bta' in the line of 'C'; did you mean 'beta'"),
        ("A []\nB [A, A]\n", 2, "node 'B' lists a parent twice"),
        ("A []\nB [A,]\n", 2, "a parent of 'B' has no name"),
        ("A []\nB [,A]\n", 2, "a parent of 'B' has no name"),
        ("A []\n[A]\n", 2, "expected a node and its parents"),
        ("A []\nB\n", 2, "expected a node and its parents, as in 'M \\[B, L\\]', found 'B'"),
        ("A []\nB [A\n", 2, "expected a node"),
        ("A []\nB A]\n", 2, "expected a node"),
        ("A []\nB [A] C\n", 2, "expected a node"),
        ("A []\nB [[A]]\n", 2, "expected a node"),
        ("A []\nB] [A]\n", 2, "expected a node"),
        ("A,B,C\n1,2,3\n", 1, "expected a node"),
    ],
)
def test_structure_file_errors(text, line, words):
    with pytest.raises(FormatError, match=words) as caught:
        structure_file.read(text, "x.str")
    assert caught.value.line == line
    assert str(caught.value).startswith("x.str")


@pytest.mark.parametrize("text", ["A [C]\nB [A]\nC [B]\n", "A [A]\n"])
def test_structure_file_cycle(text):
    with pytest.raises(CycleError, match=r"x.str.*A -> "):
        structure_file.read(text, "x.str")


@pytest.mark.parametrize(
    "name", ["", " a", "a ", "a,b", "a[b", "a]", "a\nb", "a\rb", "#a", "\ufeffa", "\x85a", 3]
)
def test_names_a_structure_file_cannot_hold_are_refused(name):
    with pytest.raises(FormatError, match=r"write \.json"):
        structure_file.write(Dag.empty(["fine", name]))


def test_an_empty_graph_is_refused_where_nothing_would_be_written():
    for module in (structure_file, modelstring):
        with pytest.raises(FormatError, match=r"without nodes .* write it as \.json"):
            module.write(Dag.empty([]))


# ---- DOT


@pytest.mark.parametrize(
    "text",
    [
        "digraph { G; B; M; L; B -> G; B -> M; L -> M; }",
        "digraph name { G B M L\n B -> G B -> M L -> M }",
        'strict DIGRAPH "a b" {\n# one\nG [shape=box, label="x -> y"][a=1];\n B;M;L B->G [w=.5]\n}',
        "digraph { G; B; M; L; node [dir=none] edge [dir=forward] B->G; edge [dir=none] B->M [dir=forward] }",
        "digraph { rankdir=LR; node [s=b]; edge [a=b] graph [c=d] /* x */ G; B; M; L // y\nB->G;B->M;L->M }",
    ],
)
def test_dot_dialects(text):
    read = dot.read(text, "x")
    assert read.nodes == LAU.nodes
    assert set(read.arcs()) <= set(LAU.arcs())
    assert ("B", "G") in read.arcs()


def test_dot_chains_and_repeats():
    dag = dot.read('digraph { a -> b -> "c d" -> -1.5; a -> b; e }', "x")
    assert dag.nodes == ("a", "b", "c d", "-1.5", "e")
    assert list(dag.arcs()) == [("a", "b"), ("b", "c d"), ("c d", "-1.5")]


def test_dot_attributes_of_an_edge_name_no_node():
    dag = dot.read('digraph { a -> b [bayescout_label="3"]; }', "x")
    assert dag.nodes == ("a", "b")


def test_the_dot_written():
    dag = Dag(('a "b"', 2), ((), (0,)))
    assert dot.write(dag) == (
        'digraph {\n  "a \\"b\\"";\n  "2" [bayescout_label="2"];\n  "a \\"b\\"" -> "2";\n}\n'
    )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "expected 'digraph', found the end of the file"),
        ("graph { a -- b }", 1, "undirected graph"),
        ("digraph {\na -- b }", 2, "'--' is not read"),
        ("digraph {\na:n -> b }", 2, "':' is not read"),
        ("digraph {\nsubgraph c { a } }", 2, "subgraphs are not read"),
        ("digraph {\n{a b} -> c }", 2, "subgraphs are not read"),
        ('digraph {\n  "a" ;\n  edge [dir=none] "a" -> "b" ;\n}', 3, "an edge of a with dir=none"),
        ("digraph {\nedge [dir=none] c\na -> b [dir=back] }", 3, "dir=back"),
        ("digraph {\na -> {b c} }", 2, "subgraphs are not read"),
        ("digraph {\n<b>x</b> }", 2, "HTML"),
        ("digraph {\na -> ; }", 2, "expected a node, found ';'"),
        ("digraph {\na -> b", 2, "it may be truncated"),
        ("digraph {\na [x] }", 2, "expected '=' after"),
        ("digraph {\na [x=", 2, "it may be truncated"),
        ("digraph { a }\ndigraph { b }", 2, "one graph a file"),
        ('digraph {\n"a', 1, "not closed"),
        ("digraph {\n1a }", 1, "does not know"),
        ('digraph {\na [bayescout_label="x"] }', 2, "bayescout_label is not a label"),
        ('digraph { a [bayescout_label="1"]; b [bayescout_label="1"] }', None, "two nodes have the same"),
    ],
)
def test_dot_errors(text, line, words):
    with pytest.raises(FormatError, match=words) as caught:
        dot.read(text, "x.dot")
    assert caught.value.line == line


def test_dot_cycle():
    with pytest.raises(CycleError, match=r"x.dot.*a -> b -> a|x.dot.*b -> a -> b"):
        dot.read("digraph { a -> b -> a }", "x.dot")


# ---- modelstring


def test_modelstring_keeps_the_order_of_the_nodes():
    """The graph's own modelstring is topological; the file is in node order."""
    text = modelstring.write(LAU)
    assert text == "[G|B][B][M|B:L][L]\n"
    assert modelstring.read(text, "x") == LAU
    assert Dag.from_modelstring(LAU.to_modelstring()) != LAU


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("[A][B|C]", "'C'"),
        ("[A", "x.modelstring: "),
        ("A", "x.modelstring: "),
    ],
)
def test_modelstring_errors(text, words):
    with pytest.raises(FormatError, match=words) as caught:
        modelstring.read(text, "x.modelstring")
    assert str(caught.value).startswith("x.modelstring")


def test_modelstring_cycle():
    with pytest.raises(CycleError, match=r"x.modelstring"):
        modelstring.read("[A|B][B|A]", "x.modelstring")


@pytest.mark.parametrize("name", ["", "a|b", "a:b", "a[", "]", 3])
def test_names_a_modelstring_cannot_hold_are_refused(name):
    with pytest.raises(BayescoutError):
        modelstring.write(Dag.empty(["fine", name]))


@pytest.mark.parametrize("module", [structure_file, dot, modelstring])
def test_only_graphs_are_written(module):
    with pytest.raises(FormatError, match="graph, not a list"):
        module.write(["A"])
