"""A process of the server: `python -m bayescout.serve.child run`, `answer`, or `run-answers` for long work.

It speaks by pipes and ends when these are closed, so that it never outlives the server. It ignores Ctrl-C,
which the server answers for all.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import suppress


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    from bayescout.serve.wire import Channel
    from bayescout.serve.wording import in_page
    from bayescout.wording import worded_by

    channel = Channel()
    kind = sys.argv[1]
    with suppress(OSError):
        os.nice(2 if kind == "answer" else 19)  # many runs together still leave it most of a core
    with worded_by(in_page):
        if kind == "run":  # the others answer
            from bayescout.serve.running import Runner

            Runner(channel).serve()
        else:
            from bayescout.serve.answering import answer

            answer(channel)


if __name__ == "__main__":
    main()
