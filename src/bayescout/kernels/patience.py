"""Kernels that wait to be compiled until they have enough to do, and are run as plain Python until then.

Compiling takes a kernel half a second to eight seconds; on a small table what it does takes milliseconds. So
a patient kernel says how many seconds a call takes uncompiled, by its own Python or by a twin made of NumPy,
and is compiled when the sum over its calls would exceed its patience. If its machine code is in memory or
on disk it is used at once. Both ways give the same bits: which one is taken is never seen in an answer.
"""

from __future__ import annotations

import math
from contextlib import contextmanager

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from bayescout.kernels.jit import kernel


class Patience:
    """The switch.

    on      with it off, every kernel is compiled when first called; so where numba calls a vector library,
            whose logarithms are not those of Python
    forced  for tests: patient kernels wait for ever, compiled or not
    """

    def __init__(self) -> None:
        self.on = not numba.config.USING_SVML
        self.forced = False

    @contextmanager
    def lost(self):
        """A block in which every kernel is compiled when first called."""
        before, self.on = self.on, False
        try:
            yield
        finally:
            self.on = before


patience = Patience()


class _Patient(CPUDispatcher):
    """A kernel that waits; compiled, it becomes an ordinary one, which costs nothing per call."""

    def __call__(self, *arguments):
        if waits(self, self.seconds(*arguments)):
            return _uncompiled(self.plain, arguments)
        self.__class__ = CPUDispatcher
        return self(*arguments)


class _Inner(CPUDispatcher):
    """What kernels are made of. Python calls it only while it runs a kernel that waits."""

    def __call__(self, *arguments):
        if patience.on:
            return self.plain(*arguments)
        self.__class__ = CPUDispatcher
        return self(*arguments)


def patient(most, seconds, instead=None):
    """Make a kernel that waits.

    most      the seconds of all calls that it may take uncompiled: a part of what it takes to compile
    seconds   function of the arguments: about the seconds of one call uncompiled
    instead   what to call; None for the function itself, interpreted
    """

    def made(function):
        compiled = kernel(function)
        if isinstance(compiled, CPUDispatcher):
            compiled.plain, compiled.seconds, compiled.left = instead or function, seconds, None
            compiled.most, compiled.__class__ = most, _Patient
        return compiled

    return made


def inner(function=None, instead=None, **options):
    """Make a kernel that only other kernels call; `instead` is what a kernel that waits calls for it."""
    if function is None:
        return lambda function: inner(function, instead, **options)
    compiled = kernel(function, **options)
    if isinstance(compiled, CPUDispatcher):
        compiled.plain, compiled.__class__ = instead or function, _Inner
    return compiled


def part(function=None, instead=None):
    """A part of kernels, copied into each of them at every call instead of being compiled by itself.

    For small functions, and for those that are called in one place: numba optimises a kernel together with
    all that it calls, so each level of calls costs the work of all levels below it once more.
    """
    return inner(function, instead, inline="always")


def waits(kernel, seconds) -> bool:
    """Return True if a kernel is not compiled and need not be for so many more seconds of work without it."""
    if patience.forced and isinstance(kernel, _Patient):
        return seconds < math.inf
    if not patience.on or not isinstance(kernel, _Patient) or kernel.overloads:
        return False
    if kernel.left is None:
        kernel.left = 0.0 if _is_kept(kernel) else kernel.most
    kernel.left -= seconds
    return kernel.left >= 0.0


def _is_kept(kernel) -> bool:
    """Return True if machine code of a kernel is on disk."""
    file = getattr(kernel._cache, "_cache_file", None)
    try:
        return file is not None and bool(file._load_index())
    except Exception:  # whatever is there cannot be read: numba says so when it compiles
        return False


def _uncompiled(function, arguments):
    with np.errstate(all="ignore"):  # integers wrap, and infinities are subtracted, as in compiled code
        return _unboxed(function(*arguments))


def _unboxed(value):
    """A number as compiled code returns it: Python's own."""
    if isinstance(value, tuple):
        return tuple(map(_unboxed, value))
    return value.item() if isinstance(value, np.generic) else value
