"""Networks made of their nodes' distributions: the two kinds there are, and a third that is defined here."""

import copy
import math
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import bayescout as bs
from bayescout.errors import FormatError, NetworkError, WrongKindError
from bayescout.graph.dag import Dag
from bayescout.network import LinearGaussian, Network, NodeDistribution, Tabular
from bayescout.network.node import CHUNK, as_array
from bayescout.plots.figures import as_drawing
from bayescout.plots.tables import cpt_table
from bayescout.report.parameters import node_parameters
from tests.network.asia_network import asia

COIN = Tabular(("heads", "tails"), [0.25, 0.75])
LINE = Dag.from_arcs([("a", "b")])


@dataclass(frozen=True)
class MeansShown:
    """One line per state of the parent."""

    title: str
    columns: tuple[Any, ...]
    pairs: tuple[tuple[Any, float], ...]
    leading = 1

    @property
    def n_rows(self) -> int:
        return len(self.pairs)

    def lines(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.pairs)

    def to_dict(self) -> dict[str, Any]:
        return {"means": [mean for _, mean in self.pairs]}


@dataclass(frozen=True, eq=False)
class Means(NodeDistribution):
    """A toy: a continuous node of variance one, whose mean follows from the state of one discrete parent."""

    means: Any

    kind = "means"
    states = None

    def __post_init__(self):
        object.__setattr__(self, "means", as_array(self.means, np.float64, "list of means"))

    @property
    def n_parameters(self) -> int:
        return len(self.means)

    def check(self, label, given):
        if [len(parent.states or ()) for parent in given.values()] != [len(self.means)]:
            raise NetworkError(f"node {label!r} needs one discrete parent of {len(self.means)} states")

    def encode(self, label, value, is_text=False):
        return float(value)

    def sampler(self):
        def draw(rng, given, out):
            out[:] = self.means[given[0]] + rng.standard_normal(len(out))
            return False

        return draw

    def log_densities(self, label, own, given):
        return -0.5 * (math.log(2 * math.pi) + (own - self.means[given[0]]) ** 2), None

    def equals(self, other, tolerance):
        return isinstance(other, Means) and bool(np.all(np.abs(self.means - other.means) <= tolerance))

    def parameters(self, label: Any, given: Mapping[Any, NodeDistribution]) -> MeansShown:
        ((parent, distribution),) = given.items()
        pairs = zip(distribution.states or (), self.means.tolist(), strict=True)
        return MeansShown(f"means of {label}", (parent, "mean"), tuple(pairs))


def mixed():
    """A coin, a continuous node that follows it, and a linear one that follows that."""
    dag = Dag.from_arcs([("coin", "y"), ("y", "z")])
    return Network(dag, (COIN, Means([-2.0, 3.0]), LinearGaussian(1.0, [2.0], 0.25)), "mixed")


# ---- the two kinds there are


def test_a_network_of_tables_is_the_one_that_arrays_make():
    made = asia()
    network = Network(made.dag, made.distributions, made.name)
    again = [Tabular(*parts) for parts in zip(made.states, made.tables, made.undefined, strict=True)]
    assert network.is_discrete
    assert network.equals(made)
    assert made.equals(Network(made.dag, again))
    assert network.sample(CHUNK + 9, 3).fingerprint == made.sample(CHUNK + 9, 3).fingerprint
    assert network.query("lung | smoke=yes").to_dict() == made.query("lung | smoke=yes").to_dict()
    assert str(network.cpt("lung")) == str(made.cpt("lung"))
    assert network.summary() == made.summary()
    assert repr(network) == repr(made).replace("DiscreteNetwork", "Network")


def test_a_network_of_regressions_is_the_one_that_arrays_make(tmp_path):
    made = bs.GaussianNetwork(LINE, [1.0, 2.0], [[], [-3.0]], [4.0, 0.25])
    network = bs.Network(LINE, [LinearGaussian(1, (), 4), LinearGaussian(2, [-3], 0.25)])
    assert network.is_gaussian
    assert network.equals(made)
    assert network.intercepts.tolist() == [1, 2]
    assert network.equation("b") == "b = 2 - 3 a + N(0, 0.25)"
    assert network.query("b | a=1").mean == pytest.approx(-1)
    assert network.log_probability({"a": 1, "b": 2}) == made.log_probability({"a": 1, "b": 2})
    network.save(tmp_path / "line.json")
    assert bs.read_network(tmp_path / "line.json").equals(network)
    assert bs.divergence(network, made).value == 0


@pytest.mark.parametrize(
    ("distributions", "message"),
    [
        ([COIN], "2 nodes but 1 distribution"),
        ([COIN, COIN], r"table of 'b' has shape \(2,\); its states ask for \(2, 2\)"),
        ([LinearGaussian(0, [], 1), COIN], "'b' has a table, and its parent 'a' is continuous"),
        ([COIN, LinearGaussian(0, [1], 1)], "'b' is linear in its parents, and its parent 'a' is discrete"),
        ([LinearGaussian(0, [], 1), LinearGaussian(0, [], 1)], "'b' has 1 parents but 0 coefficients"),
        ([LinearGaussian(0, [], -1), LinearGaussian(0, [1], 1)], "'a' has a negative variance, -1"),
    ],
)
def test_distributions_that_do_not_fit_the_graph_are_refused(distributions, message):
    with pytest.raises(NetworkError, match=message):
        Network(LINE, distributions)


def test_what_another_kind_has_is_refused_with_a_way_out():
    gaussian = bs.GaussianNetwork(LINE, [0, 0], [[], [1]], [1, 1])
    for ask in (lambda: gaussian.tables, lambda: gaussian.cpt("a")):
        with pytest.raises(WrongKindError, match=r"all discrete, .* is gaussian: see 'a', 'b'; .* sample"):
            ask()
    with pytest.raises(WrongKindError, match="all gaussian, and this one is discrete"):
        asia().joint()
    with pytest.raises(WrongKindError, match="all discrete"):
        _ = gaussian.discrete_states
    assert gaussian.states == (None, None)
    assert asia().states == asia().discrete_states


@pytest.mark.parametrize("kind", [bs.DiscreteNetwork, bs.GaussianNetwork])
def test_a_network_without_nodes_knows_its_kind(kind, tmp_path):
    network = kind(Dag.empty(()), *[()] * (2 if kind is bs.DiscreteNetwork else 3))
    network.save(tmp_path / "empty.json")
    assert type(bs.read_network(tmp_path / "empty.json")) is kind
    assert network.is_discrete == (kind is bs.DiscreteNetwork)


# ---- a third kind


def test_a_new_kind_is_sampled_beside_the_others():
    table = mixed().sample(CHUNK + 5000, seed=1)
    assert table.kinds == ("discrete", "continuous", "continuous")
    assert table.fingerprint == mixed().sample(CHUNK + 5000, seed=1).fingerprint
    coin, (y, z) = table.codes[0], table.values
    assert coin.mean() == pytest.approx(0.75, abs=0.02)
    assert [y[coin == side].mean() for side in (0, 1)] == pytest.approx([-2, 3], abs=0.05)
    assert [(z - 1 - 2 * y).mean(), (z - 1 - 2 * y).var()] == pytest.approx([0, 0.25], abs=0.02)


def test_a_new_kind_has_a_likelihood_beside_the_others():
    rows = {"coin": ["tails", "heads"], "y": [2.5, 0.0], "z": [6.5, 1.0]}
    by_hand = [
        math.log(0.75) + normal(-0.5, 1) + normal(0.5, 0.25),
        math.log(0.25) + normal(2.0, 1) + normal(0.0, 0.25),
    ]
    network = mixed()
    assert network.row_log_likelihood(rows) == pytest.approx(by_hand)
    assert network.log_likelihood(rows).total == pytest.approx(sum(by_hand))
    assert bs.held_out(network, None, rows).total == pytest.approx(sum(by_hand))
    assert network.log_probability({k: v[0] for k, v in rows.items()}) == pytest.approx(by_hand[0])


def normal(residual, variance):
    return -0.5 * (math.log(2 * math.pi * variance) + residual**2 / variance)


def test_a_new_kind_is_shown_beside_the_others(capsys):
    from bayescout.cli.networks import _show, _table_of

    network = mixed()
    assert network.kind == "mixed"
    assert network.n_parameters == 1 + 2 + 3
    assert repr(network) == "<Network 'mixed': 3 nodes, 2 arcs, 6 parameters>"
    assert cpt_table(network, "y").rows == (("heads", "-2"), ("tails", "3"))
    assert as_drawing(network, cpts=True).nodes
    assert "<svg" in network._repr_html_()
    page = str(node_parameters(network, network.nodes, network.nodes)[1])
    assert "P(y | coin)" in page
    assert "tails" in page
    assert _table_of(network, "y") == {"node": "y", "means": [-2.0, 3.0]}
    _show(network, [])
    assert "means of y" in capsys.readouterr().out


def test_a_new_kind_is_compared_and_copied():
    network = mixed()
    for again in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        assert again.equals(network)
        with pytest.raises(ValueError, match="read-only"):
            again.distributions[1].means[0] = 7
    other = Network(network.dag, (COIN, Means([-2.0, 3.5]), network.distributions[2]))
    assert not network.equals(other)
    assert network.equals(other, tolerance=0.5)
    assert not network.equals(asia())


def test_what_a_new_kind_has_not_is_refused(tmp_path):
    network = mixed()
    with pytest.raises(NetworkError, match="'y' needs one discrete parent of 3 states"):
        Network(network.dag, (COIN, Means([0.0, 1.0, 2.0]), network.distributions[2]))
    with pytest.raises(WrongKindError, match="all discrete, and this one is mixed: see 'y', 'z'"):
        network.query("y | coin=heads")
    for ending in ("json", "bif"):
        with pytest.raises(FormatError, match="cannot be written"):
            network.save(tmp_path / f"mixed.{ending}")
    with pytest.raises(NetworkError, match="no common scale"):
        bs.divergence(asia(), network)
