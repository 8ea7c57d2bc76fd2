"""The page in a notebook: the same modules in a tree of their own."""

from __future__ import annotations

import json

import pytest

import bayescout as bs
from bayescout.report import views
from bayescout.report.widget import style
from tests.report.pages import asia

PAGE = """<!doctype html><meta charset="utf-8"><div id="cell" style="width:1100px"></div>
<script type="application/json" id="values">{values}</script>
<script type="module">
{script}
"""

START = """
const values = JSON.parse(document.getElementById("values").textContent);
const model = { get: (name) => values[name], on: () => {} };
showWidget({ model, el: document.getElementById("cell") });
</script>"""


def test_a_widget_draws_and_answers_in_its_own_tree(chromium, tmp_path):
    result = asia()
    pytest.importorskip("anywidget")
    widget = result.widget(truth=bs.load_network("asia"), height=500)
    values = {name: getattr(widget, name) for name in ("data", "tiles", "style", "height")}
    script = str(widget._esm)
    assert script.rstrip().endswith("export default { render: showWidget };")
    page = PAGE.replace("{values}", json.dumps(values).replace("<", "\\u003c")).replace("{script}", script)
    (tmp_path / "cell.html").write_text(page + START, encoding="utf-8")
    chromium.complaints()
    chromium.size(1280, 720)
    chromium.open(tmp_path / "cell.html")
    chromium.until("Boolean(document.getElementById('cell').workbench)")
    tree = "document.getElementById('cell').shadowRoot"
    assert chromium.run(f"return {tree}.querySelectorAll('#graph .node').length") == 8
    assert chromium.run(f"return {tree}.querySelectorAll('.rail .tiles dt').length") >= 5
    chromium.run(f"{tree}.querySelector('#tab-whatif').click()")
    chromium.until(f"{tree}.querySelectorAll('.monitor').length === 8")
    assert chromium.run(f"return getComputedStyle({tree}.querySelector('.rail')).overflow") == "auto"
    assert chromium.complaints() == []


def test_the_style_stays_within():
    text = style()
    assert ":root" not in text
    assert "\nbody {" not in text


@pytest.mark.parametrize("beyond", [150, 2])
def test_layers_moved_apart_keep_curves_at_their_boxes(monkeypatch, beyond):
    """In a flat layout and in one as it comes every curve joins its parent's box to its child's."""
    monkeypatch.setattr(views, "FLAT_BEYOND", beyond)
    monkeypatch.setattr(views, "WIDEST", 0.2)
    network = bs.load_network("asia")
    found = views.placed(network.dag, network.nodes)
    for parent, child, points in found["routes"]:
        for name, (x, y) in ((parent, points[:2]), (child, points[-2:])):
            px, py = found["positions"][name]
            width, height = found["sizes"][name]
            assert abs(x - px) <= width / 2
            assert abs(abs(y - py) - height / 2) < 0.2
    assert {(a, b) for a, b, _ in found["routes"]} == set(network.dag.arcs())
