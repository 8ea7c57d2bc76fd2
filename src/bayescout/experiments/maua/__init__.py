"""Mauá (2015): the hundred best networks of order sampling and order climbing, on unseen data."""

from __future__ import annotations

from bayescout.experiments.maua.study import Maua

__all__ = ["Maua"]
