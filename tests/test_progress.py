"""Progress in a notebook: a line in the cell's output, without widgets."""

from __future__ import annotations

import pytest

import bayescout as bs
from bayescout import progress

ROWS = {"a": [0, 1] * 20, "b": [0, 1] * 19 + [1, 0], "c": [0, 0, 1, 1] * 10}


@pytest.fixture
def shown(monkeypatch):
    """What a notebook is given to show: the first state of each line, and every change of it."""
    display = pytest.importorskip("IPython.display")
    texts: list[str] = []

    class Handle:
        def update(self, data, raw):
            assert raw
            texts.append(data["text/plain"])

    def given(data, raw, display_id):
        assert raw
        assert display_id
        texts.append(data["text/plain"])
        return Handle()

    monkeypatch.setattr(display, "display", given)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(progress, "BETWEEN", 0.0)
    return texts


def test_learning_shows_the_share_of_its_budget(shown, capsys):
    quiet = bs.learn(ROWS, "tabu", "bic", max_steps=2)
    result = bs.learn(ROWS, "tabu", "bic", max_steps=2, progress=True)
    assert result.dag == quiet.dag
    assert shown[-1].endswith("100% of the budget")
    assert "best" in shown[-1]
    assert all("\n" not in text and "\x1b" not in text for text in shown)
    assert capsys.readouterr() == ("", "")


def test_the_line_ends_with_what_was_found_when_the_time_is_over(shown):
    """Greedy climbing fills in where the search itself came to nothing; no callback tells of it."""
    result = bs.learn(ROWS, "memetic", "bic", max_time=1e-9, progress=True)
    assert f"best {result.score:,.3f}  arcs {result.dag.n_arcs}" in shown[-1]
    assert shown[-1].endswith("100% of the budget")


def test_resamples_are_counted(shown):
    bs.bootstrap(ROWS, runs=3, search="hill-climb", score="bic", workers=1, progress=True)
    assert "3/3" in shown[-1]
