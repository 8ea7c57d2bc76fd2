"""Every call of bayescout in the tables of docs/migration runs."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

PAGES = sorted((Path(__file__).resolve().parent.parent / "docs" / "migration").glob("*.md"))
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`]+)`")


def calls(page: str) -> list[str]:
    """The code in the second column of each table whose second heading is bayescout, in order."""
    found: list[str] = []
    ours = False
    for line in FENCED.sub("", page).splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            ours = False
        elif len(cells) > 1 and cells[1] == "bayescout":
            ours = True
        elif ours:
            found += [code.replace(r"\|", "|") for code in SPAN.findall(cells[1])]
    return found


def test_the_calls_are_found() -> None:
    page = "| theirs | bayescout |\n|---|---|\n| `f(x)` | `a = 1` `a \\| 2` |\n| `g` | none |\n\n`b`\n"
    assert calls(page) == ["a = 1", "a | 2"]
    assert [path.stem for path in PAGES] == ["bnlearn", "causal-learn", "index", "pgmpy", "pyagrum"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_call_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    page = path.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for language, code in FENCED.findall(page):
        if language == "python":
            exec(code, names)
    found = calls(page)
    assert len(found) > 30 or path.stem == "index"
    for code in found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(compile(code, str(path), "exec"), names)
            except Exception as error:
                error.add_note(f"in `{code}` of {path.name}")
                raise
