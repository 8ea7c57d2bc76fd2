"""The number of set bits of a word, as LLVM's own instruction, which it can vectorise."""

from numba import types
from numba.extending import intrinsic


@intrinsic
def popcount(typingctx, word):
    """Set bits of a uint64; AVX-512 VPOPCNT where the machine has it."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate
