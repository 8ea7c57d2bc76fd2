"""Population searches: operators on hand-worked genes, the laws of repair and elitism, and each algorithm."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import SettingError
from bayescout.graph.orders import peel_roots
from bayescout.search import (
    ElitistGa,
    Genetic,
    GeneticGreedy,
    Holland,
    Knowledge,
    Pbil,
    Umda,
)
from bayescout.search.graphs.moves import Moves
from bayescout.search.population import operators
from bayescout.search.population.blanco import entropy
from bayescout.search.population.generation import PopulationState, evaluated, living_of
from bayescout.search.population.genome import Genome, from_hex, to_hex
from bayescout.search.population.lau import improve, wander
from bayescout.search.population.suhas import fitness
from tests.scores.drawn_data import table_of
from tests.search.drawn_problems import entangled, knowledge_for, problem_of

SIX = [
    GeneticGreedy(population=8, promoted=2, dropped=1),
    Genetic(population=6),
    Genetic(population=6, mutation="random", chance=0.5, shake=2),
    Holland(population=12, generations=12),
    Holland(population=10, generations=20, growth=0.3, largest=25, lifetime=2, epidemic=0.8, epsilon=0.5),
    ElitistGa(population=12, max_generations=40),
    ElitistGa(population=13, crossover=0.5, per_gene=True, distinct=True, max_generations=10),
    Umda(population=12),
    Pbil(population=12, correction=0.5, distinct=True, max_generations=40),
]


class Fixed(np.random.Generator):
    """A generator whose uniform numbers are the ones given."""

    def __init__(self, numbers):
        super().__init__(np.random.PCG64(0))
        self.numbers = iter(numbers)

    def random(self, size=None):
        count = int(np.prod(size)) if size is not None else 1
        drawn = np.array(list(itertools.islice(self.numbers, count)))
        return drawn.reshape(size) if size is not None else float(drawn[0])


def bits(text):
    return np.array([[c == "1" for c in row] for row in text.split()], dtype=bool)


def text(genes):
    return " ".join("".join("01"[int(bit)] for bit in row) for row in genes)


def rules_of(names="abcd", **known):
    return Knowledge(**known).compile(names)


def run(search, problem, seed=0, steps=10_000):
    rng = np.random.default_rng(seed)
    states = [search.start(problem, rng)]
    while not states[-1].done and len(states) <= steps:
        states.append(search.advance(problem, states[-1], rng))
    return states


# ---- genes


def test_the_gene_of_the_document():
    """Figure 2 of Suhas & Sai Praveen: 1 -> 2, 1 -> 3, 2 -> 4, 3 -> 4, less the diagonal."""
    genome = Genome.of(rules_of())
    parents = ((), (0,), (0,), (1, 2))
    genes = genome.of_graph(parents)
    assert text(genes[None]) == "110" + "001" + "001" + "000"
    assert genome.graphs(genes[None]) == [parents]
    assert text(genome.genes(genome.matrices(genes[None]))) == text(genes[None])


def test_with_an_order_genes_are_the_upper_triangle_of_the_ordered_matrix():
    genome = Genome.of(rules_of("abc", order=("b", "c", "a")))
    arcs = list(zip(genome.parents.tolist(), genome.children.tolist(), strict=True))
    assert arcs == [(1, 2), (1, 0), (2, 0)]


def test_forbidden_and_required_arcs_have_no_gene():
    genome = Genome.of(rules_of("abc", required=[("a", "b")], forbidden=[("c", "a")]))
    arcs = list(zip(genome.parents.tolist(), genome.children.tolist(), strict=True))
    assert arcs == [(0, 2), (1, 0), (1, 2), (2, 1)]
    assert genome.graphs(bits("0000 1111")) == [((), (0,), ()), ((1,), (0, 2), (0, 1))]


def test_density_gives_the_mean_number_of_parents():
    assert Genome.of(rules_of("abcde")).density(2.0) == 0.5
    assert Genome.of(rules_of("abcde", order=tuple("abcde"))).density(1.0) == 0.5
    assert Genome.of(rules_of("abc")).density(9.0) == 1.0
    assert Genome.of(rules_of("a")).density(2.0) == 1.0


@given(st.integers(0, 21), st.integers(0, 4), st.integers(0, 99))
def test_hexadecimal_digits_round_trip(size, individuals, seed):
    genes = np.random.default_rng(seed).random((individuals, size)) < 0.5
    back = from_hex(to_hex(genes), size)
    assert back.shape == genes.shape
    assert (back == genes).all()


def test_hexadecimal_digits_are_the_genes_first_gene_first():
    assert to_hex(bits("1010000011")) == ("a0c0",)


# ---- operators


def test_one_point_crossover_by_hand():
    rng = np.random.default_rng(3)
    cuts = np.random.default_rng(3).integers(1, 6, size=2)
    children = operators.one_point(bits("111111 101010"), bits("000000 010101"), rng)
    a, b = cuts.tolist()
    assert text(children[:2]) == "1" * a + "0" * (6 - a) + " " + "0" * a + "1" * (6 - a)
    assert text(children[2:]) == "101010"[:b] + "010101"[b:] + " " + "010101"[:b] + "101010"[b:]


def test_every_cut_is_made_and_both_parents_always_give_something():
    children = operators.one_point(
        np.ones((500, 4), bool), np.zeros((500, 4), bool), np.random.default_rng(0)
    )
    assert {text(row[None]) for row in children[::2]} == {"1000", "1100", "1110"}


def test_a_chunk_is_a_nodes_outgoing_row():
    genome = Genome.of(rules_of())
    child = operators.by_chunks(genome, bits("1" * 12), bits("0" * 12), Fixed([0.1, 0.9, 0.4, 0.6]))
    assert text(child) == "111" + "000" + "111" + "000"


def test_flipping_by_hand():
    assert text(operators.flip_each(bits("1100"), 0.5, Fixed([0.4, 0.6, 0.4, 0.6]))) == "0110"
    rng = np.random.default_rng(0)
    genes = bits("1010 0000 1111")
    assert (operators.flip_one(genes, 1.0, rng) ^ genes).sum(axis=1).tolist() == [1, 1, 1]
    assert (operators.flip_one(genes, 0.0, rng) == genes).all()
    flipped = operators.flip_one(np.zeros((4000, 5), bool), 0.5, rng)
    assert 1850 < flipped.sum() < 2150
    assert flipped.sum(axis=0).min() > 320
    assert text(genes) == "1010 0000 1111"


def test_parent_sets_are_exchanged_whole():
    mine, other = ((), (0,), (0, 1)), ((1, 2), (2,), ())
    assert operators.with_parents_of(mine, other, [2]) == ((), (0,), ())
    assert operators.with_parents_of(mine, other, [1, 0]) == ((1, 2), (2,), (0, 1))


def test_selection_by_rank_and_by_score():
    # Ranks 0, 1, 2 have 3, 2 and 1 sixths.
    assert operators.by_rank(3, 6, Fixed([0, 0.49, 0.51, 0.83, 0.84, 0.999])).tolist() == [0, 0, 1, 1, 2, 2]
    # -10, -30, -40: 30, 10 and 0 above the worst.
    scores = np.array([-10.0, -30.0, -40.0])
    assert operators.by_score(scores, 4, Fixed([0, 0.74, 0.76, 0.999])).tolist() == [0, 0, 1, 1]
    assert operators.by_score(np.array([-5.0, -5.0]), 2, Fixed([0.4, 0.6])).tolist() == [0, 1]
    mixed = np.array([-1.0, -np.inf, -1.0])
    assert operators.by_score(mixed, 2, Fixed([0.4, 0.6])).tolist() == [0, 2]
    assert operators.by_score(np.full(2, -np.inf), 2, Fixed([0.4, 0.6])).tolist() == [0, 1]


def test_epsilon_greedy_keeps_the_best_and_replaces_a_share():
    rng = np.random.default_rng(0)
    assert operators.epsilon_greedy(10, 4, 0.0, rng).tolist() == [0, 1, 2, 3]
    everyone = np.array([operators.epsilon_greedy(10, 4, 1.0, rng) for _ in range(500)])
    assert (everyone[:, 0] == 0).all()
    assert np.unique(everyone[:, 1:]).tolist() == list(range(10))
    some = np.array([operators.epsilon_greedy(1000, 2, 0.3, rng)[1] != 1 for _ in range(1000)])
    assert 250 < some.sum() < 350


def test_pairs_are_of_different_individuals():
    first, second = operators.random_pairs(3, 600, np.random.default_rng(0))
    seen = np.unique(np.stack([first, second]), axis=1, return_counts=True)
    assert seen[0].T.tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    assert seen[1].min() > 60
    assert operators.random_pairs(1, 2, np.random.default_rng(0))[1].tolist() == [0, 0]


def test_elitist_replacement_by_hand():
    old, new = np.array([-1.0, -5.0, -9.0]), np.array([-5.0, -2.0, -20.0])
    assert operators.elitist(old, new, 3).tolist() == [0, 4, 1]
    genes = bits("111 100 010 100 111 000")
    assert operators.elitist_distinct(old, new, genes, 3).tolist() == [0, 1, 2]
    # Only four differ: the fifth place goes to the best copy, and ranks stay in order.
    assert operators.elitist_distinct(old, new, genes, 5).tolist() == [0, 4, 1, 2, 5]


def test_the_sum_of_scores_decides_convergence():
    assert operators.same_sum(np.array([-1.0, -3.0]), np.array([-2.0, -2.0]))
    assert not operators.same_sum(np.array([-1.0, -3.0]), np.array([-1.0, -2.5]))
    assert not operators.same_sum(np.array([-1.0, -np.inf]), np.array([-1.0, -2.0]))
    assert not operators.same_sum(np.array([-1.0, -np.inf]), np.array([-2.0, -np.inf]))
    assert operators.same_sum(np.array([-1.0, -np.inf]), np.array([-1.0, -np.inf]))
    assert operators.same_sum(np.array([-1.0, 1e16, 1.0]), np.array([1e16, 1.0, -1.0]))


def test_entropy_and_fitness_by_hand():
    assert entropy(np.array([0.0, 1.0, 0.5])) == pytest.approx(math.log(2))
    assert entropy(np.array([0.1])) == pytest.approx(-0.1 * math.log(0.1) - 0.9 * math.log(0.9))
    assert entropy(np.empty(0)) == 0.0
    assert fitness(np.array([-1.0, -2.0, -5.0])) == pytest.approx((-8 / 3 + 5) / 4)
    assert fitness(np.array([-1.0, -1.0])) == 1.0
    assert fitness(np.array([-np.inf])) == 1.0


def test_chances_are_met_when_genes_are_drawn():
    drawn = operators.draw_genes(np.array([0.0, 0.3, 1.0]), 3000, np.random.default_rng(0))
    shares = drawn.mean(axis=0)
    assert (shares[0], shares[2]) == (0.0, 1.0)
    assert 0.27 < shares[1] < 0.33


# ---- repair


@given(data=st.data())
def test_repair_only_deletes_and_makes_legal(data):
    names = tuple("abcdefg"[: data.draw(st.integers(4, 7))])
    rules = data.draw(knowledge_for(names)).compile(names)
    genome = Genome.of(rules)
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    genes = rng.random((6, genome.size)) < data.draw(st.sampled_from([0.1, 0.4, 1.0]))
    repaired = operators.repair(genome, genes, rng)
    assert not (repaired & ~genes).any()
    for before, after in zip(genome.graphs(genes), genome.graphs(repaired), strict=True):
        assert len(peel_roots(after)) == len(names)
        assert rules.broken_by(after) is None
        if rules.broken_by(before) is None and len(peel_roots(before)) == len(names):
            assert after == before


def test_repair_leaves_arcs_on_no_cycle_and_deletes_each_arc_of_a_cycle_equally_often():
    genome = Genome.of(rules_of("abcde"))
    cycle, beside = [(0, 1), (1, 2), (2, 0)], [(0, 3), (3, 4)]
    graph = [[p for p, c in cycle + beside if c == v] for v in range(5)]
    genes = np.repeat(genome.of_graph(graph)[None], 3000, axis=0)
    deleted = genes & ~operators.repair(genome, genes, np.random.default_rng(1))
    assert (deleted.sum(axis=1) == 1).all()
    counts = genome.matrices(deleted).sum(axis=0)
    assert counts.sum() == sum(counts[arc] for arc in cycle)
    assert all(900 < counts[arc] < 1100 for arc in cycle)


def test_repair_spares_required_arcs_of_a_cycle():
    rules = rules_of("abc", required=[("a", "b"), ("b", "c")])
    genome = Genome.of(rules)
    all_set = np.ones((20, genome.size), bool)
    for graph in genome.graphs(operators.repair(genome, all_set, np.random.default_rng(0))):
        assert (0 in graph[1], 1 in graph[2], 2 in graph[0]) == (True, True, False)


def test_surplus_parents_are_dropped_uniformly():
    rules = rules_of("abcde", required=[("a", "e")], max_parents=3, order=tuple("abcde"))
    genome = Genome.of(rules)
    full = np.ones((2000, genome.size), bool)
    graphs = genome.graphs(operators.repair(genome, full, np.random.default_rng(0)))
    assert {len(graph[4]) for graph in graphs} == {3}
    assert all(graph[:4] == ((), (0,), (0, 1), (0, 1, 2)) for graph in graphs)
    assert all(0 in graph[4] for graph in graphs)
    shares = [sum(parent in graph[4] for graph in graphs) / 2000 for parent in (1, 2, 3)]
    assert all(0.62 < share < 0.71 for share in shares)


def test_repaired_individuals_do_not_depend_on_their_neighbours():
    """Each individual has random numbers of its own, so a batch is the sum of its parts."""
    from bayescout.kernels.population import break_cycles

    required = np.zeros((6, 6), bool)
    whole = np.random.default_rng(0).random((5, 6, 6)) < 0.6
    whole[:, range(6), range(6)] = False
    seeds = np.arange(1, 6, dtype=np.int64) * 12345
    parts = whole.copy()
    break_cycles(whole, required, seeds)
    for i in range(5):
        break_cycles(parts[i : i + 1], required, seeds[i : i + 1])
    assert (whole == parts).all()


# ---- scoring a population


def test_a_population_is_scored_in_one_batch_of_distinct_families():
    table = entangled(n_variables=4, rows=60)
    problem = problem_of(table)
    genome = Genome.of(problem.rules)
    graphs = [((), (0,), (1,), ()), ((), (0,), (1,), ()), ((), (0,), (), (0,))]
    found = evaluated(problem, genome, np.stack([genome.of_graph(graph) for graph in graphs]))
    assert problem.scorer.asked == len({(c, own) for graph in graphs for c, own in enumerate(graph)}) == 6
    assert list(found.graphs) == graphs
    for score, graph in zip(found.scores, graphs, strict=True):
        assert score == pytest.approx(problem.total(graph), abs=1e-9)


def test_a_fitness_of_the_document_by_hand():
    """Eight rows of a and b, counts 3, 1, 1, 3; I(a; b) = ln 2 - H(1/4), joint weights."""
    table = table_of([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 1, 1, 1]], [2, 2])
    information = math.log(2) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75)
    for score, empty, joined in (
        ("mi-bic", -0.5 * 2 * math.log(8), 8 * information - 0.5 * 3 * math.log(8)),
        ("mi-normalised", -2 / 4, information - 3 / 4),
    ):
        problem = problem_of(table, score=score)
        found = evaluated(problem, Genome.of(problem.rules), bits("00 10 01"))
        assert found.scores == pytest.approx([empty, joined, joined])
    states = run(Holland(population=4, generations=5), problem_of(table, score="mi-bic"))
    assert states[-1].score == pytest.approx(8 * information - 1.5 * math.log(8))


# ---- laws of all six


@pytest.mark.parametrize("search", SIX, ids=lambda search: type(search).__name__)
@settings(max_examples=8)
@given(data=st.data())
def test_every_individual_is_legal_and_the_best_is_never_lost(search, data):
    table = entangled(n_variables=5, rows=80, seed=data.draw(st.integers(0, 3)))
    knowledge = data.draw(knowledge_for(table.names))
    start = data.draw(st.sampled_from(["empty", "random"]))
    problem = problem_of(table, knowledge=knowledge, start=start)
    states = run(search, problem, data.draw(st.integers(0, 9)), steps=12)
    for earlier, later in itertools.pairwise(states):
        assert later.score >= earlier.score
        assert later.generation == earlier.generation + 1
    for state in states:
        graphs = state.population
        if isinstance(state, PopulationState):
            genome = Genome.of(problem.rules)
            graphs = tuple(genome.graphs(from_hex(graphs, genome.size)))
        assert list(state.scores) == sorted(state.scores, reverse=True)
        assert (graphs[0], state.scores[0]) == (state.parents, state.score)
        for score, graph in zip(state.scores, graphs, strict=True):
            assert len(peel_roots(graph)) == 5
            assert problem.rules.broken_by(graph) is None
            assert score == pytest.approx(problem.total(graph), abs=1e-9)
        known = {graph for _, graph in state.visited()}
        assert state.parents in known


@pytest.mark.parametrize("search", SIX, ids=lambda search: type(search).__name__)
def test_a_start_graph_is_in_the_first_generation_and_the_trace_says_how_it_goes(search):
    table = entangled(n_variables=5, rows=80)
    begin = bs.Dag.from_arcs([("v0", "v1"), ("v1", "v2"), ("v2", "v3"), ("v3", "v4")], nodes=table.names)
    result = bs.learn(table, search, start=begin, max_steps=0, top=50, score="bic")
    assert begin in [entry.dag for entry in result.top]
    for step in bs.learn(table, search, max_steps=4, score="bic").trace:
        facts = step.facts
        assert facts["worst"] <= facts["mean"] <= facts["best_in_population"] == step.score
        assert facts["generation"] == step.step
        assert ("entropy" in facts) == isinstance(search, Umda)


@pytest.mark.parametrize("search", SIX, ids=lambda search: type(search).__name__)
def test_a_state_is_plain_and_goes_on_from_its_plain_values(search):
    import json

    problem = problem_of(entangled(n_variables=4, rows=50))
    rng = np.random.default_rng(1)
    state = search.advance(problem, search.start(problem, rng), rng)
    saved = json.loads(json.dumps(state.to_json()))
    again = type(state).from_json(saved)
    assert again == state
    asked, other = problem.scorer.asked, np.random.default_rng(1)
    other.bit_generator.state = rng.bit_generator.state
    expected = search.advance(problem, state, rng)
    counted = problem.scorer.asked - asked
    found = search.advance(problem, again, other)
    assert found == expected
    assert problem.scorer.asked - asked == 2 * counted


# ---- Blanco, Inza & Larrañaga


@settings(max_examples=10)
@given(seed=st.integers(0, 500), correction=st.sampled_from([0.0, 0.7]))
def test_pbil_with_alpha_one_is_umda_to_the_bit(seed, correction):
    table = entangled(n_variables=5, rows=60, seed=seed)
    common = {"population": 14, "correction": correction, "max_generations": 15}
    one = run(Umda(**common), problem_of(table), seed)
    other = run(Pbil(**common, alpha=1.0), problem_of(table), seed)
    assert one == other
    assert [s.chances for s in one] == [s.chances for s in other]


def test_the_chances_are_the_shares_of_the_better_half():
    problem = problem_of(entangled(n_variables=4, rows=60))
    for search, blend, correction in ((Umda(population=9), 1.0, 0.0), (Pbil(correction=1.0), 0.5, 1.0)):
        rng = np.random.default_rng(0)
        first = search.start(problem, rng)
        assert len(first.population) == (search.population or 40)
        assert set(first.chances) == {2 / 3}
        second = search.advance(problem, first, rng)
        half = len(first.population) // 2
        best = living_of(problem, first).genes[:half]
        shares = (best.sum(axis=0) + correction) / (half + 2 * correction)
        assert second.chances == pytest.approx((1 - blend) * np.array(first.chances) + blend * shares)


@pytest.mark.parametrize("search", [Umda(population=10), Pbil(population=10), ElitistGa(population=10)])
def test_convergence_is_the_first_generation_with_the_same_sum(search):
    for seed in range(5):
        states = run(search, problem_of(entangled(n_variables=4, rows=60)), seed)
        sums = [math.fsum(state.scores) for state in states]
        assert sums[-1] == sums[-2]
        assert all(later > earlier for earlier, later in itertools.pairwise(sums[:-1]))
    patient = run(type(search)(population=10, patience=3), problem_of(entangled(n_variables=4, rows=60)))
    sums = [math.fsum(state.scores) for state in patient]
    assert len({*sums[-4:]}) == 1
    assert sums[-5] != sums[-4]
    stopped = run(type(search)(population=10, max_generations=2), problem_of(entangled()))
    assert (len(stopped), stopped[-1].done) == (3, True)


def test_with_an_order_the_better_of_two_graphs_is_found():
    truth = bs.load_network("asia")
    table = truth.sample(3000, seed=1)
    known = Knowledge(order=truth.dag.order())
    reference = bs.score(truth.dag, table, "k2")
    for search in (Umda(correction=0.25), Pbil(correction=0.25)):
        assert bs.learn(table, search, "k2", known).score >= reference


def test_a_whole_population_without_copies_stays_so():
    search = Umda(population=30, distinct=True, correction=0.5, max_generations=30)
    states = run(search, problem_of(entangled(n_variables=5, rows=80)), 3)
    assert all(len({*state.population}) == 30 for state in states[-3:])


# ---- Lau & Bush


def test_the_first_generation_has_one_unconnected_graph_and_random_ones():
    state = run(GeneticGreedy(mean_parents=3.0), problem_of(entangled(n_variables=7)), steps=0)[0]
    arcs = sorted(sum(map(len, graph)) for graph in state.population)
    assert len(arcs) == 16
    assert arcs[0] == 0 < arcs[1]
    assert 14 < np.mean(arcs[1:]) <= 21


def test_progress_is_what_keeps_the_mating_going():
    for search in (GeneticGreedy(patience=4), Genetic(patience=4, population=5)):
        scores = [state.score for state in run(search, problem_of(entangled(seed=2)), 3)]
        assert len({*scores[-5:]}) == 1
        assert scores[-6] < scores[-5]


def test_improving_takes_one_operator_that_helps_and_wandering_any():
    problem = problem_of(entangled(n_variables=4, rows=100))
    rng = np.random.default_rng(0)
    own = Moves(problem, ((),) * 4)
    before = own.score
    assert 1 <= improve(own, rng) <= 3 * 4 * 3
    assert own.score > before
    assert sum(map(len, own.graph)) == 1
    while True:
        before = own.score
        considered = improve(own, rng)
        if own.score == before:
            break
    assert considered == 3 * 4 * 3
    assert wander(own, rng) == 1
    assert own.score < before
    alone = Moves(problem_of(table_of([[0, 1]], [2])), ((),))
    assert wander(alone, rng) == 0


def test_children_take_whole_parent_sets_of_their_two_parents():
    problem = problem_of(entangled(n_variables=5))
    search, rng = GeneticGreedy(), np.random.default_rng(0)
    mine, partner = ((), (0,), (0, 1), (2,), ()), ((1,), (), (4,), (), (0,))
    seen = set()
    for _ in range(60):
        own = Moves(problem, mine)
        search._mate(own, partner, rng)
        assert all(got in pair for got, *pair in zip(own.graph, mine, partner, strict=True))
        assert len(peel_roots(own.graph)) == 5
        seen.add(own.graph)
    assert partner in seen
    assert len(seen) > 8
    # a <- b and a -> b cannot be mixed without a cycle unless both or neither node is taken.
    one, other = Moves(problem, ((1,), (), (), (), ())), ((), (0,), (), (), ())
    search._mate(one, other, rng)
    assert len(peel_roots(one.graph)) == 5


def test_the_worst_are_dropped_the_best_carried_over_and_the_rest_mated_with_the_best():
    matings = []

    class Told(GeneticGreedy):
        def _mate(self, own, partner, rng):
            matings.append((own.graph, partner))

    problem = problem_of(entangled(n_variables=6), start="random")
    rng = np.random.default_rng(0)
    search = Told(population=9, promoted=2, dropped=3)
    first = search.start(problem, rng)
    assert len({*first.population}) == 9
    before = problem.scorer.asked
    search.advance(problem, first, rng)
    assert problem.scorer.asked > before
    best, rest = first.population[:2], first.population[2:6]
    assert [own for own, _ in matings] == [*rest, *rest[:3]]
    assert {partner for _, partner in matings} == {*best}


def test_a_small_shaken_population_finds_the_best_of_asia_where_the_documents_does_not():
    table = bs.load_network("asia").sample(5000, seed=1)
    best = bs.learn(table, bs.search.HillClimb(restarts=100), score="bic").score
    found = [
        bs.learn(table, GeneticGreedy(shake=2, patience=30), seed=s, score="bic").score for s in range(4)
    ]
    assert found == pytest.approx([best] * 4, abs=1e-6)


# ---- Suhas & Sai Praveen


def test_the_population_of_holland_stays_as_it_is_unless_told_otherwise():
    problem = problem_of(entangled(n_variables=5, rows=80))
    sizes = [len(state.population) for state in run(Holland(population=9, generations=6), problem)]
    assert sizes == [9] * 7
    aged = run(Holland(population=9, generations=6, lifetime=1.0, epidemic=1.0), problem)
    assert [len(state.population) for state in aged] == [9] * 7


def test_a_growing_population_reaches_its_limit_and_stays_below():
    problem = problem_of(entangled(n_variables=5, rows=80))
    sizes = [
        len(s.population) for s in run(Holland(population=10, generations=9, growth=0.5, largest=40), problem)
    ]
    assert sizes == [10, 15, 22, 33, 40, 40, 40, 40, 40, 40]
    swept = run(Holland(population=10, generations=40, growth=0.5, largest=40, epidemic=1.0), problem)
    sizes = [len(state.population) for state in swept]
    assert max(sizes) <= 40
    assert any(later < earlier for earlier, later in itertools.pairwise(sizes))


def test_everyone_lives_at_least_one_generation_and_the_fit_longer():
    problem = problem_of(entangled(n_variables=5, rows=80))
    first = run(Holland(population=200, lifetime=6.0), problem, steps=0)[0]
    lives = np.array(first.lives)
    assert lives.min() >= 1
    assert lives[-1] == 1
    assert 5 < lives[:40].mean() < 8
    assert lives[:40].mean() > lives[-40:].mean() + 2


def test_the_old_die_and_the_best_does_not():
    search, rng = Holland(lifetime=2.0), np.random.default_rng(0)
    scores = np.array([-1.0, -2.0, -3.0, -4.0])
    assert search._survivors(scores, np.array([0, 0, 2, 1]), rng).tolist() == [0, 2, 3]
    problem = problem_of(entangled(n_variables=5, rows=80))
    aged = Holland(
        population=20, generations=30, lifetime=2.0, accept=1.0, epsilon=0.0, growth=0.5, flips=0.0
    )
    for before, after in itertools.pairwise(run(aged, problem, 2)):
        alive = sum(left > 1 for left in before.lives[1:]) + 1
        assert len(after.lives) == len(after.population) == min(200, max(alive + 1, round(1.5 * alive)))


def test_lives_follow_their_owners_and_the_newly_born_get_theirs_by_rank():
    problem, rng = problem_of(entangled(n_variables=6, rows=80)), np.random.default_rng(0)
    search = Holland(population=30, epsilon=0.5, lifetime=1e-9)
    first = replace(search.start(problem, rng), lives=tuple(range(100, 130)))
    second = search.advance(problem, first, rng)
    kept = [(left, genes) for left, genes in zip(second.lives, second.population, strict=True) if left > 1]
    assert len(kept) == 15
    assert all(genes == first.population[left - 99] for left, genes in kept)
    long = Holland(lifetime=1000.0)
    born = long._lives_after(np.array([7, 9]), 2, np.array([2, 0, 1, 3]), rng)
    assert (born[1], born[2], born[3]) == (7, 9, 1)
    assert born[0] > 800


def test_an_epidemic_takes_the_unfit_and_comes_to_the_crowded_and_fit():
    rng = np.random.default_rng(0)
    none = np.empty(0, dtype=np.int64)
    equal = np.full(5, -3.0)
    found = [Holland(population=5, epidemic=1.0)._survivors(equal, none, rng) for _ in range(400)]
    shares = [np.mean([rank in alive for alive in found]) for rank in range(5)]
    assert (shares[0], shares[4]) == (1.0, 0.0)
    assert shares[1:4] == pytest.approx([0.75, 0.5, 0.25], abs=0.08)

    def how_often(scores, **known):
        search = Holland(population=5, epidemic=1.0, **known)
        return np.mean([len(search._survivors(scores, none, rng)) < len(scores) for _ in range(400)])

    assert how_often(equal, growth=0.1, largest=20) == pytest.approx(0.25, abs=0.08)
    assert how_often(np.array([0.0, -9.0, -9.0, -9.0, -9.0])) == pytest.approx(0.2, abs=0.07)


# ---- settings


@pytest.mark.parametrize(
    "make",
    [
        lambda: GeneticGreedy(population=6),
        lambda: GeneticGreedy(promoted=0),
        lambda: GeneticGreedy(tries=0),
        lambda: GeneticGreedy(mean_parents=-1),
        lambda: GeneticGreedy(shake=1.5),
        lambda: Genetic(mutation="none"),
        lambda: Genetic(chance=1.1),
        lambda: Genetic(population=1),
        lambda: Holland(accept=0),
        lambda: Holland(epsilon=float("nan")),
        lambda: Holland(largest=99),
        lambda: Holland(generations=0),
        lambda: Holland(lifetime=float("inf")),
        lambda: Holland(flips="1"),
        lambda: ElitistGa(population=1),
        lambda: ElitistGa(population=True),
        lambda: ElitistGa(mutation=2),
        lambda: ElitistGa(crossover=-0.1),
        lambda: Umda(patience=0),
        lambda: Umda(max_generations=0),
        lambda: Umda(correction=-1),
        lambda: Pbil(alpha=0),
        lambda: Pbil(alpha=1.5),
    ],
)
def test_wrong_settings_are_refused(make):
    with pytest.raises(SettingError):
        make()
