"""Population searches: graphs as genes, the operators on them, and the six algorithms made of those.

Write another by combining what is here: `genome` says what genes are, `operators` has selection,
crossover, mutation, repair and replacement, `generation` scores a whole population in one batch.
"""

from __future__ import annotations

from bayescout.search.population.blanco import ElitistGa, Pbil, Umda
from bayescout.search.population.lau import Genetic, GeneticGreedy
from bayescout.search.population.suhas import Holland

__all__ = ["ElitistGa", "Genetic", "GeneticGreedy", "Holland", "Pbil", "Umda"]
