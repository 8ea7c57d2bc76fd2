"""The wording of settings in errors: a setting is named once, and written the way the reader writes it.

In Python that is `as_table(data, missing='drop')`; the command line and the files of studies set their own
wording with `worded_by`, so that nobody is told of a call they cannot make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Wording = Callable[[str, Any], str]

HOMES = {
    "missing": "as_table(data, {})",
    "missing_values": "as_table(data, {})",
    "kinds": "as_table(data, {})",
    "drop": "drop the column",
    "separator": "read_table(path, {})",
    "bins": "discretise(data, {})",
    "order": "Knowledge({})",
    "forbidden": "Knowledge({})",
    "max_parents": "Knowledge({})",
}
"""The calls that take a setting, if it is not one of the call that was made."""


def in_python(name: str, value: Any) -> str:
    """The call that takes the setting; a value of `...` is for the user to fill in."""
    shown = "..." if value is ... else repr(value)
    return HOMES.get(name, "{}").replace("{}", f"{name}={shown}")


_wordings: list[Wording] = [in_python]


def setting(name: str, value: Any) -> str:
    """The setting with its value, written the way the reader of the message writes it."""
    return _wordings[-1](name, value)


@contextmanager
def worded_by(wording: Wording) -> Iterator[None]:
    """Use this wording of settings until the end of the block."""
    _wordings.append(wording)
    try:
        yield
    finally:
        _wordings.pop()
