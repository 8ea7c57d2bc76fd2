"""What a run is worth outside the page: files of every format, and the lines that repeat it."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from bayescout.data.files import atomic_write
from bayescout.errors import SettingError
from bayescout.formats import FORMATS, native_json, write_network, write_structure
from bayescout.formats.text import write_text
from bayescout.report.reproduce import recipe
from bayescout.result import Result
from bayescout.serve.pictures import pictured
from bayescout.serve.subject import Subject

DRAWN = ("svg", "png", "pdf")


def commands(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The Python call and the command line that repeat the run, and what they read beside the data.

    The knowledge and the first graph, if there were any, are written to the `folder` of the run, which the
    lines call `shown`.
    """
    subject = Subject.of(values)
    result = subject.after(values["steps"], values["ended"])
    known, start = subject.settings.knowledge, values.get("start")
    texts = {} if known.is_empty else {"knowledge": ("knowledge.txt", known.to_text())}
    if isinstance(start, list):
        texts["start"] = ("start.json", native_json.write(subject.dag_of(start)))
    for name, text in texts.values():
        write_text(Path(values["folder"]) / name, text)
    files = {key: str(Path(values["shown"]) / name) for key, (name, _text) in texts.items()}
    found = recipe(result, values["data"], values.get("kinds") or {}, **files)
    notes = list(found.notes)
    if values.get("turned"):
        notes.append("They end before arcs were turned by hand, with a network of the same class.")
    return {"python": found.python, "shell": found.command, "notes": notes}


def export(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """Write the graph that is shown in a format; says which file, and what it is to be called."""
    subject, form, path = Subject.of(values), values["format"], Path(values["path"])
    if form == "html":
        _whole(subject, values).report(path, title=values.get("title"))
    elif form in DRAWN:
        _draw(subject, path, values.get("seen"))
    elif form in FORMATS and FORMATS[form].holds == "structure":
        write_structure(subject.dag_of(subject.arcs), path)
    elif form in FORMATS:
        write_network(subject.network, path)
    else:
        raise SettingError(f"there is no format {form!r}; use html, svg, png, pdf or {', '.join(FORMATS)}")
    return {"path": str(path)}


def ending(form: str) -> str:
    """The ending of a format's files."""
    return FORMATS[form].extensions[0] if form in FORMATS else f".{form}"


def _draw(subject: Subject, path: Path, seen: dict[str, Any] | None) -> None:
    """Draw what a page shows, or the graph in a layout of its own."""
    from bayescout.plots import as_drawing, figure_of, to_svg

    if seen is not None:
        drawing = pictured(seen, subject.names)
    else:
        drawing = as_drawing(subject.dag_of(subject.arcs, subject.names))
    if path.suffix == ".svg":
        write_text(path, to_svg(drawing))
        return
    form = path.suffix.removeprefix(".")
    undated = {"png": {"Software": None}, "pdf": {"CreationDate": None}}[form]
    picture = BytesIO()  # on a full disk matplotlib raises errors of its own
    figure_of(drawing).savefig(picture, format=form, metadata=undated)
    with atomic_write(path) as stream:
        stream.write(picture.getbuffer())


def _whole(subject: Subject, values: dict[str, Any]) -> Result:
    """The result with its trace if it was saved with this graph and these settings; else the graph alone.

    It has the bound that the run has, which may have been asked for after the search.
    """
    saved, found = Path(values["result"]), subject.result
    if saved.exists():
        kept = Result.load(saved)
        if kept.dag == subject.dag_of(subject.arcs) and kept.settings == subject.settings:
            found = subject.beside(kept)
    bound = values.get("bound")
    return found if bound is None else replace(found, bound=max(bound, found.score))
