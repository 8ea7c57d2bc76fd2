"""The commands of `bayescout`."""

from __future__ import annotations

import typer

from bayescout.cli import experiments, learning, networks, resampling, scoring
from bayescout.cli.spelling import as_option
from bayescout.spelling import spelled_by

app = typer.Typer(
    name="bayescout",
    help="Learn, fit, ask and compare Bayesian networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    *learning.COMMANDS,
    *resampling.COMMANDS,
    *networks.COMMANDS,
    *scoring.COMMANDS,
    *experiments.COMMANDS,
):
    app.command()(command)


@app.callback(invoke_without_command=True)
def _version(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    context.with_resource(spelled_by(as_option))
    if version:
        from bayescout import __version__

        typer.echo(f"bayescout {__version__}")
        raise typer.Exit
