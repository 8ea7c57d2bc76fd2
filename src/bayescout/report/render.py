"""Pages from the templates in `templates/`: every value in a template is escaped unless it is markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayescout.report.wording import text


@cache
def environment() -> Environment:
    """The environment of all templates; a value that a template needs and does not get is an error."""
    found = Environment(
        loader=PackageLoader("bayescout.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["style"] = lambda *names: resource(names)
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return found


def _printable(value: object) -> str:
    """The value as text that a page can hold; it is escaped afterwards, unless it is markup."""
    return value if isinstance(value, Markup) else text(value)


def rendered(template: str, values: Mapping[str, object]) -> str:
    """The template with its values."""
    return environment().get_template(template).render(values)


def resource(names: Iterable[str]) -> Markup:
    """Some of the page's own files, style or script, concatenated."""
    folder = files("bayescout.report") / "files"
    return Markup("\n".join((folder / name).read_text(encoding="utf-8") for name in names))
