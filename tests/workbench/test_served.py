"""The page with a server in a real browser: what a person does, and what they must see."""

from __future__ import annotations

import json
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from selenium.webdriver import Keys

import bayescout as bs
from tests.workbench.serving import Person, Serving

pytestmark = pytest.mark.slow

CHOOSE = """
const i = served.app.net.index, [kind, a, b] = arguments;
return served.app.choose({[kind]: [i.get(a), i.get(b)]});
"""
ON_ARC = """
const {drawing, net} = served.app, [a, b] = [...arguments].map((name) => net.index.get(name));
const own = document.querySelectorAll('#graph .arc')[drawing.list.findIndex((l) => l.a === a && l.b === b)];
const line = own.querySelector('.line'), matrix = line.getScreenCTM();
for (const share of [0.5, 0.3, 0.7, 0.2, 0.8]) {
  const {x, y} = line.getPointAtLength(line.getTotalLength() * share).matrixTransform(matrix);
  if (own.contains(document.elementFromPoint(x, y))) return [x, y];
}
"""
GROUP = "{http://www.w3.org/2000/svg}g"
TURN = "[...document.querySelectorAll('#panel button')].find(b => b.textContent === 'Turn it round')"
MIDDLE = """
const box = document.querySelector(arguments[0]).getBoundingClientRect();
return [box.left + box.width / 2, box.top + box.height / 2];
"""
IN_SIGHT = """
const root = document.documentElement;
return [root.scrollHeight <= innerHeight, root.scrollWidth <= innerWidth];
"""


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    with Serving(tmp_path_factory.mktemp("asia"), "--example", "asia", "--rows", "2000") as started:
        yield started


@pytest.fixture(scope="module")
def learned(asia):
    """What the same search finds without a page."""
    data = bs.read_table(next((asia.folder / "project" / "data").glob("asia*")))
    return bs.learn(data, search="hill-climb", score="bic")


@pytest.fixture
def person(chromium, asia):
    found = Person(chromium, asia)
    yield found
    refused = ("400 (Bad Request)", "favicon")
    assert [words for words in chromium.complaints() if not any(one in words for one in refused)] == []
    assert chromium.run("return window.hacked") is None


@pytest.fixture
def searched(person):
    """A person who sees the network of an ended search."""
    person.search()
    person.ended()
    return person


def test_a_small_network_leaves_room_for_its_arcs(searched):
    """As much of the frame as there is, and never less between two boxes than an arrowhead needs."""
    gaps = """
    const {net} = served.app.drawing;
    return net.dag.map(([a, b]) => [net.boxes[a], net.boxes[b]])
      .map(([[, ay, , ah], [, by, , bh]]) => Math.abs(ay - by) - (ah + bh) / 2);
    """
    for size in ((1280, 720), (1440, 900), (1280, 400)):
        searched.browser.size(*size)
        searched.run("return served.tidy(true)")
        searched.until("!served.app.drawing.gliding")
        assert min(searched.run(gaps)) >= 14


def test_the_search_is_watched_and_ends_where_the_library_does(person, learned):
    person.search(pace="0.12")
    person.until("served.source.run.state === 'running' && served.source.net.dag.length > 1")
    between = len(person.arcs())
    person.ended()
    assert between > 0
    assert person.arcs() == set(learned.dag.arcs())
    assert person.run("return served.source.run.best") == pytest.approx(learned.score)
    assert f"{abs(learned.score):,.2f}" in person.text("#numbers")
    assert person.browser.count("#strip-trace path.best") == 1
    assert f"{abs(learned.score):,.2f}" in person.text("#runs")


def test_pause_step_back_and_go_on(person, learned):
    person.search(pace="0.5")
    person.until("served.source.run.state === 'running' && served.source.run.step >= 1")
    person.click("#play")
    person.until("served.source.run.state === 'paused'")
    step = person.run("return served.source.run.step")
    person.click("#step")
    person.until(f"served.source.run.step === {step + 1} && !served.fetching")
    more = person.arcs()
    person.click("#back")
    person.until(f"served.source.run.step === {step} && !served.fetching")
    assert person.arcs() != more
    person.choose("#play-pace", "")
    person.click("#play")
    person.ended()
    assert person.arcs() == set(learned.dag.arcs())


def test_replay_shows_earlier_steps(searched):
    last = searched.arcs()
    searched.put("#replay", "1")
    searched.until("served.app.store.state.replay?.step === 1")
    assert len(searched.arcs()) == 1
    assert "step 1" in searched.text("#replay-value")
    searched.put("#replay", "9999")
    searched.until("served.app.store.state.replay === null")
    assert searched.arcs() == last


def test_a_reload_and_a_second_tab_show_the_same(searched):
    arcs, runs = searched.arcs(), searched.run("return served.runs.length")
    searched.come()
    searched.ended()
    assert searched.arcs() == arcs
    assert searched.run("return served.runs.length") == runs
    driver = searched.browser.driver
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    try:
        searched.come()
        searched.ended()
        assert searched.arcs() == arcs
    finally:
        driver.close()
        driver.switch_to.window(first)


def test_what_if_gives_the_librarys_answers(searched, learned):
    model = learned.fit()
    value = model.states[model.dag.index("lung")][0]
    searched.click("#tab-whatif")
    searched.until("document.querySelectorAll('.monitor').length === 8")
    lung = searched.run("return served.app.net.index.get('lung')")
    searched.click(f'.state-row[data-variable="{lung}"][data-state="0"]')
    searched.until("document.querySelector('.chip.observed')")
    dysp = searched.run("return served.app.net.index.get('dysp')")
    wanted = [f"{100 * p:.1f}%" for _, p in model.marginals({"lung": value})["dysp"].rows()]
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    assert searched.run(script, f'[data-monitor="{dysp}"] .share') == wanted
    searched.choose("#target", str(dysp))
    searched.until("document.querySelector('#next-question')")
    best = model.information("dysp", {"lung": value}).best
    assert str(best) in searched.text("#next-question")
    searched.click("#bars")
    searched.until("document.querySelectorAll('#graph .inner').length === 8")


def test_an_arcs_card_says_what_it_is_worth(searched, learned):
    parent, child = next(iter(learned.dag.arcs()))
    searched.run(CHOOSE, "arc", parent, child)
    searched.until("document.querySelector('#panel h3').textContent.includes('→')")
    said = learned.explain(parent, child)
    words = searched.text("#panel")
    assert f"Without this arc the score falls by {abs(said.remove):,.3f}" in words
    assert "The best rival" in words
    absent = next(
        (a, b) for a in learned.dag.nodes for b in learned.dag.nodes
        if a != b and b not in learned.dag.neighbours_of(a) and learned.explain(a, b).add is not None
    )  # fmt: skip
    searched.run(CHOOSE, "pair", *absent)
    searched.until("document.querySelector('#panel').textContent.includes('No arc joins them')")
    assert f"falls by {abs(learned.explain(*absent).add):,.3f}" in searched.text("#panel")


def test_an_arc_is_turned_within_its_class(searched, learned):
    parent, child = (learned.dag.nodes[i] for i in learned.cpdag.undirected[0])
    if (parent, child) not in set(learned.dag.arcs()):
        parent, child = child, parent
    score = searched.run("return served.source.run.best")
    searched.run(CHOOSE, "arc", parent, child)
    searched.until(f"Boolean({TURN})")
    searched.run(f"{TURN}.click()")
    there = f"served.app.net.names[a] === '{child}' && served.app.net.names[b] === '{parent}'"
    searched.until(f"served.source.net.dag.some(([a, b]) => {there})")
    turned = bs.Dag.from_arcs(sorted(searched.arcs()), nodes=learned.dag.nodes)
    assert turned.cpdag() == learned.cpdag
    assert searched.run("return served.source.run.best") == pytest.approx(score)
    searched.until("served.app.history.past.length === 1")
    searched.run("served.app.history.undo()")
    back = f"served.app.net.names[a] === '{parent}' && served.app.net.names[b] === '{child}'"
    searched.until(f"served.source.net.dag.some(([a, b]) => {back}) && !served.fetching")
    searched.twice(searched.run(ON_ARC, parent, child))
    searched.until(f"served.source.net.dag.some(([a, b]) => {there})")


def test_a_run_goes_on_under_another_score(searched, learned):
    searched.choose("#score-name", "bdeu")
    searched.click("#use-score")
    searched.until("served.source.run.score_name === 'bdeu' && served.source.run.state === 'paused'")
    searched.click("#play")
    searched.ended()
    on = bs.learn(learned.table, "hill-climb", "bdeu", start=learned.dag)
    assert searched.arcs() == set(on.dag.arcs())
    assert searched.run("return served.source.run.best") == pytest.approx(on.score)


def test_knowledge_is_drawn_priced_and_contradicted(searched, asia):
    searched.run("return served.parts.knowledge.put({text: ''})")
    searched.run("return served.tidy(true)")
    searched.until("!served.app.drawing.gliding")
    searched.click('.tools input[value="require"] + span')
    searched.drag(searched.place("asia"), (500, 300), searched.place("dysp"))
    searched.until("served.parts.knowledge.now.required.length === 1")
    assert searched.text("#knowledge-items").startswith("asia → dysp")
    assert searched.browser.count("#graph .known.required") == 1
    searched.unfold("knowledge")
    searched.click("#prices")
    searched.until("/costs|free/.test(document.querySelector('#knowledge-items').textContent)")
    searched.drag(searched.place("dysp"), (500, 300), searched.place("asia"))
    searched.until("document.querySelector('#contradiction')")
    assert "cycle" in searched.text("#contradiction")
    assert searched.browser.count("#graph .node.cycle") == 2
    assert searched.browser.count("#graph .known.cycle") == 2
    searched.click("#take-back")
    assert searched.browser.count("#graph .cycle") == 0
    searched.click('.tools input[value="select"] + span')
    searched.search()
    searched.ended()
    assert ("asia", "dysp") in searched.arcs()
    text = (asia.folder / "project" / "knowledge.txt").read_text()
    assert bs.Knowledge.parse(text).required == (("asia", "dysp"),)
    searched.run("return served.parts.knowledge.put({text: ''})")


def test_tiers_by_dragging_and_by_keyboard(person):
    person.run("return served.parts.knowledge.put({text: ''})")
    person.unfold("knowledge")
    person.click("#tiers")
    chip, band = person.run(MIDDLE, '[data-name="smoke"]'), person.run(MIDDLE, '[data-band="0"]')
    person.drag(chip, ((chip[0] + band[0]) / 2, (chip[1] + band[1]) / 2), band)
    person.until("served.parts.knowledge.now.tiers.length === 1")
    assert person.run("return served.parts.knowledge.now.tiers") == [["smoke"]]
    person.run("document.querySelector('[data-name=\"lung\"]').focus()")
    person.browser.keys("\ue013")  # up: from no tier to a new one
    person.until("served.parts.knowledge.now.tiers.length === 2")
    assert person.run("return served.parts.knowledge.now.tiers") == [["smoke"], ["lung"]]
    person.run("return served.parts.knowledge.put({text: ''})")
    person.click("#bands-close")


def test_the_board_of_tiers_finds_a_variable(person):
    """Of many variables those named like what is typed are shown, whatever tier they are in; keys suffice."""
    shown = "return [...document.querySelectorAll('#bands .variable')].map(one => one.dataset.name)"
    focus = "return document.activeElement.id || document.activeElement.dataset.name"
    person.run("return served.parts.knowledge.put({text: 'tier smoke\\ntier lung, bronc\\n'})")
    person.unfold("knowledge")
    person.click("#tiers")
    assert len(person.run(shown)) == 8
    assert person.text("#bands-found") == ""
    person.run("document.querySelector('[data-name=\"smoke\"]').focus()")
    person.browser.keys("/")
    assert person.run(focus) == "bands-search"
    tree = person.browser.devtools("Accessibility.getFullAXTree")["nodes"]
    found = [one for one in tree if one.get("role", {}).get("value") == "searchbox"]
    assert [one["name"]["value"].strip() for one in found] == ["Find"]  # that of the page offers names
    person.browser.keys(" SMO")
    assert person.run(shown) == ["smoke"]
    assert person.text("#bands-found") == "1 of 8 variables"
    person.browser.keys(Keys.ENTER)
    assert person.run(focus) == "smoke"
    person.browser.keys(Keys.ARROW_DOWN)
    person.until("served.parts.knowledge.now.tiers[0].length === 3")
    assert person.run(shown) == ["smoke"]  # what is looked for stays
    person.until("document.activeElement.dataset.name === 'smoke'")
    person.run("document.querySelector('#bands-search').select()")
    person.browser.type("#bands-search", "zzz")
    assert person.text("#bands-found") == "No variable is named like “zzz”."
    assert person.run(shown) == []
    assert person.browser.count("#bands .band") == 3
    person.click("#bands-close")
    person.click("#tiers")
    assert len(person.run(shown)) == 8
    person.run("return served.parts.knowledge.put({text: ''})")
    person.click("#bands-close")


def test_strengths_are_drawn_as_ink(searched):
    searched.unfold("strength")
    searched.put("#bootstrap-runs", "12")
    searched.click("#bootstrap")
    searched.until("Boolean(served.app.store.state.strengths)", 180)
    searched.put("#threshold", "1")
    faint = searched.browser.count("#graph .arc.faint")
    searched.put("#threshold", "0")
    assert searched.browser.count("#graph .arc.faint") == 0
    assert faint >= 0
    widths = searched.run("return served.app.drawing.list.map(l => l.width)")
    assert all(0.7 <= width <= 5.0 for width in widths)
    found = searched.run("return served.app.store.state.strengths")
    pairs = {frozenset(arc[:2]): arc[2] for arc in found["arcs"]}
    searched.put("#threshold", "0.4")
    sure = sum(share > 0.4 for share in pairs.values())
    assert searched.text("#threshold-note").startswith(f"{sure} of {len(pairs)} joined pairs")
    searched.click("#averaged")
    searched.until("Boolean(served.app.store.state.averaged)")
    drawn = searched.arcs()
    assert {frozenset(arc) for arc in drawn} <= {pair for pair, share in pairs.items() if share > 0.4}
    bs.Dag.from_arcs(sorted(drawn))  # refuses a cycle
    searched.click("#open-averaged")
    searched.until("served.source.run.name.startsWith('averaged')")
    searched.ended()
    assert searched.arcs() == drawn


def test_networks_are_compared_with_the_truth(searched, learned):
    searched.unfold("compare")
    searched.choose("#truth", "asia")
    searched.until("Boolean(served.app.store.state.compared)")
    found = bs.compare(learned, bs.load_network("asia"))
    assert f"{found.shd}" in searched.text("#compared table")
    assert searched.browser.count("#graph .arc.missing") == found.n_missing
    assert "only in truth (asia)" in searched.text("#legend")
    searched.click("#compare-end")
    assert searched.browser.count("#graph .arc.missing") == 0


def test_a_network_file_is_compared_with_and_a_picture_shows_what_is_seen(searched, learned, tmp_path):
    """A box moved by hand lies in the picture where it is on the page, with arcs of the other network."""
    other = bs.Dag.from_arcs([*list(learned.dag.arcs())[1:], ("asia", "dysp")], nodes=learned.dag.nodes)
    bs.write_structure(other, tmp_path / "mine.dot")
    searched.unfold("compare")
    searched.browser.type("#truth-file", str(tmp_path / "mine.dot"))
    searched.until("Boolean(served.app.store.state.compared)")
    assert searched.run("return document.querySelector('#truth').value") == "mine.dot"
    before = searched.place("asia")
    searched.drag(before, (before[0] + 40, before[1] + 20), (before[0] + 60, before[1] + 30))
    ask = "const body = JSON.stringify(served.app.picture()), {id} = served.source.run;"
    ask += "return fetch(`/api/runs/${id}/export?format=svg`, {method: 'POST', body}).then(a => a.text())"
    svg = ElementTree.fromstring(searched.run(ask))
    drawn = {g.get("data-node"): g[1] for g in svg.iter(GROUP) if g.get("class") == "node"}
    names, boxes = searched.run("return [served.app.net.names, served.app.net.boxes]")
    for name, (x, y, width, height) in zip(names, boxes, strict=True):
        x0, y0, wide, high = boxes[0]
        place = [float(drawn[name].get(key)) - float(drawn[names[0]].get(key)) for key in ("x", "y")]
        assert place == pytest.approx(
            [x - width / 2 - x0 + wide / 2, y - height / 2 - y0 + high / 2], abs=0.2
        )
    kinds = [g.get("class") for g in svg.iter(GROUP) if (g.get("class") or "").startswith("arc")]
    assert (kinds.count("arc missing"), kinds.count("arc extra")) == (1, 1)
    searched.click("#compare-end")
    searched.run("served.app.history.undo()")


def test_one_file_works_without_the_server(searched, asia, tmp_path):
    answer = searched.run(
        "return fetch(`/api/runs/${served.source.run.id}/export?format=html`).then(a => a.text())"
    )
    (tmp_path / "shared.html").write_text(answer)
    shown = searched.arcs()
    searched.browser.open(tmp_path / "shared.html")
    searched.until("Boolean(window.workbench)")
    script = "const {names} = workbench.net; return workbench.drawing.list.map(l => [names[l.a], names[l.b]])"
    assert {tuple(pair) for pair in searched.run(script)} == shown
    searched.browser.click("#tab-whatif")
    searched.until("document.querySelectorAll('.monitor').length === 8")


def test_undo_and_redo(searched):
    before = searched.place("asia")
    searched.drag(before, (before[0] + 40, before[1] + 20), (before[0] + 60, before[1] + 30))
    moved = searched.place("asia")
    assert moved != pytest.approx(before)
    searched.run("document.getElementById('graph').focus()")
    searched.run("served.app.history.undo()")
    assert searched.place("asia") == pytest.approx(before, abs=1.5)
    searched.run("served.app.history.redo()")
    assert searched.place("asia") == pytest.approx(moved, abs=1.5)
    where = "return served.app.net.boxes"
    boxes = searched.run(where)
    searched.click("#tidy")
    searched.until("served.app.history.past.at(-1).words === 'tidy'")
    assert searched.run(where) != boxes
    searched.run("served.app.history.undo()")
    assert searched.run(where) == boxes
    assert list(searched.run("return served.source.places")) == ["asia"]
    searched.run("return served.tidy(true)")


def test_the_keys_are_listed(searched):
    searched.browser.type("#graph", "?")
    assert "find a variable" in searched.text("#keys")
    searched.browser.keys(Keys.ESCAPE)
    hidden = "return [document.querySelector('#keys').hidden, document.activeElement.id]"
    assert searched.run(hidden) == [True, "keys-button"]


def test_space_is_for_what_has_the_focus(searched):
    """It unfolds a part, ticks a box and chooses a tool; elsewhere it plays."""
    unfolded = "return document.querySelector('#part-share').open"
    assert not searched.run(unfolded)
    searched.browser.type("#part-share > summary", " ")
    assert searched.run(unfolded)
    for chosen in ("#runs input[type=checkbox]", '.tools input[value="forbid"]'):
        searched.run("document.querySelector(arguments[0]).focus()", chosen)
        searched.browser.keys(" ")
        assert searched.run("return document.querySelector(arguments[0]).checked", chosen)
    assert searched.run("return served.app.drawing.tool") == "forbid"


def test_evidence_by_keyboard(searched):
    """Enter observes, with Shift it acts, with Alt it rules out; the focus stays."""
    searched.run("served.app.store.set({tab: 'whatif'})")
    searched.until("document.querySelector('.state-row')")
    for held, kind in ((Keys.SHIFT, "done"), (Keys.ALT, "ruled"), ("", "observed")):
        searched.browser.type(".state-row", held + Keys.ENTER)
        searched.until(f"document.querySelector('.chip.{kind}')")
        assert searched.run("return document.activeElement.dataset.state") == "0"


def test_other_data_begin_anew(chromium, tmp_path):
    """What was shown, asked and known of other variables does not stand beside the new ones."""
    with Serving(tmp_path) as serving:
        person = Person(chromium, serving)
        assert person.run("return !document.querySelector('#welcome').hidden")
        person.click('#welcome [data-example="asia"]')
        person.until("served.source.columns?.size === 8")
        assert person.run("return document.querySelector('#welcome').hidden")
        person.click("#columns-close")
        assert "without arcs yet" in person.text("#view-note")
        person.search()
        person.ended()
        text = "require asia -> dysp\ntier smoke\nclosed tier xray\nmax_parents bronc 2\n"
        person.run("return served.parts.knowledge.put({text: arguments[0]})", text)
        person.run("return served.parts.begin.open({example: 'child', rows: 300})")
        person.until("served.source.columns.size === 20")
        person.run("served.parts.begin.columns(false)")
        assert person.run("return [served.source.run, served.app.net.names.length]") == [None, 20]
        assert person.run("return served.app.history.past.length") == 0
        assert "of other data" in person.text('[data-run="1"]')
        assert "unknown variable" in person.text("#unfit")
        person.click("#keep-fitting")
        person.until("!document.querySelector('#unfit')")
        assert person.run("return served.parts.knowledge.now.text").strip() == ""
        person.search()
        person.ended()
        person.click('[data-run="1"]')
        person.until("served.app.net.names.length === 8 && served.source.run.id === '1'")
        person.come()
        person.until("served.source.run?.id === '2'")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_is_in_sight_and_named(searched, theme):
    searched.browser.theme(theme)
    assert searched.run(IN_SIGHT) == [True, True]
    low = searched.run("return document.querySelector('#start').getBoundingClientRect().bottom")
    assert low < searched.run("return document.querySelector('.strip').getBoundingClientRect().top")
    size = searched.run("return 13 * served.app.drawing.place.scale")
    assert size >= 11
    tree = searched.browser.devtools("Accessibility.getFullAXTree")["nodes"]
    roles = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in tree if not n.get("ignored")]
    named = {"button", "textbox", "searchbox", "combobox", "radio", "checkbox", "slider", "tab", "image"}
    assert [role for role, name in roles if role in named and not name.strip()] == []
    ground = searched.run("return getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[theme]


def test_files_good_and_broken(chromium, tmp_path):
    """A csv is dropped, a column's kind changed; a broken one is refused in words and nothing is lost."""
    bs.load_network("asia").sample(400, seed=2).save(tmp_path / "good.csv")
    (tmp_path / "broken.csv").write_text('a,b\n1,2\n3\n"open')
    columns = {"<img src=x onerror=window.hacked=1>": ["x", "y"] * 100, "n": [i % 40 for i in range(200)]}
    bs.as_table(columns).save(tmp_path / "nasty.csv")
    with Serving(tmp_path) as serving:
        person = Person(chromium, serving)
        field = chromium.driver.find_element("css selector", "#file")
        field.send_keys(str(tmp_path / "good.csv"))
        person.until("served.source.columns?.size === 8")
        assert chromium.count(".column-card") == 8
        person.run("document.querySelector('#part-begin').open = false")
        field.send_keys(str(tmp_path / "broken.csv"))
        person.until("document.querySelector('#part-begin .warning')")
        assert "broken" in person.text("#part-begin .warning")
        assert person.run("return document.querySelector('#part-begin').open")
        assert person.run("return served.source.columns.size") == 8
        person.unfold("begin")
        field.send_keys(str(tmp_path / "nasty.csv"))
        person.until("served.source.columns.size === 2")
        person.choose('select[data-column="n"]', "continuous")
        person.until("served.source.columns.get('n').kind === 'continuous'")
        assert person.run("return window.hacked") is None
        assert chromium.count(".column-card img") == 0


def test_a_killed_server_is_said_and_nothing_is_lost(chromium, tmp_path):
    with Serving(tmp_path, "--example", "asia", "--rows", "1000") as serving:
        person = Person(chromium, serving)
        person.run("served.say('what was refused')")
        person.search(pace="0.5")
        person.until("served.source.run.step >= 2")
        assert person.text(".status") == "What was refused"  # and stays, whatever happens meanwhile
        person.run("served.hushed()")
        serving.kill()
        person.until("document.querySelector('.status').textContent.includes('does not answer')")
        serving.arguments[serving.arguments.index("--port") + 1] = str(serving.port)
        serving.arguments = [
            one for one in serving.arguments if one not in ("--example", "asia", "--rows", "1000")
        ]
        serving.start()
        person.until("document.querySelector('.status').textContent.includes('started anew')")
        first = chromium.driver.current_window_handle
        chromium.driver.switch_to.new_window("tab")
        person.come()
        chromium.driver.close()
        chromium.driver.switch_to.window(first)
        person.until("served.source.run && served.source.run.state === 'paused'")  # the old page is let in
        assert person.text(".status") == ""
        step = person.run("return served.source.run.step")
        assert step >= 1
        person.choose("#play-pace", "")
        person.click("#play")
        person.ended()


REPLAYED = """
const done = arguments[arguments.length - 1], {live} = served.parts, last = served.source.run.trace.at(-1)[0];
(async () => {
  for (let step = 0; step <= last * arguments[0]; step += 1) await live.replay(step % (last + 1));
  done(true);
})();
"""


def test_memory_stays_bounded_while_a_search_is_replayed(searched, asia):
    """Every step of a search drawn again and again: the page and the server keep nothing of it."""
    browser = searched.browser
    browser.devtools("Performance.enable")
    browser.driver.set_script_timeout(120)

    def replayed(times):
        browser.driver.execute_async_script(REPLAYED, times)
        browser.devtools("HeapProfiler.collectGarbage")
        found = {m["name"]: m["value"] for m in browser.devtools("Performance.getMetrics")["metrics"]}
        pages = int(Path(f"/proc/{asia.process.pid}/statm").read_text().split()[1])
        return found["JSHeapUsedSize"], found["Nodes"], found["JSEventListeners"], 4096 * pages

    heap, nodes, listeners, server = replayed(2)
    more = replayed(12)
    assert more[0] - heap < 500_000
    assert more[1] - nodes < 50
    assert more[2] - listeners < 10
    assert more[3] - server < 10e6


def test_a_click_is_answered_soon(searched):
    began = time.monotonic()
    searched.run("return served.app.choose({node: 3})")
    assert time.monotonic() - began < 3.0
    assert json.loads(searched.run("return JSON.stringify(served.runs)"))
