"""The command line: arguments to calls, results to tables or JSON; no logic of its own."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The entry point: one clear line for a mistake, exit code 2; 130 if interrupted."""
    from bayescout.cli.terminal import open_streams, say

    open_streams()
    try:
        code = _run()
    except KeyboardInterrupt:
        say("interrupted")
        code = 130
    except MemoryError:
        say("error: there is not enough memory for this; use less data, or limit the number of parents")
        code = 2
    except OSError as error:
        code = _refused(error)
    sys.exit(_written(code))


def _run() -> int:
    """Run the command and return its exit code."""
    import signal
    import warnings

    # A request to terminate ends the program as Ctrl-C does: half-written files are cleaned up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    import typer

    from bayescout.cli.app import app
    from bayescout.cli.terminal import say
    from bayescout.errors import BayescoutError

    warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
    warnings.simplefilter("always", category=UserWarning)
    try:
        code = app(prog_name="bayescout", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except BayescoutError as error:
        say(f"error: {error}")
        return 2
    except typer.TyperException as error:
        # A wrong option or argument.
        message = str(getattr(error, "message", error)) or type(error).__name__
        if hasattr(error, "format_message"):
            message = error.format_message()
        named = [word for word in sys.argv[1:2] if not word.startswith("-")]
        command = getattr(getattr(error, "ctx", None), "command_path", " ".join(["bayescout", *named]))
        message = " ".join(part.strip() for part in message.split("\n"))
        say(f"error: {message.rstrip('.')}; see {command} --help")
        return 2


def _written(code: int) -> int:
    """The exit code once standard output has everything, or could not take it."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _refused(error) or code
    return code


def _refused(error: OSError) -> int:
    """The exit code when the system refuses output; a reader that went away (`| head`) is no error."""
    from bayescout.cli.terminal import say

    # Keep Python from complaining again when it closes standard output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 0
    said = error.strerror or str(error) or type(error).__name__
    say(f"error: {error.filename}: {said}" if error.filename else f"error: {said}")
    return 2
