"""Structure priors: against probabilities of pairs, in every search, and in the bounds of exact search."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout import Knowledge
from bayescout.errors import KnowledgeError, SettingError, UnknownNameError
from bayescout.scores import PRIORS, ArcCharge, Sparse, bind, family_prior
from bayescout.scores.prior import as_prior
from bayescout.search import SEARCHES, Problem
from bayescout.search.parent_sets import enumeration
from bayescout.search.parent_sets import expansion as refinement
from tests.reference.graphs import all_dags, equivalence_classes
from tests.reference.priors import log_prior_by_size, log_prior_of_pairs
from tests.search.drawn_problems import entangled, gaussian, mixed
from tests.search.test_candidates import every_set, listed, undominated
from tests.search.test_optimal_brute_force import best_order, local_scores
from tests.search.test_refinement import drawn as odd_table
from tests.strategies import examples


class Shy:
    """A user's own prior: a parent costs more the later its name is in the alphabet."""

    equivalent = False
    decreasing = True

    def family(self, child, parents):
        return -0.25 * sum(
            1 + "abcdefghijklmnop".index(str(p)[-1]) for p in parents if str(p)[-1].isalpha()
        ) - 0.5 * len(parents)


class Bold(Shy):
    """A user's own prior that rewards arcs, and says nothing of itself."""

    equivalent = None
    decreasing = False

    def family(self, child, parents):
        return 0.75 * len(parents) ** 1.5


OWN = {"own": Shy(), "own and rewarding": Bold()}


def beliefs_for(names, directed=True):
    """Strong and weak beliefs about the first pairs."""
    a, b, c, d = names[:4]
    if not directed:
        return {frozenset((a, b)): 0.95, frozenset((c, d)): 0.02, frozenset((a, d)): 0.4}
    return {(a, b): 0.9, (c, d): 0.05, (d, a): 0.6, (a, d): 0.3, frozenset((b, c)): 0.97, (c, b): 0.9}


CASES = {
    "uniform": ("uniform", None),
    "sparse": ("sparse", None),
    "sparse:2": ("sparse:2", None),
    "number": (1.75, None),
    "reward": (-0.5, None),
    "friedman-koller": ("friedman-koller", None),
    "directed": ("uniform", True),
    "undirected": ("uniform", False),
    "sparse and directed": ("sparse", True),
    "sparse and undirected": ("sparse", False),
    "friedman-koller and directed": ("friedman-koller", True),
}


def case(name, names):
    prior, directed = CASES[name]
    return prior, Knowledge(beliefs={} if directed is None else beliefs_for(names, directed))


def charge_of(prior, n):
    charges = {"uniform": 0.0, "sparse": math.log(n - 1), "sparse:2": math.log((n - 1) / 2)}
    return charges.get(prior, prior)


def slow_log_prior(dag, prior, knowledge):
    if prior == "friedman-koller":
        return log_prior_by_size(dag) + log_prior_of_pairs(dag, 0.0, knowledge.beliefs)
    return log_prior_of_pairs(dag, charge_of(prior, len(dag)), knowledge.beliefs)


def a_table(kind, seed, n=5):
    if kind == "gaussian":
        return gaussian(n, rows=80, seed=seed)
    if kind == "mixed":
        return mixed(3, n - 3, rows=80, seed=seed)
    return entangled(n, rows=60, seed=seed, states=2 + seed % 2, noise=0.4)


SCORED = [
    ("discrete", "bic"), ("discrete", "bdeu"), ("discrete", "k2"), ("gaussian", "bic"), ("gaussian", "bge"),
    ("mixed", "cg-bic"), ("mixed", "dg-bic"),
]  # fmt: skip


# ---- the score of a network


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("kind", "score"), SCORED)
def test_a_score_is_that_without_the_prior_plus_the_log_prior(name, kind, score):
    for seed in range(3):
        table = a_table(kind, seed)
        prior, knowledge = case(name, table.names)
        legal = bind(score, table).legal
        dag = legal_dag(table.names, np.random.default_rng(seed), legal)
        plain = bs.score(dag, table, score)
        found = bs.score(dag, table, score, structure_prior=prior, knowledge=knowledge)
        assert found == pytest.approx(plain + slow_log_prior(dag, prior, knowledge), abs=1e-6)
        parts = bs.score_parts(dag, table, score, structure_prior=prior, knowledge=knowledge)
        assert parts.log_prior == pytest.approx(slow_log_prior(dag, prior, knowledge), abs=1e-6)
        assert sum(node.log_prior for node in parts.nodes) == pytest.approx(parts.log_prior)
        assert parts.score == found
        if parts.penalty is not None:
            assert parts.score == pytest.approx(parts.log_likelihood - parts.penalty + parts.log_prior)
            assert parts.penalty == bs.score_parts(dag, table, score).penalty
        if name == "uniform":
            assert found == plain


def legal_dag(names, rng, legal):
    order = rng.permutation(len(names))
    if legal is not None:  # those that may be parents of all come first
        order = np.array(sorted(order, key=lambda v: -int(legal[v].sum())))
    parents = [[] for _ in names]
    for i, j in combinations(range(len(names)), 2):
        one, two = int(order[i]), int(order[j])
        if rng.random() < 0.5 and (legal is None or legal[one, two]):
            parents[two].append(one)
    return bs.Dag(names, tuple(tuple(sorted(own)) for own in parents))


@pytest.mark.parametrize("name", CASES)
def test_equivalent_graphs_have_the_same_score_exactly_where_the_prior_says_so(name):
    table = entangled(4, rows=50, seed=3, noise=0.4)
    prior, knowledge = case(name, table.names)
    scorer = bind("bdeu", table, prior=family_prior(prior, table.names, knowledge))
    apart = 0.0
    for members in equivalence_classes(all_dags(4)):
        totals = [
            float(scorer.many([(v, tuple(sorted(a for a, b in arcs if b == v))) for v in range(4)]).sum())
            for arcs in members
        ]
        apart = max(apart, max(totals) - min(totals))
    assert scorer.equivalent is (apart == 0)


# ---- the scorer's ways


@pytest.mark.parametrize("name", [*CASES, "own"])
@pytest.mark.parametrize(("kind", "score"), SCORED)
def test_every_way_to_ask_gives_the_same_numbers(name, kind, score):
    table = a_table(kind, 1)
    prior, knowledge = (Shy(), Knowledge()) if name == "own" else case(name, table.names)
    scorer = bind(score, table, prior=family_prior(prior, table.names, knowledge))
    other = bind(score, table, prior=family_prior(prior, table.names, knowledge))
    plain = bind(score, table)
    rules = Knowledge().compile(table.names).within(scorer.legal, table.names)
    n = table.n_columns
    for child in range(n):
        free = [v for v in range(n) if rules.allowed[v, child]]
        for k in range(len(free)):
            for parents in combinations(free, k):
                rest = np.array([v for v in free if v not in parents])
                grown = scorer.extensions(child, parents, rest)
                able = np.zeros((1, n), dtype=bool)
                able[0, rest] = True
                assert (other.all_extensions([(child, parents)], able)[0, rest] == grown).all()
                families = [(child, tuple(sorted((*parents, v)))) for v in rest.tolist()]
                assert (other.many(families) == grown).all()
                assert (other.fleeting(families) == grown).all()
                assert grown - plain.many(families) == pytest.approx(scorer.log_priors(families), abs=1e-9)


@pytest.mark.parametrize("name", [*CASES, "own"])
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_compiled_rows_of_gains_are_those_of_single_families(name, score):
    table = odd_table(5, 5)
    prior, knowledge = (Shy(), Knowledge()) if name == "own" else case(name, table.names)
    made = family_prior(prior, table.names, knowledge)
    rules = Knowledge(max_parents=3).compile(table.names)
    one = Problem(bind(score, table, prior=made), rules)
    slow = Problem(bind(score, table, prior=made), rules)
    slow.scorer.__dict__["kernel"] = None
    rng = np.random.default_rng(0)
    from bayescout.scores.gain_rows import Gains
    from bayescout.search.frame.problem import as_matrix, random_graph

    for _ in range(20):
        graph = random_graph(rules, rng, 1.5)
        found = [Gains.of_graph(as_matrix(graph, 5)) for _ in range(3)]
        one.gain_rows.fill(graph, found[0], remember=False)
        slow.gain_rows.fill(graph, found[1], remember=False)
        for child, own in enumerate(graph):
            one.gain_rows.update(child, own, found[2])
        for other in found[1:]:
            for mine, theirs in zip(found[0].arrays, other.arrays, strict=True):
                assert (mine == theirs).all()


# ---- searches

SOLVERS = [name for name in SEARCHES if name not in ("pc", "imap")]


@pytest.mark.parametrize("name", [*CASES, "own"])
@pytest.mark.parametrize("search", SOLVERS)
def test_what_a_search_reports_is_the_score_of_its_network(search, name):
    table = entangled(5, rows=60, seed=2, states=2, noise=0.4)
    prior, knowledge = (Shy(), Knowledge()) if name == "own" else case(name, table.names)
    if search in ("k2",):
        knowledge = Knowledge(
            order=table.names, beliefs={} if name == "own" else {(table.names[0], table.names[1]): 0.9}
        )
    made = family_prior(prior, table.names, knowledge)
    if search in ("ges", "imap-pruned") and made is not None and made.equivalent is False:
        with pytest.raises(SettingError, match="structure prior differs"):
            bs.learn(table, search, "bdeu", knowledge, structure_prior=prior)
        return
    result = bs.learn(table, search, "bdeu", knowledge, structure_prior=prior, max_steps=40)
    assert result.score == bs.score(result.dag, table, "bdeu", structure_prior=prior, knowledge=knowledge)
    if name != "own" and search != "k2":
        plain = bs.score(result.dag, table, "bdeu")
        assert result.score == pytest.approx(plain + slow_log_prior(result.dag, prior, knowledge), abs=1e-6)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", ["dynamic", pytest.param("program", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("kind", "score"),
    [
        ("discrete", "bdeu"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("discrete", "bic"), ("discrete", "k2"), ("gaussian", "bic"))
        ),
    ],
)
def test_exact_search_is_best_of_all_graphs_of_four_variables(name, method, kind, score):
    """Under scores from another definition: the plain local scores, and the prior graph by graph."""
    from bayescout.search import Optimal

    for seed in range(3):
        table = a_table(kind, seed, 4)
        prior, knowledge = case(name, table.names)
        result = bs.learn(table, Optimal(method=method), score, knowledge, structure_prior=prior)
        scores = local_scores(Problem(bind(score, table), Knowledge().compile(table.names)))
        best = max(
            sum(scores[v, sum(1 << a for a, b in arcs if b == v)] for v in range(4))
            + slow_log_prior(graph_of(table.names, arcs), prior, knowledge)
            for arcs in all_dags(4)
        )
        assert result.gap == 0
        assert result.score == pytest.approx(best, abs=1e-5)
        climbed = bs.learn(table, "hill-climb", score, knowledge, structure_prior=prior)
        told = bs.gap(climbed)
        assert told.bound >= result.score - 1e-9
        assert told.score + told.gap == pytest.approx(result.score, abs=1e-6)


def graph_of(names, arcs):
    return bs.Dag(names, tuple(tuple(sorted(a for a, b in arcs if b == v)) for v in range(len(names))))


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_enumeration_finds_exactly_the_sets_that_no_subset_beats(data):
    """By sizes, by all subsets at once and depth first, under every bound."""
    name = data.draw(st.sampled_from([*CASES, *OWN]))
    kind, score = data.draw(
        st.sampled_from(
            [
                *(("discrete", one) for one in ("bic", "aic", "bdeu", "k2")),
                ("gaussian", "bic"),
                ("mixed", "dg-bic"),
            ]
        )
    )
    seed = data.draw(st.integers(0, 100_000))
    table = odd_table(seed, 5) if kind == "discrete" else a_table(kind, seed)
    prior, knowledge = (OWN[name], Knowledge()) if name in OWN else case(name, table.names)
    if not knowledge.beliefs:
        required = ((table.names[0], table.names[1]),)
        knowledge = Knowledge(required=required, max_parents=data.draw(st.sampled_from([None, 3])))
    made = family_prior(prior, table.names, knowledge)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "SUBSET_VARIABLES", data.draw(st.sampled_from([0, 20])))
        patch.setattr(enumeration, "BEGIN_SIZE", data.draw(st.sampled_from([1, 2])))
        patch.setattr(refinement, "STEP_SETS", data.draw(st.sampled_from([1, 50])))
        problem = Problem(bind(score, table, prior=made), knowledge.compile(table.names))
        found = enumeration.candidate_sets(problem)
    for child in range(problem.n):
        own, expected = listed(found, child), undominated(every_set(problem, child))
        assert own.items() <= expected.items()
        for parents in expected.keys() - own.keys():  # better than a subset by rounding alone
            assert any(set(s) < set(parents) and v >= expected[parents] - 1e-9 for s, v in own.items())


def test_exact_search_of_many_variables_agrees_with_dynamic_programming_over_a_plain_list():
    """Depth first and under a prior that favours arcs, where bounds are easiest to get wrong."""
    for seed in range(4):
        table = entangled(7, rows=40, seed=seed, states=2, noise=0.5)
        for prior in ("sparse", "friedman-koller", -1.0):
            result = bs.learn(table, "optimal", "bdeu", structure_prior=prior)
            made = family_prior(prior, table.names)
            scores = local_scores(Problem(bind("bdeu", table, prior=made), Knowledge().compile(table.names)))
            assert result.gap == 0
            assert result.score == pytest.approx(best_order(scores), abs=1e-6)


# ---- what beliefs do


def test_beliefs_pull_arcs_in_and_push_them_out():
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 2, (2, 200))
    b = np.where(rng.random(200) < 0.3, rng.integers(0, 2, 200), a)
    table = bs.as_table({"a": a.astype(str), "b": b.astype(str), "c": c.astype(str)})

    def arcs(**beliefs):
        pairs = {tuple(key.split("_")): value for key, value in beliefs.items()}
        return set(bs.learn(table, "optimal", knowledge=Knowledge(beliefs=pairs), score="bic").arcs())

    assert arcs(a_b=0.9) == {("a", "b")}
    assert arcs(b_a=0.9) == {("b", "a")}
    assert arcs(a_c=1 - 1e-9) >= {("a", "c")}
    assert not arcs(a_b=1e-40, b_a=1e-40)
    for charge in (0.0, 50.0, -50.0, 1e6, -1e6):  # the split of what is not said has no room to overflow
        made = family_prior(charge, ("a", "b", "c"), Knowledge(beliefs={("a", "b"): 0.9}))
        forth, back, other = made.many([(1, (0,)), (0, (1,)), (2, (1,))])
        assert back == other == -charge
        assert forth == pytest.approx(math.log(9) + np.logaddexp(0.0, -charge), abs=1e-6)
    out = Knowledge(beliefs={frozenset(("a", "b")): 1e-40})
    assert not set(bs.learn(table, "ges", "bdeu", knowledge=out).arcs())


def test_a_belief_in_the_one_direction_that_is_possible():
    """With the other forbidden there are two cases left, not three."""
    names = ("a", "b", "c")
    for pair in (("a", "b"), frozenset(("a", "b"))):
        for more in ({"forbidden": (("b", "a"),)}, {"tiers": (("a",), ("b",))}):
            made = family_prior("sparse", names, Knowledge(beliefs={pair: 0.8}, **more))
            assert made.many([(1, (0,))])[0] == pytest.approx(math.log(4), abs=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"beliefs": {("a", "b"): 0.9}, "required": (("a", "b"),)}, "required"),
        ({"beliefs": {("a", "b"): 0.9}, "required": (("b", "a"),)}, "required"),
        ({"beliefs": {("a", "b"): 0.9}, "forbidden": (("a", "b"),)}, "forbidden"),
        ({"beliefs": {("a", "b"): 1}}, "require the arc"),
        ({"beliefs": {("a", "b"): 0.0}}, "forbid the arc"),
        ({"beliefs": {("a", "b"): 1.5}}, "between 0 and 1"),
        ({"beliefs": {("a", "b"): True}}, "between 0 and 1"),
        ({"beliefs": {("a", "b"): 0.6, ("b", "a"): 0.4}}, "less than 1"),
        ({"beliefs": {("a", "b"): 0.6, frozenset("ab"): 0.5}}, "less than"),
        ({"beliefs": {("a", "b"): 0.2, ("b", "a"): 0.2, frozenset("ab"): 0.5}}, "drop one"),
        ({"beliefs": {("a", "a"): 0.5}}, "itself"),
        ({"beliefs": {"ab": 0.5}}, "parent, child"),
        ({"beliefs": {("a", "b", "c"): 0.5}}, "parent, child"),
        ({"beliefs": [["a", "=>", "b", 0.5]]}, "probability"),
        ({"beliefs": [["a", "->", "b", 0.5], ["a", "->", "b", 0.6]]}, "two beliefs"),
        ({"beliefs": 5}, "by arc"),
    ],
)
def test_contradictory_beliefs_are_refused(options, words):
    with pytest.raises(KnowledgeError, match=words):
        Knowledge(**options)


def test_beliefs_in_what_tiers_an_order_or_the_model_rule_out_are_refused():
    for options in ({"tiers": (("b",), ("a",))}, {"order": ("b", "a")}):
        with pytest.raises(KnowledgeError, match="drop the belief"):
            Knowledge(beliefs={("a", "b"): 0.9}, **options).compile(("a", "b"))
    with pytest.raises(KnowledgeError, match="drop the belief"):
        Knowledge(beliefs={frozenset("ab"): 0.9}, forbidden=(("a", "b"), ("b", "a"))).compile(("a", "b"))
    with pytest.raises(UnknownNameError):
        Knowledge(beliefs={("a", "z"): 0.9}).compile(("a", "b"))
    table = mixed(2, 2, rows=60)
    legal = bind("cg-bic", table).legal
    parent, child = (table.names[int(i)] for i in np.argwhere(~legal & ~np.eye(4, dtype=bool))[0])
    with pytest.raises(KnowledgeError, match="drop the belief"):
        bs.learn(
            table, score="cg-bic", knowledge=Knowledge(beliefs={(parent, child): 0.9}), search="hill-climb"
        )


# ---- settings


def test_names_numbers_and_instances():
    assert as_prior("sparse:2") == Sparse(parents=2)
    assert as_prior("charge:2") == as_prior(2) == as_prior("2") == as_prior(np.float64(2)) == ArcCharge(2)
    assert as_prior(None) == as_prior("uniform")
    for wrong in ("sparse:x", "sparse:0", "sparse:-1", True, math.nan, math.inf, "nan", [], Sparse, 1e9):
        with pytest.raises(SettingError):
            as_prior(wrong)
    with pytest.raises(UnknownNameError, match="sparse"):
        as_prior("sparce")
    with pytest.raises(SettingError, match="expect fewer"):
        family_prior("sparse:5", "abc")
    for name in PRIORS:
        assert family_prior(name, ["only"]) is None


def test_a_prior_of_ones_own_must_give_numbers():
    class Broken:
        def family(self, child, parents):
            return math.nan

    with pytest.raises(SettingError, match="must give a number"):
        bs.learn(entangled(3), structure_prior=Broken(), search="hill-climb", score="bic")


@pytest.mark.parametrize("name", [*CASES, "own"])
def test_the_order_of_columns_and_of_beliefs_changes_nothing(name):
    table = entangled(5, rows=60, seed=5, noise=0.4)
    prior, knowledge = (Shy(), Knowledge()) if name == "own" else case(name, table.names)
    first = bs.learn(table, "tabu", "bdeu", knowledge, structure_prior=prior)
    turned = table.select(table.names[::-1])
    back = Knowledge(beliefs=dict(reversed(knowledge.beliefs.items())))
    again = bs.learn(turned, "tabu", "bdeu", back, structure_prior=prior)
    assert set(first.arcs()) == set(again.arcs())
    assert first.score == again.score


@pytest.mark.parametrize("name", CASES)
def test_results_are_saved_with_their_prior_and_scored_again(name, tmp_path):
    table = entangled(5, rows=60, seed=2, noise=0.4)
    prior, knowledge = case(name, table.names)
    result = bs.learn(table, "hill-climb", "bdeu", knowledge, structure_prior=prior)
    result.save(tmp_path / "r.json")
    again = bs.Result.load(tmp_path / "r.json", data=table)
    assert again.settings == result.settings
    assert bs.gap(again).score == result.score
    assert bs.gap(again, data=table).score == result.score
    a, b = table.names[:2]
    assert again.explain(a, b) == result.explain(a, b)


def test_explanations_show_the_part_of_the_prior():
    table = entangled(4, rows=60, seed=2, noise=0.4)
    charged = bs.learn(table, "hill-climb", "bdeu", structure_prior=3.0)
    parent, child = next(iter(charged.arcs()))
    found = charged.explain(parent, child)
    assert found.prior == {"remove": 3.0, "reverse": 0.0}
    assert "prior" in str(found)
    plain = bs.learn(table, "hill-climb", "bdeu", start=charged.dag, max_steps=0)
    assert found.remove - 3.0 == pytest.approx(plain.explain(parent, child).remove)
    assert plain.explain(parent, child).prior is None
    assert "prior" not in str(plain.explain(parent, child))


def test_beliefs_in_directions_are_not_equivalent_and_ges_says_so():
    table = entangled(4)
    told = Knowledge(beliefs={table.names[:2]: 0.9})
    with pytest.raises(SettingError, match="structure prior differs"):
        bs.learn(table, "ges", "bdeu", told)
    for prior, known, score, expected in [
        ("uniform", told, "bdeu", False),
        ("sparse", None, "bdeu", True),
        ("sparse", None, "k2", False),
        ("friedman-koller", None, "bdeu", True),
        (Shy(), None, "bdeu", False),
    ]:
        assert bind(score, table, prior=family_prior(prior, table.names, known)).equivalent is expected
