"""Best order score search on candidates: as over all pairs with nothing screened out, and its promises."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import bayescout as bs
from bayescout.checks import generator
from bayescout.cli.app import app
from bayescout.errors import SettingError
from bayescout.kernels import trees as kernels
from bayescout.scores import Bic, bind, family_prior
from bayescout.scores.wide_scorer import WideScorer
from bayescout.search import Boss, Knowledge
from bayescout.search.frame import candidates
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.run import Run, drive
from bayescout.search.orders import candidate_orders, trees
from bayescout.search.orders.boss import MOVING
from bayescout.search.orders.candidate_orders import CandidateTrees
from bayescout.statistics.columns import ColumnCovariance
from tests.scores.drawn_data import continuous_table
from tests.search.drawn_problems import OneParent, entangled, gaussian, mixed, problem_of, problems
from tests.search.test_candidate_moves import every_pair, narrowed
from tests.search.test_wide import KNOWN, found, sem

pytestmark = pytest.mark.usefixtures("fast_uncompiled")


def unmetered(trace):
    """The steps without seconds and evaluations: deletions on lists ask for fewer families."""
    return [step._replace(seconds=0.0, evaluations=0) for step in trace]


def same(search, problem):
    """Whether a search ends, and goes, as it does over all pairs; with the number of steps."""
    dense = drive(search, dataclasses.replace(problem, _kept={}), generator(3), Limits(top=4))
    sparse = drive(search, narrowed(problem, every_pair(problem.n)), generator(3), Limits(top=4))
    assert sparse.best == dense.best
    assert sparse.top == dense.top
    assert unmetered(sparse.trace) == unmetered(dense.trace)
    assert problem.rules.broken_by(sparse.best[1]) is None
    return len(dense.trace)


def same_from_columns(table, search, knowledge=None):
    """The same for the score of a wide table, which asks the columns and no matrix."""
    dense, sparse = (found(table, search, screen, knowledge) for screen in (None, 0.0))
    assert sparse.best == dense.best
    assert unmetered(sparse.trace) == unmetered(dense.trace)


# ---- nothing screened out


@settings(max_examples=25)
@given(problem=problems(), start=st.sampled_from(["empty", "random"]), restarts=st.integers(0, 2))
def test_with_nothing_screened_out_it_is_boss_over_all_pairs(problem, start, restarts):
    if start == "random" and (problem.scorer.statistics.n_rows < 40 or problem.scorer.legal is not None):
        start = "empty"  # a first graph may have families that cannot be scored
    same(Boss(restarts), dataclasses.replace(problem, start=start))


@pytest.mark.parametrize(("seed", "p", "rows"), [(0, 9, 150), (1, 12, 400), (2, 7, 60)])
def test_so_it_is_from_columns(seed, p, rows):
    same_from_columns(continuous_table(sem(p, rows, 4, seed)[0]), Boss(restarts=1))


@pytest.mark.parametrize("kind", KNOWN)
def test_so_it_is_with_knowledge(kind):
    table = continuous_table(sem(10, 300, 4, 1)[0])
    table = dataclasses.replace(table, names=tuple(range(10)))
    same_from_columns(table, Boss(restarts=1), Knowledge(**KNOWN[kind]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_with_nothing_screened_out_larger_tables_too(seed):
    n = 8 + seed % 17
    table = [entangled(n, 300, seed, 2 + seed % 2, 0.3), gaussian(n, 200, seed), mixed(4, 4, 200, seed)]
    start = "random" if seed % 2 and seed % 3 < 2 else "empty"
    assert same(Boss(restarts=2), problem_of(table[seed % 3], start=start)) > 4
    same_from_columns(continuous_table(sem(n, 100 + seed, 4, seed)[0]), Boss(restarts=1))


def test_a_score_of_ones_own_that_cannot_score_every_family():
    graph = tuple(tuple(range(child)) for child in range(5))
    same(Boss(restarts=1), dataclasses.replace(problem_of(entangled(5, 40), OneParent()), start=graph))


def test_families_have_the_prior_in_them():
    table = entangled(5, 100, noise=0.4)
    scorer = bind("bic", table, 1, None, family_prior("sparse", table.names))
    same(Boss(), dataclasses.replace(problem_of(table), scorer=scorer))


@pytest.mark.parametrize("kind", ["continuous", "discrete", "mixed"])
def test_learn_with_nothing_screened_out_is_learn(kind):
    table = {"continuous": gaussian(6), "discrete": entangled(6), "mixed": mixed(3, 3)}[kind]
    dense, sparse = (bs.learn(table, "boss", screen=screen) for screen in ("none", 0))
    assert (sparse.dag, sparse.score, sparse.cpdag) == (dense.dag, dense.score, dense.cpdag)
    assert dense.screened is None
    assert sparse.screened.kept == sparse.screened.pairs == 15


# ---- orders


def moves_of(problem, seed):
    """The states of the moves in the first order."""
    search, rng = Boss(), generator(seed)
    state = search.advance(problem, search.start(problem, rng), rng)
    states = []
    while state.phase == MOVING and state.tried == 1 and not state.done:
        states.append(dataclasses.replace(state, joined=()))
        state = search.advance(problem, state, rng)
    return states


@settings(max_examples=25)
@given(problem=problems(), data=st.data())
def test_orders_are_those_over_all_pairs_with_the_others_forbidden(problem, data):
    """So a variable that moves past others that are no candidates goes to the first of equal places."""
    pairs = [pair for pair in every_pair(problem.n) if data.draw(st.booleans())]
    pairs += [arc for arc in np.argwhere(problem.rules.required).tolist() if tuple(arc) not in pairs]
    among = np.zeros((problem.n, problem.n), dtype=bool)
    for a, b in pairs:
        among[a, b] = among[b, a] = True
    rules = dataclasses.replace(problem.rules, allowed=problem.rules.allowed & among)
    dense = moves_of(dataclasses.replace(problem, rules=rules, _kept={}), 0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CandidateTrees, "widen", lambda *_: False)
        sparse = moves_of(narrowed(problem, pairs), 0)
    assert sparse == dense


def test_places_are_laid_out_anew_where_there_is_no_room_between_two(monkeypatch):
    problem = problem_of(entangled(8, 300, 5, 2, 0.4))
    expected = moves_of(narrowed(problem, every_pair(8)), 0)
    laid_out = []
    anew = kernels._lay_out.plain
    monkeypatch.setattr(kernels, "SPACE", 1)
    monkeypatch.setattr(kernels, "_lay_out", lambda line: laid_out.append(1) or anew(line))
    assert moves_of(narrowed(problem, every_pair(8)), 0) == expected
    assert len(expected) > 3
    assert laid_out


def test_several_moves_in_a_step_go_the_same_way(monkeypatch):
    problem = narrowed(problem_of(entangled(9, 300, 2, 2, 0.4)), every_pair(9))
    single = drive(Boss(), problem, generator(0), Limits())
    monkeypatch.setattr(candidates, "MOST_SINGLE", 3)
    monkeypatch.setattr(candidates, "FEWER", 3)
    several = drive(Boss(), dataclasses.replace(problem, _kept={}), generator(0), Limits())
    assert several.best == single.best
    assert several.trace[-1].operations == single.trace[-1].operations
    assert len(several.trace) < len(single.trace)


def test_what_trees_answer_and_count_does_not_depend_on_what_they_remember(monkeypatch):
    for table in (entangled(7, 300, 3, 3), gaussian(7, 300, 3)):
        problem = problem_of(table)
        runs = []
        for most, ahead in ((trees.TREE_BYTES, 64), (trees.TREE_BYTES, 1), (0, 3)):
            monkeypatch.setattr(trees, "TREE_BYTES", most)
            monkeypatch.setattr(candidate_orders, "MOST_AHEAD", ahead)
            problem.scorer.asked = 0
            given = narrowed(problem, [(0, 1), (2, 4), (1, 3), (3, 5), (4, 6)])
            run = drive(Boss(restarts=2), given, generator(1), Limits())
            runs.append((run.best, [step._replace(seconds=0.0) for step in run.trace]))
        assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("prior", ["sparse", None])
def test_extensions_of_each_family_are_the_single_ones(prior):
    columns = sem(7, 90, 4, 0)[0]
    columns[6] = 2 * columns[0] - columns[1]  # nothing is left of it given those two
    table = continuous_table(columns)
    families = [(0, ()), (3, (1, 5)), (6, (0, 1)), (2, (0, 1, 3, 4)), (5, (0,))]
    rows = [np.array([1, 2, 6]), np.array([0, 2, 6]), np.array([2]), np.empty(0, np.int64), np.array([6, 1])]
    bounds = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    made = family_prior(prior, table.names)
    discrete = bind("bdeu", entangled(7, 90), 1, None, made)
    for scorer in (WideScorer(Bic(), ColumnCovariance(table), 1, made), discrete):
        values = scorer.extensions_of_each(families, bounds, np.concatenate(rows))
        expected = [scorer.extensions_once(*family, row) for family, row in zip(families, rows, strict=True)]
        assert values.tolist() == np.concatenate(expected).tolist()


# ---- candidates


def test_parents_of_a_common_child_become_candidates_of_each_other():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 500))
    two = two + 0.05 * one
    table = bs.as_table({"a": one, "b": two, "c": one + two + 0.3 * rng.normal(size=500)})
    result = bs.learn(table, "boss", "bic", screen=20)
    assert (result.screened.kept, result.screened.joined, result.screened.pairs) == (2, 1, 3)


@settings(max_examples=15)
@given(problem=problems(), data=st.data())
def test_parents_of_a_common_child_are_candidates_at_the_end(problem, data):
    pairs = [pair for pair in every_pair(problem.n) if data.draw(st.booleans())]
    outcome = drive(Boss(restarts=1), narrowed(problem, pairs), generator(0), Limits())
    assert problem.rules.broken_by(outcome.best[1]) is None
    joined = {frozenset(pair) for pair in (*pairs, *outcome.answer.joined)}
    for own in outcome.answer.parents:
        assert all(frozenset((a, b)) in joined for i, a in enumerate(own) for b in own[:i])
    arcs = {frozenset((a, child)) for child, own in enumerate(outcome.answer.parents) for a in own}
    assert arcs <= joined


def test_arcs_of_the_start_graph_are_candidates():
    table = entangled(5, 40, 1, noise=0.9)
    names = list(table.names)
    start = bs.Dag.from_arcs([(names[0], names[1]), (names[1], names[2])], nodes=names)
    result = bs.learn(table, "boss", "bic", start=start, screen="arc")
    assert result.trace[0].arcs == 2
    assert result.score >= result.trace[0].score


# ---- the same answer


def test_columns_rows_names_and_workers_do_not_matter():
    table = mixed(3, 4, 300, seed=5, states=3)
    first = bs.learn(table, "boss", screen="arc", workers=1)
    rng = np.random.default_rng(0)
    moved = table.take(rng.permutation(300)).select([table.names[i] for i in rng.permutation(7).tolist()])
    again = bs.learn(moved, "boss", screen="arc", workers=3)
    assert set(again.arcs) == set(first.arcs)
    assert again.score == pytest.approx(first.score, abs=1e-6)


def test_a_run_goes_on_to_the_bit_from_each_of_its_states():
    """While it moves, widens, deletes and begins again."""

    def fresh():
        return narrowed(problem_of(entangled(7, 300, 11, 2, 0.4), "aic"), every_pair(7)[1::2])

    search, problem = Boss(restarts=2), fresh()
    run = Run(search, problem, generator(5), Limits())
    states = []
    with run.running():
        while run.step() is not None:
            states.append((run.state, run.rng.bit_generator.state, problem.scorer.asked))
    assert {state.phase for state, _, _ in states} == {0, 1, 2}
    assert states[-1][0].joined
    for i in range(len(states) - 1):
        state, random, asked = states[i]
        rng, again = generator(0), fresh()
        rng.bit_generator.state = random
        again.scorer.asked = asked
        assert search.advance(again, search.state.from_json(state.to_json()), rng) == states[i + 1][0]
        assert again.scorer.asked == states[i + 1][2]


def test_a_checkpoint_goes_on_to_the_bit(tmp_path):
    table, path = entangled(6, 300, 4, noise=0.4), tmp_path / "run"
    whole = bs.learn(table, Boss(restarts=2), screen="arc")
    bs.learn(table, Boss(restarts=2), screen="arc", max_steps=3, checkpoint=path)
    rest = bs.learn(table, Boss(restarts=2), screen="arc", checkpoint=path)
    assert unmetered(rest.trace) == unmetered(whole.trace)
    assert [step.evaluations for step in rest.trace] == [step.evaluations for step in whole.trace]
    assert (rest.dag, rest.score, rest.screened) == (whole.dag, whole.score, whole.screened)


def test_a_session_goes_back_and_takes_other_knowledge():
    session = bs.Session(mixed(3, 3, 250, seed=2), Boss(restarts=2), "bic", screen="arc")
    seen = [session.step() for _ in range(4)]
    session.back(2)
    assert session.snapshot().dag == seen[1].dag
    assert session.step().dag == seen[2].dag
    arc = next(iter(session.snapshot().dag.arcs()))
    session.change_knowledge(Knowledge(forbidden=[arc]))
    result = session.run()
    assert arc not in result.dag.arcs()
    assert result.screened is not None


def test_no_time_at_all_is_an_answer():
    result = bs.learn(entangled(6), "boss", screen="arc", max_time=1e-9)
    assert result.stop_reason == "max_time"
    assert result.dag.n_arcs == 0


def test_the_run_can_be_ended_between_two_pieces_of_a_step(monkeypatch):
    """A step may visit all variables: after some of them it looks at the clock."""
    problem = narrowed(problem_of(entangled(8, 200, 1, 2, 0.4)), every_pair(8))
    monkeypatch.setattr(candidate_orders, "VISITS", 2)
    search, rng, asked = Boss(), generator(0), []
    state = search.start(problem, rng)
    monkeypatch.setattr(type(problem), "check", lambda self: asked.append(1))
    after = search.advance(problem, state, rng)
    while after.phase == MOVING and not after.done:
        after = search.advance(problem, after, rng)
    assert len(asked) > 8


# ---- knowledge, and what cannot be


@pytest.mark.parametrize("kind", KNOWN)
def test_knowledge_holds(kind):
    knowledge = Knowledge(**KNOWN[kind])
    result = bs.learn(sem(10, 300, 4, 1)[0].T, Boss(restarts=1), knowledge=knowledge, screen="arc")
    assert knowledge.compile(range(10)).broken_by(result.dag.parents) is None
    assert result.dag.n_arcs > 3


def test_what_was_set_from_outside_is_refused():
    """Classes are then smaller, and those on lists do not know it."""
    with pytest.raises(SettingError, match="variables were set from outside in some rows"):
        bs.learn(sem(5, 50, 2, 0)[0].T, "boss", interventions=[0] * 25 + [None] * 25, screen="arc")


def test_the_command_line(tmp_path):
    path = tmp_path / "data.csv"
    columns = sem(6, 60, 2, 0)[0]
    path.write_text("\n".join([",".join("abcdef"), *(",".join(map(str, row)) for row in columns.T.tolist())]))
    asked = ["learn", str(path), "--search", "boss", "--screen", "arc", "--json"]
    said = json.loads(CliRunner().invoke(app, asked, catch_exceptions=False).stdout)
    assert said["screened"]["pairs"] == 15
    assert said["score"] == bs.learn(columns.T, "boss", screen="arc").score


# ---- quality


@pytest.mark.slow
def test_sparse_networks_are_found():
    columns, true = sem(1000, 1000, 2, 0)
    result = bs.learn(columns.T, "boss")
    assert result.screened is not None
    own = {frozenset(result.dag.indices(arc)) for arc in result.arcs}
    assert len(own & true) >= 0.99 * len(true)
    assert len(own & true) >= 0.99 * len(own)
