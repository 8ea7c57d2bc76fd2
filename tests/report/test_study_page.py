"""The page of a study: every table and figure in files and on it, the same bytes for the same outcome."""

from __future__ import annotations

import csv
import re
import sys
from dataclasses import dataclass, field, replace
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import bayescout as bs
from bayescout.errors import FormatError, MissingExtraError, SettingError
from bayescout.experiments.summary import Outcome, Reason, Section
from bayescout.experiments.verdicts import judged, set_apart, untested
from bayescout.plots.values import (
    Boxes,
    Drawings,
    Drawn,
    Histograms,
    Lines,
    Panel,
    PointPanel,
    Points,
    Series,
    SummaryTable,
)
from bayescout.report.study import markdown, write_study
from bayescout.report.wording import text as as_shown
from tests.report.pages import NASTY, read


@dataclass(frozen=True)
class Record:
    """As much of a run's record as the page asks for."""

    run: dict
    versions: dict = field(default_factory=dict)
    reason: str | None = None


RECORDS = [
    *(Record({"seed": seed}, {"bayescout": f"1.{seed}", "numpy": "2.4"}) for seed in (4, 2, 0, 3, 1)),
    Record({"seed": 5}, {"bayescout": "1.5", "numpy": "2.4"}, "out of memory"),
]


def outcome(word="plain"):
    table = SummaryTable(
        "scores", f"Scores {word}", ("search", "runs", "score | mean"),
        ((f"{word} climb", 10, -1234.56789), ("tabu", 20, None), ("other", 3, -123456.789)), f"Note {word}.",
    )  # fmt: skip
    lines = Lines(
        "curve", f"Curve {word}", "step", "score", (Panel("one", (Series(word, (1, 2, 3), (1, 4, 5)),)),)
    )
    boxes = Boxes(
        "boxes", "Boxes", "score", (("a", (1.0, 2.0, 3.0)), (word, (2.0, 4.0, 5.0))), note="A note."
    )
    bins = Histograms("bins", "Bins", "score", (("a", (1.0, 2.0, 2.5)),))
    dag = bs.Dag.from_arcs([("a", "b"), ("a", "c")])
    graphs = Drawings("graphs", "Graphs", (Drawn(f"Found {word}", dag, dag.reverse("a", "b")),))
    findings = (
        judged(f"They say {word}.", "We say so too.", True),
        judged(
            "They say B.",
            "We say C.",
            {word: False, "x": True},
            {"x": True},
            "cases",
            why=(Reason("Because."),),
        ),
        untested("They say D.", "We cannot say.", (Reason(f"No data {word}.", "run 7"),)),
        set_apart(judged("They count in bits.", "We count in nats.", False), f"Units {word}"),
    )
    sections = (
        Section("First", f"Text {word}.", (table,), (lines, boxes)),
        Section("Second", "More.", (), (bins, graphs)),
    )
    introduction = f"First paragraph {word}.\n\nSecond paragraph."
    panel = PointPanel("scores", ((word, ((1.0, 1.1), (2.0, 1.9))),))
    agreement = Points("agreement", f"Agreement {word}", (panel,))
    return Outcome(
        "demo",
        f"A study {word}",
        "Author (2004), Title",
        introduction,
        findings,
        sections,
        agreement,
        "Small.",
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("studies") / "new" / "demo"
    assert write_study(outcome(), target, RECORDS) == target / "index.html"
    return target


def test_everything_is_in_the_folder_and_on_the_page(folder):
    made = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    figures = [
        f"figures/{name}.{end}"
        for name in ("agreement", "bins", "boxes", "curve", "graphs")
        for end in ("png", "svg")
    ]
    assert made == [*figures, "index.html", "tables/scores.csv", "tables/scores.md"]
    page = read(folder / "index.html")
    words = " ".join("".join(page.words).split())
    for said in (
        "A study plain",
        "Author (2004)",
        "Second paragraph.",
        "They say B.",
        "Conjecture: Because.",
        "holds in part (in 1 of 2 cases; in the document's own tables 1 of 1)",
        "does not hold",
        "cannot be tested",
        "(Shown by: run 7.)",
        "Units plain",
    ):
        assert said in words
    summary = "Of 3 findings of the document, 1 holds, 1 holds in part, 1 cannot be tested. 1 more on units"
    assert summary in words
    assert words.index(summary) < words.index("First paragraph")
    assert "-1,234.6" in words
    assert "-123,456.8" in words
    images = [a for a in page.attributes if "alt" in a]
    assert [image["alt"] for image in images] == ["Agreement plain", "Curve plain", "Boxes", "Bins", "Graphs"]
    assert all(image["src"].startswith("data:image/svg+xml;base64,") for image in images)
    anchors = {a["href"][1:] for a in page.attributes if a.get("href", "").startswith("#")}
    assert anchors == {"findings", "section-1", "section-2", "run"}
    assert anchors <= {a["id"] for a in page.attributes if "id" in a}
    linked = {a["href"] for a in page.attributes if a.get("href", "#")[0] not in "#d"}
    assert linked == set(made) - {"index.html"}


def test_how_it_was_run_is_said(folder):
    words = read(folder / "index.html").text("run")
    assert "6, of which 1 failed" in words
    assert "0 to 5" in words
    assert "1.0, 1.1, 1.2, 1.3, 1.4, 1.5" in words
    assert "out of memory" in words
    assert "bayescout experiment demo" in words


def test_tables_come_back_from_their_files(folder):
    with open(folder / "tables" / "scores.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["search", "runs", "score | mean"]
    assert float(rows[1][2]) == -1234.56789
    assert rows[2][2] == ""
    text = (folder / "tables" / "scores.md").read_text(encoding="utf-8")
    assert "| search | runs | score \\| mean |" in text
    assert text == markdown(outcome().sections[0].tables[0])


def test_the_same_outcome_gives_the_same_bytes(folder, tmp_path):
    write_study(outcome(), tmp_path, RECORDS)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            assert (tmp_path / path.relative_to(folder)).read_bytes() == path.read_bytes(), path.name


def test_labels_never_become_markup(folder, tmp_path, monkeypatch):
    def blank(figure, stem):
        stem.with_name(f"{figure.name}.svg").write_text("<svg/>")
        return stem.with_name(f"{figure.name}.svg"), None

    monkeypatch.setattr("bayescout.plots.save", blank)
    plain = read(folder / "index.html").tags
    for word in NASTY[:-1]:
        write_study(outcome(word.replace("\0", "")), tmp_path, RECORDS)
        assert read(tmp_path / "index.html").tags == plain


MARKED = st.text(
    st.sampled_from("ab1 <>&|\\`*_[]()!~$#-'\"/=:.\n") | st.characters(codec="utf-8"), min_size=1, max_size=30
) | st.sampled_from(
    [
        "<img src=x onerror=alert(1)>.csv",
        "[click](javascript:alert(1))",
        "![x](http://127.0.0.1/x.png)",
        "a&lt;b|c",
        "`code` **bold** _thin_ ~~gone~~ $x$",
        "<!-- hidden -->",
        "end \\",
        *NASTY,
    ]
)


def as_read(words):
    return " ".join(as_shown(words).split())


@given(MARKED, MARKED, MARKED)
def test_a_table_in_markdown_shows_names_as_they_are(title, cell, note):
    """Rendered, it has the tags of a table and nothing else, and every text comes back."""
    table = SummaryTable("scores", f"T {title}", ("search", cell), ((cell, 1), ("other", cell)), f"N {note}")
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown(table))
    tags = re.findall(r"</?([a-z0-9]+)", page)
    assert set(tags) == {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert (tags.count("tr"), tags.count("p"), tags.count("strong")) == (6, 4, 2)
    texts = [unescape(text).strip() for text in re.findall(r"<(?:strong|th|td|p)>([^<]+)<", page)]
    shown = [f"T {title}", "search", cell, cell, "1", "other", cell, f"N {note}"]
    assert texts == [words for words in map(as_read, shown) if words]


def test_mistakes_are_named_before_anything_is_written(tmp_path, monkeypatch):
    good = outcome()
    first = good.sections[0]
    for name, words in (
        ("a/b", "name of a file"),
        ("..", "name of a file"),
        ("curve", "two tables or figures"),
    ):
        bad = replace(good, sections=(replace(first, tables=(replace(first.tables[0], name=name),)),))
        with pytest.raises(SettingError, match=words):
            write_study(bad, tmp_path / "out")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"bayescout\[plot\]"):
        write_study(good, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("x")
    monkeypatch.undo()
    with pytest.raises(FormatError, match="another folder"):
        write_study(good, tmp_path / "file")


def test_long_tables_are_cut_on_the_page_alone(tmp_path):
    table = SummaryTable("long", "Long", ("i",), tuple((i,) for i in range(700)))
    write_study(Outcome("d", "t", "s", "", (), (Section("S", "", (table,)),)), tmp_path)
    assert "first 500 of 700 rows" in "".join(read(tmp_path / "index.html").words)
    assert len((tmp_path / "tables" / "long.csv").read_text().splitlines()) == 701
