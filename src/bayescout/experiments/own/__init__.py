"""A user's own study, from one TOML file; `examples/my-study.toml` shows all settings."""

from __future__ import annotations

from bayescout.experiments.own.declaration import read_study
from bayescout.experiments.own.study import Own

__all__ = ["Own", "read_study"]
