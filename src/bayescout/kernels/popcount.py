"""The number of set bits of a word by LLVM's own instruction, which LLVM can vectorise."""

from numba import types
from numba.extending import intrinsic


@intrinsic
def popcount(typingctx, word):
    """Count the set bits of a uint64; AVX-512 VPOPCNT if the machine has it."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate
