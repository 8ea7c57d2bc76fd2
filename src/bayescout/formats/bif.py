"""BIF, the Interchange Format for Bayesian networks: reading, writing, and the meaning of a file.

A `table` entry for a child with parents lists P(child | parents) with the child slowest and
the last parent of the header fastest, as in BIF 0.15: `probability (light | family) { table
0.6 0.05 0.4 0.95; }` gives P(light = first | family = second) = 0.05. A `default` entry
fills every configuration that has no row of its own.

Facts that BIF cannot express are kept in properties, which other tools skip:
bayescout_label and bayescout_states hold labels that are not text, bayescout_undefined the
rows that had no data (numbered with the last parent fastest), bayescout_rows that sums were
not quite one in memory and must stay so.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import first_repeated
from bayescout.data.intervals import wrong_cuts
from bayescout.errors import BayescoutWarning, FormatError, TooLargeError, UnknownNameError
from bayescout.formats.bif_grammar import Block, Document, Entry, Variable, parse
from bayescout.formats.labels import decode_label, distinct_texts, encode_label
from bayescout.formats.text import Source, cycles_of, quote
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, counted
from bayescout.network import DiscreteNetwork, Network
from bayescout.network.tabular import MAX_PARENTS, ROW_SUM_TOLERANCE, too_many_parents

Array = NDArray[np.float64]

PRINTED_TOLERANCE = 2e-3
"""The largest deviation from one of the sum of a row's printed digits: three digits, or many states of four.
Such a row is divided by its sum, with a warning if it is off by more than a network may be; beyond it
the row is refused. The files of the Bayesian Network Repository are within 3e-7."""

ROUNDING_TOLERANCE = 1e-12
"""A row with a sum this near to one is only rounded and stays as it is, so that files round-trip."""

MAX_CELLS = 2**25
"""The most numbers in the tables of a file (256 MiB): with `default`, a few lines can ask for any number."""

_BARE = re.compile(r"[\w<>=+.%:-]+(?:/[\w<>=+.%:-]+)*")
_RESERVED = {
    "network",
    "variable",
    "probability",
    "property",
    "type",
    "discrete",
    "table",
    "default",
    "unknown",
}


# ---- reading


def read(text: str, path: str) -> Network:
    """The network in a BIF text."""
    source = Source(text, path)
    document = parse(source)
    if not document.variables:
        raise FormatError("no variable is declared; a network has at least one", path)
    variables = _by_name(document, source)
    blocks = _blocks_in_order(document, variables, source)
    labels = [_label_of(variable, source) for variable in document.variables]
    states = [_states_of(variable, source) for variable in document.variables]
    dag = _dag(blocks, variables, labels, source)
    as_written = any(_keyed(text) == ("bayescout_rows", '"as written"') for text, _ in document.properties)
    families = [
        _Rows(document, block, variable, [document.variables[variables[p]] for p in block.parents], source)
        for block, variable in zip(blocks, document.variables, strict=True)
    ]
    _check_sizes(families, path)
    tables, masks = [], []
    off: list[Array] = []
    for rows in families:
        block = rows.block
        table = rows.table(as_written)
        axes = np.argsort([variables[p] for p in block.parents], kind="stable").tolist()
        tables.append(np.array(table.transpose(*axes, len(axes)), order="C"))
        masks.append(np.array(rows.undefined().transpose(axes), order="C"))
        off.append(rows.off)
    _warn_normalised(np.concatenate(off), path)
    found = {label: _cuts_of(one, source) for label, one in zip(labels, document.variables, strict=True)}
    cuts = {label: points for label, points in found.items() if points is not None}
    empty = {label: _missing_of(one, source) for label, one in zip(labels, document.variables, strict=True)}
    return DiscreteNetwork(
        dag,
        tuple(states),
        tuple(tables),
        tuple(masks),
        document.name,
        cuts,
        {label: state for label, state in empty.items() if state is not None},
    )


def _check_sizes(families: list[_Rows], path: str) -> None:
    """Refuse tables that would not fit, before one is made."""
    total = 0
    for rows in families:
        if len(rows.shape) > MAX_PARENTS:
            raise FormatError(too_many_parents(rows.block.child, len(rows.shape)), path)
        cells = rows.configurations * rows.states
        total += cells
        if total > MAX_CELLS:
            before = f", {total:,} with those before it" if total > cells else ""
            raise TooLargeError(
                f"{path}: the table of {rows.block.child!r} has {cells:,} numbers{before}, more than "
                f"{MAX_CELLS:,}; use fewer parents"
            )


def _warn_normalised(off: Array, path: str) -> None:
    """Warn of the number of rows changed by more than a network may be off, and of the largest change."""
    if len(off):
        warnings.warn(
            f"{path}: {counted(len(off), 'row')} of the tables did not sum to 1, off by {off.max():.2g} at "
            f"most, and {'were' if len(off) > 1 else 'was'} divided by the sum; write more digits to keep "
            f"them exact",
            BayescoutWarning,
            stacklevel=3,
        )


def _by_name(document: Document, source: Source) -> dict[str, int]:
    """The position of each variable, by its name in the file."""
    positions: dict[str, int] = {}
    for variable in document.variables:
        states = variable.states or []
        if not states:
            raise source.error(f"variable {variable.name!r} has no states", variable.at)
        twice = first_repeated(states)
        if twice is not None:
            raise source.error(
                f"variable {variable.name!r} lists the state {states[twice]!r} twice", variable.at
            )
        positions[variable.name] = len(positions)
    return positions


def _blocks_in_order(document: Document, variables: dict[str, int], source: Source) -> list[Block]:
    """One probability block per variable, in the order of the variables."""
    found: dict[str, Block] = {}
    for block in document.blocks:
        for name in (block.child, *block.parents):
            if name not in variables:
                raise _located(UnknownNameError("variable", name, variables), source, block.at)
        if len(set(block.parents)) < len(block.parents):
            raise source.error(f"the probability of {block.child!r} lists a parent twice", block.at)
        found[block.child] = block
    for variable in document.variables:
        if variable.name not in found:
            raise source.error(f"variable {variable.name!r} has no probability block", variable.at)
    return [found[variable.name] for variable in document.variables]


def _dag(blocks: list[Block], variables: dict[str, int], labels: list[Label], source: Source) -> Dag:
    if len(set(labels)) < len(labels):
        raise FormatError("two variables have the same bayescout_label", source.path)
    parents = tuple(tuple(variables[parent] for parent in block.parents) for block in blocks)
    with cycles_of(f"{source.path}: the network"):
        return Dag(tuple(labels), parents)


def _located(error: Exception, source: Source, at: int) -> FormatError:
    return source.error(str(error), at)


class _Rows:
    """One probability block as a table: one axis per parent in header order, the child last."""

    def __init__(
        self, document: Document, block: Block, child: Variable, parents: list[Variable], source: Source
    ) -> None:
        self.read_row, self.block, self.source = document.row, block, source
        self.parents = [parent.states or [] for parent in parents]
        self.shape = tuple(len(states) for states in self.parents)
        self.configurations, self.states = math.prod(self.shape), len(child.states or [])
        self.off: Array = np.empty(0)

    def table(self, as_written: bool) -> Array:
        """The checked table; rows whose printed digits do not quite sum to one are normalised."""
        values = self._from_table() if self.block.table else self._from_rows()
        if not np.all(np.isfinite(values) & (values >= 0)):
            row, state = np.argwhere(~(np.isfinite(values) & (values >= 0)))[0].tolist()
            raise self.source.error(
                f"{self.named(row)} has {float(values[row, state]):g}, which is not a probability",
                self._position(row),
            )
        sums = values.sum(axis=1)
        off = np.abs(sums - 1)
        if off.max() > PRINTED_TOLERANCE:
            row = int(np.argmax(off > PRINTED_TOLERANCE))
            raise self.source.error(
                f"{self.named(row)} sums to {sums[row]:.6g}, more than {PRINTED_TOLERANCE:g} away from 1; "
                f"correct the row or divide it by its sum",
                self._position(row),
            )
        rough = off > (ROW_SUM_TOLERANCE if as_written else ROUNDING_TOLERANCE)
        values[rough] /= sums[rough, None]
        self.off = off[off > ROW_SUM_TOLERANCE]
        return values.reshape(*self.shape, self.states)

    def _from_table(self) -> Array:
        entry = self.block.table
        assert entry is not None
        if self.block.rows or self.block.default:
            raise self.source.error(
                f"the probability of {self.block.child!r} has a table and other entries; keep one of them",
                entry.at,
            )
        self._check_count(entry, self.configurations * self.states)
        values = np.array(entry.values).reshape(self.states, self.configurations)
        return np.ascontiguousarray(values.T)

    def _from_rows(self) -> Array:
        default = self.block.default
        given, numbers = self._given()
        if default is None and len(given) < self.configurations:
            listed = set(given)
            missing = next(row for row in range(self.configurations) if row not in listed)
            raise self.source.error(
                f"{self.named(missing)} is not given, and there is no default", self.block.at
            )
        values = np.empty((self.configurations, self.states))
        if default is not None:
            self._check_count(default, self.states)
            values[:] = default.values
        values[np.frombuffer(given, dtype=np.int64)] = np.frombuffer(numbers).reshape(-1, self.states)
        return values

    def _given(self) -> tuple[array[int], array[float]]:
        """The configurations that have a row, counted with the last parent fastest, and the rows' numbers."""
        codes = [{state: code for code, state in enumerate(states)} for states in self.parents]
        given, numbers = array("q"), array("d")
        seen = bytearray(self.configurations)
        for at in self.block.rows:
            entry = self.read_row(at)
            self._check_count(entry, self.states)
            if len(entry.states) != len(codes):
                raise self.source.error(
                    f"a row of {self.block.child!r} has {len(entry.states)} states for {len(codes)} parents",
                    entry.at,
                )
            row = 0
            for known, state in zip(codes, entry.states, strict=True):
                if state not in known:
                    raise self._unknown_state(entry)
                row = row * len(known) + known[state]
            if seen[row]:
                raise self.source.error(f"{self.named(row)} is given twice", entry.at)
            seen[row] = True
            given.append(row)
            numbers.extend(entry.values)
        return given, numbers

    def _position(self, row: int) -> int:
        """The position in the text of the numbers of a configuration."""
        block = self.block
        if block.table:
            return block.table.at
        place = dict(zip(self._given()[0], block.rows, strict=True))
        return place.get(row, block.default.at if block.default else block.at)

    def _unknown_state(self, entry: Entry) -> FormatError:
        which = next(i for i, state in enumerate(entry.states) if state not in self.parents[i])
        error = UnknownNameError(
            "state", entry.states[which], self.parents[which], repr(self.block.parents[which])
        )
        return _located(error, self.source, entry.at)

    def _check_count(self, entry: Entry, needed: int) -> None:
        if len(entry.values) != needed:
            raise self.source.error(
                f"the probability of {self.block.child!r} has {len(entry.values)} numbers here; "
                f"its states ask for {needed}",
                entry.at,
            )

    def undefined(self) -> NDArray[np.bool_]:
        """A mask of the rows marked as having had no data to estimate from."""
        mask = np.zeros(self.configurations, dtype=bool)
        for text, at in self.block.properties:
            key, value = _keyed(text)
            if key != "bayescout_undefined":
                continue
            rows = _json(value, key, at, self.source)
            limit = self.configurations
            if not isinstance(rows, list) or not all(type(row) is int and 0 <= row < limit for row in rows):
                raise self.source.error(f"{key} must list row numbers from 0 to {limit - 1}", at)
            mask[rows] = True
        return mask.reshape(self.shape)

    def named(self, row: int) -> str:
        """P(child | parent=state, ...), for an error."""
        codes = np.unravel_index(row, self.shape) if self.shape else ()
        given = ", ".join(
            f"{parent}={states[int(code)]}"
            for parent, states, code in zip(self.block.parents, self.parents, codes, strict=True)
        )
        return " ".join(f"P({self.block.child}{' | ' + given if given else ''})".splitlines())


# ---- labels that are not text


def _keyed(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key.strip(), value.strip()


def _json(value: str, key: str, at: int, source: Source) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise source.error(f"{key} is not JSON: {error}", at) from None


def _label_of(variable: Variable, source: Source) -> Label:
    for text, at in variable.properties:
        key, value = _keyed(text)
        if key == "bayescout_label":
            return _decoded(_json(value, key, at, source), key, at, source)
    return variable.name


def _states_of(variable: Variable, source: Source) -> tuple[Label, ...]:
    names = variable.states or []
    for text, at in variable.properties:
        key, value = _keyed(text)
        if key != "bayescout_states":
            continue
        states = _json(value, key, at, source)
        if not isinstance(states, list) or len(states) != len(names):
            raise source.error(f"{key} must list {len(names)} states, one for each of the type line", at)
        labels = tuple(_decoded(state, key, at, source) for state in states)
        if len(set(labels)) < len(labels):
            raise source.error(f"{key} lists a state twice", at)
        return labels
    return tuple(names)


def _cuts_of(variable: Variable, source: Source) -> tuple[float, ...] | None:
    """The cut points of a variable whose states are intervals of a number."""
    for text, at in variable.properties:
        key, value = _keyed(text)
        if key != "bayescout_cuts":
            continue
        cuts = _json(value, key, at, source)
        if not isinstance(cuts, list) or not all(type(point) in (int, float) for point in cuts):
            raise source.error(f"{key} must list numbers", at)
        try:
            points = tuple(float(point) for point in cuts)
        except OverflowError:
            raise source.error(f"{key} has a number beyond the range of a float", at) from None
        wrong = wrong_cuts(points, _states_of(variable, source))
        if wrong:
            raise source.error(f"{key}: {wrong}", at)
        return points
    return None


def _missing_of(variable: Variable, source: Source) -> Label | None:
    """The state of a variable that stands for missing cells, if one does."""
    for text, at in variable.properties:
        key, value = _keyed(text)
        if key != "bayescout_missing":
            continue
        state = _decoded(_json(value, key, at, source), key, at, source)
        if state not in _states_of(variable, source):
            raise source.error(f"{key} is {state!r}, which is no state of the variable", at)
        return state
    return None


def _decoded(value: Any, key: str, at: int, source: Source) -> Label:
    try:
        return decode_label(value)
    except (ValueError, RecursionError) as error:
        raise source.error(f"{key}: {error}", at) from None


# ---- writing


def write(network: object) -> str:
    """The BIF text of a discrete network; a network that BIF cannot hold is refused."""
    if not isinstance(network, Network) or not network.is_discrete:
        raise FormatError("BIF holds discrete networks only; write one with continuous nodes as .json")
    if not len(network.dag):
        raise FormatError("a network without nodes cannot be written as BIF; write it as .json")
    return "".join(_chunks(network))


def _chunks(network: Network) -> Iterator[str]:
    nodes = distinct_texts(network.dag.nodes)
    states = [distinct_texts(labels) for labels in network.states]
    yield f"network {_network_name(network.name)} {{\n"
    if _is_rough(network):
        yield _property("bayescout_rows", "as written")
    yield "}\n"
    for child, label in enumerate(network.dag.nodes):
        yield f"variable {_quoted(nodes[child])} {{\n"
        yield f"  type discrete [ {len(states[child])} ] {{ {', '.join(map(_quoted, states[child]))} }};\n"
        if label != nodes[child]:
            yield _property("bayescout_label", encode_label(label))
        if list(network.states[child]) != states[child]:
            yield _property("bayescout_states", [encode_label(state) for state in network.states[child]])
        cuts = network.cuts.get(label)
        if cuts is not None:
            yield _property("bayescout_cuts", list(cuts))
        if label in network.missing_states:
            yield _property("bayescout_missing", encode_label(network.missing_states[label]))
        yield "}\n"
    for child, parents in enumerate(network.dag.parents):
        given = ", ".join(_quoted(nodes[parent]) for parent in parents)
        yield f"probability ( {_quoted(nodes[child])}{' | ' + given if given else ''} ) {{\n"
        yield from _entries_of(network, child, [[_quoted(name) for name in states[p]] for p in parents])
        yield "}\n"


def _entries_of(network: Network, child: int, parent_states: list[list[str]]) -> Iterator[str]:
    table = network.tables[child]
    rows = table.reshape(-1, table.shape[-1]).tolist()
    for row, codes in zip(rows, np.ndindex(table.shape[:-1]), strict=True):
        given = ", ".join(names[code] for names, code in zip(parent_states, codes, strict=True))
        head = f"({given})" if parent_states else "table"
        yield f"  {head} {', '.join(map(repr, row))};\n"
    undefined = np.flatnonzero(network.undefined[child])
    if len(undefined):
        yield _property("bayescout_undefined", undefined.tolist())


def _is_rough(network: Network) -> bool:
    """Return True if a row's sum is far enough from one that reading would normalise it."""
    return any(np.any(np.abs(table.sum(axis=-1) - 1) > ROUNDING_TOLERANCE / 2) for table in network.tables)


def _property(key: str, value: object) -> str:
    """A property on one line, with ';' (which ends one in every reader) and '//' (a comment) escaped."""
    written = json.dumps(value, allow_nan=False).replace(";", "\\u003b").replace("/", "\\u002f")
    return f"  property {key} = {written};\n"


def _network_name(name: str) -> str:
    return _quoted(name) if name else "unknown"


def _quoted(name: str) -> str:
    return name if _BARE.fullmatch(name) and name not in _RESERVED else quote(name)
