"""The definition of a study: a declared grid of runs, the measures of one run, and the outcome of all.

To add a study, write one frozen dataclass and one line in `STUDIES` (`experiments/__init__.py`):

    @dataclass(frozen=True)
    class Climbers(Study):
        \"\"\"Hill climbing from random starts on asia.\"\"\"          # the line that --list shows

        name: ClassVar[str] = "climbers"
        title: ClassVar[str] = "How often does hill climbing find the best network?"
        source: ClassVar[str] = "Author (2004), Title"
        quick: ClassVar[Settings] = {"repeats": 10}               # what --quick changes
        tiny: ClassVar[Settings] = {"repeats": 2, "rows": (100,)}  # what the tests run

        repeats: int = 50                                         # the fields: the document's own size
        rows: tuple[int, ...] = (500, 5000)

        def runs(self) -> Iterable[Declared]:
            data = [{"network": "asia", "rows": rows, "seed": 0} for rows in self.rows]
            return grid(data=data, search=["hill-climb", {"name": "tabu", "length": 5}], score=["bic"],
                        start=["random"], seed=range(self.repeats))

        def measure(self, run: Declared) -> Measures:
            result = learned(run)
            return facts_of(result, trace=("best",)) | {"shd": compare(result, truth_of(run)).shd}

        def cost(self, run: Declared) -> float:
            return 2e-6 * run["data"]["rows"]                     # CPU seconds, measured once

        def outcome(self, records: Records) -> Outcome:
            for (data, search), some in records.groups("data", "search"):
                some.values("score"), some.mean_sd("shd"), ...
            return Outcome(...)

A run is declared in plain JSON values and depends on nothing but its declaration: the key of its record is a
hash of it, so a study that is restarted, extended, or run elsewhere finds its existing records. `measure`
returns plain JSON values as well (numpy scalars and arrays are converted; infinities and NaN are refused: use
None). It runs in another process, so it uses only what the run declares and the study's own fields.
`outcome` gets the records that succeeded, in the order of the grid, whatever the order of the runs. The
functions of `experiments.tools` (`learned`, `data_of`, `truth_of`, `facts_of`, ...) do what most runs need.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from bayescout.checks import require_count, shown
from bayescout.errors import SettingError, did_you_mean

if TYPE_CHECKING:
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Outcome

Declared = Mapping[str, Any]
Measures = dict[str, Any]
Settings = Mapping[str, Any]
Size = Literal["full", "quick", "tiny"]


@dataclass(frozen=True)
class Study:
    """A comparison that can be run: its fields are its size, with the document's own as defaults.

    name, title, source   its name, the question it asks, and the document it follows
    quick, tiny           the fields that `--quick` and the tests change
    limit                 seconds a run may take before it is recorded as failed; None for no limit
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    quick: ClassVar[Settings] = {}
    tiny: ClassVar[Settings] = {}
    limit: ClassVar[float | None] = None

    @classmethod
    def of_size(cls, size: Size = "full", **settings: Any) -> Self:
        """The study at one of its three sizes; individual settings may be given as well."""
        known = [f.name for f in fields(cls)]
        for name in settings:
            if name not in known:
                listed = ", ".join(known) or "none"
                hint = did_you_mean(name, known)
                raise SettingError(
                    f"study {cls.name!r} has no setting {name!r}; {hint}its settings: {listed}"
                )
        sizes: dict[str, Settings] = {"full": {}, "quick": cls.quick, "tiny": cls.tiny}
        given = {name: _frozen(value) for name, value in settings.items()}
        for f in fields(cls):
            if f.name in given:
                given[f.name] = _checked(f.name, given[f.name], f.default)
        return cls(**{**sizes[size], **given})

    def settings(self) -> dict[str, Any]:
        """The fields as plain values."""
        return {f.name: strict_json(getattr(self, f.name), f.name) for f in fields(self)}

    def size(self) -> str:
        """How the settings differ from the document's size; empty if they do not.

        A verdict of fewer runs or smaller networks is not one on the document's findings.
        """
        changed = [
            (f.name, own, f.default) for f in fields(self) if (own := getattr(self, f.name)) != f.default
        ]
        if not changed:
            return ""
        kind = (
            "a smaller size" if all(_is_smaller(own, full) for _, own, full in changed) else "other settings"
        )
        listed = "; ".join(f"{name} {_listed(own)} instead of {_listed(full)}" for name, own, full in changed)
        return f"These verdicts are of {kind} than the document's, and may differ there: {listed}."

    def seconds_allowed(self) -> float | None:
        """The time limit of a run; a study with a setting for it overrides this."""
        return self.limit

    def runs(self) -> Iterable[Declared]:
        """The declarations of all runs, in the order in which records are read."""
        raise NotImplementedError

    def measure(self, run: Declared) -> Measures:
        """Do one run and return its measures, in plain values."""
        raise NotImplementedError

    def cost(self, run: Declared) -> float:
        """The expected CPU seconds of a run, for the estimate shown before the start."""
        raise NotImplementedError

    def outcome(self, records: Records) -> Outcome:
        """The outcome of the records: findings, tables and figures."""
        raise NotImplementedError


MOST = 1_000_000_000
"""The largest number allowed as a size of a study."""


def _checked(name: str, value: Any, default: Any) -> Any:
    """A setting checked to be of its default's type: a whole number, text, or several of one of them."""
    if isinstance(default, tuple):
        if not isinstance(value, tuple):
            raise SettingError(f"{name} must be a list such as {list(default)}, not {shown(value)}")
        return tuple(_checked(name, one, default[0]) for one in value)
    if isinstance(default, int):
        return require_count(name, value, most=MOST)
    if isinstance(default, str) and not isinstance(value, str):
        raise SettingError(f"{name} must be text, not {shown(value)}")
    return value


def _is_smaller(own: Any, full: Any) -> bool:
    """Return True for fewer of a list, or a lower number (0 stands for all)."""
    if isinstance(full, tuple):
        return set(own) < set(full)
    return isinstance(full, int) and (own < full or full == 0)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value) or "none"


def _frozen(value: Any) -> Any:
    """The value with lists, as read from files, replaced by tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def grid(**axes: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the values of the axes, the last axis varying fastest."""
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def canonical(value: Any) -> str:
    """A plain value as JSON text, the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def key_of(study: str, run: Declared) -> str:
    """The key of a run: a hash of its declaration."""
    return hashlib.sha256(canonical([study, run]).encode()).hexdigest()[:20]


def strict_json(value: Any, where: str = "") -> Any:
    """The value in JSON's own types; refuse what JSON cannot express, and name its place."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str) and not value.isascii():
        _refuse_half_characters(value, where)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise SettingError(f"{where or 'a value'} is {value}; records hold finite numbers or None")
        return value
    if isinstance(value, Mapping):
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            raise SettingError(f"{where or 'a mapping'} has the key {odd!r}; records have text for keys")
        return {key: strict_json(item, f"{where}.{key}" if where else key) for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [strict_json(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise SettingError(f"{where or 'a value'} is a {type(value).__name__}; records hold plain JSON values")


def _refuse_half_characters(text: str, where: str) -> None:
    """Refuse lone surrogates, which stand for file name bytes that are not text; no file can hold them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        said = f"{where or 'a value'} is {text!a}, which is not valid text; rename it"
        raise SettingError(said) from None
