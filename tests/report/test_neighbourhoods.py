"""The page of a wide graph: its arcs as numbers, and the neighbourhood of one variable drawn."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.report import neighbourhoods, page, widget
from bayescout.serve import opening
from tests.report.browser import ENTER, Browser
from tests.report.pages import asia


@pytest.fixture
def wide(monkeypatch):
    """A result that counts as wide: asia's, with arcs whose direction is open."""
    for where in (page, widget, opening):
        monkeypatch.setattr(where, "MOST_DRAWN", 4)
    learned = asia()
    dag = bs.load_network("asia").dag.reordered(learned.dag.nodes)
    return replace(learned, dag=dag, found_class=None)


def written(result, tmp_path, **options):
    path = tmp_path / "wide.html"
    result.report(path, **options)
    return path


def text_is(selector, text):
    """A script that says whether an element has this text: a choice shows once the address has changed."""
    return f"document.querySelector({json.dumps(selector)}).textContent === {json.dumps(text)}"


def numbers(text):
    return np.frombuffer(base64.b64decode(text), dtype="<u4").tolist()


def test_the_page_holds_every_arc(wide, tmp_path):
    text = written(wide, tmp_path, truth=wide.dag).read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json" id="page-data">(.*?)</script>', text)[1])
    starts, parents = numbers(data["starts"]), numbers(data["parents"])
    assert tuple(data["names"]) == wide.dag.nodes
    assert [tuple(parents[a:b]) for a, b in pairwise(starts)] == list(wide.dag.parents)
    either = list(base64.b64decode(data["either"]))
    arcs = [(p, c) for c, own in enumerate(wide.dag.parents) for p in own]
    undirected = {frozenset(edge) for edge in wide.cpdag.undirected}
    assert undirected
    assert either == [frozenset(arc) in undirected for arc in arcs]
    assert "SHD 0" in text
    assert data["names"][data["first"]] == "either"


def test_labels_cannot_leave_the_data(wide, tmp_path):
    names = ("</script><b>", *wide.dag.nodes[1:])
    odd = replace(wide, dag=bs.Dag(names, wide.dag.parents), table=None, data=None)
    assert "<b>" not in written(odd, tmp_path).read_text(encoding="utf-8")


def test_what_a_wide_page_cannot_show_is_said(wide, tmp_path):
    with pytest.raises(SettingError, match="8 variables shows no parameters"):
        written(wide, tmp_path, model=bs.load_network("asia"))
    with pytest.raises(SettingError, match="a project draws all variables of a graph"):
        wide.open(tmp_path / "project", browser=False)
    pytest.importorskip("anywidget")
    with pytest.raises(SettingError, match="no place for 8 variables"):
        wide.widget()


def test_a_wide_result_opens_without_a_server(wide):
    with wide.open(browser=False) as opened:
        path = opening.Path(opened.address.removeprefix("file://"))
        assert "Around one variable" in path.read_text(encoding="utf-8")
    assert not path.exists()


def test_a_graph_without_arcs_has_a_page(wide, tmp_path):
    empty = replace(wide, dag=bs.Dag.empty(wide.dag.nodes))
    assert neighbourhoods.page_data(empty, empty.dag.nodes, 0)["parents"] == ""
    assert "Most neighbours" not in written(empty, tmp_path).read_text(encoding="utf-8")


def test_a_person_finds_a_variable_and_moves_on(wide, tmp_path):
    if not (shutil.which("chromium") and shutil.which("chromedriver")) and not os.environ.get(
        "BAYESCOUT_NEEDS_BROWSER"
    ):
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    with Browser() as browser:
        browser.open(written(wide, tmp_path))
        assert browser.text("#told") == "either and its Markov blanket: 5 other variables."
        drawn = browser.run("return [...document.querySelectorAll('#drawing .box')].map(b => b.textContent)")
        blanket = {name for name in wide.dag.nodes if name in wide.dag.markov_blanket("either")} | {"either"}
        assert {name[: len(name) // 2] for name in drawn} == blanket
        assert browser.count("#drawing .arc") == 5
        search = browser.driver.find_element("css selector", "#find")
        search.send_keys("SM")
        assert browser.text("#hits") == "smoke"
        search.send_keys(ENTER)
        browser.until(text_is("#told", "smoke and its Markov blanket: 2 other variables."))
        assert browser.count("#drawing .arc.either") == 2
        browser.click("#extent label:nth-child(4)")
        browser.until(text_is("#told", "smoke and what lies within 3 steps: 6 other variables."))
        relative = browser.text("#relatives li:first-child button")
        browser.click("#relatives li:first-child button")
        browser.until(text_is("#told strong", relative))
        assert browser.text("#told strong") == browser.text("#drawing .chosen text")
        browser.driver.back()
        browser.until(text_is("#told strong", "smoke"))
        assert browser.driver.get_log("browser") == []
