"""Learning from tables with missing cells."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import bayescout as bs
from bayescout import task
from bayescout.completion import Late, canonical_rows, completed, first_tree
from bayescout.data.table import MissingReport, Table
from bayescout.errors import BayescoutWarning, MissingValueError, SettingError
from bayescout.network import ConditionalGaussian, LinearGaussian, Network, Tabular
from bayescout.search import SEARCHES, Knowledge


def holed(table: Table, share: float, seed: int = 1) -> Table:
    """The table without about this share of its cells."""
    rng = np.random.default_rng([seed, 31])
    codes, values = table.codes.copy(), table.values.copy()
    cards = table.cardinalities[table.cardinalities > 0]
    codes = np.where(rng.random(codes.shape) < share, cards[:, None], codes).astype(codes.dtype)
    values[rng.random(values.shape) < share] = np.nan
    return Table(table.names, table.states, codes, values, table.weights, MissingReport("keep"))


def network(kind: str) -> bs.Network:
    return {
        "discrete": lambda: bs.load_network("asia"),
        "gaussian": lambda: bs.random_network(nodes=6, arcs=7, kind="gaussian", seed=4),
        "mixed": lambda: bs.random_network(nodes=7, arcs=9, states=3, kind="mixed", seed=2),
    }[kind]()


KINDS = ("discrete", "gaussian", "mixed")


@pytest.mark.parametrize("kind", KINDS)
def test_observed_cells_stay_and_the_others_get_values(kind: str) -> None:
    full = network(kind).sample(300, seed=1)
    table = holed(full, 0.2)
    table = table.take(canonical_rows(table))
    drawn = completed(table, Knowledge().compile(table.names), 0).table
    copies = drawn.n_rows // table.n_rows
    assert not drawn.has_missing
    assert drawn.total_weight == pytest.approx(table.n_rows)
    for name in table.names:
        here = np.tile(~table.missing_cells(name), copies)
        assert (drawn.array(name)[here] == np.tile(table.array(name), copies)[here]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_without_missing_cells_the_answer_is_that_of_complete_data(kind: str) -> None:
    full = network(kind).sample(300, seed=1)
    kept = Table(full.names, full.states, full.codes, full.values, None, MissingReport("keep"))
    for search in ("hill-climb", "ges"):
        one, two = (
            bs.learn(full, search=search, score="bic"),
            bs.learn(kept, search=search, missing="em", score="bic"),
        )
        assert one.score.hex() == two.score.hex()
        assert one.dag == two.dag
        assert two.completed is None


@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_rows_and_columns_give_the_same_graph(kind: str) -> None:
    table = holed(network(kind).sample(400, seed=1), 0.2)
    rng = np.random.default_rng(0)
    names = [table.names[i] for i in rng.permutation(table.n_columns)]
    other = table.take(rng.permutation(table.n_rows)).select(names)
    one, two = (
        bs.learn(table, search="hill-climb", score="bic"),
        bs.learn(other, search="hill-climb", score="bic"),
    )
    assert set(one.arcs()) == set(two.arcs())
    assert one.score.hex() == two.score.hex()


@pytest.mark.parametrize("kind", KINDS)
def test_workers_do_not_change_the_answer_and_seeds_may(kind: str) -> None:
    table = holed(network(kind).sample(300, seed=1), 0.3)
    one, two = (bs.learn(table, workers=workers, search="hill-climb", score="bic") for workers in (1, 2))
    assert one.score.hex() == two.score.hex()
    assert one.score != bs.learn(table, seed=5, search="hill-climb", score="bic").score


@pytest.mark.parametrize("search", list(SEARCHES))
def test_every_search_learns_from_an_incomplete_table(search: str) -> None:
    table = holed(network("discrete").sample(200, seed=1).select(["tub", "lung", "either", "xray"]), 0.2)
    knowledge = Knowledge(required=[("xray", "tub")], forbidden=[("either", "lung")])
    if search == "k2":
        knowledge = Knowledge(order=("xray", "tub", "lung", "either"))
    result = bs.learn(table, search=search, knowledge=knowledge, max_steps=20, score="bic")
    if search != "k2":
        assert ("xray", "tub") in set(result.arcs())
        assert ("either", "lung") not in set(result.arcs())
    assert result.completed is not None
    assert bs.score(result.dag, result.completed) == pytest.approx(result.score)


def test_the_graph_of_asia_is_found_with_a_third_of_the_cells_missing() -> None:
    truth = network("discrete")
    distances = []
    for seed in (1, 2, 3):
        result = bs.learn(holed(truth.sample(10_000, seed=seed), 0.3, seed), search="ges", score="bic")
        distances.append(bs.compare(result.dag, truth.dag).shd_cpdag)
    assert np.median(distances) <= 1  # complete data: 0, 1 and 1


def test_what_a_result_offers_works_on_incomplete_data() -> None:
    table = holed(network("discrete").sample(500, seed=1), 0.15)
    result = bs.learn(table, search="hill-climb", score="bic")
    parent, child = next(iter(result.arcs()))
    assert result.explain(parent, child)
    assert result.table is not None
    assert result.table.has_missing
    model = result.fit(prior="bdeu")
    assert np.isfinite(float(model.log_likelihood(table)))
    assert bs.gap(result, max_time=5).gap >= 0


def test_a_checkpoint_of_an_incomplete_table_is_resumed(tmp_path) -> None:
    table = holed(network("discrete").sample(500, seed=1), 0.2)
    path = tmp_path / "run.checkpoint"
    bs.learn(table, "tabu", max_steps=3, checkpoint=path, score="bic")
    again, whole = bs.learn(table, "tabu", checkpoint=path, score="bic"), bs.learn(table, "tabu", score="bic")
    assert again.score.hex() == whole.score.hex()
    assert again.dag == whole.dag


def test_columns_that_are_nearly_empty_or_never_there_together() -> None:
    codes = np.full((3, 60), 2, dtype=np.uint8)
    codes[0, :30] = np.arange(30) % 2
    codes[1, 30:] = np.arange(30) % 2
    codes[2, :2] = [0, 1]
    table = Table(
        ("a", "b", "c"),
        (("n", "y"),) * 3,
        codes,
        np.empty((0, 60)),
        None,
        MissingReport("keep"),
    )
    with pytest.warns(BayescoutWarning, match="'a' and 'b'"):
        assert bs.learn(table, search="hill-climb", score="bic").dag.nodes == ("a", "b", "c")


def test_the_first_tree_joins_what_belongs_together() -> None:
    dag = bs.Dag(("y", "x", "b", "a"), ((1,), (2,), (3,), ()))
    truth = Network(
        dag,
        (
            LinearGaussian(1.0, [2.0], 1.0),
            ConditionalGaussian([0.0, 2.0], [[], []], [1.0, 1.0]),
            Tabular(("n", "y"), np.array([[0.9, 0.1], [0.2, 0.8]])),
            Tabular(("n", "y"), np.array([0.4, 0.6])),
        ),
    )
    table = holed(truth.sample(3000, seed=2), 0.2)
    assert first_tree(table) == ((1,), (2,), (), (2,))


def test_time_is_shared_with_the_search() -> None:
    table = holed(bs.load_network("alarm").sample(2000, seed=1), 0.2)
    result = bs.learn(table, max_time=0.05, search="hill-climb", score="bic")
    assert result.seconds < 3
    assert result.dag is not None


def test_a_result_says_that_the_time_ended_the_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search converges on the cells that were drawn until then: with more time they are others."""
    table = holed(network("mixed").sample(200, seed=1), 0.1)
    assert bs.learn(table, search="hill-climb", score="bic", max_time=1000).stop_reason == "converged"
    monkeypatch.setattr(task, "_until", lambda *_: 0.0)
    assert bs.learn(table, search="hill-climb", score="bic", max_time=1000).stop_reason == "max_time"
    whole = network("mixed").sample(200, seed=1)
    assert bs.learn(whole, search="hill-climb", score="bic", max_time=1000).stop_reason == "converged"


def test_a_loaded_result_tells_of_cells_drawn_for_longer(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    table = holed(network("mixed").sample(200, seed=1), 0.1)
    with monkeypatch.context() as patched:
        patched.setattr(task, "_until", lambda *_: 0.0)
        bs.learn(table, search="hill-climb", score="bic", max_time=1000).save(tmp_path / "short.json")
    with pytest.warns(BayescoutWarning, match="other missing cells were drawn .* it was -"):
        bs.Result.load(tmp_path / "short.json", data=table)
    bs.learn(table, search="hill-climb", score="bic").save(tmp_path / "whole.json")
    assert bs.Result.load(tmp_path / "whole.json", data=table).scored_table is not None


def test_the_time_may_end_just_before_a_climb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between looking whether time is left and asking how much, the last of it may go."""
    table = holed(network("mixed").sample(200, seed=1), 0.1)
    calls = iter([False, False])
    monkeypatch.setattr(Late, "__call__", lambda late: next(calls, True))
    found = completed(table, Knowledge().compile(table.names), 0, until=0.0)
    assert found.rounds == 1
    assert not found.table.has_missing


@pytest.mark.filterwarnings("ignore:.*rows are left out")
@pytest.mark.parametrize("missing", ["drop", "state", "error", "em"])
def test_the_ways_to_treat_missing_cells(missing: str) -> None:
    table = holed(network("discrete").sample(300, seed=1), 0.05)
    if missing == "error":
        with pytest.raises(MissingValueError, match="drop"):
            bs.learn(table, missing=missing, search="hill-climb", score="bic")
        return
    with pytest.warns(BayescoutWarning, match="rows are left out") if missing == "drop" else nullcontext():
        result = bs.learn(table, missing=missing, search="hill-climb", score="bic")
    assert result.settings.missing == missing
    with pytest.raises(SettingError, match="missing must be one of"):
        bs.learn(table, missing="mean", search="hill-climb", score="bic")


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e155, 1e-160, 1e300, 1e-300])
@pytest.mark.parametrize("kind", ["gaussian", "mixed"])
def test_columns_of_enormous_scale_are_drawn_like_others(kind: str, scale: float) -> None:
    """Observed cells stay to the bit, and of twice the numbers twice the cells are drawn."""
    table = holed(network(kind).sample(200, seed=1), 0.2)
    power = int(np.frexp(scale)[1])
    kept = (table.names, table.states, table.codes)
    far, farther = (
        Table(*kept, np.ldexp(table.values, one), None, MissingReport("keep")) for one in (power, power + 1)
    )
    rules = Knowledge().compile(far.names)
    drawn = completed(far, rules, 0).table
    order = canonical_rows(far)
    for name in far.names:
        expected = np.tile(far.array(name)[order], drawn.copies)
        here = np.tile(~far.missing_cells(name)[order], drawn.copies)
        assert (drawn.array(name)[here] == expected[here]).all()
    assert np.isfinite(drawn.values).all()
    assert np.array_equal(completed(farther, rules, 0).table.values, 2 * drawn.values)
    assert bs.learn(far, search="hill-climb", score="bic").dag.n_arcs > 0
