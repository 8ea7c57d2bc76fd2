"""A file from which a killed run goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from bayescout.data.files import atomic_write
from bayescout.errors import FormatError, SettingError

FORMAT, VERSION = "bayescout-checkpoint", 1


class Checkpoint:
    """The state of a run in a file, replaced in one step after every step of the run.

    `identity` says what run it is (data, search, score, knowledge, seed): a file of another run is refused
    rather than continued or overwritten.
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any]) -> None:
        self.path = Path(path)
        self.identity: dict[str, Any] = json.loads(json.dumps(identity))

    def save(self, saved: dict[str, Any]) -> None:
        document = {"format": FORMAT, "version": VERSION, "identity": self.identity, **saved}
        with atomic_write(self.path, text=True, durable=False) as stream:
            json.dump(document, stream)

    def load(self) -> dict[str, Any] | None:
        """What was saved, or None where there is no file yet."""
        if not self.path.exists():
            return None
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            if document["format"] != FORMAT or document["version"] != VERSION:
                raise KeyError("format")
        except (ValueError, KeyError, TypeError, OSError):
            raise FormatError("is not a checkpoint of this version; use another path", self.path) from None
        for name, value in self.identity.items():
            if document["identity"].get(name) != value:
                raise SettingError(
                    f"{self.path} is the checkpoint of another run: its {name} is not this run's; "
                    f"use another path, or delete the file"
                )
        found: dict[str, Any] = document
        return found
