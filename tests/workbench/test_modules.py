"""The page's modules fit together: what one asks of another is there, and all of them can share one scope."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from bayescout.report.modules import imports, joined, ordered
from bayescout.report.render import resource

NAMES = sorted(
    one.name for one in (files("bayescout.report") / "files").iterdir() if one.name.endswith(".js")
)
ENTRIES = ("report.js", "served.js", "widget.js", "neighbourhoods.js")
TOP = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
ALSO = re.compile(r"^(?:const|let) [^=(]*?, (\w+) = ", re.MULTILINE)
ASKED = re.compile(r'^import \{([^}]*)\} from "\./([a-z-]+\.js)";$', re.MULTILINE)


def test_every_module_is_used():
    assert set(NAMES) == {name for entry in ENTRIES for name in ordered(entry)}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_imported_is_exported_and_used(name):
    text = resource([name])
    assert len(re.findall(r"^import ", text, re.MULTILINE)) == len(imports(name))
    for asked, other in ASKED.findall(text):
        offered = re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", resource([other]), re.M)
        for wanted in (one.strip() for one in asked.split(",")):
            assert wanted in offered, f"{name} asks {other} for {wanted}"
            assert len(re.findall(rf"\b{wanted}\b", text)) > 1, f"{name} imports {wanted} for nothing"


@pytest.mark.parametrize("entry", ENTRIES)
def test_one_scope_holds_all_modules(entry):
    names = [found for name in ordered(entry) for found in TOP.findall(resource([name]))]
    assert sorted(names) == sorted(set(names))
    script = joined(entry)
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert script == joined.__wrapped__(entry)
    assert ALSO.findall(script) == [], "one name a statement at the top, so that this test sees them all"


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_script_has_every_line_of_code_and_no_comment(entry):
    aside = ("//", "/**", "*", "import ")
    lines = [line for name in ordered(entry) for line in resource([name]).splitlines() if line.strip()]
    code = [line.removeprefix("export ") for line in lines if not line.strip().startswith(aside)]
    assert [line for line in joined(entry).splitlines() if line.strip()] == ['"use strict";', *code]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_module_stands_after_what_it_needs(entry):
    order = ordered(entry)
    for place, name in enumerate(order):
        assert set(imports(name)) <= set(order[:place])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_as_markup(name):
    text = resource([name])
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser"):
        assert way not in text
    assert "</" not in text, "the script is put into a page"


def test_the_page_of_a_server_asks_for_files_that_are_there():
    page = resource(["index.html"])
    wanted = re.findall(r'(?:src|href)="/files/([^"]+)"', page)
    assert "served.js" in wanted
    for name in wanted:
        assert resource([name])
    assert "<script>" not in page
    assert "style=" not in page
