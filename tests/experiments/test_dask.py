"""The example of the documentation: a study on a Dask cluster gives the records it gives here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "studies" / "README.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_cluster_of_the_documentation_makes_the_same_records(tiny_studies, tmp_path, monkeypatch):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    small = block.replace('size="quick"', 'size="tiny"').replace(
        "threads_per_worker=1", 'threads_per_worker=1, dashboard_address=None, host="127.0.0.1"'
    )
    assert small != block
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(small, str(PAGE), "exec"), names)
    _, here, _ = tiny_studies("lau")
    assert [r.timeless() for r in names["ran"].records] == [r.timeless() for r in here.records]
    assert names["ran"].missing == 0
    assert [f.ours for f in names["outcome"].findings]
