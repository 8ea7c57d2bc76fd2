"""The page's own modules joined into one script, for pages that are one file."""

from __future__ import annotations

import re
from functools import cache

from markupsafe import Markup

from bayescout.report.render import resource

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE)


def imports(name: str) -> list[str]:
    """The modules that a module imports, in the order of its lines."""
    return _IMPORT.findall(resource([name]))


def ordered(entry: str) -> list[str]:
    """A module and all that it needs, each after what it imports."""
    found: list[str] = []

    def visit(name: str) -> None:
        if name not in found:
            for needed in imports(name):
                visit(needed)
            found.append(name)

    visit(entry)
    return found


@cache
def joined(entry: str) -> Markup:
    """The modules as one script: their imports and exports left out, since one scope holds all names."""
    parts = ['"use strict";\n']
    parts += [_EXPORT.sub("", _IMPORT.sub("", resource([name]))) for name in ordered(entry)]
    return Markup("\n".join(parts))
