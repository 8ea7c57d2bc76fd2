"""What a newcomer meets: values that the shell completes, a narrow terminal, commands that can be pasted."""

import re
import shlex

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli import learned
from bayescout.cli.app import app
from bayescout.cli.options import as_option
from bayescout.search import SEARCHES


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["learn", "rows.csv", "--search", ""], set(SEARCHES)),
        (["learn", "rows.csv", "--search", "ta"], {"tabu"}),
        (["learn", "rows.csv", "--score", "bde"], {"bdeu"}),
        (["score", "asia", "rows.csv", "--score", "bic,bde"], {"bic,bdeu"}),
        (["query", "as"], {"asia"}),
        (["show", "magic"], {"magic-irri", "magic-niab"}),
    ],
)
def test_the_shell_completes_names(words, expected):
    environment = {
        "_BAYESCOUT_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["bayescout", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = CliRunner().invoke(app, [], prog_name="bayescout", env=environment)
    assert set(done.output.split()) == expected


@pytest.mark.parametrize(("width", "wraps"), [(200, False), (60, True)])
def test_reasons_wrap_within_their_own_column(monkeypatch, width, wraps):
    monkeypatch.setattr(learned, "console", lambda: Console(width=width))
    rows = {
        "color": ["red", "green", "blue", "yellow, light"] * 30,
        "count": [1.5, 2.5, 3.75, 4.25, 5.5, 6.125] * 20,
    }
    console = Console(width=width, record=True, file=None, quiet=False)
    with console.capture() as taken:
        console.print(learned._columns(bs.as_table(rows)))
    lines = taken.get().rstrip().split("\n")
    assert (len(lines) > 3) == wraps
    assert all(len(line.rstrip()) <= width for line in lines)
    column = lines[0].index("why")
    assert all(re.match(r"\S", line[column:]) or not line[column:].strip() for line in lines)


@pytest.mark.parametrize("argv", [["bayescout", "learn", "my rows.csv", "--na", ""], ["pytest"]])
def test_the_commands_that_follow_can_be_pasted(monkeypatch, argv):
    monkeypatch.setattr(learned.sys, "argv", argv)
    for output in (None, "it's.json"):
        for width in (40, 300):
            monkeypatch.setattr(learned, "console", lambda width=width: Console(width=width))
            lines = learned.next_steps("my rows.csv", output, None)
            commands = [shlex.split(line, comments=True) for line in lines if not line.startswith("#")]
            assert all(command[0] == "bayescout" for command in commands)
            assert any(command[:3] == ["bayescout", "bootstrap", "my rows.csv"] for command in commands)
            if argv[1:]:
                assert ["bayescout", *argv[1:], "--report", "page.html"] == next(
                    command[: len(argv) + 2] for command in commands if "--report" in command
                )


def test_new_rows_are_read_as_those_learned_from(monkeypatch):
    given = ["learn", "rows.csv", "--na", "-", "--drop", "id", "--na=-99", "--separator", ";", "-o", "a.json"]
    monkeypatch.setattr(learned.sys, "argv", ["bayescout", *given])
    monkeypatch.setattr(learned, "console", lambda: Console(width=300))
    (line,) = [line for line in learned.next_steps("rows.csv", "a.json", None) if "predict " in line]
    assert shlex.split(line)[1:11] == [
        *("predict", "a.json", "NEW.csv", "--target", "NODE", "--na", "-", "--na=-99", "--separator", ";")
    ]


def test_a_resampling_keeps_what_was_said_of_the_data_and_the_search():
    given = [
        "my rows.csv",
        "--na",
        "999",
        "--search=tabu",
        "--gap",
        "5",
        "-o",
        "x.json",
        "--report=p.html",
        "-oy.bif",
    ]
    assert learned.resampled(given) == ["my rows.csv", "--na", "999", "--search=tabu"]


def test_the_options_that_a_resampling_lacks_are_known():
    commands = typer.main.get_command(app).commands
    options = {
        name: {text for one in commands[name].params for text in (*one.opts, *one.secondary_opts)}
        for name in ("learn", "bootstrap")
    }
    alone = {text for text in options["learn"] - options["bootstrap"] if text.startswith("-")}
    assert alone | {"-o", "--output"} == set(learned.OF_LEARN_ALONE)


def test_a_way_out_is_an_option_of_the_command_that_runs(tmp_path):
    assert as_option("method", "program", {"--option", "--search"}) == "--option method=program"
    assert as_option("method", "sample", {"--method"}) == "--method sample"
    rows = {"size": [1.25, 2.5, 3.75, 4.5] * 10, "kind": ["a", "b"] * 20}
    bs.as_table(rows, kinds={"size": "continuous"}).save(tmp_path / "rows.csv")
    asked = ["learn", str(tmp_path / "rows.csv"), "--kind", "size=continuous", "--require", "size->kind"]
    done = CliRunner().invoke(app, asked)
    assert "(--discretise 3)" in str(done.exception)
    assert "(--score dg-bic)" in str(done.exception)
