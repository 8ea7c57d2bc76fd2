"""Choosing a format by a file's name, files on disk, and what a user types."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from format_strategies import same_network

from bayescout.errors import BayescoutError, CycleError, FormatError
from bayescout.formats import (
    FORMATS,
    format_of,
    load_network,
    open_network,
    open_structure,
    read_network,
    read_structure,
    write_network,
    write_structure,
)
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork

CHAIN = Dag(("b", "a"), ((1,), ()))
NETWORK = DiscreteNetwork(
    CHAIN,
    (("x", "y"), ("ü", "w")),
    (np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0.1, 0.9])),
    name="chain",
)
GAUSSIAN = GaussianNetwork(CHAIN, np.array([1.0, 2.0]), (np.array([0.5]), np.zeros(0)), np.array([1.0, 0.0]))


@pytest.mark.parametrize("ending", [".bif", ".json", ".BIF", ".bif.gz", ".json.gz", ".Json.GZ"])
def test_networks_round_trip_through_files(tmp_path, ending):
    path = tmp_path / f"net{ending}"
    write_network(NETWORK, path)
    same_network(read_network(path), NETWORK)
    same_network(read_network(str(path)), NETWORK)
    assert read_structure(path) == CHAIN
    assert path.read_bytes().startswith(b"\x1f\x8b") == ending.lower().endswith(".gz")


def test_gaussian_networks_go_to_json_only(tmp_path):
    write_network(GAUSSIAN, tmp_path / "net.json")
    same_network(read_network(tmp_path / "net.json"), GAUSSIAN)
    with pytest.raises(FormatError, match=r"net.bif: cannot be written: BIF holds discrete .* as \.json"):
        write_network(GAUSSIAN, tmp_path / "net.bif")
    assert [p.name for p in tmp_path.iterdir()] == ["net.json"]


def test_the_same_network_gives_the_same_bytes(tmp_path):
    for name in ("one.bif.gz", "two.bif.gz"):
        write_network(NETWORK, tmp_path / name)
    content = (tmp_path / "one.bif.gz").read_bytes()
    assert content == (tmp_path / "two.bif.gz").read_bytes()
    assert content[4:8] == bytes(4), "gzip's time stamp"


def test_every_extension_belongs_to_one_format():
    extensions = [extension for entry in FORMATS.values() for extension in entry.extensions]
    assert len(set(extensions)) == len(extensions)
    for entry in FORMATS.values():
        for extension in entry.extensions:
            assert format_of(f"some.where/file{extension}") is entry
            assert format_of(f"file{extension}.gz") is entry


@pytest.mark.parametrize("name", ["net.pdf", "net", "net.gz", ".bif/net", "net.bif.zip"])
@pytest.mark.parametrize("call", [read_network, read_structure])
def test_unknown_endings_list_the_known(call, name):
    with pytest.raises(FormatError, match=r"use one of \.bif, \.json, \.xmlbif"):
        call(name)


def test_plain_text_is_sniffed(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("b [a]\na []\n")
    assert read_structure(path) == CHAIN
    path.write_text("\n [b|a][a]\n")
    assert read_structure(path) == CHAIN
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match=r"line 1: expected a node"):
        read_structure(path)


@pytest.mark.parametrize("ending", [".dot", ".str", ".modelstring", ".txt", ".gv.gz"])
def test_parameters_are_never_dropped_silently(tmp_path, ending):
    path = tmp_path / f"graph{ending}"
    with pytest.raises(
        FormatError, match=r"without parameters; write \.bif or \.json, or write its structure alone"
    ):
        write_network(NETWORK, path)
    assert not path.exists()
    write_structure(CHAIN, path)
    with pytest.raises(FormatError, match="without parameters; fit it to data"):
        read_network(path)


def test_a_structure_in_json_is_not_a_network(tmp_path):
    write_structure(CHAIN, tmp_path / "x.json")
    assert read_structure(tmp_path / "x.json") == CHAIN
    with pytest.raises(FormatError, match="without parameters; fit it to data"):
        read_network(tmp_path / "x.json")


def test_wrong_values_are_refused(tmp_path):
    with pytest.raises(FormatError, match="a Dag is not a network; write a graph with write_structure"):
        write_network(CHAIN, tmp_path / "x.bif")
    with pytest.raises(FormatError, match=r"a DiscreteNetwork is not a graph; of a network write its \.dag"):
        write_structure(NETWORK, tmp_path / "x.dot")
    with pytest.raises(FormatError, match=r"BIF holds networks with parameters"):
        write_structure(CHAIN, tmp_path / "x.bif")
    assert not list(tmp_path.iterdir())


# ---- the disk


@pytest.mark.parametrize("ending", [".bif", ".json", ".bif.gz"])
def test_a_refused_network_keeps_the_old_file(tmp_path, ending):
    path = tmp_path / f"net{ending}"
    write_network(NETWORK, path)
    before = path.read_bytes()
    unkept = DiscreteNetwork(Dag.empty(["a", b"b"]), (("x",), ("y",)), (np.ones(1), np.ones(1)))
    half = DiscreteNetwork(Dag.empty(["a", "\ud800"]), (("x",), ("y",)), (np.ones(1), np.ones(1)))
    for network in (unkept, half) if ending == ".json" else (unkept,):  # BIF keeps half a character escaped
        with pytest.raises(FormatError, match=r"net\.\S+: cannot be written"):
            write_network(network, path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_failure_while_writing_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "net.bif"
    write_network(NETWORK, path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FormatError, match="No space left"):
        write_network(NETWORK, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["net.bif"]


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        write_network(NETWORK, tmp_path / "nowhere" / "net.bif")


def test_files_that_cannot_be_read(tmp_path):
    cases = {
        "missing.bif": (None, "no such file"),
        "latin.bif": (b"network n {\n}\nvariable \xfc", r"latin.bif, line 3: byte 0xfc is not UTF-8"),
        "plain.bif.gz": (b"network n { }", "is not a complete gzip file"),
        "short.bif.gz": (gzip.compress(b"network n { }" * 50)[:-12], "is not a complete gzip file"),
        "broken.bif.gz": (gzip.compress(b"network n { }")[:12] + b"\xff" * 30, "is not a complete gzip file"),
        "folder.bif": (..., "cannot be read: Is a directory"),
        "empty.bif": (b"", "line 1: the file ends where 'network'"),
        "empty.json": (b"", "line 1: is not JSON"),
    }
    for name, (content, words) in cases.items():
        path = tmp_path / name
        if content is ...:
            path.mkdir()
        elif content is not None:
            path.write_bytes(content)
        with pytest.raises(FormatError, match=words) as caught:
            read_network(path)
        assert str(path) in str(caught.value)


def test_a_byte_order_mark_is_no_text(tmp_path):
    write_network(NETWORK, tmp_path / "net.bif")
    (tmp_path / "mark.bif").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "net.bif").read_bytes())
    same_network(read_network(tmp_path / "mark.bif"), NETWORK)


# ---- what a user types


def test_open_by_name_file_or_modelstring(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_network(NETWORK, "net.bif")
    assert open_network("asia") is load_network("asia")
    assert open_structure("asia") == load_network("asia").dag
    same_network(open_network("net.bif"), NETWORK)
    same_network(open_network(tmp_path / "net.bif"), NETWORK)
    assert open_structure("net.bif") == CHAIN
    assert open_structure(" [b|a][a]") == CHAIN
    write_structure(CHAIN, "[a].str")
    assert open_structure("[a].str") == CHAIN
    nodes = [f"node_{i}" for i in range(400)]
    assert open_structure("".join(f"[{node}]" for node in nodes)) == Dag.empty(nodes)


def test_a_shipped_name_wins_over_a_folder_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asia").mkdir()
    assert open_network("asia") is load_network("asia")


@pytest.mark.parametrize("call", [open_network, open_structure])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alrm", "alrm: no such file; unknown shipped network 'alrm'; did you mean 'alarm'"),
        ("missing.bif", r"missing\.bif: no such file; unknown shipped network"),
        ("x" * 5000, "no such file"),
        ("\x00", "no such file"),
    ],
)
def test_open_says_what_was_tried(call, text, words):
    with pytest.raises(FormatError, match=words):
        call(text)


def test_open_structure_of_bad_modelstrings():
    with pytest.raises(FormatError, match="the modelstring: "):
        open_structure("[a|b]")
    with pytest.raises(CycleError, match="the modelstring: "):
        open_structure("[a|b][b|a]")
    with pytest.raises(BayescoutError):
        open_network("[a][b|a]")


def test_a_shipped_name_given_for_a_file_is_recognised():
    with pytest.raises(FormatError, match=r"no ending that says its format; .* is load_network\('asia'\)"):
        read_network("asia")


def test_a_picture_is_not_a_network():
    with pytest.raises(FormatError, match=r"'.png' is not known; a picture is drawn as .svg, by to_svg"):
        format_of("asia.png")
