"""Climbing between candidates: as over all pairs where nothing is screened out, and what is guaranteed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout import wide
from bayescout.checks import generator
from bayescout.errors import KnowledgeError, SettingError
from bayescout.scores import bind, family_prior
from bayescout.search import HillClimb, Knowledge, Tabu
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.problem import MIN_GAIN
from bayescout.search.frame.run import Run, drive
from bayescout.search.graphs import candidate_moves
from bayescout.search.graphs.candidate_moves import CandidateMoves
from bayescout.search.graphs.moves import Moves
from bayescout.statistics.screening import NONE_ALIKE, Neighbourhood, Screening
from tests.scores.drawn_data import table_of
from tests.search.drawn_problems import OneParent, entangled, gaussian, mixed, problem_of, problems

pytestmark = pytest.mark.usefixtures("fast_uncompiled")

CLIMBS = {
    "hill-climb": HillClimb(),
    "restarts": HillClimb(restarts=2, perturb=4),
    "random restarts": HillClimb(restarts=1, perturb=0),
    "tabu": Tabu(length=3, patience=8),
    "tabu again": Tabu(restarts=2, perturb=3),
}


class Given(Screening):
    """Candidates that are given."""

    def __init__(self, n, pairs):
        super().__init__(None, None, "they were given")
        empty = Neighbourhood(np.zeros(n + 1, np.int64), np.empty(0, np.int32), NONE_ALIKE)
        one, two = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.found = empty.with_pairs(one, two)


def every_pair(n):
    return [(a, b) for b in range(n) for a in range(b)]


def narrowed(problem, pairs):
    return dataclasses.replace(problem, screening=Given(problem.n, pairs), _kept={})


def untimed(trace):
    return [step._replace(seconds=0.0) for step in trace]


def same(search, problem):
    """Whether a search ends, and goes, as it does over all pairs; with the number of steps."""
    limits = Limits(top=4)
    problem.scorer.asked = 0
    dense = drive(search, problem, generator(3), limits)
    problem.scorer.asked = 0
    sparse = drive(search, narrowed(problem, every_pair(problem.n)), generator(3), limits)
    assert sparse.best == dense.best
    assert sparse.top == dense.top
    assert untimed(sparse.trace) == untimed(dense.trace)
    return len(dense.trace)


# ---- nothing screened out


@pytest.mark.parametrize("name", CLIMBS)
@settings(max_examples=12)
@given(problem=problems(), start=st.sampled_from(["empty", "random"]))
def test_with_nothing_screened_out_it_is_the_climb_over_all_pairs(name, problem, start):
    same(CLIMBS[name], dataclasses.replace(problem, start=start))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_with_nothing_screened_out_larger_tables_too(seed):
    n = 8 + seed % 17
    table = [entangled(n, 300, seed, 2 + seed % 2), gaussian(n, 200, seed), mixed(n // 2, n // 2, 200, seed)]
    for search in CLIMBS.values():
        assert same(search, problem_of(table[seed % 3], start="random" if seed % 2 else "empty")) > 5


def test_a_score_of_ones_own_that_cannot_score_every_family():
    problem = problem_of(entangled(5, 40), OneParent())
    graph = tuple(tuple(range(child)) for child in range(5))
    same(HillClimb(), dataclasses.replace(problem, start=graph))


@pytest.mark.parametrize("kind", ["continuous", "discrete", "mixed"])
def test_learn_with_nothing_screened_out_is_learn(kind):
    table = {"continuous": gaussian(6), "discrete": entangled(6), "mixed": mixed(3, 3)}[kind]
    names = list(table.names)
    limits = Knowledge(required=[(names[0], names[1])], max_parents=2) if kind == "discrete" else None
    for search in ("hill-climb", "tabu"):
        dense, sparse = (bs.learn(table, search, knowledge=limits, screen=s) for s in ("none", 0))
        assert (sparse.dag, sparse.score, sparse.cpdag) == (dense.dag, dense.score, dense.cpdag)
        assert untimed(sparse.trace) == untimed(dense.trace)
        assert dense.screened is None
        assert sparse.screened.kept == sparse.screened.pairs == 15


@pytest.mark.parametrize("name", ["hill-climb", "tabu"])
def test_several_moves_in_a_step_go_the_same_way(name, monkeypatch):
    problem = narrowed(problem_of(entangled(7, 300, 2)), every_pair(7))
    single = drive(CLIMBS[name], problem, generator(0), Limits())
    monkeypatch.setattr(CandidateMoves, "per_step", 4)
    several = drive(CLIMBS[name], dataclasses.replace(problem, _kept={}), generator(0), Limits())
    assert several.best == single.best
    assert several.trace[-1].operations == single.trace[-1].operations
    assert len(several.trace) < len(single.trace)


# ---- candidates


@pytest.mark.parametrize("name", ["hill-climb", "tabu"])
@settings(max_examples=12)
@given(problem=problems(), data=st.data())
def test_no_arc_that_was_screened_out_would_gain_at_the_end(name, problem, data):
    pairs = [pair for pair in every_pair(problem.n) if data.draw(st.booleans())]
    found = drive(CLIMBS[name], narrowed(problem, pairs), generator(0), Limits())
    assert problem.rules.broken_by(found.best[1]) is None
    best = Moves(problem, found.best[1]).best()
    assert best is None or best.gain <= MIN_GAIN


def test_parents_of_a_common_child_become_candidates_of_each_other():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 500))
    two = two + 0.05 * one
    table = bs.as_table({"a": one, "b": two, "c": one + two + 0.3 * rng.normal(size=500)})
    result = bs.learn(table, "hill-climb", "bic", screen=20)
    assert result.screened.kept == 2
    assert result.screened.joined == 1
    assert result.screened.pairs == 3


def test_a_parity_is_not_found():
    """Neither cause of an exclusive or is related to it alone, so no single arc gains."""
    rng = np.random.default_rng(1)
    one, two = rng.integers(0, 2, (2, 400))
    table = table_of([one, two, one ^ two], [2, 2, 2])
    for screen in ("none", "arc"):
        assert bs.learn(table, "hill-climb", "bic", screen=screen).dag.n_arcs == 0


def test_arcs_of_the_start_graph_are_candidates():
    table = entangled(5, 40, 1, noise=0.9)
    names = list(table.names)
    start = bs.Dag.from_arcs([(names[0], names[1]), (names[1], names[2])], nodes=names)
    result = bs.learn(table, "hill-climb", "bic", start=start, screen="arc")
    assert result.trace[0].arcs == 2
    assert result.score >= result.trace[0].score


# ---- the same answer


@pytest.mark.parametrize("search", ["hill-climb", "tabu"])
def test_columns_rows_names_and_workers_do_not_matter(search):
    table = mixed(3, 4, 300, seed=5, states=3)
    first = bs.learn(table, search, screen="arc", workers=1)
    rng = np.random.default_rng(0)
    moved = table.take(rng.permutation(300)).select([table.names[i] for i in rng.permutation(7).tolist()])
    again = bs.learn(moved, search, screen="arc", workers=3)
    assert set(again.arcs) == set(first.arcs)
    assert again.score == pytest.approx(first.score, abs=1e-6)


@pytest.mark.parametrize("name", CLIMBS)
def test_a_run_goes_on_to_the_bit_from_each_of_its_states(name):
    problem = narrowed(problem_of(entangled(6, 300, 3)), [(0, 1), (2, 3), (1, 4)])
    run = Run(CLIMBS[name], problem, generator(5), Limits())
    states = []
    with run.running():
        while run.step() is not None:
            states.append((run.state, run.rng.bit_generator.state, problem.scorer.asked))
    for i in range(0, len(states) - 1, 3):
        state, random, asked = states[i]
        rng = generator(0)
        rng.bit_generator.state = random
        fresh = narrowed(problem_of(entangled(6, 300, 3)), [(0, 1), (2, 3), (1, 4)])
        fresh.scorer.asked = asked
        kind = CLIMBS[name].state
        after = CLIMBS[name].advance(fresh, kind.from_json(state.to_json()), rng)
        assert after == states[i + 1][0]
        assert fresh.scorer.asked == states[i + 1][2]


@pytest.mark.parametrize("search", ["hill-climb", "tabu"])
def test_a_checkpoint_goes_on_to_the_bit(search, tmp_path):
    table, path = entangled(6, 300, 4), tmp_path / "run"
    whole = bs.learn(table, search, screen="arc")
    bs.learn(table, search, screen="arc", max_steps=3, checkpoint=path)
    rest = bs.learn(table, search, screen="arc", checkpoint=path)
    assert untimed(rest.trace) == untimed(whole.trace)
    assert (rest.dag, rest.score, rest.screened) == (whole.dag, whole.score, whole.screened)


@pytest.mark.parametrize("search", ["hill-climb", "tabu"])
def test_a_session_goes_back_and_takes_other_knowledge(search):
    table = mixed(3, 3, 250, seed=2)
    session = bs.Session(table, search, "bic", screen="arc")
    seen = [session.step() for _ in range(5)]
    session.back(2)
    assert session.snapshot().dag == seen[2].dag
    assert session.step().dag == seen[3].dag
    arc = next(iter(session.snapshot().dag.arcs()))
    session.change_knowledge(Knowledge(forbidden=[arc]))
    result = session.run()
    assert arc not in result.dag.arcs()
    assert result.screened is not None
    kinds = dict(zip(table.names, table.kinds, strict=True))
    assert not [1 for a, b in result.dag.arcs() if (kinds[a], kinds[b]) == ("continuous", "discrete")]


@pytest.mark.parametrize("search", ["hill-climb", "tabu"])
def test_no_time_at_all_is_an_answer(search):
    result = bs.learn(entangled(6), search, screen="arc", max_time=1e-9)
    assert result.stop_reason == "max_time"
    assert result.dag.n_arcs == 0


# ---- any score, prior, knowledge and kind of table


def test_beliefs_scores_and_what_was_set_are_taken():
    table = entangled(5, 200, 2)
    first, second = table.names[:2]
    for asked in (
        {"knowledge": Knowledge(beliefs={(first, second): 0.9})},
        {"interventions": [first] * 60 + [None] * 140},
        {"score": "bdeu"},
    ):
        dense, sparse = (bs.learn(table, "hill-climb", screen=screen, **asked) for screen in ("none", 0))
        assert (sparse.dag, sparse.score) == (dense.dag, dense.score)


def test_a_belief_that_the_model_rules_out_is_refused():
    table = mixed(2, 2, 60, seed=2)
    names = {states is None: name for name, states in zip(table.names, table.states, strict=True)}
    believed = Knowledge(beliefs={(names[True], names[False]): 0.9})
    for screen in ("none", "arc"):
        with pytest.raises(KnowledgeError, match="the score's model rule it out"):
            bs.learn(table, "hill-climb", screen=screen, knowledge=believed)


def test_what_cannot_be_screened_is_said():
    table = entangled(4, 40)
    with pytest.raises(SettingError, match="a number for screen is in log-likelihood"):
        bs.learn(table, "hill-climb", OneParent(), screen=3)
    with pytest.raises(SettingError, match="the search must be auto, ges, boss, hill-climb or tabu"):
        bs.learn(table, "annealing", screen="arc")
    assert bs.learn(table, "hill-climb", OneParent(), screen="arc").screened.kept == 6


def test_a_saved_result_is_read_with_its_data(tmp_path):
    table = mixed(3, 3, 250, seed=2)
    result = bs.learn(table, "hill-climb", screen="arc")
    result.save(tmp_path / "r.json")
    read = bs.Result.load(tmp_path / "r.json", table)
    assert (read.dag, read.screened, read.cpdag) == (result.dag, result.screened, result.cpdag)
    arc = next(iter(result.arcs))
    assert read.explain(*arc).remove == result.explain(*arc).remove


def test_the_store_of_watches_grows(monkeypatch):
    monkeypatch.setattr(candidate_moves, "LEAST_WATCHES", 1)
    same(CLIMBS["tabu again"], problem_of(entangled(6, 300, 1)))


def test_families_have_the_prior_in_them():
    table = entangled(5, 100)
    scorer = bind("bic", table, 1, None, family_prior("sparse", table.names))
    same(HillClimb(), dataclasses.replace(problem_of(table), scorer=scorer))


def test_wide_tables_are_screened_by_themselves(monkeypatch):
    monkeypatch.setattr(wide, "MOST_DENSE", 5)
    for table in (entangled(6), mixed(3, 3), gaussian(6)):
        assert bs.learn(table, "hill-climb").screened is not None
        assert bs.learn(table, "hill-climb", screen="none").screened is None
