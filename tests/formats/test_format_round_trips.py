"""Write then read is the identity, for every format and every label a file can hold."""

from __future__ import annotations

import enum
from datetime import datetime
from decimal import Decimal

import numpy as np
import pytest
from format_strategies import (
    dags,
    discrete_networks,
    gaussian_networks,
    labels,
    mixed_networks,
    names,
    same_dag,
    same_network,
    texts,
    typed,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout.errors import BayescoutError, FormatError
from bayescout.formats import (
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
from bayescout.formats.labels import decode_label, encode_label
from bayescout.formats.registry import FORMATS, read_structure, write_structure
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork

DISCRETE = [name for name, entry in FORMATS.items() if entry.holds == "network" and name != "json"]


@pytest.mark.parametrize("name", DISCRETE)
@settings(deadline=None)
@given(network=discrete_networks())
def test_round_trip_of_discrete_networks(name, network):
    entry = FORMATS[name]
    text = entry.write(network)
    same_network(entry.read(text, "x"), network)
    assert entry.write(entry.read(text, "x")) == text


@settings(deadline=None)
@given(gaussian_networks() | mixed_networks())
def test_net_round_trip_of_continuous_nodes(network):
    same_network(net.read(net.write(network), "x.net"), network)


@pytest.mark.parametrize("name", DISCRETE)
def test_changed_names_come_back_and_stay_apart(name):
    """Names that would be the same after the change, reserved words, and names of other types."""
    nodes = (
        "M. Work",
        "M__Work",
        "M: Work",
        "node",
        "table",
        3,
        "3",
        "ü",
        "ö",
        "x__",
        "a" * 40,
        "a" * 40 + "b",
    )
    states = tuple((f"{place} %", ">5", "<5", True, "True") for place, _ in enumerate(nodes))
    tables = tuple(np.full(5, 0.2) for _ in nodes)
    network = DiscreteNetwork(Dag.empty(nodes), states, tables, name="two words")
    text = FORMATS[name].write(network)
    same_network(FORMATS[name].read(text, "x"), network)
    assert text.isascii() or name in ("xmlbif", "xdsl")


@pytest.mark.parametrize("name", [name for name in DISCRETE if name != "uai"])
@settings(deadline=None)
@given(network=discrete_networks(labels=st.from_regex(r"[A-Z][A-Za-z0-9_]{0,5}Q", fullmatch=True)))
def test_plain_names_need_no_fact_of_labels(name, network):
    """Other tools see the names themselves."""
    bif = FORMATS[name]
    if network.cuts:
        return
    text = bif.write(network)
    assert "bayescout_label" not in text
    assert "bayescout_states" not in text
    same_network(bif.read(text, "x.bif"), network)


@settings(deadline=None)
@given(discrete_networks(labels=texts))
def test_bif_reads_the_same_with_comments_between_all_tokens(network):
    """A row of bare words is read by one match; comments force the way token by token."""
    text = bif.write(network)
    slowed = text.replace("\n  (", "\n  /* ; */(// )\n").replace("table ", "table /**/ ")
    if "bayescout" not in text and not any("table " in str(n) for n in network.dag.nodes):
        same_network(bif.read(slowed, "x.bif"), network)


@settings(deadline=None)
@given(discrete_networks() | gaussian_networks() | mixed_networks())
def test_json_round_trip(network):
    same_network(native_json.read(native_json.write(network), "x.json"), network)


@settings(deadline=None)
@given(dags(min_size=0))
def test_round_trip_of_structures(dag):
    for module in (native_json, dot, dagitty, graphml):
        same_dag(module.read(module.write(dag), "x"), dag)


@settings(deadline=None)
@given(dags())
def test_tetrad_round_trip_of_structures(dag):
    same_dag(tetrad.read(tetrad.write(dag), "x"), dag)


@pytest.mark.parametrize("module", [structure_file, modelstring, edge_list])
@settings(deadline=None)
@given(dag=dags(texts | labels, min_size=0))
def test_plain_formats_round_trip_or_refuse(module, dag):
    try:
        text = module.write(dag)
    except BayescoutError:
        return
    same_dag(module.read(text, "x"), dag)


@pytest.mark.parametrize("module", [structure_file, modelstring, edge_list])
@settings(deadline=None)
@given(dag=dags(names))
def test_plain_formats_hold_plain_names(module, dag):
    same_dag(module.read(module.write(dag), "x"), dag)


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=20)
@given(dag=dags(names), packed=st.booleans())
def test_structures_round_trip_through_files(name, dag, packed, tmp_path_factory):
    if name in DISCRETE:
        return
    for extension in FORMATS[name].extensions:
        path = tmp_path_factory.getbasetemp() / f"graph{extension}{'.gz' * packed}"
        write_structure(dag, path)
        same_dag(read_structure(path), dag)


@given(labels)
def test_labels_keep_value_and_type(label):
    assert typed(decode_label(encode_label(label))) == typed(label)


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    "label",
    [
        b"bytes",
        Decimal("1.5"),
        frozenset({1}),
        Colour.RED,
        1j,
        float("nan"),
        (1, b"x"),
        10**2000,
        datetime(2020, 1, 1, fold=1),
        np.int64(1),
        np.str_("a"),
        np.float64(1.0),
    ],
    ids=lambda label: type(label).__name__,
)
def test_labels_that_would_change_are_refused_before_writing(label):
    network = DiscreteNetwork(Dag.empty(["a"]), ((label, "other"),), (np.array([0.5, 0.5]),))
    for write, value in [
        (bif.write, network),
        (native_json.write, network),
        (native_json.write, Dag.empty([label])),
        (dot.write, Dag.empty([label])),
        (structure_file.write, Dag.empty([label])),
        (modelstring.write, Dag.empty([label])),
    ]:
        with pytest.raises(FormatError, match=r"cannot (be kept|keep)"):
            write(value)


def test_text_and_number_of_the_same_look_stay_apart():
    states = ((1, "1", "1_"), ("True", True), (None, "None"))
    dag = Dag((3, "3", (3,)), ((), (0,), (0, 1)))
    shapes = [(3,), (3, 2), (3, 2, 2)]
    network = DiscreteNetwork(dag, states, tuple(np.full(s, 1 / s[-1]) for s in shapes))
    same_network(bif.read(bif.write(network), "x"), network)
    same_network(native_json.read(native_json.write(network), "x"), network)
    same_dag(dot.read(dot.write(dag), "x"), dag)


@pytest.mark.parametrize("name", ["", "unknown", "two words", 'a "b"', "ü"])
def test_the_name_of_the_network_is_kept(name):
    network = DiscreteNetwork(Dag.empty(["a"]), (("x",),), (np.ones(1),), name=name)
    assert bif.read(bif.write(network), "x").name == name
    assert native_json.read(native_json.write(network), "x").name == name
