"""The shipped networks: as many as published, of the published size, loaded without a network."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from format_strategies import same_network

from bayescout.errors import UnknownNameError
from bayescout.formats import NetworkInfo, bif, load_network, native_json, networks
from bayescout.formats.library import FOLDER, describe

PUBLISHED = """
alarm discrete 37 46 509 4 4
andes discrete 223 338 1157 6 2
arth150 gaussian 107 150 364 6 -
asia discrete 8 8 18 2 2
barley discrete 48 84 114005 4 67
cancer discrete 5 4 10 2 2
child discrete 20 25 230 2 6
diabetes discrete 413 602 429409 2 21
earthquake discrete 5 4 10 2 2
ecoli70 gaussian 46 70 162 4 -
hailfinder discrete 56 66 2656 4 11
hepar2 discrete 70 123 1453 6 4
insurance discrete 27 52 1008 3 5
link discrete 724 1125 14211 3 4
magic-irri gaussian 64 102 230 11 -
magic-niab gaussian 44 66 154 9 -
mildew discrete 35 46 540150 3 100
munin discrete 1041 1397 80592 3 21
munin1 discrete 186 273 15622 3 21
munin2 discrete 1003 1244 69431 3 21
munin3 discrete 1041 1306 71059 3 21
munin4 discrete 1038 1388 80352 3 21
pathfinder discrete 109 195 72079 5 63
pigs discrete 441 592 5618 2 3
sachs discrete 11 17 178 3 3
survey discrete 6 6 21 2 3
water discrete 32 66 10083 5 4
win95pts discrete 76 112 574 7 2
"""
"""Name, kind, nodes, arcs, free parameters, largest in-degree and cardinality."""

FIGURES = [line.split() for line in PUBLISHED.strip().splitlines()]


def test_the_index_is_the_published_one():
    shown = [
        [
            i.name,
            i.kind,
            str(i.nodes),
            str(i.arcs),
            str(i.parameters),
            str(i.max_in_degree),
            str(i.max_cardinality or "-"),
        ]
        for i in networks()
    ]
    assert shown == FIGURES
    assert all("CC BY-SA 3.0" in info.source for info in networks())


@pytest.mark.parametrize("info", networks(), ids=lambda info: info.name)
def test_each_network_is_what_the_index_says(info):
    network = load_network(info.name)
    assert describe(network, info.name, info.source) == info
    assert network.name == info.name
    for table in getattr(network, "tables", ()):
        assert np.abs(table.sum(axis=-1) - 1).max() < 1e-12


@pytest.mark.parametrize("name", [info.name for info in networks() if info.parameters < 5000])
def test_the_files_are_what_our_writer_writes(name):
    network = load_network(name)
    ending, module = (".bif.gz", bif) if hasattr(network, "tables") else (".json.gz", native_json)
    text = gzip.decompress((FOLDER / f"{name}{ending}").read_bytes()).decode()
    assert module.write(network) == text
    same_network(native_json.read(native_json.write(network), "x"), network)


def test_asia_by_hand():
    """P(dysp = yes | bronc, either) and P(either | tub, lung), from Lauritzen and Spiegelhalter (1988)."""
    asia = load_network("asia")
    assert asia.dag.nodes == ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
    either, dysp = asia.dag.index("either"), asia.dag.index("dysp")
    assert [asia.dag.nodes[p] for p in asia.dag.parents[dysp]] == ["bronc", "either"]
    assert asia.states[dysp] == ("yes", "no")
    assert asia.tables[dysp][:, :, 0].tolist() == [[0.9, 0.8], [0.7, 0.1]]
    assert asia.tables[either][:, :, 0].tolist() == [[1.0, 1.0], [1.0, 0.0]]


def test_words_for_missing_values_are_states():
    assert "None" in {state for states in load_network("insurance").states for state in states}


def test_loading_again_gives_the_same_object():
    assert load_network("asia") is load_network("asia")


def test_unknown_names_offer_the_nearest():
    with pytest.raises(
        UnknownNameError, match="unknown network 'alrm' in the shipped networks; did you mean 'alarm'"
    ):
        load_network("alrm")
    with pytest.raises(UnknownNameError):
        load_network("../library/alarm")


def test_licence_and_source_are_beside_the_files():
    text = (FOLDER / "LICENSE.md").read_text(encoding="utf-8")
    for words in (
        "Bayesian Network Repository",
        "bnlearn.com/bnrepository",
        "CC BY-SA 3.0",
        "pgmpy",
        "1.1.2",
    ):
        assert words in text
    shipped = {f.name for f in FOLDER.iterdir() if f.name.endswith(".gz")}
    assert shipped == {f"{i.name}.{'bif' if i.kind == 'discrete' else 'json'}.gz" for i in networks()}
    assert isinstance(networks()[0], NetworkInfo)
