"""Sizes that decide how a table is counted; apart from the kernels, so that reading them compiles nothing."""

MASK_WORDS = 8192
"""Words of scratch for the masks of one block of rows (64 KiB: stays in the second-level cache)."""

MASKED_CELLS = 192
"""Cells of a table up to which masks beat scatter (0.0025 ns a row and cell against 0.55 ns a row)."""

LIKELIHOOD, DIRICHLET = 0, 1
"""The two forms of formula that kernels evaluate by themselves."""
