"""bayescout learns Bayesian network structures from data, by score and search.

The public names; each is loaded from its module when first used, so that importing is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Imported at once and not when first used: the module and the function have the same name, and a later
# import of the module would replace the function. It is light.
from bayescout.learn import learn

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bayescout import evaluate as evaluate
    from bayescout import plots as plots
    from bayescout import scores as scores
    from bayescout import search as search
    from bayescout.causal import adjustment_sets as adjustment_sets
    from bayescout.causal import effect as effect
    from bayescout.data import Discretiser as Discretiser
    from bayescout.data import Table as Table
    from bayescout.data import as_table as as_table
    from bayescout.data import discretise as discretise
    from bayescout.data import read_table as read_table
    from bayescout.data import write_table as write_table
    from bayescout.dynamic import lag as lag
    from bayescout.errors import BayescoutError as BayescoutError
    from bayescout.errors import BayescoutWarning as BayescoutWarning
    from bayescout.evaluate import bootstrap as bootstrap
    from bayescout.evaluate import cross_validate as cross_validate
    from bayescout.evaluate import divergence as divergence
    from bayescout.evaluate import held_out as held_out
    from bayescout.evaluate import independence_test as independence_test
    from bayescout.formats import load_network as load_network
    from bayescout.formats import networks as networks
    from bayescout.formats import read_network as read_network
    from bayescout.formats import read_structure as read_structure
    from bayescout.formats import read_uai_evidence as read_uai_evidence
    from bayescout.formats import write_network as write_network
    from bayescout.formats import write_structure as write_structure
    from bayescout.formats import write_uai_evidence as write_uai_evidence
    from bayescout.formats.jkl import read_jkl as read_jkl
    from bayescout.formats.neighbours import as_network as as_network
    from bayescout.graph.accept import as_dag as as_dag
    from bayescout.graph.compare import compare as compare
    from bayescout.graph.dag import Dag as Dag
    from bayescout.graph.pdag import Pdag as Pdag
    from bayescout.graph.random import random_dag as random_dag
    from bayescout.network import DiscreteNetwork as DiscreteNetwork
    from bayescout.network import GaussianNetwork as GaussianNetwork
    from bayescout.network import Network as Network
    from bayescout.network import fit as fit
    from bayescout.network import random_network as random_network
    from bayescout.optimality import candidate_sets as candidate_sets
    from bayescout.optimality import gap as gap
    from bayescout.result import Result as Result
    from bayescout.scores.network_score import score as score
    from bayescout.scores.network_score import score_parts as score_parts
    from bayescout.search.frame.knowledge import Knowledge as Knowledge
    from bayescout.session import Session as Session
    from bayescout.statistics.dask_engine import DaskEngine as DaskEngine
    from bayescout.warming import warm_up as warm_up

_HOMES = {
    "bayescout.causal": ("adjustment_sets", "effect"),
    "bayescout.data": ("Discretiser", "Table", "as_table", "discretise", "read_table", "write_table"),
    "bayescout.dynamic": ("lag",),
    "bayescout.errors": ("BayescoutError", "BayescoutWarning"),
    "bayescout.evaluate": (
        "bootstrap", "cross_validate", "divergence", "held_out", "independence_test",
    ),
    "bayescout.formats": (
        "load_network", "networks", "read_network", "read_structure", "read_uai_evidence", "write_network",
        "write_structure", "write_uai_evidence",
    ),
    "bayescout.formats.jkl": ("read_jkl",),
    "bayescout.formats.neighbours": ("as_network",),
    "bayescout.graph.accept": ("as_dag",),
    "bayescout.graph.compare": ("compare",),
    "bayescout.graph.dag": ("Dag",),
    "bayescout.graph.pdag": ("Pdag",),
    "bayescout.graph.random": ("random_dag",),
    "bayescout.network": ("DiscreteNetwork", "GaussianNetwork", "Network", "fit", "random_network"),
    "bayescout.optimality": ("candidate_sets", "gap"),
    "bayescout.result": ("Result",),
    "bayescout.scores.network_score": ("score", "score_parts"),
    "bayescout.search.frame.knowledge": ("Knowledge",),
    "bayescout.session": ("Session",),
    "bayescout.statistics.dask_engine": ("DaskEngine",),
    "bayescout.warming": ("warm_up",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("evaluate", "plots", "scores", "search")

__all__ = ["__version__", "learn", *sorted([*_HOME_OF, *_MODULES])]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"bayescout.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'bayescout' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
