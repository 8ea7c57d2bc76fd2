"""Searches: one file per algorithm, the registry, prior knowledge and the protocol they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayescout.search.auto import Auto
from bayescout.search.classes.ges import Ges
from bayescout.search.frame.knowledge import Knowledge, Rules
from bayescout.search.frame.problem import Problem, Search, State
from bayescout.search.graphs.annealing import Annealing
from bayescout.search.graphs.first_ascent import FirstAscent
from bayescout.search.graphs.hill_climb import HillClimb
from bayescout.search.graphs.tabu import Tabu
from bayescout.search.independence.imap import Imap, ImapPruned
from bayescout.search.independence.pc import Cpc, Pc
from bayescout.search.optimal import Optimal
from bayescout.search.orders.boss import Boss
from bayescout.search.orders.climb import OrderClimb
from bayescout.search.orders.k2 import K2, K2Random, OrderSample
from bayescout.search.orders.memetic import Memetic
from bayescout.search.population import ElitistGa, Genetic, GeneticGreedy, Holland, Pbil, Umda
from bayescout.settings import make_named

SEARCHES: dict[str, Callable[..., Any]] = {
    "auto": Auto,
    "hill-climb": HillClimb,
    "first-ascent": FirstAscent,
    "tabu": Tabu,
    "annealing": Annealing,
    "k2": K2,
    "k2-random": K2Random,
    "order-sample": OrderSample,
    "order-climb": OrderClimb,
    "ges": Ges,
    "imap": Imap,
    "imap-pruned": ImapPruned,
    "pc": Pc,
    "cpc": Cpc,
    "optimal": Optimal,
    "boss": Boss,
    "memetic": Memetic,
    "genetic-greedy": GeneticGreedy,
    "genetic": Genetic,
    "holland": Holland,
    "elitist-ga": ElitistGa,
    "umda": Umda,
    "pbil": Pbil,
}
"""Every search by name; to add one, write a file and add a line here."""


def search_named(name: str, **settings: Any) -> Search:
    """The search of a registered name, with its settings."""
    made: Search = make_named("search", SEARCHES, name, settings)
    return made


__all__ = [
    "K2",
    "SEARCHES",
    "Annealing",
    "Auto",
    "Boss",
    "Cpc",
    "ElitistGa",
    "FirstAscent",
    "Genetic",
    "GeneticGreedy",
    "Ges",
    "HillClimb",
    "Holland",
    "Imap",
    "ImapPruned",
    "K2Random",
    "Knowledge",
    "Memetic",
    "Optimal",
    "OrderClimb",
    "OrderSample",
    "Pbil",
    "Pc",
    "Problem",
    "Rules",
    "Search",
    "State",
    "Tabu",
    "Umda",
    "search_named",
]  # fmt: skip
