"""Answers show themselves: text with bars, HTML that nothing can break, frames."""

import copy
import pickle
import sys
from html.parser import HTMLParser
from io import TextIOWrapper

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.display import BAR_WIDTH, MOST_LINES, Grid, bar, own_name, probability_text
from bayescout.errors import SettingError, UnknownNameError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork
from bayescout.network.marginals import Marginals
from tests.network.asia_network import asia
from tests.network.test_mixed_inference import clinic

EVIL = "<script>alert('x')</script>&\x1b[31m\n"


def evil():
    """A network whose labels and states are markup and terminal codes."""
    dag = Dag.from_arcs([(EVIL, "b")], [EVIL, "b"])
    states = ((EVIL, "</td>"), ("u", "v"))
    return DiscreteNetwork(dag, states, [[0.25, 0.75], [[0.1, 0.9], [0.5, 0.5]]])


def answers():
    """One of everything that shows itself."""
    model, mixed = asia(), clinic()
    gaussian = GaussianNetwork(Dag.from_arcs([("x", "y")], "xy"), [0, 1], [[], [2]], [1, 1])
    rows = model.sample(200, seed=1)
    result = bs.learn(rows, search="hill-climb", score="bic")
    return [
        model.query("lung"),
        model.query(["lung", "bronc"], {"xray": "yes"}),
        model.cpt("dysp"),
        model.marginals(),
        model.explanations({"xray": "yes"}, 3),
        model.conflict({"xray": "yes", "smoke": "no"}),
        model.information("lung"),
        model.sensitivity("lung=yes | xray=yes"),
        gaussian.query("x"),
        gaussian.marginals({"y": 2}),
        gaussian.parameters("y"),
        mixed.query("t"),
        mixed.query(["ill", "t"]),
        mixed.marginals({"ill": "no"}),
        mixed.parameters("u"),
        bs.compare(result, model),
        result.explain("lung", "either"),
        bs.bootstrap(rows, runs=3, search="hill-climb", score="bic"),
        bs.Discretiser((("x", (0.5, 1.25)), ("y", (3.0,)))),
    ]


class Balanced(HTMLParser):
    """Every tag that opens is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(html):
    found = Balanced()
    found.feed(html)
    found.close()
    assert not found.open
    return found


def test_everything_shows_its_numbers():
    for answer in answers():
        text = repr(answer)
        assert "<" not in text.splitlines()[0].replace("<-", "")
        assert "object at 0x" not in text
        assert any(letter.isdigit() for letter in text)
        html = parsed(answer._repr_html_())
        assert set(html.tags) <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
        shown = "".join(html.text)
        assert any(letter.isdigit() for letter in shown)
        pandas, polars = answer.to_pandas(), answer.to_polars()
        assert len(pandas) == len(polars) > 0
        assert [str(name) for name in pandas.columns] == polars.columns


def test_labels_are_shown_and_not_obeyed():
    model = evil()
    found = [
        model.query("b"),
        model.query([EVIL, "b"]),
        model.marginals({"b": "u"}),
        model.cpt("b"),
        model.explanations({EVIL: "</td>"}),
        model.information("b"),
        model.conflict({EVIL: EVIL, "b": "u"}),
        model.sensitivity({"b": "u"}),
    ]
    for answer in found:
        assert "\x1b" not in repr(answer)
        html = parsed(answer._repr_html_())
        assert "script" not in html.tags
        assert "\x1b" not in "".join(html.text)
        answer.to_pandas()
        answer.to_polars()


@given(begin=st.floats(0, 1), width=st.floats(0, 1))
def test_a_bar_is_as_long_as_it_says(begin, width):
    end = min(1.0, begin + width)
    drawn = bar(begin, end)
    if end > begin:
        length = len(drawn) - len(drawn.lstrip())
        assert abs(length - begin * BAR_WIDTH) <= 1.01
        assert abs(len(drawn.strip()) - (end - begin) * BAR_WIDTH) <= 1.01
        assert drawn.strip()
    else:
        assert drawn == ""


def test_bars_are_number_signs_where_blocks_cannot_be_shown(monkeypatch, tmp_path):
    with (tmp_path / "out").open("wb") as stream:
        monkeypatch.setattr(sys, "stdout", TextIOWrapper(stream, encoding="cp1252"))
        text = repr(asia().query("smoke"))
        sys.stdout.write(text)
        sys.stdout.flush()
    assert "##########" in text
    assert "█" not in text


def test_long_tables_are_cut_and_counted():
    wide = Grid("t", ("a", "b"), tuple((str(i), "1") for i in range(500)), 1)
    assert wide.text().splitlines()[-1] == f"  ... {500 - MOST_LINES} more rows"
    assert "300 more rows" in wide.html()
    few = Grid("few", ("name", "share"), (("a", "1"), ("b", "2")), 1, more=3)
    assert few.text().splitlines()[-1] == "  ... 3 more rows"
    assert "3 more rows" in few.html()
    model = bs.random_network(dag=Dag.empty([f"n{i}" for i in range(14)]), states=2, seed=1)
    answer = model.query(list(model.nodes))
    assert len(answer) == 2**14
    assert repr(answer).splitlines()[-1] == f"  ... {2**14 - MOST_LINES:,} more rows"


def test_small_probabilities_are_told_from_zero():
    assert [probability_text(p) for p in (0.0, 1.0, 0.5, 1e-6, 1e-9)] == [
        "0.000000",
        "1.000000",
        "0.500000",
        "0.000001",
        "1.00e-09",
    ]
    assert own_name("probability", ["probability", "x"]) == "probability_"


# ---- a distribution reads like a dict


def test_a_distribution_is_read_by_state_and_by_position():
    answer = asia().query("lung")
    assert list(answer) == answer.keys() == ["yes", "no"]
    assert len(answer) == 2
    assert dict(answer.items()) == answer.to_dict()
    assert {**answer} == answer.to_dict()
    assert answer.values() == pytest.approx([0.055, 0.945])
    assert answer["yes"] == answer.at(0) == answer.at(-2)
    assert ("yes" in answer, "maybe" in answer, 0 in answer) == (True, False, False)
    assert np.asarray(answer) == pytest.approx([0.055, 0.945])
    with pytest.raises(
        UnknownNameError, match=r"unknown state 0 in variable 'lung' \(at\(\) is by position\)"
    ):
        answer[0]
    with pytest.raises(SettingError, match="has 2 states, at positions 0 to 1; 2 is none"):
        answer.at(2)
    with pytest.raises(SettingError, match="one position for each of 1 variables, not 2"):
        answer.at(0, 1)


def test_states_that_are_numbers_are_states():
    dag = Dag.empty(["a"])
    answer = DiscreteNetwork(dag, ((1, 0),), [[0.3, 0.7]]).query("a")
    assert (answer[0], answer[1]) == (0.7, 0.3)
    assert (answer.at(0), answer.at(1)) == (0.3, 0.7)
    assert answer.to_pandas()["a"].tolist() == [1, 0]


def test_several_variables_have_tuples():
    answer = asia().query(["lung", "bronc"])
    assert list(answer)[1] == ("yes", "no")
    assert answer["yes", "no"] == answer.at(0, 1)
    assert ("yes", "no") in answer
    assert "yes" not in answer
    frame = answer.to_pandas()
    assert list(frame.columns) == ["lung", "bronc", "probability"]
    assert frame["probability"].sum() == pytest.approx(1)
    assert answer.to_polars()["bronc"].to_list() == ["yes", "no", "yes", "no"]


def test_a_variable_called_probability_keeps_its_name():
    answer = DiscreteNetwork(Dag.empty(["probability"]), (("a", "b"),), [[0.3, 0.7]]).query("probability")
    assert answer.to_polars().columns == ["probability", "probability_"]


# ---- marginals


def test_marginals_are_a_dict_and_go_through_copies():
    found = asia().marginals({"xray": "yes"})
    assert isinstance(found, dict)
    assert list(found) == list(asia().nodes)
    assert found["lung"]["yes"] == pytest.approx(asia().query("lung | xray=yes")["yes"])
    for made in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert isinstance(made, Marginals)
        assert repr(made) == repr(found)
    assert list(found.to_polars().columns) == ["node", "state", "probability"]
    mixed = clinic().marginals().to_pandas()
    assert list(mixed.columns) == ["node", "state", "probability", "mean", "variance"]


def test_marginals_of_a_gaussian_network_are_its_queries():
    model = GaussianNetwork(Dag.from_arcs([("x", "y")], "xy"), [0, 1], [[], [2]], [1, 1])
    for label, answer in model.marginals({"y": 2}).items():
        expected = model.query(label, {"y": 2})
        assert (answer.mean, answer.variance) == (expected.mean, expected.variance)


def test_a_table_in_a_notebook_says_how_each_column_was_read():
    table = bs.as_table({"a<b>": ["x", "y", None, "x"] * 5, "size": [0.5 * i + 0.25 for i in range(20)]})
    shown = table._repr_html_()
    assert table.reading in shown
    assert "a&lt;b&gt;" in shown
    assert "<b>" not in shown
    for cell in ("categorical", "2: x, y", "continuous", "0.25 to 9.75", "numbers with decimals"):
        assert cell in shown
    assert shown.count("<tr>") == table.columns._repr_html_().count("<tr>") == 3
