"""Graphs drawn with lines of text: the drawing, read again by eye, is the graph."""

from hypothesis import given

import bayescout as bs
from bayescout.graph.dag import Dag
from bayescout.plots.lines import drawn
from tests.graph.drawn_graphs import parent_sets


def read(lines, width):
    """The arcs of a drawing: each arrow is followed along its line, each lane it joins up to its node."""
    names, owner = [], []
    for line in lines:
        head = line[:width].strip()
        names += [head] if head else []
        owner.append(names[-1])
    rows = [line[width + 1 :] for line in lines]

    def at(row, column):
        return rows[row][column] if column < len(rows[row]) else " "

    arcs = set()
    for row, line in enumerate(rows):
        if not line.startswith("◄"):
            continue
        for column, mark in enumerate(line):
            if mark in "┤╯┼┴":
                above = row - 1
                while at(above, column) in "│┤┼":
                    above -= 1
                assert at(above, column) == "╮"
                arcs.add((owner[above], owner[row]))
            if mark in "┤╯":
                break
    return arcs


@given(parent_sets(max_nodes=7))
def test_a_drawing_has_the_arcs_of_the_graph(parents):
    nodes = tuple(f"n{i}" for i in range(len(parents)))
    dag = Dag(nodes, parents)
    lines = drawn(dag)
    assert read(lines, 2) == set(dag.arcs())
    assert {line[:2].strip() for line in lines} - {""} == set(nodes)


def test_asia():
    assert drawn(bs.load_network("asia").dag)[:5] == [
        "asia   ──╮",
        "tub    ◄─╯",
        "       ──╮",
        "smoke  ──│─╮",
        "lung   ◄─│─┤",
    ]
