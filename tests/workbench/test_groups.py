"""Each thing that a person can do at the page, in a real browser: on a small, a middling, a large network."""

from __future__ import annotations

import warnings

import pytest
from selenium.webdriver import Keys

import bayescout as bs
from bayescout.errors import BayescoutWarning
from tests.workbench.serving import Person, Serving

pytestmark = pytest.mark.slow

ROWS = {"asia": 1000, "alarm": 1000, "munin": 300}
SIZES = {"asia": 8, "alarm": 37, "munin": 1041}
FRAME = 1000 / 60

FIRST = "const {dag, names} = served.app.net; return dag[0].map(i => names[i])"
KINDS = "return served.app.drawing.list.filter(line => line.kind === arguments[0]).length"
READABLE = (
    "return [document.documentElement.scrollHeight <= innerHeight, served.app.drawing.painter !== null]"
)
DRAWN = """
const {drawing} = served.app, {net} = drawing, began = performance.now();
drawing.painter = null;
drawing.show(net);
drawing.painter.paint?.();
return performance.now() - began;
"""
PANNED = """
const {drawing} = served.app, took = [];
drawing.zoom(arguments[0]);
for (let i = 0; i < 60; i += 1) {
  const began = performance.now();
  drawing.move(i % 2 ? 9 : -7, 4);
  drawing.painter.paint?.();
  took.push(performance.now() - began);
}
drawing.fit();
took.sort((a, b) => a - b);
return took[54];
"""


@pytest.fixture(scope="module", params=ROWS)
def served(request, tmp_path_factory):
    with Serving(tmp_path_factory.mktemp(request.param)) as started:
        started.name = request.param
        yield started


@pytest.fixture
def begun(chromium, served):
    """A person before whom the example is open, chosen in the page by the first of them."""
    person = Person(chromium, served)
    if not person.run("return Boolean(served.source.project.data)"):
        script = "return served.parts.begin.open({example: arguments[0], rows: arguments[1]})"
        person.run(script, served.name, ROWS[served.name])
    person.until("served.source.columns?.size > 0", 200)
    person.run("served.parts.begin.columns(false)")
    yield person
    refused = ("400 (Bad Request)", "favicon")
    assert [words for words in chromium.complaints() if not any(one in words for one in refused)] == []


@pytest.fixture
def person(begun):
    """A person who sees the network of an ended search, with nothing known and nothing asked."""
    begun.run("return served.parts.knowledge.put({text: ''})")
    ended = begun.run("return served.runs.filter(run => run.search === 'hill-climb' && run.step > 3)[0]?.id")
    if ended is None:
        begun.search(score="bic")
    else:
        begun.run("return served.select(arguments[0])", ended)
    begun.ended(400)
    return begun


@pytest.fixture
def learned(person, served):
    """What the page shows, as the library has it."""
    data = bs.read_table(next((served.folder / "project" / "data").glob(f"{served.name}*")))
    dag = bs.Dag.from_arcs(sorted(person.arcs()), nodes=data.names)
    with warnings.catch_warnings():  # few rows of munin have columns that are copies of others
        warnings.simplefilter("ignore", BayescoutWarning)
        return bs.learn(data, "hill-climb", "bic", start=dag, max_steps=0)


def choose(person, kind, *names):
    script = "const {index} = served.app.net;"
    script += "return served.app.choose({[arguments[0]]: arguments[1].map(n => index.get(n))}, true)"
    person.run(script, kind, list(names))


def test_begin(begun, served):
    """How every column was read, a column left out and taken back, and what a search will cost."""
    begun.unfold("begin")
    begun.click("#columns-button")
    size = SIZES[served.name]
    assert begun.browser.count(".column-card") == min(size, 200)
    assert begun.browser.count(".column-card .bars .bar") >= 2 * min(size, 200)
    name = begun.run("return served.source.project.data.columns[1].name")
    read = begun.run("return served.source.project.data.fingerprint")
    variables = "served.source.project.data.columns.filter(c => c.kind !== 'left out').length"
    begun.choose(f'select[data-column="{name}"]', "left out")
    begun.until(f"{variables} === {size - 1}", 120)
    begun.choose(f'select[data-column="{name}"]', "discrete")
    begun.until(f"{variables} === {size}", 120)
    begun.choose(f'select[data-column="{name}"]', "as read")  # what was learned before is of these data again
    begun.until(f"served.source.project.data.fingerprint === '{read}'", 120)
    begun.run("document.querySelector('.column-card select').focus()")
    begun.browser.keys(Keys.ESCAPE)
    assert begun.run("return [document.querySelector('#columns').hidden, document.activeElement.id]") == [
        True,
        "columns-button",
    ]
    begun.choose("#search-name", "hill-climb")
    begun.until(
        "/(About|Less than|Longer than) .*s/.test(document.querySelector('#estimate').textContent)", 120
    )


def test_search(person, learned, served):
    """The curve, an earlier step, a step back, a run beside it in the list, and a bound."""
    assert f"{abs(learned.score):,.2f}" in person.text("#numbers")
    assert person.browser.count("#strip-trace path.best") == 1
    arcs = person.arcs()
    person.put("#replay", "2")
    person.until("served.app.store.state.replay?.step === 2")
    assert 1 <= len(person.arcs()) <= 2
    person.put("#replay", "99999")
    person.until("served.app.store.state.replay === null")
    assert person.arcs() == arcs
    if served.name == "munin":  # an exact search of so many variables finds nothing in its time
        return
    person.click("#prove")
    person.until("/ptimal|bound after/.test(document.querySelector('#run-state').textContent)", 120)
    gap = bs.gap(learned, max_time=20).gap if served.name == "asia" else None
    if gap is not None:
        assert person.run("return served.source.run.gap") == pytest.approx(gap, abs=1e-6)
        said = "0, proven" if gap == 0 else f"{gap:,.2f}"
        assert person.text('#numbers [data-fact="gap"]') == said


def test_knowledge_by_drawing(person, served):
    """An arc drawn that must be, another against it: the cycle lights up, and is taken back."""
    parent, child = person.run(FIRST)
    choose(person, "arc", parent, child)
    person.run("return served.app.act('require', ...served.app.net.dag[0])")
    person.until("served.parts.knowledge.now.required.length === 1")
    person.unfold("knowledge")
    person.click('.tools input[value="require"] + span')
    start, end = person.place(child), person.place(parent)
    person.drag(start, ((start[0] + end[0]) / 2 + 3, (start[1] + end[1]) / 2), end)
    person.until("document.querySelector('#contradiction')")
    assert "cycle" in person.text("#contradiction")
    cycle = person.run("return served.app.drawing.marks.cycle.map(i => served.app.net.names[i])")
    assert set(cycle) == {parent, child}
    person.click("#take-back")
    assert person.run("return served.app.drawing.marks.cycle") == []
    person.click('.tools input[value="believe"] + span')
    person.until("served.app.drawing.tool === 'believe'")
    person.run("return served.app.act('believe', ...served.app.net.dag[1])")
    person.until("served.parts.knowledge.now.beliefs.length === 1")
    person.put(".belief input", "0.9")
    person.until("served.parts.knowledge.now.beliefs[0][2] === 0.9")
    person.run("served.app.history.undo()")
    person.until("served.parts.knowledge.now.beliefs[0][2] === 0.8")
    text = (served.folder / "project" / "knowledge.txt").read_text()
    known = bs.Knowledge.parse(text)
    assert known.required == ((parent, child),)
    assert len(known.beliefs) == 1


def test_an_arcs_card(person, learned):
    """What an arc is worth, and why there is none between two others."""
    parent, child = person.run(FIRST)
    choose(person, "arc", parent, child)
    person.until("/Without this arc/.test(document.querySelector('#panel').textContent)", 120)
    said = learned.explain(parent, child)
    words = person.text("#panel")
    assert f"Without this arc the score falls by {abs(said.remove):,.3f}" in words
    for part in ("The best rival", "Counts", "direction is"):
        assert part in words
    nodes = learned.dag.nodes
    other = next(n for n in nodes if n not in {parent, child} and n not in learned.dag.neighbours_of(parent))
    choose(person, "pair", parent, other)
    person.until("/No arc joins them/.test(document.querySelector('#panel').textContent)", 120)


def test_what_if(person, learned, served):
    """A state observed: the library's answer, beside what was learned; what tells most of a target."""
    parent, child = person.run(FIRST)
    person.click("#tab-whatif")
    person.until("document.querySelectorAll('.monitor').length > 1", 200)
    choose(person, "node", parent)
    person.run("served.app.store.set({tab: 'whatif'})")
    here = person.run("return served.app.net.index.get(arguments[0])", parent)
    row = f'.state-row[data-variable="{here}"][data-state="0"]'
    person.until(f"document.querySelector('{row}')", 200)
    person.click(row)
    person.until("document.querySelector('.chip.observed')", 200)
    there = person.run("return served.app.net.index.get(arguments[0])", child)
    person.until(f"document.querySelector('[data-monitor=\"{there}\"]')", 60)
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    shares = person.run(script, f'[data-monitor="{there}"] .share')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        model = learned.fit()
        value = model.states[learned.dag.index(parent)][0]
        wanted = model.query(child, {parent: value})
    assert shares == [f"{100 * p:.1f}%" for _, p in wanted.rows()]
    if served.name != "munin":
        person.choose("#target", str(there))
        person.until("document.querySelector('#next-question')", 60)
        person.click("#bars")
        person.until(f"document.querySelectorAll('#graph .inner').length === {SIZES[served.name]}")


def test_uncertainty_as_ink(person, served):
    """Strengths of a bootstrap as width, a threshold, the averaged network."""
    person.unfold("strength")
    person.put("#bootstrap-runs", "2" if served.name == "munin" else "5")
    person.click("#bootstrap")
    person.until("Boolean(served.app.store.state.strengths)", 500)
    assert person.run("return served.app.store.state.strengths.arcs.length") > 0
    shares = person.run("return served.app.drawing.list.map(l => [l.share, l.width, l.faint])")
    assert any(share == 1 for share, _, _ in shares)
    assert all(width == pytest.approx(0.6 + 3 * share**1.5) for share, width, _ in shares)
    assert [faint for _, _, faint in shares] == [not (share > 0.5 or share == 1) for share, _, _ in shares]
    person.click("#averaged")
    person.until("Boolean(served.app.store.state.averaged)", 120)
    bs.Dag.from_arcs(sorted(person.arcs()))  # refuses a cycle


def test_compare(person, learned, served):
    """Against the truth, every variable where it was."""
    before = person.run("return served.app.drawing.net.boxes")
    person.unfold("compare")
    person.choose("#truth", served.name)
    person.until("Boolean(served.app.store.state.compared)", 120)
    found = bs.compare(learned, bs.load_network(served.name))
    assert f"{found.shd:,}" in person.text("#compared table")
    for kind, number in (
        ("missing", found.n_missing),
        ("extra", found.n_extra),
        ("reversed", found.n_reversed),
    ):
        assert person.run(KINDS, kind) == number
    assert person.run("return served.app.drawing.net.boxes") == before
    person.click("#compare-end")


def test_share(person, learned, served, tmp_path):
    """One file that opens offline, a drawing, a network in another program's format, and the lines."""
    script = "return fetch(`/api/runs/${served.source.run.id}/export?format=${arguments[0]}`)"
    for form in ("html", "bif", "svg"):
        (tmp_path / f"it.{form}").write_text(person.run(f"{script}.then(a => a.text())", form))
    assert bs.read_network(tmp_path / "it.bif").dag == learned.dag
    assert (tmp_path / "it.svg").read_text().startswith("<svg")
    assert "bs.learn(" in person.run("return served.source.run.commands.python")
    assert "bayescout learn" in person.run("return served.source.run.commands.shell")
    shown = person.arcs()
    person.browser.open(tmp_path / "it.html")
    person.until("Boolean(window.workbench)")
    lines = "const {names} = workbench.net; return workbench.drawing.list.map(l => [names[l.a], names[l.b]])"
    assert {tuple(pair) for pair in person.run(lines)} == shown


def test_finding_focusing_and_moving_about(person, learned, served):
    """Drawn within a second, painted within a frame, found by name, narrowed, moved by keys and back."""
    assert person.run(DRAWN) < 1000
    for factor in (1, 4):
        assert person.run(PANNED, factor) < FRAME
    assert person.run(READABLE) == [True, True]
    name = learned.dag.nodes[-1]
    person.browser.type("#search", name)
    person.until(f"document.querySelector('#panel h3').textContent === '{name}'")
    person.run("document.querySelector('#search').value = ''")
    person.choose("#focus", "blanket")
    focus = person.run("return [...served.app.drawing.marks.focus].map(i => served.app.net.names[i])")
    assert set(focus) == {name, *learned.dag.markov_blanket(name)}
    gathered = "const d = served.app.drawing;"
    gathered += "return [d.place.scale > 0.55, d.net.boxes.filter(box => box[2]).length]"
    if served.name == "munin":  # what is far apart is moved together, so that it can be read
        assert person.run(gathered) == [True, len(focus)]
        furthest = max(learned.dag.nodes, key=lambda one: min(len(learned.dag.ancestors(one)), 100))
        choose(person, "node", furthest)
        person.choose("#focus", "ancestors")
        assert person.run(gathered)[0]
        person.choose("#focus", "")
        choose(person, "node", name)
    person.choose("#focus", "")
    assert person.run(gathered)[1] == SIZES[served.name]
    person.run("served.app.drawing.zoom(3)")
    person.until(f"document.querySelector('.minimap').hidden === {str(SIZES[served.name] <= 60).lower()}")
    person.run("served.app.drawing.fit()")
    person.until("document.querySelector('.minimap').hidden")
    where = "return served.app.drawing.net.boxes[served.app.net.index.get(arguments[0])][0]"
    before = person.run(where, name)
    person.browser.type("#graph", Keys.SHIFT + Keys.ARROW_RIGHT)
    assert person.run(where, name) == pytest.approx(before + 12)
    person.browser.type("#graph", Keys.CONTROL + "z")
    assert person.run(where, name) == pytest.approx(before)
