"""Sizes that decide how a table is counted; separate from the kernels, so that importing compiles nothing."""

MASK_WORDS = 8192
"""Words of scratch for the masks of one block of rows (64 KiB, which fits the second-level cache)."""

MASKED_CELLS = 192
"""Cells of a table up to which masks beat scatter (0.0025 ns per row and cell against 0.55 ns per row)."""

LIKELIHOOD, DIRICHLET = 0, 1
"""The two forms of formula that kernels evaluate by themselves."""

LOOKUP_SIZE = 65_536
"""The size of tables of N log N at most."""
