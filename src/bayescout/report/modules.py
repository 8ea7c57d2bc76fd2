"""The page's own modules joined into one script, for pages that are one file."""

from __future__ import annotations

import re
from functools import cache

from markupsafe import Markup

from bayescout.report.render import resource

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/)\n", re.MULTILINE | re.DOTALL)
"""A comment that has its lines for itself."""


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
    """The modules as one script, which has one scope for all names: without imports, exports and comments."""
    parts = ['"use strict";\n']
    parts += [_COMMENT.sub("", _EXPORT.sub("", _IMPORT.sub("", resource([n])))) for n in ordered(entry)]
    return Markup("\n".join(parts))
