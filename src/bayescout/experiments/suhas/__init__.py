"""Suhas & Sai Praveen (2016): Holland's genetic algorithm with a fitness of mutual information."""

from __future__ import annotations

from bayescout.experiments.suhas.study import Suhas

__all__ = ["Suhas"]
