"""Facts that a format of another tool cannot express, kept where other tools skip them.

Each has a key and a JSON value on one line:

bayescout_name       of the network, if the format carries another
bayescout_order      the place of each node of the file in the network, if they are not written in their order
bayescout_rows       "as written": sums of rows were not quite one in memory, and stay so
bayescout_label      of a node, if the format carries another name (see `names.py`) or it is not text
bayescout_states     of a node, likewise
bayescout_undefined  the numbers of a node's rows that had no data, counted with the last parent fastest
bayescout_cuts       the cut points of a node whose states are intervals of a number
bayescout_missing    the state of a node that stands for missing cells
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.intervals import wrong_cuts
from bayescout.formats.labels import decode_label, encode_label
from bayescout.formats.text import Source
from bayescout.graph.labels import Label
from bayescout.network import ConditionalGaussian, Network, Tabular

AS_WRITTEN = "as written"

FACT = re.compile(r"\s*(bayescout_[a-z]+)\s*=\s*(.*\S)\s*", re.DOTALL)

ROUNDING_TOLERANCE = 1e-12
"""A row with a sum this near to one is only rounded and stays as it is, so that files round-trip."""


@dataclass
class Facts:
    """The facts found in one block of a file: by key, the JSON text and its position."""

    source: Source
    found: dict[str, tuple[str, int]] = field(default_factory=dict)

    def take(self, text: str, at: int) -> bool:
        """Keep a text such as `bayescout_label = "M. Work"`; False if it is none. The first of a key wins."""
        fact = FACT.fullmatch(text)
        if fact is None:
            return False
        self.found.setdefault(fact[1], (fact[2], at))
        return True

    def get(self, key: str) -> tuple[Any, int] | None:
        """The JSON value of a fact and its position."""
        if key not in self.found:
            return None
        text, at = self.found[key]
        try:
            return json.loads(text), at
        except (ValueError, RecursionError) as error:
            raise self.source.error(f"{key} is not JSON: {error}", at) from None

    @property
    def as_written(self) -> bool:
        return self.found.get("bayescout_rows", ("", 0))[0] == f'"{AS_WRITTEN}"'

    def name(self, otherwise: str) -> str:
        """The network's name."""
        fact = self.get("bayescout_name")
        if fact is None:
            return otherwise
        if not isinstance(fact[0], str):
            raise self.source.error("bayescout_name must be text", fact[1])
        return fact[0]

    def order(self, nodes: int) -> list[int] | None:
        """The place in the network of each node of the file."""
        fact = self.get("bayescout_order")
        if fact is None:
            return None
        places, at = fact
        if not isinstance(places, list) or any(type(place) is not int for place in places):
            raise self.source.error("bayescout_order must list whole numbers", at)
        if sorted(places) != list(range(nodes)):
            raise self.source.error(f"bayescout_order must list 0 to {nodes - 1}, each once", at)
        return places

    def label(self, otherwise: str) -> Label:
        """The label of a node."""
        fact = self.get("bayescout_label")
        return otherwise if fact is None else self._decoded("bayescout_label", *fact)

    def states(self, names: Sequence[str]) -> tuple[Label, ...]:
        """The states of a node whose names in the file are these."""
        key = "bayescout_states"
        fact = self.get(key)
        if fact is None:
            return tuple(names)
        states, at = fact
        if not isinstance(states, list) or len(states) != len(names):
            raise self.source.error(f"{key} must list {len(names)} states, one for each of the type line", at)
        labels = tuple(self._decoded(key, state, at) for state in states)
        if len(set(labels)) < len(labels):
            raise self.source.error(f"{key} lists a state twice", at)
        return labels

    def cuts(self, states: tuple[Label, ...]) -> tuple[float, ...] | None:
        """The cut points of a node whose states are intervals of a number."""
        key = "bayescout_cuts"
        fact = self.get(key)
        if fact is None:
            return None
        cuts, at = fact
        if not isinstance(cuts, list) or not all(type(point) in (int, float) for point in cuts):
            raise self.source.error(f"{key} must list numbers", at)
        try:
            points = tuple(float(point) for point in cuts)
        except OverflowError:
            raise self.source.error(f"{key} has a number beyond the range of a float", at) from None
        wrong = wrong_cuts(points, states)
        if wrong:
            raise self.source.error(f"{key}: {wrong}", at)
        return points

    def missing(self, states: tuple[Label, ...]) -> Label | None:
        """The state of a node that stands for missing cells, if one does."""
        key = "bayescout_missing"
        fact = self.get(key)
        if fact is None:
            return None
        state = self._decoded(key, *fact)
        if state not in states:
            raise self.source.error(f"{key} is {state!r}, which is no state of the variable", fact[1])
        return state

    def undefined(self, rows: int) -> NDArray[np.bool_]:
        """A mask of the rows marked as having had no data to estimate from."""
        mask = np.zeros(rows, dtype=bool)
        key = "bayescout_undefined"
        fact = self.get(key)
        if fact is not None:
            listed, at = fact
            if not isinstance(listed, list) or not all(
                type(row) is int and 0 <= row < rows for row in listed
            ):
                raise self.source.error(f"{key} must list row numbers from 0 to {rows - 1}", at)
            mask[listed] = True
        return mask

    def _decoded(self, key: str, value: Any, at: int) -> Label:
        try:
            return decode_label(value)
        except (ValueError, RecursionError) as error:
            raise self.source.error(f"{key}: {error}", at) from None


# ---- writing


def of_network(network: Network, name: str, order: Sequence[int] = ()) -> list[str]:
    """The facts of a whole network that is written under this name, each as `key = value`.

    `order` has the nodes as they are written, if a format asks for parents first.
    """
    facts = [] if name == network.name else [line("bayescout_name", network.name)]
    if list(order) != sorted(order):
        facts.append(line("bayescout_order", list(order)))
    return [*facts, line("bayescout_rows", AS_WRITTEN)] if _is_rough(network) else facts


def of_node(network: Network, child: int, name: str, states: Sequence[str]) -> list[str]:
    """The facts of a node that is written under these names."""
    label, node = network.nodes[child], network.distributions[child]
    facts = [] if label == name and type(label) is str else [line("bayescout_label", encode_label(label))]
    if isinstance(node, Tabular):
        if any(own != written for own, written in zip(node.states, states, strict=True)):
            facts.append(line("bayescout_states", [encode_label(state) for state in node.states]))
        if node.cuts is not None:
            facts.append(line("bayescout_cuts", list(node.cuts)))
        if node.missing_state is not None:
            facts.append(line("bayescout_missing", encode_label(node.missing_state)))
    if isinstance(node, Tabular | ConditionalGaussian) and node.undefined.any():
        facts.append(line("bayescout_undefined", np.flatnonzero(node.undefined).tolist()))
    return facts


def line(key: str, value: object) -> str:
    """A fact on one line of ASCII, with ';' (the end of a property in every reader), '/' and '<', '>', '&'
    (comments and markup) escaped."""
    written = json.dumps(value, allow_nan=False)
    for character in ";/<>&%":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return f"{key} = {written}"


def _is_rough(network: Network) -> bool:
    """Return True if a row's sum is far enough from one that reading would normalise it."""
    return any(
        np.any(np.abs(node.table.sum(axis=-1) - 1) > ROUNDING_TOLERANCE / 2)
        for node in network.distributions
        if isinstance(node, Tabular)
    )
