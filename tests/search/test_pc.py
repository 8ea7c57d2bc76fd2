"""PC and CPC: the true class from an oracle, order independence, knowledge, and what tests cannot settle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.checks import generator
from bayescout.errors import SettingError
from bayescout.scores import CustomScorer, Scorer, bind
from bayescout.search import Knowledge, Problem
from bayescout.search.classes.patterns import Pattern, bits
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.run import drive
from bayescout.search.independence.pc import Cpc, Pc, forced_extension, given_sets
from bayescout.statistics.independence import Finding, Question, independence_tests
from tests.graph.drawn_graphs import parent_sets
from tests.reference.graphs import arcs_of, is_acyclic
from tests.reference.independence import Oracle
from tests.search.drawn_problems import entangled, gaussian, knowledge_for
from tests.search.test_ges import drawn_dag
from tests.search.test_searches import keeps, untimed
from tests.strategies import examples


class OracleScore:
    """A score worth nothing, with a graph's d-separations for statistics."""

    def __init__(self, dag):
        self.n_variables = len(dag)
        self.independence_tests = Oracle(dag)

    def local(self, child, parents):
        return 0.0

    def many(self, families):
        return np.zeros(len(families))


def found_by(search, statistics_score, names, knowledge=None):
    rules = (knowledge or Knowledge()).compile(names)
    own = not isinstance(statistics_score, Scorer)
    scorer = CustomScorer(statistics_score, len(names)) if own else statistics_score
    run = drive(search, Problem(scorer, rules), generator(0), Limits())
    return bs.Dag(tuple(names), run.best[1]), run


@pytest.mark.slow
@pytest.mark.parametrize("search", [Pc(), Cpc()], ids=repr)
def test_the_true_class_is_found_from_d_separation(search):
    for seed in range(60):
        dag = drawn_dag(seed)
        found, run = found_by(search, OracleScore(dag), dag.nodes)
        assert found.cpdag() == dag.cpdag(), seed
        assert run.trace[-1].facts["conflicts"] == run.trace[-1].facts["ambiguous"] == 0


@pytest.mark.slow
def test_the_true_class_is_found_from_d_separation_on_many_graphs():
    for seed in range(1000, 1500):
        dag = drawn_dag(seed)
        assert found_by(Pc(), OracleScore(dag), dag.nodes)[0].cpdag() == dag.cpdag(), seed


@settings(max_examples=examples(40))
@given(parent_sets(min_nodes=1, max_nodes=6), st.data())
def test_true_knowledge_leaves_the_true_class(parents, data):
    names = tuple(range(len(parents)))
    dag = bs.Dag(names, parents)
    arcs = sorted(arcs_of(parents))
    required = data.draw(st.lists(st.sampled_from(arcs), unique=True, max_size=3)) if arcs else []
    order = dag.order() if data.draw(st.booleans()) else None
    knowledge = Knowledge(required=tuple(required), order=order)
    found, run = found_by(data.draw(st.sampled_from([Pc(), Cpc()])), OracleScore(dag), names, knowledge)
    assert found.cpdag() == dag.cpdag()
    assert keeps(found, knowledge)
    assert run.trace[-1].facts["conflicts"] == 0


def pc_by_the_book(tests, n):
    """The skeleton, in plain loops: remove an edge if any set of neighbours of an end separates it."""
    around = {v: set(range(n)) - {v} for v in range(n)}
    for level in range(n):
        before = {v: set(s) for v, s in around.items()}
        for a, b in itertools.combinations(range(n), 2):
            if b in before[a]:
                sets = {
                    given
                    for end, other in ((a, b), (b, a))
                    for given in itertools.combinations(sorted(before[end] - {other}), level)
                }
                if any(tests.one(Question(a, b, some)).answer == "independent" for some in sets):
                    around[a].discard(b)
                    around[b].discard(a)
    return {(a, b) for a in range(n) for b in around[a] if a < b}


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), discrete=st.booleans())
def test_the_skeleton_is_that_of_the_book(seed, discrete):
    table = entangled(5, 80, seed, noise=0.5) if discrete else gaussian(6, 60, seed)
    found, run = found_by(Pc(), bind("bic", table), table.names)
    tests = independence_tests(table)
    skeleton = {(min(a, b), max(a, b)) for a, b in arcs_of(found.parents)}
    assert skeleton == pc_by_the_book(tests, table.n_columns)
    assert run.trace[-1].score == pytest.approx(bs.score(found, table), abs=1e-6)


@pytest.mark.parametrize("search", [Pc(), Cpc()], ids=repr)
def test_columns_rows_and_workers_do_not_matter(search):
    for table in (bs.load_network("asia").sample(2000, seed=3), gaussian(8, 150, seed=4)):
        expected = bs.learn(table, search, score="bic")
        rng = np.random.default_rng(1)
        columns = [table.names[i] for i in rng.permutation(table.n_columns)]
        found = bs.learn(
            table.take(rng.permutation(table.n_rows)).select(columns), search, workers=2, score="bic"
        )
        assert set(found.dag.arcs()) == set(expected.dag.arcs())
        assert found.counters.operations == expected.counters.operations


def test_the_result_is_the_graph_of_the_last_step():
    table = bs.load_network("asia").sample(5000, seed=1)
    result = bs.learn(table, Pc(), score="bic")
    assert result.stop_reason == "converged"
    assert result.score == pytest.approx(bs.score(result.dag, table))
    assert result.trace[-1].facts["edges"] == result.dag.n_arcs
    assert bs.compare(result.dag, bs.load_network("asia").dag).f1 > 0.7
    levels = [step.facts["level"] for step in result.trace]
    assert levels[:-1] == list(range(-1, len(levels) - 2))


@pytest.mark.parametrize("search", [Pc(), Cpc()], ids=repr)
def test_a_resumed_run_is_the_run_that_was_never_stopped(search, tmp_path):
    table = gaussian(7, 120, seed=9)
    whole = bs.learn(table, search, score="bic")
    assert len(whole.trace) > 3
    for stop in range(len(whole.trace)):
        path = tmp_path / f"{stop}.json"
        bs.learn(table, search, max_steps=stop, checkpoint=path, score="bic")
        assert untimed(bs.learn(table, search, checkpoint=path, score="bic")) == untimed(whole)


@settings(max_examples=25)
@given(data=st.data())
def test_graphs_are_acyclic_and_keep_the_knowledge(data):
    """Noisy copies of one variable: the tests contradict each other, and what is known."""
    table = entangled(seed=data.draw(st.integers(0, 5)), rows=data.draw(st.sampled_from([20, 100, 300])))
    knowledge = data.draw(knowledge_for(table.names))
    search = data.draw(st.sampled_from([Pc(), Pc(alpha=0.3), Cpc(), Pc(test="chi2")]))
    result = bs.learn(table, search, knowledge=knowledge, score="bic")
    assert keeps(result.dag, knowledge)
    for parent, child in knowledge.required:
        assert result.cpdag.compelled(parent, child)


class Scripted:
    """Answers from a list of independences."""

    def __init__(self, independences):
        self.independences = {(a, b, frozenset(some)) for a, b, some in independences}

    def one(self, question):
        apart = (question.a, question.b, frozenset(question.given)) in self.independences
        return Finding(0.0, 1.0, 0.5, "independent" if apart else "dependent")

    def many(self, questions):
        return [self.one(question) for question in questions]


def by_script(search, n, independences):
    score = OracleScore(bs.Dag.empty(range(n)))
    score.independence_tests = Scripted(independences)
    return found_by(search, score, range(n))


def test_conflicting_colliders_are_counted_and_a_graph_comes_out_all_the_same():
    """a - b - c - d with both b and c said to be colliders: b - c would need two heads."""
    script = [(0, 2, ()), (1, 3, ()), (0, 3, ())]
    found, run = by_script(Pc(), 4, script)
    assert run.trace[-1].facts["conflicts"] == 1
    assert {frozenset(arc) for arc in found.arcs()} == {frozenset(e) for e in ((0, 1), (1, 2), (2, 3))}
    assert set(found.parents[1]) == {0, 2}


def test_a_ring_without_colliders_gets_some_orientation():
    script = [(0, 2, (1, 3)), (1, 3, (0, 2))]
    found, _ = by_script(Pc(), 4, script)
    assert found.n_arcs == 4


def test_an_ambiguous_triple_is_a_collider_for_pc_and_nothing_for_cpc():
    """a and b are separated by nothing and also by c."""
    script = [(0, 1, ()), (0, 1, (2,))]
    plain, _ = by_script(Pc(), 3, script)
    careful, run = by_script(Cpc(), 3, script)
    assert plain.parents[2] == (0, 1)
    assert careful.n_arcs == 2
    assert careful.parents[2] != (0, 1)
    assert run.trace[-1].facts["ambiguous"] == 1


def test_inconclusive_tests_keep_their_edges_and_are_counted():
    rng = np.random.default_rng(0)
    table = bs.as_table({"a": rng.integers(0, 4, 40).tolist(), "b": rng.integers(0, 4, 40).tolist()},
                        kinds="discrete")  # fmt: skip
    result = bs.learn(table, Pc(test="chi2"), score="bic")
    assert result.dag.n_arcs == 1
    assert result.trace[-1].facts["inconclusive"] == 1
    assert bs.learn(table, Pc(), score="bic").dag.n_arcs == 0


@given(parent_sets(max_nodes=6), st.data())
def test_a_forced_extension_is_acyclic_and_keeps_arcs_and_edges(parents, data):
    arcs = sorted(arcs_of(parents))
    marks = data.draw(st.lists(st.booleans(), min_size=len(arcs), max_size=len(arcs)))
    directed = tuple(arc for arc, mark in zip(arcs, marks, strict=True) if mark)
    free = tuple(arc for arc, mark in zip(arcs, marks, strict=True) if not mark)
    dag = forced_extension(Pattern.of_pairs(len(parents), directed, free)).parent_sets()
    made = arcs_of(dag)
    assert is_acyclic(len(parents), made)
    assert set(directed) <= made
    assert {frozenset(a) for a in made} == {frozenset(a) for a in arcs}


@given(st.lists(st.integers(0, 31), min_size=5, max_size=5), st.integers(0, 3))
def test_given_sets_are_those_of_either_end_once(around, size):
    around = [mask & ~(1 << v) for v, mask in enumerate(around)]
    found = list(given_sets(around, 0, 1, size))
    expected = {
        some
        for end, other in ((0, 1), (1, 0))
        for some in itertools.combinations([v for v in bits(around[end]) if v != other], size)
    }
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_fewer_variables_given_leave_more_edges():
    table = gaussian(7, 500, seed=2)
    edges = [bs.learn(table, Pc(max_given=k), score="bic").dag.n_arcs for k in (0, 1, 2)]
    assert edges == sorted(edges, reverse=True)
    assert edges[0] > bs.learn(table, Pc(), score="bic").dag.n_arcs


def test_wrong_settings_are_refused():
    for wrong in ({"alpha": 0}, {"alpha": 2}, {"test": "t"}, {"max_given": -1}, {"max_given": 1.5}):
        with pytest.raises(SettingError):
            Pc(**wrong)
    with pytest.raises(SettingError, match="fisher-z"):
        bs.learn(entangled(3), Pc(test="fisher-z"), score="bic")
    with pytest.raises(SettingError, match="bic"):
        bs.learn(gaussian(3), Pc(), "bge")

    class Own:
        def local(self, child, parents):
            return 0.0

    with pytest.raises(SettingError, match="score of your own"):
        bs.learn(entangled(3), Pc(), Own())


def test_knowledge_that_no_graph_with_all_the_edges_can_keep_cuts_an_edge():
    """Each edge of a triangle may point one way only, and that is a cycle."""
    table = entangled(n_variables=3, rows=400, seed=0)
    a, b, c = table.names
    forbidden = ((b, a), (c, b), (a, c))
    result = bs.learn(table, Pc(alpha=0.9999), knowledge=Knowledge(forbidden=forbidden), score="bic")
    assert result.dag.n_arcs == 2
    assert not set(result.dag.arcs()) & set(forbidden)
    assert result.trace[-1].facts["conflicts"] == 1


def test_an_ambiguous_triple_directs_nothing():
    """a -> b would give b -> d by Meek's first rule, unless a - b - d may be a collider."""
    from bayescout.search.independence.pc import direct_by_rules

    sure = Pattern.of_pairs(3, ((0, 1),), ((1, 2),))
    direct_by_rules(sure, set())
    assert sure.pairs() == (((0, 1), (1, 2)), ())
    unsure = Pattern.of_pairs(3, ((0, 1),), ((1, 2),))
    direct_by_rules(unsure, {(0, 1, 2)})
    assert unsure.pairs() == (((0, 1),), ((1, 2),))


@given(parent_sets(min_nodes=2, max_nodes=6), st.data())
def test_the_rules_agree_with_those_of_graphs_where_nothing_contradicts(parents, data):
    from bayescout.graph.equivalence import meek
    from bayescout.search.independence.pc import direct_by_rules

    full = bs.Dag(tuple(range(len(parents))), parents).cpdag()
    known = [e for e in full.undirected if data.draw(st.booleans())]
    known = [(a, b) if a in parents[b] else (b, a) for a, b in known]
    free = tuple(e for e in full.undirected if e not in known and e[::-1] not in known)
    pattern = Pattern.of_pairs(len(parents), (*full.directed, *known), free)
    direct_by_rules(pattern, set())
    expected = meek(bs.Pdag(full.nodes, tuple(sorted([*full.directed, *known])), free))
    assert pattern.pairs() == (tuple(sorted(expected.directed)), tuple(sorted(expected.undirected)))


def test_a_stopped_run_answers_with_the_edges_left_and_says_what_it_tested():
    table = bs.load_network("asia").sample(2000, seed=1)
    whole = bs.learn(table, "pc", score="bic")
    early = bs.learn(table, "pc", max_steps=1, score="bic")
    none = bs.learn(table, "pc", max_steps=0, score="bic")
    assert none.dag.n_arcs == 0
    assert whole.dag.n_arcs < early.dag.n_arcs < 28
    assert early.ends_in_class
    assert early.dependencies.tested == 28
    assert early.dependencies.rejected == early.dag.n_arcs
    absent = next(pair for pair in itertools.combinations(table.names, 2) if whole.dependencies.about(*pair))
    told = whole.explain(*absent)
    assert not told.present
    assert told.tests[0].answer == "independent"
    assert "independent" in str(told)


def test_the_class_is_the_answer_and_round_trips(tmp_path):
    table = bs.load_network("asia").sample(2000, seed=1)
    for search in ("pc", "cpc", "ges"):
        result = bs.learn(table, search, score="bic")
        assert result.ends_in_class
        assert set(result.summary()["class"]) == {"arcs", "edges"}
        assert result.cpdag.n_edges == result.dag.n_arcs
        result.save(tmp_path / "r.json")
        again = bs.Result.load(tmp_path / "r.json")
        assert again.cpdag == result.cpdag
        assert again.dependencies == result.dependencies
    assert not bs.learn(table, search="hill-climb", score="bic").ends_in_class


@pytest.mark.parametrize("limit", [1, 2])
def test_limits_on_parents_leave_class_and_graph_together(limit):
    table = bs.load_network("child").sample(500, seed=2)
    for search in ("pc", "cpc"):
        result = bs.learn(table, search, knowledge=Knowledge(max_parents=limit), score="bic")
        assert result.cpdag == result.dag.cpdag()
        assert max(map(len, result.dag.parents)) <= limit
