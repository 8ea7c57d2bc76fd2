"""Kernels of order-based search."""

from bayescout.kernels.jit import kernel


@kernel
def first_within(masks, allowed):
    """The first row of masks (m, words) uint64 that has no bit outside allowed (words,); -1 for none."""
    for row in range(masks.shape[0]):
        inside = True
        for word in range(masks.shape[1]):
            if masks[row, word] & ~allowed[word]:
                inside = False
                break
        if inside:
            return row
    return -1
