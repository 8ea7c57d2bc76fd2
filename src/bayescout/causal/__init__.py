"""What happens if we act: adjustment sets, and effects of one variable on another."""

from bayescout.causal.adjustment import AdjustmentSets, Instrument, adjustment_sets

__all__ = ["AdjustmentSets", "Instrument", "adjustment_sets"]
