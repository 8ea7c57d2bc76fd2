"""Exact inference on alarm against the frozen answers of another library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bayescout as bs

FROZEN = json.loads((Path(__file__).parent.parent / "peers" / "marginals.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("answer", FROZEN["answers"], ids=lambda answer: str(len(answer["evidence"])))
def test_alarm_marginals_are_those_of_pyagrum(answer):
    alarm = bs.load_network("alarm")
    together = alarm.marginals(answer["evidence"])
    assert len(answer["marginals"]) == 37
    for node, expected in answer["marginals"].items():
        if node in answer["evidence"]:
            continue
        assert together[node].to_dict() == pytest.approx(expected, abs=1e-7)
        assert alarm.query(node, answer["evidence"]).to_dict() == pytest.approx(expected, abs=1e-7)
