"""The number of set bits of a word by LLVM's own instruction, which LLVM can vectorise."""

import numpy as np
from numba import types
from numba.extending import intrinsic


@intrinsic
def popcount(typingctx, word):
    """Count the set bits of a uint64; AVX-512 VPOPCNT if the machine has it."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


class _Callable(type(popcount)):
    """An intrinsic that Python can call too, for kernels that wait to be compiled."""

    def __call__(self, word):
        return np.uint64(int(word).bit_count())


popcount.__class__ = _Callable
