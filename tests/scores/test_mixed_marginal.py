"""The marginal likelihood of mixed tables, against prediction row by row, and the laws of the theory."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, DataError, SettingError
from bayescout.scores import SCORES, BDeu, Bge, CgBde, bind
from bayescout.search import SEARCHES
from bayescout.statistics.engines import in_memory
from bayescout.statistics.wishart import WishartPrior
from tests.reference import graphs
from tests.reference import mixed as twin
from tests.scores.drawn_data import (
    continuous_table,
    discrete_tables,
    families,
    legal_families,
    mixed_table,
    mixed_tables,
)
from tests.search.drawn_problems import mixed
from tests.strategies import examples

PRIORS = st.builds(
    dict,
    ess=st.sampled_from([0.2, 1.0, 10.0]),
    iss_mu=st.sampled_from([0.1, 1.0, 5.0]),
    more=st.sampled_from([None, 1.25, 3.0, 20.0]),
)


@st.composite
def drawn_tables(draw, **options):
    """Mixed tables with columns of unit variance, or somewhat more or less, about any mean."""
    table = draw(mixed_tables(**options))
    scale = draw(st.sampled_from([0.5, 1.0, 20.0]))
    values = scale * table.values / table.values.std(axis=1, keepdims=True)
    return bs.Table(table.names, table.states, table.codes, values, table.weights)


def formula_of(table, ess, iss_mu, more):
    n = table.states.count(None)
    return CgBde(ess, iss_mu, None if more is None else n + more)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(data=st.data(), prior=PRIORS)
def test_it_is_the_product_of_predictions_row_by_row(data, prior):
    table = data.draw(drawn_tables(weighted=True))
    child, parents = data.draw(legal_families(table))
    formula = formula_of(table, **prior)
    expected = twin.marginal(table, child, parents, formula.ess, formula.iss_mu, formula.iss_w)
    assert bind(formula, table).local(child, parents) == pytest.approx(expected, rel=1e-8, abs=1e-5)


def test_it_is_the_product_of_the_predictions_of_whole_rows():
    """The probability of each row under a graph, given the rows before it: no family is looked at alone."""
    rng = np.random.default_rng(3)
    d = rng.integers(0, 3, 40)
    e = np.where(rng.random(40) < 0.7, d, rng.integers(0, 3, 40))
    x = rng.normal(size=40) + d
    y = 0.5 * x + e + rng.normal(size=40)
    table = mixed_table([d, e], [3, 3], [x, y])
    total, ess = 0.0, 2.0
    for row in range(40):
        same = (d[:row] == d[row]).sum()
        total += math.log((same + ess / 3) / (row + ess))
        total += math.log(((d[:row] == d[row]) & (e[:row] == e[row])).sum() + ess / 9)
        total -= math.log(same + ess / 3)
        seen = (d[:row] == d[row]) & (e[:row] == e[row])
        total += log_predicted(np.array([x, y]), np.flatnonzero(seen), row)
    dag = bs.Dag.from_arcs(
        [("d0", "d1"), ("d0", "x0"), ("d1", "x0"), ("d0", "x1"), ("d1", "x1"), ("x0", "x1")],
        nodes=table.names,
    )
    assert bs.score(dag, table, CgBde(ess)) == pytest.approx(total, abs=1e-5)


def log_predicted(columns, before, row):
    """Student's t density of a row, from the posterior of the rows before it, all at once."""
    v, n = len(columns), len(before)
    own = columns[:, before]
    centre = columns.mean(axis=1)
    rows, degrees, scatter = 1 + n, v + 2 + n, 0.5 * np.eye(v)
    mean = (centre + own.sum(axis=1)) / rows
    if n:
        away = own - own.mean(axis=1, keepdims=True)
        between = own.mean(axis=1) - centre
        scatter += away @ away.T + n / rows * np.outer(between, between)
    nu = degrees - v + 1
    shape = scatter * (rows + 1) / (rows * nu)
    off = columns[:, row] - mean
    distance = off @ np.linalg.solve(shape, off)
    value = math.lgamma((nu + v) / 2) - math.lgamma(nu / 2) - v / 2 * math.log(nu * math.pi)
    return value - np.linalg.slogdet(shape)[1] / 2 - (nu + v) / 2 * math.log1p(distance / nu)


# ---- equivalence


@pytest.mark.parametrize("discrete", [1, 2, 3])
@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), prior=PRIORS)
def test_equivalent_legal_graphs_of_four_variables_score_the_same(discrete, seed, prior):
    """All 543 graphs, less those in which a discrete variable has a continuous parent."""
    rng = np.random.default_rng(seed)
    n, cards = int(rng.choice([8, 60])), rng.integers(1, 4, discrete)
    codes = np.array([rng.integers(0, r, n) for r in cards])
    columns = rng.normal(size=(4 - discrete, n)) + codes[0] + rng.normal(size=n)
    columns *= 1 + codes[-1]
    table = mixed_table(codes, cards.tolist(), columns)
    legal = [
        arcs for arcs in graphs.all_dags(4) if not any(a >= discrete > b for a, b in arcs)
    ]  # discrete columns come first
    score = bind(formula_of(table, **prior), table)

    def total(arcs):
        parents = [tuple(sorted(a for a, b in arcs if b == child)) for child in range(4)]
        return sum(score.local(child, own) for child, own in enumerate(parents))

    classes = graphs.equivalence_classes(legal)
    assert max(len(members) for members in classes) > 1
    for members in classes:
        totals = [total(arcs) for arcs in members]
        assert max(totals) - min(totals) < 2e-6


def test_reversals_within_configurations_gain_the_same_to_the_bit():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (2, 500))
    table = mixed_table(codes, [3, 3], rng.normal(size=(3, 500)) + codes[0])
    score = bind("cg-bde", table)
    for one, other in itertools.combinations((2, 3, 4), 2):
        for given_d in ((0,), (0, 1)):
            forth = score.local(other, (*given_d, one)) - score.local(other, given_d)
            assert forth == score.local(one, (*given_d, other)) - score.local(one, given_d)


# ---- the laws that tie it to the scores of one kind


@settings(max_examples=30)
@given(data=st.data(), ess=st.sampled_from([0.2, 1.0, 10.0]))
def test_without_continuous_columns_it_is_bdeu_to_the_bit(data, ess):
    table = data.draw(discrete_tables(min_variables=2))
    child, parents = data.draw(families(table.n_columns))
    others = [v for v in range(table.n_columns) if v != child and v not in parents]
    one, other = bind(CgBde(ess, iss_w=1.5), table), bind(BDeu(ess), table)
    assert one.local(child, parents) == other.local(child, parents)
    extended = [score.extensions(child, parents, others).tolist() for score in (one, other)]
    assert extended[0] == extended[1]


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), rows=st.integers(3, 50), data=st.data(), prior=PRIORS)
def test_without_discrete_columns_it_is_bge_to_the_bit(seed, rows, data, prior):
    table = continuous_table(3 * np.random.default_rng(seed).normal(size=(4, rows)))
    family = data.draw(families(4))
    formula = formula_of(table, **prior)
    assert bind(formula, table).local(*family) == bind(Bge(formula.iss_mu, formula.iss_w), table).local(
        *family
    )


def test_tables_of_one_kind_are_learned_as_by_the_score_of_that_kind():
    both = mixed(4, 4, 200, seed=2)
    for kind, score in (("discrete", "bdeu"), ("continuous", "bge")):
        table = both.select([n for n, k in zip(both.names, both.kinds, strict=True) if k == kind])
        for search in ("hill-climb", "ges", "optimal"):
            one, other = bs.learn(table, search, "cg-bde"), bs.learn(table, search, score)
            assert (one.dag, one.score) == (other.dag, other.score)


@settings(max_examples=examples(50))
@given(data=st.data(), prior=PRIORS)
def test_families_of_one_kind_score_as_in_a_table_of_that_kind_to_the_bit(data, prior):
    table = data.draw(drawn_tables(weighted=True))
    formula = formula_of(table, **prior)
    for kind, same in (("discrete", BDeu(formula.ess)), ("continuous", Bge(formula.iss_mu, formula.iss_w))):
        names = [n for n, k in zip(table.names, table.kinds, strict=True) if k == kind]
        part = table.select(names)
        child, parents = data.draw(families(part.n_columns))
        family = table.index(names[child]), tuple(sorted(table.index(names[p]) for p in parents))
        assert bind(formula, table).local(*family) == bind(same, part).local(child, parents)


@settings(max_examples=30)
@given(data=st.data(), prior=PRIORS)
def test_a_parent_of_one_state_changes_nothing(data, prior):
    table = data.draw(drawn_tables(max_discrete=2))
    child, parents = data.draw(legal_families(table))
    one = bs.Table(
        (*table.names, "one"),
        (*table.states, ("a",)),
        np.vstack([table.codes, np.zeros((1, table.n_rows), np.uint8)]),
        table.values,
    )
    score = bind(formula_of(table, **prior), one)
    assert score.local(child, (*parents, table.n_columns)) == pytest.approx(
        score.local(child, parents), rel=1e-9, abs=1e-6
    )


@settings(max_examples=30)
@given(data=st.data(), prior=PRIORS)
def test_states_that_never_occur_change_nothing_for_a_continuous_child(data, prior):
    table = data.draw(drawn_tables())
    child, parents = data.draw(legal_families(table))
    assume(table.states[child] is None)
    more = tuple(None if own is None else (*own, "never", "nor this") for own in table.states)
    wider = bs.Table(table.names, more, table.codes, table.values)
    formula = formula_of(table, **prior)
    assert bind(formula, wider).local(child, parents) == pytest.approx(
        bind(formula, table).local(child, parents), rel=1e-12, abs=1e-6
    )


# ---- ways of asking


@settings(max_examples=examples(80))
@given(data=st.data())
def test_extensions_many_and_local_agree(data):
    table = data.draw(drawn_tables())
    child, parents = data.draw(families(table.n_columns, max_parents=3))
    others = [v for v in range(table.n_columns) if v != child and v not in parents]
    assume(others)
    extended = [(child, tuple(sorted((*parents, x)))) for x in others]
    by_extension = bind("cg-bde", table).extensions(child, parents, others)
    by_many = bind("cg-bde", table).many(extended)
    assert by_many.tolist() == [bind("cg-bde", table).local(*family) for family in extended]
    same = by_extension == by_many  # also where both are infinite
    assert np.allclose(by_extension[~same], by_many[~same], rtol=0, atol=1e-6)
    illegal = [
        table.states[child] is not None and any(table.states[p] is None for p in f) for _, f in extended
    ]
    assert np.isinf(by_many).tolist() == illegal


@settings(max_examples=examples(40))
@given(data=st.data())
def test_rows_columns_and_states_may_come_in_any_order(data):
    table = data.draw(drawn_tables())
    child, parents = data.draw(legal_families(table))
    rng = np.random.default_rng(1)
    columns = rng.permutation(table.n_columns)
    moved = table.take(rng.permutation(table.n_rows)).select([table.names[i] for i in columns])
    codes = [
        rng.permutation(len(s))[c] for s, c in zip((s for s in moved.states if s), moved.codes, strict=True)
    ]
    moved = bs.Table(moved.names, moved.states, np.array(codes, dtype=np.uint8), moved.values)
    at = {name: i for i, name in enumerate(moved.names)}
    family = at[table.names[child]], tuple(sorted(at[table.names[p]] for p in parents))
    expected = bind("cg-bde", table).local(child, parents)
    assert bind("cg-bde", moved).local(*family) == pytest.approx(expected, abs=1e-6)


def test_many_continuous_columns_are_scored_in_pieces(monkeypatch):
    import bayescout.statistics.strata as module

    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (2, 120))
    table = mixed_table(codes, [3, 3], rng.normal(size=(9, 120)) + codes[0])
    candidates = [1, 3, 5, 6, 7, 8, 9, 10]
    whole = bind("cg-bde", table).extensions(4, (0, 2), candidates)
    monkeypatch.setattr(module, "WHOLE_COLUMNS", 3)
    monkeypatch.setattr(module, "CHUNK", 2)
    assert bind("cg-bde", table).extensions(4, (0, 2), candidates).tolist() == whole.tolist()
    expected = [twin.marginal(table, 4, (0, 2, more)) for more in candidates]
    assert whole == pytest.approx(expected, abs=1e-5)


def test_many_configurations_of_few_rows_each():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 4, (5, 300))
    table = mixed_table(codes, [4] * 5, rng.normal(size=(2, 300)) + codes[0])
    family = 6, (0, 1, 2, 3, 4, 5)
    assert bind("cg-bde", table).local(*family) == pytest.approx(twin.marginal(table, *family), abs=1e-5)
    assert bind("cg-bde", table).local(6, (0,)) > bind("cg-bde", table).local(*family) + 100


def test_more_configurations_than_a_float_can_count():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (1100, 30))
    table = mixed_table(codes, [2] * 1100, rng.normal(size=(1, 30)))
    score = bind("cg-bde", table)
    assert score.local(1100, tuple(range(1100))) == score.local(1100, tuple(range(60)))  # each row by itself
    assert score.local(0, tuple(range(1, 1100))) == -math.inf


@settings(max_examples=examples(40))
@given(data=st.data(), prior=PRIORS)
def test_superset_bounds_hold(data, prior):
    table = data.draw(drawn_tables(max_rows=60))
    score = bind(formula_of(table, **prior), table)
    n = table.n_columns
    allowed = score.legal & ~np.eye(n, dtype=bool)
    bounds = score.superset_bounds(allowed)
    for child in range(n):
        able = np.flatnonzero(allowed[:, child]).tolist()
        sets = [s for k in range(len(able) + 1) for s in itertools.combinations(able, k)]
        values = dict(zip(sets, score.many([(child, s) for s in sets]).tolist(), strict=True))
        for own, value in values.items():
            above = max((v for s, v in values.items() if set(s) > set(own)), default=-math.inf)
            top = bounds[child].above(
                (), np.array([own], dtype=np.int64).reshape(1, -1), np.array([value]), None
            )
            assert above <= top[0]


def test_the_best_of_all_legal_graphs_is_found():
    for seed in range(6):
        table = mixed(2, 2, [15, 60, 300][seed % 3], seed=seed, states=2 + seed % 2)
        discrete = [states is not None for states in table.states]
        score = bind("cg-bde", table)
        best = max(
            sum(score.local(c, tuple(sorted(a for a, b in arcs if b == c))) for c in range(4))
            for arcs in graphs.all_dags(4)
            if not any(discrete[b] and not discrete[a] for a, b in arcs)
        )
        result = bs.learn(table, "optimal", "cg-bde")
        assert result.score == pytest.approx(best, abs=1e-6)
        assert result.gap == 0


def test_every_search_takes_it():
    table = mixed(3, 3, 300, seed=2)
    kinds = dict(zip(table.names, table.kinds, strict=True))
    for name in SEARCHES:
        order = bs.Knowledge(order=tuple(sorted(table.names))) if name == "k2" else None
        result = bs.learn(table, name, "cg-bde", order, seed=1, max_steps=30)
        assert not [a for a in result.dag.arcs() if [kinds[v] for v in a] == ["continuous", "discrete"]]
        assert result.score == pytest.approx(bs.score(result.dag, table, "cg-bde"), abs=1e-6)


def test_it_finds_the_network_that_the_rows_are_from():
    rng = np.random.default_rng(1)
    d = rng.integers(0, 2, 2000)
    e = np.where(rng.random(2000) < 0.8, d, rng.integers(0, 3, 2000))
    x = rng.normal(size=2000) + 1.5 * d
    y = np.array([1.0, -1.0, 0.3])[e] * x + rng.normal(size=2000)
    z = rng.normal(size=2000)
    table = mixed_table([d, e], [2, 3], [x, y, z])
    for search in ("hill-climb", "ges", "optimal"):
        arcs = set(bs.learn(table, search, "cg-bde").dag.arcs())
        assert {frozenset(arc) for arc in arcs} == {
            frozenset(pair) for pair in (("d0", "d1"), ("d0", "x0"), ("d1", "x1"), ("x0", "x1"))
        }


# ---- settings, parts and messages


def test_the_prior_is_that_of_bge_for_the_continuous_columns():
    prior = Bge(2.0, 9.0).prior(4)
    assert prior == WishartPrior(2.0, 5.0, 2.0 * 4.0 / 3.0)
    assert prior.covariance == pytest.approx(2 / 3)
    table = mixed(3, 4, 50, seed=1)
    assert bind(CgBde(iss_mu=2.0, iss_w=9.0), table).statistics.prior == prior


def test_registered_name_settings_and_parts():
    assert SCORES["cg-bde"] is CgBde
    assert CgBde.equivalent
    assert CgBde.kinds == "both"
    assert CgBde(np.float64(2), 1, 9) == CgBde(2.0, 1.0, 9.0)
    table = mixed(2, 2, 100, seed=1)
    dag = bs.learn(table, score="cg-bde", search="hill-climb").dag
    parts, likelihood = bs.score_parts(dag, table, "cg-bde"), bs.score_parts(dag, table, "cg-loglik")
    assert parts.log_likelihood == likelihood.log_likelihood
    assert parts.parameters == likelihood.parameters
    assert parts.penalty == pytest.approx(parts.log_likelihood - parts.score)
    assert parts.score == pytest.approx(sum(node.score for node in parts.nodes))


def test_settings_out_of_range_are_refused():
    table = mixed(2, 2, 50, seed=1)
    for bad in ({"ess": 0}, {"iss_mu": -1}, {"iss_mu": 1e-300}, {"iss_w": "many"}):
        with pytest.raises(SettingError, match=next(iter(bad))):
            CgBde(**bad)
    with pytest.raises(SettingError, match="more than 3 for 2 variables"):
        bind(CgBde(iss_w=3), table)
    assert math.isfinite(bind(CgBde(iss_w=3.5), table).local(0, ()))
    with pytest.raises(SettingError, match="computed in memory"):
        bind("cg-bde", table, engine=lambda *given: in_memory(*given))


def test_units_for_which_the_prior_is_wrong_are_warned_of():
    rng = np.random.default_rng(0)
    d, x = rng.integers(0, 2, 50), rng.normal(size=50)
    for factor in (1e-3, 1e5):
        with pytest.warns(BayescoutWarning, match="'x0'.*rescale"):
            bind("cg-bde", mixed_table([d], [2], [factor * x, x]))
    bind("cg-bde", mixed_table([d], [2], [1000 * x, 0.2 * x]))
    with pytest.raises(DataError, match="constant"):
        bind("cg-bde", mixed_table([d], [2], [0 * x, x]))
    with pytest.warns(BayescoutWarning, match="rescale"):
        assert math.isfinite(bind("cg-bde", mixed_table([d], [2], [1e-250 * x, x])).local(1, (0, 2)))
    with pytest.raises(DataError, match="rescale the column"):
        bind("cg-bde", mixed_table([d], [2], [1e200 * x, x]))


@pytest.mark.parametrize("factor", [100.0, 1000.0])
def test_large_units_keep_equivalence(factor):
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 4, (3, 150))
    table = mixed_table(codes, [4] * 3, factor * (rng.normal(size=(3, 150)) + codes[0]))
    score = bind("cg-bde", table)
    for first, second, third in itertools.permutations((3, 4, 5)):
        total = score.local(first, (0, 1, 2)) + score.local(second, (0, 1, 2, first))
        total += score.local(third, tuple(sorted((0, 1, 2, first, second))))
        expected = sum(score.local(v, (0, 1, 2, *range(3, v))) for v in (3, 4, 5))
        assert total == pytest.approx(expected, abs=1e-3)
