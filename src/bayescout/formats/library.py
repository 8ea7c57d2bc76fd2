"""The benchmark networks that come with the package; nothing is downloaded.

`network/library` holds them with their licence and an index, all made by
`scripts/build_library.py`.
"""

from __future__ import annotations

import csv
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from bayescout.display import Grid, Shown
from bayescout.errors import UnknownNameError
from bayescout.formats import bif, native_json
from bayescout.formats.text import unpack
from bayescout.graph.dag import Dag
from bayescout.network import Network

FOLDER = files("bayescout.network") / "library"
INDEX = "INDEX.tsv"


@dataclass(frozen=True)
class NetworkInfo:
    """A shipped network in numbers; `parameters` counts free ones, `max_cardinality` is None
    for a Gaussian network."""

    name: str
    kind: Literal["discrete", "gaussian"]
    nodes: int
    arcs: int
    parameters: int
    max_in_degree: int
    max_cardinality: int | None
    source: str


class NetworkInfos(Shown, tuple[NetworkInfo, ...]):
    """The shipped networks, which show themselves as a table."""

    __slots__ = ()

    def _grid(self) -> Grid:
        rows = [
            (i.name, i.kind, f"{i.nodes:,}", f"{i.arcs:,}", f"{i.parameters:,}", f"{i.max_in_degree}",
             "-" if i.max_cardinality is None else f"{i.max_cardinality}")
            for i in self
        ]  # fmt: skip
        columns = ("name", "kind", "nodes", "arcs", "parameters", "most parents", "most states")
        return Grid("Benchmark networks", columns, tuple(rows), numbers=5)

    def _columns(self) -> Mapping[Hashable, Sequence[Any]]:
        return {field.name: [getattr(info, field.name) for info in self] for field in fields(NetworkInfo)}


def describe(network: Network, name: str, source: str) -> NetworkInfo:
    """The figures of the index, counted from the network itself."""
    dag = network.dag
    return NetworkInfo(
        name=name,
        kind="discrete" if network.is_discrete else "gaussian",
        nodes=len(dag),
        arcs=dag.n_arcs,
        parameters=network.n_parameters,
        max_in_degree=max(map(len, dag.parents)),
        max_cardinality=max(network.sizes) if network.is_discrete else None,
        source=source,
    )


@lru_cache(maxsize=1)
def networks() -> NetworkInfos:
    """The shipped networks, by name."""
    lines = (FOLDER / INDEX).read_text(encoding="utf-8").splitlines()
    return NetworkInfos(
        NetworkInfo(
            name=row["name"],
            kind="gaussian" if row["kind"] == "gaussian" else "discrete",
            nodes=int(row["nodes"]),
            arcs=int(row["arcs"]),
            parameters=int(row["parameters"]),
            max_in_degree=int(row["max_in_degree"]),
            max_cardinality=int(row["max_cardinality"]) if row["max_cardinality"] else None,
            source=row["source"],
        )
        for row in csv.DictReader(lines, delimiter="\t")
    )


@lru_cache(maxsize=32)
def load_network(name: str) -> Network:
    """A shipped network by its name, such as "alarm"; `networks()` lists them."""
    kinds = {info.name: info.kind for info in networks()}
    if name not in kinds:
        raise UnknownNameError("network", name, kinds, "the shipped networks")
    ending, reader = (".bif.gz", bif.read) if kinds[name] == "discrete" else (".json.gz", native_json.read)
    file = f"{name}{ending}"
    network = reader(unpack((FOLDER / file).read_bytes(), file), file)
    assert not isinstance(network, Dag)
    return network
