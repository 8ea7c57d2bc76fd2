"""The command line: arguments to calls, results to tables or JSON; no logic."""

from __future__ import annotations

import sys
import warnings


def main() -> None:
    """The entry point: one clear line for a mistake, exit code 2; 130 when interrupted."""
    from bayescout.cli.app import app
    from bayescout.errors import BayescoutError

    warnings.showwarning = _show_warning
    warnings.simplefilter("always", category=UserWarning)
    try:
        app(prog_name="bayescout")
    except BayescoutError as error:
        _fail(str(error))
    except BrokenPipeError:
        # The reader of our output went away (`bayescout networks | head`): not our user's mistake.
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(130)


def _fail(message: str) -> None:
    _say("error: " + " ".join(message.split()))
    sys.exit(2)


def _say(text: str) -> None:
    sys.stderr.write(f"bayescout: {text}\n")


def _show_warning(message: Warning | str, *_: object) -> None:
    _say("warning: " + " ".join(str(message).split()))
