"""Every score against a twin from another definition, and the laws of the theory."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutError, BayescoutWarning, DataError, SettingError, UnknownNameError
from bayescout.scores import (
    K2,
    SCORES,
    Bd,
    BDeu,
    BDs,
    Bge,
    Bic,
    Ebic,
    Penalised,
    bind,
    formula_named,
)
from bayescout.scores.nml import log_complexity
from bayescout.statistics.covariance import FamilyRegressions
from tests.reference import scores as twin
from tests.scores.drawn_data import (
    continuous_table,
    discrete_tables,
    families,
    rows_of,
    scorer_of,
    table_of,
)
from tests.strategies import examples

INDICATORS = [name for name in SCORES if name.startswith("dg-")]  # see test_mixed_scores.py
DISCRETE = [n for n, formula in SCORES.items() if formula.kinds != "continuous" and n not in INDICATORS]
GAUSSIAN = [name for name, formula in SCORES.items() if formula.kinds != "discrete"]


def twin_of(name, rows, cards, child, parents):
    r, q = cards[child], math.prod(cards[p] for p in parents)
    n = len(rows)
    likelihood = twin.log_likelihood(rows, child, parents)
    size = twin.parameters(cards, child, parents)
    seen = len({tuple(row[p] for p in parents) for row in rows})
    if name in ("fnml", "qnml") and (n > 12 or q * r > 8):
        return None
    _, configs = twin.counted(rows, child, parents)
    return {
        "loglik": lambda: likelihood,
        "aic": lambda: likelihood - size,
        "bic": lambda: likelihood - size * math.log(n) / 2,
        "ebic": lambda: likelihood - size * (math.log(n) / 2 + 0.5 * math.log(len(cards))),
        "penalised": lambda: likelihood - size,
        "bic-laplace": lambda: (
            twin.corrected_log_likelihood(rows, child, parents, r) - size * math.log(n) / 2
        ),
        "k2": lambda: twin.dirichlet(rows, child, parents, r, 1),
        "bd": lambda: twin.dirichlet(rows, child, parents, r, 1),
        "bdeu": lambda: twin.dirichlet(rows, child, parents, r, 1 / (q * r)),
        "bde": lambda: twin.dirichlet(rows, child, parents, r, 1 / (q * r)),
        "bds": lambda: twin.dirichlet(rows, child, parents, r, 1 / (seen * r)),
        "entropy": lambda: likelihood / n,
        "mi-bic": lambda: n * twin.mutual_information(rows, child, parents) - 0.5 * math.log(n) * size,
        "mi-normalised": lambda: twin.mutual_information(rows, child, parents) - size / math.prod(cards),
        "fnml": lambda: likelihood - sum(math.log(twin.complexity(c, r)) for c in configs.values()),
        "qnml": lambda: likelihood - math.log(twin.complexity(n, q * r) / twin.complexity(n, q)),
    }[name.removeprefix("cg-")]()


@pytest.mark.parametrize("name", DISCRETE)
@settings(max_examples=examples(40))
@given(data=st.data())
def test_discrete_score_equals_its_twin(name, data):
    small = name in ("fnml", "qnml")
    table = data.draw(discrete_tables(max_rows=12 if small else 60, max_states=2 if small else 4))
    child, parents = data.draw(families(table.n_columns, max_parents=2 if small else 4))
    expected = twin_of(name, rows_of(table), table.cardinalities.tolist(), child, parents)
    if expected is not None:
        assert bind(name, table).local(child, parents) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", DISCRETE)
@settings(max_examples=25)
@given(data=st.data())
def test_extensions_many_and_local_agree_to_the_bit(name, data):
    table = data.draw(discrete_tables(min_variables=2))
    child, parents = data.draw(families(table.n_columns, max_parents=3))
    others = [v for v in range(table.n_columns) if v != child and v not in parents]
    if not others:
        return
    extended = [(child, tuple(sorted((*parents, x)))) for x in others]
    by_extension = bind(name, table).extensions(child, parents, others)
    by_many = bind(name, table).many(extended)
    one_by_one = [bind(name, table).local(*family) for family in extended]
    assert by_extension.tolist() == by_many.tolist() == one_by_one


@pytest.mark.parametrize("name", [name for name in DISCRETE if SCORES[name].equivalent])
@settings(max_examples=30)
@given(data=st.data())
def test_covered_arc_reversal_leaves_equivalent_scores_unchanged_to_the_bit(name, data):
    table = data.draw(discrete_tables(min_variables=2))
    shared = tuple(range(2, data.draw(st.integers(2, table.n_columns))))
    score = bind(name, table)
    forward = score.local(0, shared) + score.local(1, (0, *shared))
    backward = score.local(1, shared) + score.local(0, (1, *shared))
    if name in ("entropy", "mi-normalised"):  # divided by N or a charge off the grid: rounding is left
        assert forward == pytest.approx(backward, abs=1e-12)
    else:
        assert forward == backward


@pytest.mark.parametrize("name", [name for name in DISCRETE if not SCORES[name].equivalent])
def test_scores_declared_not_equivalent_are_not(name):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, 200)
    table = table_of(
        [a, np.where(rng.random(200) < 0.8, a % 2, 1), rng.integers(0, 4, 200) * (a == 0)], [3, 2, 4]
    )
    score = bind(name, table)
    gaps = [
        abs(score.local(x, ()) + score.local(y, (x,)) - score.local(y, ()) - score.local(x, (y,)))
        for x, y in ((0, 1), (0, 2), (1, 2))
    ]
    assert max(gaps) > 1e-6 or name == "bds"
    if name == "bds":  # equivalent until a configuration never occurs
        both = score.local(0, (1,)) + score.local(2, (0, 1)), score.local(2, (1,)) + score.local(0, (1, 2))
        assert abs(both[0] - both[1]) > 1e-6


@pytest.mark.parametrize("name", DISCRETE)
@settings(max_examples=20)
@given(data=st.data())
def test_row_order_state_names_and_variable_order_do_not_matter(name, data):
    table = data.draw(discrete_tables())
    child, parents = data.draw(families(table.n_columns))
    expected = bind(name, table).local(child, parents)
    rng = np.random.default_rng(0)
    codes, cards = np.array(table.codes), table.cardinalities
    shuffled = table_of(codes[:, rng.permutation(table.n_rows)], cards)
    assert bind(name, shuffled).local(child, parents) == expected
    relabelled = table_of([rng.permutation(r)[c] for c, r in zip(codes, cards, strict=True)], cards)
    assert bind(name, relabelled).local(child, parents) == expected
    places = rng.permutation(table.n_columns)
    back = np.argsort(places)
    moved = table_of(codes[places], cards[places])
    assert bind(name, moved).local(int(back[child]), tuple(int(back[p]) for p in parents)) == pytest.approx(
        expected, abs=1e-9
    )


@settings(max_examples=25)
@given(data=st.data())
def test_whole_row_weights_are_repeated_rows(data):
    table = data.draw(discrete_tables(max_rows=20))
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=table.n_rows, max_size=table.n_rows)))
    if weights.sum() < 2:
        return
    codes, cards = np.array(table.codes), table.cardinalities
    weighted = table_of(codes, cards, weights)
    repeated = table_of(np.repeat(codes, weights, axis=1), cards)
    child, parents = data.draw(families(table.n_columns))
    for name in DISCRETE:
        assert bind(name, weighted).local(child, parents) == bind(name, repeated).local(child, parents)


def test_fractional_weights_scale_the_likelihood():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3, 50))
    weights = rng.random(50)
    half = bind("loglik", table_of(codes, [3, 3, 3], weights / 2)).local(0, (1, 2))
    assert half == pytest.approx(
        bind("loglik", table_of(codes, [3, 3, 3], weights)).local(0, (1, 2)) / 2, rel=1e-12
    )
    order = rng.permutation(50)
    shuffled = table_of(codes[:, order], [3, 3, 3], weights[order])
    assert bind("bdeu", shuffled).local(0, (1,)) == bind("bdeu", table_of(codes, [3, 3, 3], weights)).local(
        0, (1,)
    )
    with pytest.raises(DataError, match="whole"):
        bind("fnml", table_of(codes, [3, 3, 3], weights)).local(0, ())


# ---- the traps peers fall into


def test_empty_configurations_add_nothing_to_k2_and_bdeu():
    """Parents with states that never occur: only the prior spread of BDeu may change, K2 not at all."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (3, 100))
    plain, padded = table_of(codes, [2, 2, 2]), table_of(codes, [2, 9, 9])
    assert bind("k2", padded).local(0, (1, 2)) == bind("k2", plain).local(0, (1, 2))
    rows = [tuple(row) for row in codes.T.tolist()]
    expected = twin.dirichlet(rows, 0, (1, 2), 2, 1 / (81 * 2))
    assert bind("bdeu", padded).local(0, (1, 2)) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", ["k2", "bdeu", "bic", "fnml", "qnml"])
def test_useless_parents_are_never_worth_adding(name):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (7, 300))
    codes[0] = rng.choice(3, 300, p=[0.85, 0.1, 0.05])
    score = bind(name, table_of(codes, [3] * 7))
    values = [score.local(0, tuple(range(1, k + 1))) for k in range(7)]
    assert max(values[1:]) < values[0] - 1


def test_bdeu_with_four_parents_is_exact():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, (5, 500))
    rows = [tuple(row) for row in codes.T.tolist()]
    for ess in (0.1, 1.0, 10.0):
        expected = twin.dirichlet(rows, 0, (1, 2, 3, 4), 4, ess / 4**5)
        assert bind(BDeu(ess=ess), table_of(codes, [4] * 5)).local(0, (1, 2, 3, 4)) == pytest.approx(
            expected, abs=1e-7
        )


def test_parameters_are_counted_over_declared_states():
    codes = np.array([[0, 1, 0, 1], [0, 0, 1, 1]])
    few, declared = bind("bic", table_of(codes, [2, 2])), bind("bic", table_of(codes, [5, 3]))
    extra = (3 * 4 - 2 * 1) * math.log(4) / 2
    assert few.local(0, (1,)) - declared.local(0, (1,)) == pytest.approx(extra, abs=1e-9)


def test_thirty_parents_are_scored_from_the_configurations_that_occur():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (31, 200))
    codes[1:, 100:] = codes[1:, :100]
    rows = [tuple(row) for row in codes.T.tolist()]
    parents = tuple(range(1, 31))
    table = table_of(codes, [3] * 31)
    assert bind("loglik", table).local(0, parents) == pytest.approx(
        twin.log_likelihood(rows, 0, parents), abs=1e-8
    )
    assert bind("k2", table).local(0, parents) == pytest.approx(
        twin.dirichlet(rows, 0, parents, 3, 1), abs=1e-8
    )
    expected = twin.dirichlet(rows, 0, parents, 3, 3.0**-31)
    assert bind("bdeu", table).local(0, parents) == pytest.approx(expected, abs=1e-7)


def test_a_parent_set_beyond_float_range_is_minus_infinity_not_nan():
    rng = np.random.default_rng(6)
    table = table_of(rng.integers(0, 2, (1100, 30)), [2] * 1100)
    parents = tuple(range(1, 1100))
    assert bind("bic", table).local(0, parents) == -math.inf
    assert bind("bdeu", table).local(0, parents) == -math.inf
    assert math.isfinite(bind("k2", table).local(0, parents))


# ---- normalised maximum likelihood


@pytest.mark.parametrize(("n", "outcomes"), [(0, 3), (1, 2), (5, 1), (5, 2), (9, 3), (12, 4), (6, 7)])
def test_parametric_complexity_by_brute_force(n, outcomes):
    assert math.exp(log_complexity(n, float(outcomes))) == pytest.approx(
        twin.complexity(n, outcomes), rel=1e-12
    )


def test_asymptotic_complexity_continues_the_exact_one():
    for n in (100, 10_000):
        assert log_complexity(n, 10_001.0) == pytest.approx(log_complexity(n, 10_000.0), rel=1e-3)


# ---- Gaussian


@pytest.mark.parametrize("name", ["loglik", "aic", "bic", "ebic"])
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), k=st.integers(0, 4))
def test_gaussian_scores_equal_least_squares(name, seed, k):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(5, 40)) * 10.0 ** rng.integers(-1, 2, (5, 1)) + rng.normal(size=(5, 1)) * 100
    columns[0] += columns[1]
    parents = tuple(range(1, k + 1))
    charge = {"loglik": 0, "aic": 1, "bic": math.log(40) / 2, "ebic": math.log(40) / 2 + 0.5 * math.log(5)}[
        name
    ]
    expected = twin.gaussian_log_likelihood(columns, 0, parents) - charge * (k + 2)
    score = bind(name, continuous_table(columns))
    assert score.local(0, parents) == pytest.approx(expected, abs=1e-5)
    if k:
        assert score.extensions(0, parents[:-1], [k])[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_gaussian_scores_are_equivalent(name):
    rng = np.random.default_rng(8)
    columns = rng.normal(size=(4, 60))
    columns[1] += 0.7 * columns[0]
    score = bind(name, continuous_table(columns))
    for shared in ((), (2,), (2, 3)):
        forward = score.local(0, shared) + score.local(1, (0, *shared))
        backward = score.local(1, shared) + score.local(0, (1, *shared))
        assert forward == pytest.approx(backward, abs=1e-6)


def test_bge_is_the_marginal_likelihood_of_sequential_prediction():
    """One variable: the product of Student t predictive densities of a normal-gamma prior."""
    from scipy.stats import t as student

    values = np.random.default_rng(9).normal(3, 2, 20)
    mean, mu_weight, degrees = values.mean(), 1.0, 3.0 - 1 + 1
    scatter = 1.0 * (3.0 - 1 - 1) / (1.0 + 1)
    total, centre, weight, spread, nu = 0.0, mean, mu_weight, scatter, degrees
    for x in values:
        scale = math.sqrt(spread * (weight + 1) / (weight * nu))
        total += student.logpdf(x, nu, centre, scale)
        spread += weight / (weight + 1) * (x - centre) ** 2
        centre = (weight * centre + x) / (weight + 1)
        weight, nu = weight + 1, nu + 1
    assert bind("bge", continuous_table([values])).local(0, ()) == pytest.approx(total, abs=1e-6)


def test_collinear_columns_never_give_nan():
    rng = np.random.default_rng(10)
    a, b = rng.normal(size=(2, 100))
    columns = [a, b, a + b, a * 1e-9, a + 1e-13 * b]
    table = continuous_table(columns)
    with pytest.warns(BayescoutWarning, match="linear functions of others"):
        bind("bic", table)
    for name in GAUSSIAN:
        score = bind(name, table)
        values = [score.local(c, tuple(p for p in range(5) if p != c)) for c in range(5)]
        values += score.extensions(0, (3,), [1, 2, 4]).tolist()
        assert np.isfinite(values).all()
    bic = bind("bic", table)
    assert bic.local(1, (0, 3)) < bic.local(1, (0,))


def test_constant_continuous_column_is_refused():
    with pytest.raises(DataError, match="constant"):
        bind("bic", continuous_table([np.ones(10), np.arange(10.0)]))


# ---- settings, names and a user's own score


def test_bad_settings_are_refused_before_any_data():
    for make in (
        lambda: Bic(penalty=-1),
        lambda: BDeu(ess=0),
        lambda: BDs(ess=-1),
        lambda: Bd(alpha=math.nan),
        lambda: Penalised(charge=-2),
        lambda: Ebic(gamma=-1),
        lambda: Bge(iss_mu=0),
    ):
        with pytest.raises(SettingError):
            make()
    with pytest.raises(UnknownNameError, match="did you mean 'bdeu'"):
        formula_named("bdue")
    with pytest.raises(SettingError, match="iss_w"):
        bind(Bge(iss_w=3.0), continuous_table(np.random.default_rng(0).normal(size=(4, 9))))


def test_a_users_function_and_object_are_scores(monkeypatch):
    table = table_of(np.random.default_rng(0).integers(0, 2, (3, 40)), [2, 2, 2])

    def sharp(counts):
        totals = counts.sum(axis=1, keepdims=True)
        shares = counts[counts > 0] / np.broadcast_to(totals, counts.shape)[counts > 0]
        return float((counts[counts > 0] * np.log(shares)).sum())

    assert bind(sharp, table).local(0, (1, 2)) == pytest.approx(
        bind("loglik", table).local(0, (1, 2)), abs=1e-9
    )

    class Own:
        def local(self, child, parents):
            return math.nan if len(parents) > 1 else float(child + 10 * sum(parents))

    own = bind(Own(), table)
    assert own.extensions(0, (), [1, 2]).tolist() == [10.0, 20.0]
    assert own.local(0, (1, 2)) == -math.inf
    for wrong in (3, BDeu):
        with pytest.raises(SettingError):
            bind(wrong, table)


def test_psi_of_the_user_is_charged():
    table = table_of(np.random.default_rng(0).integers(0, 2, (2, 40)), [2, 2])
    bic = bind("bic", table).local(0, (1,))
    assert bind(Penalised(charge=lambda n: math.log(n) / 2), table).local(0, (1,)) == bic
    assert K2() == K2()
    assert repr(BDeu(ess=10)) == "BDeu(ess=10)"


def test_kinds_are_checked_with_the_way_out():
    discrete = table_of(np.zeros((2, 4), int), [2, 2])
    with pytest.raises(DataError, match="continuous"):
        bind("bge", discrete)
    with pytest.raises(DataError, match="discret"):
        bind("bdeu", continuous_table(np.random.default_rng(0).normal(size=(2, 9))))


# ---- the engine around the formulas


def test_cache_counts_and_changes_nothing():
    table = table_of(np.random.default_rng(0).integers(0, 3, (6, 200)), [3] * 6)
    cached, plain = scorer_of(BDeu(), table), scorer_of(BDeu(), table, cache_bytes=0)
    for _ in range(2):
        assert cached.local(0, (1, 2)) == plain.local(0, (2, 1))
        assert cached.extensions(0, (1,), [2, 3]).tolist() == plain.extensions(0, (1,), [2, 3]).tolist()
    assert (cached.computed, cached.hits) == (3, 3)
    assert (plain.computed, plain.hits) == (6, 0)


def test_a_tiny_cache_forgets_but_answers_the_same():
    table = table_of(np.random.default_rng(0).integers(0, 3, (8, 100)), [3] * 8)
    asked = [(c, (p,)) for c in range(8) for p in range(8) if c != p] * 3
    small, large = scorer_of(Bic(), table, cache_bytes=2000), scorer_of(Bic(), table)
    for family in asked:
        assert small.local(*family) == large.local(*family)
    assert small.computed > large.computed == 56


def test_workers_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (40, 60_000))
    table = table_of(codes, [3] * 40)
    asked = [
        (c, tuple(sorted(rng.choice([v for v in range(40) if v != c], 2, False).tolist()))) for c in range(40)
    ]
    results = []
    for workers in (1, 2, 5):
        score = scorer_of(BDeu(), table, workers=workers)
        results.append((score.many(asked).tolist(), score.extensions(0, (1, 2), range(3, 40)).tolist()))
    assert results[0] == results[1] == results[2]
    with pytest.raises(SettingError, match="workers"):
        scorer_of(BDeu(), table, workers=0)


def test_one_row_is_refused():
    with pytest.raises(DataError, match="1 row"):
        bind("bic", table_of([[0], [1]], [2, 2]))


# ---- the limits of the engine


def test_weights_that_do_not_count_rows_are_refused():
    codes = np.random.default_rng(0).integers(0, 2, (3, 50))
    for total in (0.5, 1.0, 1e18):
        with pytest.raises(DataError, match="rescale"):
            bind("bic", table_of(codes, [2, 2, 2], np.full(50, total / 50)))


def test_many_cells_under_small_weights_stay_in_range():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (13, 3000))
    weights = np.full(3000, 0.001)
    score = bind("bdeu", table_of(codes, [2] * 13, weights)).local(0, tuple(range(1, 13)))
    rows = [tuple(row) for row in codes.T.tolist()]
    cells, configs = twin.counted(rows, 0, range(1, 13))
    a = 2.0**-13
    exact = sum(math.lgamma(c * 0.001 + a) - math.lgamma(a) for c in cells.values())
    exact -= sum(math.lgamma(c * 0.001 + 2 * a) - math.lgamma(2 * a) for c in configs.values())
    assert score == pytest.approx(exact, rel=1e-9)


def test_families_that_are_none_are_refused():
    for table, name in ((table_of(np.zeros((4, 9), int), [2] * 4), "bic"), (None, "bge")):
        if table is None:
            table = continuous_table(np.random.default_rng(0).normal(size=(4, 9)))
        score = bind(name, table)
        for child, parents in ((0, (7,)), (0, (-1,)), (4, ()), (1, (1,)), (0, (1, 1))):
            with pytest.raises(BayescoutError, match="not a family"):
                score.local(child, parents)
        for candidates in ([4], [-1], [0], [1]):
            with pytest.raises(BayescoutError, match="candidates"):
                score.extensions(0, (1,), candidates)
        assert len(score.extensions(0, (1,), [])) == 0


def test_saturated_gaussian_families_cannot_be_scored():
    columns = np.random.default_rng(0).normal(size=(12, 8))
    score = bind("bic", continuous_table(columns))
    assert math.isfinite(score.local(0, (1, 2, 3, 4, 5, 6)))
    assert score.local(0, (1, 2, 3, 4, 5, 6, 7)) == -math.inf


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6),
    variables=st.integers(1, 6),
    rows=st.integers(2, 80),
    iss_mu=st.sampled_from([1.0, 0.1, 2.5, 40.0]),
    more=st.sampled_from([None, 1.25, 3.0, 30.0]),
    scale=st.sampled_from([0.3, 1.0, 20.0]),
)
def test_bge_is_the_product_of_the_rows_predictive_densities(seed, variables, rows, iss_mu, more, scale):
    """Multivariate t densities, one row after the other; scores themselves are rounded to 2**-24 nats."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(variables, variables)) + 2 * np.eye(variables)
    columns = scale * (mixing @ rng.normal(size=(variables, rows)) + rng.normal(size=(variables, 1)))
    degrees = None if more is None else variables + more
    score = bind(Bge(iss_mu=iss_mu, iss_w=degrees), continuous_table(columns))
    child = int(rng.integers(variables))
    others = [v for v in range(variables) if v != child]
    parents = tuple(sorted(rng.permutation(others)[: rng.integers(len(others) + 1)].tolist()))
    expected = twin.bge(columns, child, parents, iss_mu, degrees)
    assert score.local(child, parents) == pytest.approx(expected, rel=1e-9, abs=2**-24)


@pytest.mark.parametrize("parents", range(4))
def test_bge_of_one_row(parents):
    """A table of one row is refused, but the formula holds: there is no scatter, and R is the prior's T."""
    with pytest.raises(DataError, match="scoring needs at least 2"):
        bind("bge", continuous_table(np.ones((2, 1))))
    t, k = 2.5 * 3.0 / 3.5, np.array([parents])
    regressions = FamilyRegressions(np.array([t]), k * math.log(t), k, np.array([4]), np.ones(5), 1.0, 1)
    expected = twin.bge(np.ones((5, 1)), 4, tuple(range(parents)), 2.5, 9.0)
    assert Bge(iss_mu=2.5, iss_w=9.0).evaluate(regressions)[0] == pytest.approx(
        expected, rel=1e-9, abs=2**-24
    )


def test_bge_of_whole_weights_is_that_of_repeated_rows():
    rng = np.random.default_rng(5)
    columns, weights = rng.normal(size=(3, 20)), rng.integers(1, 4, size=20)
    weighted = bind("bge", replace(continuous_table(columns), weights=weights.astype(float)))
    expected = twin.bge(np.repeat(columns, weights, axis=1), 2, (0, 1))
    assert weighted.local(2, (0, 1)) == pytest.approx(expected, rel=1e-9, abs=2**-24)


def test_bge_of_large_units_equals_the_determinants():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(6, 15)) * 1e4
    columns[1] = columns[0] + rng.normal(size=15)
    n, p, t = 15.0, 6, 1 / 2
    centred = columns - columns.mean(axis=1, keepdims=True)
    posterior = centred @ centred.T + t * np.eye(p)

    def block(members):
        size = len(members)
        free = p + 2 - p + size
        value = size / 2 * math.log(1 / (n + 1)) - size * n / 2 * math.log(math.pi)
        value += sum(math.lgamma((n + free - i) / 2) - math.lgamma((free - i) / 2) for i in range(size))
        value += free / 2 * size * math.log(t)
        return value - (n + free) / 2 * np.linalg.slogdet(posterior[np.ix_(members, members)])[1]

    score = bind("bge", continuous_table(columns))
    for child, parents in ((2, (0, 1)), (0, (1, 2, 3, 4, 5)), (1, ())):
        expected = block([child, *parents]) - (block(list(parents)) if parents else 0.0)
        assert score.local(child, parents) == pytest.approx(expected, abs=1e-4)


def test_no_charge_and_infinitely_many_parameters_is_a_number():
    table = table_of(np.random.default_rng(6).integers(0, 2, (1100, 30)), [2] * 1100)
    parents = tuple(range(1, 1100))
    for free in (
        Bic(penalty=0),
        Penalised(charge=0),
        formula_named("mi-bic", alpha=0),
        formula_named("loglik"),
    ):
        assert math.isfinite(bind(free, table).local(0, parents))
    assert bind("qnml", table).local(0, parents) == -math.inf
    assert not math.isnan(bind("mi-normalised", table).local(0, parents))


def test_more_states_than_rows_do_not_overflow_the_units():
    table = table_of([[0, 4999]], [5000])
    assert bind("fnml", table).local(0, ()) == pytest.approx(2 * math.log(0.5) - log_complexity(2, 5000.0))
    corrected = bind("bic-laplace", table).local(0, ())
    assert corrected == pytest.approx(2 * math.log(2 / 5002) - 4999 * math.log(2) / 2, abs=1e-6)


def test_a_score_may_be_asked_from_several_threads_and_after_a_fork():
    import os
    from concurrent.futures import ThreadPoolExecutor

    rng = np.random.default_rng(0)
    table = table_of(rng.integers(0, 3, (12, 4000)), [3] * 12)
    asked = [(c, (p, q)) for c in range(12) for p in range(12) for q in range(p) if c not in (p, q)]
    expected = dict(zip(asked, scorer_of(BDeu(), table, workers=1).many(asked).tolist(), strict=True))
    shared = scorer_of(BDeu(), table, workers=2, cache_bytes=20_000)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda family: shared.local(*family), asked * 2))
    assert found == [expected[family] for family in asked * 2]
    large = scorer_of(BDeu(), table_of(rng.integers(0, 2, (60, 40_000)), [2] * 60), workers=2)
    large.many([(c, (p,)) for c in range(60) for p in range(60) if c != p])
    child = os.fork()
    if child == 0:
        fresh = scorer_of(Bic(), table_of(rng.integers(0, 2, (60, 40_000)), [2] * 60), workers=2)
        fresh.many([(c, (p,)) for c in range(60) for p in range(60) if c != p])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_numpy_numbers_are_settings_and_wild_ones_are_refused():
    assert BDeu(ess=np.int64(10)).ess == 10
    for make in (
        lambda: BDeu(ess=1e20),
        lambda: Penalised(charge=1e300),
        lambda: bind(Penalised(charge=lambda n: "much"), table_of([[0, 1]], [2])).local(0, ()),
        lambda: bind(Penalised(charge=lambda n: math.nan), table_of([[0, 1]], [2])).local(0, ()),
    ):
        with pytest.raises(SettingError):
            make()


class Halved(BDeu):
    """BDeu less a charge: a score of one's own that inherits the short cuts of another."""

    def evaluate(self, families):
        return super().evaluate(families) - 10 * np.log(families.configurations)


class OtherPrior(BDeu):
    def cell_prior(self, families):
        return 2 * super().cell_prior(families)


@pytest.mark.parametrize("formula", [Halved(), OtherPrior()], ids=repr)
@pytest.mark.parametrize("search", ["hill-climb", "optimal", "memetic"])
def test_a_score_derived_from_another_is_not_given_its_short_cuts(formula, search):
    table = bs.load_network("asia").sample(300, seed=1)
    found = bs.learn(table, search, formula, bs.Knowledge(max_parents=2))
    assert found.score == pytest.approx(bs.score(found.dag, table, formula), abs=1e-9)
    if search == "optimal":
        assert found.score >= bs.learn(table, "tabu", formula, bs.Knowledge(max_parents=2)).score


def test_a_function_of_counts_sees_its_rows_in_one_order():
    table = table_of(np.random.default_rng(2).integers(0, 3, (4, 70)), [3] * 4)
    scorer = bind(lambda counts: float(sum(counts[:, 0] * np.arange(1, len(counts) + 1) ** 0.5)), table)
    for child, parent, more in ((0, 2, 1), (3, 1, 0), (1, 3, 0)):
        family = (child, tuple(sorted((parent, more))))
        fresh = bind(scorer.formula.function, table)
        assert scorer.extensions(child, (parent,), [more])[0] == fresh.many([family])[0]


def test_an_own_scores_extensions_must_be_one_number_each_and_its_settings_are_checked():
    class Wrong:
        def local(self, child, parents):
            return 0.0

        def extensions(self, child, parents, candidates):
            return -1.0

    table = table_of([[0, 1, 0, 1], [0, 0, 1, 1]], [2, 2])
    with pytest.raises(SettingError, match="one number for each"):
        bind(Wrong(), table).extensions(0, (), [1])
    with pytest.raises(SettingError, match="workers"):
        bind(Wrong(), table, workers=-1)
    with pytest.raises(UnknownNameError):
        bind(Wrong(), table, engine="typo")
