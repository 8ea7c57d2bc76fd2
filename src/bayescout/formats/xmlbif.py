"""XMLBIF 0.3, the Interchange Format for Bayesian networks in XML: discrete networks.

A TABLE lists P(FOR | GIVEN) with the states of the first FOR fastest, then those of the last GIVEN. Names and
states may have blanks in XML, and are written as they are unless XML cannot carry them. A document type is
read over, and not written: pyAgrum refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator

from bayescout.formats import facts
from bayescout.formats.draft import Draft, DraftNode
from bayescout.formats.facts import Facts
from bayescout.formats.names import XML_TEXT, Names
from bayescout.formats.numbers import check_discrete, floats, rows_of
from bayescout.formats.xml_tree import Element, XmlSource, escape, parse
from bayescout.network import Network

NAMES = Names(XML_TEXT)


def read(text: str, path: str) -> Network:
    """The network in an XMLBIF text."""
    source = XmlSource(text, path)
    root = parse(source)
    network = root.first("NETWORK")
    if root.tag.upper() != "BIF" or network is None:
        raise source.error("is not XMLBIF, which has a NETWORK inside a BIF element", root.at)
    draft = Draft(source, _facts(network, source), _text(network, "NAME", source, ""))
    for variable in network.all("VARIABLE"):
        _read_variable(draft, variable)
    for definition in network.all("DEFINITION"):
        _read_definition(draft, definition)
    return draft.network()


def _facts(element: Element, source: XmlSource) -> Facts:
    found = Facts(source)
    for one in element.all("PROPERTY"):
        found.take(one.text, one.at)
    return found


def _text(element: Element, tag: str, source: XmlSource, otherwise: str | None = None) -> str:
    inside = element.first(tag)
    if inside is None and otherwise is None:
        raise source.error(f"{element.tag} has no {tag} element", element.at)
    return inside.text if inside is not None else otherwise or ""


def _read_variable(draft: Draft, variable: Element) -> None:
    source = draft.source
    assert isinstance(source, XmlSource)
    name = _text(variable, "NAME", source)
    kind = variable.attributes.get("TYPE", "nature")
    if kind != "nature":
        raise source.error(
            f"variable {name!r} is of the type {kind[:40]!r}; only 'nature', a random variable, is read",
            variable.at,
        )
    states = [one.text for one in variable.children if one.tag.upper() in ("OUTCOME", "VALUE")]
    draft.add(DraftNode(name, variable.at, _facts(variable, source), states))


def _read_definition(draft: Draft, definition: Element) -> None:
    source = draft.source
    assert isinstance(source, XmlSource)
    children = [one.text for one in definition.all("FOR")]
    if len(children) != 1:
        raise source.error(
            f"a DEFINITION has {len(children)} FOR elements; exactly one is read", definition.at
        )
    node = draft.find(children[0], definition.at)
    if node.table is not None:
        raise source.error(f"a second DEFINITION for {node.name!r}", definition.at)
    table = definition.first("TABLE")
    if table is None:
        raise source.error(f"the DEFINITION of {node.name!r} has no TABLE", definition.at)
    node.parents = [one.text for one in definition.all("GIVEN")]
    node.table_at = table.at
    node.table = floats(table.text, source, table.at, node.name)


# ---- writing


def write(network: object) -> str:
    """The XMLBIF text of a discrete network."""
    return "".join(_chunks(check_discrete(network, "XMLBIF")))


def _chunks(network: Network) -> Iterator[str]:
    nodes = NAMES.carried(network.nodes)
    (name,) = NAMES.carried([network.name]) if network.name else [""]
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n'
    yield f"<NETWORK>\n<NAME>{escape(name)}</NAME>\n"
    yield from _properties(facts.of_network(network, name))
    for child, written in enumerate(nodes):
        states = NAMES.carried(network.discrete_states[child])
        yield f'<VARIABLE TYPE="nature">\n  <NAME>{escape(written)}</NAME>\n'
        yield from (f"  <OUTCOME>{escape(state)}</OUTCOME>\n" for state in states)
        yield from _properties(facts.of_node(network, child, written, states))
        yield "</VARIABLE>\n"
    for child, parents in enumerate(network.dag.parents):
        yield f"<DEFINITION>\n  <FOR>{escape(nodes[child])}</FOR>\n"
        yield from (f"  <GIVEN>{escape(nodes[parent])}</GIVEN>\n" for parent in parents)
        numbers = " ".join(" ".join(map(repr, row)) for row in rows_of(network, child))
        yield f"  <TABLE>{numbers}</TABLE>\n</DEFINITION>\n"
    yield "</NETWORK>\n</BIF>\n"


def _properties(found: list[str]) -> Iterator[str]:
    return (f"  <PROPERTY>{escape(one)}</PROPERTY>\n" for one in found)
