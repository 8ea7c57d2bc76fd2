"""Functions for most runs: data, truth and learning as declared, and the facts of a result to record.

Declarations are plain values. Data are one of

    {"network": "asia", "rows": 5000, "seed": 1}                sampled from a shipped network, or a file's
    {"random": {"nodes": 5, "seed": 3}, "rows": 1000, "seed": 1}  from one that `random_network` makes
    {"file": "mine.csv", "fingerprint": "..."}                  a file, as `file_data` declares it

A search or a score is its name, or {"name": "tabu", "length": 5}. Where a declaration names the file of a
network or a graph, `with_digests` puts the digest of its content beside the name ("network_digest"), so that
a run on a changed file is another run.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bayescout.errors import DataError, SettingError
from bayescout.experiments.study import Declared, Measures, canonical
from bayescout.formats.labels import decode_label, encode_label
from bayescout.graph.dag import Dag

if TYPE_CHECKING:
    from bayescout.data.table import Table
    from bayescout.network import Network
    from bayescout.result import Result
    from bayescout.scores import Formula
    from bayescout.search import Search

KEPT = 8
"""Number of tables a process keeps, so that runs on the same data read or draw them once."""

NAMING_FILES = ("network", "truth", "handcrafted")
"""Keys of a declaration for a network or a graph that may come from a file."""

LOG_OF_BASE = {"e": 1.0, "2": math.log(2), "10": math.log(10)}


def named(declared: str | Declared) -> tuple[str, dict[str, Any]]:
    """The name and the settings of a search or a score."""
    if isinstance(declared, str):
        return declared, {}
    settings = dict(declared)
    return settings.pop("name"), settings


def search_of(declared: str | Declared) -> Search:
    from bayescout.search import search_named

    name, settings = named(declared)
    return search_named(name, **settings)


def score_of(declared: str | Declared) -> Formula:
    from bayescout.scores import formula_named

    name, settings = named(declared)
    return formula_named(name, **settings)


# ---- data


def file_data(path: str, **options: Any) -> dict[str, Any]:
    """The declaration of a file, including a digest of its content, so that changed data are other runs."""
    from bayescout.data import as_table

    return {"file": path, **options, "fingerprint": as_table(path, **options).fingerprint}


def file_digest(path: str | os.PathLike[str]) -> str:
    """A digest of the content of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def with_digests(declared: Declared, known: dict[str, str | None] | None = None) -> dict[str, Any]:
    """The declaration, with the digest of every file of a network or graph beside its name.

    Digests already declared are kept. `known` caches the digests by name.
    """
    known = {} if known is None else known
    found: dict[str, Any] = {}
    for name, value in declared.items():
        found[name] = with_digests(value, known) if isinstance(value, Mapping) else value
        if name in NAMING_FILES and isinstance(value, str) and f"{name}_digest" not in declared:
            if value not in known:
                known[value] = file_digest(value) if names_file(value) else None
            if known[value] is not None:
                found[f"{name}_digest"] = known[value]
    return found


def names_file(text: str) -> bool:
    """Return True if a text is the name of a file, and not of a shipped network, whose name wins."""
    from bayescout.formats import networks

    return os.path.isfile(text) and all(text != info.name for info in networks())


def network_of(data: Declared, name: str = "network") -> Network:
    """The network that data are sampled from, or the one declared under another name."""
    if name in data:
        from bayescout.formats import open_network

        digest = data.get(f"{name}_digest")
        return open_network(data[name]) if digest is None else _network_file(data[name], digest)
    if "random" in data:
        return _random_network(canonical(data["random"]))
    raise SettingError(f"no network is declared for {canonical(data)}; give network or random")


def structure_of(data: Declared, name: str = "truth") -> Dag:
    """The graph that is declared under a name."""
    from bayescout.formats import open_structure

    digest = data.get(f"{name}_digest")
    return open_structure(data[name]) if digest is None else _structure_file(data[name], digest)


def truth_of(run: Declared) -> Dag | None:
    """The graph to compare with: of the network that the data come from, or of the declared file."""
    data = run["data"]
    if "truth" in data:
        return structure_of(data)
    return None if "file" in data else network_of(data).dag


@lru_cache(maxsize=KEPT)
def _network_file(path: str, digest: str) -> Network:
    from bayescout.formats import open_network

    network = open_network(path)
    _refuse_changed(path, file_digest(path) != digest)
    return network


@lru_cache(maxsize=KEPT)
def _structure_file(path: str, digest: str) -> Dag:
    from bayescout.formats import open_structure

    dag = open_structure(path)
    _refuse_changed(path, file_digest(path) != digest)
    return dag


def _refuse_changed(path: str, changed: bool) -> None:
    if changed:
        raise DataError(f"{path} has changed since the study was declared; put it back, or begin again")


def data_of(data: Declared) -> Table:
    """The declared table; the last few are cached."""
    return _table(canonical(data))


@lru_cache(maxsize=KEPT)
def _table(text: str) -> Table:
    import json

    from bayescout.data import as_table

    data = json.loads(text)
    if "file" not in data:
        return network_of(data).sample(data["rows"], seed=data.get("seed", 0))
    path = data.pop("file")
    expected = data.pop("fingerprint", None)
    options = {name: value for name, value in data.items() if name not in ("truth", "truth_digest")}
    table = as_table(path, **options)
    _refuse_changed(path, expected is not None and table.fingerprint != expected)
    return table


@lru_cache(maxsize=KEPT)
def _random_network(text: str) -> Network:
    import json

    from bayescout.network import random_network

    return random_network(**json.loads(text))


# ---- learning


def learned(run: Declared, **more: Any) -> Result:
    """Learn as a run declares: data, search, score, seed; start, knowledge,
    structure_prior, max_time, max_steps, top.

    Any other argument of `learn` can be given as well, for instance another `data` table. There is one
    counting thread, since a study uses the cores for its runs.
    """
    from bayescout.learn import learn
    from bayescout.search import Knowledge

    arguments: dict[str, Any] = {
        "search": search_of(run["search"]),
        "score": score_of(run["score"]),
        "seed": run.get("seed", 0),
        "workers": 1,
    }
    for name in ("start", "max_time", "max_steps", "top", "structure_prior"):
        if run.get(name) is not None:
            arguments[name] = run[name]
    if run.get("knowledge"):
        arguments["knowledge"] = Knowledge(**run["knowledge"])
    arguments.update(more)
    data = arguments.pop("data", None)
    result = learn(data_of(run["data"]) if data is None else data, **arguments)
    if result.stop_reason == "interrupted":
        # The search takes Ctrl-C as a request for its best so far; here it must stop the study.
        raise KeyboardInterrupt
    return result


def scored(structure: Any, table: Table, score: str | Declared = "loglik") -> float:
    """The score of a graph, or of a network's graph, on a table, with one counting thread."""
    from bayescout.scores import bind
    from bayescout.scores.network_score import aligned, total

    dag, own = aligned(structure, table)
    return total(bind(score_of(score), own, workers=1), dag)


def parameters_of(dag: Dag, table: Table) -> int:
    """Free parameters of a discrete network of this graph."""
    sizes = [int(table.cardinalities[table.index(node)]) for node in dag.nodes]
    return sum(
        (sizes[child] - 1) * math.prod(sizes[parent] for parent in parents)
        for child, parents in enumerate(dag.parents)
    )


# ---- recorded facts


def facts_of(result: Result, trace: Sequence[str] = ()) -> Measures:
    """Score, counters, the reason for stopping, and the graph; and columns of the trace by name.

    A column is a field of `search.driver.Step` other than seconds, or one of the facts of the search.
    """
    found: Measures = {
        "score": result.score,
        "iterations": result.counters.iterations,
        "operations": result.counters.operations,
        "evaluations": result.counters.evaluations,
        "stop_reason": result.stop_reason,
        **graph_facts(result.dag),
    }
    if trace:
        found["trace"] = {name: [_of_step(step, name) for step in result.trace] for name in trace}
    return found


def _of_step(step: Any, name: str) -> Any:
    own = [field for field in step._fields if field not in ("seconds", "facts")]
    if name in own:
        return getattr(step, name)
    if name not in step.facts:
        known = ", ".join([*own, *step.facts])
        raise SettingError(f"the trace has no column {name!r}; it has {known}")
    return step.facts[name]


def graph_facts(dag: Dag) -> Measures:
    """A graph as plain values for a record."""
    return {
        "arcs": dag.n_arcs,
        "nodes": [encode_label(node) for node in dag.nodes],
        "parents": [list(own) for own in dag.parents],
    }


def dag_of(measures: Mapping[str, Any]) -> Dag:
    """The graph of a record."""
    nodes = tuple(decode_label(label) for label in measures["nodes"])
    return Dag(nodes, tuple(tuple(own) for own in measures["parents"]))
