"""Lagged tables, and dynamic networks unrolled over time."""

import numpy as np
import pandas as pd
import pytest

import bayescout as bs
from bayescout.errors import BayescoutError


def switching(n, seed):
    """x goes on as it was; y follows x a step later."""
    rng = np.random.default_rng(seed)
    x, y = np.zeros(n, int), np.zeros(n, int)
    for t in range(1, n):
        x[t] = rng.random() < (0.9 if x[t - 1] else 0.1)
        y[t] = rng.random() < (0.8 if x[t - 1] else 0.2)
    return pd.DataFrame({"x": np.where(x, "on", "off"), "y": np.where(y, "high", "low")})


def test_a_row_has_the_rows_before_it():
    frame = pd.DataFrame({"a": [*"pqpqq"], "b": [0.1, 1.2, 2.3, 3.4, 4.5]})
    table = bs.lag(frame, 2).table
    assert table.names == ("a[t-2]", "b[t-2]", "a[t-1]", "b[t-1]", "a[t]", "b[t]")
    assert table.column("a[t-2]") == [*"pqp"]
    assert table.column("a[t]") == [*"pqq"]
    assert table.column("b[t-1]") == [1.2, 2.3, 3.4]
    assert table.column("b[t]") == [2.3, 3.4, 4.5]


def test_series_are_kept_apart_whatever_the_order_of_their_rows():
    frame = pd.DataFrame({"who": [*"ABABBA"], "v": [*"pqrspq"]})
    table = bs.lag(frame, 1, by="who").table
    assert table.names == ("v[t-1]", "v[t]")
    assert sorted(zip(table.column("v[t-1]"), table.column("v[t]"), strict=True)) == [
        ("p", "r"), ("q", "s"), ("r", "q"), ("s", "p"),
    ]  # fmt: skip


def test_empty_cells_stay_empty():
    table = bs.lag(pd.DataFrame({"a": ["p", None, "q", "p"]})).table
    assert table.column("a[t-1]") == ["p", None, "q"]
    assert table.column("a[t]") == [None, "q", "p"]


def test_the_transitions_are_learned_and_nothing_points_back():
    lagged = bs.lag(switching(3000, 1), 2)
    result = bs.learn(lagged.table, knowledge=lagged.knowledge)
    assert set(result.arcs()) == {("x[t-1]", "x[t]"), ("x[t-1]", "y[t]")}
    apart = bs.lag(switching(300, 1), 1, within=False, max_parents=1)
    arcs = bs.learn(apart.table, "hill-climb", "loglik", knowledge=apart.knowledge).arcs()
    assert all(parent.endswith("[t-1]") and child.endswith("[t]") for parent, child in arcs)
    assert len(list(arcs)) <= 2


def test_a_network_unrolled_is_the_product_of_its_transitions():
    lagged = bs.lag(switching(2000, 2), 1)
    dag = bs.Dag.from_arcs([("x[t-1]", "x[t]"), ("x[t-1]", "y[t]")], lagged.table.names)
    model = lagged.unroll(dag, 4)
    assert model.nodes == ("x[0]", "y[0]", "x[1]", "y[1]", "x[2]", "y[2]", "x[3]", "y[3]")
    fitted = bs.fit(dag, lagged.table, "laplace")
    moves = fitted.tables[2]
    start = bs.fit(bs.Dag.empty(lagged.table.names), lagged.table, "laplace").tables[2]
    states = model.states[0]
    for time in range(4):
        expected = start @ np.linalg.matrix_power(moves, time)
        assert model.query(f"x[{time}]").probabilities == pytest.approx(expected)
    given = model.query("x[3]", {"x[1]": states[0]})
    assert given.probabilities == pytest.approx(np.linalg.matrix_power(moves, 2)[0])


def test_early_times_have_the_parents_that_exist_by_then():
    rng = np.random.default_rng(3)
    values = np.zeros(400)
    for t in range(2, 400):
        values[t] = 0.5 * values[t - 1] - 0.3 * values[t - 2] + rng.normal()
    lagged = bs.lag(pd.DataFrame({"v": values}), 2)
    dag = bs.Dag.from_arcs([("v[t-1]", "v[t]"), ("v[t-2]", "v[t]")], lagged.table.names)
    model = lagged.unroll(dag, 5)
    assert [model.dag.parents_of(f"v[{t}]") for t in range(5)] == [
        (), ("v[0]",), ("v[0]", "v[1]"), ("v[1]", "v[2]"), ("v[2]", "v[3]"),
    ]  # fmt: skip
    assert model.coefficients[3] == pytest.approx([-0.3, 0.5], abs=0.12)
    assert np.array_equal(model.coefficients[3], model.coefficients[4])
    deviations = [model.query(f"v[{t}]").deviation for t in range(5)]
    assert deviations == pytest.approx([values.std()] * 5, rel=0.15)


def test_both_kinds_are_unrolled():
    rng = np.random.default_rng(4)
    mode = rng.integers(0, 2, 500)
    frame = pd.DataFrame({"mode": np.array(["a", "b"])[mode], "v": rng.normal(size=500) + 3 * mode})
    lagged = bs.lag(frame)
    dag = bs.Dag.from_arcs(
        [("mode[t]", "v[t]"), ("v[t-1]", "v[t]"), ("mode[t-1]", "mode[t]")], lagged.table.names
    )
    model = lagged.unroll(dag, 3)
    assert model.is_mixed
    assert model.query("v[2] | mode[2]=b").mean == pytest.approx(3, abs=0.3)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda frame: bs.lag(frame, 0), "at least 1"),
        (lambda frame: bs.lag(frame, 50), "ask for fewer lags"),
        (lambda frame: bs.lag(frame, by="z"), "unknown column 'z'"),
        (lambda frame: bs.lag(frame[["x"]], by="x"), "no column besides"),
        (lambda frame: bs.lag(bs.as_table(frame, weights=np.ones(50))), "no weights"),
        (lambda frame: bs.lag(frame).unroll(bs.Dag.from_arcs([("x", "y")]), 2), "learn it from"),
        (
            lambda frame: bs.lag(frame).unroll(
                bs.Dag.from_arcs([("x[t]", "y[t-1]")], bs.lag(frame).table.names), 2
            ),
            "into earlier times",
        ),
        (lambda frame: bs.lag(frame).unroll(bs.Dag.empty(bs.lag(frame).table.names), 0), "at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, message):
    with pytest.raises(BayescoutError, match=message):
        ask(switching(50, 5))
