"""The studies of the source documents, and the runner that they share with a user's own.

`study` defines a study and shows how to add one; `tools` has what most runs need; `runner` does the runs,
`store` keeps their records, and `summary` has the values that a study results in.
"""

from __future__ import annotations

from typing import Any

from bayescout.errors import UnknownNameError
from bayescout.experiments.blanco import Blanco
from bayescout.experiments.frigo import FrigoDiscrete, FrigoGaussian
from bayescout.experiments.lau import Lau
from bayescout.experiments.maua import Maua
from bayescout.experiments.records import Record, Records
from bayescout.experiments.runner import Ran, expected_seconds, run_study
from bayescout.experiments.study import Size, Study, grid
from bayescout.experiments.suhas import Suhas

STUDIES: dict[str, type[Study]] = {
    "blanco": Blanco,
    "lau": Lau,
    "maua": Maua,
    "suhas": Suhas,
    "frigo-discrete": FrigoDiscrete,
    "frigo-gaussian": FrigoGaussian,
}
"""Every study by name: adding one is a class and a line here."""


def study_named(name: str, size: Size = "full", **settings: Any) -> Study:
    """The study of a registered name at one of its sizes, with its settings."""
    if name not in STUDIES:
        raise UnknownNameError("study", name, STUDIES)
    return STUDIES[name].of_size(size, **settings)


__all__ = [
    "STUDIES",
    "Ran",
    "Record",
    "Records",
    "Study",
    "expected_seconds",
    "grid",
    "run_study",
    "study_named",
]
