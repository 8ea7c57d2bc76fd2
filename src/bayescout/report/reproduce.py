"""The Python call and the command line that learn the same network again.

A run that a limit, a callback or Ctrl-C ended is repeated by its number of steps, which is exact.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayescout.result import Result
from bayescout.result_settings import LISTED, Settings
from bayescout.scores import PRIORS, SCORES
from bayescout.search import SEARCHES
from bayescout.search.frame.knowledge import Knowledge
from bayescout.settings import Named

DATA = "data.csv"
SETS = "data.jkl"


@dataclass(frozen=True)
class Recipe:
    """The way to repeat a run.

    python   the call
    command  the command line, empty if it cannot express the same
    notes    what to prepare first, one sentence each
    """

    python: str
    command: str
    notes: tuple[str, ...]


def recipe(
    result: Result,
    data: str | None = None,
    kinds: Mapping[str, str] | None = None,
    knowledge: str | None = None,
    start: str | None = None,
) -> Recipe:
    """The recipe of a result.

    data       the file of the rows, if it is known
    kinds      the kinds declared for columns; one of the kind "left out" was left out
    knowledge  a file that holds what is known, for the command line
    start      a file that holds the graph that the search began with, if it was given one
    """
    settings = result.settings
    notes = []
    if data is None:
        data, stands_for = (SETS, "scored parent sets") if settings.score_name == LISTED else (DATA, "data")
        notes.append(f"{data} stands for your {stands_for}.")
    arguments, options, possible = ["data"], [], True
    for python, shell, note in (
        _search(settings.search, settings.search_settings),
        _score(settings.score_name, settings.score_settings),
        _prior(settings.prior_name, settings.prior_settings),
        _knowledge(settings.knowledge, knowledge),
        _start(settings.start, start),
        _missing(settings.missing),
        _discretise(settings.discretise),
        _screen(settings.screen),
    ):
        arguments += python
        notes += note
        possible = possible and shell is not None
        options += shell or []
    more = {"seed": settings.seed} | ({"top": len(result.top)} if len(result.top) > 1 else {})
    if result.stop_reason != "converged":
        more["max_steps"] = result.counters.iterations
        notes.append(
            f"The run was ended from outside after {result.counters.iterations:,} steps; as many steps give "
            f"the same network, whatever the machine."
        )
    arguments += [f"{name}={value}" for name, value in more.items()]
    options += [part for name, value in more.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    reading, read_options, read_notes = _data(result, data, dict(kinds or {}))
    possible = possible and not read_notes
    lines = ["import bayescout as bs", "", f"data = {reading}", _call("result = bs.learn", arguments)]
    if not possible:
        notes.append("The command line has no options for all of this.")
    command = _command(["bayescout", "learn", data, *read_options, *options]) if possible else ""
    return Recipe("\n".join(lines), command, (*notes, *read_notes))


def _call(function: str, arguments: list[str]) -> str:
    line = f"{function}({', '.join(arguments)})"
    return line if len(line) <= 88 else f"{function}(\n" + "".join(f"    {a},\n" for a in arguments) + ")"


def _command(words: list[str]) -> str:
    """The command on one line, or with one option per line if that would be long."""
    quoted = [shlex.quote(word) for word in words]
    if sum(map(len, quoted)) + len(quoted) <= 88:
        return " ".join(quoted)
    lines = [" ".join(quoted[:3])]
    lines += ["    " + " ".join(quoted[place : place + 2]) for place in range(3, len(quoted), 2)]
    return " \\\n".join(lines)


Part = tuple[list[str], list[str] | None, list[str]]
"""Arguments of the call, options of the command (None if it has none), notes."""


def _search(name: str, settings: Mapping[str, Any]) -> Part:
    if name not in SEARCHES:
        return (
            [f"search={name}(...)"],
            None,
            [f"{name} is a search of your own: pass it as you did, with its settings."],
        )
    changed = Named(name, dict(settings)).changed(SEARCHES)
    if not changed:
        return [f'search="{name}"'], ["--search", name], []
    inside = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    return [f"search=bs.search.{type(SEARCHES[name]()).__name__}({inside})"], _options(name, changed), []


def _options(name: str, changed: Mapping[str, Any], kind: str = "search", flag: str = "--option") -> Any:
    if not all(isinstance(value, (bool, int, float, str)) for value in changed.values()):
        return None
    pairs = [part for key, value in changed.items() for part in (flag, f"{key}={_plain(value)}")]
    return [f"--{kind}", name, *pairs]


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _score(name: str, settings: Mapping[str, Any] | None) -> Part:
    """A registered score with its settings, or one of the user's own."""
    if name == LISTED:
        return [], [], []
    if name not in SCORES or settings is None:
        return ["score=my_score"], None, [f"The score was your own ({name}): pass it as you did."]
    changed = Named(name, dict(settings)).changed(SCORES)
    if not changed:
        return [f'score="{name}"'], ["--score", name], []
    inside = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    called = type(SCORES[name]()).__name__
    return [f"score=bs.scores.{called}({inside})"], _options(name, changed, "score", "--score-option"), []


def _prior(name: str, settings: Mapping[str, Any] | None) -> Part:
    """A registered structure prior with its settings, or one of the user's own; nothing if it is uniform."""
    if name not in PRIORS or settings is None:
        note = f"The structure prior was your own ({name}): pass it as you did."
        return ["structure_prior=my_prior"], None, [note]
    if name == "uniform":
        return [], [], []
    changed = Named(name, dict(settings)).changed(PRIORS)
    spec = name if not changed else f"{name}:{next(iter(changed.values()))!r}"
    return [f'structure_prior="{spec}"'], ["--structure-prior", spec], []


def _knowledge(known: Knowledge, file: str | None) -> Part:
    if known.is_empty:
        return [], [], []
    given = {key: value for key, value in known.to_dict().items() if value not in ([], None)}
    if isinstance(known.max_parents, Mapping):
        given["max_parents"] = dict(known.max_parents)
    inside = ", ".join(f"{key}={value!r}" for key, value in given.items())
    python = [f"knowledge=bs.Knowledge({inside})"]
    if file is not None:
        return python, ["--knowledge", file], []
    shell: list[str]
    notes: list[str]
    shell, notes = [], []
    for key, flag in (("required", "--require"), ("forbidden", "--forbid")):
        shell += [part for a, b in given.get(key, ()) for part in (flag, f"{a}->{b}")]
    for a, arrow, b, value in given.get("beliefs", ()):
        shell += ["--belief", f"{a}{arrow}{b}={value!r}"]
    if known.tiers:
        shell += ["--tiers", "tiers.txt"]
        notes.append("tiers.txt holds one tier a line, names separated by commas, earliest first.")
    if known.order is not None:
        shell += ["--order", "order.txt"]
        notes.append("order.txt holds all names in the known order, separated by commas.")
    if isinstance(known.max_parents, int):
        shell += ["--max-parents", str(known.max_parents)]
    if known.forbid_within is True:
        shell.append("--forbid-within-tiers")
    possible = not isinstance(known.max_parents, Mapping) and isinstance(known.forbid_within, bool)
    return python, shell if possible else None, notes


def _start(start: str, file: str | None) -> Part:
    if start == "empty":
        return [], [], []
    if start == "random":
        return ['start="random"'], ["--start", "random"], []
    if file is not None:
        return [f"start=bs.read_structure({file!r})"], ["--start", file], []
    note = "The search began with a graph that was given to it: save it as start.txt, or pass it as you did."
    return ['start=bs.read_structure("start.txt")'], ["--start", "start.txt"], [note]


def _missing(policy: str) -> Part:
    if policy == Settings.missing:
        return [], [], []
    return [f'missing="{policy}"'], ["--missing", policy], []


def _screen(screen: str | float | None) -> Part:
    return ([], [], []) if screen is None else ([f"screen={screen!r}"], ["--screen", str(screen)], [])


def _discretise(choice: Any) -> Part:
    """The cuts: a number or a method, or {column: number or cut points}, which has no option."""
    if choice is None:
        return [], [], []
    if isinstance(choice, int | str):
        return [f"discretise={choice!r}"], ["--discretise", str(choice)], []
    columns = {name: one if isinstance(one, int) else list(one) for name, one in choice}
    return [f"discretise={columns!r}"], None, []


def _data(result: Result, data: str, kinds: dict[str, str]) -> tuple[str, list[str], list[str]]:
    """The way the data are read: the policy for missing values, and the kinds that were declared."""
    table = result.table
    shown = f'"{data}"' if data in (DATA, SETS) else repr(data)
    if result.settings.score_name == LISTED:
        return f"bs.read_jkl({shown})", [], []
    options = []
    arguments = shown
    if table is not None and table.missing.policy not in ("error", "keep", result.settings.missing):
        policy = table.missing.policy
        options = ["--missing", policy]
        arguments += f', missing="{policy}"'
    left_out = [name for name, kind in kinds.items() if kind == "left out"]
    declared = {name: kind for name, kind in kinds.items() if kind != "left out"}
    arguments += f", kinds={declared!r}" if declared else ""
    arguments += f", drop={left_out!r}" if left_out else ""
    options += [part for name, kind in declared.items() for part in ("--kind", f"{name}={kind}")]
    options += [part for name in left_out for part in ("--drop", name)]
    notes = []
    if table is not None and table.weights is not None:
        notes.append("The rows had weights: give them again as you did.")
    if table is not None and table.interventions is not None:
        notes.append("Variables were set from outside in some rows: give interventions again as you did.")
    return f"bs.read_table({arguments})", options, notes
