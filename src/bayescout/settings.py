"""Searches and scores as a name and plain values: how they are made, stored and made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from bayescout.errors import SettingError, UnknownNameError, did_you_mean


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
    """

    name: str
    settings: dict[str, Any] | None

    @classmethod
    def of(cls, made: Any, registry: Mapping[str, Any]) -> Named:
        """The name and settings of an instance, or of a name, which stands for the default settings."""
        if isinstance(made, str):
            made = make_named("name", registry, made, {})
        name = next((name for name, kind in registry.items() if type(made) is kind), None)
        if not is_dataclass(made):
            return cls(name or _called(made), None)
        settings = {f.name: getattr(made, f.name) for f in fields(made)}
        plain = all(map(is_plain, settings.values()))
        return cls(name or type(made).__name__, settings) if plain else cls(repr(made), None)

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
    return str(getattr(made, "__name__", type(made).__name__)) if " at 0x" in shown else shown
