"""The options that commands share, each group declared once.

A group is a frozen dataclass whose fields are Typer options, or groups again. A command takes
groups, and `spread` replaces each group by its options, in the same order.
"""

from __future__ import annotations

import inspect
import math
import shlex
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from bayescout.cli.common import (
    as_setting,
    label_named,
    open_graph,
    rows_of_nodes,
    separator_given,
    split_arc,
    split_belief,
)
from bayescout.data import as_table, read_table
from bayescout.data.discretise import cut_by
from bayescout.data.read import names_in
from bayescout.data.table import Table
from bayescout.errors import SettingError
from bayescout.graph.dag import Dag
from bayescout.network import Network
from bayescout.scores import AUTO
from bayescout.scores.network_score import aligned
from bayescout.statistics.alignment import refuse_missing_nodes

if TYPE_CHECKING:
    from bayescout.scores import Formula, StructurePrior
    from bayescout.search import Knowledge, Search

KINDS = ("discrete", "continuous")


# ---- what the shell completes


def searches_from(incomplete: str) -> list[str]:
    from bayescout.search import SEARCHES

    return [name for name in SEARCHES if name.startswith(incomplete)]


def scores_from(incomplete: str) -> list[str]:
    """The names of scores; of several, separated by commas, that of the last."""
    from bayescout.scores import SCORES

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in (AUTO, *SCORES) if name.startswith(last)]


def networks_from(incomplete: str) -> list[str]:
    """The shipped networks; files are the shell's to complete, where none of these is meant."""
    from bayescout.formats import networks

    return [info.name for info in networks() if info.name.startswith(incomplete)]


# ---- arguments and options of several commands

StructureArgument = Annotated[
    str,
    typer.Argument(
        help="A network or structure file, a shipped network's name, or a string such as [A][B|A].",
        autocompletion=networks_from,
    ),
]
NetworkArgument = Annotated[
    str,
    typer.Argument(help="A network file, or a shipped network's name.", autocompletion=networks_from),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The network to write: .bif or .json; .dot, .txt or .modelstring hold its structure alone.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of the random numbers: the same seed, the same answer.")]
Prior = Annotated[
    str, typer.Option(help="For the parameters of the network that is written: mle, laplace or bdeu.")
]
Processes = Annotated[
    int | None, typer.Option(min=1, metavar="NUMBER", help="Processes; all cores by default.")
]


class Base(StrEnum):
    """The base of the logarithms that a command shows."""

    e = "e"
    two = "2"
    ten = "10"

    @property
    def nats(self) -> float:
        """One unit of these logarithms, in nats."""
        return 1.0 if self is Base.e else math.log(float(self.value))

    def of(self, facts: Mapping[str, Any], keys: Container[str]) -> dict[str, Any]:
        """The facts with those under these keys, which are in nats, in units of these logarithms."""
        return {
            key: value / self.nats if key in keys and value is not None else value
            for key, value in facts.items()
        }

    @property
    def told(self) -> str:
        return {"e": "natural logarithms", "2": "bits", "10": "base-10 logarithms"}[self.value]


LogBase = Annotated[Base, typer.Option(help="The base of the logarithms shown.")]


class Missing(StrEnum):
    em = "em"
    available = "available"
    drop = "drop"
    state = "state"
    error = "error"
    keep = "keep"

    @property
    def policy(self) -> Any:
        """The policy of tables: what a command learns or fits from stays in the table."""
        return "keep" if self in (Missing.em, Missing.available) else self.value


# ---- groups


def flag(told: str, metavar: str | None = None, *, default: Any = None, **limits: Any) -> Any:
    """A field of a group that is an option: its help text, and the placeholder for its value."""
    declared = typer.Option(default, metavar=metavar, help=told, **limits)
    return field(default=default, metadata={"typer": declared})


def switch(name: str, told: str) -> Any:
    """A field of a group that is an option without a value."""
    return field(default=False, metadata={"typer": typer.Option(False, name, help=told)})


def argument(told: str) -> Any:
    """A field of a group that is an argument, with its help text."""
    return field(metadata={"typer": typer.Argument(help=told)})


SEPARATOR = flag("What separates the cells of a text file, such as ';' or '\\t'.", "CHARACTER")
MISSING_TEXTS = flag(
    "A text that means missing, in place of NA, N/A, NaN, null and ?; '' for empty cells alone; may be "
    "repeated.",
    "TEXT",
)


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """A data file and how it is read."""

    data: str = argument(
        "A data file: csv, tsv, parquet, arrow, or white-space separated; - is csv from standard input. Or a "
        "folder of Parquet or Arrow files, or a quoted pattern such as 'rows/*.parquet'."
    )
    separator: str | None = SEPARATOR
    missing: Missing = flag(
        "What to do with missing values: learn and fit by expectation maximisation (em), fit each node from "
        "the rows where its cells are there (available), drop rows, give them a state, or refuse them.",
        default=Missing.em,
    )
    na: list[str] | None = MISSING_TEXTS
    kind: list[str] | None = flag(
        "discrete or continuous, for all columns or for one: age=continuous; may be repeated.", "KIND"
    )
    discretise: str | None = flag(
        "Cut continuous columns into intervals: a number of them, or quantile, width, kmeans, hartemink or "
        "mdl; hartemink:4 gives the number, mdl:species the column to tell about.",
        "NUMBER|METHOD",
    )

    memory: str | None = flag(
        "The most memory that Parquet or Arrow files may take, such as '2 GB': rows that do not fit are kept "
        "on disk. By default half of what is free, for several files; one file alone is read into memory.",
        "SIZE",
    )
    interventions: str | None = flag(
        "The column that names, in each row, the variables that were set from outside, separated by commas; "
        "empty where none was.",
        "COLUMN",
    )

    @cached_property
    def _names(self) -> list[str]:
        return names_in(self.data, self._reading.get("separator"))

    @property
    def _reading(self) -> dict[str, Any]:
        return {} if self.separator is None else {"separator": separator_given(self.separator)}

    def settings(self) -> dict[str, Any]:
        """The options as arguments of `read_table`."""
        found: dict[str, Any] = {"missing": self.missing.policy, **self._reading}
        if self.memory is not None:
            found["memory"] = self.memory
        if self.na:
            found["missing_values"] = tuple(self.na)
        if self.interventions is not None:
            found["interventions"] = label_named(self.interventions, self._names)
        return found | {"kinds": self._kinds()} if self.kind else found

    def _kinds(self) -> dict[str, str]:
        """The kind of each column for which one is given; a name may itself contain an equals sign."""
        names, found = self._names, dict[str, str]()
        for text in sorted(self.kind or (), key=KINDS.__contains__, reverse=True):  # said of all comes first
            name, _, kind = text.rpartition("=")
            if kind not in KINDS or (text not in KINDS and not name):
                raise SettingError(
                    f"--kind is discrete or continuous, or such as age=continuous, not {text!r}"
                )
            found |= dict.fromkeys(names if text in KINDS else [label_named(name.strip(), names)], kind)
        return found

    def open(self, **more: Any) -> Table:
        """The table, with its continuous columns discretised if asked for, before missing cells are."""
        settings = self.settings()
        if self.discretise is None:
            return read_table(self.data, **settings, **more)
        chosen = self.cuts() or 0
        table = cut_by(read_table(self.data, **settings | {"missing": "keep"}, **more), chosen)
        return as_table(table, missing=settings["missing"])

    def cuts(self) -> int | str | None:
        """The choice of intervals as `bayescout.learn` takes it."""
        chosen = self.discretise
        return int(chosen) if chosen is not None and chosen.isdecimal() else chosen

    def open_for(self, structure: str) -> tuple[Dag, Table]:
        """A structure, and the data with its nodes as columns."""
        settings, graph = self.settings(), open_graph(structure)
        if self.discretise is None and self.separator is None:
            return aligned(graph, self.data, **settings)
        dag = graph if isinstance(graph, Dag) else graph.dag
        refuse_missing_nodes(dag, self._names)
        chosen: dict[str, Any] = {"columns": list(dag.nodes)}
        if self.discretise is None and isinstance(graph, Network) and graph.is_discrete:
            known = zip(graph.nodes, graph.distributions, strict=True)
            chosen["states"] = {label: node.declared for label, node in known}
        return aligned(graph, self.open(**chosen))


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """How the cells of a text file are read whose columns a network knows."""

    separator: str | None = SEPARATOR
    na: list[str] | None = MISSING_TEXTS

    def rows_of(self, model: Network, path: str, but: Any = None) -> Table:
        """The columns of a file that are nodes, other than `but`, read as the network knows them."""
        return rows_of_nodes(model, path, self.separator, self.na, but)


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(DataOptions):
    """A data file from whose columns, except those left out, a structure is learned."""

    drop: list[str] | None = flag("A column to leave out, such as an identifier; may be repeated.", "COLUMN")

    def settings(self) -> dict[str, Any]:
        found = super().settings()
        if self.drop:
            found["drop"] = list(dict.fromkeys(label_named(text, self._names) for text in self.drop))
        return found


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The settings of structure learning: the search, the score, and prior knowledge."""

    search: str = flag(
        "The search; `bayescout searches` lists them and their settings.",
        default="auto",
        autocompletion=searches_from,
    )
    score: str | None = flag(
        "The score; `bayescout scores` lists them and their settings.",
        show_default=AUTO,
        autocompletion=scores_from,
    )
    structure_prior: str | None = flag(
        "How probable graphs are before the data: uniform, sparse (arcs are rare; sparse:2 expects two "
        "parents per variable), friedman-koller, or a charge per arc in nats.",
        "NAME|NUMBER",
        show_default="sparse with the score auto, else uniform",
    )
    option: list[str] | None = flag(
        "A setting of the search, such as restarts=20; may be repeated.", "KEY=VALUE"
    )
    score_option: list[str] | None = flag(
        "A setting of the score, such as ess=10; may be repeated.", "KEY=VALUE"
    )
    require: list[str] | None = flag("An arc that must be there, in quotes: 'a->b'; may be repeated.", "ARC")
    forbid: list[str] | None = flag(
        "An arc that must not be there, in quotes: 'a->b'; may be repeated.", "ARC"
    )
    belief: list[str] | None = flag(
        "The probability of an arc, in quotes: 'a->b=0.9', or in either direction: 'a--b=0.9'; may be "
        "repeated.",
        "ARC=NUMBER",
    )
    beliefs: str | None = flag("Beliefs as in --belief, one per line.", "FILE")
    tiers: str | None = flag(
        "One tier a line, names separated by commas, earliest first: no arc leads to an earlier one.", "FILE"
    )
    order: str | None = flag("All names, separated by commas or lines, parents before children.", "FILE")
    forbid_within_tiers: bool = switch(
        "--forbid-within-tiers", "With --tiers: no arc between two names of one tier either."
    )
    knowledge: str | None = flag(
        "What is known, as JSON or one statement per line: require a -> b, forbid a -> b, tier a, b, closed "
        "tier c, d, order a, b, max_parents 3, belief a -> b = 0.9. Other options add to it.",
        "FILE",
    )
    max_parents: int | None = flag("The most parents a node may have.", "NUMBER")

    def method(self) -> str | Search:
        """The search with its settings; its name if it has none of its own."""
        from bayescout.search import search_named

        found = search_named(self.search, **settings_given(self.option))
        return found if self.option else self.search

    def formula(self) -> Formula | None:
        """The score with its settings; None if the choice is left to us."""
        from bayescout.scores import formula_named, is_auto

        settings = settings_given(self.score_option)
        if not is_auto(self.score):
            return formula_named(str(self.score), **settings)
        if settings:
            raise SettingError(f"{next(iter(settings))} is a setting of a score: name the score with --score")
        return None

    def known(self, names: tuple[Any, ...]) -> Knowledge:
        from bayescout.search import Knowledge
        from bayescout.search.frame.knowledge_input import read_fields

        beliefs: Any = [split_belief(text, names) for text in self._beliefs()]
        lines = [] if self.tiers is None else _read(self.tiers).splitlines()
        ordered = None if self.order is None else _read(self.order).replace("\n", ",").split(",")
        given: dict[str, Any] = {
            "required": [split_arc(arc, names) for arc in self.require or ()],
            "forbidden": [split_arc(arc, names) for arc in self.forbid or ()],
            "tiers": [_labels(line.split(","), names) for line in lines if line.strip()],
            "order": None if ordered is None else _labels(ordered, names),
            "max_parents": self.max_parents,
            "beliefs": beliefs,
            "forbid_within": self.forbid_within_tiers,
        }
        if self.knowledge is None:
            return Knowledge(**given)
        return Knowledge(
            **self._with_file(given, read_fields(self.knowledge, lambda text: label_named(text, names)))
        )

    def _with_file(self, given: dict[str, Any], file: dict[str, Any]) -> dict[str, Any]:
        """The fields of options and of a file: arcs and beliefs of both, any other of one of the two."""
        for key, value in file.items():
            if key in ("required", "forbidden", "beliefs"):
                given[key] = [*value, *given[key]]
            elif not given[key]:
                given[key] = value
            elif value and value != given[key]:
                option = key.replace("_", "-")
                raise SettingError(
                    f"{key} is given by {self.knowledge} and by --{option}; keep one of the two"
                )
        return given

    def _beliefs(self) -> list[str]:
        lines = [] if self.beliefs is None else _read(self.beliefs).splitlines()
        return [*(self.belief or ()), *(line for line in lines if line.strip())]

    def weighing(self) -> StructurePrior | None:
        """The structure prior; None for the default of the score."""
        from bayescout.scores import prior_named

        return None if self.structure_prior is None else prior_named(self.structure_prior)


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """The seed of a search and its limits, under their names in `bayescout.learn`."""

    seed: Seed = 0
    max_time: float | None = flag("Stop a search after so long, with the best network so far.", "SECONDS")
    max_steps: int | None = flag("Stop a search after so many steps, with the best network so far.", "NUMBER")


@dataclass(frozen=True, kw_only=True)
class WayOptions:
    """How a question is answered: exactly or by samples, and with how much memory."""

    exact: bool = switch("--exact", "Refuse an answer that does not fit into memory; do not estimate it.")
    method: str = flag("auto, or sample: estimate the answer even if the exact one fits.", default="auto")
    memory: str | None = flag(
        "The most memory for tables, such as 512M or 4G.", "SIZE", show_default="half of what is free"
    )
    draws: int | None = flag("The number of samples of an estimate.", "NUMBER")
    seed: Seed = 0

    def settings(self) -> dict[str, Any]:
        """The options as arguments of `Network.query`."""
        return {
            "exact": self.exact,
            "method": self.method,
            "memory": None if self.memory is None else _bytes(self.memory),
            "draws": self.draws,
            "seed": self.seed,
        }


def _bytes(text: str) -> int:
    """A size such as 512M in bytes."""
    units = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:] in units else ""
    try:
        size = float(number.removesuffix(unit)) * 2 ** units[unit]
    except ValueError:
        size = math.nan
    if not 1 <= size < math.inf:
        raise SettingError(f"--memory is a size such as 512M or 4G, not {text!r}")
    return int(size)


def settings_given(pairs: list[str] | None) -> dict[str, Any]:
    """Texts key=value as settings."""
    found = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise SettingError(f"an option is key=value, not {pair!r}")
        found[key.strip().replace("-", "_")] = as_setting(value.strip())
    return found


def _labels(texts: list[str], names: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(label_named(text.strip(), names) for text in texts if text.strip())


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: cannot be read: {error}") from None


# ---- from groups to options


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command in the form that Typer reads: with the options of its groups as its own parameters."""
    hints = get_type_hints(command, include_extras=True)
    taken = inspect.signature(command).parameters

    @wraps(command)
    def called(**given: Any) -> None:
        command(**{name: _made(name, hints[name], given) for name in taken})

    options = [o for name, one in taken.items() for o in _options(name, hints[name], one.default)]
    called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    called.__annotations__ = {option.name: option.annotation for option in options}
    return called


def _options(name: str, kind: Any, default: Any) -> Iterator[inspect.Parameter]:
    """The options of a parameter of a command, or of a field of a group."""
    if not is_dataclass(kind):
        keyword = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(name, keyword, default=default, annotation=kind)
        return
    hints = get_type_hints(kind, include_extras=True)
    for own in fields(kind):
        plain = inspect.Parameter.empty if own.default is MISSING else own.default
        yield from _options(own.name, hints[own.name], own.metadata.get("typer", plain))


def _made(name: str, kind: Any, given: Mapping[str, Any]) -> Any:
    """The value of a parameter: the group made of its options, or the option itself."""
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return given[name]
    hints = get_type_hints(kind)
    return kind(**{own.name: _made(own.name, hints[own.name], given) for own in fields(kind)})


# ---- settings as options

FLAGS = {
    "missing": "--missing",
    "missing_values": "--na",
    "kinds": "--kind",
    "drop": "--drop",
    "separator": "--separator",
    "bins": "--discretise",
    "order": "--order",
    "forbidden": "--forbid",
    "max_parents": "--max-parents",
    "search": "--search",
    "score": "--score",
    "prior": "--prior",
    "structure_prior": "--structure-prior",
    "exact": "--exact",
    "method": "--method",
    "memory": "--memory",
    "screen": "--screen",
    "engine": "--engine",
    "draws": "--draws",
}
"""The settings that have options of their own; those of a search are given with --option."""


def as_option(name: str, value: Any, taken: Container[str] = ()) -> str:
    """A setting as an option: `--missing drop`, `--kind age=continuous` or `--option parents=greedy`.

    `taken` are the options of the command that runs, where they are known: `method` is an option of some
    commands, and of others a setting of a search.
    """
    own = FLAGS.get(name)
    if own is None or ("--option" in taken and own not in taken):
        return f"--option {name}={value}"
    if value is ...:
        return f"{own} {'SIZE' if name == 'memory' else 'NUMBER' if name == 'draws' else 'FILE'}"
    if value is True:
        return own
    values = [f"{key}={item}" for key, item in value.items()] if isinstance(value, Mapping) else value
    listed = values if isinstance(values, list | tuple) else [values]
    if name == "forbidden":
        listed = [f"{parent}->{child}" for parent, child in value]
    if not listed and name == "missing_values":
        listed = [""]  # the empty cell is always missing, and so nothing else is
    return " ".join(f"{own} {shlex.quote(str(item))}" for item in listed)
