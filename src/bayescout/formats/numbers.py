"""Numbers in files of other tools, and the refusals that their writers share."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import FormatError
from bayescout.formats.text import Source
from bayescout.network import Network, Tabular
from bayescout.wording import setting

NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_ONE = re.compile(NUMBER)
_LIST = re.compile(rf"\s*+(?:{NUMBER}(?:[\s,]++|\Z))*+")


def floats(text: str, source: Source, at: int, name: str) -> Sequence[float]:
    """The numbers of a text that otherwise has only blanks and commas."""
    found = _LIST.match(text)
    if found is None or found.end() < len(text):
        word = text[found.end() if found else 0 :].split(maxsplit=1)
        shown = word[0][:40] if word else ""
        raise source.error(f"the probabilities of {name!r} have {shown!r}, which is not a number", at)
    numbers: Sequence[float] = np.fromiter(
        (float(one[0]) for one in _ONE.finditer(text)), dtype=np.float64
    ).tolist()
    return numbers


def check_discrete(network: object, form: str) -> Network:
    """Refuse what a format of discrete networks cannot hold."""
    if not isinstance(network, Network) or not network.is_discrete:
        raise FormatError(
            f"{form} holds discrete networks only; write one with continuous nodes as .json or .net, or cut "
            f"the numbers into intervals before learning ({setting('bins', 3)})"
        )
    return check_not_empty(network, form)


def check_not_empty(network: Network, form: str) -> Network:
    """Refuse a network without nodes, which formats of other tools do not have."""
    if not len(network.dag):
        raise FormatError(f"a network without nodes cannot be written as {form}; write it as .json")
    return network


def rows_of(network: Network, child: int) -> list[list[float]]:
    """The rows of a node's table, the last parent fastest."""
    node = network.distributions[child]
    assert isinstance(node, Tabular)
    table = node.table
    rows: list[list[float]] = table.reshape(-1, table.shape[-1]).tolist()
    return rows


def turned(values: Sequence[float] | NDArray[np.float64], shape: Sequence[int]) -> Sequence[float]:
    """A table that has its first parent fastest, put in the order in which the last is.

    `shape` has the node's own states last.
    """
    *parents, own = shape
    table = np.array(values).reshape(*reversed(parents), own)
    axes = range(len(parents) - 1, -1, -1)
    numbers: Sequence[float] = table.transpose(*axes, len(parents)).ravel().tolist()
    return numbers
