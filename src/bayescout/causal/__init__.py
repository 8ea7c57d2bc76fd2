"""What happens if we act: adjustment sets, and effects of one variable on another."""

from bayescout.causal.adjustment import AdjustmentSets, Instrument, adjustment_sets
from bayescout.causal.effects import AveragedEffect, Contrast, Effect, PossibleEffects
from bayescout.causal.estimating import effect

__all__ = [
    "AdjustmentSets",
    "AveragedEffect",
    "Contrast",
    "Effect",
    "Instrument",
    "PossibleEffects",
    "adjustment_sets",
    "effect",
]
