"""Blanco, Inza & Larrañaga (2003): UMDA, PBIL, a genetic algorithm and K2 under three scores."""

from __future__ import annotations

from bayescout.experiments.blanco.study import Blanco

__all__ = ["Blanco"]
