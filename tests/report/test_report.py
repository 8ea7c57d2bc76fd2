"""The report as a file: everything is there, bounded, escaped, and the same for the same result."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.errors import FormatError, GraphError, NetworkError, SettingError
from bayescout.evaluate.json_values import json_value
from bayescout.report.facts import in_words
from bayescout.report.render import environment
from bayescout.report.wording import shown, text
from bayescout.search import SEARCHES
from tests.report.pages import NASTY, Page, asia, nasty, plain_twin, read, with_tests
from tests.search.drawn_problems import gaussian

SECTIONS = ("network", "arcs", "progress", "best", "parameters", "data", "made")


@pytest.fixture(scope="module")
def learned():
    return asia()


def written(result, folder, **options):
    result.report(folder / "r.html", **options)
    return read(folder / "r.html")


def test_every_part_is_there(learned, tmp_path):
    page = written(learned, tmp_path, truth=bs.load_network("asia"), title="My title")
    for section in SECTIONS:
        assert page.text(section).strip(), section
    everything = "".join(page.words)
    assert "My title" in everything
    assert f"{abs(learned.score):,.3f}" in everything
    assert "came to its own end" in everything
    assert "structural Hamming distance" in everything
    for name in ("bayescout", "numpy", "numba", "Python"):
        assert name in page.text("made")
    for parent, child in learned.dag.arcs():
        assert f"{parent} → {child}" in page.text("arcs")
    for i, node in enumerate(learned.dag.nodes):
        assert node in page.text(f"parameters-{i}")
        assert node in page.text(f"column-{i}")
    assert len(page.data["top"]) == len(learned.top)


@pytest.mark.parametrize("name", SEARCHES)
def test_what_a_search_says_of_its_steps_means_something(name, tmp_path):
    table = bs.load_network("asia").sample(200, seed=1)
    known = bs.Knowledge(order=table.names) if name == "k2" else None
    result = bs.learn(table, name, "bdeu", known, max_steps=3)
    page = written(result, tmp_path)
    said = [words for facts in page.data["trace"]["facts"] for words in facts] + [page.text("made")]
    assert not [words for words in said if re.search("inf(inity)?\\b|nan\\b|left 0", words)]


def test_facts_are_said_in_words():
    facts = {"complete": 1, "listed": 1234, "bound": -2.5, "mean": -math.inf, "entropy": -0.0, "own_word": 3}
    assert in_words(facts) == [
        ("lists complete", "yes"),
        ("parent sets listed", "1,234"),
        ("no network scores above", "−2.500"),
        ("entropy of the arcs", "0"),
        ("own word", "3"),
    ]


def test_the_parameters_are_those_of_the_fit(learned, tmp_path):
    page = written(learned, tmp_path)
    assert "the prior bdeu" in page.text("parameters")
    undefined = learned.fit(prior="mle")
    assert undefined.n_undefined, "the data should leave a row undefined"
    given_model = written(learned, tmp_path, model=undefined)
    assert "given to the report" in given_model.text("parameters")
    for model, written_page in ((learned.fit(), page), (undefined, given_model)):
        for i, node in enumerate(learned.dag.nodes):
            words = written_page.text(f"parameters-{i}")
            for _, row in model.cpt(node).rows():
                for value in ["---"] if row is None else [f"{p:.4f}" for p in row if p >= 0.00005]:
                    assert value in words
    assert "---" not in "".join(page.text(f"parameters-{i}") for i in range(8))


def test_gaussian_results_show_regressions(tmp_path):
    result = bs.learn(gaussian(seed=1), search="hill-climb", score="bic")
    page = written(result, tmp_path)
    model = result.fit()
    for i, own in enumerate(result.dag.parents):
        words = page.text(f"parameters-{i}")
        for value in (model.intercepts[i], model.variances[i], *model.coefficients[i]):
            assert f"{value:.6g}" in words
        assert words.count("coefficient of") == len(own)
    assert "mean" in page.text("column-0")
    assert all(arc["counts"] is None for arc in page.data["arcs"])


def test_frequencies_are_those_of_the_weighted_rows(tmp_path):
    table = bs.as_table({"a": ["x", "x", "y"], "b": ["u", "v", "v"]}, weights=[1.0, 2.0, 5.0])
    page = written(bs.learn(table, search="hill-climb", score="bic"), tmp_path)
    assert "37.5%" in page.text("column-0")
    assert "87.5%" in page.text("column-1")
    assert "sum to 8.000" in page.text("data")


def test_what_was_missing_is_said(tmp_path):
    rows = {"a": ["x", None, "y", "y"] * 5, "b": ["u", "v", "v", None] * 5}
    with pytest.warns(bs.errors.BayescoutWarning, match="10 of 20 rows are left out"):
        table = bs.as_table(rows, missing="drop")
    dropped = written(bs.learn(table, search="hill-climb", score="bic"), tmp_path)
    assert "10 cells missing (25.0%), 10 of 20 rows left out for it" in dropped.text("data")
    assert "10 cells in 2 columns; 10 rows dropped" in dropped.text("data")
    assert 'missing="drop"' in dropped.text("made")
    kept = written(bs.learn(bs.as_table(rows, missing="state"), search="hill-climb", score="bic"), tmp_path)
    assert "given a state of their own" in kept.text("data")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_steps": 1}, "limit on steps"),
        ({"callback": lambda step: True}, "callback"),
        ({"max_time": 1e-9}, "time limit"),
    ],
)
def test_why_it_stopped_is_said(options, words, tmp_path):
    assert words in "".join(written(asia(**options), tmp_path).words)


def test_a_bound_is_said(learned, tmp_path):
    proven = written(replace(learned, bound=learned.score), tmp_path)
    assert "proven" in "".join(proven.words)
    open_gap = written(replace(learned, bound=learned.score + 2.5), tmp_path)
    assert "gap 2.500" in "".join(open_gap.words)
    far = written(replace(learned, bound=0.0), tmp_path)
    assert "No useful bound yet" in "".join(far.words)
    assert "No bound is known" in "".join(written(learned, tmp_path).words)


def test_tests_of_independence_are_summed_up(tmp_path):
    page = written(with_tests(asia()), tmp_path)
    assert "2 found a dependence, 1 of them in the network; 0 inconclusive" in "".join(page.words)
    nodes = page.data["graph"]["names"]
    pair = f"{nodes.index('asia')},{nodes.index('dysp')}"
    assert page.data["tests"][pair] == [
        "dependent (p = 0.001, not in the graph)",
        "independent given tub, lung (p = 0.25)",
    ]


def test_a_result_from_a_file_says_what_it_lacks(learned, tmp_path):
    learned.save(tmp_path / "r.json")
    loaded = bs.Result.load(tmp_path / "r.json")
    page = written(loaded, tmp_path)
    for section in ("arcs", "parameters", "data"):
        assert "read from a file" in page.text(section)
    assert not page.data["hasData"]
    assert page.data["graph"]["dag"] == written(learned, tmp_path).data["graph"]["dag"]
    fitted = written(loaded, tmp_path, model=learned.fit())
    assert "0." in fitted.text("parameters-0")


def test_mistakes_are_named_before_anything_is_written(learned, tmp_path):
    other = bs.Dag.from_arcs([("asia", "nobody")])
    with pytest.raises(GraphError, match="nobody"):
        learned.report(tmp_path / "r.html", truth=other)
    with pytest.raises(GraphError, match="truth must be"):
        learned.report(tmp_path / "r.html", truth="asia")
    with pytest.raises(GraphError, match="other arcs"):
        learned.report(tmp_path / "r.html", model=bs.load_network("asia"))
    with pytest.raises(NetworkError, match="parameters"):
        learned.report(tmp_path / "r.html", model=learned.dag)
    with pytest.raises(SettingError, match="title"):
        learned.report(tmp_path / "r.html", title=3)
    with pytest.raises(FormatError, match="folder"):
        learned.report(tmp_path / "none" / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_the_same_result_gives_the_same_bytes(learned, tmp_path):
    learned.report(tmp_path / "a.html", truth=bs.load_network("asia"))
    learned.report(tmp_path / "b.html", truth=bs.load_network("asia"))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


# ---- self-contained and escaped


def test_nothing_is_fetched_and_only_our_script_may_run(learned, tmp_path):
    page = written(learned, tmp_path)
    content = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\"'\s]+", content)) == {"http://www.w3.org/2000/svg"}
    links = [a for a in page.attributes if "src" in a or "href" in a]
    assert all(a.get("href", "").startswith(("#", "data:,")) and "src" not in a for a in links)
    policy = next(a["content"] for a in page.attributes if a.get("http-equiv"))
    script = re.findall(r"<script>(.*?)</script>", content, flags=re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_labels_never_become_markup(tmp_path):
    page = written(nasty(), tmp_path, title=NASTY[0])
    twin = written(plain_twin(), tmp_path)
    assert page.tags == twin.tags
    assert page.data["graph"]["names"] == [text(label) for label in NASTY]


def test_the_name_of_a_score_is_only_text(learned, tmp_path):
    named = [
        replace(learned, settings=replace(learned.settings, score_name=name, score_settings=None))
        for name in (NASTY[0], "mine")
    ]
    page, twin = (written(result, tmp_path) for result in named)
    assert page.tags == twin.tags
    assert page.data["scoreName"] == NASTY[0]


@given(st.one_of(st.text(), st.characters(categories=["Cs", "Cc", "Cn", "Po", "Sm"])))
def test_escaping_leaves_one_element_with_the_text(label):
    template = environment().from_string('<p><b title="{{ x }}" data-x="{{ x }}">{{ x }}</b></p>')
    page = Page(template.render(x=label))
    assert page.tags == [("p", ()), ("b", ("title", "data-x")), ("/b", ()), ("/p", ())]
    wanted = text(label).replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(page.words).replace("\r\n", "\n").replace("\r", "\n") == wanted
    text(label).encode("utf-8")  # can be written


LEAVES = st.none() | st.text() | st.text(alphabet="<>&/!-\u2028s") | st.floats() | st.integers()


@given(st.recursive(LEAVES, lambda x: st.lists(x), max_leaves=20))
def test_embedded_data_come_back_and_hold_no_markup(value):
    written_text = environment().from_string("{{ value|tojson }}").render(value=json_value({"value": value}))
    assert not set("<>&") & set(written_text)

    def finite(item):
        if isinstance(item, list):
            return [finite(part) for part in item]
        return None if isinstance(item, float) and not np.isfinite(item) else item

    assert json.loads(written_text) == {"value": finite(value)}


def test_labels_that_look_alike_are_told_apart():
    assert shown([1, "1"]) == ("1", "'1'")
    assert shown(["", "a"]) == ("''", "a")
    assert shown(["a" * 500])[0].endswith("…")


# ---- sizes


def at_truth(name, rows):
    """A result that is the shipped network itself, without a search."""
    network = bs.load_network(name)
    return bs.learn(
        network.sample(rows, seed=1), start=network.dag, max_steps=0, search="hill-climb", score="bic"
    )


@pytest.mark.slow
def test_a_large_network_stays_small(tmp_path):
    page = written(at_truth("andes", 200), tmp_path)
    assert (tmp_path / "r.html").stat().st_size < 2_500_000
    absent = 223 * 222 // 2 - 338
    assert len(page.data["pairs"]) == 1500
    assert f"other {absent - 1500:,}" in page.text("graph-help")


def test_wide_tables_stay_small(tmp_path):
    rng = np.random.default_rng(1)
    states = [f"state number {i}" for i in range(64)]
    base = rng.integers(0, 64, 3000)
    columns = {f"c{k}": [states[v] for v in (base + rng.integers(0, 3, 3000)) % 64] for k in range(6)}
    dag = bs.Dag.from_arcs([("c0", "c1"), ("c0", "c2"), ("c1", "c2"), ("c2", "c3"), ("c4", "c5")])
    page = written(
        bs.learn(bs.as_table(columns), start=dag, max_steps=0, score="loglik", search="hill-climb"), tmp_path
    )
    assert (tmp_path / "r.html").stat().st_size < 400_000
    assert "64 of 4,096 rows and 24 of 64 states" in page.text("parameters")
    assert "52 more states" in page.text("data")


def test_long_traces_are_thinned(learned):
    from bayescout.report.views import thinned

    rng = np.random.default_rng(3)
    for n in (1, 2, 1500, 1501, 20_000):
        values = rng.normal(size=n).tolist()
        kept = thinned(values, 1500)
        assert len(kept) <= 1500
        assert kept == sorted(set(kept))
        assert {0, n - 1, int(np.argmin(values)), int(np.argmax(values))} <= set(kept)


# ---- the command line


def test_learn_writes_a_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bs.load_network("asia").sample(800, seed=3).save("asia.csv")
    done = CliRunner().invoke(app, ["learn", "asia.csv", "--report", "r.html"], catch_exceptions=False)
    assert "written to r.html" in done.stdout
    assert read(tmp_path / "r.html").text("arcs")
    done = CliRunner().invoke(app, ["learn", "asia.csv", "--report", "s.html", "--json"])
    assert json.loads(done.stdout)["report"] == "s.html"
    with pytest.raises(FormatError, match="make the folder"):
        CliRunner().invoke(app, ["learn", "nothing.csv", "--report", "no/r.html"], catch_exceptions=False)
