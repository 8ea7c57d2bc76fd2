"""What a run is worth outside the page: files of every format, and the lines that repeat it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from bayescout.errors import SettingError
from bayescout.formats import FORMATS, write_network, write_structure
from bayescout.report.reproduce import recipe
from bayescout.result import Result
from bayescout.serve.subject import Subject

DRAWN = ("svg", "png", "pdf")


def commands(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The Python call and the command line that repeat the run."""
    subject = Subject.of(values)
    result = subject.after(values["steps"], values["ended"])
    found = recipe(result, values["data"], values.get("kinds") or {})
    return {"python": found.python, "shell": found.command, "notes": list(found.notes)}


def export(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """Write the graph that is shown in a format; says which file, and what it is to be called."""
    subject, form, path = Subject.of(values), values["format"], Path(values["path"])
    if form == "html":
        _whole(subject, values).report(path, title=values.get("title"))
    elif form in DRAWN:
        _draw(subject, path)
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


def _draw(subject: Subject, path: Path) -> None:
    from bayescout.plots import as_drawing, figure_of, to_svg

    drawing = as_drawing(subject.dag_of(subject.arcs, subject.names))
    if path.suffix == ".svg":
        path.write_text(to_svg(drawing), encoding="utf-8")
        return
    undated = {".png": {"Software": None}, ".pdf": {"CreationDate": None}}[path.suffix]
    figure_of(drawing).savefig(path, metadata=undated)


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
