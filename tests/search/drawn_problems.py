"""Tables and knowledge that searches are tested on."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bayescout.search import Knowledge
from tests.scores.drawn_data import continuous_table, table_of


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


@st.composite
def knowledge_for(draw, names):
    """Consistent knowledge: everything agrees with one order of the variables."""
    order = draw(st.permutations(names))
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    required = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3))
    backwards = [(b, a) for a, b in pairs]
    free = [arc for arc in (*pairs, *backwards) if arc not in required]
    forbidden = draw(st.lists(st.sampled_from(free), unique=True, max_size=8))
    tiers = draw(st.sampled_from([(), (order[:2], order[2:]), (order[:1], order[1:3], order[3:])]))
    most = max([0, *(sum(child == b for _, b in required) for child in names)])
    limit = draw(st.one_of(st.none(), st.integers(max(1, most), len(names))))
    ordered = draw(st.booleans())
    return Knowledge(
        required=tuple(required),
        forbidden=tuple(forbidden),
        tiers=tuple(tuple(t) for t in tiers),
        order=tuple(order) if ordered else None,
        max_parents=limit,
    )
