"""BIF, the Interchange Format for Bayesian networks: reading, writing, and the meaning of a file.

A `table` entry for a child with parents lists P(child | parents) with the child slowest and
the last parent of the header fastest, as in BIF 0.15: `probability (light | family) { table
0.6 0.05 0.4 0.95; }` gives P(light = first | family = second) = 0.05. A `default` entry
fills every configuration that has no row of its own.

Facts that BIF cannot express are kept in properties, which other tools skip: see `facts.py`. Names and states
that bnlearn, pgmpy or pyAgrum would not read are changed by the rule of `names.py` and kept there; earlier
versions wrote them between quotes, which is still read.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import first_repeated
from bayescout.errors import FormatError, TooLargeError, UnknownNameError
from bayescout.formats import facts
from bayescout.formats.bif_grammar import Block, Document, Entry, Variable, parse
from bayescout.formats.draft import MAX_CELLS, PRINTED_TOLERANCE, warn_normalised
from bayescout.formats.facts import ROUNDING_TOLERANCE, Facts
from bayescout.formats.names import Names
from bayescout.formats.numbers import check_discrete, rows_of
from bayescout.formats.text import Source, cycles_of
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label
from bayescout.network import DiscreteNetwork, Network
from bayescout.network.tabular import MAX_PARENTS, ROW_SUM_TOLERANCE, too_many_parents

Array = NDArray[np.float64]

RESERVED = frozenset(
    ["network", "variable", "probability", "property", "type", "discrete", "table", "default", "unknown"]
)
NODES = Names(re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), RESERVED)
STATES = Names(re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*|-?[0-9]+"), RESERVED)


# ---- reading


def read(text: str, path: str) -> Network:
    """The network in a BIF text."""
    source = Source(text, path)
    document = parse(source)
    if not document.variables:
        raise FormatError("no variable is declared; a network has at least one", path)
    variables = _by_name(document, source)
    blocks = _blocks_in_order(document, variables, source)
    kept = _facts_of(document, blocks, source)
    labels = [own.label(variable.name) for own, variable in zip(kept, document.variables, strict=True)]
    states = [
        own.states(variable.states or []) for own, variable in zip(kept, document.variables, strict=True)
    ]
    dag = _dag(blocks, variables, labels, source)
    of_network = _taken(document.properties, source)
    families = [
        _Rows(document, block, variable, [document.variables[variables[p]] for p in block.parents], source)
        for block, variable in zip(blocks, document.variables, strict=True)
    ]
    _check_sizes(families, path)
    tables, masks = [], []
    off: list[Array] = []
    for rows, own in zip(families, kept, strict=True):
        table = rows.table(of_network.as_written)
        axes = np.argsort([variables[p] for p in rows.block.parents], kind="stable").tolist()
        tables.append(np.array(table.transpose(*axes, len(axes)), order="C"))
        mask = own.undefined(rows.configurations).reshape(rows.shape)
        masks.append(np.array(mask.transpose(axes), order="C"))
        off.append(rows.off)
    warn_normalised(np.concatenate(off), path)
    cuts = {label: own.cuts(of_node) for label, own, of_node in zip(labels, kept, states, strict=True)}
    empty = {label: own.missing(of_node) for label, own, of_node in zip(labels, kept, states, strict=True)}
    return DiscreteNetwork(
        dag,
        tuple(states),
        tuple(tables),
        tuple(masks),
        of_network.name(document.name),
        {label: points for label, points in cuts.items() if points is not None},
        {label: state for label, state in empty.items() if state is not None},
    )


def _facts_of(document: Document, blocks: list[Block], source: Source) -> list[Facts]:
    """The facts of each variable, from the properties of both of its blocks."""
    return [
        _taken([*variable.properties, *block.properties], source)
        for variable, block in zip(document.variables, blocks, strict=True)
    ]


def _taken(properties: list[tuple[str, int]], source: Source) -> Facts:
    found = Facts(source)
    for text, at in properties:
        found.take(text, at)
    return found


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
            entry = self.read_row(at, len(self.parents))
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

    def named(self, row: int) -> str:
        """P(child | parent=state, ...), for an error."""
        codes = np.unravel_index(row, self.shape) if self.shape else ()
        given = ", ".join(
            f"{parent}={states[int(code)]}"
            for parent, states, code in zip(self.block.parents, self.parents, codes, strict=True)
        )
        return " ".join(f"P({self.block.child}{' | ' + given if given else ''})".splitlines())


# ---- writing


def write(network: object) -> str:
    """The BIF text of a discrete network; a network that BIF cannot hold is refused."""
    return "".join(_chunks(check_discrete(network, "BIF")))


def _chunks(network: Network) -> Iterator[str]:
    nodes = NODES.carried(network.dag.nodes)
    states = [STATES.carried(labels) for labels in network.discrete_states]
    (name,) = NODES.carried([network.name]) if network.name else [""]
    yield f"network {name or 'unknown'} {{\n"
    yield from _properties(facts.of_network(network, name))
    yield "}\n"
    for child, written in enumerate(nodes):
        yield f"variable {written} {{\n"
        yield f"  type discrete [ {len(states[child])} ] {{ {', '.join(states[child])} }};\n"
        yield from _properties(facts.of_node(network, child, written, states[child]))
        yield "}\n"
    for child, parents in enumerate(network.dag.parents):
        given = ", ".join(nodes[parent] for parent in parents)
        yield f"probability ( {nodes[child]}{' | ' + given if given else ''} ) {{\n"
        yield from _entries_of(network, child, [states[p] for p in parents])
        yield "}\n"


def _entries_of(network: Network, child: int, parent_states: list[list[str]]) -> Iterator[str]:
    for row, codes in zip(rows_of(network, child), np.ndindex(network.tables[child].shape[:-1]), strict=True):
        given = ", ".join(names[code] for names, code in zip(parent_states, codes, strict=True))
        head = f"({given})" if parent_states else "table"
        yield f"  {head} {', '.join(map(repr, row))};\n"


def _properties(found: list[str]) -> Iterator[str]:
    return (f"  property {one};\n" for one in found)
