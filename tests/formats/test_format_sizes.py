"""Small files must not cost much: sizes are refused early, memory follows the text, repeats cost no time.

Repeats are looked for in lists so long that comparing each entry with each other would take minutes.
"""

from __future__ import annotations

import gzip
import json
import tracemalloc

import numpy as np
import pytest

from bayescout.errors import FormatError, NetworkError, TooLargeError
from bayescout.formats import (
    bif,
    dot,
    jkl,
    modelstring,
    native_json,
    read_network,
    read_structure,
    registry,
    structure_file,
    text,
    write_structure,
)
from bayescout.formats.jkl import read_jkl
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork
from bayescout.network.random import random_network
from bayescout.network.tabular import MAX_PARENTS

SIZE = 300_000
MANY = 50_000


def filled(piece):
    return piece * (SIZE // len(piece))


# ---- how much is read


@pytest.fixture
def small_limit(monkeypatch):
    monkeypatch.setattr(text, "MAX_TEXT", 3 * 2**20)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [e for entry in registry.FORMATS.values() for e in entry.extensions])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_file_of_blanks_is_refused_as_soon_as_it_is_too_long(tmp_path, small_limit, ending, packed):
    path = tmp_path / f"blank{ending}{packed}"
    content = b" " * 2**26
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    del content
    tracemalloc.start()
    with pytest.raises(
        FormatError, match=r"holds more than 3,145,728 bytes.*check that it is the file you mean"
    ):
        read_structure(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_scored_sets_are_refused_as_soon_as_they_are_too_long(tmp_path, small_limit):
    path = tmp_path / "blank.jkl.gz"
    path.write_bytes(gzip.compress(b" " * 2**23, 1))
    with pytest.raises(FormatError, match="more than 3,145,728 bytes when unpacked"):
        read_jkl(path)


def test_what_could_not_be_read_back_is_not_written(tmp_path, monkeypatch):
    dag = Dag.empty([f"node {i}" for i in range(100)])
    monkeypatch.setattr(text, "MAX_TEXT", 1000)
    for name in ("dag.json", "dag.dot", "dag.structure.gz"):
        with pytest.raises(FormatError, match=rf"{name}: cannot be written: .* more than 1,000, the most"):
            write_structure(dag, tmp_path / name)
    with pytest.raises(FormatError, match=r"more than 1,000"):
        jkl.ScoredSets(tuple("abc"), (((-1.0, ()),) * 200,) * 3).save(tmp_path / "sets.jkl")
    assert not list(tmp_path.iterdir())


def test_a_text_at_the_limit_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.structure.gz"
    path.write_bytes(gzip.compress(b"a []"))
    monkeypatch.setattr(text, "MAX_TEXT", 4)
    assert read_structure(path) == Dag.empty(["a"])
    monkeypatch.setattr(text, "MAX_TEXT", 3)
    with pytest.raises(FormatError, match="more than 3 bytes"):
        read_structure(path)


NODES = {
    "a.bif": "network x {}" + "".join(f"variable {n} {{type discrete [1] {{s}};}}" for n in "abcd"),
    "a.json": json.dumps(
        {
            "format": "bayescout",
            "version": 1,
            "kind": "structure",
            "nodes": [{"name": n, "parents": []} for n in "abcd"],
        }
    ),
    "a.structure": "\n".join(f"{n} []" for n in "abcd"),
    "a.dot": "digraph { a -> b -> c -> d }",
    "a.modelstring": "[a][b][c][d]",
}


@pytest.mark.parametrize("name", NODES)
def test_the_number_of_nodes_is_limited(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_text(NODES[name])
    monkeypatch.setattr(text, "MAX_NODES", 3)
    with pytest.raises(FormatError, match=r"more than 3 nodes, the most that are read"):
        read_structure(path)


def test_the_number_of_variables_with_scored_sets_is_limited(monkeypatch):
    monkeypatch.setattr(text, "MAX_NODES", 3)
    with pytest.raises(FormatError, match=r"more than 3 nodes, the most that are read"):
        jkl.read("4\n" + "".join(f"{n} 1\n-1 0\n" for n in "abcd"), "a.jkl")


def test_the_parts_of_a_json_document_are_limited(monkeypatch):
    monkeypatch.setattr("bayescout.formats.json_document.MAX_PARTS", 100)
    with pytest.raises(FormatError, match=r"has 102 lists, objects and texts, more than the 100"):
        native_json.read("[" + ",".join(["[]"] * 101) + "]", "a.json")


def test_a_few_lines_with_defaults_cannot_ask_for_any_memory(monkeypatch):
    monkeypatch.setattr(bif, "MAX_CELLS", 40)
    states = "{ type discrete [4] { a, b, c, d }; }"
    head = "network x {}" + "".join(f"variable v{i} {states}" for i in range(3))
    tables = "probability (v0) { default 1 0 0 0; }" + "".join(
        f"probability (v{i} | v{i - 1}) {{ default 1 0 0 0; }}" for i in (1, 2)
    )
    assert read_sizes(head + tables) == (4, 4, 4)
    monkeypatch.setattr(bif, "MAX_CELLS", 35)
    with pytest.raises(
        TooLargeError, match=r"table of 'v2' has 16 numbers, 36 with those before it, more than 35"
    ):
        bif.read(head + tables, "x.bif")


def read_sizes(content):
    return bif.read(content, "x.bif").sizes


# ---- what reading holds


HEAD = "network x {}\n"
ONE = HEAD + "variable a { type discrete [1] { s }; }\n"
JSON_NODE = '{"format":"bayescout","version":1,"kind":"discrete","nodes":[{"name":"a","parents":[],'

COSTLY = {
    "bif comments": (bif.read, filled("//\n")),
    "bif closed comments": (bif.read, filled("/**/")),
    "bif word": (bif.read, HEAD + "variable " + "a" * SIZE),
    "bif slashes": (bif.read, HEAD + "variable " + filled("/a")),
    "bif escapes": (bif.read, HEAD + 'variable "' + filled("\\n") + '"'),
    "bif property": (bif.read, 'network x { property "' + filled("\\n") + '"; }'),
    "bif states": (
        bif.read,
        HEAD + f"variable a {{ type discrete [{SIZE // 3}] {{ " + filled("bc ") + "}; }",
    ),
    "bif parents": (bif.read, ONE + "probability (a | " + filled("bc ") + ") {}"),
    "bif blocks": (bif.read, ONE + filled("probability(a){}")),
    "bif rows": (bif.read, ONE + "probability (a) {" + filled("(a)1;") + "}"),
    "bif quoted rows": (bif.read, ONE + "probability (a) {" + filled('("a")1;') + "}"),
    "bif states of a row": (bif.read, ONE + "probability (a) {(" + filled("bc ") + ")1;}"),
    "bif numbers of a row": (bif.read, ONE + "probability (a) {() " + filled("1 ") + ";}"),
    "bif numbers": (bif.read, ONE + "probability (a) { table " + filled("1 ") + "; }"),
    "bif commented numbers": (bif.read, ONE + "probability (a) { table /**/" + filled("1 ") + "; }"),
    "bif numbers and a word": (bif.read, ONE + "probability (a) {() " + filled("1 ") + "x;}"),
    "json rows": (native_json.read, JSON_NODE + '"states":["s"],"table":[' + filled("[1],") + "[1]]}]}"),
    "json row": (native_json.read, JSON_NODE + '"states":["s"],"table":[[' + filled("1,") + "1]]}]}"),
    "structure lines": (structure_file.read, "\n" * SIZE),
    "modelstring blanks": (modelstring.read, "[a]" + " " * SIZE + "x"),
    "dot comments": (dot.read, filled("//\n")),
    "dot hashes": (dot.read, filled("#\n")),
    "dot escapes": (dot.read, 'digraph "' + filled("\\n") + '"'),
    "dot arcs": (dot.read, "digraph {a" + filled("->b") + "}"),
    "jkl blanks": (jkl.read, " " * SIZE),
    "jkl parents": (jkl.read, f"1\na 1 0 {SIZE // 3} " + filled("bc ")),
}


@pytest.mark.parametrize(
    "name",
    [name if i % 3 == 0 else pytest.param(name, marks=pytest.mark.slow) for i, name in enumerate(COSTLY)],
)
def test_reading_holds_a_few_times_the_text(name):
    """The costliest was 400 times, in the memory of a regular expression that could not go back anyway."""
    read, content = COSTLY[name]
    tracemalloc.start()
    with pytest.raises((FormatError, NetworkError, ValueError)) as caught:
        read(content, "x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(caught.value, FormatError) or "cycle" in str(caught.value)
    assert peak < 30 * len(content)


@pytest.mark.parametrize("end", [";", " ;", ",;", "x;", "1.e;", " 2.5e-3;", "-1;", "/**/;"])
@pytest.mark.parametrize("separator", [" ", ",", ", ", "\n", " , ,", "\u2003"])
def test_long_rows_are_read_as_short_ones(monkeypatch, end, separator):
    """A row beyond a certain length is taken apart piece by piece, to the same numbers."""
    numbers = separator.join(["0.25", "1e-3", "+.5", "7."] * 3)
    content = (
        ONE.replace("[1] { s }", "[12] { " + " ".join("abcdefghijkl") + " }")
        + "probability (a) { table "
        + numbers
        + end
        + " }"
    )
    answers = []
    for length in (1, 2**16):
        monkeypatch.setattr("bayescout.formats.bif_grammar._LONG", length)
        with pytest.raises(FormatError) as caught:
            bif.read(content, "x.bif")
        answers.append(str(caught.value))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("network", range(6))
def test_networks_are_read_the_same_piece_by_piece(monkeypatch, network):
    drawn = random_network(nodes=6, density=0.7, states=(1, 4), seed=network)
    written = bif.write(drawn)
    monkeypatch.setattr("bayescout.formats.bif_grammar._LONG", 1)
    assert bif.read(written, "x.bif").equals(drawn)


# ---- repeats


def test_a_repeated_key_is_found_at_once():
    content = "{" + ",".join(f'"{i}":1' for i in range(MANY)) + f',"{MANY - 1}":1}}'
    with pytest.raises(FormatError, match=f"the key '{MANY - 1}' occurs twice in one object"):
        native_json.read(content, "x.json")


def test_a_repeated_state_is_found_at_once():
    states = [f"s{i}" for i in range(MANY)]
    content = HEAD + f"variable a {{ type discrete [{MANY + 1}] {{ {', '.join(states)}, s{MANY - 1} }}; }}"
    with pytest.raises(FormatError, match=f"'a' lists the state 's{MANY - 1}' twice"):
        bif.read(content, "x.bif")


def test_a_repeated_parent_in_a_modelstring_is_found_at_once():
    names = [f"v{i}" for i in range(MANY)]
    content = "".join(f"[{name}]" for name in names) + f"[child|{':'.join(names)}:v{MANY - 1}]"
    with pytest.raises(FormatError, match=f"lists parent 'v{MANY - 1}' more than once"):
        modelstring.read(content, "x.modelstring")


def test_a_repeated_parent_of_a_scored_set_is_found_at_once():
    names = [f"v{i}" for i in range(MANY)]
    content = f"{MANY + 1}\n" + "".join(f"{name} 0\n" for name in names)
    content += f"child 1\n-1 {MANY + 1} {' '.join(names)} v{MANY - 1}\n"
    with pytest.raises(FormatError, match=f"line {MANY + 3}: 'v{MANY - 1}' cannot be a parent here"):
        jkl.read(content, "x.jkl")


def test_many_nodes_of_a_linear_gaussian_document_are_known_at_once():
    one = {"parents": [], "coefficients": {"(Intercept)": [0.0]}, "variance": [1.0]}
    names = [f"v{i}" for i in range(MANY)]
    document = {"nodes": names, "cpds": dict.fromkeys(reversed(names), one) | {"other": one}}
    with pytest.raises(FormatError, match=r"cpds.other is not of a node"):
        native_json.read(json.dumps(document), "x.json")


def test_an_unknown_name_of_any_length_is_refused_at_once():
    """Comparing two names takes the square of their length: long ones get no hint."""
    name = "ab" * (SIZE // 2)
    content = ONE + f"probability ({name}x) {{ table 1; }}"
    with pytest.raises(FormatError, match="unknown variable 'abab"):
        bif.read(content.replace("variable a", f"variable {name}"), "x.bif")


# ---- parents of one state


def one_state_parents(count):
    names = [f"v{i}" for i in range(count)]
    nodes = [{"name": name, "parents": [], "states": ["s"], "table": [[1]]} for name in names]
    nodes.append({"name": "c", "parents": names, "states": ["a", "b"], "table": [[0.5, 0.5]]})
    as_json = json.dumps({"format": "bayescout", "version": 1, "kind": "discrete", "nodes": nodes})
    as_bif = HEAD + "variable c { type discrete [2] { a, b }; }"
    as_bif += "".join(f"variable {name} {{ type discrete [1] {{ s }}; }}" for name in names)
    as_bif += "".join(f"probability ({name}) {{ table 1; }}" for name in names)
    as_bif += f"probability (c | {', '.join(names)}) {{ default 0.5 0.5; }}"
    return {"net.json": as_json, "net.bif": as_bif}


@pytest.mark.parametrize("name", ["net.json", "net.bif"])
def test_as_many_parents_as_a_table_has_axes_are_read(tmp_path, name):
    path = tmp_path / name
    path.write_text(one_state_parents(MAX_PARENTS)[name])
    network = read_network(path)
    assert network.query("c").probabilities.tolist() == [0.5, 0.5]
    network.save(path)
    assert read_network(path).equals(network)
    for count in (MAX_PARENTS + 1, 200):
        path.write_text(one_state_parents(count)[name])
        with pytest.raises(
            FormatError, match=f"node 'c' has {count} parents, and a table has room for 63; leave"
        ):
            read_network(path)


def test_a_network_of_too_many_parents_is_refused_whatever_its_tables():
    names = [f"v{i}" for i in range(64)]
    dag = Dag.from_arcs([(name, "c") for name in names])
    with pytest.raises(NetworkError, match="'c' has 64 parents, and a table has room for 63"):
        DiscreteNetwork(dag, (("s",),) * 65, (np.ones(1),) * 65)
