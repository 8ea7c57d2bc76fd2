"""The commands of `bayescout`."""

from __future__ import annotations

from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from bayescout.cli import (
    acting,
    experiments,
    learning,
    measuring,
    networks,
    predicting,
    resampling,
    scoring,
    serving,
)
from bayescout.cli.options import as_option, spread
from bayescout.cli.terminal import say
from bayescout.errors import Interrupted
from bayescout.wording import worded_by


class _PlainFlags:
    """A command whose help does not say `<bool>` of options that take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in found:
            if getattr(one, "is_bool_flag", False) and one.metavar is None:
                one.metavar = ""
        return found


class _Command(_PlainFlags, TyperCommand):
    """One command."""


class _Commands(_PlainFlags, TyperGroup):
    """The commands; one that is interrupted says so, where Typer would end without a word."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            lost = "; nothing was kept" if isinstance(error, Interrupted) else ""
            say(f"{error}{lost}" if str(error) else "interrupted before there was a result")
            raise typer.Exit(130) from None


app = typer.Typer(
    name="bayescout",
    cls=_Commands,
    help="Learn, fit, ask and compare Bayesian networks.",
    add_completion=True,
    pretty_exceptions_enable=False,
)
for command in (
    *learning.COMMANDS,
    *resampling.COMMANDS,
    *networks.COMMANDS,
    *predicting.COMMANDS,
    *scoring.COMMANDS,
    *measuring.COMMANDS,
    *acting.COMMANDS,
    *experiments.COMMANDS,
    *serving.COMMANDS,
):
    app.command(cls=_Command)(spread(command))


def _options(context: Any) -> set[str]:
    """The options of the command that was asked for."""
    command = context.command.commands.get(context.invoked_subcommand)
    return set() if command is None else {text for one in command.params for text in one.opts}


@app.callback(invoke_without_command=True)
def _version(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    context.with_resource(worded_by(partial(as_option, taken=_options(context))))
    if version:
        from bayescout import __version__

        typer.echo(f"bayescout {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit
