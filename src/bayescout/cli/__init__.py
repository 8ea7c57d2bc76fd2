"""The command line: arguments to calls, results to tables or JSON; no logic."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> None:
    """The entry point: one clear line for a mistake, exit code 2; 130 when interrupted."""
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        _stop("interrupted", 130)
    except MemoryError:
        _stop("error: there is not enough memory for this; use less data, or limit the number of parents", 2)
    except BrokenPipeError:
        # The reader of our output went away (`bayescout networks | head`): nobody's mistake.
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        _stop(f"error: {error}", 2)


def _run() -> int:
    """Run the command; its exit code."""
    import signal
    import warnings

    # Asked to end, end as on Ctrl-C: files half written are cleaned up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - standard output was closed; there is no one to tell

    import typer

    from bayescout.cli.app import app
    from bayescout.errors import BayescoutError

    warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
    warnings.simplefilter("always", category=UserWarning)
    try:
        code = app(prog_name="bayescout", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BayescoutError as error:
        _stop(f"error: {error}", 2)
    except typer.TyperException as error:
        # A wrong option or argument. Without any, what is shown is the help itself.
        message = str(getattr(error, "message", error)) or type(error).__name__
        if type(error).__name__ == "NoArgsIsHelpError":
            sys.stderr.write(message + "\n")
            return 2
        if hasattr(error, "format_message"):
            message = error.format_message()
        named = [word for word in sys.argv[1:2] if not word.startswith("-")]
        command = getattr(getattr(error, "ctx", None), "command_path", " ".join(["bayescout", *named]))
        _stop(f"error: {message.rstrip('.')}; see {command} --help", 2)


def _stop(text: str, code: int) -> NoReturn:
    _say(text)
    sys.exit(code)


def _say(text: str) -> None:
    sys.stderr.write(f"bayescout: {' '.join(text.split())}\n")


def _drop_output() -> None:
    """Keep Python from complaining again when it closes standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
