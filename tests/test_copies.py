"""Results, networks and tables go through pickle, copies, processes and files, and answer as before."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import joblib
import numpy as np
import pytest

import bayescout as bs
from bayescout.errors import DataError, NetworkError, SettingError

pytestmark = pytest.mark.filterwarnings("ignore:.* rows are left out")

RNG = np.random.default_rng(11)
N = 300
A = RNG.integers(0, 3, N)
B = np.where(RNG.random(N) < 0.8, A, RNG.integers(0, 3, N))
X = A + RNG.normal(0, 0.5, N)
GONE = RNG.random(N) < 0.1
STATES = {"a": [f"s{i}" for i in A], "b": [f"t{i}" for i in B], "c": [*"uv"] * (N // 2)}
DATA = {
    "discrete": STATES,
    "numbers": {"x": X, "y": 2 * X + RNG.normal(size=N), "z": RNG.normal(size=N)},
    "mixed": {**STATES, "x": X},
    "incomplete": {**STATES, "b": [None if no else v for v, no in zip(STATES["b"], GONE, strict=True)]},
    "incomplete and mixed": {**STATES, "x": np.where(GONE, np.nan, X)},
}
OPTIONS = {
    "plain": {},
    "knowledge": {"knowledge": bs.Knowledge(max_parents=1)},
    "cut": {"discretise": 4},
    "drop": {"missing": "drop"},
}


def same(one, other):
    """Everything that a result is asked for is equal."""
    a, b = one.dag.nodes[:2]
    assert one.dag == other.dag
    assert one.score == other.score
    assert one.cpdag == other.cpdag
    assert repr(one) == repr(other)
    assert one.explain(a, b) == other.explain(a, b)
    assert one.fit().equals(other.fit())
    assert bs.gap(one).bound == bs.gap(other).bound


@pytest.fixture(scope="module", params=[(d, o) for d in DATA for o in OPTIONS], ids=" ".join)
def learned(request):
    data, options = request.param
    return bs.learn(DATA[data], **OPTIONS[options]), DATA[data]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_copies_of_results_answer_as_before(learned, copied):
    result, _ = learned
    same(copied(result), result)


def test_a_loaded_result_with_its_data_answers_as_before(learned, tmp_path):
    result, data = learned
    result.save(tmp_path / "r.json")
    alone = bs.Result.load(tmp_path / "r.json")
    with pytest.raises(SettingError, match=r"Result.load\(path, data=...\)"):
        alone.explain(*result.dag.nodes[:2])
    same(bs.Result.load(tmp_path / "r.json", data=data), result)
    alone.save(tmp_path / "again.json")
    same(bs.Result.load(tmp_path / "again.json", data=data), result)


def test_rows_in_another_order_are_the_same_data(tmp_path):
    result = bs.learn(STATES, search="hill-climb", score="bic")
    result.save(tmp_path / "r.json")
    turned = {name: column[::-1] for name, column in STATES.items()}
    assert bs.Result.load(tmp_path / "r.json", data=turned).explain("a", "b") == result.explain("a", "b")


def test_other_data_are_refused(tmp_path):
    bs.learn(STATES, search="hill-climb", score="bic").save(tmp_path / "r.json")
    fewer = {name: column[:200] for name, column in STATES.items()}
    with pytest.raises(DataError, match=r"there were 300 rows .* here are 200 rows"):
        bs.Result.load(tmp_path / "r.json", data=fewer)
    with pytest.raises(NetworkError, match="no column for node 'c'"):
        bs.Result.load(tmp_path / "r.json", data={"a": STATES["a"], "b": STATES["b"]})


def test_missing_cells_that_became_states_do_so_again(tmp_path):
    result = bs.learn(DATA["incomplete"], missing="state", search="hill-climb", score="bic")
    result.save(tmp_path / "r.json")
    same(bs.Result.load(tmp_path / "r.json", data=DATA["incomplete"]), result)


def test_a_score_of_ones_own_is_lost_and_said_to_be(tmp_path):
    result = bs.learn(STATES, score=lambda counts: float(-counts.size), search="hill-climb")
    again = pickle.loads(pickle.dumps(result))
    assert again.dag == result.dag
    assert again.cpdag == result.cpdag
    assert again.fit().equals(result.fit())
    with pytest.raises(SettingError, match="score"):
        again.explain("a", "b")
    assert copy.deepcopy(result).explain("a", "b") == result.explain("a", "b")
    result.save(tmp_path / "r.json")
    with pytest.raises(SettingError, match="one of your own"):
        bs.Result.load(tmp_path / "r.json", data=STATES)


def test_copied_tables_are_read_only():
    table = bs.as_table(DATA["incomplete and mixed"])
    for again in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert again.fingerprint == table.fingerprint
        assert not again.codes.flags.writeable
        assert again.reading == table.reading


def predicted(model, rows):
    return model.predict(rows, "a")


def explained(result):
    return str(result.explain("a", "b"))


def test_processes_take_them():
    result = bs.learn(DATA["mixed"], search="hill-climb", score="bic")
    model = result.fit()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows = {"b": ["t0", "t2"], "x": [0.1, None]}
        assert pool.submit(predicted, model, rows).result() == model.predict(rows, "a")
        assert pool.submit(explained, result).result() == explained(result)


def test_joblib_takes_them():
    result = bs.learn(DATA["mixed"], search="hill-climb", score="bic")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(explained)(one) for one in (result, result))
    assert found == [explained(result)] * 2
