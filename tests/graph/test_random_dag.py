import itertools
import subprocess
import sys
from collections import Counter
from functools import cache
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import BayescoutError, SettingError
from bayescout.graph.dag import Dag
from bayescout.graph.random import draw_parents, random_dag
from tests.reference import graphs as reference

SEEDS = st.integers(0, 2**40)


def room(n, max_parents):
    return sum(min(k, n if max_parents is None else max_parents) for k in range(n))


@given(st.integers(0, 12), st.none() | st.integers(0, 5), st.data(), SEEDS)
def test_the_number_of_arcs_is_exact_and_the_limit_holds(n, max_parents, data, seed):
    arcs = data.draw(st.integers(0, room(n, max_parents)))
    dag = random_dag(n, arcs=arcs, max_parents=max_parents, seed=seed)
    assert len(dag) == n
    assert dag.n_arcs == arcs
    assert all(len(ps) <= (n if max_parents is None else max_parents) for ps in dag.parents)
    assert dag == random_dag(n, arcs=arcs, max_parents=max_parents, seed=seed)


@given(st.integers(0, 12), st.none() | st.integers(0, 5), st.floats(0, 1), SEEDS)
def test_the_limit_holds_at_every_density(n, max_parents, density, seed):
    dag = random_dag(n, density=density, max_parents=max_parents, seed=seed)
    assert all(len(ps) <= (n if max_parents is None else max_parents) for ps in dag.parents)
    if density in (0, 1):
        assert dag.n_arcs == density * room(n, max_parents)


def test_labels():
    assert random_dag(3).nodes == ("X1", "X2", "X3")
    assert random_dag().nodes == ("X1", "X2", "X3", "X4", "X5")
    assert random_dag(np.int64(2)).nodes == ("X1", "X2")
    assert random_dag(["b", 7, ("a",)]).nodes == ("b", 7, ("a",))
    assert random_dag(0) == Dag.empty([])
    assert random_dag(1).n_arcs == 0
    assert random_dag(4, arcs=0) == Dag.empty(["X1", "X2", "X3", "X4"])


def test_the_seed_decides():
    assert random_dag(30, arcs=60, seed=1) == random_dag(30, arcs=60, seed=1)
    assert len({random_dag(30, arcs=60, seed=seed) for seed in range(20)}) == 20
    assert len({random_dag(30, arcs=50, max_parents=2, seed=seed) for seed in range(20)}) == 20


def test_no_hash_seed_changes_the_graph():
    code = (
        "from bayescout.graph.random import random_dag; "
        "d = random_dag(40, arcs=70, max_parents=3, seed=5); "
        "print(list(d.arcs()), d.cpdag().to_dag().parents)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_without_settings_there_are_as_many_arcs_as_nodes_on_average():
    rng = np.random.default_rng(3)
    counts = [sum(map(len, draw_parents(rng, 20))) for _ in range(400)]
    assert np.mean(counts) == pytest.approx(20, abs=5 * sqrt(20 / 400))


# ---- the distribution, against enumeration of orders and arc sets


@cache
def small_graphs():
    return [(arcs, len(reference.linear_orders(4, arcs))) for arcs in reference.all_dags(4)]


def fits(arcs, limit):
    return all(sum(c == child for _, c in arcs) <= limit for child in range(4))


def forward_weight(limit, weigh):
    """The total weight of the arc sets that fit the order 0, 1, 2, 3."""
    pairs = list(itertools.combinations(range(4), 2))
    sets = (subset for size in range(7) for subset in itertools.combinations(pairs, size))
    return sum(weigh(subset) for subset in sets if fits(subset, limit))


def assert_drawn_as(expected, draws, **settings):
    rng = np.random.default_rng(11)
    counts = Counter(reference.arcs_of(draw_parents(rng, 4, **settings)) for _ in range(draws))
    assert set(counts) <= set(expected)
    assert sum(expected.values()) == pytest.approx(1)
    statistic = sum((counts[g] - draws * p) ** 2 / (draws * p) for g, p in expected.items())
    freedom = len(expected) - 1
    assert abs(statistic - freedom) < 5 * sqrt(2 * freedom)


@pytest.mark.parametrize("limit", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
@pytest.mark.parametrize("arcs", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_every_arc_set_that_fits_an_order_is_equally_likely(arcs, limit):
    whole = 24 * forward_weight(limit, lambda subset: len(subset) == arcs)
    expected = {g: orders / whole for g, orders in small_graphs() if len(g) == arcs and fits(g, limit)}
    assert_drawn_as(expected, 12_000, arcs=arcs, max_parents=limit)


@pytest.mark.parametrize("limit", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3))])
def test_every_forward_arc_has_the_given_density_within_the_limit(limit):
    def weigh(subset):
        return 0.4 ** len(subset) * 0.6 ** (6 - len(subset))

    whole = 24 * forward_weight(limit, weigh)
    expected = {g: orders * weigh(g) / whole for g, orders in small_graphs() if fits(g, limit)}
    assert_drawn_as(expected, 12_000, density=0.4, max_parents=limit)


def test_every_order_is_equally_likely():
    rng = np.random.default_rng(5)
    complete = [Dag(tuple(range(4)), draw_parents(rng, 4, density=1.0)).order() for _ in range(12_000)]
    counts = Counter(complete)
    assert len(counts) == 24
    assert all(abs(count - 500) < 5 * sqrt(500) for count in counts.values())


def test_a_large_graph_near_its_limit_is_drawn():
    dag = random_dag(1000, arcs=room(1000, 3) - 1, max_parents=3, seed=2)
    assert dag.n_arcs == room(1000, 3) - 1
    assert max(map(len, dag.parents)) == 3


# ---- refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nodes": 5, "arcs": 11}, "11 arcs will not fit: there is room for 10 among 5 nodes"),
        ({"nodes": 5, "arcs": 8, "max_parents": 2}, "room for 7 among 5 nodes with at most 2 parents each"),
        ({"nodes": 1, "arcs": 1}, "1 arc will not fit: there is room for 0 among 1 node$"),
        ({"arcs": -1}, "arcs must be a whole number"),
        ({"arcs": 2.0}, "for a share use density"),
        ({"arcs": True}, "arcs must be"),
        ({"arcs": 3, "density": 0.5}, "either arcs or density"),
        ({"density": 1.5}, "density must be a number from 0 to 1, not 1.5"),
        ({"density": -0.1}, "density"),
        ({"density": float("nan")}, "density"),
        ({"density": "half"}, "density"),
        ({"max_parents": -1}, "max_parents"),
        ({"max_parents": 1.5}, "None is no limit"),
        ({"nodes": -1}, "nodes must be"),
        ({"nodes": 2.5}, "a number of nodes or a list of labels"),
        ({"nodes": ["a", "a"]}, "occurs more than once"),
        ({"nodes": {"a", "b"}}, "have an order"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": None}, "seed must be"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(BayescoutError, match=message):
        random_dag(**settings)


def test_a_limit_beyond_the_nodes_is_no_limit():
    assert random_dag(5, arcs=10, max_parents=10**30).n_arcs == 10
    with pytest.raises(SettingError):
        random_dag(5, arcs=11, max_parents=10**30)
