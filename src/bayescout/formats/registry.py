"""The registry of file formats, and the functions that choose one by a file's name.

To add a format, write one file with `read(text, path)` and `write(value)` and add one line to
`FORMATS`. A further `.gz` works for every format.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from bayescout.data.table import Label, States
from bayescout.errors import BayescoutError, FormatError, UnknownNameError, did_you_mean
from bayescout.formats import (
    bif,
    dagitty,
    dne,
    dot,
    dsc,
    dsl,
    edge_list,
    graphml,
    modelstring,
    native_json,
    net,
    structure_file,
    tetrad,
    uai,
    xdsl,
    xmlbif,
)
from bayescout.formats.library import load_network, networks
from bayescout.formats.text import PathLike, read_text, write_text
from bayescout.graph.dag import Dag
from bayescout.network import LinearGaussian, Network, Tabular


@dataclass(frozen=True)
class Format:
    """One file format. `holds` is True if parameters are kept; `read` takes text and a name for
    errors, `write` returns the whole text or refuses, so that nothing is half written."""

    extensions: tuple[str, ...]
    holds: Literal["network", "structure"]
    read: Callable[[str, str], Network | Dag]
    write: Callable[[object], str]
    summary: str


def _read_plain(text: str, path: str) -> Dag:
    """The graph of a .txt file: a modelstring begins with a bracket, Tetrad's text with its heading,
    dagitty's with `dag {`, a structure file with a name."""
    begin = text[:1000].lstrip()
    if begin.startswith("["):
        return modelstring.read(text, path)
    if begin.startswith("Graph Nodes:"):
        return tetrad.read(text, path)
    if re.match(r"dag\s*\{", begin):
        return dagitty.read(text, path)
    return structure_file.read(text, path)


FORMATS: dict[str, Format] = {
    "bif": Format((".bif",), "network", bif.read, bif.write, "Interchange Format, discrete networks"),
    "json": Format((".json",), "network", native_json.read, native_json.write, "bayescout's own, exact"),
    "xmlbif": Format(
        (".xmlbif", ".bifxml", ".xml"), "network", xmlbif.read, xmlbif.write, "XMLBIF 0.3, discrete networks"
    ),
    "net": Format((".net",), "network", net.read, net.write, "Hugin NET, discrete and Gaussian networks"),
    "xdsl": Format((".xdsl",), "network", xdsl.read, xdsl.write, "GeNIe's, discrete networks"),
    "dsl": Format((".dsl",), "network", dsl.read, dsl.write, "GeNIe's older text, discrete networks"),
    "uai": Format(
        (".uai",), "network", uai.read, uai.write, "the inference competitions', discrete networks"
    ),
    "dne": Format((".dne", ".dnet"), "network", dne.read, dne.write, "Netica's text, discrete networks"),
    "dsc": Format(
        (".dsc",), "network", dsc.read, dsc.write, "Microsoft's, as bnlearn has it, discrete networks"
    ),
    "structure": Format(
        (".structure", ".str", ".txt"),
        "structure",
        _read_plain,
        structure_file.write,
        "lines such as M [B, L]",
    ),
    "dot": Format((".dot", ".gv"), "structure", dot.read, dot.write, "Graphviz, for drawing"),
    "modelstring": Format(
        (".modelstring",), "structure", modelstring.read, modelstring.write, "bnlearn's [A][B|A]"
    ),
    "dagitty": Format(
        (".dagitty",), "structure", dagitty.read, dagitty.write, "dagitty.net's dag { a -> b }"
    ),
    "tetrad": Format((".tetrad",), "structure", tetrad.read, tetrad.write, "Tetrad's graph text"),
    "graphml": Format((".graphml",), "structure", graphml.read, graphml.write, "GraphML, for other tools"),
    "edges": Format((".edges", ".csv"), "structure", edge_list.read, edge_list.write, "csv of parent,child"),
}


def format_of(path: PathLike) -> Format:
    """The format of a file, by the end of its name."""
    name = os.fspath(path).lower().removesuffix(".gz")
    suffix = os.path.splitext(name)[1]
    for entry in FORMATS.values():
        if suffix in entry.extensions:
            return entry
    known = [extension for entry in FORMATS.values() for extension in entry.extensions]
    what = f"the ending {suffix!r} is not known" if suffix else "the name has no ending that says its format"
    hint = did_you_mean(suffix, known)
    if suffix in (".svg", ".png", ".pdf"):
        hint = "a picture is drawn as .svg, by to_svg(path) and by `bayescout convert`; "
    if os.fspath(path) in _shipped():
        hint = f"the network that comes with bayescout is load_network({os.fspath(path)!r}); "
    raise FormatError(f"{what}; {hint}use one of {', '.join(known)}, or one of these and .gz", path)


# ---- networks


def read_network(path: PathLike) -> Network:
    """The network in a file, of the format that its name's ending says; also packed as .gz.

    .json, .bif, .xmlbif, .net (Hugin), .xdsl and .dsl (GeNIe), .uai, .dne and .dnet (Netica), .dsc.
    """
    entry = format_of(path)
    if entry.holds == "structure":
        raise FormatError(_NO_PARAMETERS, path)
    value = entry.read(read_text(path), os.fspath(path))
    if isinstance(value, Dag):
        raise FormatError(_NO_PARAMETERS, path)
    return value


_NO_PARAMETERS = "holds a structure without parameters; fit it to data first, or read it as a structure"


def write_network(network: Network, path: PathLike) -> None:
    """Write a network so that reading it gives the same one, or refuse before writing."""
    entry = format_of(path)
    if not isinstance(network, Network):
        raise FormatError(
            f"a {type(network).__name__} is not a network; write a graph with write_structure", path
        )
    if entry.holds == "structure":
        raise FormatError(
            "a format without parameters; write .bif or .json, or write its structure alone",
            path,
        )
    _write(entry, network, path)


# ---- structures


def read_structure(path: PathLike) -> Dag:
    """The graph in a file of any format; of a network file, its graph."""
    value = format_of(path).read(read_text(path), os.fspath(path))
    return value if isinstance(value, Dag) else value.dag


def write_structure(dag: Dag, path: PathLike) -> None:
    """Write a graph so that reading it gives the same one, or refuse before writing."""
    entry = format_of(path)
    if not isinstance(dag, Dag):
        raise FormatError(f"a {type(dag).__name__} is not a graph; of a network write its .dag", path)
    if entry.holds == "network" and entry.write is not native_json.write:
        form = next(name for name, one in FORMATS.items() if one is entry)
        raise FormatError(
            f"{form.upper()} holds networks with parameters; write a structure as .json, .dot or .structure",
            path,
        )
    _write(entry, dag, path)


def _write(entry: Format, value: object, path: PathLike) -> None:
    write_text(path, _written(entry, value, path), read_back=True)


def _written(entry: Format, value: object, path: PathLike) -> str:
    try:
        return entry.write(value)
    except BayescoutError as error:
        raise FormatError(f"cannot be written: {error}", path) from error


def check_can_hold(
    path: PathLike, names: Sequence[Label], states: Sequence[States | None] | None = None
) -> None:
    """Refuse, before any work, a file whose format cannot hold what will be learned about these columns.

    `states` are those of a table, None for a continuous column; without them a structure alone is written.
    The format's own writer decides, given the network without arcs.
    """
    entry = format_of(path)
    dag = Dag.from_arcs([], nodes=names)
    value = dag if states is None or entry.holds == "structure" else _without_arcs(dag, states)
    if value is not None:
        _written(entry, value, path)


def _without_arcs(dag: Dag, states: Sequence[States | None]) -> Network | None:
    """A network of unconnected nodes; None if such columns make no network, as learning will say."""
    if () in states:
        return None
    made = [
        LinearGaussian(0.0, np.zeros(0), 1.0)
        if own is None
        else Tabular(own, np.full(len(own), 1 / len(own)))
        for own in states
    ]
    return Network(dag, tuple(made))


# ---- names and paths that users type


def open_network(text: PathLike) -> Network:
    """A network by a shipped network's name or a file; a name wins over a file (write ./asia)."""
    if os.fspath(text) in _shipped():
        return load_network(os.fspath(text))
    _check_is_file(text)
    return read_network(text)


def open_structure(text: PathLike) -> Dag:
    """A graph by a shipped network's name, a modelstring such as "[A][B|A]", or a file."""
    if os.fspath(text) in _shipped():
        return load_network(os.fspath(text)).dag
    if os.fspath(text).lstrip().startswith("[") and not _exists(text):
        return modelstring.read(os.fspath(text), "the modelstring")
    _check_is_file(text)
    return read_structure(text)


def _shipped() -> tuple[str, ...]:
    return tuple(info.name for info in networks())


def _exists(path: PathLike) -> bool:
    """Return True if there is such a file or folder; a text too long for a name is none."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def _check_is_file(text: PathLike) -> None:
    """Refuse a path to no file, and say what was tried."""
    if not _exists(text):
        near = UnknownNameError("shipped network", os.fspath(text), _shipped())
        raise FormatError(f"no such file; {near}", text)
