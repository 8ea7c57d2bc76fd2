"""XDSL, the format of GeNIe and SMILE: networks of CPT nodes, and deterministic ones.

Probabilities are listed with the node's own states fastest, then its last parent. A deterministic node lists
its state for each configuration, and is read as a table of zeros and ones. Noisy-MAX, equation, decision and
utility nodes are refused, with their names.

pyAgrum writes and reads tables of two or more parents with the *first* parent fastest. A file that says it
is pyAgrum's is read its way, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from bayescout.errors import warn
from bayescout.formats import facts
from bayescout.formats.draft import MAX_CELLS, Draft, DraftNode
from bayescout.formats.facts import Facts
from bayescout.formats.names import XML_TEXT, Names
from bayescout.formats.numbers import check_discrete, floats, rows_of, turned
from bayescout.formats.xml_tree import Element, XmlSource, attribute, escape, parse
from bayescout.network import Network

NAMES = Names()

_PYAGRUM = re.compile(r"<genie\s[^>]*\bapp\s*=\s*[\"']aGrUM|created by pyAgrum", re.IGNORECASE)
_OTHER_NODES = "noisymax noisyadder equation decision utility mau demorgan bernoulli plate cptequation"


def read(text: str, path: str) -> Network:
    """The network in an XDSL text."""
    source = XmlSource(text, path)
    root = parse(source)
    nodes = root.first("nodes")
    if root.tag.lower() != "smile" or nodes is None:
        raise source.error("is not XDSL, which has nodes inside a smile element", root.at)
    draft = Draft(source, _facts(root, source), root.attributes.get("id", ""))
    for element in nodes.children:
        _read_node(draft, element, source)
    if _PYAGRUM.search(text) and any(len(node.parents) > 1 for node in draft.nodes):
        _turn(draft)
        warn(
            f"{path}: pyAgrum's XDSL counts a table's parents with the first fastest and not the last, as "
            f"GeNIe does; it was read its way"
        )
    return draft.network()


def _facts(element: Element, source: XmlSource) -> Facts:
    """Facts are user properties: <property id="bayescout_label">...</property>."""
    found = Facts(source)
    for one in element.all("property"):
        found.take(f"{one.attributes.get('id', '')} = {one.text}", one.at)
    return found


def _read_node(draft: Draft, element: Element, source: XmlSource) -> None:
    name = element.attributes.get("id", "")
    kind = element.tag.lower()
    if kind not in ("cpt", "deterministic"):
        what = element.tag if kind in _OTHER_NODES.split() else f"{element.tag[:40]!r}"
        raise source.error(
            f"node {name!r} is a {what} node; only cpt and deterministic ones are read: change it "
            f"to a general chance node",
            element.at,
        )
    states = [one.attributes.get("id", "") for one in element.all("state")]
    node = DraftNode(name, element.at, _facts(element, source), states)
    parents = element.first("parents")
    node.parents = parents.text.split() if parents is not None else []
    listed = "probabilities" if kind == "cpt" else "resultingstates"
    table = element.first(listed)
    if table is None:
        raise source.error(f"node {name!r} has no {listed}", element.at)
    text = table.text if kind == "cpt" else _ones(table, states, name, source)
    node.table_at, node.table = table.at, floats(text, source, table.at, name)
    draft.add(node)


def _ones(table: Element, states: list[str], name: str, source: XmlSource) -> str:
    """The probabilities of a node whose state is listed for each configuration of its parents."""
    rows = {state: " ".join("1" if state == other else "0" for other in states) for state in states}
    listed = table.text.split()
    unknown = [state for state in listed if state not in rows]
    if unknown:
        raise source.error(f"node {name!r} has no state {unknown[0]!r}", table.at)
    if len(listed) * len(states) > MAX_CELLS:
        raise source.error(f"the table of node {name!r} has more than {MAX_CELLS:,} cells", table.at)
    return " ".join(rows[state] for state in listed)


def _turn(draft: Draft) -> None:
    """Put tables that have their first parent fastest into the order in which the last is."""
    for node in draft.nodes:
        shape = [len(draft.find(parent, node.at).states or ()) for parent in node.parents]
        shape.append(len(node.states or ()))
        if len(shape) > 2 and node.table is not None and np.prod(shape, dtype=float) == len(node.table):
            node.table = turned(node.table, shape)


# ---- writing


def write(network: object) -> str:
    """The XDSL text of a discrete network; names that GeNIe would not show are kept as its titles."""
    return "".join(_chunks(check_discrete(network, "XDSL")))


def _chunks(network: Network) -> Iterator[str]:
    nodes = NAMES.carried(network.nodes)
    (name,) = NAMES.carried([network.name]) if network.name else ["network"]
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<smile version="1.0" id="{name}" numsamples="10000" discsamples="10000">\n'
    order = network.dag.order_indices
    yield from _properties(facts.of_network(network, name, order), "\t")
    yield "\t<nodes>\n"
    for child in order:
        states = NAMES.carried(network.discrete_states[child])
        yield f'\t\t<cpt id="{nodes[child]}">\n'
        yield from (f'\t\t\t<state id="{state}" />\n' for state in states)
        parents = " ".join(nodes[parent] for parent in network.dag.parents[child])
        yield f"\t\t\t<parents>{parents}</parents>\n" if parents else ""
        numbers = " ".join(" ".join(map(repr, row)) for row in rows_of(network, child))
        yield f"\t\t\t<probabilities>{numbers}</probabilities>\n"
        yield from _properties(facts.of_node(network, child, nodes[child], states), "\t\t\t")
        yield "\t\t</cpt>\n"
    yield "\t</nodes>\n\t<extensions>\n"
    yield f'\t\t<genie version="1.0" app="bayescout" name={attribute(_title(network.name) or name)}>\n'
    for child in order:
        title = _title(str(network.nodes[child])) or nodes[child]
        yield f'\t\t\t<node id="{nodes[child]}">\n\t\t\t\t<name>{escape(title)}</name>\n\t\t\t</node>\n'
    yield "\t\t</genie>\n\t</extensions>\n</smile>\n"


def _title(text: str) -> str:
    """The text as XML carries it, or nothing if it cannot."""
    return text if XML_TEXT.fullmatch(text) else ""


def _properties(found: list[str], indent: str) -> Iterator[str]:
    for one in found:
        key, _, value = one.partition(" = ")
        yield f"{indent}<property id={attribute(key)}>{escape(value)}</property>\n"
