"""The steps of a run in a file: any of them is found again, also after going back."""

from __future__ import annotations

import errno
import io
import os
import random

import pytest

from bayescout.serve import traces
from bayescout.serve.traces import KEYFRAME, MOST_POINTS, TraceReader, TraceWriter


def wander(steps, seed=0):
    """A graph that changes by an arc or two per step."""
    draw = random.Random(seed)
    arcs, found = frozenset(), []
    for _ in range(steps):
        pair = tuple(draw.sample(range(6), 2))
        arcs = arcs ^ {pair}
        found.append(arcs)
    return found


def written(path, graphs, begin=0):
    writer = TraceWriter(path)
    for step, arcs in enumerate(graphs, begin):
        writer.add(step, step / 10, -100.0 + step, -90.0 + step, arcs)
    return writer


def test_every_step_is_found(tmp_path):
    graphs = wander(2 * KEYFRAME + 30)
    written(tmp_path / "trace", graphs).close()
    reader = TraceReader(tmp_path / "trace")
    for step in (0, 1, 17, KEYFRAME - 1, KEYFRAME, KEYFRAME + 1, 2 * KEYFRAME, len(graphs) - 1):
        assert reader.at(step) == ([step, step / 10, -100.0 + step, -90.0 + step], graphs[step])
    assert reader.at(len(graphs)) is None
    assert reader.at(-1) is None


def test_a_reader_follows_a_file_that_grows(tmp_path):
    graphs = wander(40)
    writer, reader = written(tmp_path / "trace", graphs[:10]), TraceReader(tmp_path / "trace")
    writer.flush()
    assert len(reader.points()) == 10
    for step in range(10, 40):
        writer.add(step, 0.0, 0.0, 0.0, graphs[step])
    writer.flush()
    writer.close()
    assert [point[0] for point in reader.points()] == list(range(40))
    assert reader.at(39)[1] == graphs[39]


def test_going_back_takes_steps_off_and_others_take_their_place(tmp_path):
    graphs, others = wander(KEYFRAME + 20), wander(30, seed=1)
    writer = written(tmp_path / "trace", graphs)
    writer.cut(KEYFRAME - 4)
    writer.now(graphs[KEYFRAME - 5])
    for place, arcs in enumerate(others):
        writer.add(KEYFRAME - 4 + place, 0.0, 0.0, 0.0, arcs)
    writer.close()
    reader = TraceReader(tmp_path / "trace")
    assert reader.at(KEYFRAME - 5)[1] == graphs[KEYFRAME - 5]
    assert [reader.at(KEYFRAME - 4 + place)[1] for place in range(30)] == others
    assert len(reader.points()) == KEYFRAME - 4 + 30


def test_a_line_that_a_kill_cut_short_is_dropped(tmp_path):
    graphs = wander(20)
    written(tmp_path / "trace", graphs).close()
    with open(tmp_path / "trace", "ab") as stream:
        stream.write(b"[20,0.0,-1")
    reader = TraceReader(tmp_path / "trace")
    assert len(reader.points()) == 20
    writer = TraceWriter(tmp_path / "trace")
    assert writer.steps == 20
    writer.now(graphs[-1])
    writer.add(20, 0.0, 0.0, 0.0, graphs[0])
    writer.close()
    assert TraceReader(tmp_path / "trace").at(20)[1] == graphs[0]


@pytest.mark.parametrize("room", [0, 1, 60, 700, 1500])
def test_a_step_that_a_full_disk_does_not_take_is_written_once_there_is_room(tmp_path, monkeypatch, room):
    """Before the next one; else each step from there on would be shown as the one before it."""

    class Disk(io.FileIO):
        room = 0

        def write(self, content):
            taken = min(len(content), Disk.room)
            if not taken:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            Disk.room -= taken
            return super().write(memoryview(content)[:taken])

    monkeypatch.setattr(traces, "open", lambda path, mode, buffering=-1: Disk(path, mode), raising=False)
    Disk.room, graphs, refused = room, wander(60), 0
    writer = TraceWriter(tmp_path / "trace")
    for step, arcs in enumerate(graphs):
        try:
            writer.add(step, step / 10, -100.0, -100.0, arcs)
        except OSError:
            refused += 1
            Disk.room = 10**6 if refused == 2 else 0
    writer.cut(59)
    writer.close()
    assert refused == 2
    reader = TraceReader(tmp_path / "trace")
    assert [reader.at(step) for step in range(59)] == [
        ([step, step / 10, -100.0, -100.0], graphs[step]) for step in range(59)
    ]
    assert reader.at(59) is None


def test_a_long_curve_is_thinned_and_keeps_its_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(traces, "MOST_POINTS", 100)
    written(tmp_path / "trace", wander(1999)).close()
    steps = [point[0] for point in TraceReader(tmp_path / "trace").points()]
    assert steps[0] == 0
    assert steps[-1] == 1998
    assert 40 < len(steps) <= 102
    assert steps == sorted(set(steps))
    assert MOST_POINTS > 1000


def test_a_result_learned_elsewhere_has_a_curve_and_no_graphs(tmp_path):
    (tmp_path / "trace").write_text("[0,0.1,-5.0,-5.0]\n[1,0.2,-4.0,-4.0]\n")
    reader = TraceReader(tmp_path / "trace")
    assert reader.points() == [[0, 0.1, -5.0, -5.0], [1, 0.2, -4.0, -4.0]]
    assert reader.at(1) is None
