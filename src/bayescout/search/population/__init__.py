"""Population searches: graphs as genes, the operators on them, and six algorithms made of these.

To write another, combine these: `genome` defines the genes, `operators` has selection,
crossover, mutation, repair and replacement, `generation` scores a whole population in one batch.
"""

from __future__ import annotations

from bayescout.search.population.blanco import ElitistGa, Pbil, Umda
from bayescout.search.population.lau import Genetic, GeneticGreedy
from bayescout.search.population.suhas import Holland

__all__ = ["ElitistGa", "Genetic", "GeneticGreedy", "Holland", "Pbil", "Umda"]
