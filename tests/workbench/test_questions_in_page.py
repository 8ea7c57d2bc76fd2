"""Questions asked of a report, which no server answers: the page's own inference against the library's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bayescout as bs
from bayescout.report import asking
from bayescout.report.asking import model_data
from tests.report.browser import ENTER
from tests.report.pages import asia, read
from tests.search.drawn_problems import gaussian

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*that the data never showed:bayescout.errors.BayescoutWarning"
)

ASK = """
const [observe, act, rule, target] = arguments;
const ruled = new Map(rule.map(([n, s]) => [n, new Set(s)]));
const question = {observe: new Map(observe), act: new Map(act), rule: ruled, target};
return window.workbench.source.ask(question).then(({marginals, log, conflict, information, base}) =>
  ({marginals, log: Number.isFinite(log) ? log : null, conflict, information, base}));
"""


CLICK = "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click', arguments[1]))"


def at_truth(name, rows=300):
    """A result that is the shipped network itself, its tables fitted with nothing left undefined."""
    network = bs.load_network(name)
    return bs.learn(
        network.sample(rows, seed=1), start=network.dag, max_steps=0, search="hill-climb", score="bic"
    )


def drawn_question(model, rng):
    """Some findings, some actions and some states ruled out, by position."""
    nodes = rng.permutation(len(model.nodes))[: rng.integers(0, 5)].tolist()
    sizes = [len(states) for states in model.states]
    observe, act, rule = [], [], []
    for node in nodes:
        kind, state = rng.integers(0, 3), int(rng.integers(0, sizes[node]))
        if kind == 2 and sizes[node] > 1:
            rule.append([node, [state]])
        else:
            (observe if kind == 0 else act).append([node, state])
    free = [node for node in range(len(sizes)) if node not in nodes]
    return observe, act, rule, int(rng.choice(free))


def answers(model, observe, act, rule, target):
    """The same of the library: marginals, the findings' conflict, what tells of the target."""
    labels, states = model.nodes, model.states
    acted = model.do({labels[n]: states[n][s] for n, s in act}) if act else model
    evidence = {labels[n]: states[n][s] for n, s in observe}
    soft = {
        labels[n]: {state: 0.0 if k in out else 1.0 for k, state in enumerate(states[n])} for n, out in rule
    }
    marginals = acted.marginals(evidence or None, soft=soft or None)
    found = [[p for _, p in marginals[label].rows()] for label in labels]
    conflict = acted.conflict(evidence, soft=soft or None) if evidence or soft else None
    told = acted.information(labels[target], evidence or None, soft=soft or None)
    return found, conflict, {one.node: one.information for one in told}


def same_answers(browser, result, model, questions, seed):
    rng = np.random.default_rng(seed)
    asked = 0
    for _ in range(questions):
        observe, act, rule, target = drawn_question(model, rng)
        told = browser.run(ASK, observe, act, rule, target)
        if told["log"] is None:
            with pytest.raises(bs.errors.NetworkError):
                answers(model, observe, act, rule, target)
            continue
        asked += 1
        found, conflict, information = answers(model, observe, act, rule, target)
        for mine, theirs in zip(told["marginals"], found, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-9)
        if conflict is not None:
            assert told["log"] == pytest.approx(conflict.log_evidence, abs=1e-9)
        if len(observe) + len(rule) > 1:
            assert told["conflict"] == pytest.approx(conflict.value, abs=1e-8)
        mine = {model.nodes[node]: nats for node, nats in told["information"]}
        assert mine == pytest.approx({label: information[label] for label in mine}, abs=1e-8)
        assert all(value < 1e-8 for label, value in information.items() if label not in mine)
        ranked = [nats for _, nats in told["information"]]
        assert ranked == sorted(ranked, reverse=True)
    assert asked > questions / 3


def test_the_page_answers_as_the_library_does(chromium, tmp_path):
    result = asia()
    result.report(tmp_path / "asia.html")
    chromium.complaints()
    chromium.open(tmp_path / "asia.html")
    same_answers(chromium, result, result.fit(), questions=25, seed=1)
    assert chromium.complaints() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alarm", "child", "insurance"])
def test_larger_networks_answer_the_same(chromium, tmp_path, name):
    result = at_truth(name)
    result.report(tmp_path / "page.html")
    chromium.open(tmp_path / "page.html")
    same_answers(chromium, result, result.fit(), questions=12, seed=2)


def test_a_person_asks(chromium, tmp_path):
    """Clicks on states: observed, set from outside, ruled out, and all of it taken back."""
    result = asia()
    model = result.fit()
    result.report(tmp_path / "asia.html")
    chromium.open(tmp_path / "asia.html")
    chromium.size(1280, 720)
    chromium.click("#tab-whatif")
    chromium.until("document.querySelectorAll('.monitor').length === 8")
    lung, state = result.dag.index("lung"), 0
    row = f'.state-row[data-variable="{lung}"][data-state="{state}"]'
    value = model.states[lung][state]
    chromium.click(row)
    chromium.until(f"document.querySelector('{row}').classList.contains('observed')")
    dysp = result.dag.index("dysp")
    expected = [p for _, p in model.marginals({"lung": value})["dysp"].rows()]
    shares = chromium.run(
        "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)",
        f'[data-monitor="{dysp}"] .share',
    )
    assert shares == [f"{100 * p:.1f}%" for p in expected]
    assert f"lung = {value}" in chromium.text(".chips")
    chromium.run(CLICK, row, {"bubbles": True, "shiftKey": True})
    chromium.until(f"document.querySelector('{row}').classList.contains('done')")
    assert f"do lung = {value}" in chromium.text(".chips")
    assert chromium.count("#graph .node.done") == 1
    other = f'.state-row[data-variable="{dysp}"][data-state="1"]'
    chromium.run(CLICK, other, {"bubbles": True, "altKey": True})
    chromium.until(f"document.querySelector('{other}').classList.contains('ruled')")
    chromium.click("#clear-evidence")
    chromium.until("!document.querySelector('.chip')")
    chromium.run("window.workbench.history.undo()")
    chromium.until("document.querySelectorAll('.chip').length === 2")


def test_answers_are_compared_with_a_base(chromium, tmp_path):
    """Findings become what the next ones are compared with; beside each share its difference, or its lift."""
    result = asia()
    model = result.fit()
    result.report(tmp_path / "asia.html")
    chromium.open(tmp_path / "asia.html")
    chromium.size(1280, 720)
    chromium.click("#tab-whatif")
    chromium.until("document.querySelectorAll('.monitor').length === 8")
    lung, xray, dysp = (result.dag.index(name) for name in ("lung", "xray", "dysp"))
    first, second = model.states[lung][0], model.states[xray][1]
    chromium.click(f'.state-row[data-variable="{lung}"][data-state="0"]')
    chromium.until("document.querySelector('#as-base')")
    chromium.click("#as-base")
    chromium.until("document.querySelector('#base')")
    assert f"lung = {first}" in chromium.text("#base")
    beside = (
        f"[...document.querySelectorAll('[data-monitor=\"{dysp}\"] .difference')].map(e => e.textContent)"
    )
    assert set(chromium.run(f"return {beside}")) == {""}
    row = f'.state-row[data-variable="{xray}"][data-state="1"]'
    chromium.run("document.querySelector(arguments[0]).click()", row)
    chromium.until(f"document.querySelector('{row}').classList.contains('observed')")
    given = {"lung": first, "xray": second}
    before, after = ([p for _, p in model.marginals(e)["dysp"].rows()] for e in ({"lung": first}, given))
    said = [f"{100 * (q - p):+.1f}".replace("-", "−") for p, q in zip(before, after, strict=True)]
    assert chromium.run(f"return {beside}") == [
        "" if abs(q - p) < 0.0005 else words for p, q, words in zip(before, after, said, strict=True)
    ]
    chromium.click('.beside input[value="lift"] + span')
    lifts = [f"×{q / p:.2f}" for p, q in zip(before, after, strict=True)]
    assert chromium.run(f"return {beside}") == [
        "" if abs(q - p) < 0.0005 else words for p, q, words in zip(before, after, lifts, strict=True)
    ]
    chromium.click("#base .chip")
    chromium.until("!document.querySelector('#base')")
    assert chromium.text(".chips").count("xray") == 1


NUMBERS = """
const [observe, act, target] = arguments;
const question = {observe: new Map(observe), act: new Map(act), rule: new Map(), target};
return window.workbench.source.ask(question).then(({marginals, log, conflict, information}) =>
  ({marginals, log, conflict, information}));
"""


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A learned network of numbers, and the page of it."""
    path = tmp_path_factory.mktemp("numbers") / "page.html"
    result = bs.learn(gaussian(rows=300, seed=3), "hill-climb", "bic")
    result.report(path)
    return result, result.fit(), path


@pytest.mark.slow
def test_a_network_of_numbers_answers_as_the_library_does(chromium, numbers):
    result, model, path = numbers
    chromium.complaints()
    chromium.open(path)
    rng = np.random.default_rng(4)
    nodes = result.dag.nodes
    for _ in range(25):
        drawn = rng.permutation(len(nodes)).tolist()
        k, d = int(rng.integers(0, 3)), int(rng.integers(0, 2))
        observe = [[node, float(rng.normal(0, 2))] for node in drawn[:k]]
        act = [[node, float(rng.normal(0, 2))] for node in drawn[k : k + d]]
        target = drawn[k + d]
        told = chromium.run(NUMBERS, observe, act, target)
        acted = model.do({nodes[n]: value for n, value in act}) if act else model
        evidence = {nodes[n]: value for n, value in observe}
        found = acted.marginals(evidence or None)
        for node, mine in zip(nodes, told["marginals"], strict=True):
            assert mine["mean"] == pytest.approx(float(found[node].mean), abs=1e-8)
            assert mine["sd"] == pytest.approx(float(found[node].deviation), abs=1e-7)
        if evidence:
            conflict = acted.conflict(evidence)
            assert told["log"] == pytest.approx(conflict.log_evidence, abs=1e-8)
            if len(evidence) > 1:
                assert told["conflict"] == pytest.approx(conflict.value, abs=1e-8)
        expected = {one.node: one.information for one in acted.information(nodes[target], evidence or None)}
        mine = {nodes[node]: nats for node, nats in told["information"]}
        assert mine == pytest.approx({label: expected[label] for label in mine}, abs=1e-8)
        assert all(value < 1e-8 for label, value in expected.items() if label not in mine)
    assert chromium.complaints() == []


@pytest.mark.slow
def test_a_person_asks_about_numbers(chromium, numbers):
    """A value typed in is observed, then set from outside, then taken back; a click on a density observes."""
    result, model, path = numbers
    parent, child = next(iter(result.dag.arcs()))
    a, b = result.dag.index(parent), result.dag.index(child)
    chromium.size(1280, 720)
    chromium.open(path)
    chromium.click("#tab-whatif")
    chromium.until(f"document.querySelectorAll('.monitor.number').length === {len(result.dag)}")
    chromium.type(f'[data-variable="{a}"][data-state="value"]', "1.5" + ENTER)
    chromium.until("document.querySelector('.chip.observed')")
    given = model.marginals({parent: 1.5})[child]
    assert f"mean {float(given.mean):.4g}".replace("-", "−") in chromium.text(
        f'[data-monitor="{b}"] .moments'
    )
    assert f"{parent} = 1.5" in chromium.text(".chips")
    assert chromium.run("return document.activeElement.dataset.state") == "value", "the focus stays"
    chromium.click(f'[data-variable="{a}"][data-state="act"]')
    chromium.until("document.querySelector('.chip.done')")
    acted = model.do({parent: 1.5}).marginals()[child]
    assert f"mean {float(acted.mean):.4g}".replace("-", "−") in chromium.text(
        f'[data-monitor="{b}"] .moments'
    )
    chromium.click(f'[data-variable="{a}"][data-state="act"]')
    chromium.until("!document.querySelector('.chip')")
    chromium.click(f'[data-monitor="{b}"] .density')  # in the middle of what is shown
    chromium.until("document.querySelector('.chip.observed')")
    assert chromium.count(f'[data-monitor="{b}"] .density-at') == 1
    chromium.click("#bars")
    chromium.until(f"document.querySelectorAll('#graph .inner').length === {len(result.dag)}")


@pytest.mark.slow
def test_what_a_page_cannot_answer_it_says(chromium, tmp_path):
    """A network of states and numbers needs the library."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 300)
    rows = {"group": [["a", "b"][k] for k in group], "size": (rng.normal(size=300) + 2 * group).tolist()}
    bs.learn(bs.as_table(rows)).report(tmp_path / "page.html")
    chromium.open(tmp_path / "page.html")
    chromium.click("#tab-whatif")
    assert "use bayescout serve, or model.query in Python" in chromium.text("#whatif")


def test_what_is_too_large_is_left_out_and_said(chromium, tmp_path, monkeypatch):
    result = asia()
    model = result.fit()
    monkeypatch.setattr(asking, "MOST_CELLS", 3)
    told = model_data(model, result.dag)
    assert "tables" not in told
    for label, shares in zip(result.dag.nodes, told["base"], strict=True):
        assert shares == pytest.approx([p for _, p in model.marginals()[label].rows()])
    result.report(tmp_path / "base.html")
    assert "tables" not in read(tmp_path / "base.html").data["model"]
    chromium.open(tmp_path / "base.html")
    chromium.click("#tab-whatif")
    chromium.until("document.querySelectorAll('.monitor').length === 8")
    assert "too large to ask in the page" in chromium.text("#whatif")
    monkeypatch.setattr(asking, "MOST_ENTRIES", 3)
    monkeypatch.setattr(asking, "MOST_FOR_BASE", 3)
    assert model_data(model, result.dag) is None


def test_tables_are_the_models(tmp_path):
    result = asia()
    model = result.fit()
    told = model_data(model, result.dag)
    for node, label in enumerate(result.dag.nodes):
        assert [result.dag.nodes[p] for p in told["parents"][node]] == list(model.dag.parents_of(label))
        rows = [p for _, row in model.cpt(label).rows() for p in (row or [])]
        if len(rows) == len(told["tables"][node]):
            assert told["tables"][node] == pytest.approx(rows)
        assert math.isclose(sum(told["tables"][node]), len(told["tables"][node]) / len(model.states[node]))
