"""Tables, knowledge and scores that searches are tested on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from bayescout.scores import bind
from bayescout.search import Knowledge, Problem
from tests.scores.drawn_data import continuous_table, mixed_table, table_of


def entangled(n_variables=6, rows=300, seed=0, states=2, noise=0.15):
    """Noisy copies of one variable: every arc helps a little, which tempts a search into a cycle."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, states, rows)
    codes = [
        np.where(rng.random(rows) < noise, rng.integers(0, states, rows), hidden) for _ in range(n_variables)
    ]
    return table_of(codes, [states] * n_variables)


def gaussian(n_variables=5, rows=200, seed=0):
    """A random linear chain with shortcuts."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n_variables, rows))
    for child in range(1, n_variables):
        for parent in range(child):
            if rng.random() < 0.5:
                columns[child] += rng.uniform(0.5, 1.0) * columns[parent]
    return continuous_table(columns)


def mixed(discrete=3, continuous=3, rows=250, seed=0, states=2):
    """Noisy copies of one discrete variable, and a linear chain whose means and slopes depend on them.

    The kinds alternate, and every arc between them looks good in both directions.
    """
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, states, rows)
    codes = np.array(
        [np.where(rng.random(rows) < 0.25, rng.integers(0, states, rows), hidden) for _ in range(discrete)]
    )
    columns = rng.normal(size=(continuous, rows))
    for i in range(continuous):
        own = codes[i % discrete]
        columns[i] += 1.5 * own
        if i:
            columns[i] += (0.5 + own) * columns[i - 1]
    table = mixed_table(codes, [states] * discrete, columns)
    return table.select([table.names[i] for i in rng.permutation(table.n_columns)])


@st.composite
def knowledge_for(draw, names, ordered=False):
    """Consistent knowledge: everything agrees with one order of the variables, which may or must be known."""
    order = draw(st.permutations(names))
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    required = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3))
    backwards = [(b, a) for a, b in pairs]
    free = [arc for arc in (*pairs, *backwards) if arc not in required]
    forbidden = draw(st.lists(st.sampled_from(free), unique=True, max_size=8))
    tiers = draw(st.sampled_from([(), (order[:2], order[2:]), (order[:1], order[1:3], order[3:])]))
    most = max([0, *(sum(child == b for _, b in required) for child in names)])
    limit = draw(st.one_of(st.none(), st.integers(max(1, most), len(names))))
    ordered = ordered or draw(st.booleans())
    return Knowledge(
        required=tuple(required),
        forbidden=tuple(forbidden),
        tiers=tuple(tuple(t) for t in tiers),
        order=tuple(order) if ordered else None,
        max_parents=limit,
    )


def problem_of(table, score="bic", knowledge=None, start="empty", workers=None):
    scorer = bind(score, table, workers)
    rules = (knowledge or Knowledge()).compile(table.names).within(scorer.legal, table.names)
    return Problem(scorer, rules, start)


@st.composite
def problems(draw, rows=(6, 40, 300), continuous=("bic", "bge"), both=("bic", "cg-bde", "dg-bic")):
    """A table, discrete, continuous or mixed, short or long, with knowledge, and a score for it."""
    n, seed, length = draw(st.integers(1, 6)), draw(st.integers(0, 1000)), draw(st.sampled_from(rows))
    kind = draw(st.sampled_from(["discrete", "continuous", "mixed"]))
    if kind == "discrete":
        table = entangled(n, length, seed, states=draw(st.integers(2, 3)))
        scores = ("bic", "aic", "k2", "bdeu")
    elif kind == "continuous" or n == 1:
        table, scores = gaussian(n, length, seed), continuous
    else:
        discrete = draw(st.integers(1, n - 1))
        table, scores = mixed(discrete, n - discrete, length, seed, draw(st.integers(2, 3))), both
    score = draw(st.sampled_from(scores))
    knowledge = draw(knowledge_for(table.names)) if n >= 4 and draw(st.booleans()) else Knowledge()
    return problem_of(table, score, legal_knowledge(table, score, knowledge))


def legal_knowledge(table, score, knowledge):
    """The knowledge without required arcs that the score's model cannot have."""
    if score.startswith("dg") or all(states is None for states in table.states):
        return knowledge
    kinds = dict(zip(table.names, table.kinds, strict=True))
    fine = [(a, b) for a, b in knowledge.required if (kinds[a], kinds[b]) != ("continuous", "discrete")]
    return replace(knowledge, required=tuple(fine))


def degenerate_tables():
    """One column, constant columns, columns that are the same, and more columns than rows."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=30)
    return [
        table_of([[0, 1, 0, 1]], [2]),
        table_of([[0] * 10, [1] * 10, [0, 1] * 5], [1, 2, 2]),
        table_of([[0, 1] * 20] * 4, [2] * 4),
        continuous_table([base]),
        continuous_table([base, base, -base, rng.normal(size=30)]),
        continuous_table(rng.normal(size=(6, 4))),
    ]


class OneParent:
    """A score of a user's own: a parent is worth 1, and a family with more cannot be scored."""

    def local(self, child, parents):
        return -np.inf if len(parents) > 1 else float(len(parents))


def scratch_of(problem, state):
    """What is kept beside a state, which stays there."""
    work = problem.scratch(state, lambda: None)
    problem.keep(state, work)
    return work
