"""Single-arc moves by making the graph that each leads to and asking whether it has a cycle."""

from __future__ import annotations

from tests.reference.graphs import is_acyclic

ADD, REMOVE, REVERSE = range(3)


def after(arcs, kind, child, parent):
    """The arcs after a move."""
    without = arcs - {(parent, child)}
    return {ADD: arcs | {(parent, child)}, REMOVE: without, REVERSE: without | {(child, parent)}}[kind]


def gain_of(gains, removals, kind, child, parent):
    """Of each move from the gains of adding and of removing a parent."""
    added = {ADD: gains[child, parent], REMOVE: 0.0, REVERSE: gains[parent, child]}[kind]
    return added + (0.0 if kind == ADD else removals[child, parent])


def legal_moves(n, arcs, gains, removals):
    """{(kind, child, parent): gain} in that order, of moves that may be made and leave no cycle."""
    found = {}
    for kind in (ADD, REMOVE, REVERSE):
        for child in range(n):
            for parent in range(n):
                there = (parent, child) in arcs
                if child == parent or there == (kind == ADD):
                    continue
                gain = gain_of(gains, removals, kind, child, parent)
                if gain > float("-inf") and is_acyclic(n, after(arcs, kind, child, parent)):
                    found[kind, child, parent] = gain
    return found
