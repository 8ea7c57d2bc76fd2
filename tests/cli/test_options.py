"""Groups of options are spread into the options of a command, and handed to it as values."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import pytest
import typer
from typer.testing import CliRunner

from bayescout.cli import experiments, learning, networks, resampling, scoring
from bayescout.cli.options import (
    BudgetOptions,
    DataOptions,
    Json,
    SearchOptions,
    argument,
    flag,
    spread,
    switch,
)


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: int = flag("A size.", "NUMBER", default=3, min=1)
    loud: bool = switch("--loud", "Shout.")


@dataclass(frozen=True, kw_only=True)
class Outer:
    first: str = argument("What comes first.")
    inner: Inner
    last: list[str] | None = flag("May be repeated.", "TEXT")


def called(*words):
    given = []
    app = typer.Typer()

    @app.command()
    @spread
    def command(name: str, *, outer: Outer, json: Json = False) -> None:
        """What it does."""
        given.append((name, outer, json))

    done = CliRunner().invoke(app, words)
    return (*given, done)


def test_a_command_gets_its_groups():
    given, _ = called("x", "y", "--last", "a", "--size", "7", "--last", "b", "--json")
    assert given == ("x", Outer(first="y", inner=Inner(size=7, loud=False), last=["a", "b"]), True)
    given, _ = called("x", "y", "--loud")
    assert given == ("x", Outer(first="y", inner=Inner(size=3, loud=True)), False)


@pytest.mark.parametrize("words", [("x",), ("x", "y", "--size", "0"), ("x", "y", "--no-loud")])
def test_mistakes_are_refused_before_the_command(words):
    (done,) = called(*words)
    assert done.exit_code == 2


def test_options_stand_where_their_group_stands():
    def command(data: DataOptions, search: SearchOptions, budget: BudgetOptions) -> None: ...

    names = list(inspect.signature(spread(command)).parameters)
    assert names[:2] == ["data", "separator"]
    assert names[8:10] == ["search", "score"]
    assert names[-3:] == ["seed", "max_time", "max_steps"]


@pytest.mark.parametrize("part", [learning, resampling, networks, scoring, experiments])
def test_commands_take_few_parameters(part):
    for command in part.COMMANDS:
        assert len(inspect.signature(command).parameters) < 8, command.__name__
