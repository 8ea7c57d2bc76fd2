"""The report in a real browser: what a person does with it works, and nothing leaves the page."""

from __future__ import annotations

import os
import shutil

import pytest

import bayescout as bs
from bayescout.report.study import write_study
from bayescout.report.wording import text
from tests.report.browser import ENTER, LEFT, RIGHT, SHIFT, Browser
from tests.report.pages import NASTY, asia, nasty, with_tests
from tests.report.test_study_page import RECORDS, outcome

BOX = """
const box = document.querySelector(arguments[0]).getBoundingClientRect();
return [box.left + box.width / 2, box.top + box.height / 2, box.left, box.top, box.right, box.bottom];
"""
MIDDLE_OF_LINE = """
const line = document.querySelector(arguments[0] + ' .line');
line.scrollIntoView({block: "center"});
const at = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
return [at.x, at.y];
"""
ARCS = """
return [...document.querySelectorAll(arguments[0])].map(a => [a.dataset.parent, a.dataset.child].map(Number))
"""
WRONG_HEADS = """
const graph = window.workbench.net;
const far = (x, y, [bx, by, w, h]) =>
  Math.hypot(Math.max(0, Math.abs(x - bx) - w / 2), Math.max(0, Math.abs(y - by) - h / 2));
return [...document.querySelectorAll("#graph .arc")].filter(arc => {
  const [x, y] = arc.querySelector(".head").getAttribute("d").slice(1).split("L")[0].split(" ").map(Number);
  return far(x, y, graph.boxes[arc.dataset.child]) > 1 || far(x, y, graph.boxes[arc.dataset.parent]) < 5;
}).length;
"""
TRANSFORM = "return document.querySelector('#graph g').getAttribute('transform')"


@pytest.fixture(scope="module")
def browser():
    there = shutil.which("chromium") and shutil.which("chromedriver")
    if not there and not os.environ.get("BAYESCOUT_NEEDS_BROWSER"):
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def results():
    return {"asia": asia(), "nasty": nasty(), "alarm": _alarm(), "tested": with_tests(asia())}


def _alarm():
    network = bs.load_network("alarm")
    return bs.learn(
        network.sample(500, seed=1), start=network.dag, max_steps=3, top=3, search="hill-climb", score="bic"
    )


@pytest.fixture(scope="module")
def pages(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    truth = {"asia": bs.load_network("asia"), "alarm": bs.load_network("alarm")}
    for name, result in results.items():
        result.report(folder / f"{name}.html", truth=truth.get(name))
    results["asia"].save(folder / "asia.json")
    bs.Result.load(folder / "asia.json").report(folder / "loaded.html")
    write_study(outcome(), folder / "study", RECORDS)
    return folder


@pytest.fixture
def page(browser, pages):
    """Opens pages in a fresh state; complaints and requests are checked at the end."""
    opened = []

    def show(name="asia", width=1280, height=900, theme="light"):
        browser.size(width, height)
        browser.theme(theme)
        browser.complaints()
        browser.open(pages / f"{name}.html")
        browser.requests()
        opened.append(name)
        return browser

    yield show
    assert opened
    assert browser.complaints() == []
    assert [a for a in browser.requests() if not a.startswith(("file:", "chrome:"))] == []
    assert browser.run("return window.hacked") is None


def middle(browser, selector):
    return browser.run(BOX, selector)[:2]


def node(result, label):
    return f'[data-node="{result.dag.index(label)}"]'


def press(browser, x, y, keys=""):
    browser.pointer({"x": x, "y": y, "press": True, "release": True}, keys=keys)


def click_node(browser, result, label, keys=""):
    browser.run("document.getElementById('graph').scrollIntoView()")
    press(browser, *middle(browser, node(result, label)), keys=keys)


def test_the_watch_itself_sees_errors_and_requests(browser, tmp_path):
    browser.complaints()
    (tmp_path / "bad.html").write_text("<script>nothing()</script><img src='http://127.0.0.1:9/x.png'>")
    browser.open(tmp_path / "bad.html")
    browser.until("document.readyState === 'complete'")
    assert any("nothing" in complaint for complaint in browser.complaints())
    assert "http://127.0.0.1:9/x.png" in browser.requests()


def test_the_network_is_drawn(page, results):
    browser, result = page(), results["asia"]
    assert browser.count("#graph .node") == 8
    drawn = browser.run(ARCS, "#graph .arc")
    nodes = result.dag.nodes
    assert sorted((nodes[a], nodes[b]) for a, b in drawn) == sorted(result.dag.arcs())
    assert browser.count("#graph .arc .head") == result.dag.n_arcs


@pytest.mark.parametrize("name", ["asia", "alarm", "nasty"])
@pytest.mark.parametrize("width", [1280, 420])
def test_nothing_is_cut_or_covered(page, name, width):
    browser = page(name, width)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    overlaps = browser.run("""
      const boxes = [...document.querySelectorAll('#graph .node rect')].map(r => r.getBoundingClientRect());
      const frame = document.getElementById('graph').getBoundingClientRect();
      const outside = boxes.filter(b => b.left < frame.left || b.right > frame.right
        || b.top < frame.top || b.bottom > frame.bottom);
      const meet = boxes.flatMap((a, i) => boxes.slice(i + 1).filter(
        b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
      const cut = [...document.querySelectorAll('#graph .node')].filter(
        n => n.querySelector('text').getBBox().width > n.querySelector('rect').getBBox().width);
      return [outside.length, meet.length, cut.length];
    """)  # fmt: skip
    assert overlaps == [0, 0, 0]


def test_an_arc_is_explained_on_a_click(page, results):
    browser, result = page(), results["asia"]
    parent, child = next(iter(result.dag.arcs()))
    ends = f'.arc[data-parent="{result.dag.index(parent)}"][data-child="{result.dag.index(child)}"]'
    press(browser, *browser.run(MIDDLE_OF_LINE, ends))
    words = browser.text("#panel")
    said = result.explain(parent, child)
    assert f"{parent} → {child}" in words
    assert f"Without this arc the score falls by {abs(said.remove):,.3f}" in words
    for row in said.counts.values():
        for count in row.values():
            assert f"{count:,}" in words
    assert browser.count("tr.seen") == 1
    assert browser.count(ends + ".chosen") == 1


def test_a_node_shows_its_neighbours_data_and_parameters(page, results):
    browser, result = page(), results["asia"]
    click_node(browser, result, "dysp")
    words = browser.text("#panel")
    for parent in result.dag.parents_of("dysp"):
        assert parent in words
    assert "In the data" in words
    assert "P(dysp | " in words
    first = next(row for _, row in result.fit().cpt("dysp").rows() if row)
    assert f"{first[0]:.4f}" in words
    browser.click("#panel ul button")
    assert "Without this arc" in browser.text("#panel")


def test_any_pair_can_be_asked(page, results):
    browser, result = page(), results["asia"]
    nodes = result.dag.nodes
    pairs = [(a, b) for a in nodes for b in nodes if a != b and b not in result.dag.neighbours_of(a)]
    both = [p for p in pairs if None not in (result.explain(*p).add, result.explain(*p[::-1]).add)]
    absent = max(both, key=lambda p: abs(result.explain(*p).add - result.explain(*p[::-1]).add))
    click_node(browser, result, absent[0])
    click_node(browser, result, absent[1], keys=SHIFT)
    words = browser.text("#panel")
    assert "No arc joins them" in words
    for one, two in (absent, absent[::-1]):
        said = result.explain(one, two)
        assert f"With {one} → {two} added the score falls by {abs(said.add):,.3f}." in words
    cyclic = next(p for p in pairs if result.explain(*p).add is None)
    click_node(browser, result, cyclic[0])
    click_node(browser, result, cyclic[1], keys=SHIFT)
    cycle = " → ".join(result.explain(*cyclic).cycle)
    assert f"With {cyclic[0]} → {cyclic[1]} added there would be a cycle: {cycle}." in browser.text("#panel")
    click_node(browser, result, absent[0])
    browser.run(
        "document.querySelector('#panel select').value = arguments[0]", str(result.dag.index(absent[1]))
    )
    browser.click("#panel .row button")
    assert "No arc joins them" in browser.text("#panel")


def test_hovering_picks_out_parents_and_children(page, results):
    browser, result = page(), results["asia"]
    browser.run("document.getElementById('graph').scrollIntoView()")
    x, y = middle(browser, node(result, "either"))
    browser.pointer({"x": x, "y": y})
    for kind, labels in (
        ("parent", result.dag.parents_of("either")),
        ("child", result.dag.children_of("either")),
    ):
        marked = browser.run(
            f"return [...document.querySelectorAll('#graph .node.{kind}')].map(n => Number(n.dataset.node))"
        )
        assert marked == [result.dag.index(label) for label in labels]
    assert browser.count(".dim") == 1
    browser.pointer({"x": 5, "y": 5})
    assert browser.count(".dim, .near") == 0


def test_moving_about(page):
    browser = page("alarm")
    browser.run("document.getElementById('graph').scrollIntoView()")
    browser.until("performance.now() > 600")  # a wheel right after a scroll scrolls on
    start = browser.run(TRANSFORM)
    x, y = middle(browser, "#graph")

    def scale():
        return float(browser.run(TRANSFORM).split("scale(")[1].rstrip(")"))

    browser.run("return new Promise(done => setTimeout(done, 300))")
    first = scale()
    browser.wheel(x, y, -300)
    browser.until(f"document.querySelector('#graph g').getAttribute('transform') !== '{start}'")
    assert scale() > first
    browser.click("#fit")
    assert browser.run(TRANSFORM) == start
    browser.click("#zoom-in")
    assert scale() == pytest.approx(1.25 * first)
    browser.click("#zoom-out")
    assert scale() == pytest.approx(first)
    browser.type("#search", "HYPOVOLEMIA")
    browser.click("#fit")
    before = browser.run(BOX, "#graph g")[:2]
    _, _, left, top, *_ = browser.run(BOX, "#graph")  # in a corner there is no variable
    browser.pointer(
        {"x": left + 8, "y": top + 8, "press": True},
        {"x": left + 48, "y": top + 38},
        {"x": left + 88, "y": top + 68, "release": True},
    )
    after = browser.run(BOX, "#graph g")[:2]
    assert [b - a for a, b in zip(before, after, strict=True)] == pytest.approx([80, 60], abs=2)
    assert browser.text("#panel h3") == "HYPOVOLEMIA", "a drag is no click"
    browser.run("document.getElementById('graph').focus()")
    browser.keys("0")
    assert browser.run(TRANSFORM) == start
    browser.keys("+" + LEFT)
    assert browser.run(TRANSFORM) != start
    assert scale() == pytest.approx(1.25 * first)


def test_finding_a_variable(page, results):
    browser = page("alarm")
    browser.type("#search", "hypo" + ENTER)
    assert browser.text("#panel h3") == "HYPOVOLEMIA"
    assert browser.count(node(results["alarm"], "HYPOVOLEMIA") + ".chosen") == 1
    browser.type("#search", "nobody" + ENTER)
    assert "No variable is named like" in browser.text("#view-note")


def test_the_class_and_the_truth(page, results):
    browser, result = page(), results["asia"]
    browser.click("#views label:nth-child(2)")
    assert browser.count("#graph .arc") == result.cpdag.n_edges
    assert browser.count("#graph .arc .head") == len(result.cpdag.directed)
    browser.click("#views label:nth-child(3)")
    found = bs.compare(result, bs.load_network("asia"))
    assert found.n_missing
    for kind in ("missing", "extra", "reversed"):
        assert browser.count(f"#graph .arc.{kind}") == len(getattr(found, kind))
    assert f"{found.n_missing} of 8 true arcs missing" in browser.text("#view-note")
    assert "missing" in browser.text("#legend")
    browser.click("#views label:nth-child(1)")
    assert browser.count("#graph .arc.missing") == 0


def test_the_best_networks(page, results):
    browser, result = page(), results["asia"]
    differences = [bs.compare(entry.dag, result.dag) for entry in result.top]
    assert all(any(getattr(d, kind) for d in differences) for kind in ("missing", "extra", "reversed"))
    for rank, entry in enumerate(result.top):
        browser.click(f"[data-top='{rank}']")
        found = bs.compare(entry.dag, result.dag)
        for kind in ("missing", "extra", "reversed"):
            assert browser.count(f"#graph .arc.{kind}") == len(getattr(found, kind))
        shown = browser.run(ARCS, "#graph .arc:not(.missing)")
        nodes = result.dag.nodes
        assert sorted((nodes[a], nodes[b]) for a, b in shown) == sorted(entry.dag.arcs())
        assert browser.run(WRONG_HEADS) == 0


def test_the_trace_says_its_values(page, results):
    browser, trace = page(), results["asia"].trace
    assert f"{abs(trace[-1].score):,.3f}" in browser.text("#trace-value")
    browser.run("document.getElementById('trace').scrollIntoView({block: 'center'})")
    _, y, left, *_ = browser.run(BOX, "#trace")
    browser.pointer({"x": left + 97, "y": y})
    assert browser.text("#trace-value").startswith("Step 0 ")
    browser.run("document.getElementById('trace').focus()")
    setback = next(step for step in trace if step.score < step.best)
    browser.keys(RIGHT * setback.step)
    words = browser.text("#trace-value")
    assert words.startswith(f"Step {setback.step} ")
    assert f"score −{abs(setback.score):,.3f}" in words
    assert f"best so far −{abs(setback.best):,.3f}" in words
    browser.click("#trace-axis label:nth-child(2)")
    assert "seconds" in browser.text("#trace")
    browser.click("#trace-close")
    assert browser.count("#trace path.best") == 1


def test_labels_are_only_text(page, results):
    browser, result = page("nasty"), results["nasty"]
    for label in NASTY:
        click_node(browser, result, label)
        assert browser.text("#panel h3") == text(label)
        assert browser.count("#panel b, #panel img, #panel script") == 0
    for button in range(min(3, result.dag.n_arcs)):
        browser.run("document.querySelectorAll('[data-arc]')[arguments[0]].click()", button)
        assert browser.count("#panel .counts") == 1
    assert browser.count("main img, main b") == 0


def test_tests_of_independence_are_told(page, results):
    browser = page("tested")
    assert "2 found a dependence" in browser.text(".tiles")
    click_node(browser, results["tested"], "asia")
    click_node(browser, results["tested"], "dysp", keys=SHIFT)
    assert "independent given tub, lung (p = 0.25)" in browser.text("#panel")
    assert "dependent (p = 0.001, not in the graph)" in browser.text("#panel")


def test_light_and_dark(page):
    browser = page(theme="dark")
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert browser.run(ground) == "rgb(20, 23, 27)"
    browser.click("#theme")
    assert browser.run(ground) == "rgb(255, 255, 255)"
    assert browser.text("#theme") == "Dark"


def test_a_result_without_data_still_works(page, results):
    browser = page("loaded")
    browser.click("#arcs [data-arc]")
    assert "read from a file" in browser.text("#panel")
    click_node(browser, results["asia"], "dysp")
    assert "Parents" in browser.text("#panel")


def test_printing_and_names_for_those_who_do_not_see(page):
    browser = page()
    assert len(browser.devtools("Page.printToPDF")["data"]) > 10_000
    tree = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    roles = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in tree if not n.get("ignored")]
    named = {"button", "textbox", "searchbox", "combobox", "radio", "checkbox", "link", "region", "image"}
    assert [role for role, name in roles if role in named and not name.strip()] == []
    levels = browser.run(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1


@pytest.mark.parametrize("width", [1280, 420])
def test_the_page_of_a_study_shows_everything(browser, pages, width):
    browser.complaints()
    browser.size(width, 900)
    browser.open(pages / "study" / "index.html")
    browser.requests()
    assert browser.run("return [...document.images].every(i => i.complete && i.naturalWidth > 100)")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
    assert [a for a in browser.requests() if not a.startswith(("file:", "chrome:"))] == []
