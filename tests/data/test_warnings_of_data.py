"""What is said of data: once, whoever reads them; a person who reads them again is told again."""

import gc

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayescout as bs
from bayescout.errors import BayescoutWarning

LEFT_OUT = "'id' .identifies rows."
COLUMNS = {
    "id": [f"p{i}" for i in range(40)],
    "a": ["x", "y"] * 20,
    "b": [1, 1, 2, 2] * 10,
    "same": ["s"] * 40,
}


def warned(call, *arguments, **options):
    """The texts of the warnings of a call, and its value."""
    import warnings

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        value = call(*arguments, **options)
    return [str(one.message) for one in told], value


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_one_frame_in_many_calls(make):
    frame = make(COLUMNS)
    told, result = warned(bs.learn, frame, "hill-climb", "bic")
    assert len(told) == 2
    assert all(("'id'" in one) or ("'same'" in one) for one in told)
    dag = result.dag
    for call in (
        lambda: bs.learn(frame, "tabu", "bic"),
        lambda: bs.fit(dag, frame),
        lambda: bs.score(dag, frame, "bic"),
        lambda: result.fit().predict(frame, "a"),
        lambda: result.fit().predict_proba(frame, "a"),
    ):
        call()  # a warning is an error in tests


def test_whoever_reads_the_frame_is_told_each_time():
    frame = pd.DataFrame(COLUMNS)
    bs_learn, _ = warned(bs.learn, frame, "hill-climb", "bic")
    for _ in range(2):
        assert warned(bs.as_table, frame)[0] == bs_learn
    bs.learn(frame, "hill-climb", "bic")


def test_a_copy_or_a_changed_frame_is_told_of():
    frame = pd.DataFrame(COLUMNS)
    told, _ = warned(bs.learn, frame, "hill-climb", "bic")
    assert warned(bs.learn, frame.copy(), "hill-climb", "bic")[0] == told
    frame["more"] = [f"q{i}" for i in range(40)]
    assert "'more'" in warned(bs.learn, frame, "hill-climb", "bic")[0][0]


def test_another_frame_in_the_same_place_is_told_of():
    for _ in range(4):
        frame = pd.DataFrame(COLUMNS)
        assert len(warned(bs.learn, frame, "hill-climb", "bic")[0]) == 2
        del frame
        gc.collect()


def test_a_file_is_told_of_until_it_is_written_anew(tmp_path):
    path = tmp_path / "rows.csv"
    pl.DataFrame(COLUMNS).write_csv(path)
    assert len(warned(bs.learn, path, "hill-climb", "bic")[0]) == 2
    bs.learn(str(path), "hill-climb", "bic")
    assert len(warned(bs.read_table, path)[0]) == 2
    pl.DataFrame(COLUMNS | {"c": ["u", "v", "v", "v"] * 10}).write_csv(path)
    assert len(warned(bs.learn, path, "hill-climb", "bic")[0]) == 2


def test_a_dict_is_told_of_each_time():
    for _ in range(2):
        assert len(warned(bs.learn, COLUMNS, "hill-climb", "bic")[0]) == 2


def test_predictions_say_once_what_was_not_used():
    model = bs.learn({"a": COLUMNS["a"], "b": COLUMNS["b"]}, "hill-climb", "bic").fit()
    rows = pd.DataFrame({"b": [1, 2, 9], "other": ["p", "q", "r"]})
    assert len(warned(model.predict, rows, "a")[0]) == 2
    model.predict_proba(rows, "a")
    with pytest.warns(BayescoutWarning, match="no state of their node"):
        model.predict(rows.drop(columns="other"), "a")


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_an_index_that_a_frame_was_written_with(name):
    """Numbers with gaps in the first column, without a name or with the one that pandas gives it."""
    index = [3 * i * i for i in range(40)]
    frame = pl.DataFrame({name: index, "a": COLUMNS["a"], "b": COLUMNS["b"]})
    with pytest.warns(BayescoutWarning, match="no name, an index of the rows"):
        table = bs.as_table(frame.to_pandas() if name else frame)
    assert table.names == ("a", "b")
    assert bs.as_table(frame, kinds={name: "continuous"}).n_columns == 3
    assert bs.as_table(frame, columns=[name, "a"]).n_columns == 2
    again = frame.with_columns(pl.Series(name, [1, 2] * 20))
    assert bs.as_table(again).n_columns == 3
    assert np.array_equal(bs.as_table(frame.select("a", "b")).codes, table.codes)


def test_a_file_without_a_line_of_names(tmp_path):
    """Its first row would be lost: the names tell, but years and other numbers that rise are names."""
    path = tmp_path / "rows.csv"
    rows = ["5.1,3.5,setosa", "4.9,3.0,setosa", "4.7,3.2,virginica"] * 10
    path.write_text("\n".join(rows) + "\n")
    with pytest.warns(
        BayescoutWarning, match=r"read like a row \('5.1', '3.5', 'setosa'\): if the data have"
    ):
        bs.read_table(path, kinds={"5.1": "continuous", "3.5": "continuous"})
    path.write_text("\n".join(["5,5,a", *["4,3,a", "1,2,b"] * 5]))
    with pytest.raises(bs.BayescoutError, match=r"occurs more than once.* if there is none"):
        bs.read_table(path)
    path.write_text("\n".join(["1990,1991,2001", *["4.5,3.25,1.5", "1.5,2.5,0.25", "3.5,9.5,2.75"] * 5]))
    bs.read_table(path, kinds="continuous")
    path.write_text("\n".join(["5,x", *["y,x", "x,y"] * 5]))
    bs.read_table(path)


def test_states_that_differ_in_case_or_blanks_alone():
    frame = {"answer": ["yes", "no", "Yes ", "no"] * 10, "grade": ["a", "A", "b", "B"] * 10}
    with pytest.warns(
        BayescoutWarning, match=r"in 'answer' \('Yes ', 'yes'|in 'answer' \('yes', 'Yes '"
    ) as told:
        assert bs.as_table(frame).states[0] == ("Yes ", "no", "yes")
    assert len(told) == 1
    bs.as_table(frame, states={"answer": ["yes", "no", "Yes "]})
