"""I-map: what it tests, what it covers, and what it gives up for that."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.checks import generator
from bayescout.errors import SettingError
from bayescout.graph.separation import d_connected, d_separated
from bayescout.scores import CustomScorer, bind
from bayescout.search import Imap, ImapPruned, Knowledge, Problem
from bayescout.search.classes.patterns import mask_of
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.run import drive
from bayescout.search.independence.hypotheses import Hypotheses
from bayescout.search.independence.imap import GROW, SHRINK
from bayescout.statistics.dependencies import CachedTest
from tests.graph.drawn_graphs import parent_sets
from tests.search.drawn_problems import entangled, gaussian, knowledge_for
from tests.search.test_ges import drawn_dag
from tests.search.test_pc import OracleScore


def connected_in(dag, one):
    """Whether the graph joins the ends of a test given the others."""
    a, b, *given_ = (dag.index(label) for label in (one.a, one.b, *one.given))
    return not d_separated(dag, [a], [b], given_)


def states_of(search, table, score="bic", knowledge=None):
    """Every state of a run, in order."""
    rules = (knowledge or Knowledge()).compile(table.names)
    problem, rng = Problem(bind(score, table), rules), generator(0)
    found = [search.start(problem, rng)]
    while not found[-1].done:
        found.append(search.advance(problem, found[-1], rng))
    return found


# ---- covering


@given(parents=parent_sets(min_nodes=2, max_nodes=7), data=st.data())
def test_coverage_is_d_connection(parents, data):
    n = len(parents)
    dag = bs.Dag(tuple(range(n)), parents)
    made = []
    for _ in range(data.draw(st.integers(1, 12))):
        order = data.draw(st.permutations(range(n)))
        a, b = sorted(order[:2])
        known = tuple(sorted(order[2 : 2 + data.draw(st.integers(0, n - 2))]))
        made.append(CachedTest(a, b, known, 0.01, data.draw(st.sampled_from(["dependent", "independent"]))))
    covered = Hypotheses(made).covered([mask_of(own) for own in parents])
    expected = [d_connected(dag, [one.a], one.given)[one.b] for one in made if one.answer == "dependent"]
    assert covered.tolist() == expected


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
@settings(max_examples=25)
@given(seed=st.integers(0, 1000), rows=st.sampled_from([40, 200, 800]), test=st.booleans())
def test_the_graph_covers_every_dependency_found(kind, seed, rows, test):
    table = gaussian(6, rows, seed) if kind == "gaussian" else entangled(6, rows, seed=seed)
    search = Imap(test="g2") if test and kind == "discrete" else Imap()
    made = bs.learn(table, search, score="bic").dependencies
    result = bs.learn(table, search, score="bic")
    entries = made.entries
    assert made.covered == made.rejected
    assert made.tested == len(entries) == len({(one.a, one.b, one.given) for one in entries})
    for one in entries:
        if one.answer == "dependent":
            assert one.covered
            assert connected_in(result.dag, one)
        else:
            assert one.covered is None


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
@settings(max_examples=15)
@given(seed=st.integers(0, 1000))
def test_no_step_of_shrinking_loses_a_dependency(kind, seed):
    table = gaussian(6, 150, seed) if kind == "gaussian" else entangled(6, 300, seed=seed)
    shrunk = 0
    for before, after in itertools.pairwise(states_of(Imap(), table)):
        if after.phase != SHRINK or after.parents == before.parents:
            continue
        shrunk += 1
        for one in before.made:
            if one.answer == "dependent":
                old, new = (bs.Dag(tuple(range(6)), state.parents) for state in (before, after))
                assert not connected_in(old, one) or connected_in(new, one)
        assert after.score > before.score


def test_shrinking_happens():
    """Else the law above would say nothing."""
    table = bs.load_network("alarm").sample(1000, seed=1)
    phases = [step.facts["phase"] for step in bs.learn(table, "imap", "bdeu").trace]
    assert phases.count(SHRINK) > 1


# ---- what is tested


def test_every_pair_is_tested_first_and_blankets_after_each_step():
    for table in (entangled(6, 400, seed=2), gaussian(6, 200, seed=2)):
        states = states_of(Imap(), table)
        assert sorted(one[:3] for one in states[0].made) == [
            (a, b, ()) for a, b in itertools.combinations(range(6), 2)
        ]
        for before, after in itertools.pairwise(states):
            changed = set(edges(after.parents)) ^ set(edges(before.parents))
            if len(changed) != 1 or after.pruned != before.pruned:
                continue
            dag = bs.Dag(tuple(range(6)), after.parents)
            asked = {one[:3] for one in after.made}
            ends = next(iter(changed))
            around = {*ends, *(v for end in ends for v in (*dag.parents_of(end), *dag.children_of(end)))}
            for node in around:
                blanket = set(dag.markov_blanket(node))
                for other in set(range(6)) - blanket - {node}:
                    pair = (min(node, other), max(node, other))
                    assert (*pair, tuple(sorted(blanket))) in asked


def edges(parents):
    return [(min(a, c), max(a, c)) for c, own in enumerate(parents) for a in own]


def test_inconclusive_tests_find_no_dependency():
    """With 8 rows no cell of a table expects 5: nothing can be found, and the search is GES."""
    table = entangled(5, 8, seed=1)
    result = bs.learn(table, "imap", "aic")
    assert result.dependencies.rejected == 0
    assert result.dependencies.inconclusive == result.dependencies.tested
    assert result.dag == bs.learn(table, bs.search.Ges(repeat=False), "aic").dag


# ---- an oracle


class FewArcs(OracleScore):
    """Fewer arcs are better; with a graph's d-separations for statistics."""

    def local(self, child, parents):
        return -0.1 * len(parents)

    def extensions(self, child, parents, candidates):
        return np.full(len(candidates), -0.1 * (len(parents) + 1))

    def many(self, families):
        return np.array([self.local(*family) for family in families])


@pytest.mark.slow
@pytest.mark.parametrize("search", [Imap(), ImapPruned()], ids=repr)
def test_with_an_oracle_every_dependency_is_covered_and_true(search):
    check_with_oracles(search, range(4))


@pytest.mark.slow
@pytest.mark.parametrize("search", [Imap(), ImapPruned()], ids=repr)
def test_with_many_oracles_every_dependency_is_covered_and_true(search):
    check_with_oracles(search, range(4, 100))


def check_with_oracles(search, seeds):
    for seed in seeds:
        dag = drawn_dag(seed)
        rules = Knowledge().compile(dag.nodes)
        run = drive(search, Problem(CustomScorer(FewArcs(dag), len(dag)), rules), generator(0), Limits())
        found = bs.Dag(dag.nodes, run.best[1])
        made = run.answer.dependencies()
        assert made.rejected > 0 or dag.n_arcs == 0
        for a, b, known, _, answer, _ in made.entries:
            assert (answer == "independent") == d_separated(dag, [a], [b], known)
        if not search.ends_pruned:
            assert made.covered == made.rejected
            assert all(
                not d_separated(found, [one.a], [one.b], one.given)
                for one in made.entries
                if one.answer == "dependent"
            )


# ---- against GES


def test_dependencies_that_the_penalty_hides_are_found():
    """A ternary collider at 200 rows (fig. 4.1 of the document): GES with BDeu leaves arcs out."""
    dag = bs.Dag.from_arcs([("x", "z"), ("y", "z")], nodes=["x", "y", "z"])
    right = {"ges": 0, "imap": 0}
    for seed in range(60):
        table = bs.random_network(dag=dag, states=3, seed=seed).sample(200, seed=seed)
        for name in right:
            found = bs.learn(table, name, "bdeu").dag
            right[name] += {frozenset(arc) for arc in found.arcs()} == {frozenset("xz"), frozenset("yz")}
    assert right["imap"] >= right["ges"] + 0.15 * 60


def test_growth_takes_the_best_score_where_it_rises():
    """With every dependency covered by GES itself the two growths are the same."""
    table = bs.load_network("asia").sample(3000, seed=3)
    grown = [s for s in states_of(Imap(alpha=1e-12), table) if s.phase == GROW]
    ges = bs.learn(table, "ges", score="bic").trace
    assert [s.score for s in grown[1:4]] == pytest.approx([s.score for s in ges[1:4]])


# ---- pruning and knowledge


@settings(max_examples=15)
@given(seed=st.integers(0, 300))
def test_pruned_arcs_are_those_whose_ends_are_independent(seed):
    table = gaussian(6, 60, seed)
    result = bs.learn(table, "imap-pruned", score="bic")
    answers = {(one.a, one.b, one.given): one.answer for one in result.dependencies.entries}
    place = {name: i for i, name in enumerate(result.table.names)}
    for arc in result.dag.arcs():
        a, b = sorted(arc, key=place.__getitem__)
        rest = tuple(name for name in result.table.names if name not in arc)
        assert answers[a, b, ()] == answers[a, b, rest] == "dependent"


@settings(max_examples=25)
@given(data=st.data(), seed=st.integers(0, 50))
def test_what_knowledge_forbids_stays_uncovered_and_is_counted(data, seed):
    table = entangled(5, 300, seed=seed)
    knowledge = data.draw(knowledge_for(table.names))
    result = bs.learn(
        table, data.draw(st.sampled_from([Imap(), ImapPruned()])), knowledge=knowledge, score="bic"
    )
    assert result.stop_reason == "converged"
    told = [one for one in result.dependencies.entries if one.answer == "dependent"]
    assert sum(connected_in(result.dag, one) for one in told) == result.dependencies.covered
    assert [one.covered for one in told] == [connected_in(result.dag, one) for one in told]


def test_knowledge_can_forbid_what_it_takes():
    table = entangled(4, 400, seed=3)
    pairs = [arc for arc in itertools.permutations(table.names, 2) if table.names[0] in arc]
    result = bs.learn(table, "imap", knowledge=Knowledge(forbidden=tuple(pairs)), score="bic")
    assert result.dependencies.covered < result.dependencies.rejected


def test_what_was_tested_is_explained_and_saved(tmp_path):
    table = bs.load_network("asia").sample(2000, seed=1)
    result = bs.learn(table, "imap", score="bic")
    told = result.explain("smoke", "lung")
    assert told.tests
    assert {(one.a, one.b) for one in told.tests} <= {("smoke", "lung"), ("lung", "smoke")}
    assert "dependent" in str(told)
    assert "in the graph too" in str(told)
    assert "covered" in str(result.dependencies)
    result.save(tmp_path / "r.json")
    assert bs.Result.load(tmp_path / "r.json").dependencies == result.dependencies


def test_settings_are_refused_before_the_work():
    for settings_ in ({"alpha": 0}, {"alpha": 1.5}, {"alpha": "x"}, {"test": "t"}, {"correction": "holm"}):
        with pytest.raises(SettingError):
            Imap(**settings_)
    table = entangled(3, 50)
    with pytest.raises(SettingError, match="fisher-z"):
        bs.learn(table, Imap(test="fisher-z"), score="bic")

    class Own:
        def local(self, child, parents):
            return 0.0

    with pytest.raises(SettingError, match="score of your own has none"):
        bs.learn(table, Imap(), Own())


def test_a_correction_finds_fewer_dependencies():
    table = gaussian(8, 80, seed=4)
    plain, strict = (
        bs.learn(table, Imap(correction=c), score="bic").dependencies for c in ("none", "bonferroni")
    )
    assert strict.rejected / strict.tested < plain.rejected / plain.tested
    assert np.isfinite([one.p_value for one in plain.entries]).all()
