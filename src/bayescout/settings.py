"""Searches and scores as a name and plain values: how they are made, stored and made again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from bayescout.errors import SettingError, UnknownNameError, did_you_mean

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def make_named(kind: str, registry: Mapping[str, Any], name: str, settings: Mapping[str, Any]) -> Any:
    """An instance of a registered class with its settings; unknown names and settings are refused."""
    if name not in registry:
        raise UnknownNameError(kind, name, registry)
    known = [f.name for f in fields(registry[name])]
    for key in settings:
        if key not in known:
            shown = ", ".join(known) or "none"
            hint = did_you_mean(key, known)
            raise SettingError(f"{kind} {name!r} has no setting {key!r}; {hint}its settings: {shown}")
    return registry[name](**settings)


@dataclass(frozen=True)
class Named:
    """A search or score in stored form: its name, and its settings as plain values.

    name      the registered name; another name if it is not registered
    settings  all its settings; None if it cannot be made again from plain values
    mark      then, a digest of the functions and arrays that it is made of
    """

    name: str
    settings: dict[str, Any] | None
    mark: str = ""

    @classmethod
    def of(cls, made: Any, registry: Mapping[str, Any]) -> Named:
        """The name and settings of an instance, or of a name, which stands for the default settings."""
        if isinstance(made, str):
            made = make_named("name", registry, made, {})
        name = next((name for name, kind in registry.items() if type(made) is kind), None)
        if not is_dataclass(made):
            return cls(name or _called(made), None, _mark([made]))
        settings = {f.name: getattr(made, f.name) for f in fields(made)}
        plain = all(map(is_plain, settings.values()))
        if plain:
            return cls(name or type(made).__name__, settings)
        return cls(_without_addresses(repr(made)), None, _mark(list(settings.values())))

    def make(self, kind: str, registry: Mapping[str, Any]) -> Any:
        """The instance, made again."""
        if self.settings is None or self.name not in registry:
            raise SettingError(
                f"the {kind} {self.name} cannot be made again from its name; learn again, or give the {kind}"
            )
        return make_named(kind, registry, self.name, self.settings)

    def changed(self, registry: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a registered class that differ from the default."""
        usual = registry[self.name]()
        return {key: value for key, value in (self.settings or {}).items() if value != getattr(usual, key)}

    def label(self, registry: Mapping[str, Any]) -> str:
        """The name, with the settings that differ from the default as in a call."""
        known = self.name in registry
        shown = self.changed(registry) if known else self.settings
        if not shown:
            return self.name
        called = type(registry[self.name]()).__name__ if known else self.name
        return f"{called}({', '.join(f'{key}={value!r}' for key, value in shown.items())})"


def is_plain(value: Any) -> bool:
    """Return True if JSON can hold the value unchanged."""
    return value is None or isinstance(value, bool | int | float | str)


def _called(made: Any) -> str:
    """A name for something that has no registered one; the same in every process."""
    shown = repr(made)
    return str(getattr(made, "__name__", type(made).__name__)) if ADDRESS.search(shown) else shown


def _without_addresses(text: str) -> str:
    return ADDRESS.sub("", text)


def _mark(values: Sequence[Any]) -> str:
    """A digest of functions by their code, and of arrays and plain values by content; of others the type."""
    found = blake2b(digest_size=8)
    for value in values:
        code = getattr(value, "__code__", None)
        if code is not None:
            found.update(code.co_code + _without_addresses(repr((code.co_consts, code.co_names))).encode())
        elif isinstance(value, np.ndarray):
            found.update(repr((value.dtype, value.shape)).encode() + value.tobytes())
        else:
            found.update((repr(value) if is_plain(value) else type(value).__qualname__).encode())
    return found.hexdigest()
