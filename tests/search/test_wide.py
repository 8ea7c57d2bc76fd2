"""Searches on screened pairs of wide tables: the same as on all pairs where nothing is screened out."""

from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import bayescout as bs
from bayescout import wide
from bayescout.checks import generator
from bayescout.cli.app import app
from bayescout.data import memory
from bayescout.errors import BayescoutWarning, DataError, KnowledgeError, SettingError, TooLargeError
from bayescout.report.reproduce import recipe
from bayescout.scores import Bic, bind, family_prior, network_score
from bayescout.scores.scorer import Scorer
from bayescout.scores.wide_scorer import WideScorer
from bayescout.search import Knowledge, Problem
from bayescout.search.classes import ges as ges_module
from bayescout.search.classes import sparse as sparse_module
from bayescout.search.classes.ges import Ges
from bayescout.search.frame import canonical
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.run import drive
from bayescout.search.frame.wide_rules import compile_wide
from bayescout.statistics import covariance, screening, sieve
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.screening import ColumnPairs, Screening, screened
from bayescout.statistics.sieve import CpuSieve
from tests.scores.drawn_data import continuous_table, table_of
from tests.search.drawn_problems import entangled, gaussian, mixed, problems
from tests.search.test_candidate_moves import every_pair, narrowed

pytestmark = pytest.mark.usefixtures("fast_uncompiled")


def sem(p, rows, degree, seed):
    """The columns of a random sparse linear network, and its adjacencies."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for b in range(p) for a in range(b)]
    chosen = rng.choice(len(pairs), min(len(pairs), p * degree // 2), replace=False)
    columns = rng.normal(size=(p, rows))
    for a, b in sorted((pairs[i] for i in chosen.tolist()), key=lambda arc: arc[1]):
        columns[b] += rng.uniform(0.5, 1.0) * rng.choice([-1, 1]) * columns[a]
    mixed = rng.permutation(p)
    return columns[mixed], {frozenset(np.argsort(mixed)[list(pairs[i])].tolist()) for i in chosen.tolist()}


def found(table, search, screen=None, knowledge=None):
    """The outcome of a search, on all pairs or with a Screening of this threshold."""
    knowledge = knowledge or Knowledge()
    prior = family_prior("sparse", table.names)
    if screen is None:
        problem = Problem(bind(Bic(), table, 1, None, prior), knowledge.compile(table.names))
    else:
        statistics = ColumnCovariance(table)
        scorer = WideScorer(Bic(), statistics, 1, prior)
        rules = compile_wide(knowledge, table.names)
        problem = Problem(scorer, rules, screening=Screening(statistics, screen, "a test"))
    return drive(search, problem, generator(0), Limits())


# ---- equal to the search over all pairs


@pytest.mark.parametrize(("seed", "p", "rows", "degree"), [(0, 9, 150, 3), (1, 12, 400, 4), (2, 7, 60, 5)])
def test_with_nothing_screened_out_it_is_ges_to_the_bit(seed, p, rows, degree):
    table = continuous_table(sem(p, rows, degree, seed)[0])
    for search in (Ges(turning=False, repeat=False), Ges(repeat=False), Ges()):
        dense, sparse = found(table, search), found(table, search, 0.0)
        assert sparse.best == dense.best
        assert sparse.answer.found_class() == dense.answer.found_class()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_with_nothing_screened_out_larger_tables_too(seed):
    rng = np.random.default_rng(seed)
    p, rows, degree = int(rng.integers(3, 60)), int(rng.integers(20, 500)), int(rng.integers(1, 7))
    table = continuous_table(sem(p, rows, degree, seed)[0])
    for search in (Ges(turning=False, repeat=False), Ges(repeat=False), Ges()):
        dense, sparse = found(table, search), found(table, search, 0.0)
        assert sparse.best == dense.best
        assert sparse.answer.found_class() == dense.answer.found_class()


def same_as_over_all_pairs(problem):
    """Compare the search over all pairs and that with nothing screened out, for each set of phases."""
    for search in (Ges(turning=False, repeat=False), Ges(turning=False), Ges(repeat=False), Ges()):
        dense = drive(search, dataclasses.replace(problem, _kept={}), generator(3), Limits())
        sparse = drive(search, narrowed(problem, every_pair(problem.n)), generator(3), Limits())
        assert sparse.best == dense.best
        assert sparse.answer.found_class() == dense.answer.found_class()
        assert problem.rules.broken_by(sparse.best[1]) is None


@settings(max_examples=12)
@given(problem=problems(), start=st.sampled_from(["empty", "random"]))
def test_so_it_is_for_any_table_score_and_knowledge(problem, start):
    if problem.scorer.equivalent is False:
        return
    if start == "random" and (problem.scorer.statistics.n_rows < 40 or problem.scorer.legal is not None):
        start = "empty"  # a first graph may have families that cannot be scored
    same_as_over_all_pairs(dataclasses.replace(problem, start=start))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_so_it_is_for_larger_tables_of_any_kind(seed):
    score, table = [
        ("bdeu", entangled(8 + seed % 5, 300, seed, 2 + seed % 2, 0.4)),
        ("bge", gaussian(8 + seed % 9, 200, seed)),
        ("bic", mixed(4 + seed % 4, 4, 200, seed)),
    ][seed % 3]
    prior = family_prior("sparse", table.names)
    scorer = bind(score, table, 1, None, prior)
    rng = np.random.default_rng(seed)
    some = rng.integers(0, table.n_columns, (2 * table.n_columns, 2)).tolist()
    names = table.names
    knowledge = Knowledge(
        forbidden=[(names[a], names[b]) for a, b in some if a != b],
        max_parents={names[0]: 0, names[1]: 2} if seed % 2 else None,
    )
    for known in (Knowledge(), knowledge):
        rules = known.compile(names).within(scorer.legal, names)
        start = "random" if seed % 2 and scorer.legal is None else "empty"
        same_as_over_all_pairs(Problem(scorer, rules, start))


def test_learn_with_nothing_screened_out_is_learn():
    columns = sem(8, 200, 3, 5)[0]
    dense, sparse = (bs.learn(columns.T, "ges", screen=screen) for screen in ("none", 0))
    assert (sparse.dag, sparse.score, sparse.cpdag) == (dense.dag, dense.score, dense.cpdag)
    assert dense.screened is None
    assert sparse.screened.kept == sparse.screened.pairs == 28


def test_cut_into_many_steps_it_ends_in_the_same_graph(monkeypatch):
    table = continuous_table(sem(10, 200, 4, 3)[0])
    whole = found(table, Ges(), 0.0)
    monkeypatch.setattr(ges_module, "LEAST_STEPS", 2)
    parts = found(table, Ges(), 0.0)
    assert len(parts.trace) > len(whole.trace)
    assert parts.best == whole.best


# ---- screening


def test_the_pairs_kept_are_those_above_the_threshold(monkeypatch):
    columns = sem(40, 90, 4, 1)[0]
    statistics = ColumnCovariance(continuous_table(columns))
    squares = np.square(np.corrcoef(columns))
    gains = -45 * np.log1p(-np.where(np.eye(40, dtype=bool), 0, squares))
    for least in (0.5, 3.0, 30.0):
        expected = {(i, j) for i, j in np.argwhere(gains >= least).tolist() if i != j}
        for block in (7, 64):
            monkeypatch.setattr(sieve, "BLOCK", block)
            made = screened(ColumnPairs(statistics, least), least, "a test")
            owners = np.repeat(np.arange(40), np.diff(made.starts))
            assert set(zip(owners.tolist(), made.ends.tolist(), strict=True)) == expected


def test_a_sieve_may_round_as_it_likes():
    statistics = ColumnCovariance(continuous_table(sem(30, 80, 4, 1)[0]))
    rng = np.random.default_rng(0)

    class Rounding(CpuSieve):
        """One that is off by as much as it may be, and gives some pairs twice."""

        def correlated(self, unit, threshold, between):
            exact = unit(0, 30) @ unit(0, 30).T
            found = exact + rng.uniform(-4e-6, 4e-6, exact.shape)
            for _ in range(2):
                yield sieve.ordered(*np.nonzero(abs(found) >= threshold - sieve.slack(80)), 0, 0)

    one = screened(ColumnPairs(statistics, 2.0), 2.0, "a test")
    two = screened(ColumnPairs(statistics, 2.0, Rounding()), 2.0, "a test")
    assert (one.starts == two.starts).all()
    assert (one.ends == two.ends).all()


def switched(rows=400, seed=0):
    """A column that repeats one of two others, as a third says, which alone tells nothing of it."""
    rng = np.random.default_rng(seed)
    one, two, switch = rng.integers(0, 2, (3, rows))
    return table_of([one, two, switch, np.where(switch, one, two)], [2] * 4)


@pytest.mark.parametrize("search", ["ges", "auto", "boss", "hill-climb", "tabu"])
def test_what_matters_given_others_alone_is_found(search, monkeypatch):
    table = switched()
    switch = table.names[2]
    for score in ("bic", "bdeu"):
        result = bs.learn(table, search, score, screen="arc")
        assert any(switch in arc for arc in result.arcs)
        assert result.screened.kept == 2
        assert 1 <= result.screened.joined <= 4
        assert result.score > bs.score(bs.learn(table, "ges", score, screen="none").dag, table, score) - 5
    monkeypatch.setattr(sparse_module, "MOST_LOOKED_AT", 3)
    assert not any(switch in arc for arc in bs.learn(table, "ges", screen="arc").arcs)


@settings(max_examples=12)
@given(problem=problems(), data=st.data())
def test_ges_overlooks_no_arc_that_would_gain(problem, data):
    if problem.scorer.equivalent is False:
        return
    pairs = [pair for pair in every_pair(problem.n) if data.draw(st.booleans())]
    partial = narrowed(problem, pairs)
    run = drive(Ges(), partial, generator(0), Limits())
    graph = run.best[1]
    assert problem.rules.broken_by(graph) is None
    locals_ = problem.scorer.many(list(enumerate(graph)))
    arcs = [(child, parent) for child, own in enumerate(graph) for parent in own]
    seen = {frozenset(pair) for pair in (*pairs, *run.answer.joined, *arcs)}
    for child, own in enumerate(graph):
        for other in set(range(problem.n)) - {child, *own}:
            allowed = problem.rules.allowed[other, child] and len(own) < problem.rules.max_parents[child]
            if allowed and frozenset((other, child)) not in seen:
                assert problem.scorer.local(child, tuple(sorted((*own, other)))) <= locals_[child] + 1e-6


@pytest.mark.parametrize("rows", [4, 12, 200])
def test_estimates_leave_out_no_parent_that_gains(rows):
    """The gains that products of matrices estimate, against those of every family by itself."""
    rng = np.random.default_rng(rows)
    columns = sem(14, rows, 5, rows)[0]
    hard = [
        columns[0],
        -2 * columns[1] + 1,
        columns[0] + columns[1],
        columns[2] + 1e-5 * rng.normal(size=rows),
    ]
    table = continuous_table(np.vstack([columns, *hard]))
    p = table.n_columns
    for prior in (None, family_prior("sparse", table.names)):
        scorer = WideScorer(Bic(), ColumnCovariance(table), 1, prior=prior)
        families = [
            (child, tuple(sorted(set(rng.choice(p, rng.integers(0, 4)).tolist()) - {child})))
            for child in range(p)
        ]
        least = scorer.many(families) + rng.choice([1e-6, 0.5, -2.0], p)
        masks = {
            child: ~np.isin(np.arange(p), [child, *own]) & (rng.random(p) < 0.9) for child, own in families
        }
        both = [
            [(child, more.tolist()) for child, more in way(scorer, families, masks.__getitem__, least)]
            for way in (WideScorer.gaining, Scorer.gaining)
        ]
        assert both[0] == both[1]
        assert both[0]


def test_the_result_says_what_was_screened_out(tmp_path):
    columns, _ = sem(12, 300, 2, 0)
    result = bs.learn(columns.T, screen="arc")
    told = result.screened
    assert 0 < told.kept < told.pairs == 66
    assert told.least == pytest.approx(np.log(300) / 2 + np.log(11))
    assert "pairs were looked at, those of which an arc gains more than it is charged" in str(result)
    assert result.summary()["screened"]["kept"] == told.kept
    assert result.found_by == "ges"
    result.save(tmp_path / "r.json")
    read = bs.Result.load(tmp_path / "r.json", columns.T)
    assert (read.screened, read.dag, read.cpdag, read.settings) == (
        told, result.dag, result.cpdag, result.settings,
    )  # fmt: skip
    arc = next(iter(result.arcs))
    assert read.explain(*arc).remove == result.explain(*arc).remove


def test_what_to_give_is_said_where_no_prior_charges_for_many_columns(monkeypatch, tmp_path):
    """In Python, in JSON, on the command line and on the page."""
    monkeypatch.setattr(wide, "MOST_DENSE", 9)
    monkeypatch.setattr("bayescout.result.MOST_DENSE", 9)
    columns = sem(10, 100, 2, 0)[0]
    table = bs.as_table(columns.T)
    believed = Knowledge(beliefs={(0, 1): 0.5})
    silent = (
        {},
        {"score": "ebic"},
        {"score": "bic", "structure_prior": "sparse"},
        {"score": "bic", "structure_prior": 3.0},
        {"score": "bic", "screen": "none"},
        {"score": "bic", "knowledge": believed},
    )
    for asked in silent:
        result = bs.learn(table, "hill-climb", **asked)
        assert not result.prior_note
        assert "  prior  " not in str(result)
        assert "prior_note" not in result.summary()
    assert not bs.learn(table.select(range(9)), "hill-climb", "bic", screen="arc").prior_note
    result = bs.learn(table, "hill-climb", "bic")
    assert [line for line in str(result).splitlines() if line.startswith("  prior  ")] == [
        "  prior     uniform, and of 45 pairs many raise a score by chance: structure_prior='sparse' charges "
        "an arc by the number of columns, as the default score does"
    ]
    assert result.summary()["prior_note"] == result.prior_note
    result.report(tmp_path / "page.html")
    assert "The structure prior is uniform, and of 45 pairs" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.slow
def test_learn_screens_wide_tables_by_itself(monkeypatch):
    columns = sem(10, 100, 2, 0)[0]
    assert bs.learn(columns.T).screened is None
    monkeypatch.setattr(wide, "MOST_DENSE", 9)
    assert bs.learn(columns.T).screened is not None
    assert bs.learn(columns.T, screen="none").screened is None
    assert bs.learn(columns.T, "annealing", max_steps=1).screened is None
    assert bs.learn(columns.T, score="bge").screened is not None


# ---- the same answer


def test_columns_rows_names_and_workers_do_not_matter():
    columns = sem(12, 150, 3, 2)[0]
    names = [f"v{i}" for i in range(12)]
    first = bs.learn(dict(zip(names, columns, strict=True)), screen="arc")
    rng = np.random.default_rng(0)
    order, rows = rng.permutation(12), rng.permutation(150)
    moved = {names[i]: columns[i][rows] for i in order.tolist()}
    for result in (bs.learn(moved, screen="arc", workers=2), bs.learn(moved, screen="arc", workers=1)):
        assert set(result.arcs) == set(first.arcs)
        assert result.score == first.score


def test_weights_are_repeated_rows():
    columns = sem(8, 60, 3, 2)[0]
    table = continuous_table(columns)
    twice = continuous_table(np.repeat(columns, 2, axis=1))
    weighed = dataclasses.replace(table, weights=np.full(60, 2.0))
    one, two = (found(some, Ges(), 1.0) for some in (twice, weighed))
    assert one.best[1] == two.best[1]
    assert one.best[0] == pytest.approx(two.best[0])


def test_a_checkpoint_goes_on_to_the_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(ges_module, "LEAST_STEPS", 3)
    columns = sem(12, 150, 4, 2)[0]
    path = tmp_path / "run"
    whole = bs.learn(columns.T, "ges", screen="arc")
    bs.learn(columns.T, "ges", screen="arc", max_steps=2, checkpoint=path)
    rest = bs.learn(columns.T, "ges", screen="arc", checkpoint=path)
    assert (rest.dag, rest.score, rest.counters.iterations) == (
        whole.dag, whole.score, whole.counters.iterations,
    )  # fmt: skip


def test_no_time_at_all_is_an_answer():
    result = bs.learn(sem(10, 50, 2, 0)[0].T, screen="arc", max_time=1e-9)
    assert result.stop_reason == "max_time"
    assert result.dag.n_arcs == 0


# ---- knowledge


KNOWN = {
    "required": {"required": [(3, 1), (0, 5)]},
    "forbidden": {"forbidden": [(a, b) for a in range(10) for b in range(10) if a != b and (a + b) % 3 == 0]},
    "tiers": {"tiers": [[4, 2, 9], [0, 1, 3], [5, 6, 7, 8]]},
    "closed tiers": {"tiers": [[4, 2, 9, 0, 1], [3, 5, 6, 7, 8]], "forbid_within": (1,)},
    "order": {"order": [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]},
    "limit": {"max_parents": 1},
    "limits": {"max_parents": {0: 0, 3: 1}, "required": [(0, 3)]},
}


@pytest.mark.parametrize("kind", KNOWN)
def test_knowledge_holds(kind):
    knowledge = Knowledge(**KNOWN[kind])
    columns = sem(10, 300, 4, 1)[0]
    result = bs.learn(columns.T, "ges", knowledge=knowledge, screen="arc")
    rules = knowledge.compile(range(10))
    assert rules.broken_by(result.dag.parents) is None
    for parent, child in result.cpdag.directed:
        assert rules.allowed[parent, child]
    for parent, child in np.argwhere(rules.required).tolist():
        assert (parent, child) in result.cpdag.directed
    assert result.dag.n_arcs > 3


def test_wide_rules_are_the_rules():
    rng = np.random.default_rng(0)
    for kind, fields in KNOWN.items():
        knowledge = Knowledge(**fields)
        rules, compiled = compile_wide(knowledge, range(10)), knowledge.compile(range(10))
        one, two = rng.integers(0, 10, (2, 200))
        assert (rules.allowed[one, two] == compiled.allowed[one, two]).all(), kind
        assert (rules.required[one, two] == compiled.required[one, two]).all(), kind
        assert rules.required_parents == compiled.required_parents
        assert (rules.max_parents == compiled.max_parents).all()
        graph = ((1, 2), (), (), (), (), (), (), (), (), (8, 7))
        assert rules.broken_by(graph) == compiled.broken_by(graph)
    with pytest.raises(KnowledgeError, match="2 required parents but max_parents is 1"):
        compile_wide(Knowledge(required=[(0, 2), (1, 2)], max_parents=1), range(10))


# ---- bad input


def test_constant_columns_give_one_message():
    columns = np.vstack([np.random.default_rng(0).normal(size=(3, 50)), np.ones((2000, 50))])
    with pytest.raises(DataError, match=r"2,000 columns are constant \('.*', \.\.\.\): a Gaussian score"):
        bs.learn(continuous_table(columns), screen="arc")


@pytest.mark.slow
def test_a_thousand_copies_give_one_warning():
    rng = np.random.default_rng(0)
    columns = np.vstack([rng.normal(size=(20, 50)), np.repeat(rng.normal(size=(1, 50)), 300, axis=0)])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = bs.learn(columns.T, screen="arc")
    assert len([one for one in said if issubclass(one.category, BayescoutWarning)]) == 1
    assert "and 293 more columns" in str(said[0].message)
    assert result.stop_reason == "converged"


def test_copies_are_joined_to_the_one_before_and_to_nothing_else():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(4, 60))
    columns[1] += columns[0]
    copies = [columns[0], 2 * columns[0] + 3, columns[0], -columns[0], columns[0]]
    table = continuous_table(np.vstack([columns, *copies, columns[3]]))
    statistics = ColumnCovariance(table)
    found = screened(ColumnPairs(statistics, 5.0), 5.0, "a test")
    ends = [set(found.ends[a:b].tolist()) for a, b in zip(found.starts, found.starts[1:], strict=False)]
    assert ends == [{1, 4}, {0}, set(), {9}, {0, 5}, {4, 6}, {5, 7}, {6, 8}, {7}, {3}]
    assert found.alike.tolist() == [[4, 0], [5, 0], [6, 0], [7, 0], [8, 0], [9, 3]]


def test_a_thousand_copies_are_few_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    columns = np.vstack([rng.normal(size=(20, 20)), np.repeat(rng.normal(size=(1, 20)), 1000, axis=0)])
    asked = []
    exact = screening._exact
    monkeypatch.setattr(screening, "PAIRS_AT_ONCE", 4096)
    monkeypatch.setattr(screening, "_exact", lambda *its: asked.append(len(its[1])) or exact(*its))
    found = screened(ColumnPairs(ColumnCovariance(continuous_table(columns)), 9.0), 9.0, "a test")
    assert found.n_pairs == 999
    assert sum(asked) < 10_000


def test_constants_are_left_out_of_wide_searches(monkeypatch):
    columns = np.vstack([sem(6, 50, 3, 0)[0], np.full((70, 50), 2.5)])
    with pytest.warns(BayescoutWarning) as said:
        result = bs.learn(columns.T, screen="arc")
    assert [str(one.message).split(":")[0] for one in said] == ["constant columns carry no information"]
    assert result.dag == bs.learn(columns[:6].T, screen="arc").dag
    assert result.data.left_out[0] == (6, "constant")
    with pytest.warns(BayescoutWarning, match="constant columns"):
        assert len(bs.learn(columns.T, "hill-climb").dag) == 76


def test_a_few_copies_are_survived():
    columns = sem(6, 50, 3, 0)[0]
    with pytest.warns(BayescoutWarning, match="linear functions of others"):
        result = bs.learn(np.vstack([columns, columns]).T, screen="arc")
    assert result.stop_reason == "converged"


def test_missing_cells_are_drawn_before_pairs_are_screened(monkeypatch):
    columns = sem(6, 80, 2, 0)[0]
    columns[2, 3] = np.nan
    monkeypatch.setattr(wide, "MOST_DENSE", 5)
    dense, sparse = (bs.learn(columns.T, "ges", screen=screen) for screen in ("none", 0))
    assert (sparse.dag, sparse.score, sparse.cpdag) == (dense.dag, dense.score, dense.cpdag)
    assert bs.learn(columns.T).screened is not None
    with pytest.warns(BayescoutWarning, match="1 of 80 rows are left out"):
        assert bs.learn(columns.T, missing="drop").screened is not None


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"search": "annealing"}, "the search must be auto, ges, boss, hill-climb or tabu"),
        ({"search": "ges", "interventions": [0] * 25 + [None] * 25}, "variables were set from outside"),
        ({"screen": "some"}, 'screen is "auto", "arc", "none"'),
        ({"screen": -1}, 'screen is "auto", "arc", "none"'),
    ],
)
def test_what_cannot_be_screened_is_said(asked, told):
    with pytest.raises(SettingError, match=told):
        bs.learn(sem(5, 50, 2, 0)[0].T, **{"screen": "arc"} | asked)


def test_tables_that_memory_cannot_hold_are_refused(monkeypatch):
    columns = sem(30, 50, 2, 0)[0]
    monkeypatch.setattr(memory, "free", lambda: 10_000.0)
    with pytest.raises(TooLargeError, match=r"30 columns of 50 rows: a search on candidates takes"):
        bs.learn(columns.T, screen="arc")
    with pytest.raises(TooLargeError, match="a search over all pairs of them takes about"):
        bs.learn(columns.T, "annealing")
    monkeypatch.setattr(memory, "free", lambda: 20_000.0)
    with pytest.raises(TooLargeError, match="pairs of columns remain"):
        bs.learn(columns.T, screen=0)


def test_a_graph_over_many_columns_is_scored_without_a_matrix(monkeypatch):
    columns, true = sem(12, 80, 3, 1)
    dag = bs.Dag.from_arcs([tuple(sorted(pair)) for pair in true], range(12))
    asked = [("bic", None), ("aic", "sparse"), ("loglik", "sparse:2")]
    before = [(bs.score(dag, columns.T, *one), bs.score_parts(dag, columns.T, *one)) for one in asked]
    monkeypatch.setattr(network_score, "MOST_MATRIX", 11)
    with monkeypatch.context() as patch:
        patch.setattr(covariance, "scaled_scatter", None)
        assert [
            (bs.score(dag, columns.T, *one), bs.score_parts(dag, columns.T, *one)) for one in asked
        ] == before
    monkeypatch.setattr(memory, "free", lambda: 1000.0)
    with pytest.raises(TooLargeError, match="12 columns: the correlations of all pairs take about"):
        bs.score(dag, columns.T, "bge")


def test_missing_cells_of_too_many_columns_are_refused_before(monkeypatch):
    columns = np.random.default_rng(0).normal(size=(30, 50))
    columns[3, 4] = np.nan
    monkeypatch.setattr(memory, "free", lambda: 10_000.0)
    with pytest.raises(TooLargeError, match=r"30 columns: drawing missing cells takes .* missing='drop'"):
        bs.learn(columns.T, screen="arc")
    believed = Knowledge(beliefs={(0, 1): 0.9})
    with pytest.raises(TooLargeError, match=r"30 columns: weighing beliefs takes .* require or forbid arcs"):
        bs.learn(np.nan_to_num(columns).T, "hill-climb", screen="arc", knowledge=believed)


def test_the_free_memory_is_within_the_limit_of_the_process(monkeypatch):
    monkeypatch.setattr(memory, "limit", lambda: 1000)
    monkeypatch.setattr(memory, "_in_use", lambda: 400)
    assert memory.free() == 600
    monkeypatch.setattr(memory, "group_room", lambda: 500)
    assert memory.free() == 500


def test_columns_that_cannot_be_put_in_order_are_refused_before(monkeypatch):
    table = continuous_table(np.random.default_rng(0).normal(size=(30, 50)))
    monkeypatch.setattr(canonical, "KEPT_CELLS", 0)
    monkeypatch.setattr(memory, "free", lambda: 15_000.0)
    with pytest.raises(TooLargeError, match=r"30 columns of 50 rows: putting them in order takes a copy"):
        bs.learn(table)


# ---- quality


@pytest.mark.slow
@pytest.mark.parametrize(
    ("degree", "rows", "recall", "precision"),
    [(2, 1000, 0.98, 0.98), (2, 300, 0.95, 0.98), (2, 100, 0.65, 0.95), (4, 1000, 0.97, 0.98)],
)
def test_sparse_networks_are_found(degree, rows, recall, precision):
    columns, true = sem(1500, rows, degree, 0)
    result = bs.learn(columns.T)
    assert result.screened is not None
    own = {frozenset(result.dag.indices(arc)) for arc in result.arcs}
    assert len(own & true) >= recall * len(true)
    assert len(own & true) >= precision * len(own)


# ---- the command line


def test_the_command_line(tmp_path):
    path = tmp_path / "data.csv"
    columns = sem(6, 60, 2, 0)[0]
    text = [",".join("abcdef"), *(",".join(map(str, row)) for row in columns.T.tolist())]
    path.write_text("\n".join(text))
    done = CliRunner().invoke(app, ["learn", str(path), "--screen", "2.5", "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["screened"]["least"] == 2.5
    with pytest.raises(SettingError, match="screen is"):
        CliRunner().invoke(app, ["learn", str(path), "--screen", "some"], catch_exceptions=False)


def test_the_command_line_says_what_to_give(tmp_path, monkeypatch):
    monkeypatch.setattr(wide, "MOST_DENSE", 5)
    monkeypatch.setattr("bayescout.result.MOST_DENSE", 5)
    path = tmp_path / "data.csv"
    bs.as_table(dict(zip("abcdef", sem(6, 60, 2, 0)[0], strict=True))).save(path)
    done = CliRunner().invoke(app, ["learn", str(path), "--score", "bic"], catch_exceptions=False)
    assert "--structure-prior sparse charges" in " ".join(done.stdout.replace("│", "").split())


def test_the_recipe_repeats_the_screening():
    result = bs.learn(sem(6, 60, 2, 0)[0].T, screen=2.5)
    made = recipe(result)
    assert "screen=2.5" in made.python
    assert "--screen 2.5" in made.command


def test_json_of_the_summary_can_be_written():
    result = bs.learn(sem(6, 60, 2, 0)[0].T, screen=2.5)
    assert json.loads(json.dumps(result.summary()))["screened"]["least"] == 2.5
    assert result.settings.screen == 2.5
