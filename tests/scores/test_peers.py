"""Our scores against numbers that other libraries gave for the same families, each through a declared map.

The numbers are in tests/peers/scores.json, as the libraries gave them, with their versions and the script
that asked. A library's number times `scale` is our score plus `shift`: an error of the peer's is a shift
like any other, written down as what it is and as large as it is.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bayescout.scores import (
    K2,
    Aic,
    BDeu,
    BDs,
    Bge,
    Bic,
    Fnml,
    LogLikelihood,
    MutualInformation,
    Penalised,
    bind,
)
from tests.reference.scores import counted
from tests.scores.drawn_data import continuous_table, table_of

FROZEN = json.loads((Path(__file__).parent.parent / "peers" / "scores.json").read_text(encoding="utf-8"))
CASES = FROZEN["cases"]
DISCRETE = [name for name in CASES if "cards" in CASES[name]]
BITS = math.log(2)


@dataclass(frozen=True)
class Asked:
    """One family of one discrete case, as a map needs it."""

    cards: list
    rows: list
    child: int
    parents: tuple

    @property
    def r(self):
        return self.cards[self.child]

    @property
    def q(self):
        return math.prod(self.cards[p] for p in self.parents)

    @property
    def table(self):
        """The child's counts in each configuration that occurs."""
        cells, configs = counted(self.rows, self.child, self.parents)
        return [[cells[config, k] for k in range(self.r)] for config in configs]

    @property
    def lost(self):
        """Cells of child states that occur nowhere, which pgmpy leaves out of a table with parents."""
        absent = self.r - len({row[self.child] for row in self.rows})
        return absent * len(self.table) if self.parents else 0


def nothing(asked):
    return 0.0


# ---- what makes a peer's number another one than ours


def structure_prior(asked):
    """causal-learn adds log P(graph): each of the m other variables is a parent with probability 1/m."""
    m, k = len(asked.cards) - 1, len(asked.parents)
    return k * math.log(1 / m) + (m - k) * math.log(1 - 1 / m)


def empty_configurations(asked):
    """pgmpy's K2 adds lnΓ(r) for each configuration that never occurs; nothing cancels it."""
    return (asked.q - len(asked.table)) * math.lgamma(asked.r)


def absent_states(ess):
    """pgmpy's BDeu leaves lnΓ(a) out for the cells of child states that never occur, but subtracts it."""

    def shift(asked):
        return -asked.lost * math.lgamma(ess / (asked.q * asked.r))

    return shift


def mixed_priors(ess):
    """pgmpy's BDs spreads ess over occurring configurations but over all cells, occurring or not."""

    def shift(asked):
        seen = len(asked.table)
        a, b, ours = ess / (asked.q * asked.r), ess / seen, ess / (seen * asked.r)
        lacking = asked.q - seen
        value = -lacking * math.lgamma(b) - asked.lost * math.lgamma(a)
        for row in asked.table:
            value += sum(risen(count, a) - risen(count, ours) for count in row)
        return value

    return shift


def coarse_gamma(ess):
    """aGrUM looks lnΓ up for arguments in hundredths below 50, and takes -ln x below 0.01."""

    def coarse(x):
        if x < 0.01:
            return -math.log(x)
        return math.lgamma(math.floor(x * 100 + 0.5) / 100 if x < 50 else x)

    def shift(asked):
        a, b = ess / (asked.q * asked.r), ess / asked.q
        value = 0.0
        for row in asked.table:
            value += sum(coarse(count + a) - coarse(a) - risen(count, a) for count in row)
            value -= coarse(sum(row) + b) - coarse(b) - risen(sum(row), b)
        return value

    return shift


def risen(count, a):
    """lnΓ(count + a) - lnΓ(a), one factor after the other."""
    return sum(math.log(a + i) for i in range(count))


@dataclass(frozen=True)
class Map:
    """peer * scale = ours + shift(family), to within `error`."""

    ours: object
    scale: float = 1.0
    shift: object = nothing
    error: float = 1e-8


DISCRETE_MAPS = {
    ("pgmpy", "loglik"): Map(LogLikelihood()),
    ("pgmpy", "aic"): Map(Aic()),
    ("pgmpy", "bic"): Map(Bic()),
    ("pgmpy", "k2"): Map(K2(), shift=empty_configurations),
    ("pgmpy", "bdeu-1"): Map(BDeu(ess=1), shift=absent_states(1)),
    ("pgmpy", "bdeu-10"): Map(BDeu(ess=10), shift=absent_states(10)),
    ("pgmpy", "bds-1"): Map(BDs(ess=1), shift=mixed_priors(1)),
    ("pgmpy", "bds-10"): Map(BDs(ess=10), shift=mixed_priors(10)),
    ("pybnesian", "bic"): Map(Bic()),
    ("pybnesian", "bdeu-1"): Map(BDeu(ess=1)),
    ("pybnesian", "bdeu-10"): Map(BDeu(ess=10)),
    ("causal-learn", "bdeu-1"): Map(BDeu(ess=1), shift=structure_prior),
    ("causal-learn", "bdeu-10"): Map(BDeu(ess=10), shift=structure_prior),
    ("pyagrum", "loglik"): Map(LogLikelihood(), scale=BITS),
    # aGrUM charges one bit a parameter, where Akaike's criterion charges one nat.
    ("pyagrum", "aic"): Map(Penalised(charge=BITS), scale=BITS),
    ("pyagrum", "bic"): Map(Bic(), scale=BITS),
    # Its Stirling series is short, which shows in the sixth decimal.
    ("pyagrum", "k2"): Map(K2(), scale=BITS, error=1e-4),
    ("pyagrum", "bdeu-1"): Map(BDeu(ess=1), scale=BITS, shift=coarse_gamma(1), error=1e-4),
    ("pyagrum", "bdeu-10"): Map(BDeu(ess=10), scale=BITS, shift=coarse_gamma(10), error=1e-4),
}


def asked_of(case):
    rows = list(zip(*case["columns"], strict=True))
    return [Asked(case["cards"], rows, child, tuple(parents)) for child, parents in case["families"]]


@pytest.mark.parametrize("data", DISCRETE)
@pytest.mark.parametrize(("peer", "score"), DISCRETE_MAPS, ids=str)
def test_discrete_scores_map_to_the_peers(peer, score, data):
    case, how = CASES[data], DISCRETE_MAPS[peer, score]
    families = asked_of(case)
    ours = bind(how.ours, table_of(case["columns"], case["cards"])).many(
        [(asked.child, asked.parents) for asked in families]
    )
    expected = ours + [how.shift(asked) for asked in families]
    assert np.array(case["values"][peer][score]) * how.scale == pytest.approx(expected, abs=how.error)


@pytest.mark.parametrize("data", DISCRETE)
def test_information_of_a_parent_maps_to_agrum(data):
    """aGrUM gives I(x; y | z) in bits a row; corrected by NML it is the mean gain of fNML both ways."""
    case = CASES[data]
    table = table_of(case["columns"], case["cards"])
    information, fnml = bind(MutualInformation(alpha=0), table), bind(Fnml(), table)
    triples = [(child, parents[0], tuple(parents[1:])) for child, parents in case["families"] if parents]
    plain = [information.local(x, (y, *z)) - information.local(x, z) for x, y, z in triples]
    corrected = [
        (fnml.local(x, (y, *z)) - fnml.local(x, z) + fnml.local(y, (x, *z)) - fnml.local(y, z)) / 2
        for x, y, z in triples
    ]
    values = case["values"]["pyagrum"]
    scale = BITS * table.n_rows
    assert np.array(values["information"]) * scale == pytest.approx(plain, abs=1e-8)
    assert np.array(values["information-nml"]) * scale == pytest.approx(corrected, abs=1e-4)


def test_the_cases_provoke_what_the_maps_declare():
    """Each shift that is an error of a peer's is exercised, and as large as said here."""
    families = [asked for data in DISCRETE for asked in asked_of(CASES[data])]
    assert {len(asked.parents) for asked in families} == {0, 1, 2, 3, 4}
    assert sum(len(asked.table) < asked.q for asked in families) >= 10
    assert any(asked.lost for asked in families)
    assert any(asked.parents != tuple(sorted(asked.parents)) for asked in families)
    assert max(empty_configurations(asked) for asked in families) > 50
    assert max(abs(absent_states(1)(asked)) for asked in families) > 15
    assert max(abs(mixed_priors(1)(asked)) for asked in families) > 50
    wrong = [abs(coarse_gamma(1)(asked)) for asked in families]
    assert max(wrong) > 10
    assert all(error < 1e-12 for error, asked in zip(wrong, families, strict=True) if asked.q * asked.r == 2)


# ---- Gaussian


def gaussian_maps(n):
    """(peer, score) -> (ours, shift as a function of the number of parents)."""
    bits_of_pi = n / 2 * math.log(2 * math.pi)

    def no_pi_and_no_intercept(k):
        return bits_of_pi + math.log(n) / 2

    def unbiased_variance(k):
        """The density at s² n / (n - k - 1) in place of the maximum-likelihood s²."""
        return (k + 1) / 2 - n / 2 * math.log(n / (n - k - 1))

    def same(k):
        return 0.0

    return {
        ("pgmpy", "loglik"): (LogLikelihood(), same),
        ("pgmpy", "aic"): (Aic(), same),
        ("pgmpy", "bic"): (Bic(), same),
        ("pybnesian", "bic"): (Bic(), unbiased_variance),
        ("pybnesian", "bge"): (Bge(), same),
        ("pybnesian", "bge-2.5-9"): (Bge(iss_mu=2.5, iss_w=9.0), same),
        ("ges", "bic"): (Bic(), no_pi_and_no_intercept),
        ("causal-learn", "bic"): (Bic(), no_pi_and_no_intercept),
    }


@pytest.mark.parametrize(("peer", "score"), gaussian_maps(60), ids=str)
def test_gaussian_scores_map_to_the_peers(peer, score):
    case = CASES["gaussian"]
    table = continuous_table(case["columns"])
    formula, shift = gaussian_maps(table.n_rows)[peer, score]
    families = [(child, tuple(parents)) for child, parents in case["families"]]
    expected = bind(formula, table).many(families) + [shift(len(parents)) for _, parents in families]
    assert case["values"][peer][score] == pytest.approx(expected, abs=1e-6)
    extended = [bind(formula, table).extensions(c, p[:-1], [p[-1]])[0] for c, p in families if p]
    assert extended == pytest.approx([bind(formula, table).local(c, p) for c, p in families if p], abs=1e-6)


def test_every_frozen_number_is_compared():
    declared = set(DISCRETE_MAPS) | {("pyagrum", "information"), ("pyagrum", "information-nml")}
    for data in DISCRETE:
        assert {(p, s) for p, scores in CASES[data]["values"].items() for s in scores} == declared
    frozen = CASES["gaussian"]["values"]
    assert {(p, s) for p, scores in frozen.items() for s in scores} == set(gaussian_maps(60))
    assert set(FROZEN["versions"]) >= {"pyagrum", "pgmpy", "pybnesian", "causal-learn", "ges"}
