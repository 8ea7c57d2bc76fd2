"""Exact search: the best network, with a proof or a bound."""

from bayescout.search.optimal.search import Optimal, OptimalState

__all__ = ["Optimal", "OptimalState"]
