"""What a command writes is checked before any work, overwrites no input, and never costs the result."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import get_type_hints

import pytest
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli import acting, experiments, learning, measuring, networks, predicting, resampling, scoring
from bayescout.cli.app import app
from bayescout.cli.options import spread
from bayescout.errors import BayescoutError, FormatError, SettingError

READS = {
    "learn": ("data", "--tiers", "--order", "--beliefs", "--knowledge", "--start"),
    "bootstrap": ("data", "--tiers", "--order", "--beliefs", "--knowledge"),
    "cross-validate": ("data", "--tiers", "--order", "--beliefs", "--knowledge"),
    "fit": ("structure", "data"),
    "sample": ("network",),
    "impute": ("network", "data"),
    "predict": ("network", "data"),
    "convert": ("source",),
    "score": ("structure", "data"),
    "show": ("network",),
    "query": ("network",),
    "compare": ("learned", "truth"),
    "independence": ("data",),
    "divergence": ("truth", "learned"),
    "held-out": ("structure", "data", "--train"),
    "adjust": ("structure",),
    "effect": ("structure", "data"),
}
"""The parameters of each command that name files it reads; those with dashes are options."""

WRITES = {
    ("learn", "--output"): ".bif",
    ("learn", "--report"): ".html",
    ("learn", "--checkpoint"): ".checkpoint",
    ("bootstrap", "--output"): ".json",
    ("bootstrap", "--strengths"): ".csv",
    ("fit", "--output"): ".bif",
    ("sample", "--output"): ".csv",
    ("impute", "--output"): ".csv",
    ("predict", "--output"): ".csv",
    ("convert", "OUT"): ".dot",
}
"""The parameters that name files which are written, and an ending that is right for each."""

OTHERS = {
    "search", "score", "scores", "prior", "question", "separator", "name", "out", "discretise", "method",
    "target", "structure_prior", "given", "x", "y", "test", "interventions", "memory", "screen",
    "engine",
}  # fmt: skip
"""Parameters that are text and name no file; the folder of a study has tests of its own."""

ANY_NAME = ("learn", "--checkpoint")
MISTAKES = ("no folder", "folder", "read-only", "empty", "ending", "no ending")
WRONG = [(w, m) for w in WRITES for m in MISTAKES if w != ANY_NAME or "ending" not in m]
PAIRS = [(one, two) for one in WRITES for two in WRITES if one[0] == two[0] and one < two]


def call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


def words(writer, read, path):
    """A command line that reads the files of `read` and writes to `path`."""
    command, option = writer
    files = [read for name in READS[command] if not name.startswith("--")]
    more = ["--target", "a"] if command == "predict" else []
    return [command, *files, *([path] if option == "OUT" else [option, path]), *more]


def listing(folder):
    return {(p.name, p.read_bytes() if p.is_file() else None) for p in folder.iterdir()}


def test_every_parameter_that_could_name_a_file_is_known_here():
    """One that is added must be told apart, as read or written, and then the tests below hold for it."""
    parts = (learning, resampling, networks, predicting, scoring, measuring, acting, experiments)
    for command in (command for part in parts for command in part.COMMANDS):
        name = command.__name__.replace("_", "-")
        read = {text.strip("-") for text in READS.get(name, ())}
        written = {option.strip("-") for writer, option in WRITES if writer == name}
        texts = {
            parameter
            for parameter, kind in get_type_hints(spread(command)).items()
            if kind in (str, str | None)
        }
        assert texts <= read | written | OTHERS, name
        writes = bool(texts & {"output"}) or name == "convert"
        assert (name in {writer for writer, _ in WRITES}) == writes, name


@pytest.mark.parametrize(("writer", "mistake"), WRONG, ids=str)
def test_a_path_that_cannot_be_written_is_refused_before_anything_is_read(writer, mistake, tmp_path):
    """The data do not exist: a complaint about the output shows that it was looked at first."""
    ending = WRITES[writer]
    (tmp_path / f"kept{ending}").write_text("kept")
    (tmp_path / f"kept{ending}").chmod(0o444)
    (tmp_path / f"folder{ending}").mkdir()
    path, said = {
        "no folder": (tmp_path / "none" / f"x{ending}", "does not exist"),
        "folder": (tmp_path / f"folder{ending}", "it is a folder"),
        "read-only": (tmp_path / f"kept{ending}", "read-only"),
        "ending": (tmp_path / "x.wrong", "x.wrong"),
        "no ending": (tmp_path / "plain", "plain"),
        "empty": ("", "names no file"),
    }[mistake]
    before = listing(tmp_path)
    with pytest.raises(BayescoutError, match=said) as caught:
        call(*words(writer, tmp_path / "absent.csv", path))
    assert str(path) in str(caught.value)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("writer", WRITES, ids=" ".join)
def test_a_path_that_can_be_written_leaves_nothing_behind(writer, tmp_path):
    with pytest.raises(BayescoutError, match="absent"):
        call(*words(writer, tmp_path / "absent.csv", tmp_path / f"x{WRITES[writer]}"))
    assert not list(tmp_path.iterdir())


INPUTS = [(writer, name) for writer in WRITES for name in READS[writer[0]]]


@pytest.mark.parametrize(("writer", "name"), INPUTS, ids=str)
@pytest.mark.parametrize(
    "way", ["same", "other spelling", "symbolic link", "hard link", "into a linked folder"]
)
def test_no_input_is_overwritten(writer, name, way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ending = WRITES[writer]
    read = tmp_path / f"input{ending}"
    read.write_text("A,B\n0,1\n1,0\n")
    other = tmp_path / f"other{ending}"
    if way == "symbolic link":
        other.symlink_to(read)
    elif way == "hard link":
        os.link(read, other)
    elif way == "into a linked folder":
        (tmp_path / "linked").symlink_to(tmp_path)
    path = {
        "same": read,
        "other spelling": f"./x/../{read.name}",
        "into a linked folder": f"linked/{read.name}",
    }.get(way, other)
    (tmp_path / "x").mkdir()
    line = words(writer, tmp_path / "absent.csv", path)
    positional = [n for n in READS[writer[0]] if not n.startswith("--")]
    if name.startswith("--"):
        line += [name, read]
    else:
        line[1 + positional.index(name)] = read
    before = listing(tmp_path)
    with pytest.raises(SettingError, match="would overwrite"):
        call(*line)
    assert listing(tmp_path) == before


@pytest.mark.parametrize(("one", "two"), PAIRS, ids=str)
@pytest.mark.parametrize("there", [False, True])
def test_two_outputs_are_two_files(one, two, there, tmp_path):
    path, other = tmp_path / "x.json", tmp_path / "x.json"
    if there:
        path.write_text("old")
        other = tmp_path / "y.json"
        os.link(path, other)
    with pytest.raises(SettingError, match="are one file"):
        call(*words(one, tmp_path / "absent.csv", path), two[1], other)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["learn", "absent.csv", "--prior", "none"], "unknown prior"),
        (["learn", "absent.csv", "--gap", "nan"], "--gap"),
        (["learn", "absent.jkl", "--gap", "3"], "--gap scores networks anew"),
        (["bootstrap", "absent.csv", "--prior", "none"], "unknown prior"),
        (["bootstrap", "absent.csv", "--search", "none"], "unknown search"),
        (["cross-validate", "absent.csv", "--prior", "none"], "unknown prior"),
        (["cross-validate", "absent.csv", "--score", "none"], "unknown score"),
        (["fit", "asia", "absent.csv", "--prior", "none"], "unknown prior"),
        (["fit", "asia", "absent.csv", "--ess", "nan"], "ess"),
        (["score", "asia", "absent.csv", "--score", "bic,none"], "unknown score 'none'"),
    ],
)
def test_settings_are_checked_before_data_are_read(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BayescoutError, match=said):
        call(*arguments)


@pytest.fixture
def no_learning(monkeypatch):
    """Learning anything is an error."""

    def learn(*_, **__):
        raise AssertionError("it began to learn")

    monkeypatch.setattr(sys.modules["bayescout.learn"], "learn", learn)
    import bayescout.evaluate.resampling as resampling

    monkeypatch.setattr(resampling, "learn", learn)


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("A,B\n" + "".join(f"{i * 7 % 23 / 8},{i * 5 % 19 / 8}\n" for i in range(40)))
    return path


@pytest.mark.parametrize("command", ["learn", "bootstrap"])
def test_what_a_format_cannot_hold_is_refused_before_the_search(command, numbers, tmp_path, no_learning):
    """Whether a file can hold the network depends on the kind of the columns, and on their names."""
    with pytest.raises(FormatError, match="BIF holds discrete networks only"):
        call(command, numbers, "-o", tmp_path / "x.bif")
    names = tmp_path / "names.csv"
    names.write_text('"A, or B",C\n0,1\n1,0\n1,1\n')
    with pytest.raises(FormatError, match="does not fit a structure file"):
        call(command, names, "-o", tmp_path / "x.txt")
    with pytest.raises(AssertionError, match="began to learn"):
        call(command, numbers, "-o", tmp_path / "x.json")


def test_what_a_format_cannot_hold_is_refused_before_fitting(numbers, tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "fit_network", None)
    with pytest.raises(FormatError, match="BIF holds discrete networks only"):
        call("fit", "[A][B|A]", numbers, "-o", tmp_path / "x.bif")
    with pytest.raises(FormatError, match="without parameters"):
        call("fit", "[A][B|A]", numbers, "-o", tmp_path / "x.dot")


@pytest.fixture
def asia(tmp_path):
    path = tmp_path / "asia.csv"
    bs.load_network("asia").sample(300, seed=3).save(path)
    return path


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["learn", "{data}", "-o", "{bad}", "--report", "{good}.html"], "stop_reason"),
        (["bootstrap", "{data}", "--runs", "2", "-o", "{bad}", "--strengths", "{good}.csv"], "threshold"),
        (["fit", "asia", "{data}", "-o", "{bad}"], "parameters"),
    ],
)
def test_a_result_is_shown_when_a_file_fails_after_all(
    arguments, shown, as_json, asia, tmp_path, monkeypatch
):
    """The disk may fill up during the search; what was found, and the other file, are not lost to that."""
    import bayescout.formats as formats

    def full(*_):
        raise FormatError("cannot be written: No space left on device", "bad.bif")

    monkeypatch.setattr(formats, "write_network", full)
    monkeypatch.setattr(networks, "write_network", full)
    names = {"data": asia, "bad": tmp_path / "bad.bif", "good": tmp_path / "good"}
    line = [word.format(**names) for word in arguments] + ["--json"] * as_json
    done = CliRunner().invoke(app, line)
    assert isinstance(done.exception, FormatError)
    if as_json:
        found = json.loads(done.stdout)
        assert shown in found
        assert found["output"] is None
    else:
        assert "tub" in done.stdout
        assert "bad.bif" not in done.stdout
    if "good" in str(line):
        written = next(tmp_path.glob("good.*"))
        assert str(written) in done.stdout


def test_a_pipe_takes_what_has_no_ending(asia):
    done = call("bootstrap", asia, "--runs", 2, "--strengths", "/dev/null")
    assert done.exit_code == 0


# ---- folders of studies

STUDY = 'searches = ["hill-climb"]\nscores = ["bic"]\n[[data]]\nfile = "{file}"\n'


def test_the_folder_of_a_study_is_checked_before_the_study_is_read(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "x").write_text("")
    for out, said in (("file/below", "is a file"), ("file", "is a file"), ("used", "not empty")):
        with pytest.raises(BayescoutError, match=said):
            call("experiment", tmp_path / "absent.toml", "--out", tmp_path / out)
    assert not list(tmp_path.glob(".*"))


def test_a_study_does_not_overwrite_what_it_reads(asia, tmp_path):
    from bayescout.cli.experiments import _check_reads
    from bayescout.experiments.own import read_study

    folder = tmp_path / "out"
    (folder / "tables").mkdir(parents=True)
    inside = folder / "tables" / "asia.csv"
    os.link(asia, inside)
    for name, said in (("out/tables/asia.csv", True), ("asia.csv", False)):
        path = tmp_path / "study.toml"
        path.write_text(STUDY.format(file=name))
        study = read_study(path)
        if said:
            with pytest.raises(SettingError, match="would overwrite"):
                _check_reads(study, str(path), folder)
        else:
            _check_reads(study, str(path), folder)
    os.link(path, folder / "study.json")
    with pytest.raises(SettingError, match="would overwrite"):
        _check_reads(study, str(path), folder)


def test_a_folder_that_allows_no_files_is_told(tmp_path, monkeypatch):
    """Whoever runs the tests may be allowed everything, so the refusal is made."""
    import bayescout.data.files as files

    def refused(path: Path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(files, "_open", refused)
    with pytest.raises(FormatError, match=r"x\.csv: cannot be written: Permission denied"):
        call("sample", tmp_path / "absent.bif", "-o", tmp_path / "x.csv")
    with pytest.raises(FormatError, match="Permission denied"):
        call("experiment", "lau", "--out", tmp_path / "out")
