"""The command line: arguments to calls, results to tables or JSON; no logic."""

from __future__ import annotations

import os
import sys
import warnings
from typing import NoReturn


def main() -> None:
    """The entry point: one clear line for a mistake, exit code 2; 130 when interrupted."""
    from bayescout.cli.app import app
    from bayescout.errors import BayescoutError

    warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
    warnings.simplefilter("always", category=UserWarning)
    try:
        try:
            app(prog_name="bayescout")
        finally:
            sys.stdout.flush()
    except BayescoutError as error:
        _stop(f"error: {error}", 2)
    except BrokenPipeError:
        # The reader of our output went away (`bayescout networks | head`): nobody's mistake.
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        _stop(f"error: {error}", 2)
    except KeyboardInterrupt:
        _stop("interrupted", 130)


def _stop(text: str, code: int) -> NoReturn:
    _say(text)
    sys.exit(code)


def _say(text: str) -> None:
    sys.stderr.write(f"bayescout: {' '.join(text.split())}\n")


def _drop_output() -> None:
    """Keep Python from complaining again when it closes standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
