"""Formulas as MathML, which browsers draw by themselves: no script is fetched, the site works offline."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml


def mathml(formula: str, as_block: bool = False) -> str:
    """The formula. An index of a letter with a hat gets a base of its own, or it stands below the letter."""
    apart = re.sub(r"(\\hat\s*\\?[a-zA-Z]+)_", r"\1{}_", formula)
    return str(latex2mathml.tex2mathml(apart, as_block=as_block))


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(mathml(node.astext(), as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
