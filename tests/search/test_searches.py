"""The contract of every search: acyclic, obedient, repeatable, resumable; and the laws of each kind."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import (
    DataError,
    FormatError,
    GraphError,
    KnowledgeError,
    SettingError,
    UnknownNameError,
)
from bayescout.graph.orders import peel_roots
from bayescout.scores import SCORES, bind
from bayescout.search import (
    SEARCHES,
    Annealing,
    FirstAscent,
    HillClimb,
    Knowledge,
    OrderClimb,
    OrderSample,
    Problem,
    Tabu,
)
from bayescout.search.graphs.hill_climb import ClimbState
from tests.reference.graphs import arcs_of, is_acyclic
from tests.reference.moves import ADD, REMOVE, REVERSE
from tests.reference.moves import after as after_move
from tests.scores.drawn_data import table_of
from tests.search.drawn_problems import (
    entangled,
    gaussian,
    knowledge_for,
    legal_knowledge,
    mixed,
    problem_of,
)

QUICK = {
    "annealing": Annealing(sweeps=8),
    "k2-random": SEARCHES["k2-random"](orders=6),
    "order-sample": OrderSample(orders=6, parents=2),
    "order-climb": OrderClimb(restarts=1, insertion=True),
    "hill-climb": HillClimb(restarts=2, perturb=3),
    "tabu": Tabu(patience=8, restarts=1),
    "boss": SEARCHES["boss"](restarts=1),
    "memetic": SEARCHES["memetic"](population=4, patience=3),
    "genetic-greedy": SEARCHES["genetic-greedy"](population=8, promoted=2, dropped=1, shake=1),
    "genetic": SEARCHES["genetic"](population=6, patience=3),
    "holland": SEARCHES["holland"](
        population=16, generations=15, growth=0.2, largest=30, lifetime=4, epidemic=0.3
    ),
    "elitist-ga": SEARCHES["elitist-ga"](population=20, distinct=True, patience=2, max_generations=30),
    "umda": SEARCHES["umda"](population=20),
    "pbil": SEARCHES["pbil"](population=20, correction=0.5),
}


def quick(name):
    return QUICK.get(name) or SEARCHES[name]()


def needs_equivalent(name):
    """Whether the search works over equivalence classes, and so only with an equivalent score."""
    return getattr(SEARCHES[name], "needs_equivalent", False)


def answers_with_last(name):
    """Whether the graph in hand is the answer, whatever it scores."""
    return SEARCHES[name].state.answers_with_last


def concludes(name):
    """Whether the search makes an answer of its own when it is stopped early."""
    return hasattr(SEARCHES[name], "conclude")


def order_if_needed(name, table):
    return Knowledge(order=table.names) if name == "k2" else None


def keeps(dag, knowledge):
    """Whether a graph keeps the knowledge, from the definition of each part."""
    arcs = set(dag.arcs())
    rank = {label: i for i, label in enumerate(knowledge.order or ())}
    tier = {label: i for i, group in enumerate(knowledge.tiers) for label in group}
    forward = all(rank[a] < rank[b] for a, b in arcs) if rank else True
    tiers = all(tier[a] <= tier[b] for a, b in arcs if a in tier and b in tier)
    limit = knowledge.max_parents
    small = limit is None or all(len(own) <= limit for own in dag.parents)
    return (
        set(knowledge.required) <= arcs
        and not arcs & set(knowledge.forbidden)
        and forward
        and tiers
        and small
    )


@pytest.mark.parametrize("name", SEARCHES)
@settings(max_examples=15)
@given(data=st.data())
def test_graphs_are_acyclic_and_keep_the_knowledge(name, data):
    table = entangled(seed=data.draw(st.integers(0, 5)), rows=data.draw(st.sampled_from([20, 300])))
    knowledge = data.draw(knowledge_for(table.names, ordered=name == "k2"))
    start = data.draw(st.sampled_from(["empty", "random"]))
    score = data.draw(st.sampled_from(["bic", "bdeu" if needs_equivalent(name) else "k2", "aic"]))
    result = bs.learn(table, quick(name), score, knowledge, start=start, seed=1, top=5)
    for dag in [result.dag, *(entry.dag for entry in result.top)]:
        assert len(dag.order()) == len(table.names)
        assert keeps(dag, knowledge)
    kept = result.cpdag
    for parent, child in result.dag.arcs():
        assert kept.compelled(parent, child) or kept.reversible(parent, child)
        if (parent, child) in knowledge.required or (child, parent) in knowledge.forbidden:
            assert kept.compelled(parent, child)


@pytest.mark.parametrize("name", SEARCHES)
@settings(max_examples=8)
@given(data=st.data())
def test_graphs_of_mixed_tables_are_legal_and_keep_the_knowledge(name, data):
    """Under a conditional Gaussian score a discrete variable has discrete parents only; not under dg."""
    rows = data.draw(st.sampled_from([30, 250]))
    table = mixed(seed=data.draw(st.integers(0, 5)), rows=rows, states=data.draw(st.integers(2, 3)))
    score = data.draw(st.sampled_from(["bic", "cg-aic", "cg-bde", "dg-bic"]))
    knowledge = legal_knowledge(table, score, data.draw(knowledge_for(table.names, ordered=name == "k2")))
    start = data.draw(st.sampled_from(["empty", "random"]))
    result = bs.learn(table, quick(name), score, knowledge, start=start, seed=1, top=5)
    kinds = dict(zip(table.names, table.kinds, strict=True))
    for dag in [result.dag, *(entry.dag for entry in result.top)]:
        assert len(dag.order()) == len(table.names)
        assert keeps(dag, knowledge)
        illegal = [(a, b) for a, b in dag.arcs() if (kinds[a], kinds[b]) == ("continuous", "discrete")]
        assert score == "dg-bic" or not illegal
    for parent, child in result.dag.arcs():
        assert result.cpdag.compelled(parent, child) or result.cpdag.reversible(parent, child)
        if score != "dg-bic" and kinds[parent] != kinds[child]:
            assert result.cpdag.compelled(parent, child)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("score", [None, "dg-bic"])
def test_columns_rows_and_states_of_mixed_tables_do_not_matter(name, score):
    table = mixed(3, 4, 300, seed=5, states=3)
    rng = np.random.default_rng(0)
    order = Knowledge(order=tuple(sorted(table.names))) if name == "k2" else None
    expected = bs.learn(table, quick(name), score, order, seed=3)
    moved = table.take(rng.permutation(table.n_rows)).select(
        [table.names[i] for i in rng.permutation(table.n_columns)]
    )
    turned = [rng.permutation(3)[codes] for codes in moved.codes]
    moved = bs.Table(moved.names, moved.states, np.array(turned, dtype=np.uint8), moved.values)
    found = bs.learn(moved, quick(name), score, order, seed=3, workers=3)
    assert found.score == pytest.approx(expected.score, abs=1e-6)
    assert set(found.dag.arcs()) == set(expected.dag.arcs())


@pytest.mark.parametrize("name", SEARCHES)
def test_a_resumed_run_on_a_mixed_table_is_the_run_that_was_never_stopped(name, tmp_path):
    table = mixed(2, 3, 150, seed=4)
    options = {"knowledge": order_if_needed(name, table), "seed": 5, "top": 3}
    whole = bs.learn(table, quick(name), **options)
    path = tmp_path / "run.json"
    bs.learn(table, quick(name), **options, max_steps=max(1, len(whole.trace) // 2), checkpoint=path)
    assert untimed(bs.learn(table, quick(name), **options, checkpoint=path)) == untimed(whole)


def test_knowledge_that_a_conditional_gaussian_network_cannot_keep_is_refused_with_the_ways_out():
    table = mixed(seed=1)
    kinds = dict(zip(table.names, table.kinds, strict=True))
    backwards = Knowledge(required=[("x0", "d0")])
    assert (kinds["x0"], kinds["d0"]) == ("continuous", "discrete")
    said = r"requires 'x0' -> 'd0'.*require 'd0' -> 'x0'.*discretise\(data, bins=3\).*score='dg-bic'"
    for call in (
        lambda: bs.learn(table, knowledge=backwards, search="hill-climb", score="bic"),
        lambda: bs.candidate_sets(table, knowledge=backwards),
        lambda: bs.Session(table, search="hill-climb", score="bic").change_knowledge(backwards),
    ):
        with pytest.raises(KnowledgeError, match=said):
            call()
    assert ("x0", "d0") in bs.learn(
        table, score="dg-bic", knowledge=backwards, search="hill-climb"
    ).dag.arcs()
    start = bs.Dag.from_arcs([("x0", "d0")], nodes=table.names)
    with pytest.raises(GraphError, match="x0 -> d0"):
        bs.learn(table, start=start, search="hill-climb", score="bic")


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(
    "table", [entangled(seed=3), gaussian(seed=3), mixed(seed=3)], ids=["discrete", "gaussian", "mixed"]
)
def test_score_trace_and_top_agree_with_fresh_scores(name, table):
    result = bs.learn(table, quick(name), knowledge=order_if_needed(name, table), seed=2, top=4, score="bic")
    assert result.score == pytest.approx(bs.score(result.dag, table, "bic"), abs=1e-6)
    assert result.trace[-1].best == pytest.approx(result.score, abs=1e-6)
    bests = [step.best for step in result.trace]
    assert bests == ([step.score for step in result.trace] if answers_with_last(name) else sorted(bests))
    assert [step.step for step in result.trace] == list(range(len(result.trace)))
    assert result.top[0].dag == result.dag
    assert len({entry.dag for entry in result.top}) == len(result.top)
    for entry in result.top:
        assert entry.score == pytest.approx(bs.score(entry.dag, table, "bic"), abs=1e-6)
    scores = [entry.score for entry in result.top]
    assert scores == sorted(scores, reverse=True)
    assert result.stop_reason == "converged"
    counted = [(s.operations, s.evaluations) for s in result.trace]
    assert counted == sorted(counted)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_top_networks_are_found_and_not_given(name):
    """The empty graph that a run begins with is among them only where it is the best."""
    table = bs.load_network("asia").sample(400, seed=1)
    known = Knowledge(order=table.names) if name == "k2" else Knowledge()
    options = {"search": quick(name), "score": "bdeu", "knowledge": known, "seed": 1}
    many = bs.learn(table, **options, top=500, max_steps=20)
    assert bs.Dag(table.names, ((),) * 8) not in [entry.dag for entry in many.top]
    few = bs.learn(table, **options, top=3, max_steps=20)
    assert few.top == many.top[:3]


def test_a_start_that_is_the_best_stays_on_top():
    table = bs.load_network("asia").sample(400, seed=1)
    best = bs.learn(table, "optimal", "bdeu").dag
    again = bs.learn(table, "tabu", "bdeu", start=best, top=4)
    assert again.top[0].dag == best
    assert len(again.top) == 4
    alone = entangled(seed=1).take(np.arange(4))
    assert bs.learn(alone, "hill-climb", bs.scores.Penalised(50.0), top=4).top[0].dag.n_arcs == 0


@pytest.mark.parametrize("name", SEARCHES)
def test_columns_rows_names_and_workers_do_not_matter(name):
    net = bs.random_network(7, arcs=10, states=3, concentration=0.4, seed=5)
    table = net.sample(400, seed=1)
    knowledge = Knowledge(order=net.dag.order()) if name == "k2" else None
    expected = bs.learn(table, quick(name), "bdeu", knowledge, seed=3)
    rng = np.random.default_rng(0)
    columns = rng.permutation(table.n_columns)
    shuffled = table.take(rng.permutation(table.n_rows)).select([table.names[i] for i in columns])
    found = bs.learn(shuffled, quick(name), "bdeu", knowledge, seed=3, workers=3)
    assert set(found.dag.arcs()) == set(expected.dag.arcs())
    assert found.score == expected.score
    assert found.counters.evaluations == expected.counters.evaluations
    assert found.dag.nodes == shuffled.names
    renamed = bs.Table(tuple(f"new {n}" for n in table.names), table.states, table.codes, table.values)
    if knowledge is not None:
        knowledge = Knowledge(order=tuple(f"new {n}" for n in net.dag.order()))
    again = bs.learn(renamed, quick(name), "bdeu", knowledge, seed=3)
    assert {(a[4:], b[4:]) for a, b in again.dag.arcs()} == set(expected.dag.arcs())


@pytest.mark.slow
def test_the_hash_seed_does_not_matter():
    code = (
        "import bayescout as bs; t = bs.load_network('asia').sample(500, seed=1);"
        "print([(n, list(bs.learn(t, n, knowledge=bs.Knowledge(order=t.names) if n == 'k2' else None, "
        "max_steps=20).dag.arcs())) for n in bs.search.SEARCHES])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def untimed(result):
    return (
        result.dag,
        result.score,
        [(s.step, s.score, s.best, s.arcs, s.operations, s.evaluations, s.facts) for s in result.trace],
        [(e.score, e.dag) for e in result.top],
        result.stop_reason,
        result.counters.evaluations,
    )


@pytest.mark.parametrize("name", SEARCHES)
def test_a_resumed_run_is_the_run_that_was_never_stopped(name, tmp_path):
    table = entangled(n_variables=5, seed=4)
    options = {"knowledge": order_if_needed(name, table), "seed": 5, "top": 3}
    whole = bs.learn(table, quick(name), **options)
    for stop in {1, 2, len(whole.trace) // 2, len(whole.trace) - 2} - {0, -1}:
        path = tmp_path / f"{stop}.json"
        first = bs.learn(table, quick(name), **options, max_steps=stop, checkpoint=path)
        assert len(first.trace) == min(stop + 1, len(whole.trace))
        resumed = bs.learn(table, quick(name), **options, checkpoint=path)
        assert untimed(resumed) == untimed(whole)
    finished = bs.learn(table, quick(name), **options, checkpoint=path)
    assert untimed(finished) == untimed(whole)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    table, path = entangled(), tmp_path / "run.json"
    bs.learn(table, checkpoint=path, max_steps=2, search="hill-climb", score="bic")
    for change in ({"seed": 9}, {"score": "k2"}, {"search": "tabu"}, {"start": "random"}):
        with pytest.raises(SettingError, match="another run"):
            bs.learn(table, checkpoint=path, **{"search": "hill-climb", "score": "bic"} | change)
    with pytest.raises(SettingError, match="data"):
        bs.learn(entangled(seed=8), checkpoint=path, search="hill-climb", score="bic")
    path.write_text("{}")
    with pytest.raises(FormatError, match="not a checkpoint"):
        bs.learn(table, checkpoint=path, search="hill-climb", score="bic")


def test_a_killed_run_leaves_a_whole_checkpoint(tmp_path):
    path = tmp_path / "run.json"
    code = (
        "import bayescout as bs, os, signal; t = bs.load_network('alarm').sample(300, seed=1);"
        "stop = lambda s: s.step == 7 and os.kill(os.getpid(), signal.SIGKILL);"
        f"bs.learn(t, 'hill-climb', 'bic', callback=stop, checkpoint={str(path)!r})"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, timeout=120)
    assert killed.returncode == -9
    assert path.read_bytes().endswith(b"\n")
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]
    table = bs.load_network("alarm").sample(300, seed=1)
    assert untimed(bs.learn(table, checkpoint=path, search="hill-climb", score="bic")) == untimed(
        bs.learn(table, search="hill-climb", score="bic")
    )


@pytest.mark.parametrize("name", SEARCHES)
def test_budgets_callbacks_and_interruption_return_the_best_so_far(name):
    table = entangled(n_variables=6, seed=6)
    knowledge = order_if_needed(name, table)
    few = bs.learn(table, quick(name), knowledge=knowledge, max_steps=1, score="bic")
    assert (few.stop_reason, few.counters.iterations) == ("max_steps", 1)
    none = bs.learn(table, quick(name), knowledge=knowledge, max_time=1e-9, score="bic")
    assert none.stop_reason == "max_time"
    if not concludes(name):
        assert none.score == none.trace[0].best
    seen = []
    stopped = bs.learn(
        table,
        quick(name),
        knowledge=knowledge,
        callback=lambda s: seen.append(s) or len(seen) == 2,
        score="bic",
    )
    assert (stopped.stop_reason, len(stopped.trace)) == ("callback", 2)
    assert tuple(seen) == stopped.trace

    def press(step):
        if step.step == 1:
            raise KeyboardInterrupt

    interrupted = bs.learn(table, quick(name), knowledge=knowledge, callback=press, score="bic")
    assert interrupted.stop_reason == "interrupted"
    if not concludes(name):
        assert interrupted.score == interrupted.trace[-1].best
    for stopped_early in (few, none, stopped, interrupted):
        assert stopped_early.score == pytest.approx(bs.score(stopped_early.dag, table, "bic"), abs=1e-6)


@pytest.mark.parametrize("name", SEARCHES)
def test_settings_round_trip_and_arguments_are_left_alone(name):
    from dataclasses import asdict

    search = quick(name)
    assert type(search)(**json.loads(json.dumps(asdict(search)))) == search
    table = entangled()
    before = table.fingerprint
    bs.learn(table, search, knowledge=order_if_needed(name, table), max_steps=3, score="bic")
    assert bs.Table(table.names, table.states, table.codes.copy(), table.values).fingerprint == before


@pytest.mark.parametrize("score", ["k2", "bdeu", "fnml", "qnml", "mi-bic", "bic-laplace", "ebic"])
@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_works_with_every_kind_of_score(name, score):
    table = entangled(n_variables=4, rows=120)
    if needs_equivalent(name) and not SCORES[score].equivalent:
        with pytest.raises(SettingError, match="equivalent"):
            bs.learn(table, quick(name), score)
        return
    result = bs.learn(table, quick(name), score, order_if_needed(name, table), max_steps=15)
    assert result.score >= bs.score(bs.Dag.empty(table.names), table, score) - 1e-6
    assert result.dag.n_arcs > 0


# ---- laws of the climbers


def neighbours(parents):
    """Every graph one arc away, by trying all of them; from the definition."""
    n = len(parents)
    for child, parent in itertools.permutations(range(n), 2):
        if parent in parents[child]:
            removed = [
                tuple(p for p in own if p != parent) if c == child else own for c, own in enumerate(parents)
            ]
            yield removed
            yield [(*own, child) if c == parent else own for c, own in enumerate(removed)]
        elif child not in parents[parent]:
            yield [(*own, parent) if c == child else own for c, own in enumerate(parents)]


@pytest.mark.parametrize("search", [HillClimb(), FirstAscent(), Tabu(), HillClimb(restarts=3)], ids=repr)
@settings(max_examples=8)
@given(
    seed=st.integers(0, 50),
    rows=st.sampled_from([15, 100, 400]),
    score=st.sampled_from(["bic", "bdeu", "k2"]),
)
def test_no_legal_neighbour_of_an_optimum_is_better(search, seed, rows, score):
    table = entangled(n_variables=5, rows=rows, seed=seed, states=2 + seed % 2)
    result = bs.learn(table, search, score, seed=seed)
    bound = bind(score, table)
    best = sum(bound.local(c, own) for c, own in enumerate(result.dag.parents))
    for parents in neighbours(result.dag.parents):
        try:
            bs.Dag(table.names, tuple(parents))
        except bs.BayescoutError:
            continue
        assert sum(bound.local(c, tuple(own)) for c, own in enumerate(parents)) <= best + 1e-6


@settings(max_examples=10)
@given(seed=st.integers(0, 100))
def test_steepest_ascent_takes_the_best_neighbour_each_time(seed):
    table = entangled(n_variables=4, rows=60, seed=seed)
    bound = bind("bdeu", table)
    problem = Problem(bound, Knowledge().compile(table.names))
    rng = np.random.default_rng(0)
    state = HillClimb().start(problem, rng)
    while not state.done:
        here, best = state.score, -np.inf
        for other in neighbours(state.parents):
            if len(peel_roots(other)) == 4:
                best = max(best, sum(bound.local(c, tuple(own)) for c, own in enumerate(other)))
        state = HillClimb().advance(problem, state, rng)
        assert state.score == pytest.approx(max(best, here), abs=1e-6)


def test_gains_add_up_and_never_fall_in_first_ascent():
    table = entangled(n_variables=6, seed=9)
    result = bs.learn(table, FirstAscent(), seed=4, score="bic")
    scores = [step.score for step in result.trace[:-1]]
    assert all(later > earlier for earlier, later in itertools.pairwise(scores))
    n = 6
    per_iteration = np.diff([step.operations for step in result.trace])
    assert per_iteration[-1] == 3 * n * (n - 1)
    assert (per_iteration >= 1).all()
    assert (per_iteration <= 3 * n * (n - 1)).all()


def test_first_ascent_takes_each_improving_operator_equally_often():
    """Two variables: a -> b and b -> a are equally good and must be equally likely."""
    table = entangled(n_variables=2, seed=1)
    first = [
        next(iter(bs.learn(table, FirstAscent(), seed=seed, score="bic").dag.arcs())) for seed in range(200)
    ]
    assert 70 < sum(arc == ("v0", "v1") for arc in first) < 130


@pytest.mark.parametrize(
    ("n", "seed", "length", "returns"),
    [(4, 0, 1, False), (4, 1, 4, False), (5, 27, 3, True), (5, 50, 6, True), (6, 26, 6, True)],
)
def test_tabu_takes_the_best_move_that_leaves_what_it_touched_alone(n, seed, length, returns):
    """Every step against all graphs one arc away: without the list the walk would go back at once.

    Where it `returns` to a pair on the list, that gives a new best graph.
    """
    table = entangled(n_variables=n, rows=60, seed=seed)
    problem, rng = problem_of(table), np.random.default_rng(0)
    search = Tabu(length=length, patience=8)
    state = search.start(problem, rng)
    touched, best, passed_over, returned = [], state.score, 0, 0
    while True:
        after = search.advance(problem, state, rng)
        if after.done:
            break
        away = {
            arcs: (pair, problem.total(parents_of(n, arcs))) for pair, arcs in one_arc_away(state.parents)
        }
        scores = [score for _, score in away.values()]
        if max(scores) <= best + 1e-6:
            free = [score for pair, score in away.values() if pair not in touched[-length:]]
            passed_over += max(scores) > max(free) + 1e-6
            scores = free
        pair, score = away[arcs_of(after.parents)]
        assert after.score == pytest.approx(score, abs=1e-6)
        assert after.score == pytest.approx(max(scores), abs=1e-6)
        assert pair not in touched[-length:] or after.score > best + 1e-6
        returned += pair in touched[-length:]
        touched.append(pair)
        best = max(best, after.score)
        state = after
    assert passed_over  # the data tempt the walk to go back
    assert bool(returned) == returns
    assert after.score == best


def one_arc_away(parents):
    """(the pair that differs, the arcs) of every acyclic graph with one arc more, less or turned."""
    n, arcs = len(parents), arcs_of(parents)
    for one, other in itertools.permutations(range(n), 2):
        for kind in (ADD, REMOVE, REVERSE):
            if ((one, other) in arcs) == (kind != ADD):
                changed = after_move(arcs, kind, other, one)
                if is_acyclic(n, changed):
                    yield frozenset((one, other)), changed


def parents_of(n, arcs):
    return tuple(tuple(sorted(p for p, c in arcs if c == child)) for child in range(n))


def test_tabu_goes_on_past_an_optimum():
    table = entangled(n_variables=6, seed=2)
    result = bs.learn(table, Tabu(length=5, patience=12), score="bic")
    assert result.trace[-1].step > bs.learn(table, HillClimb(), score="bic").counters.iterations
    assert result.score >= bs.learn(table, HillClimb(), score="bic").score - 1e-6


def test_restarts_never_lose_what_was_found():
    table = bs.load_network("asia").sample(300, seed=2)
    plain = bs.learn(table, HillClimb(), score="bic")
    for search in (HillClimb(restarts=5), HillClimb(restarts=5, perturb=0), Tabu(restarts=2)):
        assert bs.learn(table, search, score="bic").score >= plain.score - 1e-9


# ---- laws of the orders


def best_of_order(table, order, size):
    """The best score of an order by trying every parent set of every node."""
    score = bind("bic", table)
    total = 0.0
    for place, child in enumerate(order):
        total += max(
            score.local(child, tuple(sorted(own)))
            for k in range(size + 1)
            for own in itertools.combinations(order[:place], k)
        )
    return total


def test_exhaustive_parents_are_the_best_of_their_order():
    table = entangled(n_variables=5, rows=80, seed=3)
    for order in itertools.islice(itertools.permutations(range(5)), 0, 120, 17):
        knowledge = Knowledge(order=tuple(table.names[i] for i in order))
        found = bs.learn(table, OrderSample(orders=1, parents=4), knowledge=knowledge, score="bic")
        assert found.score == pytest.approx(best_of_order(table, order, 4), abs=1e-6)
        limited = bs.learn(table, OrderSample(orders=1, parents=1), knowledge=knowledge, score="bic")
        assert limited.score == pytest.approx(best_of_order(table, order, 1), abs=1e-6)


@pytest.mark.parametrize("insertion", [False, True])
def test_order_climbing_ends_where_no_swap_helps(insertion):
    for seed in range(4):
        table = entangled(n_variables=5, rows=60, seed=seed)
        result = bs.learn(table, OrderClimb(parents=4, insertion=insertion), seed=seed, score="bic")
        orders = [
            order for order in itertools.permutations(range(5))
            if all(order.index(p) < order.index(c) for c, own in enumerate(result.dag.parents) for p in own)
            and best_of_order(table, order, 4) == pytest.approx(result.score, abs=1e-6)
        ]  # fmt: skip
        assert any(
            max(best_of_order(table, swapped(order, i), 4) for i in range(4)) <= result.score + 1e-6
            for order in orders
        )


def swapped(order, i):
    order = list(order)
    order[i], order[i + 1] = order[i + 1], order[i]
    return tuple(order)


def test_insertion_is_at_least_as_good_as_swaps_from_the_same_order():
    table = bs.random_network(8, arcs=14, states=3, seed=2).sample(300, seed=1)
    swaps = bs.learn(table, OrderClimb(parents=3), seed=1, score="bic")
    wider = bs.learn(table, OrderClimb(parents=3, insertion=True), seed=1, score="bic")
    assert wider.score >= swaps.score - 1e-6


def test_random_orders_are_uniform():
    table = entangled(n_variables=3, rows=30)
    result = bs.learn(table, OrderSample(orders=600), seed=1, top=1, callback=None, score="bic")
    assert result.counters.iterations == 600
    from collections import Counter

    from bayescout.search.frame.problem import random_order

    rules = Knowledge().compile("abc")
    rng = np.random.default_rng(0)
    seen = Counter(random_order(rules, rng) for _ in range(1200))
    assert len(seen) == 6
    assert min(seen.values()) > 150


def test_k2_is_greedy_in_the_given_order():
    truth = bs.load_network("asia")
    table = truth.sample(2000, seed=1)
    result = bs.learn(table, "k2", "k2", Knowledge(order=truth.dag.order()))
    score = bind("k2", table)
    for place, label in enumerate(truth.dag.order()):
        child, before = table.index(label), [table.index(x) for x in truth.dag.order()[:place]]
        parents, best = (), score.local(child, ())
        while True:
            better = [
                (score.local(child, tuple(sorted((*parents, p)))), -p) for p in before if p not in parents
            ]
            if not better or max(better)[0] <= best + 1e-6:
                break
            best, negative = max(better)
            parents = (*parents, -negative)
        assert {table.index(p) for p in result.dag.parents_of(label)} == set(parents)
    with pytest.raises(KnowledgeError, match="k2 needs an order"):
        bs.learn(table, "k2", score="bic")


# ---- the front door


def test_wrong_arguments_are_refused_before_the_work():
    table = entangled()
    for change, error in (
        ({"search": "hill"}, UnknownNameError),
        ({"search": HillClimb}, SettingError),
        ({"search": 3}, SettingError),
        ({"score": "bicc"}, UnknownNameError),
        ({"seed": -1}, SettingError),
        ({"max_time": 0}, SettingError),
        ({"max_time": "10"}, SettingError),
        ({"knowledge": 2}, SettingError),
        ({"callback": 3}, SettingError),
        ({"max_steps": -1}, SettingError),
        ({"top": 0}, SettingError),
        ({"workers": 0}, SettingError),
        ({"start": "full"}, SettingError),
        ({"start": bs.Dag.empty(["a"])}, GraphError),
        ({"knowledge": Knowledge(required=[("v0", "nobody")])}, UnknownNameError),
    ):
        with pytest.raises(error):
            bs.learn(table, **change)
    with pytest.raises(DataError, match="1 row"):
        bs.learn(table.take(np.array([0])), search="hill-climb", score="bic")
    for make in (
        lambda: HillClimb(restarts=-1),
        lambda: Tabu(length=0),
        lambda: Annealing(hot=1, cold=2),
        lambda: OrderSample(parents="all"),
        lambda: OrderClimb(parents=0),
    ):
        with pytest.raises(SettingError):
            make()


def test_a_start_graph_is_where_the_search_begins_and_must_keep_the_knowledge():
    table = entangled(n_variables=4, seed=1)
    start = bs.Dag.from_arcs([("v0", "v1"), ("v2", "v3")], nodes=table.names)
    result = bs.learn(table, start=start, search="hill-climb", score="bic")
    assert result.trace[0].arcs == 2
    assert result.trace[0].score == pytest.approx(bs.score(start, table))
    with pytest.raises(GraphError, match="forbidden arc v0 -> v1"):
        bs.learn(
            table,
            start=start,
            knowledge=Knowledge(forbidden=[("v0", "v1")]),
            search="hill-climb",
            score="bic",
        )


def test_identical_and_constant_columns_are_no_trouble():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 100)
    table = table_of([a, a, np.zeros(100, int), rng.integers(0, 2, 100)], [2, 2, 1, 2])
    result = bs.learn(table, search="hill-climb", score="bic")
    assert len(list(result.dag.arcs())) == 1
    shuffled = bs.learn(table.select(("v3", "v2", "v1", "v0")), search="hill-climb", score="bic")
    assert set(shuffled.dag.arcs()) == set(result.dag.arcs())


def test_one_variable_and_many_parents_at_once():
    one = table_of([[0, 1, 1, 0]], [2])
    for name in SEARCHES:
        assert bs.learn(one, quick(name), knowledge=order_if_needed(name, one), score="bic").dag.n_arcs == 0


def test_a_users_own_search_and_score_are_used():
    class Own:
        def local(self, child, parents):
            return 1.0 if parents == (0,) and child == 2 else 0.0

    class Nothing(HillClimb):
        pass

    table = entangled(n_variables=3)
    assert list(bs.learn(table, score=Own(), search="hill-climb").dag.arcs()) == [("v0", "v2")]
    assert bs.learn(table, Nothing(), score="bic").settings.search == "Nothing"


def test_ctrl_c_finishes_the_step_in_hand_and_gives_the_handler_back():
    import signal

    table = entangled(n_variables=6, seed=6)
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = bs.learn(
            table,
            callback=lambda step: step.step == 2 and os.kill(os.getpid(), signal.SIGINT),
            search="hill-climb",
            score="bic",
        )
        assert (result.stop_reason, len(result.trace)) == ("interrupted", 3)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ignored = bs.learn(
            table,
            callback=lambda step: step.step == 2 and os.kill(os.getpid(), signal.SIGINT),
            search="hill-climb",
            score="bic",
        )
        assert ignored.stop_reason == "converged"
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("search", [HillClimb(), FirstAscent(), Tabu(patience=3)], ids=repr)
def test_a_start_that_cannot_be_scored_is_mended(search):
    """With 6 rows a Gaussian family of five parents and more has nothing left to estimate."""
    table = gaussian(9, 6, seed=1)
    names = table.names
    full = bs.Dag(names, tuple(tuple(range(i)) for i in range(9)))
    assert bs.score(full, table) == -np.inf
    result = bs.learn(table, search, start=full, score="bic")
    assert np.isfinite(result.score)
    assert result.score == pytest.approx(bs.score(result.dag, table), abs=1e-6)


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
def test_rows_written_out_give_the_graph_of_weights(kind):
    """Ties are many with so few rows: the order of the columns must not depend on how rows are counted."""
    for seed in range(15):
        table = entangled(6, 25, seed=seed) if kind == "discrete" else gaussian(6, 25, seed)
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, 4, 25)
        long = table.take(np.repeat(np.arange(25), weights))
        heavy = bs.Table(table.names, table.states, table.codes, table.values, weights.astype(float))
        one, other = (bs.learn(each, "tabu", score="bic") for each in (long, heavy))
        assert one.dag == other.dag
        assert one.score == pytest.approx(other.score)


def test_numbers_behind_an_arc_of_a_mixed_table_are_those_of_its_rows():
    table = mixed(2, 2, 200, seed=1)
    frame = table.to_pandas()
    result = bs.learn(table, search="hill-climb", score="bic", max_steps=0)
    kinds = dict(zip(table.names, table.kinds, strict=True))
    state, other = (name for name in table.names if kinds[name] == "discrete")
    number, second = (name for name in table.names if kinds[name] == "continuous")
    groups = frame.groupby(state, observed=False)[number]
    for pair in ((state, number), (number, state)):
        said = result.explain(*pair)
        assert {key: count for key, (count, *_) in said.groups.items()} == groups.size().to_dict()
        assert [mean for _, mean, _ in said.groups.values()] == pytest.approx(groups.mean().to_list())
        assert [sd for *_, sd in said.groups.values()] == pytest.approx(groups.std(ddof=0).to_list())
        assert list(said.to_pandas().columns) == ["state", "rows", "mean", "deviation"]
        assert "inf" not in repr(said)
    numbers = result.explain(number, second)
    assert numbers.correlation == pytest.approx(frame[number].corr(frame[second]))
    assert "correlation" in repr(numbers)
    assert (result.explain(state, other).groups, result.explain(state, other).correlation) == ({}, None)


def test_a_result_of_a_mixed_table_explains_itself_and_keeps_its_class_in_a_file(tmp_path):
    table = mixed(2, 2, 200, seed=1)
    result = bs.learn(table, search="hill-climb", score="bic")
    kinds = dict(zip(table.names, table.kinds, strict=True))
    crossing = [arc for arc in result.dag.arcs() if len({kinds[v] for v in arc}) == 2]
    assert crossing
    for parent, child in crossing:
        said = result.explain(child, parent)
        assert said.barred
        assert said.forbidden
        by_data = result.dag.cpdag().compelled(parent, child)
        assert said.decided == ("independences" if by_data else "model")
        assert "a discrete node has no continuous parents" in str(said)
    result.save(tmp_path / "result.json")
    loaded = bs.Result.load(tmp_path / "result.json")
    assert loaded.cpdag == result.cpdag
    assert all(loaded.cpdag.compelled(*arc) for arc in crossing)
    assert bs.gap(result).score == result.score
    parts = bs.score_parts(result.dag, table, "cg-bic")
    assert parts.score == pytest.approx(result.score)
    strengths = bs.bootstrap(table, runs=4, search="hill-climb", workers=1, score="bic")
    discrete = np.array([kinds[node] == "discrete" for node in strengths.nodes])
    assert not strengths.votes[np.ix_(~discrete, discrete)].any()
    assert strengths.votes[np.ix_(discrete, ~discrete)].any()


@given(st.floats(allow_nan=False), st.integers(0, 9), st.booleans())
def test_a_state_with_other_values_is_the_one_that_replace_makes(score, left, done):
    state = ClimbState(((), (0,)), -1.5, best_parents=((1,), ()), best_score=-1.0, restarts_left=3)
    after = state.with_values(score=score, restarts_left=left, done=done)
    assert after == replace(state, score=score, restarts_left=left, done=done)
    assert (hash(after), repr(after)) == (hash(replace(after)), repr(replace(after)))
    assert state == ClimbState(((), (0,)), -1.5, best_parents=((1,), ()), best_score=-1.0, restarts_left=3)
