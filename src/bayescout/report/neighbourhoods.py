"""The page of a wide graph: the neighbourhood of one variable at a time, found by its name.

A drawing of all variables takes hours and shows a grey block, so the page holds the arcs as numbers, and its
script draws the Markov blanket of the variable that is chosen, or what lies within some steps of it.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from bayescout.graph.labels import counted, graph_size
from bayescout.report.modules import joined
from bayescout.report.provenance import provenance, version
from bayescout.result import Result

MOST_DRAWN = 1500
"""The most variables of a page that draws them all."""

MOST_LISTED = 24
"""Variables that are listed for having the most neighbours."""


def page_values(
    result: Result, names: tuple[str, ...], tiles: list[tuple[str, str, str]], title: str, lead: str
) -> dict[str, Any]:
    """The values of the template `neighbourhoods.html`."""
    script = Markup("(() => {\n%s})();\n") % joined("neighbourhoods.js")
    hubs = _most_connected(result)
    return {
        "title": title,
        "lead": lead,
        "version": version("bayescout"),
        "script": script,
        "script_source": "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "tiles": tiles,
        "graph_size": graph_size(len(result.dag), result.dag.n_arcs),
        "screened": "" if result.screened is None else str(result.screened),
        "reading": "" if result.data is None else str(result.data),
        "hubs": [(place, names[place], f"{count:,}") for place, count in hubs],
        "alone": counted(_unconnected(result), "variable"),
        "made": provenance(result),
        "page_data": page_data(result, names, hubs[0][0] if hubs else 0),
    }


def page_data(result: Result, names: tuple[str, ...], first: int) -> dict[str, Any]:
    """Names and arcs; numbers are little-endian words in base 64.

    starts   where the parents of each variable begin in `parents`
    either   for each of these, 1 if the arc could point either way
    """
    parents = result.dag.parents
    counts = np.fromiter(map(len, parents), dtype=np.int64, count=len(parents))
    flat = np.fromiter((p for own in parents for p in own), dtype=np.int64, count=int(counts.sum()))
    children = np.repeat(np.arange(len(parents)), counts)
    return {
        "names": names,
        "starts": _words(np.concatenate(([0], np.cumsum(counts)))),
        "parents": _words(flat),
        "either": base64.b64encode(_either(result, flat, children).tobytes()).decode(),
        "first": first,
    }


def _words(numbers: NDArray[np.int64]) -> str:
    return base64.b64encode(numbers.astype("<u4").tobytes()).decode()


def _either(result: Result, parents: NDArray[np.int64], children: NDArray[np.int64]) -> NDArray[np.uint8]:
    """For each arc, 1 if the equivalence class leaves its direction open."""
    n = len(result.dag)
    free = np.array(result.cpdag.undirected, dtype=np.int64).reshape(-1, 2)
    keys = np.minimum(parents, children) * n + np.maximum(parents, children)
    return np.isin(keys, free.min(axis=1) * n + free.max(axis=1)).astype(np.uint8)


def _neighbours(result: Result) -> NDArray[np.int64]:
    """The number of neighbours of each variable."""
    parents = result.dag.parents
    counts = np.fromiter(map(len, parents), dtype=np.int64, count=len(parents))
    flat = np.fromiter((p for own in parents for p in own), dtype=np.int64, count=int(counts.sum()))
    return counts + np.bincount(flat, minlength=len(parents))


def _most_connected(result: Result) -> list[tuple[int, int]]:
    """The variables with the most neighbours, and how many these are."""
    counts = _neighbours(result)
    chosen = np.lexsort((np.arange(len(counts)), -counts))[:MOST_LISTED]
    return [(int(place), int(counts[place])) for place in chosen if counts[place]]


def _unconnected(result: Result) -> int:
    return int((_neighbours(result) == 0).sum())
