"""The one decorator of every kernel, so that compile options are decided once.

Kernels take and return plain arrays, release the GIL, and are compiled once per machine: the machine code is
kept on disk, beside the source or in the user's cache folder, as numba chooses (NUMBA_CACHE_DIR overrides
it). If neither can be written, it is kept in a folder of our own under the temporary one; if that is
impossible too, every process compiles again, with a message.
"""

from __future__ import annotations

import gc
import logging
import os
import stat
import tempfile
import time
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numba
from numba import types
from numba.core import event
from numba.extending import overload

log = logging.getLogger("bayescout")

_OPTIONS = {"nogil": True, "fastmath": False, "boundscheck": False, "no_cfunc_wrapper": True}
"""Options of every kernel. None is called as a C function, so none gets the wrapper for that."""

TAKES = "up to 8 s for a small table and 30 s for a large one, for each kind of search or score new to it"
"""How long it takes to compile, in words."""

_WAY_OUT = "set NUMBA_CACHE_DIR to a folder that can be written"


def kernel(function, **options):
    """Compile a function when first called, and keep the machine code on disk if possible."""
    options = _OPTIONS | options
    try:
        return _forgiving(numba.njit(cache=True, **options)(function))
    except RuntimeError:  # numba found no writable folder
        folder = own_folder()
    if folder is not None:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            made = _forgiving(numba.njit(cache=True, **options)(function))
            compiling.kept = str(folder)
            return made
        except RuntimeError:
            pass
        finally:
            numba.config.CACHE_DIR = before
    compiling.kept = None
    return numba.njit(**options)(function)


def by_type(choose):
    """A function for kernels that `choose` finds, from the types of the arguments; so no other is compiled.

    `choose` returns a plain function of the same parameters, and may only ask `is_none` of its arguments.
    """

    def chosen(*arguments):  # without compilation
        return choose(*arguments)(*arguments)

    overload(chosen)(choose)
    return chosen


def is_none(argument) -> bool:
    """Return True if an argument of a function `by_type` is None, or the type of None."""
    return argument is None or isinstance(argument, types.NoneType)


@lru_cache(maxsize=1)
def own_folder() -> Path | None:
    """A folder for machine code under the temporary one, or None if there can be no safe one.

    Code read from it is executed. So it must belong to this user, and nobody else may be able to write to it
    or replace it.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        release = version("bayescout")
    except PackageNotFoundError:
        release = "source"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        folder = Path(tempfile.gettempdir()) / f"bayescout-{user}-{release}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if _is_safe(folder) else None
    except OSError:
        return None


def _is_safe(folder: Path) -> bool:
    """Return True if only this user can write or replace a folder; Windows has temporary folders per user."""
    if not hasattr(os, "getuid"):
        return True
    own, above = folder.lstat(), folder.parent.stat()
    replaceable = above.st_mode & 0o022 and not above.st_mode & stat.S_ISVTX
    return (
        stat.S_ISDIR(own.st_mode)
        and own.st_uid == os.getuid()
        and stat.S_IMODE(own.st_mode) == 0o700
        and above.st_uid in (0, own.st_uid)
        and not replaceable
    )


def _forgiving(compiled):
    """The compiled function, made not to fail on a full disk: what cannot be saved is compiled again.

    Loading machine code is timed like compiling it: both belong to the start of a process.
    """
    cache = getattr(compiled, "_cache", None)
    if cache is None:  # with NUMBA_DISABLE_JIT nothing is compiled
        return compiled
    save, load = cache.save_overload, cache.load_overload

    def save_if_possible(signature, result):
        try:
            save(signature, result)
        except OSError as error:
            compiling.say_lost(cache.cache_path, error)

    def load_timed(signature, target):
        with compiling.timed():
            return load(signature, target)

    cache.save_overload, cache.load_overload = save_if_possible, load_timed
    return compiled


class _Compiling(event.Listener):
    """Report once per process that kernels are being compiled; count the seconds of compiling and loading.

    `kept` is where machine code is kept: "" for numba's own choice, a folder of ours, or None for nowhere.
    `kernels` counts those compiled, with all that they call as one. Other compiled code is not our business.
    """

    def __init__(self) -> None:
        self.told = False
        self.kernels = 0
        self.lost = False
        self.kept: str | None = ""
        self._past = 0.0
        self._depth = 0
        self._begin = 0.0
        self._collects = True

    @property
    def seconds(self) -> float:
        """Seconds of compiling and loading so far, including any in progress."""
        return self._past + (time.perf_counter() - self._begin if self._depth else 0.0)

    def on_start(self, event: event.Event) -> None:
        if self._depth == 0:
            if not event.data["dispatcher"].py_func.__module__.startswith("bayescout."):
                return
            self.kernels += 1
        if not self.told:
            self.told = True
            log.warning("bayescout: compiling its kernels for this machine (%s)", self.how_often())
        self._enter()

    def on_end(self, event: event.Event) -> None:
        if self._depth:
            self._leave()

    @contextmanager
    def timed(self):
        """Count the seconds of a block."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        if self._depth == 0:
            self._begin = time.perf_counter()
            # The compiler makes millions of objects that live on: looking for garbage among them takes a
            # sixth of its time.
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1

    def _leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._past += time.perf_counter() - self._begin
            if self._collects:
                gc.enable()

    def how_often(self) -> str:
        """The words for: once, once while the temporary folder lasts, or in every process."""
        if self.kept is None:
            return (
                f"{TAKES}, in every process, because neither the package's folder nor the user's cache "
                f"folder nor a temporary one of our own can be written; {_WAY_OUT}"
            )
        if self.kept:
            return (
                f"{TAKES}, once as long as {self.kept} is there: neither the package's folder nor the "
                f"user's cache folder can be written; {_WAY_OUT} to keep them"
            )
        return f"{TAKES}, once; `bayescout warm-up` does it for everything beforehand"

    def say_lost(self, folder: str, error: OSError) -> None:
        """Report once per process that machine code could not be saved."""
        if not self.lost:
            self.lost = True
            log.warning(
                "bayescout: its compiled kernels could not be kept in %s (%s), and the next process compiles "
                "them again; %s",
                folder,
                error.strerror or error,
                _WAY_OUT,
            )


compiling = _Compiling()
event.register("numba:compile", compiling)
